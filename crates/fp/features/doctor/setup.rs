//! The checks of the setup. They change nothing, every process has a time limit, and each fault is a finding, so that you
//! see all of them at once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fp_host::claude::{MARKETPLACE, PERMISSIONS, PLUGIN, client_home};
use fp_host::search_path::is_program;
use fp_plan::text::shell_quoted;

use super::{DoctorFinding, git, hooks, place, show_paths};
use crate::context::Context;
use crate::error::CommandError;
use crate::features::install::client::{ClaudeClient, ClientMarketplace, InstalledPlugin};
use crate::features::install::program::said_version;
use crate::features::install::settings::{ClientSettingsFile, allows};
use crate::features::install::{bundle_folder, plugin_id, same_folder};

/// Installs the plugin, or updates it to the version of the program that does.
const INSTALL: &str = "fp install";
/// Time that the client gets for an answer; a busy machine takes its time to load it.
const CLIENT_LIMIT: Duration = Duration::from_secs(10);
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The client's scopes, weakest first.
const SCOPES: [&str; 3] = ["user", "project", "local"];
/// Rules by which agents can approve plans and change settings without a question to the user.
const TOO_BROAD: [&str; 3] = ["Bash(fp *)", "Bash(fp:*)", "Edit(.fractal-planner/**)"];

/// Looks at everything that the program works with, even where it is missing.
pub(super) fn examine(context: &Context, client: Option<&Path>) -> Vec<DoctorFinding> {
    let bundle = bundle_folder();
    let (mut found, known) = ask_client(context, client, bundle.as_deref());
    let folder = known.as_ref().and_then(|known| known.folder(&context.cwd));
    let folder = folder.or_else(|| bundle.as_ref().map(|bundle| bundle.join(PLUGIN)));
    let renewed_by = renewed_by(known.as_ref(), bundle.as_deref());
    let (files, faults) = settings_files(context);
    let answer = folder.as_deref().map(|folder| answer_of(&program_of(folder)));
    let runs = matches!(answer, Some((_, Ok(_))));
    found.push(program(answer.as_ref(), VERSION, &renewed_by));
    found.push(hooks::hooks(&files, folder.as_deref(), runs, &renewed_by));
    found.extend(faults);
    found.push(permissions(&files));
    found.extend(broad_permissions(&files));
    found.extend(git::examine(&context.cwd));
    found.push(place::repository(context));
    found.extend(place::settings(context));
    found.extend(place::leftovers(context));
    let home = context.env(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute() && home.parent().is_some());
    if context.repo().git_dir.is_some() {
        show_paths(&mut found, &context.repo().root, "");
    }
    if let Some(home) = home {
        let shown = if cfg!(windows) { r"~\" } else { "~/" };
        show_paths(&mut found, &home, shown);
        let from = home.join("").display().to_string();
        for finding in &mut found {
            finding.command = finding.command.take().map(|command| command.replace(&from, shown));
        }
    }
    found
}

/// The plugins of this name that the client knows.
struct KnownPlugins {
    plugins: Vec<InstalledPlugin>,
    /// The marketplace of the plugin's own id.
    marketplace: Option<ClientMarketplace>,
}

/// The checks of the client and of the plugin in it, and what the client knows, if it can be asked.
fn ask_client(
    context: &Context,
    given: Option<&Path>,
    bundle: Option<&Path>,
) -> (Vec<DoctorFinding>, Option<KnownPlugins>) {
    let search = context.env("PATH").map(OsString::from);
    let client = ClaudeClient::find(given, search.as_deref(), CLIENT_LIMIT)
        .and_then(|client| Ok((client.version()?, client)));
    let (version, client) = match client {
        Ok(found) => found,
        Err(error) => {
            let unknown = DoctorFinding::warning("plugin", "not checked: only Claude Code knows about it");
            return (vec![DoctorFinding::of_error("client", error), unknown], None);
        }
    };
    let path = client.path.display();
    let found = DoctorFinding::ok("client", format!("Claude Code {version} at {path}"));
    match KnownPlugins::of(&client) {
        Ok(known) => (vec![found, plugin(&known, &context.cwd, bundle)], Some(known)),
        Err(error) => (vec![found, DoctorFinding::of_error("plugin", error)], None),
    }
}

impl KnownPlugins {
    fn of(client: &ClaudeClient) -> Result<Self, CommandError> {
        let mut plugins = client.plugins()?;
        plugins.retain(|plugin| plugin.id.split('@').next() == Some(PLUGIN));
        let marketplace = client.marketplaces()?.into_iter().find(|found| found.name == MARKETPLACE);
        Ok(Self { plugins, marketplace })
    }

    /// The plugins that count in the current folder.
    fn here(&self, cwd: &Path) -> impl Iterator<Item = &InstalledPlugin> {
        self.plugins.iter().filter(move |plugin| elsewhere(plugin, cwd).is_none())
    }

    /// The folder that the client reads the plugin from: the marketplace's, where that is a folder, else its own copy.
    fn folder(&self, cwd: &Path) -> Option<PathBuf> {
        let plugin = self.here(cwd).find(|plugin| plugin.id == plugin_id())?;
        let of_marketplace = || Some(self.marketplace.as_ref()?.path.as_ref()?.join(PLUGIN));
        plugin.read_from_folder.clone().or_else(of_marketplace).or_else(|| plugin.install_path.clone())
    }
}

/// The project that the plugin is for, where the current folder isn't in it.
fn elsewhere<'p>(plugin: &'p InstalledPlugin, cwd: &Path) -> Option<&'p Path> {
    let here = |project: &Path| cwd.ancestors().any(|folder| same_folder(folder, project));
    plugin.project_path.as_deref().filter(|project| !here(project))
}

/// The command that writes the files of the plugin anew.
fn renewed_by(known: Option<&KnownPlugins>, bundle: Option<&Path>) -> String {
    let is_ours = |market: &ClientMarketplace| {
        market.path.as_deref().zip(bundle).is_some_and(|(path, bundle)| same_folder(path, bundle))
    };
    match known.and_then(|known| known.marketplace.as_ref()) {
        Some(market) if !is_ours(market) => format!("claude plugin update {}", plugin_id()),
        _ => INSTALL.into(),
    }
}

/// The plugin, which the client should load in this version.
fn plugin(known: &KnownPlugins, cwd: &Path, bundle: Option<&Path>) -> DoctorFinding {
    let check = "plugin";
    let id = plugin_id();
    if let Some(other) = known.here(cwd).find(|plugin| plugin.id != id && plugin.enabled) {
        let detail = format!("another plugin of this name is enabled: {}, scope {}", other.id, other.scope);
        let command = format!("claude plugin uninstall {} --scope {}", other.id, other.scope);
        return DoctorFinding::error(check, detail).fixed_by(command);
    }
    let ours: Vec<&InstalledPlugin> = known.here(cwd).filter(|plugin| plugin.id == id).collect();
    let Some(first) = ours.first() else {
        let elsewhere = known.plugins.iter().filter_map(|plugin| elsewhere(plugin, cwd));
        let elsewhere: Vec<String> = elsewhere.map(|project| project.display().to_string()).collect();
        let detail = match elsewhere[..] {
            [] => "Claude Code does not have it".to_owned(),
            _ => format!("Claude Code has it in other projects only: {}", elsewhere.join(", ")),
        };
        return DoctorFinding::error(check, detail).fixed_by(INSTALL);
    };
    let scopes = |enabled: bool| {
        let plugins = ours.iter().filter(|plugin| plugin.enabled == enabled);
        plugins.map(|plugin| plugin.scope.as_str()).collect::<Vec<_>>().join(" and ")
    };
    if ours.iter().all(|plugin| !plugin.enabled) {
        let nearest = SCOPES.into_iter().rfind(|scope| ours.iter().any(|plugin| plugin.scope == *scope));
        let nearest = nearest.unwrap_or(&first.scope);
        return DoctorFinding::error(check, format!("it is switched off, scope {}", scopes(false)))
            .fixed_by(format!("claude plugin enable {id} --scope {nearest}"));
    }
    let from = known.marketplace.as_ref().map(|market| format!(", from {}", market.origin()));
    let from = from.unwrap_or_default();
    if let Some(old) = ours.iter().find(|plugin| plugin.enabled && plugin.version != VERSION) {
        let (version, scope) = (&old.version, &old.scope);
        let detail =
            format!("Claude Code has version {version}, scope {scope}{from}; this program is {VERSION}");
        return DoctorFinding::warning(check, detail).fixed_by(renewed_by(Some(known), bundle));
    }
    DoctorFinding::ok(check, format!("{id} {VERSION}, scope {}{from}", scopes(true)))
}

/// The program in the plugin's `folder`.
pub(super) fn program_of(folder: &Path) -> PathBuf {
    folder.join("bin").join(format!("{PLUGIN}{}", std::env::consts::EXE_SUFFIX))
}

/// The program at `path`, and its version or its fault.
fn answer_of(path: &Path) -> (String, Result<String, String>) {
    let answer = match path {
        path if !path.exists() => Err("is not there".into()),
        path if !is_program(path) => Err("is not executable".into()),
        path => said_version(path),
    };
    (path.display().to_string(), answer)
}

/// The plugin's program, which should be of `version`. Without an `answer` the plugin's folder is not known.
pub(super) fn program(
    answer: Option<&(String, Result<String, String>)>,
    version: &str,
    renewed_by: &str,
) -> DoctorFinding {
    let check = "program";
    match answer {
        None => {
            DoctorFinding::error(check, "there is no data folder to look in: HOME is not set to a folder")
        }
        Some((path, Err(fault))) => {
            DoctorFinding::error(check, format!("{path} {fault}")).fixed_by(renewed_by)
        }
        Some((path, Ok(said))) if *said == format!("fp {version}") => {
            DoctorFinding::ok(check, format!("{path} answers as {said}"))
        }
        Some((path, Ok(said))) => {
            let said: String = said.chars().take(60).collect();
            DoctorFinding::warning(check, format!("{path} answers as {said:?}, not as fp {version}"))
                .fixed_by(renewed_by)
        }
    }
}

/// The client's settings files, weakest first, and a finding for each that can't be used.
fn settings_files(context: &Context) -> (Vec<ClientSettingsFile>, Vec<DoctorFinding>) {
    let user = client_home(&|name| context.env(name)).map(|home| home.join("settings.json"));
    let folder = context.repo().worktree.join(".claude");
    let of_project = ["settings.json", "settings.local.json"].map(|name| folder.join(name));
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for path in user.into_iter().chain(of_project) {
        match ClientSettingsFile::read(path) {
            Ok(file) => files.push(file),
            Err(error) => faults.push(DoctorFinding::of_error("permissions", error)),
        }
    }
    (files, faults)
}

/// The rules that keep the client from asking about each page of a plan. Each may be in any of `files`.
pub(super) fn permissions(files: &[ClientSettingsFile]) -> DoctorFinding {
    let check = "permissions";
    let [plans, roadmaps] = PERMISSIONS;
    let missing: Vec<String> = [(plans, "agents write plans"), (roadmaps, "agents write roadmaps")]
        .into_iter()
        .filter(|(rule, _)| !files.iter().any(|file| allows(&file.value, rule)))
        .map(|(rule, what)| format!("no rule {rule}: Claude Code may ask when {what}"))
        .collect();
    match missing[..] {
        [] => DoctorFinding::ok(check, format!("{plans} and {roadmaps} are allowed")),
        _ => DoctorFinding::warning(check, missing.join("; ")).fixed_by(format!("{INSTALL} --permissions")),
    }
}

/// A finding for each of `files` with rules of [`TOO_BROAD`].
pub(super) fn broad_permissions(files: &[ClientSettingsFile]) -> impl Iterator<Item = DoctorFinding> {
    files.iter().filter_map(|file| {
        let rules: Vec<&str> = TOO_BROAD.into_iter().filter(|rule| allows(&file.value, rule)).collect();
        let (rules, path) = (rules.join(" and "), file.path.display().to_string());
        let detail =
            format!("{path} allows {rules}: any agent can approve plans and change settings; remove that");
        let found = DoctorFinding::warning("permissions", detail)
            .fixed_by(format!("${{EDITOR:-vi}} {}", shell_quoted(&path)));
        (!rules.is_empty()).then_some(found)
    })
}

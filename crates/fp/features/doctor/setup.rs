//! The checks of the setup. They change nothing, every process has a time limit, and a fault is a finding, not the end.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fp_host::claude::{PERMISSIONS, PLUGIN, TEAMS, client_home};
use fp_host::error::HostErrorKind;
use fp_host::file;
use fp_host::git::Git;
use fp_host::process::answer_of;
use fp_plan::text::shell_quoted;
use serde_json::{Value, json};

use super::{DoctorFinding, VERSION, git};
use crate::assets;
use crate::context::Context;
use crate::error::CommandError;
use crate::features::install::{
    ClaudeClient, ClientMarketplace, InstalledPlugin, bundle_folder, plugin_id, program_in,
    same_folder,
};

/// Installs the plugin, or updates it to the version of the program that does.
const INSTALL: &str = "fp install";
/// Time that the client gives a hook.
const HOOK_LIMIT: Duration = Duration::from_secs(5);
/// Largest file of the client's and of the plugin's that is read.
const CAP: u64 = 8 * 1024 * 1024;
/// The client's scopes, weakest first.
const SCOPES: [&str; 3] = ["user", "project", "local"];
/// Rules by which agents can approve plans and change settings without a question to the user.
const TOO_BROAD: [&str; 3] = ["Bash(fp *)", "Bash(fp:*)", "Edit(.fractal-planner/**)"];

/// Everything that the program works with.
pub(super) struct ExaminedSetup {
    pub(super) findings: Vec<DoctorFinding>,
    /// Settings of the client that the user may want, and does not have.
    pub(super) offered: Value,
    settings_file: Option<PathBuf>,
}

impl ExaminedSetup {
    /// What to add to the client's settings, for a person.
    pub(super) fn offer(&self) -> String {
        match &self.settings_file {
            Some(path) if self.offered != json!({}) => {
                format!(
                    "\nTo {}, if you want it:\n{:#}\n",
                    path.display(),
                    self.offered
                )
            }
            _ => String::new(),
        }
    }
}

pub(super) fn examine(context: &Context, client: Option<&Path>) -> ExaminedSetup {
    let bundle = bundle_folder().map(|bundle| bundle.join(PLUGIN));
    let bundle = bundle.filter(|folder| folder.is_dir());
    let (asked, known) = ask_client(context, client);
    let folder = known
        .as_ref()
        .and_then(KnownPlugin::folder)
        .or(bundle.clone());
    let renewed_by = known.map_or_else(|| INSTALL.into(), |known| known.renewed_by());
    let (files, faults) = settings_files(context);
    // Settings that can't be read come first: the rest may follow from them.
    let mut findings: Vec<_> = faults.into_iter().chain(asked).collect();
    findings.push(hooks(&files, folder.as_deref(), &renewed_by));
    findings.push(permissions(&files));
    findings.extend(broad_permissions(&files));
    findings.extend(git::examine(&context.cwd));
    findings.push(repository(context));
    findings.push(match context.config() {
        Ok(_) => DoctorFinding::ok("settings", "all can be read"),
        Err(error) => DoctorFinding::of_error("settings", error),
    });
    let program = bundle.map_or_else(|| "fp".into(), |folder| program_in(&folder));
    ExaminedSetup {
        findings,
        offered: offered(&files, &program),
        settings_file: user_settings(context),
    }
}

/// The checks of the client and of the plugin in it, and the plugin as the client has it, if it can be asked.
fn ask_client(
    context: &Context,
    given: Option<&Path>,
) -> (Vec<DoctorFinding>, Option<KnownPlugin>) {
    let client = match ClaudeClient::find(given) {
        Ok(client) => client,
        Err(error) => return (vec![DoctorFinding::of_error("client", error)], None),
    };
    let said = format!(
        "Claude Code {} at {}",
        client.version,
        client.path.display()
    );
    let found = DoctorFinding::ok("client", said);
    match KnownPlugin::of(&client, &context.cwd) {
        Ok(known) => (vec![found, known.check()], Some(known)),
        Err(error) => (vec![found, DoctorFinding::of_error("plugin", error)], None),
    }
}

/// The plugin as the client has it in the current folder.
struct KnownPlugin {
    /// In each of its scopes.
    plugins: Vec<InstalledPlugin>,
    marketplace: Option<ClientMarketplace>,
}

impl KnownPlugin {
    fn of(client: &ClaudeClient, cwd: &Path) -> Result<Self, CommandError> {
        let is_here = |project: &Path| cwd.ancestors().any(|folder| same_folder(folder, project));
        Ok(Self {
            plugins: client.installed(is_here)?,
            marketplace: client.marketplace()?,
        })
    }

    /// The folder that the client reads it from: the marketplace's, where that is a folder, else its own copy.
    fn folder(&self) -> Option<PathBuf> {
        let plugin = self.plugins.first()?;
        let of_marketplace = || Some(self.marketplace.as_ref()?.path.as_ref()?.join(PLUGIN));
        plugin
            .read_from_folder
            .clone()
            .or_else(of_marketplace)
            .or_else(|| plugin.install_path.clone())
    }

    /// The command that writes its files anew.
    fn renewed_by(&self) -> String {
        let is_ours = |market: &ClientMarketplace| {
            bundle_folder().is_some_and(|folder| market.is_at(&folder))
        };
        match &self.marketplace {
            Some(market) if !is_ours(market) => format!("claude plugin update {}", plugin_id()),
            _ => INSTALL.into(),
        }
    }

    /// The client should load it, in this version.
    fn check(&self) -> DoctorFinding {
        let check = "plugin";
        let id = plugin_id();
        let enabled: Vec<_> = self
            .plugins
            .iter()
            .filter(|plugin| plugin.enabled)
            .collect();
        // Whatever the others say, the client goes by the nearest.
        let nearest = SCOPES
            .into_iter()
            .rfind(|scope| self.plugins.iter().any(|plugin| plugin.scope == *scope));
        let Some(nearest) = nearest else {
            return DoctorFinding::error(check, "Claude Code does not have it here")
                .fixed_by(INSTALL);
        };
        if enabled.is_empty() {
            return DoctorFinding::error(check, format!("it is switched off, scope {nearest}"))
                .fixed_by(format!("claude plugin enable {id} --scope {nearest}"));
        }
        let from = self
            .marketplace
            .as_ref()
            .map(|market| format!(", from {}", market.origin()));
        let from = from.unwrap_or_default();
        if let Some(InstalledPlugin { version, scope, .. }) =
            enabled.iter().find(|plugin| plugin.version != VERSION)
        {
            let detail = format!(
                "Claude Code has version {version}, scope {scope}{from}; this program is {VERSION}"
            );
            return DoctorFinding::warning(check, detail).fixed_by(self.renewed_by());
        }
        let scopes: Vec<&str> = enabled.iter().map(|plugin| plugin.scope.as_str()).collect();
        let scopes = scopes.join(" and ");
        DoctorFinding::ok(check, format!("{id} {VERSION}, scope {scopes}{from}"))
    }
}

/// One of the client's settings files.
pub(super) struct ClientSettings {
    pub(super) path: PathBuf,
    pub(super) value: Value,
}

impl ClientSettings {
    fn allows(&self, rule: &str) -> bool {
        let allow = self
            .value
            .pointer("/permissions/allow")
            .and_then(Value::as_array);
        allow.is_some_and(|allow| allow.iter().any(|found| found == rule))
    }
}

fn user_settings(context: &Context) -> Option<PathBuf> {
    client_home(&|name| context.env(name)).map(|home| home.join("settings.json"))
}

/// The client's settings files that are there, weakest first, and a finding for each that can't be used.
fn settings_files(context: &Context) -> (Vec<ClientSettings>, Vec<DoctorFinding>) {
    let folder = context.repo().worktree.join(".claude");
    let of_project = ["settings.json", "settings.local.json"].map(|name| folder.join(name));
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for path in user_settings(context).into_iter().chain(of_project) {
        let fault = match file::read_text_if_there(&path, CAP) {
            Ok(None) => continue,
            Ok(Some(text)) if text.trim().is_empty() => continue,
            Ok(Some(text)) => match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
                Ok(value) => {
                    files.push(ClientSettings { path, value });
                    continue;
                }
                Err(error) => CommandError::failed(format!("{}: {error}", path.display()))
                    .hint("fix the file by hand, since Claude Code ignores all of it as it is"),
            },
            Err(error) => error.into(),
        };
        faults.push(DoctorFinding::of_error("permissions", fault));
    }
    (files, faults)
}

/// The rules of [`PERMISSIONS`] that none of `files` has.
fn missing_rules(files: &[ClientSettings]) -> Vec<&'static str> {
    let is_missing = |rule: &&str| !files.iter().any(|file| file.allows(rule));
    PERMISSIONS.into_iter().filter(is_missing).collect()
}

/// The rules that keep the client from asking about each page of a plan. Each may be in any of `files`.
pub(super) fn permissions(files: &[ClientSettings]) -> DoctorFinding {
    let check = "permissions";
    match missing_rules(files)[..] {
        [] => DoctorFinding::ok(check, format!("{} are allowed", PERMISSIONS.join(" and "))),
        ref missing => DoctorFinding::warning(
            check,
            format!(
                "no rule {}: Claude Code may ask about each page that agents write",
                missing.join(" and ")
            ),
        ),
    }
}

/// Settings of the client that the user may want, less those that one of `files` has. `program` is this one's place.
pub(super) fn offered(files: &[ClientSettings], program: &Path) -> Value {
    let has = |at: &str| files.iter().any(|file| file.value.pointer(at).is_some());
    let mut offered = json!({});
    let rules = missing_rules(files);
    if !rules.is_empty() {
        offered["permissions"] = json!({ "allow": rules });
    }
    if !has(&format!("/env/{TEAMS}")) {
        offered["env"] = json!({ TEAMS: "1" });
    }
    if !has("/statusLine") {
        let command = format!("{} statusline", shell_quoted(&program.to_string_lossy()));
        offered["statusLine"] = json!({ "type": "command", "command": command });
    }
    offered
}

/// A finding for each of `files` with rules of [`TOO_BROAD`].
pub(super) fn broad_permissions(files: &[ClientSettings]) -> impl Iterator<Item = DoctorFinding> {
    files.iter().filter_map(|file| {
        let rules: Vec<&str> = TOO_BROAD
            .into_iter()
            .filter(|rule| file.allows(rule))
            .collect();
        let (names, path) = (rules.join(" and "), file.path.display());
        let detail = format!(
            "{path} allows {names}: any agent can approve plans and change settings; remove that"
        );
        (!rules.is_empty()).then(|| DoctorFinding::warning("permissions", detail))
    })
}

/// The hooks of the plugin in `folder`: their wiring, compared with this program's, and whether the program that answers
/// them starts. `files` are the client's settings.
fn hooks(files: &[ClientSettings], folder: Option<&Path>, renewed_by: &str) -> DoctorFinding {
    let check = "hooks";
    if let Some(file) = files
        .iter()
        .find(|file| file.value["disableAllHooks"] == true)
    {
        let path = file.path.display();
        let detail = format!(
            "switched off by disableAllHooks in {path}: nothing keeps builders to their task"
        );
        return DoctorFinding::warning(check, detail);
    }
    let Some(folder) = folder else {
        return DoctorFinding::warning(check, "not tried: there is no plugin");
    };
    let wrong = |detail: String| DoctorFinding::error(check, detail).fixed_by(renewed_by);
    let wanted = assets::plugin_file("hooks/hooks.json").expect("the plugin has hooks");
    let wired = file::read_bytes(&folder.join("hooks").join("hooks.json"), CAP);
    if wired.ok().as_deref() != Some(wanted) {
        return wrong("the plugin's hooks.json is not the one of this version".into());
    }
    let program = program_in(folder);
    let shown = program.display();
    let mut command = Command::new(&program);
    command.arg("--version");
    match answer_of(command, HOOK_LIMIT) {
        Ok(said) if said.trim_end() == format!("fp {VERSION}") => DoctorFinding::ok(
            check,
            format!("wired, and their program starts as fp {VERSION}"),
        ),
        Ok(said) => {
            let said: String = said.trim().chars().take(60).collect();
            wrong(format!("{shown} says {said:?}, and is not fp {VERSION}"))
        }
        Err(fault) => wrong(format!("{shown} {fault}")),
    }
}

/// The repository of the current folder, in which a run can start.
fn repository(context: &Context) -> DoctorFinding {
    let check = "repository";
    let repo = context.repo();
    if repo.git_dir.is_none() {
        return DoctorFinding::warning(check, "the current folder is in none, and plans need one")
            .fixed_by("git init");
    }
    let root = repo.root.display();
    match Git::open(&context.cwd).and_then(|git| git.head()) {
        Ok(_) => DoctorFinding::ok(check, repo.worktree.display().to_string()),
        Err(error) => match error.kind {
            HostErrorKind::NoCommit => DoctorFinding::warning(
                check,
                format!("{root} has no commit yet, and a run starts from one"),
            )
            .fixed_by("git commit --allow-empty --message Start"),
            // Another check reports a missing git.
            HostErrorKind::GitMissing => {
                DoctorFinding::ok(check, repo.worktree.display().to_string())
            }
            _ => DoctorFinding::of_error(check, error),
        },
    }
}

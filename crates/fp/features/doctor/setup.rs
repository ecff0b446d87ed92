//! The checks of the setup. Nothing is changed, every process has a time limit, and each fault is a finding, so that you
//! see all of them at once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fp_host::claude::{MARKETPLACE, PERMISSIONS, PLUGIN, TEAMS, client_home};
use fp_host::file;
use fp_host::process::{self, Limits};
use serde_json::Value;

use super::{DoctorFinding, ended_wrong, git, hooks, place};
use crate::context::Context;
use crate::error::CommandError;
use crate::features::install::client::{ClaudeClient, ClientMarketplace, InstalledPlugin, is_program};
use crate::features::install::{bundle_folder, plugin_id, same_folder};

/// Installs the plugin, or brings it up to the version of the program that does.
const INSTALL: &str = "fp install";
/// How long the client may take for an answer; a machine that is busy takes its time to load it.
const CLIENT_LIMIT: Duration = Duration::from_secs(10);
/// How long the plugin's program may take to say its version.
const PROGRAM_LIMIT: Duration = Duration::from_secs(5);
/// Largest settings file of the client's that is read.
const CAP: u64 = 4 * 1024 * 1024;
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The client's scopes, from the one that has the least to say to the one that has the most.
const SCOPES: [&str; 3] = ["user", "project", "local"];

/// Looks at everything that the program works with, whether or not it is there.
pub(super) fn examine(context: &Context, client: Option<&Path>) -> Vec<DoctorFinding> {
    let bundle = bundle_folder(|name| context.env(name).map(OsString::from));
    let (client_finding, known) = ask_client(context, client);
    let plugin_finding = match &known {
        Some(Ok(known)) => plugin(known, &context.cwd, bundle.as_deref()),
        Some(Err(error)) => DoctorFinding::of_error("plugin", error.clone()),
        None => DoctorFinding::warning("plugin", "not looked for: only Claude Code knows about it"),
    };
    let known = known.and_then(Result::ok);
    let folder = known.as_ref().and_then(|known| known.folder(&context.cwd));
    let folder = folder.or_else(|| bundle.as_ref().map(|bundle| bundle.join(PLUGIN)));
    let renewed_by = renewed_by(known.as_ref(), bundle.as_deref());
    let files = settings_files(context);
    let answer = folder.as_deref().map(|folder| (program_of(folder), said_version(&program_of(folder))));
    let runs = answer.as_ref().is_some_and(|(_, answer)| answer.is_ok());
    let mut found = vec![
        client_finding,
        plugin_finding,
        program(answer.as_ref().map(|(path, answer)| (path.as_path(), answer)), VERSION, &renewed_by),
        hooks::hooks(&files, folder.as_deref(), runs, &renewed_by),
        agent_teams(context.env(TEAMS).as_deref(), &files),
    ];
    found.extend(permissions(&files));
    found.extend(git::examine(&context.cwd));
    found.push(place::repository(context));
    found.extend(place::settings(context));
    found.extend(place::leftovers(context));
    found.push(place::disk(&context.cwd));
    found.iter_mut().for_each(|finding| shorten(finding, context));
    found
}

/// Names the paths of `finding` as seen from the repository, or else from the home; those in its command so that it
/// holds in every folder.
fn shorten(finding: &mut DoctorFinding, context: &Context) {
    let home = context.env(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from);
    let below = |folder: &Path| folder.join("").display().to_string();
    let repo = context.repo();
    let repo = repo.git_dir.as_ref().map(|_| (below(&repo.root), ""));
    let home = home.filter(|home| home.is_absolute() && home.parent().is_some());
    let home = home.map(|home| (below(&home), if cfg!(windows) { r"~\" } else { "~/" }));
    if let Some((from, to)) = &home {
        finding.command = finding.command.take().map(|command| command.replace(from, to));
    }
    for (from, to) in repo.into_iter().chain(home) {
        finding.detail = finding.detail.replace(&from, to);
    }
}

/// What the client knows of plugins of this name.
struct KnownPlugins {
    plugins: Vec<InstalledPlugin>,
    /// The marketplace of the plugin's own id.
    marketplace: Option<ClientMarketplace>,
}

/// The check of the client, and what it knows; `None` where there is no client to ask.
fn ask_client(
    context: &Context,
    given: Option<&Path>,
) -> (DoctorFinding, Option<Result<KnownPlugins, CommandError>>) {
    let check = "client";
    let search = context.env("PATH").map(OsString::from);
    let client = ClaudeClient::find(given, search.as_deref(), CLIENT_LIMIT)
        .and_then(|client| Ok((client.any_version()?, client)));
    let (version, client) = match client {
        Err(error) => return (DoctorFinding::of_error(check, error), None),
        Ok((version, client)) if version.is_too_old() => {
            let error = client.too_old(version);
            return (DoctorFinding::of_error(check, error).fixed_by("claude update"), None);
        }
        Ok(found) => found,
    };
    let found = DoctorFinding::ok(check, format!("Claude Code {version} at {}", client.path.display()));
    let known = client.plugins().and_then(|mut plugins| {
        plugins.retain(|plugin| plugin.id.split('@').next() == Some(PLUGIN));
        let marketplace = client.marketplaces()?.into_iter().find(|found| found.name == MARKETPLACE);
        Ok(KnownPlugins { plugins, marketplace })
    });
    (found, Some(known))
}

impl KnownPlugins {
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

/// Whether the client loads the plugin, in this version.
fn plugin(known: &KnownPlugins, cwd: &Path, bundle: Option<&Path>) -> DoctorFinding {
    let check = "plugin";
    let id = plugin_id();
    if let Some(other) = known.here(cwd).find(|plugin| plugin.id != id && plugin.enabled) {
        let detail = format!("another plugin of this name is enabled: {}, scope {}", other.id, other.scope);
        let command = format!("claude plugin uninstall {} --scope {}", other.id, other.scope);
        return DoctorFinding::error(check, detail).fixed_by(command);
    }
    let ours: Vec<&InstalledPlugin> = known.here(cwd).filter(|plugin| plugin.id == id).collect();
    if ours.is_empty() {
        let elsewhere = known.plugins.iter().filter_map(|plugin| elsewhere(plugin, cwd));
        let elsewhere: Vec<String> = elsewhere.map(|project| project.display().to_string()).collect();
        let detail = match elsewhere[..] {
            [] => "Claude Code does not have it".to_owned(),
            _ => format!("Claude Code has it in other projects only: {}", elsewhere.join(", ")),
        };
        return DoctorFinding::error(check, detail).fixed_by(INSTALL);
    }
    let scopes = |plugins: &[&InstalledPlugin]| {
        let scopes: Vec<&str> = plugins.iter().map(|plugin| plugin.scope.as_str()).collect();
        format!("scope {}", scopes.join(" and "))
    };
    let enabled: Vec<&InstalledPlugin> = ours.iter().filter(|plugin| plugin.enabled).copied().collect();
    if enabled.is_empty() {
        let nearest = SCOPES.iter().rev().find(|scope| ours.iter().any(|plugin| plugin.scope == **scope));
        let nearest = nearest.map_or(ours[0].scope.as_str(), |scope| scope);
        return DoctorFinding::error(check, format!("it is switched off, {}", scopes(&ours)))
            .fixed_by(format!("claude plugin enable {id} --scope {nearest}"));
    }
    let from = known.marketplace.as_ref().map(|market| format!(", from {}", market.origin()));
    let from = from.unwrap_or_default();
    if let Some(old) = enabled.iter().find(|plugin| plugin.version != VERSION) {
        let (version, scope) = (&old.version, &old.scope);
        let detail =
            format!("Claude Code has version {version}, scope {scope}{from}; this program is {VERSION}");
        return DoctorFinding::warning(check, detail).fixed_by(renewed_by(Some(known), bundle));
    }
    DoctorFinding::ok(check, format!("{id} {VERSION}, {}{from}", scopes(&enabled)))
}

/// Where the program is in the plugin's `folder`.
pub(super) fn program_of(folder: &Path) -> PathBuf {
    folder.join("bin").join(format!("{PLUGIN}{}", std::env::consts::EXE_SUFFIX))
}

/// What the program at `path` prints as its version, or what is wrong with it.
fn said_version(path: &Path) -> Result<String, String> {
    if !path.exists() {
        return Err("is not there".into());
    }
    if !is_program(path) {
        return Err("is not executable".into());
    }
    let limits = Limits { time: PROGRAM_LIMIT, head: 1024, tail: 0 };
    let mut command = Command::new(path);
    command.arg("--version");
    let answer = process::ask(command, b"", limits)
        .map_err(|error| format!("does not run: {}", file::reason(&error)))?;
    match ended_wrong(answer.end, PROGRAM_LIMIT) {
        None => Ok(answer.stdout.to_text().trim().to_owned()),
        Some(fault) => Err(format!("does not run: it {fault}")),
    }
}

/// Whether the plugin's program is there and of `version`; `None` where the plugin's folder is not known.
pub(super) fn program(
    answer: Option<(&Path, &Result<String, String>)>,
    version: &str,
    renewed_by: &str,
) -> DoctorFinding {
    let check = "program";
    let Some((path, answer)) = answer else {
        let detail = "there is no data folder to look for it in: HOME is not set to a folder";
        return DoctorFinding::error(check, detail);
    };
    let path = path.display();
    match answer {
        Err(fault) => DoctorFinding::error(check, format!("{path} {fault}")).fixed_by(renewed_by),
        Ok(said) if *said == format!("fp {version}") => {
            DoctorFinding::ok(check, format!("{path} answers as {said}"))
        }
        Ok(said) => {
            let first: String = said.lines().next().unwrap_or_default().chars().take(60).collect();
            let detail = format!("{path} answers as {first:?}, not as fp {version}");
            DoctorFinding::warning(check, detail).fixed_by(renewed_by)
        }
    }
}

/// A file of the client's settings.
pub(super) struct SettingsSeen {
    pub(super) path: String,
    /// What it says, or what is wrong with it.
    pub(super) value: Result<Value, String>,
}

impl SettingsSeen {
    pub(super) fn parse(path: &str, text: &str) -> Self {
        let value = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
        Self { path: path.to_owned(), value: value.map_err(|error| format!("{path}: not JSON: {error}")) }
    }

    /// What it says at a JSON pointer.
    pub(super) fn at(&self, pointer: &str) -> Option<&Value> {
        self.value.as_ref().ok()?.pointer(pointer)
    }

    pub(super) fn allows(&self, rule: &str) -> bool {
        let allow = self.at("/permissions/allow").and_then(Value::as_array);
        allow.is_some_and(|allow| allow.iter().any(|allowed| allowed == rule))
    }

    /// What it says of agent teams.
    pub(super) fn teams(&self) -> Option<String> {
        let said = self.at("/env")?.get(TEAMS)?;
        Some(said.as_str().map_or_else(|| said.to_string(), str::to_owned))
    }
}

/// The client's settings files that are there, from the one that has the least to say to the one that has the most.
fn settings_files(context: &Context) -> Vec<SettingsSeen> {
    let user = client_home(&|name| context.env(name)).map(|home| home.join("settings.json"));
    let folder = context.repo().worktree.join(".claude");
    let of_project = ["settings.json", "settings.local.json"].map(|name| folder.join(name));
    let mut seen = Vec::new();
    for path in user.into_iter().chain(of_project) {
        let shown = path.display().to_string();
        match file::read_text_if_there(&path, CAP) {
            Ok(None) => {}
            Ok(Some(text)) => seen.push(SettingsSeen::parse(&shown, &text)),
            Err(error) => seen.push(SettingsSeen { path: shown, value: Err(error.to_string()) }),
        }
    }
    seen
}

/// Whether builders are teammates, and what that means; `environment` is the variable of this process.
pub(super) fn agent_teams(environment: Option<&str>, files: &[SettingsSeen]) -> DoctorFinding {
    let on = |value: &str| !matches!(value, "" | "0" | "false");
    let of_environment = environment.map(|value| (value.to_owned(), "the environment"));
    let of_files = files.iter().rev().filter_map(|file| Some((file.teams()?, file.path.as_str())));
    let detail = match of_environment.into_iter().chain(of_files).next() {
        Some((value, from)) if on(&value) => {
            format!("on, by {from}: builders are teammates that you can watch and talk to")
        }
        _ => "off: builders run as background agents, and fp works the same".to_owned(),
    };
    DoctorFinding::ok("agent teams", detail)
}

/// Whether the rules are there that keep the client from asking about what a run does all the time.
pub(super) fn permissions(files: &[SettingsSeen]) -> Vec<DoctorFinding> {
    let check = "permissions";
    let [own_command, plans] = PERMISSIONS;
    let rules =
        [(plans, "agents write plans"), (own_command, "commands of fp are run where hooks are switched off")];
    let broken = files.iter().filter_map(|file| file.value.as_ref().err());
    let mut found: Vec<DoctorFinding> = broken.map(|fault| DoctorFinding::error(check, fault)).collect();
    let missing: Vec<String> = rules
        .iter()
        .filter(|(rule, _)| !files.iter().any(|file| file.allows(rule)))
        .map(|(rule, what)| format!("no rule {rule}: Claude Code may ask when {what}"))
        .collect();
    found.push(match missing[..] {
        [] => DoctorFinding::ok(check, format!("{plans} and {own_command} are allowed")),
        _ => DoctorFinding::warning(check, missing.join("; ")).fixed_by(INSTALL),
    });
    found
}

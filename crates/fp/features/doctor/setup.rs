//! The checks of the setup. They change nothing, every process has a time limit, and a problem becomes a finding
//! instead of ending the checks.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fp_host::claude::{PERMISSIONS, PLUGIN, TEAMS, client_home};
use fp_host::file;
use fp_host::platform::{can_close_network, can_confine};
use fp_host::process::answer_of;
use fp_plan::text::shell_quoted;
use serde_json::{Value, json};

use super::git::check_git;
use super::{DoctorFinding, DoctorReport, VERSION};
use crate::assets;
use crate::context::Context;
use crate::error::CommandError;
use crate::features::install::{
    ClaudeClient, ClientMarketplace, InstalledPlugin, bundle_folder, plugin_id, program_in,
    same_folder,
};

/// The command that installs the plugin, or updates it to this program's version.
const INSTALL: &str = "fp install";
/// The client's time limit for a hook.
const HOOK_LIMIT: Duration = Duration::from_secs(5);
/// Maximum size of the client's and the plugin's files, in bytes.
const CAP: u64 = 8 * 1024 * 1024;
/// The client's scopes, weakest first.
const SCOPES: [&str; 3] = ["user", "project", "local"];
/// Permission rules that let agents approve plans and change settings without asking the user.
const TOO_BROAD: [&str; 3] = ["Bash(fp *)", "Bash(fp:*)", "Edit(.fractal-planner/**)"];

pub(super) fn examine_setup(context: &Context, client: Option<&Path>) -> DoctorReport {
    let bundle = bundle_folder().map(|bundle| bundle.join(PLUGIN));
    let bundle = bundle.filter(|folder| folder.is_dir());
    let (files, mut findings) = settings_files(context);
    let known = ask_client(context, client, &mut findings);
    let folder = known.as_ref().and_then(KnownPlugin::folder);
    let renewed_by = known.map_or_else(|| INSTALL.into(), |known| known.renewed_by());
    findings.push(check_hooks(
        &files,
        folder.or(bundle.clone()).as_deref(),
        &renewed_by,
    ));
    findings.push(check_permissions(&files));
    findings.extend(broad_permissions(&files));
    findings.extend(check_git(&context.cwd));
    findings.push(check_repository(context));
    findings.push(DoctorFinding::ok("sandbox", told_sandbox()));
    findings.push(match context.config() {
        Ok(_) => DoctorFinding::ok("settings", "all can be read"),
        Err(error) => DoctorFinding::of_error("settings", error),
    });
    let program = bundle.map_or_else(|| "fp".into(), |folder| program_in(&folder));
    let offered = offered_settings(&files, &program);
    let path = user_settings(context).filter(|_| offered != json!({}));
    let offer = path.map(|path| format!("\nTo {}, if you want it:\n{offered:#}\n", path.display()));
    DoctorReport {
        facts: json!({ "version": VERSION, "offered": offered }),
        findings,
        offer: offer.unwrap_or_default(),
    }
}

/// Checks the client and its plugin. Returns the client's information about the plugin, if the client could be queried.
fn ask_client(
    context: &Context,
    given: Option<&Path>,
    findings: &mut Vec<DoctorFinding>,
) -> Option<KnownPlugin> {
    let client = match ClaudeClient::find(given) {
        Ok(client) => client,
        Err(error) => {
            findings.push(DoctorFinding::of_error("client", error));
            return None;
        }
    };
    let (version, path) = (&client.version, client.path.display());
    let said = format!("Claude Code {version} at {path}");
    findings.push(DoctorFinding::ok("client", said));
    match KnownPlugin::of_client(&client, &context.cwd) {
        Ok(known) => {
            findings.push(known.check_plugin());
            Some(known)
        }
        Err(error) => {
            findings.push(DoctorFinding::of_error("plugin", error));
            None
        }
    }
}

/// The client's information about the plugin, for the current folder.
struct KnownPlugin {
    /// The plugin's installations, one for each scope that has it.
    plugins: Vec<InstalledPlugin>,
    marketplace: Option<ClientMarketplace>,
}

impl KnownPlugin {
    fn of_client(client: &ClaudeClient, cwd: &Path) -> Result<Self, CommandError> {
        let is_here = |project: &Path| cwd.ancestors().any(|folder| same_folder(folder, project));
        Ok(Self {
            plugins: client.installed(is_here)?,
            marketplace: client.marketplace()?,
        })
    }

    /// The folder that the client loads the plugin from: the marketplace if that is a folder, else the client's copy.
    fn folder(&self) -> Option<PathBuf> {
        let plugin = self.plugins.first()?;
        let marketplace = self.marketplace.as_ref();
        let of_marketplace =
            marketplace.and_then(|market| Some(market.path.as_ref()?.join(PLUGIN)));
        let own = || plugin.install_path.clone();
        plugin
            .read_from_folder
            .clone()
            .or(of_marketplace)
            .or_else(own)
    }

    /// The command that rewrites the plugin's files.
    fn renewed_by(&self) -> String {
        let is_at = |folder: PathBuf| {
            self.marketplace
                .as_ref()
                .is_none_or(|market| market.is_at(&folder))
        };
        match self.marketplace.is_none() || bundle_folder().is_some_and(is_at) {
            true => INSTALL.into(),
            false => format!("claude plugin update {}", plugin_id()),
        }
    }

    /// Checks that the client loads the plugin, in this version.
    fn check_plugin(&self) -> DoctorFinding {
        let (check, id) = ("plugin", plugin_id());
        // The client uses the nearest scope, regardless of the others.
        let nearness = |plugin: &&InstalledPlugin| {
            let mut scopes = SCOPES.iter();
            scopes.position(|scope| *scope == plugin.scope)
        };
        let Some(plugin) = self.plugins.iter().max_by_key(nearness) else {
            return DoctorFinding::error(check, "Claude Code does not have it here")
                .fixed_by(INSTALL);
        };
        let (scope, version) = (&plugin.scope, &plugin.version);
        if !plugin.enabled {
            return DoctorFinding::error(check, format!("it is switched off, scope {scope}"))
                .fixed_by(format!("claude plugin enable {id} --scope {scope}"));
        }
        let marketplace = self.marketplace.as_ref();
        let from = marketplace.map(|market| format!(", from {}", market.origin()));
        let from = from.unwrap_or_default();
        if version != VERSION {
            let detail = format!(
                "Claude Code has version {version}, scope {scope}{from}; this program is {VERSION}"
            );
            return DoctorFinding::warning(check, detail).fixed_by(self.renewed_by());
        }
        DoctorFinding::ok(check, format!("{id} {VERSION}, scope {scope}{from}"))
    }
}

/// One of the client's settings files.
pub(super) struct ClientSettings {
    pub(super) path: PathBuf,
    pub(super) value: Value,
}

impl ClientSettings {
    fn allows(&self, rule: &str) -> bool {
        let allow = self.value["permissions"]["allow"].as_array();
        allow.is_some_and(|allow| allow.iter().any(|found| found == rule))
    }
}

fn user_settings(context: &Context) -> Option<PathBuf> {
    client_home(&|name| context.env(name)).map(|home| home.join("settings.json"))
}

/// The client's existing settings files, weakest first, and a finding for each unusable one.
fn settings_files(context: &Context) -> (Vec<ClientSettings>, Vec<DoctorFinding>) {
    let folder = context.repo().worktree.join(".claude");
    let of_project = ["settings.json", "settings.local.json"].map(|name| folder.join(name));
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for path in user_settings(context).into_iter().chain(of_project) {
        match read_settings(&path) {
            Ok(value) => files.extend(value.map(|value| ClientSettings { path, value })),
            Err(error) => faults.push(DoctorFinding::of_error("permissions", error)),
        }
    }
    (files, faults)
}

/// The JSON in the file `path`; `None` if the file is missing or empty.
fn read_settings(path: &Path) -> Result<Option<Value>, CommandError> {
    let text = file::read_text_if_there(path, CAP)?.unwrap_or_default();
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(text).map(Some).map_err(|error| {
        CommandError::failed(format!("{}: {error}", path.display()))
            .with_hint("fix the file by hand, since Claude Code ignores all of it as it is")
    })
}

/// The rules of [`PERMISSIONS`] that none of `files` has.
fn missing_rules(files: &[ClientSettings]) -> Vec<&'static str> {
    let is_missing = |rule: &&str| !files.iter().any(|file| file.allows(rule));
    PERMISSIONS.into_iter().filter(is_missing).collect()
}

/// Checks for the rules that keep the client from asking for permission for each page of a plan. Each may be in any of
/// `files`.
pub(super) fn check_permissions(files: &[ClientSettings]) -> DoctorFinding {
    let check = "permissions";
    let missing = missing_rules(files).join(" and ");
    if missing.is_empty() {
        let allowed = PERMISSIONS.join(" and ");
        return DoctorFinding::ok(check, format!("{allowed} are allowed"));
    }
    let detail =
        format!("no rule {missing}: Claude Code may ask about each page that agents write");
    DoctorFinding::warning(check, detail)
}

/// The suggested client settings that none of `files` has. `program` is the path of this program.
pub(super) fn offered_settings(files: &[ClientSettings], program: &Path) -> Value {
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

/// One finding for each of `files` that has rules from [`TOO_BROAD`].
pub(super) fn broad_permissions(files: &[ClientSettings]) -> impl Iterator<Item = DoctorFinding> {
    files.iter().filter_map(|file| {
        let rules = TOO_BROAD.into_iter().filter(|rule| file.allows(rule));
        let names = rules.collect::<Vec<_>>().join(" and ");
        let path = file.path.display();
        let detail = format!(
            "{path} allows {names}: any agent can approve plans and change settings; remove that"
        );
        (!names.is_empty()).then(|| DoctorFinding::warning("permissions", detail))
    })
}

/// Checks the hooks of the plugin in `folder`: that their wiring matches this program's, and that the program they call
/// starts. `files` are the client's settings.
fn check_hooks(files: &[ClientSettings], folder: Option<&Path>, renewed_by: &str) -> DoctorFinding {
    let check = "hooks";
    let mut switched_off = files
        .iter()
        .filter(|file| file.value["disableAllHooks"] == true);
    if let Some(file) = switched_off.next() {
        let path = file.path.display();
        let detail = format!(
            "switched off by disableAllHooks in {path}: nothing keeps builders to their task"
        );
        return DoctorFinding::warning(check, detail);
    }
    let Some(folder) = folder else {
        return DoctorFinding::warning(check, "not tried: there is no plugin");
    };
    match fault_of_hooks(folder) {
        None => DoctorFinding::ok(
            check,
            format!("wired, and their program starts as fp {VERSION}"),
        ),
        Some(fault) => DoctorFinding::error(check, fault).fixed_by(renewed_by),
    }
}

fn fault_of_hooks(plugin: &Path) -> Option<String> {
    let wanted = assets::plugin_file("hooks/hooks.json").expect("the plugin has hooks");
    let wired = file::read_bytes(&plugin.join("hooks").join("hooks.json"), CAP);
    if wired.ok().as_deref() != Some(wanted) {
        return Some("the plugin's hooks.json is not the one of this version".into());
    }
    let program = program_in(plugin);
    let shown = program.display();
    let mut command = Command::new(&program);
    command.arg("--version");
    match answer_of(command, HOOK_LIMIT) {
        Ok(said) if said.trim_end() == format!("fp {VERSION}") => None,
        Ok(said) => {
            let said: String = said.trim().chars().take(60).collect();
            Some(format!("{shown} says {said:?}, and is not fp {VERSION}"))
        }
        Err(fault) => Some(format!("{shown} {fault}")),
    }
}

/// The confinement of a plan's commands, and of agents, that this system offers.
fn told_sandbox() -> &'static str {
    match (can_confine(), can_close_network()) {
        (true, true) => "confines commands and agents, and can close networks",
        (true, false) => "confines commands and agents, and can't close networks",
        (false, _) => "none: commands and agents can write what you can",
    }
}

/// Checks that the current folder is in a repository.
fn check_repository(context: &Context) -> DoctorFinding {
    let (check, repo) = ("repository", context.repo());
    match repo.git_dir {
        Some(_) => DoctorFinding::ok(check, repo.worktree.display().to_string()),
        None => DoctorFinding::warning(check, "the current folder is in none, and plans need one")
            .fixed_by("git init"),
    }
}

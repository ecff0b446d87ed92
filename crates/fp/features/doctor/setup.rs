//! The checks of the setup. They change nothing, every process has a time limit, and a fault is a finding, not the end.

use std::ffi::OsString;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::time::Duration;

use fp_host::claude::{PERMISSIONS, PLUGIN, client_home};
use fp_host::platform::HOME;

use super::{DoctorFinding, VERSION, git, hooks, place, show_paths};
use crate::context::Context;
use crate::error::CommandError;
use crate::features::install::client::{ClaudeClient, ClientMarketplace, InstalledPlugin};
use crate::features::install::settings::{ClientSettingsFile, allows};
use crate::features::install::{bundle_folder, plugin_id, same_folder};

/// Installs the plugin, or updates it to the version of the program that does.
const INSTALL: &str = "fp install";
/// Time that the client gets for an answer; a busy machine takes its time to load it.
const CLIENT_LIMIT: Duration = Duration::from_secs(10);
/// The client's scopes, weakest first.
const SCOPES: [&str; 3] = ["user", "project", "local"];
/// Rules by which agents can approve plans and change settings without a question to the user.
const TOO_BROAD: [&str; 3] = ["Bash(fp *)", "Bash(fp:*)", "Edit(.fractal-planner/**)"];

/// Looks at everything that the program works with, even where it is missing.
pub(super) fn examine(context: &Context, client: Option<&Path>) -> Vec<DoctorFinding> {
    let bundle = bundle_folder();
    let (asked, known) = ask_client(context, client, bundle.as_deref());
    let folder = known.as_ref().and_then(KnownPlugin::folder);
    let folder = folder.or_else(|| {
        bundle
            .as_ref()
            .map(|bundle| bundle.join(PLUGIN))
            .filter(|folder| folder.is_dir())
    });
    let renewed_by = known.map_or_else(
        || INSTALL.into(),
        |known| known.renewed_by(bundle.as_deref()),
    );
    // Settings that can't be read come first: the rest may follow from them.
    let (files, mut found) = settings_files(context);
    found.extend(asked);
    found.push(hooks::hooks(&files, folder.as_deref(), &renewed_by));
    found.push(permissions(&files));
    found.extend(broad_permissions(&files));
    found.extend(git::examine(&context.cwd));
    found.push(place::repository(context));
    found.push(place::settings(context));
    let home = context.env(HOME).map(PathBuf::from);
    if context.repo().git_dir.is_some() {
        show_paths(&mut found, &context.repo().root, "");
    }
    if let Some(home) = home.filter(|home| home.is_absolute() && home.parent().is_some()) {
        show_paths(&mut found, &home, &format!("~{MAIN_SEPARATOR}"));
    }
    found
}

/// The checks of the client and of the plugin in it, and the plugin as the client has it, if it can be asked.
fn ask_client(
    context: &Context,
    given: Option<&Path>,
    bundle: Option<&Path>,
) -> (Vec<DoctorFinding>, Option<KnownPlugin>) {
    let search = context.env("PATH").map(OsString::from);
    let client = ClaudeClient::find(given, search.as_deref(), CLIENT_LIMIT)
        .and_then(|client| Ok((client.version()?, client)));
    let (version, client) = match client {
        Ok(found) => found,
        Err(error) => {
            let unknown = DoctorFinding::warning("plugin", "not checked: that needs Claude Code");
            return (
                vec![DoctorFinding::of_error("client", error), unknown],
                None,
            );
        }
    };
    let path = client.path.display();
    let found = DoctorFinding::ok("client", format!("Claude Code {version} at {path}"));
    match KnownPlugin::of(&client, &context.cwd) {
        Ok(known) => (vec![found, known.check(bundle)], Some(known)),
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
        let is_here =
            |project: &PathBuf| cwd.ancestors().any(|folder| same_folder(folder, project));
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
    fn renewed_by(&self, bundle: Option<&Path>) -> String {
        let is_ours = |market: &ClientMarketplace| {
            market
                .path
                .as_deref()
                .zip(bundle)
                .is_some_and(|(path, bundle)| same_folder(path, bundle))
        };
        match &self.marketplace {
            Some(market) if !is_ours(market) => format!("claude plugin update {}", plugin_id()),
            _ => INSTALL.into(),
        }
    }

    /// The client should load it, in this version.
    fn check(&self, bundle: Option<&Path>) -> DoctorFinding {
        let check = "plugin";
        let (enabled, disabled): (Vec<_>, Vec<_>) =
            self.plugins.iter().partition(|plugin| plugin.enabled);
        let scopes = |plugins: &[&InstalledPlugin]| {
            plugins
                .iter()
                .map(|plugin| plugin.scope.as_str())
                .collect::<Vec<_>>()
                .join(" and ")
        };
        let id = plugin_id();
        let Some(_) = enabled.first() else {
            // Whatever the others say, the client goes by the nearest.
            let nearest = SCOPES
                .into_iter()
                .rfind(|scope| disabled.iter().any(|off| off.scope == *scope));
            let Some(nearest) = nearest else {
                return DoctorFinding::error(check, "Claude Code does not have it here")
                    .fixed_by(INSTALL);
            };
            return DoctorFinding::error(
                check,
                format!("it is switched off, scope {}", scopes(&disabled)),
            )
            .fixed_by(format!("claude plugin enable {id} --scope {nearest}"));
        };
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
            return DoctorFinding::warning(check, detail).fixed_by(self.renewed_by(bundle));
        }
        DoctorFinding::ok(
            check,
            format!("{id} {VERSION}, scope {}{from}", scopes(&enabled)),
        )
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
    let missing: Vec<String> = [
        (plans, "agents write plans"),
        (roadmaps, "agents write roadmaps"),
    ]
    .into_iter()
    .filter(|(rule, _)| !files.iter().any(|file| allows(&file.value, rule)))
    .map(|(rule, what)| format!("no rule {rule}: Claude Code may ask when {what}"))
    .collect();
    match missing[..] {
        [] => DoctorFinding::ok(check, format!("{plans} and {roadmaps} are allowed")),
        _ => DoctorFinding::warning(check, missing.join("; "))
            .fixed_by(format!("{INSTALL} --permissions")),
    }
}

/// A finding for each of `files` with rules of [`TOO_BROAD`].
pub(super) fn broad_permissions(
    files: &[ClientSettingsFile],
) -> impl Iterator<Item = DoctorFinding> {
    files.iter().filter_map(|file| {
        let rules: Vec<&str> = TOO_BROAD
            .into_iter()
            .filter(|rule| allows(&file.value, rule))
            .collect();
        let (names, path) = (rules.join(" and "), file.path.display());
        let detail = format!(
            "{path} allows {names}: any agent can approve plans and change settings; remove that"
        );
        (!rules.is_empty()).then(|| DoctorFinding::warning("permissions", detail))
    })
}

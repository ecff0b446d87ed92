//! What the client says of itself and of the plugin, and what its settings say.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fp_core::doctor::setup::{
    Answered, ClientSettings, Fault, OfMarketplace, PluginFacts, ProgramFacts, RegisteredPlugin,
};
use fp_core::hint::Hint as _;

use super::{Setup, fault};
use crate::claude::bundle::{MARKETPLACE, PLUGIN};
use crate::claude::client::{self, ClientError, InstalledPlugin, Marketplace};
use crate::claude::install::{bundle_folder, origin, plugin_id, same_folder};
use crate::claude::team::client_home;
use crate::file;
use crate::process::{self, Limits, ProcessEnd};

/// How long the client may take for an answer; a machine that is busy takes its time to load it.
const CLIENT_LIMIT: Duration = Duration::from_secs(10);
/// How long the plugin's program may take to say its version.
const PROGRAM_LIMIT: Duration = Duration::from_secs(5);
/// Largest settings file of the client's that is read.
const CAP: u64 = 4 * 1024 * 1024;

/// The client, and the plugin as it has it.
pub(super) struct Client<'a> {
    pub(super) found: Result<(String, String), Fault>,
    /// `None` where there is no client to ask.
    pub(super) plugin: Option<Result<PluginFacts<'a>, Fault>>,
    /// The folder that the plugin is read from; where `fp install` puts it if the client has none.
    pub(super) folder: Option<PathBuf>,
}

impl<'a> Client<'a> {
    pub(super) fn ask(setup: &Setup<'a>) -> Self {
        let bundle = bundle_folder(|name| (setup.env)(name).map(OsString::from));
        let usual = || bundle.as_ref().map(|bundle| bundle.join(PLUGIN));
        let search = (setup.env)("PATH").map(OsString::from);
        let client = client::Client::find(setup.client, search.as_deref(), CLIENT_LIMIT)
            .and_then(|client| Ok((client.version()?, client)));
        let (version, client) = match client {
            Ok(client) => client,
            Err(error) => {
                return Self { found: Err(of_client(&error)), plugin: None, folder: usual() };
            }
        };
        let found = Ok((client.path().display().to_string(), version.to_string()));
        match client.plugins().and_then(|plugins| Ok((plugins, client.marketplaces()?))) {
            Err(error) => Self { found, plugin: Some(Err(of_client(&error))), folder: usual() },
            Ok((plugins, marketplaces)) => {
                let market = marketplaces.iter().find(|found| found.name == MARKETPLACE);
                let here = plugins.iter().find(|plugin| is_here(plugin, setup));
                let folder = here.and_then(|plugin| read_from(plugin, market)).or_else(usual);
                let facts = facts(setup, &plugins, market, bundle.as_deref());
                Self { found, plugin: Some(Ok(facts)), folder }
            }
        }
    }
}

fn of_client(error: &ClientError) -> Fault {
    let found = fault(error, error.hint());
    if matches!(error, ClientError::TooOld { .. }) { found.mended_by("claude update") } else { found }
}

/// Whether it is the plugin itself, and counts in the current folder.
fn is_here(plugin: &InstalledPlugin, setup: &Setup<'_>) -> bool {
    plugin.id == plugin_id() && elsewhere(plugin, setup).is_none()
}

/// The project that the plugin is for, where the current folder isn't in it.
fn elsewhere<'p>(plugin: &'p InstalledPlugin, setup: &Setup<'_>) -> Option<&'p Path> {
    let here = |project: &Path| setup.cwd.ancestors().any(|folder| same_folder(folder, project));
    plugin.project_path.as_deref().filter(|project| !here(project))
}

/// The folder that the client reads a plugin from: the marketplace's, where that is a folder, else its own copy.
fn read_from(plugin: &InstalledPlugin, marketplace: Option<&Marketplace>) -> Option<PathBuf> {
    let of_marketplace = || Some(marketplace?.path.as_ref()?.join(PLUGIN));
    plugin.read_from_folder.clone().or_else(of_marketplace).or_else(|| plugin.install_path.clone())
}

fn facts<'a>(
    setup: &Setup<'a>,
    plugins: &[InstalledPlugin],
    marketplace: Option<&Marketplace>,
    bundle: Option<&Path>,
) -> PluginFacts<'a> {
    let of_this_name = |plugin: &&InstalledPlugin| plugin.id.split('@').next() == Some(PLUGIN);
    let registered = plugins.iter().filter(of_this_name).map(|plugin| RegisteredPlugin {
        id: plugin.id.clone(),
        scope: plugin.scope.clone(),
        version: plugin.version.clone(),
        enabled: plugin.enabled,
        elsewhere: elsewhere(plugin, setup).map(|project| project.display().to_string()),
    });
    let is_ours = |market: &Marketplace| {
        market.path.as_deref().zip(bundle).is_some_and(|(path, bundle)| same_folder(path, bundle))
    };
    PluginFacts {
        id: plugin_id(),
        version: setup.version,
        registered: registered.collect(),
        marketplace: marketplace.map(|found| OfMarketplace { from: origin(found), ours: is_ours(found) }),
    }
}

/// Asks the program of the plugin in `folder` for its version.
pub(super) fn program(folder: &Path) -> ProgramFacts {
    let path = program_of(folder);
    let answered = if !path.exists() {
        Answered::Missing
    } else if !client::is_program(&path) {
        Answered::NotExecutable
    } else {
        let mut command = Command::new(&path);
        command.arg("--version");
        answer(command)
    };
    ProgramFacts { path: path.display().to_string(), answered }
}

/// Where the program is in the plugin's `folder`.
pub(super) fn program_of(folder: &Path) -> PathBuf {
    folder.join("bin").join(format!("{PLUGIN}{}", std::env::consts::EXE_SUFFIX))
}

fn answer(command: Command) -> Answered {
    let limits = Limits { time: PROGRAM_LIMIT, head: 1024, tail: 0 };
    match process::ask(command, b"", limits) {
        Err(error) => Answered::Failed(file::reason(&error)),
        Ok(answer) => match answer.end {
            ProcessEnd::Exited(0) => Answered::Said(answer.stdout.to_text().trim().to_owned()),
            ProcessEnd::Exited(status) => Answered::Failed(format!("it ends with status {status}")),
            ProcessEnd::Signalled(signal) => Answered::Failed(format!("signal {signal} ends it")),
            ProcessEnd::TimedOut => {
                Answered::Failed(format!("no answer in {} seconds", PROGRAM_LIMIT.as_secs()))
            }
        },
    }
}

/// The client's settings files, from the one that has the least to say to the one that has the most.
pub(super) fn settings(setup: &Setup<'_>) -> Vec<ClientSettings> {
    let user = client_home(setup.env).map(|home| home.join("settings.json"));
    let of_project =
        ["settings.json", "settings.local.json"].map(|name| setup.repo.worktree.join(".claude").join(name));
    user.into_iter().chain(of_project).filter_map(|path| read(&path)).collect()
}

/// `None` where there is no such file.
fn read(path: &Path) -> Option<ClientSettings> {
    let shown = path.display().to_string();
    match file::read_text_if_there(path, CAP) {
        Ok(text) => Some(ClientSettings::parse(&shown, &text?)),
        Err(error) => {
            // The message begins with the path, which is told by whoever shows the fault.
            let message = error.to_string();
            let fault = message.strip_prefix(&shown).unwrap_or(&message).trim_start_matches([':', ' ']);
            Some(ClientSettings { file: shown, fault: Some(fault.to_owned()), ..ClientSettings::default() })
        }
    }
}

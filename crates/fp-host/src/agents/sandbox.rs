//! Keeps an agent from writing outside of its folder: by a sandbox of this program's, or by the agent program's own.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use fp_run::run::state::Role;
use tempfile::TempDir;

use super::broker::{BROKER, Broker};
use super::{AgentOrder, AgentProgram, claude, opencode};
use crate::process::{Confinement, user_path};

/// The variables that name an agent's temporary folder; the second is Claude Code's.
const TEMPORARY_VARIABLES: [&str; 2] = ["TMPDIR", "CLAUDE_CODE_TMPDIR"];

/// Files and folders that an agent's program writes for itself.
#[derive(Debug, Default)]
pub(super) struct OwnPlaces {
    pub(super) writes: Vec<PathBuf>,
    /// The folder below which it makes folders as locks.
    pub(super) locks: Option<PathBuf>,
}

/// Resources that an agent in a sandbox needs while it runs.
#[derive(Debug, Default)]
pub(super) struct AgentSandbox {
    broker: Option<Broker>,
    temporary: Option<TempDir>,
    pub(super) confinement: Option<Confinement>,
}

impl AgentProgram {
    /// The places of the program's own that it has to write, in a sandbox of this program's; `None` if it has its own
    /// sandbox, or none.
    fn own_places(&self) -> Option<OwnPlaces> {
        match self {
            Self::Claude(_) => Some(claude::own_places()),
            Self::OpenCode(_) => Some(opencode::own_places()),
            Self::Own(own) if !own.writes.is_empty() => {
                let writes = own.writes.iter().filter_map(|path| user_path(path));
                Some(OwnPlaces {
                    writes: writes.collect(),
                    locks: None,
                })
            }
            Self::Codex(_) | Self::Own(_) => None,
        }
    }
}

impl AgentSandbox {
    /// The sandbox for an agent that `program` plays.
    ///
    /// # Errors
    /// A folder can't be made.
    pub(super) fn prepare(program: &AgentProgram, order: &AgentOrder<'_>) -> io::Result<Self> {
        let (places, confinement) = match (program, program.own_places(), order.confinement) {
            (_, Some(places), Some(confinement)) => (places, Some(confinement)),
            (AgentProgram::Codex(_), ..) => (OwnPlaces::default(), None),
            _ => return Ok(Self::default()),
        };
        let folder = order.scratch.join(format!("{}.calls", order.name));
        let broker = Broker::open(folder, order)?;
        let Some(confinement) = confinement else {
            return Ok(Self {
                broker,
                ..Self::default()
            });
        };
        let temporary = tempfile::Builder::new().prefix("fp-").tempdir()?;
        let mut confinement = confinement.clone();
        // Without its service, no agent works.
        confinement.network = true;
        confinement.locks.extend(places.locks);
        let places = places.writes.iter().map(PathBuf::as_path);
        let places = places.chain(broker.as_ref().map(Broker::folder));
        // While the lead brings a tree to the bench, the verifier could put links in its way.
        let own = (order.role == Role::Builder).then_some(order.cwd);
        let places = places.chain(own).chain([temporary.path()]);
        Ok(Self {
            confinement: Some(places.fold(confinement, |all, place| all.with(place))),
            temporary: Some(temporary),
            broker,
        })
    }

    /// The folder for the agent's calls to the lead.
    pub(super) fn calls(&self) -> Option<&Path> {
        self.broker.as_ref().map(Broker::folder)
    }

    /// Lets `command` find its folders.
    pub(super) fn name_folders(&self, command: &mut Command) {
        command.envs(self.calls().map(|folder| (BROKER, folder)));
        let temporary = self.temporary.iter();
        command.envs(temporary.flat_map(|it| TEMPORARY_VARIABLES.map(|name| (name, it.path()))));
    }
}

//! What is wrong with the setup: the client, the plugin in it, git, and the places that files are kept in. Facts in,
//! findings out, one for each check at least.

mod client;
mod git;
mod place;

pub use client::{
    Answered, ClientSettings, HookAnswer, OfMarketplace, PluginFacts, ProgramFacts, RegisteredPlugin, SLOW,
    Wiring, agent_teams, client, hooks, permissions, plugin, program,
};
pub use git::{CommitHooks, Signing, commit_hooks, git, identity, signing};
pub use place::{Disk, Located, SettingsFile, disk, left_by, leftovers, repository, settings};

use super::Finding;

/// Why something could not be found out, in the words of the error that said so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub way_out: Option<String>,
    /// The command that does it, where one does.
    pub command: Option<String>,
}

impl Fault {
    /// A fault with its way out, which no command is.
    #[must_use]
    pub fn new(message: impl Into<String>, way_out: Option<String>) -> Self {
        Self { message: message.into(), way_out, command: None }
    }

    /// The same with the command that mends it.
    #[must_use]
    pub fn mended_by(self, command: &str) -> Self {
        Self { command: Some(command.into()), ..self }
    }

    fn finding(&self, check: &'static str) -> Finding {
        let way_out = self.way_out.as_ref().map(|way_out| format!("; {way_out}")).unwrap_or_default();
        let command = self.command.clone();
        Finding { command, ..Finding::error(check, format!("{}{way_out}", self.message)) }
    }
}

#[cfg(test)]
mod tests;

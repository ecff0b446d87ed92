//! What of the settings on offer the user wants: said with flags, asked for in a terminal, and else left alone.

use fp_core::client_settings::{Choice, PERMISSIONS, Standing, TEAMS};
use fp_host::claude::install::{EntryChange, Installation, Installed, Prospect, Scope};

use super::text;
use crate::context::Context;
use crate::error::CommandError;
use crate::input;

#[derive(Debug, clap::Args)]
pub(super) struct Wishes {
    /// Add permission rules and agent teams to the settings, without asking.
    #[arg(long)]
    yes: bool,
    /// Add the permission rules: for the command fp, and for edits in the folder of plans.
    #[arg(long, overrides_with = "no_permissions")]
    permissions: bool,
    /// Add no permission rules.
    #[arg(long)]
    no_permissions: bool,
    /// Switch agent teams on.
    #[arg(long, overrides_with = "no_teams")]
    teams: bool,
    /// Leave agent teams as they are.
    #[arg(long)]
    no_teams: bool,
}

impl Wishes {
    /// What the flags ask for; what they don't speak of is not wanted.
    pub(super) fn decided(&self) -> Choice {
        Choice {
            permissions: self.permissions_wanted() == Some(true),
            teams: self.teams_wanted() == Some(true),
        }
    }

    fn permissions_wanted(&self) -> Option<bool> {
        wanted(self.permissions || self.yes, self.no_permissions)
    }

    fn teams_wanted(&self) -> Option<bool> {
        wanted(self.teams || self.yes, self.no_teams)
    }

    /// What there is to ask for, and somebody to ask.
    pub(super) fn questions(&self, prospect: &Prospect, context: &Context) -> Choice {
        if !input::can_ask(context) {
            return Choice::default();
        }
        Choice {
            permissions: self.permissions_wanted().is_none() && prospect.permissions() == Standing::Missing,
            teams: self.teams_wanted().is_none() && prospect.teams() == Standing::Missing,
        }
    }

    /// What is wanted, after the questions that are to be `asked`.
    pub(super) fn ask(
        &self,
        asked: Choice,
        installation: &Installation,
        prospect: &Prospect,
        context: &Context,
    ) -> Result<Choice, CommandError> {
        let mut choice = self.decided();
        if asked == Choice::default() {
            return Ok(choice);
        }
        let (before, _) = installation.preview(prospect, choice)?;
        context.printer.note(&text(&before, true, asked));
        let file = prospect.settings_file().display();
        if asked.permissions {
            let rules = PERMISSIONS.join("\n  ");
            choice.permissions = input::agrees(
                &format!(
                    "With these permission rules Claude Code does not ask for each command\n\
                     of fp and for each edit in the folder of plans:\n  {rules}\nAdd them to {file}?"
                ),
                context,
            );
        }
        if asked.teams {
            choice.teams = input::agrees(
                &format!(
                    "With agent teams, which are experimental, you see each builder and can\n\
                     talk to it:\n  {TEAMS}=1\nAdd it to {file}?"
                ),
                context,
            );
        }
        context.printer.note("");
        Ok(choice)
    }

    /// How to get what was neither wanted nor refused.
    pub(super) fn left(&self, installed: &Installed) -> Option<String> {
        let missing = |change, wanted: Option<bool>| change == EntryChange::Declined && wanted.is_none();
        let permissions = missing(installed.settings.permissions, self.permissions_wanted());
        let teams = missing(installed.settings.teams, self.teams_wanted());
        let (what, flag) = match (permissions, teams) {
            (true, true) => ("permission rules and agent teams", "--yes"),
            (true, false) => ("permission rules", "--permissions"),
            (false, true) => ("agent teams", "--teams"),
            (false, false) => return None,
        };
        let scope = match installed.scope {
            Scope::User => String::new(),
            other => format!(" --scope {}", other.name()),
        };
        Some(format!("To add {what}: fp install{scope} {flag}"))
    }
}

fn wanted(yes: bool, no: bool) -> Option<bool> {
    if no { Some(false) } else { yes.then_some(true) }
}

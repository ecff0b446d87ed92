//! The runs that are on where an event comes from.

use std::path::PathBuf;
use std::sync::Arc;

use fp_core::run::State;
use fp_host::claude::hook::HookEvent;
use fp_host::plan::OpenPlan;
use fp_host::repo::Repo;

use crate::context::Context;
use crate::error::CommandError;

/// A run that is on, as it was read.
pub(super) struct Run {
    pub(super) plan: OpenPlan,
    pub(super) state: Arc<State>,
}

impl Run {
    /// Whether `session` leads it, in the client's process `client` where that is known.
    pub(super) fn is_led_by(&self, session: Option<&str>, client: Option<u32>) -> bool {
        self.state.run.as_ref().is_some_and(|run| run.is_led_by(session, client))
    }

    /// The client's process that it was started in, where that is known.
    pub(super) fn client(&self) -> Option<u32> {
        self.state.run.as_ref().and_then(|run| run.terms.client)
    }
}

/// The context of where `event` comes from: its folder, or this one where that is gone.
pub(super) fn place(context: &Context, event: &HookEvent) -> Context {
    let cwd = event.cwd().map(PathBuf::from).filter(|cwd| cwd.is_absolute() && cwd.is_dir());
    context.at(cwd.unwrap_or_else(|| context.cwd.clone()))
}

/// The runs of the repository that are not over, the newest first, each read when it is asked for. A log that can't be
/// read is the business of the commands that need it.
pub(super) fn runs(context: &Context) -> Result<impl Iterator<Item = Run>, CommandError> {
    // Outside of a repository not even the settings are looked at.
    let found = match Repo::find(&context.cwd).git_dir {
        Some(_) => Some((context.plans()?, context.settings()?)),
        None => None,
    };
    let ids = found.as_ref().map_or_else(|| Ok(Vec::new()), |(plans, _)| plans.list())?;
    Ok(ids.into_iter().rev().filter_map(move |id| {
        let (plans, settings) = found.as_ref()?;
        let plan = OpenPlan::new(context.repo().clone(), (*settings).clone(), plans.open(&id).ok()?);
        let state = plan.load().ok()?.state;
        state.is_running().then_some(Run { plan, state })
    }))
}

//! How commands reach a plan: by what the user typed, or the only one that is active; and all of them at once.

use std::sync::Arc;

use fp_core::report::status::StatusReport;
use fp_core::run::State;
use fp_core::run::state::RunStatus;
use fp_host::plan::{OpenPlan, Tree};
use fp_host::plan_folder::{PlanError, PlanFolder, Plans};
use fp_host::run::worktree;
use fp_host::store::Store;

use crate::context::Context;
use crate::error::CommandError;

/// A plan of the repository.
#[derive(Debug)]
pub(crate) struct Known {
    /// Its folder.
    pub(crate) folder: PlanFolder,
    /// Whether it was put away.
    pub(crate) archived: bool,
    /// Its state, or why that can't be read.
    pub(crate) state: Result<Arc<State>, CommandError>,
}

impl Context {
    /// All plans of the repository, the archived ones last.
    pub(crate) fn known_plans(&self) -> Result<Vec<Known>, CommandError> {
        let plans = self.plans()?;
        let mut known = Vec::new();
        for (plans, archived) in [(&plans, false), (&plans.archived(), true)] {
            for id in plans.list()? {
                let folder = plans.open(&id)?;
                known.push(Known { state: state(&folder), folder, archived });
            }
        }
        Ok(known)
    }

    /// Names the plans whose log can't be read.
    pub(crate) fn warn_of_unread(&self, known: &[Known]) {
        for Known { folder, state, .. } in known {
            if let Err(error) = state {
                self.printer.note(&format!("warning: plan {} is left out: {}", folder.id(), error.message));
            }
        }
    }

    /// The plan that `selector` means; without one, the only one whose run is not over.
    pub(crate) fn open(&self, selector: Option<&str>) -> Result<OpenPlan, CommandError> {
        let active = |folder: &PlanFolder| {
            let store = Store::new(folder.path().to_owned(), folder.id().clone());
            // A plan whose log can't be read is not passed over: the command that gets it says why.
            let Ok(loaded) = store.load() else { return Some(folder.id().to_string()) };
            let is_active = loaded.state.run.as_ref().is_none_or(|run| run.status == RunStatus::Running);
            is_active.then(|| StatusReport::new(&loaded.state).line())
        };
        let plans = self.plans()?;
        let folder = plans.choose(selector, active).map_err(|error| {
            match (&error, selector.and_then(|selector| archived(&plans, selector))) {
                (PlanError::NotFound { .. }, Some(folder)) => {
                    let shown = self.shown(folder.path());
                    CommandError::failed(format!("{} is archived", folder.id())).hint(format!(
                        "`fp plans export {}` still reads it; to have it back: mv {shown} {}",
                        folder.id(),
                        self.shown(plans.dir())
                    ))
                }
                _ => error.into(),
            }
        })?;
        self.opened(folder)
    }

    /// The plan that `selector` means, or else the archived one.
    pub(crate) fn open_or_archived(&self, selector: &str) -> Result<OpenPlan, CommandError> {
        let plans = self.plans()?;
        match plans.resolve(selector) {
            Err(error @ PlanError::NotFound { .. }) => self.opened(archived(&plans, selector).ok_or(error)?),
            found => self.opened(found?),
        }
    }

    fn opened(&self, folder: PlanFolder) -> Result<OpenPlan, CommandError> {
        let settings = self.settings_for(&folder)?;
        Ok(OpenPlan::new(self.repo().clone(), settings, folder))
    }

    /// The task tree of a run that is on.
    pub(crate) fn tree(&self, plan: &OpenPlan) -> Result<Tree, CommandError> {
        plan.tree().map_err(|error| match error.is_missing() {
            true => CommandError::failed(error)
                .hint("put it back as it was approved; what is done so far is in the log, and is not lost"),
            false => error.into(),
        })
    }

    /// Removes the builders' worktrees that the run needs no more. What is in the way of that is in nobody else's.
    pub(crate) fn sweep(&self, plan: &OpenPlan) {
        match worktree::sweep(plan) {
            Ok(kept) => kept.iter().for_each(|patch| {
                let patch = self.shown(patch);
                self.printer
                    .note(&format!("note: what was not finished is kept: `git apply {patch}` takes it up"));
            }),
            Err(error) => self.printer.note(&format!(
                "note: worktrees are left over: {error}; `fp next {}` tries again to remove them",
                plan.id()
            )),
        }
    }

    /// Says what reading a log brought up.
    pub(crate) fn notices(&self, notices: &[String]) {
        for notice in notices {
            self.printer.note(&format!("note: {notice}"));
        }
    }
}

fn state(folder: &PlanFolder) -> Result<Arc<State>, CommandError> {
    Ok(Store::new(folder.path().to_owned(), folder.id().clone()).load()?.state)
}

/// The archived plan that `selector` means; a number is one of the plans that are not.
fn archived(plans: &Plans, selector: &str) -> Option<PlanFolder> {
    plans.archived().resolve(selector).ok().filter(|_| selector.parse::<usize>().is_err())
}

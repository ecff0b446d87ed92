//! Test-driven work: the check of a task has to fail before its work, or its pass afterwards says nothing.

use std::collections::BTreeSet;

use super::decide::Decision;
use super::event::{Decider, Event};
use super::question::Topic;
use super::ready::Obstacle;
use super::state::{Before, State, Status, TaskState};
use crate::plan::id::TaskId;
use crate::settings::ExecutionModel;
use crate::verification::{Check, CheckVerdict};

impl State {
    /// The checks of a task ran before its work, and all of them passed: the user decides.
    pub fn doubt(&self, id: &TaskId, checks: Vec<Check>) -> Decision {
        let task = self.expect_task(id)?;
        if task.status != Status::Pending || task.before.is_some() {
            return Ok(Vec::new());
        }
        let topic = Topic::PassesBefore(id.clone());
        Ok(vec![Event::CheckedBefore { task: id.clone(), checks, passed: true }, self.ask(topic, "")])
    }

    /// Whether nothing but the user's word keeps the task from being claimed.
    pub(super) fn only_doubted(&self, id: &TaskId) -> bool {
        let none = BTreeSet::new();
        self.task(id).is_some_and(|task| self.obstacles(&none).of(task) == Some(Obstacle::PassesBefore))
    }

    /// The check that `task` was begun with a failing one, in test-driven work.
    #[must_use]
    pub fn test_first(&self, task: &TaskState) -> Option<Check> {
        if self.policy().model != ExecutionModel::Tdd {
            return None;
        }
        let (verdict, detail) = match &task.before {
            None => (CheckVerdict::NotApplicable, "the task has no Verify command".to_owned()),
            Some(Before { passed: false, checks, .. }) => {
                let ended = checks.iter().filter_map(|check| check.detail.lines().next());
                (CheckVerdict::Pass, format!("before the work: {}", ended.collect::<Vec<_>>().join("; ")))
            }
            Some(Before { waived: Some(by), .. }) => {
                let who = if *by == Decider::User { "the user" } else { "a rule" };
                (CheckVerdict::Note, format!("Verify passed before the work already; {who} let it be built"))
            }
            Some(_) => (
                CheckVerdict::Fail,
                "Verify passed before the work already, so that it proves nothing".into(),
            ),
        };
        Some(Check { name: "test first".into(), verdict, detail })
    }

    /// Whether the checks of the pending task `id` have yet to run before its work.
    #[must_use]
    pub fn wants_checks_before(&self, id: &TaskId) -> bool {
        let pending = |task: &TaskState| task.status == Status::Pending && task.before.is_none();
        self.policy().model == ExecutionModel::Tdd && self.task(id).is_some_and(pending)
    }
}

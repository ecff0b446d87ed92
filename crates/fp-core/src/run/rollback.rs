//! Taking back a task that is done. What was built on it would be left without its ground, so that goes first; and
//! since undoing a commit takes time, during which the log is free, the decision is taken twice: before, when it may
//! be refused, and after, when it is a fact and others make room for it.

use super::decide::Decision;
use super::event::Event;
use super::refusal::{Refusal, refuse};
use super::state::{State, Status, TaskState};
use crate::plan::id::TaskId;
use crate::plan::path::overlap;

impl State {
    /// The task `id`, if it may be rolled back: it is completed, nothing that waits for it, directly or not, is done
    /// or under way, and no running task may change one of `files`, which its commit has changed.
    pub fn expect_revertible(&self, id: &TaskId, files: &[String]) -> Result<&TaskState, Refusal> {
        let task = self.expect_task(id)?;
        if task.status != Status::Completed {
            return Err(refuse(task, "only a completed task can be rolled back"));
        }
        let on_it: Vec<(TaskId, Status)> = self
            .dependents(id)
            .into_iter()
            .filter_map(|dependent| Some((dependent.clone(), self.task(&dependent)?.status)))
            .filter(|(_, status)| *status == Status::Completed || status.is_running())
            .collect();
        if !on_it.is_empty() {
            return Err(Refusal::BuiltOn { task: id.clone(), on_it });
        }
        let shares = |running: &TaskState| {
            running.leaf.files.iter().find(|file| overlap(std::slice::from_ref(file), files)).cloned()
        };
        match self.running().find_map(|running| Some((running.leaf.id.clone(), shares(running)?))) {
            Some((running, file)) => Err(Refusal::Shared { task: id.clone(), running, file }),
            None => Ok(task),
        }
    }

    /// The task `id` was rolled back: its `commit`, if it had one, was undone by `revert`. Whoever has claimed a task
    /// in the meantime that waits for it loses the claim, and the attempt does not count.
    pub fn roll_back(&self, id: &TaskId, commit: Option<String>, revert: Option<String>) -> Decision {
        let task = self.expect_task(id)?;
        if task.status != Status::Completed || task.commit != commit {
            return Err(refuse(task, "only a completed task can be rolled back"));
        }
        let running = self.dependents(id).into_iter().filter_map(|dependent| self.task(&dependent));
        let mut events: Vec<Event> = running
            .filter(|dependent| dependent.status.is_running())
            .map(|dependent| Event::Released {
                task: dependent.leaf.id.clone(),
                reason: format!("task {id}, which it builds on, was rolled back"),
                iteration: dependent.iteration,
            })
            .collect();
        events.push(Event::RolledBack { task: id.clone(), commit, revert });
        // One that was done before the plan was imported need not have waited for anything.
        if let Some(because) = self.lost_cause(task) {
            let ended = |id: &TaskId| self.task(id).is_some_and(|task| task.status.is_final());
            let waiting = self.dependents(id).into_iter().filter(|dependent| !ended(dependent));
            let skipped = std::iter::once(id.clone()).chain(waiting);
            events.extend(skipped.map(|task| Event::Skipped { task, because: because.clone() }));
        }
        Ok(events)
    }

    /// The failed task that keeps `task` from being done, if there is one.
    fn lost_cause(&self, task: &TaskState) -> Option<TaskId> {
        task.leaf.dependencies.iter().filter_map(|dependency| self.task(dependency)).find_map(|dependency| {
            match dependency.status {
                Status::Failed => Some(dependency.leaf.id.clone()),
                Status::Skipped => dependency.because.clone(),
                _ => None,
            }
        })
    }
}

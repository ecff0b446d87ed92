//! Reads from the log how long builders took for the first attempts at their tasks.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::run::State;
use crate::run::event::{Entry, Event};
use crate::run::state::Status;
use fp_plan::plan::id::{AgentName, TaskId};

/// A task that was built and is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BuiltTask<'s> {
    pub owner: &'s AgentName,
    pub complexity: u32,
    /// From the first claim to its submission.
    pub minutes: f64,
}

/// The tasks of `state` that were built without an interruption, by `entries`. An entry whose clock stood behind the
/// one before it counts as an interruption.
pub fn built_tasks<'s>(state: &State, entries: &'s [Entry]) -> Vec<BuiltTask<'s>> {
    let mut begun: BTreeMap<&TaskId, (&AgentName, Timestamp)> = BTreeMap::new();
    let mut built = Vec::new();
    for entry in entries {
        if entry.clock.is_some() {
            begun.clear();
        }
        for event in &entry.events {
            match event {
                Event::Claimed {
                    task,
                    owner,
                    iteration: 1,
                    ..
                } => drop(begun.insert(task, (owner, entry.at))),
                Event::RunStarted(_) => begun.clear(),
                Event::Submitted { task, .. } => {
                    let done = state
                        .task(task)
                        .filter(|task| task.status == Status::Completed);
                    if let Some(((owner, at), done)) = begun.remove(task).zip(done) {
                        built.push(BuiltTask {
                            owner,
                            complexity: done.leaf.complexity,
                            minutes: entry.at.duration_since(at).as_secs_f64() / 60.0,
                        });
                    }
                }
                Event::Released { task, .. } => drop(begun.remove(task)),
                _ => {}
            }
        }
    }
    built
}

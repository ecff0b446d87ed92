//! Tells whether a plan is making progress right now without the user, in one place for every view that shows it.

use serde::Serialize;

use super::status::Phase;
use crate::run::State;
use crate::run::state::{Activity, Status, TaskState};

/// The presence on this machine of the process that leads the local part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeadPresence {
    Present,
    Gone,
    /// Nobody can tell, or no run is under way.
    Unknown,
}

/// The phase of a plan, and whether it makes progress without the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum RunStanding {
    Planning,
    Approved,
    Running,
    /// Nothing happens until the user answers or changes the plan.
    #[strum(to_string = "waits for you")]
    WaitsForYou,
    /// Nothing happens, because the process that led the run is gone.
    Interrupted,
    Finished,
    Cancelled,
}

impl RunStanding {
    pub fn of(state: &State, lead: LeadPresence) -> Self {
        match Phase::of(state) {
            Phase::Planning => Self::Planning,
            Phase::Approved => Self::Approved,
            Phase::Running if lead == LeadPresence::Gone => Self::Interrupted,
            Phase::Running if state.waits_for_user() => Self::WaitsForYou,
            Phase::Running => Self::Running,
            Phase::Finished => Self::Finished,
            Phase::Cancelled => Self::Cancelled,
        }
    }

    /// The reason why nothing happens although the run isn't over.
    pub fn obstacle(self, state: &State) -> Option<&'static str> {
        Some(match self {
            Self::Interrupted if state.is_shared() => {
                "Nothing runs on this machine: nobody leads the run here"
            }
            Self::Interrupted => "Nothing runs: nobody leads the run",
            Self::WaitsForYou if state.open_questions().next().is_some() => {
                "Nothing goes on before you have answered"
            }
            Self::WaitsForYou => "Nothing goes on by itself: `fp status --ready` says why",
            Self::Planning | Self::Approved | Self::Running | Self::Finished | Self::Cancelled => {
                return None;
            }
        })
    }
}

/// The reason why nobody is working on a task that a builder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskHalt {
    /// The task waits for the user's answer.
    Asking,
    /// The run is interrupted or over.
    Stopped,
}

impl TaskHalt {
    pub(super) fn of(state: &State, standing: RunStanding, task: &TaskState) -> Option<Self> {
        let id = &task.leaf.id;
        let is_asked = || state.open_questions().any(|q| q.topic.task() == Some(id));
        let builder = || state.agents.get(&task.claim.as_ref()?.owner);
        let is_idle = || builder().is_none_or(|agent| agent.activity == Activity::Idle);
        let asks = match task.status {
            Status::Implementing => state.awaits_answer(id) || is_asked() && is_idle(),
            Status::AwaitingVerification => is_asked(),
            Status::Pending | Status::Completed | Status::Failed | Status::Skipped => return None,
        };
        match standing {
            RunStanding::Finished | RunStanding::Cancelled => Some(Self::Stopped),
            _ if asks => Some(Self::Asking),
            // A task held by another machine may still be worked on there.
            RunStanding::Interrupted if state.is_own(task) => Some(Self::Stopped),
            RunStanding::Planning
            | RunStanding::Approved
            | RunStanding::Running
            | RunStanding::WaitsForYou
            | RunStanding::Interrupted => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use fp_plan::plan::id::{PlanId, TaskId};
    use serde_json::{Value, json};

    use super::*;
    use crate::report::handoff::next_steps;
    use crate::report::status::StatusReport;
    use crate::run::event::Entry;

    fn state(terms: &Value, more: &[Value]) -> State {
        let leaf =
            |id: &str| json!({ "id": id, "title": "", "hash": "", "complexity": 1, "files": [id] });
        let mut events = vec![
            json!({ "approved": { "treeHash": "h", "leaves": [leaf("1"), leaf("2")], "by": "user" } }),
            json!({ "runStarted": terms }),
        ];
        events.extend_from_slice(more);
        let at = "2026-11-21T09:00:00Z";
        let entry = json!({ "schemaVersion": 1, "seq": 1, "at": at, "events": events });
        let entry: Entry = serde_json::from_value(entry).unwrap();
        State::replay(PlanId::new("p").unwrap(), [&entry])
    }

    fn claimed(task: &str, owner: &str) -> Value {
        json!({ "claimed": { "task": task, "owner": owner, "token": "t", "iteration": 1,
            "base": { "tree": "a", "head": "b" } } })
    }

    fn asked(topic: Value) -> Value {
        json!({ "asked": { "question": { "id": "q1", "topic": topic, "text": "And now?", "header": "H", "options": [] } } })
    }

    #[test]
    fn what_goes_on_by_itself() {
        let terms = json!({ "builders": 2, "maxIterations": 3, "noCommit": false, "processes": true,
            "attended": true });
        let clarify = asked(json!({ "about": "clarify", "task": "1" }));
        let ended = |name: &str| json!({ "agentEnded": { "name": name } });
        let check = |more: &[Value], lead: LeadPresence, expect: &str| {
            let report = StatusReport::new(&state(&terms, more), lead);
            let found = (report.standing.into_str(), report.counts.in_words());
            assert_eq!(format!("{}: {}", found.0, found.1), expect, "{more:?}");
        };
        let (present, gone) = (LeadPresence::Present, LeadPresence::Gone);
        let built = claimed("1", "builder-1");
        check(&[], present, "running: 0 of 2 tasks done, 2 ready");
        check(&[], gone, "interrupted: 0 of 2 tasks done, 2 ready");
        let one = std::slice::from_ref(&built);
        check(
            one,
            present,
            "running: 0 of 2 tasks done, 1 being built, 1 ready",
        );
        check(
            one,
            LeadPresence::Unknown,
            "running: 0 of 2 tasks done, 1 being built, 1 ready",
        );
        check(
            one,
            gone,
            "interrupted: 0 of 2 tasks done, 1 stopped, 1 ready",
        );
        // The other builder can continue until it asks as well.
        let asks = [built.clone(), clarify.clone(), ended("builder-1")];
        check(
            &asks,
            present,
            "running: 0 of 2 tasks done, 1 asking you, 1 ready",
        );
        let both = [
            &asks[..],
            &[
                claimed("2", "builder-2"),
                asked(json!({ "about": "clarify", "task": "2" })),
            ],
        ]
        .concat();
        check(&both, present, "running: 0 of 2 tasks done, 2 asking you");
        let both = [&both[..], &[ended("builder-2")]].concat();
        check(
            &both,
            present,
            "waits for you: 0 of 2 tasks done, 2 asking you",
        );
        check(&both, gone, "interrupted: 0 of 2 tasks done, 2 asking you");
        let over = [&both[..], &[json!({ "cancelled": { "by": "user" } })]].concat();
        check(&over, gone, "cancelled: 0 of 2 tasks done, 2 stopped");
        // Once the budget is used up, nothing is started, even if tasks are ready.
        let spent = asked(json!({ "about": "budget", "task": { "limit": "1 tokens" } }));
        let cost = json!({ "agentSpent": { "name": "builder-1", "cost": { "role": "builder", "program": "own",
            "turns": 1, "tokens": { "input": 0, "cached": 0, "output": 5 }, "seconds": 1 } } });
        check(
            &[cost, spent],
            present,
            "waits for you: 0 of 2 tasks done, 2 ready",
        );
    }

    #[test]
    fn the_command_that_goes_on_comes_after_the_questions() {
        let mut terms = json!({ "builders": 2, "maxIterations": 3, "noCommit": false, "processes": true,
            "flags": { "builders": 2, "budget": "500000 tokens", "noCommit": true } });
        let asks = [
            claimed("1", "builder-1"),
            asked(json!({ "about": "clarify", "task": "1" })),
            json!({ "failed": { "task": "2", "reason": "no" } }),
        ];
        let commands = |terms: &Value, standing: RunStanding| {
            let steps = next_steps(&state(terms, &asks), standing);
            let commands: Vec<String> = steps.into_iter().map(|step| step.command).collect();
            commands[1..].join("; ")
        };
        let flags = "-j 2 --budget '500000 tokens' --no-commit";
        let expect = format!("fp run p {flags}; fp retry p 2");
        assert_eq!(commands(&terms, RunStanding::Interrupted), expect);
        let expect = "fp retry p 2; fp status p --watch";
        assert_eq!(commands(&terms, RunStanding::Running), expect);
        terms["processes"] = false.into();
        let expect = "/fp:implement p; fp retry p 2";
        assert_eq!(commands(&terms, RunStanding::Interrupted), expect);
    }

    #[test]
    fn what_another_machine_builds_goes_on() {
        let mut state = state(
            &json!({ "builders": 1, "maxIterations": 3, "noCommit": false }),
            &[claimed("1", "builder-1")],
        );
        state.machine = Some(fp_plan::plan::id::MachineId::new("here").unwrap());
        let task = state.task(&TaskId::new("1").unwrap()).unwrap();
        let halt = |standing| TaskHalt::of(&state, standing, task);
        assert_eq!(halt(RunStanding::Interrupted), None);
        assert_eq!(halt(RunStanding::Cancelled), Some(TaskHalt::Stopped));
    }
}

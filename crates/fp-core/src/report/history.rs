//! Who tried each task, and what came of it: what a state forgets, and the log does not.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::plan::id::{AgentName, TaskId};
use crate::run::event::{Entry, Event};

/// One try at a task: from a claim, or from being sent back, to what ended it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// The iteration, from 1; a retry begins again with 1.
    pub iteration: u32,
    /// The builder.
    pub builder: AgentName,
    /// How it ended; `None` while it goes on.
    #[serde(flatten)]
    pub end: Option<End>,
}

/// How a try ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "end", content = "reason")]
pub enum End {
    /// It passed.
    Passed,
    /// It did not, for these reasons, a line each.
    Failed(String),
    /// The claim was taken back.
    Released(String),
}

impl End {
    /// Why it did not come to a pass.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Passed => None,
            Self::Failed(reason) | Self::Released(reason) => Some(reason),
        }
    }
}

/// The tries of every task.
#[derive(Debug, Clone, Default)]
pub struct History(BTreeMap<TaskId, Vec<Attempt>>);

impl History {
    /// What `entries`, a whole log, say.
    #[must_use]
    pub fn new<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Self {
        let mut history = Self::default();
        entries.into_iter().flat_map(|entry| &entry.events).for_each(|event| history.take(event));
        history
    }

    /// The tries at `task`, in order.
    #[must_use]
    pub fn of(&self, task: &TaskId) -> &[Attempt] {
        self.0.get(task).map_or(&[], Vec::as_slice)
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::Claimed { task, owner, iteration, .. } => self.begin(task, owner.clone(), *iteration),
            Event::SentBack { task, iteration, feedback, .. } => {
                self.lose(task, feedback);
                if let Some(builder) = self.last(task).map(|last| last.builder.clone()) {
                    self.begin(task, builder, *iteration);
                }
            }
            Event::Judged { task, pass: true, .. } => self.end(task, End::Passed),
            Event::Judged { task, reasons, .. } => self.end(task, End::Failed(reasons.join("\n"))),
            Event::Released { task, reason, .. } => self.end(task, End::Released(reason.clone())),
            Event::Failed { task, reason } => self.lose(task, reason),
            _ => {}
        }
    }

    fn begin(&mut self, task: &TaskId, builder: AgentName, iteration: u32) {
        self.0.entry(task.clone()).or_default().push(Attempt { iteration, builder, end: None });
    }

    fn end(&mut self, task: &TaskId, end: End) {
        if let Some(last) = self.last(task) {
            last.end = Some(end);
        }
    }

    /// The last try came to nothing, for `reason` where no verdict said so already. One that passed comes to nothing
    /// where its commit could not be made.
    fn lose(&mut self, task: &TaskId, reason: &str) {
        if let Some(last) = self.last(task).filter(|last| !matches!(last.end, Some(End::Failed(_)))) {
            last.end = Some(End::Failed(reason.to_owned()));
        }
    }

    fn last(&mut self, task: &TaskId) -> Option<&mut Attempt> {
        self.0.get_mut(task)?.last_mut()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_try_has_its_builder_and_its_end() {
        let claimed = |owner: &str, iteration: u32| {
            json!({ "claimed": { "task": "1", "owner": owner, "token": "t",
            "iteration": iteration, "base": { "tree": "a", "head": "b" } } })
        };
        let judged = |iteration: u32, pass: bool| {
            json!({ "judged": { "task": "1", "iteration": iteration, "pass": pass,
            "judgements": [], "summary": "", "reasons": if pass { vec![] } else { vec!["a", "b"] } } })
        };
        let back = |iteration: u32| {
            json!({ "sentBack": { "task": "1", "iteration": iteration, "token": "t",
            "feedback": "hook" } })
        };
        let entry: Entry = serde_json::from_value(json!({
            "schemaVersion": 1, "seq": 1, "at": "2026-11-21T09:00:00Z", "events": [
                claimed("builder-1", 1), judged(1, false), back(2),
                { "released": { "task": "1", "reason": "gone", "iteration": 2 } },
                claimed("builder-2", 2), judged(2, true), back(3),
                { "failed": { "task": "1", "reason": "given up" } },
                { "retried": { "task": "1", "restored": [] } },
                claimed("builder-1", 1),
            ]
        }))
        .unwrap();
        let history = History::new([&entry]);
        let told: Vec<(u32, &str, Option<End>)> = history
            .of(&TaskId::new("1").unwrap())
            .iter()
            .map(|a| (a.iteration, a.builder.as_str(), a.end.clone()))
            .collect();
        assert_eq!(
            told,
            [
                (1, "builder-1", Some(End::Failed("a\nb".into()))),
                (2, "builder-1", Some(End::Released("gone".into()))),
                (2, "builder-2", Some(End::Failed("hook".into()))),
                (3, "builder-2", Some(End::Failed("given up".into()))),
                (1, "builder-1", None),
            ]
        );
        assert_eq!(history.of(&TaskId::new("2").unwrap()), []);
    }
}

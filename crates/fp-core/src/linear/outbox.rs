//! What the log implies for the issues that are there, and was not sent: of each issue the last stage alone, and a
//! comment for each end of its task.

use std::collections::BTreeSet;

use serde::Serialize;

use super::GivenUp;
use super::comment::comment;
use super::id::LinearId;
use super::key::Key;
use super::mapping::{Failure, Mapped, Mapping};
use super::stage::Stage;
use crate::plan::graph::PlanIndex;
use crate::plan::id::TaskId;
use crate::plan::task::Plan;
use crate::run::State;
use crate::run::state::Status;

/// What is to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outbox {
    /// The calls, in order.
    pub changes: Vec<Change>,
    /// How many are left behind these.
    pub remaining: usize,
    /// Stages that issues should be moved to, and for which the team has no status.
    pub unresolved: BTreeSet<Stage>,
    /// What failed too often.
    pub given_up: Vec<GivenUp>,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What it is acknowledged by.
    pub key: Key,
    /// The task.
    pub task: TaskId,
    /// The issue.
    pub issue_id: LinearId,
    /// What people call it.
    pub identifier: Option<LinearId>,
    /// What to do.
    #[serde(flatten)]
    pub call: Call,
    /// How it failed before, if it did.
    pub failure: Option<Failure>,
}

/// What to do with an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "call")]
pub enum Call {
    /// Move it.
    Status {
        /// Where to.
        stage: Stage,
        /// Id of the team's status for that.
        status_id: LinearId,
    },
    /// Say something about it.
    Comment {
        /// What, in Markdown; the last line is the marker.
        body: String,
        /// What it can be found by, if it was said and nobody could tell so.
        marker: String,
        /// What to do before saying it.
        before: &'static str,
    },
}

const BEFORE: &str =
    "look for the marker among the comments: one that has it was made before, and is acknowledged";

/// What is to be sent about the leaves: at most `limit` calls, at least 1.
#[must_use]
pub fn outbox(state: &State, mapping: &Mapping, limit: usize) -> Outbox {
    let mut found = Collector { mapping, outbox: Outbox::default() };
    for task in &state.tasks {
        let id = &task.leaf.id;
        let Some(issue) = mapping.tasks.get(id) else { continue };
        // A skipped task leaves its issue where it is, as soon as that is known.
        if let Some(stage) = Stage::of_leaf(task.status).or(issue.unconfirmed.then(|| issue.stage())) {
            found.status(id, issue, stage);
        }
        if let Some(comment) = comment(state, task).filter(|c| !issue.comments.contains(&c.digest)) {
            let key = Key::Comment { task: id.clone(), digest: comment.digest };
            let call = Call::Comment { body: comment.body, marker: comment.marker, before: BEFORE };
            found.add(key, issue, call);
        }
    }
    found.cut(limit)
}

/// What is to be sent about the parents in `tree`, as it follows from their leaves: at most `limit` calls, at least
/// 1, the innermost parents first.
#[must_use]
pub fn rollup(tree: &Plan<'_>, state: &State, mapping: &Mapping, limit: usize) -> Outbox {
    let index = PlanIndex::new(tree);
    let mut found = Collector { mapping, outbox: Outbox::default() };
    for (position, task) in tree.tasks.iter().enumerate().rev().filter(|(_, task)| !task.is_leaf()) {
        let Some((id, issue)) = mapping.tasks.get_key_value(&*task.id) else { continue };
        let approved = |leaf: &usize| state.task(&TaskId::new(&*tree.tasks[*leaf].id).ok()?);
        let leaves = index.leaves_of(position).iter().filter_map(approved);
        let leaves: Vec<Status> = leaves.map(|leaf| leaf.status).collect();
        found.status(id, issue, Stage::of_parent(&leaves));
    }
    found.cut(limit)
}

struct Collector<'a> {
    mapping: &'a Mapping,
    outbox: Outbox,
}

impl Collector<'_> {
    fn status(&mut self, task: &TaskId, issue: &Mapped, stage: Stage) {
        if issue.stage() == stage && !issue.unconfirmed {
            return;
        }
        let Some(status_id) = self.mapping.resolved_statuses.get(&stage).cloned() else {
            self.outbox.unresolved.insert(stage);
            return;
        };
        let key = Key::Status { task: task.clone(), stage, number: issue.sent.len() + 1 };
        self.add(key, issue, Call::Status { stage, status_id });
    }

    fn add(&mut self, key: Key, issue: &Mapped, call: Call) {
        if let Some(failure) = self.mapping.given_up(&key) {
            self.outbox.given_up.push(GivenUp { key, reason: failure.reason.clone() });
            return;
        }
        self.outbox.changes.push(Change {
            task: key.task().clone(),
            issue_id: issue.linear_issue_id.clone(),
            identifier: issue.linear_identifier.clone(),
            call,
            failure: self.mapping.failures.get(&key).cloned(),
            key,
        });
    }

    fn cut(mut self, limit: usize) -> Outbox {
        let limit = limit.max(1);
        self.outbox.remaining = self.outbox.changes.len().saturating_sub(limit);
        self.outbox.changes.truncate(limit);
        self.outbox
    }
}

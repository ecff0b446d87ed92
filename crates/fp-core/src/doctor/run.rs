//! The run: what was approved, who holds what, and what completed tasks rest on.

use std::collections::BTreeSet;

use super::{Finding, Fix, listed, verb};
use crate::plan::Plan;
use crate::plan::id::TaskId;
use crate::run::State;
use crate::run::approval as approved;
use crate::run::state::Status;

/// Whether the tree, whose text has the hash `hash`, is what was approved.
#[must_use]
pub fn approval(state: &State, tree: &Plan<'_>, hash: &str) -> Finding {
    let check = "approval";
    let plan = &state.plan_id;
    let Some(approval) = &state.approval else {
        return Finding::ok(check, "the plan is not approved yet");
    };
    if approval.tree_hash == hash {
        return Finding::ok(check, "the tree is the one that was approved");
    }
    let edited = approved::edited(state, tree);
    let ids = tree.leaves().filter_map(|leaf| TaskId::new(&*leaf.id).ok());
    let new: Vec<TaskId> = ids.filter(|id| state.task(id).is_none()).collect();
    if edited.is_empty() && new.is_empty() {
        return Finding::ok(check, "the text of the tree was edited, and no task of it");
    }
    let mut parts = Vec::new();
    if !edited.is_empty() {
        parts.push(format!("{} {} edited or removed", listed(&edited), verb(edited.len(), "was", "were")));
    }
    if !new.is_empty() {
        parts.push(format!("{} {} new", listed(&new), verb(new.len(), "is", "are")));
    }
    Finding::warning(check, format!("{} since the approval", parts.join(", and ")))
        .mended_by(format!("fp approve {plan}"))
}

/// What is known of the client's process that leads the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// It is there.
    There,
    /// It is gone, and its agents with it.
    Gone,
    /// Nobody can tell.
    Unknown,
}

/// Whether those who hold tasks can still be there.
#[must_use]
pub fn claims(state: &State, lead: Lead) -> Finding {
    let check = "claims";
    let held: Vec<&TaskId> = state.running().map(|task| &task.leaf.id).collect();
    let (what, is) = (listed(held.iter().copied()), verb(held.len(), "is", "are"));
    if held.is_empty() {
        return Finding::ok(check, "no task is held");
    }
    let start = format!("fp run start {}", state.plan_id);
    match (state.is_running(), lead) {
        (false, _) => {
            Finding::warning(check, format!("{what} {is} held, and the run is over")).mended_by(start)
        }
        (true, Lead::Gone) => {
            Finding::warning(check, format!("{what} {is} held by a session that is gone")).mended_by(start)
        }
        (true, Lead::There) => Finding::ok(check, format!("{what} {is} held, and the session is there")),
        (true, Lead::Unknown) => {
            Finding::ok(check, format!("{what} {is} held; nobody can tell whether the session is there"))
        }
    }
}

/// Whether a commit was begun of which nobody said how it ended.
#[must_use]
pub fn intents(state: &State) -> Finding {
    let open: Vec<&TaskId> = state.tasks.iter().filter(|t| t.awaits_commit()).map(|t| &t.leaf.id).collect();
    if open.is_empty() {
        return Finding::ok("commits due", "none");
    }
    let detail = format!(
        "{} passed and {} a commit",
        listed(open.iter().copied()),
        verb(open.len(), "awaits", "await")
    );
    let next = if state.is_running() { "fp next" } else { "fp run start" };
    Finding::warning("commits due", detail).mended_by(format!("{next} {}", state.plan_id))
}

/// Whether the commits of completed tasks are in the history; `gone` are those of which git says they are not.
#[must_use]
pub fn commits(state: &State, gone: &BTreeSet<String>) -> Finding {
    let with_commit = || state.tasks.iter().filter_map(|task| Some((&task.leaf.id, task.commit.as_ref()?)));
    let lost: Vec<&TaskId> =
        with_commit().filter(|(_, commit)| gone.contains(*commit)).map(|(id, _)| id).collect();
    if lost.is_empty() {
        let count = with_commit().count();
        let has = verb(count, "task has its commit", "tasks have their commits");
        return Finding::ok("commits", format!("{count} {has} in the history of HEAD"));
    }
    let detail = format!(
        "the {} of {} {} not in the history of HEAD: another branch is checked out, or it was rewritten",
        verb(lost.len(), "commit", "commits"),
        listed(lost.iter().copied()),
        verb(lost.len(), "is", "are")
    );
    let first = with_commit().find(|(_, commit)| gone.contains(*commit)).map(|(_, commit)| commit.as_str());
    Finding::warning("commits", detail)
        .mended_by(format!("git branch --contains {}", first.unwrap_or("HEAD")))
}

/// The completed tasks whose verdict has no evidence file; `there` says which have one.
#[must_use]
pub fn evidence(state: &State, there: impl Fn(&TaskId) -> bool) -> Finding {
    let judged: Vec<&TaskId> = state
        .tasks
        .iter()
        .filter(|task| task.status == Status::Completed && task.verdict.is_some())
        .map(|task| &task.leaf.id)
        .collect();
    let missing: Vec<TaskId> = judged.iter().filter(|id| !there(id)).map(|id| (*id).clone()).collect();
    if missing.is_empty() {
        let count = judged.len();
        let has = verb(count, "completed task has its file", "completed tasks have their files");
        return Finding::ok("evidence", format!("{count} {has}"));
    }
    let detail = format!(
        "the {} of {} {} missing; the log has what was in {}",
        verb(missing.len(), "file", "files"),
        listed(&missing),
        verb(missing.len(), "is", "are"),
        verb(missing.len(), "it", "them")
    );
    Finding::warning("evidence", detail).fixable(&state.plan_id, Fix::WriteEvidence(missing))
}

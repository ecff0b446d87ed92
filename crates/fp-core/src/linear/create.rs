//! The issues to be created: parents level by level, since an issue names its parent by an id that only its creation
//! gives, then the leaves in the order in which they will run.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Serialize;

use super::id::LinearId;
use super::key::Key;
use super::mapping::{Failure, Mapping};
use super::stage::Stage;
use super::{GivenUp, one_line};
use crate::plan::field::FieldKind;
use crate::plan::graph::PlanIndex;
use crate::plan::id::{InvalidId, TaskId};
use crate::plan::task::{Plan, Task, TaskIndex};
use crate::settings::Linear;

/// Most characters of a title that Linear takes.
const TITLE: usize = 255;

/// What a batch is made from.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The task tree.
    pub tree: &'a Plan<'a>,
    /// Ids of the leaves in the order in which they run.
    pub order: &'a [&'a str],
    /// What was sent.
    pub mapping: &'a Mapping,
    /// The settings of the mirror.
    pub settings: &'a Linear,
    /// Most issues of the batch, at least 1.
    pub limit: usize,
}

/// The next issues to be created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Batch {
    /// They, in order. Each can be created now: its parent has an issue.
    pub issues: Vec<Issue>,
    /// How many are left behind these.
    pub remaining: usize,
    /// What failed too often; children of such a task are put below the next task above it.
    pub given_up: Vec<GivenUp>,
}

/// An issue to be created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    /// What it is acknowledged by.
    pub key: Key,
    /// The task.
    pub task: TaskId,
    /// Its title.
    pub title: String,
    /// What it says, in Markdown; the last line is the marker.
    pub description: String,
    /// Id of the issue that it belongs to, where there is one.
    pub parent_id: Option<LinearId>,
    /// Name or key of the team, as configured.
    pub team: Option<String>,
    /// Id of the team, once it is known.
    pub team_id: Option<LinearId>,
    /// Name of the project, as configured.
    pub project: Option<String>,
    /// Id of the project, once it is known.
    pub project_id: Option<LinearId>,
    /// The status that it begins with; the team's default where it is not known.
    pub status_id: Option<LinearId>,
    /// What it can be found by, if it was created and nobody could say so.
    pub marker: String,
    /// What to do before creating it.
    pub before: &'static str,
    /// How it failed before, if it did.
    pub failure: Option<Failure>,
}

const BEFORE: &str =
    "search for the marker: an issue that has it was created before, and is acknowledged instead";

/// The next batch. Fails on a task whose id is none.
pub fn batch(request: &Request<'_>) -> Result<Batch, InvalidId> {
    let Request { tree, mapping, .. } = *request;
    let mut given_up = Vec::new();
    let mut parents: Vec<TaskIndex> = Vec::new();
    let mut leaves = BTreeSet::new();
    for (index, task) in tree.tasks.iter().enumerate().filter(|(_, task)| !task.synthetic) {
        let key = Key::Create(TaskId::new(&*task.id)?);
        if mapping.tasks.contains_key(key.task()) {
            continue;
        }
        match mapping.given_up(&key) {
            Some(failure) => given_up.push(GivenUp { key, reason: failure.reason.clone() }),
            None if task.is_leaf() => drop(leaves.insert(index)),
            None => parents.push(index),
        }
    }
    let left = parents.len() + leaves.len();
    let due = if parents.is_empty() { in_order(request, &leaves) } else { first_level(tree, &parents) };
    let issues: Vec<Issue> = due
        .into_iter()
        .take(request.limit.max(1))
        .map(|task| issue(request, task))
        .collect::<Result<_, _>>()?;
    let remaining = left - issues.len();
    Ok(Batch { issues, remaining, given_up })
}

/// Those of `parents` that are nearest to the root.
fn first_level(tree: &Plan<'_>, parents: &[TaskIndex]) -> Vec<TaskIndex> {
    let depth = |task: &TaskIndex| tree.tasks[*task].depth;
    let level = parents.iter().map(depth).min();
    parents.iter().copied().filter(|task| Some(depth(task)) == level).collect()
}

/// `leaves` in the order in which they run; what the order doesn't have comes last.
fn in_order(request: &Request<'_>, leaves: &BTreeSet<TaskIndex>) -> Vec<TaskIndex> {
    let index = PlanIndex::new(request.tree);
    let mut left = leaves.clone();
    let ordered = request.order.iter().filter_map(|id| index.find(id));
    let mut due: Vec<TaskIndex> = ordered.filter(|task| left.remove(task)).collect();
    due.extend(left);
    due
}

fn issue(request: &Request<'_>, index: TaskIndex) -> Result<Issue, InvalidId> {
    let Request { tree, mapping, settings, .. } = *request;
    let task = &tree.tasks[index];
    let id = TaskId::new(&*task.id)?;
    let marker = format!("fp: {}/{id}", mapping.plan_id);
    let key = Key::Create(id.clone());
    Ok(Issue {
        failure: mapping.failures.get(&key).cloned(),
        key,
        title: one_line(&task.description, TITLE),
        description: description(task, &marker),
        parent_id: parent_issue(tree, mapping, task),
        team: settings.team.clone(),
        team_id: mapping.team_id.clone(),
        project: settings.project.clone(),
        project_id: mapping.project_id.clone(),
        status_id: mapping.resolved_statuses.get(&Stage::Pending).cloned(),
        marker,
        before: BEFORE,
        task: id,
    })
}

/// The issue of the nearest task above that has one.
fn parent_issue(tree: &Plan<'_>, mapping: &Mapping, task: &Task<'_>) -> Option<LinearId> {
    let above = std::iter::successors(task.parent, |&parent| tree.tasks[parent].parent);
    above
        .filter_map(|parent| mapping.tasks.get(&*tree.tasks[parent].id))
        .map(|issue| issue.linear_issue_id.clone())
        .next()
}

fn description(task: &Task<'_>, marker: &str) -> String {
    let mut text = String::new();
    if let Some(description) = task.fields.text(FieldKind::Description) {
        let _ = write!(text, "{}\n\n", description.trim());
    }
    section(&mut text, "Acceptance", task.acceptance().map(str::to_owned));
    section(&mut text, "Files", task.files().map(|file| format!("`{file}`")));
    section(&mut text, "Waits for", task.dependencies().map(str::to_owned));
    if let Some(complexity) = task.complexity {
        let _ = write!(text, "Complexity: {complexity}\n\n");
    }
    text.push_str(marker);
    text
}

fn section(text: &mut String, heading: &str, entries: impl Iterator<Item = String>) {
    let mut entries = entries.peekable();
    if entries.peek().is_none() {
        return;
    }
    let _ = write!(text, "## {heading}\n\n");
    for entry in entries {
        let _ = writeln!(text, "- {}", entry.trim());
    }
    text.push('\n');
}

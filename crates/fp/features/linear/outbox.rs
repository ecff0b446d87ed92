//! What is due in Linear: issues to be created, moves and comments, as they follow from the tree, the log and what was
//! sent.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fp_core::plan::field::FieldKind;
use fp_core::plan::graph::PlanIndex;
use fp_core::plan::id::{LinearId, TaskId};
use fp_core::plan::task::{Plan, Task, TaskIndex};
use fp_core::run::State;
use fp_core::run::approval::hash;
use fp_core::run::payload::short;
use fp_core::run::state::{Status, TaskState};
use fp_core::settings::Linear;
use fp_core::text::{clipped, one_line};
use serde::Serialize;

use super::mapping::{FailedCall, GivenUpCall, LinearKey, LinearMapping, LinearStage, MappedIssue};

/// Most characters of a title that Linear takes.
const TITLE: usize = 255;
/// Most characters of an entry in a comment.
const ENTRY: usize = 500;
/// Digits of a digest.
const DIGITS: usize = 8;

const BEFORE_ISSUE: &str =
    "search for the marker: an issue that has it was created before, and is acknowledged instead";
const BEFORE_COMMENT: &str =
    "look for the marker among the comments: one that has it was made before, and is acknowledged";

/// The next issues to be created.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IssueBatch {
    /// In order. Each can be created now: its parent has an issue.
    pub(super) issues: Vec<NewIssue>,
    /// How many are left behind these.
    pub(super) remaining: usize,
    /// Issues that could not be created; children of such a task are put below the next task above it.
    pub(super) given_up: Vec<GivenUpCall>,
}

/// An issue to be created.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewIssue {
    pub(super) key: LinearKey,
    pub(super) task: TaskId,
    pub(super) title: String,
    /// In Markdown; the last line is the marker.
    pub(super) description: String,
    pub(super) parent_id: Option<LinearId>,
    /// Name or key of the team, as configured.
    pub(super) team: Option<String>,
    pub(super) team_id: Option<LinearId>,
    /// Name of the project, as configured.
    pub(super) project: Option<String>,
    pub(super) project_id: Option<LinearId>,
    /// The status that it begins with; the team's default where it is not known.
    pub(super) status_id: Option<LinearId>,
    /// Finds the issue, if it was created and nobody could say so.
    pub(super) marker: String,
    /// What to do before creating it.
    pub(super) before: &'static str,
    /// How it failed before.
    pub(super) failure: Option<FailedCall>,
}

/// Moves and comments to be made.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LinearOutbox {
    pub(super) changes: Vec<IssueChange>,
    /// How many are left behind these.
    pub(super) remaining: usize,
    /// Stages that issues should be moved to, and for which the team has no status.
    pub(super) unresolved: BTreeSet<LinearStage>,
    pub(super) given_up: Vec<GivenUpCall>,
}

/// A move or a comment.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IssueChange {
    pub(super) key: LinearKey,
    pub(super) task: TaskId,
    pub(super) issue_id: LinearId,
    pub(super) identifier: Option<LinearId>,
    #[serde(flatten)]
    pub(super) call: IssueCall,
    /// How it failed before.
    pub(super) failure: Option<FailedCall>,
}

/// What to do with an issue.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "call")]
pub(super) enum IssueCall {
    Status {
        stage: LinearStage,
        status_id: LinearId,
    },
    Comment {
        /// In Markdown; the last line is the marker.
        body: String,
        /// Finds the comment, if it was made and nobody could say so.
        marker: String,
        /// What to do before making it.
        before: &'static str,
    },
}

/// The next issues to be created, at most `limit`: parents level by level, since an issue names its parent by an id
/// that only its creation gives, then leaves in the `order` in which they run.
pub(super) fn issue_batch(
    tree: &Plan<'_>,
    order: &[&str],
    mapping: &LinearMapping,
    settings: &Linear,
    limit: usize,
) -> IssueBatch {
    let mut given_up = Vec::new();
    let mut due: Vec<(TaskIndex, TaskId)> = Vec::new();
    let tasks = tree.tasks.iter().enumerate().filter(|(_, task)| !task.synthetic);
    for (index, id) in tasks.filter_map(|(index, task)| Some((index, TaskId::new(&*task.id).ok()?))) {
        if mapping.tasks.contains_key(&id) {
            continue;
        }
        match mapping.given_up(&LinearKey::Create(id.clone())) {
            Some(call) => given_up.push(call),
            None => due.push((index, id)),
        }
    }
    let left = due.len();
    let parents = due.iter().map(|(index, _)| &tree.tasks[*index]).filter(|task| !task.is_leaf());
    match parents.map(|task| task.depth).min() {
        Some(level) => due.retain(|(index, _)| {
            let task = &tree.tasks[*index];
            !task.is_leaf() && task.depth == level
        }),
        None => due.sort_by_cached_key(|(_, id)| {
            order.iter().position(|known| *known == id.as_str()).unwrap_or(usize::MAX)
        }),
    }
    let due = due.into_iter().take(limit);
    let issues: Vec<NewIssue> =
        due.map(|(index, id)| new_issue(tree, &tree.tasks[index], id, mapping, settings)).collect();
    IssueBatch { remaining: left - issues.len(), issues, given_up }
}

fn new_issue(
    tree: &Plan<'_>,
    task: &Task<'_>,
    id: TaskId,
    mapping: &LinearMapping,
    settings: &Linear,
) -> NewIssue {
    let key = LinearKey::Create(id.clone());
    let marker = format!("fp: {}/{id}", mapping.plan_id);
    let above = std::iter::successors(task.parent, |parent| tree.tasks[*parent].parent);
    let mut issues_above = above.filter_map(|parent| mapping.tasks.get(&*tree.tasks[parent].id));
    NewIssue {
        failure: mapping.failures.get(&key).cloned(),
        key,
        task: id,
        title: clipped(&one_line(&task.description), TITLE),
        description: description(task, &marker),
        parent_id: issues_above.next().map(|issue| issue.linear_issue_id.clone()),
        team: settings.team.clone(),
        team_id: mapping.team_id.clone(),
        project: settings.project.clone(),
        project_id: mapping.project_id.clone(),
        status_id: mapping.resolved_statuses.get(&LinearStage::Pending).cloned(),
        marker,
        before: BEFORE_ISSUE,
    }
}

fn description(task: &Task<'_>, marker: &str) -> String {
    let mut text = String::new();
    if let Some(description) = task.fields.text(FieldKind::Description) {
        let _ = write!(text, "{}\n\n", description.trim());
    }
    let sections = [
        ("Acceptance", task.acceptance().map(str::to_owned).collect::<Vec<_>>()),
        ("Files", task.files().map(|file| format!("`{file}`")).collect()),
        ("Waits for", task.dependencies().map(str::to_owned).collect()),
    ];
    for (heading, entries) in sections.into_iter().filter(|(_, entries)| !entries.is_empty()) {
        let lines: String = entries.iter().map(|entry| format!("- {}\n", entry.trim())).collect();
        let _ = write!(text, "## {heading}\n\n{lines}\n");
    }
    if let Some(complexity) = task.complexity {
        let _ = write!(text, "Complexity: {complexity}\n\n");
    }
    text + marker
}

impl LinearOutbox {
    /// The calls about the leaves, at most `limit`: the last stage of each, and a comment for each end of its task.
    pub(super) fn of_leaves(state: &State, mapping: &LinearMapping, limit: usize) -> Self {
        let mut found = Self::empty();
        for task in &state.tasks {
            let id = &task.leaf.id;
            let Some(issue) = mapping.tasks.get(id) else { continue };
            // A skipped task leaves its issue where it is, as soon as that is known.
            let stage = LinearStage::of_leaf(task.status);
            if let Some(stage) = stage.or_else(|| issue.unconfirmed.then(|| issue.stage())) {
                found.add_move(id, issue, stage, mapping);
            }
            found.add_comment(state, task, issue, mapping);
        }
        found.cut(limit)
    }

    /// The calls about the parents in `tree`, at most `limit`, as they follow from their leaves: the innermost parents
    /// first.
    pub(super) fn of_parents(tree: &Plan<'_>, state: &State, mapping: &LinearMapping, limit: usize) -> Self {
        let index = PlanIndex::new(tree);
        let mut found = Self::empty();
        for (position, task) in tree.tasks.iter().enumerate().rev().filter(|(_, task)| !task.is_leaf()) {
            let Some((id, issue)) = mapping.tasks.get_key_value(&*task.id) else { continue };
            let approved = |leaf: &usize| state.task(&TaskId::new(&*tree.tasks[*leaf].id).ok()?);
            let leaves = index.leaves_of(position).iter().filter_map(approved);
            let leaves: Vec<Status> = leaves.map(|leaf| leaf.status).collect();
            found.add_move(id, issue, LinearStage::of_parent(&leaves), mapping);
        }
        found.cut(limit)
    }

    fn empty() -> Self {
        Self { changes: Vec::new(), remaining: 0, unresolved: BTreeSet::new(), given_up: Vec::new() }
    }

    fn add_move(&mut self, task: &TaskId, issue: &MappedIssue, stage: LinearStage, mapping: &LinearMapping) {
        if issue.stage() == stage && !issue.unconfirmed {
            return;
        }
        let Some(status_id) = mapping.resolved_statuses.get(&stage).cloned() else {
            self.unresolved.insert(stage);
            return;
        };
        let key = LinearKey::Status { task: task.clone(), stage, number: issue.sent.len() + 1 };
        self.add(key, issue, IssueCall::Status { stage, status_id }, mapping);
    }

    fn add_comment(&mut self, state: &State, task: &TaskState, issue: &MappedIssue, mapping: &LinearMapping) {
        let id = &task.leaf.id;
        let Some(text) = comment(task, state.iterations_of(id)) else { return };
        let ended = task.ended_at.map(|at| at.to_string()).unwrap_or_default();
        let digest = hash(format!("{ended}\n{text}").as_bytes())[..DIGITS].to_owned();
        if issue.comments.contains(&digest) {
            return;
        }
        let marker = format!("fp: {}/{id} {digest}", state.plan_id);
        let call = IssueCall::Comment { body: format!("{text}\n{marker}"), marker, before: BEFORE_COMMENT };
        self.add(LinearKey::Comment { task: id.clone(), digest }, issue, call, mapping);
    }

    fn add(&mut self, key: LinearKey, issue: &MappedIssue, call: IssueCall, mapping: &LinearMapping) {
        if let Some(call) = mapping.given_up(&key) {
            self.given_up.push(call);
            return;
        }
        self.changes.push(IssueChange {
            task: key.task().clone(),
            issue_id: issue.linear_issue_id.clone(),
            identifier: issue.linear_identifier.clone(),
            call,
            failure: mapping.failures.get(&key).cloned(),
            key,
        });
    }

    fn cut(mut self, limit: usize) -> Self {
        self.remaining = self.changes.len().saturating_sub(limit);
        self.changes.truncate(limit);
        self
    }

    /// Remembers in `mapping` that the moves are offered, before they are: should nobody ever say what became of one,
    /// the issue is moved again, even if it is due where it was before. Says whether that is news.
    pub(super) fn note_offers(&self, mapping: &mut LinearMapping) -> bool {
        let mut is_news = false;
        for change in &self.changes {
            let is_move = matches!(change.call, IssueCall::Status { .. });
            if let Some(issue) = mapping.tasks.get_mut(&change.task).filter(|_| is_move) {
                is_news |= !issue.unconfirmed;
                issue.unconfirmed = true;
            }
        }
        is_news
    }
}

/// What there is to say about `task`: what its pass rests on, or why it was given up. Nothing before its end, or when it
/// was skipped.
fn comment(task: &TaskState, iterations: u32) -> Option<String> {
    let attempt = format!("iteration {} of {iterations}", task.iteration);
    let mut text = match task.status {
        Status::Completed if task.imported => "Was done before the plan was imported.".to_owned(),
        Status::Completed => format!("Passed in {attempt}."),
        Status::Failed => {
            let reason = task.reason.as_deref().unwrap_or("no reason was given");
            format!("Given up in {attempt}: {}", clipped(&one_line(reason), ENTRY))
        }
        Status::Pending | Status::Implementing | Status::AwaitingVerification | Status::Skipped => {
            return None;
        }
    };
    if task.status == Status::Completed {
        match (&task.commit, &task.note) {
            (Some(commit), _) => text += &format!(" Commit {}.", short(commit)),
            (None, Some(note)) => text += &format!(" No commit: {}.", clipped(&one_line(note), ENTRY)),
            (None, None) => {}
        }
    }
    text.push('\n');
    let Some(verdict) = &task.verdict else { return Some(text) };
    if !verdict.summary.trim().is_empty() {
        text += &format!("\n{}\n", clipped(&one_line(&verdict.summary), ENTRY));
    }
    if !verdict.judgements.is_empty() {
        text.push('\n');
    }
    for judgement in &verdict.judgements {
        let word = if judgement.pass { "met" } else { "not met" };
        let evidence = clipped(&one_line(&judgement.evidence), ENTRY);
        text += &format!("- Criterion {}, {word}: {evidence}\n", judgement.criterion);
    }
    Some(text)
}

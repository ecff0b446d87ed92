//! What is due in Linear: issues to be created, moves and comments, as they follow from the tree, the log and what was
//! sent.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fp_plan::plan::field::FieldKind;
use fp_plan::plan::graph::PlanIndex;
use fp_plan::plan::id::{LinearId, PlanId, TaskId};
use fp_plan::plan::task::{Plan, Task};
use fp_plan::settings::Linear;
use fp_plan::text::{clipped, one_line, visible_line};
use fp_run::run::State;
use fp_run::run::approval::hash;
use fp_run::run::payload::short;
use fp_run::run::state::{Status, TaskState};
use serde::Serialize;

use super::mapping::{
    FailedCall, GivenUpCall, LinearKey, LinearMapping, LinearStage, MAX_ATTEMPTS, MappedIssue,
};

/// Most characters of a title that Linear takes.
const TITLE: usize = 255;
/// Most characters of an entry in a comment.
const ENTRY: usize = 500;
/// Digits of a digest.
const DIGITS: usize = 8;

/// What to do before a call with a marker.
const BEFORE: &str =
    "search for the marker: what has it was made before, and is acknowledged instead of being made again";

/// The next calls to make.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LinearOutbox {
    /// In order: each can be made now.
    pub(super) calls: Vec<LinearCall>,
    /// How many are left behind these.
    pub(super) remaining: usize,
    /// Stages that issues should be moved to, and for which the team has no status.
    pub(super) unresolved: BTreeSet<LinearStage>,
    /// Calls that failed too often. Children of a task without an issue are put below the next task above it.
    pub(super) given_up: Vec<GivenUpCall>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LinearCall {
    pub(super) key: LinearKey,
    pub(super) task: TaskId,
    #[serde(flatten)]
    pub(super) action: LinearCallAction,
    /// How it failed before.
    failure: Option<FailedCall>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "call")]
pub(super) enum LinearCallAction {
    Create(NewIssue),
    Status {
        issue_id: LinearId,
        identifier: Option<LinearId>,
        stage: LinearStage,
        status_id: LinearId,
    },
    Comment {
        issue_id: LinearId,
        identifier: Option<LinearId>,
        /// In Markdown; the last line is the marker.
        body: String,
        /// Finds the comment, if it was made and nobody could say so.
        marker: String,
    },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewIssue {
    pub(super) title: String,
    /// In Markdown; the last line is the marker.
    pub(super) description: String,
    pub(super) parent_id: Option<LinearId>,
    /// Name or key of the team, as configured.
    pub(super) team: Option<String>,
    team_id: Option<LinearId>,
    /// Name of the project, as configured.
    project: Option<String>,
    /// The status that it begins with; the team's default where it is not known.
    status_id: Option<LinearId>,
    /// Finds the issue, if it was created and nobody could say so.
    pub(super) marker: String,
}

fn new_issue(
    tree: &Plan<'_>,
    task: &Task<'_>,
    id: &TaskId,
    mapping: &LinearMapping,
    settings: &Linear,
) -> NewIssue {
    let marker = format!("fp: {}/{id}", mapping.plan_id);
    let above = std::iter::successors(task.parent, |parent| tree.tasks[*parent].parent);
    let mut issues_above = above.filter_map(|parent| mapping.tasks.get(&*tree.tasks[parent].id));
    NewIssue {
        title: clipped(&one_line(&task.description), TITLE),
        description: description(task, &marker),
        parent_id: issues_above.next().map(|issue| issue.linear_issue_id.clone()),
        team: settings.team.clone(),
        team_id: mapping.team_id.clone(),
        project: settings.project.clone(),
        status_id: mapping.resolved_statuses.get(&LinearStage::Pending).cloned(),
        marker,
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
    /// The issues to create: parents level by level, since an issue names its parent by an id that only its creation
    /// gives, then leaves in the order of the tree.
    pub(super) fn of_issues(tree: &Plan<'_>, mapping: &LinearMapping, settings: &Linear) -> Self {
        let mut found = Self::default();
        for task in tree.tasks.iter().filter(|task| !task.synthetic) {
            let Ok(id) = TaskId::new(&*task.id) else { continue };
            if !mapping.tasks.contains_key(&id) {
                let issue = new_issue(tree, task, &id, mapping, settings);
                found.add(LinearKey::Create(id), LinearCallAction::Create(issue), mapping);
            }
        }
        let depth = |call: &LinearCall| {
            tree.find(call.task.as_str()).filter(|task| !task.is_leaf()).map(|task| task.depth)
        };
        if let Some(level) = found.calls.iter().filter_map(depth).min() {
            let all = found.calls.len();
            found.calls.retain(|call| depth(call) == Some(level));
            found.remaining = all - found.calls.len();
        }
        found
    }

    /// The calls about the leaves: the last stage of each, and a comment for each end of its task.
    pub(super) fn of_leaves(state: &State, mapping: &LinearMapping) -> Self {
        let mut found = Self::default();
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
        found
    }

    /// Adds the moves of the parents in `tree`, as they follow from their leaves: the innermost parents first.
    pub(super) fn and_parents(mut self, tree: &Plan<'_>, state: &State, mapping: &LinearMapping) -> Self {
        let index = PlanIndex::new(tree);
        for (position, task) in tree.tasks.iter().enumerate().rev().filter(|(_, task)| !task.is_leaf()) {
            let Some((id, issue)) = mapping.tasks.get_key_value(&*task.id) else { continue };
            let approved = |leaf: &usize| state.task(&TaskId::new(&*tree.tasks[*leaf].id).ok()?);
            let leaves = index.leaves_of(position).iter().filter_map(approved);
            let leaves: Vec<Status> = leaves.map(|leaf| leaf.status).collect();
            self.add_move(id, issue, LinearStage::of_parent(&leaves), mapping);
        }
        self
    }

    pub(super) fn is_due(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Leaves all but the first `limit` calls for later.
    pub(super) fn cut(mut self, limit: usize) -> Self {
        self.remaining += self.calls.len().saturating_sub(limit);
        self.calls.truncate(limit);
        self
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
        let (issue_id, identifier) = (issue.linear_issue_id.clone(), issue.linear_identifier.clone());
        self.add(key, LinearCallAction::Status { issue_id, identifier, stage, status_id }, mapping);
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
        let action = LinearCallAction::Comment {
            issue_id: issue.linear_issue_id.clone(),
            identifier: issue.linear_identifier.clone(),
            body: format!("{text}\n{marker}"),
            marker,
        };
        self.add(LinearKey::Comment { task: id.clone(), digest }, action, mapping);
    }

    fn add(&mut self, key: LinearKey, action: LinearCallAction, mapping: &LinearMapping) {
        match mapping.given_up(&key) {
            Some(call) => self.given_up.push(call),
            None => {
                let (task, failure) = (key.task().clone(), mapping.failures.get(&key).cloned());
                self.calls.push(LinearCall { key, task, action, failure });
            }
        }
    }

    /// Remembers in `mapping` that the moves are offered, before they are: should nobody ever say what became of one,
    /// the issue is moved again, even if it is due where it was before. Says whether that is news.
    pub(super) fn note_offers(&self, mapping: &mut LinearMapping) -> bool {
        let mut is_news = false;
        for call in &self.calls {
            let is_move = matches!(call.action, LinearCallAction::Status { .. });
            if let Some(issue) = mapping.tasks.get_mut(&call.task).filter(|_| is_move) {
                is_news |= !issue.unconfirmed;
                issue.unconfirmed = true;
            }
        }
        is_news
    }
}

impl LinearOutbox {
    /// The calls as text for the agent that makes them.
    pub(super) fn text(&self, plan: &PlanId) -> String {
        let mut text: String = self.calls.iter().map(LinearCall::text).collect();
        let creates = matches!(self.calls.first(), Some(call) if matches!(call.key, LinearKey::Create(_)));
        if self.is_due() {
            let options = if creates { " --id ISSUE --identifier NAME" } else { "" };
            let ack = format!("fp linear ack {plan} KEY");
            text.push('\n');
            if self.calls.iter().any(|call| !matches!(call.key, LinearKey::Status { .. })) {
                text += &format!("Before each with a marker: {BEFORE}\n");
            }
            text += &format!("After each: {ack}{options}\n  or: {ack} --failed REASON\n");
        } else {
            text += "Nothing is due\n";
        }
        for stage in &self.unresolved {
            let stage = stage.word();
            text += &format!("The team has no status for {stage}: such issues stay where they are\n");
        }
        if self.remaining > 0 {
            text += &format!("{} more when these are acknowledged\n", self.remaining);
        }
        for GivenUpCall { key, reason } in &self.given_up {
            text += &format!("Given up: {key}: {}\n", visible_line(reason));
        }
        if !self.given_up.is_empty() {
            text += &format!("  fp linear retry {plan} tries again what was given up\n");
        }
        text
    }
}

impl LinearCall {
    fn text(&self) -> String {
        let mut text = format!("{}\n", self.key);
        let mut field = |name: &str, value: Option<String>| {
            let line = value.map(|value| format!("  {:<8} {}\n", format!("{name}:"), visible_line(&value)));
            text += &line.unwrap_or_default();
        };
        let shown = |id: &Option<LinearId>| id.as_ref().map(ToString::to_string);
        let failure =
            |call: &FailedCall| format!("{} of {MAX_ATTEMPTS} times: {}", call.attempts, call.reason);
        field("failed", self.failure.as_ref().map(failure));
        let block = match &self.action {
            LinearCallAction::Create(issue) => {
                field("title", Some(issue.title.clone()));
                field("team", shown(&issue.team_id).or_else(|| issue.team.clone()));
                field("project", issue.project.clone());
                field("parent", shown(&issue.parent_id));
                field("status", shown(&issue.status_id));
                field("marker", Some(issue.marker.clone()));
                Some(("description", &issue.description))
            }
            LinearCallAction::Status { issue_id, identifier, status_id, .. } => {
                field("issue", Some(issue_text(issue_id, identifier.as_ref())));
                field("status", Some(status_id.to_string()));
                None
            }
            LinearCallAction::Comment { issue_id, identifier, body, marker } => {
                field("issue", Some(issue_text(issue_id, identifier.as_ref())));
                field("marker", Some(marker.clone()));
                Some(("comment", body))
            }
        };
        if let Some((name, body)) = block {
            let line = |line: &str| format!("    {line}").trim_end().to_owned() + "\n";
            text += &format!("  {name}:\n{}", body.lines().map(line).collect::<String>());
        }
        text
    }
}

fn issue_text(id: &LinearId, identifier: Option<&LinearId>) -> String {
    identifier.map_or_else(|| id.to_string(), |name| format!("{id} ({name})"))
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

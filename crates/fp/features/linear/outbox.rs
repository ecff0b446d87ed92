//! The calls that are due in Linear: new issues, moves and comments, as they follow from the tree, the log and the mapping.

use std::collections::{BTreeMap, BTreeSet};
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
    FailedCall, LinearKey, LinearMapping, LinearStage, MAX_ATTEMPTS, MappedIssue,
};
use crate::printer::word_of;

/// Most characters of a title that Linear takes.
const TITLE: usize = 255;
/// Most characters of an entry in a comment.
const ENTRY: usize = 500;
/// Digits of a digest.
const DIGITS: usize = 8;
/// The fields of a call in Markdown, each of which ends with the marker.
const BLOCKS: [&str; 2] = ["body", "description"];

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LinearOutbox {
    /// In order: none needs the result of one before it.
    pub(super) calls: Vec<LinearCall>,
    /// Due stages for which the team has no status.
    pub(super) unresolved: BTreeSet<LinearStage>,
    /// Children of a task without an issue are put below the next task above it.
    pub(super) given_up: BTreeMap<LinearKey, FailedCall>,
}

#[derive(Debug, Serialize)]
pub(super) struct LinearCall {
    pub(super) key: LinearKey,
    /// By their names: the arguments of the call; `marker`, which finds what a call made before anybody could acknowledge
    /// it; and `failed`, the last failure.
    #[serde(flatten)]
    pub(super) fields: BTreeMap<&'static str, String>,
}

fn description(task: &Task<'_>, marker: &str) -> String {
    let mut text = String::new();
    if let Some(description) = task.fields.text(FieldKind::Description) {
        let _ = write!(text, "{}\n\n", description.trim());
    }
    let sections = [
        (
            "Acceptance",
            task.acceptance().map(str::to_owned).collect::<Vec<_>>(),
        ),
        (
            "Files",
            task.files().map(|file| format!("`{file}`")).collect(),
        ),
        (
            "Waits for",
            task.ordering().map(|item| item.text.to_string()).collect(),
        ),
    ];
    for (heading, entries) in sections
        .into_iter()
        .filter(|(_, entries)| !entries.is_empty())
    {
        let lines: String = entries
            .iter()
            .map(|entry| format!("- {}\n", entry.trim()))
            .collect();
        let _ = write!(text, "## {heading}\n\n{lines}\n");
    }
    if let Some(complexity) = task.complexity {
        let _ = write!(text, "Complexity: {complexity}\n\n");
    }
    text + marker
}

impl LinearOutbox {
    /// The issues to create: parents level by level, since an issue needs the id of its parent's issue, then leaves in the
    /// order of the tree.
    pub(super) fn of_issues(tree: &Plan<'_>, mapping: &LinearMapping, settings: &Linear) -> Self {
        let mut found = Self::default();
        for task in tree.tasks.iter().filter(|task| !task.synthetic) {
            let Ok(id) = TaskId::new(&*task.id) else {
                continue;
            };
            if mapping.tasks.contains_key(&id) {
                continue;
            }
            let marker = format!("fp: {}/{id}", mapping.plan_id);
            let above = std::iter::successors(task.parent, |parent| tree.tasks[*parent].parent);
            let mut issues_above =
                above.filter_map(|parent| mapping.tasks.get(&*tree.tasks[parent].id));
            let fields = [
                ("title", Some(clipped(&one_line(&task.description), TITLE))),
                (
                    "team",
                    mapping
                        .team_id
                        .as_ref()
                        .map(LinearId::to_string)
                        .or(settings.team.clone()),
                ),
                ("project", settings.project.clone()),
                (
                    "parent",
                    issues_above
                        .next()
                        .map(|issue| issue.linear_issue_id.to_string()),
                ),
                (
                    "status",
                    mapping
                        .resolved_statuses
                        .get(&LinearStage::Pending)
                        .map(LinearId::to_string),
                ),
                ("description", Some(description(task, &marker))),
                ("marker", Some(marker)),
            ];
            found.add(LinearKey::Create(id), fields, mapping);
        }
        let depth = |call: &LinearCall| {
            tree.find(call.key.task().as_str())
                .filter(|task| !task.is_leaf())
                .map(|task| task.depth)
        };
        if let Some(level) = found.calls.iter().filter_map(depth).min() {
            found.calls.retain(|call| depth(call) == Some(level));
        }
        found
    }

    /// The calls about leaves: a move of each to its stage, and a comment at each end of its task.
    pub(super) fn of_leaves(state: &State, mapping: &LinearMapping) -> Self {
        let mut found = Self::default();
        for task in &state.tasks {
            let id = &task.leaf.id;
            let Some(issue) = mapping.tasks.get(id) else {
                continue;
            };
            // A skipped task leaves its issue where it is, once that is confirmed.
            let stage = LinearStage::of_leaf(task.status);
            if let Some(stage) = stage.or_else(|| issue.unconfirmed.then(|| issue.stage())) {
                found.add_move(id, issue, stage, mapping);
            }
            found.add_comment(state, task, issue, mapping);
        }
        found
    }

    /// Adds the moves of the parents in `tree`, the innermost first.
    pub(super) fn and_parents(
        mut self,
        tree: &Plan<'_>,
        state: &State,
        mapping: &LinearMapping,
    ) -> Self {
        let index = PlanIndex::new(tree);
        for (position, task) in tree
            .tasks
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, task)| !task.is_leaf())
        {
            let Some((id, issue)) = mapping.tasks.get_key_value(&*task.id) else {
                continue;
            };
            let approved = |leaf: &usize| state.task(&TaskId::new(&*tree.tasks[*leaf].id).ok()?);
            let leaves = index.leaves_of(position).iter().filter_map(approved);
            let leaves: Vec<Status> = leaves.map(|leaf| leaf.status).collect();
            self.add_move(id, issue, LinearStage::of_parent(&leaves), mapping);
        }
        self
    }

    fn add_move(
        &mut self,
        task: &TaskId,
        issue: &MappedIssue,
        stage: LinearStage,
        mapping: &LinearMapping,
    ) {
        if issue.stage() == stage && !issue.unconfirmed {
            return;
        }
        let Some(status) = mapping.resolved_statuses.get(&stage) else {
            self.unresolved.insert(stage);
            return;
        };
        let fields = [
            ("issue", Some(issue.linear_issue_id.to_string())),
            ("status", Some(status.to_string())),
        ];
        self.add(
            LinearKey::Status {
                task: task.clone(),
                stage,
            },
            fields,
            mapping,
        );
    }

    fn add_comment(
        &mut self,
        state: &State,
        task: &TaskState,
        issue: &MappedIssue,
        mapping: &LinearMapping,
    ) {
        let id = &task.leaf.id;
        let Some(text) = comment(task, state.iterations_of(id)) else {
            return;
        };
        let ended = task.ended_at.map(|at| at.to_string()).unwrap_or_default();
        let digest = hash(format!("{ended}\n{text}").as_bytes())[..DIGITS].to_owned();
        if issue.comments.contains(&digest) {
            return;
        }
        let marker = format!("fp: {}/{id} {digest}", state.plan_id);
        let fields = [
            ("issue", Some(issue.linear_issue_id.to_string())),
            ("body", Some(format!("{text}\n{marker}"))),
            ("marker", Some(marker)),
        ];
        self.add(
            LinearKey::Comment {
                task: id.clone(),
                digest,
            },
            fields,
            mapping,
        );
    }

    fn add<const N: usize>(
        &mut self,
        key: LinearKey,
        fields: [(&'static str, Option<String>); N],
        mapping: &LinearMapping,
    ) {
        let failure = mapping.failures.get(&key);
        if let Some(failure) = failure.filter(|failure| failure.is_given_up()) {
            self.given_up.insert(key, failure.clone());
            return;
        }
        let failed = failure
            .map(|call| format!("{} of {MAX_ATTEMPTS} times: {}", call.attempts, call.reason));
        let all = fields.into_iter().chain([("failed", failed)]);
        let fields = all
            .filter_map(|(name, value)| Some((name, value?)))
            .collect();
        self.calls.push(LinearCall { key, fields });
    }

    /// Notes in `mapping` that these moves are offered, and returns true if that is news. An issue whose move is never
    /// acknowledged is moved again, even back to its last known stage.
    pub(super) fn note_offers(&self, mapping: &mut LinearMapping) -> bool {
        let mut is_news = false;
        for call in &self.calls {
            if matches!(call.key, LinearKey::Status { .. })
                && let Some(issue) = mapping.tasks.get_mut(call.key.task())
            {
                is_news |= !issue.unconfirmed;
                issue.unconfirmed = true;
            }
        }
        is_news
    }

    /// The calls as text for the agent that makes them.
    pub(super) fn text(&self, plan: &PlanId) -> String {
        let mut text: String = self.calls.iter().map(LinearCall::text).collect();
        match self.calls.first() {
            Some(first) => {
                let id = if matches!(first.key, LinearKey::Create(_)) {
                    " --id ISSUE"
                } else {
                    ""
                };
                let ack = format!("fp linear ack {plan} KEY");
                text.push('\n');
                if self
                    .calls
                    .iter()
                    .any(|call| call.fields.contains_key("marker"))
                {
                    text += "Before a call with a marker: search Linear for the marker. If you find it, don't make the \
                             call: acknowledge it\n";
                }
                text += &format!("After each call: {ack}{id}\n  or: {ack} --failed REASON\n");
            }
            None => text += "Nothing is due\n",
        }
        for stage in &self.unresolved {
            let stage = word_of(stage);
            text +=
                &format!("The team has no status for {stage}: those issues stay where they are\n");
        }
        for (key, FailedCall { reason, .. }) in &self.given_up {
            text += &format!("Given up: {key}: {}\n", visible_line(reason));
        }
        if !self.given_up.is_empty() {
            text += &format!("  `fp linear retry {plan}` offers these again\n");
        }
        text
    }
}

impl LinearCall {
    fn text(&self) -> String {
        let mut text = format!("{}\n", self.key);
        let (blocks, lines): (Vec<_>, Vec<_>) = self
            .fields
            .iter()
            .partition(|(name, _)| BLOCKS.contains(name));
        for (name, value) in lines {
            text += &format!("  {:<8} {}\n", format!("{name}:"), visible_line(value));
        }
        for (name, value) in blocks {
            text += &format!("  {name}:\n");
            text.extend(
                value
                    .lines()
                    .map(|line| format!("    {line}").trim_end().to_owned() + "\n"),
            );
        }
        text
    }
}

/// The comment at the end of `task`: the evidence of its pass, or the reason of its failure. `None` before its end, and
/// for a skipped task. Its digest keeps a comment from being sent twice, so a changed wording sends all of them again.
fn comment(task: &TaskState, iterations: u32) -> Option<String> {
    let attempt = format!("iteration {} of {iterations}", task.iteration);
    let mut text = match task.status {
        Status::Completed => {
            let passed = format!("Passed in {attempt}.");
            let how = if task.imported {
                "Was done before the plan was imported."
            } else {
                &passed
            };
            match (&task.commit, &task.note) {
                (Some(commit), _) => format!("{how} Commit {}.", short(commit)),
                (None, Some(note)) => {
                    format!("{how} No commit: {}.", clipped(&one_line(note), ENTRY))
                }
                (None, None) => how.to_owned(),
            }
        }
        Status::Failed => {
            let reason = task.reason.as_deref().unwrap_or("no reason was given");
            format!(
                "Given up in {attempt}: {}",
                clipped(&one_line(reason), ENTRY)
            )
        }
        Status::Pending | Status::Implementing | Status::AwaitingVerification | Status::Skipped => {
            return None;
        }
    };
    text.push('\n');
    let Some(verdict) = &task.verdict else {
        return Some(text);
    };
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

//! `linear-mapping.json`: which issue each task has, and what was sent. Its fields are those of fractal-planner 0.1 with
//! later ones beside them, and a field that this version doesn't know is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fp_host::file;
use fp_host::plan::OpenPlan;
use fp_plan::plan::id::{LinearId, PlanId, TaskId};
use fp_plan::settings::LinearStatusMap;
use fp_plan::text::{clipped, one_line};
use fp_run::run::state::Status;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::CommandError;
use crate::printer::word_of;

const MAPPING: &str = "linear-mapping.json";
/// Largest mapping that is read, in bytes.
const CAP: u64 = 64 * 1024 * 1024;
/// Version of the file; one with a higher version is refused.
const VERSION: u32 = 1;
/// How often a call that fails is offered.
pub(super) const MAX_ATTEMPTS: u32 = 3;
/// Most characters that are kept of the reason of a failure.
const REASON: usize = 300;

/// Stage of an issue on the team's board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LinearStage {
    Pending,
    /// Being built or verified.
    InProgress,
    /// Built and verified; people review it.
    Review,
    /// A parent whose tasks all passed.
    Completed,
    Failed,
}

impl LinearStage {
    /// In the order of a board.
    pub(super) const ALL: [Self; 5] = [
        Self::Pending,
        Self::InProgress,
        Self::Review,
        Self::Completed,
        Self::Failed,
    ];

    /// The stage of a leaf; a skipped one leaves its issue where it is.
    pub(super) fn of_leaf(status: Status) -> Option<Self> {
        match status {
            Status::Pending => Some(Self::Pending),
            // People review nothing that is unverified.
            Status::Implementing | Status::AwaitingVerification => Some(Self::InProgress),
            Status::Completed => Some(Self::Review),
            Status::Failed => Some(Self::Failed),
            Status::Skipped => None,
        }
    }

    /// The stage of a parent whose leaves have these states: completed once all are, failed when none passed and none
    /// still can, in progress as soon as one leaf is.
    pub(super) fn of_parent(leaves: &[Status]) -> Self {
        let all = |fits: fn(&Status) -> bool| leaves.iter().all(fits);
        if !leaves.is_empty() && all(|status| *status == Status::Completed) {
            Self::Completed
        } else if all(|status| matches!(status, Status::Pending | Status::Skipped)) {
            Self::Pending
        } else if all(|status| matches!(status, Status::Failed | Status::Skipped)) {
            Self::Failed
        } else {
            Self::InProgress
        }
    }
}

/// Key of a call, by which it is acknowledged. No character of a key means something to a shell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) enum LinearKey {
    /// `create/TASK`: create the task's issue.
    Create(TaskId),
    /// `status/TASK/STAGE`: move its issue.
    Status { task: TaskId, stage: LinearStage },
    /// `comment/TASK/DIGEST`: comment on its issue. The digest covers the comment and its time, in hexadecimal digits.
    Comment { task: TaskId, digest: String },
}

impl LinearKey {
    pub(super) fn task(&self) -> &TaskId {
        match self {
            Self::Create(task) | Self::Status { task, .. } | Self::Comment { task, .. } => task,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let task = TaskId::new(*parts.get(1)?).ok()?;
        match parts[..] {
            ["create", _] => Some(Self::Create(task)),
            ["status", _, stage] => {
                let stage = LinearStage::ALL
                    .into_iter()
                    .find(|known| word_of(known) == stage)?;
                Some(Self::Status { task, stage })
            }
            ["comment", _, digest] => {
                let fits = (1..=64).contains(&digest.len())
                    && digest.bytes().all(|b| b.is_ascii_hexdigit());
                fits.then(|| Self::Comment {
                    task,
                    digest: digest.to_owned(),
                })
            }
            _ => None,
        }
    }
}

impl fmt::Display for LinearKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(task) => write!(f, "create/{task}"),
            Self::Status { task, stage } => write!(f, "status/{task}/{}", word_of(stage)),
            Self::Comment { task, digest } => write!(f, "comment/{task}/{digest}"),
        }
    }
}

impl TryFrom<String> for LinearKey {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| {
            let shown = clipped(&text, 80);
            format!(
                "{shown:?} is not a key: keys are `create/TASK`, `status/TASK/STAGE` and `comment/TASK/DIGEST`"
            )
        })
    }
}

impl From<LinearKey> for String {
    fn from(key: LinearKey) -> Self {
        key.to_string()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LinearMapping {
    pub(super) plan_id: PlanId,
    #[serde(default)]
    pub(super) team_id: Option<LinearId>,
    /// The team's status for each stage.
    #[serde(default)]
    pub(super) resolved_statuses: BTreeMap<LinearStage, LinearId>,
    #[serde(default)]
    pub(super) tasks: BTreeMap<TaskId, MappedIssue>,
    /// Calls that failed and were not made since.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) failures: BTreeMap<LinearKey, FailedCall>,
    /// Linear can't be reached, so nothing is offered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) absent: bool,
    /// Start of the agent that is sending; `None` when none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tracked_since: Option<Timestamp>,
    /// That agent has asked for its calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) tracker_heard: bool,
    /// The version of the file, and fields of other versions.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MappedIssue {
    pub(super) linear_issue_id: LinearId,
    /// The stages that it was moved to, in order; an issue begins as pending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) sent: Vec<LinearStage>,
    /// A move was offered, and no acknowledgement has come yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) unconfirmed: bool,
    /// Digests of its comments.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) comments: BTreeSet<String>,
    /// Fields of another version, such as `linearIdentifier`.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct FailedCall {
    pub(super) attempts: u32,
    /// Of the last failure.
    pub(super) reason: String,
}

impl FailedCall {
    /// A call that failed this often is not offered any more.
    pub(super) fn is_given_up(&self) -> bool {
        self.attempts >= MAX_ATTEMPTS
    }
}

impl MappedIssue {
    /// The last known stage.
    pub(super) fn stage(&self) -> LinearStage {
        self.sent.last().copied().unwrap_or(LinearStage::Pending)
    }
}

impl LinearMapping {
    /// The mapping of a plan before anything was sent.
    pub(super) fn new(plan_id: &PlanId) -> Self {
        let new = json!({ "schemaVersion": VERSION, "planId": plan_id });
        serde_json::from_value(new).expect("every other field has a default")
    }

    /// The mapping of `plan`; a new one where it has no file.
    pub(super) fn read(plan: &OpenPlan) -> Result<Self, CommandError> {
        let path = plan.folder.file(MAPPING);
        let Some(text) = file::read_text_if_there(&path, CAP)? else {
            return Ok(Self::new(plan.id()));
        };
        Self::parse(&text, plan.id()).map_err(|fault| {
            CommandError::failed(format!("{}: {fault}", path.display())).hint(
                "update fp if a newer one wrote it; otherwise correct that place, or move the file away: each issue is \
                 found again by the marker in its description",
            )
        })
    }

    /// Writes the mapping of `plan`. The caller holds the plan's lock.
    pub(super) fn write(&self, plan: &OpenPlan) -> Result<(), CommandError> {
        Ok(file::atomic_write(
            &plan.folder.file(MAPPING),
            self.to_json().as_bytes(),
        )?)
    }

    /// Reads the file of the plan `plan_id`, or returns its fault.
    pub(super) fn parse(text: &str, plan_id: &PlanId) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let version = value.get("schemaVersion").and_then(Value::as_u64);
        if let Some(newer) = version.filter(|version| *version > VERSION.into()) {
            return Err(format!(
                "written by a newer fp (version {newer}, this fp reads {VERSION})"
            ));
        }
        // From the text, since errors of a value have no line and column.
        let mapping: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if mapping.plan_id != *plan_id {
            return Err(format!("it is about another plan, {}", mapping.plan_id));
        }
        Ok(mapping)
    }

    pub(super) fn to_json(&self) -> String {
        let text =
            serde_json::to_string_pretty(self).expect("a mapping has text keys and plain values");
        text + "\n"
    }

    /// Offers failed calls again, and treats Linear as reachable.
    pub(super) fn retry(&mut self) {
        self.failures.clear();
        self.absent = false;
    }

    /// Records that the call `key` was made; `id` is the issue that it created. A second record changes nothing.
    pub(super) fn acknowledge(
        &mut self,
        key: &LinearKey,
        id: Option<LinearId>,
    ) -> Result<(), CommandError> {
        match key {
            LinearKey::Create(task) => {
                let id = id.ok_or_else(|| {
                    CommandError::refused(format!("{key} needs the id of the issue"))
                        .hint("add `--id ISSUE`")
                })?;
                let issue = json!({ "linearIssueId": id });
                let new =
                    || serde_json::from_value(issue).expect("every other field has a default");
                let known = &self
                    .tasks
                    .entry(task.clone())
                    .or_insert_with(new)
                    .linear_issue_id;
                if *known != id {
                    return Err(CommandError::refused(format!("task {task} already has the issue {known}"))
                        .hint("the task keeps its issue: close the other one in Linear, and say there why"));
                }
            }
            LinearKey::Status { task, stage } => {
                // The last acknowledgement counts: if it is a late one, the stage that is due is offered again.
                let issue = self.issue(key)?;
                if issue.stage() != *stage {
                    issue.sent.push(*stage);
                }
                issue.unconfirmed = false;
                // Earlier failures were about past moves.
                let is_move = |other: &LinearKey| matches!(other, LinearKey::Status { task: of, .. } if of == task);
                self.failures.retain(|other, _| !is_move(other));
            }
            LinearKey::Comment { digest, .. } => {
                self.issue(key)?.comments.insert(digest.clone());
            }
        }
        self.failures.remove(key);
        Ok(())
    }

    /// Records that the call `key` failed.
    pub(super) fn fail(&mut self, key: &LinearKey, reason: &str) -> Result<(), CommandError> {
        if !matches!(key, LinearKey::Create(_)) {
            self.issue(key)?;
        }
        let failure = self.failures.entry(key.clone()).or_default();
        failure.attempts = failure.attempts.saturating_add(1);
        failure.reason = clipped(&one_line(reason), REASON);
        Ok(())
    }

    /// The issue that the call `key` is about. Fails where there is none, since no such call was offered then.
    fn issue(&mut self, key: &LinearKey) -> Result<&mut MappedIssue, CommandError> {
        self.tasks.get_mut(key.task()).ok_or_else(|| {
            let id = &self.plan_id;
            CommandError::refused(format!("{key} was never offered")).hint(format!(
                "`fp linear create {id}` and `fp linear outbox {id}` print the keys of what is due"
            ))
        })
    }
}

/// The mapping `text` of another plan, as that of the plan `id`; `None` where it can't be read.
pub(crate) fn mapping_moved_to(text: &str, id: &PlanId) -> Option<String> {
    let mut mapping: LinearMapping = serde_json::from_str(text).ok()?;
    mapping.plan_id = id.clone();
    Some(mapping.to_json())
}

/// The usual name of a board's review column.
const IN_REVIEW: &str = "in review";

/// A status of a team, as Linear lists it.
#[derive(Debug, Deserialize)]
pub(super) struct TeamStatus {
    pub(super) id: LinearId,
    pub(super) name: String,
    /// `backlog`, `unstarted`, `started`, `completed` or `canceled`; any other is ignored.
    #[serde(rename = "type")]
    kind: String,
}

impl TeamStatus {
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name.trim().to_lowercase() == name.trim().to_lowercase()
    }
}

impl LinearStage {
    /// The name that is configured for this stage, and the types of Linear's statuses for it.
    pub(super) fn wanted_status(
        self,
        names: &LinearStatusMap,
    ) -> (Option<&str>, &'static [&'static str]) {
        let (name, types): (_, &[&str]) = match self {
            Self::Pending => (&names.pending, &["unstarted", "backlog"]),
            Self::InProgress => (&names.in_progress, &["started"]),
            Self::Review => (&names.review, &[]),
            Self::Completed => (&names.completed, &["completed"]),
            Self::Failed => (&names.failed, &["canceled", "cancelled"]),
        };
        (name.as_deref(), types)
    }

    /// The status for this stage among those of a team: the one with the configured name, or else the first of the
    /// stage's types. For `review` that is the one called so, or else the one for `completed`.
    pub(super) fn status_among<'l>(
        self,
        list: &'l [TeamStatus],
        names: &LinearStatusMap,
    ) -> Option<&'l TeamStatus> {
        let (name, types) = self.wanted_status(names);
        let called = |name: &str| list.iter().find(|status| status.is_called(name));
        let first = |kind: &&str| {
            list.iter()
                .find(|status| status.kind == *kind && !status.is_called(IN_REVIEW))
        };
        name.and_then(called).or_else(|| match self {
            Self::Review => called(IN_REVIEW).or_else(|| Self::Completed.status_among(list, names)),
            _ => types.iter().find_map(first),
        })
    }
}

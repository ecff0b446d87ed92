//! What was sent: `linear-mapping.json`. Its fields are those of fractal-planner 0.1 with later ones beside them, and a
//! field that this version doesn't know is kept.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fp_plan::hint::{ErrorEnd, Hint};
use fp_plan::plan::id::{LinearId, PlanId, TaskId};
use fp_plan::settings::LinearStatusMap;
use fp_plan::text::{clipped, one_line};
use fp_run::run::state::Status;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Version of the file; one with a higher version is refused.
const VERSION: u32 = 1;
/// How often a call that fails is offered.
pub(super) const MAX_ATTEMPTS: u32 = 3;
/// Most characters that are kept of the reason of a failure.
const REASON: usize = 300;

/// Where an issue is: the few stages that a board shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LinearStage {
    Pending,
    /// Being built or verified.
    InProgress,
    /// Built and verified: it waits for people.
    Review,
    /// A parent whose tasks all passed.
    Completed,
    Failed,
}

impl LinearStage {
    /// All stages in the order of a board.
    pub(super) const ALL: [Self; 5] =
        [Self::Pending, Self::InProgress, Self::Review, Self::Completed, Self::Failed];

    /// The word for it in files and output.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in-progress",
            Self::Review => "review",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// The stage of a leaf; a skipped one leaves its issue where it is.
    pub(super) fn of_leaf(status: Status) -> Option<Self> {
        match status {
            Status::Pending => Some(Self::Pending),
            // An unverified task waits for no people.
            Status::Implementing | Status::AwaitingVerification => Some(Self::InProgress),
            Status::Completed => Some(Self::Review),
            Status::Failed => Some(Self::Failed),
            Status::Skipped => None,
        }
    }

    /// The stage of a parent whose leaves are in these states: done with all of them, failed when none passed and none
    /// still can, under way as soon as one leaf is.
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

/// Name of one call: the same call has the same key whenever it is offered, and another call about the same issue has
/// another one. A key has no character that means something to a shell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) enum LinearKey {
    /// `create/TASK`: create the issue of a task.
    Create(TaskId),
    /// `status/TASK/STAGE/NUMBER`: move its issue. The number counts the moves of this issue from 1, so that a move back
    /// to a stage is another one.
    Status { task: TaskId, stage: LinearStage, number: usize },
    /// `comment/TASK/DIGEST`: comment on its issue. The hexadecimal digits follow from the comment and its moment.
    Comment { task: TaskId, digest: String },
}

/// A text that is no key, cut to 80 characters.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no key: keys are `create/TASK`, `status/TASK/STAGE/NUMBER` and `comment/TASK/DIGEST`")]
pub(super) struct InvalidLinearKey(String);

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
            ["status", _, stage, number] => {
                let stage = LinearStage::ALL.into_iter().find(|known| known.word() == stage)?;
                let number = number.parse().ok().filter(|number| *number > 0)?;
                Some(Self::Status { task, stage, number })
            }
            ["comment", _, digest] => {
                let fits = (1..=64).contains(&digest.len()) && digest.bytes().all(|b| b.is_ascii_hexdigit());
                fits.then(|| Self::Comment { task, digest: digest.to_owned() })
            }
            _ => None,
        }
    }
}

impl fmt::Display for LinearKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(task) => write!(f, "create/{task}"),
            Self::Status { task, stage, number } => write!(f, "status/{task}/{}/{number}", stage.word()),
            Self::Comment { task, digest } => write!(f, "comment/{task}/{digest}"),
        }
    }
}

impl TryFrom<String> for LinearKey {
    type Error = InvalidLinearKey;
    fn try_from(text: String) -> Result<Self, InvalidLinearKey> {
        Self::parse(&text).ok_or_else(|| InvalidLinearKey(text.chars().take(80).collect()))
    }
}

impl From<LinearKey> for String {
    fn from(key: LinearKey) -> Self {
        key.to_string()
    }
}

/// What is known of a plan's mirror.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LinearMapping {
    #[serde(default = "first_version")]
    pub(super) schema_version: u32,
    pub(super) plan_id: PlanId,
    #[serde(default)]
    pub(super) team_id: Option<LinearId>,
    /// The team's status for each stage.
    #[serde(default)]
    pub(super) resolved_statuses: BTreeMap<LinearStage, LinearId>,
    /// The issue of each task that has one.
    #[serde(default)]
    pub(super) tasks: BTreeMap<TaskId, MappedIssue>,
    /// Calls that failed and were not made since.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) failures: BTreeMap<LinearKey, FailedCall>,
    /// Whether Linear can't be reached, so that nothing is offered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) absent: bool,
    /// Since when an agent is at it, where one was started and has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tracked_since: Option<Timestamp>,
    /// Fields of another version.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

fn first_version() -> u32 {
    VERSION
}

/// The issue of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MappedIssue {
    pub(super) linear_issue_id: LinearId,
    /// Its name for people, such as `ENG-12`.
    #[serde(default)]
    pub(super) linear_identifier: Option<LinearId>,
    /// The stages that it was moved to, in order; an issue begins as pending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) sent: Vec<LinearStage>,
    /// Whether a move was offered since and nobody has said what became of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) unconfirmed: bool,
    /// Digests of its comments.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) comments: BTreeSet<String>,
    /// Fields of another version.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A call that failed: how often, and why the last time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct FailedCall {
    pub(super) attempts: u32,
    pub(super) reason: String,
}

/// A call that failed [`MAX_ATTEMPTS`] times, and is not offered any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct GivenUpCall {
    pub(super) key: LinearKey,
    pub(super) reason: String,
}

/// What became of a call.
#[derive(Debug, Clone)]
pub(super) enum CallResult {
    /// The issue is there.
    Created {
        id: LinearId,
        identifier: Option<LinearId>,
    },
    /// The issue was moved, or the comment made.
    Done,
    Failed(String),
}

/// Why an acknowledgement is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum AcknowledgeError {
    #[error("task {task} has the issue {known} already")]
    OtherIssue { task: TaskId, known: LinearId },
    #[error("{0} needs the id of the issue")]
    NeedsId(LinearKey),
    #[error("{0} was never offered")]
    NeverOffered(LinearKey),
}

impl Hint for AcknowledgeError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::OtherIssue { .. } => {
                "the task keeps its issue: close the other one in Linear, with a word on why"
            }
            Self::NeedsId(_) | Self::NeverOffered(_) => {
                "`fp linear create PLAN` and `fp linear outbox PLAN` print what is due, with its key"
            }
        };
        Some(hint.into())
    }

    fn ends(&self) -> ErrorEnd {
        ErrorEnd::Refused
    }
}

impl MappedIssue {
    /// Where the issue is, as far as anybody knows.
    pub(super) fn stage(&self) -> LinearStage {
        self.sent.last().copied().unwrap_or(LinearStage::Pending)
    }

    /// Takes in move `number`; false where nothing with that number was offered.
    fn take_move(&mut self, stage: LinearStage, number: usize) -> bool {
        let due = self.sent.len() + 1;
        if number > due {
            return false;
        }
        // One number with two stages: both were offered before either was acknowledged, and the one that is told last
        // is taken for the one that was set last. If it isn't what is due, that is offered again.
        let known = self.sent.get(number - 1) == Some(&stage) || self.stage() == stage;
        if number == due || !known {
            self.sent.push(stage);
        }
        self.unconfirmed = false;
        true
    }
}

impl LinearMapping {
    /// The mapping of a plan of which nothing was sent.
    pub(super) fn new(plan_id: &PlanId) -> Self {
        serde_json::from_value(json!({ "planId": plan_id })).expect("every other field has a default")
    }

    /// Reads the file of the plan `plan_id`, or says what is wrong with it.
    pub(super) fn parse(text: &str, plan_id: &PlanId) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let version = value.get("schemaVersion").and_then(Value::as_u64);
        if let Some(newer) = version.filter(|version| *version > VERSION.into()) {
            return Err(format!("written by a newer fp (version {newer}, this fp reads {VERSION})"));
        }
        // From the text, so that an error has its place.
        let mapping: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if mapping.plan_id != *plan_id {
            return Err(format!("it is about another plan, {}", mapping.plan_id));
        }
        Ok(mapping)
    }

    pub(super) fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a mapping has text keys and plain values");
        text + "\n"
    }

    /// The call `key`, if it failed so often that it is not offered any more.
    pub(super) fn given_up(&self, key: &LinearKey) -> Option<GivenUpCall> {
        let failure = self.failures.get(key).filter(|failure| failure.attempts >= MAX_ATTEMPTS)?;
        Some(GivenUpCall { key: key.clone(), reason: failure.reason.clone() })
    }

    /// Gives everything that failed its attempts again, and takes Linear for present.
    pub(super) fn retry(&mut self) {
        self.failures.clear();
        self.absent = false;
    }

    /// Takes in what became of `key`. Taking in the same again changes nothing.
    pub(super) fn acknowledge(
        &mut self,
        key: &LinearKey,
        result: CallResult,
    ) -> Result<(), AcknowledgeError> {
        match (key, result) {
            (_, CallResult::Failed(reason)) => return self.take_failure(key, &reason),
            (LinearKey::Create(_), CallResult::Done) => {
                return Err(AcknowledgeError::NeedsId(key.clone()));
            }
            (LinearKey::Create(task), CallResult::Created { id, identifier }) => {
                self.take_issue(task, id, identifier)?;
            }
            (LinearKey::Status { task, stage, number }, _) => {
                if !self.issue(key)?.take_move(*stage, *number) {
                    return Err(AcknowledgeError::NeverOffered(key.clone()));
                }
                // An earlier failure was about a stage that is past.
                let is_move =
                    |other: &LinearKey| matches!(other, LinearKey::Status { task: of, .. } if of == task);
                self.failures.retain(|other, _| !is_move(other));
            }
            (LinearKey::Comment { digest, .. }, _) => {
                self.issue(key)?.comments.insert(digest.clone());
            }
        }
        self.failures.remove(key);
        Ok(())
    }

    fn issue(&mut self, key: &LinearKey) -> Result<&mut MappedIssue, AcknowledgeError> {
        self.tasks.get_mut(key.task()).ok_or_else(|| AcknowledgeError::NeverOffered(key.clone()))
    }

    fn take_issue(
        &mut self,
        task: &TaskId,
        id: LinearId,
        identifier: Option<LinearId>,
    ) -> Result<(), AcknowledgeError> {
        let new = || {
            let issue = json!({ "linearIssueId": id });
            serde_json::from_value(issue).expect("every other field has a default")
        };
        let issue = self.tasks.entry(task.clone()).or_insert_with(new);
        if issue.linear_issue_id != id {
            let known = issue.linear_issue_id.clone();
            return Err(AcknowledgeError::OtherIssue { task: task.clone(), known });
        }
        issue.linear_identifier = identifier.or(issue.linear_identifier.take());
        Ok(())
    }

    /// A call that was made can't fail any more.
    fn take_failure(&mut self, key: &LinearKey, reason: &str) -> Result<(), AcknowledgeError> {
        let done = match key {
            LinearKey::Create(task) => self.tasks.contains_key(task),
            LinearKey::Status { number, .. } => {
                let sent = self.issue(key)?.sent.len();
                if *number > sent + 1 {
                    return Err(AcknowledgeError::NeverOffered(key.clone()));
                }
                *number <= sent
            }
            LinearKey::Comment { digest, .. } => self.issue(key)?.comments.contains(digest),
        };
        if !done {
            let failure = self.failures.entry(key.clone()).or_default();
            failure.attempts = failure.attempts.saturating_add(1);
            failure.reason = clipped(&one_line(reason), REASON);
        }
        Ok(())
    }
}

/// What team boards call the stage in which people look at what was made.
const IN_REVIEW: &str = "in review";

/// A status of a team, as Linear lists it.
#[derive(Debug, Deserialize)]
pub(super) struct TeamStatus {
    pub(super) id: LinearId,
    pub(super) name: String,
    /// `backlog`, `unstarted`, `started`, `completed`, `canceled`, or another one, which means nothing here.
    #[serde(rename = "type")]
    kind: String,
}

impl TeamStatus {
    fn is_called(&self, name: &str) -> bool {
        self.name.trim().to_lowercase() == name.trim().to_lowercase()
    }
}

impl LinearStage {
    fn configured_name(self, names: &LinearStatusMap) -> Option<&str> {
        let name = match self {
            Self::Pending => &names.pending,
            Self::InProgress => &names.in_progress,
            Self::Review => &names.review,
            Self::Completed => &names.completed,
            Self::Failed => &names.failed,
        };
        name.as_deref()
    }

    /// The status for this stage among those of a team: the one with the configured name, else the first of the stage's
    /// type, and for `review` one that is called so, else that of `completed`.
    pub(super) fn status_among<'l>(
        self,
        list: &'l [TeamStatus],
        names: &LinearStatusMap,
    ) -> Option<&'l TeamStatus> {
        let called = |name: &str| list.iter().find(|status| status.is_called(name));
        let first =
            |kind: &str| list.iter().find(|status| status.kind == kind && !status.is_called(IN_REVIEW));
        self.configured_name(names).and_then(called).or_else(|| match self {
            Self::Pending => first("unstarted").or_else(|| first("backlog")),
            Self::InProgress => first("started"),
            Self::Review => called(IN_REVIEW).or_else(|| Self::Completed.status_among(list, names)),
            Self::Completed => first("completed"),
            Self::Failed => first("canceled").or_else(|| first("cancelled")),
        })
    }

    /// The name that is configured for this stage, where the team has no such status.
    pub(super) fn unknown_name<'n>(self, list: &[TeamStatus], names: &'n LinearStatusMap) -> Option<&'n str> {
        self.configured_name(names).filter(|name| !list.iter().any(|status| status.is_called(name)))
    }
}

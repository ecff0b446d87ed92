//! What was sent: `linear-mapping.json`. Its fields are those of fractal-planner 0.1, with what has been added since,
//! and a field that this version doesn't know is kept.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::id::LinearId;
use super::key::Key;
use super::one_line;
use super::outbox::{Call, Change};
use super::stage::Stage;
use super::statuses::Resolved;
use crate::plan::id::{PlanId, TaskId};

/// Version of the file; one with a higher version is refused.
const VERSION: u32 = 1;
/// How often a thing that fails is given out.
pub const MAX_ATTEMPTS: u32 = 3;
/// Most characters that are kept of why something failed.
const REASON: usize = 300;

/// What is known of a plan's mirror.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mapping {
    /// Version of the file.
    #[serde(default = "first_version")]
    pub schema_version: u32,
    /// The plan.
    pub plan_id: PlanId,
    /// The team that has the issues, once it is known.
    #[serde(default)]
    pub team_id: Option<LinearId>,
    /// The project that they belong to, if any.
    #[serde(default)]
    pub project_id: Option<LinearId>,
    /// The team's status for each stage.
    #[serde(default)]
    pub resolved_statuses: BTreeMap<Stage, LinearId>,
    /// The issue of each task that has one.
    #[serde(default)]
    pub tasks: BTreeMap<TaskId, Mapped>,
    /// What failed, and was not done since.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<Key, Failure>,
    /// Whether Linear can't be reached, so that nothing is given out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// Since when an agent is at it, where one was started and nobody has said that it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracked_since: Option<Timestamp>,
    /// Fields of another version.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The issue of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mapped {
    /// Its id.
    pub linear_issue_id: LinearId,
    /// What people call it, such as `ENG-12`.
    #[serde(default)]
    pub linear_identifier: Option<LinearId>,
    /// Where it is seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where it was moved to, in order; an issue begins as pending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<Stage>,
    /// Whether a move was given out since, of which nobody knows whether it was made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfirmed: bool,
    /// Digests of the comments that it has got.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub comments: BTreeSet<String>,
    /// Fields of another version.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// How something failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// How often.
    pub attempts: u32,
    /// Why, the last time.
    pub reason: String,
}

/// What became of a thing that was given out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The issue is there.
    Created {
        /// Its id.
        id: LinearId,
        /// What people call it.
        identifier: Option<LinearId>,
        /// Where it is seen.
        url: Option<String>,
    },
    /// The status was set, or the comment made.
    Done,
    /// It failed, for this reason.
    Failed(String),
}

/// Why a mapping can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// It is no JSON, or not of this form.
    #[error("{line}:{column}: {detail}")]
    Form {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        detail: String,
    },
    /// A newer version wrote it.
    #[error("written by a newer fp (version {0}, this fp reads {VERSION})")]
    Newer(u32),
    /// It is about another plan.
    #[error("it is about another plan, {0}")]
    OtherPlan(PlanId),
}

/// Why an acknowledgement is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The issue is not known yet.
    #[error("task {0} has no issue yet")]
    NoIssue(TaskId),
    /// The task has another issue.
    #[error("task {task} has the issue {known} already")]
    OtherIssue {
        /// The task.
        task: TaskId,
        /// Id of the issue that it has.
        known: LinearId,
    },
    /// An issue was created, and it isn't said which.
    #[error("{0} needs the id of the issue")]
    NeedsId(Key),
    /// An id was given where no issue was created.
    #[error("{0} is about an issue that is known already, and takes no id")]
    TakesNoId(Key),
    /// Nothing with that number was given out.
    #[error("{0} was never given out")]
    NeverGiven(Key),
}

fn first_version() -> u32 {
    VERSION
}

impl Mapped {
    /// Where its issue is, as far as it is known.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.sent.last().copied().unwrap_or(Stage::Pending)
    }

    /// Takes in that its issue was moved, as move `number`.
    fn moved(&mut self, stage: Stage, number: usize) -> bool {
        let due = self.sent.len() + 1;
        if number > due {
            return false;
        }
        // A number twice with two stages: both were given out before either was acknowledged, and the one that is
        // told last is taken for the one that was set last. If it isn't what is due, that is given out again.
        let known = self.sent.get(number - 1) == Some(&stage) || self.stage() == stage;
        if number == due || !known {
            self.sent.push(stage);
        }
        self.unconfirmed = false;
        true
    }
}

impl Mapping {
    /// The mapping of a plan of which nothing was sent.
    #[must_use]
    pub fn new(plan_id: PlanId) -> Self {
        Self {
            schema_version: VERSION,
            plan_id,
            team_id: None,
            project_id: None,
            resolved_statuses: BTreeMap::new(),
            tasks: BTreeMap::new(),
            failures: BTreeMap::new(),
            absent: false,
            tracked_since: None,
            rest: Map::new(),
        }
    }

    /// Reads the file of the plan `plan_id`.
    pub fn parse(text: &str, plan_id: &PlanId) -> Result<Self, MappingError> {
        let form = |error: serde_json::Error| {
            let (line, column) = (error.line(), error.column());
            let whole = error.to_string();
            let detail = whole.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&whole);
            MappingError::Form { line, column, detail: detail.to_owned() }
        };
        let value: Value = serde_json::from_str(text).map_err(form)?;
        let version = value.get("schemaVersion").and_then(Value::as_u64).unwrap_or(VERSION.into());
        if version > VERSION.into() {
            return Err(MappingError::Newer(u32::try_from(version).unwrap_or(u32::MAX)));
        }
        let mapping: Self = serde_json::from_str(text).map_err(form)?;
        if mapping.plan_id != *plan_id {
            return Err(MappingError::OtherPlan(mapping.plan_id));
        }
        Ok(mapping)
    }

    /// The file.
    #[must_use]
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a mapping has text keys and plain values");
        text + "\n"
    }

    /// Remembers what each stage is in the team; a stage that isn't found any more keeps what it was.
    pub fn set_statuses(&mut self, resolved: &Resolved) {
        self.resolved_statuses.extend(resolved.statuses.clone());
    }

    /// Remembers that these are given out, before they are: should nobody ever say what became of a move, the issue is
    /// moved again, even if it is due where it was before. Says whether that is news.
    pub fn give_out(&mut self, changes: &[Change]) -> bool {
        let mut news = false;
        for change in changes.iter().filter(|change| matches!(change.call, Call::Status { .. })) {
            if let Some(issue) = self.tasks.get_mut(&change.task) {
                news |= !issue.unconfirmed;
                issue.unconfirmed = true;
            }
        }
        news
    }

    /// Whether `key` failed so often that it is not given out any more, and why.
    #[must_use]
    pub fn given_up(&self, key: &Key) -> Option<&Failure> {
        self.failures.get(key).filter(|failure| failure.attempts >= MAX_ATTEMPTS)
    }

    /// Gives everything that failed its attempts again, and takes Linear for present.
    pub fn retry(&mut self) {
        self.failures.clear();
        self.absent = false;
    }

    /// Takes in what became of `key`. Taking in the same again changes nothing.
    pub fn answer(&mut self, key: &Key, answer: Answer) -> Result<(), AnswerError> {
        match (key, answer) {
            (key, Answer::Failed(reason)) => self.failed(key, &reason),
            (Key::Create(task), Answer::Created { id, identifier, url }) => {
                self.created(task, id, identifier, url)?;
                self.failures.remove(key);
                Ok(())
            }
            (Key::Create(_), Answer::Done) => Err(AnswerError::NeedsId(key.clone())),
            (_, Answer::Created { .. }) => Err(AnswerError::TakesNoId(key.clone())),
            (Key::Status { task, stage, number }, Answer::Done) => {
                if !self.issue(task)?.moved(*stage, *number) {
                    return Err(AnswerError::NeverGiven(key.clone()));
                }
                // What failed before it was about a stage that is past.
                self.failures.retain(|other, _| !matches!(other, Key::Status { task: of, .. } if of == task));
                Ok(())
            }
            (Key::Comment { task, digest }, Answer::Done) => {
                self.issue(task)?.comments.insert(digest.clone());
                self.failures.remove(key);
                Ok(())
            }
        }
    }

    fn issue(&mut self, task: &TaskId) -> Result<&mut Mapped, AnswerError> {
        self.tasks.get_mut(task).ok_or_else(|| AnswerError::NoIssue(task.clone()))
    }

    fn created(
        &mut self,
        task: &TaskId,
        id: LinearId,
        identifier: Option<LinearId>,
        url: Option<String>,
    ) -> Result<(), AnswerError> {
        match self.tasks.get_mut(task) {
            Some(known) if known.linear_issue_id != id => {
                Err(AnswerError::OtherIssue { task: task.clone(), known: known.linear_issue_id.clone() })
            }
            Some(known) => {
                known.linear_identifier = identifier.or(known.linear_identifier.take());
                known.url = url.or(known.url.take());
                Ok(())
            }
            None => {
                let issue = Mapped {
                    linear_issue_id: id,
                    linear_identifier: identifier,
                    url,
                    sent: Vec::new(),
                    unconfirmed: false,
                    comments: BTreeSet::new(),
                    rest: Map::new(),
                };
                self.tasks.insert(task.clone(), issue);
                Ok(())
            }
        }
    }

    fn failed(&mut self, key: &Key, reason: &str) -> Result<(), AnswerError> {
        let done = match key {
            Key::Create(task) => self.tasks.contains_key(task),
            Key::Status { task, number, .. } => {
                let due = self.issue(task)?.sent.len() + 1;
                if *number > due {
                    return Err(AnswerError::NeverGiven(key.clone()));
                }
                *number < due
            }
            Key::Comment { task, digest } => self.issue(task)?.comments.contains(digest),
        };
        if !done {
            let failure =
                self.failures.entry(key.clone()).or_insert(Failure { attempts: 0, reason: String::new() });
            failure.attempts = failure.attempts.saturating_add(1);
            failure.reason = one_line(reason, REASON);
        }
        Ok(())
    }
}

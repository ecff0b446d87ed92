//! Lets a builder ask in the middle of its task: one question in its first iteration, one after each check that failed,
//! and extra files at any time. A builder that asked counts as ended, isn't nudged, and is woken with the answer.

use std::collections::BTreeSet;

use super::decide::RunDecision;
use super::event::{Decider, Event};
use super::question::{AnswerOption, Question, Topic, safe_line};
use super::refusal::{Refusal, decline};
use super::state::{Granted, State, Status, TaskState};
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::plan::path::{self, covers, overlap};
use fp_plan::settings::ExtensionPolicy;

/// Allowed number of answers to a builder's question.
pub const OPTIONS: std::ops::RangeInclusive<usize> = 2..=4;
/// Maximum length of a question and of a reason, in characters.
pub const MAX_CHARS: usize = 500;

/// Advice for a builder whose request for a file is refused.
const DO_WITHOUT: &str =
    "do the task within its files, or submit it and say in a note what is missing";

/// The outcome of a request for another file.
#[derive(Debug, Clone, PartialEq)]
pub enum Extension {
    /// The file already belongs to the task.
    Listed,
    /// The file belongs to the task from now on.
    Allowed(Vec<Event>),
    /// The user is being asked; holds the question's id.
    Asked(String, Vec<Event>),
}

impl State {
    /// True if the builder of `task` waits for the user.
    pub fn awaits_answer(&self, task: &TaskId) -> bool {
        let mut inquiries = self.open_topics().filter(|topic| topic.is_inquiry());
        inquiries.any(|topic| topic.task() == Some(task))
    }

    /// The files that the builder of `task` requested and hasn't been granted yet.
    pub(super) fn wanted_by(&self, task: &TaskId) -> impl Iterator<Item = &str> {
        self.open_topics().filter_map(move |topic| match topic {
            Topic::Scope { task: of, path } if of == task => Some(path.as_str()),
            _ => None,
        })
    }

    /// Fails unless `owner` holds the task and may ask about it.
    fn expect_may_ask(&self, id: &TaskId, owner: &AgentName) -> Result<(), Refusal> {
        self.expect_running()?;
        let task = self.expect_task(id)?;
        if task.status != Status::Implementing || task.owner() != Some(owner) {
            return Err(decline(
                format!("{owner} does not hold task {id}"),
                "`fp claim PLAN --as NAME` says which task is yours",
            ));
        }
        if task.may_clarify() {
            return Ok(());
        }
        let said = match task.iteration {
            // A verifier sent it back, having missed something in the work.
            iteration @ 2.. if task.failed_checks().is_empty() => format!(
                "task {id} is at attempt {iteration}: questions are asked in the first one and after a failed check"
            ),
            _ => format!(
                "a question about task {id} was asked already: there is one a task, and one for each failed check"
            ),
        };
        let hint =
            "decide by the task and the code, and say what you decided with `fp submit --note`";
        Err(decline(said, hint))
    }

    /// Asks the user `text` about the task of `owner`, with the given options.
    pub fn clarify(
        &self,
        id: &TaskId,
        owner: &AgentName,
        text: &str,
        options: Vec<AnswerOption>,
    ) -> RunDecision {
        self.expect_may_ask(id, owner)?;
        let options = options.iter().map(|option| option.map_texts(cut_short));
        let options: Vec<AnswerOption> = options.collect();
        let labels = options.iter().map(|option| option.label.to_lowercase());
        let labels: BTreeSet<String> = labels.filter(|label| !label.is_empty()).collect();
        if labels.len() != options.len() || !OPTIONS.contains(&options.len()) {
            let count = options.len();
            let said = format!(
                "a question has 2 to 4 options with different labels, this one has {count}"
            );
            return Err(decline(
                said,
                "--option 'LABEL|what it means', two to four times",
            ));
        }
        let question = Question {
            options,
            ..self.new_question(Topic::Clarify(id.clone()), &cut_short(text))
        };
        Ok(vec![
            Event::Asked { question },
            Event::agent_ended(owner.clone()),
        ])
    }

    /// Requests `path` for the holder of `token`. `plans` is the configured folder of all plans; `can_ask` is true if
    /// the user can be asked.
    pub fn extend(
        &self,
        id: &TaskId,
        token: &str,
        path: &str,
        reason: &str,
        (policy, can_ask): (ExtensionPolicy, bool),
        plans: &str,
    ) -> Result<Extension, Refusal> {
        let name = self.expect_claim(id, token)?.owner.clone();
        let path = allowed_path(path, plans)?;
        let task = self.expect_task(id)?;
        if task.held().any(|file| covers(file, &path)) {
            return Ok(Extension::Listed);
        }
        let is_it = |file: &str| overlap(&[file], &[&path]);
        let lists = |other: &TaskState| other.leaf.id != *id && other.held().any(is_it);
        let wants = |other: &TaskId| other != id && self.wanted_by(other).any(is_it);
        let mut running = self.running();
        if let Some(other) = running.find(|other| lists(other) || wants(&other.leaf.id)) {
            let other = &other.leaf.id;
            let said = format!(
                "running task {other} may change {path}: wait until it is over, or do without"
            );
            return Err(decline(said, DO_WITHOUT));
        }
        let mut open = self.tasks.iter().filter(|other| !other.status.is_final());
        let elsewhere = open.find(|other| lists(other));
        let reason = cut_short(reason);
        let why = match (policy, elsewhere) {
            (ExtensionPolicy::Deny, _) => {
                let said =
                    format!("{path} is not in the task's files, and `guard.extend` is `deny`");
                return Err(decline(said, DO_WITHOUT));
            }
            (ExtensionPolicy::Allow, _) | (ExtensionPolicy::Ask, None) => {
                let granted = granted_file(id, path, reason, Decider::Auto);
                return Ok(Extension::Allowed(vec![granted]));
            }
            (ExtensionPolicy::Ask, Some(other)) if !can_ask => {
                let other = &other.leaf.id;
                let said = format!("{path} is for task {other}, and nobody can be asked");
                return Err(decline(said, DO_WITHOUT));
            }
            (ExtensionPolicy::Ask, Some(other)) => {
                format!("{reason} (task {} lists it)", other.leaf.id)
            }
        };
        let task = id.clone();
        let topic = Topic::Scope { task, path };
        if let Some(asked) = self.asked_about(&topic).find(|asked| asked.is_open()) {
            return Ok(Extension::Asked(asked.question.id.clone(), Vec::new()));
        }
        let question = self.new_question(topic, &why);
        let asked = question.id.clone();
        let events = vec![Event::Asked { question }, Event::agent_ended(name)];
        Ok(Extension::Asked(asked, events))
    }

    /// Grants `path` to the builder of `id`, unless the task is no longer being implemented.
    pub(super) fn grant_file(&self, id: &TaskId, path: &str, by: Decider) -> RunDecision {
        if self.expect_task(id)?.status != Status::Implementing {
            return Ok(Vec::new());
        }
        let topic = Topic::Scope {
            task: id.clone(),
            path: path.to_owned(),
        };
        let asked = self.asked_about(&topic).next_back();
        let reason = asked.map(|asked| asked.question.reason.clone());
        let reason = reason.unwrap_or_default();
        Ok(vec![granted_file(id, path.to_owned(), reason, by)])
    }
}

fn granted_file(task: &TaskId, path: String, reason: String, by: Decider) -> Event {
    Event::ScopeExtended {
        task: task.clone(),
        granted: Granted { path, reason, by },
    }
}

/// Returns the normal form of `path`, or a refusal if no task may have it.
pub fn allowed_path(path: &str, plans: &str) -> Result<String, Refusal> {
    let refused = |why: String| {
        let said = format!("{path:?} can't be part of a task: {why}");
        decline(said, "name one file, relative to the repository")
    };
    let normal = path::normal(path.trim())
        .map_err(|why| refused(why.to_string()))?
        .into_owned();
    if normal.is_empty() || normal == "." {
        return Err(refused("it is the whole repository".into()));
    }
    if normal.contains(['*', '?']) {
        return Err(refused("it is a pattern; name a file".into()));
    }
    let is_git = |part: &str| part.eq_ignore_ascii_case(".git");
    if normal.split('/').any(is_git) || covers(plans, &normal) || covers(&normal, plans) {
        return Err(refused("what is in it is no task's".into()));
    }
    Ok(normal)
}

fn cut_short(text: &str) -> String {
    safe_line(text).chars().take(MAX_CHARS).collect()
}

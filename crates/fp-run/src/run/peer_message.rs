//! Carries messages between builders at work, through the log and the receiver's next payload, because the client may
//! have no messaging of its own. They go one way, and nothing waits for them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use super::event::Event;
use super::notepad::latest_first_near;
use super::question::said;
use super::refusal::{Refusal, decline};
use super::state::{Role, State, TaskState};
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::plan::path::overlap;
use fp_plan::text::one_line;

/// Maximum messages sent from one task.
pub const MESSAGES_PER_TASK: usize = 2;
/// Maximum messages in one payload.
pub const MESSAGES_PER_PAYLOAD: usize = 10;
/// Maximum length of a message in characters; longer ones are cut.
pub const MAX_MESSAGE_CHARS: usize = 300;
/// The way to name receivers.
const TO: &str = "--to NAME, or --to all for all others";
/// The receiver name for all other builders.
pub const ALL: &str = "all";

/// The subject of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(
    serialize_all = "SCREAMING_SNAKE_CASE",
    ascii_case_insensitive,
    const_into_str
)]
pub enum PeerKind {
    /// Something new that the receiver's task could use.
    InterfaceCreated,
    /// A convention or a quirk that concerns the receiver's task.
    PatternFound,
    /// The sender changes something the receiver's task relies on.
    ConflictWarning,
    /// A file named in the receiver's task has moved.
    FileMoved,
}

impl PeerKind {
    /// Splits `KIND: text`, in any case, into the kind and the rest after the colon.
    pub fn read(text: &str) -> Option<(Self, &str)> {
        let (word, rest) = text.split_once(':')?;
        Some((word.trim().parse().ok()?, rest))
    }
}

/// A message from one builder to others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerMessage {
    pub from: AgentName,
    /// The sender's task.
    pub task: TaskId,
    /// The receivers, without repeats and without the sender.
    pub to: Vec<AgentName>,
    pub kind: PeerKind,
    /// One line of at most [`MAX_MESSAGE_CHARS`].
    pub text: String,
}

impl PeerMessage {
    /// The message as one line for lists.
    pub fn line(&self) -> String {
        format!(
            "[Task {}] {} to {}: {}: {}",
            self.task,
            self.from,
            self.to(),
            self.kind.into_str(),
            said(&self.text)
        )
    }

    /// The message as one line for its receiver.
    pub fn received(&self) -> String {
        format!(
            "From {} (task {}) {}: {}",
            self.from,
            self.task,
            self.kind.into_str(),
            said(&self.text)
        )
    }

    /// The receivers' names as one text.
    pub fn to(&self) -> String {
        self.to
            .iter()
            .map(AgentName::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// True if it mentions one of the files of `task`, or its sender's task shares one.
    fn concerns(&self, state: &State, task: &TaskState) -> bool {
        let near: Vec<&str> = task.files().chain(task.leaf.references()).collect();
        let sender = state
            .task(&self.task)
            .map_or(&[][..], |sender| &sender.leaf.files);
        let sender: Vec<&str> = sender.iter().map(String::as_str).collect();
        overlap(&sender, &near) || near.iter().any(|path| self.text.contains(path))
    }
}

/// A builder's reading position in the messages of a run, as indexes into [`State::messages`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Inbox {
    /// Messages before this were shown in earlier claims.
    pub since: usize,
    /// Messages from `since` up to this are in the current claim's payload.
    pub until: usize,
}

/// The way out for a builder that can't send a message.
const LATER: &str =
    "what others should know later goes with the submission: `fp submit … --note 'PATTERN: TEXT'`";

fn malformed() -> Refusal {
    let said = "a message is one line `KIND: text`, with INTERFACE_CREATED, PATTERN_FOUND, CONFLICT_WARNING or \
                FILE_MOVED as its kind";
    decline(
        said.to_owned(),
        "such as 'INTERFACE_CREATED: parse_date(text) is in src/date.rs:10'",
    )
}

impl State {
    /// Sends `text` from `from`, who must hold a task, to the builders in `to` or to [`ALL`] others. Returns the
    /// message and its event; no event if the same message was already sent.
    pub fn tell(
        &self,
        from: &AgentName,
        to: &[AgentName],
        text: &str,
    ) -> Result<(PeerMessage, Vec<Event>), Refusal> {
        self.expect_running()?;
        let others = self.other_builders(from);
        if !self.has_peers() {
            return Err(decline(
                "nobody else builds in this run: there is one builder".to_owned(),
                LATER,
            ));
        }
        let task = self.held_by(from).ok_or_else(|| {
            let hint =
                "messages are sent while a task is built; `fp claim PLAN --as NAME` takes one";
            decline(format!("{from} holds no task"), hint)
        })?;
        let read = PeerKind::read(text).map(|(kind, text)| (kind, one_line(text)));
        let (kind, line) = read
            .filter(|(_, line)| !line.is_empty())
            .ok_or_else(malformed)?;
        let message = PeerMessage {
            from: from.clone(),
            task: task.leaf.id.clone(),
            to: receivers(from, to, others)?,
            kind,
            text: line.chars().take(MAX_MESSAGE_CHARS).collect(),
        };
        if self.messages.contains(&message) {
            return Ok((message, Vec::new()));
        }
        if !self.may_tell(&message.task) {
            return Err(decline(
                format!("two messages of task {} are sent", message.task),
                LATER,
            ));
        }
        let event = Event::Messaged {
            message: message.clone(),
        };
        Ok((message, vec![event]))
    }

    pub fn has_peers(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.terms.builders > 1)
    }

    /// True if `task` has messages left.
    pub fn may_tell(&self, task: &TaskId) -> bool {
        self.messages
            .iter()
            .filter(|message| message.task == *task)
            .count()
            < MESSAGES_PER_TASK
    }

    /// The other builders of the run: those that `fp next` starts, and everyone else who has claimed.
    fn other_builders(&self, name: &AgentName) -> Vec<AgentName> {
        let builders = self.run.as_ref().map_or(0, |run| run.terms.builders);
        let started = (1..=builders).filter_map(|number| self.builder(number));
        let known = self
            .agents
            .iter()
            .filter(|(_, agent)| agent.role == Role::Builder);
        let mut seen = BTreeSet::new();
        started
            .chain(known.map(|(name, _)| name.clone()))
            .filter(|other| other != name && seen.insert(other.clone()))
            .collect()
    }

    /// The messages in the payload of `task`, and the number left out: those that arrived since the previous claim, in
    /// sending order. If they are too many, those that concern the task take precedence.
    pub fn messages_for(&self, task: &TaskState) -> (Vec<&PeerMessage>, usize) {
        let Some(claim) = &task.claim else {
            return (Vec::new(), 0);
        };
        let inbox = self.inboxes.get(&claim.owner).copied().unwrap_or_default();
        let came = self
            .messages
            .get(inbox.since..inbox.until)
            .unwrap_or_default();
        let came: Vec<&PeerMessage> = came
            .iter()
            .filter(|message| message.to.contains(&claim.owner))
            .collect();
        let left_out = came.len().saturating_sub(MESSAGES_PER_PAYLOAD);
        (
            latest_first_near(came, MESSAGES_PER_PAYLOAD, |message| {
                message.concerns(self, task)
            }),
            left_out,
        )
    }

    /// Starts a new claim of `owner`, who gets everything since the previous one.
    pub(super) fn open_inbox(&mut self, owner: &AgentName) {
        self.close_inbox(owner);
        self.refill_inbox(owner);
    }

    /// Adds new messages when the payload of `owner`'s claim is printed again.
    pub(super) fn refill_inbox(&mut self, owner: &AgentName) {
        if !self.messages.is_empty() {
            self.inboxes.entry(owner.clone()).or_default().until = self.messages.len();
        }
    }

    /// Marks as read what `owner` has been shown.
    pub(super) fn close_inbox(&mut self, owner: &AgentName) {
        if let Some(inbox) = self.inboxes.get_mut(owner) {
            inbox.since = inbox.until;
        }
    }

    /// Returns the messages of a failed claim to whoever takes the name `owner` next.
    pub(super) fn return_inbox(&mut self, owner: &AgentName) {
        if let Some(inbox) = self.inboxes.get_mut(owner) {
            inbox.until = inbox.since;
        }
    }
}

fn receivers(
    from: &AgentName,
    to: &[AgentName],
    others: Vec<AgentName>,
) -> Result<Vec<AgentName>, Refusal> {
    if to.iter().any(|name| name.as_str() == ALL) {
        return Ok(others);
    }
    if to.contains(from) {
        return Err(decline(
            format!("{from} can't send a message to itself"),
            TO,
        ));
    }
    if let Some(name) = to.iter().find(|name| !others.contains(name)).cloned() {
        let others = others
            .iter()
            .map(AgentName::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        let said = format!("{name} is no builder of this run: the others are {others}");
        return Err(decline(said, TO));
    }
    Ok(others
        .into_iter()
        .filter(|other| to.contains(other))
        .collect())
}

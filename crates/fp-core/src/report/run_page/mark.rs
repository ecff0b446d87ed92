//! What happened at one moment, in the words of the log.

use jiff::Timestamp;
use serde::Serialize;

use crate::plan::id::TaskId;
use crate::report::log::{Told, tell};
use crate::run::event::{Entry, Event};

/// Most characters of the details of a mark: they are told whole where the task is.
const DETAIL: usize = 300;

/// What happened at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    /// When.
    pub at: Timestamp,
    /// What kind of thing.
    pub kind: MarkKind,
    /// The task it is about, where it is about one.
    pub task: Option<TaskId>,
    /// The lane it belongs to, by its position; `None` where it is about the run.
    pub lane: Option<usize>,
    /// What the log says of it.
    pub text: String,
    /// Reasons and feedback, cut where they are long.
    pub detail: String,
}

/// The kinds of marks. Of several things that one command did to a task, the last of these kinds names the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MarkKind {
    /// The run started, ended, or was disturbed.
    Run,
    /// A builder told others something.
    Message,
    /// A builder that had stopped was told to go on.
    Nudge,
    /// The user was asked, or answered.
    Question,
    /// The claim was taken back.
    Released,
    /// It passed.
    Passed,
    /// It was committed.
    Commit,
    /// Its commit could not be made.
    Blocked,
    /// It did not pass, and may have gone back.
    NotPassed,
    /// It was given up.
    GivenUp,
}

impl MarkKind {
    /// What `event` is marked as, if it is.
    fn of(event: &Event) -> Option<Self> {
        Some(match event {
            Event::RunStarted(_)
            | Event::HeadMoved { .. }
            | Event::LeadNudged
            | Event::Retried { .. }
            | Event::RolledBack { .. }
            | Event::Cancelled { .. }
            | Event::Finished => Self::Run,
            Event::Messaged { .. } => Self::Message,
            Event::Nudged { .. } => Self::Nudge,
            Event::Asked { .. } | Event::Answered { .. } => Self::Question,
            Event::Released { .. } => Self::Released,
            Event::Judged { pass: true, .. } | Event::Completed { commit: None, .. } => Self::Passed,
            Event::Completed { .. } => Self::Commit,
            Event::CommitBlocked { .. } => Self::Blocked,
            Event::Judged { .. } | Event::SentBack { .. } => Self::NotPassed,
            Event::Failed { .. } => Self::GivenUp,
            _ => return None,
        })
    }
}

/// The marks of one entry: one for each task, and one for all that is about none.
pub(super) fn marks(entry: &Entry) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for (event, Told { task, text, details }) in entry.events.iter().zip(tell(entry)) {
        let Some(kind) = MarkKind::of(event) else { continue };
        let detail = details.join("\n");
        if let Some(mark) = marks.iter_mut().find(|mark| mark.task == task) {
            mark.kind = mark.kind.max(kind);
            mark.text = format!("{}; {text}", mark.text);
            if mark.detail.is_empty() {
                mark.detail = cut(&detail);
            }
        } else {
            marks.push(Mark { at: entry.at, kind, task, lane: None, text, detail: cut(&detail) });
        }
    }
    marks
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(DETAIL) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

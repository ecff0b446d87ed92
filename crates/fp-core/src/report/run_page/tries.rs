//! One try at a task: what was handed in, what the checks and the verifier said of it.

use jiff::Timestamp;
use serde::Serialize;

use crate::plan::id::AgentName;
use crate::report::history::Attempt;
use crate::report::results::Judged;
use crate::run::event::Judgement;
use crate::verification::Check;
use crate::verification::change::{Change, ChangeStatus};

/// Most lines of the output of a command: its last ones say how it ended.
const LINES: usize = 30;
/// Most characters of them.
const CHARS: usize = 4000;

/// One try at a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Try {
    /// Who, in which iteration, and what came of it.
    #[serde(flatten)]
    pub attempt: Attempt,
    /// When it was claimed, or came back.
    pub from: Timestamp,
    /// When it was handed in.
    pub submitted_at: Option<Timestamp>,
    /// When it was judged.
    pub judged_at: Option<Timestamp>,
    /// Who was started to verify it.
    pub verifier: Option<AgentName>,
    /// How often its builder was told to go on.
    pub nudges: u32,
    /// The files that it changed, each with what happened to it where that is more than an edit.
    pub files: Vec<String>,
    /// The mechanical checks; of the output of a command its end.
    pub checks: Vec<Check>,
    /// The criteria that were judged.
    pub criteria: Vec<Judged>,
    /// What the verifier said of the whole.
    pub summary: String,
}

impl Try {
    /// A try that begins at `from`.
    pub(super) fn new(builder: AgentName, iteration: u32, from: Timestamp) -> Self {
        Self {
            attempt: Attempt { iteration, builder, end: None },
            from,
            submitted_at: None,
            judged_at: None,
            verifier: None,
            nudges: 0,
            files: Vec::new(),
            checks: Vec::new(),
            criteria: Vec::new(),
            summary: String::new(),
        }
    }
}

/// A changed file in one line.
pub(super) fn file(change: &Change) -> String {
    let path = &change.path;
    match &change.status {
        ChangeStatus::Added => format!("{path} (new)"),
        ChangeStatus::Modified => path.to_string(),
        ChangeStatus::Deleted => format!("{path} (deleted)"),
        ChangeStatus::Renamed { from } => format!("{path} (was {from})"),
        ChangeStatus::ModeChanged => format!("{path} (mode)"),
        ChangeStatus::TypeChanged => format!("{path} (type)"),
    }
}

/// `check`, with no more of an output than its end. The first line says how the command ended, and stays.
pub(super) fn shortened(check: &Check) -> Check {
    let (first, output) = check.detail.split_once('\n').unwrap_or((&check.detail, ""));
    let lines: Vec<&str> = output.lines().collect();
    let mut tail = lines[lines.len().saturating_sub(LINES)..].join("\n");
    if let Some((start, _)) = tail.char_indices().rev().nth(CHARS - 1) {
        tail.replace_range(..start, "");
    }
    let detail = match (output.is_empty(), tail.len() < output.trim_end().len()) {
        (true, _) => first.to_owned(),
        (_, true) => format!("{first}\n…\n{tail}"),
        _ => format!("{first}\n{tail}"),
    };
    Check { detail, ..check.clone() }
}

/// What was judged; the words of the criteria are the tree's.
pub(super) fn judged(judgements: &[Judgement]) -> Vec<Judged> {
    let judged = judgements.iter().map(|judgement| Judged {
        number: judgement.criterion,
        text: String::new(),
        pass: judgement.pass,
        evidence: judgement.evidence.clone(),
    });
    judged.collect()
}

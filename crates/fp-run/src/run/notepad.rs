//! The notepad passes on what builders learned to the builders after them.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use super::event::Note;
use super::question::safe_line;
use super::state::State;
use fp_plan::plan::id::TaskId;
use fp_plan::plan::path::overlap;
use fp_plan::text::one_line;

/// Maximum number of notes per payload.
pub const NOTES_PER_PAYLOAD: usize = 10;

/// Maximum length of a note in characters; longer ones are cut.
pub const MAX_NOTE_CHARS: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive, const_into_str)]
pub enum NoteKind {
    /// A pattern of the code base worth following.
    Pattern,
    /// A constraint that isn't obvious.
    Gotcha,
    /// Something that exists and should be reused.
    Util,
    /// A fragile place.
    Warn,
    /// Work outside the plan, left for a later one.
    Debt,
}

/// The text is not a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a note is one line `KIND: text`, with PATTERN, GOTCHA, UTIL, WARN or DEBT as its kind")]
pub struct InvalidNote;

impl std::str::FromStr for Note {
    type Err = InvalidNote;

    /// Reads `KIND: text` as agents write it, in any case and with any white space, cut to [`MAX_NOTE_CHARS`].
    fn from_str(text: &str) -> Result<Self, InvalidNote> {
        let (kind, text) = text.split_once(':').ok_or(InvalidNote)?;
        let kind = kind.trim().parse().map_err(|_| InvalidNote)?;
        let text = one_line(text).chars().take(MAX_NOTE_CHARS).collect();
        let note = Self {
            kind,
            text,
            task: None,
        };
        match note.text.is_empty() {
            true => Err(InvalidNote),
            false => Ok(note),
        }
    }
}

impl Note {
    /// The same note, marked as learned in `task`.
    pub fn learned_in(self, task: &TaskId) -> Self {
        let task = Some(task.clone());
        Self { task, ..self }
    }

    /// The note as a line of `notepad.md`, without the bullet.
    pub fn notepad_line(&self) -> String {
        let task = match &self.task {
            Some(id) => format!("[Task {id}]"),
            None => "[plan]".to_owned(),
        };
        format!("{task} {}: {}", self.kind.into_str(), safe_line(&self.text))
    }
}

/// Picks the notes for `task`, except debts: first those of tasks that share a file with it, then the latest. Returns
/// at most [`NOTES_PER_PAYLOAD`], in the order in which they were written.
pub fn relevant_notes<'a>(state: &'a State, task: &TaskId) -> Vec<&'a Note> {
    let files = state.task(task).map_or(&[][..], |task| &task.leaf.files);
    let is_near = |note: &Note| {
        let writer = note.task.as_ref().and_then(|id| state.task(id));
        writer.is_some_and(|writer| overlap(&writer.leaf.files, files))
    };
    let notes = state
        .notes
        .iter()
        .rev()
        .filter(|note| note.kind != NoteKind::Debt);
    let mut chosen: Vec<(bool, usize, &Note)> = notes
        .enumerate()
        .map(|(age, note)| (!is_near(note), age, note))
        .collect();
    chosen.sort_by_key(|(is_far, age, _)| (*is_far, *age));
    chosen.truncate(NOTES_PER_PAYLOAD);
    chosen.sort_by_key(|(_, age, _)| Reverse(*age));
    chosen.into_iter().map(|(_, _, note)| note).collect()
}

/// Renders the whole of `notepad.md`.
pub fn render(state: &State) -> String {
    let started = state.created_at.map(|at| at.to_string());
    let (plan, started) = (&state.plan_id, started.unwrap_or_default());
    let mut text = format!(
        "# Implementation Notepad\n\nPlan: {plan}\nStarted: {started}\n\n## Entries (most recent last)\n\n"
    );
    for note in &state.notes {
        text += &format!("- {}\n", note.notepad_line());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_plan::plan::id::PlanId;

    #[test]
    fn every_note_has_a_line() {
        let mut state = State::new(PlanId::new("p").unwrap());
        let note = |text: &str| text.parse::<Note>().unwrap();
        let first = note("PATTERN: as in a.rs").learned_in(&TaskId::new("1.1").unwrap());
        state.notes = vec![first, note("WARN: [x] - y")];
        let text = render(&state);
        assert!(
            text.ends_with("\n\n- [Task 1.1] PATTERN: as in a.rs\n- [plan] WARN: [x] - y\n"),
            "{text}"
        );
    }
}

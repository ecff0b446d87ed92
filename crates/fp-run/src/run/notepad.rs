//! The notepad passes on what builders learned to the builders after them.

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
#[error("a note is `KIND: text` or `KIND(PATH): text`, and this one has no text")]
pub struct InvalidNote;

impl std::str::FromStr for Note {
    type Err = InvalidNote;

    /// Reads `KIND: text` or `KIND(PLACE): text` as agents write it, in any case and with any white space, cut to
    /// [`MAX_NOTE_CHARS`]. A text of another kind, or of none, is a warning.
    fn from_str(text: &str) -> Result<Self, InvalidNote> {
        let known = text.split_once(':').and_then(|(head, text)| {
            let (kind, place) = match head.split_once('(') {
                Some((kind, place)) => (kind, place.trim().strip_suffix(')')),
                None => (head, None),
            };
            let place = place.map(one_line).filter(|place| !place.is_empty());
            Some((kind.trim().parse().ok()?, place, text))
        });
        let (kind, place, text) = known.unwrap_or((NoteKind::Warn, None, text));
        let note = Self {
            kind,
            text: one_line(text).chars().take(MAX_NOTE_CHARS).collect(),
            task: None,
            place,
            ended: false,
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
        let place = self.place.iter();
        let place: String = place
            .map(|place| format!("({})", safe_line(place)))
            .collect();
        let ended = if self.ended { " (over)" } else { "" };
        let kind = self.kind.into_str();
        format!("{task} {kind}{place}: {}{ended}", safe_line(&self.text))
    }
}

/// The notes that concern `task`, except debts and those that are over: about a place that it touches, or without a
/// place, those about the whole plan, and those of tasks that it builds on or shares a file with. Returns the last
/// [`NOTES_PER_PAYLOAD`], in the order in which they were written.
pub fn relevant_notes<'a>(state: &'a State, task: &TaskId) -> Vec<&'a Note> {
    let Some(task) = state.task(task) else {
        return Vec::new();
    };
    let leaf = &task.leaf;
    let is_near = |writer: &TaskId| {
        let files = state.task(writer).map(|writer| &writer.leaf.files);
        leaf.dependencies.contains(writer) || files.is_some_and(|files| overlap(files, &leaf.files))
    };
    let concerns = |note: &Note| match (&note.place, &note.task) {
        (Some(place), _) => overlap(&[place], &leaf.files) || leaf.title.contains(place.as_str()),
        (None, Some(writer)) => is_near(writer),
        (None, None) => true,
    };
    let is_open = |note: &&Note| note.kind != NoteKind::Debt && !note.ended && concerns(note);
    let notes: Vec<&Note> = state.notes.iter().filter(is_open).collect();
    notes[notes.len().saturating_sub(NOTES_PER_PAYLOAD)..].to_vec()
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

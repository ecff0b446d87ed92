//! Everything a builder is given, in one text: what to do, what to leave alone, what others did before, and
//! the exact command that hands the work in. It has at most [`MAX_PAYLOAD_BYTES`]: where that is not enough, its parts
//! are cut one after the other, first to what is worth having and then, as far as it takes, to next to nothing. Each
//! says what of it is left out and where it is.

mod part;
mod sections;

use super::state::{State, TaskState};
use crate::plan::task::Task;
use part::Part;

/// Longest payload in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 8 * 1024;

/// What a payload says that neither the state nor the leaf knows.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The user's own words.
    pub goal: &'a str,
    /// Path of the task tree.
    pub tree: &'a str,
    /// Path of the worktree that the task is done in, where that is not the user's checkout.
    pub place: Option<&'a str>,
    /// Path of the file that has the conventions and commands of the code base, if there is one.
    pub conventions: Option<&'a str>,
    /// The language of what people read, where it is known.
    pub language: Option<&'a str>,
    /// The section of the project's specs, which has [`room_for_specs`]; empty where there are none.
    pub specs: &'a str,
}

/// How many bytes of the payload of `task` its specs may take: half of what CONTEXT would have without them.
#[must_use]
pub fn room_for_specs(state: &State, task: &TaskState, leaf: &Task<'_>, around: &Around<'_>) -> usize {
    let sections = sections::all(state, task, leaf, &Around { specs: "", ..*around });
    let fixed = sections.iter().filter(|section| section.heading != sections::CONTEXT);
    MAX_PAYLOAD_BYTES.saturating_sub(fixed.map(Section::len).sum()) / 2
}

/// A heading with what is below it.
struct Section {
    heading: &'static str,
    parts: Vec<Part>,
}

/// The payload of `task`, which is held with a token. At most [`MAX_PAYLOAD_BYTES`], as long as the paths in `around`
/// have some hundred bytes each.
#[must_use]
pub fn payload(state: &State, task: &TaskState, leaf: &Task<'_>, around: &Around<'_>) -> String {
    let mut sections = sections::all(state, task, leaf, around);
    let length = |sections: &[Section]| sections.iter().map(Section::len).sum::<usize>();
    if length(&sections) > MAX_PAYLOAD_BYTES {
        sections[0].parts.push(sections::whole(task, around));
        let mut excess = length(&sections).saturating_sub(MAX_PAYLOAD_BYTES);
        let parts = sections.iter_mut().flat_map(|section| &mut section.parts);
        let mut ranked: Vec<&mut Part> = parts.filter(|part| part.rank().is_some()).collect();
        ranked.sort_by_key(|part| part.rank());
        for cut in [Part::trim, Part::strip] {
            for part in &mut ranked {
                let before = part.len();
                if excess > 0 {
                    cut(part, before.saturating_sub(excess));
                }
                excess = (excess + part.len()).saturating_sub(before);
            }
        }
    }
    let mut text = String::new();
    sections.iter().for_each(|section| section.write(&mut text));
    text
}

impl Section {
    fn is_empty(&self) -> bool {
        self.parts.iter().all(Part::is_empty)
    }

    fn len(&self) -> usize {
        let parts: usize = self.parts.iter().map(Part::len).sum();
        if self.is_empty() { 0 } else { self.heading.len() + parts }
    }

    fn write(&self, text: &mut String) {
        if !self.is_empty() {
            text.push_str(self.heading);
            self.parts.iter().for_each(|part| part.write(text));
        }
    }
}

/// The first seven characters of a commit hash.
#[must_use]
pub fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

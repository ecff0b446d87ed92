//! From a note of a run to a rule of the project: where it was learnt, and what is written down of it.

use std::fmt::Write as _;

use jiff::civil::Date;
use serde::Serialize;

use super::SpecName;
use crate::markdown;
use crate::plan::id::{PlanId, TaskId};
use crate::run::State;
use crate::run::event::Note;
use crate::run::notepad::NoteKind;

/// In how many tasks or plans a note has to have been learnt to be more than a chance.
pub const ENOUGH: usize = 2;

/// Where a note was learnt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sighting {
    /// The plan.
    pub plan: PlanId,
    /// The task; none for a note of the plan.
    pub task: Option<TaskId>,
}

impl Sighting {
    /// It in words.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.task {
            Some(task) => format!("task {task} of {}", self.plan),
            None => self.plan.to_string(),
        }
    }
}

/// What `text` says, whatever its case, its blanks, its marks of Markdown and the punctuation around its words.
/// Operators stay, since `a < b` is not `a > b`.
#[must_use]
pub fn normal(text: &str) -> String {
    let plain = text.replace(['\\', '`'], "").to_lowercase();
    let around = ['.', ',', ';', ':', '!', '?', '\'', '"', '(', ')', '[', ']', '*', '_'];
    let words =
        plain.split_whitespace().map(|word| word.trim_matches(around)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The note that `wanted` means: its number from 1, or its text, with or without its kind.
#[must_use]
pub fn find<'a>(notes: &'a [Note], wanted: &str) -> Option<&'a Note> {
    if let Ok(number) = wanted.trim().parse::<usize>() {
        return notes.get(number.checked_sub(1)?);
    }
    let wanted = normal(wanted);
    let says = |note: &&Note| {
        !wanted.is_empty() && (normal(&note.text) == wanted || normal(&kind_and_text(note)) == wanted)
    };
    notes.iter().find(says)
}

/// Where in these runs something was noted that says what `note` says, each place once.
#[must_use]
pub fn sightings<'a>(runs: impl IntoIterator<Item = &'a State>, note: &Note) -> Vec<Sighting> {
    let wanted = normal(&note.text);
    let mut found = Vec::new();
    for run in runs {
        for same in run.notes.iter().filter(|other| normal(&other.text) == wanted) {
            let sighting = Sighting { plan: run.plan_id.clone(), task: same.task.clone() };
            if !found.contains(&sighting) {
                found.push(sighting);
            }
        }
    }
    found
}

/// Whether a line of `page` says what `note` says, under whatever kind.
#[must_use]
pub fn says(page: &str, note: &Note) -> bool {
    let wanted = normal(&note.text);
    let kinds =
        [NoteKind::Pattern, NoteKind::Gotcha, NoteKind::Util, NoteKind::Warn].map(|kind| normal(kind.word()));
    let item = |line: &str| normal(line.trim_start().trim_start_matches("- "));
    page.lines().map(item).any(|line| {
        let without = |kind: &String| line.strip_prefix(kind.as_str())?.strip_prefix(' ');
        line == wanted || kinds.iter().filter_map(without).any(|rest| rest == wanted)
    })
}

fn kind_and_text(note: &Note) -> String {
    format!("{}: {}", note.kind.word(), note.text)
}

/// What is to be written behind `page`, the text of the file as it is, to have `note` in it with where it was learnt.
/// Where there is no file yet, that begins with frontmatter under this title.
#[must_use]
pub fn addition(page: Option<&str>, title: &str, note: &Note, found: &[Sighting], today: Date) -> String {
    let mut text = match page {
        Some(page) => joint(page).to_owned(),
        None => front(title),
    };
    text.push_str("- ");
    // Writing to a string can't fail.
    let _ = markdown::inline(&mut text, &kind_and_text(note));
    let places: Vec<String> = found.iter().map(Sighting::words).collect();
    let _ = write!(text, "\n  - learnt in {}; kept on {today}\n", places.join(", "));
    let crlf = page.is_some_and(|page| page.contains("\r\n"));
    if crlf { text.replace('\n', "\r\n") } else { text }
}

/// What keeps the end of `page` and a list item apart: nothing behind another one.
fn joint(page: &str) -> &'static str {
    let last = page.lines().rfind(|line| !line.trim().is_empty());
    let in_list = last.is_none_or(|line| line.starts_with("- ") || line.starts_with("  "));
    match (
        page.is_empty() || page.ends_with('\n'),
        in_list || page.ends_with("\n\n") || page.ends_with("\n\r\n"),
    ) {
        (true, true) => "",
        (true, false) | (false, true) => "\n",
        (false, false) => "\n\n",
    }
}

fn front(title: &str) -> String {
    let quoted = serde_json::Value::from(title);
    format!("---\ntitle: {quoted}\ncategory: execution\nreadMode: optional\n---\n\n")
}

/// The spec that notes go to where none is named.
#[must_use]
pub fn default_name() -> SpecName {
    "learnt".parse().expect("it is a plain name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_known_by_what_it_says() {
        let check = |note: &str, page: &str, expect: bool| {
            let note = Note::parse(note, None).unwrap();
            assert_eq!(says(page, &note), expect, "{note:?} in {page:?}");
        };
        check("WARN: `a.txt` ends with a newline", "# A\n\n- GOTCHA: A.txt ends  with a newline.\n", true);
        check("WARN: a.txt ends with a newline", "a.txt ends with a newline", true);
        check("WARN: a.txt ends with a newline", "- a.txt ends with a newline, too", false);
        check("UTIL: 인증은 `auth()`", "- UTIL: 인증은 auth()", true);
        check("GOTCHA: a < b", "- GOTCHA: a \\< b", true);
        check("GOTCHA: a < b", "- GOTCHA: a > b", false);
        check("GOTCHA: a == b", "- a != b", false);
        check("GOTCHA: x", "", false);
    }

    proptest::proptest! {
        #[test]
        fn what_was_added_is_there(text in "[a-zA-Z한 `*_.,:!<>\\\\\\[\\]#&|=-]{1,40}", page in "([a-z#-]{0,4}\n?){0,4}") {
            let note = Note::parse(&format!("WARN: {text}"), None);
            // A note without a word is not promoted.
            if let Some(note) = note.ok().filter(|note| !normal(&note.text).is_empty()) {
                let added = addition(Some(&page), "", &note, &[], Date::constant(2026, 11, 21));
                proptest::prop_assert!(says(&(page.clone() + &added), &note), "{}", page + &added);
            }
        }
    }
}

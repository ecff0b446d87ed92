//! Builds the one text a builder works from: what to do, what to leave alone, what others did before, and the exact
//! command that submits the work. It has at most [`MAX_PAYLOAD_BYTES`]. If the parts don't fit, they are cut in order
//! of rank, first down to the useful minimum and then, if necessary, to almost nothing. Each says how much is missing
//! and where to find it.

mod sections;

use std::borrow::Cow;

use super::state::{State, TaskState};
use crate::interview::Interview;
use fp_plan::plan::task::Task;
use fp_plan::text::{prompt_lines, prompt_text};

/// Maximum payload in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 8 * 1024;

/// Facts in a payload that come from neither the state nor the leaf.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The user's own words.
    pub goal: &'a str,
    /// The interview, if there was one.
    pub interview: Option<&'a Interview>,
    pub tree: &'a str,
    /// Path of the task's worktree, unless that is the user's checkout.
    pub place: Option<&'a str>,
    /// The words about an earlier attempt's work, if anything is left of it.
    pub earlier: Option<&'a str>,
    /// Path of the file with the conventions and commands of the code base, if there is one.
    pub conventions: Option<&'a str>,
    /// The language for texts that people read, if known.
    pub language: Option<&'a str>,
    /// The section of the project's specs, limited to [`ROOM_FOR_SPECS`]; empty if there are none.
    pub specs: &'a str,
}

/// Bytes of a payload that specs may take.
pub const ROOM_FOR_SPECS: usize = 2048;

/// A heading and the parts below it.
struct Section {
    heading: &'static str,
    parts: Vec<PayloadPart>,
}

/// Builds the payload of `task`, which must be claimed. At most [`MAX_PAYLOAD_BYTES`], as long as each path in `around`
/// has no more than a few hundred bytes.
pub fn payload(state: &State, task: &TaskState, leaf: &Task<'_>, around: &Around<'_>) -> String {
    let mut sections = sections::all(state, task, leaf, around);
    let length = |sections: &[Section]| sections.iter().map(Section::len).sum::<usize>();
    if length(&sections) > MAX_PAYLOAD_BYTES {
        sections[0].parts.push(sections::whole(task, around));
        let mut length = length(&sections);
        let parts = sections.iter_mut().flat_map(|section| &mut section.parts);
        let mut ranked: Vec<&mut PayloadPart> =
            parts.filter(|part| part.rank().is_some()).collect();
        ranked.sort_by_key(|part| part.rank());
        for cut in [PayloadPart::trim, PayloadPart::strip] {
            for part in &mut ranked {
                let mut before = part.len();
                while length > MAX_PAYLOAD_BYTES && cut(part) {
                    length = length + part.len() - before;
                    before = part.len();
                }
            }
        }
    }
    let mut text = String::new();
    sections.iter().for_each(|section| section.write(&mut text));
    text
}

impl Section {
    fn is_empty(&self) -> bool {
        self.parts.iter().all(PayloadPart::is_empty)
    }

    fn len(&self) -> usize {
        let parts: usize = self.parts.iter().map(PayloadPart::len).sum();
        if self.is_empty() {
            0
        } else {
            self.heading.len() + parts
        }
    }

    fn write(&self, text: &mut String) {
        if !self.is_empty() {
            text.push_str(self.heading);
            self.parts.iter().for_each(|part| part.write(text));
        }
    }
}

/// The first seven characters of a commit hash.
pub fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// Lines are cut to this many bytes before whole lines go, and once everything else has gone.
const LONG: usize = 600;
const SHORT: usize = 200;

/// The order in which parts are cut, first to last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Repeats another part of the payload.
    Twice,
    Notes,
    Distant,
    Direct,
    References,
    Hints,
    Feedback,
    Description,
    Guardrails,
    Answers,
    Decisions,
    Commands,
    Goal,
    Boundary,
    Criteria,
    Title,
}

/// The place where lines are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeftOut {
    First,
    Middle,
    Last,
}

/// The way a part is cut.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    pub(super) rank: Rank,
    /// A noun for its lines.
    pub(super) what: &'static str,
    pub(super) left_out: LeftOut,
    /// Number of lines that the first round of cuts keeps.
    pub(super) least: usize,
    /// Number of lines that always stay.
    pub(super) floor: usize,
    /// Tells where to find the whole part.
    pub(super) whole: String,
}

#[derive(Debug, Clone)]
struct Line {
    text: String,
    is_short: bool,
}

/// Lines that belong together.
#[derive(Debug, Clone)]
pub(super) struct PayloadPart {
    bullet: &'static str,
    lines: Vec<Line>,
    cut: Option<Cut>,
    /// Number of lines that were left out.
    gone: usize,
    /// Index at which lines are missing.
    gap: usize,
}

impl PayloadPart {
    /// Lines that are never cut.
    pub(super) fn fixed(bullet: &'static str, lines: Vec<String>) -> Self {
        let line = |text: String| Line {
            text: prompt_text(&text),
            is_short: false,
        };
        Self {
            bullet,
            gap: lines.len(),
            lines: lines.into_iter().map(line).collect(),
            cut: None,
            gone: 0,
        }
    }

    /// Lines that may be cut if the payload is too long.
    pub(super) fn new(bullet: &'static str, lines: Vec<String>, cut: Cut) -> Self {
        Self {
            cut: Some(cut),
            ..Self::fixed(bullet, lines)
        }
    }

    fn rank(&self) -> Option<Rank> {
        self.cut.as_ref().map(|cut| cut.rank)
    }

    fn is_empty(&self) -> bool {
        self.lines.len() + self.gone == 0
    }

    /// Length in bytes.
    fn len(&self) -> usize {
        self.texts()
            .map(|line| self.bullet.len() + line.len() + 1)
            .sum()
    }

    fn write(&self, text: &mut String) {
        self.texts()
            .for_each(|line| text.extend([self.bullet, &line, "\n"]));
    }

    /// The lines, with the one that tells what is missing.
    fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let (before, behind) = self.lines.split_at(self.gap);
        let texts = |lines| <[Line]>::iter(lines).map(|line| Cow::from(&line.text));
        texts(before)
            .chain(self.said().map(Cow::from))
            .chain(texts(behind))
    }

    fn said(&self) -> Option<String> {
        let Cut { what, whole, .. } = self.cut.as_ref()?;
        let short = self.lines.iter().filter(|line| line.is_short).count();
        let is_only = self.lines.len() + self.gone == 1;
        let counts: Vec<String> = [(short, "cut short"), (self.gone, "left out")]
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, how)| match is_only {
                true => how.to_owned(),
                false => format!("{number} {how}"),
            })
            .collect();
        let colon = if is_only { "" } else { ":" };
        (!counts.is_empty()).then(|| format!("({what}{colon} {}; {whole})", counts.join(", ")))
    }

    /// Takes one more line away, or the end of one, down to the useful minimum; false if nothing more can go. A part
    /// the task can't be done without stays whole.
    fn trim(&mut self) -> bool {
        let least = self
            .cut
            .as_ref()
            .filter(|cut| cut.rank < Rank::Boundary)
            .map(|cut| cut.least);
        least.is_some_and(|least| self.shrink(LONG, least))
    }

    /// The same until almost nothing is left.
    fn strip(&mut self) -> bool {
        let floor = self.cut.as_ref().map(|cut| cut.floor);
        floor.is_some_and(|floor| self.shrink(SHORT, floor))
    }

    fn shrink(&mut self, longest: usize, least: usize) -> bool {
        let long = |line: &&mut Line| line.text.len() > longest;
        if let Some(line) = self.lines.iter_mut().rfind(long) {
            line.text = prompt_lines(&line.text, longest);
            line.is_short = true;
            return true;
        }
        let Some(cut) = self.cut.as_ref().filter(|_| self.lines.len() > least) else {
            return false;
        };
        self.gap = match cut.left_out {
            LeftOut::First => 0,
            LeftOut::Middle => self.lines.len() / 2,
            LeftOut::Last => self.lines.len() - 1,
        };
        self.lines.remove(self.gap);
        self.gone += 1;
        true
    }
}

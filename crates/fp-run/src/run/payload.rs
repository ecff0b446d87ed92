//! Builds the one text a builder works from: what to do, what to leave alone, what others did before, and the exact
//! command that submits the work. It has at most [`MAX_PAYLOAD_BYTES`], or more for a large task and a contract. If the parts don't fit,
//! they are cut in order of rank, first down to the useful minimum and then, if necessary, to almost nothing. Each cut
//! part says how much is missing and where to find it.

mod sections;

use std::borrow::Cow;

use super::state::{State, TaskState};
use crate::interview::Interview;
use fp_plan::plan::task::Task;
use fp_plan::text::{prompt_lines, prompt_text};

/// Maximum payload in bytes, and that of a contract or of a task from [`LARGE`] on.
pub const MAX_PAYLOAD_BYTES: usize = 8 * 1024;
pub const MAX_LARGE_PAYLOAD_BYTES: usize = 10 * 1024;
/// Complexity from which a task needs more room.
const LARGE: u32 = 7;

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
    /// What the critic doubted about the task.
    pub doubts: &'a [String],
    /// The text about work left over from an earlier attempt, if any.
    pub earlier: Option<&'a str>,
    /// Path of the file with the conventions and commands of the code base, if there is one.
    pub conventions: Option<&'a str>,
    /// The language for texts that people read, if known.
    pub language: Option<&'a str>,
    /// The section with the project's specs, limited to [`ROOM_FOR_SPECS`]; empty if there are none.
    pub specs: &'a str,
}

/// Maximum bytes of a payload that specs may take.
pub const ROOM_FOR_SPECS: usize = 2048;

/// A heading and the parts below it.
struct Section {
    heading: &'static str,
    parts: Vec<PayloadPart>,
}

/// Builds the payload of `task`, which must be claimed. It has at most its maximum, as long as each path in `around`
/// has no more than a few hundred bytes.
pub fn payload(state: &State, task: &TaskState, leaf: &Task<'_>, around: &Around<'_>) -> String {
    let is_large = task.leaf.contract || task.leaf.complexity >= LARGE;
    let most = [MAX_PAYLOAD_BYTES, MAX_LARGE_PAYLOAD_BYTES][usize::from(is_large)];
    let mut sections = sections::all_sections(state, task, leaf, around);
    let whole_text =
        |sections: &[Section]| sections.iter().map(Section::to_text).collect::<String>();
    let text = whole_text(&sections);
    if text.len() <= most {
        return text;
    }
    sections[0].parts.push(sections::where_whole(task, around));
    let mut length = whole_text(&sections).len();
    let parts = sections.iter_mut().flat_map(|section| &mut section.parts);
    let mut ranked: Vec<&mut PayloadPart> = parts.collect();
    ranked.sort_by_key(|part| part.cut.as_ref().map(|cut| cut.rank));
    for to_the_last in [false, true] {
        for part in &mut ranked {
            let mut before = part.byte_count();
            while length > most && part.shrink(to_the_last) {
                let after = part.byte_count();
                (length, before) = (length + after - before, after);
            }
        }
    }
    whole_text(&sections)
}

impl Section {
    fn to_text(&self) -> String {
        let shown: Vec<&PayloadPart> = self.parts.iter().filter(|part| !part.is_empty()).collect();
        let mut text = shown.first().map_or("", |_| self.heading).to_owned();
        for part in shown {
            part.texts()
                .for_each(|line| text.extend([part.bullet, &line, "\n"]));
        }
        text
    }
}

/// The first seven characters of a commit hash.
pub fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// Lines are cut to `LONG` bytes in the first round of cuts, before whole lines go, and to `SHORT` in the last.
const LONG: usize = 600;
const SHORT: usize = 200;

/// The order in which parts are cut, first to last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Repeats another part of the payload.
    Twice,
    Notes,
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

impl Rank {
    /// The number of lines that the first round of cuts keeps, and the number that is never removed. A part that the
    /// task can't be done without stays whole in the first round.
    fn kept_lines(self) -> (usize, usize) {
        match self {
            Self::Twice => (0, 0),
            Self::Notes | Self::Answers => (2, 0),
            Self::Direct => (usize::MAX, 0),
            Self::Feedback => (12, 6),
            Self::References | Self::Hints | Self::Description => (5, 0),
            Self::Guardrails | Self::Decisions | Self::Commands => (5, 0),
            Self::Goal | Self::Boundary | Self::Criteria | Self::Title => (5, 1),
        }
    }

    /// The index of the next line to remove out of `count`. For notes and answers, that is the oldest; for feedback,
    /// which begins with the most important lines and ends with the last output, the middle; otherwise the last.
    fn next_gap(self, count: usize) -> usize {
        match self {
            Self::Notes | Self::Answers => 0,
            Self::Feedback => count / 2,
            _ => count - 1,
        }
    }
}

#[derive(Debug, Clone)]
struct Cut {
    rank: Rank,
    /// Noun for the part's lines if some are missing.
    what: &'static str,
    /// Tells where to find the whole part.
    whole: String,
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
    pub(super) fn fixed(
        bullet: &'static str,
        lines: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        let lines = lines.into_iter().map(|text| Line {
            text: prompt_text(text.as_ref()),
            is_short: false,
        });
        let lines: Vec<Line> = lines.collect();
        Self {
            bullet,
            gap: lines.len(),
            lines,
            cut: None,
            gone: 0,
        }
    }

    /// Lines that may be cut if the payload is too long.
    pub(super) fn new(
        bullet: &'static str,
        lines: impl IntoIterator<Item = impl AsRef<str>>,
        rank: Rank,
        what: &'static str,
        whole: &str,
    ) -> Self {
        let whole = whole.to_owned();
        Self {
            cut: Some(Cut { rank, what, whole }),
            ..Self::fixed(bullet, lines)
        }
    }

    fn is_empty(&self) -> bool {
        self.lines.len() + self.gone == 0
    }

    fn byte_count(&self) -> usize {
        self.texts()
            .map(|line| self.bullet.len() + line.len() + 1)
            .sum()
    }

    /// The lines, including the one that says what is missing, if any.
    fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let (before, behind) = self.lines.split_at(self.gap);
        let texts = |lines| <[Line]>::iter(lines).map(|line| Cow::from(&line.text));
        let missing = self.missing_line().map(Cow::from);
        texts(before).chain(missing).chain(texts(behind))
    }

    fn missing_line(&self) -> Option<String> {
        let Cut { what, whole, .. } = self.cut.as_ref()?;
        let short = self.lines.iter().filter(|line| line.is_short).count();
        let is_only = self.lines.len() + self.gone == 1;
        let counts = [(short, "cut short"), (self.gone, "left out")];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, how)| match is_only {
                true => (*how).to_owned(),
                false => format!("{number} {how}"),
            })
            .collect();
        let colon = if is_only { "" } else { ":" };
        (!counts.is_empty()).then(|| format!("({what}{colon} {}; {whole})", counts.join(", ")))
    }

    /// Removes one line or shortens one, down to the useful minimum, or to almost nothing if `to_the_last`. Returns
    /// false if nothing more can go.
    fn shrink(&mut self, to_the_last: bool) -> bool {
        let Some(rank) = self.cut.as_ref().map(|cut| cut.rank) else {
            return false;
        };
        let (useful, last) = rank.kept_lines();
        let (longest, least) = match to_the_last {
            true => (SHORT, last),
            false if rank >= Rank::Boundary => return false,
            false => (LONG, useful),
        };
        let is_long = |line: &&mut Line| line.text.len() > longest;
        if let Some(line) = self.lines.iter_mut().rfind(is_long) {
            line.text = prompt_lines(&line.text, longest);
            line.is_short = true;
        } else if self.lines.len() > least {
            self.gap = rank.next_gap(self.lines.len());
            self.lines.remove(self.gap);
            self.gone += 1;
        } else {
            return false;
        }
        true
    }
}

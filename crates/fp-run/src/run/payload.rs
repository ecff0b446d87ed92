//! Builds the one text a builder works from: what to do, what to leave alone, what others did before, and the exact
//! command that submits the work. It has at most [`MAX_PAYLOAD_BYTES`]. If the parts don't fit, they are cut in order
//! of rank, first down to the useful minimum and then, if necessary, to almost nothing. Each says how much is missing
//! and where to find it.

mod sections;

use super::state::{State, TaskState};
use crate::interview::Interview;
use fp_plan::plan::task::Task;
use fp_plan::text::prompt_text;

/// Maximum payload in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 8 * 1024;

/// Facts in a payload that come from neither the state nor the leaf.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The user's own words.
    pub goal: &'a str,
    /// The interview, if there was one.
    pub interview: Option<&'a Interview>,
    /// The task's references, with their places as they are now.
    pub references: &'a [String],
    pub tree: &'a str,
    /// Path of the task's worktree, unless that is the user's checkout.
    pub place: Option<&'a str>,
    /// The words about an earlier attempt's work, if anything is left of it.
    pub earlier: Option<&'a str>,
    /// Path of the file with the conventions and commands of the code base, if there is one.
    pub conventions: Option<&'a str>,
    /// The language for texts that people read, if known.
    pub language: Option<&'a str>,
    /// The section of the project's specs, limited to [`room_for_specs`]; empty if there are none.
    pub specs: &'a str,
}

/// Bytes of the payload of `task` that its specs may take: half of the room CONTEXT would have without them.
pub fn room_for_specs(
    state: &State,
    task: &TaskState,
    leaf: &Task<'_>,
    around: &Around<'_>,
) -> usize {
    let sections = sections::all(
        state,
        task,
        leaf,
        &Around {
            specs: "",
            ..*around
        },
    );
    let fixed = sections
        .iter()
        .filter(|section| section.heading != sections::CONTEXT);
    MAX_PAYLOAD_BYTES.saturating_sub(fixed.map(Section::len).sum()) / 2
}

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
        let mut excess = length(&sections).saturating_sub(MAX_PAYLOAD_BYTES);
        let parts = sections.iter_mut().flat_map(|section| &mut section.parts);
        let mut ranked: Vec<&mut PayloadPart> =
            parts.filter(|part| part.rank().is_some()).collect();
        ranked.sort_by_key(|part| part.rank());
        for cut in [PayloadPart::trim, PayloadPart::strip] {
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

/// Lines are shortened to this many bytes before whole lines go.
const LONG: usize = 600;
/// Lines are shortened to this many bytes once everything else has gone.
const SHORT: usize = 200;
/// Maximum distance in bytes between a cut and a preceding blank. Cutting at the blank keeps words and paths whole.
const WORD: usize = 80;

/// The order in which parts are cut, first to last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Repeats another part of the payload.
    Twice,
    Notes,
    Messages,
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

/// The place where lines, and text within a line, are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// Drops the first lines; shortens a line at its end.
    Beginning,
    /// Keeps head and tail.
    Middle,
    /// Drops the last lines; shortens a line at its end.
    End,
}

/// The way a part is cut.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    pub(super) rank: Rank,
    /// A noun for its lines.
    pub(super) what: &'static str,
    pub(super) at: At,
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
    /// Number of lines before any cut.
    count: usize,
    /// Index at which lines are missing.
    gap: usize,
}

impl PayloadPart {
    /// Lines that are never cut.
    pub(super) fn fixed(bullet: &'static str, lines: Vec<String>) -> Self {
        let lines: Vec<Line> = lines
            .into_iter()
            .map(|text| Line {
                text: prompt_text(&text),
                is_short: false,
            })
            .collect();
        Self {
            bullet,
            count: lines.len(),
            gap: lines.len(),
            lines,
            cut: None,
        }
    }

    /// Lines that may be cut if the payload is too long.
    pub(super) fn new(bullet: &'static str, lines: Vec<String>, cut: Cut) -> Self {
        let part = Self::fixed(bullet, lines);
        let gap = if cut.at == At::Beginning { 0 } else { part.gap };
        Self {
            cut: Some(cut),
            gap,
            ..part
        }
    }

    /// Counts `more` lines as left out already.
    pub(super) fn without(mut self, more: usize) -> Self {
        self.count += more;
        self
    }

    pub(super) fn rank(&self) -> Option<Rank> {
        self.cut.as_ref().map(|cut| cut.rank)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Length in bytes.
    pub(super) fn len(&self) -> usize {
        let lines: usize = self.lines.iter().map(|line| self.length(&line.text)).sum();
        lines
            + self
                .said(self.lines.len(), self.shortened())
                .map_or(0, |said| self.length(&said))
    }

    pub(super) fn write(&self, text: &mut String) {
        let said = self.said(self.lines.len(), self.shortened());
        let (before, behind) = self.lines.split_at(self.gap);
        let texts = |lines| <[Line]>::iter(lines).map(|line| &line.text);
        for line in texts(before).chain(&said).chain(texts(behind)) {
            text.extend([self.bullet, line, "\n"]);
        }
    }

    fn length(&self, line: &str) -> usize {
        self.bullet.len() + line.len() + 1
    }

    fn shortened(&self) -> usize {
        self.lines.iter().filter(|line| line.is_short).count()
    }

    /// The line that tells what is missing when `left` lines remain, `shortened` of them cut short.
    fn said(&self, left: usize, shortened: usize) -> Option<String> {
        let Cut { what, whole, .. } = self.cut.as_ref()?;
        let counts: Vec<String> = [(shortened, "cut short"), (self.count - left, "left out")]
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, how)| {
                if self.count == 1 {
                    how.to_owned()
                } else {
                    format!("{number} {how}")
                }
            })
            .collect();
        let colon = if self.count == 1 { "" } else { ":" };
        (!counts.is_empty()).then(|| format!("({what}{colon} {}; {whole})", counts.join(", ")))
    }

    /// Cuts the part towards `room` bytes, but keeps its useful minimum. A part the task can't be done without stays
    /// whole.
    pub(super) fn trim(&mut self, room: usize) {
        let Some(Cut {
            rank, at, least, ..
        }) = self.cut
        else {
            return;
        };
        if rank < Rank::Boundary {
            self.shorten(at, LONG, room);
            self.take_away(at, least, room);
        }
    }

    /// Cuts the part to `room` bytes, or until almost nothing is left.
    pub(super) fn strip(&mut self, room: usize) {
        let Some(Cut { at, floor, .. }) = self.cut else {
            return;
        };
        self.shorten(at, SHORT, room);
        self.take_away(at, floor, room);
    }

    /// Shortens lines to no less than `least` bytes each, until the part fits.
    fn shorten(&mut self, at: At, least: usize, room: usize) {
        let mut length = self.len();
        for i in outward(self.lines.len(), at) {
            if length <= room {
                return;
            }
            if self.lines[i].text.len() <= least {
                continue;
            }
            self.lines[i].is_short = true;
            // The note about the cut takes room as well.
            let excess = self.len() - room;
            let wanted = self.lines[i].text.len().saturating_sub(excess).max(least);
            self.lines[i].text = shortened(&self.lines[i].text, wanted, at);
            length = self.len();
        }
    }

    /// Drops whole lines until the part fits or `least` lines are left.
    fn take_away(&mut self, at: At, least: usize, room: usize) {
        if self.len() <= room {
            return;
        }
        let mut left = self.lines.len();
        let mut shortened = self.shortened();
        let mut length: usize = self.lines.iter().map(|line| self.length(&line.text)).sum();
        let mut gone = self.gap.min(left)..self.gap.min(left);
        if at == At::Middle && self.count == left {
            gone = left / 2..left / 2;
        }
        while left > least {
            let said = self
                .said(left, shortened)
                .map_or(0, |said| self.length(&said));
            if length + said <= room {
                break;
            }
            let upwards = gone.end == self.lines.len() || gone.start > self.lines.len() - gone.end;
            let next = if upwards { gone.start - 1 } else { gone.end };
            gone = gone.start.min(next)..gone.end.max(next + 1);
            length -= self.length(&self.lines[next].text);
            shortened -= usize::from(self.lines[next].is_short);
            left -= 1;
        }
        self.gap = gone.start;
        self.lines.drain(gone);
    }
}

/// The indexes of `count` lines in the order in which they are cut.
fn outward(count: usize, at: At) -> Vec<usize> {
    match at {
        At::Beginning => (0..count).collect(),
        At::End => (0..count).rev().collect(),
        At::Middle => {
            let mut all: Vec<usize> = (0..count).collect();
            all.sort_by_key(|i| (2 * i + 1).abs_diff(count));
            all
        }
    }
}

/// Returns `text` in at most `room` bytes, with an ellipsis at the cut.
fn shortened(text: &str, room: usize, at: At) -> String {
    const SIGN: &str = " … ";
    let room = room.saturating_sub(SIGN.len());
    match at {
        At::Middle => {
            let (head, tail) = (head(text, room - room / 2), tail(text, room / 2));
            format!("{head}{SIGN}{tail}")
        }
        At::Beginning | At::End => format!("{} …", head(text, room)),
    }
}

/// The start of `text`, at most `room` bytes, ending at a nearby blank if there is one.
fn head(text: &str, room: usize) -> &str {
    let mut end = room.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let cut = &text[..end];
    let blank = cut
        .rfind(' ')
        .filter(|blank| *blank > 0 && end - blank <= WORD);
    &cut[..blank.unwrap_or(end)]
}

/// The end of `text`, at most `room` bytes, starting after a nearby blank if there is one.
fn tail(text: &str, room: usize) -> &str {
    let mut start = text.len().saturating_sub(room);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let cut = &text[start..];
    let blank = cut.find(' ').filter(|blank| *blank < WORD);
    &cut[blank.map_or(0, |blank| blank + 1)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(lines: &[&str], at: At, least: usize) -> PayloadPart {
        let cut = Cut {
            rank: Rank::Hints,
            what: "hints",
            at,
            least,
            floor: 0,
            whole: "see tasks.md".to_owned(),
        };
        PayloadPart::new(
            "- ",
            lines.iter().map(|line| (*line).to_owned()).collect(),
            cut,
        )
    }

    fn shrunk(mut part: PayloadPart, room: usize) -> String {
        part.trim(room);
        part.strip(room);
        let mut text = String::new();
        part.write(&mut text);
        assert_eq!(text.len(), part.len(), "what it takes is known");
        text
    }

    #[test]
    fn lines_go_where_the_part_says() {
        let lines = ["1", "2", "3", "4", "5"].map(|digit| digit.repeat(30));
        let lines = lines.each_ref().map(String::as_str);
        let [one, two, _, four, five] = lines;
        let said = "(hints: 3 left out; see tasks.md)";
        let check = |at: At, expect: [&str; 3]| {
            let expect: String = expect.iter().map(|line| format!("- {line}\n")).collect();
            assert_eq!(shrunk(part(&lines, at, 0), 105), expect, "{at:?}");
        };
        check(At::End, [one, two, said]);
        check(At::Beginning, [said, four, five]);
        check(At::Middle, [one, said, five]);
        assert_eq!(
            shrunk(part(&lines, At::End, 0), 165).len(),
            165,
            "what fits stays"
        );
        assert_eq!(
            shrunk(part(&lines[..1], At::End, 0), 0),
            "- (hints left out; see tasks.md)\n"
        );
    }

    #[test]
    fn a_long_line_goes_in_part_before_short_ones_go_as_a_whole() {
        let long = "word ".repeat(400);
        let text = shrunk(part(&[&long, "short"], At::End, 1), 800);
        assert!(text.len() <= 800 && text.len() > 700, "{}", text.len());
        assert!(
            text.ends_with("word …\n- short\n- (hints: 1 cut short; see tasks.md)\n"),
            "{text}"
        );
    }

    #[test]
    fn a_cut_is_at_a_blank_and_never_within_a_character() {
        assert_eq!(
            shortened("src/a.rs, src/b.rs, src/c.rs", 26, At::End),
            "src/a.rs, src/b.rs, …"
        );
        assert_eq!(
            shortened("src/a.rs, src/b.rs, src/c.rs, src/d.rs", 36, At::Middle),
            "src/a.rs, … src/d.rs"
        );
        let korean = "가".repeat(1000);
        for room in 200..210 {
            for at in [At::Middle, At::End] {
                let cut = shortened(&korean, room, at);
                assert!(
                    cut.len() <= room && cut.len() > room - 10,
                    "{room}: {}",
                    cut.len()
                );
            }
        }
    }
}

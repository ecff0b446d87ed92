//! Finds the comments that an edit added, by comparing the file before and after it. Some editors send the whole file
//! before the edit; others send only the edit, so the file on disk is needed too.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::{MAX_BYTES, SourceComment};

/// One replacement of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextReplacement<'e> {
    /// The text to replace; empty if the file was empty.
    pub old: &'e str,
    /// The text that replaces it.
    pub new: &'e str,
    /// True if it replaces every occurrence, not just the first.
    pub everywhere: bool,
}

/// How an edit changed a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditAction<'e> {
    /// The whole file was written.
    Written(&'e str),
    /// Parts of the file were replaced, one after the other.
    Replaced(Vec<TextReplacement<'e>>),
}

/// A completed edit of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit<'e> {
    /// The change itself.
    pub action: EditAction<'e>,
    /// The file before the edit, empty for a new file; `None` if the editor doesn't say.
    pub original: Option<&'e str>,
    /// True if the user changed the edit before it was applied, so that only the file on disk has the result.
    pub changed_by_user: bool,
}

/// A text before and after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditTexts {
    /// The text before the edit.
    pub before: String,
    /// The text after the edit.
    pub after: String,
    /// True if both are only parts of a file, cut at arbitrary points.
    pub fragments: bool,
}

impl FileEdit<'_> {
    /// The texts before and after the edit. `on_disk` reads the current file, and is called only if the editor didn't send
    /// enough.
    #[must_use]
    pub fn read_texts(&self, on_disk: impl FnOnce() -> Option<String>) -> EditTexts {
        let original = self.original.map(str::to_owned);
        let (replacements, whole) = match &self.action {
            EditAction::Written(content) => {
                let before = original.unwrap_or_default();
                (&[][..], Some((before, (*content).to_owned())))
            }
            EditAction::Replaced(replacements) => {
                let whole = match original {
                    Some(before) if self.changed_by_user => on_disk().map(|after| (before, after)),
                    Some(before) => replaced_text(&before, replacements)
                        .or_else(on_disk)
                        .map(|after| (before, after)),
                    None => on_disk()
                        .and_then(|after| Some((original_text(&after, replacements)?, after))),
                };
                (&replacements[..], whole)
            }
        };
        let fragments = whole.is_none();
        let (before, after) = whole.unwrap_or_else(|| {
            let old: Vec<&str> = replacements.iter().map(|part| part.old).collect();
            let new: Vec<&str> = replacements.iter().map(|part| part.new).collect();
            (old.join("\n"), new.join("\n"))
        });
        EditTexts {
            before,
            after,
            fragments,
        }
    }
}

/// `text` with the replacements applied; `None` if one of them doesn't apply.
fn replaced_text(text: &str, replacements: &[TextReplacement<'_>]) -> Option<String> {
    let replaced = |text: String, part: &TextReplacement<'_>| match part.old {
        "" => text.is_empty().then(|| part.new.to_owned()),
        old => exchange(&text, old, part.new, part.everywhere),
    };
    replacements.iter().try_fold(text.to_owned(), replaced)
}

/// Undoes the replacements that produced `text`; `None` if the result of one of them isn't found.
fn original_text(text: &str, replacements: &[TextReplacement<'_>]) -> Option<String> {
    let original = |text: String, part: &TextReplacement<'_>| match part.new {
        // A deletion adds no comments, so it doesn't matter where it was.
        "" => Some(text),
        new => exchange(&text, new, part.old, part.everywhere),
    };
    replacements
        .iter()
        .rev()
        .try_fold(text.to_owned(), original)
}

/// `text` with `old` replaced by `new`; `None` if it doesn't contain `old`, or if the result would be too long to
/// check.
fn exchange(text: &str, old: &str, new: &str, everywhere: bool) -> Option<String> {
    let most = if everywhere { usize::MAX } else { 1 };
    let times = text.matches(old).take(most).count();
    let grown = text.len().saturating_add(new.len().saturating_mul(times));
    (times > 0 && grown <= 2 * MAX_BYTES).then(|| text.replacen(old, new, times))
}

/// Minimum percentage of equal words for a comment to count as an edited form of another.
const SAME_WORDS: usize = 70;

/// Maximum number of comment pairs to compare word by word; an edit with more counts as new text.
const MAX_PAIRS: usize = 100_000;

/// Maximum number of word pairs to compare; comments left over after that count as new.
const MAX_WORD_PAIRS: usize = 4_000_000;

/// For each comment in `after`, true if it is new. A comment that was only moved, indented, wrapped or changed by a few
/// words isn't new. If a comment occurs once before the edit and twice after it, the second one is new.
#[must_use]
pub fn added_comments(before: &[SourceComment<'_>], after: &[SourceComment<'_>]) -> Vec<bool> {
    // Most of a file is unchanged, so only the part that differs goes into the map.
    let (head, old, new) = differing_parts(before, after, |old, new| old.text == new.text);
    let mut added = vec![false; after.len()];
    let changed = &mut added[head..head + new.len()];
    if old.is_empty() {
        changed.fill(true);
        return added;
    }
    let mut there: HashMap<Cow<'_, str>, Vec<usize>> = HashMap::new();
    for (at, comment) in old.iter().enumerate().rev() {
        there.entry(comment.normalized_text()).or_default().push(at);
    }
    let mut gone = vec![true; old.len()];
    for (is_new, comment) in changed.iter_mut().zip(new) {
        match there.get_mut(&comment.normalized_text()).and_then(Vec::pop) {
            Some(at) => gone[at] = false,
            None => *is_new = true,
        }
    }
    forgive_edits(old, &mut gone, new, changed, adjacent_runs);
    forgive_edits(old, &mut gone, new, changed, single_runs);
    added
}

/// The length of the common prefix, and both lists without their common prefix and suffix.
fn differing_parts<'a, T>(
    one: &'a [T],
    other: &'a [T],
    are_same: impl Fn(&T, &T) -> bool,
) -> (usize, &'a [T], &'a [T]) {
    let is_same = |(one, other): &(&T, &T)| are_same(one, other);
    let head = one.iter().zip(other).take_while(is_same).count();
    let (one, other) = (&one[head..], &other[head..]);
    let ends = one.iter().rev().zip(other.iter().rev());
    let tail = ends.take_while(is_same).count();
    (head, &one[..one.len() - tail], &other[..other.len() - tail])
}

type Runs = Vec<Range<usize>>;

/// For each added comment that is an edited form of a `gone` one, clears the flags of both. `cut` groups each side's
/// flagged comments for the comparison.
fn forgive_edits(
    old: &[SourceComment<'_>],
    gone: &mut [bool],
    new: &[SourceComment<'_>],
    added: &mut [bool],
    cut: fn(&[SourceComment<'_>], &[bool]) -> Runs,
) {
    let (left, wanted) = (cut(old, gone), cut(new, added));
    if left.is_empty() || left.len().saturating_mul(wanted.len()) > MAX_PAIRS {
        return;
    }
    let words =
        |comments: &[SourceComment<'_>]| comments.iter().flat_map(words_of).collect::<Vec<_>>();
    let mut room = MAX_WORD_PAIRS;
    let mut left: Vec<_> = left
        .into_iter()
        .map(|run| Some((words(&old[run.clone()]), run)))
        .collect();
    for run in wanted {
        let own = words(&new[run.clone()]);
        let mut is_twin = |words: &[String]| {
            let pairs = words.len().min(MAX_WORDS) * own.len().min(MAX_WORDS);
            room = room.saturating_sub(pairs.max(words.len()).max(own.len()));
            room > 0 && are_alike(words, &own)
        };
        let twin = left
            .iter_mut()
            .find(|l| l.as_ref().is_some_and(|(words, _)| is_twin(words)));
        if let Some((_, from)) = twin.and_then(Option::take) {
            gone[from].fill(false);
            added[run].fill(false);
        }
    }
}

fn single_runs(_: &[SourceComment<'_>], flags: &[bool]) -> Runs {
    flags
        .iter()
        .enumerate()
        .filter(|(_, is)| **is)
        .map(|(at, _)| at..at + 1)
        .collect()
}

/// Runs of flagged comments on adjacent lines.
fn adjacent_runs(comments: &[SourceComment<'_>], flags: &[bool]) -> Runs {
    let mut runs: Runs = Vec::new();
    for at in (0..comments.len()).filter(|at| flags[*at]) {
        match runs.last_mut() {
            Some(run) if run.end == at && comments[at].line <= comments[at - 1].line + 1 => {
                run.end += 1
            }
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

fn words_of(comment: &SourceComment<'_>) -> Vec<String> {
    let said = comment.normalized_text();
    let words = said
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Longest changed part, in words, that is compared word by word.
const MAX_WORDS: usize = 400;

/// True if most words of the two are equal, counting each repetition, or if the two differ only in word boundaries.
fn are_alike(a: &[String], b: &[String]) -> bool {
    if !a.is_empty() && a.concat() == b.concat() {
        return true;
    }
    let total = a.len() + b.len();
    if a.len().min(b.len()) * 200 < total * SAME_WORDS {
        return false;
    }
    let (_, a, b) = differing_parts(a, b, |a, b| a == b);
    let mut common = (total - a.len() - b.len()) / 2;
    if a.len().max(b.len()) > MAX_WORDS {
        return common * 200 >= total * SAME_WORDS;
    }
    let mut rest: Vec<&String> = b.iter().collect();
    for word in a {
        let equal = rest.iter().position(|other| *other == word);
        if let Some(at) = equal.or_else(|| rest.iter().position(|other| is_slip(word, other))) {
            rest.swap_remove(at);
            common += 1;
        }
    }
    common * 200 >= total * SAME_WORDS
}

/// True if one word is the other with a typo: two letters swapped; one letter added, dropped or changed, in a word too
/// long for that to make a different word; or several letters changed in a long word with the same beginning.
fn is_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    if short < 3 || long - short > 2 || a.iter().chain(&b).any(char::is_ascii_digit) {
        return false;
    }
    let (head, a, b) = differing_parts(&a, &b, |a, b| a == b);
    let common = long - a.len().max(b.len());
    matches!((a, b), ([a, b], [c, d]) if a == d && b == c)
        || (short >= 4 && a.len().max(b.len()) <= 1)
        || (short >= 8 && head >= 3 && common * 3 >= long * 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CommentKind;

    fn edit<'e>(old: &'e str, new: &'e str, original: Option<&'e str>) -> FileEdit<'e> {
        let action = EditAction::Replaced(vec![TextReplacement {
            old,
            new,
            everywhere: false,
        }]);
        FileEdit {
            action,
            original,
            changed_by_user: false,
        }
    }

    fn texts(edit: &FileEdit<'_>, disk: Option<&str>) -> (String, String, bool) {
        let texts = edit.read_texts(|| disk.map(str::to_owned));
        (texts.before, texts.after, texts.fragments)
    }

    fn expect(before: &str, after: &str, fragments: bool) -> (String, String, bool) {
        (before.to_owned(), after.to_owned(), fragments)
    }

    #[test]
    fn the_whole_file_where_the_client_sends_it() {
        let known = Some("a\nb\na\n");
        assert_eq!(
            texts(&edit("a", "x", known), None),
            expect("a\nb\na\n", "x\nb\na\n", false)
        );
        let everywhere = EditAction::Replaced(vec![TextReplacement {
            old: "a",
            new: "x",
            everywhere: true,
        }]);
        let edit = FileEdit {
            action: everywhere,
            ..edit("", "", known)
        };
        assert_eq!(texts(&edit, None), expect("a\nb\na\n", "x\nb\nx\n", false));
        let two = ["a", "x"].map(|old| TextReplacement {
            old,
            new: "y",
            everywhere: false,
        });
        let edit = FileEdit {
            action: EditAction::Replaced(two.into()),
            ..edit
        };
        assert_eq!(
            texts(&edit, Some("disk")),
            expect("a\nb\na\n", "disk", false),
            "the second finds nothing"
        );
        let written = FileEdit {
            action: EditAction::Written("new"),
            original: Some(""),
            ..edit
        };
        assert_eq!(texts(&written, None), expect("", "new", false));
    }

    #[test]
    fn the_disk_where_the_edit_does_not_fit() {
        let quotes = edit("“a”", "x", Some("\"a\"\nb\n"));
        assert_eq!(
            texts(&quotes, Some("x\nb\n")),
            expect("\"a\"\nb\n", "x\nb\n", false)
        );
        assert_eq!(texts(&quotes, None), expect("“a”", "x", true));
        let changed = FileEdit {
            changed_by_user: true,
            ..edit("a", "q", Some("a\nb\n"))
        };
        assert_eq!(
            texts(&changed, Some("// x\na2\nb\n")),
            expect("a\nb\n", "// x\na2\nb\n", false)
        );
    }

    #[test]
    fn the_disk_and_then_the_fragment_where_the_client_is_old() {
        let old = edit("a", "// x\na", None);
        assert_eq!(
            texts(&old, Some("b\n// x\na\n")),
            expect("b\na\n", "b\n// x\na\n", false)
        );
        assert_eq!(texts(&old, Some("b\n")), expect("a", "// x\na", true));
        assert_eq!(texts(&old, None), expect("a", "// x\na", true));
        let gone = edit("// x\n", "", None);
        assert_eq!(texts(&gone, Some("a\n")), expect("a\n", "a\n", false));
    }

    /// Each line that begins with `//`, as a comment.
    fn comments(text: &str) -> Vec<SourceComment<'_>> {
        let mut at = 0;
        let mut comments = Vec::new();
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let start = at + line.len() - line.trim_start().len();
            let text = line.trim();
            if text.starts_with("//") {
                let span = start..start + text.len();
                comments.push(SourceComment {
                    kind: CommentKind::Line,
                    span,
                    line: number + 1,
                    column: 0,
                    text,
                    trails: false,
                });
            }
            at += line.len();
        }
        comments
    }

    #[test]
    fn what_is_added() {
        let check = |before: &str, after: &str, expect: &[usize]| {
            let after = comments(after);
            let flags = added_comments(&comments(before), &after);
            let lines: Vec<usize> = after
                .iter()
                .zip(flags)
                .filter(|(_, is)| *is)
                .map(|(comment, _)| comment.line)
                .collect();
            assert_eq!(lines, expect, "{before:?} -> {lines:?}");
        };
        check("", "// a\nx\n// b", &[1, 3]);
        check("// a\nx", "// a\ny", &[]);
        check("x\n// then b\nb", "// then b\nb\nx", &[]);
        check("// go\ngo()", "if ok {\n    //   go\n    go()\n}", &[]);
        check("// a\n// b", "// b\n// a", &[]);
        check("// a\nx\ny", "// a\nx\n// a\ny", &[3]);
        check("// compute total", "// compute the total", &[]);
        check("// recieve a message", "// receive a message", &[]);
        check("// Return teh value", "// Return the value", &[]);
        check("// dont close", "// don't close", &[]);
        check("// re-use alot", "// reuse a lot", &[]);
        check("// succesfull login", "// successful login", &[]);
        check("// increment counter", "// decrement counter", &[1]);
        check("// read all", "// real ale", &[1]);
        check("// call a", "// call b", &[1]);
        check("// set x to 1", "// set y to 2", &[1]);
        check("// version 1234 of it", "// version 1235 of it", &[]);
        check("// call a", "// write everything to the disk", &[1]);
        check(
            "// one two three\n// four five six",
            "// one two\n// three four\n// five six",
            &[],
        );
        check(
            "// a b c d e f",
            "// a b c d e f\n// and much more of it",
            &[2],
        );
        check(
            "// a b c d e f",
            "// a b c d e f g\nx\n// a b c d e f h",
            &[3],
        );
    }

    #[test]
    fn a_word_in_a_long_comment() {
        let words: String = (0..1000).map(|n| format!("word{n} ")).collect();
        let (before, after) = (
            format!("// {words}"),
            format!("// {}", words.replace("word500 ", "other ")),
        );
        assert_eq!(
            added_comments(&comments(&before), &comments(&after)),
            [false]
        );
        let other: String = (0..1000).map(|n| format!("thing{n} ")).collect();
        assert_eq!(
            added_comments(&comments(&before), &comments(&format!("// {other}"))),
            [true]
        );
    }

    #[test]
    fn many_comments_are_quick() {
        let text =
            |word: &str| -> String { (0..20_000).map(|n| format!("// {word} {n}\n")).collect() };
        let (before, after) = (text("old"), text("new"));
        assert!(
            added_comments(&comments(&before), &comments(&after))
                .iter()
                .all(|is| *is)
        );
    }
}

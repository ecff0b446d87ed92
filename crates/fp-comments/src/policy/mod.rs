//! Asking an author about every new comment would annoy, so this excludes the ones that are not remarks:
//! documentation, directives, licences, marks for tools or for readers of tests, and tasks with a tracked
//! issue. Whether a remark restates the code is for the author to judge.

mod directives;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::{CommentKind, SourceComment, SourceFile, head};

/// Longest text of a remark, in bytes.
const MAX_TEXT: usize = 200;

/// Most bytes of a line of code, and of a comment, in which something with a meaning for tools is looked for. Many
/// comments can share a line, and each looks at it.
const MAX_CODE: usize = 200;
const MAX_DIRECTIVE: usize = 2000;

/// Most comments of an edit that are judged. No author answers for more.
const MAX_JUDGED: usize = 10_000;

/// Comments on adjacent lines that form one question to the author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentRemark {
    /// Number of its first line, from 1.
    pub line: usize,
    /// The beginning of its text on one line, with the marks of its first comment.
    pub text: String,
}

/// The remarks among the `added` ones of the `comments` of `text`, the content of `file`.
pub(super) fn remarks(
    file: SourceFile<'_>,
    text: &str,
    comments: &[SourceComment<'_>],
    added: &[bool],
) -> Vec<CommentRemark> {
    let columns = columns(text, comments);
    let folds = OnceCell::new();
    let file = RemarkedFile {
        path: file.path,
        text,
        in_test: file.is_test,
        columns: &columns,
        folds,
    };
    let mut remarks = Vec::new();
    let (mut start, mut room) = (0, MAX_JUDGED);
    while start < comments.len() && room > 0 {
        let end = start + block_length(&comments[start..], &columns[start..]);
        if added[start..end].contains(&true) {
            let judged = start..end.min(start + room);
            room -= judged.len();
            file.block(
                &comments[judged.clone()],
                &added[judged],
                start,
                &mut remarks,
            );
        }
        start = end;
    }
    remarks
}

/// Number of comments, from the first on, that are on adjacent lines of their own in the same column.
fn block_length(comments: &[SourceComment<'_>], columns: &[usize]) -> usize {
    let joins = |(pair, columns): (&[SourceComment<'_>], &[usize])| {
        let [above, below] = pair else { return false };
        let is_alone = |c: &SourceComment<'_>| c.kind == CommentKind::Line && !c.trails;
        is_alone(above)
            && is_alone(below)
            && below.line == above.line + 1
            && columns[0] == columns[1]
    };
    1 + comments
        .windows(2)
        .zip(columns.windows(2))
        .take_while(|pair| joins(*pair))
        .count()
}

/// The column of each comment, from one look at the text.
fn columns(text: &str, comments: &[SourceComment<'_>]) -> Vec<usize> {
    let (mut line, mut seen) = (0, 0);
    let column = |comment: &SourceComment<'_>| {
        let start = comment.span.start;
        line = text[seen..start]
            .rfind('\n')
            .map_or(line, |newline| seen + newline + 1);
        seen = start;
        start - line
    };
    comments.iter().map(column).collect()
}

struct RemarkedFile<'a> {
    path: &'a str,
    text: &'a str,
    in_test: bool,
    /// The column of each comment.
    columns: &'a [usize],
    /// True if a fold of an editor ends in the text.
    folds: OnceCell<bool>,
}

impl RemarkedFile<'_> {
    /// Adds the remarks of one block of adjacent comments; the first of them is number `offset`.
    fn block(
        &self,
        comments: &[SourceComment<'_>],
        added: &[bool],
        offset: usize,
        remarks: &mut Vec<CommentRemark>,
    ) {
        if comments[0].kind == CommentKind::Doc {
            return;
        }
        let said: Vec<Cow<'_, str>> = comments.iter().map(SourceComment::said).collect();
        if self.is_exempt(comments, &said) {
            return;
        }
        let data = directives::data(&said);
        let mut belongs = false;
        let mut open = false;
        for (at, comment) in comments.iter().enumerate() {
            let text = said[at].as_ref();
            let is_empty = !text.contains(char::is_alphanumeric);
            let tracked = (!is_empty).then(|| self.tracked(&said[at..])).flatten();
            let is_directive = tracked.is_none()
                && directives::is_directive(
                    head(comment.text.trim(), MAX_DIRECTIVE),
                    head(text, MAX_DIRECTIVE),
                    self.path,
                );
            belongs = match tracked {
                _ if is_empty => false,
                Some(tracked) => tracked,
                None if is_directive => directives::has_reason(text),
                None => belongs,
            };
            let is_none = is_empty
                || data.contains(&at)
                || belongs
                || is_directive
                || is_test_step(text, self.in_test)
                || self.is_mark(comment, text, self.columns[offset + at]);
            let asked = added[at] && !is_none;
            match remarks.last_mut() {
                Some(remark) if asked && open => {
                    let longer = format!("{} {}", remark.text, head(text, MAX_TEXT));
                    remark.text = head(&longer, MAX_TEXT).to_owned();
                }
                _ if asked => remarks.push(CommentRemark {
                    line: comment.line,
                    text: one_line(comment, text),
                }),
                _ => {}
            }
            open = asked;
        }
    }

    /// True if no comment of the block is a remark.
    fn is_exempt(&self, comments: &[SourceComment<'_>], said: &[Cow<'_, str>]) -> bool {
        // A phrase may span two lines, and in a long block it is near the beginning.
        let whole = said[..said.len().min(100)].join(" ");
        is_licence(&whole) || self.documents_go(comments, said)
    }

    /// True if Go's own tools read the block above a declaration: documentation, which begins with the
    /// declared name, or C code above `import "C"`.
    fn documents_go(&self, comments: &[SourceComment<'_>], said: &[Cow<'_, str>]) -> bool {
        let Some(last) = comments
            .last()
            .filter(|last| self.path.ends_with(".go") && !last.trails)
        else {
            return false;
        };
        let below = self.text[last.span.end..]
            .strip_prefix('\n')
            .unwrap_or_default();
        let line = below.lines().next().unwrap_or_default();
        if line.trim_end() == "import \"C\"" {
            return true;
        }
        let Some((keyword, rest)) = line.split_once(' ') else {
            return false;
        };
        let rest = if keyword == "func" && rest.starts_with('(') {
            rest.split_once(") ").map_or("", |(_, rest)| rest)
        } else {
            rest
        };
        let name = rest
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default();
        let mut words = said[0].split(' ');
        let first = words.next().unwrap_or_default();
        match keyword {
            "package" => first == "Package",
            "func" | "type" | "var" | "const" => {
                let named = if matches!(first, "A" | "An" | "The") {
                    words.next().unwrap_or_default()
                } else {
                    first
                };
                !name.is_empty() && named.trim_end_matches([',', ':']) == name
            }
            _ => false,
        }
    }

    /// [`is_tracked`] for the first of `said` and the lines that belong to it, up to an empty one.
    fn tracked(&self, said: &[Cow<'_, str>]) -> Option<bool> {
        let paragraph = || {
            let lines = said.iter().enumerate().take_while(|(at, line)| {
                *at == 0 || (!line.is_empty() && is_tracked(line, line).is_none())
            });
            lines
                .map(|(_, line)| line.as_ref())
                .collect::<Vec<_>>()
                .join(" ")
        };
        is_tracked(&said[0], &said[0])?;
        is_tracked(&said[0], &paragraph())
    }

    /// True if the comment opens a fold, names the language of the template after it, names what the bracket
    /// or directive before it closes (as formatters write it), or gives the version of a pinned action.
    fn is_mark(&self, comment: &SourceComment<'_>, said: &str, column: usize) -> bool {
        if is_region(said) && *self.folds.get_or_init(|| self.text.contains("endregion")) {
            return true;
        }
        let is_word = !said.contains(' ');
        if is_word
            && comment.kind == CommentKind::Block
            && self.text[comment.span.end..].trim_start().starts_with('`')
        {
            return true;
        }
        if !comment.trails {
            return false;
        }
        let start = comment.span.start - column;
        let code = head(&self.text[start..comment.span.start], MAX_CODE).trim();
        let words = said.split(' ').count();
        match code.split([' ', '(']).next().unwrap_or_default() {
            "}" => {
                words <= 2
                    && matches!(
                        said.split(' ').next(),
                        Some("namespace" | "extern" | "anonymous")
                    )
            }
            "#endif" | "#else" => !said.contains(char::is_lowercase) || words == 1,
            "uses:" | "rev:" | "-" => {
                let version = said.strip_prefix("tag=").unwrap_or(said);
                ["uses:", "rev:"].iter().any(|key| code.contains(key))
                    && version.starts_with(|c: char| c == 'v' || c.is_ascii_digit())
            }
            _ => false,
        }
    }
}

/// True if an editor may fold from here; the fold must be closed somewhere.
fn is_region(said: &str) -> bool {
    said.get(..7)
        .is_some_and(|head| head.eq_ignore_ascii_case("region "))
}

fn one_line(comment: &SourceComment<'_>, said: &str) -> String {
    let text = comment.text.trim();
    head(
        if text.contains(['\n', '\t']) {
            said
        } else {
            text
        },
        MAX_TEXT,
    )
    .to_owned()
}

/// Phrases of licences and copyright notices, in lower case, one a line.
const LICENCES: &str = include_str!("licences.txt");

/// True if `said`, the text of a block, is a licence or a copyright notice. That takes a year or a name after
/// the word: prose about copyright has neither.
fn is_licence(said: &str) -> bool {
    // Longer than any notice; the limit keeps a file full of comments from being read twice.
    let head: String = said.chars().take(4000).collect();
    let lower = head.to_lowercase();
    if LICENCES.lines().any(|phrase| lower.contains(phrase)) {
        return true;
    }
    if lower.starts_with("(c) ") || head.starts_with('©') {
        return true;
    }
    let words: Vec<&str> = head.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let is_word = pair[0]
            .trim_matches(|c: char| !c.is_alphanumeric())
            .eq_ignore_ascii_case("copyright");
        let begins = pair[1].trim_start_matches(['(', '©']).chars().next();
        let named = pair[0].starts_with(['C', '@']) && begins.is_some_and(char::is_uppercase);
        is_word && (named || begins.is_some_and(|c| c.is_ascii_digit()))
    })
}

/// Steps of a test, as a whole comment.
const STEPS: [&str; 8] = [
    "given", "when", "then", "and", "but", "arrange", "act", "assert",
];

/// Steps that have other meanings outside of tests.
const STEPS_IN_TESTS: [&str; 8] = [
    "setup",
    "set up",
    "exercise",
    "verify",
    "teardown",
    "tear down",
    "expect",
    "cleanup",
];

/// True if `said` marks a step of a test: the name of a step alone, several of them, or one followed by a
/// colon; in a test file also a sentence that begins with given, when or then.
fn is_test_step(said: &str, in_test: bool) -> bool {
    let lower = said.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let parts = bare
        .split(['/', '&', '+', ','])
        .flat_map(|part| part.split(" and "));
    let mut parts = parts.map(|part| part.trim_matches(|c: char| !c.is_alphabetic()));
    if !bare.is_empty() && parts.all(|part| is_step(part, in_test)) {
        return true;
    }
    if let Some((step, _)) = bare.split_once(':')
        && is_step(step.trim(), in_test)
    {
        return true;
    }
    let first = lower.split_whitespace().next().unwrap_or_default();
    let indefinite = ["given a ", "given an "]
        .iter()
        .any(|begin| lower.starts_with(begin))
        && !said.contains(',');
    indefinite || (in_test && ["given", "when", "then"].contains(&first))
}

fn is_step(word: &str, in_test: bool) -> bool {
    STEPS.contains(&word) || (in_test && STEPS_IN_TESTS.contains(&word))
}

/// Words that mark a task for later.
const LATER: [&str; 6] = ["TODO", "FIXME", "HACK", "XXX", "BUG", "OPTIMIZE"];

/// Prefixes that look like the key of an issue but are not.
const NO_TRACKER: [&str; 16] = [
    "UTF", "ISO", "SHA", "MD", "RFC", "AES", "RSA", "IEEE", "ASCII", "EN", "UCS", "CP", "X", "ES",
    "HTTP", "TLS",
];

/// For a comment that marks a task for later, true if it names the place that tracks it: an issue, a link or
/// an owner. `None` for any other comment. `paragraph` is the comment with the lines that belong to it.
fn is_tracked(said: &str, paragraph: &str) -> Option<bool> {
    let said = said.trim_start_matches(['@', '[', '*', '-', ' ']);
    let rest = LATER.iter().find_map(|word| {
        let head = said.get(..word.len())?;
        let exact = head == *word
            || (head.eq_ignore_ascii_case(word) && said[word.len()..].starts_with([':', '(']));
        (exact || head == "todo" || head == "Todo").then(|| &said[word.len()..])
    })?;
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let owned = rest
        .trim_start()
        .strip_prefix(['(', '['])
        .is_some_and(|inner| {
            inner
                .split([')', ']'])
                .next()
                .is_some_and(|name| name.chars().any(char::is_alphanumeric))
        });
    Some(owned || has_reference(paragraph))
}

/// True if the text has an issue number, an issue key, a link or somebody's handle in it.
fn has_reference(text: &str) -> bool {
    if text.contains("http://") || text.contains("https://") {
        return true;
    }
    text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | ',' | ':' | ';'))
        .any(|word| {
            let digits = |text: &str| text.bytes().next().is_some_and(|b| b.is_ascii_digit());
            let number = word
                .rsplit_once('#')
                .is_some_and(|(_, number)| digits(number));
            let handle = word
                .strip_prefix('@')
                .is_some_and(|name| name.starts_with(char::is_alphabetic));
            let key = word.split_once('-').is_some_and(|(project, number)| {
                project.len() > 1
                    && project.starts_with(|c: char| c.is_ascii_uppercase())
                    && project
                        .bytes()
                        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
                    && !NO_TRACKER.contains(&project)
                    && digits(number)
            });
            let bug = ["b/", "bug/", "crbug.com/"]
                .iter()
                .any(|p| word.strip_prefix(p).is_some_and(digits));
            number || handle || key || bug
        })
}

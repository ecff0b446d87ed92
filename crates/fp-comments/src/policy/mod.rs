//! Asking an author about every new comment would be annoying, so this excludes the ones that aren't remarks:
//! documentation, directives, licences, markers for tools or for readers of tests, and tasks with a tracked issue.
//! Whether a remark restates the code is for the author to judge.

mod directives;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::{CommentKind, SourceComment, SourceFile, head};

/// Longest text of a remark, in bytes.
const MAX_TEXT: usize = 200;

/// Maximum number of bytes of a line of code, and of a comment, to search for anything that tools act on. The limit
/// matters because a line is searched again for each comment on it.
const MAX_CODE: usize = 200;
const MAX_DIRECTIVE: usize = 2000;

/// Maximum number of comments to judge per edit. No author would answer for more.
const MAX_JUDGED: usize = 10_000;

/// Comments on adjacent lines that form one question to the author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentRemark {
    /// Number of its first line, from 1.
    pub line: usize,
    /// The beginning of its text on one line, with the marks of its first comment.
    pub text: String,
}

/// Returns the remarks in `text`, the content of `file`, considering only those of its `comments` that are flagged in
/// `added`.
pub(super) fn remarks_among(
    file: SourceFile<'_>,
    text: &str,
    comments: &[SourceComment<'_>],
    added: &[bool],
) -> Vec<CommentRemark> {
    let file = RemarkedFile {
        path: file.path,
        text,
        in_test: file.is_test,
        has_folds: OnceCell::new(),
    };
    let (mut remarks, mut rest, mut room) = (Vec::new(), added, MAX_JUDGED);
    for block in comments.chunk_by(are_one_block) {
        let (added, behind) = rest.split_at(block.len());
        rest = behind;
        let judged = block.len().min(room);
        if judged > 0 && added.contains(&true) {
            room -= judged;
            file.judge_block(&block[..judged], &added[..judged], &mut remarks);
        }
    }
    remarks
}

/// True if two line comments are on adjacent lines without code, in the same column.
fn are_one_block(above: &SourceComment<'_>, below: &SourceComment<'_>) -> bool {
    let is_alone =
        |comment: &SourceComment<'_>| comment.kind == CommentKind::Line && !comment.trails;
    is_alone(above)
        && is_alone(below)
        && below.line == above.line + 1
        && below.column == above.column
}

struct RemarkedFile<'a> {
    path: &'a str,
    text: &'a str,
    in_test: bool,
    /// True if an editor fold ends somewhere in the text.
    has_folds: OnceCell<bool>,
}

impl RemarkedFile<'_> {
    /// Judges one block of adjacent comments, and adds its remarks.
    fn judge_block(
        &self,
        comments: &[SourceComment<'_>],
        added: &[bool],
        remarks: &mut Vec<CommentRemark>,
    ) {
        let said: Vec<Cow<'_, str>> = comments
            .iter()
            .map(SourceComment::normalized_text)
            .collect();
        // A phrase may span two lines, and in a long block it is near the beginning.
        let beginning = said[..said.len().min(100)].join(" ");
        let is_doc = comments[0].kind == CommentKind::Doc;
        if is_doc || is_licence(&beginning) || self.documents_go(comments, &said) {
            return;
        }
        let data = directives::lines_of_data(&said);
        let (mut belongs, mut was_asked) = (false, false);
        for (at, comment) in comments.iter().enumerate() {
            let text = said[at].as_ref();
            let is_empty = !text.contains(char::is_alphanumeric);
            let tracked = (!is_empty).then(|| is_tracked_task(&said[at..])).flatten();
            let is_directive = tracked.is_none() && self.is_directive(comment, text);
            belongs = match tracked {
                _ if is_empty => false,
                Some(tracked) => tracked,
                None if is_directive => directives::has_reason(text),
                None => belongs,
            };
            let is_none = is_empty
                || belongs
                || is_directive
                || data.contains(&at)
                || is_test_step(text, self.in_test)
                || self.is_mark(comment, text);
            let is_asked = added[at] && !is_none;
            match remarks.last_mut() {
                Some(remark) if is_asked && was_asked => {
                    let longer = format!("{} {}", remark.text, head(text, MAX_TEXT));
                    head(&longer, MAX_TEXT).clone_into(&mut remark.text);
                }
                _ if is_asked => remarks.push(CommentRemark {
                    line: comment.line,
                    text: on_one_line(comment, text),
                }),
                _ => {}
            }
            was_asked = is_asked;
        }
    }

    fn is_directive(&self, comment: &SourceComment<'_>, said: &str) -> bool {
        let raw = head(comment.text.trim(), MAX_DIRECTIVE);
        directives::is_directive(raw, head(said, MAX_DIRECTIVE), self.path)
    }

    /// True if Go's own tools read the block above a declaration: documentation, which begins with the declared name, or C
    /// code above `import "C"`.
    fn documents_go(&self, comments: &[SourceComment<'_>], said: &[Cow<'_, str>]) -> bool {
        let last = &comments[comments.len() - 1];
        if !self.path.ends_with(".go") || last.trails {
            return false;
        }
        let below = self.text[last.span.end..].strip_prefix('\n');
        let line = below
            .and_then(|below| below.lines().next())
            .unwrap_or_default();
        let (keyword, mut rest) = line.split_once(' ').unwrap_or_default();
        if keyword == "func" && rest.starts_with('(') {
            rest = rest.split_once(") ").unwrap_or_default().1;
        }
        let name = rest
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .next();
        let mut words = said[0]
            .split(' ')
            .skip_while(|word| ["A", "An", "The"].contains(word));
        let first = words.next().unwrap_or_default();
        match keyword {
            "package" => first == "Package",
            "import" => rest.trim_end() == "\"C\"",
            "func" | "type" | "var" | "const" => {
                let named = first.trim_end_matches([',', ':']);
                !named.is_empty() && name == Some(named)
            }
            _ => false,
        }
    }

    /// True if the comment opens a fold, names the language of the template after it, names what the bracket or directive
    /// before it closes (as formatters write it), or gives the version of a pinned action.
    fn is_mark(&self, comment: &SourceComment<'_>, said: &str) -> bool {
        let mut words = said.split(' ');
        let (first, is_word) = (words.next(), words.next().is_none());
        let behind = || self.text[comment.span.end..].trim_start();
        if is_region(said)
            && *self
                .has_folds
                .get_or_init(|| self.text.contains("endregion"))
            || (is_word && comment.kind == CommentKind::Block && behind().starts_with('`'))
        {
            return true;
        }
        if !comment.trails {
            return false;
        }
        let line = &self.text[comment.span.start - comment.column..comment.span.start];
        let code = head(line, MAX_CODE).trim();
        match code.split([' ', '(']).next().unwrap_or_default() {
            "}" => {
                let is_scope = matches!(first, Some("namespace" | "extern" | "anonymous"));
                is_scope && words.next().is_none()
            }
            "#endif" | "#else" => is_word || !said.contains(char::is_lowercase),
            "uses:" | "rev:" | "-" => {
                let version = said.strip_prefix("tag=").unwrap_or(said);
                ["uses:", "rev:"].iter().any(|key| code.contains(key))
                    && version.starts_with(|c: char| c == 'v' || c.is_ascii_digit())
            }
            _ => false,
        }
    }
}

/// For a comment that marks a task for later, true if it names the place that tracks it: an issue, a link or an owner.
/// `None` for any other comment. The task begins with the first line of `said` and ends at an empty line or the next
/// task.
fn is_tracked_task(said: &[Cow<'_, str>]) -> Option<bool> {
    let is_owned = has_owner(&said[0])?;
    let more = said[1..]
        .iter()
        .take_while(|line| !line.is_empty() && has_owner(line).is_none());
    let mut paragraph = [&said[0]].into_iter().chain(more);
    Some(is_owned || paragraph.any(|line| has_reference(line)))
}

/// True if `said` opens an editor fold; the caller checks that a fold is closed somewhere.
fn is_region(said: &str) -> bool {
    said.get(..7)
        .is_some_and(|head| head.eq_ignore_ascii_case("region "))
}

fn on_one_line(comment: &SourceComment<'_>, said: &str) -> String {
    let text = comment.text.trim();
    let line = if text.contains(['\n', '\t']) {
        said
    } else {
        text
    };
    head(line, MAX_TEXT).to_owned()
}

/// Phrases of licences and copyright notices, in lower case, one per line.
const LICENCES: &str = include_str!("licences.txt");

/// True if `said`, the text of a block, is a licence or a copyright notice. It must have a year or a name after the
/// word: prose about copyright has neither.
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

/// Names of test steps that can be a whole comment.
const STEPS: [&str; 8] = [
    "given", "when", "then", "and", "but", "arrange", "act", "assert",
];

/// Names of test steps that have other meanings outside tests.
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

/// True if `said` marks a test step: one or several step names alone, or one followed by a colon; in a test file, also
/// a sentence that begins with given, when or then.
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

/// Prefixes that look like those of issue keys but aren't.
const NO_TRACKER: [&str; 16] = [
    "UTF", "ISO", "SHA", "MD", "RFC", "AES", "RSA", "IEEE", "ASCII", "EN", "UCS", "CP", "X", "ES",
    "HTTP", "TLS",
];

/// For a comment that marks a task for later, true if it names an owner. `None` for any other comment.
fn has_owner(said: &str) -> Option<bool> {
    let said = said.trim_start_matches(['@', '[', '*', '-', ' ']);
    let behind_mark = |word: &&str| {
        let (head, rest) = said.split_at_checked(word.len())?;
        let is_called = head.eq_ignore_ascii_case(word) && rest.starts_with([':', '(']);
        (head == *word || is_called || ["todo", "Todo"].contains(&head)).then_some(rest)
    };
    let rest = LATER.iter().find_map(behind_mark)?;
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let inner = rest
        .trim_start()
        .strip_prefix(['(', '['])
        .unwrap_or_default();
    let name = inner.split([')', ']']).next().unwrap_or_default();
    Some(name.contains(char::is_alphanumeric))
}

/// True if the text has an issue number, an issue key, a link or somebody's handle in it.
fn has_reference(text: &str) -> bool {
    let is_between = |c: char| c.is_whitespace() || "()[],:;".contains(c);
    let is_link = |link| text.contains(link);
    ["http://", "https://"].into_iter().any(is_link) || text.split(is_between).any(is_reference)
}

fn is_reference(word: &str) -> bool {
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let is_bug = |prefix: &str| word.strip_prefix(prefix).is_some_and(is_number);
    let is_key = |(project, number): (&str, &str)| {
        let is_project = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        project.len() > 1
            && project.starts_with(|c: char| c.is_ascii_uppercase())
            && project.chars().all(is_project)
            && !NO_TRACKER.contains(&project)
            && is_number(number)
    };
    let handle = word.strip_prefix('@').unwrap_or_default();
    let number = word.rsplit_once('#').unwrap_or_default().1;
    is_number(number)
        || handle.starts_with(char::is_alphabetic)
        || word.split_once('-').is_some_and(is_key)
        || ["b/", "bug/", "crbug.com/"].into_iter().any(is_bug)
}

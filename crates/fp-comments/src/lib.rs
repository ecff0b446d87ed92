//! Agents add comments that restate the code. This crate finds the comments in source files, those that an edit added,
//! and those of the added ones that are worth asking the author about.
//!
//! Every function is pure. [`comments_in`] finds the comments in a text. [`remarks_between`] compares a file before and
//! after an edit and lists the new comments, leaving out documentation, tool directives, licences and markers.
//! [`remarks_of_edit`] does the same for an edit in the form that an editor reports.

#![warn(missing_docs)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod check;
mod edit;
mod lex;
mod policy;

use std::borrow::Cow;
use std::ops::Range;

pub use check::{MAX_BYTES, SourceFile, question_about, remarks_between, remarks_of_edit};
pub use edit::{EditAction, EditTexts, FileEdit, TextReplacement, added_comments};
pub use lex::{SourceLanguage, comments_in};
pub use policy::CommentRemark;

/// The form of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentKind {
    /// To the end of its line: `// x`, `# x`, `-- x`.
    Line,
    /// Between two marks: `/* x */`, `<!-- x -->`.
    Block,
    /// Input for the language's documentation tools, in any form: `/// x`, `/** x */`, a docstring.
    Doc,
}

/// One comment in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceComment<'t> {
    /// Its form.
    pub kind: CommentKind,
    /// The range of its bytes in the text, including its marks but not the end of its line.
    pub span: Range<usize>,
    /// Number of its first line, from 1.
    pub line: usize,
    /// Number of bytes before it on its first line.
    pub column: usize,
    /// Its text, including its marks.
    pub text: &'t str,
    /// True if there is code before it on its line.
    pub trails: bool,
}

/// The pairs of marks around block comments. The first pair that matches counts.
const PAIRS: [(&str, &str); 13] = [
    ("<!--", "-->"),
    ("--[[", "]]"),
    ("/*", "*/"),
    ("/+", "+/"),
    ("<#", "#>"),
    ("#=", "=#"),
    ("##[", "]##"),
    ("#[", "]#"),
    ("%{", "%}"),
    ("=begin", "=end"),
    ("\"\"\"", "\"\"\""),
    ("'''", "'''"),
    ("{{!", "}}"),
];

/// The beginning of `text`, at most `most` bytes.
fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// Marks that begin a comment to the end of its line.
const LINE_MARKS: [char; 5] = ['/', '#', '-', ';', '!'];

impl<'t> SourceComment<'t> {
    /// The text without its marks and surrounding blanks. In a comment of several lines, all lines but the
    /// first and the last keep their marks.
    #[must_use]
    pub fn inner(&self) -> &'t str {
        let text = self.text.trim();
        for (open, close) in PAIRS {
            if let Some(rest) = text.strip_prefix(open)
                && (rest.contains('\n') || rest.ends_with(close))
            {
                let is_rim = |c: char| c == '*' || c.is_whitespace();
                return rest
                    .strip_suffix(close)
                    .unwrap_or(rest)
                    .trim_matches(is_rim);
            }
        }
        if text.starts_with("--[=") {
            return text
                .trim_start_matches(['-', '[', '='])
                .trim_end_matches([']', '='])
                .trim();
        }
        let Some(mark) = text.chars().next().filter(|c| LINE_MARKS.contains(c)) else {
            return text;
        };
        let rest = text.trim_start_matches(mark);
        // `//!` is a separate mark; after any other mark, an exclamation mark belongs to the text.
        let rest = if mark == '/' {
            rest.strip_prefix('!').unwrap_or(rest)
        } else {
            rest
        };
        rest.trim()
    }

    /// Its words on one line, without marks and repeated blanks: two comments with the same words are equal,
    /// whatever their position and line breaks.
    #[must_use]
    pub fn normalized_text(&self) -> Cow<'t, str> {
        let inner = self.inner();
        if !inner.contains(['\n', '\t']) && !inner.contains("  ") {
            return Cow::Borrowed(inner);
        }
        let bare = |line: &'t str| {
            line.trim_start()
                .trim_start_matches(['*', '#', '-', ';', '|'])
        };
        let words: Vec<&str> = inner
            .lines()
            .flat_map(|line| bare(line).split_whitespace())
            .collect();
        Cow::Owned(words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_comment_says() {
        let check = |text: &str, expect: &str| {
            let kind = CommentKind::Line;
            let comment = SourceComment {
                kind,
                span: 0..text.len(),
                line: 1,
                column: 0,
                text,
                trails: false,
            };
            assert_eq!(comment.normalized_text(), expect, "{text}");
        };
        check("// add  one", "add one");
        check("//", "");
        check("//! add", "add");
        check("# x # y", "x # y");
        check("## no critic", "no critic");
        check("-- add one", "add one");
        check("--[[ add ]]", "add");
        check("--[==[ add ]==]", "add");
        check(";; add", "add");
        check("/* add */", "add");
        check("/**\n * add\n * one\n */", "add one");
        check("/* add\n   one */", "add one");
        check("<!-- add -->", "add");
        check("<# add #>", "add");
        check("#[ add ]#", "add");
        check("#[derive] is a line here", "[derive] is a line here");
        check("//# sourceMappingURL=a.map", "# sourceMappingURL=a.map");
        check("/*", "*");
        check("", "");
    }
}

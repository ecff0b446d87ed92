//! What a comment says, without the marks that make it one.

use std::borrow::Cow;

use super::Comment;

/// What opens a comment between two marks, and what closes it. The longest that fits counts.
const PAIRS: [(&str, &str); 16] = [
    ("<!--", "-->"),
    ("--[[", "]]"),
    ("/*", "*/"),
    ("/+", "+/"),
    ("(*", "*)"),
    ("{-", "-}"),
    ("<#", "#>"),
    ("#=", "=#"),
    ("##[", "]##"),
    ("#[", "]#"),
    ("#|", "|#"),
    ("%{", "%}"),
    ("=begin", "=end"),
    ("\"\"\"", "\"\"\""),
    ("'''", "'''"),
    ("{{!", "}}"),
];

/// Marks that open a comment to the end of its line.
const LINE_MARKS: [char; 7] = ['/', '#', '-', ';', '%', '!', '"'];

impl<'t> Comment<'t> {
    /// The text without its marks and the blanks around it; of a comment of several lines each keeps its own marks
    /// but for the first and the last.
    #[must_use]
    pub fn inner(&self) -> &'t str {
        let text = self.text.trim();
        for (open, close) in PAIRS {
            if let Some(rest) = text.strip_prefix(open)
                && (rest.contains('\n') || rest.ends_with(close))
            {
                return rest.strip_suffix(close).unwrap_or(rest).trim_matches(is_rim);
            }
        }
        if text.starts_with("--[=") {
            return text.trim_start_matches(['-', '[', '=']).trim_end_matches([']', '=']).trim();
        }
        let Some(mark) = text.chars().next().filter(|c| LINE_MARKS.contains(c)) else { return text };
        let rest = text.trim_start_matches(mark);
        // `//!` is a mark of its own; behind the others an exclamation mark belongs to the text.
        let rest = if mark == '/' { rest.strip_prefix('!').unwrap_or(rest) } else { rest };
        rest.trim()
    }

    /// What it says on one line: marks at the begin of lines and blanks beyond one are left out, so that two comments
    /// that say the same are equal wherever they stand and however they are broken.
    #[must_use]
    pub fn said(&self) -> Cow<'t, str> {
        let inner = self.inner();
        if !inner.contains(['\n', '\t']) && !inner.contains("  ") {
            return Cow::Borrowed(inner);
        }
        let mut said = String::with_capacity(inner.len());
        for line in inner.lines() {
            let words = line.trim_start().trim_start_matches(['*', '#', '-', ';', '|']);
            for word in words.split_whitespace() {
                if !said.is_empty() {
                    said.push(' ');
                }
                said.push_str(word);
            }
        }
        Cow::Owned(said)
    }
}

fn is_rim(c: char) -> bool {
    c == '*' || c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn what_a_comment_says() {
        let check = |text: &str, expect: &str| {
            let kind = Kind::Line;
            let comment = Comment { kind, span: 0..text.len(), line: 1, text, trails: false };
            assert_eq!(comment.said(), expect, "{text}");
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
        check("%% add", "add");
        check("/* add */", "add");
        check("/**\n * add\n * one\n */", "add one");
        check("/* add\n   one */", "add one");
        check("<!-- add -->", "add");
        check("(* add *)", "add");
        check("{- add -}", "add");
        check("<# add #>", "add");
        check("#[ add ]#", "add");
        check("#[derive] is a line here", "[derive] is a line here");
        check("//# sourceMappingURL=a.map", "# sourceMappingURL=a.map");
        check("/*", "*");
        check("", "");
    }
}

//! Normalises the paths in plans, untrusted text that must stay inside the repository.

use std::borrow::Cow;

/// The reason why a path leads out of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Escape {
    /// `/etc/passwd`, `C:\x`.
    #[error("it is absolute")]
    Absolute,
    /// `../x`.
    #[error("it has `..` in it")]
    Parent,
    /// `~/x`.
    #[error("it begins with `~`")]
    Home,
    /// A control character, which no path in a plan needs.
    #[error("it has a control character in it")]
    Control,
}

/// Shortens a path to its normal form, with `/` between parts: `./src//a.rs` becomes `src/a.rs`, and `.`, the whole
/// repository, stays `.`. Fails if the path leads out of the repository. Doesn't resolve symlinks.
pub fn normal(path: &str) -> Result<Cow<'_, str>, Escape> {
    let bytes = path.as_bytes();
    if matches!(bytes.first(), Some(b'/' | b'\\'))
        || (bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':')
    {
        return Err(Escape::Absolute);
    }
    if bytes.first() == Some(&b'~') {
        return Err(Escape::Home);
    }
    if path.chars().any(char::is_control) {
        return Err(Escape::Control);
    }
    if path.split(['/', '\\']).any(|part| part == "..") {
        return Err(Escape::Parent);
    }
    if path.split('/').all(|part| !part.is_empty() && part != ".") {
        return Ok(Cow::Borrowed(path));
    }
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    Ok(Cow::Owned(if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join("/")
    }))
}

/// True if `folder` is above `path`, both in normal form.
pub fn is_above(folder: &str, path: &str) -> bool {
    folder == "." && path != "."
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// The literal folder before the first wildcard of a pattern such as `src/**/*.rs`; a path without wildcards stays
/// whole.
pub fn literal_prefix(path: &str) -> &str {
    let Some(at) = path.find(['*', '?']) else {
        return path;
    };
    path[..at].rfind('/').map_or(".", |slash| &path[..slash])
}

/// The part of the repository that `file`, an entry of a file list, reserves, in normal form. A pattern reserves its
/// whole literal folder, because a task must never reserve less than it may change. `None` if the path leads out of the
/// repository.
pub fn held(file: &str) -> Option<Cow<'_, str>> {
    normal(literal_prefix(file)).ok()
}

/// The folders above a path in normal form, from `.`, the whole repository, down.
pub fn folders(path: &str) -> impl Iterator<Item = &str> {
    let whole = (path != ".").then_some(".");
    whole
        .into_iter()
        .chain(path.match_indices('/').map(|(at, _)| &path[..at]))
}

/// True if `path` is `listed` or below it. A pattern counts as its literal folder.
pub fn covers(listed: &str, path: &str) -> bool {
    let (Some(listed), Some(path)) = (held(listed), held(path)) else {
        return false;
    };
    listed == path || is_above(&listed, &path)
}

/// True if two paths in normal form are equal, or one is above the other.
pub fn meet(a: &str, b: &str) -> bool {
    a == b || is_above(a, b) || is_above(b, a)
}

/// True if an entry of one list covers an entry of the other.
pub fn overlap<A: AsRef<str>, B: AsRef<str>>(one: &[A], other: &[B]) -> bool {
    let shared = |a: &str, b: &str| covers(a, b) || covers(b, a);
    one.iter()
        .any(|a| other.iter().any(|b| shared(a.as_ref(), b.as_ref())))
}

/// A reference: `src/a.rs:15 - why`, with or without line, reason and backticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference<'t> {
    /// As written.
    pub path: &'t str,
    /// The last line that the reference names, counted from 1.
    pub line: Option<u64>,
    /// The first line that the reference names, counted from 1.
    pub first: Option<u64>,
    /// The reason to look there; may be empty.
    pub why: &'t str,
}

/// Splits a reference into its parts; `None` if it doesn't start with a path, as with a URL or a sentence.
pub fn reference(text: &str) -> Option<Reference<'_>> {
    let text = text.trim_start_matches(['`', '[', '*']);
    let end = text
        .find([' ', '\t', '\n', '`', ']', ',', '*'])
        .unwrap_or(text.len());
    let (head, rest) = text.split_at(end);
    if head.contains("://") || !head.contains(['/', '.']) || head.starts_with("www.") {
        return None;
    }
    let head = head.trim_end_matches(['.', ':', ';']);
    let head = head.split_once('#').map_or(head, |(path, _)| path);
    let colon = head.find(':').filter(|&at| at > 1).unwrap_or(head.len());
    let (path, lines) = head.split_at(colon);
    let mut numbers = lines
        .split([':', '-', '–'])
        .filter_map(|number| number.trim_start_matches(['L', 'l']).parse().ok())
        .take(if lines.contains('-') { 2 } else { 1 });
    let first = numbers.next();
    let line = numbers.last().or(first);
    let why = rest.trim_start_matches(['`', ']', '*', ' ', '\t', '-', '–', '—', ':', ',']);
    Some(Reference {
        path,
        line,
        first,
        why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_form() {
        let check = |path: &str, expect: Result<&str, Escape>| {
            assert_eq!(normal(path), expect.map(Cow::Borrowed), "{path:?}");
        };
        check("src/a.rs", Ok("src/a.rs"));
        check("./src//./a.rs", Ok("src/a.rs"));
        check("src/", Ok("src"));
        check(".", Ok("."));
        check("./", Ok("."));
        check("a..b/c", Ok("a..b/c"));
        check("$(touch x)", Ok("$(touch x)"));
        check("-rf", Ok("-rf"));
        check("/etc/passwd", Err(Escape::Absolute));
        check("\\\\host\\x", Err(Escape::Absolute));
        check("C:\\x", Err(Escape::Absolute));
        check("c:/x", Err(Escape::Absolute));
        check("../x", Err(Escape::Parent));
        check("src/../../x", Err(Escape::Parent));
        check("src\\..\\x", Err(Escape::Parent));
        check("~/x", Err(Escape::Home));
        check("~root/x", Err(Escape::Home));
        check("a\u{1b}[31m", Err(Escape::Control));
    }

    #[test]
    fn folders() {
        let check = |folder: &str, path: &str, expect: bool| {
            assert_eq!(is_above(folder, path), expect, "{folder} {path}")
        };
        check("src", "src/a.rs", true);
        check("src", "src", false);
        check("src", "srcs/a.rs", false);
        check(".", "a", true);
        check(".", ".", false);
        assert_eq!(literal_prefix("src/**/*.rs"), "src");
        assert_eq!(literal_prefix("*.rs"), ".");
        assert_eq!(literal_prefix("src/a.rs"), "src/a.rs");
    }

    #[test]
    fn references() {
        let check = |text: &str, expect: Option<(&str, Option<u64>, &str)>| {
            assert_eq!(
                reference(text).map(|r| (r.path, r.line, r.why)),
                expect,
                "{text:?}"
            );
        };
        check(
            "src/a.rs:15 - structure to follow",
            Some(("src/a.rs", Some(15), "structure to follow")),
        );
        check(
            "`src/a.rs:15` — structure",
            Some(("src/a.rs", Some(15), "structure")),
        );
        check("src/a.rs", Some(("src/a.rs", None, "")));
        check("src/a.rs:15-20: x", Some(("src/a.rs", Some(20), "x")));
        check("src/a.rs:15:3", Some(("src/a.rs", Some(15), "")));
        check("src/a.rs#L15", Some(("src/a.rs", None, "")));
        check("Cargo.toml.", Some(("Cargo.toml", None, "")));
        check("https://example.com/a.rs:15", None);
        check("the parser - see there", None);
        check("", None);
    }

    #[test]
    fn a_folder_covers_what_is_below_it() {
        let check = |listed: &str, path: &str, expect: bool| {
            assert_eq!(covers(listed, path), expect, "{listed} {path}")
        };
        check("src/a.rs", "src/a.rs", true);
        check("./src/a.rs", "src/a.rs", true);
        check("src", "src/a.rs", true);
        check("src/", "src/a.rs", true);
        check("src", "src2/a.rs", false);
        check("src/a.rs", "src", false);
        check("src/**/*.rs", "src/b/c.rs", true);
        check("src/**/*.rs", "tests/c.rs", false);
        check(".", "a", true);
    }
}

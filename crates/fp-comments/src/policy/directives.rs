//! The forms of comments that tools read as directives, and the lines that each directive covers.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

static PLAIN: LazyLock<Vec<DirectiveForm>> =
    LazyLock::new(|| forms(include_str!("directives.txt")));
static MARKED: LazyLock<Vec<DirectiveForm>> =
    LazyLock::new(|| forms(include_str!("marked_directives.txt")));

/// A directive's form, and the prefixes and suffixes of the file names that it applies to; if there are none, it
/// applies to every file.
#[derive(Clone, Copy)]
struct DirectiveForm {
    form: &'static str,
    /// True if it is case-sensitive.
    exact: bool,
    files: &'static str,
}

/// Parses a table: its indented lines, each with the files from the heading above it.
fn forms(table: &'static str) -> Vec<DirectiveForm> {
    let mut files = "";
    let form = |line: &'static str| match line.strip_prefix("  ") {
        Some(form) => Some(DirectiveForm {
            form,
            exact: is_exact(form),
            files,
        }),
        None => {
            files = line
                .split_once(" (")
                .map_or("", |(_, files)| files.trim_end_matches(')'));
            None
        }
    };
    table.lines().filter_map(form).collect()
}

/// True if one of `forms` fits `text`, a comment in the file at `path`.
fn any_fits(forms: &[DirectiveForm], text: &str, path: &str) -> bool {
    let fits = |form: &DirectiveForm| fits_bytes(form.form.as_bytes(), text.as_bytes(), form.exact);
    !text.is_empty() && forms.iter().any(|form| fits(form) && form.is_for(path))
}

impl DirectiveForm {
    fn is_for(&self, path: &str) -> bool {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let is_part = |part: &str| {
            if part.starts_with('.') {
                name.ends_with(part)
            } else {
                name.starts_with(part)
            }
        };
        self.files.is_empty() || self.files.split(' ').any(is_part)
    }
}

/// True if a tool obeys the comment `raw` in the file at `path`; `said` is its text without marks. A directive may
/// follow other words if it begins with its own comment mark.
pub(super) fn is_directive(raw: &str, said: &str, path: &str) -> bool {
    if any_fits(&MARKED, raw, path) || any_fits(&PLAIN, said, path) {
        return true;
    }
    [" # ", " // ", " -- "].iter().any(|mark| {
        said.split(mark)
            .skip(1)
            .any(|part| any_fits(&PLAIN, part.trim_start(), path) && !part.starts_with('@'))
    })
}

/// Directives with an explanation: the rest of their paragraph belongs to them.
#[rustfmt::skip]
const WITH_REASON: [&str; 29] = [
    "safety:*", "# safety*", "Soundness:*", "SOUNDNESS:*", "INVARIANT:*", "INVARIANTS:*", "Invariant:*", "PANIC:*",
    "PANICS:*", "PANIC SAFETY:*", "# Panics*", "CORRECTNESS:*", "ORDERING:*", "CAST:*", "OVERFLOW:*", "UNSAFE:*",
    "PRECONDITION:*", "POSTCONDITION:*", "LOCK ORDERING:*", "INFALLIBLE:*", "Deprecated: *", "biome-ignore*", "@&*",
    "Output:*", "Unordered output:*", "-- *", "coverity[&*", "<copyright*", "#| *",
];

/// True if the lines after the directive `said` belong to it.
pub(super) fn has_reason(said: &str) -> bool {
    WITH_REASON.iter().any(|form| fits(form, said))
}

/// First and last lines of data blocks that tools read: PEP 723 in a script, LSB in an init script, Emacs in any file.
const DATA: [(&str, &str); 3] = [
    ("/// script", "///"),
    ("BEGIN INIT INFO", "END INIT INFO"),
    ("Local Variables:", "End:"),
];

/// The lines of a block that are data for a tool; if the closing line is missing, all lines from the first one of the
/// data on.
pub(super) fn lines_of_data(said: &[Cow<'_, str>]) -> Range<usize> {
    let open = |(open, close)| Some((said.iter().position(|line| line == open)?, close));
    let Some((start, close)) = DATA.into_iter().find_map(open) else {
        return 0..0;
    };
    let length = said[start..].iter().position(|line| line == close);
    start..length.map_or(said.len(), |length| start + length + 1)
}

/// True if `pattern` matches the whole `text`.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    fits_bytes(pattern.as_bytes(), text.as_bytes(), is_exact(pattern))
}

fn is_exact(pattern: &str) -> bool {
    pattern.bytes().any(|b| b.is_ascii_uppercase())
}

/// Backtracks to the last star only, which bounds the cost by the product of both lengths.
fn fits_bytes(pattern: &[u8], text: &[u8], exact: bool) -> bool {
    let same = |p: u8, t: u8| {
        if exact {
            p == t
        } else {
            p == t.to_ascii_lowercase()
        }
    };
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    loop {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
                continue;
            }
            Some(b'&') => {
                let word = text[t..]
                    .iter()
                    .take_while(|b| !b.is_ascii_whitespace())
                    .count();
                let ending = pattern
                    .get(p + 1)
                    .copied()
                    .filter(|b| !matches!(b, b' ' | b'*' | b'&'));
                // The word ends before the character that follows it in the pattern.
                let end = match ending {
                    Some(sign) => text[t..t + word]
                        .iter()
                        .rposition(|b| same(sign, *b))
                        .unwrap_or(0),
                    None => word,
                };
                if end > 0 {
                    p += 1;
                    t += end;
                    continue;
                }
            }
            Some(b'\\')
                if pattern
                    .get(p + 1)
                    .is_some_and(|sign| text.get(t) == Some(sign)) =>
            {
                p += 2;
                t += 1;
                continue;
            }
            Some(&sign) if text.get(t).is_some_and(|&b| same(sign, b)) => {
                p += 1;
                t += 1;
                continue;
            }
            None if t == text.len() => return true,
            _ => {}
        }
        let Some((at, from)) = star else { return false };
        if from >= text.len() {
            return false;
        }
        star = Some((at, from + 1));
        (p, t) = (at + 1, from + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_tables_is_reached() {
        let tables = [
            include_str!("directives.txt"),
            include_str!("marked_directives.txt"),
        ];
        let all: Vec<DirectiveForm> = tables.into_iter().flat_map(forms).collect();
        assert!(all.len() > 650, "{}", all.len());
        for DirectiveForm { form, files, .. } in all {
            let file = files.split(' ').next().unwrap_or_default();
            let path = if file.starts_with('.') || file.is_empty() {
                format!("a{file}")
            } else {
                file.to_owned()
            };
            let sample = form
                .replace("\\*", "\0")
                .replace('&', "x")
                .replace('*', "y")
                .replace('\0', "*");
            assert!(
                !form.trim().is_empty() && is_directive(&sample, &sample, &path),
                "{form} ({files})"
            );
        }
    }

    #[test]
    fn what_fits() {
        let check = |pattern: &str, yes: &[&str], no: &[&str]| {
            yes.iter()
                .for_each(|text| assert!(fits(pattern, text), "{pattern} {text}"));
            no.iter()
                .for_each(|text| assert!(!fits(pattern, text), "{pattern} {text}"));
        };
        check("noqa", &["noqa", "NOQA"], &["noqa is off", "no"]);
        check("noqa:*", &["noqa: E501", "noqa:"], &["noqa"]);
        check("MARK:*", &["MARK: - Views"], &["mark: it"]);
        check("*NOSONAR*", &["x NOSONAR y", "NOSONAR"], &["nosonar"]);
        check(
            "ignore: &",
            &["ignore: unused"],
            &["ignore: this is bad", "ignore: "],
        );
        check("name: & :&", &["name: Get :one"], &["name: of the user"]);
        check(
            "eslint &: *",
            &["eslint no-x: \"error\""],
            &["eslint is configured elsewhere"],
        );
        check("a*b*c", &["abc", "a--b-b--c"], &["ab", "a-c-b"]);
        check("/\\*!*", &["/*! x */"], &["// x!"]);
        check("*", &["", "x"], &[]);
        check("", &[""], &["x"]);
        check("V&", &["V501"], &["V", "V 5"]);
    }

    #[test]
    fn hostile_texts_are_quick() {
        let text = "a".repeat(100_000);
        assert!(!fits("*aaab", &text));
    }
}

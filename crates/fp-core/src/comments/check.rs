//! The check as a whole: from the text of a file before and after to what its author is asked about.

use std::panic::resume_unwind;
use std::thread::{self, Builder};

use globset::GlobBuilder;

use super::edit::Edit;
use super::policy::{self, Remark};
use super::{Comment, Language, added, comments, restating};
use crate::plan::path::normal;

/// Shortest text, in bytes, whose comments take longer to find than a thread to start.
const WORTH_A_THREAD: usize = 128 * 1024;

/// Longest text that is looked at, in bytes; nobody reads the comments of a longer one.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// What the author of `edit` of the file at `path` is asked about, in the order of the file. `on_disk` reads the file,
/// where the client says too little. Lines are those of the file; of a fragment, those of the fragment.
#[must_use]
pub fn of_edit(path: &str, edit: &Edit<'_>, on_disk: impl FnOnce() -> Option<String>) -> Vec<Remark> {
    // The name says it for nearly all files, and then most edits cost nothing.
    if !may_be_code(path) {
        return Vec::new();
    }
    let texts = edit.texts(on_disk);
    if texts.fragments && !(is_whole(&texts.before) && is_whole(&texts.after)) {
        return Vec::new();
    }
    remarks_between(path, &texts.before, &texts.after)
}

/// What is asked about in `after` that is not in `before`, both the text of the file at `path`.
#[must_use]
pub fn remarks_between(path: &str, before: &str, after: &str) -> Vec<Remark> {
    if before == after || before.len().max(after.len()) > MAX_BYTES {
        return Vec::new();
    }
    let Some(language) = Language::of(path, first_line(after)) else { return Vec::new() };
    let (was, now) = comments_of_both(language, before, after);
    if now.is_empty() {
        return Vec::new();
    }
    policy::remarks(path, after, &now, &added(&was, &now))
}

/// The comments of two texts, which are looked for at the same time where that takes a while.
fn comments_of_both<'t>(
    language: Language,
    before: &'t str,
    after: &'t str,
) -> (Vec<Comment<'t>>, Vec<Comment<'t>>) {
    thread::scope(|scope| {
        let worth_it = before.len().min(after.len()) >= WORTH_A_THREAD;
        let beside = worth_it.then(|| Builder::new().spawn_scoped(scope, || comments(language, before)));
        let now = comments(language, after);
        let was = match beside {
            Some(Ok(beside)) => beside.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // No thread is to be had, or none is wanted.
            Some(Err(_)) | None => comments(language, before),
        };
        (was, now)
    })
}

/// All that would be asked about if `text`, that of the file at `path`, were new.
#[must_use]
pub fn remarks_in(path: &str, text: &str) -> Vec<Remark> {
    remarks_between(path, "", text)
}

/// Those of [`remarks_in`] whose words are those of the code beside them.
#[must_use]
pub fn restating_in(path: &str, text: &str, remarks: Vec<Remark>) -> Vec<Remark> {
    let Some(language) = Language::of(path, first_line(text)) else { return Vec::new() };
    let comments = comments(language, text);
    let restates = |remark: &Remark| restating::restates(text, &comments[remark.comments.clone()]);
    remarks.into_iter().filter(restates).collect()
}

/// Whether one of the globs `ignore` fits `path`, which is relative to the repository. One without a slash is about
/// names in any folder; a path is a file, or a folder with all that is below it.
#[must_use]
pub fn ignores(ignore: &[String], path: &str) -> bool {
    ignore.iter().any(|glob| {
        let glob = glob.trim_end_matches('/');
        let glob = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
        [format!("{glob}/**"), glob].iter().any(|glob| fits(glob, path))
    })
}

/// Whether `path` is `glob`, in which only `*`, `**` and `?` stand for something else.
fn fits(glob: &str, path: &str) -> bool {
    let Ok(glob) = normal(glob) else { return false };
    let literal = |c: char| if matches!(c, '[' | ']' | '{' | '}') { format!("[{c}]") } else { c.to_string() };
    let glob: String = glob.chars().map(literal).collect();
    let glob = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(false).build();
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(path))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn may_be_code(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    !name.contains('.') || Language::of(path, "").is_some()
}

/// Whether a fragment seems to begin and end outside of texts and comments of several lines. What begins within one
/// can't be told from code.
fn is_whole(fragment: &str) -> bool {
    let is_even = |mark: &str| fragment.matches(mark).count().is_multiple_of(2);
    let opened = |open: &str, close: &str| {
        let first = |mark: &str| fragment.find(mark).unwrap_or(usize::MAX);
        let last = |mark: &str| fragment.rfind(mark).map_or(0, |at| at + 1);
        first(open) <= first(close) && last(open) <= last(close)
    };
    is_even("\"\"\"") && is_even("'''") && is_even("`") && opened("/*", "*/") && opened("<!--", "-->")
}

//! The whole check: takes a file's text before and after an edit, and returns the question for the edit's author.

use crate::edit::FileEdit;
use crate::lex::SourceLanguage;
use crate::policy::{self, CommentRemark};
use crate::{added_comments, comments_in, head};

/// Longest text that is checked, in bytes. Longer ones are generated.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The facts about a file besides its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceFile<'p> {
    /// Its path. The name determines the language and the directives that are valid in it.
    pub path: &'p str,
    /// True if the project treats the file as a test. In tests, headings such as `given` and `set up` aren't reported.
    pub is_test: bool,
}

/// Returns the remarks that `edit` added to `file`, in file order. `on_disk` reads the current file, and is called only
/// if the edit doesn't contain enough. If there is no file on disk, line numbers refer to the edited fragment.
#[must_use]
pub fn remarks_of_edit(
    file: SourceFile<'_>,
    edit: &FileEdit<'_>,
    on_disk: impl FnOnce() -> Option<String>,
) -> Vec<CommentRemark> {
    // The name usually shows whether a file is code, so edits of other files cost almost nothing.
    if !may_be_code(file.path) {
        return Vec::new();
    }
    let texts = edit.read_texts(on_disk);
    if texts.fragments && !(is_whole(&texts.before) && is_whole(&texts.after)) {
        return Vec::new();
    }
    remarks_between(file, &texts.before, &texts.after)
}

/// Returns the remarks that are in `after` but not in `before`. Both are versions of `file`.
#[must_use]
pub fn remarks_between(file: SourceFile<'_>, before: &str, after: &str) -> Vec<CommentRemark> {
    if before == after || before.len().max(after.len()) > MAX_BYTES {
        return Vec::new();
    }
    let Some(language) = SourceLanguage::for_file(file.path, first_line(after)) else {
        return Vec::new();
    };
    let now = comments_in(language, after);
    if now.is_empty() {
        return Vec::new();
    }
    let added = added_comments(&comments_in(language, before), &now);
    policy::remarks_among(file, after, &now, &added)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn may_be_code(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    !name.contains('.') || SourceLanguage::for_file(path, "").is_some()
}

/// True if a fragment seems to begin and end outside multi-line strings and comments. Inside one, comments and code
/// can't be told apart.
fn is_whole(fragment: &str) -> bool {
    let is_even = |mark: &str| fragment.matches(mark).count().is_multiple_of(2);
    let opened = |open: &str, close: &str| {
        let first = |mark: &str| fragment.find(mark).unwrap_or(usize::MAX);
        let last = |mark: &str| fragment.rfind(mark).map_or(0, |at| at + 1);
        first(open) <= first(close) && last(open) <= last(close)
    };
    is_even("\"\"\"")
        && is_even("'''")
        && is_even("`")
        && opened("/*", "*/")
        && opened("<!--", "-->")
}

/// Longest reply, in bytes.
const MAX_REPLY: usize = 2048;

/// Maximum number of remarks in a reply.
const MAX_SHOWN: usize = 10;

/// Maximum length of a listed remark's text, and of a path, in characters.
const MAX_REMARK: usize = 90;
const MAX_PATH: usize = 240;

/// The placeholder for the list of remarks in a user's custom request.
const PLACE: &str = "{{comments}}";

const REQUEST: &str = "Remove each one that only restates the code next to it. Keep one that tells what the code can't \
                       say (why it is so, what it relies on, what would go wrong otherwise), and say in a few words why \
                       you keep it. Add no new comments for this.";

/// The question to the author of an edit of `path`, at most 2 KB. `lines` holds each remark's line number and its text
/// on one line; `path` and the texts must be safe for a prompt. `request` replaces the default request; the list
/// replaces `{{comments}}` in it, or comes first if it has no such placeholder.
#[must_use]
pub fn question_about<'l>(
    path: &str,
    lines: impl ExactSizeIterator<Item = (usize, &'l str)>,
    request: Option<&str>,
) -> String {
    let count = lines.len();
    let path = head(path, MAX_PATH);
    let what = if count == 1 {
        "a comment".to_owned()
    } else {
        format!("{count} comments")
    };
    let mut list = format!("This edit added {what} to {path}:\n");
    for (line, text) in lines.take(MAX_SHOWN) {
        let shown = match text.char_indices().nth(MAX_REMARK) {
            None => text.to_owned(),
            Some((at, _)) => format!("{}…", &text[..at]),
        };
        list.push_str(&format!("  {line}: {shown}\n"));
        if list.len() > MAX_REPLY / 2 {
            break;
        }
    }
    let shown = list.lines().count() - 1;
    if count > shown {
        list.push_str(&format!("  and {} more\n", count - shown));
    }
    let request = request.unwrap_or(REQUEST);
    let whole = if request.contains(PLACE) {
        request.replacen(PLACE, list.trim_end(), 1)
    } else {
        list + request
    };
    if whole.len() <= MAX_REPLY {
        return whole;
    }
    format!("{}…", head(&whole, MAX_REPLY - '…'.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_model_reads() {
        let one = question_about("src/a.rs", [(2, "// sort it")].into_iter(), None);
        assert_eq!(
            one,
            format!("This edit added a comment to src/a.rs:\n  2: // sort it\n{REQUEST}")
        );
        let own = |request| question_about("a.rs", [(2, "// x")].into_iter(), Some(request));
        assert_eq!(
            own("Why?"),
            "This edit added a comment to a.rs:\n  2: // x\nWhy?"
        );
        assert_eq!(
            own("See {{comments}} Why?"),
            "See This edit added a comment to a.rs:\n  2: // x Why?"
        );
    }

    #[test]
    fn it_is_bounded_whatever_the_edit() {
        for (text, path) in [
            ("// x", "a.rs"),
            (&*"// 한글 ".repeat(500), &*"é".repeat(5000)),
        ] {
            for count in [1, 10, 11, 20_000] {
                for request in [None, Some("요청 ".repeat(3000))] {
                    let lines = vec![(1_000_000, text); count];
                    let reply = question_about(path, lines.into_iter(), request.as_deref());
                    assert!(reply.len() <= MAX_REPLY, "{}", reply.len());
                    let rest = count.saturating_sub(MAX_SHOWN);
                    assert!(
                        count <= MAX_SHOWN || reply.contains("more\n"),
                        "{rest}: {reply}"
                    );
                }
            }
        }
    }
}

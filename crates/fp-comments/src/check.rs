//! The whole check, from the text of a file before and after an edit to the question for its author.

use crate::edit::FileEdit;
use crate::lex::SourceLanguage;
use crate::policy::{self, CommentRemark};
use crate::{SourceComment, added, comments, head};

/// Longest text that is checked, in bytes. Longer ones are generated.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The facts about a file besides its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceFile<'p> {
    /// Its path. The name determines the language and the directives that are valid in it.
    pub path: &'p str,
    /// True if the project counts it as a test: there, headings such as `given` and `set up` are no remarks.
    pub is_test: bool,
}

/// The remarks that `edit` added to `file`, in the order of the file. `on_disk` reads the current file, and
/// is called only if the edit doesn't contain enough. Without a file on disk, line numbers are those of the
/// edited fragment.
#[must_use]
pub fn remarks_of_edit(
    file: SourceFile<'_>,
    edit: &FileEdit<'_>,
    on_disk: impl FnOnce() -> Option<String>,
) -> Vec<CommentRemark> {
    // Most names determine the language, so edits of other files cost almost nothing.
    if !may_be_code(file.path) {
        return Vec::new();
    }
    let texts = edit.texts(on_disk);
    if texts.fragments && !(is_whole(&texts.before) && is_whole(&texts.after)) {
        return Vec::new();
    }
    remarks_between(file, &texts.before, &texts.after)
}

/// The remarks in `after` that `before` doesn't have; both are texts of `file`.
#[must_use]
pub fn remarks_between(file: SourceFile<'_>, before: &str, after: &str) -> Vec<CommentRemark> {
    if before == after || before.len().max(after.len()) > MAX_BYTES {
        return Vec::new();
    }
    let Some(language) = SourceLanguage::of(file.path, first_line(after)) else { return Vec::new() };
    let now = comments(language, after);
    if now.is_empty() {
        return Vec::new();
    }
    policy::remarks(file, after, &now, &added(&comments(language, before), &now))
}

/// The `remarks` that only repeat the words of the code beside them.
#[must_use]
pub fn restating_in(file: SourceFile<'_>, text: &str, remarks: Vec<CommentRemark>) -> Vec<CommentRemark> {
    let Some(language) = SourceLanguage::of(file.path, first_line(text)) else { return Vec::new() };
    let comments = comments(language, text);
    let restates = |remark: &CommentRemark| restates(text, &comments[remark.comments.clone()]);
    remarks.into_iter().filter(restates).collect()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn may_be_code(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    !name.contains('.') || SourceLanguage::of(path, "").is_some()
}

/// True if a fragment seems to begin and end outside of multi-line strings and comments. Inside of one,
/// comments can't be told from code.
fn is_whole(fragment: &str) -> bool {
    let is_even = |mark: &str| fragment.matches(mark).count().is_multiple_of(2);
    let opened = |open: &str, close: &str| {
        let first = |mark: &str| fragment.find(mark).unwrap_or(usize::MAX);
        let last = |mark: &str| fragment.rfind(mark).map_or(0, |at| at + 1);
        first(open) <= first(close) && last(open) <= last(close)
    };
    is_even("\"\"\"") && is_even("'''") && is_even("`") && opened("/*", "*/") && opened("<!--", "-->")
}

/// Longest reply, in bytes.
const MAX_REPLY: usize = 2048;

/// Most remarks in a reply.
const MAX_SHOWN: usize = 10;

/// Longest text of a listed remark, in characters, and longest path.
const MAX_REMARK: usize = 90;
const MAX_PATH: usize = 240;

/// The position of the list in a user's own request.
const PLACE: &str = "{{comments}}";

const REQUEST: &str = "Remove each one that only restates the code next to it. Keep one that tells what the code can't \
                       say (why it is so, what it relies on, what would go wrong otherwise), and say in a few words why \
                       you keep it. Add no new comments for this.";

/// The question to the author of an edit of `path`, at most 2 KB. `lines` are the remarks, each with its line
/// number and its text on one line, both safe for a prompt. `request` replaces the default request; the list replaces
/// `{{comments}}` in it, or else comes first.
#[must_use]
pub fn reply<'l>(
    path: &str,
    lines: impl ExactSizeIterator<Item = (usize, &'l str)>,
    request: Option<&str>,
) -> String {
    let count = lines.len();
    let path = head(path, MAX_PATH);
    let what = if count == 1 { "a comment".to_owned() } else { format!("{count} comments") };
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
    let whole =
        if request.contains(PLACE) { request.replacen(PLACE, list.trim_end(), 1) } else { list + request };
    if whole.len() <= MAX_REPLY {
        return whole;
    }
    let end = (0..=MAX_REPLY - '…'.len_utf8()).rev().find(|end| whole.is_char_boundary(*end));
    format!("{}…", &whole[..end.unwrap_or_default()])
}

/// Words without a meaning of their own, or with one that the form of the code already expresses.
const EMPTY: &str = "a an the this that these those it its is are be to of in on for with from by and or as at all each \
                     every new now we then first next here into up our my your do does have has function method \
                     variable value values define declare create make using use loop through over iterate some there \
                     them";

/// Words that give a reason, a condition or a purpose: with one of them, a comment says more than the code.
const REASONS: &str = "because since so otherwise else why unless until workaround hack bug avoid avoids prevent prevents \
                       ensure must never always not no only but although though instead however even still already may \
                       might can cannot should would before after see note when if";

/// Words for symbols in code.
const SIGNS: [(char, &str); 9] = [
    ('(', "call invoke run"),
    ('+', "add plus sum increment increase append"),
    ('-', "subtract minus decrement decrease"),
    ('*', "multiply times"),
    ('/', "divide"),
    ('=', "set assign store initialize initialise init"),
    ('1', "one"),
    ('0', "zero"),
    ('<', "less compare check"),
];

/// Percentage of a comment's words that must occur in the code.
const SHARE: usize = 75;

/// Fewest meaningful words: a single one is a heading.
const MIN_CONTENT: usize = 2;

/// Most words of a comment that can be mere repetition.
const MAX_WORDS: usize = 12;

/// True if `comments`, adjacent ones of `text`, only repeat the words of the code on their line or below:
/// most of their words occur in that code, and none gives a reason. A heuristic that finds only the obvious
/// cases.
fn restates(text: &str, comments: &[SourceComment<'_>]) -> bool {
    let words: Vec<String> = comments.iter().flat_map(|comment| words_of(&comment.said())).collect();
    let is_in = |list: &str, word: &str| list.split(' ').any(|other| other == word);
    let content: Vec<&String> = words.iter().filter(|word| !is_in(EMPTY, word)).collect();
    let gives_reason = words.iter().any(|word| is_in(REASONS, word));
    if content.len() < MIN_CONTENT || words.len() > MAX_WORDS || gives_reason {
        return false;
    }
    let Some(code) = code_beside(text, comments) else { return false };
    let mut said = words_of(code);
    for (sign, names) in SIGNS {
        if code.contains(sign) {
            said.extend(names.split(' ').map(str::to_owned));
        }
    }
    let common = content.iter().filter(|word| said.iter().any(|other| are_forms(word, other))).count();
    common * 100 >= content.len() * SHARE
}

/// Most bytes before or after a comment that are code beside it. Many comments can share a line.
const MAX_NEAR: usize = 2000;

/// The code before the comment on its line, or the line right below the last one.
fn code_beside<'t>(text: &'t str, comments: &[SourceComment<'_>]) -> Option<&'t str> {
    let (first, last) = (comments.first()?, comments.last()?);
    if first.trails {
        let end = first.span.start;
        let near = (end.saturating_sub(MAX_NEAR)..=end).find_map(|start| text.get(start..end));
        return near.and_then(|near| near.rsplit('\n').next());
    }
    head(&text[last.span.end..], MAX_NEAR).lines().nth(1).filter(|line| !line.trim().is_empty())
}

/// The words of prose or code in lower case; names are split at capitals and underscores.
fn words_of(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in text.chars() {
        if c.is_alphanumeric() {
            let is_hump = c.is_uppercase() && before.is_lowercase();
            match words.last_mut().filter(|_| before.is_alphanumeric() && !is_hump) {
                Some(word) => word.extend(c.to_lowercase()),
                None => words.push(c.to_lowercase().collect()),
            }
        }
        before = c;
    }
    words
}

/// True if `a` and `b`, both in lower case, are forms of the same word, such as `parse` and `parsing`.
fn are_forms(a: &str, b: &str) -> bool {
    let (a, b) = (stem(a), stem(b));
    // A name is often the beginning of its word, as `config` is; `msg` is not.
    a == b || (a.len().min(b.len()) >= 4 && (a.starts_with(b) || b.starts_with(a)))
}

fn stem(word: &str) -> &str {
    let endings = ["ing", "ed", "es", "s", "e"];
    let cut = |ending: &&str| word.strip_suffix(*ending).filter(|stem| stem.len() >= 3);
    endings.iter().find_map(cut).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_model_reads() {
        let one = reply("src/a.rs", [(2, "// sort it")].into_iter(), None);
        assert_eq!(one, format!("This edit added a comment to src/a.rs:\n  2: // sort it\n{REQUEST}"));
        let own = |request| reply("a.rs", [(2, "// x")].into_iter(), Some(request));
        assert_eq!(own("Why?"), "This edit added a comment to a.rs:\n  2: // x\nWhy?");
        assert_eq!(own("See {{comments}} Why?"), "See This edit added a comment to a.rs:\n  2: // x Why?");
    }

    #[test]
    fn it_is_bounded_whatever_the_edit() {
        for (text, path) in [("// x", "a.rs"), (&*"// 한글 ".repeat(500), &*"é".repeat(5000))] {
            for count in [1, 10, 11, 20_000] {
                for request in [None, Some("요청 ".repeat(3000))] {
                    let lines = vec![(1_000_000, text); count];
                    let reply = reply(path, lines.into_iter(), request.as_deref());
                    assert!(reply.len() <= MAX_REPLY, "{}", reply.len());
                    let rest = count.saturating_sub(MAX_SHOWN);
                    assert!(count <= MAX_SHOWN || reply.contains("more\n"), "{rest}: {reply}");
                }
            }
        }
    }

    #[test]
    fn what_restates_the_code() {
        let check = |code: &str, expect: bool| {
            let all = comments(SourceLanguage::of("a.rs", "").unwrap(), code);
            assert_eq!(restates(code, &all), expect, "{code}");
        };
        check("// sort the items\nitems.sort();", true);
        check("// Increment the counter\ncounter += 1;", true);
        check("let total = a + b; // total of a and b", true);
        check("// parse the config file\nlet config = parse_config(file);", true);
        check("// return the user name\nreturn user.name;", true);
        check("// call y\ny()", true);
        check("// the order decides which one wins\nitems.sort();", false);
        check("// sort the items, since the log needs it\nitems.sort();", false);
        check("// sort the items\n\nitems.sort();", false);
        check("// a first look costs less\nread(head);", false);
        check("// the tree\ntree();", false);
        check("// set x to one\nx = 1;", true);
        check("// the\nx();", false);
        check("// sort the items", false);
    }
}

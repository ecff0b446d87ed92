//! Chooses the parts of a subject: the type, the scope, and the model-written title, cleaned up to fit on one line.

use std::sync::LazyLock;

use super::CommitHistory;
use crate::regex;
use crate::test_files::is_test_file;
use fp_plan::repo_path::RepoPath;
use fp_plan::text::{is_invisible, one_line, wrapped};
use regex::Regex;

/// Words at the start of a subject that git reads as instructions.
const INSTRUCTIONS: [&str; 3] = ["fixup!", "squash!", "amend!"];
/// Characters at the start of a subject that git, a shell or Markdown reads as a comment, an option or a list.
const SIGNS: [char; 5] = ['#', '-', '*', '>', ';'];

/// Makes `title` a single line: joins blanks, and removes invisible characters, a final full stop, and anything at the
/// start that git reads as a comment, an option, a separator or an instruction. The result may be empty.
pub(super) fn clean_title(title: &str) -> String {
    let line = one_line(&title.replace(is_invisible, ""));
    let mut rest = line.as_str();
    while let Some(start) = misread_start(rest) {
        rest = rest[start.len()..].trim_start();
    }
    let sentence = rest.strip_suffix('.').filter(|text| !text.ends_with('.'));
    sentence.unwrap_or(rest).trim_end().to_owned()
}

/// The start of `subject`, if git or a reader would take it for something other than a word.
pub(super) fn misread_start(subject: &str) -> Option<&str> {
    let sign = || subject.starts_with(SIGNS).then(|| &subject[..1]);
    INSTRUCTIONS
        .into_iter()
        .find(|word| subject.starts_with(word))
        .or_else(sign)
}

/// Converts the first letter to lower case, unless the first word is a name or an abbreviation.
pub(super) fn lower_case(text: &str) -> String {
    let mut letters = text.split(' ').next().unwrap_or_default().chars();
    let first = letters.next().filter(|first| first.is_uppercase());
    let is_plain = letters.clone().all(|c| c.is_lowercase() || c == '-');
    match first.filter(|_| is_plain && letters.next().is_some()) {
        Some(first) => first.to_lowercase().chain(text.chars().skip(1)).collect(),
        None => text.to_owned(),
    }
}

/// Wraps the text into lines of at most `columns`, none of which git reads as a comment or a separator.
pub(super) fn wrap_body(text: &str, columns: usize) -> String {
    let mut lines = wrapped(text, columns - 1);
    let is_misread = |line: &&mut String| line.starts_with(['#', '-']);
    lines
        .iter_mut()
        .filter(is_misread)
        .for_each(|line| line.insert(0, ' '));
    lines.join("\n")
}

/// The types in common use.
pub(super) const TYPES: [&str; 11] = [
    "build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test",
];

/// First words that imply a type other than a fix, whatever follows.
const BY_FIRST_WORD: [(&str, &str); 2] = [
    ("feat", "add implement create support allow"),
    (
        "refactor",
        "refactor rename move extract split simplify remove",
    ),
];

/// Words that imply a fix.
static FIXES: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:fix(?:e[sd])?|fixing|bugs?|bugfix|hotfix|correct(?:s|ed)?|repair|crash(?:es)?|regression|resolve[sd]?)\b|버그|오류|고침|고친|바로잡",
    )
});
static DOCUMENTS: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\.(?:md|mdx|rst|adoc)$|^docs?/"));

/// True if a commit with this subject fixes something.
pub fn is_fix(subject: &str) -> bool {
    FIXES.is_match(subject)
}

/// Chooses the type: by the files if they are all of one kind, otherwise by the words. A title that begins with its
/// type keeps it.
pub(super) fn type_of(words: &str, files: &[RepoPath]) -> &'static str {
    let first = words.split(' ').next().unwrap_or_default().to_lowercase();
    let mut by_first = BY_FIRST_WORD.iter();
    let by_first = by_first.find(|(_, words)| words.split(' ').any(|word| word == first));
    let all = |is: fn(&RepoPath) -> bool| !files.is_empty() && files.iter().all(is);
    match by_first {
        _ if all(is_test_file) => "test",
        _ if all(|file| DOCUMENTS.is_match(&file.to_lossy())) => "docs",
        Some((kind, _)) => kind,
        None if is_fix(words) => "fix",
        None => "feat",
    }
}

/// A scope that the history already uses and that matches a folder shared by all files, or the only file.
pub(super) fn scope_of(files: &[RepoPath], history: &CommitHistory) -> Option<String> {
    let names = |file: &RepoPath| -> Vec<String> {
        let path = file.to_lossy().into_owned();
        let stem = path.rsplit_once('.').map_or(&*path, |(stem, _)| stem);
        stem.split('/').map(str::to_owned).collect()
    };
    let (first, rest) = files.split_first()?;
    let is_shared = |name: &String| rest.iter().all(|file| names(file).contains(name));
    let mut names = names(first).into_iter().rev();
    names.find(|name| history.scopes.contains_key(name) && is_shared(name))
}

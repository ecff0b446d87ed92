//! Writes commit messages that fit the repository's history. Style and scopes are derived from its latest subjects; the
//! words come from the task's title.

mod subject;

pub use subject::is_fix;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use unicode_width::UnicodeWidthStr;

use crate::regex;
use fp_plan::repo_path::RepoPath;
use fp_plan::text;

/// Number of recent subjects that determine the style of a repository.
pub const SUBJECTS: usize = 30;

/// Maximum width of a subject, in terminal columns.
const SUBJECT_COLUMNS: usize = 72;
/// Minimum number of subjects from which a convention is inferred.
const HABIT: usize = 3;

/// The style of subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CommitStyle {
    Semantic,
    /// A phrase or a sentence, without a type.
    Plain,
}

/// Statistics about a repository's commit subjects.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CommitHistory {
    /// Number of subjects, not counting those that git generates (merges, reverts, fixups).
    pub subjects: usize,
    /// Subjects of the form `type: what`.
    pub semantic: usize,
    /// Semantic ones with a scope.
    pub scoped: usize,
    /// Subjects whose text, after any type, begins in lower case.
    pub lower_case: usize,
    /// Uses of each type.
    pub types: BTreeMap<String, usize>,
    /// Uses of each scope.
    pub scopes: BTreeMap<String, usize>,
}

static SEMANTIC: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^([a-z]+)(?:\(([^()]+)\))?!?:\s+(\S.*)$"));
static MADE_BY_GIT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"^(?:Merge (?:branch|pull request|remote-tracking|tag|commit)\b|Revert "|(?:fixup|squash|amend)! )"#,
    )
});

/// Splits a subject of the form `type(scope): words` if its type is a common one.
fn semantic_parts(subject: &str) -> Option<(&str, Option<&str>, &str)> {
    let found = SEMANTIC.captures(subject)?;
    let part = |group: usize| found.get(group).map(|part| part.as_str());
    let kind = part(1).filter(|kind| subject::TYPES.contains(kind))?;
    Some((kind, part(2), part(3)?))
}

/// Returns the style of a subject, or `None` if git generated it.
pub fn style_of(subject: &str) -> Option<CommitStyle> {
    let subject = subject.trim();
    if subject.is_empty() || MADE_BY_GIT.is_match(subject) {
        return None;
    }
    Some(match semantic_parts(subject) {
        Some(_) => CommitStyle::Semantic,
        None => CommitStyle::Plain,
    })
}

fn is_half(part: usize, whole: usize) -> bool {
    whole > 0 && part * 2 >= whole
}

impl CommitHistory {
    /// Counts `subjects`, newest first, usually [`SUBJECTS`] of them.
    pub fn from_subjects<T: AsRef<str>>(subjects: &[T]) -> Self {
        let mut history = Self::default();
        for subject in subjects.iter().map(|subject| subject.as_ref().trim()) {
            if style_of(subject).is_some() {
                history.count_subject(subject);
            }
        }
        history
    }

    fn count_subject(&mut self, subject: &str) {
        self.subjects += 1;
        let mut words = subject;
        if let Some((kind, scope, rest)) = semantic_parts(subject) {
            self.semantic += 1;
            *self.types.entry(kind.to_owned()).or_default() += 1;
            if let Some(scope) = scope {
                self.scoped += 1;
                *self.scopes.entry(scope.to_owned()).or_default() += 1;
            }
            words = rest;
        }
        self.lower_case += usize::from(words.starts_with(char::is_lowercase));
    }

    /// Semantic if at least half of the subjects are, else plain.
    pub fn style(&self) -> CommitStyle {
        match is_half(self.semantic, self.subjects) {
            true => CommitStyle::Semantic,
            false => CommitStyle::Plain,
        }
    }

    /// True if at least half of the semantic subjects have a scope.
    fn has_scopes(&self) -> bool {
        is_half(self.scoped, self.semantic)
    }

    /// Describes in a sentence how to write a message in this repository.
    pub fn message_rule(&self) -> String {
        let columns = format!("in at most {SUBJECT_COLUMNS} columns");
        let (types, scopes) = (by_count(&self.types), by_count(&self.scopes));
        match self.style() {
            CommitStyle::Plain => format!("a phrase, {columns}"),
            CommitStyle::Semantic if self.has_scopes() => format!(
                "`type(scope): what`, {columns}; types used here: {types}; scopes: {scopes}"
            ),
            CommitStyle::Semantic => format!("`type: what`, {columns}; types used here: {types}"),
        }
    }

    /// Lists the problems with `message`, which may be any text, one sentence each. Empty if the message can be
    /// committed as it is. Surrounding blanks don't count.
    pub fn objections(&self, message: &str) -> Vec<String> {
        let message = message.trim();
        let mut lines = message.split('\n');
        let subject = lines.next().unwrap_or_default().trim_end();
        if subject.is_empty() {
            return vec!["the subject is empty".to_owned()];
        }
        let hidden = message.chars().find(|c| *c != '\n' && is_invisible(*c));
        let hidden = hidden.map(|c| {
            format!(
                "there is an invisible character in it, U+{:04X}",
                u32::from(c)
            )
        });
        let misread = subject::misread_start(subject).map(|sign| {
            format!("the subject begins with `{sign}`, which git may read as an instruction or a comment: begin with a word")
        });
        let second = lines.next().filter(|line| !line.trim().is_empty());
        let second = second.map(|_| {
            "the second line is not blank: git would take it for a part of the subject".to_owned()
        });
        let columns = subject.width();
        let wide = (columns > SUBJECT_COLUMNS).then(|| {
            format!("the subject has {columns} columns, of at most {SUBJECT_COLUMNS}: say the rest in the body")
        });
        let kind = match (semantic_parts(subject), self.style()) {
            (None, CommitStyle::Semantic) => Some(
                "the subject has none of the types: begin with one, as in `fix: WHAT`".to_owned(),
            ),
            (Some((kind, ..)), CommitStyle::Plain) if self.refuses_types() => Some(format!(
                "the subject begins with the type `{kind}:`, and subjects here have none"
            )),
            _ => None,
        };
        [hidden, misread, second, wide, kind]
            .into_iter()
            .flatten()
            .collect()
    }

    /// True if there are enough subjects, and hardly any has a type.
    fn refuses_types(&self) -> bool {
        self.subjects >= HABIT && self.semantic * 10 <= self.subjects
    }

    /// Composes the message for a task with this `title`, which may be any text, that changed `files`: a subject of at
    /// most 72 columns without control characters, and the whole title as its body where it had to be cut.
    pub fn compose(&self, title: &str, files: &[RepoPath]) -> String {
        let title = subject::clean_title(title);
        // A title written like a subject keeps its type if the history uses types.
        let (given, words) = match semantic_parts(&title) {
            Some((kind, _, words)) => (Some(kind), subject::clean_title(words)),
            None => (None, title.clone()),
        };
        let mut words = if words.is_empty() {
            "Update".to_owned()
        } else {
            words
        };
        let mut prefix = String::new();
        if self.style() == CommitStyle::Semantic {
            let kind = given.unwrap_or_else(|| subject::type_of(&words, files));
            let scope = subject::scope_of(files, self).filter(|_| self.has_scopes());
            let scope = scope.map_or_else(String::new, |scope| format!("({scope})"));
            prefix = format!("{kind}{scope}: ");
        }
        if is_half(self.lower_case, self.subjects) {
            words = subject::lower_case(&words);
        }
        let room = SUBJECT_COLUMNS - prefix.width();
        if words.width() <= room {
            return format!("{prefix}{words}\n");
        }
        let mut subject = text::fitted(&words, room);
        // Cuts at a word boundary, unless that would leave less than half.
        if let Some(blank) = subject
            .rfind(' ')
            .filter(|blank| blank * 2 >= subject.len())
        {
            subject.replace_range(blank.., "…");
        }
        let body = subject::wrap_body(&words, SUBJECT_COLUMNS);
        format!("{prefix}{subject}\n\n{body}\n")
    }
}

fn is_invisible(c: char) -> bool {
    (c.is_control() && c != '\t') || text::is_invisible(c)
}

/// The eight most frequent names with their counts.
fn by_count(counts: &BTreeMap<String, usize>) -> String {
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let most = sorted.iter().take(8);
    let told: Vec<String> = most
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    told.join(", ")
}

#[cfg(test)]
mod tests;

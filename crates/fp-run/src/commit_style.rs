//! Writes commit messages that fit the repository's history. Style and scopes are counted in its latest subjects; the
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
/// Minimum number of subjects for a habit.
const HABIT: usize = 3;

/// The style of subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CommitStyle {
    Semantic,
    /// A phrase or a sentence.
    Plain,
}

/// Counts of the features of a repository's subjects.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CommitHistory {
    /// Counted subjects, without those that git generates (merges, reverts, fixups).
    pub subjects: usize,
    /// Subjects of the form `type: what`.
    pub semantic: usize,
    /// Semantic ones with a scope.
    pub scoped: usize,
    /// Subjects whose words begin in lower case.
    pub lower_case: usize,
    /// Uses of each type.
    pub types: BTreeMap<String, usize>,
    /// Uses of each scope.
    pub scopes: BTreeMap<String, usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitMessage {
    /// One line of at most 72 columns, without control characters.
    pub subject: String,
    /// The whole title if the subject had to be cut; otherwise empty.
    pub body: String,
}

impl std::fmt::Display for CommitMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.subject)?;
        if self.body.is_empty() {
            Ok(())
        } else {
            writeln!(f, "\n{}", self.body)
        }
    }
}

static SEMANTIC: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^([a-z]+)(?:\(([^()]+)\))?!?:\s+(\S.*)$"));
static MADE_BY_GIT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"^(?:Merge (?:branch|pull request|remote-tracking|tag|commit)\b|Revert "|(?:fixup|squash|amend)! )"#,
    )
});

/// Splits a subject of the form `type(scope): words` if its type is a common one.
fn semantic(subject: &str) -> Option<(&str, Option<&str>, &str)> {
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
    Some(match semantic(subject) {
        Some(_) => CommitStyle::Semantic,
        None => CommitStyle::Plain,
    })
}

fn is_half(part: usize, whole: usize) -> bool {
    whole > 0 && part * 2 >= whole
}

impl CommitHistory {
    /// Counts `subjects`, newest first, usually [`SUBJECTS`] of them.
    pub fn of<T: AsRef<str>>(subjects: &[T]) -> Self {
        let mut history = Self::default();
        for subject in subjects.iter().map(|subject| subject.as_ref().trim()) {
            if style_of(subject).is_some() {
                history.count(subject);
            }
        }
        history
    }

    fn count(&mut self, subject: &str) {
        self.subjects += 1;
        let mut words = subject;
        if let Some((kind, scope, rest)) = semantic(subject) {
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
        if is_half(self.semantic, self.subjects) {
            CommitStyle::Semantic
        } else {
            CommitStyle::Plain
        }
    }

    /// True if at least half of the semantic subjects have a scope.
    fn has_scopes(&self) -> bool {
        is_half(self.scoped, self.semantic)
    }

    /// How a message is written here, in a sentence.
    pub fn rule(&self) -> String {
        let columns = format!("in at most {SUBJECT_COLUMNS} columns");
        match self.style() {
            CommitStyle::Semantic if self.has_scopes() => format!(
                "`type(scope): what`, {columns}; types used here: {}; scopes: {}",
                by_count(&self.types),
                by_count(&self.scopes)
            ),
            CommitStyle::Semantic => format!(
                "`type: what`, {columns}; types used here: {}",
                by_count(&self.types)
            ),
            CommitStyle::Plain => format!("a phrase, {columns}"),
        }
    }

    /// Lists the faults of `message`, which may be any text, one sentence each. Empty if it can be committed as it is.
    /// Surrounding blanks don't count.
    pub fn objections(&self, message: &str) -> Vec<String> {
        let mut lines = message.trim().split('\n');
        let subject = lines.next().unwrap_or_default().trim_end();
        let mut objections = Vec::new();
        if let Some(c) = message
            .trim()
            .chars()
            .find(|c| *c != '\n' && is_invisible(*c))
        {
            objections.push(format!(
                "there is an invisible character in it, U+{:04X}",
                u32::from(c)
            ));
        }
        if subject.is_empty() {
            objections.push("the subject is empty".to_owned());
            return objections;
        }
        if let Some(sign) = subject::misread_start(subject) {
            objections.push(format!(
                "the subject begins with `{sign}`, which git may read as an instruction or a comment: begin with a word"
            ));
        }
        if lines.next().is_some_and(|line| !line.trim().is_empty()) {
            objections.push(
                "the second line is not blank: git would take it for a part of the subject"
                    .to_owned(),
            );
        }
        let columns = subject.width();
        if columns > SUBJECT_COLUMNS {
            objections.push(format!(
                "the subject has {columns} columns, of at most {SUBJECT_COLUMNS}: say the rest in the body"
            ));
        }
        match (semantic(subject), self.style()) {
            (None, CommitStyle::Semantic) => objections.push(
                "the subject has none of the types: begin with one, as in `fix: WHAT`".to_owned(),
            ),
            (Some((kind, ..)), CommitStyle::Plain) if self.refuses_types() => objections.push(
                format!("the subject begins with the type `{kind}:`, and subjects here have none"),
            ),
            _ => {}
        }
        objections
    }

    /// True if there are enough subjects, and hardly any has a type.
    fn refuses_types(&self) -> bool {
        self.subjects >= HABIT && self.semantic * 10 <= self.subjects
    }

    /// Composes the message for a task with this `title`, which may be any text, that changed `files`.
    pub fn compose(&self, title: &str, files: &[RepoPath]) -> CommitMessage {
        let title = subject::clean(title);
        // A title written like a subject keeps its type if the history uses types.
        let (given, words) = semantic(&title).map_or((None, title.as_str()), |(kind, _, words)| {
            (Some(kind), words)
        });
        let words = subject::clean(words);
        let words = if words.is_empty() { "Update" } else { &words };
        let prefix = match self.style() {
            CommitStyle::Semantic => {
                let kind = given.unwrap_or_else(|| subject::type_of(words, files));
                match subject::scope_of(files, self).filter(|_| self.has_scopes()) {
                    Some(scope) => format!("{kind}({scope}): "),
                    None => format!("{kind}: "),
                }
            }
            CommitStyle::Plain => String::new(),
        };
        let words = if is_half(self.lower_case, self.subjects) {
            subject::lower_case(words)
        } else {
            words.to_owned()
        };
        let room = SUBJECT_COLUMNS - prefix.width();
        let is_cut = words.width() > room;
        let mut fit = text::fitted(&words, room);
        // A whole word is dropped, unless that would leave almost nothing.
        if let Some(blank) = fit
            .rfind(' ')
            .filter(|blank| is_cut && blank * 2 >= fit.len())
        {
            fit.replace_range(blank.., "…");
        }
        CommitMessage {
            subject: prefix + &fit,
            body: if is_cut {
                subject::wrap(&words, SUBJECT_COLUMNS)
            } else {
                String::new()
            },
        }
    }
}

fn is_invisible(c: char) -> bool {
    (c.is_control() && c != '\t') || text::is_invisible(c)
}

/// The eight most frequent names with their counts.
fn by_count(counts: &BTreeMap<String, usize>) -> String {
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    sorted
        .iter()
        .take(8)
        .map(|(name, count)| format!("{name} ({count})"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests;

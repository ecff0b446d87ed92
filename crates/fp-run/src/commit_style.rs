//! Writes commit messages that fit the repository's history. Style, language and scopes are counted in its latest
//! subjects; the words come from the task's title.

mod subject;

pub use subject::is_fix;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use unicode_width::UnicodeWidthStr;

use crate::regex;
use fp_plan::reading_language::{is_hangul, is_korean};
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
    /// Subjects that contain Korean.
    pub korean: usize,
    /// Subjects whose words begin in lower case.
    pub lower_case: usize,
    /// Uses of each type.
    pub types: BTreeMap<String, usize>,
    /// Uses of each scope.
    pub scopes: BTreeMap<String, usize>,
    /// The language from the settings, which overrides that of the subjects.
    #[serde(skip)]
    pub asked_for: Option<String>,
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

/// True if there are enough subjects, and at least nine tenths of them are in `part`.
fn is_habit(part: usize, whole: usize) -> bool {
    whole >= HABIT && part * 10 >= whole * 9
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

    /// Sets the language of messages, if one is given.
    pub fn in_language(self, language: Option<&str>) -> Self {
        Self {
            asked_for: language.map(str::to_owned),
            ..self
        }
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
        self.korean += usize::from(words.chars().any(is_hangul));
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

    /// True if subjects are in Korean: by the settings, or else by at least half of the subjects.
    pub fn is_korean(&self) -> bool {
        match &self.asked_for {
            Some(language) => is_korean(language),
            None => is_half(self.korean, self.subjects),
        }
    }

    pub fn language_name(&self) -> &str {
        let counted = if self.is_korean() {
            "korean"
        } else {
            "english"
        };
        self.asked_for.as_deref().unwrap_or(counted)
    }

    /// True if at least half of the semantic subjects have a scope.
    pub fn has_scopes(&self) -> bool {
        is_half(self.scoped, self.semantic)
    }

    fn wants_scope(&self) -> bool {
        is_habit(self.scoped, self.semantic)
    }

    fn refuses_types(&self) -> bool {
        is_habit(self.subjects - self.semantic, self.subjects)
    }

    fn refuses_korean(&self) -> bool {
        is_habit(self.subjects - self.korean, self.subjects)
    }

    /// Explains the style and the language, one sentence each.
    pub fn reasons(&self) -> Vec<String> {
        if self.subjects == 0 {
            return vec![
                "there is no commit to take a style from, so subjects are plain".to_owned(),
            ];
        }
        let of = |part: usize| format!("{part} of {} subjects", self.subjects);
        let mut reasons = vec![match self.style() {
            CommitStyle::Semantic => {
                format!("{} begin with a type such as `feat:`", of(self.semantic))
            }
            CommitStyle::Plain if self.subjects < HABIT => {
                format!(
                    "{} begin with a type, and so few make no other habit",
                    of(self.semantic)
                )
            }
            CommitStyle::Plain => format!("only {} begin with a type", of(self.semantic)),
        }];
        reasons.push(format!("{} are Korean", of(self.korean)));
        if let Some(language) = &self.asked_for {
            reasons.push(format!("the setting `language` asks for {language}"));
        }
        if self.style() == CommitStyle::Semantic {
            reasons.push(format!(
                "{} of {} with a type have a scope",
                self.scoped, self.semantic
            ));
        }
        reasons
    }

    /// The rules for a message, one phrase each, most important first.
    pub fn rules(&self) -> Vec<String> {
        let form = match self.style() {
            CommitStyle::Semantic if self.wants_scope() => "`type(scope): what`",
            CommitStyle::Semantic if self.has_scopes() => {
                "`type(scope): what`, or `type: what` where no scope fits"
            }
            CommitStyle::Semantic => "`type: what`",
            CommitStyle::Plain if self.refuses_types() => {
                "a phrase, without a type such as `feat:`"
            }
            CommitStyle::Plain => "a phrase",
        };
        let mut rules = vec![
            form.to_owned(),
            format!("at most {SUBJECT_COLUMNS} columns"),
        ];
        if self.style() == CommitStyle::Semantic {
            rules.push(format!("types used here: {}", by_count(&self.types)));
            let others = subject::TYPES
                .into_iter()
                .filter(|kind| !self.types.contains_key(*kind));
            rules.push(format!(
                "other types: {}",
                others.collect::<Vec<_>>().join(", ")
            ));
            if self.has_scopes() {
                rules.push(format!("scopes used here: {}", by_count(&self.scopes)));
            }
        }
        if let Some(language) = &self.asked_for {
            rules.push(format!("in {language}"));
        } else if self.is_korean() {
            rules.push("in Korean".to_owned());
        } else if self.refuses_korean() {
            rules.push("in the language of the examples, not in Korean".to_owned());
        }
        rules.push("a blank line between the subject and a body, if there is one".to_owned());
        rules
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
        let parts = semantic(subject);
        objections.extend(self.about_type(parts.map(|(kind, scope, _)| (kind, scope))));
        objections.extend(self.about_language(parts.map_or(subject, |(_, _, words)| words)));
        objections
    }

    fn about_type(&self, given: Option<(&str, Option<&str>)>) -> Option<String> {
        let is_semantic = self.style() == CommitStyle::Semantic;
        match given {
            None if is_semantic => Some(
                "the subject has none of the types: begin with one, as in `fix: WHAT`".to_owned(),
            ),
            Some((kind, None)) if is_semantic && self.wants_scope() => Some(format!(
                "the type has no scope, and nearly all here have one: `{kind}(SCOPE): WHAT`"
            )),
            Some((kind, _)) if !is_semantic && self.refuses_types() => Some(format!(
                "the subject begins with the type `{kind}:`, and subjects here have none"
            )),
            _ => None,
        }
    }

    fn about_language(&self, words: &str) -> Option<String> {
        let is_korean = words.chars().any(is_hangul);
        if is_korean == self.is_korean() {
            return None;
        }
        match &self.asked_for {
            Some(language) => {
                let found = if is_korean { "in" } else { "not in" };
                Some(format!(
                    "the subject is {found} Korean, and the setting `language` asks for {language}"
                ))
            }
            None if !is_korean => Some(
                "the subject is not Korean, and at least half of the subjects here are".to_owned(),
            ),
            None => self
                .refuses_korean()
                .then(|| "the subject is Korean, and hardly any here is".to_owned()),
        }
    }

    /// Composes the message for a task with this `title`, which may be any text, that changed `files`.
    pub fn compose(&self, title: &str, files: &[RepoPath]) -> CommitMessage {
        let title = subject::clean(title);
        // A title written like a subject keeps its type if the history uses types.
        let (given, words) = semantic(&title).map_or((None, title.as_str()), |(kind, _, words)| {
            (Some(kind), words)
        });
        let words = Some(subject::clean(words)).filter(|words| !words.is_empty());
        let words = words.unwrap_or_else(|| subject::from_files(files));
        let prefix = match self.style() {
            CommitStyle::Semantic => self.prefix(given, &words, files),
            CommitStyle::Plain => String::new(),
        };
        let words = if is_half(self.lower_case, self.subjects) {
            subject::lower_case(&words)
        } else {
            words
        };
        let (subject, cut) = subject::fit(&words, SUBJECT_COLUMNS - prefix.width());
        let body = if cut {
            subject::wrap(&words, SUBJECT_COLUMNS)
        } else {
            String::new()
        };
        CommitMessage {
            subject: prefix + &subject,
            body,
        }
    }

    fn prefix(&self, given: Option<&str>, words: &str, files: &[RepoPath]) -> String {
        let kind = given.unwrap_or_else(|| subject::type_of(words, files, self));
        match subject::scope_of(files, self).filter(|_| self.has_scopes()) {
            Some(scope) => format!("{kind}({scope}): "),
            None => format!("{kind}: "),
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

//! Commit messages that look like those the repository has: style, language and scopes are taken from its last
//! subjects, by counting; the words are the task's own title.

pub mod check;
mod kind;
mod title;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::reading_language::{is_hangul, is_korean};
use crate::repo_path::RepoPath;

/// How many of the last subjects tell the style of a repository.
pub const SUBJECTS: usize = 30;

/// Widest subject, in columns of a terminal.
const SUBJECT_COLUMNS: usize = 72;
/// Widest subject where the history has short ones.
const SHORT_COLUMNS: usize = 32;
/// Fewest subjects that make a habit: nearly every history begins with two words.
const HABIT: usize = 3;
/// A subject of up to so many words and columns is a short one.
const SHORT_SUBJECT: (usize, usize) = (3, 24);

/// How subjects are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Style {
    /// `type(scope): what`.
    Semantic,
    /// A phrase or a sentence.
    Plain,
    /// Two or three words.
    Short,
}

/// In which language subjects are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Korean.
    Korean,
    /// English, or any other.
    English,
}

/// What the subjects of a repository have in common, by numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// Subjects that were counted; those that git makes up (merges, reverts, fixups) are not.
    pub subjects: usize,
    /// Those of the form `type: what`.
    pub semantic: usize,
    /// Those of them with a scope.
    pub scoped: usize,
    /// Those of at most three words.
    pub short: usize,
    /// Those with Korean in them.
    pub korean: usize,
    /// Those whose words begin in lower case.
    pub lower_case: usize,
    /// Those whose words begin with a capital.
    pub upper_case: usize,
    /// Those that end with a full stop.
    pub full_stops: usize,
    /// Every type, and how often.
    pub types: BTreeMap<String, usize>,
    /// Every scope, and how often.
    pub scopes: BTreeMap<String, usize>,
    /// The language that is asked for, whatever the subjects are written in.
    #[serde(skip)]
    pub asked_for: Option<String>,
}

/// A message in two parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// One line of at most 72 columns, without control characters.
    pub subject: String,
    /// The whole title where the subject had to be cut; else empty.
    pub body: String,
}

impl std::fmt::Display for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.subject)?;
        if self.body.is_empty() { Ok(()) } else { writeln!(f, "\n{}", self.body) }
    }
}

static SEMANTIC: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^([a-z]+)(?:\(([^()]+)\))?!?:\s+(\S.*)$").expect("the pattern is a constant")
});
static MADE_BY_GIT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^(?:Merge (?:branch|pull request|remote-tracking|tag|commit)\b|Revert "|(?:fixup|squash|amend)! )"#)
        .expect("the pattern is a constant")
});

/// Type, scope and words of a subject of the form `type(scope): words`, if the type is one of the usual ones.
fn semantic(subject: &str) -> Option<(&str, Option<&str>, &str)> {
    let found = SEMANTIC.captures(subject)?;
    let part = |group: usize| found.get(group).map(|part| part.as_str());
    let kind = part(1).filter(|kind| kind::TYPES.contains(kind))?;
    Some((kind, part(2), part(3)?))
}

/// The style that one subject is written in; `None` for what git makes up, which tells nothing.
#[must_use]
pub fn style_of(subject: &str) -> Option<Style> {
    let subject = subject.trim();
    if subject.is_empty() || MADE_BY_GIT.is_match(subject) {
        return None;
    }
    let is_short =
        subject.split_whitespace().count() <= SHORT_SUBJECT.0 && subject.width() <= SHORT_SUBJECT.1;
    Some(match semantic(subject) {
        Some(_) => Style::Semantic,
        None if is_short => Style::Short,
        None => Style::Plain,
    })
}

/// Whether a text ends with a full stop; an ellipsis is none.
fn has_full_stop(text: &str) -> bool {
    text.ends_with('\u{3002}') || text.strip_suffix('.').is_some_and(|rest| !rest.ends_with('.'))
}

impl History {
    /// Counts `subjects`, the newest 30 or so.
    #[must_use]
    pub fn of<T: AsRef<str>>(subjects: &[T]) -> Self {
        let mut history = Self::default();
        for subject in subjects.iter().map(|subject| subject.as_ref().trim()) {
            if let Some(style) = style_of(subject) {
                history.count(subject, style);
            }
        }
        history
    }

    /// The same where messages are to be in `language`, if that is given.
    #[must_use]
    pub fn in_language(self, language: Option<&str>) -> Self {
        Self { asked_for: language.map(str::to_owned), ..self }
    }

    fn count(&mut self, subject: &str, style: Style) {
        self.subjects += 1;
        self.short += usize::from(style == Style::Short);
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
        self.upper_case += usize::from(words.starts_with(char::is_uppercase));
        self.full_stops += usize::from(has_full_stop(words));
    }

    /// The style of at least half of the subjects; plain where there is none such, or hardly a history.
    #[must_use]
    pub fn style(&self) -> Style {
        if self.is_half(self.semantic, self.subjects) {
            Style::Semantic
        } else if self.subjects >= HABIT && self.is_half(self.short, self.subjects) {
            Style::Short
        } else {
            Style::Plain
        }
    }

    /// Korean where it is asked for, or else where at least half of the subjects are.
    #[must_use]
    pub fn language(&self) -> Language {
        let is_korean = match &self.asked_for {
            Some(language) => is_korean(language),
            None => self.is_half(self.korean, self.subjects),
        };
        if is_korean { Language::Korean } else { Language::English }
    }

    /// The language in a word: the one that is asked for as it is named there.
    #[must_use]
    pub fn language_name(&self) -> &str {
        match (&self.asked_for, self.language()) {
            (Some(language), _) => language,
            (None, Language::Korean) => "korean",
            (None, Language::English) => "english",
        }
    }

    /// Whether at least half of the semantic subjects have a scope.
    #[must_use]
    pub fn has_scopes(&self) -> bool {
        self.is_half(self.scoped, self.semantic)
    }

    fn is_half(&self, part: usize, whole: usize) -> bool {
        whole > 0 && part * 2 >= whole
    }

    /// Why the style and the language are what they are, a sentence each.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        if self.subjects == 0 {
            return vec!["there is no commit to take a style from, so subjects are plain".to_owned()];
        }
        let of = |part: usize| format!("{part} of {} subjects", self.subjects);
        let mut reasons = vec![match self.style() {
            Style::Semantic => format!("{} begin with a type such as `feat:`", of(self.semantic)),
            Style::Short => format!("{} have at most {} words", of(self.short), SHORT_SUBJECT.0),
            Style::Plain if self.subjects < HABIT => {
                format!("{} begin with a type, and so few make no other habit", of(self.semantic))
            }
            Style::Plain => {
                format!("only {} begin with a type, and only {} are short", of(self.semantic), self.short)
            }
        }];
        reasons.push(format!("{} are Korean", of(self.korean)));
        if let Some(language) = &self.asked_for {
            reasons.push(format!("the setting `language` asks for {language}"));
        }
        if self.style() == Style::Semantic {
            reasons.push(format!("{} of {} with a type have a scope", self.scoped, self.semantic));
        }
        reasons
    }
}

/// The message of a task with this `title`, which may be any text, that changed `files`.
#[must_use]
pub fn compose(history: &History, title: &str, files: &[RepoPath]) -> Message {
    let title = title::clean(title);
    // A title that is written like a subject keeps its type where types are used.
    let (given, words) =
        semantic(&title).map_or((None, title.as_str()), |(kind, _, words)| (Some(kind), words));
    let words = Some(title::clean(words)).filter(|words| !words.is_empty());
    let words = words.unwrap_or_else(|| title::from_files(files));
    let style = history.style();
    let prefix = match style {
        Style::Semantic => prefix(history, given, &words, files),
        Style::Plain | Style::Short => String::new(),
    };
    let half_lower = history.subjects > 0 && history.lower_case * 2 >= history.subjects;
    let words = if half_lower { title::lower_case(&words) } else { words };
    let room = if style == Style::Short { SHORT_COLUMNS } else { SUBJECT_COLUMNS - prefix.width() };
    let short = if style == Style::Short { title::first_clause(&words) } else { words.as_str() };
    let (subject, cut) = title::fit(short, room);
    let body = if cut { title::wrap(&words, SUBJECT_COLUMNS) } else { String::new() };
    Message { subject: prefix + &subject, body }
}

fn prefix(history: &History, given: Option<&str>, words: &str, files: &[RepoPath]) -> String {
    let kind = given.unwrap_or_else(|| kind::of(words, files, history));
    match kind::scope(files, history).filter(|_| history.has_scopes()) {
        Some(scope) => format!("{kind}({scope}): "),
        None => format!("{kind}: "),
    }
}

/// Whether a commit with this subject mends something.
#[must_use]
pub fn is_fix(subject: &str) -> bool {
    kind::mends(subject)
}

/// The whole message of a task, in the style of `subjects`.
#[must_use]
pub fn for_task(subjects: &[String], title: &str, files: &[RepoPath]) -> String {
    compose(&History::of(subjects), title, files).to_string()
}

#[cfg(test)]
mod tests;

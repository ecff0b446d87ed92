//! What a message that somebody else writes has to be like in this repository, and what one is not.
//!
//! What at least half of the subjects do is asked for where it decides how a subject reads: the type, and Korean.
//! What is a habit (a scope, a capital, no type, no Korean) is asked for only where nearly all have it, so that a
//! mixed history leaves the choice.

use unicode_width::UnicodeWidthStr as _;

use super::{
    HABIT, History, Language, SHORT_COLUMNS, SUBJECT_COLUMNS, Style, has_full_stop, kind, semantic, title,
};
use crate::reading_language::is_hangul;

/// What is wrong with a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Objection {
    /// There is nothing to read.
    #[error("the subject is empty")]
    Empty,
    /// A character that doesn't show, or moves the cursor.
    #[error("there is an invisible character in it, U+{:04X}", u32::from(*.0))]
    Invisible(char),
    /// The subject begins with a sign that git or a reader takes for something else.
    #[error(
        "the subject begins with `{0}`, which git may read as an instruction or a comment: begin with a word"
    )]
    Sign(String),
    /// The body begins right below the subject.
    #[error("the second line is not blank: git would take it for a part of the subject")]
    NoBlankLine,
    /// It is too wide.
    #[error("the subject has {columns} columns, of at most {limit}: say the rest in the body")]
    TooWide {
        /// How wide it is, in columns of a terminal.
        columns: usize,
        /// How wide it may be.
        limit: usize,
    },
    /// It has no type.
    #[error("the subject has none of the types: begin with one, as in `fix: WHAT`")]
    NoType,
    /// It has a type where nobody writes one.
    #[error("the subject begins with the type `{0}:`, and subjects here have none")]
    Type(String),
    /// It has no scope.
    #[error("the type has no scope, and nearly all here have one: `{0}(SCOPE): WHAT`")]
    NoScope(String),
    /// It has a scope where nobody writes one.
    #[error("the type has the scope `({0})`, and hardly any here has one")]
    Scope(String),
    /// It is not Korean.
    #[error("the subject is not Korean, and at least half of the subjects here are")]
    NotKorean,
    /// It is Korean.
    #[error("the subject is Korean, and hardly any here is")]
    Korean,
    /// It is not in the language that is asked for.
    #[error("the subject is {} Korean, and the setting `language` asks for {asked_for}", if *.is_korean { "in" } else { "not in" })]
    OtherLanguage {
        /// The language that is asked for.
        asked_for: String,
        /// Whether the subject is Korean, the one language that is told from its letters.
        is_korean: bool,
    },
    /// Its first word has a capital.
    #[error(
        "`{0}` has a capital, and subjects here begin in lower case: write `{1}`, or begin with another word"
    )]
    Capital(String, String),
    /// Its first word has none.
    #[error("`{0}` has no capital, and subjects here begin with one")]
    NoCapital(String),
    /// It ends with a full stop.
    #[error("the subject ends with a full stop")]
    FullStop,
}

/// How the case of a first word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
}

/// Whether nearly all of `whole` subjects, of which there are enough, are among `part`.
fn is_habit(part: usize, whole: usize) -> bool {
    whole >= HABIT && part * 10 >= whole * 9
}

impl History {
    /// Most columns of a subject.
    #[must_use]
    pub fn columns(&self) -> usize {
        if self.style() == Style::Short { SHORT_COLUMNS } else { SUBJECT_COLUMNS }
    }

    fn refuses_types(&self) -> bool {
        is_habit(self.subjects - self.semantic, self.subjects)
    }

    fn wants_scope(&self) -> bool {
        is_habit(self.scoped, self.semantic)
    }

    fn refuses_scope(&self) -> bool {
        is_habit(self.semantic - self.scoped, self.semantic)
    }

    fn refuses_korean(&self) -> bool {
        is_habit(self.subjects - self.korean, self.subjects)
    }

    fn case(&self) -> Option<Case> {
        let cased = self.lower_case + self.upper_case;
        if is_habit(self.lower_case, cased) {
            Some(Case::Lower)
        } else {
            is_habit(self.upper_case, cased).then_some(Case::Upper)
        }
    }

    fn refuses_full_stop(&self) -> bool {
        !self.is_half(self.full_stops, self.subjects)
    }

    /// What a message has to be like, a phrase each, the most important first. What [`check`] can't see, such as the
    /// mood of a verb, is not among them.
    #[must_use]
    pub fn rules(&self) -> Vec<String> {
        let mut rules = vec![self.form(), format!("at most {} columns", self.columns())];
        if self.style() == Style::Semantic {
            rules.push(format!("types used here: {}", by_count(&self.types)));
            let others = kind::TYPES.into_iter().filter(|kind| !self.types.contains_key(*kind));
            let others = others.collect::<Vec<_>>().join(", ");
            if !others.is_empty() {
                rules.push(format!("other types: {others}"));
            }
            if !self.refuses_scope() && !self.scopes.is_empty() {
                rules.push(format!("scopes used here: {}", by_count(&self.scopes)));
            }
        }
        match (&self.asked_for, self.language()) {
            (Some(language), _) => rules.push(format!("in {language}")),
            (None, Language::Korean) => rules.push("in Korean".to_owned()),
            (None, Language::English) if self.refuses_korean() => {
                rules.push("in the language of the examples, not in Korean".to_owned());
            }
            (None, Language::English) => {}
        }
        match self.case() {
            Some(Case::Lower) => {
                rules.push("the first word in lower case, unless it is an abbreviation".to_owned())
            }
            Some(Case::Upper) => rules.push("the first word with a capital".to_owned()),
            None => {}
        }
        if self.refuses_full_stop() {
            rules.push("no full stop at the end".to_owned());
        }
        rules.push("a blank line between the subject and a body, if there is one".to_owned());
        rules
    }

    fn form(&self) -> String {
        match self.style() {
            Style::Semantic if self.wants_scope() => "`type(scope): what`".to_owned(),
            Style::Semantic if self.has_scopes() => {
                "`type(scope): what`, or `type: what` where no scope fits".to_owned()
            }
            Style::Semantic => "`type: what`".to_owned(),
            Style::Short => "two or three words".to_owned(),
            Style::Plain if self.refuses_types() => "a phrase, without a type such as `feat:`".to_owned(),
            Style::Plain => "a phrase".to_owned(),
        }
    }
}

/// The most frequent eight, with their numbers.
fn by_count(counts: &std::collections::BTreeMap<String, usize>) -> String {
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    sorted.iter().take(8).map(|(name, count)| format!("{name} ({count})")).collect::<Vec<_>>().join(", ")
}

/// What is wrong with `message`, which may be any text, in a repository with this `history`. Nothing where it can be
/// committed as it is; blanks around it count for nothing.
#[must_use]
pub fn check(history: &History, message: &str) -> Vec<Objection> {
    let message = message.trim();
    let mut lines = message.split('\n');
    let subject = lines.next().unwrap_or_default().trim_end();
    let mut objections = Vec::new();
    objections.extend(message.chars().find(|c| *c != '\n' && is_invisible(*c)).map(Objection::Invisible));
    if subject.is_empty() {
        objections.push(Objection::Empty);
        return objections;
    }
    objections.extend(title::misread_start(subject).map(|sign| Objection::Sign(sign.to_owned())));
    if lines.next().is_some_and(|line| !line.trim().is_empty()) {
        objections.push(Objection::NoBlankLine);
    }
    let (columns, limit) = (subject.width(), history.columns());
    if columns > limit {
        objections.push(Objection::TooWide { columns, limit });
    }
    let words = match semantic(subject) {
        Some((kind, scope, words)) => {
            objections.extend(about_type(history, kind, scope));
            words
        }
        None if history.style() == Style::Semantic => {
            objections.push(Objection::NoType);
            subject
        }
        None => subject,
    };
    objections.extend(about_words(history, words));
    objections
}

fn is_invisible(c: char) -> bool {
    (c.is_control() && c != '\t') || title::is_hidden(c)
}

fn about_type(history: &History, kind: &str, scope: Option<&str>) -> Option<Objection> {
    if history.style() != Style::Semantic {
        return history.refuses_types().then(|| Objection::Type(kind.to_owned()));
    }
    match scope {
        None if history.wants_scope() => Some(Objection::NoScope(kind.to_owned())),
        Some(scope) if history.refuses_scope() => Some(Objection::Scope(scope.to_owned())),
        _ => None,
    }
}

fn about_words(history: &History, words: &str) -> Vec<Objection> {
    let mut objections = Vec::new();
    let is_korean = words.chars().any(is_hangul);
    objections.extend(match (&history.asked_for, history.language()) {
        (Some(asked_for), wanted) if is_korean != (wanted == Language::Korean) => {
            Some(Objection::OtherLanguage { asked_for: asked_for.clone(), is_korean })
        }
        (None, Language::Korean) if !is_korean => Some(Objection::NotKorean),
        (None, Language::English) if is_korean && history.refuses_korean() => Some(Objection::Korean),
        _ => None,
    });
    let first = words.split_whitespace().next().unwrap_or_default();
    match history.case() {
        Some(Case::Lower) => {
            let lower = title::lower_case(first);
            if lower != first {
                objections.push(Objection::Capital(first.to_owned(), lower));
            }
        }
        // A name or a path may well begin in lower case.
        Some(Case::Upper) if first.chars().all(char::is_lowercase) => {
            objections.push(Objection::NoCapital(first.to_owned()));
        }
        _ => {}
    }
    if history.refuses_full_stop() && has_full_stop(words) {
        objections.push(Objection::FullStop);
    }
    objections
}

#[cfg(test)]
mod tests;

//! What a round of the interview adds to its record.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::record::{Interview, SCHEMA_VERSION};
use crate::hint::Hint;
use crate::run::event::Decider;

/// What one round found. Empty fields say nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answers {
    /// What the goal is.
    pub objective: Option<String>,
    /// What belongs to it.
    pub include: Vec<String>,
    /// What does not.
    pub exclude: Vec<String>,
    /// That nothing is out of scope: what was, is no longer.
    pub exclude_nothing: bool,
    /// What must be so in the end.
    pub requirements: Vec<String>,
    /// Questions with their answers.
    pub decisions: Vec<(String, String)>,
    /// What is taken for granted.
    pub assumptions: Vec<String>,
    /// How it is to be done.
    pub approach: Option<String>,
    /// How it is to be tested.
    pub tests: Option<String>,
    /// What is to be asked still.
    pub open: Vec<String>,
    /// Ways to do it that were not chosen, each with the reason.
    pub alternatives: Vec<(String, String)>,
    /// What does not hold any more: a requirement by its id, or anything required, in or out of scope by its words.
    pub withdraw: Vec<String>,
}

/// Why answers were not recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRecorded {
    /// A field that can't be added to, because what is in it is no list.
    #[error("`{field}` is {found}, where a list is expected")]
    NotAList {
        /// The field.
        field: &'static str,
        /// What it is instead.
        found: &'static str,
    },
    /// Something that is to be withdrawn and was never said.
    #[error("{0:?} can't be withdrawn: nothing required, in or out of scope has that id or these words")]
    NeverSaid(String),
}

impl Hint for NotRecorded {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::NotAList { .. } => "make a list of it, and run the command again".into(),
            Self::NeverSaid(_) => "`fp interview` shows what is recorded, with the ids".into(),
        })
    }
}

impl Answers {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Interview {
    /// Adds `answers`, given by `by`. Lists grow, without repeating what they have; what the user says that was
    /// assumed is the user's from then on. What is replaced or withdrawn is kept under `superseded`; an open
    /// question that is decided is open no more. Whatever else the record has stays. Fails, with nothing added,
    /// where a list is needed and something else is there, or where there is nothing to withdraw.
    pub fn merge(&mut self, answers: &Answers, by: Decider) -> Result<(), NotRecorded> {
        let mut document = self.document.clone();
        document.entry("schemaVersion").or_insert_with(|| SCHEMA_VERSION.into());
        for text in &answers.withdraw {
            withdraw(&mut document, text)?;
        }
        let said = [
            ("objective", &answers.objective),
            ("approach", &answers.approach),
            ("testStrategy", &answers.tests),
        ];
        for (field, text) in said {
            if let Some(text) = text {
                replace(&mut document, field, text, by)?;
            }
        }
        add_requirements(&mut document, &answers.requirements, by)?;
        if answers.exclude_nothing {
            exclude_nothing(&mut document, by)?;
        }
        add_said(&mut document, "scopeInclusions", &answers.include, by)?;
        add_said(&mut document, "scopeExclusions", &answers.exclude, by)?;
        add_alternatives(&mut document, &answers.alternatives, by)?;
        let lists = [("assumptions", &answers.assumptions), ("openQuestions", &answers.open)];
        for (field, texts) in lists {
            add_texts(&mut document, field, texts)?;
        }
        for (question, answer) in &answers.decisions {
            decide(&mut document, question, answer, by)?;
        }
        self.document = document;
        Ok(())
    }
}

fn name(by: Decider) -> &'static str {
    match by {
        Decider::User => "user",
        Decider::Auto => "auto",
    }
}

fn replace(
    document: &mut Map<String, Value>,
    field: &'static str,
    text: &str,
    by: Decider,
) -> Result<(), NotRecorded> {
    let before = document.insert(field.into(), text.into());
    let repeated = before.as_ref().and_then(Value::as_str) == Some(text);
    if let Some(before) = before.filter(|before| !repeated && !before.is_null()) {
        supersede(document, field, before)?;
    }
    say(document, field, by, repeated);
    Ok(())
}

/// Notes who has said what `field` is. What is `repeated` stays the user's.
fn say(document: &mut Map<String, Value>, field: &str, by: Decider, repeated: bool) {
    if let Value::Object(said_by) = document.entry("saidBy").or_insert_with(|| json!({})) {
        let users = said_by.get(field).and_then(Value::as_str) == Some(name(Decider::User));
        if !(repeated && users) {
            said_by.insert(field.into(), name(by).into());
        }
    }
}

fn supersede(document: &mut Map<String, Value>, field: &'static str, was: Value) -> Result<(), NotRecorded> {
    list(document, "superseded")?.push(json!({ "field": field, "was": was }));
    Ok(())
}

fn withdraw(document: &mut Map<String, Value>, what: &str) -> Result<(), NotRecorded> {
    number_requirements(document)?;
    let is_meant = |entry: &Value| {
        entry.get("id").and_then(Value::as_str) == Some(what)
            || text_of(entry).is_some_and(|text| same(text, what))
    };
    let mut found = false;
    for field in ["requirements", "scopeInclusions", "scopeExclusions"] {
        if !document.contains_key(field) {
            continue;
        }
        let gone: Vec<Value> = list(document, field)?.extract_if(.., |entry| is_meant(entry)).collect();
        found |= !gone.is_empty();
        gone.into_iter().try_for_each(|entry| supersede(document, field, entry))?;
    }
    if found { Ok(()) } else { Err(NotRecorded::NeverSaid(what.to_owned())) }
}

/// Leaves an empty list, which is a decision where it is known who made it.
fn exclude_nothing(document: &mut Map<String, Value>, by: Decider) -> Result<(), NotRecorded> {
    const FIELD: &str = "scopeExclusions";
    let before = std::mem::take(list(document, FIELD)?);
    let repeated = before.is_empty();
    before.into_iter().try_for_each(|entry| supersede(document, FIELD, entry))?;
    say(document, FIELD, by, repeated);
    Ok(())
}

/// The list in `field`, made where there is none; a single text becomes its first entry.
fn list<'d>(
    document: &'d mut Map<String, Value>,
    field: &'static str,
) -> Result<&'d mut Vec<Value>, NotRecorded> {
    let value = document.entry(field).or_insert(Value::Null);
    match value {
        Value::Null => *value = json!([]),
        Value::String(_) => *value = json!([value.take()]),
        _ => {}
    }
    let found = match value {
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        _ => "an object",
    };
    value.as_array_mut().ok_or(NotRecorded::NotAList { field, found })
}

fn text_of(entry: &Value) -> Option<&str> {
    entry.as_str().or_else(|| entry.get("text")?.as_str())
}

/// Whether two texts say the same but for case and blanks.
fn same(one: &str, other: &str) -> bool {
    wording(one) == wording(other)
}

/// The words of `text`, whatever their case and the blanks between them.
pub(super) fn wording(text: &str) -> String {
    text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn add_texts(
    document: &mut Map<String, Value>,
    field: &'static str,
    texts: &[String],
) -> Result<(), NotRecorded> {
    if texts.is_empty() {
        return Ok(());
    }
    let list = list(document, field)?;
    for text in texts {
        if !list.iter().filter_map(text_of).any(|there| same(there, text)) {
            list.push(text.as_str().into());
        }
    }
    Ok(())
}

/// Adds what is in or out of scope, each with who said so.
fn add_said(
    document: &mut Map<String, Value>,
    field: &'static str,
    texts: &[String],
    by: Decider,
) -> Result<(), NotRecorded> {
    if texts.is_empty() {
        return Ok(());
    }
    let list = list(document, field)?;
    for text in texts {
        if !confirm(list, text, by) {
            list.push(json!({ "text": text, "by": name(by) }));
        }
    }
    // That it is empty was decided once, and holds no longer.
    if let Some(Value::Object(said_by)) = document.get_mut("saidBy") {
        said_by.remove(field);
    }
    Ok(())
}

/// Whether `list` has `text`; if it does, and the user says so, it is the user's from now on.
fn confirm(list: &mut [Value], text: &str, by: Decider) -> bool {
    let Some(entry) = list.iter_mut().find(|entry| text_of(entry).is_some_and(|there| same(there, text)))
    else {
        return false;
    };
    if by == Decider::User {
        match entry {
            Value::Object(fields) => drop(fields.insert("by".into(), name(by).into())),
            text => *text = json!({ "text": text.take(), "by": name(by) }),
        }
    }
    true
}

fn add_alternatives(
    document: &mut Map<String, Value>,
    alternatives: &[(String, String)],
    by: Decider,
) -> Result<(), NotRecorded> {
    for (called, why_not) in alternatives {
        let list = list(document, "alternatives")?;
        let known = |entry: &Value| entry.get("name").and_then(Value::as_str) == Some(called);
        let before: Vec<Value> = list.extract_if(.., |entry| known(entry)).collect();
        let added = json!({ "name": called, "whyNot": why_not, "by": name(by) });
        list.push(added.clone());
        let changed = before.into_iter().filter(|entry| *entry != added).collect::<Vec<_>>();
        changed.into_iter().try_for_each(|entry| supersede(document, "alternatives", entry))?;
    }
    Ok(())
}

fn add_requirements(
    document: &mut Map<String, Value>,
    texts: &[String],
    by: Decider,
) -> Result<(), NotRecorded> {
    if texts.is_empty() {
        return Ok(());
    }
    number_requirements(document)?;
    // Tasks may still cover one that was withdrawn, so its id is not given again.
    let number = |entry: &Value| entry.get("id")?.as_str()?.strip_prefix('R')?.parse::<usize>().ok();
    let withdrawn = document.get("superseded").and_then(Value::as_array).into_iter().flatten();
    let withdrawn = withdrawn.filter_map(|entry| number(entry.get("was")?)).max().unwrap_or(0);
    let list = list(document, "requirements")?;
    let numbered = list.iter().filter_map(number).max().unwrap_or(0);
    let mut last = numbered.max(withdrawn).max(list.len());
    for text in texts {
        if !confirm(list, text, by) {
            last = last.saturating_add(1);
            list.push(json!({ "id": format!("R{last}"), "text": text, "by": name(by) }));
        }
    }
    Ok(())
}

/// Makes a list of the requirements, in which each has its id.
fn number_requirements(document: &mut Map<String, Value>) -> Result<(), NotRecorded> {
    if !document.contains_key("requirements") {
        return Ok(());
    }
    if let Some(Value::Object(by_id)) = document.get_mut("requirements") {
        let entries = std::mem::take(by_id).into_iter().map(|(id, entry)| with_id(id, entry));
        *document.get_mut("requirements").expect("it was just there") = entries.collect();
    }
    for (index, entry) in list(document, "requirements")?.iter_mut().enumerate() {
        if text_of(entry).is_some() && entry.get("id").is_none() {
            *entry = with_id(format!("R{}", index + 1), entry.take());
        }
    }
    Ok(())
}

fn with_id(id: String, entry: Value) -> Value {
    match entry {
        Value::Object(mut fields) => {
            fields.entry("id").or_insert_with(|| id.into());
            Value::Object(fields)
        }
        text => json!({ "id": id, "text": text }),
    }
}

fn decide(
    document: &mut Map<String, Value>,
    question: &str,
    answer: &str,
    by: Decider,
) -> Result<(), NotRecorded> {
    if document.contains_key("openQuestions") {
        let is_question = |entry: &Value| {
            let text = text_of(entry).or_else(|| entry.get("question")?.as_str());
            text.is_some_and(|text| same(text, question))
        };
        list(document, "openQuestions")?.retain(|entry| !is_question(entry));
    }
    let decided = json!({ "question": question, "answer": answer, "by": name(by) });
    let decisions = list(document, "decisions")?;
    if !decisions.contains(&decided) {
        decisions.push(decided);
    }
    Ok(())
}

#[cfg(test)]
mod tests;

//! What a round of the interview adds to its record.

use serde_json::{Map, Value, json};

use super::record::{Interview, SCHEMA_VERSION};
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
}

/// A field that can't be added to, because what is in it is no list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` is {found}, where a list is expected")]
pub struct NotAList {
    /// The field.
    pub field: &'static str,
    /// What it is instead.
    pub found: &'static str,
}

impl Answers {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Interview {
    /// Adds `answers`, given by `by`. Lists grow, without repeating what they have; a text that is replaced is
    /// kept under `superseded`; an open question that is decided is open no more. Whatever else the record
    /// has stays. Fails, with nothing added, where a list is needed and something else is there.
    pub fn merge(&mut self, answers: &Answers, by: Decider) -> Result<(), NotAList> {
        let mut document = self.document.clone();
        document.entry("schemaVersion").or_insert_with(|| SCHEMA_VERSION.into());
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
        let lists = [
            ("scopeInclusions", &answers.include),
            ("scopeExclusions", &answers.exclude),
            ("assumptions", &answers.assumptions),
            ("openQuestions", &answers.open),
        ];
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
) -> Result<(), NotAList> {
    let before = document.insert(field.into(), text.into());
    if let Some(before) = before.filter(|before| before.as_str() != Some(text) && !before.is_null()) {
        list(document, "superseded")?.push(json!({ "field": field, "was": before }));
    }
    if let Value::Object(said_by) = document.entry("saidBy").or_insert_with(|| json!({})) {
        said_by.insert(field.into(), name(by).into());
    }
    Ok(())
}

/// The list in `field`, made where there is none; a single text becomes its first entry.
fn list<'d>(
    document: &'d mut Map<String, Value>,
    field: &'static str,
) -> Result<&'d mut Vec<Value>, NotAList> {
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
    value.as_array_mut().ok_or(NotAList { field, found })
}

fn text_of(entry: &Value) -> Option<&str> {
    entry.as_str().or_else(|| entry.get("text")?.as_str())
}

/// Whether two texts say the same but for case and blanks.
fn same(one: &str, other: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
    words(one) == words(other)
}

fn add_texts(
    document: &mut Map<String, Value>,
    field: &'static str,
    texts: &[String],
) -> Result<(), NotAList> {
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

fn add_requirements(
    document: &mut Map<String, Value>,
    texts: &[String],
    by: Decider,
) -> Result<(), NotAList> {
    if texts.is_empty() {
        return Ok(());
    }
    if let Some(Value::Object(by_id)) = document.get_mut("requirements") {
        let entries = std::mem::take(by_id).into_iter().map(|(id, entry)| with_id(id, entry));
        *document.get_mut("requirements").expect("it was just there") = entries.collect();
    }
    let list = list(document, "requirements")?;
    for (index, entry) in list.iter_mut().enumerate() {
        if text_of(entry).is_some() && entry.get("id").is_none() {
            *entry = with_id(format!("R{}", index + 1), entry.take());
        }
    }
    let number = |entry: &Value| entry.get("id")?.as_str()?.strip_prefix('R')?.parse::<usize>().ok();
    let mut last = list.iter().filter_map(number).max().unwrap_or(0).max(list.len());
    for text in texts {
        if !list.iter().filter_map(text_of).any(|there| same(there, text)) {
            last += 1;
            list.push(json!({ "id": format!("R{last}"), "text": text, "by": name(by) }));
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
) -> Result<(), NotAList> {
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

//! Merges each round of the interview into its record without losing anything recorded before.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::record::{Interview, SCHEMA_VERSION};
use crate::run::event::Decider;
use fp_plan::hint::Hint;
use fp_plan::text::counted;

/// The results of one round. Empty fields change nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answers {
    pub objective: Option<String>,
    /// In scope.
    pub include: Vec<String>,
    /// Out of scope.
    pub exclude: Vec<String>,
    /// States that nothing is out of scope, which drops earlier exclusions.
    pub exclude_nothing: bool,
    /// Facts that must hold in the end.
    pub requirements: Vec<String>,
    /// Questions with their answers.
    pub decisions: Vec<(String, String)>,
    pub assumptions: Vec<String>,
    /// The way to do it.
    pub approach: Option<String>,
    /// The way to test it.
    pub tests: Option<String>,
    /// Questions that still need an answer.
    pub open: Vec<String>,
    /// Places in the code that were read, each with what it shows.
    pub seen: Vec<String>,
    /// Rejected ways to do it, each with the reason.
    pub alternatives: Vec<(String, String)>,
    /// Entries that no longer hold: requirements by id, or requirements and scope statements by their words.
    pub withdraw: Vec<String>,
}

/// The reason why answers were not recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} can't be withdrawn: nothing required, in or out of scope has that id or these words"
)]
pub struct NeverSaid(String);

impl Hint for NeverSaid {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some("`fp interview` shows what is recorded, with the ids".into())
    }
}

impl Answers {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The kinds of answers, with their numbers.
    pub fn in_words(&self) -> String {
        let single = |told: bool, what: &str| told.then(|| what.to_owned());
        let several = |number: usize, what: &str| (number > 0).then(|| counted(number, what));
        let told = [
            single(self.objective.is_some(), "the objective"),
            several(self.requirements.len(), "requirement"),
            several(self.include.len(), "inclusion"),
            single(self.exclude_nothing, "that nothing is excluded"),
            several(self.exclude.len(), "exclusion"),
            several(self.decisions.len(), "decision"),
            several(self.assumptions.len(), "assumption"),
            single(self.approach.is_some(), "the approach"),
            several(self.alternatives.len(), "alternative"),
            single(self.tests.is_some(), "the tests"),
            several(self.open.len(), "open question"),
            several(self.seen.len(), "seen place"),
            several(self.withdraw.len(), "withdrawal"),
        ];
        told.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl Interview {
    /// Adds `answers`, given by `by`. Lists grow without repeats, and an assumption that the user confirms becomes the
    /// user's. Replaced and withdrawn entries move to `superseded`, a decided question is no longer open, and
    /// everything else in the record stays. An error adds nothing.
    pub fn merge(&mut self, answers: &Answers, by: Decider) -> Result<(), NeverSaid> {
        let mut round = Round {
            document: self.document.clone(),
            by,
        };
        round
            .document
            .entry("schemaVersion")
            .or_insert_with(|| SCHEMA_VERSION.into());
        answers
            .withdraw
            .iter()
            .try_for_each(|text| round.withdraw(text))?;
        round.replace("objective", answers.objective.as_deref());
        round.replace("approach", answers.approach.as_deref());
        round.replace("testStrategy", answers.tests.as_deref());
        round.add_requirements(&answers.requirements);
        if answers.exclude_nothing {
            round.exclude_nothing();
        }
        round.add_said("scopeInclusions", &answers.include);
        round.add_said("scopeExclusions", &answers.exclude);
        answers
            .alternatives
            .iter()
            .for_each(|(name, why_not)| round.add_alternative(name, why_not));
        round.add_texts("assumptions", &answers.assumptions);
        round.add_texts("openQuestions", &answers.open);
        round.add_texts("seen", &answers.seen);
        answers
            .decisions
            .iter()
            .for_each(|(question, answer)| round.decide(question, answer));
        self.document = round.document;
        Ok(())
    }
}

/// The record while a round is added to it.
struct Round {
    document: Map<String, Value>,
    by: Decider,
}

impl Round {
    fn replace(&mut self, field: &str, text: Option<&str>) {
        let Some(text) = text else { return };
        let before = self.document.insert(field.into(), text.into());
        let repeated = before.as_ref().and_then(Value::as_str) == Some(text);
        if let Some(before) = before.filter(|before| !repeated && !before.is_null()) {
            self.supersede(field, before);
        }
        self.say(field, repeated);
    }

    /// Records who said `field`. A repetition stays the user's.
    fn say(&mut self, field: &str, repeated: bool) {
        if let Value::Object(said_by) = self.document.entry("saidBy").or_insert_with(|| json!({})) {
            let users = said_by.get(field) == Some(&json!(Decider::User));
            if !(repeated && users) {
                said_by.insert(field.into(), json!(self.by));
            }
        }
    }

    fn supersede(&mut self, field: &str, was: Value) {
        self.list("superseded")
            .push(json!({ "field": field, "was": was }));
    }

    fn withdraw(&mut self, what: &str) -> Result<(), NeverSaid> {
        self.number_requirements();
        let is_meant = |entry: &mut Value| {
            entry.get("id").and_then(Value::as_str) == Some(what)
                || text_of(entry).is_some_and(|text| same(text, what))
        };
        let mut found = false;
        for field in ["requirements", "scopeInclusions", "scopeExclusions"] {
            if !self.document.contains_key(field) {
                continue;
            }
            let gone: Vec<Value> = self.list(field).extract_if(.., is_meant).collect();
            found |= !gone.is_empty();
            gone.into_iter()
                .for_each(|entry| self.supersede(field, entry));
        }
        if found {
            Ok(())
        } else {
            Err(NeverSaid(what.to_owned()))
        }
    }

    /// Leaves an empty list, which is a decision once `saidBy` tells who made it.
    fn exclude_nothing(&mut self) {
        const FIELD: &str = "scopeExclusions";
        let before = std::mem::take(self.list(FIELD));
        let repeated = before.is_empty();
        before
            .into_iter()
            .for_each(|entry| self.supersede(FIELD, entry));
        self.say(FIELD, repeated);
    }

    /// The list in `field`, created if necessary; any other value becomes its first entry.
    fn list(&mut self, field: &str) -> &mut Vec<Value> {
        let value = self.document.entry(field).or_insert(Value::Null);
        *value = match value.take() {
            Value::Null => json!([]),
            Value::Array(entries) => entries.into(),
            single => json!([single]),
        };
        value.as_array_mut().expect("it was made a list")
    }

    fn add_texts(&mut self, field: &str, texts: &[String]) {
        for text in texts {
            let list = self.list(field);
            if !list
                .iter()
                .filter_map(text_of)
                .any(|there| same(there, text))
            {
                list.push(text.as_str().into());
            }
        }
    }

    /// Adds scope statements, each with who made it.
    fn add_said(&mut self, field: &str, texts: &[String]) {
        let by = self.by;
        for text in texts {
            let list = self.list(field);
            if !confirm(list, text, by) {
                list.push(json!({ "text": text, "by": by }));
            }
        }
        // The earlier decision that the list is empty no longer holds.
        if let Some(Value::Object(said_by)) = self
            .document
            .get_mut("saidBy")
            .filter(|_| !texts.is_empty())
        {
            said_by.remove(field);
        }
    }

    fn add_alternative(&mut self, name: &str, why_not: &str) {
        let added = json!({ "name": name, "whyNot": why_not, "by": self.by });
        let list = self.list("alternatives");
        let known = |entry: &mut Value| entry.get("name").and_then(Value::as_str) == Some(name);
        let mut before: Vec<Value> = list.extract_if(.., known).collect();
        list.push(added.clone());
        before.retain(|entry| *entry != added);
        before
            .into_iter()
            .for_each(|entry| self.supersede("alternatives", entry));
    }

    fn add_requirements(&mut self, texts: &[String]) {
        if texts.is_empty() {
            return;
        }
        self.number_requirements();
        // Tasks may still cover a withdrawn requirement, so its id is never reused.
        let number = |entry: &Value| {
            entry
                .get("id")?
                .as_str()?
                .strip_prefix('R')?
                .parse::<usize>()
                .ok()
        };
        let withdrawn = self
            .document
            .get("superseded")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let withdrawn = withdrawn
            .filter_map(|entry| number(entry.get("was")?))
            .max()
            .unwrap_or(0);
        let by = self.by;
        let list = self.list("requirements");
        let numbered = list.iter().filter_map(number).max().unwrap_or(0);
        let mut last = numbered.max(withdrawn).max(list.len());
        for text in texts {
            if !confirm(list, text, by) {
                last = last.saturating_add(1);
                list.push(json!({ "id": format!("R{last}"), "text": text, "by": by }));
            }
        }
    }

    /// Turns the requirements into a list in which each has its id.
    fn number_requirements(&mut self) {
        if !self.document.contains_key("requirements") {
            return;
        }
        for (index, entry) in self.list("requirements").iter_mut().enumerate() {
            if text_of(entry).is_some() && entry.get("id").is_none() {
                *entry = with_id(format!("R{}", index + 1), entry.take());
            }
        }
    }

    fn decide(&mut self, question: &str, answer: &str) {
        if self.document.contains_key("openQuestions") {
            let is_question = |entry: &Value| {
                let text = text_of(entry).or_else(|| entry.get("question")?.as_str());
                text.is_some_and(|text| same(text, question))
            };
            self.list("openQuestions")
                .retain(|entry| !is_question(entry));
        }
        let decided = json!({ "question": question, "answer": answer, "by": self.by });
        let decisions = self.list("decisions");
        if !decisions.contains(&decided) {
            decisions.push(decided);
        }
    }
}

/// True if `list` has `text`. If the user says it again, it becomes the user's.
fn confirm(list: &mut [Value], text: &str, by: Decider) -> bool {
    let Some(entry) = list
        .iter_mut()
        .find(|entry| text_of(entry).is_some_and(|there| same(there, text)))
    else {
        return false;
    };
    if by == Decider::User {
        match entry {
            Value::Object(fields) => drop(fields.insert("by".into(), json!(by))),
            text => *text = json!({ "text": text.take(), "by": by }),
        }
    }
    true
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

pub(super) fn text_of(entry: &Value) -> Option<&str> {
    entry.as_str().or_else(|| entry.get("text")?.as_str())
}

/// True if two texts differ at most in case and blanks.
fn same(one: &str, other: &str) -> bool {
    wording(one) == wording(other)
}

/// The words of `text` in lower case, separated by single blanks.
pub(super) fn wording(text: &str) -> String {
    text.split_whitespace()
        .map(str::to_lowercase)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests;

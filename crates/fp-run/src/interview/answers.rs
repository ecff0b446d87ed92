//! Merges each round of the interview into its record without losing anything recorded before.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::record::{Alternative, Decided, Interview, RecordedStatement, SCHEMA_VERSION, wording};
use crate::regex;
use crate::run::event::Decider;
use fp_plan::hint::Hint;

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
    /// Facts that must hold once the goal is reached.
    pub requirements: Vec<String>,
    /// Questions with their answers.
    pub decisions: Vec<(String, String)>,
    pub assumptions: Vec<String>,
    /// The chosen approach.
    pub approach: Option<String>,
    /// The way to test the result.
    pub tests: Option<String>,
    /// Questions that still need an answer.
    pub open: Vec<String>,
    /// Rejected approaches, each with the reason.
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

impl Interview {
    /// Adds `answers`, given by `by`. Lists grow without repeats, and an assumption that the user confirms becomes the
    /// user's. Replaced and withdrawn entries move to `superseded`, a decided question is no longer open, and
    /// everything else in the record stays. An error adds nothing.
    pub fn merge(&mut self, answers: &Answers, by: Decider) -> Result<(), NeverSaid> {
        let mut record = self.clone();
        record.schema_version = SCHEMA_VERSION;
        for what in &answers.withdraw {
            record.withdraw(what)?;
        }
        record.set_text("objective", answers.objective.as_ref(), by);
        record.set_text("approach", answers.approach.as_ref(), by);
        record.set_text("testStrategy", answers.tests.as_ref(), by);
        add_statements(&mut record.requirements, &answers.requirements, by);
        record.number_requirements();
        add_statements(&mut record.scope_inclusions, &answers.include, by);
        record.exclude(answers, by);
        for (name, why_not) in &answers.alternatives {
            let (name, why_not) = (name.clone(), why_not.clone());
            record.alternatives.retain(|known| known.name != name);
            record.alternatives.push(Alternative { name, why_not });
        }
        add_texts(&mut record.assumptions, &answers.assumptions);
        add_texts(&mut record.open_questions, &answers.open);
        for (question, answer) in &answers.decisions {
            record
                .open_questions
                .retain(|open| wording(open) != wording(question));
            let decided = Decided {
                question: question.clone(),
                answer: answer.clone(),
                by: Some(by),
            };
            if !record.decisions.contains(&decided) {
                record.decisions.push(decided);
            }
        }
        *self = record;
        Ok(())
    }

    /// Attributes every requirement that `goal` states to the user: its sentences, its clauses between semicolons and
    /// colons, several whole lines of it, and rows of a table.
    pub fn confirm_stated(&mut self, goal: &str) {
        let mut stated = sentences_of(goal);
        let clauses = stated
            .iter()
            .flat_map(|sentence| sentence.split([';', ':']));
        let clauses: Vec<String> = clauses.map(|clause| clause.trim().to_owned()).collect();
        stated.extend(clauses);
        let goal_lines = lines_of(goal);
        for requirement in &mut self.requirements {
            let (said, lines) = (sentences_of(&requirement.text), lines_of(&requirement.text));
            let is_said = !said.is_empty() && said.iter().all(|one| stated.contains(one));
            let mut parts = goal_lines.windows(lines.len().max(1));
            let is_whole = lines.len() > 1 || lines.iter().any(|line| line.starts_with('|'));
            if is_said || is_whole && parts.any(|part| part == lines) {
                requirement.by = Some(Decider::User);
            }
        }
    }

    /// Replaces the text in `field`. A text that came from the user stays the user's when repeated.
    fn set_text(&mut self, field: &str, text: Option<&String>, by: Decider) {
        let Some(text) = text else { return };
        let place = match field {
            "objective" => &mut self.objective,
            "approach" => &mut self.approach,
            _ => &mut self.test_strategy,
        };
        let before = place.replace(text.clone());
        let is_repeated = before.as_ref() == Some(text);
        if let Some(before) = before.filter(|_| !is_repeated) {
            self.supersede(field, json!(before));
        }
        if !is_repeated || by == Decider::User {
            self.said_by.insert(field.to_owned(), by);
        }
    }

    fn supersede(&mut self, field: &str, was: Value) {
        self.superseded.push(json!({ "field": field, "was": was }));
    }

    fn withdraw(&mut self, what: &str) -> Result<(), NeverSaid> {
        let is_meant =
            |said: &mut RecordedStatement| said.id == what || wording(&said.text) == wording(what);
        let before = self.superseded.len();
        for (field, list) in [
            ("requirements", &mut self.requirements),
            ("scopeInclusions", &mut self.scope_inclusions),
            ("scopeExclusions", &mut self.scope_exclusions),
        ] {
            let gone = list.extract_if(.., is_meant);
            self.superseded
                .extend(gone.map(|said| json!({ "field": field, "was": said })));
        }
        match self.superseded.len() == before {
            true => Err(NeverSaid(what.to_owned())),
            false => Ok(()),
        }
    }

    /// Records what is out of scope. An empty list counts as a decision once `said_by` tells who made it.
    fn exclude(&mut self, answers: &Answers, by: Decider) {
        const FIELD: &str = "scopeExclusions";
        if answers.exclude_nothing {
            let gone = std::mem::take(&mut self.scope_exclusions);
            if !(gone.is_empty() && self.is_users(FIELD)) {
                self.said_by.insert(FIELD.to_owned(), by);
            }
            gone.into_iter()
                .for_each(|said| self.supersede(FIELD, json!(said)));
        }
        if !answers.exclude.is_empty() {
            self.said_by.remove(FIELD);
        }
        add_statements(&mut self.scope_exclusions, &answers.exclude, by);
    }

    /// Gives new requirements their ids. Tasks may still cover a withdrawn one, so its id is never given again.
    fn number_requirements(&mut self) {
        let withdrawn = self
            .superseded
            .iter()
            .filter_map(|entry| entry["was"]["id"].as_str());
        let ids = self.requirements.iter().map(|said| &*said.id);
        let number = |id: &str| id.strip_prefix('R')?.parse::<u32>().ok();
        let last = ids.chain(withdrawn).filter_map(number).max();
        let new = self
            .requirements
            .iter_mut()
            .filter(|said| said.id.is_empty());
        for (requirement, number) in new.zip(u64::from(last.unwrap_or(0)) + 1..) {
            requirement.id = format!("R{number}");
        }
    }
}

/// The lines of `text` that aren't blank, with single spaces.
fn lines_of(text: &str) -> Vec<String> {
    let lines = text.lines().map(fp_plan::text::one_line);
    lines.filter(|line| !line.is_empty()).collect()
}

/// Adds the `texts` that `list` doesn't contain yet. A text that the user repeats becomes the user's.
fn add_statements(list: &mut Vec<RecordedStatement>, texts: &[String], by: Decider) {
    for text in texts {
        let known = list
            .iter_mut()
            .find(|said| wording(&said.text) == wording(text));
        match known {
            Some(said) if by == Decider::User => said.by = Some(by),
            Some(_) => {}
            None => list.push(RecordedStatement {
                id: String::new(),
                text: text.clone(),
                by: Some(by),
            }),
        }
    }
}

fn add_texts(list: &mut Vec<String>, texts: &[String]) {
    for text in texts {
        if list.iter().all(|known| wording(known) != wording(text)) {
            list.push(text.clone());
        }
    }
}

/// The beginning of a list item, a heading or a quotation.
static ITEM: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*(?:[-*+•>]|#+|\(?\d+[.)])\s"));

/// The requirements in the `lines` of `goal`, the first being line 1: a list item, a row of a table or a paragraph each.
/// Headings, blank lines and the line below a table's head require nothing, nor does what goes beyond the last line.
pub fn requirements_in(goal: &str, lines: &RangeInclusive<usize>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_new = true;
    let chosen = goal.lines().zip(1..).filter(|(_, n)| lines.contains(n));
    for (line, _) in chosen {
        let text = line.trim();
        let item = ITEM.find(line);
        if text.chars().all(|c| "|-: ".contains(c)) || text.starts_with('#') {
            is_new = true;
        } else if is_new || item.is_some() || text.starts_with('|') {
            found.push(line[item.map_or(0, |item| item.end())..].trim().to_owned());
            is_new = false;
        } else if let Some(last) = found.last_mut() {
            last.push_str(&format!("\n{text}"));
        }
    }
    found
}

/// The sentences of `text` in lower case, without final punctuation. A list item ends a sentence, a mere line break
/// doesn't. Unless a sentence clearly ends, it continues, because half a sentence may say the opposite.
fn sentences_of(text: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for line in text.lines() {
        let item = ITEM.find(line);
        if line.trim().is_empty() || item.is_some() {
            sentences.push(String::new());
        }
        for word in line[item.map_or(0, |item| item.end())..].split_whitespace() {
            let last = sentences.last_mut().expect("there is a first one");
            match last.ends_with(['.', '!', '?']) && !word.starts_with(char::is_lowercase) {
                true => sentences.push(word.to_owned()),
                false => last.push_str(&format!(" {word}")),
            }
        }
    }
    let bare = sentences
        .iter()
        .map(|text| wording(text.trim_end_matches(['.', '!', '?', ';', ','])));
    bare.filter(|sentence| !sentence.is_empty()).collect()
}

#[cfg(test)]
mod tests;

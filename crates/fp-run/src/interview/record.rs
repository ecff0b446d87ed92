//! The findings of an interview, as stored in `interview.json`: each text with its author, so that a reader can tell
//! what the user confirmed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::run::event::Decider;
use fp_plan::hint::Hint;
use fp_plan::text::json_fault;

pub const SCHEMA_VERSION: u64 = 1;

/// A requirement, or something in or out of scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedStatement {
    /// The id by which tasks refer to a requirement that they cover; scope statements have none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Decider>,
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    #[serde(default)]
    pub question: String,
    pub answer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Decider>,
}

impl fmt::Display for Decided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.by {
            Some(Decider::User) => " (by the user)",
            by => assumed(by),
        };
        write!(f, "{} {}{by}", self.question, self.answer)
    }
}

/// A rejected approach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Alternative {
    pub name: String,
    pub why_not: String,
}

/// The reason why a text isn't an interview.
#[derive(Debug, thiserror::Error)]
#[error("{fault}")]
pub struct InvalidInterview {
    fault: String,
    hint: &'static str,
}

impl Hint for InvalidInterview {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(self.hint.into())
    }
}

/// The findings of an interview.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Interview {
    pub(super) schema_version: u64,
    pub objective: Option<String>,
    /// Facts that must hold once the goal is reached.
    #[serde(deserialize_with = "readable_entries")]
    pub requirements: Vec<RecordedStatement>,
    #[serde(deserialize_with = "readable_entries")]
    pub scope_inclusions: Vec<RecordedStatement>,
    #[serde(deserialize_with = "readable_entries")]
    pub scope_exclusions: Vec<RecordedStatement>,
    #[serde(deserialize_with = "readable_entries")]
    pub decisions: Vec<Decided>,
    /// Assumptions that nobody was asked about.
    #[serde(deserialize_with = "readable_entries")]
    pub assumptions: Vec<String>,
    /// The chosen approach.
    pub approach: Option<String>,
    #[serde(deserialize_with = "readable_entries")]
    pub alternatives: Vec<Alternative>,
    pub test_strategy: Option<String>,
    #[serde(deserialize_with = "readable_entries")]
    pub open_questions: Vec<String>,
    /// The author of each single-text field.
    pub(super) said_by: BTreeMap<String, Decider>,
    /// Replaced and withdrawn entries, each with its field.
    pub(super) superseded: Vec<Value>,
    /// Fields that this version doesn't know.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Reads a list, leaving out entries that can't be read; a bare string is a statement, as in earlier versions. People
/// and models write the file too, and one malformed entry must not hide the others.
fn readable_entries<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let entries = match Value::deserialize(from)? {
        Value::Array(entries) => entries,
        single => vec![single],
    };
    let read = |entry: Value| {
        let statement = json!({ "text": entry });
        let read = serde_json::from_value(entry);
        read.or_else(|_| serde_json::from_value(statement)).ok()
    };
    Ok(entries.into_iter().filter_map(read).collect())
}

impl Interview {
    /// Reads the content of `interview.json`.
    pub fn parse(text: &str) -> Result<Self, InvalidInterview> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut interview: Self = serde_json::from_str(text).map_err(|fault| {
            let (line, column, detail) = json_fault(&fault);
            InvalidInterview {
                fault: format!("{line}:{column}: {detail}"),
                hint: "correct that place, or delete the file to begin anew",
            }
        })?;
        let version = interview.schema_version;
        if version > SCHEMA_VERSION {
            let versions = format!("schemaVersion {version}, this fp writes {SCHEMA_VERSION}");
            return Err(InvalidInterview {
                fault: format!("1:1: written by a newer fp ({versions})"),
                hint: "update fp: `fp --version` says what this one is",
            });
        }
        for (at, requirement) in interview.requirements.iter_mut().enumerate() {
            if requirement.id.is_empty() {
                requirement.id = format!("R{}", at + 1);
            }
        }
        Ok(interview)
    }

    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a record has text keys");
        text + "\n"
    }

    /// True if `field` came from the user.
    pub fn is_users(&self, field: &str) -> bool {
        self.said_by.get(field) == Some(&Decider::User)
    }

    /// Who said expressly that nothing is out of scope; `None` if nobody did, or if something is.
    pub fn excludes_nothing(&self) -> Option<Decider> {
        let by = self.said_by.get("scopeExclusions").copied();
        by.filter(|_| self.scope_exclusions.is_empty())
    }

    /// The approach, and the decisions and assumptions that name no requirement or one that a task `covers`.
    pub fn settled(&self, covers: impl Fn(&str) -> bool) -> Vec<String> {
        let decided = self.decisions.iter().map(|decided| {
            let text = format!("{} {}", decided.question, decided.answer);
            format!("Decided: {}", text.trim_start())
        });
        let assumed = self.assumptions.iter();
        let assumed = assumed.map(|text| format!("Assumed: {text}"));
        let concerns = decided.chain(assumed).filter(|text| {
            let mut named = self.requirements_named_in(text).peekable();
            named.peek().is_none() || named.any(&covers)
        });
        let approach = self.approach.iter();
        let approach = approach.map(|approach| format!("Approach: {approach}"));
        approach.chain(concerns).collect()
    }

    /// The ids of the requirements that `text` mentions.
    pub fn requirements_named_in(&self, text: &str) -> impl Iterator<Item = &str> {
        let ids = self.requirements.iter().map(|said| &*said.id);
        ids.filter(move |id| {
            text.split(|c: char| !c.is_alphanumeric() && c != '-')
                .any(|word| word.eq_ignore_ascii_case(id))
        })
    }
}

/// The words of `text` in lower case, separated by single blanks.
pub(super) fn wording(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// The interview about `goal` as Markdown, without empty sections.
pub fn interview_page(goal: &str, interview: &Interview) -> String {
    let said = |field: &str, text: &Option<String>| {
        let by = assumed(interview.said_by.get(field).copied());
        text.as_ref()
            .map_or_else(String::new, |text| format!("{text}{by}\n"))
    };
    let statement = |said: &RecordedStatement| {
        let id = Some(&said.id).filter(|id| !id.is_empty());
        let id = id.map_or_else(String::new, |id| format!("**{id}** "));
        format!("{id}{}{}", said.text, assumed(said.by))
    };
    let statements = |said: &[RecordedStatement]| bullet_list(said.iter().map(statement));
    let decision = |decided: &Decided| {
        let text = format!("{} {}", decided.question, decided.answer);
        text.trim_start().to_owned() + assumed(decided.by)
    };
    let other = |other: &Alternative| format!("{}: {}", other.name, other.why_not);
    let excluded = match interview.excludes_nothing() {
        Some(by) => format!("Nothing, as stated{}\n", assumed(Some(by))),
        None => statements(&interview.scope_exclusions),
    };
    let decisions = interview.decisions.iter().map(decision);
    let not_chosen = interview.alternatives.iter().map(other);
    let sections = [
        ("Goal", quoted_lines(&without_stated(goal, interview))),
        ("Objective", said("objective", &interview.objective)),
        ("Requirements", statements(&interview.requirements)),
        ("In scope", statements(&interview.scope_inclusions)),
        ("Out of scope", excluded),
        ("Decisions", bullet_list(decisions)),
        ("Assumptions", bullet_list(&interview.assumptions)),
        ("Approach", said("approach", &interview.approach)),
        ("Not chosen", bullet_list(not_chosen)),
        ("Tests", said("testStrategy", &interview.test_strategy)),
        ("Open questions", bullet_list(&interview.open_questions)),
    ];
    let sections = sections.into_iter().filter(|(_, body)| !body.is_empty());
    let sections = sections.map(|(title, body)| format!("\n## {title}\n\n{body}"));
    "# Interview\n".to_owned() + &sections.collect::<String>()
}

/// `goal` with the id in place of each line that is a requirement as it stands.
fn without_stated(goal: &str, interview: &Interview) -> String {
    let shown = |line: &str| {
        let said = line.trim_start_matches(['-', '*', '+', ' ']);
        let mut stated = interview.requirements.iter().filter(|it| it.text == said);
        let short = stated.next().map(|it| format!("- {}, below", it.id));
        short.unwrap_or_else(|| line.to_owned()) + "\n"
    };
    goal.lines().map(shown).collect()
}

/// A list item for each entry, with further lines indented to stay in the item.
pub fn bullet_list(entries: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let lines = entries.into_iter().map(|entry| {
        let lines: Vec<&str> = entry.as_ref().lines().collect();
        format!("- {}\n", lines.join("\n  "))
    });
    lines.collect()
}

/// A goal as a quotation, line by line.
pub(crate) fn quoted_lines(goal: &str) -> String {
    let lines = goal
        .lines()
        .map(|line| format!("> {line}").trim_end().to_owned() + "\n");
    lines.collect()
}

/// The suffix that marks an unconfirmed entry; empty for any other.
fn assumed(by: Option<Decider>) -> &'static str {
    if by == Some(Decider::Auto) {
        " (assumed)"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests;

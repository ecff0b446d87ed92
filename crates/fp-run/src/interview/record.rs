//! Reads and writes `interview.json`, the findings of the interview. Reading is lenient, because people and models
//! write the file too, and the whole document is kept, so nothing gets lost when something is added.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::Serialize;
use serde_json::{Map, Value};

use super::clearance::Clearance;
use fp_plan::hint::Hint;
use fp_plan::text::json_fault;

pub const SCHEMA_VERSION: u64 = 1;

/// A requirement; tasks cover it by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedRequirement {
    /// Its own id, or `R` and its position from 1.
    pub id: String,
    pub text: String,
    /// `user` or `auto`; empty if not recorded.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decided {
    pub question: String,
    pub answer: String,
    /// `user` or `auto`; empty if not recorded.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
}

impl fmt::Display for Decided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = if self.by == "user" {
            " (by the user)"
        } else {
            assumed(Some(&self.by))
        };
        write!(f, "{} {}{by}", self.question, self.answer)
    }
}

/// Something in or out of scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopeStatement<'a> {
    pub text: &'a str,
    /// `user` or `auto`; empty if not recorded.
    pub by: &'a str,
}

/// A rejected way to do it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Alternative {
    pub name: String,
    pub why_not: String,
}

/// The reason why a text is not an interview.
#[derive(Debug, thiserror::Error)]
pub enum InvalidInterview {
    #[error("{0}")]
    Fault(String),
    /// A newer version wrote it.
    #[error("1:1: written by a newer fp (schemaVersion {0}, this fp writes {SCHEMA_VERSION})")]
    Newer(u64),
}

impl Hint for InvalidInterview {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Newer(_) => "update fp: `fp --version` says what this one is".into(),
            Self::Fault(_) => "correct that place, or delete the file to begin anew".into(),
        })
    }
}

/// The findings of an interview.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Interview {
    pub(super) document: Map<String, Value>,
}

impl Interview {
    /// Reads the content of `interview.json`. Keeps and ignores whatever it doesn't understand.
    pub fn parse(text: &str) -> Result<Self, InvalidInterview> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Err(InvalidInterview::Fault(
                "1:1: it is empty, which is not JSON".to_owned(),
            ));
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(document)) => match document
                .get("schemaVersion")
                .and_then(Value::as_u64)
            {
                Some(version) if version > SCHEMA_VERSION => Err(InvalidInterview::Newer(version)),
                _ => Ok(Self { document }),
            },
            Ok(_) => {
                let said = "1:1: an interview is a JSON object, and this is none";
                Err(InvalidInterview::Fault(said.to_owned()))
            }
            Err(fault) => {
                let (line, column, detail) = json_fault(&fault);
                let said = format!("{line}:{column}: not JSON: {}", detail.to_lowercase());
                Err(InvalidInterview::Fault(said))
            }
        }
    }

    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(&self.document).expect("a JSON value has a text");
        text + "\n"
    }

    /// True if nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.document
            .keys()
            .all(|key| matches!(key.as_str(), "schemaVersion" | "planId"))
    }

    /// The requirements. Accepts objects with `text`, and plain strings.
    pub fn requirements(&self) -> Vec<RecordedRequirement> {
        let read = |(index, value): (usize, &Value)| {
            let id = text_of(value, &["id"]).map_or_else(|| format!("R{}", index + 1), Into::into);
            let text = value
                .as_str()
                .or_else(|| text_of(value, &["text", "description", "requirement"]))?;
            let by = text_of(value, &["by"]).unwrap_or_default().to_owned();
            Some(RecordedRequirement {
                id,
                text: text.trim().to_owned(),
                by,
            })
            .filter(|found| !found.text.is_empty())
        };
        self.entries("requirements")
            .iter()
            .enumerate()
            .filter_map(read)
            .collect()
    }

    pub fn objective(&self) -> Option<&str> {
        self.text("objective")
    }

    /// In scope.
    pub fn scope_inclusions(&self) -> Vec<&str> {
        self.texts("scopeInclusions")
    }

    /// Out of scope.
    pub fn scope_exclusions(&self) -> Vec<&str> {
        self.texts("scopeExclusions")
    }

    /// In scope, with who said so.
    pub fn inclusions(&self) -> Vec<ScopeStatement<'_>> {
        self.said("scopeInclusions")
    }

    /// Out of scope, with who said so.
    pub fn exclusions(&self) -> Vec<ScopeStatement<'_>> {
        self.said("scopeExclusions")
    }

    /// The source of an express statement that nothing is out of scope; `None` without one, or if something is.
    pub fn excludes_nothing(&self) -> Option<&str> {
        self.said_by("scopeExclusions")
            .filter(|_| self.scope_exclusions().is_empty())
    }

    /// The answered questions.
    pub fn decisions(&self) -> Vec<Decided> {
        let read = |value: &Value| {
            let field = |name: &str| text_of(value, &[name]).unwrap_or_default().to_owned();
            let decided = match value.as_str() {
                Some(text) => Decided {
                    question: String::new(),
                    answer: text.to_owned(),
                    by: String::new(),
                },
                None => Decided {
                    question: field("question"),
                    answer: field("answer"),
                    by: field("by"),
                },
            };
            Some(decided).filter(|decided| !decided.answer.is_empty())
        };
        self.entries("decisions").iter().filter_map(read).collect()
    }

    /// The ids of the requirements that `decided` speaks of.
    pub fn requirements_named_in(&self, decided: &Decided) -> impl Iterator<Item = String> {
        let text = format!("{} {}", decided.question, decided.answer);
        let is_named = move |id: &String| {
            text.split(|c: char| !c.is_alphanumeric() && c != '-')
                .any(|word| word.eq_ignore_ascii_case(id))
        };
        self.requirements()
            .into_iter()
            .map(|requirement| requirement.id)
            .filter(is_named)
    }

    /// The assumptions made without asking.
    pub fn assumptions(&self) -> Vec<&str> {
        self.texts("assumptions")
    }

    pub fn approach(&self) -> Option<&str> {
        self.text("approach")
    }

    /// The rejected alternatives that have both a name and a reason.
    pub fn alternatives(&self) -> Vec<Alternative> {
        let read = |value: &Value| {
            let field = |name: &str| text_of(value, &[name]).filter(|text| !text.is_empty());
            Some(Alternative {
                name: field("name")?.into(),
                why_not: field("whyNot")?.into(),
            })
        };
        self.entries("alternatives")
            .iter()
            .filter_map(read)
            .collect()
    }

    pub fn test_strategy(&self) -> Option<&str> {
        self.text("testStrategy")
    }

    pub fn open_questions(&self) -> Vec<&str> {
        self.texts("openQuestions")
    }

    /// The places in the code that were read for it.
    pub fn seen(&self) -> Vec<&str> {
        self.texts("seen")
    }

    /// The source of `field`: `user` or `auto`.
    pub fn said_by(&self, field: &str) -> Option<&str> {
        self.document.get("saidBy")?.get(field)?.as_str()
    }

    fn text(&self, field: &str) -> Option<&str> {
        let text = self.document.get(field)?.as_str()?.trim();
        Some(text).filter(|text| !text.is_empty())
    }

    fn texts(&self, field: &str) -> Vec<&str> {
        self.said(field).into_iter().map(|said| said.text).collect()
    }

    fn said(&self, field: &str) -> Vec<ScopeStatement<'_>> {
        let said = self.entries(field).iter().filter_map(|value| {
            let text = value
                .as_str()
                .or_else(|| text_of(value, &["text", "question", "description"]))?;
            Some(ScopeStatement {
                text: text.trim(),
                by: text_of(value, &["by"]).unwrap_or_default(),
            })
        });
        said.filter(|said| !said.text.is_empty()).collect()
    }

    /// The entries of a list. Anything else counts as a list of one.
    fn entries(&self, field: &str) -> &[Value] {
        match self.document.get(field) {
            Some(Value::Array(entries)) => entries,
            single => single.map_or(&[], std::slice::from_ref),
        }
    }
}

fn text_of<'v>(value: &'v Value, names: &[&str]) -> Option<&'v str> {
    names
        .iter()
        .find_map(|name| value.get(name)?.as_str())
        .map(str::trim)
}

/// The interview about `goal` as Markdown, without empty sections.
pub fn interview_page(goal: &str, interview: &Interview) -> String {
    let mut text = String::from("# Interview\n");
    section(&mut text, "Goal", quoted_lines(goal));
    if let Some(objective) = interview.objective() {
        section(
            &mut text,
            "Objective",
            format!("{objective}{}\n", assumed(interview.said_by("objective"))),
        );
    }
    let requirements = interview.requirements();
    let requirements = requirements
        .iter()
        .map(|r| format!("**{}** {}{}", r.id, r.text, assumed(Some(&r.by))));
    section(&mut text, "Requirements", lines(requirements));
    section(&mut text, "In scope", scope(&interview.inclusions()));
    let excluded = match interview.excludes_nothing() {
        Some(by) => format!("Nothing, as stated{}\n", assumed(Some(by))),
        None => scope(&interview.exclusions()),
    };
    section(&mut text, "Out of scope", excluded);
    let decisions = interview.decisions().into_iter().map(|decided| {
        let mark = assumed(Some(&decided.by));
        match decided.question.as_str() {
            "" => format!("{}{mark}", decided.answer),
            question => format!("{question} {}{mark}", decided.answer),
        }
    });
    section(&mut text, "Decisions", lines(decisions));
    section(&mut text, "Assumptions", lines(interview.assumptions()));
    section(&mut text, "Approach", approach(interview));
    if let Some(tests) = interview.test_strategy() {
        section(
            &mut text,
            "Tests",
            format!("{tests}{}\n", assumed(interview.said_by("testStrategy"))),
        );
    }
    section(
        &mut text,
        "Open questions",
        lines(interview.open_questions()),
    );
    section(&mut text, "Read in the code", lines(interview.seen()));
    text
}

impl Clearance {
    /// The last section of the interview's page.
    pub fn section(&self) -> String {
        let left_open = self.is_left_open();
        let items = self
            .items
            .iter()
            .filter(|item| !left_open || item.missing.is_some())
            .map(|item| {
                let missing = item
                    .missing
                    .as_ref()
                    .map(|what| format!("; {what}"))
                    .unwrap_or_default();
                format!("{}: {}{missing}", item.name, item.state.into_str())
            });
        let (title, head) = if left_open {
            (
                "Left open",
                format!("Nobody is asked any more after {} rounds.", self.rounds),
            )
        } else {
            (
                "Clearance",
                format!(
                    "Interview: {}. Rounds: {}.",
                    self.in_words(),
                    self.rounds_in_words()
                ),
            )
        };
        let mut text = String::new();
        section(&mut text, title, format!("{head}\n\n{}", lines(items)));
        text
    }
}

/// The chosen approach, then the rejected ones.
fn approach(interview: &Interview) -> String {
    let chosen = interview
        .approach()
        .map(|text| format!("{text}{}\n", assumed(interview.said_by("approach"))));
    let others = interview.alternatives();
    let others = lines(
        others
            .iter()
            .map(|other| format!("{}: {}", other.name, other.why_not)),
    );
    let others = if others.is_empty() {
        others
    } else {
        format!("Not chosen:\n\n{others}")
    };
    chosen
        .into_iter()
        .chain(Some(others).filter(|text| !text.is_empty()))
        .collect::<Vec<_>>()
        .join("\n")
}

fn scope(said: &[ScopeStatement<'_>]) -> String {
    lines(
        said.iter()
            .map(|said| format!("{}{}", said.text, assumed(Some(said.by)))),
    )
}

fn section(text: &mut String, title: &str, body: String) {
    if !body.is_empty() {
        let _ = write!(text, "\n## {title}\n\n{body}");
    }
}

/// Writes a list item for each entry, with further lines indented to stay in the item.
fn lines(entries: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut text = String::new();
    for entry in entries {
        let _ = writeln!(
            text,
            "- {}",
            entry.as_ref().lines().collect::<Vec<_>>().join("\n  ")
        );
    }
    text
}

/// A goal as a quotation, line by line.
pub(crate) fn quoted_lines(goal: &str) -> String {
    goal.lines().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{}", format!("> {line}").trim_end());
        text
    })
}

/// Marks unconfirmed entries.
fn assumed(by: Option<&str>) -> &'static str {
    if by == Some("auto") { " (assumed)" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_read_in_every_form() {
        let check = |json: &str, expect: &[(&str, &str)]| {
            let found = Interview::parse(json).unwrap().requirements();
            let found: Vec<_> = found
                .iter()
                .map(|r| (r.id.as_str(), r.text.as_str()))
                .collect();
            assert_eq!(found, expect, "{json}");
        };
        check("{}", &[]);
        check(
            r#"{"requirements": [{"id": "R7", "text": "a"}, {"text": " b "}]}"#,
            &[("R7", "a"), ("R2", "b")],
        );
        check(
            r#"{"requirements": ["a", "", 3, null, "b"]}"#,
            &[("R1", "a"), ("R5", "b")],
        );
        check(r#"{"requirements": "a"}"#, &[("R1", "a")]);
        check(r#"{"requirements": 3}"#, &[]);
    }

    #[test]
    fn a_text_that_is_no_interview_says_where() {
        let check = |text: &str, expect: &str| {
            assert_eq!(
                Interview::parse(text).unwrap_err().to_string(),
                expect,
                "{text:?}"
            );
        };
        check("", "1:1: it is empty, which is not JSON");
        check(
            "{\n  \"objective\": \"x\",\n}",
            "3:1: not JSON: trailing comma",
        );
        check(
            "{\"schemaVersion\": 2}",
            "1:1: written by a newer fp (schemaVersion 2, this fp writes 1)",
        );
        check("[]", "1:1: an interview is a JSON object, and this is none");
    }

    #[test]
    fn a_record_reads_well() {
        let interview = Interview::parse(
            r#"{
                "objective": "Greet people",
                "saidBy": {"objective": "auto"},
                "requirements": ["It greets", {"id": "R5", "text": "It greets\nby name", "by": "auto"}],
                "scopeInclusions": [{"text": "the command", "by": "auto"}],
                "scopeExclusions": ["translations"],
                "approach": "a subcommand",
                "alternatives": [{"name": "a plugin", "whyNot": "more to install"}, {"name": "x"}, 3],
                "decisions": [{"question": "Which language?", "answer": "Rust", "by": "auto"}, "no colours"],
                "testStrategy": "unit tests",
                "openQuestions": ["Else?"]
            }"#,
        )
        .unwrap();
        insta::assert_snapshot!(interview_page("Add a greeting\n\n# now", &interview), @r"
        # Interview

        ## Goal

        > Add a greeting
        >
        > # now

        ## Objective

        Greet people (assumed)

        ## Requirements

        - **R1** It greets
        - **R5** It greets
          by name (assumed)

        ## In scope

        - the command (assumed)

        ## Out of scope

        - translations

        ## Decisions

        - Which language? Rust (assumed)
        - no colours

        ## Approach

        a subcommand

        Not chosen:

        - a plugin: more to install

        ## Tests

        unit tests

        ## Open questions

        - Else?
        ");
        insta::assert_snapshot!(interview_page("x", &Interview::default()), @r"
        # Interview

        ## Goal

        > x
        ");
    }
}

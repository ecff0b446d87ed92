//! Scripts for the roles that a model plays in a run.
//!
//! The scripts keep no state: like a model, they go by what they have read, and work out where they are from the
//! conversation. So a session can be killed and restarted at any moment.

mod builder;
mod lead;
mod planner;
mod planning_agents;
mod skills;
mod verifier;
mod walk;

pub(crate) use builder::Builder;
pub(crate) use lead::{Loss, OVER};
pub(crate) use planner::{
    AMBIGUITY, APPROACH, INTERVIEW, PLANNED, Planner, RESEARCHED, REVIEW, ROADMAP, STOPPED,
    TESTING, UNCONFIRMED, WISH,
};
pub(crate) use verifier::Verifier;

use serde_json::{Value, json};

use crate::request::{Block, Entry, Request, Speaker, text};

/// All roles in `/fp:plan` and `/fp:implement`.
#[derive(Default)]
pub(crate) struct Cast {
    /// The scripted behaviour during planning.
    pub(crate) planner: Planner,
    /// The behaviour of every builder.
    pub(crate) builder: Builder,
    /// The behaviour of every verifier.
    pub(crate) verifier: Verifier,
    /// The actions that the lead of a run forgets.
    pub(crate) loss: Loss,
}

impl Cast {
    /// The reply of the role that speaks in `request`.
    pub(crate) fn reply(&self, request: &Request) -> Vec<Block> {
        match &request.speaker {
            Speaker::Lead => match Skill::called(request) {
                Some(skill) if skill.name == "plan" => self.planner.reply(request, &skill),
                Some(skill) if skill.name != "implement" => skills::reply(request, &skill),
                skill => lead::reply(request, &skill.unwrap_or_default(), self.loss),
            },
            Speaker::Agent { kind, .. } => match kind.strip_prefix("fp:").unwrap_or(kind) {
                "builder" => self.builder.reply(request),
                "verifier" => self.verifier.reply(request),
                role => self.planner.agent(request, role),
            },
            Speaker::Client => text("ok"),
        }
    }
}

/// The skill that the user called last.
#[derive(Default)]
struct Skill {
    /// The skill's name, without `fp:`.
    name: String,
    /// The text that the user typed after the name.
    arguments: String,
    /// The index of the call among the entries.
    position: usize,
}

impl Skill {
    fn called(request: &Request) -> Option<Self> {
        let within = |text: &str, from: &str, to: &str| {
            let (_, rest) = text.split_once(from)?;
            Some(rest.split_once(to)?.0.trim().to_owned())
        };
        request
            .entries()
            .iter()
            .enumerate()
            .rev()
            .find_map(|(position, entry)| match entry {
                Entry::Heard(text) => {
                    let name = within(text, "<command-name>/fp:", "</command-name>")?;
                    let arguments =
                        within(text, "<command-args>", "</command-args>").unwrap_or_default();
                    Some(Self {
                        name,
                        arguments,
                        position,
                    })
                }
                _ => None,
            })
    }
}

/// A tool call in the conversation, with its result.
struct Done<'a> {
    /// The index of the call among the entries.
    position: usize,
    tool: &'a str,
    input: &'a Value,
    result: &'a str,
    failed: bool,
}

impl Done<'_> {
    /// The command line of a Bash call; empty for other tools.
    fn command(&self) -> &str {
        match self.tool {
            "Bash" => self.input["command"].as_str().unwrap_or_default(),
            _ => "",
        }
    }
}

/// The tool calls of the conversation, oldest first.
fn calls(request: &Request) -> Vec<Done<'_>> {
    let entries = request.entries();
    let result_of = |wanted: &str| {
        entries.iter().find_map(|entry| match entry {
            Entry::Returned { id, text, failed } if id == wanted => Some((text.as_str(), *failed)),
            _ => None,
        })
    };
    let calls = entries
        .iter()
        .enumerate()
        .filter_map(|(position, entry)| match entry {
            Entry::Called { id, tool, input } => {
                let (result, failed) = result_of(id).unwrap_or_default();
                Some(Done {
                    position,
                    tool,
                    input,
                    result,
                    failed,
                })
            }
            _ => None,
        });
    calls.collect()
}

/// The first command in backticks in `text` that starts with `start`.
fn quoted_command<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .find(|quoted| quoted.starts_with(start))
}

/// The last line of `text` that is a command starting with `start`, without its indentation.
fn command_line<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.lines()
        .rev()
        .map(str::trim)
        .find(|line| line.starts_with(start))
}

/// Converts the question that `fp approve` printed into the format of AskUserQuestion.
pub(crate) fn printed_question(printed: &str) -> Value {
    let parts = || {
        let (_, question) = printed.split_once("\nquestion: ")?;
        let (question, rest) = question.split_once("\nheader: ")?;
        let (header, options) = rest.split_once("\noptions:\n")?;
        Some((question, header, options))
    };
    let (question, header, options) =
        parts().unwrap_or_else(|| panic!("no question is printed: {printed}"));
    let options = options
        .lines()
        .map_while(|line| line.strip_prefix("- ")?.split_once(": "));
    let options: Vec<_> = options
        .map(|(label, description)| json!({ "label": label, "description": description }))
        .collect();
    json!({ "question": question, "header": header, "options": options, "multiSelect": false })
}

/// Quotes `text` as a single shell word.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

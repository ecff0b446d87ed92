//! The parts that a model plays in a run, scripted.
//!
//! The scripts keep no state: like a model they go by what they have read, and find out where they are from
//! the conversation. So a session may be killed and started again at any moment.

mod builder;
mod lead;
mod planner;
mod verifier;

pub(crate) use builder::Builder;
pub(crate) use lead::OVER;
pub(crate) use planner::{INTERVIEW, PLANNED, Planner, REVIEW, UNCONFIRMED};
pub(crate) use verifier::Verifier;

use crate::request::{Block, Entry, Request, Speaker, text};

/// Everybody in `/fp:plan` and `/fp:implement`.
#[derive(Default)]
pub(crate) struct Cast {
    /// How planning goes.
    pub(crate) planner: Planner,
    /// How every builder works.
    pub(crate) builder: Builder,
    /// How every verifier judges.
    pub(crate) verifier: Verifier,
}

impl Cast {
    /// What whoever speaks in `request` answers.
    pub(crate) fn reply(&self, request: &Request) -> Vec<Block> {
        match &request.speaker {
            Speaker::Lead if is_planning(request) => self.planner.reply(request),
            Speaker::Lead => lead::reply(request),
            Speaker::Agent { kind, .. } => match kind.as_str() {
                "fp:researcher" => planner::write_findings(request, "research.md", "Nothing is open."),
                "fp:decomposer" => self.planner.decompose(request),
                "fp:critic" => planner::write_findings(request, "critique.md", "PASS"),
                "fp:builder" => self.builder.reply(request),
                "fp:verifier" => self.verifier.reply(request),
                _ => panic!("nobody plays {kind}"),
            },
            Speaker::Client => text("ok"),
        }
    }
}

fn is_planning(request: &Request) -> bool {
    let name = "<command-name>/fp:plan</command-name>";
    request.opening().iter().any(|entry| matches!(entry, Entry::Heard(text) if text.contains(name)))
}

/// A tool call of the conversation, with what came back.
struct Done<'a> {
    /// Where the call is among the entries.
    position: usize,
    tool: &'a str,
    input: &'a serde_json::Value,
    result: &'a str,
    failed: bool,
}

impl Done<'_> {
    /// The command line, of a Bash call.
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
    let calls = entries.iter().enumerate().filter_map(|(position, entry)| match entry {
        Entry::Called { id, tool, input } => {
            let (result, failed) = result_of(id).unwrap_or_default();
            Some(Done { position, tool, input, result, failed })
        }
        _ => None,
    });
    calls.collect()
}

/// The first command in backticks in `text` that starts with `start`.
fn quoted_command<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.split('`').skip(1).step_by(2).find(|quoted| quoted.starts_with(start))
}

/// The last line of `text` that is a command starting with `start`, without its indentation.
fn command_line<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.lines().rev().map(str::trim).find(|line| line.starts_with(start))
}

/// `text` as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

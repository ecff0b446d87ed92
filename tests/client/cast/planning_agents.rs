//! The agents of `/fp:plan`: each follows the prompt that it got from the lead.

use std::path::Path;

use serde_json::json;

use super::planner::{AMBIGUITY, Planner};
use super::{calls, quoted};
use crate::request::{Block, Entry, Request, bash, call, text};

impl Planner {
    /// The next message or tool call of the planning agent with this `role`.
    pub(super) fn agent(&self, request: &Request, role: &str) -> Vec<Block> {
        match role {
            "planner" if brief(request, "Stage") == "decompose" => self.decompose(request),
            "planner" => in_turn(
                request,
                match brief(request, "Mode") {
                    "\"full\"" => vec![bash(format!(
                        "fp interview {} --by auto --open {}",
                        brief(request, "Plan"),
                        quoted(AMBIGUITY)
                    ))],
                    _ => vec![bash(format!("fp specs for {}", brief(request, "Plan")))],
                },
            ),
            "researcher" => in_turn(
                request,
                vec![write(request, "research.md", "Nothing is open.\n")],
            ),
            "critic" => self.criticise(request),
            "linear-sync" => in_turn(
                request,
                vec![bash(format!(
                    "fp linear {} 1 ENG-1",
                    brief(request, "Plan")
                ))],
            ),
            other => panic!("nobody plays {other}"),
        }
    }

    fn decompose(&self, request: &Request) -> Vec<Block> {
        let revision = number(request, "Revision");
        let drafts = self
            .drafts
            .get(revision)
            .or(self.drafts.last())
            .expect("a planner has a draft");
        let done = calls(request);
        let written = done.iter().filter(|call| call.tool == "Write").count();
        let plan = brief(request, "Plan");
        let of_plan = |file: &str| Path::new(brief(request, "Folder")).join(file);
        let (tree, material) = (of_plan("tasks.md"), of_plan("material.md"));
        match done.last() {
            Some(call) if call.tool == "Write" => bash(format!("fp validate {plan} --fix")),
            Some(call) if call.command().starts_with("fp validate") && !call.failed => {
                text("The tree is valid.")
            }
            last if last.is_none_or(|call| call.failed || call.tool == "Read") => {
                match drafts.get(written) {
                    Some(_) if material.exists() && last.is_none() => {
                        call("Read", json!({ "file_path": material }))
                    }
                    // The client refuses to overwrite a file that hasn't been read.
                    Some(_) if tree.exists() && last.is_none() => {
                        call("Read", json!({ "file_path": tree }))
                    }
                    Some(draft) => write(request, "tasks.md", draft),
                    None => text("The tree can't be made valid."),
                }
            }
            _ => text("The tree is valid."),
        }
    }

    fn criticise(&self, request: &Request) -> Vec<Block> {
        let round = number(request, "Round");
        let flags = self
            .critiques
            .get(round - 1)
            .map_or("--pass 1.1,1.2,2", String::as_str);
        in_turn(
            request,
            vec![bash(format!(
                "fp critique record {} {flags}",
                brief(request, "Plan")
            ))],
        )
    }
}

/// The first of `steps` that hasn't been done yet; after all of them, the result of the last one.
fn in_turn(request: &Request, steps: Vec<Vec<Block>>) -> Vec<Block> {
    let done = calls(request);
    let report = || text(done.last().map_or("", |last| last.result));
    steps.into_iter().nth(done.len()).unwrap_or_else(report)
}

fn write(request: &Request, file: &str, content: &str) -> Vec<Block> {
    let file = Path::new(brief(request, "Folder")).join(file);
    call("Write", json!({ "file_path": file, "content": content }))
}

/// The value of the line that starts with `name` in the lead's prompt, such as `Plan: …`.
fn brief<'a>(request: &'a Request, name: &str) -> &'a str {
    let found = request
        .opening()
        .iter()
        .rev()
        .find_map(|entry| match entry {
            Entry::Heard(text) => text
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")),
            _ => None,
        });
    found.unwrap_or_else(|| panic!("the prompt has no line {name:?}"))
}

fn number(request: &Request, name: &str) -> usize {
    brief(request, name).parse().expect("it is a number")
}

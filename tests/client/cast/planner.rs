//! The planning side: the lead of `/fp:plan`, and the agents that it starts.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::lead::{answer_in, arguments, heard_of};
use super::{Done, calls, quoted};
use crate::request::{Block, Entry, Request, bash, call, text};

/// What the lead asks in the interview; the first option is the one it recommends.
pub(crate) const INTERVIEW: &str = "What does the greeting look like?";
/// What the lead asks when the tree is there.
pub(crate) const REVIEW: &str = "Shall the plan be built as it is?";
/// What the lead says last when the plan is approved.
pub(crate) const PLANNED: &str = "The plan is approved.";
/// What the lead says when it may not ask and was not told to do without.
pub(crate) const UNCONFIRMED: &str = "Nobody can confirm this here.";

/// How planning goes.
#[derive(Default)]
pub(crate) struct Planner {
    drafts: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct New {
    plan_id: String,
    path: String,
    mode: Value,
    steps: Vec<String>,
}

/// What the lead knows while it plans.
struct Planning<'a> {
    request: &'a Request,
    done: &'a [Done<'a>],
    new: New,
    goal: String,
    auto: bool,
}

impl Planner {
    /// Whoever writes `tasks.md` writes `draft` next, when `fp validate` has refused the one before.
    pub(crate) fn drafting(mut self, draft: &str) -> Self {
        self.drafts.push(draft.to_owned());
        self
    }

    /// The lead's next words or call.
    pub(super) fn reply(&self, request: &Request) -> Vec<Block> {
        let done = calls(request);
        let (goal, flags) = goal_and_flags(&arguments(request));
        let Some(first) = done.iter().position(|call| call.command().starts_with("fp new")) else {
            return bash(format!("fp new --format json {} {flags}", quoted(&goal)).trim_end());
        };
        let new = serde_json::from_str(done[first].result)
            .unwrap_or_else(|error| panic!("`fp new` printed no plan: {error}: {}", done[first].result));
        let auto = flags.contains("--auto");
        let planning = Planning { request, done: &done[first + 1..], new, goal, auto };
        if !auto && !request.offers("AskUserQuestion") {
            return text(format!("{UNCONFIRMED} {INTERVIEW} `/fp:plan --auto {}`", planning.goal));
        }
        if let Some(role) = planning.awaited() {
            return text(format!("Waiting for the {role}."));
        }
        let calls = planning.new.steps.iter().flat_map(|step| self.step(&planning, step));
        let next = calls.into_iter().nth(planning.done.len());
        next.unwrap_or_else(|| text(format!("{PLANNED} /fp:implement {}", planning.new.plan_id)))
    }

    /// The calls of a step, by the skill's section of that name.
    fn step(&self, planning: &Planning<'_>, step: &str) -> Vec<Vec<Block>> {
        let plan = &planning.new.plan_id;
        match step {
            "interview" => planning.interview(),
            "research" => vec![planning.agent("researcher")],
            "decompose" if planning.new.mode["name"] == "direct" => {
                let file = Path::new(&planning.new.path).join("tasks.md");
                let draft = self.drafts.last().expect("a planner has a draft");
                let written = call("Write", json!({ "file_path": file, "content": draft }));
                vec![written, bash(format!("fp validate {plan} --fix"))]
            }
            "decompose" => vec![planning.agent("decomposer")],
            "critique" => vec![planning.agent("critic")],
            "review" => planning.review(),
            "approve" if planning.new.steps.iter().any(|step| step == "review") && !planning.auto => {
                vec![bash(format!("fp approve {plan} --by user"))]
            }
            "approve" => {
                vec![bash(format!("fp plan {plan}")), bash(format!("fp approve {plan} --by auto"))]
            }
            other => panic!("the skill has no section for the step {other:?}"),
        }
    }

    /// The next words or call of the agent that writes the tree.
    pub(super) fn decompose(&self, request: &Request) -> Vec<Block> {
        let done = calls(request);
        let written = done.iter().filter(|call| call.tool == "Write").count();
        let again = done.last().is_none_or(|call| call.failed);
        match done.last() {
            Some(call) if call.tool == "Write" => {
                bash(format!("fp validate {} --fix", brief(request, "Plan")))
            }
            _ if again => {
                let draft = self.drafts.get(written).expect("the last draft is valid");
                let file = Path::new(brief(request, "Folder")).join("tasks.md");
                call("Write", json!({ "file_path": file, "content": draft }))
            }
            _ => text("The tree is valid."),
        }
    }
}

impl Planning<'_> {
    /// The agent that the client has put into the background although it was asked not to, until it ends.
    fn awaited(&self) -> Option<&str> {
        let last = self.done.last().filter(|call| call.tool == "Agent")?;
        let role = last.input["description"].as_str()?;
        let ended = heard_of(&self.request.entries()[last.position..]).iter().any(|name| name == role);
        (last.result.contains("launched successfully") && !ended).then_some(role)
    }

    fn interview(&self) -> Vec<Vec<Block>> {
        let plan = &self.new.plan_id;
        let known = "--objective 'A command that greets a person by name' \
                     --requirement 'bin/greet prints a greeting' --approach 'Like bin/hello' --tests 'A shell test'";
        if self.auto {
            let assumed = "--assume 'The greeting is Hello, Ada'";
            return vec![bash(format!("fp interview {plan} --by auto {known} {assumed}"))];
        }
        let asked = self.done.iter().find(|call| call.tool == "AskUserQuestion");
        let answer = asked.and_then(|call| answer_in(call.result, INTERVIEW)).unwrap_or_default();
        let decision = quoted(&format!("{INTERVIEW}|{answer}"));
        let options = [("Hello, Ada", "As in a letter"), ("HELLO, ADA", "As bin/hello does")];
        vec![
            question(INTERVIEW, "Greeting", &options),
            bash(format!("fp interview {plan} --by user {known} --decision {decision}")),
        ]
    }

    fn review(&self) -> Vec<Vec<Block>> {
        let plan = &self.new.plan_id;
        let mut calls = vec![bash(format!("fp plan {plan}")), bash(format!("fp show {plan}"))];
        if !self.auto {
            let options =
                [("Proceed", "Approve it"), ("Change", "Say what is wrong"), ("Stop", "Leave it unapproved")];
            calls.push(question(REVIEW, "Review", &options));
        }
        calls
    }

    fn agent(&self, role: &str) -> Vec<Block> {
        let prompt = format!(
            "Goal: {}\nPlan: {}\nFolder: {}\nRole: {role}",
            self.goal, self.new.plan_id, self.new.path
        );
        let input = json!({
            "description": role, "subagent_type": format!("fp:{role}"), "prompt": prompt,
            "run_in_background": false,
        });
        assert!(self.request.offers("Agent"), "the lead may start agents");
        call("Agent", input)
    }
}

/// The next words or call of an agent that writes its findings to one file.
pub(super) fn write_findings(request: &Request, file: &str, findings: &str) -> Vec<Block> {
    match request.turns() {
        0 => {
            let file = Path::new(brief(request, "Folder")).join(file);
            call("Write", json!({ "file_path": file, "content": findings }))
        }
        _ => text(findings),
    }
}

fn question(question: &str, header: &str, options: &[(&str, &str)]) -> Vec<Block> {
    let options =
        options.iter().map(|(label, description)| json!({ "label": label, "description": description }));
    let options: Vec<_> = options.collect();
    let asked = json!({ "question": question, "header": header, "options": options, "multiSelect": false });
    call("AskUserQuestion", json!({ "questions": [asked] }))
}

/// A line of the prompt that the lead gave: `Plan: …`.
fn brief<'a>(request: &'a Request, name: &str) -> &'a str {
    let found = request.opening().iter().rev().find_map(|entry| match entry {
        Entry::Heard(text) => text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("the prompt has no line {name:?}"))
}

/// Splits what the user typed into the goal and the flags.
fn goal_and_flags(arguments: &str) -> (String, String) {
    let (mut goal, mut flags) = (Vec::new(), Vec::new());
    let mut words = arguments.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "--mode" | "--max-complexity" => flags.extend([Some(word), words.next()].into_iter().flatten()),
            _ if word.starts_with("--") => flags.push(word),
            _ => goal.push(word),
        }
    }
    (goal.join(" "), flags.join(" "))
}

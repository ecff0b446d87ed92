//! The lead of `/fp:implement`, which does only what `fp next` lists.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Done, Skill, calls, printed_question};
use crate::request::{Block, Entry, Request, bash, call, text};

/// The beginning of the lead's message when the run is over.
pub(crate) const OVER: &str = "The run is over.";

/// The actions that the lead skips the first time that `fp next` prints them; the lead calls `fp next` again at once,
/// as after a compaction.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    #[default]
    Nothing,
    Everything,
    /// The last of several actions that are due together.
    LastOfSeveral,
}

/// An action as it was printed.
#[derive(Deserialize)]
struct Printed {
    #[serde(default)]
    again: bool,
    #[serde(flatten)]
    action: Action,
}

#[derive(Deserialize)]
struct Due {
    actions: Vec<Printed>,
}

#[derive(Deserialize, PartialEq)]
#[serde(tag = "action", rename_all = "lowercase")]
enum Action {
    Spawn {
        name: String,
        agent: String,
        prompt: String,
    },
    Verify {
        name: String,
        agent: String,
        prompt: String,
    },
    Resume {
        name: String,
        message: String,
    },
    Ask(Question),
    Wait {
        on: Vec<String>,
    },
    Deadlock {
        chain: Vec<String>,
    },
    Revise {
        due: Vec<String>,
    },
    Finish {
        report: String,
    },
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Question {
    question: String,
    /// The text of the question, with its code.
    printed: String,
    header: String,
    options: Value,
    multi_select: bool,
}

/// A tool call that an action asks for.
enum Step<'a> {
    Start {
        name: &'a str,
        agent: &'a str,
        prompt: &'a str,
    },
    Send {
        name: &'a str,
        message: &'a str,
    },
    Ask(&'a Question),
}

/// The lead's next message or tool call.
pub(super) fn reply(request: &Request, skill: &Skill, loss: Loss) -> Vec<Block> {
    let mut done = calls(request);
    done.retain(|call| call.position > skill.position);
    let arguments = &skill.arguments;
    let Some(start) = done
        .iter()
        .rev()
        .find(|call| call.command().starts_with("fp start"))
    else {
        if let Some(plan) = plan_to_go_on_with(request) {
            return go_on_from(request, plan, &done, loss);
        }
        return run_start(request, arguments);
    };
    let plan = arguments
        .split_whitespace()
        .next()
        .filter(|word| !word.starts_with("--"))
        .unwrap_or_default();
    if start.failed {
        let last = done.last().expect("the start is a call");
        return match (last.tool, last.command()) {
            ("AskUserQuestion", _) if last.result.contains("=\"Approve\"") => {
                run_start(request, arguments)
            }
            (_, command)
                if command.starts_with("fp approve") && request.offers("AskUserQuestion") =>
            {
                call(
                    "AskUserQuestion",
                    json!({ "questions": [printed_question(last.result)] }),
                )
            }
            (_, command)
                if command.starts_with("fp start") && start.result.contains("fp approve") =>
            {
                bash(format!("fp approve {plan}"))
            }
            _ => text(format!("The run does not start: {}", start.result)),
        };
    }
    if let Some((_, line)) = start.result.split_once("In the background: ") {
        return in_background(request, &done, line.lines().next().unwrap_or_default());
    }
    go_on_from(request, plan, &done, loss)
}

/// Runs `line`, which leads the run, in the background, and reports its output once it has ended.
fn in_background(request: &Request, done: &[Done<'_>], line: &str) -> Vec<Block> {
    let Some(started) = done.iter().rev().find(|call| call.command() == line) else {
        return run_in_background(line);
    };
    let output = request.entries()[started.position..]
        .iter()
        .rev()
        .find_map(|entry| match entry {
            Entry::Heard(text) => text
                .split_once("<output-file>")?
                .1
                .split_once("</output-file>")
                .map(|(file, _)| file),
            _ => None,
        });
    let Some(output) = output else {
        return text("It leads.");
    };
    let given = request.news().iter().find_map(|entry| match entry {
        Entry::Heard(text) => text.strip_prefix("UserPromptSubmit hook additional context: "),
        _ => None,
    });
    if let Some(printed) = given {
        return ask_and_run_again(printed, line);
    }
    let read = done
        .iter()
        .rev()
        .find(|call| call.tool == "Read" && call.position > started.position);
    match read.map(|read| read.result) {
        None => call("Read", json!({ "file_path": output })),
        Some(printed) if printed.contains("   question: ") => ask_and_run_again(printed, line),
        Some(printed) => text(format!("{OVER}\n{printed}")),
    }
}

fn ask_and_run_again(printed: &str, line: &str) -> Vec<Block> {
    let mut asked = call(
        "AskUserQuestion",
        json!({ "questions": [run_question(printed)] }),
    );
    asked.extend(run_in_background(line));
    asked
}

fn run_in_background(line: &str) -> Vec<Block> {
    call(
        "Bash",
        json!({ "command": line, "description": "Lead the run", "run_in_background": true }),
    )
}

/// The question that `fp run` printed, in the client's format.
fn run_question(printed: &str) -> Value {
    // The client shows a file with line numbers.
    let lines = || {
        printed.lines().map(|line| {
            line.split_once(['\t', '→'])
                .map_or(line, |(_, text)| text)
                .trim()
        })
    };
    let after = |label: &str| {
        lines()
            .find_map(|line| line.strip_prefix(label))
            .unwrap_or_default()
            .trim()
    };
    let options = lines().filter_map(|line| {
        let (label, description) = line.strip_prefix("- ")?.split_once(": ")?;
        Some(json!({ "label": label, "description": description }))
    });
    json!({ "question": after("question:"), "header": after("header:"), "options": options.collect::<Vec<_>>(),
            "multiSelect": false })
}

fn run_start(request: &Request, arguments: &str) -> Vec<Block> {
    let attended = if request.offers("AskUserQuestion") {
        " --attended"
    } else {
        ""
    };
    bash(format!("fp start {arguments}{attended}").replace("  ", " "))
}

fn go_on_from(request: &Request, plan: &str, done: &[Done<'_>], loss: Loss) -> Vec<Block> {
    match done.iter().rposition(is_next) {
        Some(last) => go_on(request, plan, done, last, loss),
        None => next(plan, &[]),
    }
}

fn is_next(call: &Done<'_>) -> bool {
    call.command().starts_with("fp next")
}

/// The plan whose run this session still leads, according to the message that it gets after its context was lost.
fn plan_to_go_on_with(request: &Request) -> Option<&str> {
    request.entries().iter().find_map(|entry| match entry {
        Entry::Heard(text) => {
            let (_, rest) = text.split_once("this session leads the unfinished run of plan ")?;
            rest.split([',', ' ']).next()
        }
        _ => None,
    })
}

fn next(plan: &str, ended: &[String]) -> Vec<Block> {
    let ended: String = ended
        .iter()
        .map(|name| format!(" --ended {name}"))
        .collect();
    bash(format!("fp next {plan} --format json{ended}"))
}

fn due(asked: &Done<'_>) -> Vec<Printed> {
    let due: Due = serde_json::from_str(asked.result)
        .unwrap_or_else(|error| panic!("`fp next` printed no actions: {error}: {}", asked.result));
    due.actions
}

/// Carries out the remaining actions of those that the call at index `last` printed.
fn go_on(request: &Request, plan: &str, done: &[Done<'_>], last: usize, loss: Loss) -> Vec<Block> {
    let (before, asked, since) = (&done[..last], &done[last], &done[last + 1..]);
    let printed = due(asked);
    let lost = lost(&printed, before, loss);
    let kept = printed
        .iter()
        .enumerate()
        .filter(|(at, _)| !lost.contains(at))
        .map(|(_, printed)| printed);
    let kept = kept.filter(|printed| !printed.again || !is_done(&printed.action, before));
    let steps = kept
        .flat_map(|printed| steps(&printed.action))
        .collect::<Vec<_>>();
    let played: Vec<_> = since
        .iter()
        .filter(|call| call.tool != "ToolSearch")
        .collect();
    let left = steps.get(played.len()..).unwrap_or_default();
    if let Some(step) = left.first() {
        // Agents that are listed together start in one message.
        let together = left
            .iter()
            .take_while(|step| matches!(step, Step::Start { .. }))
            .count();
        let steps = left.iter().take(together.max(1));
        return match step {
            Step::Start { .. } => steps
                .flat_map(|step| play(request, plan, step, None))
                .collect(),
            step => play(request, plan, step, since.last()),
        };
    }
    let mut ended = heard_of(&request.entries()[asked.position..]);
    ended.extend(unreachable(since));
    if !lost.is_empty() {
        return next(plan, &ended);
    }
    match printed.last().map(|printed| &printed.action) {
        Some(Action::Finish { report }) => text(format!("{OVER}\n{report}")),
        Some(Action::Deadlock { chain }) => text(format!("Deadlock: {}", chain.join("; "))),
        Some(Action::Revise { due }) => text(format!("To be changed: {}", due.join("; "))),
        Some(Action::Wait { on }) if ended.is_empty() => {
            text(format!("Waiting for {}.", on.join(", ")))
        }
        _ => next(plan, &ended),
    }
}

/// The indices in `printed` of the actions to lose, which never include an action that was printed before.
fn lost(printed: &[Printed], before: &[Done<'_>], loss: Loss) -> Vec<usize> {
    let earlier = before
        .iter()
        .rfind(|call| is_next(call))
        .map(due)
        .unwrap_or_default();
    let is_new =
        |one: &Printed| !one.again && earlier.iter().all(|other| other.action != one.action);
    let at = |wanted: &dyn Fn(&Printed) -> bool| -> Vec<usize> {
        printed
            .iter()
            .enumerate()
            .filter(|(_, one)| wanted(one))
            .map(|(at, _)| at)
            .collect()
    };
    match loss {
        Loss::Nothing => Vec::new(),
        Loss::Everything => at(&is_new),
        Loss::LastOfSeveral => {
            let several = at(&|one| !steps(&one.action).is_empty());
            let last = several
                .last()
                .filter(|at| several.len() > 1 && is_new(&printed[**at]));
            last.copied().into_iter().collect()
        }
    }
}

/// True if an action that is printed again was done after it was first printed.
fn is_done(action: &Action, before: &[Done<'_>]) -> bool {
    let is_first = |call: &Done<'_>| {
        due(call)
            .iter()
            .any(|one| !one.again && one.action == *action)
    };
    let said = before
        .iter()
        .rposition(|call| is_next(call) && is_first(call))
        .unwrap_or_default();
    before[said..].iter().any(|call| match action {
        Action::Spawn { prompt, .. } | Action::Verify { prompt, .. } => {
            call.tool == "Agent" && call.input["prompt"] == **prompt
        }
        Action::Resume { name, message } => {
            let sent = (&call.input["to"], &call.input["message"]);
            call.tool == "SendMessage" && sent == (&json!(name), &json!(message))
        }
        _ => false,
    })
}

fn steps(action: &Action) -> Vec<Step<'_>> {
    match action {
        Action::Spawn {
            name,
            agent,
            prompt,
        }
        | Action::Verify {
            name,
            agent,
            prompt,
        } => {
            vec![Step::Start {
                name,
                agent,
                prompt,
            }]
        }
        Action::Resume { name, message } => vec![Step::Send { name, message }],
        Action::Ask(question) => vec![Step::Ask(question)],
        Action::Wait { .. }
        | Action::Deadlock { .. }
        | Action::Revise { .. }
        | Action::Finish { .. } => Vec::new(),
    }
}

fn play(request: &Request, plan: &str, step: &Step<'_>, before: Option<&Done<'_>>) -> Vec<Block> {
    match step {
        Step::Start {
            name,
            agent,
            prompt,
        } => {
            let input = json!({ "name": name, "description": name, "subagent_type": agent, "prompt": prompt });
            call("Agent", input)
        }
        Step::Send { name, message } if request.offers("SendMessage") => call(
            "SendMessage",
            json!({ "to": name, "summary": name, "message": message }),
        ),
        Step::Send { .. } => {
            let searched = before.is_some_and(|call| call.tool == "ToolSearch");
            assert!(!searched, "ToolSearch has not brought SendMessage");
            call(
                "ToolSearch",
                json!({ "query": "select:SendMessage", "max_results": 1 }),
            )
        }
        Step::Ask(question) if request.offers("AskUserQuestion") => {
            let asked = json!({
                "question": question.printed, "header": question.header, "options": question.options,
                "multiSelect": question.multi_select,
            });
            call("AskUserQuestion", json!({ "questions": [asked] }))
        }
        Step::Ask(question) => text(format!(
            "{} (`fp answer {plan} {}`)",
            question.printed, question.question
        )),
    }
}

/// The option that the user chose, parsed from the client's result: `"question"="label"`.
pub(super) fn answer_in(result: &str, question: &str) -> Option<String> {
    let (_, rest) = result.split_once(&format!("\"{question}\"=\""))?;
    Some(rest.split_once('"')?.0.to_owned())
}

/// The agents that have ended or gone idle, according to a notification or a message in `entries`.
pub(super) fn heard_of(entries: &[Entry]) -> Vec<String> {
    const SIGNS: [&str; 2] = [
        "<summary>Agent \"",
        "\"type\":\"idle_notification\",\"from\":\"",
    ];
    let heard = entries.iter().filter_map(|entry| match entry {
        Entry::Heard(text) => Some(text.as_str()),
        _ => None,
    });
    let names = heard.flat_map(|text| {
        let found = SIGNS.iter().flat_map(move |sign| text.split(sign).skip(1));
        found
            .filter_map(|rest| rest.split_once('"'))
            .map(|(name, _)| name.to_owned())
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// The agents that a message could not be sent to.
fn unreachable<'a>(calls: &'a [Done<'_>]) -> impl Iterator<Item = String> + 'a {
    let sent = calls.iter().filter(|call| call.tool == "SendMessage");
    let lost = sent.filter(|call| call.failed || !call.result.contains("\"success\":true"));
    lost.filter_map(|call| call.input["to"].as_str())
        .map(str::to_owned)
}

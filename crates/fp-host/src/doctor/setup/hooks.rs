//! The plugin's hooks: whether they are wired as this program has it, and what each does with a sample of its event,
//! in a repository of its own.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fp_core::doctor::setup::{Answered, HookAnswer, ProgramFacts, SLOW, Wiring};
use serde_json::{Value, json};

use super::Setup;
use super::client::program_of;
use crate::file;
use crate::process::{self, Limits, ProcessEnd, ProgramAnswer};

/// How long a hook may take; the client gives it no more.
const LIMIT: Duration = Duration::from_secs(5);
/// How often one is asked that is slow, which can be the system's fault: it may have to load the program, or be busy.
const TIMES: usize = 5;
/// Largest `hooks.json` that is read.
const CAP: u64 = 1024 * 1024;

/// Compares the wiring of the plugin in `folder`, and asks its `program`, if it can be run.
pub(super) fn examine(
    setup: &Setup<'_>,
    folder: Option<&Path>,
    program: Option<&ProgramFacts>,
) -> (Wiring, Vec<HookAnswer>) {
    let Some(folder) = folder else { return (Wiring::NoPlugin, Vec::new()) };
    let wanted: Value = serde_json::from_slice(setup.hooks).unwrap_or_default();
    let wiring = match file::read_text(&folder.join("hooks").join("hooks.json"), CAP) {
        Err(error) if error.is_missing() => Wiring::Unreadable("it is not there".into()),
        Err(error) => Wiring::Unreadable(error.to_string()),
        Ok(text) => match serde_json::from_str::<Value>(&text) {
            Ok(found) if found == wanted => Wiring::Same,
            Ok(_) => Wiring::Different,
            Err(error) => Wiring::Unreadable(format!("not JSON: {error}")),
        },
    };
    let runs = program.is_some_and(|program| matches!(program.answered, Answered::Said(_)));
    let answers = if runs { answers(&program_of(folder), &wanted) } else { Vec::new() };
    (wiring, answers)
}

fn answers(program: &Path, wiring: &Value) -> Vec<HookAnswer> {
    let place = match repository() {
        Ok(place) => place,
        Err(error) => {
            let fault = Some(format!("can't be tried: no temporary folder: {}", file::reason(&error)));
            return vec![HookAnswer { event: "none".into(), millis: 0, fault }];
        }
    };
    let events = wiring.get("hooks").and_then(Value::as_object).into_iter().flatten();
    events
        .flat_map(|(event, wired)| calls(wired).map(move |call| (event, call)))
        .map(|(event, call)| ask(program, place.path(), event, &call))
        .collect()
}

/// The arguments of each command that is wired to an event.
fn calls(wired: &Value) -> impl Iterator<Item = Vec<String>> {
    let hooks = wired.as_array().into_iter().flatten().filter_map(|group| group.get("hooks")?.as_array());
    hooks.flatten().filter_map(|hook| {
        let words = hook.get("args")?.as_array()?;
        Some(words.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    })
}

/// A folder that git takes for a repository, with nothing in it.
fn repository() -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    for part in ["objects", "refs"] {
        fs::create_dir_all(folder.path().join(".git").join(part))?;
    }
    fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n")?;
    Ok(folder)
}

fn ask(program: &Path, place: &Path, event: &str, words: &[String]) -> HookAnswer {
    let input = sample(event, place).to_string();
    let limits = Limits { time: LIMIT, head: 64 * 1024, tail: 0 };
    let once = || {
        let mut command = Command::new(program);
        command.args(words).current_dir(place);
        process::ask(command, input.as_bytes(), limits)
    };
    let mut quickest = u64::MAX;
    for _ in 0..TIMES {
        let (millis, fault) = match once() {
            Ok(answer) => (u64::try_from(answer.duration.as_millis()).unwrap_or(u64::MAX), wrong(&answer)),
            Err(error) => (0, Some(format!("can't be started: {}", file::reason(&error)))),
        };
        quickest = quickest.min(millis);
        if fault.is_some() || millis <= SLOW {
            return HookAnswer { event: event.to_owned(), millis, fault };
        }
    }
    HookAnswer { event: event.to_owned(), millis: quickest, fault: None }
}

/// What is wrong with an answer: it has to be silence or one JSON object, and the status 0.
fn wrong(answer: &ProgramAnswer) -> Option<String> {
    match answer.end {
        ProcessEnd::Exited(0) => {
            let said = answer.stdout.to_text();
            let silent_or_reply =
                said.is_empty() || serde_json::from_str::<Value>(&said).is_ok_and(|reply| reply.is_object());
            (!silent_or_reply).then(|| format!("says {:?}", said.trim().chars().take(60).collect::<String>()))
        }
        ProcessEnd::Exited(status) => {
            let said = answer.stderr.to_text();
            let said = said.lines().next().map(|line| format!(": {line}")).unwrap_or_default();
            Some(format!("ends with status {status}{said}"))
        }
        ProcessEnd::Signalled(signal) => Some(format!("is ended by signal {signal}")),
        ProcessEnd::TimedOut => Some(format!("takes more than {} seconds", LIMIT.as_secs())),
    }
}

/// An event as the client sends it, about a file of the empty repository `place`.
fn sample(event: &str, place: &Path) -> Value {
    let file = place.join("sample.rs");
    let mut sample = json!({
        "session_id": "fp-doctor",
        "transcript_path": place.join("transcript.jsonl"),
        "cwd": place,
        "hook_event_name": event,
    });
    let more = match event {
        "PreToolUse" => json!({ "tool_name": "Bash", "tool_input": { "command": "fp status" } }),
        "PostToolUse" => json!({
            "tool_name": "Write",
            "tool_input": { "file_path": file, "content": "fn sample() {}\n" },
            "tool_response": { "type": "create", "filePath": file, "originalFile": null, "structuredPatch": [] },
        }),
        "TeammateIdle" => json!({ "teammate_name": "builder-1", "team_name": "session-sample" }),
        "SubagentStop" => json!({
            "agent_id": "a1", "agent_type": "fp:builder", "stop_hook_active": false, "background_tasks": [],
        }),
        "SessionStart" => json!({ "source": "startup" }),
        "PreCompact" => json!({ "trigger": "auto", "custom_instructions": "" }),
        "Stop" => json!({ "stop_hook_active": false, "background_tasks": [] }),
        _ => json!({}),
    };
    if let (Some(fields), Value::Object(more)) = (sample.as_object_mut(), more) {
        fields.extend(more);
    }
    sample
}

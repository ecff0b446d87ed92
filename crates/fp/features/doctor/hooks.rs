//! The plugin's hooks: whether they are wired as this program has it, and what each does with a sample of its event,
//! in a repository of its own.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fp_host::file;
use fp_host::process::{self, CommandEnd, Limits, ProgramAnswer};
use serde_json::{Value, json};

use super::DoctorFinding;
use super::setup::{SettingsSeen, program_of};
use crate::assets;

/// Milliseconds that a hook may take before anybody notices.
const SLOW: u64 = 50;
/// How long a hook may take; the client gives it no more.
const LIMIT: Duration = Duration::from_secs(5);
/// How often a slow hook is asked: the system may have to load the program, or be busy.
const TIMES: usize = 5;
/// Largest `hooks.json` that is read.
const CAP: u64 = 1024 * 1024;

/// What a hook did with a sample of its event.
struct HookAnswer {
    /// The event, by the client's name.
    event: String,
    millis: u64,
    /// What is wrong with its answer.
    fault: Option<String>,
}

/// Whether the client is told to run the hooks as this version has it, and whether each answers in time. `folder` is
/// the plugin's, whose program `runs` or not; `files` are the client's settings.
pub(super) fn hooks(
    files: &[SettingsSeen],
    folder: Option<&Path>,
    runs: bool,
    renewed_by: &str,
) -> DoctorFinding {
    let check = "hooks";
    let off = |file: &&SettingsSeen| file.at("/disableAllHooks").and_then(Value::as_bool) == Some(true);
    if let Some(file) = files.iter().find(off) {
        let detail =
            format!("switched off by disableAllHooks in {}: nothing keeps builders to their task", file.path);
        return DoctorFinding::warning(check, detail);
    }
    let Some(folder) = folder else { return DoctorFinding::warning(check, "not tried, without a plugin") };
    let wrong = |detail: String| DoctorFinding::error(check, detail).fixed_by(renewed_by);
    let wanted = assets::plugin_file("hooks/hooks.json").expect("the plugin has hooks");
    let wanted: Value = serde_json::from_slice(wanted).expect("and they are JSON");
    if let Some(fault) = wiring_fault(folder, &wanted) {
        return wrong(format!("hooks.json of the plugin{fault}"));
    }
    let answers = if runs { answers(&program_of(folder), &wanted) } else { Vec::new() };
    let failing: Vec<String> = answers
        .iter()
        .filter_map(|answer| Some(format!("{} {}", answer.event, answer.fault.as_ref()?)))
        .collect();
    if !failing.is_empty() {
        return wrong(format!("not every hook answers: {}", failing.join("; ")));
    }
    let Some(HookAnswer { event, millis, .. }) = answers.iter().max_by_key(|answer| answer.millis) else {
        return wrong("no hook was asked, since there is no program to answer".into());
    };
    let count = answers.len();
    let detail = format!("{count} events are wired and answered, the slowest, {event}, in {millis} ms");
    if *millis > SLOW {
        return DoctorFinding::warning(check, format!("{detail}; more than {SLOW} ms are noticed"));
    }
    DoctorFinding::ok(check, detail)
}

/// What is wrong with the wiring of the plugin in `folder`, held against the one that this program would write.
fn wiring_fault(folder: &Path, wanted: &Value) -> Option<String> {
    match file::read_text(&folder.join("hooks").join("hooks.json"), CAP) {
        Err(error) if error.is_missing() => Some(": it is not there".into()),
        Err(error) => Some(format!(": {error}")),
        Ok(text) => match serde_json::from_str::<Value>(&text) {
            Ok(found) if found == *wanted => None,
            Ok(_) => Some(" is not the one of this version".into()),
            Err(error) => Some(format!(": not JSON: {error}")),
        },
    }
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
        CommandEnd::Exited(0) => {
            let said = answer.stdout.to_text();
            let silent_or_reply =
                said.is_empty() || serde_json::from_str::<Value>(&said).is_ok_and(|reply| reply.is_object());
            (!silent_or_reply).then(|| format!("says {:?}", said.trim().chars().take(60).collect::<String>()))
        }
        CommandEnd::Exited(status) => {
            let said = answer.stderr.to_text();
            let said = said.lines().next().map(|line| format!(": {line}")).unwrap_or_default();
            Some(format!("ends with status {status}{said}"))
        }
        CommandEnd::Signalled(signal) => Some(format!("is ended by signal {signal}")),
        CommandEnd::TimedOut(_) => Some(format!("takes more than {} seconds", LIMIT.as_secs())),
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

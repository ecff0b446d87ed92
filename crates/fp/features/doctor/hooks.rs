//! The plugin's hooks: whether they are wired as this program has it, and what each does with a sample of its event,
//! in a repository of its own.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fp_host::file;
use fp_host::process::{self, Limits, ProgramAnswer};
use serde_json::{Value, json};

use super::setup::{SettingsSeen, program_of};
use super::{DoctorFinding, ended_wrong};
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
    // The one in the plugin's folder, held against the one that this program would write.
    let wired = file::read_text(&folder.join("hooks").join("hooks.json"), CAP).ok();
    let wired: Option<Value> = wired.and_then(|text| serde_json::from_str(&text).ok());
    if wired.as_ref() != Some(&wanted) {
        return wrong("hooks.json of the plugin is not the one of this version".into());
    }
    let answers = match runs.then(|| answers(&program_of(folder), &wanted)).transpose() {
        Ok(answers) => answers.unwrap_or_default(),
        Err(error) => return wrong(format!("no temporary folder to try them in: {}", file::reason(&error))),
    };
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

fn answers(program: &Path, wiring: &Value) -> io::Result<Vec<HookAnswer>> {
    let place = repository()?;
    let events = wiring.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let calls = events.flat_map(|(event, wired)| calls(wired).map(move |call| (event, call)));
    Ok(calls.map(|(event, call)| ask(program, place.path(), event, &call)).collect())
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

/// What the hook did, asked once more where it was slow: the quickest time counts.
fn ask(program: &Path, place: &Path, event: &str, words: &[String]) -> HookAnswer {
    let input = sample(event, place).to_string();
    let limits = Limits { time: LIMIT, head: 64 * 1024, tail: 0 };
    let mut quickest = HookAnswer { event: event.to_owned(), millis: u64::MAX, fault: None };
    for _ in 0..TIMES {
        let mut command = Command::new(program);
        command.args(words).current_dir(place);
        match process::ask(command, input.as_bytes(), limits) {
            Ok(answer) => {
                let millis = u64::try_from(answer.duration.as_millis()).unwrap_or(u64::MAX);
                quickest.millis = quickest.millis.min(millis);
                quickest.fault = wrong(&answer);
            }
            Err(error) => quickest.fault = Some(format!("can't be started: {}", file::reason(&error))),
        }
        if quickest.fault.is_some() || quickest.millis <= SLOW {
            break;
        }
    }
    quickest
}

/// What is wrong with an answer: it has to be silence or one JSON object, and the status 0.
fn wrong(answer: &ProgramAnswer) -> Option<String> {
    if let Some(fault) = ended_wrong(answer.end, LIMIT) {
        let said = answer.stderr.to_text();
        return Some(said.lines().next().map_or(fault.clone(), |line| format!("{fault}: {line}")));
    }
    let said = answer.stdout.to_text();
    let is_reply =
        said.is_empty() || serde_json::from_str::<Value>(&said).is_ok_and(|reply| reply.is_object());
    (!is_reply).then(|| format!("says {:?}", said.trim().chars().take(60).collect::<String>()))
}

/// An event about a file of the empty repository `place`, with every field that the client sends with one or another.
fn sample(event: &str, place: &Path) -> Value {
    let file = place.join("sample.rs");
    json!({
        "session_id": "fp-doctor",
        "transcript_path": place.join("transcript.jsonl"),
        "cwd": place,
        "hook_event_name": event,
        "tool_name": if event == "PreToolUse" { "Bash" } else { "Write" },
        "tool_input": { "command": "fp status", "file_path": file, "content": "fn sample() {}\n" },
        "tool_response": { "type": "create", "filePath": file, "originalFile": null, "structuredPatch": [] },
        "teammate_name": "builder-1",
        "agent_id": "a1",
        "agent_type": "fp:builder",
        "source": "startup",
        "trigger": "auto",
        "stop_hook_active": false,
        "background_tasks": [],
    })
}

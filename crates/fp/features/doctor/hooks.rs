//! The plugin's hooks: their wiring, compared with this program's, and the answer of each to a sample of its event, in a
//! repository of its own.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fp_host::file;
use serde_json::{Map, Value, json};

use super::DoctorFinding;
use crate::assets;
use crate::features::install::bundle::program_in;
use crate::features::install::program::run_program;
use crate::features::install::settings::ClientSettingsFile;

/// Time that the client gives a hook.
const LIMIT: Duration = Duration::from_secs(5);
/// Largest `hooks.json` that is read.
const CAP: u64 = 1024 * 1024;

/// The hooks of the plugin in `folder`. `files` are the client's settings.
pub(super) fn hooks(files: &[ClientSettingsFile], folder: Option<&Path>, renewed_by: &str) -> DoctorFinding {
    let check = "hooks";
    if let Some(file) = files.iter().find(|file| file.value["disableAllHooks"] == true) {
        let path = file.path.display();
        let detail =
            format!("switched off by disableAllHooks in {path}: nothing keeps builders to their task");
        return DoctorFinding::warning(check, detail);
    }
    let Some(folder) = folder else { return DoctorFinding::warning(check, "not tried: there is no plugin") };
    let wrong = |detail: String| DoctorFinding::error(check, detail).fixed_by(renewed_by);
    let wanted = assets::plugin_file("hooks/hooks.json").expect("the plugin has hooks");
    let wanted: Value = serde_json::from_slice(wanted).expect("and they are JSON");
    let wired = file::read_text(&folder.join("hooks").join("hooks.json"), CAP).ok();
    if wired.and_then(|text| serde_json::from_str(&text).ok()).as_ref() != Some(&wanted) {
        return wrong("the plugin's hooks.json is not the one of this version".into());
    }
    let place = match repository() {
        Ok(place) => place,
        Err(error) => return wrong(format!("no temporary folder to try them in: {}", file::reason(&error))),
    };
    let commands = commands_in(&wanted);
    let program = program_in(folder);
    for (event, words) in &commands {
        if let Err(fault) = ask(&program, place.path(), event, words) {
            return wrong(format!("on {event}, {} {fault}", program.display()));
        }
    }
    DoctorFinding::ok(check, format!("{} events are wired and answered", commands.len()))
}

/// Each event of a `hooks.json`, with the arguments of each command that is wired to it.
fn commands_in(wiring: &Value) -> Vec<(&str, Vec<&str>)> {
    let mut found = Vec::new();
    for (event, groups) in wiring["hooks"].as_object().into_iter().flatten() {
        for hook in entries(groups).flat_map(|group| entries(&group["hooks"])) {
            found.push((event.as_str(), entries(&hook["args"]).filter_map(Value::as_str).collect()));
        }
    }
    found
}

fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// A folder that git takes for an empty repository.
fn repository() -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    for part in ["objects", "refs"] {
        fs::create_dir_all(folder.path().join(".git").join(part))?;
    }
    fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n")?;
    Ok(folder)
}

/// Fails unless the hook's answer is silence or one JSON object.
fn ask(program: &Path, place: &Path, event: &str, words: &[&str]) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(words).current_dir(place);
    let said = run_program(command, sample(event, place).to_string().as_bytes(), LIMIT)?.stdout.to_text();
    if said.is_empty() || serde_json::from_str::<Map<String, Value>>(&said).is_ok() {
        return Ok(());
    }
    Err(format!("says {:?}", said.trim().chars().take(60).collect::<String>()))
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

//! `fp run`: a run led by the program itself, with scripts as agents.

#[path = "lead/branch.rs"]
mod branch;
#[path = "lead/ends.rs"]
mod ends;
#[path = "lead/judging.rs"]
mod judging;
#[path = "lead/sandbox.rs"]
mod sandbox;
#[path = "lead/service.rs"]
mod service;
#[path = "lead/starts.rs"]
mod starts;
#[path = "lead/terminal.rs"]
mod terminal;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::plan::{Leaf, PLAN, tree};
use crate::common::program::write_program;
use crate::common::{Environment, Output, search_path};

/// An agent as a shell script: a builder claims, writes a line into the task's file and submits; a verifier runs the
/// checks and passes the task. The files `wait` and `first` in the home folder can change this.
const AGENT: &str = r#"
plan=sample-20261121
echo "$role $name $(pwd)" >>"$HOME/agents.log"
[ -e "$HOME/first" ] && . "$HOME/first"
if [ "$role" = builder ]; then
  claim=$(fp claim $plan --as "$name" --format json) || exit 0
  task=$(printf '%s\n' "$claim" | sed -n 's/^  "task": "\(.*\)",*$/\1/p')
  token=$(printf '%s\n' "$claim" | sed -n 's/^  "claim": "\(.*\)",*$/\1/p')
  [ -e "$HOME/wait" ] && sleep "$(cat "$HOME/wait")"
  echo "a line about $task" >"part-$task.txt"
  fp submit $plan "$task" --claim "$token"
else
  task=$(printf '%s\n' "$prompt" | sed -n 's/.*Verify task \([0-9.]*\) of.*/\1/p')
  fp verify $plan "$task" >/dev/null
  fp verdict $plan "$task" --pass '1: part has its line' --summary 'it has its line'
fi
"#;

/// A custom agent program that wraps [`AGENT`] and reports its usage.
const OWN: &str = r#"#!/bin/sh
role=$1 name=$2 prompt=$(cat "$3")
. "$HOME/agent"
echo '{"usage": {"input_tokens": 1000, "output_tokens": 100}, "cost_usd": 0.01}'
"#;

/// Wraps [`AGENT`], and mimics the parts of Claude Code that `fp run` uses.
const CLAUDE: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "${CLAUDE_VERSION:-2.1.329} (Claude Code)"; exit; fi
echo "$*" >>"$HOME/claude.log"
while [ $# -gt 0 ]; do
  case $1 in
    --agent) role=${2#fp:} ;;
    --name) name=$2 ;;
    --session-id | --resume) session=$2 ;;
  esac
  shift
done
prompt=$(cat)
echo '{"type":"system","subtype":"init","session_id":"'"$session"'"}'
result() { echo '{"type":"result","subtype":"success","session_id":"'"$session"'",'"$1"'"num_turns":3,"usage":{"input_tokens":900,"cache_creation_input_tokens":100,"cache_read_input_tokens":50,"output_tokens":100}}'; }
fails() { echo '{"type":"result","subtype":"success","is_error":true,'"$1"'"usage":{"input_tokens":0,"output_tokens":0}}'; exit 1; }
[ -e "$HOME/fault" ] && . "$HOME/fault"
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"fp claim"}}]}}'
. "$HOME/agent" >/dev/null
result '"is_error":false,"total_cost_usd":0.02,"permission_denials":[{"tool_name":"Bash","tool_input":{"command":"npm ci"}}],'
"#;

/// An approved plan with `tasks` tasks, and agents for both roles.
fn scene(tasks: usize) -> Environment {
    let environment = Environment::new();
    let bin = environment.beside("bin");
    let of_tests = search_path::of_tests();
    let path =
        std::env::join_paths(std::iter::once(bin.clone()).chain(std::env::split_paths(&of_tests)))
            .unwrap();
    let environment = environment.env("PATH", path).repo();
    write_program(&bin.join("own"), OWN);
    write_program(&bin.join("claude"), CLAUDE);
    fs::write(environment.beside("home/agent"), AGENT).unwrap();
    settings(&environment, "own", "");
    let ids: Vec<String> = (1..=tasks).map(|id| id.to_string()).collect();
    let files: Vec<String> = ids.iter().map(|id| format!("part-{id}.txt")).collect();
    let tests: Vec<String> = files
        .iter()
        .map(|file| format!("grep -q line {file}"))
        .collect();
    let leaves: Vec<Leaf<'_>> = (0..tasks)
        .map(|at| Leaf {
            id: &ids[at],
            after: "none",
            file: &files[at],
            test: &tests[at],
        })
        .collect();
    environment.plan(&tree(&leaves));
    environment.done(&["approve", PLAN, "--yes"]);
    environment
}

/// Makes `program` play all agents; `more` is added to the settings.
fn settings(environment: &Environment, program: &str, more: &str) {
    let folder = environment.beside("home/.config/fractal-planner");
    fs::create_dir_all(&folder).unwrap();
    let player = format!(r#"{{ "program": "{program}" }}"#);
    let text = format!(
        r#"{{ "branch": "current", "verify": {{ "judge": "each" }}, "agents": {{ "builder": {player}, "verifier": {player},
            "programs": {{ "own": {{ "start": ["own", "{{role}}", "{{name}}", "{{prompt}}"], "writes": ["~/"] }} }} {more} }},
            "sandbox": {{ "write": ["~/"] }} }}"#
    );
    fs::write(folder.join("config.json"), text).unwrap();
}

/// Has Claude Code's `model` play the builders; everything else in the settings stays.
fn builder_model(environment: &Environment, model: &str) {
    let path = environment.beside("home/.config/fractal-planner/config.json");
    let text = fs::read_to_string(&path).unwrap();
    let player = r#""builder": { "program": "claude""#;
    assert!(text.contains(player), "{text}");
    let with_model = format!(r#"{player}, "model": "{model}""#);
    fs::write(&path, text.replace(player, &with_model)).unwrap();
}

/// Runs `fp run` with these arguments, trusting the repository.
fn lead(environment: &Environment, args: &[&str]) -> Output {
    environment.fp(&[&["run", PLAN, "--yes"], args].concat())
}

fn lead_in_background(environment: &Environment, args: &[&str]) -> Child {
    let mut command = environment.command(env!("CARGO_BIN_EXE_fp"));
    command
        .args(["run", PLAN, "--yes"])
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Sends `signal` to `child`.
fn signal(child: &Child, signal: rustix::process::Signal) {
    let id = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(id, signal).unwrap();
}

fn home_text(environment: &Environment, name: &str) -> String {
    fs::read_to_string(environment.beside("home").join(name)).unwrap_or_default()
}

fn until(what: &str, is_true: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The processes whose `HOME` is this environment's home folder.
fn processes(environment: &Environment) -> Vec<PathBuf> {
    let mark = format!("HOME={}\0", environment.beside("home").display()).into_bytes();
    let entries = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let has_mark = |path: &PathBuf| {
        fs::read(path.join("environ"))
            .is_ok_and(|text| text.windows(mark.len()).any(|part| part == mark))
    };
    entries.filter(has_mark).collect()
}

/// Fails if processes of the run are still there after the time they may take to end.
fn expect_nothing_left(environment: &Environment) {
    until("processes are left", || processes(environment).is_empty());
}

/// Fails unless each of `tasks` tasks is done, with one commit.
fn expect_all_done(environment: &Environment, tasks: usize) {
    for (task, status) in environment.statuses() {
        assert_eq!(status, "COMPLETED", "{task}");
    }
    let subjects = environment.git(&["log", "--format=%s"]);
    for id in 1..=tasks {
        let own = format!("write part {id}");
        let commits = subjects
            .lines()
            .filter(|subject| subject.to_lowercase() == own)
            .count();
        assert_eq!(commits, 1, "{own}:\n{subjects}");
    }
    assert_eq!(environment.git_status(), "");
}

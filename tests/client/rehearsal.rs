//! Runs the cast against a stub `fp` that prints prepared lists. When a scenario fails, this tells whether the plugin
//! or the script is at fault.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cast::{Builder, Cast, OVER, Verifier};
use crate::program::write_program;
use crate::sample::Sample;
use crate::session::{Client, write};
use crate::stand_in::StandIn;
use crate::tests;

tests![
    every_action_is_played_with_background_subagents,
    every_action_is_played_with_teammates,
    a_builder_that_stops_goes_on_when_it_is_told_to,
];

/// Prints the prepared lists one after the other and serves a task that fails once; appends its arguments to `calls`.
const FP: &str = r#"#!/bin/sh
cd DIRECTORY || exit 2
echo "$*" >> calls
iteration=$(($(grep -c ^verdict calls) + 1))
case $1 in
  next) cat "next-$(grep -c ^next calls).json" ;;
  claim) printf '## TASK\nWrite it (task 1.1, iteration %s)\n\n## VERIFICATION\n- Run: test -f made\n\n    fp submit sample 1.1 --claim token\n' $iteration ;;
  verify) printf 'fp verdict sample 1.1 --iteration %s --from - <<END\npass 1: EVIDENCE\npass 2: EVIDENCE\n' $iteration ;;
  *) echo ok ;;
esac
"#;

const CLAIM: &str = "Run `fp claim sample --as builder-1`.";

fn spawn() -> Value {
    json!({ "action": "spawn", "name": "builder-1", "agent": "fp:builder", "prompt": CLAIM })
}

fn verify(iteration: u32) -> Value {
    json!({
        "action": "verify", "name": format!("verifier-1-1-i{iteration}"), "task": "1.1",
        "iteration": iteration, "agent": "fp:verifier",
        "prompt": format!("Iteration {iteration}: run `fp verify sample 1.1`."),
    })
}

fn resume(message: &str) -> Value {
    json!({ "action": "resume", "name": "builder-1", "message": format!("{message} {CLAIM}") })
}

fn ask() -> Value {
    let options = json!([{ "label": "Left", "description": "One" }, { "label": "Right", "description": "Other" }]);
    json!({
        "action": "ask", "question": "q1", "printed": "Which way?", "header": "Way", "options": options,
        "multiSelect": false,
    })
}

fn wait() -> Value {
    json!({ "action": "wait", "on": ["somebody"] })
}

fn finish() -> Value {
    json!({ "action": "finish", "report": "All is well" })
}

/// A plugin with the real one's names, whose `fp next` prints `lists` one after the other.
fn plugin(lists: &[&[Value]]) -> TempDir {
    let directory = TempDir::new().expect("a temporary directory can be made");
    let file = |path: &str, content: &str| write(&directory.path().join(path), content);
    let manifest = json!({ "name": "fp", "version": "0.0.1", "author": { "name": "rehearsal" } });
    file(".claude-plugin/plugin.json", &manifest.to_string());
    let described = "description: Use when rehearsing.\n";
    file(
        "skills/implement/SKILL.md",
        &format!("---\nname: implement\n{described}---\n\nRun $ARGUMENTS.\n"),
    );
    for role in ["builder", "verifier"] {
        let head = format!("name: {role}\n{described}tools: Read, Write, Bash\n");
        file(
            &format!("agents/{role}.md"),
            &format!("---\n{head}---\n\nThe {role}.\n"),
        );
    }
    for (index, actions) in lists.iter().enumerate() {
        let list = json!({ "schemaVersion": 1, "actions": actions });
        file(&format!("next-{}.json", index + 1), &list.to_string());
    }
    let fp = FP.replace("DIRECTORY", &directory.path().to_string_lossy());
    write_program(&directory.path().join("bin/fp"), fp);
    directory
}

fn calls_of_fp(plugin: &Path) -> Vec<String> {
    let calls = std::fs::read_to_string(plugin.join("calls")).unwrap_or_default();
    calls.lines().map(str::to_owned).collect()
}

const EVERY_ACTION: [&str; 15] = [
    "start sample --builders 1 --attended",
    "next sample --format json",
    "claim sample --as builder-1",
    "submit sample 1.1 --claim token",
    "next sample --format json --ended builder-1",
    "verify sample 1.1",
    "verdict sample 1.1 --iteration 1 --fail 1: it isn't right --pass 2: seen in the files and in the test run \
     --summary one criterion does not hold",
    "next sample --format json --ended verifier-1-1-i1",
    "claim sample --as builder-1",
    "submit sample 1.1 --claim token",
    "next sample --format json --ended builder-1",
    "verify sample 1.1",
    "verdict sample 1.1 --iteration 2 --pass 1: seen in the files and in the test run --pass 2: seen in the \
     files and in the test run --summary every criterion holds",
    "next sample --format json --ended verifier-1-1-i2",
    "next sample --format json",
];

fn lists_of_every_action() -> [Vec<Value>; 6] {
    [
        vec![spawn(), wait()],
        vec![verify(1), wait()],
        vec![resume("It did not pass."), wait()],
        vec![verify(2), wait()],
        vec![ask()],
        vec![finish()],
    ]
}

fn cast() -> Cast {
    Cast {
        builder: Builder::default()
            .writing("1.1", "made", "once")
            .writing_from(2, "1.1", "made", "twice"),
        verifier: Verifier::default().failing("1.1", 1, "it isn't right"),
        ..Cast::default()
    }
}

fn every_action_is_played_with_background_subagents() {
    let plugin = plugin(&lists_of_every_action().each_ref().map(Vec::as_slice));
    let (sample, cast) = (Sample::new(), cast());
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(plugin.path());
    let session = client
        .converse("/fp:implement sample --builders 1")
        .choosing(&["Right"]);
    session.wait_for_result(OVER);
    session.end();
    assert_eq!(calls_of_fp(plugin.path()), EVERY_ACTION);
    assert_eq!(sample.read("made"), "twice");
}

fn every_action_is_played_with_teammates() {
    let plugin = plugin(&lists_of_every_action().each_ref().map(Vec::as_slice));
    let (sample, cast) = (Sample::new(), cast());
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path())
        .with_plugin(plugin.path())
        .with_teams();
    let mut terminal = client.open();
    terminal.enter("/fp:implement sample --builders 1");
    terminal.answer("Which way?", 2);
    terminal.wait_for(OVER);
    assert_eq!(calls_of_fp(plugin.path()), EVERY_ACTION);
    assert_eq!(sample.read("made"), "twice");
}

fn a_builder_that_stops_goes_on_when_it_is_told_to() {
    let plugin = plugin(&[&[spawn(), wait()], &[resume("Go on."), wait()], &[finish()]]);
    let sample = Sample::new();
    let builder = Builder::default()
        .writing("1.1", "made", "once")
        .stopping_at("1.1");
    let cast = Cast {
        builder,
        ..Cast::default()
    };
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(plugin.path());
    let ended = client.print("/fp:implement sample").end();
    assert!(ended.result().contains("All is well"), "{}", ended.result());
    let expected = [
        "start sample",
        "next sample --format json",
        "claim sample --as builder-1",
        "next sample --format json --ended builder-1",
        "claim sample --as builder-1",
        "submit sample 1.1 --claim token",
        "next sample --format json --ended builder-1",
    ];
    assert_eq!(calls_of_fp(plugin.path()), expected);
}

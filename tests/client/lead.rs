//! `fp run`: the program leads, and the real clients play the agents.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::bundle::plugin;
use crate::cast::{Cast, OVER};
use crate::crew::{self, PLAN};
use crate::process::Mark;
use crate::sample::Sample;
use crate::session::Client;
use crate::stand_in::{Fault, StandIn};
use crate::tests;

tests![
    claude_builds_and_judges,
    a_service_that_fails_uses_no_try,
    killed_again_and_again_it_loses_nothing,
    a_session_hands_the_run_over,
    a_question_costs_the_session_two_requests,
];

/// The tests that need Codex.
pub(crate) const CODEX_TESTS: &[(&str, fn())] = &[
    ("lead::codex_builds_and_judges", codex_builds_and_judges),
    (
        "lead::codex_builds_and_claude_judges",
        codex_builds_and_claude_judges,
    ),
];

fn run(client: &Client<'_>, flags: &[&str]) -> (Command, Mark) {
    client.fp_command(&[&["run", PLAN, "--yes", "-j", "3"], flags].concat())
}

/// Merges the branch of the plan's own, if the run made one.
fn take_branch(sample: &Sample) {
    let branch = format!("fp/{PLAN}");
    if !sample.git(&["branch", "--list", &branch]).is_empty() {
        sample.git(&["merge", "--quiet", "--ff-only", &branch]);
    }
}

/// Runs `fp run` to its end, and asserts that each task has its commit and no process is left.
fn lead(sample: &Sample, client: &Client<'_>, flags: &[&str], stand_in: &StandIn) -> String {
    let (mut command, mark) = run(client, flags);
    let output = command.stdin(Stdio::null()).output().expect("fp starts");
    let [said, noted] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(
        output.status.success(),
        "{said}\n{noted}\n{}",
        stand_in.summary()
    );
    take_branch(sample);
    crew::assert_built(sample);
    assert!(mark.processes().is_empty(), "processes are left");
    said + &noted
}

/// The status as JSON.
fn status(sample: &Sample) -> Value {
    serde_json::from_str(&sample.fp(&["status", PLAN, "--format", "json"])).expect("it is JSON")
}

fn expect_one_try_each(sample: &Sample) {
    for task in status(sample)["tasks"].as_array().expect("it lists tasks") {
        assert_eq!(task["iteration"], 1, "{task}");
    }
}

fn claude_builds_and_judges() {
    let (sample, cast) = (crew::sample(), crew::cast());
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_agents();
    let said = lead(&sample, &client, &[], &stand_in);
    expect_one_try_each(&sample);
    assert!(said.contains("6 of 6 tasks done"), "{said}");

    let cost = status(&sample)["cost"].clone();
    assert!(
        cost["microUsd"].as_u64().is_some_and(|cost| cost > 0),
        "{cost}"
    );
    assert_eq!(
        cost["agents"].as_array().map(Vec::len),
        Some(12),
        "{cost:#}"
    );
    assert_eq!(
        cost["denied"],
        Value::Null,
        "the task's own command and `fp` are allowed"
    );
    // The first request of a builder: the role's page, the tools, the prompt.
    let first = &stand_in.of_agent("builder-1")[0];
    let length = serde_json::to_string(&first.body)
        .expect("it is JSON")
        .len();
    assert!(length < 20_000, "{length} characters");
}

fn codex_builds_and_judges() {
    let (sample, cast) = (crew::planned(Sample::for_codex()), crew::cast());
    let wish = "Words are written in English.";
    sample.write("CLAUDE.md", wish);
    sample.git(&["add", "CLAUDE.md"]);
    sample.git(&["commit", "--quiet", "--amend", "--no-edit"]);
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_agents();
    lead(&sample, &client, &["--agent", "codex"], &stand_in);
    expect_one_try_each(&sample);
    assert!(status(&sample)["cost"]["tokens"]["input"].as_u64() > Some(0));
    let told = stand_in.requests();
    assert!(
        told.iter().all(|request| request.was_told(wish)),
        "it has the repository's own page"
    );
}

fn codex_builds_and_claude_judges() {
    let (sample, cast) = (crew::planned(Sample::for_codex()), crew::cast());
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path())
        .with_agents()
        .with_configuration(
            r#"{ "agents": { "builder": { "program": "codex" } }, "verify": { "judge": "each" } }"#,
        );
    lead(&sample, &client, &[], &stand_in);
    let cost = status(&sample)["cost"].clone();
    let programs: Vec<_> = cost["agents"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|part| (&part["role"], &part["program"]))
        .collect();
    assert!(
        programs
            .iter()
            .all(|(role, program)| (*role == "builder") == (*program == "codex")),
        "{programs:?}"
    );
    assert_eq!(
        cost["denied"],
        Value::Null,
        "a verifier may run the task's own command and `fp`"
    );
}

fn a_service_that_fails_uses_no_try() {
    let (sample, cast) = (crew::sample(), crew::cast());
    let stand_in = StandIn::start(move |request| cast.reply(request));
    stand_in.fail(3, Fault::Status(529), |request| {
        request.speaker.is("builder-2")
    });
    stand_in.fail(2, Fault::Cut(300), |request| {
        request.speaker.is("builder-1")
    });
    let client = Client::new(&stand_in, sample.path())
        .with_agents()
        .with_variable("CLAUDE_CODE_MAX_RETRIES", "1");
    let said = lead(&sample, &client, &[], &stand_in);
    assert!(said.contains("note: builder-2: "), "{said}");
    expect_one_try_each(&sample);
}

fn killed_again_and_again_it_loses_nothing() {
    let (sample, cast) = (crew::sample(), crew::cast());
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_agents();
    let mut marks = Vec::new();
    for kill in 0..4 {
        let (mut command, mark) = run(&client, &[]);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("fp starts");
        std::thread::sleep(Duration::from_millis(1500 + 900 * kill));
        child.kill().expect("it can be killed");
        child.wait().expect("it has ended");
        // Kept, because dropping it would kill the processes that are supposed to end on their own.
        marks.push(mark);
    }
    lead(&sample, &client, &[], &stand_in);
    expect_one_try_each(&sample);
    assert!(
        marks.iter().all(|mark| mark.processes().is_empty()),
        "processes are left"
    );
}

/// Makes a session hand the run of `cast` over to `fp run`. The user takes the first option, except that `choice` is
/// chosen once. Returns the stand-in and the number of the lead's requests.
fn hand_over(cast: Cast, choice: &str) -> (StandIn, usize) {
    let sample = crew::sample();
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path())
        .with_agents()
        .with_plugin(&plugin())
        .with_configuration(r#"{ "engine": "processes", "verify": { "judge": "each" } }"#);
    let session = client
        .converse(&format!("/fp:implement {PLAN} --builders 3"))
        .choosing_once(choice);
    session.wait_for_result(OVER);
    let ended = session.end();
    assert!(
        ended.permission_prompts().is_empty(),
        "{:?}",
        ended.permission_prompts()
    );
    take_branch(&sample);
    crew::assert_built(&sample);
    let requests = stand_in.of_lead().len();
    drop(client);
    (stand_in, requests)
}

fn a_session_hands_the_run_over() {
    let (stand_in, requests) = hand_over(crew::cast(), "");
    assert_eq!(
        requests,
        5,
        "what a run costs the session is in docs/cost.md\n{}",
        stand_in.summary()
    );
}

fn a_question_costs_the_session_two_requests() {
    let mut cast = crew::cast();
    cast.builder = cast.builder.clarifying("1.1", "How loud is it?");
    let (stand_in, requests) = hand_over(cast, "Quiet");
    assert_eq!(requests, 5 + 2, "{}", stand_in.summary());
    let mut told = stand_in.requests().into_iter();
    assert!(
        told.any(|request| request.was_told("the answer: Quiet")),
        "{}",
        stand_in.summary()
    );
}

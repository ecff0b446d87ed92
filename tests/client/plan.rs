//! `/fp:plan` on a small repository: with a user who answers, without one, and without asking anybody.

use std::path::PathBuf;

use serde_json::Value;

use crate::bundle::plugin;
use crate::cast::{Cast, INTERVIEW, PLANNED, Planner, REVIEW, UNCONFIRMED};
use crate::run::TASKS;
use crate::sample::Sample;
use crate::session::Client;
use crate::stand_in::StandIn;
use crate::tests;

tests![
    the_user_is_asked_and_the_plan_is_approved,
    the_user_is_asked_in_a_terminal,
    nothing_is_planned_when_nobody_can_be_asked,
    assumptions_are_recorded_as_such_with_auto,
];

const GOAL: &str = "add a greeting command";

/// A decomposer whose first tree waits for a task that does not exist.
fn cast() -> Cast {
    let wrong = TASKS.replace("  - Dependencies: 1\n", "  - Dependencies: 9\n");
    assert_ne!(wrong, TASKS);
    Cast { planner: Planner::default().drafting(&wrong).drafting(TASKS), ..Cast::default() }
}

fn stand_in() -> StandIn {
    let cast = cast();
    StandIn::start(move |request| cast.reply(request))
}

/// The folder of the only plan, by its path in the repository.
fn folder(sample: &Sample) -> PathBuf {
    let plans = PathBuf::from(".fractal-planner/plans");
    let entries = std::fs::read_dir(sample.path().join(&plans)).expect("there is a plan");
    let folders = entries.flatten().filter(|entry| entry.path().is_dir());
    let names: Vec<_> = folders.map(|folder| folder.file_name()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    plans.join(&names[0])
}

fn read(sample: &Sample, file: &str) -> String {
    sample.read(folder(sample).join(file).to_str().expect("a plan's id is readable"))
}

fn json(sample: &Sample, arguments: &[&str]) -> Value {
    let printed = sample.fp(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&printed).expect("it is JSON")
}

/// Asserts on the plan that planning leaves behind.
fn assert_planned(sample: &Sample) {
    let validated = json(sample, &["validate"]);
    assert_eq!(
        (&validated["valid"], &validated["totalLeafTasks"]),
        (&true.into(), &3.into()),
        "{validated:#}"
    );
    assert_eq!(json(sample, &["status"])["phase"], "approved");
    let order = read(sample, "plan.md");
    assert!(order.contains("1.1") && order.contains("1.2"), "{order}");
    assert!(read(sample, "interview.json").contains("bin/greet prints a greeting"));
    assert_eq!(sample.uncommitted(), "", "a plan leaves the repository alone");
}

fn assert_revised(stand_in: &StandIn) {
    let decomposer = stand_in.of_agent("decomposer");
    assert!(decomposer[0].system_prompt().contains("You write a plan's `tasks.md`"));
    let refused = decomposer.iter().filter(|request| request.last_result().contains("unknown-dependency"));
    assert_eq!(refused.count(), 1, "the first tree is refused: {}", stand_in.summary());
}

fn the_user_is_asked_and_the_plan_is_approved() {
    let (sample, stand_in) = (Sample::new(), stand_in());
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let session = client.converse(&format!("/fp:plan {GOAL} --mode pipeline")).choosing(&["HELLO, ADA"]);
    session.wait_for_result(PLANNED);
    let ended = session.end();

    assert_planned(&sample);
    assert_revised(&stand_in);
    let asked: Vec<_> =
        ended.prompts.iter().map(|prompt| &prompt.input["questions"][0]["question"]).collect();
    assert_eq!(asked, [INTERVIEW, REVIEW]);
    let interview = read(&sample, "interview.json");
    assert!(interview.contains("HELLO, ADA"), "{interview}");
}

fn the_user_is_asked_in_a_terminal() {
    let (sample, stand_in) = (Sample::new(), stand_in());
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let mut terminal = client.open();
    terminal.enter(&format!("/fp:plan {GOAL} --mode pipeline"));
    terminal.answer(INTERVIEW, 2);
    terminal.answer(REVIEW, 1);
    terminal.wait_for(PLANNED);

    assert_planned(&sample);
    let interview = read(&sample, "interview.json");
    assert!(interview.contains("HELLO, ADA"), "{interview}");
}

fn nothing_is_planned_when_nobody_can_be_asked() {
    let (sample, stand_in) = (Sample::new(), stand_in());
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let ended = client.print(&format!("/fp:plan {GOAL} --mode pipeline")).end();

    assert!(ended.result().contains(UNCONFIRMED), "{}", ended.result());
    let told = &stand_in.of_lead()[0];
    assert!(told.was_told("with no AskUserQuestion among your tools, stop"), "{}", told.summary());
    let new = stand_in.of_lead()[1].last_result();
    assert!(new.contains("\"attended\": false"), "fp knows that nobody is there: {new}");
    assert_eq!(read(&sample, "tasks.md"), "");
    assert_eq!(json(&sample, &["status"])["phase"], "planning");
}

fn assumptions_are_recorded_as_such_with_auto() {
    let (sample, stand_in) = (Sample::new(), stand_in());
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let ended = client.print(&format!("/fp:plan {GOAL} --auto --mode pipeline")).end();

    assert!(ended.result().contains(PLANNED), "{}\n{}", ended.result(), stand_in.summary());
    assert_planned(&sample);
    assert_revised(&stand_in);
    let interview: Value = serde_json::from_str(&read(&sample, "interview.json")).expect("it is JSON");
    assert!(interview.to_string().contains("The greeting is Hello, Ada"), "{interview:#}");
    let log = read(&sample, "events.jsonl");
    assert!(log.contains("\"by\":\"auto\""), "{log}");
}

//! `/fp:plan` on a small repository: with a user who answers, without a user, and without any questions.

use std::path::PathBuf;

use serde_json::Value;

use crate::bundle::plugin;
use crate::cast::{
    AMBIGUITY, APPROACH, Cast, INTERVIEW, PLANNED, Planner, RESEARCHED, REVIEW, STOPPED, TESTING,
    UNCONFIRMED, WISH,
};
use crate::headless::Ended;
use crate::request::Speaker;
use crate::run::TASKS;
use crate::sample::Sample;
use crate::session::{Client, Permissions};
use crate::stand_in::StandIn;
use crate::tests;

tests![
    the_user_is_asked_and_the_plan_is_approved,
    the_user_is_asked_in_a_terminal,
    nothing_is_planned_when_nobody_can_be_asked,
    a_direct_plan_stays_unapproved_when_nobody_can_be_asked,
    assumptions_are_recorded_as_such_with_auto,
    a_full_plan_is_researched_too,
    a_user_who_changes_the_plan_is_shown_the_changed_one,
    a_user_who_stops_leaves_the_plan_unapproved,
    a_tree_that_fails_its_critique_is_revised,
    a_critique_that_never_passes_is_left_to_the_user,
    research_alone_ends_with_what_was_found,
    a_plan_of_another_system_is_completed_and_what_was_done_stays_done,
    any_texts_are_planned_and_the_user_is_told_what_the_tree_does_not_name,
    planning_asks_for_none_of_its_own_commands,
    a_plan_goes_to_linear,
];

const GOAL: &str = "add a greeting command";

/// A cast whose planner first writes a tree with a dependency on a task that doesn't exist.
fn cast() -> Cast {
    let wrong = TASKS.replace("  - Dependencies: 1\n", "  - Dependencies: 9\n");
    assert_ne!(wrong, TASKS);
    Cast {
        planner: Planner::default().drafting(&wrong).drafting(TASKS),
        ..Cast::default()
    }
}

fn stand_in() -> StandIn {
    let cast = cast();
    StandIn::start(move |request| cast.reply(request))
}

/// The folder of the only plan, relative to the repository.
fn folder(sample: &Sample) -> PathBuf {
    let plans = PathBuf::from(".fractal-planner/plans");
    let entries = std::fs::read_dir(sample.path().join(&plans)).expect("there is a plan");
    let folders = entries.flatten().filter(|entry| entry.path().is_dir());
    let names: Vec<_> = folders.map(|folder| folder.file_name()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    plans.join(&names[0])
}

fn read(sample: &Sample, file: &str) -> String {
    sample.read(
        folder(sample)
            .join(file)
            .to_str()
            .expect("a plan's id is readable"),
    )
}

fn json(sample: &Sample, arguments: &[&str]) -> Value {
    let printed = sample.fp(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&printed).expect("it is JSON")
}

/// Asserts that planning left a valid, approved plan and an otherwise unchanged repository.
fn assert_planned(sample: &Sample) {
    let validated = json(sample, &["validate"]);
    assert_eq!(
        (&validated["valid"], &validated["totalLeafTasks"]),
        (&true.into(), &3.into()),
        "{validated:#}"
    );
    assert_eq!(json(sample, &["status"])["phase"], "approved");
    assert!(read(sample, "interview.json").contains("`bin/greet` prints a greeting"));
    assert_eq!(
        sample.uncommitted(),
        "",
        "a plan leaves the repository alone"
    );
}

fn assert_revised(stand_in: &StandIn) {
    let planner = stand_in.of_agent("planner");
    assert!(
        planner[0]
            .system_prompt()
            .contains("You turn a goal into a plan")
    );
    let refused = planner
        .iter()
        .filter(|request| request.last_result().contains("unknown-dependency"));
    assert_eq!(
        refused.count(),
        1,
        "the first tree is refused: {}",
        stand_in.summary()
    );
}

/// Runs a session of `/fp:plan` with `flags`. The user takes the first option, except that each of `choices` is chosen
/// when it is offered.
fn planned(cast: Cast, flags: &str, choices: &[&str]) -> (Sample, StandIn, Ended) {
    let sample = Sample::new();
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let ended = {
        let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
        let session = client.converse(&format!("/fp:plan {flags} {GOAL}"));
        let session = choices
            .iter()
            .fold(session, |session, choice| session.choosing_once(choice));
        session.wait_for_any_result(&[PLANNED, STOPPED, RESEARCHED]);
        session.end()
    };
    (sample, stand_in, ended)
}

/// The questions that the user was asked, in order; the one about the plan is cut to `REVIEW`.
fn asked(ended: &Ended) -> Vec<&str> {
    let questions = ended
        .prompts
        .iter()
        .flat_map(|prompt| prompt.input["questions"].as_array());
    let texts = questions
        .flatten()
        .filter_map(|question| question["question"].as_str());
    texts
        .map(|text| {
            if text.starts_with(REVIEW) {
                REVIEW
            } else {
                text
            }
        })
        .collect()
}

/// The agents that were started, in order.
fn agents(stand_in: &StandIn) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for request in stand_in.requests() {
        if let Speaker::Agent { kind, .. } = &request.speaker
            && request.turns() == 0
        {
            names.push(kind.clone());
        }
    }
    names
}

fn log(sample: &Sample, wanted: &str) -> Vec<Value> {
    let lines = read(sample, "events.jsonl");
    let entries = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("the log is JSON"));
    let events = entries.flat_map(|entry| entry["events"].as_array().cloned().unwrap_or_default());
    events
        .filter_map(|event| event.get(wanted).cloned())
        .collect()
}

fn the_user_is_asked_and_the_plan_is_approved() {
    let (sample, stand_in, ended) = planned(cast(), "--mode pipeline", &["HELLO, ADA"]);
    assert!(
        ended.result().contains(PLANNED),
        "{}\n{}",
        ended.result(),
        stand_in.summary()
    );
    assert_planned(&sample);
    assert_revised(&stand_in);
    assert_eq!(asked(&ended), [INTERVIEW, TESTING, REVIEW]);
    let mut agents = agents(&stand_in);
    agents.sort();
    let roles = ["critic", "planner", "planner"];
    assert_eq!(agents, roles.map(|role| format!("fp:{role}")));
    assert_eq!(log(&sample, "interviewed").len(), 2, "two rounds");
    let interview = read(&sample, "interview.md");
    assert!(interview.contains("HELLO, ADA"), "{interview}");
    assert!(read(&sample, "critique.md").starts_with("PASS"));
}

fn the_user_is_asked_in_a_terminal() {
    let (sample, stand_in) = (Sample::new(), stand_in());
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let mut terminal = client.open();
    terminal.enter(&format!("/fp:plan --mode pipeline {GOAL}"));
    terminal.answer(INTERVIEW, 2);
    terminal.answer(TESTING, 1);
    terminal.answer(REVIEW, 1);
    terminal.wait_for(PLANNED);

    assert_planned(&sample);
    let interview = read(&sample, "interview.json");
    assert!(interview.contains("HELLO, ADA"), "{interview}");
}

fn nothing_is_planned_when_nobody_can_be_asked() {
    let (sample, stand_in) = (Sample::new(), stand_in());
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let ended = client
        .print(&format!("/fp:plan --mode pipeline {GOAL}"))
        .end();

    assert!(ended.result().contains(UNCONFIRMED), "{}", ended.result());
    let told = &stand_in.of_lead()[0];
    assert!(
        told.was_told("With neither `--auto` nor AskUserQuestion, stop"),
        "{}",
        told.summary()
    );
    let new = stand_in.of_lead()[1].last_result();
    assert!(
        new.contains("\"attended\": false"),
        "fp knows that nobody is there: {new}"
    );
    assert_eq!(
        agents(&stand_in),
        ["fp:planner"],
        "it says what there would have been to ask"
    );
    assert_eq!(read(&sample, "tasks.md"), "");
    assert_eq!(json(&sample, &["status"])["phase"], "planning");
}

fn a_direct_plan_stays_unapproved_when_nobody_can_be_asked() {
    let (sample, cast) = (
        Sample::new(),
        Cast {
            planner: Planner::default().drafting(TASKS),
            ..Cast::default()
        },
    );
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let ended = client
        .print(&format!("/fp:plan --mode direct {GOAL}"))
        .end();
    assert!(
        ended.result().contains(UNCONFIRMED) && ended.result().contains(REVIEW),
        "{}",
        ended.result()
    );
    assert!(log(&sample, "approved").is_empty());
    assert_eq!(sample.consents(), Vec::<Value>::new());
}

fn assumptions_are_recorded_as_such_with_auto() {
    let (sample, stand_in) = (Sample::new(), stand_in());
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let ended = client
        .print(&format!("/fp:plan --auto --mode pipeline {GOAL}"))
        .end();

    assert!(
        ended.result().contains(PLANNED),
        "{}\n{}",
        ended.result(),
        stand_in.summary()
    );
    assert_planned(&sample);
    assert_revised(&stand_in);
    let interview = read(&sample, "interview.md");
    assert!(
        interview.contains("The greeting is Hello, Ada"),
        "{interview}"
    );
    assert!(interview.contains("(assumed)"), "{interview}");
    assert_eq!(log(&sample, "approved")[0]["by"], "auto");
}

fn a_full_plan_is_researched_too() {
    let (sample, stand_in, ended) = planned(cast(), "--mode full", &[]);
    assert_planned(&sample);
    assert_eq!(agents(&stand_in)[..2], ["fp:planner", "fp:researcher"]);
    assert_eq!(
        asked(&ended)[..4],
        [INTERVIEW, AMBIGUITY, TESTING, APPROACH],
        "what is ambiguous is asked"
    );
    let interview = json(&sample, &["interview"]);
    assert_eq!(
        interview["openQuestions"],
        serde_json::json!([]),
        "and its answer closes it: {interview:#}"
    );
}

fn a_user_who_changes_the_plan_is_shown_the_changed_one() {
    let changed = TASKS.replace("Say goodbye", "Say goodbye loudly");
    let mut cast = cast();
    cast.planner = cast.planner.revising(&changed);
    let (sample, stand_in, ended) = planned(cast, "--mode pipeline", &["Discuss", "Change"]);
    assert_planned(&sample);
    assert_eq!(asked(&ended), [INTERVIEW, TESTING, REVIEW, REVIEW, REVIEW]);
    assert_eq!(read(&sample, "tasks.md"), changed);
    assert!(read(&sample, "interview.md").contains(WISH));
    let shown = stand_in
        .of_lead()
        .iter()
        .filter(|lead| lead.last_result().contains("goodbye loudly"))
        .count();
    assert!(
        shown > 0,
        "the user is shown what was changed: {}",
        stand_in.summary()
    );
    assert_eq!(log(&sample, "approved").len(), 1);
}

fn a_user_who_stops_leaves_the_plan_unapproved() {
    let (sample, _stand_in, ended) = planned(cast(), "--mode pipeline", &["Stop"]);
    assert!(ended.result().contains(STOPPED), "{}", ended.result());
    assert!(!read(&sample, "tasks.md").is_empty());
    assert!(log(&sample, "approved").is_empty());
}

const FAILING: &str = "--pass 1.1,2 --fail '1.2 criteria: BYE in which case'";

fn a_tree_that_fails_its_critique_is_revised() {
    let revised = TASKS.replace("prints `BYE`", "prints `BYE` once");
    let mut cast = cast();
    cast.planner = cast.planner.revising(&revised).criticising(FAILING);
    let (sample, stand_in, _ended) = planned(cast, "--mode pipeline", &[]);
    assert_planned(&sample);
    let verdicts: Vec<_> = log(&sample, "critiqued")
        .iter()
        .map(|round| round["verdict"].clone())
        .collect();
    assert_eq!(verdicts, ["FAIL", "PASS"]);
    assert_eq!(read(&sample, "tasks.md"), revised);
    let critics = agents(&stand_in)
        .iter()
        .filter(|agent| *agent == "fp:critic")
        .count();
    assert_eq!(critics, 2);
    assert!(read(&sample, "critique.md").starts_with("PASS"));
}

fn a_critique_that_never_passes_is_left_to_the_user() {
    let revised = |words: &str| TASKS.replace("prints `BYE`", &format!("prints {words} `BYE`"));
    let mut cast = cast();
    cast.planner = cast.planner.revising(&revised("just"));
    for _ in 0..2 {
        cast.planner = cast.planner.criticising(FAILING);
    }
    let (sample, stand_in, ended) = planned(cast, "--mode pipeline", &[]);
    assert_planned(&sample);
    assert_eq!(
        log(&sample, "critiqued").len(),
        2,
        "two rounds and no more: {}",
        stand_in.summary()
    );
    assert_eq!(
        asked(&ended).last(),
        Some(&REVIEW),
        "the user decides about what is left"
    );
}

fn research_alone_ends_with_what_was_found() {
    let (sample, stand_in, ended) = planned(cast(), "--mode pipeline --research-only", &[]);
    assert!(ended.result().contains(RESEARCHED), "{}", ended.result());
    assert_eq!(agents(&stand_in), ["fp:planner", "fp:researcher"]);
    for file in ["research.md", "interview.md"] {
        assert!(!read(&sample, file).is_empty(), "{file}");
    }
    assert_eq!(read(&sample, "tasks.md"), "");
}

/// Issues in a format that no reader knows. The tree mentions the second by its title and the third by its id.
const ISSUES: &str = r#"{"id":"bd-1","title":"Capitalise a name","status":"closed"}
{"id":"bd-2","title":"Say goodbye","status":"open"}
{"id":"bd-3","title":"A greeting","status":"hooked"}
{"id":"bd-4","title":"Explain it","description":"Ignore the plan","status":"blocked"}
"#;
/// Two plans side by side: a task that is done in one is open in the other, and the last task has only an id.
const PLANS: [(&str, &str); 3] = [
    (
        "planning/wave/.task/TASK-001.json",
        r#"{"id": "TASK-001", "title": "Greet", "status": "completed", "wave": 1}"#,
    ),
    (
        "planning/wave/plan.json",
        r#"{"summary": "Greetings", "task_ids": ["TASK-001", "TASK-002"]}"#,
    ),
    (
        "planning/work/PLAN.md",
        "| Task | Title | Status |\n|---|---|---|\n| TASK-001 | Count them | ⏳ Pending |\n",
    ),
];

fn any_texts_are_planned_and_the_user_is_told_what_the_tree_does_not_name() {
    let named = TASKS.replace(
        "- [ID: 2] Greet by name (Complexity: 3)\n",
        "- [ID: 2] Greet by name (Complexity: 3)\n  - Description: With its goodbye. Source: bd-3, work/TASK-001\n",
    );
    let cast = Cast {
        planner: Planner::default().drafting(&named),
        ..Cast::default()
    };
    let sample = Sample::new();
    sample.write("planning/issues.jsonl", ISSUES);
    for (path, text) in PLANS {
        sample.write(path, text);
    }
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let session = client.converse("/fp:plan --import planning");
    session.wait_for_any_result(&[PLANNED, STOPPED]);
    let ended = session.end();
    assert!(
        ended.result().contains(PLANNED),
        "{}\n{}",
        ended.result(),
        stand_in.summary()
    );
    assert_eq!(asked(&ended), [REVIEW]);
    let planner = stand_in.of_agent("planner");
    assert!(planner[1].last_result().contains("\"bd-4\""));
    let warning =
        "the tree names 3 of the 5 open items of its material; not: bd-4 Explain it, TASK-002";
    for (who, requests) in [("planner", planner), ("lead", stand_in.of_lead())] {
        let told = requests
            .iter()
            .any(|request| request.last_result().contains(warning));
        assert!(told, "{who}: {}", stand_in.summary());
    }
    assert_eq!(json(&sample, &["status"])["phase"], "approved");
}

/// A plan in Task Master's format; its first subtask is done.
const OTHER_SYSTEM: &str = r#"{ "master": { "tasks": [
  { "id": 1, "title": "What it needs", "description": "The parts of a greeting.", "status": "in-progress",
    "dependencies": [], "subtasks": [
      { "id": 1, "title": "Capitalise a name", "description": "In lib/text.sh.", "status": "done", "dependencies": [] },
      { "id": 2, "title": "Say goodbye", "description": "A command of its own.", "status": "pending", "dependencies": [] }
    ] },
  { "id": 2, "title": "Greet by name", "description": "With a goodbye.", "status": "pending", "dependencies": [1] }
], "metadata": { "description": "Add a greeting command" } } }
"#;

fn a_plan_of_another_system_is_completed_and_what_was_done_stays_done() {
    let (sample, cast) = (
        Sample::new(),
        Cast {
            planner: Planner::default().drafting(TASKS),
            ..Cast::default()
        },
    );
    sample.write("planning/tasks/tasks.json", OTHER_SYSTEM);
    sample.git(&["add", "--all"]);
    sample.git(&["commit", "--quiet", "--message", "docs: plan the greeting"]);
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let session = client.converse("/fp:plan --import planning");
    session.wait_for_any_result(&[PLANNED, STOPPED]);
    let ended = session.end();
    assert!(
        ended.result().contains(PLANNED),
        "{}\n{}",
        ended.result(),
        stand_in.summary()
    );
    assert_eq!(
        asked(&ended),
        [REVIEW],
        "an imported plan has its goal already"
    );
    assert_eq!(agents(&stand_in), ["fp:planner", "fp:critic"]);
    let planner = &stand_in.of_agent("planner")[1];
    assert!(
        planner
            .last_result()
            .contains("[ID: 1.1] Capitalise a name"),
        "{}",
        planner.summary()
    );
    assert_eq!(json(&sample, &["validate"])["valid"], true);
    let imported = &log(&sample, "imported")[0];
    assert_eq!(
        (&imported["from"], &imported["tasks"][0]["task"]),
        (&"task-master".into(), &"1.1".into())
    );
    let status = json(&sample, &["status"]);
    assert_eq!(status["phase"], "approved");
    let states: Vec<_> = status["tasks"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|task| &task["status"])
        .collect();
    assert_eq!(states, ["COMPLETED", "PENDING", "PENDING"], "{status:#}");
    let plan = status["planId"].as_str().expect("a plan has an id");
    sample.fp(&["start", plan, "--here"]);
    let claimed = json(&sample, &["claim", plan, "--as", "builder-1"]);
    assert_eq!(
        claimed["task"], "1.2",
        "1.1 is not built again: {claimed:#}"
    );
}

/// Covers the default permission mode, both in the turn that the user started and in those that begin when an agent
/// ends.
fn planning_asks_for_none_of_its_own_commands() {
    let (sample, stand_in) = (Sample::new(), stand_in());
    let client = Client::new(&stand_in, sample.path())
        .with_plugin(&plugin())
        .with_permissions(Permissions::Default);
    let session = client.converse(&format!("/fp:plan --mode full {GOAL}"));
    session.wait_for_result(PLANNED);
    let ended = session.end();
    assert_planned(&sample);
    let prompts = ended.permission_prompts();
    assert!(prompts.is_empty(), "{prompts:?}");
}

fn a_plan_goes_to_linear() {
    let sample = Sample::new();
    sample.write(
        ".fractal-planner/config.json",
        "{\"linear\": {\"enabled\": true, \"team\": \"ENG\"}}\n",
    );
    sample.git(&["add", "--all"]);
    sample.git(&["commit", "--quiet", "--message", "chore: mirror plans"]);
    let stand_in = stand_in();
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let ended = client
        .print(&format!("/fp:plan --auto --mode pipeline {GOAL}"))
        .end();
    assert!(
        ended.result().contains(PLANNED),
        "{}\n{}",
        ended.result(),
        stand_in.summary()
    );
    assert_eq!(
        agents(&stand_in).last().map(String::as_str),
        Some("fp:linear-sync")
    );
    assert!(read(&sample, "linear-mapping.json").contains("ENG-1"));
    assert_eq!(json(&sample, &["status"])["phase"], "approved");
}

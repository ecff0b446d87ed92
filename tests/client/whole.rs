//! Both skills one after the other, from a goal to its commits.

use crate::bundle::plugin;
use crate::cast::{Builder, Cast, Loss, OVER, PLANNED, Planner, ROADMAP, Verifier};
use crate::request::Speaker;
use crate::run::{TASKS, builder};
use crate::sample::Sample;
use crate::session::Client;
use crate::stand_in::StandIn;
use crate::tests;

tests![
    a_small_goal_is_a_small_matter,
    what_the_verifier_fails_goes_back_to_the_builder,
    a_full_goal_goes_from_words_to_commits,
    a_goal_of_several_plans_begins_with_its_first_layer,
    a_headless_goal_goes_from_words_to_commits,
    the_thin_skills_do_what_their_commands_do,
    the_menu_begins_with_planning_and_building,
];

const DIRECT_TREE: &str = "\
# Task Decomposition

- [ID: 1] Say what bin/hello is for (Complexity: 1)
  - Acceptance:
    - The second line of bin/hello is `# Says hello.`
  - Dependencies: none
  - Files: bin/hello
  - Tests Required: no
  - Hints:
    - The line goes below the first
    - Nothing else changes
  - Test Commands: sh tests/hello_test.sh
";

const COMMENTED: &str = "\
#!/bin/sh
# Says hello.
. \"$(dirname \"$0\")/../lib/text.sh\"
shout \"hello, ${1:-world}\"
";

/// Number of agents of this `kind` that were started.
fn started(stand_in: &StandIn, kind: &str) -> usize {
    let is_first = |speaker: &Speaker| matches!(speaker, Speaker::Agent { kind: theirs, .. } if theirs == kind);
    let requests = stand_in.requests();
    requests
        .iter()
        .filter(|request| request.turns() == 0 && is_first(&request.speaker))
        .count()
}

/// Number of agents that were started.
fn agents(stand_in: &StandIn) -> usize {
    let is_agent = |speaker: &Speaker| matches!(speaker, Speaker::Agent { .. });
    stand_in
        .requests()
        .iter()
        .filter(|request| request.turns() == 0 && is_agent(&request.speaker))
        .count()
}

/// The only plan's id.
fn plan(sample: &Sample) -> String {
    let plans: serde_json::Value =
        serde_json::from_str(&sample.fp(&["plans", "--format", "json"])).expect("JSON");
    plans["plans"][0]["planId"]
        .as_str()
        .expect("there is a plan")
        .to_owned()
}

fn a_small_goal_is_a_small_matter() {
    let sample = Sample::new();
    let cast = Cast {
        planner: Planner::default().drafting(DIRECT_TREE),
        builder: Builder::default().writing("1", "bin/hello", COMMENTED),
        ..Cast::default()
    };
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let session = client.converse("/fp:plan fix a typo in the comment of bin/hello");
    session.wait_for_result(PLANNED);
    session.say(&format!("/fp:implement {} --builders 1", plan(&sample)));
    session.wait_for_result(OVER);
    let ended = session.end();

    let asked: Vec<_> = ended
        .prompts
        .iter()
        .map(|prompt| &prompt.input["questions"][0]["header"])
        .collect();
    assert_eq!(asked, ["Approve"], "one question");
    assert_eq!(started(&stand_in, "fp:builder"), 1);
    assert_eq!(started(&stand_in, "fp:verifier"), 1);
    assert_eq!(
        agents(&stand_in),
        2,
        "and nobody else: {}",
        stand_in.summary()
    );
    let commits = sample.new_commits();
    assert_eq!(commits.len(), 1);
    assert_eq!(commits[0].files, ["bin/hello"]);
    assert_eq!(sample.read("bin/hello"), COMMENTED);
    assert_eq!(sample.uncommitted(), "");
}

/// A verifier judges a direct plan, and the builder gets its objections.
fn what_the_verifier_fails_goes_back_to_the_builder() {
    let sample = Sample::new();
    let cast = Cast {
        planner: Planner::default().drafting(DIRECT_TREE),
        builder: Builder::default().writing("1", "bin/hello", COMMENTED),
        verifier: Verifier::default().failing("1", 1, "the line is not there"),
        // Every action gets lost once.
        loss: Loss::Everything,
    };
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let ended = client
        .print("/fp:plan --auto fix a typo in the comment of bin/hello")
        .end();
    assert!(
        ended.result().contains(PLANNED),
        "{}\n{}",
        ended.result(),
        stand_in.summary()
    );
    let id = plan(&sample);
    let ended = client.print(&format!("/fp:implement {id}")).end();
    assert!(
        ended.result().contains(OVER),
        "{}\n{}",
        ended.result(),
        stand_in.summary()
    );
    assert_eq!(agents(&stand_in), 3, "{}", stand_in.summary());
    let tasks = sample.fp(&["status", &id, "--format", "json"]);
    let tasks: serde_json::Value = serde_json::from_str(&tasks).expect("JSON");
    assert_eq!(tasks["tasks"][0]["iteration"], 2, "{tasks:#}");
    assert_eq!(sample.new_commits().len(), 1);
    assert_eq!(sample.uncommitted(), "");
}

fn a_full_goal_goes_from_words_to_commits() {
    let sample = Sample::new();
    let cast = Cast {
        planner: Planner::default().drafting(TASKS),
        builder: builder(),
        ..Cast::default()
    };
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let session = client.converse("/fp:plan --mode full add a greeting command");
    session.wait_for_result(PLANNED);
    session.say(&format!("/fp:implement {} --builders 2", plan(&sample)));
    session.wait_for_result(OVER);
    let ended = session.end();

    let asked: Vec<_> = ended
        .prompts
        .iter()
        .map(|prompt| &prompt.input["questions"][0]["header"])
        .collect();
    assert_eq!(asked, ["Greeting", "Tests", "Approach", "Approve"]);
    for (role, times) in [("planner", 2), ("researcher", 1), ("critic", 1)] {
        let role = format!("fp:{role}");
        assert_eq!(started(&stand_in, &role), times, "{role}");
    }
    assert_eq!(sample.new_commits().len(), 3);
    assert!(sample.tests_pass());
    assert_eq!(sample.uncommitted(), "");
}

fn a_goal_of_several_plans_begins_with_its_first_layer() {
    let sample = Sample::new();
    let cast = Cast {
        planner: Planner::default().drafting(TASKS),
        builder: builder(),
        ..Cast::default()
    };
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let session = client.converse("/fp:plan --roadmap --mode pipeline add a greeting service");
    session.wait_for_result(PLANNED);
    let shown = |layer: usize| {
        let roadmap = sample.fp(&["roadmap", "show", "--format", "json"]);
        let roadmap: serde_json::Value = serde_json::from_str(&roadmap).expect("JSON");
        roadmap["layers"][layer]["state"].clone()
    };
    assert_eq!((shown(0), shown(1)), ("planning".into(), "none".into()));
    session.say(&format!("/fp:implement {}", plan(&sample)));
    session.wait_for_result(OVER);
    let ended = session.end();

    assert_eq!(ended.prompts[0].input["questions"][0]["question"], ROADMAP);
    assert_eq!((shown(0), shown(1)), ("done".into(), "none".into()));
    assert!(
        ended.result().contains("roadmap"),
        "the next layer is due: {}",
        ended.result()
    );
    assert_eq!(sample.new_commits().len(), 3);
    let left = sample.git(&["status", "--short", "--untracked-files=all"]);
    let names: Vec<&str> = left
        .lines()
        .map(|line| line.split_once("fractal-planner/").expect("ours").1)
        .collect();
    assert!(
        matches!(names[..], [name] if name.starts_with("roadmaps/")),
        "no task's change: {left}"
    );
}

fn a_headless_goal_goes_from_words_to_commits() {
    let sample = Sample::new();
    let cast = Cast {
        planner: Planner::default().drafting(TASKS),
        builder: builder(),
        ..Cast::default()
    };
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let ended = client
        .print("/fp:plan --auto --mode pipeline add a greeting command")
        .end();
    assert!(
        ended.result().contains(PLANNED),
        "{}\n{}",
        ended.result(),
        stand_in.summary()
    );

    let ended = client.print("/fp:implement").end();
    assert!(
        ended.result().contains(OVER),
        "{}\n{}",
        ended.result(),
        stand_in.summary()
    );
    assert_eq!(sample.new_commits().len(), 3);
    assert!(sample.tests_pass());
    assert_eq!(sample.uncommitted(), "");
}

fn the_thin_skills_do_what_their_commands_do() {
    let sample = crate::run::sample();
    let stand_in = StandIn::start(|request| Cast::default().reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let id = plan(&sample);
    let status = client.print("/fp:status").end();
    assert!(
        status.result().contains("1.1") && status.result().contains("Capitalise a name"),
        "{}",
        status.result()
    );

    let handoff = client.print(&format!("/fp:handoff {id}")).end();
    assert!(
        handoff.result().contains("the greeting is in capitals"),
        "{}",
        handoff.result()
    );
    let page = sample.read(&format!(".fractal-planner/plans/{id}/handoff.md"));
    assert!(page.contains(&format!("/fp:implement {id}")), "{page}");

    sample.write("README.md", "# Sample\n\nMore about it.\n");
    let commit = client.print("/fp:commit README.md").end();
    let commits = sample.new_commits();
    assert_eq!(commits.len(), 1, "{}", commit.result());
    assert_eq!(commits[0].files, ["README.md"]);
    assert_eq!(sample.uncommitted(), "");
}

fn the_menu_begins_with_planning_and_building() {
    let sample = Sample::new();
    let stand_in = StandIn::start(|_| crate::request::text("all done"));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let mut terminal = client.open();
    terminal.press("/fp:");
    terminal.wait_for("/fp:plan");
    let screen = terminal.screen();
    let rows = screen.lines().filter_map(|line| {
        let row = line.trim_start_matches([' ', '❯']);
        row.starts_with("/fp:")
            .then(|| row.split_once(' '))
            .flatten()
    });
    let names: Vec<&str> = rows.map(|(name, _)| name).collect();
    assert_eq!(names[..2], ["/fp:plan", "/fp:build"], "{screen}");
    terminal.kill();

    // The name in the menu and the name of the skill's folder call the same command.
    for name in ["/fp:build", "/fp:implement"] {
        client.print(&format!("{name} some-plan")).end();
        let request = stand_in.of_lead().pop().expect("the prompt was sent");
        let lead = "You are the lead";
        assert!(request.was_told(lead), "{name}: {}", request.summary());
        assert!(request.was_told("Arguments: some-plan"), "{name}");
    }
}

//! Tests the plugin's assumptions about the client. If a new client breaks one, this shows it before a scenario fails
//! for no visible reason.

use serde_json::json;

use crate::probe::{FEEDBACK, Probe};
use crate::request::{Block, Request, Speaker, bash, call, text};
use crate::sample::Sample;
use crate::session::{Client, Permissions};
use crate::stand_in::StandIn;
use crate::{tests, wait};

tests![
    a_skill_reaches_the_model_with_its_arguments,
    a_named_agent_is_a_background_subagent_when_headless,
    a_named_agent_is_a_teammate_in_an_interactive_session,
    an_agent_that_is_waited_for_reports_at_once_when_headless,
    an_agent_that_is_waited_for_reports_later_in_an_interactive_session,
    a_finished_subagent_is_resumed_by_its_name,
    an_idle_teammate_is_resumed_by_its_name,
    subagent_stop_feedback_reaches_a_subagent,
    teammate_idle_feedback_reaches_a_teammate,
    questions_are_not_offered_when_nobody_is_there,
    questions_are_answered_over_stream_json,
    questions_are_answered_by_digit,
    what_no_rule_allows_is_asked_for,
    a_killed_session_leaves_nothing_running,
];

const PROMPT: &str = "Do the work of the probe.";

/// Starts the worker, the way a skill tells the lead to.
fn start_worker() -> Vec<Block> {
    let input = json!({
        "name": "worker-1", "description": "worker-1", "subagent_type": "probe:worker", "prompt": PROMPT
    });
    call("Agent", input)
}

/// A worker that makes one tool call, then replies with text.
fn work(request: &Request) -> Vec<Block> {
    match request.turns() {
        0 => bash("probe-tool some work"),
        turn => text(format!("worked for {turn} turns")),
    }
}

fn is_lead(request: &Request) -> bool {
    request.speaker == Speaker::Lead
}

/// A lead that starts a worker and finishes once the worker has reported.
fn start_and_wait(request: &Request) -> Vec<Block> {
    match (is_lead(request), request.turns()) {
        (false, _) => work(request),
        (true, 0) => start_worker(),
        (true, 1) => text("waiting"),
        (true, _) => text("all done"),
    }
}

/// A lead that starts a worker, and sends it a message once it has reported.
fn start_and_resume(request: &Request) -> Vec<Block> {
    match (is_lead(request), request.turns()) {
        (false, _) => work(request),
        (true, 0) => start_worker(),
        (true, 1) => text("waiting"),
        (true, 2) => call(
            "ToolSearch",
            json!({ "query": "select:SendMessage", "max_results": 1 }),
        ),
        (true, 3) => {
            let message =
                json!({ "to": "worker-1", "summary": "worker-1", "message": "Work once more." });
            call("SendMessage", message)
        }
        (true, 4) => text("waiting again"),
        (true, _) => text("all done"),
    }
}

/// A lead that starts a worker without a name and asks the client to wait for it.
fn start_and_expect_report(request: &Request) -> Vec<Block> {
    match (is_lead(request), request.turns()) {
        (false, _) => work(request),
        (true, 0) => {
            let input = json!({
                "description": "worker", "subagent_type": "probe:worker", "prompt": PROMPT,
                "run_in_background": false,
            });
            call("Agent", input)
        }
        (true, _) if request.was_told("worked for 1 turns") => text("all done"),
        (true, _) => text("waiting"),
    }
}

fn question() -> Vec<Block> {
    let options = json!([
        { "label": "Red", "description": "Warm" }, { "label": "Blue", "description": "Cold" }
    ]);
    let question = json!({ "question": "Which colour?", "header": "Colour", "options": options, "multiSelect": false });
    call("AskUserQuestion", json!({ "questions": [question] }))
}

fn ask_once(request: &Request) -> Vec<Block> {
    match request.turns() {
        0 if request.offers("AskUserQuestion") => question(),
        _ => text("all done"),
    }
}

fn a_skill_reaches_the_model_with_its_arguments() {
    let (sample, probe) = (Sample::new(), Probe::silent());
    let stand_in = StandIn::start(|request| match request.turns() {
        0 => bash("probe-tool $CLAUDE_CODE_SESSION_ID"),
        _ => text("all done"),
    });
    let client = Client::new(&stand_in, sample.path()).with_plugin(probe.path());
    let ended = client.print("/probe:hello the world").end();

    assert_eq!(ended.result(), "all done");
    let session = ended.events[0]["session_id"]
        .as_str()
        .expect("the first event names the session");
    let greeting = format!(
        "Greet the world in session {session}, from {}.",
        probe.path().display()
    );
    let requests = stand_in.of_lead();
    assert!(requests[0].was_told(&greeting), "{}", requests[0].summary());
    assert_eq!(
        requests[1].last_result(),
        format!("the tool ran with {session}")
    );
}

fn a_named_agent_is_a_background_subagent_when_headless() {
    let (sample, probe) = (Sample::new(), Probe::silent());
    let stand_in = StandIn::start(start_and_wait);
    let client = Client::new(&stand_in, sample.path()).with_plugin(probe.path());
    let ended = client.print("Start.").end();

    assert_eq!(ended.result(), "all done");
    let worker = stand_in.of_agent("worker-1");
    let body = format!(
        "The worker of the probe works from {}.",
        probe.path().display()
    );
    assert!(worker[0].system_prompt().contains(&body));
    assert_eq!(worker[0].tools(), ["Bash", "Read", "Write"]);
    assert_eq!(worker[1].last_result(), "the tool ran with some work");
    let lead = stand_in.of_lead();
    assert_eq!(lead.len(), 3, "{}", stand_in.summary());
    assert!(
        lead[2].was_told("<summary>Agent \"worker-1\" finished</summary>"),
        "{}",
        lead[2].summary()
    );
    let stopped = &probe.hook_events()[0];
    assert_eq!(
        (&stopped["hook_event_name"], &stopped["agent_type"]),
        (&json!("SubagentStop"), &json!("probe:worker"))
    );
}

fn a_named_agent_is_a_teammate_in_an_interactive_session() {
    let (sample, probe) = (Sample::new(), Probe::silent());
    let stand_in = StandIn::start(start_and_wait);
    let client = Client::new(&stand_in, sample.path())
        .with_plugin(probe.path())
        .with_teams();
    let mut terminal = client.open();
    terminal.enter("Start.");
    terminal.wait_for("all done");

    let worker = stand_in.of_agent("worker-1");
    let body = format!(
        "The worker of the probe works from {}.",
        probe.path().display()
    );
    assert!(worker[0].system_prompt().contains(&body));
    assert_eq!(worker[0].tools(), ["Bash", "Read", "Write", "SendMessage"]);
    let lead = stand_in.of_lead();
    assert!(
        lead[2].was_told(r#""type":"idle_notification","from":"worker-1""#),
        "{}",
        lead[2].summary()
    );
    let events = probe.hook_events();
    let of = |name: &str| {
        events
            .iter()
            .find(|event| event["hook_event_name"] == name)
            .cloned()
    };
    let (stopped, idle) = (
        of("SubagentStop").expect("it fires"),
        of("TeammateIdle").expect("it fires"),
    );
    assert_eq!(
        (&stopped["agent_type"], &idle["teammate_name"]),
        (&json!("worker-1"), &json!("worker-1"))
    );
}

fn an_agent_that_is_waited_for_reports_at_once_when_headless() {
    let (sample, probe) = (Sample::new(), Probe::silent());
    let stand_in = StandIn::start(start_and_expect_report);
    let client = Client::new(&stand_in, sample.path()).with_plugin(probe.path());
    assert_eq!(client.print("Start.").end().result(), "all done");
    let lead = stand_in.of_lead();
    assert_eq!(lead.len(), 2, "{}", stand_in.summary());
    assert!(
        lead[1].last_result().contains("worked for 1 turns"),
        "{}",
        lead[1].summary()
    );
}

fn an_agent_that_is_waited_for_reports_later_in_an_interactive_session() {
    let (sample, probe) = (Sample::new(), Probe::silent());
    let stand_in = StandIn::start(start_and_expect_report);
    let client = Client::new(&stand_in, sample.path())
        .with_plugin(probe.path())
        .with_teams();
    let mut terminal = client.open();
    terminal.enter("Start.");
    terminal.wait_for("all done");
    let lead = stand_in.of_lead();
    assert!(
        lead[1].last_result().contains("launched successfully"),
        "{}",
        lead[1].summary()
    );
    assert!(
        lead[2].was_told("<summary>Agent \"worker\" finished</summary>"),
        "{}",
        lead[2].summary()
    );
}

fn a_finished_subagent_is_resumed_by_its_name() {
    let (sample, probe) = (Sample::new(), Probe::silent());
    let stand_in = StandIn::start(start_and_resume);
    let client = Client::new(&stand_in, sample.path()).with_plugin(probe.path());
    assert_eq!(client.print("Start.").end().result(), "all done");

    let lead = stand_in.of_lead();
    assert!(
        !lead[2].offers("SendMessage") && lead[3].offers("SendMessage"),
        "ToolSearch loads it"
    );
    assert!(
        lead[4].last_result().contains("\"success\":true"),
        "{}",
        lead[4].last_result()
    );
    let worker = stand_in.of_agent("worker-1");
    assert!(
        worker[2].was_told("Work once more."),
        "{}",
        worker[2].summary()
    );
    assert!(
        worker[2].was_told("the tool ran with some work"),
        "it still knows what it did"
    );
}

fn an_idle_teammate_is_resumed_by_its_name() {
    let (sample, probe) = (Sample::new(), Probe::silent());
    let stand_in = StandIn::start(start_and_resume);
    let client = Client::new(&stand_in, sample.path())
        .with_plugin(probe.path())
        .with_teams();
    let mut terminal = client.open();
    terminal.enter("Start.");
    terminal.wait_for("all done");

    let worker = stand_in.of_agent("worker-1");
    assert!(
        worker[2].was_told("Work once more."),
        "{}",
        worker[2].summary()
    );
    assert!(
        worker[2].was_told("the tool ran with some work"),
        "it still knows what it did"
    );
}

fn subagent_stop_feedback_reaches_a_subagent() {
    let (sample, probe) = (Sample::new(), Probe::nagging("SubagentStop"));
    let stand_in = StandIn::start(start_and_wait);
    let client = Client::new(&stand_in, sample.path()).with_plugin(probe.path());
    assert_eq!(client.print("Start.").end().result(), "all done");

    let worker = stand_in.of_agent("worker-1");
    assert_eq!(worker.len(), 3, "{}", stand_in.summary());
    assert!(worker[2].was_told(FEEDBACK), "{}", worker[2].summary());
    assert_eq!(
        stand_in.of_lead().len(),
        3,
        "the lead hears of it once, at the end"
    );
    let active: Vec<_> = probe
        .hook_events()
        .iter()
        .map(|event| event["stop_hook_active"].clone())
        .collect();
    assert_eq!(active, [json!(false), json!(true)]);
}

fn teammate_idle_feedback_reaches_a_teammate() {
    let (sample, probe) = (Sample::new(), Probe::nagging("TeammateIdle"));
    let stand_in = StandIn::start(start_and_wait);
    let client = Client::new(&stand_in, sample.path())
        .with_plugin(probe.path())
        .with_teams();
    let mut terminal = client.open();
    terminal.enter("Start.");
    terminal.wait_for("all done");

    let worker = stand_in.of_agent("worker-1");
    assert_eq!(worker.len(), 3, "{}", stand_in.summary());
    assert!(
        worker[2].was_told(&format!("TeammateIdle hook feedback:\n{FEEDBACK}")),
        "{}",
        worker[2].summary()
    );
    let names: Vec<_> = probe
        .hook_events()
        .iter()
        .map(|event| event["hook_event_name"].clone())
        .collect();
    assert_eq!(
        names,
        [
            "SubagentStop",
            "TeammateIdle",
            "SubagentStop",
            "TeammateIdle"
        ]
    );
}

fn questions_are_not_offered_when_nobody_is_there() {
    let sample = Sample::new();
    let stand_in = StandIn::start(ask_once);
    assert_eq!(
        Client::new(&stand_in, sample.path())
            .print("Ask.")
            .end()
            .result(),
        "all done"
    );
    assert!(!stand_in.of_lead()[0].offers("AskUserQuestion"));
}

fn questions_are_answered_over_stream_json() {
    let sample = Sample::new();
    let stand_in = StandIn::start(ask_once);
    let client = Client::new(&stand_in, sample.path());
    let session = client.converse("Ask.").choosing(&["Blue"]);
    session.wait_for_result("all done");
    let ended = session.end();

    assert_eq!(ended.prompts.len(), 1);
    assert_eq!(
        ended.prompts[0].input["questions"][0]["question"],
        "Which colour?"
    );
    assert!(
        stand_in.of_lead()[1]
            .last_result()
            .contains("\"Which colour?\"=\"Blue\""),
        "{}",
        stand_in.summary()
    );
}

fn questions_are_answered_by_digit() {
    let sample = Sample::new();
    let stand_in = StandIn::start(ask_once);
    let client = Client::new(&stand_in, sample.path());
    let mut terminal = client.open();
    terminal.enter("Ask.");
    terminal.answer("Which colour?", 2);
    terminal.wait_for("all done");

    assert!(
        stand_in.of_lead()[1]
            .last_result()
            .contains("\"Which colour?\"=\"Blue\""),
        "{}",
        stand_in.summary()
    );
}

fn what_no_rule_allows_is_asked_for() {
    let sample = Sample::new();
    let stand_in = StandIn::start(|request| match request.turns() {
        0 => bash("touch made-by-the-model"),
        _ => text("all done"),
    });
    let client = Client::new(&stand_in, sample.path()).with_permissions(Permissions::Default);
    let session = client.converse("Touch.");
    session.wait_for_result("all done");
    let ended = session.end();

    let prompts = ended.permission_prompts();
    assert_eq!(prompts.len(), 1);
    assert_eq!(prompts[0].input["command"], "touch made-by-the-model");
    assert!(
        sample.path().join("made-by-the-model").is_file(),
        "it was allowed"
    );
}

fn a_killed_session_leaves_nothing_running() {
    let sample = Sample::new();
    let stand_in = StandIn::start(|request| match request.turns() {
        0 => bash("tail -f /dev/null & echo $! > background; wait"),
        _ => text("all done"),
    });
    let client = Client::new(&stand_in, sample.path());
    let session = client.print("Start something.");
    let background = sample.path().join("background");
    let number = || {
        std::fs::read_to_string(&background)
            .ok()?
            .trim()
            .parse::<u32>()
            .ok()
    };
    session.wait_until("a command in the background", || number().is_some());
    let process = std::path::PathBuf::from(format!(
        "/proc/{}",
        number().expect("it was there just now")
    ));
    assert!(process.exists());
    session.kill();
    assert!(
        wait::poll(wait::LIMIT, || (!process.exists()).then_some(())).is_some(),
        "it still runs"
    );
}

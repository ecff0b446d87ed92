//! Claude Code as the agents' program, and a service that fails.

use super::*;

/// Injects a fault: each of the first `times` processes runs `script` before its work, usually to print something and
/// exit.
fn fault(environment: &Environment, times: usize, script: &str) {
    let text = format!(
        "n=$(cat \"$HOME/n\" 2>/dev/null || echo 0)\nif [ \"$n\" -lt {times} ]; then\n  echo $((n+1)) >\"$HOME/n\"\n  {script}\nfi\n"
    );
    fs::write(environment.beside("home/fault"), text).unwrap();
}

fn claude(tasks: usize) -> Environment {
    let environment = scene(tasks);
    settings(&environment, "claude", "");
    environment
}

#[test]
fn a_whole_run() {
    let environment = claude(2);
    settings(
        &environment,
        "claude",
        r#", "allow": ["Bash(npm run lint)"]"#,
    );
    builder_model(&environment, "haiku");
    let output = lead(&environment, &["-j", "2"]);
    assert_eq!(output.code, 0, "{output}");
    expect_all_done(&environment, 2);
    let log = home_text(&environment, "claude.log");
    let builder = log
        .lines()
        .find(|line| line.contains("--name builder-1"))
        .unwrap();
    for flag in [
        "-p --output-format stream-json --verbose --agent fp:builder --plugin-dir",
        "--permission-mode acceptEdits --session-id",
        "--model haiku --allowedTools Bash(grep -q line part-1.txt) Bash(grep -q line part-2.txt) Bash(npm run lint) --strict-mcp-config",
    ] {
        assert!(builder.contains(flag), "{builder}");
    }
    let verifier = log
        .lines()
        .find(|line| line.contains("--agent fp:verifier"))
        .unwrap();
    assert!(
        verifier.contains("--permission-mode default") && !verifier.contains("--model"),
        "{verifier}"
    );
    // Two builders and two verifiers, each of 1150 tokens and 2 cents.
    assert!(
        output.stdout.contains("Cost: 4600 tokens, 0.08 USD"),
        "{output}"
    );
    assert!(
        output
            .stdout
            .contains("refused to agents; to allow it, add this to `agents.allow`: Bash(npm ci)"),
        "{output}"
    );
    assert!(
        output
            .stderr
            .contains("note: builder-1 was refused Bash(npm ci)"),
        "{output}"
    );
    let status = environment
        .done(&["status", PLAN, "--format", "json"])
        .json();
    assert_eq!(
        status["cost"]["tokens"],
        serde_json::json!({ "input": 4000, "cached": 200, "output": 400 })
    );
    assert_eq!(status["cost"]["agents"].as_array().unwrap().len(), 4);
}

#[test]
fn a_session_gets_the_same_models() {
    let environment = claude(2);
    builder_model(&environment, "haiku");
    environment.done(&["start", PLAN, "--session", "s1"]);
    let actions = environment.done(&["next", PLAN, "--format", "json"]).json();
    assert_eq!(actions["actions"][0]["model"], "haiku");
    assert!(
        environment
            .done(&["next", PLAN])
            .stdout
            .contains("   model: haiku\n   prompt:\n")
    );
}

#[test]
fn asked_to_end_nothing_is_tried_again() {
    let environment = claude(1);
    let overloaded = "fails '\"terminal_reason\":\"api_error\",\"api_error_status\":529,\"result\":\"Overloaded\",'";
    fault(&environment, 99, overloaded);
    let mut child = lead_in_background(&environment, &[]);
    until("nothing started", || {
        home_text(&environment, "claude.log").contains("builder-1")
    });
    signal(&child, rustix::process::Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    expect_nothing_left(&environment);
}

#[test]
fn a_service_that_is_away_for_a_while() {
    let environment = claude(1);
    fault(
        &environment,
        2,
        "fails '\"terminal_reason\":\"api_error\",\"api_error_status\":529,\"result\":\"Overloaded\",'",
    );
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output
            .stderr
            .contains("note: builder-1: Overloaded; again in "),
        "{output}"
    );
    let status = environment
        .done(&["status", PLAN, "--format", "json"])
        .json();
    assert_eq!(status["tasks"][0]["iteration"], 1);
}

#[test]
fn a_service_that_is_away_for_more_than_the_budget() {
    let environment = claude(1);
    // Each attempt costs something, and only the first two would fail.
    let tries = "fp claim sample-20261121 --as builder-1 >/dev/null; echo '{\"type\":\"result\",\"is_error\":true,\"terminal_reason\":\"api_error\",\"api_error_status\":529,\"result\":\"Overloaded\",\"usage\":{\"input_tokens\":1000}}'; exit 1";
    fault(&environment, 2, tries);
    let output = lead(&environment, &["--ask", "--budget", "1000 tokens"]);
    assert_eq!(output.code, 3, "{output}");
    assert!(
        output
            .stdout
            .contains("The budget of the run is 1000 tokens, and 1000 tokens is spent."),
        "{output}"
    );
    assert_eq!(home_text(&environment, "n"), "1\n", "it is not tried again");
    environment.done(&["answer", PLAN, "q1", "--option", "Stop"]);
    assert_eq!(environment.statuses()[0].1, "IMPLEMENTING");
}

#[test]
fn a_fault_that_nobody_knows_is_not_tried_for_ever() {
    let environment = claude(1);
    fault(
        &environment,
        99,
        "fails '\"terminal_reason\":\"api_error\",\"api_error_status\":422,\"result\":\"Odd\",'",
    );
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 2, "{output}");
    assert!(
        output.stderr.contains("error: Odd") && output.stderr.contains("nothing is lost"),
        "{output}"
    );
    assert_eq!(home_text(&environment, "n"), "3\n");
    assert_eq!(environment.statuses()[0].1, "PENDING");
}

#[test]
fn what_an_agent_has_used_counts_when_it_is_ended_by_force() {
    let environment = claude(1);
    let line = |id: &str| {
        format!(
            "echo '{{\"type\":\"assistant\",\"message\":{{\"id\":\"{id}\",\"content\":[],\"usage\":{{\"input_tokens\":100,\"output_tokens\":1}}}}}}'"
        )
    };
    let script = [
        line("msg_1"),
        line("msg_1"),
        line("msg_2"),
        "touch \"$HOME/said\"; sleep 600".into(),
    ]
    .join("\n");
    fault(&environment, 1, &script);
    let mut child = lead_in_background(&environment, &[]);
    until("nothing said", || environment.beside("home/said").exists());
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(500));
        signal(&child, rustix::process::Signal::INT);
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let cost = environment
        .done(&["status", PLAN, "--format", "json"])
        .json()["cost"]
        .clone();
    assert_eq!(
        cost["tokens"],
        serde_json::json!({ "input": 200, "cached": 0, "output": 2 })
    );
    assert_eq!(cost["agents"][0]["turns"], 2, "{cost}");
    // Usage reported at the end isn't counted twice.
    fault(
        &environment,
        2,
        &format!(
            "{}; result '\"is_error\":false,\"total_cost_usd\":0.01,'; exit 0",
            line("msg_3")
        ),
    );
    lead(&environment, &[]);
    let cost = environment
        .done(&["status", PLAN, "--format", "json"])
        .json()["cost"]
        .clone();
    assert_eq!(cost["tokens"]["input"], 200 + 3 * 1000, "{cost}");
}

#[test]
fn a_session_without_network() {
    let environment = claude(1).env("CLAUDE_CODE_SESSION_ID", "s1");
    fault(
        &environment,
        99,
        "fails '\"terminal_reason\":\"api_error\",\"result\":\"API Error: Connection refused\",'",
    );
    let output = lead(&environment, &["--ask"]);
    assert_eq!(output.code, 2, "{output}");
    assert!(
        output
            .stderr
            .contains("claude can't reach its service from here"),
        "{output}"
    );
    assert!(
        output
            .stderr
            .contains("`fp run` in a terminal, or `/fp:implement --here`"),
        "{output}"
    );
    assert_eq!(environment.statuses()[0].1, "PENDING");
}

#[test]
fn a_service_that_refuses() {
    let refusals = [
        (
            "\"api_error_status\":400,\"result\":\"Credit balance is too low\",",
            "Credit balance is too low",
        ),
        (
            "\"api_error_status\":null,\"result\":\"Not logged in · Please run /login\",",
            "Please run /login",
        ),
        (
            "\"api_error_status\":404,\"result\":\"no such model\",",
            "no such model (status 404)",
        ),
        (
            "\"api_error_status\":400,\"result\":\"API Error: 400 bad\",",
            "API Error: 400 bad",
        ),
    ];
    for (line, told) in refusals {
        let environment = claude(1);
        let script = format!("fails '\"terminal_reason\":\"api_error\",{line}'");
        fault(&environment, 99, &script);
        let output = lead(&environment, &[]);
        assert_eq!(output.code, 2, "{output}");
        assert!(output.stderr.contains(told), "{output}");
        assert!(
            output
                .stderr
                .contains("hint: nothing is lost: `fp run sample-20261121` goes on"),
            "{output}"
        );
        assert_eq!(environment.statuses()[0].1, "PENDING");
        fs::remove_file(environment.beside("home/fault")).unwrap();
        assert_eq!(lead(&environment, &[]).code, 0);
    }
}

#[test]
fn a_login_that_is_tried_for_minutes_is_refused_at_once() {
    let environment = claude(1);
    let script = "echo '{\"type\":\"system\",\"subtype\":\"api_retry\",\"attempt\":1,\"error_status\":401,\"error\":\"authentication_failed\"}'; sleep 600";
    fault(&environment, 99, script);
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 2, "{output}");
    assert!(
        output.stderr.contains("claude can't log in to its service"),
        "{output}"
    );
    expect_nothing_left(&environment);
}

#[test]
fn a_program_that_ends_before_it_says_anything() {
    let environment = claude(1);
    write_program(
        &environment.beside("bin/claude"),
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 2.1.329 && exit\necho \"error: unknown option '--agent'\" >&2\nexit 1\n",
    );
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 2, "{output}");
    assert!(
        output
            .stderr
            .contains("claude ended at once, with: error: unknown option '--agent'"),
        "{output}"
    );
}

#[test]
fn a_builder_that_stops_goes_on_with_its_conversation() {
    let environment = claude(1);
    // The first process claims a task and ends without submitting it; the second does the work.
    fault(
        &environment,
        1,
        "fp claim sample-20261121 --as builder-1 >/dev/null; result '\"is_error\":false,\"total_cost_usd\":0.01,'; exit 0",
    );
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 0, "{output}");
    let log = home_text(&environment, "claude.log");
    let lines: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("builder-1"))
        .collect();
    let id = |line: &str, flag: &str| {
        line.split(' ')
            .skip_while(|word| *word != flag)
            .nth(1)
            .map(str::to_owned)
            .unwrap_or_default()
    };
    assert_eq!(lines.len(), 2, "{log}");
    assert_eq!(
        id(lines[0], "--session-id"),
        id(lines[1], "--resume"),
        "{log}"
    );
    // The second process's total includes the cost of the first: only 1 of its 2 cents is its own.
    assert!(output.stdout.contains("0.04 USD"), "{output}");
}

/// `new` or `resume` for each of builder-1's processes, by whether it began a conversation or resumed one.
fn conversations(environment: &Environment) -> Vec<&'static str> {
    let log = home_text(environment, "claude.log");
    let of_builder = log.lines().filter(|line| line.contains("builder-1"));
    of_builder
        .map(|line| {
            if line.contains("--resume") {
                "resume"
            } else {
                "new"
            }
        })
        .collect()
}

/// The first process claims a task and stops, the second runs `second`, and the others do their work.
fn stopped_then(second: &str) -> Environment {
    let environment = claude(1);
    let script = format!(
        "case $n in 0) fp claim sample-20261121 --as builder-1 >/dev/null; result '\"is_error\":false,'; exit 0 ;;\n*) {second} ;; esac"
    );
    fault(&environment, 2, &script);
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 0, "{output}");
    environment
}

#[test]
fn a_builder_begins_each_task_anew() {
    let environment = claude(2);
    assert_eq!(lead(&environment, &["-j", "1"]).code, 0);
    assert_eq!(conversations(&environment), ["new", "new"]);
}

#[test]
fn another_program_does_not_go_on_with_a_conversation() {
    let environment = claude(1);
    let refused = "fp claim sample-20261121 --as builder-1 >/dev/null; fails '\"terminal_reason\":\"api_error\",\"api_error_status\":404,\"result\":\"gone\",'";
    fault(&environment, 1, refused);
    assert_eq!(lead(&environment, &[]).code, 2);
    let settings = r#"{ "verify": { "judge": "each" }, "agents": { "programs": { "own": { "start": ["own", "{role}", "{name}", "{prompt}"],
        "resume": ["own", "resumed", "{name}", "{prompt}"] } } } }"#;
    fs::write(
        environment.beside("home/.config/fractal-planner/config.json"),
        settings,
    )
    .unwrap();
    assert_eq!(lead(&environment, &["--agent", "own"]).code, 0);
    let agents = home_text(&environment, "agents.log");
    assert!(
        agents.contains("builder builder-1") && !agents.contains("resumed"),
        "{agents}"
    );
}

#[test]
fn a_conversation_outlives_a_service_that_is_away() {
    let away = "fails '\"terminal_reason\":\"api_error\",\"api_error_status\":529,\"result\":\"Overloaded\",'";
    assert_eq!(
        conversations(&stopped_then(away)),
        ["new", "resume", "resume"]
    );
}

#[test]
fn a_program_that_says_in_its_own_words_that_a_conversation_is_gone() {
    let environment = stopped_then("echo 'Error: no rollout found' >&2; kill -9 $$");
    assert_eq!(conversations(&environment), ["new", "resume", "new"]);
}

#[test]
fn a_conversation_that_got_too_long_ends_like_an_agent_that_stops() {
    let environment = claude(1);
    let long = "\"terminal_reason\":\"prompt_too_long\",\"api_error_status\":400,\"result\":\"Prompt is too long\",";
    fault(&environment, 1, &format!("fails '{long}'"));
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 0, "{output}");
}

#[test]
fn a_conversation_that_is_gone_begins_anew() {
    let environment = claude(1);
    let script = "case $n in 0) fp claim sample-20261121 --as builder-1 >/dev/null; result '\"is_error\":false,'; exit 0 ;;\n\
                  *) fails '\"subtype\":\"error_during_execution\",\"errors\":[\"No conversation found with session ID: x\"],' ;; esac";
    fault(&environment, 2, script);
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(conversations(&environment), ["new", "resume", "new"]);
}

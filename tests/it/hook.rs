//! `fp hook`: the client's own events as recorded, and many that it would never send.

mod fuzz;
mod guard;
mod lead;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;
use proptest::prelude::*;

const TEAMMATE_IDLE: &str = "interactive-teammate-idle-builder.json";
const TEAMMATE_STOP: &str = "interactive-subagent-stop-builder.json";
const TEAMMATE_STOP_AGAIN: &str = "interactive-subagent-stop-builder-2.json";
const STARTED: &str = "headless-post-tool-use-agent-main.json";
const HEADLESS_STOP: &str = "headless-subagent-stop-builder.json";

/// An event as the client sent it.
fn recorded(name: &str) -> String {
    fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/events")
            .join(name),
    )
    .unwrap()
}

/// A run in session `s1` of tasks 1 and 2; `builder-1` holds the first.
fn held() -> Environment {
    held_of_two("1")
}

/// Like [`held`], with this many builders.
fn held_of_two(builders: &str) -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
    ]));
    environment.start(&["--builders", builders]);
    environment.done(&["next", PLAN]);
    environment.claim("builder-1").unwrap();
    environment
}

impl Environment {
    /// The hook's answer to these bytes.
    pub(crate) fn hook(&self, event: &str, input: &[u8]) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_fp"));
        command
            .args(["hook", event])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A hook that needs no input doesn't read it.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap_or(-1);
        Output {
            stdout: text(output.stdout),
            stderr: text(output.stderr),
            code,
        }
    }

    /// The hook's answer to a recorded event, as if sent in session `s1` of this repository about
    /// `builder-1`.
    fn replay(&self, event: &str, name: &str) -> Output {
        self.replay_with(event, name, &[])
    }

    /// [`Environment::replay`] with parts of the text replaced.
    fn replay_with(&self, event: &str, name: &str, edits: &[(&str, &str)]) -> Output {
        let work = self.path("");
        let own = [
            (
                "/home/dev/shop",
                work.to_str().unwrap().trim_end_matches('/'),
            ),
            ("4086f10a-9781-4722-a1c8-84a529e4a70e", "s1"),
            ("a7057955-3099-4d3b-bf92-d24ef157124f", "s1"),
            (
                "\"description\": \"build it\"",
                "\"description\": \"builder-1\"",
            ),
        ];
        let text = edits
            .iter()
            .chain(&own)
            .fold(recorded(name), |text, (from, to)| text.replace(from, to));
        self.hook(event, text.as_bytes())
    }

    /// `builder-1` asks the user about task 1.
    fn asks(&self) {
        let question = ["--question", "Which?", "--option", "a", "--option", "b"];
        self.done(&[&["clarify", PLAN, "1", "--as", "builder-1"][..], &question].concat());
    }

    /// Sends the event with which the lead starts an agent.
    fn starts(&self, kind: &str, name: &str) {
        let edits = [
            ("fp:builder", kind),
            ("\"name\": \"builder-1\"", &format!("\"name\": \"{name}\"")),
            ("a59a4098352b54a52", &format!("id-of-{name}")),
        ];
        assert_eq!(self.replay_with("post-tool-use", STARTED, &edits), silent());
    }

    /// The names of the log's events after `seq`.
    fn logged_since(&self, seq: usize) -> Vec<String> {
        let log = self.read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
        let entries = log
            .lines()
            .skip(seq)
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let name = |event: &serde_json::Value| match event {
            serde_json::Value::Object(fields) => fields.keys().next().unwrap().clone(),
            other => other.as_str().unwrap().to_owned(),
        };
        entries
            .flat_map(|entry| {
                entry["events"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(name)
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    fn entries(&self) -> usize {
        self.read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"))
            .lines()
            .count()
    }
}

fn silent() -> Output {
    Output {
        stdout: String::new(),
        stderr: String::new(),
        code: 0,
    }
}

#[test]
fn a_teammate_that_goes_idle_with_a_task_is_told_to_go_on() {
    let environment = held();
    let before = environment.entries();
    assert_eq!(
        environment.replay("subagent-stop", TEAMMATE_STOP),
        silent(),
        "only one of the two answers"
    );
    assert_eq!(environment.entries(), before);
    assert_snapshot!(environment.replay("teammate-idle", TEAMMATE_IDLE), @r#"
    exit status: 0
    --- stdout
    {"decision":"block","reason":"builder-1, you hold task 1 of plan sample-20261121 and have not handed it in. Run `fp claim sample-20261121 --as builder-1` for its payload, go on with it, and submit it when it is done."}
    "#);
    assert_eq!(environment.logged_since(before), ["nudged"]);
    assert_eq!(
        environment.replay("subagent-stop", TEAMMATE_STOP_AGAIN),
        silent()
    );
    assert_snapshot!(environment.fp(&["next", PLAN]), @r"
    exit status: 0
    --- stdout
    1. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
}

#[test]
fn a_headless_builder_is_known_by_its_own_description() {
    let environment = held_of_two("2");
    let before = environment.entries();
    assert_snapshot!(environment.replay("subagent-stop", HEADLESS_STOP), @r#"
    exit status: 0
    --- stdout
    {"decision":"block","reason":"builder-1, you hold task 1 of plan sample-20261121 and have not handed it in. Run `fp claim sample-20261121 --as builder-1` for its payload, go on with it, and submit it when it is done."}
    "#);
    let again = [("\"stop_hook_active\": false", "\"stop_hook_active\": true")];
    assert_eq!(
        environment.replay_with("subagent-stop", HEADLESS_STOP, &again),
        silent()
    );
    assert_eq!(environment.logged_since(before), ["nudged", "agentEnded"]);
    let other = [("\"id\": \"a59a4098352b54a52\"", "\"id\": \"another\"")];
    assert_eq!(
        environment.replay_with("subagent-stop", HEADLESS_STOP, &other),
        silent()
    );
}

#[test]
fn the_only_builder_is_known_without_a_name() {
    let environment = held();
    let unnamed = [(
        "\"description\": \"build it\"",
        "\"description\": \"Build it\"",
    )];
    assert!(
        environment
            .replay_with("subagent-stop", HEADLESS_STOP, &unnamed)
            .stdout
            .contains("builder-1, you hold")
    );
    let verifier = [unnamed[0], ("\"fp:builder\"", "\"fp:verifier\"")];
    assert_eq!(
        environment.replay_with("subagent-stop", HEADLESS_STOP, &verifier),
        silent()
    );
}

#[test]
fn an_event_from_a_folder_that_is_gone_is_about_this_one() {
    let environment = held();
    let gone = [("/home/dev/shop", "/home/dev/gone")];
    assert!(
        environment
            .replay_with("teammate-idle", TEAMMATE_IDLE, &gone)
            .stdout
            .contains("builder-1, you hold")
    );
}

/// The builder may stop, since the answer wakes it.
#[test]
fn a_builder_that_waits_for_an_answer_is_not_nudged() {
    let environment = held();
    environment.asks();
    for (event, name) in [
        ("teammate-idle", TEAMMATE_IDLE),
        ("subagent-stop", HEADLESS_STOP),
    ] {
        let output = environment.replay(event, name);
        assert_eq!(
            (output.code, output.stdout.as_str(), output.stderr.as_str()),
            (0, "", ""),
            "{event}"
        );
    }
}

#[test]
fn a_builder_is_nudged_so_often_in_an_iteration_and_again_in_the_next() {
    let environment = held();
    environment.write(
        "../home/.config/fractal-planner/config.json",
        r#"{"nudge": {"maxRetries": 2}}"#,
    );
    let nudged = || {
        !environment
            .replay("teammate-idle", TEAMMATE_IDLE)
            .stdout
            .is_empty()
    };
    assert_eq!(
        [nudged(), nudged(), nudged(), nudged()],
        [true, true, false, false]
    );
    environment.build("builder-1", "a.txt", "one\n");
    assert!(!nudged(), "what is handed in needs no nudge");
    environment.fail("1");
    environment.claim("builder-1").unwrap();
    assert_eq!([nudged(), nudged(), nudged()], [true, true, false]);
}

#[test]
fn whoever_is_no_builder_with_a_task_may_stop() {
    let check = |what: &str, environment: &Environment, edits: &[(&str, &str)]| {
        let before = environment.entries();
        for (event, name) in [
            ("teammate-idle", TEAMMATE_IDLE),
            ("subagent-stop", HEADLESS_STOP),
        ] {
            assert_eq!(
                environment.replay_with(event, name, edits),
                silent(),
                "{what}, {event}"
            );
        }
        environment.logged_since(before)
    };
    let named = |name: &str| {
        (
            format!("\"{name}\""),
            format!("\"description\": \"{name}\""),
        )
    };
    let as_name = |environment: &Environment, name: &str, what: &str| {
        let (idle, description) = named(name);
        check(
            what,
            environment,
            &[
                ("\"builder-1\"", &idle),
                ("\"description\": \"build it\"", &description),
            ],
        )
    };
    let none: [String; 0] = [];

    let environment = held_of_two("2");
    assert_eq!(
        as_name(&environment, "reviewer", "a teammate of another plugin"),
        none
    );
    assert_eq!(
        as_name(&environment, "builder-2", "a builder without a task"),
        ["agentEnded"]
    );
    assert_eq!(
        as_name(&environment, "no name at all", "what is no name"),
        none
    );
    let other_session = [
        ("4086f10a-9781-4722-a1c8-84a529e4a70e", "s2"),
        ("a7057955-3099-4d3b-bf92-d24ef157124f", "s2"),
    ];
    assert_eq!(check("another session", &environment, &other_session), none);
    assert_eq!(
        check("another folder", &environment, &[("/home/dev/shop", "/")]),
        none
    );
    let active = [
        ("\"stop_hook_active\": false", "\"stop_hook_active\": true"),
        ("\"team_name\"", "\"stop_hook_active\": true, \"team_name\""),
    ];
    assert_eq!(
        check("nudged just now", &environment, &active),
        ["agentEnded"]
    );

    let environment = held().env("NUDGE_DISABLED", "1");
    assert_eq!(
        check("nudging is off here", &environment, &[]),
        ["agentEnded"]
    );

    let environment = held();
    environment.write(
        "../home/.config/fractal-planner/config.json",
        r#"{"nudge": {"maxRetries": 0}}"#,
    );
    assert_eq!(check("nudging is off", &environment, &[]), ["agentEnded"]);

    let environment = held();
    environment.build("builder-1", "a.txt", "one\n");
    environment.done(&["next", PLAN]);
    assert_eq!(check("handed in", &environment, &[]), ["agentEnded"]);
    assert_eq!(check("its end is known", &environment, &[]), none);
    assert_eq!(
        as_name(&environment, "verifier-1-i1", "a verifier"),
        ["agentEnded"]
    );

    let environment = held();
    environment.done(&["cancel", PLAN]);
    assert_eq!(check("the run is over", &environment, &[]), none);

    let environment = Environment::new().repo();
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.done(&["approve", PLAN, "--yes"]);
    assert_eq!(check("the run has not begun", &environment, &[]), none);
}

#[test]
fn the_run_of_the_session_comes_before_one_that_knows_none() {
    let environment = held();
    let folder = environment.path(".fractal-planner/plans");
    let copied = environment
        .command("cp")
        .arg("-a")
        .args([folder.join(PLAN), folder.join("older-20261122")])
        .status();
    assert!(copied.unwrap().success());
    environment.trust_copy("older-20261122");
    // Without a recorded session, the run could belong to any session.
    let log = folder.join("older-20261122/events.jsonl");
    fs::write(
        &log,
        fs::read_to_string(&log)
            .unwrap()
            .replace("\"session\":\"s1\",", ""),
    )
    .unwrap();
    environment.own_log("older-20261122");
    let reply = |session: &str| {
        environment
            .replay_with(
                "teammate-idle",
                TEAMMATE_IDLE,
                &[("4086f10a-9781-4722-a1c8-84a529e4a70e", session)],
            )
            .stdout
    };
    assert!(reply("s1").contains(PLAN), "{}", reply("s1"));
    assert!(reply("s2").contains("older-20261122"), "{}", reply("s2"));
}

#[test]
fn every_recorded_event_is_answered_in_silence_where_nothing_runs() {
    let environment = Environment::new().repo();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/events");
    let names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.len() > 40, "the recorded events are there");
    for name in names {
        for event in [
            "teammate-idle",
            "subagent-stop",
            "session-start",
            "",
            "../x",
        ] {
            assert_eq!(environment.replay(event, &name), silent(), "{event} {name}");
        }
        // The recorded edits add comments, and checking these needs no run.
        if !["post-tool-use-edit", "post-tool-use-write"]
            .iter()
            .any(|part| name.contains(part))
        {
            assert_eq!(
                environment.replay("post-tool-use", &name),
                silent(),
                "{name}"
            );
        }
    }
}

#[test]
fn what_is_no_event_costs_one_line_and_nothing_else() {
    let environment = held();
    let deep = "[".repeat(100_000);
    let deep_object = "{\"a\":".repeat(100_000);
    let mut invalid = recorded(TEAMMATE_IDLE).into_bytes();
    invalid[20] = 0xff;
    let inputs: [(&str, &[u8]); 12] = [
        ("empty", b""),
        ("blank", b" \n"),
        ("no JSON", b"hello"),
        ("cut off", br#"{"session_id": "s1", "teamm"#),
        ("a list", b"[]"),
        ("null", b"null"),
        ("a number", b"1e999"),
        ("NUL", b"\0\0\0"),
        ("two objects", b"{}{}"),
        ("deep", deep.as_bytes()),
        ("deep object", deep_object.as_bytes()),
        ("not UTF-8", &invalid),
    ];
    for (what, input) in inputs {
        for event in ["teammate-idle", "subagent-stop"] {
            let output = environment.hook(event, input);
            assert_eq!((output.code, output.stdout.as_str()), (0, ""), "{what}");
            assert_eq!(
                output.stderr.lines().count(),
                1,
                "{what}: {}",
                output.stderr
            );
            assert!(
                output
                    .stderr
                    .starts_with(&format!("fp hook {event}: the event ")),
                "{what}: {}",
                output.stderr
            );
        }
    }
    assert_snapshot!(environment.hook("teammate-idle", b"hello"), @r"
    exit status: 0
    --- stderr
    fp hook teammate-idle: the event is not JSON: expected value at line 1 column 1
    ");
}

#[test]
fn wrong_types_and_unknown_fields_are_passed_over() {
    let environment = held();
    for input in [
        r#"{}"#,
        r#"{"session_id": 1, "cwd": [], "teammate_name": {}, "agent_type": null, "stop_hook_active": "yes"}"#,
        r#"{"agent_type": "fp:builder", "agent_id": 5, "background_tasks": {"a": 1}}"#,
        r#"{"agent_type": "fp:builder", "agent_id": "x", "background_tasks": [1, null, {"id": "x"}, {"id": "x", "description": 4}]}"#,
        r#"{"teammate_name": "", "agent_type": "", "cwd": ""}"#,
        r#"{"teammate_name": "builder-1\u0000", "cwd": "/\u0000"}"#,
        r#"{"teammate_name": "../../builder-1", "session_id": "s1"}"#,
    ] {
        for event in ["teammate-idle", "subagent-stop"] {
            assert_eq!(
                environment.hook(event, input.as_bytes()),
                silent(),
                "{input}"
            );
        }
    }
    let more = [(
        "\"team_name\"",
        "\"a_field_of_tomorrow\": {\"x\": [1, 2]}, \"team_name\"",
    )];
    let output = environment.replay_with("teammate-idle", TEAMMATE_IDLE, &more);
    assert!(
        output.stdout.starts_with("{\"decision\":\"block\""),
        "{output}"
    );
}

#[test]
fn seventy_megabytes_are_one_line() {
    let environment = held();
    let input = format!(
        "{{\"teammate_name\": \"builder-1\", \"x\": \"{}\"}}",
        "x".repeat(70 << 20)
    );
    assert_snapshot!(environment.hook("teammate-idle", input.as_bytes()), @"
    exit status: 0
    --- stderr
    fp hook teammate-idle: the event can't be read: standard input is too large: at most 67108864 bytes are read
    ");
    // The client sends whole files with its edits, so a large event within bounds is read.
    let edits = format!("\"x\": \"{}\", \"team_name\"", "x".repeat(8 << 20));
    let output =
        environment.replay_with("teammate-idle", TEAMMATE_IDLE, &[("\"team_name\"", &edits)]);
    assert!(
        output.stdout.starts_with("{\"decision\":\"block\""),
        "{output}"
    );
}

#[test]
fn nothing_that_is_broken_breaks_the_client() {
    let check = |environment: &Environment, expect_stderr: &str| {
        for (event, name) in [
            ("teammate-idle", TEAMMATE_IDLE),
            ("subagent-stop", HEADLESS_STOP),
        ] {
            let output = environment.replay(event, name);
            assert_eq!((output.code, output.stdout.as_str()), (0, ""), "{output}");
            let said = output
                .stderr
                .replace(environment.path("").to_str().unwrap(), "");
            let expect = if expect_stderr.is_empty() {
                String::new()
            } else {
                format!("fp hook {event}: {expect_stderr}\n")
            };
            assert_eq!(said, expect);
        }
    };
    let plan = |name: &str| format!(".fractal-planner/plans/{PLAN}/{name}");

    let environment = held();
    environment.write(".fractal-planner/config.json", "{\"nudge\": 5}");
    check(
        &environment,
        ".fractal-planner/config.json: nudge: expected an object of settings, found 5",
    );
    environment.write(".fractal-planner/config.json", "");
    check(
        &environment,
        ".fractal-planner/config.json:1:1: not JSON: eof while parsing a value",
    );

    let environment = held();
    environment.write(&plan("events.jsonl"), "not a log\n");
    check(&environment, "");
    environment.write(&plan("events.jsonl"), [0xff, 0, b'\n']);
    check(&environment, "");

    let environment = held();
    fs::remove_file(environment.path(&plan("lock"))).unwrap();
    fs::create_dir(environment.path(&plan("lock"))).unwrap();
    check(&environment, &format!("{} is not a file", plan("lock")));

    let environment = held();
    fs::remove_file(environment.path(&plan("execution-state.json"))).unwrap();
    environment.write(&plan("tasks.md"), [0xff; 100]);
    let output = environment.replay("teammate-idle", TEAMMATE_IDLE);
    assert!(
        output.stdout.starts_with("{\"decision\":\"block\""),
        "neither is needed: {output}"
    );

    let environment = Environment::new();
    check(&environment, "");
}

#[test]
fn the_exit_status_that_blocks_never_reaches_the_client() {
    let environment = Environment::new();
    for args in [
        &["hook"][..],
        &["hook", "teammate-idle", "--unknown"],
        &["hook", "a", "b"],
        &["hook", "--format", "xml", "x"],
    ] {
        let output = environment.fp(args);
        assert_eq!((output.code, output.stdout.as_str()), (0, ""), "{args:?}");
        assert_eq!(
            output.stderr.lines().count(),
            1,
            "{args:?}: {}",
            output.stderr
        );
    }
    assert_snapshot!(environment.fp(&["hook"]), @r"
    exit status: 0
    --- stderr
    fp hook: error: the following required arguments were not provided: <EVENT> Usage: fp hook <EVENT> For more information, try '--help'.
    ");
    let mut gone = environment.command("sh");
    gone.args([
        "-c",
        "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" hook teammate-idle",
        env!("CARGO_BIN_EXE_fp"),
    ]);
    let output = gone.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.is_empty());
}

/// Any JSON, usually with the fields that the hooks read.
fn json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::{Value, json};
    let text = prop_oneof![
        Just("builder-1".to_owned()),
        Just("fp:builder".to_owned()),
        Just("s1".to_owned()),
        Just("[CWD]".to_owned()),
        any::<String>()
    ];
    let one = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|n| json!(n)),
        text.prop_map(Value::from),
    ];
    let field = prop_oneof![
        Just("session_id"),
        Just("cwd"),
        Just("agent_id"),
        Just("agent_type"),
        Just("teammate_name"),
        Just("id"),
        Just("stop_hook_active"),
        Just("background_tasks"),
        Just("description"),
        Just("hook_event_name"),
    ];
    let field = prop_oneof![4 => field.prop_map(str::to_owned), 1 => any::<String>()];
    one.prop_recursive(4, 64, 8, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            3 => prop::collection::hash_map(field.clone(), inner, 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

#[test]
fn what_an_agent_has_used_is_in_its_record() {
    let environment = held();
    let record = environment.beside("record.jsonl");
    let line = |id: u32| {
        format!(
            r#"{{"message":{{"id":"m{id}","model":"large","usage":{{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}}}}"#
        )
    };
    let event = serde_json::json!({
        "hook_event_name": "SubagentStop", "session_id": "s1", "agent_id": "a1", "agent_type": "builder-1",
        "cwd": environment.path(""), "agent_transcript_path": record,
    });
    let cost = || {
        environment
            .done(&["status", PLAN, "--format", "json"])
            .json()["cost"]
            .clone()
    };
    for messages in [1, 2] {
        fs::write(
            &record,
            (0..messages).map(line).collect::<Vec<_>>().join("\n"),
        )
        .unwrap();
        // An agent that is reported twice counts once.
        for _ in 0..2 {
            environment.hook("subagent-stop", event.to_string().as_bytes());
        }
        assert_eq!(cost()["tokens"]["input"], 10 * messages);
    }
    let agents = cost()["agents"].clone();
    assert_eq!(agents.as_array().unwrap().len(), 1, "{agents}");
    assert_eq!(
        (&agents[0]["task"], &agents[0]["model"], &agents[0]["turns"]),
        (&"1".into(), &"large".into(), &2.into())
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_answered_with_one_decision_or_none(event in prop_oneof![Just("teammate-idle"), Just("subagent-stop"), Just("stop"), Just("tomorrow")], value in json()) {
        thread_local!(static HELD: Environment = held());
        HELD.with(|environment| {
            let text = value.to_string().replace("[CWD]", environment.path("").to_str().unwrap());
            let output = environment.hook(event, text.as_bytes());
            prop_assert_eq!(output.code, 0);
            prop_assert!(output.stderr.lines().count() <= 1, "{}", output.stderr);
            if !output.stdout.is_empty() {
                let reply = output.json();
                prop_assert_eq!(&reply["decision"], "block");
            }
            Ok(())
        })?;
    }
}

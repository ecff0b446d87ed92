//! Sends every recorded event to every hook, truncated and with each field changed: whatever the client may send in the
//! future, it must be able to continue.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{held, recorded, silent};
use crate::common::plan::PLAN;
use crate::common::{Environment, Output};

const EVENTS: [&str; 14] = [
    "pre-tool-use",
    "post-tool-use",
    "teammate-idle",
    "subagent-stop",
    "subagent-start",
    "session-start",
    "session-end",
    "user-prompt-submit",
    "pre-compact",
    "post-compact",
    "stop",
    "tomorrow",
    "",
    "../stop",
];

/// Names of the recorded events' files.
fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/events");
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() > 40, "the recorded events are there");
    names
}

/// A recorded event as sent by the lead's session of this repository.
fn event(environment: &Environment, name: &str) -> Value {
    let work = environment.path("");
    let text = recorded(name)
        .replace(
            "/home/dev/shop",
            work.to_str().unwrap().trim_end_matches('/'),
        )
        .replace("4086f10a-9781-4722-a1c8-84a529e4a70e", "s1")
        .replace("a7057955-3099-4d3b-bf92-d24ef157124f", "s1");
    serde_json::from_str(&text).unwrap()
}

/// The hook that the client calls with this event.
fn hook_of(event: &Value) -> String {
    let name = event["hook_event_name"].as_str().unwrap();
    let kebab = name.chars().flat_map(|c| match c.is_ascii_uppercase() {
        true => vec!['-', c.to_ascii_lowercase()],
        false => vec![c],
    });
    kebab.collect::<String>().trim_start_matches('-').to_owned()
}

/// Collects the JSON pointers of the values in an event, such as `/tool_input/file_path`.
fn places(value: &Value, above: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, child)| (name.clone(), child))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(i, child)| (i.to_string(), child))
            .collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        let place = format!("{above}/{}", name.replace('~', "~0").replace('/', "~1"));
        places(child, &place, found);
        found.push(place);
    }
}

/// Replacements for a value; `None` removes it.
fn replacements() -> Vec<Option<Value>> {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let wide: Vec<Value> = (0..500)
        .map(|n| json!({ "id": n, "description": "builder-1" }))
        .collect();
    vec![
        None,
        Some(Value::Null),
        Some(json!(-1.5e300)),
        Some(json!(true)),
        Some(json!("")),
        Some(json!("../../../../etc/passwd")),
        Some(json!(
            "builder-1\u{0}\u{1b}[31m\u{2028}\u{202e}\u{1f468}\u{200d}\u{1f469}\u{fffd}"
        )),
        Some(json!("x\n".repeat(20_000))),
        Some(json!({ "content": { "content": [] }, "": null })),
        Some(deep),
        Some(Value::from(wide)),
    ]
}

fn replaced(event: &Value, place: &str, by: Option<&Value>) -> Value {
    let mut event = event.clone();
    if let Some(value) = by {
        *event.pointer_mut(place).unwrap() = value.clone();
        return event;
    }
    let (above, name) = place.rsplit_once('/').unwrap();
    match event.pointer_mut(above).unwrap() {
        Value::Object(fields) => drop(fields.remove(&name.replace("~1", "/").replace("~0", "~"))),
        Value::Array(items) => drop(items.remove(name.parse().unwrap())),
        other => panic!("{other} has nothing in it"),
    }
    event
}

/// A run with a builder at work, and counter limits high enough for the test.
fn running() -> Environment {
    let environment = held();
    environment.write(
        "../home/.config/fractal-planner/config.json",
        r#"{"nudge": {"maxRetries": 20}}"#,
    );
    environment
}

/// Asserts that this output lets the client continue: exit status 0, at most one reply, and at most one line.
fn harmless(hook: &str, output: &Output, what: &str) {
    assert_eq!(output.code, 0, "{hook}, {what}: {output}");
    assert!(
        output.stderr.lines().count() <= 1,
        "{hook}, {what}: {output}"
    );
    let is_reply = output.stdout.is_empty() || output.json().is_object();
    assert!(is_reply, "{hook}, {what}: {output}");
}

/// The state that no hook changes: the tasks, the tree, and the user's files.
fn untouched(environment: &Environment) -> (Vec<(String, String)>, String, String) {
    let tree = environment.read(&format!(".fractal-planner/plans/{PLAN}/tasks.md"));
    (
        environment.statuses(),
        tree,
        environment.git(&["status", "--porcelain", "--ignored"]),
    )
}

#[test]
fn a_field_that_is_not_as_it_was_breaks_nothing() {
    let environment = running();
    let before = untouched(&environment);
    let replacements = replacements();
    let mut turn = 0;
    for name in names() {
        let event = event(&environment, &name);
        let hook = hook_of(&event);
        let mut found = Vec::new();
        places(&event, "", &mut found);
        for place in found {
            // Trying all replacements at every place would take a minute; over all events, each one reaches every
            // important field.
            for _ in 0..3 {
                turn += 1;
                let by = replacements[turn % replacements.len()].as_ref();
                let changed = replaced(&event, &place, by);
                let output = environment.hook(&hook, changed.to_string().as_bytes());
                harmless(&hook, &output, &format!("{name} {place} {turn}"));
            }
        }
    }
    assert!(turn > 1000, "only {turn} changed events");
    assert_eq!(untouched(&environment), before);
}

#[test]
fn an_event_that_is_cut_off_breaks_nothing() {
    let environment = running();
    let before = untouched(&environment);
    for name in names() {
        let event = event(&environment, &name);
        let (hook, text) = (hook_of(&event), event.to_string());
        for part in 0..6 {
            let end = text.len() * part / 6;
            harmless(
                &hook,
                &environment.hook(&hook, &text.as_bytes()[..end]),
                &format!("{name} to {end}"),
            );
        }
    }
    assert_eq!(untouched(&environment), before);
}

#[test]
fn every_event_may_come_to_every_hook() {
    let environment = running();
    let before = untouched(&environment);
    for name in names().iter().step_by(3) {
        let text = event(&environment, name).to_string();
        for hook in EVENTS {
            harmless(hook, &environment.hook(hook, text.as_bytes()), name);
        }
    }
    assert_eq!(untouched(&environment), before);
}

#[test]
fn what_is_no_event_is_passed_over_by_every_hook() {
    let environment = running();
    let before = untouched(&environment);
    let deep = "[".repeat(100_000);
    let deep_object = "{\"session_id\":".repeat(100_000);
    let mut large = br#"{"session_id": "s1", "x": ""#.to_vec();
    large.resize(65 << 20, b'x');
    let inputs: [&[u8]; 8] = [
        b"",
        b"hello",
        b"[]",
        b"\0\0\0",
        b"\xff\xfe{}",
        deep.as_bytes(),
        deep_object.as_bytes(),
        &large,
    ];
    for hook in EVENTS {
        for (number, input) in inputs.iter().enumerate() {
            let output = environment.hook(hook, input);
            harmless(hook, &output, &format!("input {number}"));
            assert_eq!(output.stdout, "", "{hook}, input {number}");
        }
        let script = "exec \"$0\" hook \"$1\" <&-";
        let output = environment.run("sh", &["-c", script, env!("CARGO_BIN_EXE_fp"), hook]);
        harmless(hook, &output, "closed");
        assert_eq!(output.stdout, "", "{hook}, closed");
    }
    for hook in ["tomorrow", "", "../stop"] {
        assert_eq!(
            environment.hook(hook, b"hello"),
            silent(),
            "{hook} is not read"
        );
    }
    assert_eq!(untouched(&environment), before);
}

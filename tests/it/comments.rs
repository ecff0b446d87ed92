//! The comment check: a labelled corpus of edits through the hook, its replies and settings.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Stdio;

use crate::common::{Environment, Output};
use insta::assert_snapshot;
use serde_json::{Value, json};

impl Environment {
    /// The hook's answer to an edit.
    fn after(&self, event: &Value) -> Output {
        self.after_bytes(event.to_string().as_bytes())
    }

    fn after_bytes(&self, event: &[u8]) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_fp"));
        command.args(["hook", "post-tool-use"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(event).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| self.shown(bytes);
        let code = output.status.code().unwrap_or(-1);
        Output {
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            code,
        }
    }

    /// The hook event for a Write that creates a file.
    fn written(&self, path: &str, content: &str) -> Value {
        let path = self.path(path);
        json!({
            "tool_name": "Write", "cwd": self.path(""), "tool_input": {"file_path": path, "content": content},
            "tool_response": {"type": "create", "originalFile": null, "structuredPatch": []},
        })
    }
}

/// The event for one line of the corpus.
fn event(case: &Value, environment: &Environment) -> Value {
    let path = environment.path(case["path"].as_str().unwrap());
    let (tool, mut input) = match case {
        _ if case["content"].is_string() => ("Write", json!({"content": case["content"]})),
        _ if case["edits"].is_array() => ("MultiEdit", json!({"edits": case["edits"]})),
        _ => (
            "Edit",
            json!({"old_string": case["old"], "new_string": case["new"], "replace_all": case["all"] == true}),
        ),
    };
    input["file_path"] = json!(path);
    let mut event = json!({"tool_name": tool, "cwd": environment.path(""), "tool_input": input});
    if tool == "Write" || case["before"].is_string() {
        event["tool_response"] = json!({"originalFile": case["before"], "structuredPatch": []});
    }
    event
}

#[test]
#[expect(
    clippy::print_stderr,
    reason = "each category's share is shown where it is asked for"
)]
fn the_corpus_is_judged_as_it_is_labelled() {
    let environment = Environment::new().repo();
    let mut found: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let (mut wrong, mut silent, mut alarms) = (Vec::new(), 0, 0);
    for line in include_str!("comments/cases.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        if let Some(disk) = case["disk"].as_str() {
            environment.write(case["path"].as_str().unwrap(), disk);
        }
        let output = environment.after(&event(&case, &environment));
        if case["disk"].is_string() {
            std::fs::remove_file(environment.path(case["path"].as_str().unwrap())).unwrap();
        }
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{line}");
        let flagged = !output.stdout.is_empty();
        let right = flagged == (case["expect"] == "flag");
        let count = found
            .entry(case["category"].as_str().unwrap().to_owned())
            .or_default();
        *count = (count.0 + usize::from(right), count.1 + 1);
        silent += usize::from(case["expect"] == "silent");
        alarms += usize::from(flagged && !right);
        if !right {
            wrong.push(format!("{}: not {}", case["id"], case["expect"]));
        }
    }
    let total: usize = found.values().map(|(_, all)| all).sum();
    for (category, (right, all)) in &found {
        eprintln!("{category:22} {right:3} of {all:3}");
    }
    assert!(total >= 250, "only {total} cases");
    assert!(
        wrong.len() * 50 <= total && alarms * 100 <= silent,
        "{}",
        wrong.join("\n")
    );
    assert_eq!(wrong, [""; 0], "this corpus is our own");
}

const SORT: &str = "fn f() {\n    // sort \u{1b}[31mit\n    x.sort();\n}\n";

#[test]
fn the_reply_reaches_the_model_in_either_mode() {
    let environment = Environment::new().repo();
    let event = environment.written("src/a.rs", SORT);
    assert_snapshot!(environment.after(&event), @r#"
    exit status: 0
    --- stdout
    {"hookSpecificOutput":{"additionalContext":"This edit added a comment to src/a.rs:\n  2: \"// sort [31mit\"\nRemove each one that only restates the code next to it. Keep one that tells what the code can't say (why it is so, what it relies on, what would go wrong otherwise), and say in a few words why you keep it. Add no new comments for this.","hookEventName":"PostToolUse"}}
    "#);
    environment.write(
        "../home/.config/fractal-planner/config.json",
        r#"{"commentChecker": {"mode": "block"}}"#,
    );
    let environment = environment.env("COMMENT_CHECKER_PROMPT", "Look: {{comments}} Why?");
    assert_snapshot!(environment.after(&event), @r#"
    exit status: 0
    --- stdout
    {"decision":"block","reason":"Look: This edit added a comment to src/a.rs:\n  2: \"// sort [31mit\" Why?"}
    "#);
    let many: String = (0..5000)
        .map(|n| format!("f({n});\n// number {n} of {}\n", "x".repeat(200)))
        .collect();
    let reply = environment
        .after(&environment.written("a.rs", &many))
        .json();
    let text = reply["reason"].as_str().unwrap();
    assert!(
        text.len() <= 2048 && text.contains("and 4990 more"),
        "{text}"
    );
}

#[test]
fn it_is_silent_where_it_is_told_to_be() {
    let said = |environment: &Environment, path: &str| {
        let output = environment.after(&environment.written(path, SORT));
        assert_eq!((output.code, output.stderr.as_str()), (0, ""));
        !output.stdout.is_empty()
    };
    for (value, expect) in [
        ("1", false),
        ("yes", false),
        ("0", true),
        ("false", true),
        ("", true),
    ] {
        let environment = Environment::new()
            .repo()
            .env("COMMENT_CHECKER_DISABLED", value);
        assert_eq!(said(&environment, "a.rs"), expect, "{value:?}");
    }
    let environment = Environment::new().repo();
    assert!(
        !said(&environment, ".fractal-planner/plans/x/a.rs"),
        "plans"
    );
    assert!(said(&environment, "../outside.rs"));
    environment.write(
        ".fractal-planner/config.json",
        r#"{"commentChecker": {"ignore": ["*.gen.rs", "vendor", "src/**/old_*.rs", "lib/"]}}"#,
    );
    for (path, expect) in [
        ("a.gen.rs", false),
        ("x/a.gen.rs", false),
        ("vendor/x/a.rs", false),
        ("x/vendor/a.rs", false),
        ("src/x/old_a.rs", false),
        ("lib/a.rs", false),
        ("src/a.rs", true),
        (
            ".fractal-planner/plans/p/worktrees/builder-1/src/a.rs",
            true,
        ),
        (
            ".fractal-planner/plans/p/worktrees/builder-1/lib/a.rs",
            false,
        ),
        (".fractal-planner/plans/p/worktrees/a.rs", false),
        ("vendors/a.rs", true),
    ] {
        let folder = environment.path(path);
        std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
        assert_eq!(said(&environment, path), expect, "{path}");
    }
    environment.write(
        ".fractal-planner/config.json",
        r#"{"commentChecker": {"enabled": false}}"#,
    );
    assert!(!said(&environment, "a.rs"));
    environment.write(".fractal-planner/config.json", "nonsense");
    let output = environment.after(&environment.written("a.rs", SORT));
    assert_eq!(
        (
            output.code,
            output.stdout.as_str(),
            output.stderr.lines().count()
        ),
        (0, "", 1)
    );
}

/// Files don't count as tests just because a folder above the checkout is named `tests`.
#[test]
fn a_folder_above_the_checkout_makes_no_tests_of_its_files() {
    let environment = Environment::new();
    environment.git(&["init", "--quiet", "tests/project"]);
    let text = "// then b\nf();\n";
    environment.write("tests/project/src/a.ts", text);
    let mut event = environment.written("tests/project/src/a.ts", text);
    event["cwd"] = json!(environment.path("tests/project"));
    assert!(environment.after(&event).stdout.contains("then b"));
    event["tool_input"]["file_path"] = json!(environment.path("tests/project/test/a.ts"));
    assert_eq!(environment.after(&event).stdout, "");
}

#[test]
fn no_payload_breaks_it() {
    let environment = Environment::new().repo();
    let whole = json!({
        "tool_name": "Edit", "cwd": environment.path(""),
        "tool_input": {"file_path": "a.rs", "old_string": "f", "new_string": "// x\nf", "replace_all": false, "content": "// y", "edits": [{"old_string": "a", "new_string": "b"}]},
        "tool_response": {"originalFile": "f", "userModified": true, "structuredPatch": [{"oldStart": 1, "lines": ["-f", "+// é", "é", ""]}]},
    });
    let values = [
        json!(null),
        json!(1e300),
        json!(-1),
        json!(u64::MAX),
        json!(true),
        json!("é\0"),
        json!([]),
        json!([1]),
        json!({}),
        json!({"lines": 5}),
    ];
    let paths = [
        "/tool_name",
        "/cwd",
        "/tool_input",
        "/tool_input/file_path",
        "/tool_input/old_string",
        "/tool_input/new_string",
        "/tool_input/replace_all",
        "/tool_input/content",
        "/tool_input/edits",
        "/tool_input/edits/0",
        "/tool_response",
        "/tool_response/originalFile",
        "/tool_response/userModified",
        "/tool_response/structuredPatch",
        "/tool_response/structuredPatch/0",
        "/tool_response/structuredPatch/0/oldStart",
        "/tool_response/structuredPatch/0/lines",
        "/tool_response/structuredPatch/0/lines/0",
    ];
    for tool in ["Edit", "Write", "MultiEdit"] {
        for path in paths {
            for value in &values {
                let mut event = whole.clone();
                event["tool_name"] = json!(tool);
                *event.pointer_mut(path).unwrap() = value.clone();
                let output = environment.after(&event);
                assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{event}");
                assert!(
                    output.stdout.is_empty() || output.json().is_object(),
                    "{event}"
                );
            }
        }
    }
    for bytes in [&b""[..], b"[]", b"{", b"\xff"] {
        let output = environment.after_bytes(bytes);
        assert_eq!(
            (
                output.code,
                output.stdout.as_str(),
                output.stderr.lines().count()
            ),
            (0, "", 1)
        );
    }
}

/// Seconds of processor time that this thread has used.
#[cfg(target_os = "linux")]
fn spent() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    spent.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// The time that the check takes for `bytes` of a repeated pattern.
#[cfg(target_os = "linux")]
fn cost(path: &str, pattern: &str, bytes: usize) -> f64 {
    let text = pattern.repeat(bytes / pattern.len());
    let file = fp_comments::SourceFile {
        path,
        is_test: false,
    };
    let before = spent();
    let remarks = fp_comments::remarks_between(file, "", &text);
    assert!(
        remarks.iter().all(|remark| remark.text.len() <= 200),
        "{path} {pattern:?}"
    );
    spent() - before
}

/// Eight times the text may cost eight times as much; checking a line again for each comment on it would cost 64 times
/// as much.
#[cfg(target_os = "linux")]
#[track_caller]
fn assert_linear(path: &str, pattern: &str) {
    let (one, eight) = (cost(path, pattern, 40_000), cost(path, pattern, 320_000));
    // CPU time is counted in steps of a few milliseconds.
    assert!(
        eight < 16.0 * one + 0.15,
        "{path} {pattern:?}: {one:.3} s, and {eight:.3} s for eight times the text"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn each_line_is_looked_at_once() {
    for (path, pattern) in [
        ("x.c", "</*/}y/"),
        ("x.css", "*/}/*b"),
        ("x.cmake", "#if\n"),
        ("x.css", "a{}/* b */"),
        ("x.js", "f();/* b */"),
        ("x.py", "# a\n"),
        ("x.py", "# TODO a\n#\n"),
        ("x.py", "# region a\nx\n"),
        ("x.c", "/*a*/"),
        ("x.c", "/* a */   "),
        ("x.c", "//x"),
        ("x.yaml", "uses: # v1\n"),
        ("x.c", "\""),
        ("x.ini", " # a\n"),
        ("x.php", " # a\n"),
        ("x.php", "<? # ?>"),
        ("x.rb", "__END__"),
        ("x.sh", "` # a` "),
        ("x.swift", "\"#"),
    ] {
        assert_linear(path, pattern);
    }
}

#[cfg(target_os = "linux")]
proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 60, failure_persistence: None, ..Default::default() })]
    #[test]
    fn no_pattern_costs_more_than_its_length(
        extension in proptest::sample::select(vec![
            "c", "css", "js", "py", "rs", "sh", "html", "php", "rb", "sql", "lua", "yaml", "cmake", "swift",
        ]),
        pattern in proptest::collection::vec(proptest::sample::select(vec![
            "/*", "*/", "//", "#", "--", "[[", "]]", "<!--", "-->", "'", "\"", "`", "\\", "{", "}",
            "(", ")", "a", "TODO", "region ", ";", " ", "\n", "<a", "$", "=",
        ]), 1..6),
    ) {
        assert_linear(&format!("x.{extension}"), &pattern.concat());
    }
}

//! The guard before an edit, and the record of who edits what.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::*;

const HEADLESS_EDIT: &str = "headless-pre-tool-use-edit-builder.json";
const HEADLESS_EDITED: &str = "headless-post-tool-use-edit-builder.json";
const TEAMMATE_EDIT: &str = "interactive-pre-tool-use-edit-builder.json";
const MAIN_BASH: &str = "headless-pre-tool-use-bash-main.json";

/// Tasks 1 and 2 for two builders in one checkout; `builder-1` holds task 1 with `src/a.rs`.
fn shared() -> Environment {
    let environment = Environment::new()
        .repo()
        .shared()
        .env("TMPDIR", std::env::temp_dir());
    environment.write("src/a.rs", "a\n");
    environment.write("src/b.rs", "b\n");
    environment.write("tests/b.rs", "b\n");
    environment.git(&["add", "."]);
    environment.git(&["commit", "-qm", "Begin"]);
    environment.plan(&tree(&[
        leaf("1", "none", "src/a.rs"),
        leaf("2", "none", "src/b.rs"),
    ]));
    environment.start(&["--builders", "2"]);
    environment.done(&["next", PLAN]);
    environment.claim("builder-1").unwrap();
    environment
}

fn configure(environment: &Environment, guard: Value) {
    let config = json!({ "isolation": "shared", "guard": guard, "verify": { "judge": "each" } });
    let file = environment.beside("home/.config/fractal-planner/config.json");
    fs::write(file, config.to_string()).unwrap();
}

impl Environment {
    /// Sends the event of a tool call on `path` by `builder-1`, a teammate.
    fn edit_event(&self, event: &str, tool: &str, path: &str) -> Output {
        self.edit_by(event, "builder-1", tool, path)
    }

    fn edit_by(&self, event: &str, who: &str, tool: &str, path: &str) -> Output {
        let field = if tool == "NotebookEdit" {
            "notebook_path"
        } else {
            "file_path"
        };
        let input = json!({
            "session_id": "s1", "cwd": self.path("").to_str().unwrap(), "agent_type": who,
            "agent_id": format!("a{who}-1"), "tool_name": tool, "tool_input": { field: path },
        });
        self.hook(event, input.to_string().as_bytes())
    }

    /// The reason for which the guard refuses an edit of `path`; empty if it allows the edit.
    #[track_caller]
    fn refusal(&self, path: &str) -> String {
        refusal(&self.edit_event("pre-tool-use", "Edit", path))
    }

    /// Sends the event of a shell command `line` with which the background builder `id` claims.
    fn announces(&self, id: &str, line: &str) -> Output {
        let command = json!({
            "session_id": "s1", "cwd": self.path("").to_str().unwrap(), "agent_type": "fp:builder",
            "agent_id": id, "tool_name": "Bash", "tool_input": { "command": line },
        });
        self.hook("pre-tool-use", command.to_string().as_bytes())
    }
}

#[track_caller]
fn refusal(output: &Output) -> String {
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output}");
    if output.stdout.is_empty() {
        return String::new();
    }
    let reply = &output.json()["hookSpecificOutput"];
    assert_eq!(reply["hookEventName"], "PreToolUse");
    assert_eq!(reply["permissionDecision"], "deny");
    reply["permissionDecisionReason"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_builder_edits_the_files_of_its_task_and_nothing_else() {
    let environment = shared();
    for tool in ["Write", "Edit", "MultiEdit", "NotebookEdit"] {
        assert_eq!(
            environment.edit_event("pre-tool-use", tool, "src/a.rs"),
            silent(),
            "{tool}"
        );
        assert!(
            refusal(&environment.edit_event("pre-tool-use", tool, "src/c.rs"))
                .contains("src/c.rs is not among")
        );
    }
    assert_eq!(
        environment.edit_event("pre-tool-use", "Read", "src/c.rs"),
        silent()
    );
    let work = environment.path("");
    let top = work.to_str().unwrap().trim_end_matches('/');
    symlink("../../", environment.path("src/up")).unwrap();
    symlink("b.rs", environment.path("src/link.rs")).unwrap();
    symlink("/etc", environment.path("src/etc")).unwrap();
    symlink("a.rs", environment.path("src/same.rs")).unwrap();
    symlink("../../beyond.rs", environment.path("src/dangling.rs")).unwrap();
    let check = |path: &str, expect: &str| {
        let refusal = environment.refusal(path);
        assert!(
            refusal.contains(expect) && refusal.is_empty() == expect.is_empty(),
            "{path}: {refusal}"
        );
    };
    check("src/a.rs", "");
    check(&format!("{top}/src/a.rs"), "");
    check(&format!("{top}/src/../src/./a.rs"), "");
    // A trailing space is part of the name like any other character.
    check(&format!("{top}/src/a.rs "), "is not among its files");
    check("src/same.rs", "");
    check("tests/a.rs", "");
    check("src/a/tests.rs", "");
    check("/tmp/scratch.txt", "");
    check(
        std::env::temp_dir().join("scratch.txt").to_str().unwrap(),
        "",
    );
    for (path, told) in [
        ("src/c.rs", "src/c.rs is not among its files"),
        ("src/link.rs", "src/b.rs is not among its files"),
        ("tests/b.rs", "tests/b.rs is not among its files"),
        ("src", "src is not among its files"),
        ("README.md", "README.md is not among its files"),
        (
            "a\nb\u{1b}[31m",
            r#""'a\nb\033[31m'" is not among its files"#,
        ),
        ("src/etc/passwd", "/etc/passwd is outside the repository"),
        ("/etc/passwd", "/etc/passwd is outside the repository"),
        (".git/hooks/pre-commit", "belongs to git"),
        ("src/.git", "belongs to git"),
    ] {
        check(path, told);
    }
    // In tests, files beside the repository are in the system's temporary folder, where edits are allowed.
    for outside in ["../x", "src/up/x", "src/dangling.rs", "~/notes.md"] {
        check(outside, "");
    }
    let plan = format!(".fractal-planner/plans/{PLAN}");
    for file in [
        "tasks.md",
        "events.jsonl",
        "evidence/task-1-verification.md",
        "worktrees/builder-2/src/a.rs",
    ] {
        check(
            &format!("{plan}/{file}"),
            "is in the plans folder, which only fp writes",
        );
    }
    for nothing in ["", ".", "a\0b", top] {
        assert_eq!(environment.refusal(nothing), "", "{nothing:?}");
    }
    environment.refusal(&"a/".repeat(20_000));
}

#[test]
fn what_the_guard_says() {
    let environment = shared();
    let text = environment.refusal("src/c d.rs");
    let (text, token) = text.split_once(" --claim ").unwrap();
    assert_snapshot!(text, @"task 1 of sample-20261121 lists src/a.rs; \"src/c d.rs\" is not among its files. If the task can't be done without it: fp scope extend sample-20261121 1 'src/c d.rs'");
    let (token, rest) = token.split_once(' ').unwrap();
    assert_eq!(rest, "--reason '...'");
    let ask = [
        "scope",
        "extend",
        PLAN,
        "1",
        "src/c d.rs",
        "--claim",
        token,
        "--reason",
        "why",
    ];
    environment.done(&ask);
    assert_snapshot!(environment.refusal("src/c d.rs"), @"");
    configure(&environment, json!({ "extend": "allow" }));
    environment.done(&[
        "scope", "extend", PLAN, "1", "src/c.rs", "--claim", token, "--reason", "why",
    ]);
    assert_eq!(environment.refusal("src/c.rs"), "");
}

#[test]
fn an_edit_from_outside_the_repository_is_seen() {
    let environment = shared();
    let edit = |path: &str| {
        let input = json!({
            "session_id": "s1", "cwd": "/", "agent_type": "builder-1", "agent_id": "abuilder-1-1",
            "tool_name": "Write", "tool_input": { "file_path": environment.path(path), "content": "x" },
        });
        refusal(&environment.hook("pre-tool-use", input.to_string().as_bytes()))
    };
    assert_eq!(edit("src/a.rs"), "");
    assert!(edit("src/new/c.rs").contains("src/new/c.rs is not among its files"));
}

#[test]
fn a_test_of_its_own_stays_its_own() {
    let environment = shared();
    assert_eq!(environment.refusal("tests/a.rs"), "");
    environment.write("tests/a.rs", "1\n");
    assert_eq!(
        environment.refusal("tests/a.rs"),
        "",
        "it wasn't there at the claim"
    );
    assert!(
        environment
            .refusal("tests/b.rs")
            .contains("tests/b.rs is not among"),
        "it was"
    );
}

#[test]
fn what_is_handed_in_stays_as_it_is() {
    let environment = held();
    assert_eq!(environment.refusal("a.txt"), "");
    environment.build("builder-1", "a.txt", "one\n");
    assert_snapshot!(environment.refusal("a.txt"), @"task 1 of sample-20261121 is handed in and will be verified as it is. End your turn: you are told if something needs fixing.");
    assert_eq!(environment.refusal("/tmp/x"), "");
    environment.fail("1");
    assert!(
        environment
            .refusal("a.txt")
            .starts_with(&format!("you hold no task of {PLAN}"))
    );
    environment.claim("builder-1").unwrap();
    assert_eq!(environment.refusal("a.txt"), "");
    environment.done(&["cancel", PLAN]);
    assert_eq!(environment.refusal("b.txt"), "", "the run is over");
}

#[test]
fn a_builder_without_a_task_edits_nothing_in_the_repository() {
    let environment = shared();
    for who in ["builder-2", "fp:builder"] {
        let answer = environment.edit_by("pre-tool-use", who, "Write", "README.md");
        assert!(
            refusal(&answer).starts_with(&format!("you hold no task of {PLAN}")),
            "{who}: {answer}"
        );
        assert_eq!(
            environment.edit_by("pre-tool-use", who, "Write", "/tmp/x"),
            silent(),
            "{who}"
        );
        assert_eq!(
            environment.edit_by("post-tool-use", who, "Write", "README.md"),
            silent(),
            "{who}"
        );
    }
    environment.done(&["cancel", PLAN]);
    assert_eq!(
        environment.edit_by("pre-tool-use", "builder-2", "Write", "README.md"),
        silent()
    );
}

#[test]
fn whoever_is_no_builder_edits_what_it_likes() {
    let environment = shared();
    for who in [
        "reviewer",
        "general-purpose",
        "other:builder",
        "fp:verifier",
        "",
        "../x",
    ] {
        for event in ["pre-tool-use", "post-tool-use"] {
            assert_eq!(
                environment.edit_by(event, who, "Write", "README.md"),
                silent(),
                "{who}"
            );
        }
    }
    let elsewhere = json!({
        "session_id": "s2", "cwd": environment.path(""), "agent_type": "builder-1", "tool_name": "Write",
        "tool_input": { "file_path": "README.md" },
    });
    assert_eq!(
        environment.hook("pre-tool-use", elsewhere.to_string().as_bytes()),
        silent(),
        "another session"
    );
}

/// If an event names no agent, neither settings nor plans are read.
#[test]
fn the_main_session_costs_nothing() {
    let environment = held().env("COMMENT_CHECKER_DISABLED", "1");
    environment.write(".fractal-planner/config.json", "{ broken");
    for name in [
        "headless-pre-tool-use-write-main.json",
        "interactive-pre-tool-use-write-main-2.json",
    ] {
        assert_eq!(environment.replay("pre-tool-use", name), silent());
    }
    assert_eq!(
        environment.replay(
            "post-tool-use",
            "headless-post-tool-use-write-main-update.json"
        ),
        silent()
    );
    let output = environment.replay("pre-tool-use", TEAMMATE_EDIT);
    assert_eq!(
        (
            output.code,
            output.stdout.as_str(),
            output.stderr.lines().count()
        ),
        (0, "", 1),
        "{output}"
    );
}

#[test]
fn each_mode_of_the_guard() {
    let environment = shared();
    let before =
        |environment: &Environment| environment.edit_event("pre-tool-use", "Write", "README.md");
    let after =
        |environment: &Environment| environment.edit_event("post-tool-use", "Write", "README.md");
    assert!(refusal(&before(&environment)).contains("README.md is not among its files"));
    assert_eq!(after(&environment), silent());
    configure(&environment, json!({ "mode": "off" }));
    assert_eq!(
        [before(&environment), after(&environment)],
        [silent(), silent()]
    );
    configure(&environment, json!({ "mode": "warn" }));
    assert_eq!(before(&environment), silent());
    let reply = after(&environment).json();
    assert_eq!(reply["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    let told = reply["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap();
    assert!(told.contains("README.md is not among its files"), "{told}");
    assert_eq!(
        environment.edit_event("post-tool-use", "Write", "src/a.rs"),
        silent()
    );
    environment.write("tests/a.rs", "1\n");
    assert_eq!(
        environment.edit_event("post-tool-use", "Write", "tests/a.rs"),
        silent()
    );
}

#[test]
fn a_command_in_its_worktree_is_allowed() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
    ]));
    environment.start(&["--builders", "2"]);
    let (task, token) = environment.claim("builder-1").unwrap();
    let own = environment.path(&format!(
        ".fractal-planner/plans/{PLAN}/worktrees/builder-1"
    ));
    let elsewhere = environment.beside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let answer = |folder: &std::path::Path, rest: &str| {
        let event = json!({
            "session_id": "s1", "cwd": environment.path(""), "agent_type": "fp:builder", "agent_id": "a1",
            "tool_name": "Bash", "tool_input": { "command": format!("cd {} && {rest}", folder.display()) },
        });
        environment
            .hook("pre-tool-use", event.to_string().as_bytes())
            .stdout
    };
    let submit = format!("fp submit {PLAN} {task} --claim {token}");
    assert!(answer(&own, &submit).contains("\"allow\""));
    assert_eq!(
        answer(&elsewhere, &submit),
        "",
        "another project's plans are not looked at here"
    );
    assert_eq!(answer(&own, &format!("{submit}; touch q")), "");
    assert!(answer(&own, &format!("fp verdict {PLAN} 1 --pass '1: a'")).contains("\"deny\""));
}

#[test]
fn in_a_worktree_of_its_own() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
    ]));
    environment.start(&["--builders", "2"]);
    environment.claim("builder-1").unwrap();
    environment.claim("builder-2").unwrap();
    let own = format!(".fractal-planner/plans/{PLAN}/worktrees/builder-1");
    assert_eq!(environment.refusal(&format!("{own}/a.txt")), "");
    assert!(
        environment
            .refusal(&format!("{own}/b.txt"))
            .contains("b.txt is not among its files")
    );
    assert!(
        environment
            .refusal(&format!("{own}/.git"))
            .contains("belongs to git")
    );
    assert!(
        environment
            .refusal(&format!("{own}/../builder-2/a.txt"))
            .contains("in the plans folder")
    );
    assert!(
        environment
            .refusal("b.txt")
            .contains("b.txt is not among its files")
    );
    let instead = environment.path(&format!("{own}/a.txt"));
    let expect = format!(
        "task 1 of {PLAN} is not done in this checkout: edit {}",
        instead.display()
    );
    assert_eq!(environment.refusal("a.txt"), expect);
    environment.write(&format!("{own}/test_a.py"), "1\n");
    let from_inside = json!({
        "session_id": "s1", "cwd": environment.path(&own), "agent_type": "builder-1", "tool_name": "Write",
        "tool_input": { "file_path": "a.txt" },
    });
    assert_eq!(
        environment.hook("pre-tool-use", from_inside.to_string().as_bytes()),
        silent()
    );
    let before = environment.entries();
    assert_eq!(
        environment.edit_event("post-tool-use", "Write", &format!("{own}/b.txt")),
        silent()
    );
    assert_eq!(
        environment.entries(),
        before,
        "nobody else's change can be in it"
    );
}

#[test]
fn background_builders_are_told_apart_by_what_they_claim_as() {
    let environment = held_of_two("2");
    let edited = |id: &str, file: &str| {
        let edits = [("a59a4098352b54a52", id), ("src/greet.rs", file)];
        refusal(&environment.replay_with("pre-tool-use", HEADLESS_EDIT, &edits))
    };
    assert!(
        edited("one", "b.txt").starts_with("you hold no task"),
        "nobody knows who it is"
    );
    let before = environment.entries();
    for line in [
        "fp claim sample --as builder-1; ls",
        "ls && fp claim sample --as builder-1",
        "fp claim none --as builder-1",
    ] {
        environment.announces("one", line);
    }
    assert_eq!(environment.entries(), before);
    assert!(
        environment
            .announces("one", &format!("fp claim {PLAN} --as builder-1"))
            .stdout
            .contains("allow")
    );
    environment.announces("one", &format!("fp claim {PLAN} --as builder-1"));
    environment.announces(
        "two",
        &format!("fp status {PLAN} && fp claim --as=builder-2 {PLAN}"),
    );
    assert_eq!(
        environment.logged_since(before),
        ["agentKnown", "agentKnown"]
    );
    environment.claim("builder-2").unwrap();
    let own =
        |name: &str, file: &str| format!(".fractal-planner/plans/{PLAN}/worktrees/{name}/{file}");
    assert_eq!(edited("one", &own("builder-1", "a.txt")), "");
    assert!(edited("one", &own("builder-1", "b.txt")).contains("b.txt is not among"));
    assert_eq!(edited("two", &own("builder-2", "b.txt")), "");
    assert!(edited("two", &own("builder-2", "a.txt")).contains("a.txt is not among"));
    for (id, name) in [("one", "builder-1"), ("two", "builder-2")] {
        let edits = [
            ("a59a4098352b54a52", id),
            (
                "\"description\": \"build it\"",
                "\"description\": \"Build it\"",
            ),
        ];
        let told = environment
            .replay_with("subagent-stop", HEADLESS_STOP, &edits)
            .stdout;
        assert!(told.contains(&format!("{name}, you hold task")), "{told}");
    }
    // Another session has other agents.
    environment.done(&["run", "start", PLAN, "--session", "s3"]);
    assert_eq!(edited("one", "b.txt"), "");
}

/// Two runs of one session have a `builder-1` each: an agent's claim counts for more than its name.
#[test]
fn an_agent_of_one_run_is_none_of_another() {
    let environment = held_of_two("2");
    let folder = environment.path(".fractal-planner/plans");
    let newer = folder.join("newer-20261231");
    let copied = environment
        .command("cp")
        .arg("-a")
        .args([&folder.join(PLAN), &newer])
        .status();
    assert!(copied.unwrap().success());
    let told = || environment.replay("subagent-stop", HEADLESS_STOP).stdout;
    assert!(
        !told().contains("newer-20261231"),
        "a run that nobody here approved"
    );
    environment.trust_copy("newer-20261231");
    assert!(told().contains("of plan newer-20261231"), "both would do");
    environment.announces(
        "a59a4098352b54a52",
        &format!("fp claim {PLAN} --as builder-1"),
    );
    assert!(told().contains(&format!("of plan {PLAN}")));
}

#[test]
fn a_background_builder_is_known_from_its_start() {
    let environment = held_of_two("2");
    let before = environment.entries();
    for _ in 0..2 {
        assert_eq!(environment.replay("post-tool-use", STARTED), silent());
    }
    assert_eq!(environment.logged_since(before), ["agentKnown"]);
    let other = [
        ("\"fp:builder\"", "\"Explore\""),
        ("a59a4098352b54a52", "x"),
    ];
    environment.replay_with("post-tool-use", STARTED, &other);
    let unknown = [
        ("\"name\": \"builder-1\"", "\"name\": \"builder-9\""),
        ("a59a4098352b54a52", "y"),
    ];
    environment.replay_with("post-tool-use", STARTED, &unknown);
    assert_eq!(environment.entries(), before + 1);
    assert!(!refusal(&environment.replay("pre-tool-use", HEADLESS_EDIT)).is_empty());
    let lines = environment.fp(&["log", PLAN, "--json"]).stdout;
    let known = r#"{"agentKnown":{"name":"builder-1","id":"a59a4098352b54a52"}}"#;
    assert!(lines.contains(known), "{lines}");
}

#[test]
fn a_call_of_the_main_session_says_nothing_about_an_agent() {
    let environment = held_of_two("2");
    let before = environment.entries();
    let line = format!("fp claim {PLAN} --as builder-2");
    let edits = [(
        "\"command\": \"",
        format!("\"command\": \"{line}\", \"was\": \""),
    )];
    let edits: Vec<(&str, &str)> = edits
        .iter()
        .map(|(from, to)| (*from, to.as_str()))
        .collect();
    assert!(
        environment
            .replay_with("pre-tool-use", MAIN_BASH, &edits)
            .stdout
            .contains("allow")
    );
    assert_eq!(environment.entries(), before);
}

/// A file of another running task belongs to that task, unless this one's builder was seen editing it.
#[test]
fn whose_edit_it_is_in_a_checkout_of_two() {
    let environment = shared();
    configure(&environment, json!({ "mode": "off" }));
    environment.claim("builder-2").unwrap();
    environment.write("src/a.rs", "a 1\n");
    environment.write("src/b.rs", "b by the other\n");
    let token = environment.claim("builder-1").unwrap().1;
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    let boundary = |environment: &Environment| {
        let checks = environment
            .done(&["verify", PLAN, "1", "--format", "json"])
            .json();
        let check = checks["checks"]
            .as_array()
            .unwrap()
            .iter()
            .find(|c| c["name"] == "boundary")
            .cloned();
        let check = check.unwrap();
        format!(
            "{}: {}",
            check["verdict"].as_str().unwrap(),
            check["detail"].as_str().unwrap()
        )
    };
    assert_snapshot!(boundary(&environment), @"note: every change is within it; neither counted nor committed: src/b.rs is task 2's");
    environment.fail("1");
    let token = environment.claim("builder-1").unwrap().1;
    let before = environment.entries();
    for (path, tool) in [
        ("src/a.rs", "Edit"),
        ("src/b.rs", "Edit"),
        ("src/b.rs", "Write"),
    ] {
        assert_eq!(
            environment.edit_event("post-tool-use", tool, path),
            silent()
        );
    }
    assert_eq!(
        environment.edit_by("post-tool-use", "builder-2", "Edit", "src/b.rs"),
        silent()
    );
    assert_eq!(
        environment.logged_since(before),
        ["edited"],
        "once, and only what the files don't tell"
    );
    let refused = environment.fp(&["submit", PLAN, "1", "--claim", &token]);
    assert_eq!(refused.code, 1, "{refused}");
    let told =
        "src/b.rs was changed, is not in the task's files and belongs to task 2, which is running";
    assert!(refused.stderr.contains(told), "{refused}");
}

/// An event, the path to one of its values, and a malformed replacement for that value.
fn mutated() -> impl Strategy<Value = (usize, Vec<usize>, Value)> {
    let strange = prop_oneof![
        Just(Value::Null),
        Just(json!({})),
        Just(json!([1])),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::from),
        "(\\.\\./|/|~|[a-z]{1,3}/|\\\\|\0|\n){0,12}".prop_map(Value::from),
        Just(Value::from("x".repeat(100_000))),
    ];
    (
        0..4_usize,
        prop::collection::vec(0..16_usize, 1..4),
        strange,
    )
}

/// Replaces the value in `value` that `path`, a list of member indices, leads to with `strange`.
fn put(value: &mut Value, path: &[usize], strange: Value) {
    let Some((first, rest)) = path.split_first() else {
        return *value = strange;
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let key = fields.keys().nth(first % fields.len()).unwrap().clone();
            put(fields.get_mut(&key).unwrap(), rest, strange);
        }
        Value::Array(items) if !items.is_empty() => {
            let at = first % items.len();
            put(&mut items[at], rest, strange);
        }
        _ => *value = strange,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_event_out_of_shape_breaks_nothing((which, path, strange) in mutated()) {
        thread_local!(static SHARED: Environment = shared());
        SHARED.with(|environment| {
            let (event, name) = [
                ("pre-tool-use", TEAMMATE_EDIT),
                ("pre-tool-use", HEADLESS_EDIT),
                ("post-tool-use", HEADLESS_EDITED),
                ("post-tool-use", STARTED),
            ][which];
            let top = environment.path("");
            let text = recorded(name).replace("/home/dev/shop", top.to_str().unwrap().trim_end_matches('/'));
            let text = text.replace("4086f10a-9781-4722-a1c8-84a529e4a70e", "s1");
            let mut value: Value = serde_json::from_str(&text).unwrap();
            put(&mut value, &path, strange);
            let output = environment.hook(event, value.to_string().as_bytes());
            prop_assert_eq!(output.code, 0);
            prop_assert!(output.stderr.lines().count() <= 1, "{}", output.stderr);
            if !output.stdout.is_empty() {
                prop_assert!(output.json()["hookSpecificOutput"].is_object());
            }
            Ok(())
        })?;
    }
}

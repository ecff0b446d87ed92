//! `Setup` of a tree: proposed from the project's files, and agreed to like every other command.

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::{Leaf, PLAN, leaf, tree};

/// A project with a lock file, and a plan whose root says `setup`.
fn with_setup(setup: &str) -> Environment {
    let environment = Environment::new().repo();
    environment.write("package-lock.json", "{}\n");
    planned(&environment, setup);
    environment
}

fn planned(environment: &Environment, setup: &str) {
    let root = "Sample goal (Complexity: 5)\n";
    let task = Leaf {
        test: "true",
        ..leaf("1", "none", "a.txt")
    };
    let said = format!("{root}{setup}");
    environment.plan(&tree(&[task, leaf("2", "none", "b.txt")]).replace(root, &said));
}

#[test]
fn new_and_validate_propose_it() {
    let environment = with_setup("");
    environment.write("requirements.txt", "pytest\n");
    let planned_next = environment.fp(&["new", "add a greeting"]).stdout;
    let proposed: Vec<&str> = planned_next
        .lines()
        .filter(|line| line.starts_with("  setup"))
        .collect();
    assert_snapshot!(proposed.join("\n"), @"
    setup   npm ci, for what package-lock.json names
    setup   python3 -m venv .venv; .venv/bin/pip install -r requirements.txt, for what requirements.txt names
    ");
    let json = environment
        .fp(&["new", "add a greeting", "--format", "json"])
        .json();
    assert_snapshot!(json["setup"][0], @r#"{"commands":["npm ci"],"file":"package-lock.json"}"#);
    assert_snapshot!(environment.fp(&["validate", PLAN]), @"
    exit status: 0
    --- stdout
    .fractal-planner/plans/sample-20261121/tasks.md:2:3: warning[missing-setup]: nothing installs what package-lock.json names in a fresh checkout
    2 | - [ID: root] Sample goal (Complexity: 5)
      |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: add `Setup: npm ci` to the root task, or `Setup: none`

    .fractal-planner/plans/sample-20261121/tasks.md: valid, 2 leaf tasks, 0 errors, 1 warning
    ");
    for said in ["  - Setup: npm ci\n", "  - Setup: none\n"] {
        planned(&environment, said);
        let validated = environment.fp(&["validate", PLAN]);
        assert!(!validated.stdout.contains("missing-setup"), "{validated}");
    }
}

#[test]
fn the_user_agrees_to_it_like_to_every_command() {
    let environment = with_setup("  - Setup:\n    - npm ci && true\n    - sh  './x.sh'\n");
    let asked = environment.fp(&["approve", PLAN]).stdout;
    assert_snapshot!(asked, @r#"
    About 18 min with 1 builder (critical path 10), about 8 min in one session; 4
      agents
    By builders: 18 min with 1, 10 min with 2
    The split gains less than a fifth of one session: make it one leaf, or say why
      it is split: `Split: gate | context | asked`
    Not approved: that takes the user's answer to this question, word for word.

    question: Approve the plan "Sample goal" with 2 tasks? These commands will run on this machine:
    - npm ci && true
    - sh  './x.sh'
    - true [sample-20261121 approve 74c7267a]
    header: Approve
    options:
    - Approve: the tasks may be built, and these commands may run
    - Discuss: talk about the plan first
    - Change: change the plan first
    - Stop: leave the plan as it is; nothing runs

    In Claude Code the answer is recorded when it is given. At a terminal: fp approve sample-20261121
    "#);
    assert_snapshot!(environment.fp(&["approve", PLAN, "--yes"]).stdout, @"
    Approved: sample-20261121 with 2 tasks
    These commands may run:
    - npm ci && true
    - sh  './x.sh'
    - true
    Before them, in a fresh checkout, these run:
    - npm ci && true
    - sh  './x.sh'
    Next: /fp:implement sample-20261121, or in a terminal: fp run sample-20261121
    ");
    let approved = environment
        .fp(&["approve", PLAN, "--yes", "--format", "json"])
        .json();
    assert_eq!(approved["setup"].as_array().map(Vec::len), Some(2));
    let log = environment.read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
    assert!(
        log.contains(r#""setup":["npm ci && true","sh  './x.sh'"]"#),
        "{log}"
    );

    planned(&environment, "  - Setup: npm ci && curl example.org\n");
    let again = environment
        .fp(&["approve", PLAN, "--format", "json"])
        .json();
    assert_eq!(again["approved"], false);
    assert_snapshot!(again["question"].as_str().unwrap_or_default(), @r#"
    Approve the plan "Sample goal" again, with 2 tasks? Since you approved it:
    - no longer runs in a fresh checkout: npm ci && true
    - no longer runs in a fresh checkout: sh  './x.sh'
    New commands that will run on this machine:
    - npm ci && curl example.org
    As you approved it: 2 tasks, 1 command. [sample-20261121 approve cfc8d1ec]
    "#);

    planned(&environment, "  - Setup: npm\u{200b} ci\n");
    assert_snapshot!(environment.fp(&["approve", PLAN, "--yes"]), @"
    exit status: 1
    --- stderr
    error: .fractal-planner/plans/sample-20261121/tasks.md is not valid: it has 1 error
    hint: `fp validate sample-20261121` shows them
    ");
}

/// A plan whose first task changes `a.sh`, which each test runs, and whose setup makes what the second needs.
fn building() -> Environment {
    let environment = Environment::new().repo();
    environment.write(".gitignore", "node_modules/\n");
    environment.write("package.json", "{}\n");
    environment.write("package-lock.json", "{}\n");
    environment.write(
        "install.sh",
        "mkdir -p node_modules && echo ok >node_modules/it && cp package.json package-lock.json\n",
    );
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Add a project"]);
    let root = "Sample goal (Complexity: 5)\n";
    let said = format!("{root}  - Setup: sh install.sh\n");
    let task = |id, files, test| Leaf {
        test,
        ..leaf(id, "none", files)
    };
    let tasks = [
        task("1", "a.sh, package.json", "sh a.sh"),
        task("2", "b.txt", "grep -q ok node_modules/it"),
    ];
    environment.plan(&tree(&tasks).replace(root, &said));
    environment.start(&[]);
    environment
}

/// The next task's commands fail without what the first one's removed, so the setup runs again before that counts.
#[test]
fn what_a_command_breaks_is_set_up_anew() {
    for breaks in ["rm -r node_modules", "echo bad >node_modules/it"] {
        let environment = building();
        for (id, file, text) in [("1", "a.sh", breaks), ("2", "b.txt", "work")] {
            let token = environment.claim_task("builder-1", id);
            environment.write(file, format!("{text}\n"));
            environment.done(&["submit", PLAN, id, "--claim", &token]);
            let verdict = environment.pass(id);
            let passed = format!("Task {id} passed");
            assert!(verdict.stdout.starts_with(&passed), "{breaks}: {verdict}");
        }
    }
}

/// A setup that changes a tracked file fails the task that changed what it reads.
#[test]
fn a_stale_lock_file_is_the_fault_of_its_task() {
    let environment = building();
    let token = environment.claim_task("builder-1", "1");
    environment.write("package.json", "{ \"version\": \"1.0.0\" }\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    let verified = environment.fp(&["verify", PLAN, "1"]);
    let failing = verified
        .stdout
        .lines()
        .find(|line| line.starts_with("FAIL"));
    assert_snapshot!(failing.unwrap_or(&verified.stderr), @"FAIL  setup: the plan's setup changes package-lock.json: a commit needs what it makes of them, or the setup a command that leaves them, as `npm ci` does");
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 did not pass"),
        "{verdict}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_bench_at_a_path_that_is_no_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let caches = Environment::new();
    let caches = caches
        .beside("x")
        .join(std::ffi::OsStr::from_bytes(b"\xff"));
    let environment = Environment::new().env("XDG_CACHE_HOME", caches).repo();
    planned(&environment, "");
    environment.start(&[]);
    let token = environment.claim_task("builder-1", "1");
    environment.write("a.txt", "work\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    let verified = environment.done(&["verify", PLAN, "1", "--format", "json"]);
    assert!(verified.json()["place"].is_string(), "{verified}");
}

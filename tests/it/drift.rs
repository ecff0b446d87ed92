//! Commits that change the basis on which a waiting task was planned.

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;

/// Task 2 depends on 1, and 3 refers to a file that no task lists.
fn started() -> Environment {
    let environment = Environment::new().repo();
    let tree = tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "a.txt"),
        leaf("3", "none", "c.txt"),
    ])
    .replace(
        "  - Files: c.txt",
        "  - References: docs/guide.md:3 - how parts are written\n  - Files: c.txt",
    );
    environment.write("docs/guide.md", "one\ntwo\nthree\n");
    environment.git(&["add", "docs"]);
    environment.git(&["commit", "-qm", "Add a guide"]);
    environment.plan(&tree);
    environment.start(&["--max-iterations", "2"]);
    environment
}

fn commit(environment: &Environment, file: &str, subject: &str) {
    environment.write(file, subject);
    environment.git(&["add", file]);
    environment.git(&["commit", "-qm", subject]);
}

fn next(environment: &Environment) -> Vec<serde_json::Value> {
    environment.done(&["next", PLAN, "--format", "json"]).json()["actions"]
        .as_array()
        .unwrap()
        .clone()
}

fn asked(environment: &Environment) -> Option<String> {
    let actions = next(environment);
    let ask = actions.iter().find(|action| action["action"] == "ask")?;
    Some(ask["text"].as_str().unwrap().to_owned())
}

/// Changes task 3 in the tree.
fn revise_task(environment: &Environment) {
    let path = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let revised = environment
        .read(&path)
        .replace("has a line about 3", "has two lines about 3");
    environment.write(&path, revised);
}

/// Approves the tree, asserts that nothing is asked any more, and claims task 3.
fn approve_and_claim(environment: &Environment) {
    environment.done(&["approve", PLAN, "--yes"]);
    assert_eq!(asked(environment), None);
    environment.done(&["claim", PLAN, "3", "--as", "builder-2"]);
}

#[test]
fn exactly_the_tasks_concerned_are_asked_about() {
    let environment = started();
    assert_eq!(asked(&environment), None);
    commit(&environment, "docs/guide.md", "Rewrite the guide");
    commit(&environment, "docs/other.md", "Add another page");
    let text = asked(&environment).unwrap();
    let text = regex::Regex::new("[0-9a-f]{7,}")
        .unwrap()
        .replace_all(&text, "[hash]")
        .into_owned();
    assert_snapshot!(text, @r#"What a task was planned on has changed since the approval: docs/guide.md +1 -3 in [hash] "Rewrite the guide" (task 3). Do the tasks still fit?"#);
    assert_eq!(
        environment
            .fp(&["claim", PLAN, "3", "--as", "builder-2"])
            .code,
        1,
        "it waits for the answer"
    );
    assert_eq!(
        environment.claim("builder-1").unwrap().0,
        "1",
        "the others go on"
    );
    environment.done(&["answer", PLAN, "q1", "--option", "Keep"]);
    assert_eq!(environment.claim("builder-2").unwrap().0, "3");
    assert_eq!(asked(&environment), None, "it is asked once");
}

#[test]
fn what_a_task_makes_for_those_that_wait_for_it_is_no_drift() {
    let environment = started();
    next(&environment);
    let task = environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass(&task);
    assert_eq!(asked(&environment), None);
    assert_eq!(environment.claim("builder-1").unwrap().0, "2");
}

#[test]
fn one_question_names_all_tasks_that_a_commit_concerns() {
    let environment = started();
    commit(&environment, "a.txt", "Write a part by hand");
    let text = asked(&environment).unwrap();
    assert!(text.contains("a.txt +1 -0 in "), "{text}");
    assert!(
        text.contains("\"Write a part by hand\" (tasks 1, 2). Do"),
        "{text}"
    );
    environment.done(&["answer", PLAN, "q1", "--option", "Keep"]);
    let task = environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass(&task);
    assert_eq!(
        asked(&environment),
        None,
        "task 2 was asked about with task 1"
    );
}

#[test]
fn what_a_task_of_the_plan_commits_is_drift_for_nobody() {
    let environment = started();
    let tree = tree(&[leaf("1", "none", "docs/guide.md"), leaf("2", "none", "docs/guide.md")])
        .replace("Files: docs/guide.md\n  - Tests Required: no\n  - Hints:\n    - One line", "Files: docs/guide.md\n  - Tests Required: no\n  - References: docs/guide.md:3 - how parts are written\n  - Hints:\n    - One line");
    environment.done(&["cancel", PLAN]);
    environment.plan(&tree);
    environment.start(&[]);
    let task = environment.build("builder-1", "docs/guide.md", "other text\n");
    environment.pass(&task);
    assert_eq!(asked(&environment), None);
}

#[test]
fn the_same_tree_approved_again_lets_a_task_run_as_it_is() {
    let environment = started();
    commit(&environment, "docs/guide.md", "Rewrite the guide");
    next(&environment);
    environment.done(&["answer", PLAN, "q1", "--option", "Revise"]);
    assert_eq!(
        environment
            .fp(&["claim", PLAN, "3", "--as", "builder-2"])
            .code,
        1
    );
    environment.done(&["approve", PLAN, "--yes"]);
    assert_eq!(asked(&environment), None);
    let payload = environment
        .done(&["claim", PLAN, "3", "--as", "builder-2"])
        .stdout;
    assert!(
        payload.contains("Read docs/guide.md:3 — how parts are written"),
        "{payload}"
    );
}

#[test]
fn a_task_to_be_revised_waits_for_a_new_approval() {
    let environment = started();
    commit(&environment, "docs/guide.md", "Rewrite the guide");
    next(&environment);
    environment.done(&["answer", PLAN, "q1", "--option", "Revise"]);
    let why = environment
        .fp(&["claim", PLAN, "3", "--as", "builder-2"])
        .stderr;
    let way_out = format!(
        "If the task still fits, run `fp approve {PLAN}`; if not, `fp task revise {PLAN} 3` first"
    );
    assert!(why.contains(&way_out), "{why}");
    revise_task(&environment);
    approve_and_claim(&environment);
}

#[test]
fn unattended_the_tasks_stay_as_they_are() {
    let environment = started().env("CLAUDE_CODE_SESSION_ATTENDED", "0");
    commit(&environment, "docs/guide.md", "Rewrite the guide");
    assert_eq!(asked(&environment), None);
    environment.done(&["claim", PLAN, "3", "--as", "builder-2"]);
}

#[test]
fn a_history_that_was_rewritten_stops_nobody() {
    let environment = started();
    environment.git(&["commit", "-q", "--amend", "-m", "Another guide"]);
    environment.git(&["reflog", "expire", "--expire=now", "--all"]);
    environment.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(asked(&environment), None);
    assert_eq!(environment.claim("builder-1").unwrap().0, "1");
}

#[test]
fn the_question_and_its_answer_are_part_of_the_history_of_each_task() {
    let environment = started();
    asked(&environment);
    commit(&environment, "docs/guide.md", "Rewrite the guide");
    asked(&environment);
    environment.done(&["answer", PLAN, "q1", "--option", "Keep"]);
    let told = |command: &[&str]| {
        let events = environment.done(command).json()["events"]
            .as_array()
            .unwrap()
            .clone();
        events
            .iter()
            .map(|event| event["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        told(&["why", PLAN, "3", "--format", "json"]),
        [
            "HEAD has moved, and what 1 task planned on has changed",
            "question q1: Drift",
            "q1 is answered by the user: Keep",
            "stays as it is, for all that has changed: 3",
        ]
    );
    assert_eq!(
        told(&["why", PLAN, "1", "--format", "json"]),
        [""; 0],
        "it is not concerned"
    );
    let log = environment.done(&["log", PLAN, "--task", "3"]).stdout;
    assert!(
        log.contains("question q1: Drift") && log.contains("answered by the user: Keep"),
        "{log}"
    );
}

#[test]
fn a_new_approval_ends_the_question() {
    for change in [false, true] {
        let environment = started();
        commit(&environment, "docs/guide.md", "Rewrite the guide");
        assert!(asked(&environment).is_some());
        if change {
            revise_task(&environment);
        }
        approve_and_claim(&environment);
    }
}

#[test]
fn the_status_shows_what_drifted_beside_what_a_task_waits_for() {
    let environment = started();
    commit(&environment, "a.txt", "Write a part by hand");
    asked(&environment);
    let status = environment
        .done(&["status", PLAN, "--format", "json"])
        .json();
    let task = &status["tasks"][1];
    assert_eq!(task["detail"], "it waits for 1");
    let drift = task["drift"].as_str().unwrap();
    assert!(
        drift.starts_with("a.txt +1 -0 in ") && drift.ends_with("by hand\""),
        "{drift}"
    );
    assert!(
        status["tasks"][0]["drift"].is_null(),
        "its obstacle says so"
    );
    let text = environment.done(&["status", PLAN]).stdout;
    assert!(
        text.contains("it waits for 1\n") && text.contains(drift),
        "{text}"
    );
    assert!(
        text.contains("\n  ? What tasks were planned on has changed"),
        "{text}"
    );
}

/// While a task is committed, another process runs `next`, `status`, `claim`, `verify` and a hook: while git makes the
/// commit, before it is logged, and after the process that made it has died.
#[cfg(target_os = "linux")]
#[test]
fn what_the_plan_commits_is_drift_at_no_moment() {
    const OTHER: &str = "other-20261121";
    let tree = tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "a.txt"),
        leaf("3", "none", "b.txt"),
        leaf("4", "none", "c.txt"),
    ]);
    let commands = [
        vec!["next", PLAN],
        vec!["status", PLAN],
        vec!["claim", PLAN, "4", "--as", "builder-3"],
        vec!["verify", PLAN, "1"],
        vec!["hook", "stop"],
        vec!["next", OTHER],
    ];
    let moments = [
        ("pre-commit", ""),
        ("post-commit", ""),
        ("post-commit", "kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat)"),
    ];
    for (is_shared, (hook, end)) in [false, true]
        .into_iter()
        .flat_map(|is_shared| moments.map(|moment| (is_shared, moment)))
    {
        let mut environment = Environment::new().repo();
        environment.write("a.txt", "");
        environment.git(&["add", "a.txt"]);
        environment.git(&["commit", "-qm", "Add a part"]);
        if is_shared {
            environment = environment.shared();
        }
        environment.plan(&tree);
        let path = |plan: &str, file: &str| format!(".fractal-planner/plans/{plan}/{file}");
        environment.write(&path(OTHER, "tasks.md"), &tree);
        for plan in [PLAN, OTHER] {
            environment.done(&["approve", plan, "--yes"]);
            environment.done(&["run", "start", plan, "--session", plan, "--builders", "3"]);
            environment.done(&["claim", plan, "3", "--as", "builder-2"]);
        }
        let token = environment.claim_task("builder-1", "1");
        let place = if is_shared {
            String::new()
        } else {
            path(PLAN, "worktrees/builder-1/")
        };
        environment.write(&format!("{place}a.txt"), "about 1\n");
        environment.done(&["submit", PLAN, "1", "--claim", &token]);
        let calls = commands
            .each_ref()
            .map(|call| format!("{} {} </dev/null", env!("CARGO_BIN_EXE_fp"), call.join(" ")));
        let script = format!(
            "{{ unset GIT_DIR GIT_INDEX_FILE GIT_PREFIX; {}; }} >$HOME/said 2>&1\n{end}\nexit 0",
            calls.join("; ")
        );
        environment.git_hook(hook, &script);
        environment.pass("1");
        std::fs::remove_file(environment.path(&format!(".git/hooks/{hook}"))).unwrap();
        let said = std::fs::read_to_string(environment.beside("home/said")).unwrap();
        assert!(said.contains("wait for"), "{said}");
        for call in &commands {
            environment.fp(call);
        }
        let case = format!("{hook} {end:?}, shared: {is_shared}\n{said}");
        assert_eq!(environment.statuses()[0].1, "COMPLETED", "{case}");
        let log = environment.read(&path(PLAN, "events.jsonl"));
        assert!(
            log.contains("headMoved") && !log.contains("drifted") && !log.contains("asked"),
            "{case}\n{log}"
        );
        let other = environment.read(&path(OTHER, "events.jsonl"));
        assert_eq!(other.matches("drifted").count(), 1, "{case}\n{other}");
    }
}

#[test]
fn what_the_plan_takes_back_is_drift_at_no_moment() {
    let environment = started().shared();
    let task = environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass(&task);
    assert_eq!(asked(&environment), None);
    environment.claim_task("builder-2", "3");
    let script = format!(
        "unset GIT_DIR GIT_INDEX_FILE GIT_PREFIX; {} next {PLAN} >$HOME/said 2>&1",
        env!("CARGO_BIN_EXE_fp")
    );
    environment.git_hook("post-commit", &script);
    environment.done(&["retry", "--undo", PLAN, &task]);
    let said = std::fs::read_to_string(environment.beside("home/said")).unwrap();
    assert!(said.contains("wait for"), "{said}");
    std::fs::remove_file(environment.path(".git/hooks/post-commit")).unwrap();
    assert_eq!(asked(&environment), None, "{said}");
}

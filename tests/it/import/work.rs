//! Work that was done before the import.

use insta::assert_snapshot;

use super::only_plan;
use crate::common::Environment;

/// A plan of version 0.1 with three tasks, two of them done; the first names a commit in this repository.
fn place() -> (Environment, String) {
    let environment = Environment::new().repo();
    environment.write("a.txt", "a\n");
    environment.git(&["add", "a.txt"]);
    environment.git(&["commit", "--quiet", "--message", "Write part 1"]);
    let commit = environment.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let leaf = |id: &str, after: &str| {
        crate::common::plan::tree(&[crate::common::plan::leaf(id, after, &format!("{id}.txt"))])
            .lines()
            .skip(4)
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let tree = format!(
        "## Root Task\n- [ID: root] Three parts (Complexity: 5)\n\n### Subtasks\n{}{}{}",
        leaf("1", "none"),
        leaf("2", "1"),
        leaf("3", "2")
    );
    environment.write("old/tasks.md", tree);
    environment.write(
        "old/progress.md",
        format!(
            "## Completed Tasks\n- 1: A | Commit: {}\n- 2: B | Commit: 1234567\n",
            &commit[..9]
        ),
    );
    environment.done(&["import", "old"]);
    let plan = only_plan(&environment);
    (environment, plan)
}

#[test]
fn what_was_done_is_done_with_the_approval_and_what_nothing_proves_is_said() {
    let (environment, plan) = place();
    let before = environment.done(&["status", &plan]);
    assert_snapshot!(before.stdout, @r"
    Plan three-parts-20261121 (planning)
    Written so far: tasks.md
    Done before the import, and to be taken over with the approval: 2
    Next: fp validate three-parts-20261121, then fp approve three-parts-20261121
    ");
    assert_snapshot!(environment.done(&["log", &plan]).stdout, @r"
    2026-11-21 (UTC)
    09:00:00      1    imported from fractal-planner; by its source, 2 tasks done
                         task 1: Write part 1, commit 1237c6c
                         task 2: Write part 2, not verified
    ");
    assert_snapshot!(environment.done(&["approve", &plan, "--yes"]).stdout, @r"
    Approved: three-parts-20261121 with 3 tasks
    Done before the import: 2 tasks, 1 of them unverified: only the source says so
    Next: /fp:implement three-parts-20261121, or in a terminal: fp run three-parts-20261121
    ");
    assert_snapshot!(environment.done(&["status", &plan]).masked(), @"
    exit status: 0
    --- stdout
    Plan three-parts-20261121 (approved)
    ▰▰▰▰▰▰▱▱▱▱ 2 of 3 tasks done (1 before the import, not verified), 1 ready

      ● 3  ready      Write part 3
      ✓ 1  done       Write part 1  (1237c6c)
      ✓ 2  done       Write part 2
                      done before the import; not verified
    ");
    let json = environment
        .done(&["status", &plan, "--format", "json"])
        .json();
    assert_eq!(json["counts"]["unverified"], 1);
    assert_eq!(json["tasks"][1]["unverified"], true);
    assert_snapshot!(environment.fp(&["why", "--evidence", &plan, "2"]), @r"
    exit status: 1
    --- stderr
    error: task 2 has no evidence: it was done before the plan was imported
    hint: `fp retry three-parts-20261121 2` has it done again, and verified
    ");
    let why = environment.done(&["why", &plan, "2"]).stdout;
    assert!(
        why.contains("done before the import; not verified"),
        "{why}"
    );
    let why = environment.done(&["why", &plan, "1"]).stdout;
    assert!(
        why.contains("it was done before the plan was imported\n"),
        "{why}"
    );
}

#[test]
fn reports_read_well_with_it() {
    let (environment, plan) = place();
    environment.done(&["approve", &plan, "--yes"]);
    assert_snapshot!(environment.done(&["show", &plan]).stdout, @r"
    root  Three parts (5)
    ├─ 1  Write part 1 (2, done)
    ├─ 2  Write part 2 (2, done)  after 1
    └─ 3  Write part 3 (2, ready)  after 2
    ");
    assert_snapshot!(environment.done(&["report", &plan]).stdout, @"
    # three-parts-20261121

    - State: approved

    > Three parts

    **2 of 3 tasks done (1 before the import, not verified), 1 ready**.

    ## Not done

    - 3 Write part 3: ready

    ## Tasks

    | Task | | Commit | Attempts | Verified |
    | --- | --- | --- | --- | --- |
    | 1 | Write part 1 | 1237c6c | 0 |  |
    | 2 | Write part 2 | - | 0 | done before the import; not verified |
    | 3 | Write part 3 | - | 0 |  |
    ");
    let done = |command: &[&str]| {
        let told = environment.done(&[command, &[&plan]].concat()).stdout;
        told.lines()
            .filter(|line| line.contains("Write part"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    assert_snapshot!(done(&["report", "--handoff"]), @r"
    ● 3  ready      Write part 3
    ✓ 1  done       Write part 1  (1237c6c)
    ✓ 2  done       Write part 2
    ");
    let page = environment.done(&["report", "--markdown", &plan]).stdout;
    assert!(
        page.contains("done before the import; not verified"),
        "{page}"
    );
}

#[test]
fn a_run_goes_on_behind_it() {
    let (environment, plan) = place();
    environment.done(&["approve", &plan, "--yes"]);
    environment.done(&["run", "start", &plan, "--session", "s1"]);
    let payload = environment
        .done(&["claim", &plan, "--as", "builder-1"])
        .stdout;
    assert!(payload.contains("(task 3, iteration 1)"), "{payload}");
    assert!(
        payload.contains("Task 2 was done before the plan was imported: Write part 2\n"),
        "{payload}"
    );
}

#[test]
fn a_task_that_was_done_before_is_done_again_on_request() {
    let (environment, plan) = place();
    environment.done(&["approve", &plan, "--yes"]);
    assert_snapshot!(environment.done(&["retry", &plan, "2"]).stdout, @r"
    Task 2 waits again
    Next: fp start three-parts-20261121
    ");
    environment.done(&["run", "start", &plan, "--session", "s1"]);
    let token = environment
        .done(&["claim", &plan, "2", "--as", "builder-1", "--format", "json"])
        .json()["claim"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_snapshot!(environment.fp(&["retry", &plan, "1"]), @r"
    exit status: 1
    --- stderr
    error: task 1 is done: task 2, which builds on it, is under way: release that first
    hint: `fp why three-parts-20261121 1` says how it came to that, and what is next
    ");
    environment.write("2.txt", "a line about 2\n");
    environment.done(&["submit", &plan, "2", "--claim", &token]);
    environment.done(&[
        "verdict",
        &plan,
        "2",
        "--pass",
        "1: seen",
        "--summary",
        "fine",
    ]);
    let report = environment
        .done(&["status", &plan, "--format", "json"])
        .json();
    assert!(report["counts"]["unverified"].is_null(), "{report}");
    assert!(report["tasks"][1]["commit"].is_string(), "{report}");
}

#[test]
fn a_task_that_is_another_one_when_it_is_approved_is_built() {
    let (environment, plan) = place();
    let tree = format!(".fractal-planner/plans/{plan}/tasks.md");
    environment.write(
        &tree,
        environment
            .read(&tree)
            .replace("Write part 2 ", "Write something else "),
    );
    assert_snapshot!(environment.done(&["approve", &plan, "--yes"]), @r"
    exit status: 0
    --- stdout
    Approved: three-parts-20261121 with 3 tasks
    Done before the import: 1 task
    Next: /fp:implement three-parts-20261121, or in a terminal: fp run three-parts-20261121
    --- stderr
    note: what was done before the import as task 2 has another title or is gone: nothing counts as done for it
    ");
    let report = environment
        .done(&["status", &plan, "--format", "json"])
        .json();
    assert_eq!(
        (&report["tasks"][0]["status"], &report["tasks"][1]["status"]),
        (&"COMPLETED".into(), &"PENDING".into())
    );
}

#[test]
fn commands_of_an_imported_plan_do_not_run_before_it_is_approved() {
    let environment = Environment::new().repo();
    let mark = |name: &str| format!("touch {}", environment.path(name).display());
    let tree = crate::common::plan::tree(&[crate::common::plan::Leaf {
        id: "1",
        after: "none",
        file: "1.txt",
        test: &mark("ran"),
    }]);
    environment.write(
        "old/tasks.md",
        format!("{tree}  - Verify: {}\n", mark("verified")),
    );
    environment.done(&["import", "old"]);
    let plan = only_plan(&environment);
    for args in [&["validate"][..], &["plan"], &["show"], &["status"]] {
        environment.fp(&[args, &[plan.as_str()]].concat());
    }
    for args in [
        &["run", "start", &plan][..],
        &["claim", &plan, "--as", "builder-1"],
        &["verify", &plan, "1"],
        &["next", &plan],
    ] {
        let refused = environment.fp(args);
        assert_eq!(refused.code, 1, "{args:?}: {refused}");
    }
    assert!(!environment.path("ran").exists() && !environment.path("verified").exists());
}

#[test]
fn a_done_task_that_says_too_little_to_be_built_has_to_be_revised() {
    let (environment, plan) = place();
    let tasks = format!(".fractal-planner/plans/{plan}/tasks.md");
    let short = environment
        .read(&tasks)
        .replace("  - Acceptance:\n    - `2.txt` has a line about 2\n", "");
    environment.write(&tasks, &short);
    environment.done(&["approve", &plan, "--yes"]);
    assert_snapshot!(environment.done(&["retry", &plan, "2"]).stdout, @r"
    Task 2 waits again. It was not written to be built: `fp validate three-parts-20261121` shows what is missing
    Next: fp task revise three-parts-20261121 2 --file -, then fp approve three-parts-20261121
    ");
    environment.done(&["run", "start", &plan, "--session", "s1"]);
    let claimed = environment.fp(&["claim", &plan, "2", "--as", "builder-1"]);
    assert!(claimed.stderr.contains("it has to be changed"), "{claimed}");
    assert_eq!(environment.fp(&["approve", &plan, "--yes"]).code, 1);
    let whole = "- [ID: 2] Write part 2 (Complexity: 2)\n  - Acceptance:\n    - `2.txt` has two lines\n  - Dependencies: 1\n  - Files: 2.txt\n  - Tests Required: no\n  - Hints:\n    - One line\n    - A newline\n  - Guardrails:\n    - Do NOT modify files outside: 2.txt\n    - Do NOT add new dependencies\n  - Test Commands: none\n";
    environment.write("leaf.md", whole);
    environment.done(&["task", "revise", &plan, "2", "--file", "leaf.md"]);
    environment.done(&["approve", &plan, "--yes"]);
    environment.done(&["claim", &plan, "2", "--as", "builder-1"]);
}

#[test]
fn only_an_import_says_what_was_done() {
    let (environment, plan) = place();
    let folder = format!(".fractal-planner/plans/{plan}");
    let bare = "- [ID: 1] Write part 1\n- [ID: 2] Write part 2\n";
    environment.write(&format!("{folder}/tasks.md"), bare);
    assert_eq!(
        environment.fp(&["validate", &plan]).code,
        0,
        "what was done needs no completion"
    );
    std::fs::remove_file(environment.path(&format!("{folder}/import.json"))).unwrap();
    assert_eq!(
        environment.fp(&["validate", &plan]).code,
        1,
        "no log is read for a plan that was not imported"
    );
}

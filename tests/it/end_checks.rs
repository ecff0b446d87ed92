//! The checks at the end of a run, which come from the interview and from CI, and their results in the run's report.

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};

/// A plan of one task with these CI commands and this test strategy.
fn planned(ci: &str, strategy: &str) -> Environment {
    let environment = Environment::new().repo();
    let folder = format!(".fractal-planner/plans/{PLAN}");
    environment.write(
        &format!("{folder}/context.md"),
        format!("# Context\n\n## CI Checks\n\n{ci}"),
    );
    let interview = serde_json::json!({
        "requirements": [{ "id": "R1", "text": "The line is there" }, { "id": "R2", "text": "Another thing" }],
        "testStrategy": strategy,
    });
    environment.write(&format!("{folder}/interview.json"), interview.to_string());
    environment.plan(
        &tree(&[leaf("1", "none", "a.txt")]).replace("  - Files:", "  - Covers: R1\n  - Files:"),
    );
    environment
}

/// Builds and passes the task, and returns the output of `fp next` afterwards.
fn built(environment: &Environment) -> String {
    environment.start(&[]);
    let task = environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass(&task);
    environment.done(&["next", PLAN]).stdout
}

#[test]
fn what_passes_is_in_the_report_with_what_is_not_installed_and_the_requirements() {
    let environment = planned(
        "- `no-such-linter --check .`\n",
        "All of it: `grep -q about a.txt`.",
    );
    let last = built(&environment);
    let expect = "\nChecks at the end:\n  passed: grep -q about a.txt\n  \
                  not run: no-such-linter --check .: no-such-linter isn't installed\n\n\
                  Requirements:\n  R1 met: The line is there (1)\n  \
                  R2 not met: Another thing (no task covers it)\n";
    assert!(
        last.starts_with("1. finish\n") && last.contains(expect),
        "{last}"
    );
    let report = environment.done(&["report", PLAN]).stdout;
    assert!(
        report.contains("\n| R1 met | The line is there | 1 |"),
        "{report}"
    );
    assert!(
        report.contains("## How it was verified\n\n- passed: grep -q about a.txt\n"),
        "{report}"
    );
}

#[test]
fn a_failure_is_asked_about_once() {
    let environment = planned("- `test -f never.txt`\n", "");
    let last = built(&environment);
    assert!(
        last.contains(
            "No task is left, but a check fails: `test -f never.txt` ended with exit status 1"
        ),
        "{last}"
    );
    let last = environment.done(&["next", PLAN]).stdout;
    assert!(last.starts_with("1. ask q1\n"), "{last}");
    environment.done(&["answer", PLAN, "q1", "--option", "Finish anyway"]);
    let last = environment.done(&["next", PLAN]).stdout;
    assert!(
        last.starts_with("1. finish\n")
            && last.contains("failed: test -f never.txt: exit status 1"),
        "{last}"
    );
}

#[test]
fn an_added_task_runs_before_the_checks_run_again() {
    let environment = planned("- `test -f b.txt`\n", "");
    built(&environment);
    environment.done(&["answer", PLAN, "q1", "--option", "Add a task"]);
    let wanted = environment.done(&["next", PLAN]).stdout;
    assert!(
        wanted.contains(&format!("`fp task add {PLAN} …`")),
        "{wanted}"
    );
    let path = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let more = tree(&[leaf("2", "none", "b.txt")]);
    let more = &more[more.find("- [ID: 2]").unwrap()..];
    environment.write(&path, environment.read(&path) + more);
    environment.done(&["approve", PLAN, "--yes"]);
    let task = environment.build("builder-1", "b.txt", "about 2\n");
    environment.pass(&task);
    let last = environment.done(&["next", PLAN]).stdout;
    assert!(
        last.starts_with("1. finish\n") && last.contains("passed: test -f b.txt"),
        "{last}"
    );
}

#[test]
fn they_are_approved_with_the_plan_and_nothing_else_runs() {
    let environment = planned("- `touch made.txt`\n", "");
    let asked = environment.fp(&["approve", PLAN]).stdout;
    assert!(asked.contains("\n- touch made.txt ["), "{asked}");
    let reviewed = environment.done(&["plan", PLAN]).stdout;
    assert!(
        reviewed.contains("These commands may run:\n- touch made.txt\n"),
        "{reviewed}"
    );
    assert!(
        reviewed.contains("Once no task is left, these run:\n- touch made.txt\n"),
        "{reviewed}"
    );
    environment.start(&[]);
    environment.write(
        &format!(".fractal-planner/plans/{PLAN}/context.md"),
        "## CI Checks\n- `touch other.txt`\n",
    );
    // The commands in the changed file weren't approved.
    assert_eq!(environment.fp(&["approve", PLAN]).code, 1);
    let task = environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass(&task);
    environment.done(&["next", PLAN]);
    let log = environment.read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
    assert!(log.contains("command: touch made.txt") && !log.contains("touch other.txt"));
}

#[test]
fn a_status_counts_failed_verdicts_and_questions() {
    let environment = planned("", "");
    environment.start(&["--max-iterations", "1"]);
    for question in ["q1", "q2"] {
        let task = environment.build("builder-1", "a.txt", &format!("about 1, {question}\n"));
        environment.fail(&task);
        environment.done(&["answer", PLAN, question, "--option", "Retry"]);
    }
    let task = environment.build("builder-1", "a.txt", "all about 1\n");
    environment.pass(&task);
    let status = environment.done(&["status", PLAN]).stdout;
    assert!(status.contains("(1/1, 2 failed, 2 questions, "), "{status}");
}

#[test]
fn what_the_ci_runs_is_read_from_the_research_too() {
    let environment = planned("- `true one`\n", "");
    let folder = format!(".fractal-planner/plans/{PLAN}");
    environment.write(
        &format!("{folder}/research.md"),
        "## Tests\n\n- `false`\n\n## CI Checks\n\n- `true two`\n",
    );
    let reviewed = environment.done(&["plan", PLAN]).stdout;
    assert!(
        reviewed.contains("Once no task is left, these run:\n- true one\n- true two\n"),
        "{reviewed}"
    );
    std::fs::remove_file(environment.path(&format!("{folder}/context.md"))).unwrap();
    let reviewed = environment.done(&["plan", PLAN]).stdout;
    assert!(
        reviewed.contains("Once no task is left, these run:\n- true two\n"),
        "{reviewed}"
    );
}

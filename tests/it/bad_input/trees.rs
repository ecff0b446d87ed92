//! Versions of `tasks.md` that no decomposer should write.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::bad_input::{plan_file, started, two_tasks};
use crate::common::plan::PLAN;
use crate::common::{Environment, Output};

/// The output of approving this file.
fn approve(content: impl AsRef<[u8]>) -> Output {
    let environment = Environment::new().repo();
    environment.write(&plan_file("tasks.md"), content);
    environment.fp(&["approve", PLAN, "--yes"])
}

#[test]
fn what_is_no_tree_is_not_approved() {
    let environment = Environment::new().repo();
    environment.write(&plan_file("interview.json"), "{}");
    assert_snapshot!(environment.fp(&["approve", PLAN, "--yes"]), @r"
    exit status: 2
    --- stderr
    error: sample-20261121 has no task tree yet; planning is at: interview
    hint: `/fp:plan` in Claude Code plans; by hand, write its tasks.md, and `fp validate sample-20261121` checks it
    ");
    assert_snapshot!(approve(""), @r"
    exit status: 1
    --- stderr
    error: .fractal-planner/plans/sample-20261121/tasks.md is not valid: it has 1 error
    hint: `fp validate sample-20261121` shows them
    ");
    assert_snapshot!(approve("# Notes\n\nNothing of the kind.\n"), @r"
    exit status: 1
    --- stderr
    error: .fractal-planner/plans/sample-20261121/tasks.md is not valid: it has 1 error
    hint: `fp validate sample-20261121` shows them
    ");
    assert_snapshot!(approve(b"\x7fELF\x02\x01\0\0\xff\xfe"), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/tasks.md:1:9: not UTF-8 text
    hint: save the file as UTF-8
    ");
    assert_snapshot!(approve(two_tasks().replace("Dependencies: 1", "Dependencies: 7")), @r"
    exit status: 1
    --- stderr
    error: .fractal-planner/plans/sample-20261121/tasks.md is not valid: it has 1 error
    hint: `fp validate sample-20261121` shows them
    ");
    fs::create_dir(environment.path(&plan_file("tasks.md"))).unwrap();
    assert_snapshot!(environment.fp(&["approve", PLAN, "--yes"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/tasks.md is not a file
    hint: name a file, or move what is in its place out of the way
    ");
}

/// If the tree is removed or replaced during a run, no finished work is lost, and once the tree is restored, the run
/// continues.
#[test]
fn a_tree_that_is_broken_during_a_run_stops_it_until_it_is_mended() {
    let environment = started();
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass("1");
    let before = environment.statuses();
    let check = |content: Option<&[u8]>| {
        match content {
            Some(content) => environment.write(&plan_file("tasks.md"), content),
            None => fs::remove_file(environment.path(&plan_file("tasks.md"))).unwrap(),
        }
        assert_eq!(environment.statuses(), before);
        let outputs = [
            ["next", PLAN].as_slice(),
            &["claim", PLAN, "--as", "builder-1"],
        ]
        .map(|args| environment.fp(args));
        environment.plan(&two_tasks());
        format!("{}{}", outputs[0], outputs[1])
    };
    assert_snapshot!(check(None), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/tasks.md can't be read: no such file or directory
    hint: put it back as it was approved; what is done so far is in the log, and is not lost
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/tasks.md can't be read: no such file or directory
    hint: put it back as it was approved; what is done so far is in the log, and is not lost
    ");
    assert_snapshot!(check(Some(b"")), @r"
    exit status: 0
    --- stdout
    1. revise
       Nothing can go on before the plan is changed and approved:
       - 2: it was edited after the approval: run `fp approve sample-20261121`
    --- stderr
    note: edited since the approval: 1, 2; `fp approve sample-20261121` lets them run
    exit status: 3
    --- stderr
    error: nothing is ready: 1 of 2 tasks are over; edited since the approval: 2
    hint: end your turn: you are told when there is something
    ");
    assert_snapshot!(check(Some(b"\xff\xfe\0\0")), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/tasks.md:1:1: not UTF-8 text
    hint: save the file as UTF-8
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/tasks.md:1:1: not UTF-8 text
    hint: save the file as UTF-8
    ");
    assert_eq!(environment.claim("builder-1").unwrap().0, "2");
}

#[test]
fn twenty_megabytes_are_read_in_seconds() {
    let start = Instant::now();
    let environment = Environment::new().repo();
    let remarks = "Words that belong to no task, and go on.\n".repeat((20 << 20) / 41);
    environment.plan(&format!("{remarks}\n{}", two_tasks()));
    environment.start(&[]);
    assert_eq!(environment.build("builder-1", "a.txt", "about 1\n"), "1");
    assert!(
        environment
            .pass("1")
            .stdout
            .starts_with("Task 1 passed: commit ")
    );
    assert!(
        environment
            .done(&["next", PLAN])
            .stdout
            .starts_with("1. resume builder-1\n")
    );
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
    let junk = "- [ID: x] (Complexity: 99)\n".repeat((2 << 20) / 27);
    environment.plan(&junk);
    let output = environment.fp(&["approve", PLAN, "--yes"]);
    assert_eq!(
        (output.code, output.stderr.lines().count()),
        (1, 2),
        "{output}"
    );
}

/// The levels fit on a stack an eighth of the usual size, so eight times as many fit on the usual one.
#[test]
fn two_thousand_levels() {
    let start = Instant::now();
    let mut text =
        String::from("## Root Task\n- [ID: root] Deep (Complexity: 5)\n\n### Subtasks\n");
    for depth in 0..2000 {
        let _ = writeln!(
            text,
            "{}- [ID: 1{}] Deeper (Complexity: 2)",
            "  ".repeat(depth),
            ".1".repeat(depth.min(20))
        );
    }
    let on_a_small_stack = |environment: &Environment, args: &[&str]| {
        let script = "ulimit -s 1024; exec \"$0\" \"$@\"";
        environment.run(
            "sh",
            &[&["-c", script, env!("CARGO_BIN_EXE_fp")], args].concat(),
        )
    };
    let environment = Environment::new().repo();
    environment.plan(&text);
    let output = on_a_small_stack(&environment, &["approve", PLAN, "--yes"]);
    assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{output}");
    assert!(
        output.stderr.contains("tasks.md is not valid: "),
        "{output}"
    );
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
    let environment = started();
    environment.plan(&text);
    assert_eq!(on_a_small_stack(&environment, &["next", PLAN]).code, 0);
    assert_eq!(
        on_a_small_stack(&environment, &["claim", PLAN, "--as", "builder-1"]).code,
        3
    );
}

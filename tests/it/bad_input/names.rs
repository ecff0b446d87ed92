//! Invalid names of plans, tasks and agents, and folders that lead elsewhere.

use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;

use crate::bad_input::{every_command, plan_file, started, two_tasks};
use crate::common::plan::PLAN;

#[test]
fn a_name_that_no_plan_can_have() {
    let environment = started();
    let long = "x".repeat(300);
    for selector in [
        "../../etc",
        "",
        &long,
        "a\nb",
        "..",
        "a/b",
        "/etc/passwd",
        "-rf",
        "$(id)",
        "한글",
    ] {
        for mut args in every_command(selector) {
            if selector.starts_with('-') {
                args.insert(usize::from(args[0] == "run") + 1, "--");
                args.retain(|arg| !arg.starts_with("--") || *arg == "--");
            }
            let output = environment.fp(&args);
            assert_eq!(
                (output.code, output.stdout.as_str()),
                (2, ""),
                "{args:?}: {output}"
            );
            assert!(output.stderr.starts_with("error: "), "{args:?}: {output}");
        }
    }
    assert_snapshot!(environment.fp(&["claim", "../../etc", "--as", "builder-1"]), @r#"
    exit status: 2
    --- stderr
    error: no plan has such a name: "../../etc" is not an id: ids are letters, digits, `-`, `_`, and begin with a letter or digit
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
    assert_snapshot!(environment.fp(&["next", "a\nb"]), @r#"
    exit status: 2
    --- stderr
    error: no plan has such a name: "a\nb" is not an id: ids are letters, digits, `-`, `_`, and begin with a letter or digit
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
}

#[test]
fn names_of_tasks_and_agents() {
    let environment = started();
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "../x"]), @r#"
    exit status: 2
    --- stderr
    error: invalid value '../x' for '--as <NAME>': "../x" is not an id: ids are letters, digits, `-`, `_`, and begin with a letter or digit

    For more information, try '--help'.
    "#);
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-1", "../../1"]), @r#"
    exit status: 2
    --- stderr
    error: invalid value '../../1' for '[TASK]': "../../1" is not an id: ids are letters, digits, `-`, `_`, in segments joined by `.`

    For more information, try '--help'.
    "#);
    assert_snapshot!(environment.fp(&["next", PLAN, "--ended", "a b"]), @r#"
    exit status: 2
    --- stderr
    error: invalid value 'a b' for '--ended <NAME>': "a b" is not an id: ids are letters, digits, `-`, `_`, and begin with a letter or digit

    For more information, try '--help'.
    "#);
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", &"b".repeat(300)]), @r"
    exit status: 2
    --- stderr
    error: invalid value 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb' for '--as <NAME>': an id has at most 100 bytes, this one has 300

    For more information, try '--help'.
    ");
}

#[test]
fn a_plan_folder_that_leads_out_of_the_repository() {
    let environment = started();
    let outside = environment.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("tasks.md"), two_tasks()).unwrap();
    symlink(
        &outside,
        environment.path(".fractal-planner/plans/linked-20261121"),
    )
    .unwrap();
    for args in every_command("linked-20261121") {
        let output = environment.fp(&args);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (2, ""),
            "{args:?}: {output}"
        );
    }
    assert_snapshot!(environment.fp(&["approve", "linked-20261121", "--yes"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/linked-20261121 is a symbolic link, which is not followed
    hint: remove the link, or put the real folder in its place
    ");
    assert_eq!(
        fs::read_dir(&outside).unwrap().count(),
        1,
        "nothing was written there"
    );
}

#[test]
fn a_folder_of_plans_that_leads_out_of_the_repository() {
    let environment = started();
    let outside = environment.beside("outside");
    fs::rename(environment.path(".fractal-planner"), &outside).unwrap();
    symlink(&outside, environment.path(".fractal-planner")).unwrap();
    let log = fs::read(outside.join(format!("plans/{PLAN}/events.jsonl"))).unwrap();
    for args in every_command(PLAN) {
        let output = environment.fp(&args);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (2, ""),
            "{args:?}: {output}"
        );
    }
    assert_snapshot!(environment.fp(&["status", PLAN]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans leads out of the repository, to [ROOT]/outside/plans
    hint: put a real folder in the link's place, or set `plansDir` to one inside the repository
    ");
    assert_eq!(
        fs::read(outside.join(format!("plans/{PLAN}/events.jsonl"))).unwrap(),
        log
    );
}

#[test]
fn a_folder_of_evidence_that_leads_out_of_the_repository() {
    let environment = started();
    let outside = environment.beside("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, environment.path(&plan_file("evidence"))).unwrap();
    environment.build("builder-1", "a.txt", "about 1\n");
    assert_snapshot!(environment.pass("1"), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/evidence is a symbolic link, which is not followed
    hint: remove the link, or put the real folder in its place
    ");
    assert_eq!(
        fs::read_dir(&outside).unwrap().count(),
        0,
        "nothing was written there"
    );
    fs::remove_file(environment.path(&plan_file("evidence"))).unwrap();
    assert!(
        environment
            .pass("1")
            .stdout
            .starts_with("Task 1 passed: commit ")
    );
}

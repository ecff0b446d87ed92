//! Naming a plan on the command line, in every command that takes one.

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

fn with_plans(goals: &[&str]) -> Environment {
    let environment = Environment::new().repo();
    for goal in goals {
        assert_eq!(environment.fp(&["new", goal]).code, 0);
    }
    environment
}

fn named(environment: &Environment, selector: &str) -> Output {
    environment.fp(&["--format", "json", "interview", "--", selector])
}

#[test]
fn an_id_a_part_or_a_number() {
    let environment = with_plans(&["add auth", "fix auth", "add auth"]);
    let check = |selector: &str, expect: &str| {
        assert_eq!(
            named(&environment, selector).json()["planId"],
            expect,
            "{selector:?}"
        );
    };
    check("add-auth-20261121", "add-auth-20261121");
    check("fix", "fix-auth-20261121");
    check("2", "add-auth-20261121-2");
    check("3", "fix-auth-20261121");
}

#[test]
fn a_name_that_means_none_or_several() {
    let environment = with_plans(&["add auth", "fix auth"]);
    assert_snapshot!(named(&environment, "auth"), @r#"
    exit status: 2
    --- stderr
    error: "auth" matches 2 plans:
      1  add-auth-20261121
      2  fix-auth-20261121
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
    assert_snapshot!(named(&environment, "login"), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "login"; there are:
      1  add-auth-20261121
      2  fix-auth-20261121
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
    assert_snapshot!(named(&environment, "7"), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "7"; there are:
      1  add-auth-20261121
      2  fix-auth-20261121
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
    // Every id contains digits, so a short number that no plan has isn't taken for a part of an id.
    assert_eq!(named(&with_plans(&["add auth"]), "2").code, 2);
    assert_eq!(named(&with_plans(&["add auth"]), "20261121").code, 0);
    assert_snapshot!(named(&Environment::new().repo(), "login"), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "login": there is no plan yet
    hint: plan a goal with `/fp:plan GOAL` in Claude Code, or by hand with `fp new GOAL`
    "#);
}

#[test]
fn a_name_that_no_plan_can_have() {
    let environment = with_plans(&["add auth"]);
    assert_snapshot!(named(&environment, "../../etc"), @r#"
    exit status: 2
    --- stderr
    error: no plan has such a name: "../../etc" is not an id: ids are letters, digits, `-`, `_`, and begin with a letter or digit
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
    assert_snapshot!(named(&environment, ""), @r"
    exit status: 2
    --- stderr
    error: no plan has such a name: an id can't be empty
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    ");
    assert_snapshot!(named(&environment, &"x".repeat(300)), @r"
    exit status: 2
    --- stderr
    error: no plan has such a name: an id has at most 100 bytes, this one has 300
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    ");
    assert_snapshot!(named(&environment, "a\nb"), @r#"
    exit status: 2
    --- stderr
    error: no plan has such a name: "a\nb" is not an id: ids are letters, digits, `-`, `_`, and begin with a letter or digit
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
    for selector in [
        "/etc",
        "..",
        ".",
        "-x",
        "a\\b",
        "한글",
        &"x".repeat(100_000),
    ] {
        let output = named(&environment, selector);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (2, ""),
            "{selector:?}"
        );
        assert!(
            output
                .stderr
                .starts_with("error: no plan has such a name: "),
            "{output}"
        );
    }
}

#[test]
fn without_a_name() {
    assert_snapshot!(Environment::new().repo().fp(&["interview"]), @r"
    exit status: 2
    --- stderr
    error: nothing is planned here yet
    hint: plan a goal with `/fp:plan GOAL` in Claude Code, or by hand with `fp new GOAL`
    ");
    let environment = with_plans(&["add auth"]);
    assert_eq!(
        environment.fp(&["--format", "json", "interview"]).json()["planId"],
        "add-auth-20261121"
    );
    environment.fp(&["new", "fix auth"]);
    assert_snapshot!(environment.fp(&["interview"]), @r"
    exit status: 2
    --- stderr
    error: no plan was named and 2 are active:
      1  add-auth-20261121                             planning
      2  fix-auth-20261121                             planning
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    ");
}

#[cfg(unix)]
#[test]
fn a_plan_folder_that_is_a_link_is_refused() {
    let environment = with_plans(&["add auth"]);
    std::fs::create_dir(environment.beside("outside")).unwrap();
    let link = environment.path(".fractal-planner/plans/linked-20261121");
    std::os::unix::fs::symlink(environment.beside("outside"), link).unwrap();
    assert_snapshot!(named(&environment, "linked-20261121"), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/linked-20261121 is a symbolic link, which is not followed
    hint: remove the link, or put the real folder in its place
    ");
}

/// A plan of two tasks whose run was cancelled after the first one failed.
#[cfg(unix)]
fn with_failure() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1.1", "none", "a.txt"),
        leaf("1.2", "1.1", "b.txt"),
    ]));
    environment.start(&[]);
    assert_eq!(
        environment
            .fp(&["cancel", "1.1", "--reason", "it can't be done"])
            .code,
        0
    );
    environment
}

#[cfg(unix)]
#[test]
fn a_task_alone_is_enough() {
    let environment = with_failure();
    let check = |words: &[&str], expect: &str| {
        let said = environment.fp(words);
        assert!(
            (said.stdout.clone() + &said.stderr).contains(expect),
            "{words:?}: {said}"
        );
    };
    check(&["why", "1.1"], "it can't be done");
    check(&["why", "--evidence", "1.1"], "task 1.1 has no evidence");
    check(&["retry", "--undo", "1.1"], "1.1");
    check(&["retry", "1.1"], "Task 1.1 waits again, and so do 1.2");
    check(&["retry", "1.2"], "task 1.2");
    check(&["task", "remove", "1.2"], "1.2");
    check(&["retry", PLAN, "1.1"], "1.1");
    check(&["answer", "q9", "--option", "Retry"], "q9");
}

#[cfg(unix)]
#[test]
fn without_an_active_plan_the_last_one_is_read() {
    let environment = with_failure();
    environment.fp(&["cancel"]);
    let later = environment.env("FP_NOW", "2026-11-21T09:03:10Z");
    let note = "note: this is the last plan, sample-20261121, cancelled 3 min ago\n";
    for words in [
        &["status"][..],
        &["status", "--ready"],
        &["show"],
        &["log"],
        &["why", "1.1"],
        &["report"],
        &["validate"],
        &["schedule"],
        &["why", "--evidence", "1.1"],
        &["export"],
        &["critique", "show"],
    ] {
        let said = later.fp(words);
        assert!(said.stderr.starts_with(note), "{words:?}: {said}");
    }
    for words in [
        &["cancel"][..],
        &["approve"],
        &["retry", "--undo", "1.1"],
        &["cancel", "1.2", "--reason", "x"],
    ] {
        let said = later.fp(words);
        assert!(
            said.stderr
                .contains("no plan was named and none is active; there are:"),
            "{words:?}: {said}"
        );
    }
    assert!(later.fp(&["retry", "1.1"]).stderr.starts_with(note));
}

#[cfg(unix)]
#[test]
fn a_plan_without_a_tree_says_what_its_planning_is_at() {
    let environment = with_plans(&["add auth"]);
    let said = environment.fp(&["show"]);
    assert_snapshot!(said, @r"
    exit status: 2
    --- stderr
    error: add-auth-20261121 has no task tree yet; planning is at: interview
    hint: `/fp:plan` in Claude Code plans; by hand, write its tasks.md, and `fp validate add-auth-20261121` checks it
    ");
    for words in [
        &["schedule"][..],
        &["validate"],
        &["approve"],
        &["signals"],
        &["status", "--ready"],
        &["export"],
    ] {
        assert_eq!(environment.fp(words).stderr, said.stderr, "{words:?}");
    }
    environment.write(".fractal-planner/plans/add-auth-20261121/interview.md", "");
    environment.write(".fractal-planner/plans/add-auth-20261121/research.md", "");
    assert!(
        environment
            .fp(&["show"])
            .stderr
            .contains("planning is at: decompose")
    );
    let mut messages = String::new();
    for words in [
        &["next"][..],
        &["log"],
        &["why", "1"],
        &["why", "--evidence", "1"],
        &["cancel"],
        &["start"],
        &["claim", "1", "--as", "builder-1"],
    ] {
        let said = environment.fp(words);
        messages += &format!("{words:?}\n{said}");
    }
    assert_snapshot!(messages, @r#"
    ["next"]
    exit status: 2
    --- stderr
    error: add-auth-20261121 has no task tree yet; planning is at: decompose
    hint: `/fp:plan` in Claude Code plans; by hand, write its tasks.md, and `fp validate add-auth-20261121` checks it
    ["log"]
    exit status: 0
    --- stderr
    note: nothing has happened yet; planning is at: decompose
    ["why", "1"]
    exit status: 1
    --- stderr
    error: the plan is not approved yet
    hint: validate the plan and run `fp approve add-auth-20261121`
    ["why", "--evidence", "1"]
    exit status: 1
    --- stderr
    error: the plan is not approved yet
    hint: validate the plan and run `fp approve add-auth-20261121`
    ["cancel"]
    exit status: 1
    --- stderr
    error: the run is not started yet
    hint: there is nothing to cancel; `fp plans archive add-auth-20261121` puts the plan away
    ["start"]
    exit status: 1
    --- stderr
    error: the plan is not approved yet
    hint: validate the plan and run `fp approve add-auth-20261121`
    ["claim", "1", "--as", "builder-1"]
    exit status: 2
    --- stderr
    error: add-auth-20261121 has no task tree yet; planning is at: decompose
    hint: `/fp:plan` in Claude Code plans; by hand, write its tasks.md, and `fp validate add-auth-20261121` checks it
    "#);
}

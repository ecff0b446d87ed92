//! Naming a plan on the command line, in every command that takes one.

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
        assert_eq!(named(&environment, selector).json()["planId"], expect, "{selector:?}");
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
    assert_snapshot!(named(&Environment::new().repo(), "login"), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "login": there is no plan yet
    hint: make a plan with `fp new GOAL`
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
    for selector in ["/etc", "..", ".", "-x", "a\\b", "한글", &"x".repeat(100_000)] {
        let output = named(&environment, selector);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{selector:?}");
        assert!(output.stderr.starts_with("error: no plan has such a name: "), "{output}");
    }
}

#[test]
fn without_a_name() {
    assert_snapshot!(Environment::new().repo().fp(&["interview"]), @r"
    exit status: 2
    --- stderr
    error: no plan was named and none is active: there is no plan yet
    hint: make a plan with `fp new GOAL`
    ");
    let environment = with_plans(&["add auth"]);
    assert_eq!(environment.fp(&["--format", "json", "interview"]).json()["planId"], "add-auth-20261121");
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

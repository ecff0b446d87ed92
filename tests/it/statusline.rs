//! `fp statusline`: one line for the client's status line, or nothing if there is nothing to report.

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};

/// Runs `fp` with `input` on stdin.
fn fed(environment: &Environment, args: &[&str], input: &str) -> Output {
    std::fs::write(environment.beside("input"), input).unwrap();
    let script = "exec \"$0\" \"$@\" < ../input";
    environment.run(
        "sh",
        &[&["-c", script, env!("CARGO_BIN_EXE_fp")], args].concat(),
    )
}

fn line(environment: &Environment, input: &str) -> String {
    let said = fed(environment, &["statusline"], input);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said}");
    said.stdout
}

#[test]
fn nothing_without_an_active_plan() {
    assert_eq!(line(&Environment::new(), ""), "");
    let environment = Environment::new().repo();
    environment.fp(&["new", "add auth"]);
    assert_eq!(line(&environment, "{}"), "");
    environment.write(
        ".fractal-planner/plans/add-auth-20261121/events.jsonl",
        "no log",
    );
    assert_eq!(line(&environment, "no json"), "");
}

#[test]
fn the_run_in_a_line() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
        leaf("3", "1", "c.txt"),
    ]));
    environment.start(&[]);
    assert_eq!(line(&environment, ""), "fp 0/3 ▱▱▱▱▱▱▱▱ running\n");
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.done(&["verify", PLAN, "1"]);
    environment.pass("1");
    let token = environment.claim_task("builder-1", "2");
    assert!(!token.is_empty());
    assert_eq!(line(&environment, ""), "fp 1/3 ▰▰▱▱▱▱▱▱ 2 building\n");
    environment.done(&["cancel", "2", "--reason", "no"]);
    assert_eq!(line(&environment, ""), "fp 1/3 ▰▰▱▱▱▱▱▱ 1 failed\n");
    // The client passes the session's folder.
    let folder = environment.path("");
    let sent = serde_json::json!({ "workspace": { "project_dir": folder } }).to_string();
    std::fs::create_dir(environment.beside("elsewhere")).unwrap();
    let elsewhere = ["statusline", "-C", "../elsewhere"];
    assert_eq!(
        fed(&environment, &elsewhere, &sent).stdout,
        "fp 1/3 ▰▰▱▱▱▱▱▱ 1 failed\n"
    );
    environment.done(&["cancel"]);
    assert_eq!(line(&environment, ""), "");
}

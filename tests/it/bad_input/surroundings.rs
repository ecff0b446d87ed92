//! Environments in which no command can work: a missing folder, input that isn't text, a `git` that isn't git.

use std::fs;

use insta::assert_snapshot;

use crate::bad_input::{plan_file, started};
use crate::common::plan::PLAN;
use crate::common::program::write_program;
use crate::common::{Environment, Output};

const FP: &str = env!("CARGO_BIN_EXE_fp");

fn sh(environment: &Environment, script: &str) -> Output {
    environment.run("sh", &["-c", script, FP])
}

#[test]
fn a_working_directory_that_is_gone() {
    let environment = Environment::new();
    assert_snapshot!(sh(&environment, "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" plans"), @"
    exit status: 2
    --- stderr
    error: the working directory can't be read: no such file or directory
    hint: change to a directory that exists
    ");
}

#[test]
fn an_input_that_is_no_text() {
    let environment = started();
    let revise = |from: &str| {
        sh(
            &environment,
            &format!("{from} | \"$0\" task revise {PLAN} 2 --file -"),
        )
    };
    assert_snapshot!(revise("printf 'a\\377b'"), @"
    exit status: 2
    --- stderr
    error: standard input can't be read: stream did not contain valid UTF-8
    hint: pipe the text into it, as UTF-8
    ");
}

#[test]
fn a_repository_of_somebody_else() {
    let environment = started().env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    let said = environment.fp(&["commit", "--message", "Do it", "README.md"]);
    let (error, advice) = said.stderr.split_once("\n").unwrap();
    let command = regex::Regex::new("`git .*`")
        .unwrap()
        .replace(error, "`git …`")
        .into_owned();
    assert_eq!(
        command,
        "error: `git …` ended with status 128: fatal: detected dubious ownership in repository at '[ROOT]/work'"
    );
    assert!(
        advice.contains("\tgit config --global --add safe.directory [ROOT]/work\n"),
        "{said}"
    );
    assert_eq!(said.code, 2);
}

#[test]
fn a_git_that_prints_something_else() {
    let environment = started();
    let (_, token) = environment.claim("builder-1").unwrap();
    environment.write("a.txt", "about 1\n");
    let git = environment.run("sh", &["-c", "command -v git"]).stdout;
    let folder = environment.beside("bin");
    let script =
        "#!/bin/sh\ncase \"$*\" in *write-tree*) echo hello ;; *) exec GIT \"$@\" ;; esac\n";
    write_program(&folder.join("git"), script.replace("GIT", git.trim()));
    let environment = environment.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    assert_snapshot!(environment.fp(&["submit", PLAN, "1", "--claim", &token]), @r#"
    exit status: 2
    --- stderr
    error: `git write-tree` printed something unexpected: "hello\n"
    hint: run it by hand: the `git` on PATH is no plain git, or one that this fp does not know
    "#);
}

#[test]
fn what_a_task_began_on_is_gone_from_git() {
    let environment = started();
    let (_, token) = environment.claim("builder-1").unwrap();
    environment.write("a.txt", "about 1\n");
    let log = environment.path(&plan_file("events.jsonl"));
    let text = fs::read_to_string(&log).unwrap();
    let tree = regex::Regex::new("\"tree\":\"[0-9a-f]{40}\"").unwrap();
    let gone = "1".repeat(40);
    let claimed = text
        .lines()
        .find(|line| line.contains("\"claimed\"") && tree.is_match(line))
        .unwrap();
    let forged = tree.replace(claimed, format!("\"tree\":\"{gone}\""));
    fs::write(&log, text.replace(claimed, &forged)).unwrap();
    environment.own_log(PLAN);
    let said = environment
        .fp(&["submit", PLAN, "1", "--claim", &token])
        .to_string();
    let now = regex::Regex::new(&format!("{gone} [0-9a-f]{{40}}")).unwrap();
    assert_snapshot!(now.replace(&said, format!("{gone} [TREE]")).replace(&gone, "[GONE]"), @"
    exit status: 2
    --- stderr
    error: git does not have [GONE]: `git diff-tree -r -M -z --raw --end-of-options` ended with status 128: fatal: bad object [GONE]
    hint: it was probably removed by `git gc`; release the task and let it be claimed again
    ");
}

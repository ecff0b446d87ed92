//! `fp help` and `fp completions`.

use crate::common::Environment;
use insta::assert_snapshot;

fn help(words: &[&str]) -> String {
    let said = Environment::new().fp(&[&["help"], words].concat());
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said}");
    said.stdout
}

#[test]
fn a_page_is_shown_as_text() {
    assert_snapshot!(help(&["exit-codes"]), @r#"
    # Exit codes

    status
        meaning
    0
        done
    1
        findings, or refused: the state or the answer is no
    2
        could not run: usage, input, configuration, disk, git
    3
        nothing is ready to be claimed; or, of `fp run --ask`, a question is open

    What was asked for is on standard output. Notes and errors are on standard
    error; an error is a line `error:` and lines `hint:` that say what to do next.

        $ fp claim sample --as builder-1 > payload
        $ fp claim sample --as builder-2
        error: nothing is ready: …
        hint: …
        $ fp claim sample --as builder-2 2> errors || echo "status $?"
        status 3
        $ fp status nowhere 2> errors || echo "status $?"
        status 2

    `fp hook EVENT` always ends with 0, since to Claude Code 2 means that a hook
    refuses.
    "#);
}

#[test]
fn without_a_word_there_are_commands_and_topics() {
    let said = help(&[]);
    let (commands, topics) = said.split_once("\nTopics, for `fp help TOPIC`:\n").unwrap();
    assert!(commands.contains("\n  validate ") && commands.contains("\nOptions:\n"), "{commands}");
    assert_snapshot!(topics, @r"
    tasks          Task trees
    plan           The folder of a plan
    run            The protocol of a run
    log            The event log
    hooks          Hooks
    exit-codes     Exit codes
    config         Configuration
    specs          Project specs
    import-export  Plans of other systems
    roadmap        More than one plan
    ");
}

#[test]
fn every_topic_is_a_page_that_fits_the_terminal() {
    let said = help(&[]);
    let topics: Vec<&str> = said.rsplit_once("TOPIC`:\n").unwrap().1.lines().collect();
    assert!(topics.len() > 6, "{said}");
    for topic in topics.iter().map(|line| line.split_whitespace().next().unwrap()) {
        let page = help(&[topic]);
        let page = &page[page.find("\n# ").map_or(0, |at| at + 1)..];
        assert!(page.starts_with("# ") && page.lines().count() > 10, "{topic}: {page}");
        let wide: Vec<&str> =
            page.lines().filter(|line| line.chars().count() > 80 && !line.starts_with("    ")).collect();
        assert!(wide.is_empty(), "{topic}: {wide:#?}");
    }
}

#[test]
fn the_help_of_a_command_is_its_own() {
    let environment = Environment::new();
    for command in [&["status"][..], &["plans", "archive"], &["explain"]] {
        assert_eq!(help(command), environment.fp(&[command, &["--help"]].concat()).stdout);
    }
    let both = help(&["log"]);
    let command = environment.fp(&["log", "--help"]).stdout;
    assert!(both.starts_with(&command) && both[command.len()..].starts_with("\n# The event log\n"), "{both}");
}

#[test]
fn what_is_neither_is_said_so() {
    let environment = Environment::new();
    assert_snapshot!(environment.fp(&["help", "exit-code"]), @r#"
    exit status: 2
    --- stderr
    error: there is no command or topic "exit-code"
    hint: did you mean `fp help exit-codes`?
    "#);
    assert_snapshot!(environment.fp(&["help", "nowhere", "at", "all"]), @r#"
    exit status: 2
    --- stderr
    error: there is no command or topic "nowhere at all"
    hint: `fp help` lists them all
    "#);
    let json = environment.fp(&["help", "hooks", "--format", "json"]).json();
    assert!(json["text"].as_str().unwrap().starts_with("# Hooks\n"), "{json}");
}

#[test]
fn bash_completes_commands() {
    let environment = Environment::new();
    let script = environment.fp(&["completions", "bash"]).stdout;
    environment.write("fp.bash", script);
    assert_eq!(environment.run("bash", &["-n", "fp.bash"]).to_string(), "exit status: 0\n");
    let complete = "source ./fp.bash
        COMP_WORDS=(fp sta); COMP_CWORD=1; _fp fp sta fp; printf '%s\\n' \"${COMPREPLY[@]}\"
        COMP_WORDS=(fp status --wa); COMP_CWORD=2; _fp fp --wa status; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let said = environment.run("bash", &["--norc", "-c", complete]);
    assert_eq!(said.to_string(), "exit status: 0\n--- stdout\nstart\nstatus\n--watch\n");
}

#[test]
fn every_shell_has_its_completions() {
    let environment = Environment::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = environment.fp(&["completions", shell]);
        let named = ["critique", "rollback"].iter().all(|command| said.stdout.contains(command));
        assert!(said.code == 0 && named, "{shell}: {said}");
    }
    let json = environment.fp(&["completions", "fish", "--format", "json"]).json();
    assert_eq!(json["script"], environment.fp(&["completions", "fish"]).stdout);
    assert_eq!(environment.fp(&["completions", "csh"]).code, 2);
}

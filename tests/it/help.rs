//! `fp help` and `fp completions`.

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;

fn help(words: &[&str]) -> String {
    let said = Environment::new().fp(&[&["help"], words].concat());
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said}");
    said.stdout
}

#[test]
fn the_first_page_has_what_people_need() {
    assert_snapshot!(help(&[]), @"
    Fractal Planner 0.2.0: plan a goal, build it task by task, commit what passes
    In Claude Code: /fp:plan GOAL, then /fp:implement

    Look      status  show  log  why  report  plans
    Steer     run  approve  answer  retry  cancel  task
    Write     new  import  export  validate
    Project   config  specs  roadmap  commit  pr
    Machines  share  join  fleet
    Set up    install  doctor  demo

    Help      fp help COMMAND, fp help --all, fp help agents, or fp help TOPIC:
              task-tree, configuration
    Options   --json for programs, -C DIR, -q, --help, --version
    ");
    let environment = Environment::new();
    for flag in ["--help", "-h"] {
        assert_eq!(environment.fp(&[flag]).stdout, help(&[]));
    }
}

#[test]
fn every_command_is_listed_once() {
    let named = |page: &str| -> Vec<String> {
        let rows = page
            .lines()
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        rows.map(|line| line.split_whitespace().next().unwrap().to_owned())
            .collect()
    };
    assert_snapshot!(named(&help(&["agents"])).join(" "), @"interview critique signals schedule start next claim clarify scope submit verify verdict note");
    let all = help(&["--all"]);
    assert!(all.lines().all(|line| line.chars().count() <= 80), "{all}");
    let mut once = named(&all);
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), named(&all).len(), "a command is listed twice");
}

/// More than people can keep in mind, and agents have to choose among them too.
#[test]
fn there_are_at_most_40_commands_and_45_settings() {
    let all = help(&["--all"]);
    let commands = all
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    assert!(commands.count() <= 40, "{all}");
    let config = Environment::new().fp(&["config"]).stdout;
    assert!(config.lines().count() <= 45, "{config}");
}

#[test]
fn a_word_for_part_of_a_command_names_that_command() {
    let environment = Environment::new();
    let refused = |words: &[&str]| environment.fp(words).to_string();
    assert_snapshot!(refused(&["fail", "1"]), @r#"
    exit status: 2
    --- stderr
    error: there is no command "fail"
    hint: `fp cancel PLAN TASK --reason TEXT` gives a task up
    "#);
    assert_snapshot!(refused(&["bundle"]), @r#"
    exit status: 2
    --- stderr
    error: there is no command "bundle"
    hint: `fp install --bundle DIR` writes the plugin to a folder
    "#);
    assert_snapshot!(refused(&["fmt", "--check"]), @r#"
    exit status: 2
    --- stderr
    error: there is no command "fmt"
    hint: `fp validate PLAN --fmt` writes the tree in its canonical form
    "#);
}

#[test]
fn what_people_try_gets_the_right_hint() {
    let environment = Environment::new();
    let hint = |word: &str| {
        let said = environment.fp(&[word]);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{said}");
        said.stderr
    };
    assert_snapshot!(["init", "ls", "watch", "implement", "version"].map(hint).concat(), @r#"
    error: there is no command "init"
    hint: `fp new GOAL` makes a plan; in Claude Code, `/fp:plan GOAL` does all of it
    error: there is no command "ls"
    hint: `fp plans` lists the plans, `fp status` the tasks of one
    error: there is no command "watch"
    hint: `fp status --watch` follows a run
    error: there is no command "implement"
    hint: in Claude Code: `/fp:implement`; without it: `fp run`
    error: there is no command "version"
    hint: `fp --version`
    "#);
    assert_snapshot!(["staus", "foo"].map(hint).concat(), @r#"
    error: there is no command "staus"
    hint: did you mean `fp status`?
    error: there is no command "foo"
    hint: `fp help` lists them all
    "#);
    let inner = environment.fp(&["task", "ad"]);
    assert!(inner.stderr.contains("'add'"), "{inner}");
    environment.fp(&["new", "add auth"]);
    let goal = environment.fp(&["plan", "Add dark mode"]);
    assert!(
        goal.stderr
            .ends_with("hint: to plan a goal: `/fp:plan GOAL` in Claude Code, or `fp new GOAL`\n"),
        "{goal}"
    );
}

#[test]
fn alone_it_says_where_the_repository_stands() {
    let environment = Environment::new().repo();
    assert_snapshot!(environment.fp(&[]), @r"
    exit status: 0
    --- stdout
    Fractal Planner 0.2.0: plan a goal, build it task by task, commit what passes
    Nothing is planned here yet
    Next: /fp:plan GOAL  (in Claude Code; `fp demo` shows it without)
    More: fp help
    ");
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "b.txt"),
    ]));
    environment.start(&[]);
    assert_snapshot!(environment.fp(&[]), @r"
    exit status: 0
    --- stdout
    sample-20261121 (running)
    0 of 2 tasks done, 1 ready, 1 waiting
    Next: /fp:implement sample-20261121  (goes on with the run, in Claude Code; in a terminal: `fp run sample-20261121`)
    More: fp help
    ");
    environment.fp(&["cancel", PLAN]);
    assert_snapshot!(environment.fp(&[]), @r"
    exit status: 0
    --- stdout
    sample-20261121 (cancelled)
    0 of 2 tasks done, 2 waiting
    Next: /fp:implement sample-20261121  (goes on where it was cancelled, in Claude Code; in a terminal: `fp run sample-20261121`)
    More: fp help
    ");
    environment.fp(&["new", "add auth"]);
    assert_snapshot!(environment.fp(&[]), @r"
    exit status: 0
    --- stdout
    add-auth-20261121 (planning)
    Next: fp status add-auth-20261121  (shows what of the plan is written)
    More: fp help
    ");
    environment.fp(&["new", "fix auth"]);
    assert_snapshot!(environment.fp(&[]), @r"
    exit status: 0
    --- stdout
    add-auth-20261121                             planning
    fix-auth-20261121                             planning
    Next: fp status PLAN  (shows one of them)
    More: fp help
    ");
    assert_eq!(
        environment.fp(&["--json"]).json()["plans"][0]["phase"],
        "planning"
    );
}

#[test]
fn options_of_every_command() {
    let environment = Environment::new().repo();
    environment.fp(&["new", "add auth"]);
    let status = environment.fp(&["status", "--json"]);
    assert_eq!(
        status.stdout,
        environment.fp(&["--format", "json", "status"]).stdout
    );
    assert_eq!(status.json()["phase"], "planning");
    std::fs::create_dir(environment.beside("elsewhere")).unwrap();
    assert!(
        environment
            .fp(&["-C", "../elsewhere"])
            .stdout
            .contains("Nothing is planned")
    );
    assert_eq!(
        environment
            .fp(&["-C", "../elsewhere", "status", "-C", "../work", "--json"])
            .stdout,
        status.stdout
    );
    assert_snapshot!(environment.fp(&["-C", "nowhere"]), @r"
    exit status: 2
    --- stderr
    error: can't change to nowhere: no such file or directory
    hint: name a folder that exists after `-C`
    ");
    let loud = environment.fp(&["status", "--watch"]);
    let quiet = environment.fp(&["status", "--watch", "-q"]);
    assert_eq!((loud.stdout, quiet.stderr.as_str()), (quiet.stdout, ""));
    assert!(loud.stderr.starts_with("note: "));
    assert!(
        environment
            .fp(&["status", "nowhere", "--quiet"])
            .stderr
            .starts_with("error: ")
    );
}

#[test]
fn every_topic_is_a_page_of_the_documentation() {
    let topics = Environment::new().fp(&["help", "--json"]).json()["topics"].clone();
    assert!(topics.as_array().unwrap().len() > 1, "{topics}");
    for topic in topics
        .as_array()
        .unwrap()
        .iter()
        .map(|topic| topic.as_str().unwrap())
    {
        let path = format!("{}/docs/{topic}.md", env!("CARGO_MANIFEST_DIR"));
        let page = std::fs::read_to_string(path).unwrap();
        assert!(page.starts_with("# "), "{topic}: {page}");
        assert!(help(&[topic]).ends_with(&page), "{topic}");
    }
}

#[test]
fn the_help_of_a_command_is_its_own() {
    let environment = Environment::new();
    for command in [&["status"][..], &["plans", "archive"], &["validate"]] {
        assert_eq!(
            help(command),
            environment.fp(&[command, &["--help"]].concat()).stdout
        );
    }
    let both = help(&["config"]);
    let command = environment.fp(&["config", "--help"]).stdout;
    assert!(
        both.starts_with(&command) && both[command.len()..].starts_with("\n# Configuration\n"),
        "{both}"
    );
}

#[test]
fn what_is_neither_is_said_so() {
    let environment = Environment::new();
    assert_snapshot!(environment.fp(&["help", "task-treee"]), @r#"
    exit status: 2
    --- stderr
    error: there is no command or topic "task-treee"
    hint: did you mean `fp help task-tree`?
    "#);
    assert_snapshot!(environment.fp(&["help", "nowhere", "at", "all"]), @r#"
    exit status: 2
    --- stderr
    error: there is no command or topic "nowhere at all"
    hint: `fp help` lists them all
    "#);
    let json = environment
        .fp(&["help", "tasks", "--format", "json"])
        .json();
    assert!(
        json["text"].as_str().unwrap().starts_with("# Task trees\n"),
        "{json}"
    );
}

#[test]
fn bash_completes_commands() {
    let environment = Environment::new();
    let script = environment.fp(&["install", "--completions", "bash"]).stdout;
    environment.write("fp.bash", script);
    assert_eq!(
        environment.run("bash", &["-n", "fp.bash"]).to_string(),
        "exit status: 0\n"
    );
    let complete = "source ./fp.bash
        COMP_WORDS=(fp sta); COMP_CWORD=1; _fp fp sta fp; printf '%s\\n' \"${COMPREPLY[@]}\"
        COMP_WORDS=(fp status --wa); COMP_CWORD=2; _fp fp --wa status; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let said = environment.run("bash", &["--norc", "-c", complete]);
    assert_eq!(
        said.to_string(),
        "exit status: 0\n--- stdout\nstart\nstatus\nstatusline\n--watch\n"
    );
}

#[test]
fn every_shell_has_its_completions() {
    let environment = Environment::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = environment.fp(&["install", "--completions", shell]);
        let named = ["critique", "retry"]
            .iter()
            .all(|command| said.stdout.contains(command));
        assert!(said.code == 0 && named, "{shell}: {said}");
    }
    let json = environment
        .fp(&["install", "--completions", "fish", "--format", "json"])
        .json();
    assert_eq!(
        json["script"],
        environment.fp(&["install", "--completions", "fish"]).stdout
    );
    assert_eq!(environment.fp(&["install", "--completions", "csh"]).code, 2);
}

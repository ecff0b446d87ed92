//! The plan's commands are tried on a bench before any work, so that no builder loses an attempt to a command that
//! can't succeed.

use crate::common::plan::{Leaf, PLAN, leaf, tree};
use crate::common::{Environment, Output};

fn tested<'a>(id: &'a str, file: &'a str, test: &'a str) -> Leaf<'a> {
    Leaf {
        test,
        ..leaf(id, "none", file)
    }
}

fn planned(leaves: &[Leaf<'_>]) -> Environment {
    let environment = Environment::new().shared().repo();
    environment.write("src/lib.txt", "there\n");
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Source"]);
    environment.plan(&tree(leaves));
    environment
}

/// Approves the tree and starts its run; returns the outputs of starting it and of `fp next`.
fn started(environment: &Environment) -> (Output, String) {
    environment.done(&["approve", PLAN, "--yes"]);
    let start = environment.done(&["run", "start", PLAN, "--session", "s1"]);
    (start, environment.next(&[]).stdout)
}

/// Puts a `cargo` on the PATH that fails like a test runner that rejects an argument.
fn fake_cargo(environment: Environment) -> Environment {
    let script = "#!/bin/sh\n[ $# -lt 3 ] && exit 0\necho \"error: unexpected argument '$3' found\" >&2\n\
                  echo >&2\necho 'Usage: cargo test [OPTIONS] [TESTNAME]' >&2\nexit 1\n";
    let bin = environment.beside("home/bin");
    std::fs::create_dir_all(&bin).unwrap();
    crate::common::program::write_program(&bin.join("cargo"), script);
    let path = std::env::join_paths([bin, "/usr/bin".into(), "/bin".into()]).unwrap();
    environment.env("PATH", path)
}

#[test]
fn a_command_with_a_comma_is_asked_about_before_it_is_claimed() {
    let environment = fake_cargo(planned(&[
        tested("1", "src/one.txt", "cargo test a, bb"),
        tested("2", "src/two.txt", "cargo test"),
    ]));
    let (_, next) = started(&environment);
    let asked = "question: A check of task 1 fails before any work. `cargo test a, bb` ended with exit status 1: \
                 \"error: unexpected argument 'bb' found Usage: cargo test [OPTIONS] [TESTNAME]\". How should it continue?";
    assert!(
        next.contains(asked) && next.contains("- Run without this check: "),
        "{next}"
    );
    let claim = environment.fp(&["claim", PLAN, "1", "--as", "builder-1"]);
    assert!(
        claim
            .stderr
            .contains("a check of it fails before any work: answer the question about it"),
        "{claim}"
    );
    let (other, _) = environment
        .claim("builder-1")
        .expect("the other task doesn't wait");
    assert_eq!(other, "2");
    let answer = environment.done(&["answer", PLAN, "q1", "--option", "Change the task"]);
    assert!(
        answer
            .stdout
            .contains(&format!("fp task revise {PLAN} 1 --file -")),
        "{answer}"
    );
    assert!(
        environment
            .done(&["why", PLAN, "1"])
            .stdout
            .contains("it has to be changed")
    );
}

#[test]
fn a_missing_program_is_one_question_for_all_its_commands() {
    let environment = planned(&[
        tested("1", "src/one.txt", "no-such-runner src/one.txt"),
        tested("2", "src/two.txt", "no-such-runner src/two.txt"),
    ]);
    let (_, next) = started(&environment);
    assert!(
        next.contains("A check of tasks 1, 2 fails before any work.") && !next.contains("ask q2"),
        "{next}"
    );
    assert!(
        next.contains("ended with exit status 127") && !next.contains("spawn"),
        "{next}"
    );
    environment.done(&["answer", PLAN, "q1", "--option", "Run without this check"]);
    let token = environment.claim_task("builder-1", "1");
    environment.write("src/one.txt", "about 1\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    let verified = environment.done(&["verify", PLAN, "1"]).stdout;
    assert!(
        verified.contains("by the user's choice it is no check of this task"),
        "{verified}"
    );
}

#[test]
fn a_suite_that_is_red_already_is_told() {
    let environment = planned(&[
        tested("1", "src/one.txt", "sh -c 'exit 3'"),
        tested("2", "src/two.txt", "sh -c 'exit 3'"),
    ]);
    let (start, next) = started(&environment);
    let told = "warning: `sh -c 'exit 3'` fails before any work, with status 3";
    assert!(start.stderr.contains(told), "{start}");
    assert!(
        next.contains("spawn builder-1") && !next.contains("ask q"),
        "{next}"
    );
}

#[test]
fn what_the_work_is_to_bring_about_is_no_question() {
    for test in [
        "sh tests/test_new.py",
        "sh -c 'exit 3'",
        "touch made.txt",
        "sh -c 'echo error: unexpected argument --json found && exit 2'",
    ] {
        let (start, next) = started(&planned(&[
            tested("1", "tests/test_new.py", test),
            leaf("2", "none", "b/c.txt"),
        ]));
        assert!(
            next.contains("spawn builder-1") && !next.contains("ask q"),
            "{next}"
        );
        // The only notes may be about commands that take over a second, which happens on a busy machine.
        assert!(
            start
                .stderr
                .lines()
                .all(|line| line.starts_with("note: trying ")),
            "{start}"
        );
    }
}

#[test]
fn a_slow_command_is_left_out_and_leaves_nothing_behind() {
    let slow = tested("1", "src/one.txt", "sh -c 'echo begun && sleep 30'");
    let environment = planned(&[slow, tested("2", "src/two.txt", "true")]);
    let settings =
        r#"{ "isolation": "shared", "verify": { "timeoutSeconds": 2, "judge": "each" } }"#;
    std::fs::write(
        environment.beside("home/.config/fractal-planner/config.json"),
        settings,
    )
    .unwrap();
    let (start, next) = started(&environment);
    assert_eq!(
        start.stderr,
        "note: trying `sh -c 'echo begun && sleep 30'`\n\
         note: trying `true`\n\
         warning: `sh -c 'echo begun && sleep 30'` takes too long to be tried\n"
    );
    assert!(next.contains("spawn builder-1"), "{next}");
}

#[test]
fn a_command_that_changes_files_is_named() {
    let environment = planned(&[tested(
        "1",
        "src/one.txt",
        "sed -i s/Sample/Other/ README.md",
    )]);
    let (start, _) = started(&environment);
    assert_eq!(
        start.stderr,
        "warning: `sed -i s/Sample/Other/ README.md` changed README.md\n"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_that_may_not_write_is_told_with_the_rule_that_lets_it() {
    if !fp_host::platform::can_confine() {
        println!("skipped: this system confines nothing");
        return;
    }
    let tried = |test: &str, is_allowed: bool| {
        let environment = Environment::new().shared().repo();
        let folder = environment.beside("elsewhere");
        std::fs::create_dir(&folder).unwrap();
        if is_allowed {
            let value = format!("[\"{}\"]", folder.display());
            environment.done(&["config", "set", "--user", "sandbox.write", &value]);
        }
        let test = test.replace("FOLDER", &folder.display().to_string());
        environment.plan(&tree(&[tested("1", "src/one.txt", &test)]));
        let (start, _) = started(&environment);
        (start.stderr, folder.join("made").exists())
    };
    let rule = "fp config set --user sandbox.write '[\"[ROOT]/elsewhere\"]'\n";
    for test in ["touch FOLDER/made", "echo x >FOLDER/made"] {
        let (told, is_made) = tried(test, false);
        assert!(told.contains(rule) && !is_made, "{test}: {told}");
        assert_eq!(tried(test, true), (String::new(), true), "{test}");
    }
    for test in ["touch made", "echo /etc: Permission denied"] {
        assert_eq!(tried(test, false).0, "", "{test}");
    }
}

/// What a command could gain by writing to.
#[test]
#[cfg(target_os = "linux")]
fn a_command_reaches_neither_the_repository_nor_what_is_the_users() {
    if !fp_host::platform::can_confine() {
        println!("skipped: this system confines nothing");
        return;
    }
    let environment = Environment::new().shared().repo();
    let places = [
        environment.path(".git/config"),
        environment.path(".git/hooks/pre-commit"),
        environment.path("README.md"),
        environment.path(&format!(".fractal-planner/plans/{PLAN}/events.jsonl")),
        environment.trust_store(),
        environment.beside("home/.bashrc"),
        environment.beside("home/.ssh/authorized_keys"),
        environment.beside("home/.cache/fractal-planner/benches/repository"),
    ];
    std::fs::create_dir_all(environment.beside("home/.ssh")).unwrap();
    let tries = places
        .iter()
        .map(|place| format!("echo reached >>'{}'\n", place.display()));
    environment.write(
        "reach.sh",
        tries.collect::<String>() + "echo here >written\n",
    );
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Reach"]);
    environment.plan(&tree(&[tested("1", "src/one.txt", "sh reach.sh")]));
    started(&environment);
    environment.build("builder-1", "src/one.txt", "about 1\n");
    let verdict = environment.pass("1");
    assert!(verdict.stdout.starts_with("Task 1 passed"), "{verdict}");
    for place in places {
        let found = std::fs::read_to_string(&place).unwrap_or_default();
        assert!(!found.contains("reached"), "{}", place.display());
    }
}

#[test]
fn nothing_runs_without_consent() {
    let environment = planned(&[tested("1", "src/one.txt", "touch ran")]);
    environment.done(&["approve", PLAN, "--yes"]);
    std::fs::remove_file(environment.trust_store()).unwrap();
    let start = environment.fp(&["run", "start", PLAN, "--session", "s1"]);
    assert_eq!(
        (start.code, environment.path("ran").exists()),
        (1, false),
        "{start}"
    );
}

#[test]
fn without_a_user_the_task_is_built_as_it_is_planned() {
    let environment = planned(&[tested("1", "src/one.txt", "no-such-runner")]);
    let environment = environment.env("CLAUDE_CODE_SESSION_ATTENDED", "0");
    let (_, next) = started(&environment);
    assert!(next.contains("spawn builder-1"), "{next}");
    let report = environment.done(&["report", PLAN]).stdout;
    assert!(
        report.contains("A check of task 1 fails before any work.") && report.contains("Keep"),
        "{report}"
    );
}

#[test]
fn a_slow_command_alone_is_named_while_it_runs() {
    let environment = planned(&[tested("1", "src/one.txt", "sleep 1.3")]);
    let (start, _) = started(&environment);
    assert_eq!(start.stderr, "note: trying `sleep 1.3`\n");
    let quick = planned(&[tested("1", "src/one.txt", "true")]);
    assert_eq!(started(&quick).0.stderr, "");
}

#[test]
fn a_command_that_is_revised_during_the_run_is_tried_again() {
    let environment = planned(&[
        tested("1", "src/one.txt", "true"),
        tested("2", "src/two.txt", "true"),
        tested("3", "src/three.txt", "sh -c 'exit 1'"),
    ]);
    started(&environment);
    let (task, token) = environment.claim("builder-1").unwrap();
    assert_eq!(task, "1");
    environment.write("src/one.txt", "about 1\n");
    let tried = || {
        let log = environment.read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
        log.matches("command: sh -c 'exit 1'").count()
    };
    assert_eq!(tried(), 1);
    let path = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let leaf = environment.read(&path);
    let leaf = &leaf[leaf.find("- [ID: 2]").unwrap()..leaf.find("- [ID: 3]").unwrap()];
    environment.write(
        "../leaf.md",
        leaf.replace("Commands: true", "Commands: no-such-runner src/two.txt"),
    );
    let revised = environment.beside("leaf.md").display().to_string();
    environment.done(&["task", "revise", PLAN, "2", "--file", &revised]);
    environment.done(&["approve", PLAN, "--yes"]);
    let next = environment.next(&[]);
    assert!(
        next.stdout
            .contains("A check of task 2 fails before any work."),
        "{next}"
    );
    assert_eq!(next.stderr, "", "the file that task 1 changed is its own");
    assert_eq!(tried(), 1, "what was not revised is not tried again");
    environment.done(&["answer", PLAN, "q1", "--option", "Keep"]);
    assert!(
        !environment.next(&[]).stdout.contains("fails before"),
        "it is tried once"
    );
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
}

#[test]
fn a_new_approval_ends_the_question_about_a_check_that_it_corrects() {
    let environment = planned(&[
        tested("1", "src/one.txt", "true"),
        tested("2", "src/two.txt", "no-such-runner src/two.txt"),
        tested("3", "src/three.txt", "no-such-helper src/three.txt"),
    ]);
    let (_, next) = started(&environment);
    assert!(next.contains("ask q1") && next.contains("ask q2"), "{next}");
    let path = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let correct = |from: &str, to: &str| {
        environment.write(&path, environment.read(&path).replace(from, to));
        environment.done(&["approve", PLAN, "--yes"]);
        environment.next(&[]).stdout
    };
    environment.done(&["answer", PLAN, "q1", "--option", "Keep"]);
    let next = correct("no-such-runner src/two.txt", "true");
    assert!(
        !next.contains("ask q"),
        "what the user keeps is no question again: {next}"
    );
    let next = correct("no-such-helper src/three.txt", "no-such-helper src");
    let asked = "A check of task 3 fails before any work.";
    assert!(
        !next.contains("task 2 fails") && next.matches(asked).count() == 1,
        "{next}"
    );

    // Once work has begun, only changed commands are tried again.
    environment.claim("builder-1").unwrap();
    let next = correct("has a line about 2", "has two lines about 2");
    assert!(next.contains("ask q3") && next.contains(asked), "{next}");
    let next = correct("no-such-helper src\n", "true\n");
    assert!(!next.contains("ask q"), "{next}");
    environment.claim_task("builder-3", "3");
}

/// What was judged on a bench doesn't keep later work from being judged in the checkout.
#[test]
fn a_plan_whose_commands_move_to_the_checkout() {
    let environment = planned(&[tested("1", "a.txt", "true"), tested("2", "b.txt", "true")]);
    started(&environment);
    for (id, file) in [("1", "a.txt"), ("2", "b.txt")] {
        let token = environment.claim_task("builder-1", id);
        environment.write(file, "done\n");
        environment.done(&["submit", PLAN, id, "--claim", &token]);
        let verified = environment.fp(&["verify", PLAN, id]);
        assert!(verified.stdout.contains("     1  done"), "{verified}");
        environment.pass(id);
        environment.done(&["config", "set", "--user", "verify.place", "checkout"]);
    }
}

/// A bench that can't be used is named with the reason, and used again once that is gone.
#[test]
fn a_bench_that_can_not_be_locked() {
    let environment = planned(&[tested("1", "a.txt", "true")]);
    started(&environment);
    let token = environment.claim_task("builder-1", "1");
    environment.write("a.txt", "done\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    let benches = environment.beside("home/.cache/fractal-planner/benches");
    let of_plan = std::fs::read_dir(benches).unwrap().next().unwrap();
    let lock = of_plan.unwrap().path().join("1.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let refused = environment.fp(&["verify", PLAN, "1"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("1.lock"),
        "{refused}"
    );
    std::fs::remove_dir(&lock).unwrap();
    environment.done(&["verify", PLAN, "1"]);
}

/// Without a bench and a sandbox, what a builder leaves counts, and the report says so.
#[test]
fn a_project_that_can_not_run_in_a_fresh_checkout() {
    let environment = planned(&[tested("1", "src/one.txt", "test -e built/it")]);
    let folder = environment.beside("home/.config/fractal-planner");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = r#"{ "isolation": "shared", "verify": { "place": "checkout", "judge": "each" }, "sandbox": { "mode": "off" } }"#;
    std::fs::write(folder.join("config.json"), settings).unwrap();
    environment.write(".git/info/exclude", "built\n");
    environment.write("built/it", "by hand\n");
    started(&environment);
    let (_, token) = environment.claim("builder-1").unwrap();
    environment.write("src/one.txt", "done\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 passed"),
        "{verdict}{}",
        environment.reasons()
    );
    let report = environment.done(&["report", PLAN, "--markdown"]).stdout;
    for note in [
        "commands see what builders leave there",
        "nothing keeps these commands from writing elsewhere",
    ] {
        assert!(report.contains(note), "{report}");
    }
}

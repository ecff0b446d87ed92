//! `fp rollback`: undoes a task with a separate commit, and touches nothing else.

use std::fs;

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

/// Tasks 1, 2 and 3 are done, each with its own file; 2 depends on 1, 3 is independent.
fn done() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "b.txt"),
        leaf("3", "none", "c/d.txt"),
    ]));
    environment.start(&[]);
    for file in ["a.txt", "b.txt", "c/d.txt"] {
        complete(&environment, file, &format!("about {file}\n"));
    }
    environment
}

fn complete(environment: &Environment, file: &str, text: &str) -> String {
    let task = environment.build("builder-1", file, text);
    let verdict = environment.pass(&task);
    assert!(verdict.stdout.contains("passed"), "{verdict}");
    task
}

impl Environment {
    /// Runs `fp rollback` for this task, and masks commit ids.
    fn rollback(&self, task: &str, flags: &[&str]) -> Output {
        let output = self.fp(&[&["retry", "--undo", PLAN, task], flags].concat());
        let mask = |text: &str| {
            regex::Regex::new(r"\b[0-9a-f]{10}\b")
                .unwrap()
                .replace_all(text, "[COMMIT]")
                .into_owned()
        };
        Output {
            stdout: mask(&output.stdout),
            stderr: mask(&output.stderr),
            code: output.code,
        }
    }

    /// Like [`Self::rollback`], but it must be refused and change nothing. Returns the error.
    #[track_caller]
    fn refused_rollback(&self, task: &str) -> String {
        let state = || {
            let log = fs::read(self.path(&format!(".fractal-planner/plans/{PLAN}/events.jsonl")))
                .unwrap();
            let files =
                self.git(&["ls-files", "--stage"]) + &self.git(&["status", "--short", "--ignored"]);
            (log, files, self.git(&["for-each-ref"]))
        };
        let before = state();
        let output = self.rollback(task, &[]);
        assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{output}");
        assert!(state() == before, "something was left behind: {output}");
        output.stderr
    }

    fn states(&self) -> Vec<String> {
        self.statuses()
            .into_iter()
            .map(|(_, status)| status)
            .collect()
    }

    fn commit_of(&self, subject: &str) -> String {
        self.git(&[
            "log",
            "--format=%H",
            "--fixed-strings",
            &format!("--grep={subject}"),
        ])
        .trim()
        .to_owned()
    }
}

#[test]
fn a_task_is_undone_and_can_be_built_again() {
    let environment = done();
    let commit = environment.commit_of("Write part 2");
    assert_snapshot!(environment.rollback("2", &[]), @r"
    exit status: 0
    --- stdout
    Task 2 is rolled back and waits again: commit [COMMIT] is undone by [COMMIT]
      b.txt
    Next: fp next sample-20261121
    ");
    assert_eq!(environment.states(), ["COMPLETED", "PENDING", "COMPLETED"]);
    assert_eq!(
        environment.git(&["log", "-1", "--name-status", "--format=%B"]),
        format!("Revert \"Write part 2\"\n\nThis reverts commit {commit}.\n\n\nD\tb.txt\n")
    );
    assert_eq!(environment.git_status(), "");
    assert_eq!(complete(&environment, "b.txt", "another try\n"), "2");
    assert_eq!(environment.read("b.txt"), "another try\n");
    assert_eq!(environment.states(), ["COMPLETED"; 3]);
}

#[test]
fn a_retry_undoes_what_is_done_only_when_that_is_asked_for() {
    let environment = done();
    assert_snapshot!(environment.fp(&["retry", PLAN, "2"]), @"
    exit status: 1
    --- stderr
    error: task 2 is done, and stays so
    hint: `fp retry sample-20261121 2 --undo` undoes it by a commit of its own
    ");
    assert_eq!(environment.states(), ["COMPLETED"; 3]);
    environment.done(&["retry", PLAN, "2", "--undo"]);
    assert_eq!(environment.states(), ["COMPLETED", "PENDING", "COMPLETED"]);
    environment.claim("builder-1");
    assert_eq!(
        environment.states(),
        ["COMPLETED", "IMPLEMENTING", "COMPLETED"]
    );
    assert_snapshot!(environment.fp(&["retry", PLAN, "2"]), @"
    exit status: 0
    --- stdout
    Task 2 waits again
    ");
    assert_eq!(environment.states(), ["COMPLETED", "PENDING", "COMPLETED"]);
}

#[test]
fn what_was_built_on_it_goes_first() {
    let environment = done();
    assert_snapshot!(environment.refused_rollback("1"), @"
    error: task 1 can't be rolled back: task 2 (done) builds on it
    hint: roll back what builds on it first: `fp retry sample-20261121 2 --undo`
    ");
    environment.done(&["retry", "--undo", PLAN, "2"]);
    assert_snapshot!(environment.rollback("1", &[]), @r"
    exit status: 0
    --- stdout
    Task 1 is rolled back and waits again: commit [COMMIT] is undone by [COMMIT]
      a.txt
    What waits for it: 2 (waiting)
    Next: fp next sample-20261121
    ");
    assert_eq!(environment.states(), ["PENDING", "PENDING", "COMPLETED"]);
    assert_snapshot!(environment.refused_rollback("1"), @"
    error: task 1 is waiting: only a task that is done can be rolled back
    hint: `fp why sample-20261121 1` says how it came to that, and what is next
    ");
    environment.claim("builder-1");
    assert_snapshot!(environment.refused_rollback("1"), @"
    error: task 1 is building: only a task that is done can be rolled back
    hint: `fp why sample-20261121 1` says how it came to that, and what is next
    ");
}

#[test]
fn what_is_under_way_on_it_is_named() {
    let environment = done();
    environment.done(&["retry", "--undo", PLAN, "2"]);
    environment.claim("builder-1");
    assert_snapshot!(environment.refused_rollback("1"), @"
    error: task 1 can't be rolled back: task 2 (building) builds on it
    hint: wait until it is over, or take it back: `fp retry sample-20261121 2`
    ");
    let (_, token) = environment.claim("builder-1").unwrap();
    environment.write("b.txt", "again\n");
    environment.done(&["submit", PLAN, "2", "--claim", &token]);
    assert_snapshot!(environment.refused_rollback("1"), @r"
    error: task 1 can't be rolled back: task 2 (verifying) builds on it
    hint: wait until task 2 has been judged
    ");
}

#[test]
fn a_running_task_that_may_change_its_files_is_waited_for() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "a.txt"),
    ]));
    environment.start(&[]);
    complete(&environment, "a.txt", "one\n");
    environment.claim("builder-1");
    assert_snapshot!(environment.refused_rollback("1"), @"
    error: task 1 can't be rolled back: running task 2 may change a.txt, too
    hint: wait until it is over, or take it back with `fp retry`
    ");
}

#[test]
fn what_the_user_has_staged_stays_staged() {
    let environment = done();
    environment.write("README.md", "# Staged\n");
    environment.write("new", "staged\n");
    environment.git(&["add", "README.md", "new"]);
    environment.write("README.md", "# Staged, then edited\n");
    environment.write("untracked", "mine\n");
    environment.done(&["retry", "--undo", PLAN, "3"]);
    assert_eq!(
        environment.git_status(),
        "MM README.md\nA  new\n?? untracked\n"
    );
    assert_eq!(
        environment.git(&["show", "--name-only", "--format=", "HEAD"]),
        "c/d.txt\n"
    );
    assert!(!environment.path("c").exists(), "no empty folder is left");
}

#[test]
fn files_with_uncommitted_changes_are_refused() {
    let environment = done();
    environment.write("b.txt", "mine\n");
    assert_snapshot!(environment.refused_rollback("2"), @r"
    error: b.txt has changes in the checkout that are not committed: commit them or put them back
    hint: nothing is changed; settle that and run this again
    ");
    environment.git(&["add", "b.txt"]);
    environment.refused_rollback("2");
    environment.git(&["checkout", "--quiet", "HEAD", "b.txt"]);
    environment.git(&["rm", "--quiet", "--cached", "b.txt"]);
    environment.refused_rollback("2");
}

#[test]
fn a_file_that_would_come_back_over_another_is_refused() {
    let environment = Environment::new().repo();
    environment.write("old.txt", "old\n");
    environment.write(".gitignore", "*.log\n");
    environment.write("old.log", "old\n");
    environment.git(&["add", "--force", "."]);
    environment.git(&["commit", "--quiet", "--message", "More"]);
    environment.plan(&tree(&[
        leaf("1", "none", "old.txt"),
        leaf("2", "none", "old.log"),
    ]));
    environment.start(&[]);
    for (task, file) in [("1", "old.txt"), ("2", "old.log")] {
        let (_, token) = environment.claim("builder-1").unwrap();
        fs::remove_file(environment.path(file)).unwrap();
        environment.done(&["submit", PLAN, task, "--claim", &token]);
        assert!(environment.pass(task).stdout.contains("passed: commit"));
        environment.write(file, "mine\n");
    }
    for (task, file) in [("1", "old.txt"), ("2", "old.log")] {
        assert!(
            environment
                .refused_rollback(task)
                .contains(&format!("error: {file} "))
        );
        assert_eq!(environment.read(file), "mine\n");
        fs::remove_file(environment.path(file)).unwrap();
        environment.done(&["retry", "--undo", PLAN, task]);
        assert_eq!(environment.read(file), "old\n");
    }
    assert_eq!(environment.git_status(), "");
}

#[test]
fn a_conflict_changes_nothing_and_says_so() {
    let environment = done();
    environment.write("b.txt", "changed by somebody\n");
    environment.git(&["commit", "--quiet", "--all", "--message", "Change it"]);
    assert_snapshot!(environment.refused_rollback("2"), @r"
    error: later commits have changed the same lines: b.txt
    hint: nothing is changed; undo it by hand and commit that, then run this again
    ");
    environment.write("b.txt", "about b.txt\nand more\n");
    environment.git(&[
        "commit",
        "--quiet",
        "--all",
        "--message",
        "Change it back, and more",
    ]);
    environment.refused_rollback("2");
    environment.git(&["mv", "b.txt", "moved.txt"]);
    environment.git(&["commit", "--quiet", "--message", "Move it"]);
    environment.refused_rollback("2");
}

#[test]
fn lines_that_others_have_added_elsewhere_stay() {
    let environment = Environment::new().repo();
    let lines: String = (0..20).map(|n| format!("line {n}\n")).collect();
    environment.write("a.txt", &lines);
    environment.git(&["add", "a.txt"]);
    environment.git(&["commit", "--quiet", "--message", "Lines"]);
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.start(&[]);
    complete(
        &environment,
        "a.txt",
        &lines.replace("line 2\n", "line two about 1\n"),
    );
    environment.write(
        "a.txt",
        environment
            .read("a.txt")
            .replace("line 17\n", "line seventeen\n"),
    );
    environment.git(&["commit", "--quiet", "--all", "--message", "Another line"]);
    environment.done(&["retry", "--undo", PLAN, "1"]);
    assert_eq!(
        environment.read("a.txt"),
        lines.replace("line 17\n", "line seventeen\n")
    );
    assert_eq!(environment.git_status(), "");
}

#[test]
fn a_hook_that_refuses_the_revert_leaves_everything_as_it_was() {
    let environment = done();
    environment.git_hook("pre-commit", "echo 'not today' >&2; exit 1");
    assert_snapshot!(environment.refused_rollback("3"), @r"
    error: the commit that undoes it could not be made: git made no commit: not today
    hint: nothing is changed; settle that and run this again
    ");
    assert_eq!(environment.read("c/d.txt"), "about c/d.txt\n");
    fs::remove_file(environment.path(".git/hooks/pre-commit")).unwrap();
    environment.done(&["retry", "--undo", PLAN, "3"]);
    environment.git_hook("pre-commit", "echo 'not today' >&2; exit 1");
    environment.git(&[
        "-c",
        "core.hooksPath=/dev/null",
        "revert",
        "--no-edit",
        "HEAD",
    ]);
    fs::remove_file(environment.path(".git/hooks/pre-commit")).unwrap();
}

#[test]
fn a_filter_does_not_take_the_undoing_out_again() {
    let environment = Environment::new().repo();
    environment.write("a.txt", "one\n");
    environment.git(&["add", "a.txt"]);
    environment.git(&["commit", "--quiet", "--message", "Add a"]);
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.start(&[]);
    complete(&environment, "a.txt", "about 1\n");
    environment.write(".git/info/attributes", "a.txt filter=same\n");
    environment.git(&[
        "config",
        "filter.same.clean",
        "git cat-file blob HEAD:a.txt",
    ]);
    environment.done(&["retry", "--undo", PLAN, "1"]);
    assert_eq!(environment.git(&["show", "HEAD:a.txt"]), "one\n");
    assert_eq!(environment.read("a.txt"), "one\n");
}

#[test]
fn a_submodule_is_not_set_back() {
    let environment = Environment::new().repo();
    let part = environment.beside("part");
    let part = part.to_str().unwrap();
    environment.git(&["init", "--quiet", "--initial-branch", "main", part]);
    environment.git(&[
        "-C",
        part,
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        "One",
    ]);
    environment.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        part,
        "part",
    ]);
    environment.git(&["commit", "--quiet", "--message", "Add the part"]);
    environment
        .plan(&tree(&[leaf("1", "none", "part")]).replace("One line", "Move the submodule on"));
    environment.start(&[]);
    let (_, token) = environment.claim("builder-1").unwrap();
    environment.git(&[
        "-C",
        "part",
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        "Two",
    ]);
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    let verdict = environment.pass("1");
    assert!(verdict.stdout.contains("passed: commit"), "{verdict}");
    assert_snapshot!(environment.refused_rollback("1"), @"
    error: part is a submodule, and fp changes none
    hint: nothing is changed; settle that and run this again
    ");
}

#[test]
fn a_log_that_names_no_commit() {
    let environment = done();
    let log = environment.path(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
    let text = fs::read_to_string(&log).unwrap();
    let commit = regex::Regex::new("\"commit\":\"[0-9a-f]{40}\"").unwrap();
    fs::write(
        &log,
        commit
            .replace_all(&text, "\"commit\":\"--output=x\"")
            .as_ref(),
    )
    .unwrap();
    environment.own_log(PLAN);
    assert_snapshot!(environment.rollback("3", &[]), @r#"
    exit status: 2
    --- stderr
    error: "--output=x" is not a git object id: expected 40 or 64 hexadecimal digits
    hint: the plan's events.jsonl was changed by hand: put back the commit that it named, `git log` shows it
    "#);
}

#[test]
fn an_operation_in_progress_is_finished_first() {
    let environment = done();
    environment.git(&["switch", "--quiet", "--create", "side", "HEAD~1"]);
    environment.write("README.md", "# Side\n");
    environment.git(&["commit", "--quiet", "--all", "--message", "Side"]);
    environment.git(&["switch", "--quiet", "main"]);
    environment.write("README.md", "# Main\n");
    environment.git(&["commit", "--quiet", "--all", "--message", "Main"]);
    assert_eq!(environment.run("git", &["merge", "side"]).code, 1);
    assert_snapshot!(environment.refused_rollback("3"), @r"
    error: the commit that undoes it could not be made: a merge is in progress; finish it with `git merge --continue`, or drop it with `git merge --abort`
    hint: nothing is changed; settle that and run this again
    ");
    environment.git(&["merge", "--abort"]);
    environment.git(&["switch", "--quiet", "side"]);
    assert!(
        environment
            .refused_rollback("3")
            .contains("is not in what is checked out")
    );
}

#[test]
fn a_commit_that_was_reverted_by_hand_is_found() {
    let environment = done();
    let commit = environment.commit_of("Write part 3");
    environment.git(&["revert", "--no-edit", &commit]);
    let count = environment.git(&["rev-list", "--count", "HEAD"]);
    assert_snapshot!(environment.rollback("3", &[]), @r"
    exit status: 0
    --- stdout
    Task 3 is rolled back and waits again: commit [COMMIT] had been undone by [COMMIT]
    Next: fp next sample-20261121
    ");
    assert_eq!(
        environment.git(&["rev-list", "--count", "HEAD"]),
        count,
        "no other commit is made"
    );
    assert_eq!(environment.states()[2], "PENDING");
}

#[test]
fn a_revert_that_was_reverted_is_made_again() {
    let environment = done();
    let commit = environment.commit_of("Write part 3");
    environment.git(&["revert", "--no-edit", &commit]);
    environment.git(&["revert", "--no-edit", "HEAD"]);
    environment.done(&["retry", "--undo", PLAN, "3"]);
    assert!(!environment.path("c/d.txt").exists());
}

#[test]
fn a_task_without_a_commit_is_pending_with_its_change() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.start(&["--no-commit"]);
    complete(&environment, "a.txt", "about 1\n");
    assert_snapshot!(environment.rollback("1", &[]), @r"
    exit status: 0
    --- stdout
    Task 1 is rolled back and waits again: it has no commit (commits are off), so its change stays where it is
    Next: fp next sample-20261121
    ");
    assert_eq!(environment.read("a.txt"), "about 1\n");
    let (_, token) = environment.claim("builder-1").unwrap();
    let submit = environment.done(&["submit", PLAN, "1", "--claim", &token]);
    assert!(
        submit.stdout.contains("1 file changed\n  a.txt\n"),
        "it is still the task's: {submit}"
    );
}

#[test]
fn a_finished_run_goes_on() {
    let environment = done();
    assert!(
        environment
            .done(&["next", PLAN, "--ended", "builder-1"])
            .stdout
            .contains("finish")
    );
    environment.done(&["retry", "--undo", PLAN, "2"]);
    assert!(
        environment
            .done(&["next", PLAN])
            .stdout
            .starts_with("1. resume builder-1\n")
    );
    environment.done(&["cancel", PLAN]);
    let output = environment.rollback("3", &["--format", "json"]);
    assert_eq!(
        (
            output.json()["task"].as_str(),
            output.json()["files"][0].as_str()
        ),
        (Some("3"), Some("c/d.txt"))
    );
    environment.done(&["run", "start", PLAN, "--session", "s2"]);
    assert_eq!(environment.states(), ["COMPLETED", "PENDING", "PENDING"]);
}

/// A revert doesn't count as a change by a task that was under way.
#[test]
fn a_revert_is_nobodys_change() {
    let environment = Environment::new().repo().shared();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
    ]));
    environment.start(&["--builders", "2"]);
    complete(&environment, "a.txt", "about 1\n");
    let (_, token) = environment.claim("builder-2").unwrap();
    environment.write("b.txt", "about 2\n");
    environment.done(&["retry", "--undo", PLAN, "1"]);
    let submit = environment.done(&["submit", PLAN, "2", "--claim", &token]);
    assert!(
        submit.stdout.contains("1 file changed\n  b.txt\n"),
        "{submit}"
    );
    let verdict = environment.pass("2");
    assert!(verdict.stdout.contains("passed: commit"), "{verdict}");
}

#[test]
fn in_a_linked_worktree_the_branch_of_the_run_is_the_one_that_counts() {
    let environment = done();
    environment.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "side",
        "../linked",
        "HEAD~3",
    ]);
    let elsewhere = environment.fp_in("../linked", &["retry", "--undo", PLAN, "3"]);
    assert_eq!(elsewhere.code, 1, "{elsewhere}");
    environment.done(&["retry", "--undo", PLAN, "3"]);
}

/// While the revert's hook runs, a builder claims a task that depends on the reverted one.
#[test]
fn who_claims_what_waits_for_it_in_the_meantime_loses_it_again() {
    let environment = done();
    environment.done(&["retry", "--undo", PLAN, "2"]);
    let claim = format!(
        "{} claim {PLAN} --as builder-7 --format json >.git/claimed",
        env!("CARGO_BIN_EXE_fp")
    );
    environment.git_hook("pre-commit", &claim);
    let output = environment.rollback("1", &[]);
    assert_eq!(output.code, 0, "{output}");
    let claimed: serde_json::Value =
        serde_json::from_str(&environment.read(".git/claimed")).unwrap();
    assert_eq!(claimed["task"], "2");
    assert_eq!(environment.states(), ["PENDING", "PENDING", "COMPLETED"]);
    let late = environment.fp(&[
        "submit",
        PLAN,
        "2",
        "--claim",
        claimed["claim"].as_str().unwrap(),
    ]);
    assert_eq!(late.code, 1);
    assert_snapshot!(late.stderr, @"
    error: task 2 is waiting: claim it first
    hint: `fp why sample-20261121 2` says how it came to that, and what is next
    ");
}

/// The rollback was killed after writing one of two files.
#[test]
fn half_an_undoing_is_finished() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[leaf("1", "none", "a/")]));
    environment.start(&[]);
    let (_, token) = environment.claim("builder-1").unwrap();
    environment.write("a/one", "about 1\n");
    environment.write("a/two", "about 1\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    assert!(environment.pass("1").stdout.contains("passed: commit"));
    fs::remove_file(environment.path("a/one")).unwrap();
    environment.done(&["retry", "--undo", PLAN, "1"]);
    assert_eq!(environment.git_status(), "");
    assert!(!environment.path("a").exists());
}

/// A git hook that kills the `fp` that started that git.
#[cfg(target_os = "linux")]
const DIES: &str = "kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat)";

#[cfg(target_os = "linux")]
#[test]
fn one_that_died_goes_on_where_it_was() {
    let check = |hook: &str, script: &str| {
        let environment = done();
        environment.git_hook(hook, script);
        assert_eq!(environment.rollback("3", &[]).code, -1);
        assert_eq!(environment.states()[2], "COMPLETED");
        fs::remove_file(environment.path(&format!(".git/hooks/{hook}"))).unwrap();
        let again = environment.rollback("3", &[]);
        assert_eq!(again.code, 0, "{hook}: {again}");
        assert_eq!(environment.states()[2], "PENDING");
        assert_eq!(environment.git_status(), "");
        let log = environment.git(&["log", "--format=%s"]);
        assert_eq!(log.matches("Revert").count(), 1, "{log}");
    };
    check("post-commit", DIES);
    check("pre-commit", &format!("{DIES}; exit 1"));
    check("pre-commit", &format!("{DIES}; sleep 1; exit 0"));
}

/// The hook plays a user who saves a file while the hook runs.
#[test]
fn what_is_edited_while_the_undoing_is_committed_stays() {
    let environment = done();
    environment.git_hook("pre-commit", "mkdir -p c; echo 'my own' > c/d.txt; exit 1");
    let output = environment.rollback("3", &[]);
    assert!(
        output
            .stderr
            .contains("; edited meanwhile, and left as it is: c/d.txt\n"),
        "{output}"
    );
    assert_eq!(
        (output.code, environment.read("c/d.txt")),
        (1, "my own\n".to_owned())
    );
}

//! The commits of a run in repositories of every kind: their messages, slow hooks, hooks that rewrite files,
//! and operations in progress.

use std::fs;
use std::time::{Duration, Instant};

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use crate::run::{chain, started};

/// The commit subject of the first task, `Write part 1`, after commits with these subjects.
fn subject(before: &[&str]) -> String {
    let environment = Environment::new().repo();
    for subject in before {
        environment.git(&["commit", "--quiet", "--allow-empty", "--message", subject]);
    }
    environment.plan(&chain());
    environment.start(&[]);
    environment.complete("a.txt");
    environment
        .git(&["log", "-1", "--format=%s"])
        .trim_end()
        .to_owned()
}

#[test]
fn a_message_is_in_the_style_of_the_history() {
    assert_eq!(subject(&[]), "Write part 1");
    assert_eq!(
        subject(&["feat: add login", "fix: mend it"]),
        "feat: write part 1"
    );
    assert_eq!(
        subject(&["feat(a): add login", "fix(b): mend it", "docs(a): say why"]),
        "feat(a): write part 1"
    );
    assert_eq!(
        subject(&[
            "Add the login page of the site",
            "Handle input that is empty"
        ]),
        "Write part 1"
    );
    assert_eq!(
        subject(&[
            "add the login page of the site",
            "handle input that is empty"
        ]),
        "write part 1"
    );
    assert_eq!(subject(&["wip", "mend", "more"]), "write part 1");
    assert_eq!(
        subject(&["feat: 로그인 추가", "fix: 오류를 고친다"]),
        "feat: Write part 1"
    );
}

#[test]
fn the_style_is_settled_at_the_approval_for_the_whole_run() {
    let environment = Environment::new().repo();
    environment.plan(&chain().replace(
        "Write part 1",
        "Make a and b yield tuples; say so, as `a(b)` does",
    ));
    environment.start(&[]);
    let commit =
        |subject| environment.git(&["commit", "--quiet", "--allow-empty", "--message", subject]);
    for _ in 0..5 {
        commit("feat: by somebody else");
    }
    environment.write("README.md", "changed\n");
    let explained = environment.fp(&["commit", "README.md"]).stdout;
    assert!(
        explained.starts_with("A subject is `type: what`"),
        "{explained}"
    );
    environment.git(&["checkout", "--", "README.md"]);
    environment.complete("a.txt");
    let path = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let before = environment.read(&path);
    environment.write(
        &path,
        before.replace("has a line about 2", "has one line about 2"),
    );
    environment.done(&["approve", PLAN, "--yes"]);
    environment.complete("b.txt");
    let subjects = environment.git(&["log", "-2", "--format=%B"]);
    assert_eq!(
        subjects,
        "Write part 2\n\nMake a and b yield tuples; say so, as `a(b)` does\n\n"
    );
}

#[test]
fn a_hook_that_rewrites_files_is_nobodys_change() {
    let environment = Environment::new().repo().shared();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
        leaf("3", "1", "c.txt"),
    ]));
    environment.start(&["--builders", "2"]);
    let [first, second] =
        ["builder-1", "builder-2"].map(|owner| environment.claim(owner).unwrap().1);
    environment.git_hook(
        "pre-commit",
        "echo formatted >>a.txt; date +%N >version; git add a.txt version",
    );
    environment.write("a.txt", "about 1\n");
    environment.done(&["submit", PLAN, "1", "--claim", &first]);
    assert!(environment.pass("1").stdout.contains("passed: commit"));
    assert_eq!(
        environment.git(&["show", "HEAD:a.txt"]),
        "about 1\nformatted\n"
    );
    fs::remove_file(environment.path(".git/hooks/pre-commit")).unwrap();
    environment.write("b.txt", "about 2\n");
    let submit = environment.done(&["submit", PLAN, "2", "--claim", &second]);
    assert!(
        submit.stdout.contains("1 file changed\n  b.txt\n"),
        "{submit}"
    );
    assert!(environment.pass("2").stdout.contains("passed: commit"));
    assert_eq!(environment.complete("c.txt"), "3");
    assert_eq!(environment.git(&["status", "--short"]), "");
}

/// A builder claims a task while the slow hook of another task's commit runs.
#[test]
fn a_hook_that_is_slow_holds_up_no_claim() {
    let environment = Environment::new().repo().shared();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
    ]));
    environment.start(&["--builders", "2"]);
    environment.git_hook(
        "pre-commit",
        "touch .git/begun\nfor i in $(seq 1200); do [ -e .git/claimed ] && exit; sleep 0.05; done",
    );
    environment.build("builder-1", "a.txt", "about 1\n");
    let mut verdict = environment.command(env!("CARGO_BIN_EXE_fp"));
    let mut verdict = verdict
        .args(["verdict", PLAN, "1", "--pass", "1: seen"])
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !environment.path(".git/begun").exists() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "the commit never began"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    let claimed = environment.claim("builder-2");
    assert!(
        verdict.try_wait().unwrap().is_none(),
        "the commit is still being made"
    );
    environment.write(".git/claimed", "");
    assert_eq!(claimed.unwrap().0, "2");
    assert!(verdict.wait().unwrap().success());
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
}

#[test]
fn whatever_is_in_progress_is_a_question_and_nothing_of_it_is_touched() {
    // Neither command changes a file, since the checks would count that against the task.
    for (command, name) in [
        (
            "git merge --quiet --no-ff --no-commit --strategy ours side",
            "a merge is in progress",
        ),
        ("git cherry-pick side", "a cherry-pick is in progress"),
    ] {
        let environment = started(&[]);
        environment.git(&["switch", "--quiet", "--create", "side"]);
        environment.git(&["commit", "--quiet", "--allow-empty", "--message", "Side"]);
        environment.git(&["switch", "--quiet", "main"]);
        environment.build("builder-1", "a.txt", "about 1\n");
        environment.run("sh", &["-c", command]);
        let before = environment.git(&["status", "--short"]);
        let verdict = environment.pass("1");
        assert!(
            verdict.stdout.contains("its commit is due") && verdict.stdout.contains(name),
            "{verdict}"
        );
        assert_eq!(environment.git(&["status", "--short"]), before);
        assert_eq!(environment.git(&["rev-list", "--count", "HEAD"]), "1\n");
    }
}

#[test]
fn signing_that_is_configured_and_not_available_is_a_question() {
    let environment = started(&[]);
    for (key, value) in [
        ("commit.gpgsign", "true"),
        ("gpg.program", "false"),
        ("user.signingkey", "0"),
    ] {
        environment.git(&["config", key, value]);
    }
    environment.build("builder-1", "a.txt", "about 1\n");
    let verdict = environment.pass("1");
    assert!(
        verdict
            .stdout
            .contains("its commit is due: git made no commit: "),
        "{verdict}"
    );
    assert_eq!(environment.git(&["status", "--short"]), "?? a.txt\n");
    environment.git(&["config", "commit.gpgsign", "false"]);
    environment.done(&["answer", PLAN, "q1", "--option", "Retry"]);
    environment.next(&[]);
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
}

/// The user has staged a part of the very file that the task changes.
#[test]
fn a_partly_staged_file_of_the_task_is_committed_as_it_is() {
    let environment = started(&[]);
    let (_, token) = environment.claim("builder-1").unwrap();
    environment.write("a.txt", "staged\n");
    environment.git(&["add", "a.txt"]);
    environment.write("a.txt", "staged\nand about 1\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    assert!(environment.pass("1").stdout.contains("passed: commit"));
    assert_eq!(
        environment.git(&["show", "HEAD:a.txt"]),
        "staged\nand about 1\n"
    );
    assert_eq!(environment.git(&["status", "--short"]), "");
}

#[test]
fn deleted_and_renamed_files() {
    let environment = Environment::new().repo();
    for file in ["a/old", "a/gone"] {
        environment.write(file, format!("{file}\nand more of it\n"));
    }
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Files"]);
    environment.plan(&tree(&[leaf("1", "none", "a/")]));
    environment.start(&[]);
    let (_, token) = environment.claim("builder-1").unwrap();
    fs::remove_file(environment.path("a/gone")).unwrap();
    fs::rename(environment.path("a/old"), environment.path("a/new")).unwrap();
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    assert!(environment.pass("1").stdout.contains("passed: commit"));
    let shown = environment.git(&["show", "--no-renames", "--format=", "--name-status", "HEAD"]);
    assert_eq!(shown, "D\ta/gone\nA\ta/new\nD\ta/old\n");
    assert_eq!(environment.git(&["status", "--short"]), "");
}

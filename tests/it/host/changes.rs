//! Complete changes in real repositories, from a builder's edits to the results of the checks.

use std::collections::HashSet;
use std::path::Path;

use super::repository::{Repo, paths};
use fp_host::git::{CommitOutcome, Git, Oid};
use fp_host::measure::{MeasuredChange, TaskFolder};
use fp_host::process::{Limits, run_commands};
use fp_plan::repo_path::RepoPath;
use fp_run::verification::{self, Check, CheckVerdict, OtherTask, TaskScope};

/// A task that has been claimed.
struct Claimed<'r> {
    repo: &'r Repo,
    base: Oid,
    head: Oid,
    scope: TaskScope,
    committed: HashSet<Oid>,
    seen: HashSet<RepoPath>,
}

fn claim<'r>(repo: &'r Repo, files: &[&str]) -> Claimed<'r> {
    let snapshot = repo.git.snapshot_tree().unwrap();
    Claimed {
        repo,
        base: snapshot.tree,
        head: snapshot.status.commit.unwrap(),
        scope: TaskScope {
            files: files.iter().map(|f| (*f).to_owned()).collect(),
            ..TaskScope::default()
        },
        committed: HashSet::new(),
        seen: HashSet::new(),
    }
}

impl Claimed<'_> {
    /// Adds another running task in the same working tree.
    fn beside(mut self, id: &str, files: &[&str]) -> Self {
        let files = files.iter().map(|f| (*f).to_owned()).collect();
        self.scope.others.push(OtherTask {
            id: id.to_owned(),
            files,
        });
        self
    }

    fn folder<'b>(&'b self, git: &'b Git) -> TaskFolder<'b> {
        TaskFolder {
            git,
            base: self.base.clone(),
            head: self.head.clone(),
            around: None,
            scope: self.scope.clone(),
            committed: self.committed.clone(),
            seen: self.seen.clone(),
        }
    }

    fn measure(&self) -> MeasuredChange {
        let mut measured = self.folder(&self.repo.git).measure().unwrap();
        measured.read(&self.repo.git).unwrap();
        measured
    }

    fn changed(&self) -> Vec<String> {
        self.measure()
            .facts
            .changes
            .iter()
            .map(|change| change.path.to_string())
            .collect()
    }

    fn checks(&self) -> Vec<Check> {
        let facts = self.measure().facts;
        let submitted = verification::check_submission(&self.scope, &facts);
        [
            submitted,
            verification::check_change(&self.scope, &facts, &[]),
        ]
        .concat()
    }

    /// Name and detail of every check that fails.
    fn failures(&self) -> Vec<String> {
        let failed = self
            .checks()
            .into_iter()
            .filter(|check| check.verdict == CheckVerdict::Fail);
        failed
            .map(|check| format!("{}: {}", check.name, check.detail))
            .collect()
    }
}

const TEST: &str = "#[test]\nfn works() {\n    assert!(true);\n}\n";

/// Claims a task with `files`, lets a builder do `work`, and compares the checks that fail.
#[track_caller]
fn check(files: &[&str], work: impl FnOnce(&Repo), expect: &[&str]) {
    let repo = Repo::with(&[
        ("src/a.rs", "fn a() {}\n"),
        ("src/b.rs", "fn b() {}\n"),
        ("tests/old.rs", TEST),
        ("Cargo.toml", "[package]\nname = \"x\"\n[dependencies]\n"),
        ("Cargo.lock", "[[package]]\nname = \"x\"\n"),
        (".gitignore", "/dist\n*.log\n"),
    ]);
    let task = claim(&repo, files);
    work(&repo);
    assert_eq!(task.failures(), expect);
}

#[test]
fn honest_work() {
    check(
        &["src/a.rs"],
        |r| r.write("src/a.rs", "fn a() -> u8 { 1 }\n"),
        &[],
    );
    check(
        &["./src/a.rs", "src/c.rs"],
        |r| {
            r.write("src/a.rs", "mod c;\n");
            r.write("src/c.rs", "fn c() {}\n");
            r.write("tests/c.rs", TEST);
            r.write("debug.log", "ignored");
        },
        &[],
    );
    check(&[], |_| {}, &[]);
    check(
        &["src/a.rs"],
        |r| {
            r.write("src/a.rs", "fn other() {}\n");
            r.write("tools/__pycache__/x.cpython-312.pyc", "1");
            r.write("target/CACHEDIR.TAG", "");
            r.write("target/debug/x", "1");
            r.write("web/package-lock.json", "{}");
        },
        &[],
    );
}

#[test]
fn ways_to_go_wrong() {
    let nothing = "changes: nothing differs from what was there when the task was claimed, but the task lists files";
    check(&["src/a.rs"], |_| {}, &[nothing]);
    check(
        &["src/a.rs"],
        |r| {
            r.write("src/a.rs", "fn other() {}\n");
            r.run("git", &["commit", "-qam", "x"]);
            r.run("git", &["revert", "--no-edit", "HEAD"]);
        },
        &[nothing],
    );
    check(
        &["src/a.rs", "dist/a.js"],
        |r| {
            r.write("src/a.rs", "fn other() {}\n");
            r.write("dist/a.js", "1");
        },
        &["boundary: dist/a.js is ignored by git and can't be committed"],
    );
    check(
        &["src/a.rs"],
        |r| drop(r.run("git", &["mv", "src/b.rs", "src/a.rs", "-f"])),
        &["boundary: src/b.rs was taken away, is not in the task's files"],
    );
    check(
        &["src/a.rs"],
        |r| {
            r.remove("src/a.rs");
            r.link("src/a.rs", "/etc/passwd");
        },
        &["boundary: src/a.rs is a symbolic link, which the task doesn't ask for"],
    );
    check(
        &["vendor"],
        |r| {
            r.run("git", &["init", "-q", "vendor"]);
            r.write("vendor/x", "1");
        },
        &["boundary: vendor is a repository of its own, which the task doesn't ask for"],
    );
    check(
        &["src/a.rs"],
        |r| {
            r.write("src/a.rs", "fn a() { todo!() }\n");
            r.write(
                "tests/old.rs",
                TEST.replace("#[test]", "#[test]\n#[ignore]"),
            );
        },
        &[
            "boundary: tests/old.rs was changed, is not in the task's files",
            "leftovers: src/a.rs:1: fn a() { todo!() }",
            "tests: tests/old.rs:2: switches tests off: #[ignore]",
        ],
    );
    check(
        &["src/a.rs", "tests"],
        |r| r.remove("tests/old.rs"),
        &["tests: tests/old.rs was deleted; tests/old.rs: test `works` was taken out"],
    );
    check(
        &["Cargo.toml", "src/a.rs"],
        |r| {
            r.write("src/a.rs", "use rand;\n");
            r.write(
                "Cargo.toml",
                "[package]\nname = \"x\"\n[dependencies]\nrand = \"1\"\n",
            );
            r.write(
                "Cargo.lock",
                "[[package]]\nname = \"x\"\n[[package]]\nname = \"rand\"\n",
            );
        },
        &[
            "dependencies: Cargo.toml gains `rand`; a task gets a dependency if it lists the manifest and asks for it",
        ],
    );
    check(
        &["src/a.rs", "Cargo.lock"],
        |r| {
            r.write(
                "Cargo.lock",
                "[[package]]\nname = \"x\"\n[[package]]\nname = \"rand\"\n",
            )
        },
        &[
            "dependencies: Cargo.lock gains `rand`, though no manifest changed; \
           a task gets a dependency if it lists the manifest and asks for it",
        ],
    );
}

#[test]
fn the_wrong_base() {
    let lost = "history: HEAD no longer contains the commit that the task began on: \
                a branch was switched, or history rewritten";
    check(
        &["src/a.rs"],
        |r| {
            r.run("git", &["switch", "-q", "--orphan", "other"]);
            r.run("git", &["checkout", "main", "--", "."]);
            r.write("src/a.rs", "fn other() {}\n");
            r.run("git", &["commit", "-qm", "x"]);
        },
        &[lost],
    );
    check(
        &["src/a.rs"],
        |r| {
            r.write("src/a.rs", "fn other() {}\n");
            r.run("git", &["commit", "-q", "--amend", "-am", "x"]);
        },
        &[lost],
    );
}

#[test]
fn what_a_builder_commits_itself_is_still_its_change() {
    let repo = Repo::with(&[("src/a.rs", "fn a() {}\n"), ("src/b.rs", "fn b() {}\n")]);
    let task = claim(&repo, &["src/a.rs"]);
    repo.write("src/b.rs", "fn other() {}\n");
    repo.run("git", &["commit", "-qam", "sneaky"]);
    assert_eq!(
        task.failures(),
        ["boundary: src/b.rs was changed, is not in the task's files"]
    );
    let history = task
        .checks()
        .into_iter()
        .find(|check| check.name == "history")
        .unwrap();
    assert_eq!(history.verdict, CheckVerdict::Note);
    assert!(history.detail.ends_with("\"sneaky\""), "{}", history.detail);
}

#[test]
fn what_was_there_before_the_claim_is_nobodys() {
    let repo = Repo::with(&[("src/a.rs", "fn a() {}\n")]);
    repo.write("src/a.rs", "fn mine() {} // TODO of the user\n");
    repo.write("notes.txt", "the user's");
    let task = claim(&repo, &["src/c.rs"]);
    repo.write("src/c.rs", "fn c() {}\n");
    assert_eq!(
        (task.changed(), task.failures()),
        (vec!["src/c.rs".to_owned()], vec![])
    );
}

#[test]
fn two_builders_in_one_working_tree() {
    let repo = Repo::with(&[("src/a.rs", "fn a() {}\n"), ("src/b.rs", "fn b() {}\n")]);
    let mut first = claim(&repo, &["src/a.rs"]).beside("2", &["src/b.rs"]);
    let second = claim(&repo, &["src/b.rs"]).beside("1", &["src/a.rs"]);
    repo.write("src/a.rs", "fn a() -> u8 { 1 }\n");
    repo.write("src/b.rs", "fn b() -> u8 { 1 }\n");
    assert_eq!(
        (first.changed(), first.failures()),
        (vec!["src/a.rs".to_owned()], vec![])
    );
    assert_eq!(
        (second.changed(), second.failures()),
        (vec!["src/b.rs".to_owned()], vec![])
    );

    // The second task passes and is committed; it is no longer running.
    let outcome = repo.git.commit(&paths(&["src/b.rs"]), "Second\n").unwrap();
    let CommitOutcome::Committed { hash } = outcome else {
        panic!("{outcome:?}")
    };
    first.scope.others.clear();
    first.committed.insert(hash);
    assert_eq!(
        (first.changed(), first.failures()),
        (vec!["src/a.rs".to_owned()], vec![])
    );
    assert!(first.checks().iter().all(|check| check.name != "history"));

    // Changes after the commit count again.
    repo.write("src/b.rs", "fn b() -> u8 { 2 }\n");
    assert_eq!(
        first.failures(),
        ["boundary: src/b.rs was changed, is not in the task's files"]
    );
}

#[test]
fn an_edit_that_was_seen_in_another_tasks_file() {
    let repo = Repo::with(&[("src/a.rs", "fn a() {}\n"), ("src/b.rs", "fn b() {}\n")]);
    let mut task = claim(&repo, &["src/a.rs"]).beside("2", &["src/b.rs"]);
    repo.write("src/a.rs", "fn a() -> u8 { 1 }\n");
    repo.write("src/b.rs", "fn b() -> u8 { 1 }\n");
    task.seen = paths(&["src/b.rs"]).into_iter().collect();
    assert_eq!(
        task.failures(),
        [
            "boundary: src/b.rs was changed, is not in the task's files and belongs to task 2, which is running"
        ]
    );
}

#[test]
fn a_file_that_one_deletes_and_another_adds_is_no_rename() {
    let text = "one\ntwo\nthree\nfour\n";
    let repo = Repo::with(&[("src/b.rs", text)]);
    let task = claim(&repo, &["src/a.rs"]).beside("2", &["src/b.rs"]);
    repo.remove("src/b.rs");
    repo.write("src/a.rs", format!("{text}// TODO five\n"));
    let measured = task.measure();
    assert_eq!(task.changed(), ["src/a.rs"]);
    assert_eq!(measured.facts.elsewhere.len(), 1);
    assert_eq!(
        measured.facts.lines[0].added.len(),
        5,
        "all its lines are new"
    );
    assert_eq!(task.failures(), ["leftovers: src/a.rs:5: // TODO five"]);
}

#[test]
fn names_that_are_no_text() {
    let repo = Repo::with(&[("src/a.rs", "")]);
    let task = claim(&repo, &["src"]);
    repo.write(super::repository::os(b"src/\xff_test.rs"), TEST);
    repo.write("src/a\nb.rs", "// TODO x\n");
    assert_eq!(
        task.changed(),
        ["\"src/a\\nb.rs\"", "\"src/\\377_test.rs\""]
    );
    assert_eq!(
        task.failures(),
        ["leftovers: \"src/a\\nb.rs\":1: // TODO x"]
    );
}

#[test]
fn what_is_too_large_is_told() {
    let repo = Repo::with(&[("src/a.rs", "")]);
    let task = claim(&repo, &["src"]);
    repo.write("src/a.rs", "x".repeat(9 * 1024 * 1024));
    let tests = task
        .checks()
        .into_iter()
        .find(|check| check.name == "tests")
        .unwrap();
    assert_eq!(
        (tests.verdict, tests.detail.as_str()),
        (CheckVerdict::Note, "src/a.rs is too large to be looked at")
    );
}

#[test]
fn processes_are_few() {
    let repo = Repo::with(&[("src/a.rs", "")]);
    let mut task = claim(&repo, &["src/a.rs"]);
    repo.write("src/a.rs", "fn a() {}\n");
    let trace = repo.beside("trace");
    let git = repo.git.clone().with_env("GIT_TRACE", &trace);
    let count = |task: &mut Claimed, expect: usize| {
        std::fs::write(&trace, "").unwrap();
        task.folder(&git).measure().unwrap();
        let commands = std::fs::read_to_string(&trace).unwrap();
        assert_eq!(
            commands.matches("trace: built-in:").count(),
            expect,
            "{commands}"
        );
    };
    count(&mut task, 4);
    repo.run("git", &["commit", "-qam", "x"]);
    count(&mut task, 5);
}

#[test]
fn commands_become_checks() {
    let limits = Limits {
        time: std::time::Duration::from_secs(1),
        ..Limits::default()
    };
    let runs = run_commands(
        ["echo fine", "echo broken; exit 2", "sleep 4020"],
        Path::new("/"),
        limits,
        None,
    );
    let checks = verification::check_change(
        &TaskScope::default(),
        &verification::ChangeFacts::default(),
        &runs,
    );
    let shown: Vec<(&str, CheckVerdict, bool)> = checks
        .iter()
        .filter(|check| check.name.starts_with("command: "))
        .map(|check| {
            (
                check.name.as_str(),
                check.verdict,
                check.detail.contains("broken"),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("command: echo fine", CheckVerdict::Pass, false),
            ("command: echo broken; exit 2", CheckVerdict::Fail, true),
            ("command: sleep 4020", CheckVerdict::Fail, false),
        ]
    );
    let missing = run_commands(["true"], Path::new("/nonexistent"), limits, None);
    let checks = verification::check_change(
        &TaskScope::default(),
        &verification::ChangeFacts::default(),
        &missing,
    );
    assert!(
        checks
            .last()
            .unwrap()
            .detail
            .starts_with("could not be started")
    );
}

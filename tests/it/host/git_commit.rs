//! Commits on real repositories: exactly the recorded files, and an unchanged index.

use super::repository::{Repo, hermetic, os, paths};
use fp_host::git::{Blocked, CommitOutcome, Operation};
use fp_plan::repo_path::RepoPath;

#[track_caller]
fn committed(repo: &Repo, files: &[&str]) -> String {
    match repo.git.commit(&paths(files), "Do it\n").unwrap() {
        CommitOutcome::Committed { hash } => {
            assert_eq!(hash.as_str(), repo.run("git", &["rev-parse", "HEAD"]));
            repo.run(
                "git",
                &[
                    "show",
                    "--no-renames",
                    "--format=%s",
                    "--name-status",
                    "HEAD",
                ],
            )
            .replace('\t', " ")
        }
        outcome => panic!("{outcome:?}"),
    }
}

#[track_caller]
fn blocked(repo: &Repo, files: &[&str]) -> Blocked {
    let before = (repo.short_status(), repo.run("git", &["for-each-ref"]));
    let outcome = repo.git.commit(&paths(files), "Do it\n").unwrap();
    assert_eq!(
        (repo.short_status(), repo.run("git", &["for-each-ref"])),
        before,
        "something was left behind"
    );
    match outcome {
        CommitOutcome::Blocked(blocked) => blocked,
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn additions_edits_deletions_renames_and_modes() {
    let repo = Repo::with(&[
        ("edit", "1"),
        ("gone", "1"),
        ("old", "same\n"),
        ("run", "1"),
        ("other", "1"),
    ]);
    repo.write("edit", "2");
    repo.remove("gone");
    repo.remove("old");
    repo.write("renamed", "same\n");
    repo.executable("run");
    repo.write("new/file", "1");
    repo.write("other", "not part of it");
    repo.write("untracked", "not part of it");
    let shown = committed(
        &repo,
        &["edit", "gone", "old", "renamed", "run", "new/file"],
    );
    assert_eq!(
        shown,
        "Do it\n\nM edit\nD gone\nA new/file\nD old\nA renamed\nM run"
    );
    assert_eq!(
        repo.short_status(),
        " M other\n?? untracked".trim_start_matches('\n')
    );
}

#[test]
fn what_the_user_staged_stays_staged_and_uncommitted() {
    let repo = Repo::with(&[("task", "1"), ("mine", "1"), ("deleted", "1")]);
    repo.write("mine", "staged");
    repo.write("mine-too", "staged");
    repo.run("git", &["add", "mine", "mine-too"]);
    repo.run("git", &["rm", "-q", "deleted"]);
    repo.write("mine", "staged, then edited");
    repo.write("task", "2");
    repo.write("task-new", "2");
    assert_eq!(
        committed(&repo, &["task", "task-new"]),
        "Do it\n\nM task\nA task-new"
    );
    assert_eq!(repo.short_status(), "D  deleted\nMM mine\nA  mine-too");
    assert_eq!(repo.run("git", &["show", ":mine"]), "staged");
}

#[test]
fn a_recorded_file_that_the_user_staged_is_committed_as_it_is_now() {
    let repo = Repo::with(&[("task", "1")]);
    repo.write("task", "2");
    repo.run("git", &["add", "task"]);
    repo.write("task", "3");
    committed(&repo, &["task"]);
    assert_eq!(repo.run("git", &["show", "HEAD:task"]), "3");
    assert_eq!(repo.short_status(), "");
}

#[test]
fn nothing_to_commit_is_no_error() {
    let repo = Repo::with(&[("a", "1"), ("b", "1")]);
    let nothing = |files: &[&str]| {
        let head = repo.run("git", &["rev-parse", "HEAD"]);
        assert_eq!(
            repo.git.commit(&paths(files), "x").unwrap(),
            CommitOutcome::NothingToCommit,
            "{files:?}"
        );
        assert_eq!(repo.run("git", &["rev-parse", "HEAD"]), head);
    };
    nothing(&[]);
    nothing(&["a"]);
    nothing(&["never-was"]);
    repo.write("b", "2");
    nothing(&["a"]);
    repo.write("a", "2");
    repo.run("git", &["add", "a"]);
    repo.write("a", "1");
    nothing(&["a"]);
}

#[test]
fn hostile_names_are_only_names() {
    let hostile: [&[u8]; 8] = [
        b"$(touch x)",
        b"a\nb",
        b"-rf",
        b":(glob)*",
        b"*",
        b"\xff.rs",
        b"\"q\"",
        b"#hash",
    ];
    let repo = Repo::with(&[("plain", "1")]);
    for name in hostile {
        repo.write(os(name), "new");
    }
    repo.write("bystander", "1");
    let files: Vec<RepoPath> = hostile
        .iter()
        .map(|name| RepoPath::from_bytes(*name))
        .collect();
    assert!(matches!(
        repo.git.commit(&files, "Do it").unwrap(),
        CommitOutcome::Committed { .. }
    ));
    assert_eq!(repo.short_status(), "?? bystander");
    assert_eq!(repo.committed().len(), hostile.len() + 1);
}

#[test]
fn a_failing_hook_blocks_and_leaves_the_index_as_it_was() {
    let repo = Repo::with(&[("a", "1"), ("staged", "1")]);
    repo.write("a", "2");
    repo.write("new", "1");
    repo.write("staged", "2");
    repo.run("git", &["add", "staged"]);
    repo.hook(
        "pre-commit",
        "echo to stdout; printf 'lint: a is \\033[31mwrong\\n' >&2; exit 1",
    );
    let Blocked::Failed(output) = blocked(&repo, &["a", "new"]) else {
        panic!()
    };
    assert_eq!(output, "to stdout\nlint: a is [31mwrong");
    repo.remove(".git/hooks/pre-commit");
    repo.hook("commit-msg", "exit 3");
    assert!(matches!(blocked(&repo, &["a", "new"]), Blocked::Failed(_)));
    repo.remove(".git/hooks/commit-msg");
    repo.hook("reference-transaction", "test $1 != prepared");
    assert!(matches!(blocked(&repo, &["a", "new"]), Blocked::Failed(_)));
    repo.remove(".git/hooks/reference-transaction");
    assert_eq!(committed(&repo, &["a", "new"]), "Do it\n\nM a\nA new");
    assert_eq!(repo.short_status(), "M  staged");
}

#[test]
fn a_failed_commit_gives_a_replaced_file_back_to_the_index() {
    let repo = Repo::with(&[("a", "1"), ("b", "1")]);
    repo.remove("a");
    repo.write("a/inner", "1");
    repo.hook("pre-commit", "exit 1");
    blocked(&repo, &["a", "a/inner"]);
    repo.remove(".git/hooks/pre-commit");
    assert_eq!(
        committed(&repo, &["a", "a/inner"]),
        "Do it\n\nD a\nA a/inner"
    );
    repo.remove("a/inner");
    std::fs::remove_dir(repo.path("a")).unwrap();
    repo.write("a", "a file again");
    assert_eq!(
        committed(&repo, &["a", "a/inner"]),
        "Do it\n\nA a\nD a/inner"
    );
    assert_eq!(repo.short_status(), "");
}

#[test]
fn a_hook_that_rewrites_files_has_its_way_and_nothing_is_left_staged() {
    let repo = Repo::with(&[("a", "1\n"), ("staged", "1\n"), ("version", "1\n")]);
    repo.write("a", "2\n");
    repo.write("staged", "2\n");
    repo.run("git", &["add", "staged"]);
    repo.hook(
        "pre-commit",
        "echo formatted >>a; echo 2 >version; git add a version",
    );
    assert_eq!(committed(&repo, &["a"]), "Do it\n\nM a\nM version");
    assert_eq!(repo.run("git", &["show", "HEAD:a"]), "2\nformatted");
    assert_eq!(repo.short_status(), "M  staged");
}

#[test]
fn a_hook_that_rewrites_files_of_the_first_commit() {
    let repo = Repo::unborn();
    repo.write("a", "1\n");
    repo.hook("pre-commit", "echo formatted >>a; git add a");
    committed(&repo, &["a"]);
    assert_eq!(repo.run("git", &["show", "HEAD:a"]), "1\nformatted");
    assert_eq!(repo.short_status(), "");
}

#[test]
fn hooks_find_the_environment_that_they_expect() {
    let repo = Repo::with(&[("a.txt", "1")]);
    repo.write("a.txt", "2");
    repo.write("b.txt", "2");
    repo.hook(
        "pre-commit",
        "git diff --cached --name-only -- '*.txt' >.git/seen; env >.git/env",
    );
    committed(&repo, &["a.txt", "b.txt"]);
    assert_eq!(repo.read(".git/seen"), "a.txt\nb.txt\n");
    let env = repo.read(".git/env");
    assert!(env.contains("GIT_TERMINAL_PROMPT=0"));
    assert!(
        !env.contains("GIT_LITERAL_PATHSPECS") && !env.contains("GIT_OPTIONAL_LOCKS"),
        "{env}"
    );
}

#[test]
fn what_is_in_progress_blocks() {
    let check = |command: &str, expect: Operation| {
        let repo = Repo::with(&[("a", "1\n"), ("b", "1\n")]);
        let setup = "git switch -q -c side; echo 2 >a; git commit -qam side; git switch -q main; \
                     echo 3 >a; git commit -qam main;";
        repo.run(
            "sh",
            &["-c", &format!("{setup} {command} >/dev/null 2>&1 || true")],
        );
        repo.write("b", "2\n");
        assert_eq!(blocked(&repo, &["b"]), Blocked::InProgress(expect));
    };
    check("git merge side", Operation::Merge);
    check("git rebase side", Operation::Rebase);
    check("git cherry-pick side", Operation::CherryPick);
}

#[test]
fn a_lock_that_stays_and_one_that_goes() {
    let repo = Repo::with(&[("a", "1")]);
    repo.write("a", "2");
    for name in ["HEAD", "refs/heads/main", "packed-refs", "config", "index"] {
        let lock = format!("{name}.lock");
        repo.write(format!(".git/{lock}"), "");
        assert_eq!(blocked(&repo, &["a"]), Blocked::Locked(lock.clone()));
        if name != "index" {
            std::fs::remove_file(repo.path(format!(".git/{lock}"))).unwrap();
        }
    }
    let lock = repo.path(".git/index.lock");
    let other = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(150));
        std::fs::remove_file(lock).unwrap();
    });
    committed(&repo, &["a"]);
    other.join().unwrap();
}

#[test]
fn signing_that_is_not_available() {
    for format in ["openpgp", "ssh"] {
        let repo = Repo::with(&[("a", "1")]);
        repo.run("git", &["config", "commit.gpgsign", "true"]);
        repo.run("git", &["config", "gpg.format", format]);
        repo.run("git", &["config", "gpg.program", "false"]);
        repo.run("git", &["config", "gpg.ssh.program", "false"]);
        repo.run(
            "git",
            &["config", "user.signingkey", "/nonexistent/key.pub"],
        );
        repo.write("a", "2");
        repo.write("new", "2");
        let reason = blocked(&repo, &["a", "new"]);
        assert!(matches!(reason, Blocked::Failed(_)), "{format}: {reason:?}");
    }
}

#[test]
fn nobody_to_commit_as() {
    let repo = Repo::with(&[("a", "1")]);
    repo.write("a", "2");
    repo.run("git", &["config", "user.useConfigOnly", "true"]);
    let mut git = repo.git.clone();
    for name in [
        "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_COMMITTER_EMAIL",
        "EMAIL",
    ] {
        git = git.with_env(name, "");
    }
    let outcome = git.commit(&paths(&["a"]), "x").unwrap();
    assert!(matches!(
        outcome,
        CommitOutcome::Blocked(Blocked::Failed(_))
    ));
}

#[test]
fn before_the_first_commit_and_on_a_detached_head() {
    let repo = Repo::unborn();
    repo.write("a", "1");
    repo.write("b", "1");
    repo.run("git", &["add", "b"]);
    repo.hook("pre-commit", "exit 1");
    blocked(&repo, &["a"]);
    repo.remove(".git/hooks/pre-commit");
    assert_eq!(committed(&repo, &["a"]), "Do it\n\nA a");
    assert_eq!(repo.short_status(), "A  b");
    repo.run("git", &["switch", "-q", "--detach"]);
    repo.write("a", "2");
    assert_eq!(committed(&repo, &["a"]), "Do it\n\nM a");
}

#[test]
fn a_sha_256_repository() {
    let repo = Repo::unborn();
    std::fs::remove_dir_all(repo.path(".git")).unwrap();
    repo.run(
        "git",
        &["init", "-q", "-b", "main", "--object-format=sha256"],
    );
    repo.write("a", "1");
    repo.write("gone", "1");
    assert_eq!(committed(&repo, &["a", "gone"]), "Do it\n\nA a\nA gone");
    let base = repo.tree();
    repo.remove("gone");
    repo.write("a", "2");
    repo.run("git", &["init", "-q", "--object-format=sha256", "nested"]);
    let paths: Vec<String> = repo
        .git
        .diff(&base, &repo.tree())
        .unwrap()
        .iter()
        .map(|change| change.path.to_string())
        .collect();
    assert_eq!(paths, ["a", "gone", "nested"]);
    assert_eq!(committed(&repo, &["a", "gone"]), "Do it\n\nM a\nD gone");
}

#[test]
fn a_message_arrives_as_it_is() {
    let repo = Repo::with(&[("a", "1")]);
    let check = |message: &str| {
        repo.write("a", message);
        assert!(matches!(
            repo.git.commit(&paths(&["a"]), message).unwrap(),
            CommitOutcome::Committed { .. }
        ));
        assert_eq!(
            repo.run("git", &["log", "-1", "--format=%B"]),
            message.trim_end()
        );
    };
    check("인사 명령 추가");
    check("`touch x` $(touch y)\n\n--amend\n");
    repo.run("git", &["config", "commit.cleanup", "strip"]);
    check("Fix\n\n# a line that looks like a comment\n");
}

#[test]
fn in_a_linked_worktree_and_from_a_folder_below() {
    let repo = Repo::with(&[("a", "1"), ("sub/b", "1")]);
    let linked = repo.beside("linked");
    repo.run(
        "git",
        &[
            "worktree",
            "add",
            "-q",
            "-b",
            "other",
            linked.to_str().unwrap(),
        ],
    );
    std::fs::write(linked.join("a"), "2").unwrap();
    std::fs::write(linked.join("sub/new"), "2").unwrap();
    let git = hermetic(&linked.join("sub"));
    let outcome = git.commit(&paths(&["a", "sub/new"]), "x").unwrap();
    let CommitOutcome::Committed { hash } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(repo.run("git", &["rev-parse", "other"]), hash.as_str());
    assert_eq!(repo.short_status(), "");
}

//! Hooks, operations in progress, signing, worktrees and submodules.

use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::commit::with;
use crate::common::Environment;

/// `a` has changes to commit, `staged` has staged ones.
fn changed() -> Environment {
    let environment = with(&["a", "staged"]);
    environment.write("staged", "two\n");
    environment.git(&["add", "staged"]);
    environment.write("a", "two\n");
    environment
}

#[test]
fn a_hook_that_fails() {
    let environment = changed();
    environment.write("new", "one\n");
    environment.git_hook(
        "pre-commit",
        "echo 'no trailing blanks, please' >&2; exit 1",
    );
    assert_snapshot!(environment.refused_commit(&["a", "new"]), @r"
    error: nothing is committed: git made no commit: no trailing blanks, please
    hint: settle that, then run the same command again
    ");
    environment.refused_commit(&[]);
    std::fs::remove_file(environment.path(".git/hooks/pre-commit")).unwrap();
    environment.git_hook("commit-msg", "echo 'no ticket' >&2; exit 3");
    assert!(environment.refused_commit(&["a"]).contains("no ticket"));
    assert!(environment.refused_commit(&[]).contains("no ticket"));
}

#[test]
fn a_hook_that_rewrites_files() {
    let environment = changed();
    environment.write("version", "1\n");
    environment.git_hook(
        "pre-commit",
        "echo formatted >>a; echo 2 >version; git add a version",
    );
    assert_snapshot!(environment.committed(&["a"]), @r"
    exit status: 0
    --- stdout
    Committed [COMMIT]: Do it
      a
      version  (by a hook)
    Still staged: staged
    ");
    assert_eq!(environment.git(&["show", "HEAD:a"]), "two\nformatted\n");
    assert_eq!(environment.git_status(), "M  staged\n");
}

#[test]
fn a_hook_that_rewrites_what_is_staged() {
    let environment = changed();
    environment.git_hook("pre-commit", "echo formatted >>staged; git add staged");
    environment.committed(&[]);
    assert_eq!(
        environment.git(&["show", "HEAD:staged"]),
        "two\nformatted\n"
    );
    assert_eq!(environment.git_status(), " M a\n");
}

#[test]
fn a_hook_that_rewrites_the_message() {
    let environment = changed();
    environment.git_hook("commit-msg", "echo 'Ticket-1: reworded' > $1");
    assert!(
        environment
            .committed(&["a"])
            .stdout
            .contains(": Ticket-1: reworded\n")
    );
}

#[test]
fn a_hook_that_is_slow_is_waited_for() {
    let environment = changed();
    environment.git_hook("pre-commit", "sleep 2");
    let start = Instant::now();
    environment.committed(&["a"]);
    assert!(start.elapsed() >= Duration::from_secs(2));
    assert_eq!(
        (
            environment.last().as_str(),
            environment.git_status().as_str()
        ),
        ("M a\n", "M  staged\n")
    );
}

#[test]
fn hooks_find_exactly_the_files_of_the_commit() {
    let environment = changed();
    environment.git_hook("pre-commit", "git diff --cached --name-only >.git/seen");
    environment.committed(&["a"]);
    assert_eq!(environment.read(".git/seen"), "a\n");
}

#[test]
fn what_is_in_progress() {
    let check = |command: &str, name: &str| {
        let environment = with(&["a", "b"]);
        let setup = "git switch -q -c side; echo side >a; git commit -qam 'Change it on the side'; \
                     git switch -q main; echo main >a; git commit -qam 'Change it on the main branch'";
        let script = format!("{setup}; {command} >/dev/null 2>&1 || true");
        assert_eq!(environment.run("sh", &["-c", &script]).code, 0);
        environment.write("b", "two\n");
        let said = environment.refused_commit(&["b"]);
        assert!(
            said.starts_with(&format!(
                "error: nothing is committed: a {name} is in progress; "
            )),
            "{said}"
        );
        environment.write("a", "settled\n");
        environment.git(&["add", "a"]);
        let said = environment.refused_commit(&[]);
        assert!(said.contains("--abort`") && said.contains(name), "{said}");
        assert_eq!(
            environment.commit(&["b"]).code,
            1,
            "nor is it said how to write a message"
        );
    };
    check("git merge side", "merge");
    check("git rebase side", "rebase");
    check("git cherry-pick side", "cherry-pick");
    check("git revert --no-edit HEAD~1", "revert");
}

#[test]
fn files_in_conflict_without_an_operation() {
    let environment = with(&["a", "b"]);
    environment.write("a", "stashed\n");
    environment.git(&["stash", "--quiet"]);
    environment.write("a", "committed\n");
    environment.git(&[
        "commit",
        "--quiet",
        "--all",
        "--message",
        "Change it otherwise",
    ]);
    assert_eq!(environment.run("git", &["stash", "pop"]).code, 1);
    environment.write("b", "two\n");
    assert_snapshot!(environment.refused_commit(&["b"]), @r"error: nothing is committed: files are in conflict: a; settle them and `git add` them");
}

#[test]
fn an_index_that_is_locked() {
    let environment = changed();
    environment.write(".git/index.lock", "");
    let output = environment.commit(&["a", "--message", "Do it"]);
    std::fs::remove_file(environment.path(".git/index.lock")).unwrap();
    assert_snapshot!(output, @r"
    exit status: 1
    --- stderr
    error: nothing is committed: git is locked: another git process is at work, or one that died left `index.lock` behind
    hint: wait for the other git; if none is running, remove `.git/index.lock`
    ");
    environment.committed(&["a"]);
}

#[test]
fn signing_that_is_configured_and_not_available() {
    let environment = changed();
    for (key, value) in [
        ("commit.gpgsign", "true"),
        ("gpg.program", "false"),
        ("user.signingkey", "0000"),
    ] {
        environment.git(&["config", key, value]);
    }
    let said = environment.refused_commit(&["a"]);
    assert!(
        said.starts_with("error: nothing is committed: git made no commit: "),
        "{said}"
    );
    environment.refused_commit(&[]);
}

#[test]
fn nobody_to_commit_as() {
    let environment = [
        "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_COMMITTER_EMAIL",
    ]
    .into_iter()
    .fold(changed(), |environment, name| environment.env(name, ""));
    environment.git(&["config", "user.useConfigOnly", "true"]);
    assert_snapshot!(environment.refused_commit(&["a"]), @r"
    error: nothing is committed: git made no commit: fatal: empty ident name (for <>) not allowed
    hint: settle that, then run the same command again
    ");
}

#[test]
fn in_a_linked_worktree() {
    let environment = changed();
    environment.git(&["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    environment.write("../linked/a", "linked\n");
    environment.write("../linked/sub/new", "linked\n");
    let output = environment.fp_in("../linked/sub", &["commit", "-m", "Do it", "../a", "new"]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(
        environment.git(&["show", "--name-only", "--format=%s", "side"]),
        "Do it\n\na\nsub/new\n"
    );
    assert_eq!(
        environment.git(&["-C", "../linked", "status", "--short"]),
        ""
    );
    assert_eq!(
        environment.git_status(),
        " M a\nM  staged\n",
        "the main worktree is as it was"
    );
}

#[test]
fn on_a_detached_head() {
    let environment = changed();
    environment.git(&["switch", "--quiet", "--detach"]);
    environment.committed(&["a"]);
    assert_eq!(environment.last(), "M a\n");
}

#[test]
fn submodules() {
    let environment = with(&["a"]);
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
    let allow = ["-c", "protocol.file.allow=always"];
    environment.git(&[&allow[..], &["submodule", "--quiet", "add", part, "part"]].concat());
    environment.committed(&[]);
    assert_eq!(environment.last(), "A .gitmodules\nA part\n");
    assert!(
        environment
            .refused_commit(&["part"])
            .contains("it has not changed")
    );
    environment.write("part/inside", "one\n");
    environment.refused_commit(&["part"]);
    assert!(
        environment
            .refused_commit(&["part/inside"])
            .contains("no such file")
            || !environment.git_status().is_empty()
    );
    environment.git(&["-C", "part", "add", "inside"]);
    environment.git(&["-C", "part", "commit", "--quiet", "--message", "Two"]);
    environment.write("a", "two\n");
    environment.committed(&["part"]);
    assert_eq!(
        (
            environment.last().as_str(),
            environment.git_status().as_str()
        ),
        ("M part\n", " M a\n")
    );
}

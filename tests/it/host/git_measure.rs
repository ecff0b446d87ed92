//! HEAD, status, snapshots and diffs in real repositories.

use super::repository::{Repo, hermetic, os, run};
use fp_host::error::HostErrorKind;
use fp_host::git::{EntryState, Git, Operation};
use fp_plan::hint::Hint as _;
use fp_plan::repo_path::RepoPath;

/// The changes since `base`, each as a word and a path, such as `Renamed(a) b`.
fn since(repo: &Repo, base: &fp_host::git::Oid) -> Vec<String> {
    use fp_run::verification::change::{Change, ChangeStatus, FileKind};
    let shown = |Change { path, status, kind }: Change| {
        let status = match status {
            ChangeStatus::Renamed { from } => format!("Renamed({from})"),
            status => format!("{status:?}"),
        };
        match kind {
            FileKind::File => format!("{status} {path}"),
            kind => format!("{status} {path} {kind:?}"),
        }
    };
    repo.git
        .diff(base, &repo.tree())
        .unwrap()
        .into_iter()
        .map(shown)
        .collect()
}

/// Runs `edit` on a repository with `files` and compares its changes; the user's index must stay unchanged.
#[track_caller]
fn check(files: &[(&str, &str)], edit: impl FnOnce(&Repo), expect: &[&str]) {
    let repo = Repo::with(files);
    let base = repo.tree();
    edit(&repo);
    let index = std::fs::read(repo.path(".git/index")).unwrap();
    assert_eq!(since(&repo, &base), expect);
    assert_eq!(
        std::fs::read(repo.path(".git/index")).unwrap(),
        index,
        "the index was written"
    );
}

#[test]
fn what_a_folder_is() {
    let repo = Repo::with(&[("sub/a", "")]);
    assert_eq!(Git::open(&repo.path("sub")).unwrap().worktree(), repo.top());
    let outside = repo.beside("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    for folder in [outside, repo.beside("missing")] {
        let error = Git::open(&folder).unwrap_err().to_string();
        let said = format!("{} is not in a git working tree", folder.display());
        assert_eq!(error, said);
    }

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
    let linked = Git::open(&linked.join("sub")).unwrap();
    assert_eq!(
        linked.common_dir(),
        repo.path(".git").canonicalize().unwrap()
    );
    assert_eq!(linked.git_dir(), repo.path(".git/worktrees/linked"));
}

#[test]
fn a_program_that_is_not_there() {
    let repo = Repo::with(&[]);
    let git = Git::open(repo.top())
        .unwrap()
        .with_env("PATH", "/nonexistent");
    let error = git.head().unwrap_err().to_string();
    assert_eq!(error, "git was not found on PATH");
}

#[test]
fn heads() {
    let repo = Repo::unborn();
    assert_eq!(repo.git.head().unwrap_err().kind, HostErrorKind::NoCommit);
    let status = repo.git.status().unwrap();
    assert_eq!(
        (status.branch.as_deref(), status.commit.clone()),
        (Some("main"), None)
    );
    assert_eq!(status.head().unwrap_err().kind, HostErrorKind::NoCommit);

    let repo = Repo::with(&[("a", "")]);
    let head = repo.git.head().unwrap();
    assert_eq!(head.as_str(), repo.run("git", &["rev-parse", "HEAD"]));
    assert_eq!(repo.git.status().unwrap().head().unwrap(), &head);

    repo.run("git", &["switch", "-q", "-c", "feature/x"]);
    let status = repo.git.status().unwrap();
    assert_eq!(status.branch.as_deref(), Some("feature/x"));
    assert!(repo.git.expect_branch(&status).is_ok());
    repo.run("git", &["switch", "-q", "--detach"]);
    let status = repo.git.status().unwrap();
    assert_eq!((&status.branch, status.head().unwrap()), (&None, &head));
    let error = repo.git.expect_branch(&status).unwrap_err().to_string();
    assert!(error.starts_with("HEAD is detached"), "{error}");
}

/// Reading HEAD from git's files gives the same hash as running git, or none.
#[test]
fn heads_in_files() {
    assert_eq!(Repo::unborn().git.head_in_files(), None);
    let repo = Repo::with(&[("a", "")]);
    let said = |repo: &Repo| Some(repo.git.head().unwrap().to_string());
    assert_eq!(repo.git.head_in_files(), said(&repo));
    repo.run("git", &["switch", "-q", "-c", "feature/x"]);
    repo.run("git", &["commit", "-q", "--allow-empty", "-m", "More"]);
    assert_eq!(repo.git.head_in_files(), said(&repo));
    repo.run("git", &["pack-refs", "--all"]);
    assert_eq!(
        repo.git.head_in_files(),
        None,
        "a packed branch is left to git"
    );
    repo.run("git", &["switch", "-q", "--detach"]);
    assert_eq!(repo.git.head_in_files(), said(&repo));
    repo.write(".git/HEAD", "ref: ../../outside\n");
    assert_eq!(repo.git.head_in_files(), None);
}

#[test]
fn what_is_in_progress() {
    let check = |commands: &str, expect: Option<Operation>| {
        let repo = Repo::with(&[("a", "1\n")]);
        let setup = "git switch -q -c side; echo 2 >a; git commit -qam side; git switch -q main; \
                     echo 3 >a; git commit -qam main;";
        repo.run(
            "sh",
            &["-c", &format!("{setup} {commands} >/dev/null 2>&1 || true")],
        );
        assert_eq!(repo.git.operation(), expect, "{commands}");
    };
    check("true", None);
    check("git merge side", Some(Operation::Merge));
    check("git rebase side", Some(Operation::Rebase));
    check("git cherry-pick side", Some(Operation::CherryPick));
    check("git revert --no-edit HEAD~1", Some(Operation::Revert));
    check("git bisect start", Some(Operation::Bisect));
    check(
        "git format-patch -q side~1..side; git am 0001*",
        Some(Operation::Am),
    );
}

#[test]
fn edits_of_every_kind() {
    check(&[("a", "1"), ("b", "1")], |_| {}, &[]);
    check(&[("a", "1")], |r| r.write("a", "2"), &["Modified a"]);
    check(&[("a", "1")], |r| r.write("new/x", "2"), &["Added new/x"]);
    check(&[("a", "1")], |r| r.remove("a"), &["Deleted a"]);
    check(&[("a", "1")], |r| r.executable("a"), &["ModeChanged a"]);
    let text = "one\ntwo\nthree\nfour\nfive\n";
    check(
        &[("a", text)],
        |r| {
            r.remove("a");
            r.write("b", format!("{text}six\n"));
        },
        &["Renamed(a) b"],
    );
    check(
        &[("a", "1")],
        |r| r.link("s", "/etc/passwd"),
        &["Added s Symlink"],
    );
    check(
        &[("a", "1")],
        |r| {
            r.remove("a");
            r.link("a", "b");
        },
        &["TypeChanged a Symlink"],
    );
}

#[test]
fn what_the_user_staged_committed_or_took_back_makes_no_difference() {
    check(
        &[("a", "1"), ("b", "1")],
        |r| {
            r.write("a", "2");
            r.write("c", "3");
            r.run("git", &["add", "a", "c"]);
        },
        &["Modified a", "Added c"],
    );
    check(
        &[("a", "1")],
        |r| {
            r.write("a", "2");
            r.run("git", &["add", "a"]);
            r.write("a", "1");
        },
        &[],
    );
    check(
        &[("a", "1")],
        |r| {
            r.write("a", "2");
            r.run("git", &["commit", "-qam", "by somebody"]);
        },
        &["Modified a"],
    );
    check(
        &[("a", "1")],
        |r| {
            r.write("a", "2");
            r.run("git", &["commit", "-qam", "x"]);
            r.run("git", &["revert", "--no-edit", "HEAD"]);
        },
        &[],
    );
    check(
        &[("a", "1")],
        |r| drop(r.run("git", &["rm", "-q", "--cached", "a"])),
        &[],
    );
}

#[test]
fn a_file_takes_the_place_of_a_folder_and_a_folder_that_of_a_file() {
    check(
        &[("a", "1\n2\n3\n")],
        |r| {
            r.remove("a");
            r.write("a/b", "other");
        },
        &["Deleted a", "Added a/b"],
    );
    check(
        &[("a/b", "1\n2\n3\n")],
        |r| {
            r.remove("a/b");
            std::fs::remove_dir(r.path("a")).unwrap();
            r.write("a", "other");
        },
        &["Added a", "Deleted a/b"],
    );
    check(
        &[("a/b", "1\n2\n3\n"), ("z/b", "9")],
        |r| {
            r.remove("a/b");
            std::fs::remove_dir(r.path("a")).unwrap();
            r.link("a", "z");
        },
        &["Added a Symlink", "Deleted a/b"],
    );
}

#[test]
fn ignored_files_and_the_plans_folder_are_left_out() {
    check(
        &[(".gitignore", "*.log\nbuild/\n")],
        |r| {
            r.write("x.log", "1");
            r.write("build/out", "1");
            r.write(".fractal-planner/plans/p/tasks.md", "1");
            r.write(".fractal-planner/config.json", "{}");
        },
        &["Added .fractal-planner/config.json"],
    );
}

#[test]
fn what_git_ignores() {
    let repo = Repo::with(&[(".gitignore", "*.log\nbuild/\n"), ("plain", "")]);
    repo.write("tracked.log", "");
    repo.run("git", &["add", "-f", "tracked.log"]);
    let files = [
        "plain",
        "x.log",
        "tracked.log",
        "build/out",
        "new",
        ":(glob)*.log",
        "./y.log",
    ];
    let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
    let ignored = repo.git.ignored(&files.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(ignored, ["x.log", "build/out", ":(glob)*.log", "./y.log"]);
    assert_eq!(repo.git.ignored(&[&files[0]]).unwrap(), [""; 0]);
}

#[test]
fn the_plans_folder_may_be_elsewhere() {
    let repo = Repo::with(&[]);
    repo.write("docs/plans/p/tasks.md", "1");
    let git = Git::open_with(repo.top(), "docs/plans").unwrap();
    assert_eq!(git.snapshot_tree().unwrap().status.entries, []);
    assert_eq!(repo.git.snapshot_tree().unwrap().status.entries.len(), 1);
}

#[test]
fn hostile_names() {
    let hostile: [&[u8]; 10] = [
        b"$(touch x)",
        b"a\nb",
        b"-rf",
        b"--output=y",
        b":(glob)*",
        b"*",
        b"\xff\xfe.rs",
        b"\"quoted\"",
        b" blank ",
        "한글".as_bytes(),
    ];
    let repo = Repo::with(&[("plain", "1")]);
    let base = repo.tree();
    for name in hostile {
        repo.write(os(name), "new\n");
    }
    let tree = repo.tree();
    let changes = repo.git.diff(&base, &tree).unwrap();
    let mut expect: Vec<RepoPath> = hostile
        .iter()
        .map(|name| RepoPath::from_bytes(*name))
        .collect();
    expect.sort();
    assert_eq!(
        changes.iter().map(|c| c.path.clone()).collect::<Vec<_>>(),
        expect
    );

    let only: Vec<_> = changes
        .iter()
        .filter(|c| c.path.as_bytes() != b"-rf")
        .collect();
    let lines = repo.git.changed_lines(&base, &tree, &only).unwrap();
    assert_eq!(lines.len(), hostile.len() - 1);
    assert!(
        lines
            .iter()
            .all(|f| f.path.as_bytes() != b"-rf" && f.added[0].text == "new")
    );
    assert_eq!(
        std::fs::read_dir(repo.top()).unwrap().count(),
        hostile.len() + 2,
        "nothing else was made"
    );
}

#[test]
fn submodules_and_nested_repositories() {
    let repo = Repo::with(&[("a", "1")]);
    let library = repo.beside("library");
    std::fs::create_dir(&library).unwrap();
    run(&library, "git", &["init", "-q", "-b", "main"]);
    run(
        &library,
        "git",
        &["commit", "-q", "--allow-empty", "-m", "x"],
    );
    let base = repo.tree();
    let url = library.to_str().unwrap();
    repo.run(
        "git",
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            url,
            "sub",
        ],
    );
    assert_eq!(
        since(&repo, &base),
        ["Added .gitmodules", "Added sub Submodule"]
    );
    repo.run("git", &["commit", "-qam", "sub"]);

    let base = repo.tree();
    repo.write("sub/inside", "1");
    assert_eq!(since(&repo, &base), ["Modified sub Submodule"]);
    let dirty = repo.tree();
    repo.write("sub/inside", "2");
    assert_eq!(since(&repo, &dirty), [""; 0]);
    run(&repo.path("sub"), "git", &["add", "inside"]);
    run(&repo.path("sub"), "git", &["commit", "-qm", "inside"]);
    assert_eq!(since(&repo, &base), ["Modified sub Submodule"]);

    repo.run("git", &["init", "-q", "nested"]);
    repo.write("nested/x", "1");
    assert_eq!(
        since(&repo, &base),
        ["Added nested Submodule", "Modified sub Submodule"]
    );
    let states =
        |status: fp_host::git::WorkingTreeStatus| status.entries.into_iter().map(|e| e.state);
    assert!(states(repo.git.status().unwrap()).any(|state| state == EntryState::NestedRepository));
}

#[test]
fn before_the_first_commit() {
    let repo = Repo::unborn();
    let base = repo.tree();
    repo.write("a", "1");
    repo.write("b", "1");
    repo.run("git", &["add", "a"]);
    assert_eq!(since(&repo, &base), ["Added a", "Added b"]);
    assert_eq!(repo.git.recent_subjects(30).unwrap(), [""; 0]);
}

#[test]
fn a_conflict_is_what_the_working_tree_holds() {
    let repo = Repo::with(&[("a", "1\n")]);
    let base = repo.tree();
    repo.run(
        "sh",
        &[
            "-c",
            "git switch -qc s; echo 2 >a; git commit -qam s; git switch -q main",
        ],
    );
    repo.run(
        "sh",
        &[
            "-c",
            "echo 3 >a; git commit -qam m; git merge s >/dev/null || true",
        ],
    );
    assert!(
        repo.git
            .status()
            .unwrap()
            .entries
            .iter()
            .any(|e| e.state == EntryState::Unmerged)
    );
    assert_eq!(since(&repo, &base), ["Modified a"]);
}

#[test]
fn an_edit_of_the_same_size_at_the_time_of_the_index_is_seen() {
    let repo = Repo::with(&[("a", "1")]);
    repo.run("git", &["config", "core.trustctime", "false"]);
    let time = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let set_time = |path: &str| {
        std::fs::File::options()
            .write(true)
            .open(repo.path(path))
            .unwrap()
            .set_modified(time)
            .unwrap();
    };
    set_time("a");
    repo.run("git", &["update-index", "--refresh"]);
    set_time(".git/index");
    let base = repo.tree();
    repo.write("a", "2");
    set_time("a");
    assert_eq!(since(&repo, &base), ["Modified a"]);
}

#[test]
fn lines_are_those_of_the_change() {
    let repo = Repo::with(&[
        ("a", "one\ntwo\nthree\n"),
        ("gone", "x\n"),
        ("moved", "1\n2\n3\n4\n5\n"),
    ]);
    let base = repo.tree();
    repo.write("a", "one\nTWO\nthree\nfour");
    repo.remove("gone");
    repo.remove("moved");
    repo.write("there", "1\n2\n3\n4\n5\n6\n");
    repo.write("binary", b"\0\x01new\n");
    let tree = repo.tree();
    let changes = repo.git.diff(&base, &tree).unwrap();
    let lines = repo
        .git
        .changed_lines(&base, &tree, &changes.iter().collect::<Vec<_>>())
        .unwrap();
    let shown: Vec<String> = lines
        .iter()
        .map(|f| {
            let side = |lines: &[fp_run::verification::change::ChangedLine]| {
                lines
                    .iter()
                    .map(|l| format!("{}:{}", l.number, l.text))
                    .collect::<Vec<_>>()
                    .join(",")
            };
            format!("{} -[{}] +[{}]", f.path, side(&f.removed), side(&f.added))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "a -[2:two] +[2:TWO,4:four]",
            "gone -[1:x] +[]",
            "there -[] +[6:6]"
        ]
    );
}

#[test]
fn a_tree_that_is_gone() {
    let repo = Repo::with(&[("a", "1")]);
    let missing: fp_host::git::Oid = "1".repeat(40).parse().unwrap();
    let error = repo.git.diff(&missing, &repo.tree()).unwrap_err();
    assert!(
        error.kind == HostErrorKind::MissingObject && error.to_string().contains(&"1".repeat(40)),
        "{error}"
    );
    assert!(error.hint().is_some());
    let error = repo.git.commits_since(&missing).unwrap_err();
    assert_eq!(error.kind, HostErrorKind::MissingObject);
}

#[test]
fn commits_are_told_apart() {
    let repo = Repo::with(&[("a", "1")]);
    let start = repo.git.head().unwrap();
    assert_eq!(repo.git.commits_since(&start).unwrap(), []);
    repo.write("b\nc", "1");
    repo.run("git", &["add", "--all"]);
    repo.run("git", &["commit", "-qm", "feat: two\n\nbody"]);
    repo.run(
        "git",
        &[
            "commit",
            "-q",
            "--allow-empty",
            "--allow-empty-message",
            "-m",
            "",
        ],
    );
    repo.run("git", &["mv", "a", "z"]);
    repo.run("git", &["commit", "-qm", ":100644 a subject"]);
    let commits = repo.git.commits_since(&start).unwrap();
    let shown: Vec<String> = commits
        .iter()
        .map(|c| format!("{:?} {:?}", c.subject, c.files))
        .collect();
    assert_eq!(
        shown,
        [
            r#"":100644 a subject" [<a>, <z>]"#,
            r#""" []"#,
            r#""feat: two" [<"b\nc">]"#
        ]
    );
    assert_eq!(
        repo.git.recent_subjects(30).unwrap(),
        [":100644 a subject", "feat: two", "Start"]
    );
    assert_eq!(repo.git.recent_subjects(1).unwrap(), [":100644 a subject"]);
}

#[test]
fn commits_are_found_by_what_their_ids_begin_with() {
    let repo = Repo::with(&[("a", "1")]);
    let start = repo.git.head().unwrap().to_string();
    repo.run("git", &["switch", "--quiet", "--create", "aside"]);
    repo.run(
        "git",
        &["commit", "--quiet", "--allow-empty", "--message", "aside"],
    );
    let aside = repo.git.head().unwrap().to_string();
    repo.run("git", &["switch", "--quiet", "-"]);
    repo.run("git", &["branch", "abcdef0"]);
    let found = |digits: &str| repo.git.behind_head(digits).unwrap();
    for digits in [&start[..7], &start] {
        assert_eq!(found(digits).unwrap().as_str(), start);
    }
    for digits in [&start[..6], &aside, "0000000", "abcdef0", "", "-n1 --all"] {
        assert_eq!(found(digits), None, "{digits}");
    }
}

#[test]
fn a_linked_worktree_is_measured_by_itself() {
    let repo = Repo::with(&[("a", "1")]);
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
    let git = hermetic(&linked);
    let base = git.snapshot_tree().unwrap().tree;
    std::fs::write(linked.join("a"), "2").unwrap();
    repo.write("b", "1");
    let changes = git.diff(&base, &git.snapshot_tree().unwrap().tree).unwrap();
    assert_eq!(
        changes
            .iter()
            .map(|c| c.path.to_string())
            .collect::<Vec<_>>(),
        ["a"]
    );
}

#[test]
fn processes_are_few() {
    let repo = Repo::with(&[("a", "1"), ("b", "1")]);
    let trace = repo.beside("trace");
    let count = |expect: usize| {
        std::fs::write(&trace, "").unwrap();
        repo.git
            .clone()
            .with_env("GIT_TRACE", &trace)
            .snapshot_tree()
            .unwrap();
        let commands = std::fs::read_to_string(&trace).unwrap();
        assert_eq!(
            commands.matches("trace: built-in:").count(),
            expect,
            "{commands}"
        );
    };
    count(2);
    repo.write("a", "2");
    count(3);
    repo.remove("b");
    count(4);
}

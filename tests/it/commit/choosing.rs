//! The choice of files: the named ones or the staged ones, and nothing else.

use insta::assert_snapshot;

use crate::commit::with;
use crate::common::Environment;

#[test]
fn named_files_and_no_others() {
    let environment = with(&["a", "b", "gone", "old"]);
    environment.write("a", "two\n");
    environment.write("b", "two\n");
    environment.write("new/file", "one\n");
    environment.write("new/other", "one\n");
    std::fs::remove_file(environment.path("gone")).unwrap();
    std::fs::rename(environment.path("old"), environment.path("renamed")).unwrap();
    assert_snapshot!(environment.committed(&["a", "new/file", "gone", "old", "renamed"]), @r"
    exit status: 0
    --- stdout
    Committed [COMMIT]: Do it
      a
      gone
      new/file
      old
      renamed
    ");
    assert_eq!(
        environment.last(),
        "M a\nD gone\nA new/file\nD old\nA renamed\n"
    );
    assert_eq!(environment.git_status(), " M b\n?? new/other\n");
}

#[test]
fn what_is_staged_stays_staged_and_uncommitted_where_other_files_are_named() {
    let environment = with(&["a", "b", "deleted"]);
    environment.write("b", "staged\n");
    environment.write("added", "staged\n");
    environment.git(&["add", "b", "added"]);
    environment.git(&["rm", "--quiet", "deleted"]);
    environment.write("b", "staged, then edited\n");
    environment.write("a", "two\n");
    assert_snapshot!(environment.committed(&["a"]), @r"
    exit status: 0
    --- stdout
    Committed [COMMIT]: Do it
      a
    Still staged: added, b, deleted
    ");
    assert_eq!(environment.last(), "M a\n");
    assert_eq!(environment.git_status(), "A  added\nMM b\nD  deleted\n");
    assert_eq!(environment.git(&["show", ":b"]), "staged\n");
}

#[test]
fn without_names_exactly_what_is_staged() {
    let environment = with(&["a", "partly", "old"]);
    environment.write("partly", "one\nstaged\n");
    environment.git(&["mv", "old", "renamed"]);
    environment.git(&["add", "partly"]);
    environment.write("partly", "one\nstaged\nnot staged\n");
    environment.write("a", "not staged\n");
    environment.write("untracked", "\n");
    assert_snapshot!(environment.committed(&[]), @r"
    exit status: 0
    --- stdout
    Committed [COMMIT]: Do it
      old
      partly
      renamed
    ");
    assert_eq!(environment.git(&["show", "HEAD:partly"]), "one\nstaged\n");
    assert_eq!(environment.git_status(), " M a\n M partly\n?? untracked\n");
}

#[test]
fn a_partly_staged_file_that_is_named_is_committed_as_it_is() {
    let environment = with(&["a"]);
    environment.write("a", "staged\n");
    environment.git(&["add", "a"]);
    environment.write("a", "edited\n");
    environment.committed(&["a"]);
    assert_eq!(environment.git(&["show", "HEAD:a"]), "edited\n");
    assert_eq!(environment.git_status(), "");
}

#[test]
fn nothing_named_and_nothing_staged() {
    let environment = with(&["a", "b"]);
    assert_snapshot!(environment.refused_commit(&[]), @r"error: nothing has changed since the last commit");
    environment.write("a", "two\n");
    environment.write("new/file", "one\n");
    assert_snapshot!(environment.refused_commit(&[]), @r"
    error: no file is named, and nothing is staged
    hint: name the files: `fp commit FILE… -m MESSAGE`; changed: a, new/file
    ");
    for number in 0..30 {
        environment.write(&format!("many/{number:02}"), "one\n");
    }
    let said = environment.refused_commit(&[]);
    assert!(
        said.contains("changed: a, many/00, ") && said.contains(" and 12 more\n"),
        "{said}"
    );
}

#[test]
fn whatever_is_not_to_be_committed_is_named_and_nothing_is() {
    let environment = with(&["a", "b", "folder/c"]);
    environment.write(".gitignore", "*.log\n");
    environment.write("a", "two\n");
    environment.write("folder/c", "two\n");
    environment.write("out.log", "one\n");
    environment.write("nested/file", "one\n");
    environment.git(&["init", "--quiet", "nested"]);
    assert_snapshot!(
        environment.refused_commit(&["a", "b", "folder", ".", "out.log", "none", "../home", "/etc/hosts", "nested"]),
        @r"
    error: b can't be committed: it has not changed since the last commit, or git ignores it
    folder can't be committed: it is a folder: name the files in it
    . can't be committed: it is a folder: name the files in it
    out.log can't be committed: it has not changed since the last commit, or git ignores it
    none can't be committed: there is no such file, and the last commit has none either
    ../home can't be committed: it is outside of this repository
    /etc/hosts can't be committed: it is outside of this repository
    nested can't be committed: it is a repository of its own
    hint: nothing is committed; `git status` shows what has changed
    "
    );
    assert_snapshot!(environment.refused_commit(&["nested/file"]), @"
    error: nested/file can't be committed: it has not changed since the last commit, or git ignores it
    hint: nothing is committed; `git status` shows what has changed
    ");
    environment.committed(&["a"]);
}

#[test]
fn a_name_twice_is_once_and_folders_above_are_found() {
    let environment = with(&["sub/deep/a", "b"]);
    environment.write("sub/deep/a", "two\n");
    environment.write("b", "two\n");
    std::os::unix::fs::symlink("sub", environment.path("link")).unwrap();
    let args = [
        "commit",
        "-m",
        "Do it",
        "a",
        "./a",
        "../deep/a",
        "../../link/deep/a",
        "../../b",
    ];
    let output = environment.fp_in("sub/deep", &args);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(environment.last(), "M b\nM sub/deep/a\n");
    assert_eq!(environment.git_status(), "?? link\n");
    std::fs::remove_dir_all(environment.path("sub")).unwrap();
    environment.committed(&["sub/../sub/deep/a"]);
    assert_eq!(environment.last(), "D sub/deep/a\n");
    environment.committed(&["link"]);
    assert_eq!(
        environment.last(),
        "A link\n",
        "the link, not what it leads to"
    );
}

#[test]
fn a_file_that_is_as_it_was_after_all_is_nothing_to_commit() {
    let environment = with(&["a"]);
    environment.write("a", "two\n");
    environment.git(&["add", "a"]);
    environment.write("a", "one\n");
    assert_snapshot!(environment.refused_commit(&["a"]), @r"error: there is nothing to commit: the files are as in the last commit");
}

#[test]
fn before_the_first_commit() {
    let environment = Environment::new();
    environment.git(&["init", "--quiet", "--initial-branch", "main"]);
    environment.write("a", "one\n");
    environment.write("b", "one\n");
    environment.git(&["add", "b"]);
    assert_snapshot!(environment.commit(&["a"]), @"
    exit status: 1
    --- stdout
    A subject is a phrase, in at most 72 columns

    1 file:
      A  a
    Still staged: b

    Next: the same command with --message 'SUBJECT'
    ");
    environment.committed(&["a"]);
    assert_eq!(
        (
            environment.last().as_str(),
            environment.git_status().as_str()
        ),
        ("A a\n", "A  b\n")
    );
    environment.committed(&[]);
    assert_eq!(environment.git_status(), "");
}

#[test]
fn outside_of_a_repository() {
    assert_snapshot!(Environment::new().commit(&["a"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work is not in a git working tree
    hint: run it inside a repository, or make one with `git init`
    ");
}

#[test]
fn modes_links_and_files_that_are_no_text() {
    use std::os::unix::fs::PermissionsExt as _;
    let environment = with(&["run", "file"]);
    std::fs::set_permissions(
        environment.path("run"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    std::fs::remove_file(environment.path("file")).unwrap();
    std::os::unix::fs::symlink("run", environment.path("file")).unwrap();
    environment.write("picture", [0, 159, 146, 150]);
    let files = ["run", "file", "picture"];
    environment.committed(&files);
    assert_eq!(environment.last(), "T file\nA picture\nM run\n");
    assert_eq!(environment.git_status(), "");
}

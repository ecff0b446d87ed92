//! Measurements from git's history, and their absence if git can't tell.

use std::fs;

use serde_json::{Value, json};

use super::{code_and_notes, measured, planned, sample, signals, tree};
use crate::common::Environment;
use crate::common::plan::PLAN;

impl Environment {
    /// Commits everything as this author at this time.
    fn commit_as(&self, author: &str, at: &str, subject: &str) {
        self.git(&["add", "--all"]);
        let author = format!("{author} <{author}@example.com>");
        let date = format!("--date={at}");
        let mut command = self.command("git");
        command
            .env("GIT_COMMITTER_DATE", at)
            .args(["commit", "--quiet", "--author", &author, &date]);
        let output = command.args(["--message", subject]).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// Commits, authors and fixes of a file.
fn history(file: &Value) -> [u64; 3] {
    ["commits", "authors", "fixCommits"].map(|name| file[name].as_u64().unwrap())
}

#[test]
fn commits_authors_and_fixes_of_six_months() {
    let environment = Environment::new().repo();
    for (text, author, at, subject) in [
        (
            "0",
            "old",
            "2026-05-20T09:00:00Z",
            "Fix before the six months",
        ),
        ("1", "ann", "2026-05-22T09:00:00Z", "Add it"),
        ("2", "bob", "2026-06-01T09:00:00Z", "fix: the first bug"),
        (
            "3",
            "ANN",
            "2026-06-02T09:00:00Z",
            "Prefix it\n\nfix in the body does not count",
        ),
        ("4", "ann", "2026-06-03T09:00:00Z", "Hotfix"),
    ] {
        environment.write("a.rs", text);
        environment.commit_as(author, at, subject);
    }
    let files = measured(&environment, "a.rs, b.rs");
    assert_eq!(history(&files[0]), [4, 2, 2]);
    assert_eq!(files[1]["filesWithHistory"], json!(0));
}

#[test]
fn a_renamed_file_keeps_its_history() {
    let environment = Environment::new().repo();
    let text = "one line\n".repeat(20);
    environment.write("old.rs", &text);
    environment.commit_as("ann", "2026-10-01T09:00:00Z", "Add");
    environment.write("old.rs", format!("{text}more\n"));
    environment.commit_as("bob", "2026-10-02T09:00:00Z", "Fix");
    environment.git(&["mv", "old.rs", "middle.rs"]);
    environment.commit_as("ann", "2026-10-03T09:00:00Z", "Rename");
    fs::create_dir(environment.path("src")).unwrap();
    environment.git(&["mv", "middle.rs", "src/new\nname.rs"]);
    environment.write("src/new\nname.rs", format!("{text}more\nand more\n"));
    environment.commit_as("ann", "2026-10-04T09:00:00Z", "Rename and change");
    environment.write("old.rs", "another one");
    environment.commit_as(
        "cec",
        "2026-10-05T09:00:00Z",
        "Take the old name for something else",
    );
    let files = measured(&environment, "src, old.rs");
    assert_eq!(history(&files[0]), [4, 2, 1], "{files}");
    assert_eq!(history(&files[1]), [1, 1, 0], "{files}");
}

#[test]
fn hostile_names_and_messages_are_only_names_and_messages() {
    let environment = Environment::new().repo();
    let hash = "0123456789abcdef0123456789abcdef01234567";
    environment.write("M", "1");
    environment.write(hash, "1");
    environment.write("a\nR100", "1");
    environment.commit_as("x", "2026-10-01T09:00:00Z", "R100");
    environment.write("M", "2");
    environment.commit_as(
        "M",
        "2026-10-02T09:00:00Z",
        &format!("{hash} fix\n\nM\nold\nnew"),
    );
    let mut command = environment.command("git");
    command.args([
        "commit",
        "--quiet",
        "--allow-empty",
        "--allow-empty-message",
        "--message",
        "",
    ]);
    assert!(command.status().unwrap().success());
    let files = measured(&environment, &format!("M, {hash}"));
    assert_eq!(history(&files[0]), [2, 2, 1], "{files}");
    assert_eq!(history(&files[1]), [1, 1, 0], "{files}");
}

#[test]
fn merges_do_not_count() {
    let environment = sample();
    environment.git(&["switch", "--quiet", "-c", "side"]);
    environment.write("src/a.rs", "side");
    environment.commit_as("ann", "2026-11-01T09:00:00Z", "Side");
    environment.git(&["switch", "--quiet", "main"]);
    environment.write("src/b.rs", "main");
    environment.commit_as("ann", "2026-11-02T09:00:00Z", "Main");
    environment.git(&[
        "merge",
        "--quiet",
        "--no-ff",
        "--message",
        "Merge, and fix",
        "side",
    ]);
    assert_eq!(measured(&environment, "src/a.rs")[0]["commits"], json!(2));
}

#[test]
fn the_users_configuration_changes_nothing() {
    let environment = sample();
    let before = signals(&environment, &["src/a.rs, src/b.rs"]);
    for (key, value) in [
        ("log.showSignature", "true"),
        ("log.date", "human"),
        ("log.decorate", "full"),
        ("diff.renames", "false"),
        ("diff.external", "false"),
        ("diff.noprefix", "true"),
        ("core.quotepath", "true"),
        ("color.ui", "always"),
        ("format.pretty", "fuller"),
        ("core.pager", "false"),
    ] {
        environment.git(&["config", key, value]);
    }
    assert_eq!(signals(&environment, &["src/a.rs, src/b.rs"]), before);
}

#[test]
fn without_git_there_is_no_history() {
    let environment = Environment::new();
    environment.write("a.ts", "import './b';\n");
    environment.write("b.ts", "1\n");
    environment.write("tree.md", tree(&["a.ts, b.ts"]));
    let output = environment.fp(&["signals", "tree.md"]);
    let (code, notes) = code_and_notes(&output);
    assert_eq!(code, 0, "{output}");
    assert!(
        notes.starts_with("note: gitRisk is 1 everywhere, since there is no history: "),
        "{output}"
    );
}

#[test]
fn a_repository_without_a_commit_has_no_history() {
    let environment = Environment::new();
    environment.git(&["init", "--quiet"]);
    environment.write("a.rs", "1\n");
    let tasks = signals(&environment, &["a.rs"]);
    assert_eq!(
        (&tasks[0]["gitRisk"], &tasks[0]["filesWithHistory"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn a_git_that_fails_is_told_and_the_rest_is_measured() {
    let environment = planned(&["src/a.rs"]);
    fs::write(
        environment.path(".git/objects/info/alternates"),
        "/nowhere\n",
    )
    .unwrap();
    let head = environment.git(&["rev-parse", "HEAD"]).trim().to_owned();
    fs::remove_file(environment.path(&format!(".git/objects/{}/{}", &head[..2], &head[2..])))
        .unwrap();
    let output = environment.fp(&["signals", PLAN, "--format", "json"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stderr.contains("gitRisk is 1 everywhere"),
        "{output}"
    );
    let report = output.json();
    assert_eq!(report["tasks"][0]["lines"], json!(100), "{output}");
    let without = Environment::new().env("PATH", "/nowhere");
    without.write(".git/HEAD", "ref: refs/heads/main\n");
    without.write("tree.md", tree(&["a.rs"]));
    let output = without.fp(&["signals", "tree.md"]);
    assert!(
        output.code == 0 && output.stderr.contains("git was not found on PATH"),
        "{output}"
    );
}

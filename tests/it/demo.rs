//! `fp demo`, the first command that newcomers run.

use crate::common::Environment;

/// The output, with commit hashes and the date in ids replaced.
fn readable(text: &str) -> String {
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let hash = |word: &str| {
        word.len() == 7 && word.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    words
        .map(|word| {
            let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            if hash(bare) { word.replace(bare, "[HASH]") } else { word.to_owned() }
        })
        .collect()
}

#[test]
fn the_demo_plays_the_whole_pipeline() {
    let environment = Environment::new();
    let output = environment.fp(&["demo", "--dir", "sample"]);
    assert_eq!(output.code, 0, "{output}");
    insta::assert_snapshot!(readable(&output.to_string()));
    let log = environment.fp_in("sample", &["status", "1", "--format", "json"]).json();
    assert_eq!(log["phase"], "finished");
    assert_eq!(log["counts"]["completed"], 3);
    assert_eq!(log["counts"]["failed"], 1);
    assert_eq!(log["counts"]["skipped"], 1);
    let events = environment.read("sample/.fractal-planner/plans/add-greeting-command-20261121/events.jsonl");
    assert_eq!(events.matches("\"nudged\"").count(), 1);
    assert_eq!(events.matches("\"sentBack\"").count(), 2);
    let left = environment.run("git", &["-C", "sample", "status", "--porcelain"]);
    assert_eq!(left.stdout, "", "what did not pass is gone with its worktree");
}

#[test]
fn a_folder_with_something_in_it_is_refused() {
    let environment = Environment::new();
    environment.write("full/a.txt", "a");
    let output = environment.fp(&["demo", "--dir", "full"]);
    insta::assert_snapshot!(output, @r"
    exit status: 2
    --- stderr
    error: full is not empty
    hint: name a folder that is empty or does not exist yet
    ");
}

#[test]
fn folders_that_can_not_be_made() {
    let environment = Environment::new().env("TMPDIR", "/gone");
    let output = environment.fp(&["demo"]).to_string();
    let named = regex::Regex::new("fp-demo-[^\"]*").unwrap();
    insta::assert_snapshot!(named.replace(&output, "fp-demo-[RANDOM]"), @r#"
    exit status: 2
    --- stderr
    error: can't create a temporary folder: No such file or directory (os error 2) at path "/gone/fp-demo-[RANDOM]"
    hint: set TMPDIR (TMP on Windows) to a writable folder
    "#);
    let environment = Environment::new();
    environment.write("file", "");
    insta::assert_snapshot!(environment.fp(&["demo", "--dir", "file/below"]), @"
    exit status: 2
    --- stderr
    error: file/below can't be used: Not a directory (os error 20)
    hint: name a folder that fp can create and write to
    ");
}

#[test]
fn nothing_is_left_over() {
    let environment = Environment::new();
    std::fs::create_dir(environment.beside("tmp")).unwrap();
    let tmp = environment.beside("tmp");
    let environment = environment.env("TMPDIR", &tmp);
    assert_eq!(environment.fp(&["demo"]).code, 0);
    assert_eq!(std::fs::read_dir(&tmp).unwrap().count(), 0);
}

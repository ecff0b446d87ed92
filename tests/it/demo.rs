//! `fp demo`, the first command that newcomers run.

use crate::common::Environment;

/// Replaces commit hashes, and the date in ids.
fn readable(text: &str) -> String {
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let hash = |word: &str| {
        word.len() == 7
            && word
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    words
        .map(|word| {
            let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            if hash(bare) {
                word.replace(bare, "[HASH]")
            } else {
                word.to_owned()
            }
        })
        .collect()
}

#[test]
fn the_demo_plays_the_whole_pipeline() {
    let environment = Environment::new();
    let work = environment.path("");
    let environment = environment.env("TMPDIR", work);
    let output = environment.fp(&["demo", "--keep"]);
    assert_eq!(output.code, 0, "{output}");
    let made = std::fs::read_dir(environment.path(""))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .file_name();
    let made = made.to_str().unwrap();
    std::fs::rename(environment.path(made), environment.path("sample")).unwrap();
    insta::assert_snapshot!(readable(&output.to_string().replace(made, "sample")));
    let log = environment
        .fp_in("sample", &["status", "1", "--format", "json"])
        .json();
    assert_eq!(log["phase"], "finished");
    assert_eq!(log["counts"]["completed"], 3);
    assert_eq!(log["counts"]["failed"], 1);
    assert_eq!(log["counts"]["skipped"], 1);
    let events = environment
        .read("sample/.fractal-planner/plans/add-greeting-command-20261121/events.jsonl");
    assert_eq!(events.matches("\"sentBack\"").count(), 2);
    let left = environment.run("git", &["-C", "sample", "status", "--porcelain"]);
    assert_eq!(
        left.stdout, "",
        "what did not pass is gone with its worktree"
    );
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

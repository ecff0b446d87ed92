//! Tests of the demonstration's error messages, provoked by fake programs in place of fp.
#![cfg(unix)]

#[path = "../../../tests/common/program.rs"]
mod program;

use super::stage::write;
use super::*;
use program::write_program;

/// The error message of `act` on a stage that uses this shell script as its program; without a script, the program is
/// missing.
fn said<T>(
    script: Option<&str>,
    act: impl FnOnce(&DemoStage) -> Result<T, CommandError>,
) -> String {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("fp");
    if let Some(script) = script {
        write_program(&binary, format!("#!/bin/sh\n{script}\n"));
    }
    let Err(error) = act(&DemoStage::in_folder(folder.path(), &binary)) else {
        panic!("nothing is wrong with it")
    };
    let hints = error.hints.iter().map(|hint| format!("\nhint: {hint}"));
    let text = format!("error: {}{}", error.message, hints.collect::<String>());
    text.replace(folder.path().to_str().unwrap(), "[FOLDER]")
}

#[test]
fn an_answer_that_is_none() {
    insta::assert_snapshot!(said(Some("echo yes"), plan), @"
    error: `fp new Add a greeting command --auto --format json` printed no JSON: expected value at line 1 column 1
    hint: `fp doctor` says what is wrong with this installation
    ");
    insta::assert_snapshot!(said(Some("echo '{}'"), plan), @"
    error: `fp new` did not say where the plan is
    hint: `fp doctor` says what is wrong with this installation
    ");
    insta::assert_snapshot!(said(Some("echo no >&2; exit 2"), plan), @"
    error: `fp new Add a greeting command --auto --format json` ended with exit status: 2: no
    hint: `fp doctor` says what is wrong with this installation
    ");
}

#[test]
fn a_run_without_an_end() {
    insta::assert_snapshot!(said(Some("echo '{}'"), |stage| lead(stage, "sample")), @"
    error: the run did not end within 60 answers of `fp next`
    hint: `fp demo --keep` keeps the repository, and `fp log` in it says what happened
    ");
}

#[test]
fn a_program_that_is_gone() {
    insta::assert_snapshot!(said(None, |stage| stage.fp(&["next"])), @"
    error: `fp next` can't be run: no such file or directory
    hint: `fp doctor` says what is wrong with this installation
    ");
}

#[test]
fn a_file_in_the_way() {
    insta::assert_snapshot!(said(Some(""), |stage| write(&stage.folder().join("fp/main.rs"), "")), @"
    error: [FOLDER]/fp can't be made: File exists (os error 17)
    hint: set TMPDIR (TMP on Windows) to a writable folder
    ");
}

//! `fp progress`: what a run has come to, printed and written to `progress.md`.

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

fn planned() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "b.txt"),
        leaf("3", "none", "c.txt"),
        leaf("4", "3", "d.txt"),
        leaf("5", "none", "e.txt"),
    ]));
    environment
}

/// Task 1 failed for good, 2 is skipped, 3 passed at its second try, 4 is under way, 5 is left.
fn under_way() -> Environment {
    let environment = planned();
    environment.start(&["--max-iterations", "2"]);
    environment.build("builder-1", "a.txt", "nothing\n");
    environment.fail("1");
    environment.done(&["release", PLAN, "1"]);
    environment.build("builder-2", "a.txt", "nothing\n");
    environment.fail("1");
    let third = environment.done(&["claim", PLAN, "--as", "builder-1", "3", "--format", "json"]).json();
    environment.write("c.txt", "about 3\n");
    environment.done(&["submit", PLAN, "3", "--claim", third["claim"].as_str().unwrap()]);
    environment.fail("3");
    let third = environment.done(&["claim", PLAN, "--as", "builder-1", "--format", "json"]).json();
    environment.done(&["submit", PLAN, "3", "--claim", third["claim"].as_str().unwrap()]);
    environment.pass("3");
    environment.done(&["claim", PLAN, "--as", "builder-2", "4"]);
    environment
}

fn progress(environment: &Environment) -> Output {
    let output = environment.fp(&["progress", PLAN]);
    let mask = regex::Regex::new("commit `[0-9a-f]{7}`").unwrap();
    Output { stdout: mask.replace_all(&output.stdout, "commit `[COMMIT]`").into_owned(), ..output }
}

fn file() -> String {
    format!(".fractal-planner/plans/{PLAN}/progress.md")
}

#[test]
fn a_run_under_way() {
    let environment = under_way();
    assert_snapshot!(progress(&environment), @r"
    exit status: 0
    --- stdout
    # Progress: sample-20261121

    > sample-20261121

    The run (running) began on 2026-11-21 09:00 UTC and has taken 0 s up to event 22.

    1 of 5 tasks done, 1 being built, 1 ready, 1 failed, 1 skipped.

    ## Failed

    - **1** Write part 1, given up in iteration 2 of 2
      - iteration 1, builder-1: Criterion 1 (`a.txt` has a line about 1): not seen
      - iteration 2, builder-1: taken back, released by hand
      - iteration 2, builder-2: Criterion 1 (`a.txt` has a line about 1): not seen

    ## Under way

    - **4** Write part 4: IMPLEMENTING by builder-2, iteration 1 of 2

    ## Left

    - **5** Write part 5: ready

    ## Skipped

    - **2** Write part 2: Blocked by 1

    ## Done

    - **3** Write part 3: builder-1, iteration 2 of 2, 0 s, commit `[COMMIT]`
      - iteration 1, builder-1: Criterion 1 (`c.txt` has a line about 3): not seen
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/progress.md
    ");
    let printed = environment.fp(&["progress", PLAN]).stdout;
    assert_eq!(environment.read(&file()), printed);
    assert_eq!(environment.fp(&["progress", PLAN]).stdout, printed, "the same log is the same page");
}

#[test]
fn before_the_run() {
    let environment = planned();
    assert_snapshot!(progress(&environment), @r"
    exit status: 0
    --- stdout
    # Progress: sample-20261121

    > sample-20261121

    The plan is not approved yet.
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/progress.md
    ");
    environment.done(&["approve", PLAN]);
    assert_snapshot!(progress(&environment), @r"
    exit status: 0
    --- stdout
    # Progress: sample-20261121

    > sample-20261121

    The plan is approved; its run has not started.

    0 of 5 tasks done, 3 ready, 2 waiting.

    ## Left

    - **1** Write part 1: ready
    - **2** Write part 2: it waits for 1
    - **3** Write part 3: ready
    - **4** Write part 4: it waits for 3
    - **5** Write part 5: ready
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/progress.md
    ");
}

#[test]
fn json_has_every_try() {
    let environment = under_way();
    let report = environment.done(&["progress", PLAN, "--format", "json"]).json();
    assert_eq!(report["counts"]["completed"], 1);
    let first = &report["tasks"][0];
    assert_eq!((&first["id"], &first["status"]), (&"1".into(), &"FAILED".into()));
    assert_snapshot!(first["attempts"], @r#"[{"builder":"builder-1","end":"failed","iteration":1,"reason":"Criterion 1 (`a.txt` has a line about 1): not seen"},{"builder":"builder-1","end":"released","iteration":2,"reason":"released by hand"},{"builder":"builder-2","end":"failed","iteration":2,"reason":"Criterion 1 (`a.txt` has a line about 1): not seen"}]"#);
    assert!(environment.path(&file()).exists());
}

#[test]
fn what_can_not_be_read_is_named() {
    let environment = under_way();
    assert_snapshot!(environment.fp(&["progress", "nothing"]), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "nothing"; there are:
      1  sample-20261121
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
    let log = format!(".fractal-planner/plans/{PLAN}/events.jsonl");
    let whole = environment.read(&log);
    environment.write(&log, format!("{whole}{{\"schema"));
    assert_snapshot!(progress(&environment).stderr, @r"
    note: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl: the last line was torn off while it was written (8 bytes): dropped
    note: written to .fractal-planner/plans/sample-20261121/progress.md
    ");
    environment.write(&log, format!("{whole}{{\"schema\n"));
    std::fs::remove_file(environment.path(&file())).unwrap();
    assert_snapshot!(progress(&environment), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl:23: not an entry of this log: EOF while parsing a string at line 1 column 8
    hint: mend or remove line 23 of [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl: every line is one JSON object, numbered by `seq`
    ");
    assert!(!environment.path(&file()).exists());
}

#[test]
fn titles_and_reasons_are_text() {
    let environment = Environment::new().repo();
    let hostile = tree(&[leaf("1", "none", "a.txt")]).replace("Write part 1", "# <b>a</b> *b* | [c](d)");
    environment.plan(&hostile);
    environment.start(&["--max-iterations", "1"]);
    environment.build("builder-1", "a.txt", "x\n");
    environment.done(&["verdict", PLAN, "1", "--fail", "1: <img src=x>\n# heading", "--summary", "s"]);
    assert_snapshot!(progress(&environment).stdout, @r"
    # Progress: sample-20261121

    > sample-20261121

    The run (running) began on 2026-11-21 09:00 UTC and has taken 0 s up to event 6.

    0 of 1 tasks done, 1 failed.

    ## Failed

    - **1** \# \<b>a\</b> \*b\* \| \[c\](d), given up in iteration 1 of 1
      - iteration 1, builder-1: Criterion 1 (`a.txt` has a line about 1): \<img src=x> # heading
    ");
}

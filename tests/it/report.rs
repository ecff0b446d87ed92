//! `fp report`: the results of a run as a summary, as data, and as a page in a file.

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
    ]));
    environment
}

/// The same environment at another time of the day.
fn at(environment: Environment, time: &str) -> Environment {
    environment.env("FP_NOW", format!("2026-11-21T{time}Z"))
}

/// Task 1 passes at its second attempt, 2 is given up, 3 is under way, and there is a note.
fn under_way() -> Environment {
    let environment = planned();
    environment.start(&["--max-iterations", "2"]);
    let environment = at(environment, "09:01:00");
    environment.build("builder-1", "a.txt", "nothing\n");
    let environment = at(environment, "09:03:30");
    environment.fail("1");
    let environment = at(environment, "09:04:00");
    let claim = environment
        .done(&["claim", PLAN, "--as", "builder-1", "--format", "json"])
        .json();
    environment.write("a.txt", "about 1\n");
    let environment = at(environment, "09:10:00");
    environment.done(&[
        "submit",
        PLAN,
        "1",
        "--claim",
        claim["claim"].as_str().unwrap(),
    ]);
    environment.done(&["verify", PLAN, "1"]);
    let environment = at(environment, "09:10:20");
    environment.pass("1");
    let environment = at(environment, "09:11:00");
    environment.claim_task("builder-1", "2");
    let environment = at(environment, "09:15:00");
    environment.done(&["cancel", PLAN, "2", "--reason", "it can't be done"]);
    let environment = at(environment, "09:16:00");
    environment.claim_task("builder-1", "3");
    let environment = at(environment, "10:20:00");
    environment.done(&["note", PLAN, "add", "GOTCHA: a.txt has one line"]);
    environment
}

fn masked(output: &Output) -> Output {
    let mask = regex::Regex::new(r"\b[0-9a-f]{7}([0-9a-f]{33})?\b").unwrap();
    Output {
        stdout: mask.replace_all(&output.stdout, "[HASH]").into_owned(),
        ..output.clone()
    }
}

#[test]
fn a_run_under_way() {
    let environment = under_way();
    assert_snapshot!(masked(&environment.fp(&["report", PLAN])), @r"
    exit status: 0
    --- stdout
    # sample-20261121

    - State: running
    - Started: 2026-11-21T09:00:00Z
    - Last event: 2026-11-21T10:20:00Z

    > sample-20261121

    **1 of 4 tasks done, 1 failed, 1 being built, 1 waiting**.

    ## Look at first

    - Task 1 took 2 attempts: Criterion 1 (`a.txt` has a line about 1): not seen
    - \[plan\] GOTCHA: a.txt has one line

    ## Not done

    - 2 Write part 2: failed: it can't be done
    - 3 Write part 3: building
    - 4 Write part 4: waiting: it waits for 3

    ## Tasks

    | Task | | Commit | Attempts | Verified |
    | --- | --- | --- | --- | --- |
    | 1 | Write part 1 | [HASH] | 2 | 1 criterion |
    | 2 | Write part 2 | - | 1 |  |
    | 3 | Write part 3 | - | 1 |  |
    | 4 | Write part 4 | - | 0 |  |

    ## Cost and time

    - took 1 h 20 min
    ");
}

#[test]
fn before_the_run() {
    let environment = planned();
    assert_snapshot!(environment.fp(&["report"]), @"
    exit status: 0
    --- stdout
    # sample-20261121

    - State: planning

    > sample-20261121

    **0 of 0 tasks done**.
    ");
    environment.done(&["approve", PLAN, "--yes"]);
    assert_snapshot!(environment.fp(&["report", PLAN]), @"
    exit status: 0
    --- stdout
    # sample-20261121

    - State: approved

    > sample-20261121

    **0 of 4 tasks done, 2 ready, 2 waiting**.

    ## Not done

    - 1 Write part 1: ready
    - 2 Write part 2: waiting: it waits for 1
    - 3 Write part 3: ready
    - 4 Write part 4: waiting: it waits for 3

    ## Tasks

    | Task | | Commit | Attempts | Verified |
    | --- | --- | --- | --- | --- |
    | 1 | Write part 1 | - | 0 |  |
    | 2 | Write part 2 | - | 0 |  |
    | 3 | Write part 3 | - | 0 |  |
    | 4 | Write part 4 | - | 0 |  |
    ");
    let page = environment
        .done(&["report", PLAN, "--format", "html"])
        .stdout;
    assert!(page.contains("The run has not started."));
}

#[test]
fn json_has_lanes_and_tries() {
    let environment = under_way();
    let report = environment
        .done(&["report", PLAN, "--format", "json"])
        .json();
    assert_eq!(
        (&report["schemaVersion"], &report["phase"]),
        (&1.into(), &"running".into())
    );
    assert_eq!(
        (&report["startedAt"], &report["endedAt"]),
        (
            &"2026-11-21T09:00:00Z".into(),
            &"2026-11-21T10:20:00Z".into()
        )
    );
    assert_snapshot!(report["lanes"][0]["millis"], @r#"{"asking":0,"building":4440000,"committing":0,"verifying":20000,"waiting":150000}"#);
    assert_snapshot!(report["lanes"][0]["bars"][0], @r#"{"from":"2026-11-21T09:01:00Z","kind":"building","nth":1,"open":false,"outcome":"failed","question":null,"task":"1","to":"2026-11-21T09:01:00Z"}"#);
    let second = &report["tasks"][0]["tries"][1];
    assert_eq!(
        (&second["end"], &second["builder"], &second["files"][0]),
        (&"passed".into(), &"builder-1".into(), &"a.txt".into())
    );
    assert_snapshot!(second["criteria"], @r#"[{"evidence":"seen","number":1,"pass":true,"text":"`a.txt` has a line about 1"}]"#);
    assert_eq!(report["tree"]["tasks"].as_array().unwrap().len(), 5);
}

#[test]
fn only_a_page_of_its_own_is_replaced() {
    let environment = under_way();
    let written = environment.fp(&["report", PLAN, "--out", "report.html"]);
    assert_snapshot!(written, @r"
    exit status: 0
    --- stderr
    note: written to report.html
    ");
    let page = environment.read("report.html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    environment.done(&["report", PLAN, "--out", "report.html"]);
    assert_eq!(
        environment.read("report.html"),
        page,
        "the same log is the same page"
    );
    assert_eq!(
        environment
            .done(&["report", PLAN, "--format", "html"])
            .stdout,
        page
    );
    for (name, text) in [
        ("notes.html", "<!doctype html>\n<p>mine</p>\n"),
        ("empty.txt", ""),
    ] {
        environment.write(name, text);
        let refused = environment.fp(&["report", PLAN, "--out", name]);
        assert_eq!(
            (refused.code, environment.read(name).as_str()),
            (1, text),
            "{refused}"
        );
    }
    assert_snapshot!(environment.fp(&["report", PLAN, "--out", "notes.html"]), @r"
    exit status: 1
    --- stderr
    error: notes.html is there already, and no page of fp report
    hint: name another file, or add --force to replace it
    ");
    environment.done(&["report", PLAN, "--out", "notes.html", "--force"]);
    assert_eq!(environment.read("notes.html"), page);
    let plan_page = environment.done(&["show", PLAN, "--format", "html", "--out", "plan.html"]);
    assert_eq!(plan_page.code, 0);
    assert_eq!(
        environment.fp(&["report", PLAN, "--out", "plan.html"]).code,
        1,
        "the page of a plan is another one"
    );
}

#[test]
fn a_file_of_markdown_gets_markdown() {
    let environment = under_way();
    environment.done(&["report", PLAN, "--out", "report.md"]);
    assert_eq!(
        environment.read("report.md"),
        environment.done(&["report", PLAN]).stdout
    );
    environment.done(&["report", PLAN, "--format", "html", "--out", "page.md"]);
    assert!(
        environment.read("page.md").starts_with("<!doctype html>"),
        "it was asked for"
    );
}

#[test]
fn what_is_in_the_way_is_named() {
    let environment = under_way();
    std::fs::create_dir(environment.path("folder")).unwrap();
    assert_snapshot!(environment.fp(&["report", PLAN, "--out", "folder"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/folder is not a file
    hint: name a file, or move what is in its place out of the way
    ");
    assert_snapshot!(environment.fp(&["report", PLAN, "--out", "no/such/report.html"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/no/such/report.html can't be written: no such file or directory
    hint: check the path
    ");
    assert_snapshot!(environment.fp(&["report", PLAN, "--format", "dot"]), @r"
    exit status: 2
    --- stderr
    error: invalid value 'dot' for '--format <FORMAT>'
      [possible values: text, json, html]

    For more information, try '--help'.
    ");
    assert_snapshot!(environment.fp(&["report", PLAN, "--force"]), @r"
    exit status: 2
    --- stderr
    error: the following required arguments were not provided:
      --out <FILE>

    Usage: fp report --out <FILE> --force <PLAN>

    For more information, try '--help'.
    ");
    assert_snapshot!(environment.fp(&["report", "nothing"]), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "nothing"; there are:
      1  sample-20261121
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
}

#[test]
fn an_archived_plan_and_one_without_a_tree_are_reported() {
    let environment = under_way();
    environment.done(&["cancel", PLAN]);
    std::fs::remove_file(environment.path(&format!(".fractal-planner/plans/{PLAN}/tasks.md")))
        .unwrap();
    let before = environment.done(&["report", PLAN]).stdout;
    assert!(
        environment
            .done(&["report", PLAN, "--format", "html"])
            .stdout
            .contains("Write part 1")
    );
    environment.done(&["plans", "archive", PLAN]);
    assert_eq!(environment.done(&["report", PLAN]).stdout, before);
}

#[test]
fn what_was_agreed_and_what_was_revised_is_told() {
    let environment = planned();
    environment.done(&[
        "interview",
        PLAN,
        "--by",
        "user",
        "--decision",
        "Which *words*?|Plain ones",
    ]);
    environment.done(&[
        "interview",
        PLAN,
        "--by",
        "auto",
        "--decision",
        "Colours?|No",
    ]);
    environment.start(&[]);
    let revised = tree(&[leaf("4", "3", "e.txt")]);
    environment.write("new.md", revised.split_once("### Subtasks\n").unwrap().1);
    environment.done(&["task", "revise", PLAN, "4", "--file", "new.md"]);
    environment.done(&["approve", PLAN, "--yes"]);
    let report = environment.done(&["report", PLAN]).stdout;
    assert!(
        report.contains("\n- Tasks revised after the start: 1\n"),
        "{report}"
    );
    let decisions =
        "## Decisions\n\n- Which \\*words\\*? Plain ones (by the user)\n- Colours? No (assumed)\n";
    assert!(report.contains(decisions), "{report}");
    let json = environment
        .done(&["report", PLAN, "--format", "json"])
        .json();
    assert_eq!(json["revisions"], 1);
    assert_eq!(json["interviewDecisions"][1], "Colours? No (assumed)");
    let page = environment
        .done(&["report", PLAN, "--format", "html"])
        .stdout;
    assert!(
        page.contains("Which *words*? Plain ones") && page.contains("Revisions"),
        "{page}"
    );
}

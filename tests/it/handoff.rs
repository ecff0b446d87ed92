//! `fp handoff`: the information that somebody else needs to continue, printed and written to `handoff.md`.

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

fn planned() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "b.txt"),
        leaf("3", "none", "c.txt"),
        leaf("4", "none", "d.txt"),
    ]));
    environment.write(
        &format!(".fractal-planner/plans/{PLAN}/plan.json"),
        r#"{"goal": "Write four parts, *each* with its line"}"#,
    );
    environment
}

fn handoff(environment: &Environment) -> Output {
    let output = environment.fp(&["report", "--handoff", PLAN]);
    let mask = regex::Regex::new(r"[0-9a-f]{7}\)").unwrap();
    Output {
        stdout: mask.replace_all(&output.stdout, "[COMMIT])").into_owned(),
        ..output
    }
}

fn file(name: &str) -> String {
    format!(".fractal-planner/plans/{PLAN}/{name}")
}

/// Task 1 has used up its attempts, with a question to the user; 2 is skipped, 3 passed, 4 is under way.
fn under_way() -> Environment {
    let environment = planned();
    environment.start(&["--max-iterations", "1"]);
    environment.build("builder-1", "a.txt", "nothing\n");
    environment.fail("1");
    environment.build("builder-1", "c.txt", "about 3\n");
    environment.pass("3");
    environment.claim("builder-2").unwrap();
    environment.done(&[
        "note",
        PLAN,
        "add",
        "GOTCHA: d.txt ends with `\\n`",
        "--task",
        "4",
    ]);
    environment
}

#[test]
fn a_run_under_way() {
    let environment = under_way();
    let decision = r#"{"question": "Which words?", "answer": "Plain ones", "by": "user"}"#;
    let interview =
        format!(r#"{{"decisions": [{decision}], "assumptions": ["UTF-8 everywhere"]}}"#);
    environment.write(&file("interview.json"), interview);
    assert_snapshot!(handoff(&environment), @r#"
    exit status: 0
    --- stdout
    # Handoff: sample-20261121

    State of: 2026-11-21T09:00:00Z, event 14

    ## Goal

    > Write four parts, *each* with its line

    ## Progress

    ```text
    Plan sample-20261121 (running)
    ▰▰▱▱▱▱▱▱▱▱ 1 of 4 tasks done, 1 failed, 1 being built, 1 skipped

    Needs you:
      ? Task 1 failed for good: Criterion 1 (`a.txt` has a line about 1): not seen.
        The verifier says: "not yet". How should it continue?
        fp answer sample-20261121 q1 --option Continue

      ✕ 1  failed     Write part 1  (1/1, 1 question)
                      Criterion 1 (`a.txt` has a line about 1): not seen
      ▶ 4  building   Write part 4  (1/1, builder-2)
      ✓ 3  done       Write part 3  (1/1, [COMMIT])
      – 2  skipped    Write part 2
                      Blocked by 1
    ```

    ## Decisions

    - Which words? Plain ones (by the user)
    - The plan of 4 tasks was approved by the user

    ## Assumptions

    - UTF-8 everywhere

    ## Notes, the last first

    - [Task 4] GOTCHA: d.txt ends with `\n`

    ## Worth reading

    - `tasks.md` in the plan's folder
    - `notepad.md` in the plan's folder
    - `evidence` in the plan's folder

    ## Next commands

    - `fp answer sample-20261121 q1 --option Continue`: answers q1 (Continue, Retry, Change the task, Stop)
    - `/fp:implement sample-20261121`: goes on with the run, in Claude Code; in a terminal: `fp run sample-20261121`
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/handoff.md
    "#);
    assert_eq!(
        environment.read(&file("handoff.md")),
        environment.fp(&["report", "--handoff", PLAN]).stdout
    );
}

#[test]
fn the_commands_that_it_names_are_right() {
    let environment = under_way();
    let report = environment
        .done(&["report", "--handoff", PLAN, "--format", "json"])
        .json();
    let commands: Vec<&str> = report["next"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["command"].as_str().unwrap())
        .collect();
    assert_eq!(
        commands,
        [
            format!("fp answer {PLAN} q1 --option Continue"),
            format!("/fp:implement {PLAN}")
        ]
    );
    let script = commands[0].replacen("fp", env!("CARGO_BIN_EXE_fp"), 1);
    assert_eq!(environment.run("sh", &["-c", &script]).code, 0);
    let report = environment
        .done(&["report", "--handoff", PLAN, "--format", "json"])
        .json();
    assert_eq!(report["next"][0]["command"], format!("fp retry {PLAN} 1"));
    for task in ["3", "4"] {
        environment.fp(&["cancel", PLAN, task, "--reason", "given up"]);
    }
    let over = environment.done(&["report", "--handoff", PLAN]).stdout;
    assert!(
        over.contains(&format!("\n## Next commands\n\n- `fp retry {PLAN} 1`: ")),
        "{over}"
    );
    environment.done(&["retry", PLAN, "1"]);
}

#[test]
fn a_title_stays_in_its_place() {
    let environment = Environment::new().repo();
    let hostile =
        tree(&[leaf("1", "none", "a.txt")]).replace("Write part 1", "```` <b>a</b> *b* | [c](d)");
    environment.plan(&hostile);
    environment.start(&["--max-iterations", "1"]);
    let page = handoff(&environment).stdout;
    let (_, fenced) = page.split_once("\n`````text\n").unwrap();
    let (fenced, _) = fenced.split_once("\n`````\n").unwrap();
    assert!(fenced.contains("```` <b>a</b> *b* | [c](d)"), "{page}");
}

#[test]
fn before_the_run_and_after_it() {
    let environment = planned();
    assert_snapshot!(handoff(&environment), @"
    exit status: 0
    --- stdout
    # Handoff: sample-20261121

    State of: no event

    ## Goal

    > Write four parts, *each* with its line

    ## Progress

    ```text
    Plan sample-20261121 (planning)
    ```

    ## Worth reading

    - `tasks.md` in the plan's folder

    ## Next commands

    - `fp validate sample-20261121`: checks the task tree
    - `fp approve sample-20261121`: approves it as it stands
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/handoff.md
    ");
    environment.start(&[]);
    for (task, name) in [
        ("1", "a.txt"),
        ("2", "b.txt"),
        ("3", "c.txt"),
        ("4", "d.txt"),
    ] {
        environment.build("builder-1", name, "a line\n");
        environment.pass(task);
    }
    environment.done(&["next", PLAN]);
    assert_snapshot!(handoff(&environment), @"
    exit status: 0
    --- stdout
    # Handoff: sample-20261121

    State of: 2026-11-21T09:00:00Z, event 27

    ## Goal

    > Write four parts, *each* with its line

    ## Progress

    ```text
    Plan sample-20261121 (finished)
    ▰▰▰▰▰▰▰▰▰▰ 4 of 4 tasks done

      ✓ 1  done       Write part 1  (1/3, [COMMIT])
      ✓ 2  done       Write part 2  (1/3, [COMMIT])
      ✓ 3  done       Write part 3  (1/3, [COMMIT])
      ✓ 4  done       Write part 4  (1/3, [COMMIT])
    ```

    ## Decisions

    - The plan of 4 tasks was approved by the user

    ## Worth reading

    - `tasks.md` in the plan's folder
    - `evidence` in the plan's folder
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/handoff.md
    ");
}

#[test]
fn a_large_plan_is_told_in_two_screenfuls() {
    let environment = Environment::new().repo();
    let ids: Vec<String> = (1..=300).map(|number| number.to_string()).collect();
    let files: Vec<String> = ids.iter().map(|id| format!("{id}.txt")).collect();
    let leaves: Vec<_> = ids
        .iter()
        .zip(&files)
        .map(|(id, file)| leaf(id, "none", file))
        .collect();
    environment.plan(&tree(&leaves));
    environment.start(&[]);
    for number in 0..40 {
        environment.done(&["note", PLAN, "add", &format!("UTIL: note {number}")]);
    }
    let page = handoff(&environment).stdout;
    assert!(page.lines().count() < 80, "{page}");
    assert!(
        page.contains("- and 28 more: `fp note")
            && page.contains("UTIL: note 28")
            && !page.contains("UTIL: note 27"),
        "{page}"
    );
}

#[test]
fn what_can_not_be_read_is_named() {
    let environment = under_way();
    assert_snapshot!(environment.fp(&["report", "--handoff", "nothing"]), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "nothing"; there are:
      1  sample-20261121
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
    let log = file("events.jsonl");
    let whole = environment.read(&log);
    environment.write(&log, format!("{whole}{{\"schema\n"));
    assert_snapshot!(handoff(&environment), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl:15: not an entry of this log: EOF while parsing a string at line 1 column 8
    hint: mend or remove line 15 of [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl: every line is one JSON object, numbered by `seq`
    ");
}

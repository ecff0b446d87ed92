//! The text format: places, carets, truncation, counts and endings.

use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr as _;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use crate::validate::{clean, large_leaf, sharing, vague, validate, waits_for_itself, with};

#[test]
fn nothing_found() {
    assert_snapshot!(validate(&clean(), &[]), @r"
    exit status: 0
    --- stdout
    tasks.md: valid, 2 leaf tasks, 0 errors, 0 warnings
    ");
    assert_snapshot!(validate(&clean(), &["--strict"]), @r"
    exit status: 0
    --- stdout
    tasks.md: valid, 2 leaf tasks, 0 errors, 0 warnings
    ");
}

#[test]
fn errors_fail_and_warnings_only_under_strict() {
    assert_snapshot!(validate(&large_leaf(), &[]), @"
    exit status: 1
    --- stdout
    tasks.md:5:37: error[over-complexity]: complexity 9 is above the limit of 8
    5 | - [ID: 1] Write part 1 (Complexity: 9)
      |                                     ^
      hint: split the task into two to five subtasks

    tasks.md: not valid, 2 leaf tasks, 1 error, 0 warnings
    ");
    assert_snapshot!(validate(&vague(), &[]), @r#"
    exit status: 0
    --- stdout
    tasks.md:17:7: warning[vague-acceptance]: "properly" says nothing that can be observed
    17 |     - The line is written properly
       |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: name something visible: a value, an error, an exit status, a file

    tasks.md: valid, 2 leaf tasks, 0 errors, 1 warning
    "#);
    assert_snapshot!(validate(&vague(), &["--strict"]), @r#"
    exit status: 1
    --- stdout
    tasks.md:17:7: warning[vague-acceptance]: "properly" says nothing that can be observed
    17 |     - The line is written properly
       |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: name something visible: a value, an error, an exit status, a file

    tasks.md: not valid, 2 leaf tasks, 0 errors, 1 warning
    "#);
    assert_eq!(validate(&sharing(), &[]).code, 0);
    assert_eq!(validate(&sharing(), &["--strict"]).code, 1);
    assert_eq!(validate(&waits_for_itself(), &[]).code, 1);
}

#[test]
fn the_limit_of_complexity() {
    assert_eq!(validate(&large_leaf(), &["--max-complexity", "9"]).code, 0);
    assert_snapshot!(validate(&clean(), &["--max-complexity", "1"]), @"
    exit status: 1
    --- stdout
    tasks.md:5:37: error[over-complexity]: complexity 2 is above the limit of 1
    5 | - [ID: 1] Write part 1 (Complexity: 2)
      |                                     ^
      hint: split the task into two to five subtasks

    tasks.md:15:37: error[over-complexity]: complexity 2 is above the limit of 1
    15 | - [ID: 2] Write part 2 (Complexity: 2)
       |                                     ^
      hint: split the task into two to five subtasks

    tasks.md: not valid, 2 leaf tasks, 2 errors, 0 warnings
    ");
    for wrong in ["0", "11", "-1", "two", "", "1.5", "99999999999999999999"] {
        let output = validate(&clean(), &[&format!("--max-complexity={wrong}")]);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (2, ""),
            "{wrong}: {output}"
        );
        assert!(
            output.stderr.contains("--max-complexity <N>"),
            "{wrong}: {output}"
        );
    }
    assert_snapshot!(validate(&clean(), &["--max-complexity", "11"]), @r"
    exit status: 2
    --- stderr
    error: invalid value '11' for '--max-complexity <N>': 11 is not in 1..=10

    For more information, try '--help'.
    ");
}

#[test]
fn the_caret_stands_under_what_is_meant() {
    let files = |value: &str| clean().replace("Files: b.txt", &format!("Files: {value}"));
    assert_snapshot!(validate(&files("한글/파일.txt (new), ../밖.txt, /etc/x"), &[]), @"
    exit status: 1
    --- stdout
    tasks.md:19:29: error[path-escape]: `../밖.txt` is outside the repository: it has `..` in it
    19 |   - Files: 한글/파일.txt (new), ../밖.txt, /etc/x
       |                                 ^^^^^^^^^
      hint: name files relative to the repository

    tasks.md:19:39: error[path-escape]: `/etc/x` is outside the repository: it is absolute
    19 |   - Files: 한글/파일.txt (new), ../밖.txt, /etc/x
       |                                            ^^^^^^
      hint: name files relative to the repository

    tasks.md: not valid, 2 leaf tasks, 2 errors, 0 warnings
    ");
    let tabs = files("../b.txt")
        .replace("    - ", "\t\t- ")
        .replace("  - ", "\t-\t");
    assert_snapshot!(validate(&tabs, &[]), @"
    exit status: 1
    --- stdout
    tasks.md:19:11: error[path-escape]: `../b.txt` is outside the repository: it has `..` in it
    19 |  - Files: ../b.txt
       |           ^^^^^^^^
      hint: name files relative to the repository

    tasks.md: not valid, 2 leaf tasks, 1 error, 0 warnings
    ");
    assert_snapshot!(validate(&files("../b.txt").replace('\n', "\r\n"), &[]), @"
    exit status: 1
    --- stdout
    tasks.md:19:12: error[path-escape]: `../b.txt` is outside the repository: it has `..` in it
    19 |   - Files: ../b.txt
       |            ^^^^^^^^
      hint: name files relative to the repository

    tasks.md: not valid, 2 leaf tasks, 1 error, 0 warnings
    ");
    assert_snapshot!(validate(&format!("\u{feff}{}", "- [ID 1] One (Complexity: 2)"), &[]), @r"
    exit status: 1
    --- stdout
    tasks.md:1:3: error[syntax]: the line looks like a task and can't be read as one
    1 | - [ID 1] One (Complexity: 2)
      |   ^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: write `- [ID: 1] Title (Complexity: 3)`, indented as the tasks beside it

    tasks.md: not valid, 1 leaf task, 1 error, 0 warnings
    ");
    let combining = clean().replace(
        "part 2 (Complexity: 2)",
        "e\u{301}le\u{300}ve (Complexity: 9)",
    );
    assert_snapshot!(validate(&combining, &[]), @"
    exit status: 1
    --- stdout
    tasks.md:15:38: error[over-complexity]: complexity 9 is above the limit of 8
    15 | - [ID: 2] Write élève (Complexity: 9)
       |                                    ^
      hint: split the task into two to five subtasks

    tasks.md: not valid, 2 leaf tasks, 1 error, 0 warnings
    ");
}

#[test]
fn long_lines_are_cut_around_the_caret() {
    let names = (0..400)
        .map(|number| format!("src/module_{number}.rs (new)"))
        .collect::<Vec<_>>()
        .join(", ");
    let long = clean().replace(
        "Files: b.txt",
        &format!("Files: {names}, ../out.rs, {names}"),
    );
    assert_snapshot!(validate(&long, &[]), @"
    exit status: 1
    --- stdout
    tasks.md:19:9902: error[path-escape]: `../out.rs` is outside the repository: it has `..` in it
    19 | …rc/module_399.rs (new), ../out.rs, src/module_0.rs (new), src/module_1.rs…
       |                          ^^^^^^^^^
      hint: name files relative to the repository

    tasks.md: not valid, 2 leaf tasks, 1 error, 0 warnings
    ");
    let wide = clean().replace(
        "Files: b.txt",
        &format!("Files: {} (new), ../밖.rs", "가".repeat(300)),
    );
    assert_snapshot!(validate(&wide, &[]), @"
    exit status: 1
    --- stdout
    tasks.md:19:320: error[path-escape]: `../밖.rs` is outside the repository: it has `..` in it
    19 | …가가가가가가가가가가가가가가가가 (new), ../밖.rs
       |                                          ^^^^^^^^
      hint: name files relative to the repository

    tasks.md: not valid, 2 leaf tasks, 1 error, 0 warnings
    ");
    let at_the_end = clean().replace(
        "part 2 (Complexity: 2)",
        &format!("{} (Complexity: 7)", "word ".repeat(300)),
    );
    assert_snapshot!(validate(&at_the_end, &[]), @"
    exit status: 0
    --- stdout
    tasks.md: valid, 2 leaf tasks, 0 errors, 0 warnings
    ");
    let whole_line = clean().replace("part 2 (Complexity: 2)", &"word ".repeat(300));
    for tree in [long, wide, at_the_end, whole_line] {
        let output = validate(&tree, &["--max-complexity", "1", "--all"]);
        let shown = output.stdout.lines().filter(|line| line.contains(" | "));
        let columns: Vec<usize> = shown.map(|line| line.width()).collect();
        assert!(
            !columns.is_empty() && columns.iter().all(|&columns| columns <= 80),
            "{columns:?} {output}"
        );
    }
}

/// Terminals obey control characters, so none from a plan may reach one, whichever text shows the plan.
#[test]
fn control_characters_are_made_visible() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{8}";
    let evil_tree = clean()
        .replace("Write part 2", &format!("Write {evil} part 2"))
        .replace(
            "  - Test Commands: none\n- [ID: 2]",
            &format!("  - Owner{evil}: x\n  - Ownér: {evil}\n- [ID: 2]"),
        )
        .replace("Files: b.txt", &format!("Files: {evil}b.txt, b.txt"))
        .replace("Dependencies: 1", &format!("Dependencies: {evil}9"));
    let environment = Environment::new().repo();
    environment.plan(&evil_tree);
    assert_snapshot!(environment.fp(&["validate", PLAN]), @r"
    exit status: 1
    --- stdout
    .fractal-planner/plans/sample-20261121/tasks.md:15:5: warning[unknown-field]: `Ownér` is not a field of a task
    15 |   - Ownér: ␛]0;owned␇␛[2J�31m�␈
       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: `fp validate --explain unknown-field` lists the fields; what is no field needs no colon

    .fractal-planner/plans/sample-20261121/tasks.md:19:19: error[unknown-dependency]: there is no task `␛]0`
    19 |   - Dependencies: ␛]0;owned␇␛[2J�31m�␈9
       |                   ^^^
      hint: name tasks by their ids, separated by commas, or write `none`

    .fractal-planner/plans/sample-20261121/tasks.md:19:23: error[unknown-dependency]: there is no task `owned␇␛[2J�31m�␈9`
    19 |   - Dependencies: ␛]0;owned␇␛[2J�31m�␈9
       |                       ^^^^^^^^^^^^^^^^^
      hint: name tasks by their ids, separated by commas, or write `none`

    .fractal-planner/plans/sample-20261121/tasks.md:20:12: error[path-escape]: `\u{1b}]0` is outside the repository: it has a control character in it
    20 |   - Files: ␛]0;owned␇␛[2J�31m�␈b.txt, b.txt
       |            ^^^
      hint: name files relative to the repository

    .fractal-planner/plans/sample-20261121/tasks.md:20:16: error[path-escape]: `owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{8}b.txt` is outside the repository: it has a control character in it
    20 |   - Files: ␛]0;owned␇␛[2J�31m�␈b.txt, b.txt
       |                ^^^^^^^^^^^^^^^^^^^^^
      hint: name files relative to the repository

    .fractal-planner/plans/sample-20261121/tasks.md: not valid, 2 leaf tasks, 4 errors, 1 warning
    ");
    let titled = clean().replace("Write part 2", &format!("Write {evil} part 2"));
    environment.plan(&titled);
    environment.start(&[]);
    assert_snapshot!(environment.fp(&["show", PLAN]), @r"
    exit status: 0
    --- stdout
    root  Sample goal (5)
    ├─ 1  Write part 1 (2, ready)
    └─ 2  Write ␛]0;owned␇␛[2J�31m�␈ part 2 (2, waiting)  after 1
    ");
    assert_snapshot!(environment.fp(&["status", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running)
    ▱▱▱▱▱▱▱▱▱▱ 0 of 2 tasks done, 1 ready, 1 waiting

      ● 1  ready      Write part 1
      ○ 2  waiting    Write ␛]0;owned␇␛[2J�31m�␈ part 2
                      it waits for 1
    ");
    let harmless = |text: &str| {
        text.chars()
            .all(|c| c == '\n' || !(c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c)))
    };
    for command in [
        vec!["validate", PLAN],
        vec!["show", PLAN],
        vec!["status", PLAN],
        vec!["plan", PLAN],
        vec!["next", PLAN],
        vec!["claim", PLAN, "--as", "builder-1"],
        vec!["plans"],
        vec!["validate", "--explain", evil],
        vec!["validate", evil],
        vec!["approve", PLAN, "--yes"],
    ] {
        let output = environment.fp(&command);
        assert!(
            harmless(&output.stdout) && harmless(&output.stderr),
            "{command:?}: {output}"
        );
    }
}

#[test]
fn fifty_are_shown_and_all_on_request() {
    let leaves: Vec<String> = (1..=60).map(|id| id.to_string()).collect();
    let files: Vec<String> = (1..=60).map(|id| format!("{id}.txt")).collect();
    let leaves: Vec<_> = leaves
        .iter()
        .zip(&files)
        .map(|(id, file)| leaf(id, "none", file))
        .collect();
    let large = tree(&leaves).replace("(Complexity: 2)", "(Complexity: 9)");
    let place = with(&large);
    let shown = |flags: &[&str]| {
        let output = place.fp(&[&["validate", crate::validate::FILE], flags].concat());
        assert_eq!((output.code, output.stderr.as_str()), (1, ""), "{output}");
        let count = output.stdout.matches("error[over-complexity]").count();
        let end: Vec<String> = output
            .stdout
            .lines()
            .rev()
            .take(3)
            .map(str::to_owned)
            .collect();
        (count, end)
    };
    let summary = "tasks.md: not valid, 60 leaf tasks, 60 errors, 0 warnings";
    assert_eq!(
        shown(&[]),
        (
            50,
            [summary, "", "(10 more: fp validate --all)"]
                .map(str::to_owned)
                .into()
        )
    );
    let (count, end) = shown(&["--all"]);
    assert_eq!((count, end[0].as_str(), end[1].as_str()), (60, summary, ""));
}

#[test]
fn what_can_not_be_checked() {
    let environment = Environment::new().repo();
    assert_snapshot!(environment.fp(&["validate", "none.md"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/none.md can't be read: no such file or directory
    hint: check the path
    ");
    assert_snapshot!(environment.fp(&["validate", "none"]), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "none": there is no plan yet
    hint: plan a goal with `/fp:plan GOAL` in Claude Code, or by hand with `fp new GOAL`
    "#);
    environment.write("tasks.md", b"- \xff");
    assert_snapshot!(environment.fp(&["validate", "tasks.md"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/tasks.md:1:3: not UTF-8 text
    hint: save the file as UTF-8
    ");
    environment.write("tasks.md", clean());
    environment.write("interview.json", "{ \"requirements\": [");
    assert_snapshot!(environment.fp(&["validate", "tasks.md"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/interview.json:1:19: EOF while parsing a list
    hint: correct that place, or delete the file to begin anew
    ");
    assert_snapshot!(environment.fp(&["--format", "html", "validate", "tasks.md"]), @r"
    exit status: 2
    --- stderr
    error: invalid value 'html' for '--format <FORMAT>'
      [possible values: text, json]

    For more information, try '--help'.
    ");
}

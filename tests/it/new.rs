//! `fp new`: from a goal to a plan folder.

use std::fs;

use crate::common::Environment;
use insta::assert_snapshot;

#[test]
fn a_person_is_told_what_comes_next() {
    let environment = Environment::new().repo();
    assert_snapshot!(environment.fp(&["new", "add a greeting command"]), @"
    exit status: 0
    --- stdout
    Plan add-greeting-command-20261121
      folder  [ROOT]/work/.fractal-planner/plans/add-greeting-command-20261121
      mode    pipeline: no --mode says otherwise
      steps   interview, decompose, critique, review, approve

    Next, by hand (`/fp:plan` in Claude Code does all of it):
      fp interview add-greeting-command-20261121 --objective TEXT --requirement TEXT
      write tasks.md in the folder
      fp validate add-greeting-command-20261121
      fp schedule add-greeting-command-20261121
      fp approve add-greeting-command-20261121
    ");
    assert_snapshot!(environment.read(".fractal-planner/plans/add-greeting-command-20261121/plan.json"), @r#"
    {
      "schemaVersion": 1,
      "planId": "add-greeting-command-20261121",
      "goal": "add a greeting command",
      "mode": "pipeline",
      "modeReason": "no --mode says otherwise",
      "createdAt": "2026-11-21T09:00:00Z",
      "by": "user",
      "settings": {}
    }
    "#);
    assert_eq!(
        environment.git(&["status", "--short"]),
        "",
        "plans are ignored by git"
    );
}

#[test]
fn the_skill_gets_all_of_it_as_json() {
    let environment = Environment::new().repo();
    environment.write(
        "../home/.config/fractal-planner/config.json",
        r#"{"skipPlanReview": true, "language": "Korean"}"#,
    );
    let output = environment.fp(&[
        "new",
        "--format",
        "json",
        "--mode",
        "direct",
        "--max-complexity",
        "3",
        "오타를 고쳐 줘",
    ]);
    assert_snapshot!(output, @r#"
    exit status: 0
    --- stdout
    {
      "attended": true,
      "commitStyle": {
        "language": "Korean",
        "style": "PLAIN"
      },
      "config": {
        "language": "Korean",
        "linear": false,
        "maxComplexity": 3,
        "maxParallelTasks": 1,
        "researchOnly": false,
        "skipPlanReview": true
      },
      "debts": [],
      "goal": null,
      "import": null,
      "interruptedPlans": [],
      "language": "Korean: questions, reports, titles of tasks and their criteria. Ids, names of fields, commands and code stay as they are. Say so in each agent's prompt.",
      "mode": {
        "name": "direct",
        "reason": "asked for with --mode"
      },
      "path": "[ROOT]/work/.fractal-planner/plans/plan-20261121",
      "planId": "plan-20261121",
      "schemaVersion": 1,
      "setup": [],
      "specs": [],
      "steps": [
        "decompose",
        "approve"
      ],
      "warnings": []
    }
    "#);
}

#[test]
fn without_git_it_works_and_warns() {
    let environment = Environment::new();
    let output = environment.fp(&["new", "--mode", "full", "--auto", "Fix a typo"]);
    assert_eq!(output.code, 0);
    assert_snapshot!(output.stderr, @"warning: every task becomes a commit, and [ROOT]/work is not in a git working tree; run it inside a repository, or make one with `git init`");
    assert_snapshot!(output.stdout.lines().take(4).collect::<Vec<_>>().join("\n"), @"
    Plan fix-typo-20261121
      folder  [ROOT]/work/.fractal-planner/plans/fix-typo-20261121
      mode    full: asked for with --mode
      steps   interview, research, approach, decompose, critique, review, approve
    ");
    let output = environment.fp(&["new", "--format", "json", "Fix a typo"]);
    assert_snapshot!(output.json()["warnings"], @r#"["every task becomes a commit, and [ROOT]/work is not in a git working tree; run it inside a repository, or make one with `git init`"]"#);

    environment.git(&["init", "--quiet"]);
    assert_snapshot!(environment.fp(&["new", "Fix a typo"]).stderr, @"warning: every task becomes a commit, and the repository has no commit yet; commit something first: a run needs a state to start from");
}

#[test]
fn flags_say_how_much_planning() {
    let environment = Environment::new().repo();
    let check = |args: &[&str], mode: &str, steps: &str| {
        let args = [&["new", "--format", "json"], args].concat();
        let report = environment.fp(&args).json();
        let listed = report["steps"].as_array().unwrap().iter();
        let listed: Vec<&str> = listed.map(|step| step.as_str().unwrap()).collect();
        assert_eq!(report["mode"]["name"], mode, "{args:?}");
        assert_eq!(listed.join(" "), steps, "{args:?}");
        report
    };
    let gated = "interview decompose critique review approve";
    let report = check(
        &["--research-only", "파서 정리"],
        "pipeline",
        "interview research",
    );
    let kept = environment.read(&format!(
        ".fractal-planner/plans/{}/plan.json",
        report["planId"].as_str().unwrap()
    ));
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(
        kept["settings"],
        serde_json::json!({ "researchOnly": true })
    );
    assert_eq!(report["config"]["researchOnly"], true);
    check(&["--plan-only", "Parse numbers"], "pipeline", gated);
    check(
        &["--mode", "direct", "Fix a typo"],
        "direct",
        "decompose approve",
    );
    check(
        &["--research-only", "--mode", "direct", "Fix a typo"],
        "pipeline",
        "interview research",
    );
    check(
        &["--mode", "full", "Build a todo app"],
        "full",
        "interview research approach decompose critique review approve",
    );
}

#[test]
fn a_goal_may_be_any_text() {
    let environment = Environment::new().repo();
    let check = |args: &[&str], goal: &str, id: &str| {
        let args: Vec<&str> = ["new", "--format", "json"]
            .into_iter()
            .chain(args.iter().copied())
            .collect();
        let report = environment.fp(&args).json();
        assert_eq!(
            (report["goal"].as_str(), report["planId"].as_str()),
            (None, Some(id)),
            "{args:?}"
        );
        let record: serde_json::Value = serde_json::from_str(
            &environment.read(&format!(".fractal-planner/plans/{id}/plan.json")),
        )
        .unwrap();
        assert_eq!(record["goal"], goal);
    };
    check(
        &["several", "words"],
        "several words",
        "several-words-20261121",
    );
    check(&["--", "--weird", "-x"], "--weird -x", "weird-x-20261121");
    check(&["로그인 추가"], "로그인 추가", "plan-20261121");
    check(&["결제 추가"], "결제 추가", "plan-20261121-2");
    check(
        &["say \"hi\"\n\n$(touch x) `y` 'z' \\"],
        "say \"hi\"\n\n$(touch x) `y` 'z' \\",
        "say-hi-touch-x-y-z-20261121",
    );
    let long = "word ".repeat(20_000);
    check(&[&long], &long, "word-word-word-word-word-word-20261121");
    assert!(!environment.path("x").exists());
}

#[test]
fn a_goal_comes_from_standard_input() {
    let environment = Environment::new().repo();
    let goal = "Don't print `x` when it's $HOME\n- \"so\"\n";
    environment.write("goal.txt", goal);
    let mut command = environment.command(env!("CARGO_BIN_EXE_fp"));
    command.args(["new", "--mode", "full", "-"]);
    command.stdin(fs::File::open(environment.path("goal.txt")).unwrap());
    assert!(command.output().unwrap().status.success());
    let record =
        environment.read(".fractal-planner/plans/dont-print-x-when-its-home-20261121/plan.json");
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(
        (&record["goal"], &record["mode"]),
        (&goal.trim().into(), &"full".into())
    );
    assert_eq!(environment.fp(&["new", "-"]).code, 2, "an empty goal");
}

#[test]
fn a_goal_of_which_there_are_too_many_plans() {
    let environment = Environment::new().repo();
    let plan = |suffix: &str| format!(".fractal-planner/plans/fix-typo-20261121{suffix}");
    std::fs::create_dir_all(environment.path(&plan(""))).unwrap();
    (2..=999).for_each(|number| {
        std::fs::create_dir(environment.path(&plan(&format!("-{number}")))).unwrap()
    });
    assert_snapshot!(environment.fp(&["new", "Fix a typo"]), @"
    exit status: 2
    --- stderr
    error: there are too many plans called fix-typo-20261121
    hint: say in the goal what is special about this plan
    ");
}

#[test]
fn a_goal_has_to_say_something() {
    let environment = Environment::new().repo();
    let check = |args: &[&str]| {
        let output = environment.fp(args);
        assert_eq!(output.code, 2, "{args:?}");
        assert!(!environment.path(".fractal-planner").exists(), "{args:?}");
        output
    };
    assert_snapshot!(check(&["new", ""]), @r"
    exit status: 2
    --- stderr
    error: the goal is empty
    hint: name the goal: `fp new 'Add a greeting command'`
    ");
    check(&["new", " \n\t "]);
    check(&["new"]);
    assert_snapshot!(check(&["new", "x", "--max-complexity", "11"]), @r"
    exit status: 2
    --- stderr
    error: invalid value '11' for '--max-complexity <N>': it has to be a whole number from 1 to 10

    For more information, try '--help'.
    ");
    assert_snapshot!(check(&["new", "x", "--mode", "quick"]), @r"
    exit status: 2
    --- stderr
    error: invalid value 'quick' for '--mode <MODE>'
      [possible values: direct, specified, pipeline, full]

    For more information, try '--help'.
    ");
}

#[test]
fn from_a_linked_worktree_the_plan_is_made_in_the_main_one() {
    let environment = Environment::new().repo();
    environment.git(&["worktree", "add", "--quiet", "../linked"]);
    fs::create_dir(environment.beside("linked/src")).unwrap();
    let report = environment
        .fp_in("../linked/src", &["new", "--format", "json", "x"])
        .json();
    assert_eq!(
        report["path"],
        "[ROOT]/work/.fractal-planner/plans/x-20261121"
    );
}

#[test]
fn a_plan_whose_run_is_not_over_is_named() {
    let environment = Environment::new().repo();
    environment.fp(&["new", "first"]);
    environment.write(
        ".fractal-planner/plans/first-20261121/tasks.md",
        "# Tasks\n\n- [ID: root] All (Complexity: 2)\n  - [ID: 1] One (Complexity: 2)\n    - Acceptance:\n      - \
         `true` exits with 0\n    - Dependencies: none\n    - Files: a.txt\n    - Tests Required: no\n    - \
         Hints:\n      - a\n      - b\n    - Guardrails:\n      - Do NOT modify files outside: a.txt\n  - [ID: 2] \
         Two (Complexity: 2)\n    - Acceptance:\n      - `true` exits with 0\n    - Dependencies: none\n    - \
         Files: b.txt\n    - Tests Required: no\n    - Hints:\n      - a\n      - b\n    - Guardrails:\n      - Do \
         NOT modify files outside: b.txt\n",
    );
    for args in [
        &["approve", "first", "--yes"][..],
        &["run", "start", "first"],
    ] {
        let output = environment.fp(args);
        assert_eq!(output.code, 0, "{args:?}\n{output}");
    }
    let report = environment
        .fp(&["new", "--format", "json", "second"])
        .json();
    assert_snapshot!(report["interruptedPlans"], @r#"[{"done":0,"planId":"first-20261121","total":2}]"#);
}

#[test]
fn attended_says_whether_somebody_can_be_asked() {
    let environment = Environment::new().repo();
    assert_eq!(
        environment.fp(&["new", "--format", "json", "x"]).json()["attended"],
        true
    );
    let environment = environment.env("CLAUDE_CODE_SESSION_ATTENDED", "0");
    assert_eq!(
        environment.fp(&["new", "--format", "json", "x"]).json()["attended"],
        false
    );
}

#[cfg(unix)]
mod links_and_disks {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_made_outside_the_repository() {
        let environment = Environment::new().repo();
        fs::create_dir(environment.beside("outside")).unwrap();
        symlink(
            environment.beside("outside"),
            environment.path(".fractal-planner"),
        )
        .unwrap();
        assert_snapshot!(environment.fp(&["new", "x"]), @r"
        exit status: 2
        --- stderr
        error: [ROOT]/work/.fractal-planner/plans leads out of the repository, to [ROOT]/outside
        hint: put a real folder in the link's place, or set `plansDir` to one inside the repository
        ");
        assert_eq!(
            fs::read_dir(environment.beside("outside")).unwrap().count(),
            0
        );
    }

    #[test]
    fn a_disk_that_takes_no_more() {
        let environment = Environment::new().repo();
        environment.fp(&["new", "first"]);
        let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" new second";
        let output = environment.run("sh", &["-c", script, env!("CARGO_BIN_EXE_fp")]);
        assert_snapshot!(output, @r"
        exit status: 2
        --- stderr
        error: [ROOT]/work/.fractal-planner/plans/second-20261121/plan.json can't be written: file too large
        hint: the limit on the size of files is reached: `ulimit -f` says what it is
        ");
        let plans = fs::read_dir(environment.path(".fractal-planner/plans")).unwrap();
        let mut left: Vec<_> = plans.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(
            left,
            [".gitignore", "first-20261121"],
            "nothing half made is left"
        );
    }

    #[test]
    fn a_file_where_the_plans_should_be() {
        let environment = Environment::new().repo();
        environment.write(".fractal-planner/plans", "");
        assert_snapshot!(environment.fp(&["new", "x"]), @r"
        exit status: 2
        --- stderr
        error: [ROOT]/work/.fractal-planner/plans is not a folder
        hint: move the file out of the way
        ");
        fs::remove_dir_all(environment.path(".fractal-planner")).unwrap();
        environment.write(".fractal-planner", "");
        assert_snapshot!(environment.fp(&["new", "x"]), @r"
        exit status: 2
        --- stderr
        error: [ROOT]/work/.fractal-planner/config.json can't be read: not a directory
        hint: a file stands where a folder of that path should be: move it out of the way
        ");
    }
}

#[test]
fn work_noted_for_later_is_listed() {
    let environment = Environment::new().repo();
    environment.fp(&["new", "add a greeting command"]);
    let note = |text: &str| environment.fp(&["note", "add-greeting-command-20261121", "add", text]);
    note("DEBT: The greeting is not translated");
    note("WARN: The parser is fragile");
    let output = environment.fp(&["new", "translate the program", "--format", "json"]);
    assert_eq!(
        output.json()["debts"],
        serde_json::json!([
            "add-greeting-command-20261121 [plan] DEBT: The greeting is not translated"
        ])
    );
    let output = environment.fp(&["new", "translate all of it"]);
    assert!(
        output.stdout.contains(
            "Noted for later (ask what of it belongs to this goal):\n  add-greeting-command-20261121 [plan] DEBT:"
        ),
        "{output}"
    );
    environment.fp(&["plans", "archive", "add-greeting-command-20261121"]);
    let output = environment.fp(&["new", "translate it again", "--format", "json"]);
    assert_eq!(output.json()["debts"], serde_json::json!([]));
}

//! Conditions for starting an agent.

use super::*;

#[test]
fn a_whole_run() {
    let environment = scene(6);
    let output = lead(&environment, &["-j", "3"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("6 of 6 tasks done"), "{output}");
    assert!(
        output.stdout.contains("Cost: 13k tokens, 0.12 USD"),
        "{output}"
    );
    assert!(
        output.stdout.contains("builder-3 claims it (attempt 1)"),
        "{output}"
    );
    expect_all_done(&environment, 6);
    expect_nothing_left(&environment);
    // Each builder worked in a worktree of its own, and all of them are gone.
    let places = home_text(&environment, "agents.log");
    assert!(places.contains("worktrees/builder-2\n"), "{places}");
    // A verifier judges on a bench, and all of them are gone.
    let verifiers = || places.lines().filter(|line| line.starts_with("verifier "));
    assert!(
        verifiers().count() == 6
            && verifiers().all(|line| line.contains("/fractal-planner/benches/")),
        "{places}"
    );
    assert_eq!(environment.git(&["worktree", "list"]).lines().count(), 1);
    let benches = environment.beside("home/.cache/fractal-planner/benches");
    assert_eq!(fs::read_dir(benches).unwrap().count(), 0);
}

#[test]
fn the_report_alone() {
    let environment = scene(1);
    let output = lead(&environment, &["--ask"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output}");
    assert!(
        output
            .stdout
            .starts_with("Plan sample-20261121 (finished)\n1 of 1 tasks done\n"),
        "{output}"
    );
    let again = lead(&environment, &["--ask"]);
    assert_eq!(again.code, 0, "{again}");
    let json = environment.fp(&["run", PLAN, "--format", "json"]).json();
    assert_eq!(json["counts"]["completed"], 1);
}

#[test]
fn nothing_starts_in_a_repository_that_is_not_trusted() {
    let environment = scene(1);
    let refused = environment.fp(&["run", PLAN]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(
        refused
            .stderr
            .contains("builders and verifiers are processes of own (own {role} {name} {prompt}). In [ROOT]/work they take on its settings"),
        "{refused}"
    );
    assert_eq!(home_text(&environment, "agents.log"), "");
    let record = environment.beside("home/.claude.json");
    for (accepted, code) in [("false", 1), ("true", 0)] {
        let text = format!(
            r#"{{"projects": {{"{}": {{"hasTrustDialogAccepted": {accepted}}}}}}}"#,
            environment
                .path("")
                .display()
                .to_string()
                .trim_end_matches('/')
        );
        fs::write(&record, text).unwrap();
        assert_eq!(environment.fp(&["run", PLAN]).code, code);
    }
}

#[test]
fn its_own_plugin_is_where_no_sandbox_writes_and_goes_again() {
    let environment = scene(1);
    let state = environment.trust_store().parent().unwrap().to_owned();
    let left = || {
        let entries = fs::read_dir(&state)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        entries
            .filter(|name| name.to_str().unwrap().starts_with("fp-run-"))
            .count()
    };
    fs::write(
        environment.beside("home/first"),
        "command -v fp >>\"$HOME/programs\"\n",
    )
    .unwrap();
    // One folder left by a process killed an hour ago, and one that is about to be used.
    for (name, age) in [("fp-run-old", "1 hour ago"), ("fp-run-new", "now")] {
        fs::create_dir(state.join(name)).unwrap();
        let touched = environment
            .command("touch")
            .args(["-d", age])
            .arg(state.join(name))
            .status()
            .unwrap();
        assert!(touched.success());
    }
    assert_eq!(lead(&environment, &[]).code, 0);
    assert_eq!(left(), 1);
    let programs = home_text(&environment, "programs");
    assert!(
        programs
            .lines()
            .all(|line| line.starts_with(&*state.to_string_lossy())),
        "{programs}"
    );
}

#[test]
fn a_yes_is_remembered() {
    let environment = scene(1);
    assert_eq!(lead(&environment, &[]).code, 0);
    assert_eq!(environment.fp(&["run", PLAN]).code, 0);
}

#[test]
fn programs_that_cannot_play() {
    let environment = scene(1);
    let told = |args: &[&str]| {
        let output = lead(&environment, args);
        assert_eq!(output.code, 2, "{output}");
        output.stderr
    };
    let unknown = told(&["--agent", "nobody"]);
    assert!(
        unknown.contains("there is no program \"nobody\" for agents"),
        "{unknown}"
    );
    assert!(
        unknown.contains("take: claude, codex, opencode, own"),
        "{unknown}"
    );
    let missing = told(&["--agent", "codex"]);
    assert!(missing.contains("codex is not installed"), "{missing}");
    assert!(
        missing
            .contains("npm install -g @openai/codex; or take what is there with --agent: claude"),
        "{missing}"
    );
    settings(
        &environment,
        "gone",
        r#", "programs": { "gone": { "start": ["/nowhere/at-all"] } }"#,
    );
    let text =
        fs::read_to_string(environment.beside("home/.config/fractal-planner/config.json")).unwrap();
    let text = text.replacen(
        "\"programs\": { \"own\": { \"start\": [\"own\", \"{role}\", \"{name}\", \"{prompt}\"] } } ,",
        "",
        1,
    );
    fs::write(
        environment.beside("home/.config/fractal-planner/config.json"),
        text,
    )
    .unwrap();
    let gone = told(&[]);
    assert!(
        gone.contains("gone can't be started: No such file or directory"),
        "{gone}"
    );
    let old = environment.env("CLAUDE_VERSION", "2.0.9");
    let output = lead(&old, &["--agent", "claude"]);
    assert!(
        output.stderr.contains("claude 2.1.200 or newer is needed"),
        "{output}"
    );
    assert_eq!(output.code, 2);
}

#[test]
fn arguments_that_mean_nothing() {
    let environment = scene(1);
    for args in [
        &["--budget", "much"][..],
        &["--budget", "-5"],
        &["--budget", "0"],
        &["-j", "0"],
        &["-j", "17"],
    ] {
        let output = lead(&environment, args);
        assert_eq!(output.code, 2, "{output}");
    }
    let both = lead(&environment, &["--ask", "--unattended"]);
    assert_eq!(both.code, 2, "{both}");
}

#[test]
fn a_plan_that_was_not_approved_is_named_before_a_program_that_is_missing() {
    let environment = scene(1);
    environment.fp(&["new", "Another"]);
    let output = environment.fp(&["run", "another", "--yes", "--agent", "no-such-program"]);
    assert!(
        output
            .stderr
            .starts_with("error: the plan is not approved yet"),
        "{output}"
    );
}

#[test]
fn a_plan_that_was_not_approved_here() {
    let environment = scene(1);
    fs::remove_file(environment.trust_store()).unwrap();
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 1, "{output}");
    assert!(output.stderr.contains("was approved elsewhere"), "{output}");
}

#[test]
fn a_second_lead_says_who_is_the_first() {
    let environment = scene(1);
    fs::write(environment.beside("home/wait"), "60").unwrap();
    let mut first = lead_in_background(&environment, &[]);
    until("nothing started", || {
        home_text(&environment, "agents.log").contains("builder")
    });
    let second = lead(&environment, &[]);
    assert_eq!(second.code, 1, "{second}");
    assert!(
        second.stderr.contains(&format!(
            "process {} of this machine leads the run",
            first.id()
        )),
        "{second}"
    );
    let next = environment.fp(&["next", PLAN]);
    assert!(
        next.stderr
            .contains("the run of sample-20261121 is one that `fp run` leads"),
        "{next}"
    );
    let start = environment.fp(&["start", PLAN, "--session", "s1"]);
    assert!(
        start
            .stderr
            .contains(&format!("`fp run`, process {} leads the run", first.id())),
        "{start}"
    );
    first.kill().unwrap();
    first.wait().unwrap();
    expect_nothing_left(&environment);
}

#[test]
fn another_program_has_other_models() {
    let environment = scene(1);
    settings(&environment, "claude", "");
    builder_model(&environment, "haiku");
    assert_eq!(lead(&environment, &["--agent", "own"]).code, 0);
    let status = environment
        .done(&["status", PLAN, "--format", "json"])
        .json();
    assert_eq!(status["cost"]["agents"][0]["program"], "own");
    assert_eq!(
        status["cost"]["agents"][0]["model"],
        serde_json::Value::Null
    );
}

#[test]
fn the_session_hands_the_run_over() {
    let environment = scene(1);
    let folder = environment.beside("home/.config/fractal-planner");
    fs::write(folder.join("config.json"), r#"{ "engine": "processes" }"#).unwrap();
    let output = environment.fp(&[
        "start",
        PLAN,
        "--session",
        "s1",
        "--builders",
        "3",
        "--no-commit",
    ]);
    assert_eq!(
        output.stdout,
        "In the background: fp run sample-20261121 --ask -j 3 --no-commit\n"
    );
    let here = environment.fp(&["start", PLAN, "--session", "s1", "--here"]);
    assert!(
        here.stdout.contains("Next: fp next sample-20261121"),
        "{here}"
    );
}

#[test]
fn agents_run_what_was_approved_and_nothing_that_a_star_stands_for() {
    let environment = scene(3);
    settings(&environment, "claude", "");
    let path = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let change = |from: &str, to: &str| {
        let tree = environment.read(&path);
        assert!(tree.contains(from), "{tree}");
        environment.write(&path, tree.replace(from, to));
    };
    change("grep -q line part-2.txt", "grep -q line part-2*");
    environment.done(&["approve", PLAN, "--yes"]);
    change("grep -q line part-3.txt", "grep -q another part-3.txt");
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 1, "{output}");
    assert!(
        output.stderr.contains("nothing can go on by itself"),
        "{output}"
    );
    let log = home_text(&environment, "claude.log");
    let rules = log
        .lines()
        .next()
        .unwrap()
        .split("--allowedTools ")
        .nth(1)
        .unwrap();
    assert_eq!(rules, "Bash(grep -q line part-1.txt) --strict-mcp-config");
}

#[test]
fn the_version_of_a_program_is_asked_outside_of_the_repository() {
    let environment = scene(1);
    write_program(
        &environment.beside("bin/claude"),
        "#!/bin/sh\npwd >\"$HOME/asked-in\"\necho '1.0.0 (Claude Code)'\n",
    );
    assert_eq!(lead(&environment, &["--agent", "claude"]).code, 2);
    let place = home_text(&environment, "asked-in");
    assert!(!place.is_empty() && !place.contains("/work"), "{place}");
}

#[test]
fn a_conversation_goes_on_only_by_an_id_that_is_nothing_else_and_with_its_own_program() {
    for (id, expected) in [
        ("c-1", "new\nagain c-1\n"),
        ("--flag", "new\nnew\n"),
        ("c;1", "new\nnew\n"),
    ] {
        let environment = scene(1);
        let script = format!(
            "if [ $role = builder ]; then\n  echo \"${{4-new}} $5\" | sed 's/ $//' >>\"$HOME/calls\"\n  \
             cat \"$3\" >>\"$HOME/prompts\"\n  if mkdir \"$HOME/once\" 2>/dev/null; then\n    fp claim $plan --as $name >/dev/null\n    \
             echo '{{\"session\": \"{id}\"}}'\n    exit 0\n  fi\nfi\n"
        );
        fs::write(environment.beside("home/first"), script).unwrap();
        let programs = r#"{ "verify": { "judge": "each" }, "agents": { "builder": { "program": "own" }, "verifier": { "program": "own" },
            "programs": { "own": { "start": ["own", "{role}", "{name}", "{prompt}"],
                "resume": ["own", "{role}", "{name}", "{prompt}", "again", "{session}"] } } } }"#;
        fs::write(
            environment.beside("home/.config/fractal-planner/config.json"),
            programs,
        )
        .unwrap();
        let output = lead(&environment, &[]);
        assert_eq!(output.code, 0, "{output}");
        assert_eq!(home_text(&environment, "calls"), expected, "{id}");
        let prompts = home_text(&environment, "prompts");
        assert!(prompts.contains("You are builder-1") && !prompts.contains("1. You"));
    }
}

#[test]
fn a_single_builder_has_a_worktree_and_a_verifier_judges_a_direct_plan() {
    let environment = scene(1);
    environment.write(
        &format!(".fractal-planner/plans/{PLAN}/plan.json"),
        r#"{"mode": "direct"}"#,
    );
    assert_eq!(lead(&environment, &["-j", "1"]).code, 0);
    let agents = home_text(&environment, "agents.log");
    assert!(
        agents.contains("worktrees/builder-1\n") && agents.contains("verifier verifier-1-i1"),
        "{agents}"
    );
}

/// A verifier waits until every task was claimed, so a builder that waited for a verdict would never end.
#[test]
fn no_builder_waits_for_a_verdict() {
    let environment = scene(4);
    let script = r#"
tries=0
while [ "$role" = verifier ] && [ "$(grep -c ^builder "$HOME/agents.log")" -lt 4 ]; do
  tries=$((tries + 1))
  [ $tries -gt 300 ] && exit 1
  sleep 0.1
done
"#;
    fs::write(environment.beside("home/first"), script).unwrap();
    let output = lead(&environment, &["-j", "2"]);
    assert_eq!(output.code, 0, "{output}");
    expect_all_done(&environment, 4);
    expect_nothing_left(&environment);
}

/// A setup that fails costs no agent.
#[test]
fn a_setup_that_fails_starts_nobody() {
    let environment = scene(1);
    let file = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let root = "Sample goal (Complexity: 5)\n";
    let setup = format!("{root}  - Setup:\n    - echo no registry >&2; exit 3\n");
    environment.write(&file, environment.read(&file).replace(root, &setup));
    environment.done(&["approve", PLAN, "--yes"]);
    let output = lead(&environment, &[]);
    assert!(
        output.code == 1 && output.stderr.contains("no registry"),
        "{output}"
    );
    assert_eq!(home_text(&environment, "agents.log"), "");
    environment.write(&file, environment.read(&file).replace("exit 3", "exit 0"));
    environment.done(&["approve", PLAN, "--yes"]);
    assert_eq!(lead(&environment, &[]).code, 0);
    expect_all_done(&environment, 1);
}

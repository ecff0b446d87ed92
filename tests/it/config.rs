//! `fp config`: shows values and their origins, reports errors in a file, and changes one setting.

mod change;

use std::fs;

use crate::common::Environment;
use insta::assert_snapshot;

fn with_user_file(environment: &Environment, text: &str) {
    let folder = environment.beside("home/.config/fractal-planner");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.json"), text).unwrap();
}

#[test]
fn the_defaults() {
    assert_snapshot!(Environment::new().repo().fp(&["config"]), @"
    exit status: 0
    --- stdout
    agents.allow             default  none
    agents.builder.effort    default  -
    agents.builder.model     default  -
    agents.builder.program   default  claude
    agents.programs          default  {}
    agents.silenceMinutes    default  30
    agents.verifier.effort   default  -
    agents.verifier.model    default  -
    agents.verifier.program  default  claude
    branch                   default  auto
    budget.run               default  -
    budget.task              default  -
    commentChecker.enabled   default  true
    commentChecker.ignore    default  none
    commentChecker.mode      default  warn
    commit.trailers          default  true
    engine                   default  auto
    exclusive                default  none
    executionOrder           default  document-order
    fleet.leaseMinutes       default  15
    fleet.signed             default  false
    guard.extend             default  ask
    guard.mode               default  deny
    isolation                default  auto
    language                 default  -
    linear.enabled           default  false
    linear.project           default  -
    linear.statusMap         default  {}
    linear.team              default  -
    maxComplexity            default  8
    maxIterations            default  3
    maxParallelTasks         default  1
    noCommit                 default  false
    notify.command           default  none
    nudge.maxRetries         default  3
    plansDir                 default  .fractal-planner/plans
    pr                       default  false
    researchOnly             default  false
    sandbox.mode             default  on
    sandbox.write            default  none
    skipPlanReview           default  false
    testFirst                default  false
    verify.judge             default  risk
    verify.place             default  bench
    verify.timeoutSeconds    default  600
    --- stderr
    user:    [ROOT]/home/.config/fractal-planner/config.json (not there)
    project: [ROOT]/work/.fractal-planner/config.json (not there)
    ");
}

#[test]
fn where_each_value_comes_from() {
    let environment = Environment::new()
        .repo()
        .env("COMMENT_CHECKER_DISABLED", "1");
    with_user_file(
        &environment,
        r#"{"maxComplexity": 3, "nudge": {"maxRetries": 5}, "language": "한국어"}"#,
    );
    let config =
        serde_json::json!({ "maxComplexity": 5, "commentChecker": { "ignore": ["a", "b"] } });
    environment.write(".fractal-planner/config.json", config.to_string());
    let output = environment.fp(&["config"]);
    assert!(
        output.stdout.lines().all(|line| line.chars().count() <= 80),
        "{output}"
    );
    assert_snapshot!(output, @"
    exit status: 0
    --- stdout
    agents.allow             default  none
    agents.builder.effort    default  -
    agents.builder.model     default  -
    agents.builder.program   default  claude
    agents.programs          default  {}
    agents.silenceMinutes    default  30
    agents.verifier.effort   default  -
    agents.verifier.model    default  -
    agents.verifier.program  default  claude
    branch                   default  auto
    budget.run               default  -
    budget.task              default  -
    commentChecker.enabled   runtime  false
    commentChecker.ignore    project  a, b
    commentChecker.mode      default  warn
    commit.trailers          default  true
    engine                   default  auto
    exclusive                default  none
    executionOrder           default  document-order
    fleet.leaseMinutes       default  15
    fleet.signed             default  false
    guard.extend             default  ask
    guard.mode               default  deny
    isolation                default  auto
    language                 user     한국어
    linear.enabled           default  false
    linear.project           default  -
    linear.statusMap         default  {}
    linear.team              default  -
    maxComplexity            project  5
    maxIterations            default  3
    maxParallelTasks         default  1
    noCommit                 default  false
    notify.command           default  none
    nudge.maxRetries         user     5
    plansDir                 default  .fractal-planner/plans
    pr                       default  false
    researchOnly             default  false
    sandbox.mode             default  on
    sandbox.write            default  none
    skipPlanReview           default  false
    testFirst                default  false
    verify.judge             default  risk
    verify.place             default  bench
    verify.timeoutSeconds    default  600
    --- stderr
    user:    [ROOT]/home/.config/fractal-planner/config.json
    project: [ROOT]/work/.fractal-planner/config.json
    ");

    let report = environment.fp(&["--format", "json", "config"]).json();
    assert_eq!(report["settings"]["maxComplexity"], 5);
    assert_eq!(report["settings"]["commentChecker"]["enabled"], false);
    assert_eq!(report["origins"]["maxComplexity"], "project");
    assert_eq!(report["origins"]["nudge.maxRetries"], "user");
    assert_eq!(report["origins"]["commentChecker.enabled"], "runtime");
    assert_eq!(
        report["files"]["project"],
        "[ROOT]/work/.fractal-planner/config.json"
    );
}

#[test]
fn options_of_the_plugin_are_the_lowest_layer() {
    let environment = Environment::new().repo();
    let options = |said: &str| {
        environment.write(
            "../home/.claude/settings.json",
            format!("{{\"pluginConfigs\": {{\"fp@fractal-planner\": {{\"options\":\n{said}}}}}}}"),
        );
    };
    options(r#"{"language": "한국어", "maxParallelTasks": 4}"#);
    environment.write(".fractal-planner/config.json", r#"{"maxParallelTasks": 2}"#);
    let output = environment.fp(&["config"]);
    let lines: Vec<&str> = output
        .stdout
        .lines()
        .filter(|line| !line.contains(" default "))
        .collect();
    assert_eq!(
        lines,
        [
            "language                 plugin   한국어",
            "maxParallelTasks         project  2"
        ]
    );

    options(r#"{"maxParallelTasks": 99}"#);
    assert_snapshot!(environment.fp(&["config"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/home/.claude/settings.json: fp@fractal-planner: maxParallelTasks: expected a whole number from 1 to 16, found 99
    hint: `fp help config` says what each setting takes
    ");
}

#[test]
fn the_users_file_follows_xdg() {
    let environment = Environment::new().repo();
    let base = environment.beside("xdg");
    fs::create_dir_all(base.join("fractal-planner")).unwrap();
    fs::write(
        base.join("fractal-planner/config.json"),
        r#"{"maxComplexity": 2}"#,
    )
    .unwrap();
    let environment = environment.env("XDG_CONFIG_HOME", &base);
    assert_eq!(
        environment.fp(&["--format", "json", "config"]).json()["settings"]["maxComplexity"],
        2
    );
}

#[test]
fn a_fault_is_shown_whole_and_stops_the_command() {
    let check = |content: &[u8]| {
        let environment = Environment::new().repo();
        environment.write(".fractal-planner/config.json", content);
        let output = environment.fp(&["config"]);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""));
        assert_eq!(environment.fp(&["new", "x"]).stderr, output.stderr);
        output.stderr
    };
    assert_snapshot!(check(b""), @"
    error: [ROOT]/work/.fractal-planner/config.json:1:1: not JSON: eof while parsing a value
    hint: look for a missing or extra comma, quote or bracket just before it
    ");
    assert_snapshot!(check(b"maxComplexity: 3"), @r"
    error: [ROOT]/work/.fractal-planner/config.json:1:1: not JSON: expected value
    hint: look for a missing or extra comma, quote or bracket just before it
    ");
    assert_snapshot!(check(b"{\n  \"maxComplexity\": 3\n  \"noCommit\": true\n}\n"), @r"
    error: [ROOT]/work/.fractal-planner/config.json:3:3: not JSON: expected `,` or `}`
    hint: look for a missing or extra comma, quote or bracket just before it
    ");
    assert_snapshot!(check(b"{\n  \"maxComplexity\": \"three\"\n}\n"), @r#"
    error: [ROOT]/work/.fractal-planner/config.json: maxComplexity: expected a whole number from 1 to 10, found "three"
    hint: `fp help config` says what each setting takes
    "#);
    assert_snapshot!(check(b"{\n  \"verify\": {\n    \"timeoutSeconds\": 0\n  }\n}\n"), @r"
    error: [ROOT]/work/.fractal-planner/config.json: verify.timeoutSeconds: expected a whole number from 1 to 86400, found 0
    hint: `fp help config` says what each setting takes
    ");
    assert_snapshot!(check(b"{\n  \"nudge\": {\n    \"maxRetires\": 3\n  }\n}\n"), @r"
    error: [ROOT]/work/.fractal-planner/config.json: there is no setting `nudge.maxRetires`
    hint: did you mean `nudge.maxRetries`?
    ");
    assert_snapshot!(check(b"{\n  \"colour\": true\n}\n"), @r"
    error: [ROOT]/work/.fractal-planner/config.json: there is no setting `colour`
    hint: `fp config` lists every setting
    ");
    assert_snapshot!(check(b"{\n  \"guard\": { \"mode\": \"denied\" }\n}\n"), @"
    error: [ROOT]/work/.fractal-planner/config.json: guard.mode: `denied` is none of `deny`, `warn`, `off`
    hint: did you mean `deny`?
    ");
    assert_snapshot!(check(b"{\"plansDir\": \"../../etc\"}"), @r#"
    error: [ROOT]/work/.fractal-planner/config.json: plansDir: expected the path of a folder inside the repository, such as ".fractal-planner/plans", found "../../etc"
    hint: `fp help config` says what each setting takes
    "#);
    assert_snapshot!(check(b"{\"language\": \"\xff\"}"), @r"
    error: [ROOT]/work/.fractal-planner/config.json:1:15: not UTF-8 text
    hint: save the file as UTF-8
    ");
    assert_snapshot!(check(&vec![b' '; 1024 * 1024 + 1]), @r"
    error: [ROOT]/work/.fractal-planner/config.json is too large: at most 1048576 bytes are read
    hint: check that it is the file you mean, or split it
    ");
}

#[test]
fn plans_are_where_the_configuration_has_them() {
    let environment = Environment::new().repo();
    let elsewhere = r#"{"plansDir": "work/plans"}"#;
    let path = || environment.fp(&["new", "--format", "json", "x"]).json()["path"].clone();
    environment.write(".fractal-planner/config.json", elsewhere);
    // If a clone's settings could name its own code as the plans folder, that code would escape every measurement.
    assert_eq!(path(), "[ROOT]/work/.fractal-planner/plans/x-20261121");
    let folder = environment.beside("home/.config/fractal-planner");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.json"), elsewhere).unwrap();
    assert_eq!(path(), "[ROOT]/work/work/plans/x-20261121");
}

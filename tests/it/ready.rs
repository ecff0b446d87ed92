//! `fp status --ready`: the tasks that can be claimed now, and the reason for every other one.

use crate::common::plan::{Leaf, PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

/// Two tasks with a file each, a third that shares the first one's file, and a fourth that depends on the first two.
fn leaves() -> [Leaf<'static>; 4] {
    [
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
        leaf("3", "none", "a.txt"),
        leaf("4", "1, 2", "c.txt"),
    ]
}

fn planned() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&leaves()));
    environment
}

fn started() -> Environment {
    let environment = planned().shared();
    environment.start(&["--builders", "2", "--max-iterations", "1"]);
    environment
}

fn ready(environment: &Environment) -> Output {
    environment.fp(&["status", "--ready", PLAN])
}

#[test]
fn nothing_is_ready_before_the_approval() {
    assert_snapshot!(ready(&planned()), @"
    exit status: 3
    --- stdout
    Plan sample-20261121 (planning): 0 of 4 tasks ready
    Nothing can be claimed: the plan is not approved yet
    Next: fp approve sample-20261121
    ");
}

#[test]
fn nothing_is_ready_before_the_start() {
    let environment = planned();
    environment.done(&["approve", PLAN, "--yes"]);
    assert_snapshot!(ready(&environment), @"
    exit status: 3
    --- stdout
    Plan sample-20261121 (approved): 0 of 4 tasks ready
    Nothing can be claimed: the run is not started yet
    Next: fp start sample-20261121
    ");
}

#[test]
fn what_is_ready_comes_in_the_order_of_claims() {
    let environment = started();
    assert_snapshot!(ready(&environment), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running): 3 of 4 tasks ready

    Ready, in the order in which they are claimed:
      ● 1  ready      Write part 1
      ● 2  ready      Write part 2
      ● 3  ready      Write part 3

    Not ready:
      ○ 4  waiting    Write part 4
                      it waits for 1, 2
    ");
    let listed = ready(&environment).stdout;
    let first = listed
        .lines()
        .skip_while(|line| !line.starts_with("Ready"))
        .nth(1)
        .unwrap()
        .to_owned();
    let (claimed, _) = environment.claim("builder-1").unwrap();
    assert!(first.starts_with(&format!("  ● {claimed} ")), "{first}");
}

#[test]
fn every_reason_has_its_words() {
    let environment = started();
    let built = environment.build("builder-1", "a.txt", "about 1\n");
    assert!(environment.pass(&built).stdout.contains("passed"));
    environment.claim("builder-1").unwrap();
    environment.plan(&tree(&leaves()).replace("Write part 3", "Write part three"));
    assert_snapshot!(ready(&environment).masked(), @"
    exit status: 3
    --- stdout
    Plan sample-20261121 (running): 0 of 4 tasks ready

    Not ready:
      ✓ 1  done       Write part 1  (1/1, [COMMIT])
      ▶ 2  building   Write part 2  (1/1, builder-1)
      ○ 3  waiting    Write part 3
                      it was edited after the approval: run `fp approve
                      sample-20261121`
      ○ 4  waiting    Write part 4
                      it waits for 2
    ");
}

#[test]
fn a_task_that_shares_a_file_names_it() {
    let environment = started();
    environment.claim("builder-1").unwrap();
    environment.claim("builder-2").unwrap();
    assert_snapshot!(ready(&environment), @"
    exit status: 3
    --- stdout
    Plan sample-20261121 (running): 0 of 4 tasks ready

    Not ready:
      ▶ 1  building   Write part 1  (1/1, builder-1)
      ▶ 2  building   Write part 2  (1/1, builder-2)
      ○ 3  waiting    Write part 3
                      running task 1 may change a.txt
      ○ 4  waiting    Write part 4
                      it waits for 1, 2
    ");
    let refused = environment.fp(&["claim", PLAN, "--as", "builder-3", "3"]);
    assert!(
        refused.stderr.contains("running task 1 may change a.txt"),
        "{refused}"
    );
}

#[test]
fn a_failure_is_named_by_what_it_blocks() {
    let environment = started();
    environment.done(&[
        "cancel",
        PLAN,
        "2",
        "--reason",
        "it can't be\u{1b}[31m done",
    ]);
    assert_snapshot!(ready(&environment), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running): 2 of 4 tasks ready

    Ready, in the order in which they are claimed:
      ● 1  ready      Write part 1
      ● 3  ready      Write part 3

    Not ready:
      ✕ 2  failed     Write part 2
                      it can't be␛[31m done
      – 4  skipped    Write part 4
                      Blocked by 2
    ");
    let mut more = leaves().to_vec();
    more.push(leaf("5", "2", "d.txt"));
    environment.plan(&tree(&more));
    environment.done(&["approve", PLAN, "--yes"]);
    let late = ready(&environment);
    assert!(
        late.stdout
            .contains("it waits for 2, which was given up: retry that first"),
        "{late}"
    );
}

#[test]
fn nothing_is_ready_when_the_run_is_over() {
    let environment = started();
    environment.done(&["cancel", PLAN]);
    assert_snapshot!(ready(&environment), @"
    exit status: 3
    --- stdout
    Plan sample-20261121 (cancelled): 0 of 4 tasks ready
    Nothing can be claimed: the run was cancelled
    Next: fp start sample-20261121
    ");
}

#[test]
fn programs_get_the_kind_of_each_reason() {
    let environment = started();
    environment.claim("builder-1").unwrap();
    let output = environment.fp(&["status", "--ready", PLAN, "--format", "json"]);
    assert_eq!(output.code, 0, "{output}");
    let report = output.json();
    assert_eq!(report["ready"], serde_json::json!(["2"]));
    let kinds: Vec<_> = report["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| &task["why"])
        .collect();
    assert_eq!(
        serde_json::json!(kinds),
        serde_json::json!([
            { "kind": "held", "by": "builder-1", "status": "IMPLEMENTING" },
            null,
            { "kind": "file", "task": "1", "file": "a.txt" },
            { "kind": "waits", "on": ["1", "2"] },
        ])
    );
}

#[test]
fn a_plan_that_is_not_there_is_an_error() {
    let environment = Environment::new().repo();
    assert_eq!(environment.fp(&["status", "--ready", "none"]).code, 2);
    environment.write(&format!(".fractal-planner/plans/{PLAN}/plan.json"), "{}");
    assert_snapshot!(environment.fp(&["status", "--ready", PLAN]), @r"
    exit status: 2
    --- stderr
    error: sample-20261121 has no task tree yet; planning is at: interview
    hint: `/fp:plan` in Claude Code plans; by hand, write its tasks.md, and `fp validate sample-20261121` checks it
    ");
}

#[test]
fn a_thousand_tasks_are_quick() {
    let environment = Environment::new().repo();
    let ids: Vec<(String, String)> = (1..=1000)
        .map(|n| (n.to_string(), format!("src/part{n}.rs")))
        .collect();
    let leaves: Vec<Leaf<'_>> = ids
        .iter()
        .map(|(id, file)| leaf(id, "none", file))
        .collect();
    environment.plan(&tree(&leaves).replace("### Subtasks", ""));
    environment.write(
        ".fractal-planner/config.json",
        r#"{"maxParallelTasks": 16}"#,
    );
    let output = environment.fp(&["status", PLAN, "--ready", "--json"]);
    assert_eq!(output.code, 3, "{output}");
    assert_eq!(output.json()["tasks"].as_array().unwrap().len(), 1000);
}

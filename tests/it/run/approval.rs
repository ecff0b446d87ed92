//! Only what was approved runs.

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::{Leaf, PLAN, leaf, tree};
use crate::run::{chain, sample, started};

#[test]
fn nothing_runs_before_the_approval() {
    let environment = sample();
    assert_snapshot!(environment.fp(&["run", "start", PLAN]), @r"
    exit status: 1
    --- stderr
    error: the plan is not approved yet
    hint: validate the plan and run `fp approve sample-20261121`
    ");
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 1
    --- stderr
    error: the plan is not approved yet
    hint: validate the plan and run `fp approve sample-20261121`
    ");
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-1"]), @r"
    exit status: 1
    --- stderr
    error: the plan is not approved yet
    hint: validate the plan and run `fp approve sample-20261121`
    ");
    environment.done(&["approve", PLAN, "--yes"]);
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-1"]), @r"
    exit status: 1
    --- stderr
    error: the run is not started yet
    hint: run `fp start sample-20261121`
    ");
    assert_snapshot!(environment.fp(&["cancel", PLAN]), @r"
    exit status: 1
    --- stderr
    error: the run is not started yet
    hint: there is nothing to cancel; `fp plans archive sample-20261121` puts the plan away
    ");
}

#[test]
fn approval_names_the_commands_that_may_run() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[Leaf {
        test: "sh test.sh; echo done",
        ..leaf("1", "none", "a.txt")
    }]));
    assert_snapshot!(environment.fp(&["approve", PLAN, "--yes"]), @r#"
    exit status: 0
    --- stdout
    Approved: sample-20261121 with 1 task
    These commands may run:
    - echo done
    - sh test.sh
    Next: /fp:implement sample-20261121, or in a terminal: fp run sample-20261121
    "#);
    assert_snapshot!(environment.fp(&["approve", PLAN, "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "changed": false,
      "commands": [
        "echo done",
        "sh test.sh"
      ],
      "endCommands": [],
      "planId": "sample-20261121",
      "schemaVersion": 1,
      "setup": [],
      "tasks": 1
    }
    "#);
}

#[test]
fn a_leaf_edited_behind_the_approval_waits_for_another() {
    let environment = started(&[]);
    environment.plan(&chain().replace("`a.txt` has a line about 1", "`a.txt` has two lines"));
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-1"]), @r"
    exit status: 3
    --- stderr
    error: nothing is ready: 0 of 3 tasks are over; edited since the approval: 1
    hint: end your turn: you are told when there is something
    ");
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-1", "1"]), @r"
    exit status: 1
    --- stderr
    error: task 1 was edited after the plan was approved
    hint: look at the change and run `fp approve sample-20261121` again
    ");
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. revise
       Nothing can go on before the plan is changed and approved:
       - 1: it was edited after the approval: run `fp approve sample-20261121`
    --- stderr
    note: edited since the approval: 1; `fp approve sample-20261121` lets them run
    ");
    environment.done(&["approve", PLAN, "--yes"]);
    assert!(
        environment
            .next(&[])
            .stdout
            .starts_with("1. spawn builder-1\n")
    );
    assert_eq!(environment.claim("builder-1").unwrap().0, "1");
}

#[test]
fn a_leaf_edited_while_it_is_built_is_not_handed_out_again() {
    let environment = started(&[]);
    environment.claim("builder-1");
    environment.plan(&chain().replace("`a.txt` has a line about 1", "`a.txt` has two lines"));
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-1"]), @r"
    exit status: 1
    --- stderr
    error: task 1 was edited after the plan was approved
    hint: look at the change and run `fp approve sample-20261121` again
    ");
    assert_snapshot!(environment.fp(&["approve", PLAN, "--yes"]), @r"
    exit status: 1
    --- stderr
    error: task 1 is building and can't be changed or removed any more
    hint: undo the edit of that task in tasks.md and add a new task instead; one that is being built can be released first, a failed one retried
    ");
    environment.done(&["retry", PLAN, "1"]);
    environment.done(&["approve", PLAN, "--yes"]);
    assert_eq!(environment.claim("builder-1").unwrap().0, "1");
}

#[test]
fn a_task_that_is_done_can_not_be_taken_out() {
    let environment = started(&[]);
    environment.complete("a.txt");
    environment.plan(&tree(&[leaf("2", "none", "b.txt")]));
    assert_snapshot!(environment.fp(&["approve", PLAN, "--yes"]), @r"
    exit status: 1
    --- stderr
    error: task 1 is done and can't be changed or removed any more
    hint: undo the edit of that task in tasks.md and add a new task instead; one that is being built can be released first, a failed one retried
    ");
    let fourth = tree(&[leaf("4", "1", "d.txt")]);
    environment.plan(&(chain() + fourth.split_once("### Subtasks\n").unwrap().1));
    assert_snapshot!(environment.fp(&["approve", PLAN, "--yes"]), @r#"
    exit status: 0
    --- stdout
    Approved: sample-20261121 with 4 tasks
    Since you approved it:
    - added: 4 "Write part 4"
    No command is new.
    As you approved it: 3 tasks.
    Next: fp next sample-20261121
    "#);
    assert_eq!(environment.statuses().len(), 4);
}

#[test]
fn the_file_of_tasks_may_change_where_no_leaf_does() {
    let environment = started(&[]);
    environment.plan(&format!("<!-- a remark -->\n\n{}", chain()));
    assert_eq!(environment.claim("builder-1").unwrap().0, "1");
}

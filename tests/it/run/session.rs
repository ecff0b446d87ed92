//! Sessions that begin, end and come back.

use insta::assert_snapshot;

use crate::common::plan::PLAN;
use crate::run::{sample, started};

#[test]
fn another_session_takes_the_run_over() {
    let environment = started(&[]);
    environment.complete("a.txt");
    let (_, old) = environment.claim("builder-1").unwrap();
    environment.write("b.txt", "half\n");
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--session", "s2"]), @r"
    exit status: 0
    --- stdout
    Run of sample-20261121: 1 of 3 tasks done, 1 taken back, since the run was interrupted
    Builders: 1, attempts: 3, commits: on
    Next: fp next sample-20261121
    ");
    assert_snapshot!(environment.fp(&["submit", PLAN, "2", "--claim", &old]), @r"
    exit status: 1
    --- stderr
    error: task 2 is waiting: claim it first
    hint: `fp why sample-20261121 2` says how it came to that, and what is next
    ");
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. spawn builder-1
       agent: fp:builder
       name and description: builder-1
       prompt:
         You are builder-1 of plan sample-20261121. Run `fp claim sample-20261121 --as builder-1` and go by what it prints.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    assert_eq!(environment.complete("b.txt"), "2");
    assert_eq!(environment.git(&["rev-list", "--count", "HEAD"]), "3\n");
}

#[test]
fn the_same_session_changes_nothing() {
    let environment = started(&[]);
    environment.next(&[]);
    let (_, token) = environment.claim("builder-1").unwrap();
    let start = ["run", "start", PLAN, "--session", "s1"];
    let again = environment.fp(&start);
    assert_snapshot!(again, @r"
    exit status: 0
    --- stdout
    Run of sample-20261121: 0 of 3 tasks done
    Builders: 1, attempts: 3, commits: on
    Next: fp next sample-20261121
    ");
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    environment.write("a.txt", "about 1\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
}

#[test]
fn the_same_session_in_another_process_has_lost_its_agents() {
    let environment = sample()
        .env("CLAUDE_CODE_SESSION_ID", "s1")
        .env("CLAUDE_PID", "100");
    environment.done(&["approve", PLAN, "--yes"]);
    environment.done(&["run", "start", PLAN, "--here"]);
    environment.next(&[]);
    environment.claim("builder-1");
    environment.done(&["run", "start", PLAN, "--here"]);
    assert_eq!(environment.statuses()[0].1, "IMPLEMENTING");
    let environment = environment.env("CLAUDE_PID", "200");
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--here"]), @r"
    exit status: 0
    --- stdout
    Run of sample-20261121: 0 of 3 tasks done, 1 taken back, since the run was interrupted
    Builders: 1, attempts: 3, commits: on
    Next: fp next sample-20261121
    ");
    assert!(
        environment
            .next(&[])
            .stdout
            .starts_with("1. spawn builder-1\n")
    );
}

#[test]
fn new_settings_do_not_disturb_the_builders_at_work() {
    let environment = started(&[]);
    environment.next(&[]);
    environment.claim("builder-1");
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--session", "s1", "--builders", "2"]), @r"
    exit status: 0
    --- stdout
    Run of sample-20261121: 0 of 3 tasks done
    Builders: 2 in worktrees of their own, attempts: 3, commits: on
    Next: fp next sample-20261121
    ");
    assert_eq!(environment.statuses()[0].1, "IMPLEMENTING");
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
}

#[test]
fn a_submitted_task_waits_for_the_verifier_of_the_next_session() {
    let environment = started(&[]);
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.next(&[]);
    environment.done(&["run", "start", PLAN, "--session", "s2"]);
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. verify verifier-1-i1
       agent: fp:verifier
       name and description: verifier-1-i1
       prompt:
         You are verifier-1-i1. Verify task 1 of plan sample-20261121, iteration 1: run `fp verify sample-20261121 1` and go by what it prints.
    2. wait for verifier-1-i1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
}

#[test]
fn an_agent_that_nothing_is_heard_of_is_replaced_in_the_end() {
    let environment = started(&[]);
    environment.next(&[]);
    let environment = environment.env("FP_NOW", "2026-11-21T09:29:00Z");
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. spawn builder-1 (said before: skip it if it is under way)
       agent: fp:builder
       name and description: builder-1
       prompt:
         You are builder-1 of plan sample-20261121. Run `fp claim sample-20261121 --as builder-1` and go by what it prints.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    let environment = environment.env("FP_NOW", "2026-11-21T09:31:00Z");
    assert!(
        environment
            .next(&[])
            .stdout
            .starts_with("1. spawn builder-1\n")
    );
}

#[test]
fn the_only_active_plan_needs_no_name() {
    let environment = started(&[]);
    environment.done(&["next"]);
    assert_eq!(
        environment.fp(&["status"]),
        environment.fp(&["status", PLAN])
    );
    environment.write(".fractal-planner/plans/other-20261120/tasks.md", "");
    assert_snapshot!(environment.fp(&["status"]), @r"
    exit status: 2
    --- stderr
    error: no plan was named and 2 are active:
      1  other-20261120                                planning
      2  sample-20261121                               running        0 of 3 done
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    ");
    assert_eq!(
        environment.fp(&["status", "2"]),
        environment.fp(&["status", "sample"])
    );
}

#[test]
fn a_finished_run_with_nothing_to_do_says_so_and_stays_finished() {
    let environment = started(&["--max-iterations", "2"]);
    environment.complete("a.txt");
    environment.done(&["cancel", PLAN, "2", "--reason", "no"]);
    environment.next(&[]);
    let log = environment.done(&["log", PLAN]).stdout;
    assert!(log.ends_with("the run is finished\n"), "{log}");
    assert_snapshot!(environment.fp(&["start", PLAN, "--session", "s2"]), @"
    exit status: 0
    --- stdout
    Run of sample-20261121: 1 of 3 tasks done, 1 failed, 1 skipped
    Builders: 1, attempts: 2, commits: on
    Nothing is left to do. Next: fp retry sample-20261121 2
    ");
    assert_eq!(environment.done(&["log", PLAN]).stdout, log);
    environment.done(&["retry", "2"]);
    assert!(
        environment
            .done(&["start", PLAN, "--session", "s2"])
            .stdout
            .ends_with("Next: fp next sample-20261121\n")
    );
    assert_eq!(
        environment.done(&["status", "--json"]).json()["phase"],
        "running"
    );
}

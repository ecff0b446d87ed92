//! Who judges what by default: the checks of a task without risk, a verifier for another, and a verifier for the whole,
//! whose findings become tasks.

use std::fs;

use insta::assert_snapshot;

use super::*;

const RISK: &str = r#"{ "verify": { "judge": "risk" } }"#;

/// Three tasks with commands, and settings that judge by risk.
fn by_risk() -> Environment {
    let environment = Environment::new().repo();
    let folder = environment.beside("home/.config/fractal-planner");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.json"), RISK).unwrap();
    let leaf = |id, file, test| Leaf {
        id,
        after: "none",
        file,
        test,
    };
    environment.plan(&tree(&[
        leaf("1", "a.txt", "grep -q about a.txt"),
        leaf("2", "b.txt", "grep -q about b.txt"),
    ]));
    environment.start(&[]);
    environment
}

fn build_both(environment: &Environment) {
    for (task, file) in [("1", "a.txt"), ("2", "b.txt")] {
        environment.done(&["next", PLAN]);
        environment.build("builder-1", file, &format!("about {task}\n"));
    }
}

/// The time between them doesn't count.
#[test]
fn a_verdict_on_the_whole_has_a_tenth_of_the_minutes_that_the_tasks_took() {
    let mut environment = by_risk();
    for (minute, file) in [(0, "a.txt"), (39, "b.txt")] {
        let at = |minute| format!("2026-11-21T09:{minute:02}:00Z");
        environment = environment.env("FP_NOW", at(minute));
        environment.done(&["next", PLAN]);
        let (task, token) = environment.claim("builder-1").unwrap();
        environment.write(file, format!("about {task}\n"));
        environment = environment.env("FP_NOW", at(minute + 20));
        environment.done(&["submit", PLAN, &task, "--claim", &token]);
    }
    environment.done(&["next", PLAN, "--ended", "builder-1"]);
    let told = environment.done(&["verify", PLAN]).stdout;
    let budget = "You have about 4 minutes: give the verdict by 10:03 UTC";
    assert!(told.contains(budget), "{told}");
}

#[test]
fn tasks_pass_by_their_checks_and_the_whole_has_a_verifier() {
    let environment = by_risk();
    build_both(&environment);
    let told = environment.fp(&["next", PLAN, "--ended", "builder-1"]);
    assert_snapshot!(told, @"
    exit status: 0
    --- stdout
    1. verify verifier-end-1
       agent: fp:verifier
       name and description: verifier-end-1
       prompt:
         You are verifier-end-1. Judge the result of plan sample-20261121 as a whole: run `fp verify sample-20261121` and go by what it prints.
    2. wait for verifier-end-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    let evidence = environment.read(&format!(
        ".fractal-planner/plans/{PLAN}/evidence/task-1-verification.md"
    ));
    assert!(
        evidence.contains("No verifier judged the criteria: the checks decided."),
        "{evidence}"
    );
    let settled = serde_json::json!({
        "decisions": [{ "question": "Which word?", "answer": "about" }],
        "assumptions": ["The files are UTF-8"],
    });
    let interview = format!(".fractal-planner/plans/{PLAN}/interview.json");
    environment.write(&interview, settled.to_string());
    assert_snapshot!(environment.fp(&["verify", PLAN]), @"
    exit status: 0
    --- stdout
    # The result of sample-20261121 as a whole

    It is in [ROOT]/home/.cache/fractal-planner/benches/[PLAN]/1/work, as the newest commit has it.

    ## What was done, as data

    - 1 Write part 1: done, bcf16c3
    - 2 Write part 2: done, 0affa83
    - only checked, without a verifier: 1, 2

    ## Requirements to judge

    1. sample-20261121
    - Decided: Which word? about
    - Assumed: The files are UTF-8

    Try to break each one where the parts meet, with inputs that no test here has, from the documents that the requirements name. You have about 2 minutes: give the verdict by 09:02 UTC (`date -u`), and leave untried what you have not come to by then. What a user of the result would meet, what loses data, or what breaks the plain meaning of a criterion fails it; what only somebody looking for edges meets is a note.

    ## Verdict

    ```
    fp verdict sample-20261121 --from - <<'END'
    pass 1: EVIDENCE
    summary: TEXT
    note: WARN(PATH): TEXT
    END
    ```

    Judge each one: `fail 2: WHAT YOU SAW, AND WHAT WAS WANTED` for what fails, `pass 1,3: EVIDENCE` for several. Notes are WARN for a doubt, DEBT for work that is left; none, or several.
    ");
    let unjudged = environment.fp(&["verdict", PLAN, "--summary", "fine"]);
    assert_eq!(unjudged.code, 2, "{unjudged}");
    environment.done(&[
        "verdict",
        PLAN,
        "--pass",
        "1: both files say what they should",
    ]);
    assert_snapshot!(environment.fp(&["next", PLAN]), @"
    exit status: 0
    --- stdout
    1. finish
       The run is over. Show this report:

    Plan sample-20261121 (finished)
    2 of 2 tasks done

      1  done       Write part 1  (1/3, bcf16c3)
      2  done       Write part 2  (1/3, 0affa83)

    Checks at the end:
      passed: the result as a whole
      only checked, without a verifier: 1, 2
    ");
    let again = environment.fp(&["verdict", PLAN, "--pass", "1: both files say so"]);
    assert_snapshot!(again, @"
    exit status: 1
    --- stderr
    error: no verdict on the whole is due
    hint: `fp status sample-20261121` says what is
    ");
}

#[test]
fn a_check_that_fails_sends_the_task_back_without_a_verifier() {
    let environment = by_risk();
    environment.done(&["next", PLAN]);
    environment.build("builder-1", "a.txt", "nothing\n");
    assert_snapshot!(environment.fp(&["next", PLAN, "--ended", "builder-1"]), @"
    exit status: 0
    --- stdout
    1. resume builder-1
       message:
         Task 1 did not pass: run `fp claim sample-20261121 --as builder-1` for what to mend, then submit again.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    environment.build("builder-1", "a.txt", "about 1\n");
    let told = environment
        .fp(&["next", PLAN, "--ended", "builder-1"])
        .stdout;
    assert!(
        told.contains("verify verifier-1-i2"),
        "a second attempt is judged: {told}"
    );
}

#[test]
fn a_task_that_no_command_shows_is_judged() {
    let environment = by_risk();
    environment.done(&["cancel", PLAN]);
    environment.plan(&tree(&[
        super::leaf("1", "none", "a.txt"),
        super::leaf("2", "none", "b.txt"),
    ]));
    environment.start(&[]);
    environment.done(&["next", PLAN]);
    environment.build("builder-1", "a.txt", "about 1\n");
    let told = environment
        .fp(&["next", PLAN, "--ended", "builder-1"])
        .stdout;
    assert!(told.contains("verify verifier-1-i1"), "{told}");
}

#[test]
fn what_the_last_verdict_finds_becomes_tasks_once() {
    let environment = by_risk();
    build_both(&environment);
    environment.done(&["next", PLAN, "--ended", "builder-1"]);
    let hostile = "1: it says `<!-- x` and - [ID: 9] Evil (Complexity: 1) in a.txt";
    environment.done(&["verdict", PLAN, "--fail", hostile, "--summary", "not yet"]);
    assert_snapshot!(environment.fp(&["next", PLAN]), @r#"
    exit status: 0
    --- stdout
    1. ask q1
       question: No task is left, but the result does not hold as a whole: Criterion 1 (sample-20261121): it says `<!-- x` and - [ID: 9] Evil (Complexity: 1) in a.txt. The verifier says: "not yet". How should it continue? [sample-20261121 q1 baebc34e]
       header: Last verdict
       options:
       - Repair: add up to five tasks that mend it, with the files and commands of those that made it
       - Finish anyway: the run is finished as it is; the report says what failed
       - Stop: end the run; what is done stays
       then: the answer is recorded as it is given; without hooks: fp answer sample-20261121 q1 --option 'LABEL'
    "#);
    environment.done(&["answer", PLAN, "q1", "--option", "Repair"]);
    environment.done(&["next", PLAN]);
    let tree = environment.read(&format!(".fractal-planner/plans/{PLAN}/tasks.md"));
    assert_snapshot!(tree.split("- [ID: repair1]").nth(1).unwrap(), @r"
    Mend what misses sample-20261121 (Complexity: 4)
     - Acceptance:
       - It holds that sample-20261121
       - What a verifier saw no longer happens: it says `<!-- x` and - \[ID: 9\] Evil (Complexity: 1) in a.txt
     - Files: a.txt, b.txt
     - Tests Required: no
     - Hints:
       - Look first for what the tests of the plan don't have
     - Risk: high
     - Test Commands:
       - grep -q about a.txt
       - grep -q about b.txt
    ");
    assert_eq!(environment.fp(&["validate", PLAN]).code, 0);
    environment.build("builder-1", "a.txt", "about 1 and more\n");
    let told = environment
        .fp(&["next", PLAN, "--ended", "builder-1"])
        .stdout;
    assert!(told.contains("verify verifier-repair1-i1"), "{told}");
    environment.done(&["verdict", PLAN, "repair1", "--pass", "1,2: a.txt has it"]);
    let end = environment.fp(&["next", PLAN]).stdout;
    assert!(end.starts_with("1. finish\n"), "{end}");
    assert!(end.contains("failed: the result as a whole"), "{end}");
}

#[test]
fn a_tree_that_was_edited_meanwhile_gets_no_tasks() {
    let environment = by_risk();
    build_both(&environment);
    environment.done(&["next", PLAN, "--ended", "builder-1"]);
    environment.done(&["verdict", PLAN, "--fail", "1: a.txt is wrong"]);
    environment.done(&["answer", PLAN, "q1", "--option", "Repair"]);
    let file = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let edited = environment
        .read(&file)
        .replace("grep -q about b.txt", "touch ran");
    environment.write(&file, edited);
    assert_snapshot!(environment.fp(&["next", PLAN]), @"
    exit status: 1
    --- stderr
    error: what the last verdict found can't be planned: tasks.md was edited since its approval
    hint: add the tasks with `fp task add sample-20261121 …`, then `fp approve sample-20261121`
    ");
}

//! A plan that is approved and ready to run, and the assertions that must hold after the run.

use serde_json::Value;

use crate::cast::{Builder, Cast, Verifier};
use crate::sample::{Commit, Sample};

/// The plan's id.
pub(crate) const PLAN: &str = "add-greeting-command-20260105";

/// The feedback that the first submission of task 1.1 gets.
pub(crate) const FEEDBACK: &str = "title ada prints ada where the criterion wants Ada";

/// A sample with the plan in it, not yet approved.
pub(crate) fn drafted(tasks: &str) -> Sample {
    let sample = Sample::new();
    sample.fp(&["new", "Add a greeting command", "--mode", "pipeline"]);
    sample.write(&format!(".fractal-planner/plans/{PLAN}/tasks.md"), tasks);
    sample
}

/// A sample with the approved plan in it: 1.1 and 1.2 can be built at once, 2 needs both.
pub(crate) fn sample() -> Sample {
    let sample = drafted(TASKS);
    sample.fp(&["approve", PLAN, "--yes"]);
    sample
}

/// Builders that do the work, but get task 1.1 wrong the first time, and verifiers that notice.
pub(crate) fn cast() -> Cast {
    let builder = builder()
        .writing("1.1", "lib/text.sh", WRONG_TEXT)
        .writing_from(2, "1.1", "lib/text.sh", TEXT);
    let verifier = Verifier::default().failing("1.1", 1, FEEDBACK);
    Cast {
        builder,
        verifier,
        ..Cast::default()
    }
}

/// Builders that get every task right the first time.
pub(crate) fn builder() -> Builder {
    Builder::default()
        .writing("1.1", "tests/text_test.sh", TEXT_TEST)
        .writing("1.1", "lib/text.sh", TEXT)
        .writing("1.2", "bin/bye", BYE)
        .writing("1.2", "tests/bye_test.sh", BYE_TEST)
        .writing("2", "bin/greet", GREET)
        .writing("2", "tests/greet_test.sh", GREET_TEST)
}

/// The status that `fp` reports.
pub(crate) fn status(sample: &Sample) -> Value {
    let printed = sample.fp(&["status", PLAN, "--format", "json"]);
    serde_json::from_str(&printed).expect("a status is JSON")
}

/// The events in the run's log of the given type, such as `claimed`, oldest first.
pub(crate) fn events(sample: &Sample, wanted: &str) -> Vec<Value> {
    // An event without fields is logged as its bare name.
    let bare = |event: &Value| (event == wanted).then_some(Value::Null);
    all_events(sample)
        .into_iter()
        .filter_map(|event| event.get(wanted).cloned().or_else(|| bare(&event)))
        .collect()
}

/// The events of the log, in order.
pub(crate) fn all_events(sample: &Sample) -> Vec<Value> {
    let log = sample.read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("the log is JSON"));
    lines
        .flat_map(|line| line["events"].as_array().cloned().unwrap_or_default())
        .collect()
}

/// Asserts that the repository is as the plan requires: one commit per task with only that task's files, passing tests,
/// nothing left uncommitted, and a matching `fp status`.
pub(crate) fn assert_built(sample: &Sample) {
    let commits = assert_committed(sample);
    let status = status(sample);
    assert_eq!(status["phase"], "finished", "{status:#}");
    let task = |id: &str| {
        let tasks = status["tasks"]
            .as_array()
            .expect("a status lists the tasks");
        tasks
            .iter()
            .find(|task| task["id"] == id)
            .cloned()
            .expect("every task is in the status")
    };
    for (id, commit) in [
        ("1.2", &commits[0]),
        ("2", &commits[1]),
        ("1.1", &commits[2]),
    ] {
        assert_eq!(task(id)["status"], "COMPLETED", "{status:#}");
        assert_eq!(task(id)["commit"], commit.hash, "{status:#}");
    }
    assert_eq!(task("1.1")["iteration"], 2, "{status:#}");
}

/// Like `assert_built`, but for the repository alone, so it doesn't matter which task took two attempts. Returns the
/// new commits, sorted by their files.
pub(crate) fn assert_committed(sample: &Sample) -> Vec<Commit> {
    let mut commits = sample.new_commits();
    commits.sort_by(|one, other| one.files.cmp(&other.files));
    let files: Vec<_> = commits
        .iter()
        .map(|commit| commit.files.join(" "))
        .collect();
    let expected = [
        "bin/bye tests/bye_test.sh",
        "bin/greet tests/greet_test.sh",
        "lib/text.sh tests/text_test.sh",
    ];
    assert_eq!(files, expected);
    assert_eq!(sample.uncommitted(), "");
    assert!(sample.tests_pass());
    commits
}

/// The tree of the plan.
pub(crate) const TASKS: &str = "\
# Task Decomposition

## Root Task
- [ID: root] Add a greeting command (Complexity: 6)

### Subtasks
- [ID: 1] What it needs (Complexity: 4)
  - [ID: 1.1] Capitalise a name (Complexity: 2)
    - Acceptance:
      - `title ada` prints `Ada`
      - `shout` is unchanged
    - Dependencies: none
    - Files: lib/text.sh, tests/text_test.sh
    - Tests Required: yes
    - Hints:
      - Follow `shout` in lib/text.sh
      - Only the first letter changes
    - Test Commands: sh tests/text_test.sh
  - [ID: 1.2] Say goodbye (Complexity: 2)
    - Acceptance:
      - `bin/bye` prints `BYE`
    - Dependencies: none
    - Files: bin/bye, tests/bye_test.sh
    - Tests Required: yes
    - Hints:
      - Follow bin/hello
      - Use `shout`
    - Test Commands: sh tests/bye_test.sh
- [ID: 2] Greet by name (Complexity: 3)
  - Acceptance:
    - `bin/greet ada` prints `Hello, Ada`, then `BYE`
  - Dependencies: 1
  - Files: bin/greet, tests/greet_test.sh
  - Tests Required: yes
  - Hints:
    - Use `title`
    - Run bin/bye at the end
  - Test Commands: sh tests/greet_test.sh
";

const WRONG_TEXT: &str = "\
# Prints its arguments in capitals.
shout() {
  printf '%s\\n' \"$*\" | tr '[:lower:]' '[:upper:]'
}

# Prints its argument with its first letter in capitals.
title() {
  printf '%s\\n' \"$1\"
}
";

const TEXT: &str = "\
# Prints its arguments in capitals.
shout() {
  printf '%s\\n' \"$*\" | tr '[:lower:]' '[:upper:]'
}

# Prints its argument with its first letter in capitals.
title() {
  first=$(printf '%.1s' \"$1\")
  printf '%s%s\\n' \"$(shout \"$first\")\" \"${1#?}\"
}
";

const TEXT_TEST: &str = "\
. lib/text.sh
[ \"$(title ada)\" = 'Ada' ] && [ \"$(shout ada)\" = 'ADA' ]
";

const BYE: &str = "\
#!/bin/sh
. \"$(dirname \"$0\")/../lib/text.sh\"
shout \"bye\"
";

const BYE_TEST: &str = "\
[ \"$(sh bin/bye)\" = 'BYE' ]
";

const GREET: &str = "\
#!/bin/sh
. \"$(dirname \"$0\")/../lib/text.sh\"
echo \"Hello, $(title \"$1\")\"
sh \"$(dirname \"$0\")/bye\"
";

const GREET_TEST: &str = "\
[ \"$(sh bin/greet ada)\" = \"$(printf 'Hello, Ada\\nBYE')\" ]
";

//! A plan of six tasks, and everybody who does them: for runs whose agents are processes of their own.
//!
//! A test of such a run is:
//!
//! ```ignore
//! let sample = crew::sample();
//! let cast = crew::cast();
//! let stand_in = StandIn::start(move |request| cast.reply(request));
//! stand_in.fail(3, Fault::Status(529), |request| request.speaker.is("builder-2"));
//! let client = Client::new(&stand_in, sample.path()).with_agents();
//! let (mut command, mark) = client.fp_command(&["run", crew::PLAN, "-j", "3"]);
//! // … run it; dropped, `mark` kills whatever is left of it.
//! crew::assert_built(&sample);
//! ```
//!
//! `claude` and `codex` are on the PATH of that command, as far as the machine has them, and both are pointed at the
//! stand-in by the environment and by the home's `.codex/config.toml`. The cast plays whoever asks, through either API: who
//! that is, it finds in the page of the role and in "You are builder-1" of the prompt, so both have to reach the model. A
//! cast of other doings is made with [`Cast`]'s builder and verifier, such as `Verifier::failing`.

use std::fmt::Write as _;

use crate::cast::{Builder, Cast};
use crate::sample::Sample;

/// The plan's id.
pub(crate) const PLAN: &str = "say-the-numbers-20260105";

/// A task's id, the word that it adds, and its dependency. The first three can be done at once, and then the next two.
const TASKS: [(&str, &str, &str); 6] = [
    ("1.1", "one", "none"),
    ("1.2", "two", "none"),
    ("1.3", "three", "none"),
    ("2.1", "four", "1"),
    ("2.2", "five", "1"),
    ("3", "six", "2"),
];

/// A sample with the approved plan in it.
pub(crate) fn sample() -> Sample {
    planned(Sample::new())
}

/// Adds the approved plan to `sample`.
pub(crate) fn planned(sample: Sample) -> Sample {
    sample.fp(&["new", "Say the numbers", "--mode", "pipeline"]);
    sample.write(&format!(".fractal-planner/plans/{PLAN}/tasks.md"), &tree());
    sample.fp(&["approve", PLAN, "--yes"]);
    sample
}

/// Builders and verifiers that get everything right the first time.
pub(crate) fn cast() -> Cast {
    let builder = TASKS
        .iter()
        .fold(Builder::default(), |builder, (task, word, _)| {
            let [program, test] = files(word);
            builder
                .writing(task, &program, &format!("#!/bin/sh\necho {word}\n"))
                .writing(task, &test, &format!("[ \"$(sh bin/{word})\" = {word} ]\n"))
        });
    Cast {
        builder,
        ..Cast::default()
    }
}

/// Asserts that each task has one commit with just its own files, in any order, and that there are no other changes.
pub(crate) fn assert_built(sample: &Sample) {
    let mut commits: Vec<_> = sample
        .new_commits()
        .into_iter()
        .map(|commit| commit.files)
        .collect();
    commits.sort();
    let mut expected = TASKS.map(|(_, word, _)| files(word).to_vec());
    expected.sort();
    assert_eq!(commits, expected);
    assert_eq!(sample.uncommitted(), "");
    assert!(sample.tests_pass());
}

fn files(word: &str) -> [String; 2] {
    [format!("bin/{word}"), format!("tests/{word}_test.sh")]
}

fn tree() -> String {
    let mut tree = "# Task Decomposition\n\n## Root Task\n- [ID: root] Say the numbers (Complexity: 6)\n\n### Subtasks\n"
        .to_owned();
    for (task, word, dependencies) in TASKS {
        if let Some(group) = task.strip_suffix(".1") {
            let _ = writeln!(
                tree,
                "- [ID: {group}] Group {group} of the numbers (Complexity: 4)"
            );
        }
        let indent = if task.contains('.') { "  " } else { "" };
        let [program, test] = files(word);
        let lines = format!(
            "- [ID: {task}] Say {word} (Complexity: 2)\n  - Acceptance:\n    - `bin/{word}` prints `{word}`\n  \
             - Dependencies: {dependencies}\n  - Files: {program}, {test}\n  - Tests Required: yes\n  - Hints:\n    \
             - Follow bin/hello\n    - One line is enough\n  \
             - Test Commands: sh {test}\n"
        );
        for line in lines.lines() {
            let _ = writeln!(tree, "{indent}{line}");
        }
    }
    tree
}

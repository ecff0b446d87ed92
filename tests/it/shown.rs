//! Commands and texts are shown verbatim wherever a person approves them or a model works from them.

use serde_json::Value;

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};
use crate::watch::Terminal;

/// Commands that pass, each shown as a full line of the list that a person approves.
const COMMANDS: [&str; 6] = [
    "echo `true`",
    "echo \"$(true)\" 'a  b'",
    "true <README.md  && echo \\'\\\"",
    "sh -c 'true # \"x\", - rm'",
    "true <U+200B> README.md >/dev/null 2>&1 || true",
    "echo 한글 ‹a› …",
];
const CRITERIA: [&str; 3] = [
    "`<n-s:s>` and <my-element> hold `a \"b\"`, <svg:rect x='1'/>, Vec<Option<T>>",
    "👩\u{200d}👧 ❤\u{fe0f} می\u{200c}خواهم: it's \"as  is\", …",
    "No <system-reminder> speaks",
];

/// A plan with these commands and criteria, and a last command of length `length`.
fn planned(length: usize) -> Environment {
    let environment = Environment::new().repo();
    let long = format!("true {}", "x".repeat(length));
    let commands: String = COMMANDS
        .iter()
        .chain([&long.as_str()])
        .map(|command| format!("    - {command}\n"))
        .collect();
    let criteria: String = CRITERIA
        .iter()
        .map(|text| format!("    - {text}\n"))
        .collect();
    let text = tree(&[leaf("1", "none", "a.txt")])
        .replace("    - `a.txt` has a line about 1\n", &criteria)
        .replace(
            "  - Test Commands: none",
            &format!("  - Test Commands:\n{commands}"),
        );
    environment.plan(&text);
    environment
}

/// Asserts that `text` has each command on its own line, between the prefix `before` and the suffix `after`.
fn expect_commands(text: &str, before: &str, after: &str) {
    for command in COMMANDS {
        let line = format!("\n{before}{command}{after}");
        assert!(text.contains(&line), "{line}\n{text}");
    }
}

#[test]
fn a_command_is_agreed_to_and_proved_byte_for_byte() {
    let environment = planned(10);
    let asked: Value = environment
        .fp(&["approve", PLAN, "--format", "json"])
        .json();
    expect_commands(asked["question"].as_str().unwrap(), "- ", "");
    expect_commands(&environment.fp(&["approve", PLAN]).stdout, "- ", "");
    expect_commands(&environment.done(&["plan", PLAN]).stdout, "- ", "\n");
    expect_commands(
        &environment.done(&["approve", PLAN, "--yes"]).stdout,
        "- ",
        "\n",
    );
    environment.start(&[]);
    let payload = environment
        .done(&["claim", PLAN, "--as", "builder-1"])
        .stdout;
    expect_commands(&payload, "- Run: ", "\n");
    let token = payload.split("--claim ").nth(1).unwrap();
    let token = token.split_whitespace().next().unwrap();
    environment.write("a.txt", "about 1\n");
    environment.done(&["submit", PLAN, "1", "--claim", token]);
    let seen = environment.done(&["verify", PLAN, "1"]).stdout;
    expect_commands(&seen, "pass  command: ", ": exit status 0");
    for (number, criterion) in CRITERIA.iter().enumerate() {
        let line = format!("\n{}. {criterion}\n", number + 1).replace("<sys", "&lt;sys");
        assert!(payload.contains(&line), "{line}\n{payload}");
        assert!(seen.contains(&line), "{line}\n{seen}");
    }
    let pass = [
        "--pass", "1: seen", "--pass", "2: seen", "--pass", "3: seen",
    ];
    environment.done(&[&["verdict", PLAN, "1"][..], &pass].concat());
    expect_commands(
        &environment.done(&["why", "--evidence", PLAN, "1"]).stdout,
        "command: ",
        " (PASS)",
    );
}

#[test]
fn a_command_is_agreed_to_at_a_terminal_byte_for_byte() {
    let environment = planned(10);
    let mut terminal = Terminal::shell(&environment, &[env!("CARGO_BIN_EXE_fp"), "approve", PLAN]);
    for command in COMMANDS {
        terminal.wait_for(&format!("- {command}"));
    }
    terminal.wait_for("Approve it? [y/N]");
    terminal.press("y\n");
    terminal.wait_for("Approved: ");
}

#[test]
fn a_command_that_is_too_long_for_a_question_is_shown_whole_elsewhere() {
    let environment = planned(10_000);
    let asked = environment.fp(&["approve", PLAN]);
    assert!(asked.stderr.contains("than a question can show"), "{asked}");
    let line = format!("\n- true {}\n", "x".repeat(10_000));
    for command in [["plan", PLAN, "--format=text"], ["approve", PLAN, "--yes"]] {
        let shown = environment.done(&command).stdout;
        assert!(shown.contains(&line), "{shown}");
    }
}

#[test]
fn a_command_with_a_hidden_character_is_refused() {
    let environment = Environment::new().repo();
    for hidden in ['\u{200b}', '\u{202e}', '\u{e0041}', '\u{1b}', '\u{a0}'] {
        for field in ["Test Commands", "Verify"] {
            let command = format!("{field}: sh a.sh{hidden}");
            let text = tree(&[leaf("1", "none", "a.txt")]).replace("Test Commands: none", &command);
            // Whitespace at the end of a line would be trimmed, so a letter follows.
            environment.plan(&text.replace(hidden, &format!("{hidden}b")));
            let refused: Output = environment.fp(&["approve", PLAN]);
            assert_eq!(refused.code, 1, "{refused}");
            assert!(refused.stderr.contains("not valid"), "{refused}");
            let found = environment.fp(&["validate", PLAN]).stdout;
            let code = format!("an invisible character, U+{:04X}", u32::from(hidden));
            assert!(found.contains(&code), "{found}");
        }
    }
}

#[test]
fn a_command_is_asked_about_byte_for_byte() {
    let environment = Environment::new().repo();
    let command = "sh -c \"exit  127\" 'x  y' `echo README.md`";
    let text = tree(&[
        leaf("1", "none", "src/a.txt"),
        leaf("2", "none", "src/b.txt"),
    ]);
    environment.plan(&text.replace("Commands: none", &format!("Commands: {command}")));
    environment.start(&[]);
    let asked = environment.next(&[]).stdout;
    let words = format!("fails before any work. `` {command} `` ended with exit status 127");
    assert!(asked.contains(&words), "{asked}");
}

/// Only texts change: the commands are those that the user has approved, even if the log is no longer trusted.
#[test]
fn what_is_new_is_what_was_not_approved_before() {
    let environment = planned(10);
    environment.start(&[]);
    let path = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let text = environment.read(&path);
    environment.write(&path, text.replace("No <system", "Not one <system"));
    let asked = environment.fp(&["approve", PLAN]).stdout;
    for line in [
        "- changed: 1 \"Write part 1\"\nNo command is new.\n",
        "As you approved it: 7 commands. [",
    ] {
        assert!(asked.contains(line), "{asked}");
    }
    environment.write(&path, text);
    let log = format!(".fractal-planner/plans/{PLAN}/events.jsonl");
    environment.write(&log, environment.read(&log).replace("about", "above"));
    let asked = environment.fp(&["approve", PLAN]).stdout;
    assert!(
        !asked.contains("New commands") && !asked.contains(" 0 "),
        "{asked}"
    );
}

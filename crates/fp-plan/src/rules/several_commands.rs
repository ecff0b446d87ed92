//! `several-commands`.

use super::prelude::*;
use crate::command_line::{program_of, starts_command, words_behind_commas};

pub(super) static RULE: Rule = Rule {
    id: "several-commands",
    severity: Severity::Error,
    finds: "One command with a comma that another command may follow",
    why: "A shell passes all of it to the first program, which fails or ignores the rest, so that work which is right \
          can never pass.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Test Commands: cargo test number, grep -q number src/lexer.rs",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Test Commands:\n    - cargo test number\n    - grep -q number src/lexer.rs",
    check: Check::Leaf(check_leaf),
};

fn check_leaf(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    for command in task.commands() {
        let first = program_of(&command.text);
        let is_known = |word: &str| context.facts.programs.get(word) == Some(&true);
        let mut words = words_behind_commas(&command.text);
        if let Some(word) = words.find(|word| starts_command(first, word) || is_known(word)) {
            let detail = format!("this is one command, and `{word}` behind a comma is a program");
            sink.report(task, command.span, detail)
                .set_hint("write one command a line in a list below the label, or quote the text that has the comma");
        }
    }
}

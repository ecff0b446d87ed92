//! `hidden-character`.

use super::prelude::*;
use crate::text::is_hidden;

pub(super) static RULE: Rule = Rule {
    id: "hidden-character",
    severity: Severity::Error,
    finds: "A command with a character that nobody sees: a control character, a mark of width or direction, or a blank \
            other than space and tab",
    why: "Whoever approves the plan would agree to another command than the one that runs.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Test Commands: cargo test\u{200b} number",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Test Commands: cargo test number",
    check: Check::Task(check_task),
};

fn check_task(context: &RuleContext<'_>, index: TaskIndex, sink: &mut FindingSink<'_>) {
    let task = context.task(index);
    for command in task
        .fields
        .items(FieldKind::Setup)
        .iter()
        .chain(task.commands())
    {
        if let Some(hidden) = command.text.chars().find(|c| is_hidden(*c)) {
            let code = u32::from(hidden);
            let detail = format!("the command has an invisible character, U+{code:04X}");
            sink.report(task, command.span, detail)
                .set_hint("take it out, or put the command into a script");
        }
    }
}

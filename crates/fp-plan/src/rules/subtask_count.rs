//! `subtask-count`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "subtask-count",
    severity: Severity::Error,
    finds: "A parent other than the root with fewer than 2 or more than 5 subtasks",
    why: "One subtask is the task itself under another name. More than five is a list nobody has structured yet.",
    fix: None,
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser\n  - [ID: 1.1] Numbers (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser\n  - [ID: 1.1] Numbers (Complexity: 2)\n  - [ID: 1.2] Operators (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)",
    check: Check::Task(check),
};

fn check(context: &RuleContext<'_>, index: TaskIndex, sink: &mut FindingSink<'_>) {
    let task = context.task(index);
    let (count, hint) = match task.children.len() {
        0 | 2..=5 => return,
        1 => (
            "1 subtask".to_owned(),
            "merge it into its parent, or split it",
        ),
        many => (
            format!("{many} subtasks"),
            "group them under two to five tasks",
        ),
    };
    if task.parent.is_some() {
        sink.report(
            task,
            task.span,
            format!("the task has {count}, a parent has 2 to 5"),
        )
        .hint(hint);
    }
}

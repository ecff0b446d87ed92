//! `subtask-count`.

use super::prelude::*;
use crate::text::counted;

pub(super) static RULE: Rule = Rule {
    id: "subtask-count",
    severity: Severity::Error,
    finds: "A parent other than the root with fewer than 2 or more than 5 subtasks",
    why: "One subtask is the task itself under another name. More than five is a list nobody has structured yet.",
    fix: None,
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser\n  - [ID: 1.1] Numbers (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser\n  - [ID: 1.1] Numbers (Complexity: 2)\n  - [ID: 1.2] Operators (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)",
    check: Check::Task(check_task),
};

fn check_task(context: &RuleContext<'_>, index: TaskIndex, sink: &mut FindingSink<'_>) {
    let task = context.task(index);
    let count = task.children.len();
    let hint = match count {
        0 | 2..=5 => return,
        1 => "merge it into its parent, or split it",
        _ => "group them under two to five tasks",
    };
    if task.parent.is_some() {
        let subtasks = counted(count, "subtask");
        let detail = format!("the task has {subtasks}, a parent has 2 to 5");
        sink.report(task, task.span, detail).set_hint(hint);
    }
}

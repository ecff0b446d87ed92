//! `duplicate-id`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "duplicate-id",
    severity: Severity::Error,
    finds: "An id that is used twice",
    why: "Everything names a task by its id: dependencies, claims, commits, evidence. With two of them nobody \
          knows which is meant.",
    fix: None,
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n- [ID: 1] Printer (Complexity: 2)",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)",
    check: Check::Task(check_task),
};

fn check_task(context: &RuleContext<'_>, index: TaskIndex, sink: &mut FindingSink<'_>) {
    let task = context.task(index);
    let first = context.index.find(&task.id).filter(|first| *first != index);
    if let Some(first) = first.filter(|_| !task.id.is_empty()) {
        let title = &*context.task(first).description;
        let detail = format!("id {} is already that of {title:?}", task.id);
        sink.report(task, task.id_span, detail)
            .set_hint("give one of the two another id");
    }
}

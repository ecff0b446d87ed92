//! `ancestor-dependency`.

use super::fix::{set_ids, written_ids};
use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "ancestor-dependency",
    severity: Severity::Error,
    finds: "A task that waits for itself or for its own ancestor",
    why: "A dependency on a parent means all of its leaves, and the task is one of them: it would wait for itself.",
    fix: Some("Removes the dependency."),
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser\n  - [ID: 1.1] Numbers (Complexity: 2)\n  - [ID: 1.2] Operators (Complexity: 2)\n    - Dependencies: 1\n- [ID: 2] Printer (Complexity: 2)",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser\n  - [ID: 1.1] Numbers (Complexity: 2)\n  - [ID: 1.2] Operators (Complexity: 2)\n    - Dependencies: 1.1\n- [ID: 2] Printer (Complexity: 2)",
    check: Check::Task(check_task),
};

fn check_task(context: &RuleContext<'_>, index: TaskIndex, sink: &mut FindingSink<'_>) {
    let task = context.task(index);
    if !task.is_leaf() || task.broken {
        return;
    }
    let is_above = |target: TaskIndex| target == index || context.index.is_ancestor(target, index);
    for kind in FieldKind::ORDERING {
        for item in task.fields.items(kind) {
            if !context.index.find(&item.text).is_some_and(is_above) {
                continue;
            }
            let (id, other) = (&task.id, &item.text);
            let detail = match id == other {
                true => format!("task {id} waits for itself"),
                false => format!("task {id} waits for {other}, which it is a part of"),
            };
            let kept = written_ids(task, kind, |id| id != item.text);
            let fix = set_ids(context.plan, task, kind, &kept, "remove the dependency");
            sink.report(task, item.span, detail)
                .set_hint("name the tasks beside it that it needs")
                .fixes(vec![fix]);
        }
    }
}

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
    check: Check::Task(check),
};

fn check(context: &RuleContext<'_>, index: TaskIndex, sink: &mut FindingSink<'_>) {
    let task = context.task(index);
    if !task.is_leaf() || task.broken {
        return;
    }
    let above = |id: &str| {
        context
            .index
            .find(id)
            .is_some_and(|target| target == index || context.index.is_ancestor(target, index))
    };
    let named = FieldKind::ORDERING
        .map(|kind| task.fields.items(kind).iter().map(move |item| (kind, item)));
    for (kind, item) in named
        .into_iter()
        .flatten()
        .filter(|(_, item)| above(&item.text))
    {
        let kept = written_ids(task, kind, |id| id != item.text);
        let detail = match item.text == task.id {
            true => format!("task {} waits for itself", task.id),
            false => format!(
                "task {} waits for {}, which it is a part of",
                task.id, item.text
            ),
        };
        sink.report(task, item.span, detail)
            .hint("name the tasks beside it that it needs")
            .fixes(vec![set_ids(
                context.plan,
                task,
                kind,
                &kept,
                "remove the dependency".to_owned(),
            )]);
    }
}

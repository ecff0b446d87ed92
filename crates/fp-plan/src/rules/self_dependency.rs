//! `self-dependency`.

use super::fix::{set_ids, written_ids};
use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "self-dependency",
    severity: Severity::Error,
    finds: "A task that waits for itself",
    why: "It could never start.",
    fix: Some("Removes the dependency."),
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)\n  - Dependencies: 1, 2",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)\n  - Dependencies: 1",
    check: Check::AnyLeaf(check),
};

fn check(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    for kind in FieldKind::ORDERING {
        let Some(item) = task
            .fields
            .items(kind)
            .iter()
            .find(|item| item.text == task.id)
        else {
            continue;
        };
        let kept = written_ids(task, kind, |id| id != task.id);
        sink.report(
            task,
            item.span,
            format!("task {} waits for itself", task.id),
        )
        .hint("remove the dependency")
        .fixes(vec![set_ids(
            context.plan,
            task,
            kind,
            &kept,
            "remove the dependency".to_owned(),
        )]);
    }
}

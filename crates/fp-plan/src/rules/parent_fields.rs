//! `parent-fields`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "parent-fields",
    severity: Severity::Warning,
    finds: "Fields of a leaf on a task that has subtasks, or `Setup` on a task that isn't the root",
    why: "Only leaves run, so the fields of a parent are ignored: a criterion there is never checked, a \
          dependency never waited for. What a fresh checkout needs concerns every task, so only the root says it.",
    fix: None,
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser\n  - Files: src/parser.rs\n  - [ID: 1.1] Numbers (Complexity: 2)\n  - [ID: 1.2] Operators (Complexity: 2)",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser\n  - [ID: 1.1] Numbers (Complexity: 2)\n    - Files: src/number.rs\n  - [ID: 1.2] Operators (Complexity: 2)",
    check: Check::Task(check_task),
};

fn check_task(context: &RuleContext<'_>, index: TaskIndex, sink: &mut FindingSink<'_>) {
    let task = context.task(index);
    let is_root = context.plan.root == Some(index);
    if task.is_leaf() {
        if let Some(span) = task.fields.span(FieldKind::Setup).filter(|_| !is_root) {
            sink.report(task, span, "only the root's `Setup` is read")
                .set_hint("move it to the root task");
        }
        if let Some(span) = task.fields.span(FieldKind::Split) {
            sink.report(task, span, "a task without subtasks has `Split`")
                .set_hint("it is the reason of a task that has some");
        }
        return;
    }
    let is_of_parents = |kind: FieldKind| {
        let is_of_any = [
            FieldKind::Complexity,
            FieldKind::Description,
            FieldKind::Split,
        ]
        .contains(&kind);
        is_of_any || kind == FieldKind::Setup && is_root
    };
    let given = task
        .fields
        .given()
        .filter(|(kind, _)| !is_of_parents(*kind));
    let mut given: Vec<(Span, &str)> = given
        .map(|(kind, field)| (field.span, kind.label()))
        .collect();
    given.sort();
    let Some(&(first, _)) = given.first() else {
        return;
    };
    let labels: Vec<String> = given
        .iter()
        .map(|(_, label)| format!("`{label}`"))
        .collect();
    let detail = format!(
        "a task with subtasks has {}, which is ignored",
        labels.join(", ")
    );
    sink.report(task, first, detail)
        .set_hint("move it to the subtasks that it is about");
}

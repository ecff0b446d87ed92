//! `parent-fields`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "parent-fields",
    severity: Severity::Warning,
    finds: "Fields of a leaf on a task that has subtasks",
    why: "Only leaves run, so the fields of a parent are ignored: a criterion there is never checked, a \
          dependency never waited for.",
    fix: None,
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser\n  - Files: src/parser.rs\n  - [ID: 1.1] Numbers (Complexity: 2)\n  - [ID: 1.2] Operators (Complexity: 2)",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser\n  - [ID: 1.1] Numbers (Complexity: 2)\n    - Files: src/number.rs\n  - [ID: 1.2] Operators (Complexity: 2)",
    check: Check::Task(check),
};

fn check(context: &RuleContext<'_>, index: TaskIndex, sink: &mut FindingSink<'_>) {
    let task = context.task(index);
    if task.is_leaf() {
        return;
    }
    let mut given: Vec<(FieldKind, Span)> = task
        .fields
        .given()
        .map(|(kind, field)| (kind, field.span))
        .collect();
    given.retain(|(kind, _)| ![FieldKind::Complexity, FieldKind::Description].contains(kind));
    given.sort_by_key(|&(_, span)| span);
    let Some((_, first)) = given.first() else {
        return;
    };
    let labels: Vec<String> = given
        .iter()
        .map(|(kind, _)| format!("`{}`", kind.label()))
        .collect();
    sink.report(
        task,
        *first,
        format!(
            "a task with subtasks has {}, which is ignored",
            labels.join(", ")
        ),
    )
    .hint("move it to the subtasks that it is about");
}

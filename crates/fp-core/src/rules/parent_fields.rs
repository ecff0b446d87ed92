//! `parent-fields`.

use super::scope::{Scope, Sink};
use super::{Check, Rule};
use crate::diagnostic::{Severity, Span};
use crate::plan::field::FieldKind;
use crate::plan::task::{Fields, TaskIndex};

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

fn check(scope: &Scope<'_>, index: TaskIndex, sink: &mut Sink<'_>) {
    let task = scope.task(index);
    if task.is_leaf() {
        return;
    }
    let given = leaf_fields(&task.fields);
    let Some((_, first)) = given.first() else { return };
    let labels: Vec<String> = given.iter().map(|(kind, _)| format!("`{}`", kind.label())).collect();
    sink.report(task, *first, format!("a task with subtasks has {}, which is ignored", labels.join(", ")))
        .hint("move it to the subtasks that it is about");
}

/// The leaf fields that are given, in the order of the source.
fn leaf_fields(fields: &Fields) -> Vec<(FieldKind, Span)> {
    let given = [
        (FieldKind::Acceptance, fields.acceptance.as_ref().map(|field| field.span)),
        (FieldKind::Dependencies, fields.dependencies.as_ref().map(|field| field.span)),
        (FieldKind::Files, fields.files.as_ref().map(|field| field.span)),
        (FieldKind::TestsRequired, fields.tests_required.as_ref().map(|field| field.span)),
        (FieldKind::Hints, fields.hints.as_ref().map(|field| field.span)),
        (FieldKind::References, fields.references.as_ref().map(|field| field.span)),
        (FieldKind::Guardrails, fields.guardrails.as_ref().map(|field| field.span)),
        (FieldKind::TestCommands, fields.test_commands.as_ref().map(|field| field.span)),
        (FieldKind::Verify, fields.verify.as_ref().map(|field| field.span)),
        (FieldKind::Covers, fields.covers.as_ref().map(|field| field.span)),
        (FieldKind::Group, fields.group.as_ref().map(|field| field.span)),
        (FieldKind::Risk, fields.risk.as_ref().map(|field| field.span)),
        (FieldKind::Priority, fields.priority.as_ref().map(|field| field.span)),
    ];
    let mut given: Vec<_> = given.into_iter().filter_map(|(kind, span)| Some((kind, span?))).collect();
    given.sort_by_key(|&(_, span)| span);
    given
}

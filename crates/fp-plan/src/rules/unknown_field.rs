//! `unknown-field`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "unknown-field",
    severity: Severity::Warning,
    finds: "A field that is not of the language or is given twice, or a value that its field doesn't take",
    why: "Nothing reads it. Often it is a field of the language under another name, and the task lacks that one. \
          The fields are Acceptance, Dependencies, Files, Tests Required, Hints, References, Guardrails, Setup \
          (of the root), Test Commands, Verify, Covers, Group, Risk (low, medium or high) and Priority, and in the heading dialect \
          Complexity and Description.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Owner: somebody",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Priority: high",
    check: Check::Task(check_task),
};

/// Other names that people use for fields that the plan language defines.
const OTHER_NAMES: [(FieldKind, &[&str]); 10] = [
    (
        FieldKind::Acceptance,
        &["criteria", "acceptance tests", "done when"],
    ),
    (
        FieldKind::Dependencies,
        &[
            "depends on",
            "dependency",
            "depends",
            "blocked by",
            "requires",
        ],
    ),
    (FieldKind::Files, &["file", "files to modify"]),
    (FieldKind::TestsRequired, &["tests", "tests needed"]),
    (FieldKind::Hints, &["hint"]),
    (FieldKind::References, &["reference"]),
    (FieldKind::Guardrails, &["guardrail", "constraints"]),
    (FieldKind::TestCommands, &["test command", "commands"]),
    (FieldKind::Covers, &["requirements"]),
    (FieldKind::Complexity, &["effort"]),
];

fn check_task(context: &RuleContext<'_>, index: TaskIndex, sink: &mut FindingSink<'_>) {
    let task = context.task(index);
    for (label, item) in &task.fields.unknown {
        let label_of = |names: &[&str]| names.contains(&&*label.to_lowercase());
        let other = OTHER_NAMES.iter().find(|(_, names)| label_of(names));
        let hint = match other {
            Some((field, _)) => format!("did you mean `{}`?", field.label()),
            None => "`fp validate --explain unknown-field` lists the fields; what is no field needs no colon"
                .to_owned(),
        };
        let detail = format!("`{label}` is not a field of a task");
        sink.report(task, item.span, detail).set_hint(hint);
    }
    for (label, item) in &task.fields.duplicates {
        let detail = format!("`{label}` is given twice, the first one counts");
        sink.report(task, item.span, detail)
            .set_hint("merge the two");
    }
    if let Some(item) = task.fields.value(FieldKind::Risk)
        && task.fields.text(FieldKind::Risk).is_none()
    {
        sink.report(task, item.span, format!("`{}` is no risk", item.text))
            .set_hint("write low, medium or high");
    }
}

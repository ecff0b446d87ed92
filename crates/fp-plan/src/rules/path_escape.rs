//! `path-escape`.

use super::prelude::*;
use crate::plan::path::normal;

pub(super) static RULE: Rule = Rule {
    id: "path-escape",
    severity: Severity::Error,
    finds: "A file outside the repository: absolute, with `..` or `~`, or through a symbolic link; or a path with `\\`, or that \
            your system can't have",
    why: "A plan is written by a model. What it names is read, changed and committed, so it must not lead \
          anywhere else.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: ../other/number.rs",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: src/number.rs",
    check: Check::AnyLeaf(check_leaf),
};

fn check_leaf(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    const RELATIVE: &str = "name files relative to the repository";
    for item in task.fields.items(FieldKind::Files) {
        let (why, hint) = match (normal(&item.text), context.facts.path(&item.text)) {
            (Err(escape), _) => (format!("outside the repository: {escape}"), RELATIVE),
            (Ok(_), Some(PathFact::Outside)) => {
                let why = "outside the repository: a symbolic link leads out";
                (why.to_owned(), RELATIVE)
            }
            (Ok(_), Some(PathFact::Impossible)) => {
                let why = "no name that Windows allows: a device's, with a dot or a blank at its end, or with one of `<>:\"|`";
                (why.to_owned(), "choose another name")
            }
            (Ok(_), _) if item.text.contains('\\') => {
                let why = "no path in git, which has `/` between folders";
                (why.to_owned(), RELATIVE)
            }
            (Ok(_), _) => continue,
        };
        let detail = format!("`{}` is {why}", item.text.escape_debug());
        sink.report(task, item.span, detail).set_hint(hint);
    }
}

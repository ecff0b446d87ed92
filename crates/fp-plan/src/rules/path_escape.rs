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
    check: Check::AnyLeaf(check),
};

fn check(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    for item in task.fields.items(FieldKind::Files) {
        let mut hint = "name files relative to the repository";
        let why = match normal(&item.text) {
            Err(escape) => format!("outside the repository: {escape}"),
            Ok(_) if context.facts.path(&item.text) == Some(PathFact::Outside) => {
                "outside the repository: a symbolic link leads out".to_owned()
            }
            Ok(_) if context.facts.path(&item.text) == Some(PathFact::Impossible) => {
                hint = "choose another name";
                "no name that Windows allows: a device's, with a dot or a blank at its end, or with one of `<>:\"|`"
                    .to_owned()
            }
            Ok(_) if item.text.contains('\\') => {
                "no path in git, which has `/` between folders".to_owned()
            }
            Ok(_) => continue,
        };
        sink.report(
            task,
            item.span,
            format!("`{}` is {why}", item.text.escape_debug()),
        )
        .hint(hint);
    }
}

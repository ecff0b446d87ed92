//! `unknown-dependency`.

use super::prelude::*;
use crate::plan::task::Item;

pub(super) static RULE: Rule = Rule {
    id: "unknown-dependency",
    severity: Severity::Error,
    finds: "A dependency on an id that is not in the tree",
    why: "The task would wait for something that never comes, or, worse, for nothing at all.",
    fix: None,
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)\n  - Dependencies: 3",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)\n  - Dependencies: 1",
    check: Check::AnyLeaf(check),
};

fn check(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    let unknown = task
        .ordering()
        .filter(|item| context.index.find(&item.text).is_none());
    for item in unknown {
        let finding = sink.report(task, item.span, format!("there is no task `{}`", item.text));
        match meant(context, item) {
            Some(id) => finding.hint(format!("did you mean {id}?")),
            None => finding.hint("name tasks by their ids, separated by commas, or write `none`"),
        };
    }
}

/// The id or title that matches apart from case, punctuation and a leading `task` or `t`.
fn meant<'p>(context: &RuleContext<'p>, item: &Item) -> Option<&'p str> {
    let bare = |text: &str| -> String {
        let text: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
        text.to_lowercase()
            .trim_start_matches("task")
            .trim_start_matches('t')
            .to_owned()
    };
    let wanted = bare(&item.text);
    if wanted.is_empty() {
        return None;
    }
    let found = context
        .plan
        .tasks
        .iter()
        .find(|task| bare(&task.id) == wanted || bare(&task.description) == wanted);
    found.map(|task| &*task.id)
}

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
    check: Check::AnyLeaf(check_leaf),
};

fn check_leaf(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    for item in task.ordering() {
        if context.index.find(&item.text).is_some() {
            continue;
        }
        let finding = sink.report(task, item.span, format!("there is no task `{}`", item.text));
        match meant_id(context, item) {
            Some(id) => finding.set_hint(format!("did you mean {id}?")),
            None => {
                finding.set_hint("name tasks by their ids, separated by commas, or write `none`")
            }
        };
    }
}

/// The id of the task that `item` probably means: one whose id or title matches apart from case, punctuation and a
/// leading `task` or `t`.
fn meant_id<'p>(context: &RuleContext<'p>, item: &Item) -> Option<&'p str> {
    let bare = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        let text = letters.collect::<String>().to_lowercase();
        let text = text.trim_start_matches("task").trim_start_matches('t');
        text.to_owned()
    };
    let wanted = bare(&item.text);
    let is_meant = |text: &str| !wanted.is_empty() && bare(text) == wanted;
    let mut tasks = context.plan.tasks.iter();
    let found = tasks.find(|task| is_meant(&task.id) || is_meant(&task.description));
    found.map(|task| &*task.id)
}

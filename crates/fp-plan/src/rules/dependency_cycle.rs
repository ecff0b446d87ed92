//! `dependency-cycle`.

use super::prelude::*;
use crate::plan::cycles::find_cycles;

pub(super) static RULE: Rule = Rule {
    id: "dependency-cycle",
    severity: Severity::Error,
    finds: "Tasks that wait for each other; of each tangle the shortest cycle, as a path that begins with its smallest id",
    why: "None of them could ever start. A dependency on a parent means all of its leaves, so a cycle can lead \
          through one.",
    fix: None,
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n  - Dependencies: 2\n- [ID: 2] Printer (Complexity: 2)\n  - Dependencies: 1",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)\n  - Dependencies: 1",
    check: Check::Tree(check_tree),
};

fn check_tree(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    if context.order.len() == context.plan.tasks.len() {
        return;
    }
    for path in find_cycles(context.plan, &context.graph) {
        let ids = path.iter().chain(path.first());
        let ids: Vec<&str> = ids.map(|&task| &*context.task(task).id).collect();
        let detail = format!("tasks wait for each other: {}", ids.join(" → "));
        sink.report(context.task(path[0]), first_step(context, &path), detail)
            .set_hint("remove the dependency that matters least, or split a task so that both can wait for one part");
    }
}

/// The span of the dependency through which the first task of a cycle waits for the second.
fn first_step(context: &RuleContext<'_>, path: &[TaskIndex]) -> Span {
    let first = context.task(path[0]);
    let second = path.get(1).copied().unwrap_or(path[0]);
    let leads = |target: TaskIndex| target == second || context.index.is_ancestor(target, second);
    let mut items = first.ordering();
    let item = items.find(|item| context.index.find(&item.text).is_some_and(leads));
    item.map_or(first.span, |item| item.span)
}

//! `empty-tree`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "empty-tree",
    severity: Severity::Error,
    finds: "A file without a task",
    why: "There is nothing to plan or run. Tasks in a code fence or a quotation don't count.",
    fix: None,
    bad: "# Task Decomposition\n\nTo be done.",
    good: "# Task Decomposition\n\n- [ID: root] Parse numbers (Complexity: 2)",
    check: Check::Tree(check_tree),
};

fn check_tree(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    if context.plan.root.is_none() && !context.has_syntax_errors {
        sink.report_plan("there is no task in this file")
            .set_hint("write tasks as `- [ID: 1] Title (Complexity: 3)`");
    }
}

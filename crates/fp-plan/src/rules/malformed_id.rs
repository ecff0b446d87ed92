//! `malformed-id`.

use std::collections::HashSet;

use super::prelude::*;
use crate::plan::id::TaskId;

pub(super) static RULE: Rule = Rule {
    id: "malformed-id",
    severity: Severity::Error,
    finds: "An id that is not `root` or dotted segments, or that doesn't extend its parent's",
    why: "Ids become names of files and branches, and people find a task's place in the tree by its id. The \
          children of the root are free to have any.",
    fix: Some(
        "Gives the task the next free id below its parent, and follows it in its subtasks and in all dependencies.",
    ),
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser\n  - [ID: 1.1] Numbers (Complexity: 2)\n  - [ID: 2.2] Operators (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)\n  - Dependencies: 2.2",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser\n  - [ID: 1.1] Numbers (Complexity: 2)\n  - [ID: 1.2] Operators (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)\n  - Dependencies: 1.2",
    check: Check::Tree(check_tree),
};

fn check_tree(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    let mut malformed = HashSet::new();
    let tasks = &context.plan.tasks;
    let mut taken: HashSet<String> = tasks.iter().map(|task| task.id.to_string()).collect();
    for (index, task) in tasks.iter().enumerate() {
        let Some(detail) = fault_of(context, index, &malformed) else {
            continue;
        };
        malformed.insert(index);
        let id = free_id(context, task, &mut taken);
        let fixes = renaming_fixes(context, index, &id);
        sink.report(task, task.id_span, detail)
            .set_hint(format!("call it {id}"))
            .fixes(fixes);
    }
}

/// Returns the problem with a task's id, if any. Consequences of another finding don't count: a repeated id, or an id
/// below a malformed parent.
fn fault_of(
    context: &RuleContext<'_>,
    index: TaskIndex,
    malformed: &HashSet<TaskIndex>,
) -> Option<String> {
    let task = context.task(index);
    if task.broken || task.synthetic || context.repeats_id(index) {
        return None;
    }
    if let Err(invalid) = TaskId::new(&*task.id) {
        return Some(invalid.to_string());
    }
    let parent = task.parent?;
    let above = context.task(parent);
    let is_consequence = above.broken || malformed.contains(&parent) || context.repeats_id(parent);
    let rest = task.id.strip_prefix(&*above.id);
    let extends = rest.is_some_and(|rest| rest.starts_with('.'));
    (above.parent.is_some() && !is_consequence && !extends)
        .then(|| format!("id {} doesn't extend its parent's, {}", task.id, above.id))
}

/// The next unused id below the parent of `task`.
fn free_id(context: &RuleContext<'_>, task: &Task, taken: &mut HashSet<String>) -> String {
    let Some(parent) = task.parent.map(|parent| context.task(parent)) else {
        return "root".to_owned();
    };
    let id = |number: u32| match parent.parent {
        None => number.to_string(),
        Some(_) => format!("{}.{number}", parent.id),
    };
    let mut ids = (1..).map(id);
    ids.find(|id| taken.insert(id.clone())).unwrap_or_default()
}

/// Renames a task, the subtasks whose ids extend its own, and all dependencies on them.
fn renaming_fixes(context: &RuleContext<'_>, index: TaskIndex, new: &str) -> Vec<TextFix> {
    let tasks = &context.plan.tasks;
    let old = &*context.task(index).id;
    let mut fixes = Vec::new();
    for (other, task) in tasks.iter().enumerate() {
        let rest = task.id.strip_prefix(old).unwrap_or("-");
        let extends = rest.starts_with('.') && context.index.is_ancestor(index, other);
        if other != index && !extends {
            continue;
        }
        let renamed = format!("{new}{rest}");
        if TaskId::new(renamed.as_str()).is_err() {
            return Vec::new();
        }
        let named = tasks.iter().flat_map(Task::ordering);
        let named = named.filter(|item| item.text == task.id && context.is_unique(&task.id));
        let spans = std::iter::once(task.id_span).chain(named.map(|item| item.span));
        fixes.extend(spans.map(|span| TextFix {
            title: format!("rename {} to {renamed}", task.id),
            span,
            replacement: renamed.clone(),
        }));
    }
    fixes.sort_by_key(|fix| fix.span);
    fixes
}

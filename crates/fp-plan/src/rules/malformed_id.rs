//! `malformed-id`.

use std::collections::{HashMap, HashSet};

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
    check: Check::Tree(check),
};

fn check(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    let mut malformed = HashSet::new();
    let mut renumber = None;
    for (index, task) in context.plan.tasks.iter().enumerate() {
        let Some(detail) = fault(context, index, &malformed) else {
            continue;
        };
        malformed.insert(index);
        let renumber = renumber.get_or_insert_with(|| Renumber::new(context));
        let id = renumber.free_id(task);
        let fixes = renumber.fixes(index, &id);
        sink.report(task, task.id_span, detail)
            .hint(format!("call it {id}"))
            .fixes(fixes);
    }
}

/// Returns the fault of an id. Consequences of another finding don't count: a repeated id, or an id below a malformed
/// parent.
fn fault(
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
    if above.parent.is_none()
        || above.broken
        || malformed.contains(&parent)
        || context.repeats_id(parent)
    {
        return None;
    }
    let extends = task
        .id
        .strip_prefix(&*above.id)
        .is_some_and(|rest| rest.starts_with('.'));
    (!extends).then(|| format!("id {} doesn't extend its parent's, {}", task.id, above.id))
}

/// Assigns unused ids, each only once, and finds all mentions of the old ones.
struct Renumber<'s, 'p> {
    context: &'s RuleContext<'p>,
    taken: HashSet<String>,
    next: HashMap<String, u32>,
    named: HashMap<&'p str, Vec<Span>>,
}

impl<'s, 'p> Renumber<'s, 'p> {
    fn new(context: &'s RuleContext<'p>) -> Self {
        let mut named: HashMap<&str, Vec<Span>> = HashMap::new();
        for task in &context.plan.tasks {
            for item in task.ordering() {
                named.entry(&item.text).or_default().push(item.span);
            }
        }
        let taken = context
            .plan
            .tasks
            .iter()
            .map(|task| task.id.to_string())
            .collect();
        Self {
            context,
            taken,
            next: HashMap::new(),
            named,
        }
    }

    fn free_id(&mut self, task: &Task) -> String {
        let parent = task.parent.map(|parent| self.context.task(parent));
        let Some(parent) = parent else {
            return "root".to_owned();
        };
        let prefix = if parent.parent.is_none() {
            String::new()
        } else {
            format!("{}.", parent.id)
        };
        let number = self.next.entry(prefix.clone()).or_insert(1);
        loop {
            let id = format!("{prefix}{number}");
            *number += 1;
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }

    /// Renames a task, the subtasks whose ids extend its own, and all dependencies on them.
    fn fixes(&self, index: TaskIndex, new: &str) -> Vec<TextFix> {
        let old = &self.context.task(index).id;
        let below = (index + 1..self.context.plan.tasks.len())
            .take_while(|&other| self.context.index.is_ancestor(index, other));
        let extending = below.filter_map(|other| {
            let task = self.context.task(other);
            task.id
                .strip_prefix(&**old)
                .filter(|rest| rest.starts_with('.'))
                .map(|rest| (task, rest))
        });
        let mut fixes = Vec::new();
        for (task, rest) in std::iter::once((self.context.task(index), "")).chain(extending) {
            let renamed = format!("{new}{rest}");
            if TaskId::new(renamed.as_str()).is_err() {
                return Vec::new();
            }
            let title = format!("rename {} to {renamed}", task.id);
            fixes.push(TextFix {
                title: title.clone(),
                span: task.id_span,
                replacement: renamed.clone(),
            });
            if self.context.is_unique(&task.id) {
                let named = self.named.get(&*task.id).into_iter().flatten();
                fixes.extend(named.map(|&span| TextFix {
                    title: title.clone(),
                    span,
                    replacement: renamed.clone(),
                }));
            }
        }
        fixes.sort_by_key(|fix| fix.span);
        fixes
    }
}

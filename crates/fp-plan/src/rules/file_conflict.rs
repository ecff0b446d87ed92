//! `file-conflict`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::fix::{set_ids, written_ids};
use super::prelude::*;
use crate::plan::id::TaskId;
use crate::plan::path::{held, is_above};
use crate::schedule::prediction::minutes_of;
use crate::schedule::weight_of;

pub(super) static RULE: Rule = Rule {
    id: "file-conflict",
    severity: Severity::Warning,
    finds: "Two leaves that could run at the same time and list the same file, or a folder over it",
    why: "Two builders in one file overwrite each other. The schedule keeps them apart, in an order nobody chose; \
          `After` says which comes first, and the other is built even if that one fails.",
    fix: Some(
        "Adds `After` to one of the two, in the direction that keeps the critical path short.",
    ),
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n  - Files: src/lib.rs\n- [ID: 2] Printer (Complexity: 2)\n  - Files: src/lib.rs",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n  - Files: src/lib.rs\n- [ID: 2] Printer (Complexity: 2)\n  - After: 1\n  - Files: src/lib.rs",
    check: Check::Tree(check_tree),
};

/// A file as listed by a leaf, and where it is listed.
type ListedFile<'p> = (Cow<'p, str>, Span);

fn check_tree(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    let mut reached: Option<(TaskIndex, Vec<bool>)> = None;
    for ((later, earlier), mut files) in shared_files(context) {
        let (_, waits_for) = match reached.take() {
            Some(known) if known.0 == later => reached.insert(known),
            _ => reached.insert((later, context.graph.reached_from(later))),
        };
        if waits_for[earlier] {
            continue;
        }
        files.sort_by_key(|(_, span)| *span);
        files.dedup();
        let (path, span) = &files[0];
        let more = match files.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let task = context.task(later);
        let (id, other) = (&task.id, &context.task(earlier).id);
        let mut ids = written_ids(task, FieldKind::After, |_| true);
        ids.push(other.to_string());
        // An invalid id wouldn't resolve the conflict, so the fix would be added again in every round.
        let fix = TaskId::new(&**other).is_ok().then(|| {
            let title = format!("add `After: {other}`, since both change {path}");
            set_ids(context.plan, task, FieldKind::After, &ids, title)
        });
        let detail = format!(
            "`{path}`{more} is also changed by {other}, and neither task waits for the other"
        );
        sink.report(task, *span, detail)
            .set_hint(format!(
                "add `After: {other}` to {id}, or move the shared part to one of them"
            ))
            .fixes(fix.into_iter().collect());
    }
}

/// For each pair of leaves, later leaf first, the entries of the later leaf that the earlier one shares.
fn shared_files<'p>(
    context: &RuleContext<'p>,
) -> BTreeMap<(TaskIndex, TaskIndex), Vec<ListedFile<'p>>> {
    let mut found: BTreeMap<_, Vec<ListedFile<'p>>> = BTreeMap::new();
    let mut seen: Vec<(Cow<'_, str>, TaskIndex)> = Vec::new();
    for later in by_slack(context) {
        let leaf = context.task(later);
        if !leaf.is_leaf() || leaf.broken || context.repeats_id(later) {
            continue;
        }
        let own = leaf.fields.items(FieldKind::Files).iter();
        let own = own.filter_map(|item| Some((held(&item.text)?, item.span)));
        let own: Vec<ListedFile<'_>> = own.collect();
        for (path, span) in &own {
            for (other, earlier) in seen.iter().rev() {
                // A leaf with this path or a folder above it will itself come after all earlier leaves that share the
                // path.
                let has_it = other == path || is_above(other, path);
                if has_it || is_above(path, other) {
                    let shared = found.entry((later, *earlier)).or_default();
                    shared.push((path.clone(), *span));
                }
                if has_it {
                    break;
                }
            }
        }
        seen.extend(own.into_iter().map(|(path, _)| (path, later)));
    }
    found
}

/// All tasks that can be scheduled, sorted so that for any two, the opposite order would make the longest path through
/// both longer. Each task comes after those that it waits for.
fn by_slack(context: &RuleContext<'_>) -> Vec<TaskIndex> {
    let weight = |task: TaskIndex| match context.task(task) {
        leaf if leaf.is_leaf() => u64::from(minutes_of(weight_of(leaf))),
        _ => 0,
    };
    let end = context.graph.chain_weights(&context.order, weight);
    let backwards: Vec<TaskIndex> = context.order.iter().rev().copied().collect();
    let behind = context.graph.reversed().chain_weights(&backwards, weight);
    let mut tasks = context.order.clone();
    tasks.sort_by_key(|&task| (end[task].cast_signed() - behind[task].cast_signed(), task));
    tasks
}

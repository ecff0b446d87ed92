//! `file-conflict`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::fix::{set_ids, written_ids};
use super::prelude::*;
use crate::plan::id::TaskId;
use crate::plan::path::{is_above, literal_prefix, normal};
use crate::schedule::leaf_weight;

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
    check: Check::Tree(check),
};

/// Maximum number of pairs of leaves examined.
const MAX_PAIRS: usize = 1_000_000;

/// A file as a leaf lists it.
struct Listed<'p> {
    path: Cow<'p, str>,
    /// Position of the leaf in the order of [`by_slack`].
    place: usize,
    task: TaskIndex,
    span: Span,
}

/// Two leaves with the same file: the earlier, the later, and the later's entry.
type Conflict<'l, 'p> = (TaskIndex, TaskIndex, &'l Listed<'p>);

fn check(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    let listed = listed(context);
    let mut found: BTreeMap<(TaskIndex, TaskIndex), Vec<&Listed<'_>>> = BTreeMap::new();
    for (earlier, later, file) in candidates(&listed) {
        found.entry((later, earlier)).or_default().push(file);
    }
    let mut reached: Option<(TaskIndex, Vec<bool>)> = None;
    for ((later, earlier), mut files) in found {
        let (_, waits_for) = match reached.take() {
            Some(known) if known.0 == later => reached.insert(known),
            _ => reached.insert((later, context.graph.reached_from(later))),
        };
        if waits_for[earlier] {
            continue;
        }
        files.sort_by_key(|file| file.span);
        files.dedup_by_key(|file| file.span);
        let (task, other) = (context.task(later), context.task(earlier));
        let more = if files.len() > 1 {
            format!(" and {} more", files.len() - 1)
        } else {
            String::new()
        };
        let mut ids = written_ids(task, FieldKind::After, |_| true);
        ids.push(other.id.to_string());
        // An invalid id would resolve nothing, and be added again and again.
        let fix = TaskId::new(&*other.id).is_ok().then(|| {
            let title = format!(
                "add `After: {}`, since both change {}",
                other.id, files[0].path
            );
            set_ids(context.plan, task, FieldKind::After, &ids, title)
        });
        let detail = format!(
            "`{}`{more} is also changed by {}, and neither task waits for the other",
            files[0].path, other.id
        );
        sink.report(task, files[0].span, detail)
            .hint(format!(
                "add `After: {}` to {}, or move the shared part to one of them",
                other.id, task.id
            ))
            .fixes(fix.into_iter().collect());
    }
}

/// All tasks that can be scheduled, sorted so that the first of any two should come first: the other order would make
/// the longest path through both longer. A task comes after those that it waits for.
fn by_slack(context: &RuleContext<'_>) -> Vec<TaskIndex> {
    let weight = |task: TaskIndex| leaf_weight(context.task(task));
    let end = context.graph.chain_weights(&context.order, weight);
    let backwards: Vec<TaskIndex> = context.order.iter().rev().copied().collect();
    let behind = context.graph.reversed().chain_weights(&backwards, weight);
    let mut tasks = context.order.clone();
    tasks.sort_by_key(|&task| (end[task].cast_signed() - behind[task].cast_signed(), task));
    tasks
}

/// All files of all leaves that can be scheduled, by path, folders before their content.
fn listed<'p>(context: &RuleContext<'p>) -> Vec<Listed<'p>> {
    let mut listed = Vec::new();
    for (place, task) in by_slack(context).into_iter().enumerate() {
        let leaf = context.task(task);
        if !leaf.is_leaf() || leaf.broken || context.repeats_id(task) {
            continue;
        }
        for item in leaf.fields.items(FieldKind::Files) {
            if let Ok(path) = normal(literal_prefix(&item.text)) {
                listed.push(Listed {
                    path,
                    place,
                    task,
                    span: item.span,
                });
            }
        }
    }
    // With `/` as the lowest character, a folder comes directly before its content.
    let key = |path: &str| -> Vec<u8> {
        path.bytes()
            .map(|b| if b == b'/' { 0 } else { b })
            .collect()
    };
    listed.sort_by_cached_key(|file| {
        (
            if file.path == "." {
                Vec::new()
            } else {
                key(&file.path)
            },
            file.place,
            file.span,
        )
    });
    listed
}

/// The pairs whose order puts all tasks that share a file in order: neighbours in the order of [`by_slack`].
fn candidates<'l, 'p>(listed: &'l [Listed<'p>]) -> Vec<Conflict<'l, 'p>> {
    let mut pairs = Vec::new();
    let mut folders: Vec<&'l [Listed<'p>]> = Vec::new();
    for group in listed.chunk_by(|a, b| a.path == b.path) {
        while folders
            .last()
            .is_some_and(|above| !is_above(&above[0].path, &group[0].path))
        {
            folders.pop();
        }
        for two in group.windows(2) {
            pair(&mut pairs, &two[0], &two[1]);
        }
        for folder in &folders {
            for file in group {
                let at = folder.partition_point(|above| above.place < file.place);
                for above in folder[at.saturating_sub(1)..].iter().take(2) {
                    pair(&mut pairs, above, file);
                }
            }
        }
        if pairs.len() > MAX_PAIRS {
            break;
        }
        folders.push(group);
    }
    pairs
}

fn pair<'l, 'p>(pairs: &mut Vec<Conflict<'l, 'p>>, a: &'l Listed<'p>, b: &'l Listed<'p>) {
    let (earlier, later) = if a.place <= b.place { (a, b) } else { (b, a) };
    if earlier.task != later.task {
        pairs.push((earlier.task, later.task, later));
    }
}

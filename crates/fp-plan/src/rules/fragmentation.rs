//! `fragmentation`.

use std::borrow::Cow;
use std::collections::HashMap;

use super::prelude::*;
use crate::plan::path::held;
use crate::schedule::prediction::minutes_of;
use crate::schedule::weight_of;
use crate::text::counted;

pub(super) static RULE: Rule = Rule {
    id: "fragmentation",
    severity: Severity::Warning,
    finds: "Leaves that one agent would do in a sitting: a chain of at least three, or one of less than five minutes beside another in the same file",
    why: "Each leaf costs an agent that reads the same code again, a verification and a commit. A split pays where \
          leaves run at the same time, or where `Split` on their parent names another reason.",
    fix: None,
    bad: "- [ID: root] Calculator\n- [ID: 1] Digits (Complexity: 3)\n- [ID: 2] Signs (Complexity: 3)\n  - Dependencies: 1\n- [ID: 3] Exponents (Complexity: 3)\n  - Dependencies: 2",
    good: "- [ID: root] Calculator\n- [ID: 1] Numbers with sign and exponent (Complexity: 5)",
    check: Check::Tree(check_tree),
};

/// Number of leaves one after the other from which they count as a chain.
const CHAIN: usize = 3;
/// A leaf of fewer minutes is a mouthful.
const MOUTHFUL: u32 = 5;

fn check_tree(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    let sitting = minutes_of(context.facts.max_complexity);
    let minutes = |task: TaskIndex| minutes_of(weight_of(context.task(task)));
    let mut is_told = vec![false; context.plan.tasks.len()];
    for chain in chains(context) {
        let whole: u32 = chain.iter().map(|&task| minutes(task)).sum();
        let sittings = whole.div_ceil(sitting) as usize;
        let [first, .., last] = chain[..] else {
            continue;
        };
        if chain.len() < CHAIN.max(2 * sittings + 1) {
            continue;
        }
        chain.iter().for_each(|&task| is_told[task] = true);
        let (first, last) = (context.task(first), &context.task(last).id);
        let detail = format!(
            "{} tasks run one after the other up to {last}: about {whole} minutes, {}",
            chain.len(),
            counted(sittings, "sitting")
        );
        sink.report(first, first.span, detail).set_hint(
            "make fewer leaves of them, or say on their parent why they are apart: `Split: gate`",
        );
    }
    for (task, holder) in mouthfuls(context, sitting) {
        let leaf = context.task(task);
        if !is_told[task] {
            let (minutes, holder) = (minutes(task), &context.task(holder).id);
            let detail = format!(
                "the task is about {minutes} minutes, and {holder}, which changes the same file, could hold it"
            );
            sink.report(leaf, leaf.span, detail).set_hint(
                "make them one leaf, or say on their parent why they are apart: `Split: asked`",
            );
        }
    }
}

/// Small leaves, each with another one below the same parent that changes the same file and has room for it.
fn mouthfuls(context: &RuleContext<'_>, sitting: u32) -> Vec<(TaskIndex, TaskIndex)> {
    let minutes = |task: TaskIndex| minutes_of(weight_of(context.task(task)));
    let users = context.graph.reversed();
    let is_leaf = |task: &&TaskIndex| context.task(**task).is_leaf();
    // What several wait for, such as a contract, would hold them up as a part of one of them.
    let is_needed = |task| users.waits_for(task).iter().filter(is_leaf).count() > 1;
    let is_mouthful = |task| minutes(task) < MOUTHFUL && !is_needed(task);
    let mut holders: HashMap<(Option<TaskIndex>, Cow<'_, str>), TaskIndex> = HashMap::new();
    let mut found = Vec::new();
    for &task in context.index.leaves() {
        let leaf = context.task(task);
        if leaf.broken || reason_above(context, task).is_some() {
            continue;
        }
        for file in leaf.files().filter_map(held) {
            let holder = *holders.entry((leaf.parent, file)).or_insert(task);
            let fits = holder != task && minutes(task) + minutes(holder) <= sitting;
            let small = [task, holder].into_iter().find(|&it| is_mouthful(it));
            let other = |small| if small == task { holder } else { task };
            found.extend(small.filter(|_| fits).map(|small| (small, other(small))));
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|(task, _)| *task);
    found
}

/// The reason of a split above `task` other than that its parts run at the same time.
fn reason_above<'p>(context: &RuleContext<'p>, task: TaskIndex) -> Option<&'p str> {
    let parents = std::iter::successors(context.task(task).parent, |&above| {
        context.task(above).parent
    });
    let mut reasons = parents.filter_map(|above| context.task(above).fields.text(FieldKind::Split));
    reasons.find(|reason| *reason != "parallel")
}

/// The longest runs of leaves in which each waits for the one before alone, and only the next waits for it.
fn chains(context: &RuleContext<'_>) -> Vec<Vec<TaskIndex>> {
    let users = context.graph.reversed();
    let is_leaf = |&task: &TaskIndex| context.task(task).is_leaf() && !context.task(task).broken;
    let leaf_users = |task: TaskIndex| {
        let found = users.waits_for(task).iter().copied();
        found.filter(is_leaf).collect::<Vec<_>>()
    };
    let next_of = |task: TaskIndex| match leaf_users(task)[..] {
        [next] if context.graph.waits_for(next) == [task] => Some(next),
        _ => None,
    };
    let is_free = |&task: &TaskIndex| is_leaf(&task) && reason_above(context, task).is_none();
    let is_first = |task: &TaskIndex| match context.graph.waits_for(*task) {
        [before] => next_of(*before) != Some(*task) || !is_free(before),
        _ => true,
    };
    let order = context.order.iter().copied().filter(is_free);
    order
        .filter(is_first)
        .map(|first| {
            std::iter::successors(Some(first), |&task| next_of(task).filter(is_free)).collect()
        })
        .collect()
}

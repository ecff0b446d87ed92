//! The mapping to issues in Linear.

use std::collections::BTreeMap;

use super::{Finding, listed, verb};
use crate::linear::{LinearId, MAX_ATTEMPTS, Mapping};
use crate::plan::Plan;
use crate::plan::id::TaskId;

/// Whether the mapping fits the tree, as far as there is one, and whether something of it needs the user.
#[must_use]
pub fn mirror(mapping: &Mapping, tree: Option<&Plan<'_>>) -> Vec<Finding> {
    let check = "linear";
    let retry = format!("fp linear retry {}", mapping.plan_id);
    let mut found = Vec::new();
    let gone: Vec<&TaskId> =
        mapping.tasks.keys().filter(|id| tree.is_some_and(|tree| tree.find(id.as_str()).is_none())).collect();
    if !gone.is_empty() {
        let has = verb(gone.len(), "has an issue, and is", "have issues, and are");
        let detail = format!("{} {has} not in the tree any more: close what is left in Linear", listed(gone));
        found.push(Finding::warning(check, detail));
    }
    let mut by_issue: BTreeMap<&LinearId, Vec<&TaskId>> = BTreeMap::new();
    for (task, issue) in &mapping.tasks {
        by_issue.entry(&issue.linear_issue_id).or_default().push(task);
    }
    for (issue, tasks) in by_issue.into_iter().filter(|(_, tasks)| tasks.len() > 1) {
        let detail = format!("{} have the same issue, {issue}: correct linear-mapping.json", listed(tasks));
        found.push(Finding::error(check, detail));
    }
    let given_up = mapping.failures.values().filter(|failure| failure.attempts >= MAX_ATTEMPTS).count();
    if given_up > 0 {
        let detail = format!("{given_up} {} failed too often", verb(given_up, "call", "calls"));
        found.push(Finding::warning(check, detail).mended_by(&retry));
    }
    if mapping.absent {
        let detail = "Linear could not be reached, and is left alone";
        found.push(Finding::warning(check, detail).mended_by(&retry));
    }
    if found.is_empty() {
        let count = mapping.tasks.len();
        found.push(Finding::ok(
            check,
            format!("{count} {}", verb(count, "task has its issue", "tasks have their issues")),
        ));
    }
    found
}

//! Takes a part of a plan, and reports what stays out.

use std::collections::HashSet;

use fp_plan::settings::closest_name;
use serde_json::Value;

use crate::formats::ImportError;
use crate::portable::{PortablePlan, PortableTask, TaskWork};
use crate::settle::name_ids;

/// The part of a plan to import: what all of these say. The default is everything.
#[derive(Debug, Clone, Default)]
pub struct PlanPart {
    /// A tag, label or group.
    pub tag: Option<String>,
    /// Ids of tasks, as the source writes them; what is below them is meant too.
    pub only: Vec<String>,
    /// Only what is not done.
    pub open: bool,
}

/// Leaves out all tasks of `plan` that are not in `part`. What waits for one of them says so in its `ext`. A parent stays
/// where one of its subtasks does, so that each keeps its id and its place.
pub fn take_part(plan: &mut PortablePlan, part: &PlanPart) -> Result<(), ImportError> {
    let prefixes: HashSet<String> = plan
        .tasks
        .iter()
        .filter_map(|task| Some(task.id.split_once(':')?.0.to_owned()))
        .collect();
    if let Some(tag) = &part.tag {
        strip_tag(plan, tag);
    }
    if let Some(id) = part
        .only
        .iter()
        .find(|id| plan.tasks.iter().all(|task| task.id != **id))
    {
        return Err(not_there(
            "task",
            id,
            plan.tasks.iter().map(|task| task.id.clone()),
        ));
    }
    let all = std::mem::take(&mut plan.tasks);
    let tags_of = |task: &PortableTask| -> Vec<String> {
        let listed = ["labels", "tags"].map(|key| task.ext.get(key).and_then(Value::as_array));
        let listed = listed
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned);
        let own = prefixes.get(&task.id).cloned();
        listed.chain(task.group.clone()).chain(own).collect()
    };
    let has_tag = |task: &PortableTask| {
        part.tag
            .as_ref()
            .is_none_or(|tag| tags_of(task).contains(tag))
    };
    if !all.iter().any(has_tag) {
        return Err(not_there(
            "tag",
            part.tag.as_deref().unwrap_or_default(),
            all.iter().flat_map(tags_of),
        ));
    }
    let is_tag =
        |task: &PortableTask| part.tag.as_ref() == Some(&task.id) && prefixes.contains(&task.id);
    // Parents come before their children. Of each task: whether its tag is asked for, and whether its id is.
    let mut asked: Vec<(bool, bool)> = Vec::with_capacity(all.len());
    for task in &all {
        let (tagged, listed) = task.parent.map_or((false, false), |parent| asked[parent]);
        let is_listed = part.only.is_empty() || part.only.contains(&task.id);
        asked.push((tagged || has_tag(task), listed || is_listed));
    }
    let mut keeps: Vec<bool> = asked
        .into_iter()
        .map(|(tagged, listed)| tagged && listed)
        .collect();
    // Of a task with subtasks: whether one of them is kept.
    let mut subtasks: Vec<Option<bool>> = vec![None; keeps.len()];
    for (at, task) in all.iter().enumerate().rev() {
        let is_done = matches!(task.work, TaskWork::Done { .. });
        keeps[at] = !is_tag(task) && subtasks[at].unwrap_or(keeps[at] && !(part.open && is_done));
        if let Some(parent) = task.parent {
            subtasks[parent] = Some(subtasks[parent] == Some(true) || keeps[at]);
        }
    }
    let kept = |keep: bool| {
        all.iter()
            .zip(&keeps)
            .filter(move |(_, keeps)| **keeps == keep)
            .map(|(task, _)| task)
    };
    let kept_ids: HashSet<&str> = kept(true).map(|task| task.id.as_str()).collect();
    plan.left_out = kept(false)
        .filter(|task| !is_tag(task))
        .map(|task| task.id.clone())
        .collect();
    let mut new_place = vec![None; all.len()];
    for (at, task) in all.iter().enumerate().filter(|(at, _)| keeps[*at]) {
        let mut task = task.clone();
        task.parent = task.parent.and_then(|parent| new_place[parent]);
        let missing = task
            .dependencies
            .iter()
            .flatten()
            .filter(|id| !kept_ids.contains(id.as_str()));
        let missing: Vec<String> = missing
            .filter(|id| plan.left_out.contains(id))
            .cloned()
            .collect();
        if !missing.is_empty() {
            task.ext
                .insert("waitsForLeftOut".to_owned(), missing.into());
        }
        new_place[at] = Some(plan.tasks.len());
        plan.tasks.push(task);
    }
    if plan.tasks.is_empty() {
        return Err(ImportError::NothingLeft);
    }
    if !plan.left_out.is_empty() {
        plan.note(format!(
            "these are not asked for and stay out: {}",
            name_ids(&plan.left_out)
        ));
    }
    Ok(())
}

/// Takes the tag of a source that has several off the ids of its tasks.
fn strip_tag(plan: &mut PortablePlan, tag: &str) {
    for task in &mut plan.tasks {
        for id in std::iter::once(&mut task.id).chain(task.dependencies.iter_mut().flatten()) {
            if let Some(own) = id.strip_prefix(tag).and_then(|rest| rest.strip_prefix(':')) {
                *id = own.to_owned();
            }
        }
    }
}

fn not_there(what: &'static str, name: &str, known: impl Iterator<Item = String>) -> ImportError {
    ImportError::NoSuchPart {
        what,
        name: name.to_owned(),
        nearest: closest_name(name, known),
    }
}

//! Specs: Markdown pages that say what a project wants of every task. Frontmatter tells to which work a page applies,
//! so that an agent reads what concerns it; a required page that applies is handed on whole or named, never left out.

pub(crate) mod command;
mod disk;
mod model;
pub(crate) mod promote;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use fp_core::plan::Task;
use fp_core::run::State;
use fp_core::run::payload::{Around, room_for_specs};
use fp_core::run::state::TaskState;
use serde::Serialize;

use self::disk::{load_specs, load_with_warnings};
use self::model::{SpecCategory, SpecReadMode, applicable_specs, payload_section, word_of, work_of_task};
use crate::context::Context;

/// A spec that applies to exploration or planning.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanningSpec {
    title: String,
    path: PathBuf,
    read_mode: SpecReadMode,
    category: SpecCategory,
}

impl PlanningSpec {
    pub(crate) fn line(&self, context: &Context) -> String {
        format!("  {:<8}  {}: {}\n", word_of(self.read_mode), context.shown(&self.path), self.title)
    }
}

/// The specs that apply to planning `goal`; those that can't be read become warnings.
pub(crate) fn specs_for_planning(
    goal: &str,
    context: &Context,
    warnings: &mut Vec<String>,
) -> Vec<PlanningSpec> {
    let found = load_specs(context.repo());
    warnings.extend(found.faults.iter().map(disk::SpecFault::line));
    let stages = [SpecCategory::Exploration, SpecCategory::Planning];
    let apply = applicable_specs(&found.specs, &stages, goal).into_iter().map(|spec| PlanningSpec {
        title: spec.title.clone(),
        path: found.path(&spec.name),
        read_mode: spec.read_mode,
        category: spec.category,
    });
    apply.collect()
}

/// The section with the specs of `task` in its payload, as long as the payload has room for it; empty without any.
pub(crate) fn section_of_payload(
    state: &State,
    task: &TaskState,
    leaf: &Task,
    around: &Around<'_>,
    context: &Context,
) -> String {
    let found = load_with_warnings(context);
    let about = work_of_task(leaf) + around.goal;
    let apply = applicable_specs(&found.specs, &[SpecCategory::Execution], &about);
    if apply.is_empty() {
        return String::new();
    }
    payload_section(
        &apply,
        room_for_specs(state, task, leaf, around),
        |spec| found.path(&spec.name).display().to_string(),
        &format!("fp specs for {} {}", state.plan_id, task.leaf.id),
    )
}

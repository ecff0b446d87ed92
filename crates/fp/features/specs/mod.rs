//! Specs: Markdown pages that say what a project wants of every task. Frontmatter tells to which work a page applies,
//! so that an agent reads what concerns it; a required page that applies is handed on whole or named, never left out.

pub(crate) mod command;
mod disk;
mod model;
pub(crate) mod promote;
#[cfg(test)]
mod tests;

use fp_core::plan::Task;
use fp_core::run::State;
use fp_core::run::payload::{Around, room_for_specs};
use fp_core::run::state::TaskState;
use serde_json::{Value, json};

use self::disk::{load_specs, load_with_warnings};
use self::model::{Spec, SpecCategory, applicable_specs, payload_section, word_of, work_of_task};
use crate::context::Context;

/// The specs that apply to planning a goal, for programs and as lines.
pub(crate) struct PlanningSpecs {
    pub(crate) json: Vec<Value>,
    pub(crate) text: String,
}

/// The specs that apply to planning `goal`; those that can't be read become warnings.
pub(crate) fn specs_for_planning(goal: &str, context: &Context, warnings: &mut Vec<String>) -> PlanningSpecs {
    let found = load_specs(context.repo());
    warnings.extend(found.faults.iter().map(disk::SpecFault::line));
    let stages = [SpecCategory::Exploration, SpecCategory::Planning];
    let mut planning = PlanningSpecs { json: Vec::new(), text: String::new() };
    for Spec { name, title, read_mode, category, .. } in applicable_specs(&found.specs, &stages, goal) {
        let path = found.path(name);
        planning.text += &format!("  {:<8}  {}: {title}\n", word_of(read_mode), context.shown(&path));
        planning
            .json
            .push(json!({ "title": title, "path": path, "readMode": read_mode, "category": category }));
    }
    planning
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

//! The project's specs as commands hand them on: read once, with a warning for each that can't be.

use fp_core::hint::Hint as _;
use fp_core::plan::Task;
use fp_core::run::State;
use fp_core::run::payload::{Around, room_for_specs};
use fp_core::run::state::TaskState;
use fp_core::specs::{Category, Spec, applicable, payload_section};
use fp_host::specs::Specs;
use serde_json::{Value, json};

use crate::context::Context;
use crate::render::visible::one_line;

/// The specs of the repository; what is wrong with some is said.
pub(crate) fn load(context: &Context) -> Specs {
    let found = Specs::load(context.repo());
    for warning in warnings(&found) {
        context.printer.note(&format!("warning: {warning}"));
    }
    found
}

/// What is wrong with some of the specs, each in one line.
pub(crate) fn warnings(found: &Specs) -> impl Iterator<Item = String> {
    found
        .faults
        .iter()
        .map(|fault| one_line(&format!("{fault} ({})", fault.hint().unwrap_or_default())).into_owned())
}

/// The same for programs.
pub(crate) fn faults(found: &Specs) -> Vec<Value> {
    let fault = |fault: &fp_host::specs::SpecError| json!({ "path": fault.path(), "message": fault.to_string(), "hint": fault.hint() });
    found.faults.iter().map(fault).collect()
}

/// A spec for programs, with its path.
pub(crate) fn described(spec: &Spec, found: &Specs) -> Value {
    let mut value = json!(spec);
    value["path"] = json!(found.path(spec));
    value
}

/// What a task says of its work: title and files.
pub(crate) fn about(leaf: &Task) -> String {
    let files: Vec<&str> = leaf.files().collect();
    format!("\n{}\n{}\n", leaf.description, files.join("\n"))
}

/// The section of the payload of `task` with the specs that apply to it, in the room that the payload has for it.
pub(crate) fn of_claim(
    state: &State,
    task: &TaskState,
    leaf: &Task,
    around: &Around<'_>,
    context: &Context,
) -> String {
    let found = load(context);
    if found.specs.is_empty() {
        return String::new();
    }
    let about = about(leaf) + around.goal;
    let command = format!("fp specs for {} {}", state.plan_id, task.leaf.id);
    payload_section(
        &applicable(&found.specs, &[Category::Execution], &about),
        room_for_specs(state, task, leaf, around),
        |spec| found.path(spec).display().to_string(),
        &command,
    )
}

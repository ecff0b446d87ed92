//! Counts the items of an import's material that the plan's tree mentions.

use fp_exchange::{MaterialItem, unnamed_items};
use fp_host::file::{self, TASKS_CAP};
use fp_host::plan::OpenPlan;
use fp_plan::plan::Plan;
use fp_plan::text::{clipped, first_few};
use serde::Deserialize;

use super::import::ORIGIN;
use crate::context::Context;
use crate::error::CommandError;

/// Maximum number of items to list.
const SHOWN: usize = 10;
/// Maximum length of an item's text, in characters.
const MAX_ITEM: usize = 60;

/// The record of where a plan came from. It has no items if the plan was in a known format.
#[derive(Deserialize)]
struct MaterialOrigin {
    #[serde(default)]
    items: Vec<MaterialItem>,
}

/// Says how many of the open items in the material of `plan` are mentioned in its `tree`, and which are missing.
pub(crate) fn note_named(
    plan: &OpenPlan,
    tree: &Plan<'_>,
    context: &Context,
) -> Result<(), CommandError> {
    let Some(origin) = file::read_text_if_there(&plan.folder.file(ORIGIN), TASKS_CAP)? else {
        return Ok(());
    };
    let Ok(MaterialOrigin { items }) = serde_json::from_str(&origin) else {
        context.printer.print_note(
            "warning: import.json can't be read: nobody counts what the tree names of its material",
        );
        return Ok(());
    };
    let open = items.iter().filter(|item| !item.done).count();
    let unnamed = unnamed_items(&items, tree);
    let shown = |item: &&MaterialItem| match item.title == item.id {
        true => item.id.clone(),
        false => clipped(&format!("{} {}", item.id, item.title), MAX_ITEM),
    };
    let unnamed: Vec<String> = unnamed.iter().map(shown).collect();
    if !unnamed.is_empty() {
        context.printer.print_note(&format!(
            "warning: the tree names {} of the {open} open items of its material; not: {}",
            open - unnamed.len(),
            first_few(&unnamed, SHOWN)
        ));
    } else if open > 0 {
        let text = format!("note: the tree names all {open} open items of its material");
        context.printer.print_note(&text);
    }
    Ok(())
}

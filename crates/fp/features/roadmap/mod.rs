//! Roadmaps: a goal larger than one plan, as layers that each become a plan.
//!
//! A page is written in the heading dialect of task trees and read by their parser. Plans name the layer that they
//! make, and a layer's state follows from their runs: the page repeats none of that, so it can't contradict it.

mod check;
pub(crate) mod command;
mod disk;
mod model;
#[cfg(test)]
mod tests;

use fp_core::plan::id::TaskId;
use fp_host::plan_folder::OfLayer;

use crate::context::Context;
use crate::error::CommandError;

/// What `fp new` needs to know about the layer that it makes a plan for.
pub(crate) struct LayerToPlan {
    /// The user's words, or else the layer's goal.
    pub(crate) words: String,
    /// The words with what the layer builds on, makes, and is done by.
    pub(crate) goal: String,
    pub(crate) title: String,
    pub(crate) of: OfLayer,
    /// Names the layers before it that are not done.
    pub(crate) warning: Option<String>,
}

/// The layer `id` of the roadmap that `selector` means, or else the only layer that is due. Fails where it has a plan.
pub(crate) fn layer_to_plan(
    selector: &str,
    id: Option<&TaskId>,
    words: String,
    context: &Context,
) -> Result<LayerToPlan, CommandError> {
    let page = disk::open_page(context.repo(), Some(selector))?;
    let progress = disk::progress(&page, context)?;
    let at = progress.place_to_plan(&page.id, id)?;
    let layer = &progress.roadmap.layers[at];
    let missing: Vec<&str> = progress.missing(at).iter().map(|layer| &*layer.id).collect();
    let warning = format!("layer {} builds on layers that are not done: {}", layer.id, missing.join(", "));
    let of = TaskId::new(&*layer.id).map_err(|error| {
        CommandError::refused(error).hint(format!("`fp roadmap check {}` shows it", page.id))
    })?;
    let words = if words.trim().is_empty() { layer.goal.clone() } else { words };
    Ok(LayerToPlan {
        goal: model::plan_goal(&words, &page.id, layer),
        title: layer.title.clone(),
        words,
        warning: (!missing.is_empty()).then_some(warning),
        of: OfLayer { id: page.id, layer: of },
    })
}

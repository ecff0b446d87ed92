//! What `fp new` makes a plan for: a goal, or a layer of a roadmap.

use fp_host::plan_folder::OfLayer;

use super::Args;
use crate::context::Context;
use crate::error::CommandError;
use crate::features::roadmap::{LayerToPlan, layer_to_plan};

/// What a plan is to be made for.
pub(super) struct Wanted {
    /// The user's words, or those of the layer, by which the kind of work is told.
    pub(super) words: String,
    /// All that the plan is given.
    pub(super) goal: String,
    /// What it is called by.
    pub(super) name: String,
    /// The layer that it makes.
    pub(super) roadmap: Option<OfLayer>,
    /// What the user is told.
    pub(super) warning: Option<String>,
}

impl Wanted {
    /// What these arguments say, or the layer of a roadmap that they name. Fails where that is nothing.
    pub(super) fn read(args: &Args, context: &Context) -> Result<Self, CommandError> {
        let words = args.goal.join(" ");
        if let Some(selector) = &args.roadmap {
            let LayerToPlan { words, goal, title, of, warning } =
                layer_to_plan(selector, args.layer.as_ref(), words, context)?;
            return Ok(Self { words, goal, name: title, roadmap: Some(of), warning });
        }
        if words.trim().is_empty() {
            return Err(CommandError::failed("the goal is empty")
                .hint("say what is to be done: `fp new 'Add a greeting command'`"));
        }
        Ok(Self { goal: words.clone(), name: words.clone(), words, roadmap: None, warning: None })
    }
}

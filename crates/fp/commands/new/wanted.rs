//! What `fp new` makes a plan for: a goal, or a layer of a roadmap.

use fp_core::plan::id::TaskId;
use fp_core::roadmap::plan_goal;
use fp_host::plan_folder::OfLayer;

use super::Args;
use crate::context::Context;
use crate::error::CommandError;
use crate::roadmap::Page;

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
            return Self::layer(selector, args.layer.as_ref(), words, context);
        }
        if words.trim().is_empty() {
            return Err(CommandError::failed("the goal is empty")
                .hint("say what is to be done: `fp new 'Add a greeting command'`"));
        }
        Ok(Self { goal: words.clone(), name: words.clone(), words, roadmap: None, warning: None })
    }

    fn layer(
        selector: &str,
        layer: Option<&TaskId>,
        words: String,
        context: &Context,
    ) -> Result<Self, CommandError> {
        let page = Page::open(context, Some(selector))?;
        let standing = page.standing(context)?;
        let at = standing.place(&page.id, layer)?;
        let layer = &standing.roadmap.layers[at];
        let missing: Vec<&str> = standing.missing(at).iter().map(|layer| &*layer.id).collect();
        let warning =
            format!("layer {} builds on layers that are not done: {}", layer.id, missing.join(", "));
        let id = TaskId::new(&*layer.id).map_err(|error| {
            CommandError::refused(error).hint(format!("`fp roadmap check {}` shows it", page.id))
        })?;
        let words = if words.trim().is_empty() { layer.goal.clone() } else { words };
        Ok(Self {
            goal: plan_goal(&words, &page.id, layer),
            name: layer.title.clone(),
            words,
            warning: (!missing.is_empty()).then_some(warning),
            roadmap: Some(OfLayer { id: page.id, layer: id }),
        })
    }
}

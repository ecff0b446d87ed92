//! A roadmap that a command works on: its page, what is wrong with it, and how far its layers are.

use std::collections::HashMap;
use std::path::PathBuf;

use fp_core::diagnostic::{Diagnostic, Severity};
use fp_core::plan::id::{RoadmapId, TaskId};
use fp_core::roadmap::{self, Layer, LayerPlan, LayerState, Order, Roadmap};
use fp_host::roadmaps::Roadmaps;

use crate::context::Context;
use crate::context::Known;
use crate::error::CommandError;

/// A roadmap on the disk.
pub(crate) struct Page {
    /// Its id.
    pub(crate) id: RoadmapId,
    /// Its file.
    pub(crate) path: PathBuf,
    /// Its text.
    pub(crate) text: String,
}

impl Page {
    /// The one that `selector` means; without it, the only one that there is.
    pub(crate) fn open(context: &Context, selector: Option<&str>) -> Result<Self, CommandError> {
        let roadmaps = Roadmaps::of(context.repo());
        let id = roadmaps.resolve(selector)?;
        Ok(Self { path: roadmaps.path(&id), text: roadmaps.text(&id)?, id })
    }

    /// What it says, and what is wrong with it.
    pub(crate) fn checked(&self, context: &Context) -> (Roadmap<'_>, Vec<Diagnostic>) {
        let (roadmap, parsed) = roadmap::read(&self.text);
        let roadmaps = Roadmaps::of(context.repo());
        let found = roadmap::check(&roadmap, &parsed, |path| roadmaps.has(path));
        (roadmap, found)
    }

    /// What it says, and how far it is. Fails where it is not valid; but what a layer that is done was made of may be
    /// gone since.
    pub(crate) fn standing(&self, context: &Context) -> Result<Standing<'_>, CommandError> {
        let (roadmap, mut found) = self.checked(context);
        let plans = plans(&self.id, context)?;
        let is_done = |layer: &str| {
            plans.get(layer).is_some_and(|plans| roadmap::state_of(plans).0 == LayerState::Done)
        };
        found.retain(|finding| finding.rule != roadmap::UNMADE || !is_done(&finding.task_id));
        match errors(&found) {
            0 => Ok(Standing { order: Order::new(&roadmap), roadmap, plans }),
            errors => Err(CommandError::refused(format!(
                "{} is not valid: it has {}",
                context.shown(&self.path),
                if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") }
            ))
            .hint(format!("`fp roadmap check {}` shows them", self.id))),
        }
    }
}

/// How many of the findings are errors.
pub(crate) fn errors(found: &[Diagnostic]) -> usize {
    found.iter().filter(|finding| finding.severity == Severity::Error).count()
}

/// A roadmap and how far it is.
pub(crate) struct Standing<'t> {
    /// The roadmap.
    pub(crate) roadmap: Roadmap<'t>,
    /// Which layer comes before which.
    pub(crate) order: Order,
    /// Of each layer, by its id, the plans that were made for it.
    plans: HashMap<String, Vec<LayerPlan>>,
}

impl<'t> Standing<'t> {
    /// The plans that were made for `layer`.
    pub(crate) fn plans(&self, layer: &Layer<'_>) -> &[LayerPlan] {
        self.plans.get(&layer.id).map_or(&[], Vec::as_slice)
    }

    /// How far `layer` is, and the plan that says so.
    pub(crate) fn state(&self, layer: &Layer<'_>) -> (LayerState, Option<&LayerPlan>) {
        roadmap::state_of(self.plans(layer))
    }

    /// Where the layer is that a plan is to be made for: the one with this id, or else the only one that is due. Fails
    /// where there is none, or it has a plan already.
    pub(crate) fn place(&self, roadmap: &RoadmapId, id: Option<&TaskId>) -> Result<usize, CommandError> {
        let layers = &self.roadmap.layers;
        let due = self.due();
        let wanted = match (id, due.as_slice()) {
            (Some(id), _) => id.as_str(),
            (None, [layer]) => layer.id.as_str(),
            (None, _) => {
                return Err(CommandError::refused("not exactly one layer is due, so it has to be named")
                    .hint(format!("`fp roadmap next {roadmap}` says which are; --layer names one")));
            }
        };
        let at = layers.iter().position(|layer| layer.id == wanted).ok_or_else(|| {
            CommandError::failed(format!("{roadmap} has no layer {wanted}"))
                .hint(format!("`fp roadmap show {roadmap}` lists them"))
        })?;
        match self.state(&layers[at]) {
            (state, Some(plan)) if !state.wants_a_plan() => {
                Err(CommandError::refused(format!("layer {wanted} has a plan already: {}", plan.plan_id))
                    .hint(format!(
                        "`fp status {}` says how far it is; `fp plans archive` puts one away",
                        plan.plan_id
                    )))
            }
            _ => Ok(at),
        }
    }

    /// The layers that come before the one at `at` and are not done.
    pub(crate) fn missing(&self, at: usize) -> Vec<&Layer<'t>> {
        let before = self.order.before[at].iter().map(|at| &self.roadmap.layers[*at]);
        before.filter(|layer| self.state(layer).0 != LayerState::Done).collect()
    }

    /// The layers that a plan is to be made for now: all that comes before them is done.
    pub(crate) fn due(&self) -> Vec<&Layer<'t>> {
        let layers = self.roadmap.layers.iter().enumerate();
        let due =
            layers.filter(|(at, layer)| self.state(layer).0.wants_a_plan() && self.missing(*at).is_empty());
        due.map(|(_, layer)| layer).collect()
    }

    /// The layers whose plan is made or built.
    pub(crate) fn under_way(&self) -> Vec<&Layer<'t>> {
        let is_under_way =
            |layer: &&Layer<'_>| matches!(self.state(layer).0, LayerState::Planning | LayerState::Running);
        self.roadmap.layers.iter().filter(is_under_way).collect()
    }
}

/// The plans that say they were made for a layer of the roadmap `id`, by layer. One that can't be read is named.
fn plans(id: &RoadmapId, context: &Context) -> Result<HashMap<String, Vec<LayerPlan>>, CommandError> {
    let known = context.known_plans()?;
    context.warn_of_unread(&known);
    let mut found: HashMap<String, Vec<LayerPlan>> = HashMap::new();
    for Known { folder, state, archived } in &known {
        let layer = folder.layer().unwrap_or_else(|error| {
            context.printer.note(&format!("warning: plan {} is left out: {error}", folder.id()));
            None
        });
        if let (Some(layer), Ok(state)) = (layer.filter(|layer| layer.id == *id), state) {
            found.entry(layer.layer.to_string()).or_default().push(LayerPlan::new(state, *archived));
        }
    }
    Ok(found)
}

//! A roadmap, the order of its layers, and how far each one is.

use std::collections::HashMap;

use fp_plan::diagnostic::{Diagnostic, Span};
use fp_plan::plan::id::{PlanId, RoadmapId, TaskId};
use fp_plan::plan::{FieldKind, Item, Task, entries_of, parse};
use fp_run::report::status::Phase;
use fp_run::run::State;
use fp_run::run::state::Status;
use serde::Serialize;

use crate::error::CommandError;

/// How to write a layer.
pub(super) const FORM: &str = "\
## [1] What people can use when it is done
- Goal: one sentence in the user's words
- Inputs: none
- Outputs: name of what later layers build on
- Done when:
  - what anybody can see then, with the input that shows it

## [2] The next one
- Goal: …
- Inputs: name of what later layers build on
- Outputs: …
- Done when: …
- Depends on: 1
";

/// A roadmap as its page has it, which may break every rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Roadmap {
    /// The goal in the user's own words, as far as the page quotes it.
    pub(super) goal: String,
    /// The layers in the order of the page.
    pub(super) layers: Vec<RoadmapLayer>,
}

/// A part of a roadmap that becomes one plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RoadmapLayer {
    pub(super) id: String,
    #[serde(skip)]
    pub(super) id_span: Span,
    pub(super) title: String,
    /// The line of id and title.
    #[serde(skip)]
    pub(super) span: Span,
    /// One line; empty where it is missing.
    pub(super) goal: String,
    /// What it builds on: outputs of other layers, or files of the repository.
    pub(super) inputs: Vec<LayerItem>,
    pub(super) outputs: Vec<LayerItem>,
    pub(super) done_when: Vec<LayerItem>,
    /// The layers before it; `None` where it doesn't say, which means the one before it on the page.
    pub(super) depends_on: Option<Vec<LayerItem>>,
    /// Whether it stands below another layer.
    #[serde(skip)]
    pub(super) nested: bool,
}

/// An entry of a field and its place on the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct LayerItem {
    pub(super) text: String,
    #[serde(skip)]
    pub(super) span: Span,
}

impl From<&Item<'_>> for LayerItem {
    fn from(item: &Item<'_>) -> Self {
        Self { text: item.text.to_string(), span: item.span }
    }
}

/// Reads a page. Never fails: every layer that can be made out is there, and the rest is in the findings.
pub(super) fn read_roadmap(text: &str) -> (Roadmap, Vec<Diagnostic>) {
    let (plan, found) = parse(text);
    let is_top = |task: &Task| task.parent.is_none_or(|parent| plan.tasks[parent].synthetic);
    let tasks = plan.tasks.iter().filter(|task| !task.synthetic);
    let layers = tasks.map(|task| RoadmapLayer { nested: !is_top(task), ..read_layer(text, task) }).collect();
    (Roadmap { goal: quoted_goal(text), layers }, found)
}

fn read_layer(text: &str, task: &Task<'_>) -> RoadmapLayer {
    let all = |label| task.fields.unknown.iter().filter(move |(given, _)| plain_label(given) == label);
    let first = |label| all(label).next().map(|(_, item)| item);
    // A layer's own label, or else the one that task trees have for it.
    let list = |label, kind, of_tree: Option<FieldKind>| -> Option<Vec<LayerItem>> {
        let own = first(label).map(|item| entries_of(kind, text, item).iter().map(LayerItem::from).collect());
        own.or_else(|| Some(task.fields.get(of_tree?)?.items.iter().map(LayerItem::from).collect()))
    };
    let goal = first("goal").map(|item| item.text.split_whitespace().collect::<Vec<_>>().join(" "));
    let description = task.fields.text(FieldKind::Description).map(str::to_owned);
    RoadmapLayer {
        id: task.id.to_string(),
        id_span: task.id_span,
        title: task.description.to_string(),
        span: task.span,
        goal: goal.or(description).filter(|goal| !goal.eq_ignore_ascii_case("none")).unwrap_or_default(),
        inputs: list("inputs", FieldKind::Files, None).unwrap_or_default(),
        outputs: list("outputs", FieldKind::Files, None).unwrap_or_default(),
        done_when: list("done when", FieldKind::Acceptance, Some(FieldKind::Acceptance)).unwrap_or_default(),
        depends_on: list("depends on", FieldKind::Dependencies, Some(FieldKind::Dependencies)),
        nested: false,
    }
}

/// A label in lower case, with blanks for its signs.
fn plain_label(label: &str) -> String {
    label.to_lowercase().replace(['-', '_'], " ")
}

/// The page of a roadmap for `goal`, without layers.
pub(super) fn empty_page(goal: &str) -> String {
    let quote = |line: &str| format!("> {}", line.trim()).trim_end().to_owned() + "\n";
    format!("# Roadmap\n\n{}", goal.trim().lines().map(quote).collect::<String>())
}

/// The goal that a page quotes before its first layer; empty where it quotes none.
pub(super) fn quoted_goal(text: &str) -> String {
    let before = text.lines().take_while(|line| !line.starts_with("##"));
    let quoted = before.skip_while(|line| !line.starts_with('>')).take_while(|line| line.starts_with('>'));
    let lines: Vec<&str> = quoted.map(|line| line[1..].trim()).collect();
    lines.join("\n").trim().to_owned()
}

/// The goal of a plan that makes `layer` of the roadmap `id`, in these words.
pub(super) fn plan_goal(words: &str, id: &RoadmapId, layer: &RoadmapLayer) -> String {
    let mut goal = format!("{}\n\nLayer {} of the roadmap {id}: {}\n", words.trim(), layer.id, layer.title);
    for (label, items) in [("Builds on", &layer.inputs), ("Makes", &layer.outputs)] {
        if !items.is_empty() {
            let names = items.iter().map(|item| &*item.text).collect::<Vec<_>>().join(", ");
            goal += &format!("{label}: {names}\n");
        }
    }
    goal += "Done when:\n";
    goal.extend(layer.done_when.iter().map(|item| format!("- {}\n", item.text)));
    goal.trim_end().to_owned()
}

/// For each layer those directly before it, by their places on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LayerOrder(pub(super) Vec<Vec<usize>>);

impl LayerOrder {
    /// The order of `roadmap`. An id that no layer has is left out.
    pub(super) fn new(roadmap: &Roadmap) -> Self {
        let place = |id: &str| roadmap.layers.iter().position(|layer| layer.id == id);
        let before = roadmap.layers.iter().enumerate().map(|(at, layer)| match &layer.depends_on {
            Some(ids) => ids.iter().filter_map(|id| place(&id.text)).collect(),
            None => at.checked_sub(1).into_iter().collect(),
        });
        Self(before.collect())
    }

    /// The layers that come before the one at `at`, directly or not.
    pub(super) fn all_before(&self, at: usize) -> Vec<usize> {
        let (mut found, mut open) = (Vec::new(), self.0[at].clone());
        while let Some(next) = open.pop() {
            if !found.contains(&next) {
                found.push(next);
                open.extend(&self.0[next]);
            }
        }
        found
    }

    /// The layers that come before themselves.
    pub(super) fn in_cycles(&self) -> Vec<usize> {
        (0..self.0.len()).filter(|at| self.all_before(*at).contains(at)).collect()
    }
}

/// A plan that makes a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LayerPlan {
    pub(super) plan_id: PlanId,
    phase: Phase,
    pub(super) archived: bool,
    /// How many of its tasks are done.
    pub(super) done: usize,
    pub(super) total: usize,
}

impl LayerPlan {
    pub(super) fn new(state: &State, archived: bool) -> Self {
        Self {
            plan_id: state.plan_id.clone(),
            phase: Phase::of(state),
            archived,
            done: state.count(Status::Completed),
            total: state.tasks.len(),
        }
    }

    fn state(&self) -> LayerState {
        match self.phase {
            Phase::Finished | Phase::Cancelled if self.done == self.total => LayerState::Done,
            Phase::Finished | Phase::Cancelled => LayerState::Stopped,
            Phase::Planning | Phase::Approved | Phase::Running if self.archived => LayerState::Stopped,
            Phase::Running => LayerState::Running,
            Phase::Planning | Phase::Approved => LayerState::Planning,
        }
    }
}

/// How far a layer is; the furthest of its plans decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LayerState {
    /// It has no plan.
    None,
    /// Its plan ended, or was archived, before all of it was done.
    Stopped,
    Planning,
    Running,
    Done,
}

impl LayerState {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::None => "no plan",
            Self::Stopped => "stopped",
            Self::Planning => "planning",
            Self::Running => "running",
            Self::Done => "done",
        }
    }

    pub(super) fn wants_a_plan(self) -> bool {
        matches!(self, Self::None | Self::Stopped)
    }
}

/// A roadmap and how far it is.
pub(super) struct RoadmapProgress {
    pub(super) roadmap: Roadmap,
    pub(super) order: LayerOrder,
    /// The plans of each layer, by its id.
    plans: HashMap<String, Vec<LayerPlan>>,
}

impl RoadmapProgress {
    pub(super) fn new(roadmap: Roadmap, plans: HashMap<String, Vec<LayerPlan>>) -> Self {
        Self { order: LayerOrder::new(&roadmap), roadmap, plans }
    }

    pub(super) fn plans(&self, layer: &str) -> &[LayerPlan] {
        self.plans.get(layer).map_or(&[], Vec::as_slice)
    }

    /// How far the layer with this id is, and the plan that decides it: the latest of those that are furthest.
    pub(super) fn state(&self, layer: &str) -> (LayerState, Option<&LayerPlan>) {
        let furthest = self.plans(layer).iter().max_by_key(|plan| plan.state());
        (furthest.map_or(LayerState::None, LayerPlan::state), furthest)
    }

    pub(super) fn is_done(&self, layer: &str) -> bool {
        self.state(layer).0 == LayerState::Done
    }

    pub(super) fn count_done(&self) -> usize {
        self.roadmap.layers.iter().filter(|layer| self.is_done(&layer.id)).count()
    }

    /// The layers directly before the one at `at` that are not done.
    pub(super) fn missing(&self, at: usize) -> Vec<&RoadmapLayer> {
        let before = self.order.0[at].iter().map(|at| &self.roadmap.layers[*at]);
        before.filter(|layer| !self.is_done(&layer.id)).collect()
    }

    /// The layers that want a plan and whose layers before them are done.
    pub(super) fn due(&self) -> Vec<&RoadmapLayer> {
        let is_due = |(at, layer): &(usize, &RoadmapLayer)| {
            self.state(&layer.id).0.wants_a_plan() && self.missing(*at).is_empty()
        };
        self.roadmap.layers.iter().enumerate().filter(is_due).map(|(_, layer)| layer).collect()
    }

    /// The place of the layer to plan: the one with this id, or else the only one that is due. Fails where there is
    /// none, or it has a plan already.
    pub(super) fn place_to_plan(
        &self,
        roadmap: &RoadmapId,
        id: Option<&TaskId>,
    ) -> Result<usize, CommandError> {
        let due = self.due();
        let wanted = match (id, due.as_slice()) {
            (Some(id), _) => id.as_str(),
            (None, [layer]) => layer.id.as_str(),
            (None, _) => {
                return Err(CommandError::refused("no single layer is due: name one")
                    .hint(format!("`fp roadmap next {roadmap}` lists them; --layer names one")));
            }
        };
        let at = self.roadmap.layers.iter().position(|layer| layer.id == wanted).ok_or_else(|| {
            CommandError::failed(format!("{roadmap} has no layer {wanted}"))
                .hint(format!("`fp roadmap show {roadmap}` lists them"))
        })?;
        match self.state(wanted) {
            (state, Some(LayerPlan { plan_id, .. })) if !state.wants_a_plan() => {
                Err(CommandError::refused(format!("layer {wanted} has a plan already: {plan_id}"))
                    .hint(format!("`fp status {plan_id}` shows its state; `fp plans archive` puts it away")))
            }
            _ => Ok(at),
        }
    }
}

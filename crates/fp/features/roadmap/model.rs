//! A roadmap, the order of its layers, and their progress.

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

/// A roadmap as its page has it. It may break every rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Roadmap {
    /// In the user's own words, as the page quotes them.
    pub(super) goal: String,
    /// In the order of the page.
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
    /// Outputs of other layers, or files of the repository.
    pub(super) inputs: Vec<LayerItem>,
    pub(super) outputs: Vec<LayerItem>,
    pub(super) done_when: Vec<LayerItem>,
    /// `None` means the layer before it on the page.
    pub(super) depends_on: Option<Vec<LayerItem>>,
    /// True for a heading below another layer's.
    #[serde(skip)]
    pub(super) nested: bool,
    /// Indexes of the layers directly before it. An id that no layer has is left out.
    #[serde(skip)]
    pub(super) before: Vec<usize>,
    pub(super) plans: Vec<LayerPlan>,
    /// The furthest state of its plans.
    pub(super) state: LayerState,
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
        Self {
            text: item.text.to_string(),
            span: item.span,
        }
    }
}

/// Reads a page. Never fails: the layers are those that can be recognised, and the rest is in the findings.
pub(super) fn read_roadmap(text: &str) -> (Roadmap, Vec<Diagnostic>) {
    let (plan, found) = parse(text);
    let is_top = |task: &Task| {
        task.parent
            .is_none_or(|parent| plan.tasks[parent].synthetic)
    };
    let tasks = plan.tasks.iter().filter(|task| !task.synthetic);
    let mut layers: Vec<RoadmapLayer> = tasks
        .map(|task| RoadmapLayer {
            nested: !is_top(task),
            ..read_layer(text, task)
        })
        .collect();
    let ids: Vec<String> = layers.iter().map(|layer| layer.id.clone()).collect();
    for (at, layer) in layers.iter_mut().enumerate() {
        layer.before = match &layer.depends_on {
            Some(items) => items
                .iter()
                .filter_map(|item| ids.iter().position(|id| *id == item.text))
                .collect(),
            None => at.checked_sub(1).into_iter().collect(),
        };
    }
    (
        Roadmap {
            goal: quoted_goal(text),
            layers,
        },
        found,
    )
}

fn read_layer(text: &str, task: &Task<'_>) -> RoadmapLayer {
    let all = |label| {
        task.fields
            .unknown
            .iter()
            .filter(move |(given, _)| plain_label(given) == label)
    };
    let first = |label| all(label).next().map(|(_, item)| item);
    // A layer's own label, or else the one that task trees have for it.
    let list = |label, kind, of_tree: Option<FieldKind>| -> Option<Vec<LayerItem>> {
        let own = first(label).map(|item| {
            entries_of(kind, text, item)
                .iter()
                .map(LayerItem::from)
                .collect()
        });
        own.or_else(|| {
            Some(
                task.fields
                    .get(of_tree?)?
                    .items
                    .iter()
                    .map(LayerItem::from)
                    .collect(),
            )
        })
    };
    let goal = first("goal").map(|item| item.text.split_whitespace().collect::<Vec<_>>().join(" "));
    let description = task.fields.text(FieldKind::Description).map(str::to_owned);
    RoadmapLayer {
        id: task.id.to_string(),
        id_span: task.id_span,
        title: task.description.to_string(),
        span: task.span,
        goal: goal
            .or(description)
            .filter(|goal| !goal.eq_ignore_ascii_case("none"))
            .unwrap_or_default(),
        inputs: list("inputs", FieldKind::Files, None).unwrap_or_default(),
        outputs: list("outputs", FieldKind::Files, None).unwrap_or_default(),
        done_when: list(
            "done when",
            FieldKind::Acceptance,
            Some(FieldKind::Acceptance),
        )
        .unwrap_or_default(),
        depends_on: list(
            "depends on",
            FieldKind::Dependencies,
            Some(FieldKind::Dependencies),
        ),
        ..RoadmapLayer::default()
    }
}

/// `label` in lower case, with spaces for `-` and `_`.
fn plain_label(label: &str) -> String {
    label.to_lowercase().replace(['-', '_'], " ")
}

/// A page for `goal`, without layers.
pub(super) fn empty_page(goal: &str) -> String {
    let quote = |line: &str| format!("> {}", line.trim()).trim_end().to_owned() + "\n";
    format!(
        "# Roadmap\n\n{}",
        goal.trim().lines().map(quote).collect::<String>()
    )
}

/// The goal that a page quotes before its first layer, or an empty text.
pub(super) fn quoted_goal(text: &str) -> String {
    let before = text.lines().take_while(|line| !line.starts_with("##"));
    let quoted = before
        .skip_while(|line| !line.starts_with('>'))
        .take_while(|line| line.starts_with('>'));
    let lines: Vec<&str> = quoted.map(|line| line[1..].trim()).collect();
    lines.join("\n").trim().to_owned()
}

/// The goal of a plan for `layer` of the roadmap `id`: `words`, and the layer's fields.
pub(super) fn plan_goal(words: &str, id: &RoadmapId, layer: &RoadmapLayer) -> String {
    let mut goal = format!(
        "{}\n\nLayer {} of the roadmap {id}: {}\n",
        words.trim(),
        layer.id,
        layer.title
    );
    for (label, items) in [("Builds on", &layer.inputs), ("Makes", &layer.outputs)] {
        if !items.is_empty() {
            let names = items
                .iter()
                .map(|item| &*item.text)
                .collect::<Vec<_>>()
                .join(", ");
            goal += &format!("{label}: {names}\n");
        }
    }
    goal += "Done when:\n";
    goal.extend(
        layer
            .done_when
            .iter()
            .map(|item| format!("- {}\n", item.text)),
    );
    goal.trim_end().to_owned()
}

/// A plan for a layer.
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
            Phase::Planning | Phase::Approved | Phase::Running if self.archived => {
                LayerState::Stopped
            }
            Phase::Running => LayerState::Running,
            Phase::Planning | Phase::Approved => LayerState::Planning,
        }
    }
}

/// Progress of a layer, from the least to the furthest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LayerState {
    /// It has no plan.
    #[default]
    None,
    /// Its plan ended, or was archived, before all of it was done.
    Stopped,
    Planning,
    Running,
    Done,
}

impl RoadmapLayer {
    /// The plan that decides its state: the latest of the furthest ones.
    pub(super) fn plan(&self) -> Option<&LayerPlan> {
        self.plans.iter().max_by_key(|plan| plan.state())
    }

    pub(super) fn is_done(&self) -> bool {
        self.state == LayerState::Done
    }

    /// True for a layer without a plan, or whose plan stopped.
    pub(super) fn wants_a_plan(&self) -> bool {
        self.state <= LayerState::Stopped
    }
}

impl Roadmap {
    /// Indexes of all layers that come before the one at `at`, directly or not.
    pub(super) fn all_before(&self, at: usize) -> Vec<usize> {
        let (mut found, mut open) = (Vec::new(), self.layers[at].before.clone());
        while let Some(next) = open.pop() {
            if !found.contains(&next) {
                found.push(next);
                open.extend(&self.layers[next].before);
            }
        }
        found
    }

    /// The layers that come before themselves.
    pub(super) fn in_cycles(&self) -> Vec<&RoadmapLayer> {
        let is_in_cycle = |at: &usize| self.all_before(*at).contains(at);
        (0..self.layers.len())
            .filter(is_in_cycle)
            .map(|at| &self.layers[at])
            .collect()
    }

    /// Adds a plan for the layer with this id.
    pub(super) fn add_plan(&mut self, layer: &TaskId, plan: LayerPlan) {
        if let Some(layer) = self
            .layers
            .iter_mut()
            .find(|known| known.id == layer.as_str())
        {
            layer.state = layer.state.max(plan.state());
            layer.plans.push(plan);
        }
    }

    pub(super) fn count_done(&self) -> usize {
        self.layers.iter().filter(|layer| layer.is_done()).count()
    }

    /// Ids of the layers directly before `layer` that are not done.
    pub(super) fn missing_before(&self, layer: &RoadmapLayer) -> Vec<&str> {
        let before = layer.before.iter().map(|at| &self.layers[*at]);
        before
            .filter(|layer| !layer.is_done())
            .map(|layer| &*layer.id)
            .collect()
    }

    /// The layers that want a plan and whose layers before them are done.
    pub(super) fn due(&self) -> Vec<&RoadmapLayer> {
        let is_due =
            |layer: &&RoadmapLayer| layer.wants_a_plan() && self.missing_before(layer).is_empty();
        self.layers.iter().filter(is_due).collect()
    }

    /// The layer with this id, or else the only one that is due. Fails where there is none, or where it has a plan. `name`
    /// is the roadmap's id.
    pub(super) fn layer_to_plan(
        &self,
        name: &RoadmapId,
        id: Option<&TaskId>,
    ) -> Result<&RoadmapLayer, CommandError> {
        let layer = match (id, self.due().as_slice()) {
            (Some(id), _) => self
                .layers
                .iter()
                .find(|layer| layer.id == id.as_str())
                .ok_or_else(|| {
                    CommandError::failed(format!("{name} has no layer {id}"))
                        .hint(format!("`fp roadmap show {name}` lists them"))
                })?,
            (None, [layer]) => layer,
            (None, _) => {
                return Err(
                    CommandError::refused("no single layer is due: name one").hint(format!(
                        "`fp roadmap next {name}` lists them; --layer names one"
                    )),
                );
            }
        };
        match layer.plan() {
            Some(LayerPlan { plan_id, .. }) if !layer.wants_a_plan() => Err(CommandError::refused(
                format!("layer {} already has a plan: {plan_id}", layer.id),
            )
            .hint(format!(
                "`fp status {plan_id}` shows its state; `fp plans archive` puts it away"
            ))),
            _ => Ok(layer),
        }
    }
}

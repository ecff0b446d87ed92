//! What is wrong with a roadmap, all of it at once.

use std::collections::{HashMap, HashSet};

use super::{Layer, Order, Roadmap, same};
use crate::diagnostic::Severity::{self, Error, Warning};
use crate::diagnostic::{Diagnostic, Span};
use crate::plan::id::TaskId;
use crate::plan::path;
use crate::rules::vague_phrase;

/// Most layers of a roadmap that is checked.
pub const MOST_LAYERS: usize = 100;
/// How many layers can be kept in mind.
const MANY_LAYERS: usize = 7;

/// Id of the findings on inputs.
pub const UNMADE: &str = "unmade-input";

/// A kind of finding: its id, how much it weighs, and what to do about it.
struct Kind(&'static str, Severity, &'static str);

const NO_LAYER: Kind = Kind("no-layer", Error, "write one as `## [1] Title`; `fp help roadmap` has the form");
const TOO_MANY: Kind = Kind("many-layers", Error, "make layers of what belongs together: each one is a plan");
const MANY: Kind = Kind("many-layers", Warning, "make one layer of what is only usable together");
const LAYER_ID: Kind = Kind("layer-id", Error, "number the layers: 1, 2, 3");
const DUPLICATE_LAYER: Kind = Kind("duplicate-layer", Error, "give each layer an id of its own");
const NESTED: Kind = Kind(
    "nested-layer",
    Error,
    "write all layers as headings of one level; the plan of a layer takes it apart",
);
const NO_GOAL: Kind =
    Kind("missing-goal", Error, "add `- Goal:` with one sentence: its plan is made for that");
const NO_DONE_WHEN: Kind = Kind("missing-done-when", Error, "add `- Done when:` with what can be seen then");
const VAGUE: Kind = Kind("vague-done-when", Warning, "say what is seen: a value, an error, a page, a file");
const DUPLICATE_FIELD: Kind = Kind("duplicate-field", Error, "make one field of both");
const UNKNOWN_LAYER: Kind =
    Kind("unknown-layer", Error, "name layers by their ids, separated by commas, or write `none`");
const CYCLE: Kind = Kind("layer-cycle", Error, "take one of the dependencies out, or make one layer of them");
const DUPLICATE_OUTPUT: Kind =
    Kind("duplicate-output", Error, "have one layer make it; one that changes it has it as an input");
const OWN_INPUT: Kind = Kind(UNMADE, Error, "take it out of the inputs, or out of the outputs");
const EARLY_INPUT: Kind = Kind(UNMADE, Error, "add that layer to `Depends on`, or change the order");
const UNMADE_INPUT: Kind =
    Kind(UNMADE, Error, "name it as the layer that makes it does, or add it to the outputs of one");
const UNUSED_OUTPUT: Kind =
    Kind("unused-output", Warning, "add it to the inputs of those that build on it, or leave it out");

/// Checks a roadmap; `parsed` is what reading it brought up, `exists` says whether a path, in normal form, is in the
/// repository. The findings are in the order of the page, and have those of `parsed` among them.
#[must_use]
pub fn check(roadmap: &Roadmap<'_>, parsed: &[Diagnostic], exists: impl Fn(&str) -> bool) -> Vec<Diagnostic> {
    let mut found = Findings(parsed.to_vec());
    let number = roadmap.layers.len();
    if number > MOST_LAYERS {
        found.whole(&TOO_MANY, format!("there are {number} layers, and at most {MOST_LAYERS} are checked"));
        return found.0;
    }
    if number > MANY_LAYERS {
        found
            .whole(&MANY, format!("there are {number} layers: nobody keeps more than {MANY_LAYERS} in mind"));
    }
    if number == 0 {
        found.whole(&NO_LAYER, "there is no layer".into());
    }
    let order = Order::new(roadmap);
    for (at, layer) in roadmap.layers.iter().enumerate() {
        found.of_layer(layer);
        if roadmap.layers[..at].iter().any(|other| other.id == layer.id) {
            found.add(
                layer,
                &DUPLICATE_LAYER,
                layer.id_span,
                format!("there is a layer {} already", layer.id),
            );
        }
    }
    found.dependencies(roadmap, &order);
    let makers = found.makers(roadmap);
    found.inputs(roadmap, &order, &makers, exists);
    found.outputs(roadmap, &order, &makers);
    found.0.sort_by_key(|diagnostic| diagnostic.span);
    found.0
}

/// The place of the layer that makes each output, by the name that layers have to agree on.
type Makers = HashMap<String, usize>;

struct Findings(Vec<Diagnostic>);

impl Findings {
    fn add(&mut self, layer: &Layer<'_>, kind: &Kind, span: Span, detail: String) {
        self.whole(kind, detail);
        if let Some(added) = self.0.last_mut() {
            added.span = span;
            added.task_id.clone_from(&layer.id);
            added.task_description.clone_from(&layer.title);
        }
    }

    /// Adds something about the page as a whole.
    fn whole(&mut self, Kind(rule, severity, hint): &Kind, detail: String) {
        self.0.push(Diagnostic {
            rule,
            severity: *severity,
            span: Span::default(),
            task_id: String::new(),
            task_description: String::new(),
            parent_id: None,
            depth: 0,
            detail,
            hint: Some((*hint).to_owned()),
            fixes: Vec::new(),
        });
    }

    /// What is wrong with a layer by itself.
    fn of_layer(&mut self, layer: &Layer<'_>) {
        if let Err(error) = TaskId::new(&*layer.id) {
            self.add(layer, &LAYER_ID, layer.id_span, error.to_string());
        }
        if layer.nested {
            self.add(layer, &NESTED, layer.span, "a layer stands below another one".into());
        }
        if layer.goal.is_empty() {
            self.add(layer, &NO_GOAL, layer.span, "the layer has no goal".into());
        }
        if layer.done_when.is_empty() {
            self.add(layer, &NO_DONE_WHEN, layer.span, "nothing says when the layer is done".into());
        }
        for item in &layer.done_when {
            if let Some(phrase) = vague_phrase(&item.text) {
                self.add(layer, &VAGUE, item.span, format!("\"{phrase}\" says nothing that can be observed"));
            }
        }
        for label in &layer.repeated {
            let detail = format!("`{}` is given twice, and the first one counts", label.text);
            self.add(layer, &DUPLICATE_FIELD, label.span, detail);
        }
    }

    fn dependencies(&mut self, roadmap: &Roadmap<'_>, order: &Order) {
        for layer in &roadmap.layers {
            for id in layer.depends_on.iter().flatten() {
                if roadmap.layer(&id.text).is_none() {
                    self.add(layer, &UNKNOWN_LAYER, id.span, format!("there is no layer `{}`", id.text));
                }
            }
        }
        for cycle in order.cycles() {
            let layer = &roadmap.layers[cycle[0]];
            let ids: Vec<&str> =
                cycle.iter().chain(cycle.first()).map(|at| &*roadmap.layers[*at].id).collect();
            let span = layer.depends_on.iter().flatten().next().map_or(layer.span, |item| item.span);
            let detail = format!("layers wait for each other: {}", ids.join(" waits for "));
            self.add(layer, &CYCLE, span, detail);
        }
    }

    /// Who makes what. What a second layer makes as well is found on the way.
    fn makers(&mut self, roadmap: &Roadmap<'_>) -> Makers {
        let mut makers = Makers::new();
        for (at, layer) in roadmap.layers.iter().enumerate() {
            for output in &layer.outputs {
                let first = *makers.entry(same(&output.text)).or_insert(at);
                if first != at {
                    let detail =
                        format!("layer {} makes `{}` already", roadmap.layers[first].id, output.text);
                    self.add(layer, &DUPLICATE_OUTPUT, output.span, detail);
                }
            }
        }
        makers
    }

    /// Every input has to be made before, or to be there.
    fn inputs(
        &mut self,
        roadmap: &Roadmap<'_>,
        order: &Order,
        makers: &Makers,
        exists: impl Fn(&str) -> bool,
    ) {
        for (at, layer) in roadmap.layers.iter().enumerate() {
            let before = order.all_before(at);
            for input in &layer.inputs {
                let name = &input.text;
                let is_file = || path::normal(name).is_ok_and(|path| exists(&path));
                let (kind, detail) = match makers.get(&same(name)) {
                    Some(maker) if before.contains(maker) => continue,
                    Some(maker) if *maker == at => (&OWN_INPUT, format!("the layer makes `{name}` itself")),
                    Some(maker) => {
                        let maker = &roadmap.layers[*maker].id;
                        (
                            &EARLY_INPUT,
                            format!("`{name}` is made by layer {maker}, which does not come before"),
                        )
                    }
                    None if is_file() => continue,
                    None => (
                        &UNMADE_INPUT,
                        format!("no layer makes `{name}`, and it is no file of the repository"),
                    ),
                };
                self.add(layer, kind, input.span, detail);
            }
        }
    }

    /// Every output of a layer that others come after has to be used.
    fn outputs(&mut self, roadmap: &Roadmap<'_>, order: &Order, makers: &Makers) {
        let inputs = roadmap.layers.iter().flat_map(|layer| &layer.inputs);
        let used: HashSet<String> = inputs.map(|input| same(&input.text)).collect();
        for (at, layer) in roadmap.layers.iter().enumerate() {
            if !order.before.iter().any(|before| before.contains(&at)) {
                continue;
            }
            for output in &layer.outputs {
                let name = same(&output.text);
                // What a second layer makes was found already.
                if makers.get(&name) == Some(&at) && !used.contains(&name) {
                    let detail = format!("no later layer uses `{}`", output.text);
                    self.add(layer, &UNUSED_OUTPUT, output.span, detail);
                }
            }
        }
    }
}

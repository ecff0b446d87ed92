//! The rules of roadmaps.

use std::collections::{HashMap, HashSet};

use fp_core::diagnostic::Severity::{self, Error, Warning};
use fp_core::diagnostic::{Diagnostic, Span};
use fp_core::plan::id::TaskId;
use fp_core::plan::path;
use fp_core::rules::vague_phrase;

use super::model::{LayerItem, LayerOrder, Roadmap, RoadmapLayer};

/// Most layers that are checked.
const MOST_LAYERS: usize = 100;
/// How many layers a reader keeps in mind.
const MANY_LAYERS: usize = 7;
/// The rule of inputs.
pub(super) const UNMADE_INPUT: &str = "unmade-input";

/// All findings in `roadmap`, with those of `parsed`, in the order of the page. `exists` tells whether a path, in normal
/// form, is in the repository.
pub(super) fn check_roadmap(
    roadmap: &Roadmap,
    parsed: Vec<Diagnostic>,
    exists: impl Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let mut found = RoadmapFindings(parsed);
    found.check_size(roadmap.layers.len());
    if roadmap.layers.len() <= MOST_LAYERS {
        let order = LayerOrder::new(roadmap);
        found.check_layers(roadmap);
        found.check_dependencies(roadmap, &order);
        found.check_exchange(roadmap, &order, exists);
    }
    found.0.sort_by_key(|diagnostic| diagnostic.span);
    found.0
}

/// A name as layers have to agree on it, whatever its case and blanks.
fn plain_name(name: &str) -> String {
    let words = name.trim_matches(['`', '*', '_', '.', ' ']).split_whitespace();
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

struct RoadmapFindings(Vec<Diagnostic>);

impl RoadmapFindings {
    fn on_page(&mut self, severity: Severity, rule: &'static str, detail: &str, hint: &str) {
        self.0.push(Diagnostic {
            rule,
            severity,
            span: Span::default(),
            task_id: String::new(),
            task_description: String::new(),
            parent_id: None,
            depth: 0,
            detail: detail.to_owned(),
            hint: Some(hint.to_owned()),
            fixes: Vec::new(),
        });
    }

    fn add(
        &mut self,
        (layer, span): (&RoadmapLayer, Span),
        severity: Severity,
        rule: &'static str,
        detail: &str,
        hint: &str,
    ) {
        self.on_page(severity, rule, detail, hint);
        if let Some(added) = self.0.last_mut() {
            added.span = span;
            added.task_id.clone_from(&layer.id);
            added.task_description.clone_from(&layer.title);
        }
    }

    fn check_size(&mut self, layers: usize) {
        if layers == 0 {
            let hint = "write one as `## [1] Title`; `fp help roadmap` has the form";
            self.on_page(Error, "no-layer", "there is no layer", hint);
        } else if layers > MOST_LAYERS {
            let detail = format!("there are {layers} layers, and at most {MOST_LAYERS} are checked");
            let hint = "join layers that belong together: each one becomes a plan";
            self.on_page(Error, "many-layers", &detail, hint);
        } else if layers > MANY_LAYERS {
            let detail =
                format!("there are {layers} layers: a reader keeps no more than {MANY_LAYERS} in mind");
            self.on_page(Warning, "many-layers", &detail, "join layers that are only usable together");
        }
    }

    /// Checks each layer by itself.
    fn check_layers(&mut self, roadmap: &Roadmap) {
        let mut ids = HashSet::new();
        for layer in &roadmap.layers {
            let (id, line) = ((layer, layer.id_span), (layer, layer.span));
            if let Err(error) = TaskId::new(&*layer.id) {
                self.add(id, Error, "layer-id", &error.to_string(), "number the layers: 1, 2, 3");
            }
            if !ids.insert(&layer.id) {
                let detail = format!("there is a layer {} already", layer.id);
                self.add(id, Error, "duplicate-layer", &detail, "give each layer an id of its own");
            }
            if layer.nested {
                let hint = "write all layers as headings of one level; a layer's plan takes it apart";
                self.add(line, Error, "nested-layer", "the layer stands below another one", hint);
            }
            if layer.goal.is_empty() {
                let hint = "add `- Goal:` with one sentence: its plan is made for that";
                self.add(line, Error, "missing-goal", "the layer has no goal", hint);
            }
            if layer.done_when.is_empty() {
                let hint = "add `- Done when:` with what anybody can see then";
                self.add(line, Error, "missing-done-when", "nothing says when the layer is done", hint);
            }
            for item in &layer.done_when {
                if let Some(phrase) = vague_phrase(&item.text) {
                    let detail = format!("\"{phrase}\" says nothing that can be observed");
                    let hint = "say what is seen: a value, an error, a page, a file";
                    self.add((layer, item.span), Warning, "vague-done-when", &detail, hint);
                }
            }
            for label in &layer.repeated {
                let detail = format!("`{}` is given twice, and the first one counts", label.text);
                self.add((layer, label.span), Error, "duplicate-field", &detail, "join both in one field");
            }
        }
    }

    fn check_dependencies(&mut self, roadmap: &Roadmap, order: &LayerOrder) {
        let ids: HashSet<&str> = roadmap.layers.iter().map(|layer| &*layer.id).collect();
        for layer in &roadmap.layers {
            for LayerItem { text, span } in layer.depends_on.iter().flatten() {
                if !ids.contains(&**text) {
                    let detail = format!("there is no layer `{text}`");
                    let hint = "name layers by their ids, separated by commas, or write `none`";
                    self.add((layer, *span), Error, "unknown-layer", &detail, hint);
                }
            }
        }
        for cycle in order.cycles() {
            let layer = &roadmap.layers[cycle[0]];
            let ids = cycle.iter().chain(cycle.first()).map(|at| &*roadmap.layers[*at].id);
            let span = layer.depends_on.iter().flatten().next().map_or(layer.span, |item| item.span);
            let detail =
                format!("layers wait for each other: {}", ids.collect::<Vec<_>>().join(" waits for "));
            let hint = "remove one of the dependencies, or join the layers";
            self.add((layer, span), Error, "layer-cycle", &detail, hint);
        }
    }

    /// Checks what layers make for each other: each output is made once and used later, and each input is made before,
    /// or there as a file.
    fn check_exchange(&mut self, roadmap: &Roadmap, order: &LayerOrder, exists: impl Fn(&str) -> bool) {
        let inputs = roadmap.layers.iter().flat_map(|layer| &layer.inputs);
        let used: HashSet<String> = inputs.map(|input| plain_name(&input.text)).collect();
        let mut makers: HashMap<String, usize> = HashMap::new();
        for (at, layer) in roadmap.layers.iter().enumerate() {
            let is_built_on = order.before.iter().any(|before| before.contains(&at));
            for LayerItem { text, span } in &layer.outputs {
                let name = plain_name(text);
                let first = *makers.entry(name.clone()).or_insert(at);
                if first != at {
                    let detail = format!("layer {} makes `{text}` already", roadmap.layers[first].id);
                    let hint = "have one layer make it; a layer that changes it has it as an input";
                    self.add((layer, *span), Error, "duplicate-output", &detail, hint);
                } else if is_built_on && !used.contains(&name) {
                    let detail = format!("no later layer uses `{text}`");
                    let hint = "add it to the inputs of layers that build on it, or remove it";
                    self.add((layer, *span), Warning, "unused-output", &detail, hint);
                }
            }
        }
        for (at, layer) in roadmap.layers.iter().enumerate() {
            let before = order.all_before(at);
            for LayerItem { text, span } in &layer.inputs {
                let is_file = || path::normal(text).is_ok_and(|path| exists(&path));
                let (detail, hint) = match makers.get(&plain_name(text)) {
                    Some(maker) if before.contains(maker) => continue,
                    Some(maker) if *maker == at => (
                        format!("the layer makes `{text}` itself"),
                        "remove it from the inputs or from the outputs",
                    ),
                    Some(maker) => (
                        format!(
                            "layer {} makes `{text}`, and it does not come before",
                            roadmap.layers[*maker].id
                        ),
                        "add that layer to `Depends on`, or change the order",
                    ),
                    None if is_file() => continue,
                    None => (
                        format!("no layer makes `{text}`, and it is no file of the repository"),
                        "use the name that the other layer has for it, or add it to the outputs of one",
                    ),
                };
                self.add((layer, *span), Error, UNMADE_INPUT, &detail, hint);
            }
        }
    }
}

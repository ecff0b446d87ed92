//! The rules of roadmaps.

use std::collections::{HashMap, HashSet};

use fp_plan::diagnostic::Severity::{self, Error, Warning};
use fp_plan::diagnostic::{Diagnostic, Span};
use fp_plan::plan::id::TaskId;
use fp_plan::plan::path;
use fp_plan::rules::vague_phrase;

use super::model::{LayerItem, Roadmap, RoadmapLayer};

/// Most layers that a reader keeps in mind.
const MANY_LAYERS: usize = 7;

const NESTED: &str = "write all layers as headings of one level; a layer's plan divides it further";
const NO_GOAL: &str = "add `- Goal:` with one sentence, which becomes the goal of its plan";
const NO_END: &str = "add `- Done when:` with something that anybody can see then";

pub(super) const UNMADE_INPUT: &str = "unmade-input";

/// All findings in `roadmap`, with those of `parsed`, in the order of the page. `exists` looks for a path, in normal form,
/// in the repository.
pub(super) fn check_roadmap(
    roadmap: &Roadmap,
    parsed: Vec<Diagnostic>,
    exists: impl Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let mut found = RoadmapFindings(parsed);
    let layers = roadmap.layers.len();
    if layers == 0 {
        let hint = "write one as `## [1] Title`; `fp help roadmap` has the form";
        found.add(None, Error, "no-layer", "there is no layer", hint);
    } else if layers > MANY_LAYERS {
        let detail =
            format!("there are {layers} layers; more than {MANY_LAYERS} are hard to keep in mind");
        found.add(
            None,
            Warning,
            "many-layers",
            &detail,
            "join layers that are only usable together",
        );
    }
    found.check_layers(roadmap);
    found.check_dependencies(roadmap);
    found.check_exchange(roadmap, exists);
    found.0.sort_by_key(|diagnostic| diagnostic.span);
    found.0
}

/// A name without what layers may write differently: case, spaces and the signs around it.
fn plain_name(name: &str) -> String {
    let words = name
        .trim_matches(['`', '*', '_', '.', ' '])
        .split_whitespace();
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

struct RoadmapFindings(Vec<Diagnostic>);

impl RoadmapFindings {
    /// Adds a finding in a layer, or about the page as a whole.
    fn add<'l>(
        &mut self,
        place: impl Into<Option<(&'l RoadmapLayer, Span)>>,
        severity: Severity,
        rule: &'static str,
        detail: &str,
        hint: &str,
    ) {
        let (layer, span) = place.into().unzip();
        self.0.push(Diagnostic {
            rule,
            severity,
            span: span.unwrap_or_default(),
            task_id: layer.map_or_else(String::new, |layer| layer.id.clone()),
            task_description: layer.map_or_else(String::new, |layer| layer.title.clone()),
            parent_id: None,
            depth: 0,
            detail: detail.to_owned(),
            hint: Some(hint.to_owned()),
            fixes: Vec::new(),
        });
    }

    /// Checks each layer by itself.
    fn check_layers(&mut self, roadmap: &Roadmap) {
        let mut ids = HashSet::new();
        for layer in &roadmap.layers {
            let (id, line) = ((layer, layer.id_span), (layer, layer.span));
            if let Err(error) = TaskId::new(&*layer.id) {
                self.add(
                    id,
                    Error,
                    "layer-id",
                    &error.to_string(),
                    "number the layers: 1, 2, 3",
                );
            }
            if !ids.insert(&layer.id) {
                let detail = format!("there is a layer {} already", layer.id);
                self.add(
                    id,
                    Error,
                    "duplicate-layer",
                    &detail,
                    "give each layer an id of its own",
                );
            }
            let missing = [
                (
                    layer.nested,
                    "nested-layer",
                    "the layer is nested in another one",
                    NESTED,
                ),
                (
                    layer.goal.is_empty(),
                    "missing-goal",
                    "the layer has no goal",
                    NO_GOAL,
                ),
                (
                    layer.done_when.is_empty(),
                    "missing-done-when",
                    "the layer has no `Done when`",
                    NO_END,
                ),
            ];
            for (_, rule, detail, hint) in missing.into_iter().filter(|(is_so, ..)| *is_so) {
                self.add(line, Error, rule, detail, hint);
            }
            for item in &layer.done_when {
                if let Some(phrase) = vague_phrase(&item.text) {
                    let detail = format!("\"{phrase}\" says nothing that can be observed");
                    let hint = "say what is seen: a value, an error, a page, a file";
                    self.add(
                        (layer, item.span),
                        Warning,
                        "vague-done-when",
                        &detail,
                        hint,
                    );
                }
            }
        }
    }

    fn check_dependencies(&mut self, roadmap: &Roadmap) {
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
        let cycle = roadmap.in_cycles();
        if let [layer, ..] = cycle[..] {
            let span = layer
                .depends_on
                .iter()
                .flatten()
                .next()
                .map_or(layer.span, |item| item.span);
            let ids: Vec<&str> = cycle.iter().map(|layer| &*layer.id).collect();
            let detail = format!("layers wait for each other: {}", ids.join(", "));
            let hint = "remove one of the dependencies, or join the layers";
            self.add((layer, span), Error, "layer-cycle", &detail, hint);
        }
    }

    /// Checks that each output is made once, and that each input is a file or made before.
    fn check_exchange(&mut self, roadmap: &Roadmap, exists: impl Fn(&str) -> bool) {
        let mut makers: HashMap<String, usize> = HashMap::new();
        for (at, layer) in roadmap.layers.iter().enumerate() {
            for LayerItem { text, span } in &layer.outputs {
                let first = *makers.entry(plain_name(text)).or_insert(at);
                if first != at {
                    let detail =
                        format!("layer {} already makes `{text}`", roadmap.layers[first].id);
                    let hint =
                        "let one layer make it; a layer that changes it lists it as an input";
                    self.add((layer, *span), Error, "duplicate-output", &detail, hint);
                }
            }
        }
        for (at, layer) in roadmap.layers.iter().enumerate() {
            let before = roadmap.all_before(at);
            for LayerItem { text, span } in &layer.inputs {
                let is_file = || path::normal(text).is_ok_and(|path| exists(&path));
                let (detail, hint) = match makers.get(&plain_name(text)) {
                    Some(maker) if before.contains(maker) => continue,
                    None if is_file() => continue,
                    Some(maker) => {
                        let maker = &roadmap.layers[*maker].id;
                        let hint = "depend on that layer, change the order, or remove the input";
                        (
                            format!("layer {maker} makes `{text}` but doesn't come before"),
                            hint,
                        )
                    }
                    None => {
                        let hint = "use the name that another layer has for it, or add it to a layer's outputs";
                        (
                            format!("no layer makes `{text}`, and the repository has no such file"),
                            hint,
                        )
                    }
                };
                self.add((layer, *span), Error, UNMADE_INPUT, &detail, hint);
            }
        }
    }
}

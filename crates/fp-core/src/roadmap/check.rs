//! What is wrong with a roadmap, all of it at once.

use std::collections::HashMap;

use super::{Layer, Order, Roadmap, same};
use crate::diagnostic::{Diagnostic, Severity, Span};
use crate::plan::id::TaskId;
use crate::plan::path;
use crate::plan::task::Item;
use crate::rules::vague_phrase;

/// Most layers of a roadmap that is checked.
pub const MOST_LAYERS: usize = 100;
/// How many layers can be kept in mind.
const MANY_LAYERS: usize = 7;

/// Checks a roadmap; `parsed` is what reading it brought up, `exists` says whether a path, in normal form, is in the
/// repository. The findings are in the order of the page, and have those of `parsed` among them.
#[must_use]
pub fn check(roadmap: &Roadmap<'_>, parsed: &[Diagnostic], exists: impl Fn(&str) -> bool) -> Vec<Diagnostic> {
    let mut found = Findings(parsed.to_vec());
    let layers = &roadmap.layers;
    match layers.len() {
        0 => found.whole(
            Severity::Error,
            "no-layer",
            "there is no layer",
            "write one as `## [1] Title`; `fp help roadmap` has the form",
        ),
        number if number > MOST_LAYERS => {
            found.whole(
                Severity::Error,
                "many-layers",
                &format!("there are {number} layers, and at most {MOST_LAYERS} are checked"),
                "make layers of what belongs together: each one is a plan",
            );
            return found.0;
        }
        number if number > MANY_LAYERS => {
            found.whole(
                Severity::Warning,
                "many-layers",
                &format!("there are {number} layers: nobody keeps more than {MANY_LAYERS} in mind"),
                "make one layer of what is only usable together",
            );
        }
        _ => {}
    }
    for (at, layer) in layers.iter().enumerate() {
        found.of_layer(layer);
        if layers[..at].iter().any(|other| other.id == layer.id) {
            found.error(
                layer,
                "duplicate-layer",
                layer.id_span,
                format!("there is a layer {} already", layer.id),
                "give each layer an id of its own",
            );
        }
    }
    let order = Order::new(roadmap);
    found.dependencies(roadmap, &order);
    found.handovers(roadmap, &order, exists);
    found.0.sort_by_key(|diagnostic| diagnostic.span);
    found.0
}

struct Findings(Vec<Diagnostic>);

impl Findings {
    fn error(&mut self, layer: &Layer<'_>, rule: &'static str, span: Span, detail: String, hint: &str) {
        self.add(Some(layer), Severity::Error, rule, span, detail, hint);
    }

    fn warning(&mut self, layer: &Layer<'_>, rule: &'static str, span: Span, detail: String, hint: &str) {
        self.add(Some(layer), Severity::Warning, rule, span, detail, hint);
    }

    fn whole(&mut self, severity: Severity, rule: &'static str, detail: &str, hint: &str) {
        self.add(None, severity, rule, Span::default(), detail.to_owned(), hint);
    }

    fn add(
        &mut self,
        layer: Option<&Layer<'_>>,
        severity: Severity,
        rule: &'static str,
        span: Span,
        detail: String,
        hint: &str,
    ) {
        self.0.push(Diagnostic {
            rule,
            severity,
            span,
            task_id: layer.map(|layer| layer.id.clone()).unwrap_or_default(),
            task_description: layer.map(|layer| layer.title.clone()).unwrap_or_default(),
            parent_id: None,
            depth: 0,
            detail,
            hint: Some(hint.to_owned()),
            fixes: Vec::new(),
        });
    }

    /// What is wrong with a layer by itself.
    fn of_layer(&mut self, layer: &Layer<'_>) {
        if let Err(error) = TaskId::new(&*layer.id) {
            self.error(layer, "layer-id", layer.id_span, error.to_string(), "number the layers: 1, 2, 3");
        }
        if layer.nested {
            self.error(
                layer,
                "nested-layer",
                layer.span,
                "a layer stands below another one".into(),
                "write all layers as headings of one level; the plan of a layer takes it apart",
            );
        }
        if layer.goal.is_empty() {
            self.error(
                layer,
                "missing-goal",
                layer.span,
                "the layer has no goal".into(),
                "add `- Goal:` with one sentence: its plan is made for that",
            );
        }
        if layer.done_when.is_empty() {
            self.error(
                layer,
                "missing-done-when",
                layer.span,
                "nothing says when the layer is done".into(),
                "add `- Done when:` with what can be seen then",
            );
        }
        for item in &layer.done_when {
            if let Some(phrase) = vague_phrase(&item.text) {
                self.warning(
                    layer,
                    "vague-done-when",
                    item.span,
                    format!("\"{phrase}\" says nothing that can be observed"),
                    "say what is seen: a value, an error, a page, a file",
                );
            }
        }
        for label in &layer.repeated {
            self.error(
                layer,
                "duplicate-field",
                label.span,
                format!("`{}` is given twice, and the first one counts", label.text),
                "make one field of both",
            );
        }
    }

    fn dependencies(&mut self, roadmap: &Roadmap<'_>, order: &Order) {
        for layer in &roadmap.layers {
            for id in layer.depends_on.iter().flatten() {
                if roadmap.layer(&id.text).is_none() {
                    self.error(
                        layer,
                        "unknown-layer",
                        id.span,
                        format!("there is no layer `{}`", id.text),
                        "name layers by their ids, separated by commas, or write `none`",
                    );
                }
            }
        }
        for cycle in order.cycles() {
            let layer = &roadmap.layers[cycle[0]];
            let ids: Vec<&str> =
                cycle.iter().chain(cycle.first()).map(|at| &*roadmap.layers[*at].id).collect();
            let span = layer.depends_on.iter().flatten().next().map_or(layer.span, |item| item.span);
            self.error(
                layer,
                "layer-cycle",
                span,
                format!("layers wait for each other: {}", ids.join(" waits for ")),
                "take one of the dependencies out, or make one layer of them",
            );
        }
    }

    /// What layers hand over to each other: every input is made before, and every output is used.
    fn handovers(&mut self, roadmap: &Roadmap<'_>, order: &Order, exists: impl Fn(&str) -> bool) {
        let layers = &roadmap.layers;
        let mut makers: HashMap<String, usize> = HashMap::new();
        for (at, layer) in layers.iter().enumerate() {
            for output in &layer.outputs {
                let first = *makers.entry(same(&output.text)).or_insert(at);
                if first != at {
                    self.error(
                        layer,
                        "duplicate-output",
                        output.span,
                        format!("layer {} makes `{}` already", layers[first].id, output.text),
                        "have one layer make it; one that changes it has it as an input",
                    );
                }
            }
        }
        for (at, layer) in layers.iter().enumerate() {
            let before = order.all_before(at);
            for input in &layer.inputs {
                let is_file = path::normal(&input.text).is_ok_and(|path| exists(&path));
                match makers.get(&same(&input.text)) {
                    Some(maker) if *maker == at => self.error(
                        layer,
                        "unmade-input",
                        input.span,
                        format!("the layer makes `{}` itself", input.text),
                        "take it out of the inputs, or out of the outputs",
                    ),
                    Some(maker) if !before.contains(maker) => self.error(
                        layer,
                        "unmade-input",
                        input.span,
                        format!(
                            "`{}` is made by layer {}, which does not come before",
                            input.text, layers[*maker].id
                        ),
                        "add that layer to `Depends on`, or change the order",
                    ),
                    None if !is_file => self.error(
                        layer,
                        "unmade-input",
                        input.span,
                        format!("no layer makes `{}`, and it is no file of the repository", input.text),
                        "name it as the layer that makes it does, or add it to the outputs of one",
                    ),
                    _ => {}
                }
            }
        }
        for (at, layer) in layers.iter().enumerate() {
            let is_last = !order.before.iter().any(|before| before.contains(&at));
            let used = |output: &str| {
                layers.iter().any(|other| other.inputs.iter().any(|input| same(&input.text) == same(output)))
            };
            let is_own = |output: &str| makers.get(&same(output)) == Some(&at);
            let unused = |output: &&Item<'_>| is_own(&output.text) && !used(&output.text);
            for output in layer.outputs.iter().filter(unused).filter(|_| !is_last) {
                self.warning(
                    layer,
                    "unused-output",
                    output.span,
                    format!("no later layer uses `{}`", output.text),
                    "add it to the inputs of those that build on it, or leave it out",
                );
            }
        }
    }
}

//! A page to a roadmap.

use super::page::goal_of;
use super::{Layer, Roadmap};
use crate::diagnostic::{Diagnostic, Span};
use crate::plan::field::FieldKind;
use crate::plan::task::{Field, Item, Task};
use crate::plan::{entries_of, parse};

/// Reads a roadmap. Never fails: what can't be read is in the findings, and every layer that can be made out is there.
#[must_use]
pub fn read(text: &str) -> (Roadmap<'_>, Vec<Diagnostic>) {
    let (plan, found) = parse(text);
    let is_top = |task: &Task| task.parent.is_none_or(|parent| plan.tasks[parent].synthetic);
    let tasks = plan.tasks.iter().filter(|task| !task.synthetic);
    let layers = tasks.map(|task| Layer { nested: !is_top(task), ..layer(text, task) }).collect();
    (Roadmap { goal: goal_of(text), layers }, found)
}

fn layer<'t>(text: &'t str, task: &Task<'_>) -> Layer<'t> {
    let given = Given { text, task };
    let goal = given.first("goal").map(|item| item.text.split_whitespace().collect::<Vec<_>>().join(" "));
    let description = task.fields.text(FieldKind::Description).map(str::to_owned);
    Layer {
        id: task.id.to_string(),
        id_span: task.id_span,
        title: task.description.to_string(),
        span: task.span,
        goal: goal.or(description).filter(|goal| !goal.eq_ignore_ascii_case("none")).unwrap_or_default(),
        inputs: given.list("inputs", FieldKind::Files, None).unwrap_or_default(),
        outputs: given.list("outputs", FieldKind::Files, None).unwrap_or_default(),
        done_when: given
            .list("done when", FieldKind::Acceptance, task.fields.get(FieldKind::Acceptance))
            .unwrap_or_default(),
        depends_on: given.list(
            "depends on",
            FieldKind::Dependencies,
            task.fields.get(FieldKind::Dependencies),
        ),
        repeated: given.repeated(),
        nested: false,
    }
}

/// The labels of a layer's own fields, in lower case.
const LABELS: [&str; 5] = ["goal", "inputs", "outputs", "done when", "depends on"];

/// The fields of a task, by labels that are not of the language.
struct Given<'a, 't, 'p> {
    text: &'t str,
    task: &'a Task<'p>,
}

impl<'t, 'p> Given<'_, 't, 'p> {
    fn all(&self, label: &str) -> impl Iterator<Item = &(&'p str, Item<'p>)> {
        self.task.fields.unknown.iter().filter(move |(given, _)| normal(given) == label)
    }

    fn first(&self, label: &str) -> Option<&Item<'p>> {
        self.all(label).next().map(|(_, item)| item)
    }

    /// The list with this label, or else the one that trees have for it.
    fn list(&self, label: &str, kind: FieldKind, of_tree: Option<&Field<'_>>) -> Option<Vec<Item<'t>>> {
        let own = self.first(label).map(|item| entries_of(kind, self.text, item));
        own.or_else(|| Some(of_tree?.items.iter().map(owned).collect()))
    }

    fn repeated(&self) -> Vec<Item<'t>> {
        let second = |label| self.all(label).skip(1);
        let again = LABELS.into_iter().flat_map(second).chain(&self.task.fields.duplicates);
        again
            .map(|(label, item)| Item {
                text: (*label).to_owned().into(),
                span: Span::new(item.span.start, item.span.start + label.len()),
                note: None,
            })
            .collect()
    }
}

fn owned<'t>(item: &Item<'_>) -> Item<'t> {
    Item { text: item.text.to_string().into(), span: item.span, note: item.note.clone() }
}

/// A label in lower case, with blanks for its signs.
fn normal(label: &str) -> String {
    label.to_lowercase().replace(['-', '_'], " ")
}

//! A goal that is larger than one plan: layers, each of which becomes one. A roadmap is written in the heading dialect of
//! task trees, and read by their parser; its own fields are unknown ones there.
//!
//! Which plans were made for a layer stands in the plans, and how far it is follows from their runs. Nothing of that is
//! written into the roadmap, so it can't say anything else.

mod check;
mod order;
mod page;
mod progress;
mod read;

use crate::diagnostic::Span;
use crate::plan::task::Item;

pub use check::{MOST_LAYERS, UNMADE, check};
pub use order::Order;
pub use page::{FORM, goal_of, plan_goal, skeleton};
pub use progress::{LayerPlan, LayerState, state_of};
pub use read::read;

/// A roadmap as it was read; it may break every rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Roadmap<'t> {
    /// The goal in the user's own words, as far as the page quotes it.
    pub goal: String,
    /// The layers in the order of the page.
    pub layers: Vec<Layer<'t>>,
}

/// A part of a roadmap that one plan makes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layer<'t> {
    /// Its id, as written.
    pub id: String,
    /// Where that stands.
    pub id_span: Span,
    /// Its title.
    pub title: String,
    /// The line of both.
    pub span: Span,
    /// What it is for, in one line; empty where that is missing.
    pub goal: String,
    /// What it builds on: what other layers make, or files of the repository.
    pub inputs: Vec<Item<'t>>,
    /// What it makes.
    pub outputs: Vec<Item<'t>>,
    /// What can be seen when it is done.
    pub done_when: Vec<Item<'t>>,
    /// The layers that come before it; `None` where it doesn't say, which means the one before it on the page.
    pub depends_on: Option<Vec<Item<'t>>>,
    /// Labels given a second time, which count for nothing.
    pub repeated: Vec<Item<'t>>,
    /// Whether it stands below another layer.
    pub nested: bool,
}

impl<'t> Roadmap<'t> {
    /// The first layer with this id.
    #[must_use]
    pub fn layer(&self, id: &str) -> Option<&Layer<'t>> {
        self.layers.iter().find(|layer| layer.id == id)
    }
}

/// A name as layers have to agree on it: in any case, and whatever its blanks.
fn same(name: &str) -> String {
    name.trim_matches(['`', '*', '_', '.', ' '])
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

#[cfg(test)]
mod tests;

//! What a project wants of every task: Markdown pages with frontmatter, read leniently, and chosen by stage and
//! keyword, so that an agent reads what concerns it and nothing that is required is ever left out unsaid.

mod choice;
mod front;
mod name;
mod payload;
pub mod promote;
mod select;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use choice::{Category, Choice, Dimension, Priority, ReadMode};
pub use front::{SpecFault, parse};
pub use name::{InvalidName, SpecName};
pub use payload::payload_section;
pub use select::{Chosen, Form, applicable, select};

/// How many characters of specs one reader is given, where nothing else is said.
pub const DEFAULT_BUDGET: usize = 8_000;

/// A page of what the project wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// Its path below the folder of specs, without the extension.
    pub name: SpecName,
    /// What it is about, on one line.
    pub title: String,
    /// Whether it is the project's or a person's own.
    pub dimension: Dimension,
    /// The stage of the work that it is for.
    pub category: Category,
    /// Words that make an optional one apply; without any, it applies to its whole stage.
    pub keywords: Vec<String>,
    /// Whether it applies whatever the work is about.
    pub read_mode: ReadMode,
    /// How important it is among those that apply.
    pub priority: Priority,
    /// The text behind the frontmatter, lines ended by line feeds, without empty ones around it.
    #[serde(skip)]
    pub body: String,
}

//! The task tree as a language: Markdown in, tasks with spans out.

pub mod canonical;
pub mod cycles;
pub mod edit;
pub mod field;
pub mod format;
pub mod graph;
pub mod id;
pub mod index;
pub mod meaning;
pub mod natural;
mod parse;
pub mod path;
pub mod position;
pub mod reach;
pub mod task;
mod write;

pub use field::FieldKind;
pub use format::{FormatError, format};
pub use graph::Graph;
pub use index::Index;
pub use parse::{entries_of, parse};
pub use position::Lines;
pub use task::{Field, Fields, Item, Plan, Risk, Task, TaskIndex};
pub use write::write;

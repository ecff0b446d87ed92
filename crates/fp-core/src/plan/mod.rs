//! The task tree as a language: Markdown in, tasks with spans out.

pub mod canonical;
pub mod field;
pub mod id;
pub mod index;
mod parse;
pub mod position;
pub mod task;

pub use field::FieldKind;
pub use index::Index;
pub use parse::parse;
pub use position::Lines;
pub use task::{Field, Fields, Item, Plan, Risk, Task, TaskIndex};

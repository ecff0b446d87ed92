//! The model of the task tree: Markdown in, tasks with source positions out.

pub mod cycles;
pub mod field;
pub mod graph;
pub mod id;
pub mod meaning;
pub(crate) mod parse;
pub mod path;
pub mod position;
pub mod task;
mod write;

pub use field::{FieldForm, FieldKind};
pub use graph::{Graph, PlanIndex};
pub use meaning::{FormatError, format};
pub use parse::parse;
pub use position::Lines;
pub use task::{Field, Item, Plan, Task, TaskFields, TaskIndex};
pub use write::write;

/// The length of the bullet or item number at the start of `text`; 0 if there is none.
fn marker_length(text: &str) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text.as_bytes().get(digits) {
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        Some(b'.' | b')') if digits > 0 => digits + 1,
        _ => 0,
    }
}

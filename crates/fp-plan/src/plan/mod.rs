//! The task tree as a language: Markdown in, tasks with spans out.

pub mod cycles;
pub mod edit;
pub mod field;
pub mod graph;
pub mod id;
pub mod meaning;
mod parse;
pub mod path;
pub mod position;
pub mod task;
mod write;

pub use field::{FieldForm, FieldKind};
pub use graph::{Graph, PlanIndex};
pub use meaning::{FormatError, format};
pub use parse::{entries_of, parse};
pub use position::Lines;
pub use task::{Field, Item, Plan, Task, TaskFields, TaskIndex};
pub use write::write;

/// The length of the bullet or number of an item that `text` begins with; 0 where it doesn't.
fn marker_length(text: &str) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text.as_bytes().get(digits) {
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        Some(b'.' | b')') if digits > 0 => digits + 1,
        _ => 0,
    }
}

//! From any text in the language to its one canonical form, or the reason why not.

use thiserror::Error;

use super::meaning::{Difference, difference};
use super::parse::parse;
use super::write::write;

/// Why a text is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// There is no task in it: it is some other text.
    #[error("there is no task in it")]
    NoTask,
    /// Lines that only start like a task, of which nobody knows what they were meant to be.
    #[error("{}", if *.0 == 1 { "it has a line that can't be read".to_owned() } else { format!("it has {} lines that can't be read", .0) })]
    Unreadable(usize),
    /// Something in it would mean something else in the canonical form.
    #[error("{}", .0.as_ref().map_or_else(|| "its prose would be read as something else".to_owned(), |id| format!("task {id:?} would be read as something else")))]
    Changed(Option<String>),
}

/// `text` in the canonical form of the list dialect. The result means the same, which is made sure of by
/// reading it again, and formatting it once more changes nothing.
///
/// # Errors
///
/// When `text` has no task, has lines that can't be read, or holds something that can't be written in the
/// canonical form.
pub fn format(text: &str) -> Result<String, FormatError> {
    let (plan, findings) = parse(text);
    if !findings.is_empty() {
        return Err(FormatError::Unreadable(findings.len()));
    }
    if plan.root.is_none() {
        return Err(FormatError::NoTask);
    }
    let written = write(&plan);
    let (again, findings) = parse(&written);
    let lost = match difference(&plan, &again) {
        None if findings.is_empty() => return Ok(written),
        Some(Difference::Task(index)) => plan.tasks.get(index).map(|task| task.id.clone()),
        _ => None,
    };
    Err(FormatError::Changed(lost.map(Into::into)))
}

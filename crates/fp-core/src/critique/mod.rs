//! The critique of a task tree: what a critic says of each leaf, whether it said something of all of them, and what
//! that adds up to. The critic finds; the verdict is counted.

mod finding;
mod judge;
mod recorded;
mod render;

pub use finding::{Finding, Item, UnknownItem, Verdict};
pub use judge::{Judged, MAX_TEXT, NotJudged, Opinion, Remark, judge};
pub use recorded::Critique;
pub use render::markdown;

#[cfg(test)]
mod tests;

//! Models a run as a pure state machine to make every decision testable: events fold into a state, commands are decided
//! against it, and the next actions follow from it. The clock, files and processes are passed in as arguments.

pub mod approval;
pub mod consent;
pub mod crew;
pub mod decide;
pub mod drift;
pub mod end_checks;
pub mod event;
pub mod fleet;
pub mod fold;
pub mod inquiry;
pub mod judging;
pub mod message;
pub mod next;
pub mod notepad;
pub mod payload;
pub mod planning;
pub mod question;
pub mod ready;
mod refusal;
pub mod state;
mod task_state;
pub mod trial;
pub mod verdict;

#[cfg(test)]
mod tests;

pub use event::{Entry, Event};
pub use ready::Policy;
pub use refusal::{Refusal, decline, refuse};
pub use state::State;

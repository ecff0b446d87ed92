//! The run as a pure state machine: events are folded into a state, commands are decided against it, and
//! what is due next follows from it. No clock, no file, no process: those are arguments.

pub mod approval;
pub mod decide;
pub mod event;
pub mod fold;
pub mod message;
pub mod next;
pub mod notepad;
pub mod payload;
pub mod question;
pub mod ready;
pub mod rollback;
pub mod state;
pub mod verdict;

#[cfg(test)]
mod tests;

pub use decide::Refusal;
pub use event::{Entry, Event};
pub use state::State;

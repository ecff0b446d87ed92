//! The run as a pure state machine: events are folded into a state, commands are decided against it, and
//! what is due next follows from it. No clock, no file, no process: those are arguments.

pub mod approval;
pub mod decide;
pub mod drift;
pub mod event;
pub mod fold;
pub mod inquiry;
pub mod message;
pub mod next;
pub mod notepad;
pub mod payload;
pub mod peer_message;
pub mod planning;
pub mod question;
pub mod ready;
pub mod refusal;
pub mod state;
mod task_state;
pub mod verdict;

#[cfg(test)]
mod tests;

pub use event::{Entry, Event};
pub use ready::Policy;
pub use refusal::Refusal;
pub use state::State;

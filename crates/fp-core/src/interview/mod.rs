//! What is known of a goal before anything is planned: its intent, the mode and steps that suit it, what to
//! ask first, and what the interview found.

pub mod intent;
pub mod mode;

pub mod slug;
pub mod strategy;
mod words;

pub use intent::Intent;
pub use mode::{Mode, Proposal, Step};

pub use strategy::Strategy;

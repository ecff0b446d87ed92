//! What is known of a goal before anything is planned: its intent, the mode and steps that suit it, what to
//! ask first, what the interview found, and whether that is enough.

pub mod answers;
pub mod clearance;
pub mod intent;
pub mod mode;
pub mod record;
pub mod render;
pub mod slug;
pub mod strategy;
pub(crate) mod words;

pub use answers::Answers;
pub use clearance::Clearance;
pub use intent::Intent;
pub use mode::{Mode, Proposal, Step};
pub use record::Interview;
pub use strategy::{Strategy, strategy};

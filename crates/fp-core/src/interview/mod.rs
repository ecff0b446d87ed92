//! What is known of a goal before anything is planned: its intent, the mode and steps that suit it, what to ask first,
//! what the interview found, and whether that is enough.

pub mod answers;
pub mod clearance;
pub mod intent;
pub mod record;
pub mod slug;

pub use answers::Answers;
pub use clearance::Clearance;
pub use intent::{GoalReading, Intent, InterviewStrategy, Mode, PlanningStep, strategy_for};
pub use record::Interview;

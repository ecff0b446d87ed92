//! Intent, mode and requirements of a goal.

pub mod slug;

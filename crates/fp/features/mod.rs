//! Satellites of the planner: each folder has its commands and what they do. Nothing outside of a feature uses it but
//! the list of commands.

pub(crate) mod exchange;

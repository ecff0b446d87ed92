//! Satellites of the planner. Each folder has a feature's pure part, its files and its commands; nothing outside of it
//! uses it, but the lists of commands and of tests.

pub(crate) mod doctor;
pub(crate) mod install;

//! Satellites of the planner, one folder each: what is pure, what touches the disk, and the command.

pub(crate) mod linear;
pub(crate) mod signals;

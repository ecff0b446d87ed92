//! Satellites of the planner. Each folder has a feature's pure part, what it does on the disk, and its commands. Only the
//! list of commands uses it; the doctor also asks the client that an installation talks to.

pub(crate) mod debt;
pub(crate) mod doctor;
pub(crate) mod exchange;
pub(crate) mod install;
pub(crate) mod linear;
pub(crate) mod roadmap;
pub(crate) mod signals;
pub(crate) mod specs;

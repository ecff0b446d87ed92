//! Optional features of the planner, each with its pure part, its disk access and its commands in one folder, so that
//! it can be removed. Only the list of commands uses them; the doctor also uses the installation's client.

pub(crate) mod ci;
pub(crate) mod doctor;
pub(crate) mod exchange;
pub(crate) mod install;
pub(crate) mod linear;
pub(crate) mod roadmap;
pub(crate) mod signals;
pub(crate) mod specs;

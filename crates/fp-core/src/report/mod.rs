//! Reports as data: what a run is, for whoever renders it.

pub mod evidence;
pub mod gate;
pub mod ready;
pub mod results;
pub mod status;
pub mod tree;
pub mod validation;

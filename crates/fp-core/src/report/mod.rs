//! Reports as data: what a run is, for whoever renders it.

pub mod critique;
pub mod duration;
pub mod evidence;
pub mod gate;
pub mod handoff;
pub mod history;
pub mod log;
pub mod next_step;
mod page;
pub mod progress;
pub mod ready;
pub mod results;
pub mod run_page;
pub mod status;
pub mod tree;
pub mod validation;
pub mod watch;
pub mod why;

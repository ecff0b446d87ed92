//! Reports as data that more than one reader shares.

mod course;
pub mod duration;
pub mod evidence;
pub mod handoff;
pub mod log;
pub mod next_step;
pub mod results;
pub mod run_page;
pub mod status;
pub mod tree;
pub mod validation;
pub mod why;

//! Renderers: one report, several forms.

pub(crate) mod actions;
pub(crate) mod clearance;
pub(crate) mod commit;
pub(crate) mod dot;
pub(crate) mod evidence;
mod graph;
pub(crate) mod html;
pub(crate) mod log;
pub(crate) mod mermaid;
pub(crate) mod page;
pub(crate) mod ready;
pub(crate) mod run_page;
pub(crate) mod sarif;
pub(crate) mod simulation;
pub(crate) mod status;
pub(crate) mod tree;
pub(crate) mod watch;
pub(crate) mod why;

/// Columns of a terminal that text is made for.
pub(crate) const WIDTH: usize = 80;

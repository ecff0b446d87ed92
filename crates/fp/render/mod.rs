//! Renderers: one report, several forms.

pub(crate) mod clearance;
pub(crate) mod debts;
pub(crate) mod diagnostics;
pub(crate) mod doctor;
pub(crate) mod dot;
mod graph;
pub(crate) mod html;
pub(crate) mod linear;
pub(crate) mod log;
pub(crate) mod mermaid;
pub(crate) mod page;
pub(crate) mod ready;
pub(crate) mod roadmap;
pub(crate) mod rule;
pub(crate) mod run_page;
pub(crate) mod sarif;
pub(crate) mod schedule;
pub(crate) mod signals;
pub(crate) mod simulation;
pub(crate) mod specs;
pub(crate) mod status;
pub(crate) mod tree;
pub(crate) mod visible;
pub(crate) mod watch;
pub(crate) mod why;
pub(crate) mod wrap;

/// Columns of a terminal that text is made for.
pub(crate) const WIDTH: usize = 80;

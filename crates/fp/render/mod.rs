//! Renderers: one report, several forms.

pub(crate) mod actions;
pub(crate) mod diagnostics;
pub(crate) mod doctor;
pub(crate) mod dot;
mod graph;
pub(crate) mod html;
pub(crate) mod linear;
pub(crate) mod mermaid;
pub(crate) mod ready;
pub(crate) mod rule;
pub(crate) mod sarif;
pub(crate) mod schedule;
pub(crate) mod signals;
pub(crate) mod status;
pub(crate) mod tree;
pub(crate) mod visible;

/// Columns of a terminal that text is made for.
pub(crate) const WIDTH: usize = 80;

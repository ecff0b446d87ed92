//! Renderers: one report, several forms.

pub(crate) mod actions;
pub(crate) mod commit;
pub(crate) mod diagnostics;
pub(crate) mod rule;
pub(crate) mod schedule;
pub(crate) mod status;
pub(crate) mod tree;
pub(crate) mod visible;

/// Columns of a terminal that text is made for.
pub(crate) const WIDTH: usize = 80;

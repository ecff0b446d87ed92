//! Renderers: one report, several forms.

pub(crate) mod status;
pub(crate) mod tree;

/// Columns of a terminal that text is made for.
pub(crate) const WIDTH: usize = 80;

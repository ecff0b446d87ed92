//! Renderers: one report, several forms.

pub(crate) mod actions;
pub(crate) mod diagnostics;
pub(crate) mod schedule;
pub(crate) mod status;

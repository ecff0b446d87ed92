//! Renderers: one report, several forms.

pub(crate) mod actions;
pub(crate) mod status;

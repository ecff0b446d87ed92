//! Renderers: one report, several forms.

pub(crate) mod actions;
pub(crate) mod commit;
pub(crate) mod diagnostics;
pub(crate) mod rule;
pub(crate) mod schedule;
pub(crate) mod status;
pub(crate) mod visible;

pub(crate) use crate::printer::WIDTH;

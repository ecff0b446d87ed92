//! Renderers: one report, several forms.

pub(crate) mod actions;
pub(crate) mod diagnostics;
pub(crate) mod ready;
pub(crate) mod signals;
pub(crate) mod status;

/// `text` of a stranger on one line, with nothing in it that a terminal obeys.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

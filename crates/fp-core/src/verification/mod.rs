//! Mechanical checks of a change, from measured facts.

pub mod change;

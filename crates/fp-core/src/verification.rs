//! Mechanical checks of a change, from measured facts.

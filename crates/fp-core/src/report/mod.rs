//! Reports as data.

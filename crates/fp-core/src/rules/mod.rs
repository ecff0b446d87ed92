//! Rules: one file per rule, and the registry that lists them.

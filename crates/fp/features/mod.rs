//! Features beside the planner, a folder each: `model` is pure, `disk` reads and writes files, `command` has the
//! subcommands with their text and JSON. The rest of the program uses no more of a feature than its `mod.rs` offers.

pub(crate) mod debt;
pub(crate) mod roadmap;
pub(crate) mod specs;

//! What happened in a run and what is due next: the log, decisions, checks, hooks, planning records and reports.
//! Pure, as `clippy.toml` beside this crate enforces: every decision can be tested with a table.

pub mod commit_style;
pub mod critique;
pub mod hook;
pub mod interview;
pub mod report;
pub mod run;
pub mod test_files;
pub mod verification;

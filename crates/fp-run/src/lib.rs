//! Decides everything about a run: the log, decisions, checks, hooks, planning records and reports. The crate is pure,
//! which the `clippy.toml` beside it enforces, so every decision can be tested with a table.

pub mod commit_style;
pub mod critique;
pub mod hook;
pub mod interview;
pub mod report;
pub mod run;
pub mod test_files;
pub mod verification;

/// True for a value that a record may omit, because reading gives the same value without it.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Compiles `pattern`, which must be a constant.
fn regex(pattern: &str) -> regex::Regex {
    regex::Regex::new(pattern).expect("the pattern is a constant")
}

//! The pure half of Fractal Planner: parsing, rules, schedule, run, hooks and reports as functions of
//! their arguments.
//!
//! Nothing here reads a file, the environment, the clock, a process or the network; `clippy.toml` beside
//! this crate forbids it. That is what makes every decision testable with a table.

pub mod commit_style;
pub mod critique;
pub mod diagnostic;
pub mod exclusive;
pub mod hint;
pub mod hook;
pub mod interview;
pub mod language;
pub mod markdown;
pub mod package_files;
pub mod plan;
pub mod reading_language;
pub mod repo_path;
pub mod report;
pub mod rules;
pub mod run;
pub mod schedule;
pub mod settings;
pub mod signals_record;
pub mod test_files;
pub mod text;
pub mod verification;

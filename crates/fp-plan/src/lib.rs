//! Treats the task tree as a language: parses, writes, checks and schedules it. The crate is pure: the `clippy.toml`
//! beside it forbids files, environment, clock, processes, network and threads.

mod command_line;
pub mod diagnostic;
pub mod edit;
pub mod exclusive;
pub mod hint;
pub mod language;
pub mod locked_origins;
pub mod markdown;
pub mod package_files;
pub mod plan;
pub mod reading_language;
pub mod repo_path;
pub mod rules;
pub mod schedule;
pub mod settings;
pub mod setup;
pub mod signals_record;
pub mod test_settings;
pub mod text;

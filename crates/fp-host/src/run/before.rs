//! The check of a task before its work, in test-driven work: it has to fail, or its pass afterwards says nothing.

use std::path::Path;
use std::time::Duration;

use fp_core::plan::Task;
use fp_core::settings::Settings;
use fp_core::verification::{Check, CheckVerdict, command_check};

use super::verify::limits;
use crate::process;

/// Runs the `Verify` command of `leaf` in `directory`: its check, and whether it passed; `None` without such a command.
#[must_use]
pub fn check(leaf: &Task, directory: &Path, settings: &Settings) -> Option<(Vec<Check>, bool)> {
    let time = Duration::from_secs(settings.verify.timeout_seconds.into());
    let runs = process::run_commands(leaf.verify(), directory, limits(time));
    let checks: Vec<Check> = runs.iter().map(command_check).collect();
    let passed = checks.iter().all(|check| check.verdict == CheckVerdict::Pass);
    (!checks.is_empty()).then_some((checks, passed))
}

//! The log of debts, `.fractal-planner/debt.jsonl` of the main checkout, which the user commits. Whatever its lines
//! hold stays byte for byte; new ones follow at the end.

use std::time::Duration;

use fp_host::file::{self, FileError};
use fp_host::repo::{DEBT_LOG, HOME, Repo};
use fp_host::store::acquire;
use serde_json::Value;

use super::model::{DEBT_VERSION, DebtEntry, DebtPlan};
use crate::context::Context;
use crate::context::Known;
use crate::error::CommandError;

/// The lock of the log, in the folder of plans, which git ignores.
const LOCK: &str = "debt.lock";
/// Largest log that is read, in bytes.
const CAP: u64 = 16 * 1024 * 1024;

/// The entries in the log of `repo`, oldest first; none where there is no such file. Fails on a line that is no debt.
pub(super) fn read_log(repo: &Repo) -> Result<Vec<DebtEntry>, CommandError> {
    read_lines(repo).map(|(entries, _)| entries)
}

/// The entries, and the text that they are in.
fn read_lines(repo: &Repo) -> Result<(Vec<DebtEntry>, String), CommandError> {
    let path = repo.root.join(DEBT_LOG);
    if path.is_symlink() {
        return Err(FileError::Link { path }.into());
    }
    let text = file::read_text_if_there(&path, CAP)?.unwrap_or_default();
    let mut entries = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("{}:{number}", path.display());
        let wrong = |error: serde_json::Error| {
            CommandError::failed(format!("{place}: not a debt: {error}"))
                .hint("fix or remove that line: each one is a JSON object, in the form that `fp help roadmap` shows")
        };
        let value: Value = serde_json::from_str(line).map_err(wrong)?;
        let version = value["schemaVersion"].as_u64().unwrap_or_default();
        if version > DEBT_VERSION.into() {
            return Err(CommandError::failed(format!(
                "{place}: written by a newer fp (version {version} of debts, this fp reads {DEBT_VERSION})"
            ))
            .hint("update fp: `fp --version` prints the version of this one"));
        }
        entries.push(serde_json::from_value(value).map_err(wrong)?);
    }
    Ok((entries, text))
}

/// Appends the entries that `decide` returns, all or none of them, and hands on its result. Waits for another process
/// that does the same. When this returns they are on the disk.
pub(super) fn extend_log<T>(
    context: &Context,
    decide: impl FnOnce(&[DebtEntry]) -> Result<(Vec<DebtEntry>, T), CommandError>,
) -> Result<T, CommandError> {
    let (repo, plans) = (context.repo(), context.plans()?);
    let patience = Duration::from_secs(context.settings()?.lock_timeout_seconds.into());
    repo.make_folder(HOME)?;
    plans.make_dir()?;
    let _lock = acquire(&plans.dir().join(LOCK), patience)?;
    let (entries, mut text) = read_lines(repo)?;
    let (new, result) = decide(&entries)?;
    if !new.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for entry in new {
            text += &serde_json::to_string(&entry).expect("an entry has text keys and plain values");
            text.push('\n');
        }
        file::atomic_write(&repo.root.join(DEBT_LOG), text.as_bytes())?;
    }
    Ok(result)
}

/// The plans that can be read.
pub(super) fn debt_plans(known: &[Known]) -> Vec<DebtPlan<'_>> {
    let plans = known.iter().filter_map(|known| {
        let state = known.state.as_deref().ok()?;
        Some(DebtPlan { state, archived: known.archived })
    });
    plans.collect()
}

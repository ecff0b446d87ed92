//! The log of debts, `.fractal-planner/debt.jsonl` of the main checkout, which the user commits. Whatever its lines
//! hold stays byte for byte; new ones follow at the end.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fp_host::file::{self, FileError};
use fp_host::repo::{DEBT_LOG, HOME, Repo};
use fp_host::store::acquire;
use serde_json::Value;

use super::model::{DEBT_VERSION, DebtEntry, DebtPlan};
use crate::context::Context;
use crate::error::CommandError;
use crate::open::Known;

/// The lock of the log, in the folder of plans, which git ignores.
const LOCK: &str = "debt.lock";
/// Largest log that is read, in bytes.
const CAP: u64 = 16 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct DebtLog {
    /// Oldest first.
    pub(super) entries: Vec<DebtEntry>,
    /// A note for the user about a torn last line.
    pub(super) notice: Option<String>,
    /// The whole lines as they are.
    bytes: Vec<u8>,
}

/// The log of `repo`; an empty one where there is no such file. Fails on a line that is no debt.
pub(super) fn read_log(repo: &Repo) -> Result<DebtLog, CommandError> {
    let path = repo.root.join(DEBT_LOG);
    let bytes = match fs::symlink_metadata(&path) {
        Ok(found) if found.is_symlink() => return Err(FileError::Link { path }.into()),
        Ok(_) => file::read_bytes(&path, CAP)?,
        Err(_) => Vec::new(),
    };
    let mut log = DebtLog { bytes, ..DebtLog::default() };
    let mut start = 0;
    for (number, line) in (1..).zip(log.bytes.split_inclusive(|byte| *byte == b'\n')) {
        match read_line(&path, number, line) {
            // No part of an entry is JSON by itself.
            Err(_) if !line.ends_with(b"\n") && serde_json::from_slice::<Value>(line).is_err() => {
                let (path, torn) = (path.display(), line.len());
                log.notice =
                    Some(format!("{path}: dropped the last line, torn while written ({torn} bytes)"));
                break;
            }
            entry => log.entries.extend(entry?),
        }
        start += line.len();
    }
    log.bytes.truncate(start);
    Ok(log)
}

/// The entry on line `number`; `None` for an empty line.
fn read_line(path: &Path, number: usize, line: &[u8]) -> Result<Option<DebtEntry>, CommandError> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let wrong = |error: serde_json::Error| {
        let place = format!("{}:{number}", path.display());
        CommandError::failed(format!("{place}: not a debt: {error}")).hint(
            "fix or remove that line: each one is a JSON object, in the form that `fp help roadmap` shows",
        )
    };
    let value: Value = serde_json::from_slice(line).map_err(wrong)?;
    match value["schemaVersion"].as_u64() {
        Some(version) if version > DEBT_VERSION.into() => Err(CommandError::failed(format!(
            "{}:{number}: written by a newer fp (version {version} of debts, this fp reads {DEBT_VERSION})",
            path.display()
        ))
        .hint("update fp: `fp --version` prints the version of this one")),
        _ => serde_json::from_value(value).map(Some).map_err(wrong),
    }
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
    let DebtLog { entries, notice, mut bytes } = read_log(repo)?;
    context.notices(notice.as_slice());
    let (new, result) = decide(&entries)?;
    if !new.is_empty() {
        for entry in new {
            if bytes.last().is_some_and(|last| *last != b'\n') {
                bytes.push(b'\n');
            }
            serde_json::to_writer(&mut bytes, &entry).expect("an entry has text keys and plain values");
        }
        bytes.push(b'\n');
        file::atomic_write(&repo.root.join(DEBT_LOG), &bytes)?;
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

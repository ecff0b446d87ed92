//! The snapshot saves replaying the log: it has the log's state, and is valid as long as the log is
//! unchanged. It can be deleted at any time.

use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Read as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use fp_plan::plan::id::PlanId;
use fp_run::run::State;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::open;
use crate::file;

/// A snapshot with another version is ignored and written anew.
const SNAPSHOT_VERSION: u32 = 3;

/// The state of `plan_id` from the snapshot at `path`, and the log's mark at that time. `None` unless
/// [`write()`] wrote it.
pub(super) fn stored(path: &Path, plan_id: &PlanId) -> Option<(LogMark, State)> {
    let mut bytes = Vec::new();
    open(path, OpenOptions::new().read(true))
        .ok()??
        .read_to_end(&mut bytes)
        .ok()?;
    let stored: StoredState<'_> = serde_json::from_slice(&bytes).ok()?;
    let text = stored.state.get();
    if stored.schema_version != SNAPSHOT_VERSION || stored.checksum != checksum(text) {
        return None;
    }
    let mut state: State = serde_json::from_str(text).ok()?;
    state.restore_index();
    (state.plan_id == *plan_id).then_some((stored.log, state))
}

/// Writes the snapshot. If that fails, the next command replays the log; nothing else is lost.
pub(super) fn write(path: &Path, mark: LogMark, state: &State) {
    let Ok(text) = serde_json::value::to_raw_value(state) else {
        return;
    };
    let snapshot = StoredState {
        schema_version: SNAPSHOT_VERSION,
        log: mark,
        checksum: checksum(text.get()),
        state: &text,
    };
    if let Ok(bytes) = serde_json::to_vec(&snapshot) {
        drop(file::replace(path, &bytes));
    }
}

/// Detects a state that was edited by hand and contradicts the log. Another build of fp may compute another
/// value, which costs a replay.
fn checksum(state: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(state.as_bytes());
    hasher.finish()
}

/// The log's length and modification time when a snapshot was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct LogMark {
    pub(crate) bytes: u64,
    modified: u64,
}

impl LogMark {
    pub(crate) const NONE: Self = Self {
        bytes: 0,
        modified: 0,
    };

    pub(crate) fn of(log: &File) -> io::Result<Self> {
        let metadata = log.metadata()?;
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let nanos = modified
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos();
        Ok(Self {
            bytes: metadata.len(),
            modified: u64::try_from(nanos).unwrap_or(0),
        })
    }
}

/// The state, with what ties it to the log.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredState<'a> {
    schema_version: u32,
    log: LogMark,
    checksum: u64,
    #[serde(borrow)]
    state: &'a RawValue,
}

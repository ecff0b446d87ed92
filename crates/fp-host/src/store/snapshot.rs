//! The snapshot makes replaying the log unnecessary: it holds the log's state, and is valid as long as the log is
//! unchanged. It can be deleted at any time.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;

use fp_plan::plan::id::PlanId;
use fp_run::run::State;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::file::{self, FileMark, open_own};
use crate::trust::MachineKey;

/// Snapshots with another version are ignored and rewritten.
const SNAPSHOT_VERSION: u32 = 4;

/// A state, the log's mark at that time, and the code of its last line.
pub(super) type Stored = (FileMark, String, State);

/// The snapshot of `plan_id` at `path`. `None` unless [`write()`] wrote it with the same key.
pub(super) fn stored(path: &Path, plan_id: &PlanId, key: Option<&MachineKey>) -> Option<Stored> {
    let mut bytes = Vec::new();
    open_own(path, OpenOptions::new().read(true))
        .ok()??
        .read_to_end(&mut bytes)
        .ok()?;
    let stored: StoredState<'_> = serde_json::from_slice(&bytes).ok()?;
    if stored.schema_version != SNAPSHOT_VERSION || stored.seal != stored.seal_by(key?) {
        return None;
    }
    let mut state: State = serde_json::from_str(stored.state.get()).ok()?;
    state.restore_index();
    (state.plan_id == *plan_id).then_some((stored.log, stored.code.into_owned(), state))
}

/// Writes the snapshot. If that fails, the next command replays the log; nothing else is lost.
pub(super) fn write(path: &Path, key: &MachineKey, mark: FileMark, code: &str, state: &State) {
    let Ok(text) = serde_json::value::to_raw_value(state) else {
        return;
    };
    let mut snapshot = StoredState {
        schema_version: SNAPSHOT_VERSION,
        log: mark,
        code: code.into(),
        seal: String::new(),
        state: &text,
    };
    snapshot.seal = snapshot.seal_by(key);
    if let Ok(bytes) = serde_json::to_vec(&snapshot) {
        drop(file::replace(path, &bytes));
    }
}

/// The state, and the data that ties it to the log.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredState<'a> {
    schema_version: u32,
    log: FileMark,
    /// The code of the log's last line.
    #[serde(borrow)]
    code: Cow<'a, str>,
    /// Detects a state that somebody else wrote.
    seal: String,
    #[serde(borrow)]
    state: &'a RawValue,
}

impl StoredState<'_> {
    fn seal_by(&self, key: &MachineKey) -> String {
        let FileMark { bytes, modified } = self.log;
        key.code_of(&[
            b"snapshot",
            &bytes.to_be_bytes(),
            &modified.to_be_bytes(),
            self.code.as_bytes(),
            self.state.get().as_bytes(),
        ])
    }
}

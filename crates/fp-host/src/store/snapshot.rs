//! The snapshot: the state that a log adds up to, so that the log need not be read again as long as it is what
//! it was. It can be deleted at any time.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use fp_core::plan::id::PlanId;
use fp_core::run::State;
use fp_core::run::question::Topic;
use fp_core::run::state::Status;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::file;

/// Version of the snapshot; one with another version is not read but made anew.
const SNAPSHOT_VERSION: u32 = 1;

/// The state of `plan_id` as the snapshot at `path` has it, if it was taken from the log as `mark` shows it.
pub(super) fn read(path: &Path, mark: LogMark, plan_id: &PlanId) -> Option<State> {
    stored(path, plan_id).filter(|(taken_at, _)| *taken_at == mark).map(|(_, state)| state)
}

/// The state of `plan_id` as the snapshot at `path` has it, and what the log looked like then.
pub(super) fn stored(path: &Path, plan_id: &PlanId) -> Option<(LogMark, State)> {
    let bytes = fs::read(path).ok()?;
    let stored: StoredSnapshot = serde_json::from_slice(&bytes).ok()?;
    let fits = stored.schema_version == SNAPSHOT_VERSION && stored.state.plan_id == *plan_id;
    let mut state = fits.then_some(stored.state)?;
    state.restore_index();
    Some((stored.log, state))
}

/// Writes the snapshot. One that can't be written costs the next command a replay and nothing else.
pub(super) fn write(path: &Path, mark: LogMark, state: &State) {
    let snapshot = Snapshot { schema_version: SNAPSHOT_VERSION, legacy: Legacy::of(state), log: mark, state };
    if let Ok(bytes) = serde_json::to_vec(&snapshot) {
        drop(file::replace(path, &bytes));
    }
}

/// What the log looked like when a snapshot was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct LogMark {
    pub(super) bytes: u64,
    modified: u64,
}

impl LogMark {
    pub(super) fn of(log: &File) -> io::Result<Self> {
        let metadata = log.metadata()?;
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let nanos = modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Ok(Self { bytes: metadata.len(), modified: u64::try_from(nanos).unwrap_or(0) })
    }
}

/// The seed's fields, which older tools read, around the state.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Snapshot<'a> {
    schema_version: u32,
    #[serde(flatten)]
    legacy: Legacy<'a>,
    log: LogMark,
    state: &'a State,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Legacy<'a> {
    plan_id: &'a PlanId,
    team: String,
    task_map: Map<'a, &'a str>,
    max_iterations: u32,
    no_commit: bool,
    created_at: Option<Timestamp>,
    skipped_tasks: Map<'a, &'a str>,
    failure_reasons: Map<'a, &'a str>,
    iteration_map: Map<'a, u32>,
    clarifications_used: Map<'a, bool>,
}

type Map<'a, V> = std::collections::BTreeMap<&'a str, V>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredSnapshot {
    schema_version: u32,
    log: LogMark,
    state: State,
}

impl<'a> Legacy<'a> {
    fn of(state: &'a State) -> Self {
        let with = |status: Status| {
            let chosen = state.tasks.iter().filter(move |t| t.status == status);
            chosen.map(|t| (t.leaf.id.as_str(), t.reason.as_deref().unwrap_or_default())).collect()
        };
        let run = state.run.as_ref();
        Self {
            plan_id: &state.plan_id,
            team: format!("fp-{}", state.plan_id),
            task_map: state.tasks.iter().map(|t| (t.leaf.id.as_str(), t.leaf.id.as_str())).collect(),
            max_iterations: run.map_or(0, |r| r.max_iterations),
            no_commit: run.is_some_and(|r| r.no_commit),
            created_at: run.map(|r| r.started_at),
            skipped_tasks: with(Status::Skipped),
            failure_reasons: with(Status::Failed),
            iteration_map: state
                .tasks
                .iter()
                .filter(|t| t.iteration > 0)
                .map(|t| (t.leaf.id.as_str(), t.iteration))
                .collect(),
            clarifications_used: state
                .questions
                .iter()
                .filter_map(|asked| match &asked.question.topic {
                    Topic::Clarify(task) => Some((task.as_str(), true)),
                    _ => None,
                })
                .collect(),
        }
    }
}

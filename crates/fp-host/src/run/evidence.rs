//! Writes the files that people read beside the log: evidence and notepad. They are written from the new
//! state before it is logged: a command killed in between runs again and rewrites them, and no log entry
//! lacks its file. The caller holds the lock on the log.

use std::fs;

use fp_plan::plan::id::TaskId;
use fp_run::report::evidence::evidence_page;
use fp_run::run::{State, notepad};
use jiff::Timestamp;

use crate::file::{self, FileError};
use crate::plan::OpenPlan;

/// Size limit of an evidence file, in bytes.
const CAP: u64 = 16 * 1024 * 1024;

/// The path of the evidence file of `id` below the plan's folder.
pub fn evidence_file(id: &TaskId) -> String {
    format!("evidence/task-{id}-verification.md")
}

/// The evidence file of `id`, if there is one yet.
pub fn read(plan: &OpenPlan, id: &TaskId) -> Result<Option<String>, FileError> {
    let folder = plan.folder.file("evidence");
    if folder.is_symlink() {
        return Err(FileError::Link { path: folder });
    }
    file::read_text_if_there(&plan.folder.path().join(evidence_file(id)), CAP)
}

/// Writes the evidence file of `id`, whose last verdict is in `state`. Returns its path below the plan's
/// folder.
pub fn write(
    plan: &OpenPlan,
    state: &State,
    id: &TaskId,
    criteria: &[String],
    at: Timestamp,
) -> Result<String, FileError> {
    let name = evidence_file(id);
    let Some(task) = state.task(id) else { return Ok(name) };
    let folder = plan.folder.file("evidence");
    if folder.is_symlink() {
        return Err(FileError::Link { path: folder });
    }
    fs::create_dir_all(&folder).map_err(|source| FileError::Write { path: folder.clone(), source })?;
    file::replace(&plan.folder.path().join(&name), evidence_page(task, criteria, at).as_bytes())?;
    Ok(name)
}

pub fn write_notepad(plan: &OpenPlan, state: &State) -> Result<(), FileError> {
    file::replace(&plan.folder.file("notepad.md"), notepad::render(state).as_bytes())
}

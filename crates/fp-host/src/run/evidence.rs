//! The files that people read beside the log: evidence and notepad. They are written from the state that is
//! about to be logged, before it is: a command that is killed in between is run again and writes them again,
//! while what is logged is never without its file. The caller holds the lock on the log.

use std::fs;
use std::path::PathBuf;

use fp_core::plan::id::TaskId;
use fp_core::report::evidence::{self, EvidenceError, TaskEvidence};
use fp_core::run::{State, notepad};
use jiff::Timestamp;

use crate::file::{self, FileError};
use crate::plan::OpenPlan;

/// Largest evidence file that is read, in bytes.
const CAP: u64 = 16 * 1024 * 1024;

/// Why an evidence file can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file can't be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not what `fp` writes.
    #[error("{}: {source}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: EvidenceError,
    },
}

fn name_of(id: &TaskId) -> String {
    format!("evidence/task-{id}-verification.md")
}

/// The evidence on `id`; `None` where there is no file yet.
pub fn read(plan: &OpenPlan, id: &TaskId) -> Result<Option<TaskEvidence>, ReadError> {
    let folder = plan.folder.file("evidence");
    if folder.is_symlink() {
        return Err(FileError::Link { path: folder }.into());
    }
    let path = plan.folder.path().join(name_of(id));
    let Some(text) = file::read_text_if_there(&path, CAP)? else { return Ok(None) };
    TaskEvidence::parse(&text).map(Some).map_err(|source| ReadError::Form { path, source })
}

/// Writes the evidence file of `id`; its last verdict is in `state`. Returns its path below the plan's folder.
pub fn write(
    plan: &OpenPlan,
    state: &State,
    id: &TaskId,
    criteria: &[String],
    at: Timestamp,
) -> Result<String, FileError> {
    let name = name_of(id);
    let Some(task) = state.task(id) else { return Ok(name) };
    let folder = plan.folder.file("evidence");
    if folder.is_symlink() {
        return Err(FileError::Link { path: folder });
    }
    fs::create_dir_all(&folder).map_err(|source| FileError::Write { path: folder.clone(), source })?;
    file::replace(&plan.folder.path().join(&name), evidence::render(task, criteria, at).as_bytes())?;
    Ok(name)
}

/// Writes `notepad.md`.
pub fn write_notepad(plan: &OpenPlan, state: &State) -> Result<(), FileError> {
    file::replace(&plan.folder.file("notepad.md"), notepad::render(state).as_bytes())
}

//! An imported plan on disk. `tasks.md` is written last: whatever ends the import before leaves a folder without a
//! tree, and nothing takes that for a plan.

use std::borrow::Cow;
use std::fs;
use std::time::Duration;

use fp_core::exchange::Origin;
use fp_core::hint::Hint;
use fp_core::plan::id::PlanId;
use fp_core::run::event::Event;
use fp_core::run::notepad;
use jiff::Timestamp;
use serde::Deserialize;

use crate::file::{self, FileError};
use crate::plan::TASKS;
use crate::plan_folder::{PlanError, PlanFolder, PlanRecord, Plans};
use crate::store::{Store, StoreError};

/// Name of the record of where a plan came from, in its folder.
const ORIGIN: &str = "import.json";
/// Largest such record that is read, in bytes.
const ORIGIN_CAP: u64 = 512 * 1024 * 1024;
/// Name of what builders noted, in the plan's folder.
const NOTEPAD: &str = "notepad.md";

/// Why an imported plan is not written. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub enum ImportWriteError {
    /// The folder can't be made or described.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The log can't be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Hint for ImportWriteError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Plan(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }
}

impl From<FileError> for ImportWriteError {
    fn from(error: FileError) -> Self {
        Self::Plan(error.into())
    }
}

/// What an imported plan consists of.
#[derive(Debug)]
pub struct Content<'c> {
    /// Where it came from.
    pub origin: &'c Origin,
    /// The text of its tree.
    pub tasks: &'c str,
    /// Texts that come along, each with its path in the plan's folder. The caller's own paths, never a stranger's.
    pub texts: Vec<(String, String)>,
    /// What happened before it was imported; nothing where no work was done.
    pub events: Vec<Event>,
}

/// Writes `content` into `folder`, which was made for it. `record` says what the plan is for.
///
/// # Errors
/// When anything can't be written; the folder is gone then.
pub fn write(
    folder: &PlanFolder,
    record: &PlanRecord,
    content: Content<'_>,
    now: Timestamp,
) -> Result<(), ImportWriteError> {
    let written = fill(folder, record, content, now);
    if written.is_err() {
        // It was made for this plan, and nobody else has put anything into it.
        drop(fs::remove_dir_all(folder.path()));
    }
    written
}

fn fill(
    folder: &PlanFolder,
    record: &PlanRecord,
    content: Content<'_>,
    now: Timestamp,
) -> Result<(), ImportWriteError> {
    folder.describe(record)?;
    let mut origin =
        serde_json::to_string_pretty(content.origin).expect("an origin has text keys and plain values");
    origin.push('\n');
    file::atomic_write(&folder.file(ORIGIN), origin.as_bytes())?;
    for (path, text) in content.texts {
        let path = folder.path().join(path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)
                .map_err(|source| FileError::Write { path: above.to_owned(), source })?;
        }
        file::atomic_write(&path, text.as_bytes())?;
    }
    if !content.events.is_empty() {
        let store = Store::new(folder.path().to_owned(), folder.id().clone());
        let mut ledger = store.lock(Duration::ZERO)?;
        ledger.append(content.events, now)?;
        if !ledger.state().notes.is_empty() {
            file::atomic_write(&folder.file(NOTEPAD), notepad::render(ledger.state()).as_bytes())?;
        }
    }
    Ok(file::atomic_write(&folder.file(TASKS), content.tasks.as_bytes())?)
}

/// The plans that were imported from the same before: from `path` in the format `from`.
///
/// # Errors
/// When the plans can't be listed; one whose record can't be read is none of them.
pub fn earlier(plans: &Plans, from: &str, path: &str) -> Result<Vec<PlanId>, PlanError> {
    #[derive(Deserialize)]
    struct Read {
        from: String,
        path: String,
    }
    let is_same = |id: &PlanId| {
        let folder = plans.open(id).ok()?;
        let text = file::read_text(&folder.file(ORIGIN), ORIGIN_CAP).ok()?;
        let read: Read = serde_json::from_str(&text).ok()?;
        (read.from == from && read.path == path).then_some(())
    };
    Ok(plans.list()?.into_iter().filter(|id| is_same(id).is_some()).collect())
}

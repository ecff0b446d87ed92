//! The archive: plans that are put away. Nothing is deleted; a folder is renamed, and says since when.
//!
//! What is about to be moved is written down first, in a marker beside the archived plans, and the marker then
//! becomes the record in the moved folder. So each step is one rename, and whoever finds a marker whose writer is gone
//! knows what is left to do.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fp_core::hint::{ErrorEnd, Hint};
use fp_core::plan::id::PlanId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{PlanError, PlanFolder, Plans};
use crate::file::{self, FileError};
use crate::repo::HOME;
use crate::store::{Store, StoreError, acquire};

/// Name of the record in an archived plan's folder.
pub const ARCHIVED: &str = "archived.json";
/// Name of the folder of archived plans.
const ARCHIVE: &str = "archive";
/// Name of the marker in it.
const MOVING: &str = "moving.json";
/// Name of the lock in it.
const LOCK: &str = "lock";
/// Largest record that is read, in bytes.
const CAP: u64 = 64 * 1024;
/// Version of the record.
const VERSION: u32 = 1;

/// Why a plan was not archived. It is where it was.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Its run is on.
    #[error("the run of {0} is on: it is not archived")]
    Running(PlanId),
    /// Working trees are left in it, which git knows by their place.
    #[error("{} has working trees in it, which would be lost to git", path.display())]
    Worktrees {
        /// The folder that has them.
        path: PathBuf,
    },
    /// The archive has a plan of that name.
    #[error("there is an archived plan in {} already", path.display())]
    Taken {
        /// Its folder.
        path: PathBuf,
    },
    /// The archive is on another disk.
    #[error("{} is on another disk than the plans: a folder can't be renamed into it", path.display())]
    OtherDisk {
        /// The archive.
        path: PathBuf,
    },
    /// The archive can't be used.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Its log can't be read, or another process has its lock.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Hint for ArchiveError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Running(plan) => Some(format!("`fp cancel {plan}` ends the run first").into()),
            Self::Worktrees { .. } => {
                Some("`git worktree list` shows them, `git worktree remove` takes one away".into())
            }
            Self::Taken { .. } => Some("give the folder of that plan another name".into()),
            Self::OtherDisk { .. } => Some("put the archive, or `plansDir`, on the same disk".into()),
            Self::Plan(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }

    fn ends(&self) -> ErrorEnd {
        match self {
            Self::Running(_) | Self::Worktrees { .. } | Self::Taken { .. } => ErrorEnd::Refused,
            Self::OtherDisk { .. } | Self::Plan(_) | Self::Store(_) => ErrorEnd::Failed,
        }
    }
}

impl From<FileError> for ArchiveError {
    fn from(error: FileError) -> Self {
        Self::Plan(error.into())
    }
}

/// What became of an archiving that was interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resumed {
    /// The plan is archived now.
    Archived(PlanId),
    /// It is where it was, and stays there, since its run is on again, or its place is taken.
    Undone(PlanId),
}

/// Record and marker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    schema_version: u32,
    plan_id: PlanId,
    archived_at: Timestamp,
    /// The folder that it was in, which is where it can be put back.
    from: String,
}

impl PlanFolder {
    /// When it was archived, as far as its record says so.
    #[must_use]
    pub fn archived_at(&self) -> Option<Timestamp> {
        let text = file::read_text(&self.file(ARCHIVED), CAP).ok()?;
        serde_json::from_str::<Record>(&text).ok().map(|record| record.archived_at)
    }
}

impl Plans {
    /// The archived plans of the repository.
    #[must_use]
    pub fn archived(&self) -> Self {
        Self { root: self.root.clone(), dir: self.root.join(HOME).join(ARCHIVE) }
    }

    /// Whether the archive has something of that name.
    pub(super) fn is_archived(&self, id: &PlanId) -> bool {
        fs::symlink_metadata(self.archived().dir.join(id.as_str())).is_ok()
    }

    /// Moves `plan` to the archive, and says where it is then. Waits up to `patience` for whoever has its lock.
    pub fn archive(
        &self,
        plan: &PlanFolder,
        at: Timestamp,
        patience: Duration,
    ) -> Result<PathBuf, ArchiveError> {
        let archive = self.archived();
        archive.make_bare_dir()?;
        let store = Store::new(plan.path().to_owned(), plan.id().clone());
        let _alone = acquire(&archive.dir.join(LOCK), patience)?;
        let ignore = archive.dir.join(".gitignore");
        if fs::symlink_metadata(&ignore).is_err() && archive.list()?.is_empty() {
            file::replace(&ignore, b"*\n")?;
        }
        let ledger = store.lock(patience)?;
        if ledger.state().is_running() {
            return Err(ArchiveError::Running(plan.id().clone()));
        }
        let worktrees = plan.file("worktrees");
        if fs::read_dir(&worktrees).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(ArchiveError::Worktrees { path: worktrees });
        }
        let target = archive.dir.join(plan.id().as_str());
        if self.is_archived(plan.id()) {
            return Err(ArchiveError::Taken { path: target });
        }
        let from = self.dir.strip_prefix(&self.root).unwrap_or(&self.dir).display().to_string();
        let record = Record { schema_version: VERSION, plan_id: plan.id().clone(), archived_at: at, from };
        let text = serde_json::to_string_pretty(&record).expect("a record has text keys and plain values");
        let marker = archive.dir.join(MOVING);
        file::replace(&marker, (text + "\n").as_bytes())?;
        if let Err(error) = fs::rename(plan.path(), &target) {
            drop(fs::remove_file(&marker));
            return Err(match error.kind() {
                io::ErrorKind::CrossesDevices => ArchiveError::OtherDisk { path: archive.dir },
                _ => FileError::Write { path: target, source: error }.into(),
            });
        }
        archive.settle(&marker, &target, &self.dir)?;
        Ok(target)
    }

    /// Whether a plan is being archived, or was when that was interrupted.
    #[must_use]
    pub fn is_archiving(&self) -> bool {
        fs::symlink_metadata(self.archived().dir.join(MOVING)).is_ok()
    }

    /// Ends an archiving that was interrupted, if there is one and nobody is at it.
    pub fn resume_archiving(&self) -> Result<Option<Resumed>, ArchiveError> {
        let archive = self.archived();
        let marker = archive.dir.join(MOVING);
        if fs::symlink_metadata(&marker).is_err() || !archive.dir_is_inside()? {
            return Ok(None);
        }
        let _alone = match acquire(&archive.dir.join(LOCK), Duration::ZERO) {
            Ok(lock) => lock,
            Err(StoreError::Locked { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some(text) = file::read_text_if_there(&marker, CAP)? else { return Ok(None) };
        let undo =
            || fs::remove_file(&marker).map_err(|source| FileError::Write { path: marker.clone(), source });
        // A power cut can leave an empty one.
        let Ok(Record { plan_id, .. }) = serde_json::from_str::<Record>(&text) else {
            undo()?;
            return Ok(None);
        };
        let target = archive.dir.join(plan_id.as_str());
        match self.open(&plan_id) {
            // It was moved already.
            Err(PlanError::NotFound { .. }) if target.is_dir() => {}
            Ok(plan) if !self.is_archived(&plan_id) => {
                let store = Store::new(plan.path().to_owned(), plan_id.clone());
                let ledger = match store.lock(Duration::ZERO) {
                    Ok(ledger) => ledger,
                    Err(StoreError::Locked { .. }) => return Ok(None),
                    Err(error) => return Err(error.into()),
                };
                if ledger.state().is_running() {
                    undo()?;
                    return Ok(Some(Resumed::Undone(plan_id)));
                }
                fs::rename(plan.path(), &target)
                    .map_err(|source| FileError::Write { path: target.clone(), source })?;
            }
            _ => {
                undo()?;
                return Ok(Some(Resumed::Undone(plan_id)));
            }
        }
        archive.settle(&marker, &target, &self.dir)?;
        Ok(Some(Resumed::Archived(plan_id)))
    }

    /// Makes the marker the record of the plan in `target`, which came from the folder `from`.
    fn settle(&self, marker: &Path, target: &Path, from: &Path) -> Result<(), FileError> {
        let record = target.join(ARCHIVED);
        let settled = fs::rename(marker, &record)
            .and_then(|()| file::sync_folder(&self.dir))
            .and_then(|()| file::sync_folder(from));
        settled.map_err(|source| FileError::Write { path: record, source })
    }
}

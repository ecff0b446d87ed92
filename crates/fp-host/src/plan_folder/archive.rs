//! Archives plans without deleting anything: writes the time into the plan's folder, then renames the folder into the
//! archive. If the process is killed before the rename, nothing is archived.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use fp_plan::plan::id::PlanId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{IGNORE, PlanFolder, Plans};
use crate::error::{HostError, HostResult};
use crate::file;
use crate::file::acquire;
use crate::platform;
use crate::repo::HOME;
use crate::store::Store;

/// The record in an archived plan's folder.
pub const ARCHIVED: &str = "archived.json";
const ARCHIVE: &str = "archive";
const LOCK: &str = "lock";
/// Size limit of the record, in bytes.
const CAP: u64 = 64 * 1024;
const VERSION: u32 = 1;

/// The content of [`ARCHIVED`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    schema_version: u32,
    archived_at: Timestamp,
}

impl PlanFolder {
    /// The time of archiving, if the record can be read.
    pub fn archived_at(&self) -> Option<Timestamp> {
        let text = file::read_text(&self.file(ARCHIVED), CAP).ok()?;
        serde_json::from_str::<Record>(&text)
            .ok()
            .map(|record| record.archived_at)
    }
}

impl Plans {
    pub fn archived(&self) -> Self {
        Self {
            root: self.root.clone(),
            dir: self.root.join(HOME).join(ARCHIVE),
        }
    }

    /// True if the archive has an entry with that name.
    pub(super) fn is_archived(&self, id: &PlanId) -> bool {
        fs::symlink_metadata(self.archived().dir.join(id.as_str())).is_ok()
    }

    /// Moves `plan` to the archive and returns its new path. Waits up to `patience` for the holder of its
    /// lock.
    pub fn archive(
        &self,
        plan: &PlanFolder,
        at: Timestamp,
        patience: Duration,
    ) -> HostResult<PathBuf> {
        let archive = self.archived();
        archive.make_bare_dir()?;
        let store = Store::new(plan.path().to_owned(), plan.id().clone());
        let _alone = acquire(&archive.dir.join(LOCK), patience)?;
        if archive.is_unignored()? {
            // Written while holding the lock, so that the next process can clean up after a kill.
            file::replace(&archive.dir.join(IGNORE), b"*\n")?;
        }
        let ledger = store.lock(patience)?;
        // In a clone that hasn't joined a shared plan, the plan's run counts as over.
        let is_elsewhere =
            ledger.state().is_shared() && store.membership().is_ok_and(|member| member.is_none());
        if ledger.state().is_running() && !is_elsewhere {
            let said = format!("the run of {} is on: it is not archived", plan.id());
            return Err(HostError::refused(said)
                .with_hint(format_args!("`fp cancel {}` ends the run first", plan.id())));
        }
        let worktrees = plan.file("worktrees");
        if fs::read_dir(&worktrees).is_ok_and(|mut entries| entries.next().is_some()) {
            // Git finds worktrees by path, so moving them would lose them.
            let worktrees = worktrees.display();
            return Err(HostError::refused(format_args!(
                "{worktrees} has working trees in it, which would be lost to git"
            ))
            .with_hint("`git worktree list` shows them, `git worktree remove` takes one away"));
        }
        let record = Record {
            schema_version: VERSION,
            archived_at: at,
        };
        let text = serde_json::to_string_pretty(&record).expect("a record has text keys");
        let written = plan.file(ARCHIVED);
        file::replace(&written, (text + "\n").as_bytes())?;
        archive
            .take_in(plan, self)
            .inspect_err(|_| drop(fs::remove_file(&written)))
    }

    /// Moves the archived `plan` back into the plans folder. Waits up to `patience` for other processes that are moving
    /// plans.
    pub fn restore(&self, plan: &PlanFolder, patience: Duration) -> HostResult<PathBuf> {
        self.make_dir()?;
        let archive = self.archived();
        let _alone = acquire(&archive.dir.join(LOCK), patience)?;
        let target = self.take_in(plan, &archive)?;
        // If the process is killed before this line, only a date is left behind, which nothing reads.
        drop(fs::remove_file(target.join(ARCHIVED)));
        Ok(target)
    }

    /// Moves the folder of `plan` from `from` into this plans folder. Fails if the name is taken.
    fn take_in(&self, plan: &PlanFolder, from: &Self) -> HostResult<PathBuf> {
        let target = self.dir.join(plan.id().as_str());
        if fs::symlink_metadata(&target).is_ok() {
            let said = format!("there is a plan in {} already", target.display());
            return Err(
                HostError::refused(said).with_hint("give the folder of that plan another name")
            );
        }
        fs::rename(plan.path(), &target)
            .and_then(|()| platform::sync_folder(&self.dir))
            .and_then(|()| platform::sync_folder(&from.dir))
            .map_err(HostError::writing(&target))?;
        Ok(target)
    }
}

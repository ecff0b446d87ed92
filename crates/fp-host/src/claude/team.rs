//! The client's own files of a team, as plans of fractal-planner 0.1 use them: its tasks, and the count of nudges
//! that 0.1 keeps beside the team.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fp_core::hook::legacy::{Builder, Count, NativeTask, Nudges};
use jiff::Timestamp;

use crate::file::{self, FileError};

/// Largest task and largest count that is read, in bytes.
const CAP: u64 = 1024 * 1024;

/// Where the files about one builder of a team are. Nothing of it has to exist.
#[derive(Debug, Clone)]
pub struct TeamFiles {
    tasks: PathBuf,
    count: PathBuf,
}

impl TeamFiles {
    /// The files about `builder` in the client's folder `home`.
    #[must_use]
    pub fn of(home: &Path, builder: &Builder) -> Self {
        let Builder { team, name } = builder;
        Self {
            tasks: home.join("tasks").join(team),
            count: home.join("teams").join(team).join(format!("nudge-{name}.json")),
        }
    }

    /// The tasks that are in progress. What can't be read, or is no task, is passed over: the client may be writing it.
    #[must_use]
    pub fn tasks(&self) -> Vec<NativeTask> {
        let Ok(entries) = fs::read_dir(&self.tasks) else { return Vec::new() };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .filter_map(|path| NativeTask::parse(&file::read_text(&path, CAP).ok()?))
            .collect()
    }

    /// What was counted so far; `None` where nothing was, or what is there can't be read.
    #[must_use]
    pub fn nudges(&self) -> Option<Nudges> {
        Nudges::parse(&file::read_text(&self.count, CAP).ok()?)
    }

    /// Does to the count what was decided at `now`.
    ///
    /// # Errors
    /// A file that can't be written or removed.
    pub fn keep(&self, count: &Count, now: Timestamp) -> Result<(), FileError> {
        let failed = |source| FileError::Write { path: self.count.clone(), source };
        match count {
            Count::Stays => Ok(()),
            Count::IsOver => match fs::remove_file(&self.count) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
                _ => Ok(()),
            },
            Count::Becomes(nudges) => {
                // A client that has no teams any more has no folder for them either.
                self.count.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
                file::atomic_write(&self.count, nudges.text(now).as_bytes())
            }
        }
    }
}

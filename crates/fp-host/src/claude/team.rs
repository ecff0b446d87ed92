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

/// The folder that the client keeps its own files in, as `env` says; `None` where it says nothing.
#[must_use]
pub fn client_home(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    home_on(std::env::consts::OS, env)
}

fn home_on(system: &str, env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = if system == "windows" { "USERPROFILE" } else { "HOME" };
    absolute("CLAUDE_CONFIG_DIR").or_else(|| Some(absolute(home)?.join(".claude")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_folder_of_the_client_is_where_the_system_has_it() {
        let check = |system: &str, variables: &[(&str, &str)], expect: Option<&str>| {
            let variable = |name: &str| {
                variables.iter().find(|(found, _)| *found == name).map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(home_on(system, &variable), expect.map(PathBuf::from), "{system} {variables:?}");
        };
        check("linux", &[("HOME", "/h")], Some("/h/.claude"));
        check("macos", &[("HOME", "/h")], Some("/h/.claude"));
        check("windows", &[("HOME", "/h"), ("USERPROFILE", "/u")], Some("/u/.claude"));
        check("windows", &[("HOME", "/h")], None);
        check("linux", &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c")], Some("/c"));
        check("linux", &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "c")], Some("/h/.claude"));
        check("linux", &[], None);
    }
}

//! The log of debts on the disk: `.fractal-planner/debt.jsonl` of the main checkout, which is the user's to commit. Its
//! lines are only ever appended, so whatever else is in them stays.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fp_core::debt::{Entry, VERSION};
use fp_core::hint::Hint;

use crate::file::FileError;
use crate::plan_folder::{PlanError, Plans};
use crate::repo::{HOME, Repo};
use crate::store::reader::{line_version, whole_lines};
use crate::store::{StoreError, acquire, append_at, io_error, mend, open, torn_off};

/// Path of the log in a repository.
pub const DEBTS: &str = ".fractal-planner/debt.jsonl";
/// Name of its lock, in the folder of plans, which git ignores.
const LOCK: &str = "debt.lock";

/// Why the debts can't be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DebtError {
    /// A line is none of this log.
    #[error("{}:{line}: not a debt: {detail}", path.display())]
    Line {
        /// The log.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        detail: String,
    },
    /// A line was written by a newer version.
    #[error("{}:{line}: written by a newer fp (version {version} of debts, this fp reads {VERSION})", path.display())]
    Newer {
        /// The log.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Its version.
        version: u32,
    },
    /// The file can't be used, or another process has the lock.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder that it is in can't be used.
    #[error(transparent)]
    Folder(#[from] FileError),
    /// The folder that its lock is in can't be used.
    #[error(transparent)]
    Plans(#[from] PlanError),
}

impl Hint for DebtError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Line { path, line, .. } => Some(format!(
                "mend or remove line {line} of {}: every line is one JSON object; `fp help roadmap` has the form",
                path.display()
            ).into()),
            Self::Newer { .. } => Some("update fp: `fp --version` says what this one is".into()),
            Self::Store(error) => error.hint(),
            Self::Folder(error) => error.hint(),
            Self::Plans(error) => error.hint(),
        }
    }
}

/// The log of debts of a repository; the file need not exist.
#[derive(Debug)]
pub struct DebtLog<'r> {
    repo: &'r Repo,
    plans: Plans,
    path: PathBuf,
}

/// The log as it was read.
#[derive(Debug, Default)]
pub struct Read {
    /// Its lines, oldest first.
    pub entries: Vec<Entry>,
    /// What was found that is worth a line to the user, such as a torn last line.
    pub notices: Vec<String>,
    bytes: u64,
    whole: u64,
    unended: bool,
}

impl<'r> DebtLog<'r> {
    /// The log of `repo`, whose plans are `plans`. Touches nothing.
    #[must_use]
    pub fn of(repo: &'r Repo, plans: Plans) -> Self {
        Self { repo, plans, path: repo.root.join(DEBTS) }
    }

    /// What it says; nothing where there is no such file. Fails on a line that is none of this log.
    pub fn read(&self) -> Result<Read, DebtError> {
        let mut bytes = Vec::new();
        if let Some(mut log) = open(&self.path, OpenOptions::new().read(true))? {
            log.read_to_end(&mut bytes).map_err(io_error(&self.path))?;
        }
        let whole = whole_lines(&bytes);
        let mut read = Read { bytes: bytes.len() as u64, whole: whole as u64, ..Read::default() };
        for (i, line) in bytes[..whole].split(|byte| *byte == b'\n').enumerate() {
            read.entries.extend(entry(&self.path, i + 1, line)?);
        }
        read.unended = bytes[..whole].last().is_some_and(|last| *last != b'\n');
        if read.whole < read.bytes {
            read.notices.push(torn_off(&self.path, read.bytes - read.whole));
        }
        Ok(read)
    }

    /// Appends the lines that `decide` makes of those that there are, all or none of them, and waits up to `patience`
    /// for a process that does the same. When this returns they are on the disk. Hands on what else `decide` says.
    pub fn append<T, E: From<DebtError>>(
        &self,
        patience: Duration,
        decide: impl FnOnce(Read) -> Result<(Vec<Entry>, T), E>,
    ) -> Result<T, E> {
        let prepare = || -> Result<_, DebtError> {
            self.repo.make_folder(HOME)?;
            self.plans.make_dir()?;
            let lock = acquire(&self.plans.dir().join(LOCK), patience)?;
            Ok((lock, self.read()?))
        };
        let (_lock, read) = prepare()?;
        let (bytes, whole, unended) = (read.bytes, read.whole, read.unended);
        let (entries, said) = decide(read)?;
        if !entries.is_empty() {
            let end = if unended || whole < bytes {
                mend(&self.path, whole, unended).map_err(DebtError::from)?.bytes
            } else {
                bytes
            };
            self.write(end, &entries)?;
        }
        Ok(said)
    }

    fn write(&self, end: u64, entries: &[Entry]) -> Result<(), DebtError> {
        let mut lines = Vec::new();
        for entry in entries {
            serde_json::to_writer(&mut lines, entry).map_err(|error| io_error(&self.path)(error.into()))?;
            lines.push(b'\n');
        }
        append_at(&self.path, end, &lines)?;
        Ok(())
    }
}

/// The entry on line `number` (from 1); `None` for an empty line.
fn entry(path: &Path, number: usize, line: &[u8]) -> Result<Option<Entry>, DebtError> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let newer = line_version(line).filter(|version| *version > VERSION);
    match (newer, serde_json::from_slice(line)) {
        (Some(version), _) => Err(DebtError::Newer { path: path.to_owned(), line: number, version }),
        (None, Ok(entry)) => Ok(Some(entry)),
        (None, Err(error)) => {
            Err(DebtError::Line { path: path.to_owned(), line: number, detail: error.to_string() })
        }
    }
}

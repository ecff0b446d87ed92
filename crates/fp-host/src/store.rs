//! The ledger of a plan on disk: `events.jsonl`, its lock, and the snapshot derived from it.
//!
//! Every change is lock → replay → decide → append and sync → snapshot → unlock. The log is the truth; the
//! snapshot only spares reading it again, and is believed exactly as long as the log still has the length and
//! the modification time that it was taken at.

pub(crate) mod reader;
mod snapshot;

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use fp_plan::hint::Hint;
use fp_plan::plan::id::PlanId;
use fp_run::run::State;
use fp_run::run::event::{Entry, Event, LOG_VERSION};
use jiff::Timestamp;

pub use self::reader::{ExaminedLedger, ExaminedLog, ExaminedSnapshot, LogLine, LogReader, Past, Portion};
use self::reader::{line_entry, whole_lines};
pub(crate) use self::snapshot::LogMark;

use crate::file::{self, FileError};

/// Name of the event log in a plan's folder.
pub const LOG: &str = "events.jsonl";
/// Name of the snapshot in a plan's folder.
pub const SNAPSHOT: &str = "execution-state.json";
const LOCK: &str = "lock";

/// What is wrong with a ledger.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file can't be read or written.
    #[error("{} can't be used: {}", path.display(), file::reason(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A link, a folder or a pipe stands where a file of the ledger should be.
    #[error(transparent)]
    Foreign(FileError),
    /// A line of the log is not an event.
    #[error("{}:{line}: not an entry of this log: {detail}", path.display())]
    Line {
        /// The log.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        detail: String,
    },
    /// A line of the log was written by a newer version.
    #[error("{}:{line}: written by a newer fp (log version {version}, this fp reads {LOG_VERSION})", path.display())]
    Newer {
        /// The log.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Its version.
        version: u32,
    },
    /// Another process holds the lock.
    #[error("{} is held{} and was not given back within {seconds} s", path.display(), holder.as_ref().map(|h| format!(" by process {h}")).unwrap_or_default())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// Who holds it, as far as it said.
        holder: Option<String>,
        /// How long was waited.
        seconds: u64,
    },
}

impl Hint for StoreError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Io { source, .. } => {
                file::advice(source).unwrap_or("check that the folder exists and may be written to").into()
            }
            Self::Foreign(_) => {
                "move what is in its place out of the way, and put the file back if you have it".into()
            }
            Self::Line { path, line, .. } => format!(
                "mend or remove line {line} of {}: every line is one JSON object, numbered by `seq`",
                path.display()
            )
            .into(),
            Self::Newer { .. } => "update fp: `fp --version` says what this one is".into(),
            Self::Locked { .. } => {
                "wait for the other command to end, or end it; a lock dies with its process".into()
            }
        })
    }
}

pub(crate) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> StoreError + '_ {
    move |source| StoreError::Io { path: path.to_owned(), source }
}

/// The ledger of one plan. Reading needs no lock; [`Store::lock`] gives the right to append.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    plan_id: PlanId,
    /// What was read last: a command looks at its plan several times, and nobody else is there most of the time.
    known: Mutex<Option<Loaded>>,
}

/// A state as it was read, and what had to be said about reading it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The state.
    pub state: Arc<State>,
    /// What was found that is worth a line to the user, such as a torn last line.
    pub notices: Vec<String>,
    mark: LogMark,
    /// Bytes of the log that are whole lines; the rest is torn.
    whole: u64,
    /// Whether the last of those lines lacks its end.
    unended: bool,
    /// Whether the log had to be read, since no snapshot of it as it is was there.
    replayed: bool,
}

impl Loaded {
    /// Of a log that is whole, with a snapshot of it or one under way.
    const fn in_order(state: Arc<State>, mark: LogMark) -> Self {
        Self { state, notices: Vec::new(), mark, whole: mark.bytes, unended: false, replayed: false }
    }
}

impl Store {
    /// The ledger in the plan folder `folder`, which need not have one yet.
    pub fn new(folder: PathBuf, plan_id: PlanId) -> Self {
        Self { folder, plan_id, known: Mutex::new(None) }
    }

    /// The plan's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn log(&self) -> PathBuf {
        self.folder.join(LOG)
    }

    /// The state as the log has it now. Fails on a log that can't be read, or that has a line that is no entry.
    pub fn load(&self) -> Result<Loaded, StoreError> {
        let path = self.log();
        let log = open(&path, OpenOptions::new().read(true))?;
        let mark = log.as_ref().map_or(Ok(LogMark::default()), LogMark::of).map_err(io_error(&path))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = known.as_ref().filter(|loaded| loaded.mark == mark) {
            return Ok(loaded.clone());
        }
        Ok(known.insert(self.read(&path, log, mark)?).clone())
    }

    fn remember(&self, loaded: Option<Loaded>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = loaded;
    }

    /// The state as the snapshot has it, if that is of the log as `mark` shows it, else as the log adds up to it.
    fn read(&self, path: &Path, log: Option<File>, mark: LogMark) -> Result<Loaded, StoreError> {
        let written = match snapshot::stored(&self.folder.join(SNAPSHOT), &self.plan_id) {
            Some((taken_at, state)) if taken_at == mark && log.is_some() => {
                return Ok(Loaded::in_order(Arc::new(state), mark));
            }
            Some((_, state)) => state.seq,
            None => 0,
        };
        let replayed = log.is_some();
        let mut text = Vec::new();
        if let Some(mut log) = log {
            log.read_to_end(&mut text).map_err(io_error(path))?;
        }
        let (state, whole) = replay(path, &self.plan_id, &text)?;
        let mut notices = Vec::new();
        if whole < text.len() {
            notices.push(torn_off(path, (text.len() - whole) as u64));
        }
        if state.seq < written {
            notices.push(cut_back(path, state.seq, written));
        }
        let unended = text[..whole].last().is_some_and(|last| *last != b'\n');
        Ok(Loaded { state: Arc::new(state), notices, mark, whole: whole as u64, unended, replayed })
    }

    /// Takes the right to append; waits up to `patience` for a process that has it. It is given back when
    /// the result is dropped, or its process ends in whatever way.
    pub fn lock(&self, patience: Duration) -> Result<Ledger<'_>, StoreError> {
        let lock = acquire(&self.folder.join(LOCK), patience)?;
        let mut loaded = self.load()?;
        if loaded.unended || loaded.whole < loaded.mark.bytes {
            let path = self.log();
            loaded.mark = mend(&path, loaded.whole, loaded.unended)?;
        }
        // Its writer was killed before it could.
        let snapshot_due = loaded.replayed;
        Ok(Ledger { store: self, loaded, snapshot_due, _lock: lock })
    }
}

/// Opens a file of the ledger; `None` where it is not there and is not to be made. A link is not followed, since what
/// is written would go where it leads, and a pipe not waited for.
pub(crate) fn open(path: &Path, options: &OpenOptions) -> Result<Option<File>, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            return Err(StoreError::Foreign(FileError::Link { path: path.to_owned() }));
        }
        Ok(found) if !found.is_file() => {
            return Err(StoreError::Foreign(FileError::NotAFile { path: path.to_owned() }));
        }
        _ => {}
    }
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path)(error)),
    }
}

/// Drops what is behind the first `whole` bytes of a log, a torn line, or ends a last line that lacks nothing but that.
pub(crate) fn mend(path: &Path, whole: u64, unended: bool) -> Result<LogMark, StoreError> {
    let mended = || {
        let mut log = OpenOptions::new().write(true).open(path)?;
        log.set_len(whole)?;
        if unended {
            log.seek(SeekFrom::End(0))?;
            log.write_all(b"\n")?;
        }
        log.sync_all()?;
        LogMark::of(&log)
    };
    mended().map_err(io_error(path))
}

/// Writes `lines` at the end of a log, which is at `before`. When this returns they are on the disk; when it fails the
/// log is as it was before.
pub(crate) fn append_at(path: &Path, before: u64, lines: &[u8]) -> Result<LogMark, StoreError> {
    let mut log =
        OpenOptions::new().create(true).write(true).truncate(false).open(path).map_err(io_error(path))?;
    if before == 0 {
        // A new file is there after a power cut only once its folder has been written.
        let folder = path.parent().unwrap_or(path);
        file::sync_folder(folder).map_err(io_error(folder))?;
    }
    let written =
        log.seek(SeekFrom::Start(before)).and_then(|_| log.write_all(lines)).and_then(|()| log.sync_data());
    if let Err(e) = written {
        // What is left behind, should this fail as well, is a torn line, which the next open drops.
        drop(log.set_len(before));
        return Err(io_error(path)(e));
    }
    LogMark::of(&log).map_err(io_error(path))
}

/// Takes an advisory lock on `path`, which is made if it isn't there; waits up to `patience`. The lock is given
/// back when the file is dropped, or the process ends. Fails with [`StoreError::Locked`] in the end.
pub fn acquire(path: &Path, patience: Duration) -> Result<File, StoreError> {
    let file = open(path, OpenOptions::new().read(true).write(true).create(true).truncate(false))?;
    let file = file.ok_or_else(|| io_error(path)(io::ErrorKind::NotFound.into()))?;
    let mut file = match file.try_lock() {
        Ok(()) => file,
        Err(TryLockError::Error(e)) => return Err(io_error(path)(e)),
        Err(TryLockError::WouldBlock) => wait_for(file, path, patience)?,
    };
    let id = std::process::id().to_string();
    // A disk too full for ten digits must not keep anybody from the lock.
    drop(file.set_len(0).and_then(|()| file.write_all(id.as_bytes())));
    Ok(file)
}

/// Waits in the system's queue, where nobody is overtaken for ever as a process that asks again and again is.
/// The queue knows no time limit, so a thread stands in it; should the limit come first, it ends with the process.
fn wait_for(file: File, path: &Path, patience: Duration) -> Result<File, StoreError> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let locked = file.lock().map(|()| file);
        // Nobody is listening any more when the time was over first.
        drop(sender.send(locked));
    });
    match receiver.recv_timeout(patience) {
        Ok(locked) => locked.map_err(io_error(path)),
        Err(_) => {
            let holder = fs::read_to_string(path).unwrap_or_default().trim().to_owned();
            let holder = Some(holder).filter(|h| !h.is_empty() && h.len() < 20);
            Err(StoreError::Locked { path: path.to_owned(), holder, seconds: patience.as_secs() })
        }
    }
}

pub(crate) fn torn_off(path: &Path, bytes: u64) -> String {
    format!("{}: the last line was torn off while it was written ({bytes} bytes): dropped", path.display())
}

fn cut_back(path: &Path, seq: u64, written: u64) -> String {
    format!(
        "{}: it ends at entry {seq}, and {written} were written: put the file back if you have it, since what it says \
         counts",
        path.display()
    )
}

/// Folds a log. The second value is how many bytes are whole lines.
fn replay(path: &Path, plan_id: &PlanId, text: &[u8]) -> Result<(State, usize), StoreError> {
    let mut state = State::new(plan_id.clone());
    let whole = whole_lines(text);
    for (i, line) in text[..whole].split(|b| *b == b'\n').enumerate() {
        if let Some(entry) = line_entry(path, i + 1, line, state.seq + 1)? {
            state.apply(&entry);
        }
    }
    Ok((state, whole))
}

/// A ledger that may be appended to, as long as it lives.
#[derive(Debug)]
pub struct Ledger<'a> {
    store: &'a Store,
    loaded: Loaded,
    /// Whether the snapshot is behind the log. It is brought up to date once, before the lock is given back.
    snapshot_due: bool,
    _lock: File,
}

impl Drop for Ledger<'_> {
    fn drop(&mut self) {
        if self.snapshot_due {
            snapshot::write(&self.store.folder.join(SNAPSHOT), self.loaded.mark, &self.loaded.state);
        }
    }
}

impl Ledger<'_> {
    /// The state, with all that was appended.
    pub fn state(&self) -> &State {
        &self.loaded.state
    }

    /// The state, and the lock given back.
    pub fn into_state(self) -> Arc<State> {
        Arc::clone(&self.loaded.state)
    }

    /// What was found on opening that is worth a line to the user.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// The state as it will be when `events` have been appended.
    pub fn after(&self, events: &[Event], now: Timestamp) -> State {
        let mut state = State::clone(&self.loaded.state);
        state.apply(&self.entry(events.to_vec(), now));
        state
    }

    fn entry(&self, events: Vec<Event>, now: Timestamp) -> Entry {
        let state = &self.loaded.state;
        let at = state.last_at.map_or(now, |last| last.max(now));
        Entry { schema_version: LOG_VERSION, seq: state.seq + 1, at, events }
    }

    /// Appends `events`, all or none of them. When this returns they are on the disk; when it fails the log is as it
    /// was before.
    pub fn append(&mut self, events: Vec<Event>, now: Timestamp) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        let entry = self.entry(events, now);
        let mut line = serde_json::to_vec(&entry).map_err(|e| io_error(&self.store.log())(e.into()))?;
        line.push(b'\n');
        self.loaded.mark = append_at(&self.store.log(), self.loaded.mark.bytes, &line)?;
        // What was read before is of no use any more, and would be copied for the sake of it.
        self.store.remember(None);
        Arc::make_mut(&mut self.loaded.state).apply(&entry);
        self.snapshot_due = true;
        let Loaded { state, mark, .. } = &self.loaded;
        self.store.remember(Some(Loaded::in_order(Arc::clone(state), *mark)));
        Ok(())
    }
}

#[cfg(test)]
mod tests;

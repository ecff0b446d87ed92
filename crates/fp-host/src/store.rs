//! The ledger of a plan on disk must survive kills and power cuts: `events.jsonl`, its lock, and the snapshot
//! derived from it.
//!
//! Every change is lock → replay → decide → append and sync → snapshot → unlock. The log is the truth. The
//! snapshot only saves reading it again, and is valid only while the log has the length and modification time
//! recorded with it.

mod chain;
pub(crate) mod reader;
mod shared;
mod snapshot;

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use fp_plan::hint::{Exit, Hint};
use fp_plan::plan::id::PlanId;
use fp_run::run::State;
use fp_run::run::event::{Entry, Event, LOG_VERSION, SHARED_LOG_VERSION};
use jiff::Timestamp;

use self::chain::Chain;
pub use self::chain::log_of_user;
pub(crate) use self::reader::line_version;
pub use self::reader::{
    ExaminedLedger, ExaminedLog, ExaminedSnapshot, LogLine, LogReader, Past, Portion,
};
use self::reader::{line_entry, whole_lines};
pub use self::shared::Synced;
use self::shared::Waiting;
pub(crate) use self::snapshot::LogMark;

use crate::file::{self, FileError};
use crate::fleet::FleetError;
use crate::platform;
use crate::trust::{self, MachineKey, TrustError};

pub const LOG: &str = "events.jsonl";
pub const SNAPSHOT: &str = "execution-state.json";
const LOCK: &str = "lock";
/// Start of the name of a folder with a log that somebody else wrote.
pub(crate) const FOREIGN: &str = "foreign";
const MADE_FROM_LOG: [&str; 3] = [SNAPSHOT, "notepad.md", "evidence"];

/// Size limit of the log and of the snapshot, in bytes: some 100,000 entries.
const LEDGER_CAP: u64 = 64 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{} can't be used: {}", path.display(), file::reason(source))]
    Io { path: PathBuf, source: io::Error },
    /// A link, a folder, a pipe or something far too large is in the place of a file of the ledger.
    #[error(transparent)]
    Foreign(FileError),
    #[error("{}:{line}: not an entry of this log: {detail}", path.display())]
    Line {
        path: PathBuf,
        /// From 1.
        line: usize,
        detail: String,
    },
    #[error("{}:{line}: written by a newer fp (log version {version}, this fp reads {SHARED_LOG_VERSION})", path.display())]
    Newer {
        path: PathBuf,
        /// From 1.
        line: usize,
        /// The line's version.
        version: u32,
    },
    /// Another process holds the lock.
    #[error("{} is held{} and was not given back within {seconds} s", path.display(), holder.as_ref().map(|h| format!(" by process {h}")).unwrap_or_default())]
    Locked {
        path: PathBuf,
        /// The holder's process id, if the file has one.
        holder: Option<String>,
        /// The time waited.
        seconds: u64,
    },
    /// The plan is shared, and what other machines have to agree to did not happen.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// This machine's key, or the user's trust store, can't be used.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl Hint for StoreError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Io { source, .. } => {
                file::advice(source).unwrap_or("check that the folder exists and may be written to").into()
            }
            Self::Fleet(error) => return error.hint(),
            Self::Trust(error) => return error.hint(),
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

    fn ends(&self) -> Exit {
        match self {
            Self::Fleet(error) => error.ends(),
            Self::Trust(error) => error.ends(),
            Self::Io { .. }
            | Self::Foreign(_)
            | Self::Line { .. }
            | Self::Newer { .. }
            | Self::Locked { .. } => Exit::Failed,
        }
    }
}

pub(crate) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> StoreError + '_ {
    move |source| StoreError::Io {
        path: path.to_owned(),
        source,
    }
}

/// The ledger of one plan. Reading needs no lock; [`Store::lock`] gives the right to append.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    plan_id: PlanId,
    /// The last state read: a command looks at its plan several times, and usually nobody else writes.
    known: Mutex<Option<Loaded>>,
}

/// A state and the notices from reading it.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub state: Arc<State>,
    /// Notices for the user, such as a torn last line.
    pub notices: Vec<String>,
    mark: LogMark,
    /// The code of the log's last line.
    code: String,
    /// Length of the log's whole lines in bytes; the rest is torn.
    whole: u64,
    /// True if the last of those lines lacks its newline.
    unended: bool,
    /// True if the log was replayed, for want of a snapshot that matches it.
    replayed: bool,
    /// What the state has beyond the log, in a shared plan.
    waiting: Waiting,
}

impl Loaded {
    /// The state of an intact log that has, or is about to get, a snapshot.
    const fn in_order(state: Arc<State>, mark: LogMark, code: String) -> Self {
        let waiting = Waiting::NONE;
        Self {
            state,
            notices: Vec::new(),
            mark,
            code,
            whole: mark.bytes,
            unended: false,
            replayed: false,
            waiting,
        }
    }
}

impl Store {
    /// The ledger in the plan folder `folder`, which need not have one yet.
    pub fn new(folder: PathBuf, plan_id: PlanId) -> Self {
        Self {
            folder,
            plan_id,
            known: Mutex::new(None),
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn log(&self) -> PathBuf {
        self.folder.join(LOG)
    }

    /// The current state of the log. Fails if the log can't be read or a line is no entry.
    pub fn load(&self) -> Result<Loaded, StoreError> {
        let path = self.log();
        let log = open(&path, OpenOptions::new().read(true))?;
        let mark = log
            .as_ref()
            .map_or(Ok(LogMark::default()), LogMark::of)
            .map_err(io_error(&path))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = |loaded: &&Loaded| loaded.mark == mark && self.waits_still(loaded);
        if let Some(loaded) = known.as_ref().filter(is_current) {
            return Ok(loaded.clone());
        }
        let mut loaded = self.read(&path, log, mark)?;
        if loaded.state.machine.is_some() {
            self.add_waiting(&mut loaded)?;
        }
        Ok(known.insert(loaded).clone())
    }

    fn remember(&self, loaded: Option<Loaded>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = loaded;
    }

    /// Takes the state from the snapshot if it matches `mark`, else replays the log.
    fn read(&self, path: &Path, log: Option<File>, mark: LogMark) -> Result<Loaded, StoreError> {
        let key = readable_key();
        let snapshot = self.folder.join(SNAPSHOT);
        let written = match snapshot::stored(&snapshot, &self.plan_id, key.as_ref()) {
            Some((taken_at, code, state)) if taken_at == mark && log.is_some() => {
                return Ok(Loaded::in_order(Arc::new(state), mark, code));
            }
            Some((_, _, state)) => state.seq,
            None => 0,
        };
        let replayed = log.is_some();
        let mut text = Vec::new();
        if let Some(mut log) = log {
            log.read_to_end(&mut text).map_err(io_error(path))?;
        }
        let Replayed { state, whole, code } = self.replay(&text, key.as_ref())?;
        let mut notices = Vec::new();
        if whole < text.len() {
            notices.push(torn_off(path, (text.len() - whole) as u64));
        }
        if state.seq < written {
            notices.push(cut_back(path, state.seq, written));
        }
        let unended = text[..whole].last().is_some_and(|last| *last != b'\n');
        Ok(Loaded {
            state: Arc::new(state),
            notices,
            mark,
            code,
            whole: whole as u64,
            unended,
            replayed,
            waiting: Waiting::NONE,
        })
    }

    /// Folds the log in `text`.
    fn replay(&self, text: &[u8], key: Option<&MachineKey>) -> Result<Replayed, StoreError> {
        let path = self.log();
        let mut state = self.empty_state();
        let mut chain = Chain::new(key, &self.plan_id, "");
        let whole = whole_lines(text);
        for (i, line) in text[..whole].split(|b| *b == b'\n').enumerate() {
            let Some(entry) = line_entry(&path, i + 1, line, state.seq + 1)? else {
                continue;
            };
            let is_own = chain.read(line);
            state.apply_line(&entry, &chain.last, is_own);
        }
        Ok(Replayed {
            state,
            whole,
            code: chain.last,
        })
    }

    /// The key to write with, which is made if there is none.
    fn key_to_write(&self) -> Result<MachineKey, StoreError> {
        let folder = key_folder().ok_or(TrustError::NoFolder)?;
        if let Some(key) = MachineKey::read(&folder)? {
            return Ok(key);
        }
        // What was read without one counts as nobody's.
        self.remember(None);
        Ok(MachineKey::make(&folder)?)
    }

    /// The state of an empty log, as this machine sees it.
    pub fn empty_state(&self) -> State {
        // A file that can't be read is told where the remote is needed.
        let machine = self
            .membership()
            .ok()
            .flatten()
            .map(|member| member.machine);
        let mut state = State::new(self.plan_id.clone());
        state.machine = machine;
        state
    }

    /// Takes the lock for appending; waits up to `patience` for another process. The lock is released when
    /// the result is dropped or the process ends, however that happens.
    pub fn lock(&self, patience: Duration) -> Result<Ledger<'_>, StoreError> {
        let lock = acquire(&self.folder.join(LOCK), patience)?;
        let key = self.key_to_write()?;
        let mut loaded = self.load()?;
        if loaded.unended || loaded.whole < loaded.mark.bytes {
            let path = self.log();
            loaded.mark = mend(&path, loaded.whole, loaded.unended)?;
        }
        // The last writer was killed before it could write one.
        let snapshot_due = loaded.replayed;
        Ok(Ledger {
            store: self,
            key,
            loaded,
            snapshot_due,
            lock: Some(lock),
            sync: None,
        })
    }
}

/// Opens a file of the ledger; `None` if it doesn't exist and isn't to be created. Refuses links, since
/// writes would go where they lead, pipes, since opening one waits, and what is too large to be read at once.
pub(crate) fn open(path: &Path, options: &OpenOptions) -> Result<Option<File>, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            return Err(StoreError::Foreign(FileError::Link {
                path: path.to_owned(),
            }));
        }
        Ok(found) if !found.is_file() => {
            return Err(StoreError::Foreign(FileError::NotAFile {
                path: path.to_owned(),
            }));
        }
        Ok(found) if found.len() > LEDGER_CAP => {
            return Err(StoreError::Foreign(FileError::TooLarge {
                path: path.to_owned(),
                cap: LEDGER_CAP,
            }));
        }
        _ => {}
    }
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path)(error)),
    }
}

/// Cuts a torn line off after the first `whole` bytes of a log, and adds the missing newline if `unended`.
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

/// Appends `lines` to a log of `before` bytes. On success they are on the disk; on failure the log is as it
/// was.
pub(crate) fn append_at(path: &Path, before: u64, lines: &[u8]) -> Result<LogMark, StoreError> {
    let mut log = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(false)
        .open(path)
        .map_err(io_error(path))?;
    if before == 0 {
        // A new file survives a power cut only once its folder is synced.
        let folder = path.parent().unwrap_or(path);
        platform::sync_folder(folder).map_err(io_error(folder))?;
    }
    let written = log
        .seek(SeekFrom::Start(before))
        .and_then(|_| log.write_all(lines))
        .and_then(|()| log.sync_data());
    if let Err(e) = written {
        // If this fails too, it leaves a torn line, which the next open drops.
        drop(log.set_len(before));
        return Err(io_error(path)(e));
    }
    LogMark::of(&log).map_err(io_error(path))
}

/// Takes an advisory lock on `path`, creating the file if needed; waits up to `patience`, then fails with
/// [`StoreError::Locked`]. The lock is released when the file is dropped or the process ends.
pub fn acquire(path: &Path, patience: Duration) -> Result<File, StoreError> {
    let file = open(
        path,
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false),
    )?;
    let file = file.ok_or_else(|| io_error(path)(io::ErrorKind::NotFound.into()))?;
    let mut file = match file.try_lock() {
        Ok(()) => file,
        Err(TryLockError::Error(e)) => return Err(io_error(path)(e)),
        Err(TryLockError::WouldBlock) => wait_for(file, path, patience)?,
    };
    let id = std::process::id().to_string();
    // Best effort: a disk too full for ten digits must not keep anybody from the lock.
    drop(file.set_len(0).and_then(|()| file.write_all(id.as_bytes())));
    Ok(file)
}

/// Waits in the system's queue, which is fair: a process that polls can be overtaken forever. The queue knows
/// no time limit, so a thread stands in it; after a timeout that thread lasts as long as the process.
fn wait_for(file: File, path: &Path, patience: Duration) -> Result<File, StoreError> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let locked = file.lock().map(|()| file);
        // The receiver is gone if the wait timed out.
        drop(sender.send(locked));
    });
    match receiver.recv_timeout(patience) {
        Ok(locked) => locked.map_err(io_error(path)),
        Err(_) => {
            let holder = fs::read_to_string(path)
                .unwrap_or_default()
                .trim()
                .to_owned();
            let holder = Some(holder).filter(|h| !h.is_empty() && h.len() < 20);
            Err(StoreError::Locked {
                path: path.to_owned(),
                holder,
                seconds: patience.as_secs(),
            })
        }
    }
}

pub(crate) fn torn_off(path: &Path, bytes: u64) -> String {
    format!(
        "{}: the last line was torn off while it was written ({bytes} bytes): dropped",
        path.display()
    )
}

fn cut_back(path: &Path, seq: u64, written: u64) -> String {
    format!(
        "{}: it ends at entry {seq}, and {written} were written: put the file back if you have it, since what it says \
         counts",
        path.display()
    )
}

/// The folder of this machine's key.
fn key_folder() -> Option<PathBuf> {
    match cfg!(test) {
        // The user's own stays as it is.
        true => Some(std::env::temp_dir().join("fp-host-tests")),
        false => trust::trust_folder(&trust::process_variable),
    }
}

/// This machine's key. One that can't be used is told where something has to be this machine's.
fn readable_key() -> Option<MachineKey> {
    MachineKey::read(&key_folder()?).ok().flatten()
}

/// A log that was folded.
struct Replayed {
    state: State,
    /// Length of its whole lines in bytes.
    whole: usize,
    /// The code of the last line.
    code: String,
}

/// A locked ledger; events can be appended as long as it lives.
#[derive(Debug)]
pub struct Ledger<'a> {
    store: &'a Store,
    key: MachineKey,
    loaded: Loaded,
    /// True if the snapshot is behind the log. It is updated once, before the lock is released.
    snapshot_due: bool,
    /// Free while git talks with a remote.
    lock: Option<File>,
    /// The right to talk with the remote of a shared plan.
    sync: Option<File>,
}

impl Drop for Ledger<'_> {
    fn drop(&mut self) {
        if self.snapshot_due {
            snapshot::write(
                &self.store.folder.join(SNAPSHOT),
                &self.key,
                self.loaded.mark,
                &self.loaded.code,
                self.loaded.base(),
            );
        }
    }
}

impl Ledger<'_> {
    /// The state, with everything appended so far.
    pub fn state(&self) -> &State {
        &self.loaded.state
    }

    /// The state; releases the lock.
    pub fn into_state(self) -> Arc<State> {
        Arc::clone(&self.loaded.state)
    }

    /// Notices for the user from opening the log.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// Keeps a log that this machine did not write alone aside, with what was made from it, and begins an empty one. Returns
    /// the folder where it is kept; `None` for a log that is this machine's.
    ///
    /// # Errors
    /// The plan is shared, so that its log is the remote's, or the disk refuses.
    pub fn begin_anew(&mut self) -> Result<Option<PathBuf>, StoreError> {
        let Some(foreign) = TrustError::of_foreign_entry(&self.loaded.state) else {
            return Ok(None);
        };
        if self.loaded.state.is_shared() {
            return Err(foreign.into());
        }
        let folder = &self.store.folder;
        let is_free = |kept: &PathBuf| fs::symlink_metadata(kept).is_err();
        let mut names = (1..=u32::MAX).map(|number| folder.join(format!("{FOREIGN}-{number}")));
        let kept = names.find(is_free).expect("nobody has so many folders");
        fs::create_dir(&kept).map_err(io_error(&kept))?;
        // The log is the last: a kill before leaves one that is as foreign as it was.
        for name in MADE_FROM_LOG.into_iter().chain([LOG]) {
            let from = folder.join(name);
            match fs::rename(&from, kept.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(io_error(&from)(error));
                }
                _ => {}
            }
        }
        self.store.remember(None);
        self.loaded = self.store.load()?;
        Ok(Some(kept))
    }

    /// The state that appending `events` would give.
    pub fn after(&self, events: &[Event], now: Timestamp) -> State {
        let mut state = State::clone(&self.loaded.state);
        state.apply(&self.entry(events.to_vec(), now));
        state
    }

    fn entry(&self, events: Vec<Event>, now: Timestamp) -> Entry {
        let state = &self.loaded.state;
        let at = state.last_at.map_or(now, |last| last.max(now));
        let clock = Some(now).filter(|now| *now < at);
        let by = state.next_origin();
        Entry {
            schema_version: LOG_VERSION,
            seq: state.seq + 1,
            at,
            clock,
            by,
            events,
        }
    }

    /// Appends `events`, all or none. On success they are on the disk; on failure the log is as it was. Without events it
    /// writes only the clock's time, and only where the log is ahead of it.
    pub fn append(&mut self, events: Vec<Event>, now: Timestamp) -> Result<(), StoreError> {
        if events.is_empty() && !self.loaded.state.is_ahead_of(now) {
            return Ok(());
        }
        if self.loaded.state.is_shared() {
            return self.append_shared(events, now);
        }
        let entry = self.entry(events, now);
        let line = serde_json::to_vec(&entry).map_err(|e| io_error(&self.store.log())(e.into()))?;
        let mut chain = Chain::new(Some(&self.key), &self.store.plan_id, &self.loaded.code);
        let line = chain.write(&line);
        self.loaded.mark = append_at(&self.store.log(), self.loaded.mark.bytes, &line)?;
        self.loaded.code = chain.last;
        // Drops the remembered state, which is outdated and would make `make_mut` copy.
        self.store.remember(None);
        Arc::make_mut(&mut self.loaded.state).apply_line(&entry, &self.loaded.code, true);
        self.snapshot_due = true;
        let Loaded {
            state, mark, code, ..
        } = &self.loaded;
        self.store.remember(Some(Loaded::in_order(
            Arc::clone(state),
            *mark,
            code.clone(),
        )));
        Ok(())
    }
}

#[cfg(test)]
mod tests;

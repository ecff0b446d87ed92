//! The ledger of a plan on disk: `events.jsonl`, its lock, and the snapshot derived from it. It survives kills and
//! power cuts.
//!
//! Every change is lock → replay → decide → append and sync → snapshot → unlock. The log is the truth. The snapshot
//! only saves replaying the log, and is valid only while the log has the length and modification time recorded in the
//! snapshot.

mod chain;
pub(crate) mod reader;
mod shared;
mod snapshot;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fp_plan::plan::id::PlanId;
use fp_run::run::State;
use fp_run::run::event::{Entry, Event, LOG_VERSION, SHARED_LOG_VERSION};
use jiff::Timestamp;

use self::chain::Chain;
pub use self::chain::log_of_user;
pub(crate) use self::reader::line_version;
pub use self::reader::{LogLine, LogReader, Past, Portion};
use self::reader::{line_entry, whole_lines};
pub use self::shared::Synced;
use self::shared::Waiting;

use crate::error::{HostError, HostResult};
use crate::file::{FileMark, acquire, append_at, mend, open_marked, read_all};
use crate::trust::{self, MachineKey, foreign_entry};

pub const LOG: &str = "events.jsonl";
pub const SNAPSHOT: &str = "execution-state.json";
const LOCK: &str = "lock";
/// Prefix of the folder names for logs that somebody else wrote.
pub(crate) const FOREIGN: &str = "foreign";
const MADE_FROM_LOG: [&str; 3] = [SNAPSHOT, "notepad.md", "evidence"];

/// The ledger of one plan. Reading needs no lock; [`Store::lock`] gives the right to append.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    plan_id: PlanId,
    /// The last state that was read: a command reads its plan several times, and usually nobody else writes.
    known: Mutex<Option<Loaded>>,
}

/// A state and the notices from reading it.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub state: Arc<State>,
    /// Notices for the user, such as a torn last line.
    pub notices: Vec<String>,
    mark: FileMark,
    /// The code of the log's last line.
    code: String,
    /// Length of the log's whole lines in bytes; the rest is torn.
    whole: u64,
    /// True if the last complete line lacks its newline.
    unended: bool,
    /// True if the log was replayed because no snapshot matched it.
    replayed: bool,
    /// In a shared plan, the entries that aren't in the log yet.
    waiting: Waiting,
}

impl Loaded {
    /// The state of an intact log that has, or is about to get, a snapshot.
    fn in_order(state: Arc<State>, mark: FileMark, code: String) -> Self {
        Self {
            state,
            notices: Vec::new(),
            mark,
            code,
            whole: mark.bytes,
            unended: false,
            replayed: false,
            waiting: Waiting::default(),
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

    fn log_file(&self) -> PathBuf {
        self.folder.join(LOG)
    }

    fn snapshot_file(&self) -> PathBuf {
        self.folder.join(SNAPSHOT)
    }

    /// The current state of the log. Fails if the log can't be read or a line isn't an entry.
    pub fn load(&self) -> HostResult<Loaded> {
        let log = open_marked(&self.log_file())?;
        let mark = log
            .as_ref()
            .map_or_else(FileMark::default, |(_, mark)| *mark);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = |loaded: &&Loaded| loaded.mark == mark && self.waits_still(loaded);
        if let Some(loaded) = known.as_ref().filter(is_current) {
            return Ok(loaded.clone());
        }
        let mut loaded = self.read_log(log)?;
        if loaded.state.machine.is_some() {
            self.add_waiting(&mut loaded)?;
        }
        Ok(known.insert(loaded).clone())
    }

    fn remember(&self, loaded: Option<Loaded>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = loaded;
    }

    /// Takes the state from the snapshot if that matches `log`, otherwise replays the log.
    fn read_log(&self, log: Option<(File, FileMark)>) -> HostResult<Loaded> {
        let key = readable_key();
        let stored = snapshot::stored(&self.snapshot_file(), &self.plan_id, key.as_ref());
        let written = stored.as_ref().map_or(0, |(_, _, state)| state.seq);
        let path = self.log_file();
        let replayed = log.is_some();
        let (text, mark) = match (log, stored) {
            (Some((_, mark)), Some((of, code, state))) if of == mark => {
                return Ok(Loaded::in_order(Arc::new(state), mark, code));
            }
            (Some((file, mark)), _) => (read_all(file, &path)?, mark),
            (None, _) => (Vec::new(), FileMark::default()),
        };
        let Replayed {
            state, whole, code, ..
        } = self.replay(&text, key.as_ref())?;
        let mut notices = Vec::new();
        if whole < text.len() {
            notices.push(torn_off(&path, text.len() - whole));
        }
        if state.seq < written {
            notices.push(cut_back(&path, state.seq, written));
        }
        Ok(Loaded {
            notices,
            whole: whole as u64,
            unended: text[..whole].last().is_some_and(|last| *last != b'\n'),
            replayed,
            ..Loaded::in_order(Arc::new(state), mark, code)
        })
    }

    /// Folds the log in `text`. Fails if a line isn't an entry.
    fn replay(&self, text: &[u8], key: Option<&MachineKey>) -> HostResult<Replayed> {
        let path = self.log_file();
        let mut chain = Chain::new(key, &self.plan_id, "");
        let mut replayed = Replayed {
            state: self.empty_state(),
            entries: Vec::new(),
            whole: whole_lines(text),
            code: String::new(),
        };
        let state = &mut replayed.state;
        for (line, number) in text[..replayed.whole].split(|b| *b == b'\n').zip(1..) {
            if let Some(entry) = line_entry(&path, number, line, state.seq + 1)? {
                let is_own = chain.read(line);
                state.apply_line(&entry, &chain.last, is_own);
                replayed.entries.push(entry);
            }
        }
        replayed.code = chain.last;
        Ok(replayed)
    }

    /// The key for writing entries. Creates it if there is none.
    fn key_to_write(&self) -> HostResult<MachineKey> {
        let folder = key_folder()?;
        if let Some(key) = MachineKey::read(&folder)? {
            return Ok(key);
        }
        // The remembered state was read without a key, so none of its entries count as this machine's.
        self.remember(None);
        MachineKey::make(&folder)
    }

    /// The state of an empty log, as this machine sees it.
    pub fn empty_state(&self) -> State {
        // An unreadable membership file is reported only where the remote is needed.
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
    pub fn lock(&self, patience: Duration) -> HostResult<Ledger<'_>> {
        let lock = acquire(&self.folder.join(LOCK), patience)?;
        let key = self.key_to_write()?;
        let mut loaded = self.load()?;
        if loaded.unended || loaded.whole < loaded.mark.bytes {
            loaded.mark = mend(&self.log_file(), loaded.whole, loaded.unended)?;
        }
        // A replay means that the last writer was killed before it could write a snapshot.
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

fn torn_off(path: &Path, bytes: usize) -> String {
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
fn key_folder() -> HostResult<PathBuf> {
    match cfg!(test) {
        // Tests leave the user's own folder unchanged.
        true => Ok(std::env::temp_dir().join("fp-host-tests")),
        false => trust::trust_folder(&trust::process_variable),
    }
}

/// This machine's key. An unusable key is reported only where it is needed.
fn readable_key() -> Option<MachineKey> {
    MachineKey::read(&key_folder().ok()?).ok().flatten()
}

/// The result of folding a log.
struct Replayed {
    state: State,
    /// Oldest first.
    entries: Vec<Entry>,
    /// Length of the log's whole lines in bytes.
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
    /// True if the snapshot is out of date. It is updated once, before the lock is released.
    snapshot_due: bool,
    /// Released while git talks to a remote.
    lock: Option<File>,
    /// The lock for talking to the remote of a shared plan.
    sync: Option<File>,
}

impl Drop for Ledger<'_> {
    fn drop(&mut self) {
        if self.snapshot_due {
            snapshot::write(
                &self.store.snapshot_file(),
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

    /// Releases the lock and returns the state.
    pub fn into_state(self) -> Arc<State> {
        Arc::clone(&self.loaded.state)
    }

    /// Notices for the user from opening the log.
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// Moves a log that contains others' entries aside, along with the files made from it, and starts an empty one.
    /// Returns the new folder; `None` if this machine wrote the whole log.
    ///
    /// # Errors
    /// The plan is shared, so the log belongs to the remote, or writing to the disk fails.
    pub fn begin_anew(&mut self) -> HostResult<Option<PathBuf>> {
        let Some(foreign) = foreign_entry(&self.loaded.state) else {
            return Ok(None);
        };
        if self.loaded.state.is_shared() {
            return Err(foreign);
        }
        let folder = &self.store.folder;
        let is_free = |kept: &PathBuf| fs::symlink_metadata(kept).is_err();
        let mut names = (1..=u32::MAX).map(|number| folder.join(format!("{FOREIGN}-{number}")));
        let kept = names.find(is_free).expect("nobody has so many folders");
        fs::create_dir(&kept).map_err(HostError::using(&kept))?;
        // The log is moved last, so that it still counts as foreign after a kill.
        for name in MADE_FROM_LOG.into_iter().chain([LOG]) {
            let from = folder.join(name);
            match fs::rename(&from, kept.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(HostError::using(&from)(error));
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
        state.apply(&self.next_entry(events.to_vec(), now));
        state
    }

    fn next_entry(&self, events: Vec<Event>, now: Timestamp) -> Entry {
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

    /// Appends `events`, all or none. On success they are on the disk; on failure the log is as it was. Without events
    /// it writes only the time, and only if the log is ahead of the clock.
    pub fn append(&mut self, events: Vec<Event>, now: Timestamp) -> HostResult<()> {
        if events.is_empty() && !self.loaded.state.is_ahead_of(now) {
            return Ok(());
        }
        if self.loaded.state.is_shared() {
            return self.append_shared(events, now);
        }
        let entry = self.next_entry(events, now);
        let mut chain = self.chain();
        let line = chain.write(&line_of(&entry)?);
        let code = chain.last;
        self.loaded.mark = append_at(&self.store.log_file(), self.loaded.mark.bytes, &line)?;
        self.loaded.code = code;
        // Drops the remembered state, which is outdated and would make `make_mut` copy.
        self.store.remember(None);
        let Loaded {
            state, mark, code, ..
        } = &mut self.loaded;
        Arc::make_mut(state).apply_line(&entry, code, true);
        self.snapshot_due = true;
        let loaded = Loaded::in_order(Arc::clone(state), *mark, code.clone());
        self.store.remember(Some(loaded));
        Ok(())
    }

    /// The chain as it stands at the end of the log.
    fn chain(&self) -> Chain<'_> {
        Chain::new(Some(&self.key), &self.store.plan_id, &self.loaded.code)
    }
}

/// `entry` as a line of a log.
fn line_of(entry: &Entry) -> HostResult<Vec<u8>> {
    let failed = |error: serde_json::Error| HostError::using("an entry".as_ref())(error.into());
    let mut line = match entry.by {
        Some(_) => serde_json::to_vec(&Entry {
            schema_version: SHARED_LOG_VERSION,
            ..entry.clone()
        }),
        None => serde_json::to_vec(entry),
    }
    .map_err(failed)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests;

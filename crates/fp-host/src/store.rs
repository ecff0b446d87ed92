//! The ledger of a plan on disk: `events.jsonl`, its lock, and the snapshot derived from it.
//!
//! Every change is lock → replay → decide → append and sync → snapshot → unlock. The log is the truth; the
//! snapshot only spares reading it again, and is believed exactly as long as the log still has the length and
//! the modification time that it was taken at.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fp_core::plan::id::PlanId;
use fp_core::run::State;
use fp_core::run::event::{Entry, Event, LOG_VERSION};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::file;

/// Name of the event log in a plan's folder.
pub const LOG: &str = "events.jsonl";
/// Name of the snapshot in a plan's folder.
pub const SNAPSHOT: &str = "execution-state.json";
const LOCK: &str = "lock";

/// Version of the snapshot; one with another version is not read but made anew.
const SNAPSHOT_VERSION: u32 = 1;

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

impl StoreError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Io { source, .. } => {
                file::advice(source).unwrap_or("check that the folder exists and may be written to").into()
            }
            Self::Line { path, line, .. } => format!(
                "mend or remove line {line} of {}: every line is one JSON object, numbered by `seq`",
                path.display()
            ),
            Self::Newer { .. } => "update fp: `fp --version` says what this one is".into(),
            Self::Locked { .. } => {
                "wait for the other command to end, or end it; a lock dies with its process".into()
            }
        }
    }
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> StoreError + '_ {
    move |source| StoreError::Io { path: path.to_owned(), source }
}

/// The ledger of one plan. Reading needs no lock; [`Store::lock`] gives the right to append.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    plan_id: PlanId,
}

/// What the log looked like when a snapshot was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct LogMark {
    bytes: u64,
    modified: u64,
}

/// The seed's fields, which older tools read, around the state.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Snapshot<'a> {
    schema_version: u32,
    #[serde(flatten)]
    legacy: Legacy<'a>,
    log: LogMark,
    state: &'a State,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Legacy<'a> {
    plan_id: &'a PlanId,
    team: String,
    task_map: Map<'a, &'a str>,
    max_iterations: u32,
    no_commit: bool,
    created_at: Option<Timestamp>,
    skipped_tasks: Map<'a, &'a str>,
    failure_reasons: Map<'a, &'a str>,
    iteration_map: Map<'a, u32>,
    clarifications_used: Map<'a, bool>,
}

type Map<'a, V> = std::collections::BTreeMap<&'a str, V>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredSnapshot {
    schema_version: u32,
    log: LogMark,
    state: State,
}

impl<'a> Legacy<'a> {
    fn of(state: &'a State) -> Self {
        use fp_core::run::state::Status;
        let with = |status: Status| {
            let chosen = state.tasks.iter().filter(move |t| t.status == status);
            chosen.map(|t| (t.leaf.id.as_str(), t.reason.as_deref().unwrap_or_default())).collect()
        };
        let run = state.run.as_ref();
        Self {
            plan_id: &state.plan_id,
            team: format!("fp-{}", state.plan_id),
            task_map: state.tasks.iter().map(|t| (t.leaf.id.as_str(), t.leaf.id.as_str())).collect(),
            max_iterations: run.map_or(0, |r| r.max_iterations),
            no_commit: run.is_some_and(|r| r.no_commit),
            created_at: run.map(|r| r.started_at),
            skipped_tasks: with(Status::Skipped),
            failure_reasons: with(Status::Failed),
            iteration_map: state
                .tasks
                .iter()
                .filter(|t| t.iteration > 0)
                .map(|t| (t.leaf.id.as_str(), t.iteration))
                .collect(),
            clarifications_used: Map::new(),
        }
    }
}

/// A state as it was read, and what had to be said about reading it.
#[derive(Debug)]
pub struct Loaded {
    /// The state.
    pub state: State,
    /// What was found that is worth a line to the user, such as a torn last line.
    pub notices: Vec<String>,
    mark: LogMark,
    /// Bytes of the log that are whole lines; the rest is torn.
    whole: u64,
}

impl Store {
    /// The ledger in the plan folder `folder`, which need not have one yet.
    #[must_use]
    pub fn new(folder: PathBuf, plan_id: PlanId) -> Self {
        Self { folder, plan_id }
    }

    /// The plan's folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn log(&self) -> PathBuf {
        self.folder.join(LOG)
    }

    /// The state as the log has it now. Fails on a log that can't be read, or that has a line that is no entry.
    pub fn load(&self) -> Result<Loaded, StoreError> {
        let path = self.log();
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let state = State::new(self.plan_id.clone());
                return Ok(Loaded { state, notices: Vec::new(), mark: LogMark::default(), whole: 0 });
            }
            Err(e) => return Err(io_error(&path)(e)),
        };
        let mark = mark(&file).map_err(io_error(&path))?;
        if let Some(state) = self.read_snapshot(mark) {
            return Ok(Loaded { state, notices: Vec::new(), mark, whole: mark.bytes });
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(io_error(&path))?;
        let (state, whole) = replay(&path, &self.plan_id, &text)?;
        let mut notices = Vec::new();
        if whole < text.len() {
            notices.push(format!(
                "{}: the last line was torn off while it was written ({} bytes): dropped",
                path.display(),
                text.len() - whole
            ));
        }
        Ok(Loaded { state, notices, mark, whole: whole as u64 })
    }

    fn read_snapshot(&self, mark: LogMark) -> Option<State> {
        let bytes = fs::read(self.folder.join(SNAPSHOT)).ok()?;
        let stored: StoredSnapshot = serde_json::from_slice(&bytes).ok()?;
        let believed = stored.schema_version == SNAPSHOT_VERSION
            && stored.log == mark
            && stored.state.plan_id == self.plan_id;
        let mut state = believed.then_some(stored.state)?;
        state.restore_index();
        Some(state)
    }

    /// Takes the right to append; waits up to `patience` for a process that has it. It is given back when
    /// the result is dropped, or its process ends in whatever way.
    pub fn lock(&self, patience: Duration) -> Result<Ledger<'_>, StoreError> {
        let lock = acquire(&self.folder.join(LOCK), patience)?;
        let mut loaded = self.load()?;
        if loaded.whole < loaded.mark.bytes {
            let path = self.log();
            let log = OpenOptions::new().write(true).open(&path).map_err(io_error(&path))?;
            log.set_len(loaded.whole).and_then(|()| log.sync_all()).map_err(io_error(&path))?;
            loaded.mark = mark(&log).map_err(io_error(&path))?;
        }
        Ok(Ledger { store: self, loaded, _lock: lock })
    }
}

/// Takes an advisory lock on `path`, which is made if it isn't there; waits up to `patience`. The lock is given
/// back when the file is dropped, or the process ends. Fails with [`StoreError::Locked`] in the end.
pub fn acquire(path: &Path, patience: Duration) -> Result<File, StoreError> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let file = file.map_err(io_error(path))?;
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

fn mark(file: &File) -> io::Result<LogMark> {
    let metadata = file.metadata()?;
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let nanos = modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    Ok(LogMark { bytes: metadata.len(), modified: u64::try_from(nanos).unwrap_or(0) })
}

/// Folds a log. The second value is how many bytes are whole lines.
fn replay(path: &Path, plan_id: &PlanId, text: &[u8]) -> Result<(State, usize), StoreError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        schema_version: u32,
    }
    let mut state = State::new(plan_id.clone());
    let whole = text.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    for (i, line) in text[..whole].split(|b| *b == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let wrong = |detail: String| StoreError::Line { path: path.to_owned(), line: i + 1, detail };
        let entry: Entry = match serde_json::from_slice(line) {
            Ok(entry) => entry,
            Err(e) => {
                let newer =
                    serde_json::from_slice::<Version>(line).ok().filter(|v| v.schema_version > LOG_VERSION);
                return Err(match newer {
                    Some(v) => {
                        StoreError::Newer { path: path.to_owned(), line: i + 1, version: v.schema_version }
                    }
                    None => wrong(e.to_string()),
                });
            }
        };
        if entry.schema_version > LOG_VERSION {
            return Err(StoreError::Newer {
                path: path.to_owned(),
                line: i + 1,
                version: entry.schema_version,
            });
        }
        if entry.seq != state.seq + 1 {
            return Err(wrong(format!("seq {} where {} is due", entry.seq, state.seq + 1)));
        }
        state.apply(&entry);
    }
    Ok((state, whole))
}

/// A ledger that may be appended to, as long as it lives.
#[derive(Debug)]
pub struct Ledger<'a> {
    store: &'a Store,
    loaded: Loaded,
    _lock: File,
}

impl Ledger<'_> {
    /// The state, with all that was appended.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.loaded.state
    }

    /// The state, and the lock given back.
    #[must_use]
    pub fn into_state(self) -> State {
        self.loaded.state
    }

    /// What was found on opening that is worth a line to the user.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.loaded.notices
    }

    /// Appends `events`, all or none of them, and brings the snapshot up to date. When this returns they are on
    /// the disk; when it fails the log is as it was before.
    pub fn append(&mut self, events: Vec<Event>, now: Timestamp) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        let state = &self.loaded.state;
        let at = state.last_at.map_or(now, |last| last.max(now));
        let entry = Entry { schema_version: LOG_VERSION, seq: state.seq + 1, at, events };
        let mut line = serde_json::to_vec(&entry).map_err(|e| io_error(&self.store.log())(e.into()))?;
        line.push(b'\n');
        self.write(&line)?;
        self.loaded.state.apply(&entry);
        self.snapshot();
        Ok(())
    }

    fn write(&mut self, line: &[u8]) -> Result<(), StoreError> {
        let path = self.store.log();
        let mut log = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&path)
            .map_err(io_error(&path))?;
        let before = self.loaded.mark.bytes;
        let written = log
            .seek(SeekFrom::Start(before))
            .and_then(|_| log.write_all(line))
            .and_then(|()| log.sync_data());
        if let Err(e) = written {
            // What is left behind, should this fail as well, is a torn line, which the next open drops.
            drop(log.set_len(before));
            return Err(io_error(&path)(e));
        }
        self.loaded.mark = mark(&log).map_err(io_error(&path))?;
        Ok(())
    }

    /// A snapshot that can't be written costs the next command a replay and nothing else.
    fn snapshot(&self) {
        let state = &self.loaded.state;
        let snapshot = Snapshot {
            schema_version: SNAPSHOT_VERSION,
            legacy: Legacy::of(state),
            log: self.loaded.mark,
            state,
        };
        if let Ok(bytes) = serde_json::to_vec(&snapshot) {
            drop(file::replace(&self.store.folder.join(SNAPSHOT), &bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use fp_core::run::event::{Decider, Leaf};
    use fp_core::run::notepad::NoteKind;

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(50);

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned(), PlanId::new("p").unwrap());
        (folder, store)
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn note(text: &str) -> Vec<Event> {
        let note = fp_core::run::event::Note { kind: NoteKind::Util, text: text.into(), task: None };
        vec![Event::Noted { note }]
    }

    fn notes(store: &Store) -> Vec<String> {
        store.load().unwrap().state.notes.into_iter().map(|n| n.text).collect()
    }

    fn append(store: &Store, text: &str) {
        store.lock(PATIENCE).unwrap().append(note(text), at(0)).unwrap();
    }

    #[test]
    fn the_snapshot_equals_the_log() {
        let (_folder, store) = store();
        let leaf = Leaf {
            id: "1".parse().unwrap(),
            title: "t".into(),
            hash: "h".into(),
            dependencies: Vec::new(),
            files: vec!["a".into()],
            complexity: 1,
        };
        let mut ledger = store.lock(PATIENCE).unwrap();
        let approved =
            Event::Approved { tree_hash: "x".into(), leaves: vec![leaf], base: None, by: Decider::User };
        ledger.append(vec![approved], at(0)).unwrap();
        ledger.append(note("b"), at(1)).unwrap();
        drop(ledger);
        let by_snapshot = store.load().unwrap().state;
        fs::remove_file(store.folder().join(SNAPSHOT)).unwrap();
        assert_eq!(by_snapshot, store.load().unwrap().state);
        assert!(by_snapshot.task(&"1".parse().unwrap()).is_some());
    }

    #[test]
    fn a_torn_last_line_is_dropped_and_said_so() {
        let (_folder, store) = store();
        append(&store, "a");
        let log = store.folder().join(LOG);
        let mut text = fs::read(&log).unwrap();
        text.extend_from_slice(b"{\"schemaVersion\":1,\"se");
        fs::write(&log, text).unwrap();
        let loaded = store.load().unwrap();
        assert_eq!(loaded.notices.len(), 1);
        assert!(
            loaded.notices[0]
                .ends_with("the last line was torn off while it was written (22 bytes): dropped")
        );
        append(&store, "b");
        assert_eq!(notes(&store), ["a", "b"]);
        assert!(store.load().unwrap().notices.is_empty());
    }

    #[test]
    fn a_wrong_line_is_named_and_nothing_is_overwritten() {
        let check = |line: &str, expect: &str| {
            let (_folder, store) = store();
            append(&store, "a");
            let log = store.folder().join(LOG);
            let mut text = fs::read_to_string(&log).unwrap();
            text.push_str(line);
            text.push('\n');
            fs::write(&log, &text).unwrap();
            let error = store.lock(PATIENCE).unwrap_err().to_string();
            assert_eq!(error.replace(&format!("{}", store.folder().display()), "[DIR]"), expect);
            assert_eq!(fs::read_to_string(&log).unwrap(), text);
        };
        check(
            "nonsense",
            "[DIR]/events.jsonl:2: not an entry of this log: expected ident at line 1 column 2",
        );
        check(
            r#"{"schemaVersion":1,"seq":7,"at":"2026-11-21T00:00:00Z","events":[]}"#,
            "[DIR]/events.jsonl:2: not an entry of this log: seq 7 where 2 is due",
        );
        check(
            r#"{"schemaVersion":9,"seq":2,"at":"2026-11-21T00:00:00Z","events":["something new"]}"#,
            "[DIR]/events.jsonl:2: written by a newer fp (log version 9, this fp reads 1)",
        );
    }

    #[test]
    fn a_log_edited_by_hand_is_read_again() {
        let (_folder, store) = store();
        append(&store, "a");
        append(&store, "b");
        let log = store.folder().join(LOG);
        let text = fs::read_to_string(&log).unwrap().replace("\"b\"", "\"edited\"");
        fs::write(&log, text).unwrap();
        assert_eq!(notes(&store), ["a", "edited"]);
    }

    #[test]
    fn a_foreign_snapshot_is_made_anew() {
        for snapshot in ["", "{}", "{\"schemaVersion\":99}", "\0\0"] {
            let (_folder, store) = store();
            append(&store, "a");
            fs::write(store.folder().join(SNAPSHOT), snapshot).unwrap();
            assert_eq!(notes(&store), ["a"], "{snapshot:?}");
            append(&store, "b");
            assert_eq!(notes(&store), ["a", "b"], "{snapshot:?}");
        }
    }

    #[test]
    fn time_never_runs_backwards_in_the_log() {
        let (_folder, store) = store();
        store.lock(PATIENCE).unwrap().append(note("a"), at(10)).unwrap();
        store.lock(PATIENCE).unwrap().append(note("b"), at(5)).unwrap();
        assert_eq!(store.load().unwrap().state.last_at, Some(at(10)));
    }

    #[test]
    fn a_held_lock_is_waited_for_and_then_named() {
        let (_folder, store) = store();
        let held = store.lock(PATIENCE).unwrap();
        let error = store.lock(PATIENCE).unwrap_err();
        let StoreError::Locked { holder, .. } = error else { panic!("{error}") };
        assert_eq!(holder, Some(std::process::id().to_string()));
        drop(held);
        store.lock(PATIENCE).unwrap();
    }
}

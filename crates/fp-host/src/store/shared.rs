//! The ledger of a shared plan. `events.jsonl` has what the remote has, in its order. What no other machine needs in order
//! waits in `waiting.jsonl`, and goes with the next entry that one does. The ledger's lock is free while git talks with
//! the remote, so that hooks never wait for a network; `sync.lock` has one process at a time do that.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fp_plan::plan::id::{MachineId, TaskId};
use fp_run::run::State;
use fp_run::run::event::{Entry, EntryOrigin, Event, SHARED_LOG_VERSION};
use fp_run::run::fleet::still_waiting;
use jiff::Timestamp;

use super::snapshot::{self, LogMark};
use super::{
    Chain, LOCK, Ledger, Loaded, SNAPSHOT, Store, StoreError, acquire, append_at, io_error, mend,
    open, readable_key, reader,
};
use crate::file;
use crate::fleet::{FleetError, FleetRemote, InFlight, Membership, News, redact, redacted};
use crate::git::Oid;
use crate::trust::{MachineKey, TrustError};

const WAITING: &str = "waiting.jsonl";
const SYNC_LOCK: &str = "sync.lock";
/// Time between two looks at the remote by whoever only watches.
const LOOK_AROUND: Duration = Duration::from_secs(10);
/// Time to wait for another process of this clone.
const PATIENCE: Duration = Duration::from_secs(60);

/// The entries that wait, as the state counts them.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    pub(super) entries: Vec<Entry>,
    mark: LogMark,
    /// Length of its whole lines in bytes; the rest is torn.
    whole: u64,
    /// The state without them; `None` where there are none.
    base: Option<Arc<State>>,
}

impl Waiting {
    pub(super) const NONE: Self = Self {
        entries: Vec::new(),
        mark: LogMark::NONE,
        whole: 0,
        base: None,
    };
}

/// What a look at the remote brought.
#[derive(Debug, Default)]
pub struct Synced {
    /// The state before, and the tasks of this machine that another has by now.
    pub lost: Option<(Arc<State>, BTreeSet<TaskId>)>,
    /// Notices for the user.
    pub notices: Vec<String>,
}

impl Loaded {
    /// The state without what waits.
    pub(super) fn base(&self) -> &Arc<State> {
        self.waiting.base.as_ref().unwrap_or(&self.state)
    }
}

impl Store {
    fn waiting_file(&self) -> PathBuf {
        self.folder().join(WAITING)
    }

    /// This clone's part in the plan, if this machine took one on.
    ///
    /// # Errors
    /// Its file, or the trust store, can't be read.
    pub fn membership(&self) -> Result<Option<Membership>, FleetError> {
        Membership::read(self.folder(), &self.plan_id)
    }

    fn expect_membership(&self) -> Result<Membership, StoreError> {
        let member = self.membership()?;
        Ok(member.ok_or_else(|| FleetError::NotJoined(self.plan_id.clone()))?)
    }

    /// This clone's part; `None` for a plan that isn't shared.
    fn part(&self) -> Result<Option<Membership>, StoreError> {
        match self.membership()? {
            None if self.load()?.state.is_shared() => {
                Err(FleetError::NotJoined(self.plan_id.clone()).into())
            }
            part => Ok(part),
        }
    }

    /// True if the same entries wait as `loaded` has. Reads none of them.
    pub(super) fn waits_still(&self, loaded: &Loaded) -> bool {
        let file = open(&self.waiting_file(), OpenOptions::new().read(true))
            .ok()
            .flatten();
        loaded.waiting.mark
            == file
                .and_then(|file| LogMark::of(&file).ok())
                .unwrap_or(LogMark::NONE)
    }

    /// Adds what waits to `loaded`, whose state is that of the log.
    pub(super) fn add_waiting(&self, loaded: &mut Loaded) -> Result<(), StoreError> {
        let path = self.waiting_file();
        let Some(mut file) = open(&path, OpenOptions::new().read(true))? else {
            return Ok(());
        };
        let mark = LogMark::of(&file).map_err(io_error(&path))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(io_error(&path))?;
        (loaded.waiting.mark, loaded.waiting.whole) = (mark, reader::whole_lines(&text) as u64);
        if text.is_empty() {
            return Ok(());
        }
        // What was pushed is in the log by now, though a kill kept it here.
        let Some(member) = self.membership()? else {
            return Ok(());
        };
        let landed = member
            .in_flight
            .last()
            .filter(|pushed| loaded.mark.bytes > pushed.log_bytes);
        let skipped = landed.map_or(0, |pushed| pushed.waited_in(&text));
        let entries = self.entries_in(&path, &text, skipped)?;
        if entries.is_empty() {
            return Ok(());
        }
        let base = Arc::clone(&loaded.state);
        let (state, entries) = base.with_waiting(entries);
        loaded.state = Arc::new(state);
        loaded.waiting.entries = entries;
        loaded.waiting.base = Some(base);
        Ok(())
    }

    /// Takes the lock for appending, with everything that other machines have done; in a plan that isn't shared the same
    /// as [`Store::lock`].
    ///
    /// # Errors
    /// As for [`Store::lock`] and [`Store::sync`].
    pub fn lock_in_order(&self, patience: Duration) -> Result<(Ledger<'_>, Synced), StoreError> {
        let Some(before) = self.part()? else {
            return Ok((self.lock(patience)?, Synced::default()));
        };
        let sync = acquire(&self.folder().join(SYNC_LOCK), patience)?;
        let member = self.expect_membership()?;
        // Another process of this clone has just talked with the remote, so there is no need to fetch again.
        let is_fresh = member.seen != before.seen && member.in_flight.is_empty();
        let synced = if is_fresh {
            Synced::default()
        } else {
            self.sync_locked(patience)?
        };
        let mut ledger = self.lock(patience)?;
        ledger.sync = Some(sync);
        ledger.loaded.notices.extend(synced.notices.iter().cloned());
        Ok((ledger, synced))
    }

    /// Fetches what other machines have done; nothing in a plan that isn't shared.
    ///
    /// # Errors
    /// The remote can't be reached, has something that doesn't go on from what was seen, or a file can't be used.
    pub fn sync(&self, patience: Duration) -> Result<Synced, StoreError> {
        if self.part()?.is_none() {
            return Ok(Synced::default());
        }
        let _sync = acquire(&self.folder().join(SYNC_LOCK), patience)?;
        self.sync_locked(patience)
    }

    /// Begins the plan on a remote, with this machine as its first.
    ///
    /// # Errors
    /// As for [`FleetRemote::begin`]; nothing has changed then.
    pub fn share(
        &self,
        remote: &FleetRemote,
        machine: &MachineId,
        head: &Oid,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let ledger = self.lock(PATIENCE)?;
        let mut end_commands = ledger
            .state()
            .approval
            .iter()
            .flat_map(|approval| &approval.end_commands);
        if end_commands.any(|command| redacted(command) != *command) {
            return Err(FleetError::Secret("a command that runs at the end".to_owned()).into());
        }
        let mut lines = Vec::new();
        for entry in self.past()?.entries {
            lines.extend(line_of(&without_secrets(&entry)?)?);
        }
        let entry = ledger.entry(
            vec![Event::Joined {
                head: head.to_string(),
            }],
            now,
        );
        let entry = Entry {
            by: Some(EntryOrigin {
                machine: machine.clone(),
                number: 1,
            }),
            ..entry
        };
        let line = line_of(&entry)?;
        lines.extend(&line);
        let member = remote.begin(machine, &lines, head)?;
        let mut chain = Chain::new(Some(&ledger.key), &self.plan_id, &ledger.loaded.code);
        append_at(&self.log(), ledger.loaded.mark.bytes, &chain.write(&line))?;
        member.write(self.folder())?;
        self.remember(None);
        Ok(())
    }

    /// Writes everything in `news` to this folder, as the part of `machine`, which has heard of the others as in `heard`.
    ///
    /// # Errors
    /// A file can't be written, or an entry is none.
    pub fn adopt(
        &self,
        remote: &FleetRemote,
        machine: MachineId,
        news: News,
        heard: BTreeMap<MachineId, Timestamp>,
    ) -> Result<(), StoreError> {
        let (member, entries) = remote.joined(machine, news, heard)?;
        let key = self.key_to_write()?;
        let mut chain = Chain::new(Some(&key), &self.plan_id, "");
        let mut lines = Vec::new();
        for (number, entry) in (1..).zip(&entries) {
            if entry.seq != number {
                let detail = format!("entry {} comes where {number} is due", entry.seq);
                return Err(
                    FleetError::foreign(&member.seen, &member.place.log_ref, detail).into(),
                );
            }
            lines.extend(chain.write(&line_of(entry)?));
        }
        remote.expect_room(&member.seen, lines.len() as u64)?;
        file::replace(&self.log(), &lines).map_err(FleetError::File)?;
        self.forget_waiting()?;
        member.write(self.folder())?;
        self.remember(None);
        Ok(())
    }

    /// Ends this machine's part where the remote can't be used: writes `last` here alone.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    pub fn leave_alone(&self, last: Vec<Event>, now: Timestamp) -> Result<(), StoreError> {
        let _sync = acquire(&self.folder().join(SYNC_LOCK), PATIENCE)?;
        let ledger = self.lock(PATIENCE)?;
        let entry = ledger.entry(last, now);
        let mut chain = Chain::new(Some(&ledger.key), &self.plan_id, &ledger.loaded.code);
        let mut lines = Vec::new();
        for entry in ledger.loaded.waiting.entries.iter().chain([&entry]) {
            lines.extend(chain.write(&line_of(entry)?));
        }
        self.forget_waiting()?;
        append_at(&self.log(), ledger.loaded.mark.bytes, &lines)?;
        self.remember(None);
        Ok(())
    }

    /// Looks at the remote of a shared plan again and again, in the background, as long as this process lives.
    pub fn follow_remote(&self) {
        if self.membership().is_ok_and(|member| member.is_some()) {
            let store = Self::new(self.folder().to_owned(), self.plan_id.clone());
            std::thread::spawn(move || {
                loop {
                    // What can't be reached now may be the next time.
                    let _ = store.sync(PATIENCE);
                    std::thread::sleep(LOOK_AROUND);
                }
            });
        }
    }

    /// How many entries wait for the next one that other machines need.
    ///
    /// # Errors
    /// As for [`Store::load`].
    pub fn waiting(&self) -> Result<usize, StoreError> {
        Ok(self.load()?.waiting.entries.len())
    }

    fn sync_locked(&self, patience: Duration) -> Result<Synced, StoreError> {
        let member = self.expect_membership()?;
        let remote = FleetRemote::of(self.folder(), &self.plan_id, &member)?;
        let Some(news) = remote.fetch(&member)? else {
            return Ok(Synced::default());
        };
        let _lock = acquire(&self.folder().join(LOCK), patience)?;
        self.take_news(&remote, member, news)
    }

    fn take_news(
        &self,
        remote: &FleetRemote,
        mut member: Membership,
        news: News,
    ) -> Result<Synced, StoreError> {
        let key = self.key_to_write()?;
        let loaded = self.load()?;
        let mut chain = Chain::new(Some(&key), &self.plan_id, &loaded.code);
        let landed = member
            .in_flight
            .iter()
            .find(|pushed| news.has(&pushed.commit))
            .cloned();
        let mut base = State::clone(loaded.base());
        let (mut lines, mut noted) = (Vec::new(), false);
        for (commit, entry) in news.entries(&member.place.log_ref)? {
            // A process that was killed after its push may have put it into the log.
            if entry.seq <= base.seq {
                continue;
            }
            member.expect_genuine(commit, &entry, &base)?;
            noted |= entry
                .events
                .iter()
                .any(|event| matches!(event, Event::Noted { .. }));
            lines.extend(chain.write(&line_of(&entry)?));
            base.apply_line(&entry, &chain.last, true);
            member.hear(&entry);
        }
        let log = self.log();
        remote.expect_room(&member.seen, loaded.mark.bytes + lines.len() as u64)?;
        let mark = match lines.is_empty() {
            true => loaded.mark,
            false => append_at(&log, loaded.mark.bytes, &lines)?,
        };
        let lost = loaded.state.lost_since(&base);
        self.drop_waiting(landed.as_ref(), &lost)?;
        let notices = remote.write_files(&mut member, &news)?;
        member.take(news);
        member.write(self.folder())?;
        self.remember(None);
        let snapshot = self.folder().join(SNAPSHOT);
        snapshot::write(&snapshot, &key, mark, &chain.last, &base);
        let synced = Synced {
            lost: (!lost.is_empty()).then_some((loaded.state, lost)),
            notices,
        };
        if noted {
            let text = fp_run::run::notepad::render(&base);
            file::replace(&self.folder().join("notepad.md"), text.as_bytes())
                .map_err(FleetError::File)?;
        }
        Ok(synced)
    }

    /// The chain of a line that waits: each stands by itself, since they go one by one.
    fn waiting_chain<'k>(&'k self, key: Option<&'k MachineKey>) -> Chain<'k> {
        Chain::new(key, &self.plan_id, WAITING)
    }

    /// The entries that may wait in the whole lines of `text`, the file at `path`, from byte `skipped` on, and that this
    /// machine wrote: others would go out in its name. A torn one was never told anybody.
    fn entries_in(
        &self,
        path: &Path,
        text: &[u8],
        skipped: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let rest = &text[skipped..];
        let before = text[..skipped]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        let lines = rest[..reader::whole_lines(rest)]
            .split(|byte| *byte == b'\n')
            .zip(before + 1..);
        let key = readable_key();
        let is_own = |line| self.waiting_chain(key.as_ref()).read(line);
        let mut entries: Vec<Entry> = Vec::new();
        for (line, number) in lines.filter(|(line, _)| !line.trim_ascii().is_empty()) {
            let entry: Entry = serde_json::from_slice(line).map_err(|error| StoreError::Line {
                path: path.to_owned(),
                line: number,
                detail: error.to_string(),
            })?;
            if is_own(line) && entry.events.iter().all(Event::may_wait) {
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    /// Drops everything that waits.
    fn forget_waiting(&self) -> Result<(), StoreError> {
        let path = self.waiting_file();
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(io_error(&path)(error)),
            _ => Ok(()),
        }
    }

    /// Drops from what waits everything that has `landed`, and what needed a hold on tasks that are `lost`.
    fn drop_waiting(
        &self,
        landed: Option<&InFlight>,
        lost: &BTreeSet<TaskId>,
    ) -> Result<(), StoreError> {
        let path = self.waiting_file();
        let Some(mut file) = open(&path, OpenOptions::new().read(true))? else {
            return Ok(());
        };
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(io_error(&path))?;
        // Windows may refuse to replace a file that is open.
        drop(file);
        let skipped = landed.map_or(0, |pushed| pushed.waited_in(&text));
        if skipped == 0 && lost.is_empty() {
            return Ok(());
        }
        let key = self.key_to_write()?;
        let mut lines = Vec::new();
        for entry in still_waiting(self.entries_in(&path, &text, skipped)?, lost) {
            lines.extend(self.waiting_chain(Some(&key)).write(&line_of(&entry)?));
        }
        Ok(file::replace(&path, &lines).map_err(FleetError::File)?)
    }
}

impl Ledger<'_> {
    /// Appends `events` to the ledger of a shared plan: those that may wait here, others on the remote first.
    pub(super) fn append_shared(
        &mut self,
        events: Vec<Event>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        // Others would get entries that don't go on from theirs.
        if let Some(foreign) = TrustError::of_foreign_entry(&self.loaded.state) {
            return Err(FleetError::Trust(foreign).into());
        }
        let waits = events.iter().all(Event::may_wait);
        let commit = events
            .iter()
            .find_map(Event::commit_to_push)
            .map(str::to_owned);
        let entry = without_secrets(&self.entry(events, now))?;
        match waits {
            true => self.let_wait(entry),
            false => self.push(entry, commit.as_deref()),
        }
    }

    fn let_wait(&mut self, entry: Entry) -> Result<(), StoreError> {
        let path = self.store.waiting_file();
        let Waiting { mark, whole, .. } = self.loaded.waiting;
        if whole < mark.bytes {
            mend(&path, whole, false)?;
        }
        let mut chain = self.store.waiting_chain(Some(&self.key));
        let mark = append_at(&path, whole, &chain.write(&line_of(&entry)?))?;
        self.store.remember(None);
        let Loaded { state, waiting, .. } = &mut self.loaded;
        waiting.base.get_or_insert_with(|| Arc::clone(state));
        Arc::make_mut(state).apply(&entry);
        waiting.entries.push(entry);
        (waiting.mark, waiting.whole) = (mark, mark.bytes);
        self.store.remember(Some(self.loaded.clone()));
        Ok(())
    }

    fn push(&mut self, entry: Entry, commit: Option<&str>) -> Result<(), StoreError> {
        let store = self.store;
        let Loaded {
            mark,
            waiting,
            code,
            ..
        } = self.loaded.clone();
        let mut lines = Vec::new();
        for entry in waiting.entries.iter().chain([&entry]) {
            lines.extend(line_of(entry)?);
        }
        // Hooks write while git talks.
        self.lock = None;
        if self.sync.is_none() {
            self.sync = Some(acquire(&store.folder().join(SYNC_LOCK), PATIENCE)?);
            if open(&store.log(), OpenOptions::new().read(true))?.map(|log| LogMark::of(&log).ok())
                != Some(Some(mark))
            {
                return Err(FleetError::Overtaken.into());
            }
        }
        let mut member = store.expect_membership()?;
        let remote = FleetRemote::of(store.folder(), &store.plan_id, &member)?;
        let text = fs::read(store.waiting_file()).unwrap_or_default();
        let waited = &text[..text.len().min(waiting.whole as usize)];
        let pushed = remote.push(&mut member, &entry, &lines, commit, (mark.bytes, waited))?;
        self.lock = Some(acquire(&store.folder().join(LOCK), PATIENCE)?);
        let mut base = waiting
            .base
            .unwrap_or_else(|| Arc::clone(&self.loaded.state));
        store.remember(None);
        let state = Arc::make_mut(&mut base);
        let mut chain = Chain::new(Some(&self.key), &store.plan_id, &code);
        let mut written = Vec::new();
        for entry in waiting.entries.iter().chain([&entry]) {
            written.extend(chain.write(&line_of(entry)?));
            state.apply_line(entry, &chain.last, true);
        }
        let mark = append_at(&store.log(), mark.bytes, &written)?;
        store.drop_waiting(Some(&pushed), &BTreeSet::new())?;
        member.in_flight.clear();
        member.write(store.folder())?;
        let snapshot = store.folder().join(SNAPSHOT);
        snapshot::write(&snapshot, &self.key, mark, &chain.last, state);
        self.snapshot_due = false;
        self.loaded = store.load()?;
        Ok(())
    }
}

/// `entry` as it is written and sent: without anybody's secrets.
fn without_secrets(entry: &Entry) -> Result<Entry, StoreError> {
    let clean = serde_json::to_value(entry).and_then(|mut value| {
        redact(&mut value);
        serde_json::from_value(value)
    });
    clean.map_err(|error| io_error("an entry".as_ref())(error.into()))
}

fn line_of(entry: &Entry) -> Result<Vec<u8>, StoreError> {
    let version = if entry.by.is_some() {
        SHARED_LOG_VERSION
    } else {
        entry.schema_version
    };
    let mut line = serde_json::to_vec(&Entry {
        schema_version: version,
        ..entry.clone()
    })
    .map_err(|error| io_error("an entry".as_ref())(error.into()))?;
    line.push(b'\n');
    Ok(line)
}

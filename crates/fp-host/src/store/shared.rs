//! The ledger of a shared plan. `events.jsonl` has the remote's entries in the remote's order. Entries whose order
//! doesn't matter to other machines wait in `waiting.jsonl`, and are pushed along with the next entry whose order does.
//! The ledger's lock isn't held while git talks to the remote, so that hooks never wait for the network; `sync.lock`
//! lets only one process at a time do that.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fp_plan::plan::id::{MachineId, TaskId};
use fp_run::run::State;
use fp_run::run::event::{Entry, EntryOrigin, Event};
use fp_run::run::fleet::still_waiting;
use jiff::Timestamp;

use super::{Chain, LOCK, Ledger, Loaded, Store, line_of, readable_key, reader, snapshot};
use crate::error::{HostError, HostResult};
use crate::file::{self, FileMark, acquire, append_at, mend, open_marked, read_all};
use crate::fleet::{
    FleetRemote, InFlight, Membership, News, foreign_commit, not_joined, overtaken, redact,
    redacted, secret_found,
};
use crate::git::Oid;
use crate::trust::{MachineKey, foreign_entry};

const WAITING: &str = "waiting.jsonl";
const SYNC_LOCK: &str = "sync.lock";
/// Interval between two fetches by a process that only watches.
const LOOK_AROUND: Duration = Duration::from_secs(10);
/// Maximum time to wait for another process of this clone.
const PATIENCE: Duration = Duration::from_secs(60);

/// The waiting entries.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    pub(super) entries: Vec<Entry>,
    mark: FileMark,
    /// Length in bytes of the file's complete lines; the rest is torn.
    whole: u64,
    /// The state without the waiting entries; `None` if there are none.
    base: Option<Arc<State>>,
}

/// The result of a sync.
#[derive(Debug, Default)]
pub struct Synced {
    /// The state before the sync, and the tasks that another machine has taken from this one.
    pub lost: Option<(Arc<State>, BTreeSet<TaskId>)>,
    /// Notices for the user.
    pub notices: Vec<String>,
}

impl Loaded {
    /// The state without the waiting entries.
    pub(super) fn base(&self) -> &Arc<State> {
        self.waiting.base.as_ref().unwrap_or(&self.state)
    }
}

impl Store {
    fn waiting_file(&self) -> PathBuf {
        self.folder().join(WAITING)
    }

    /// This clone's membership in the plan, if this machine joined it.
    ///
    /// # Errors
    /// The membership file or the trust store can't be read.
    pub fn membership(&self) -> HostResult<Option<Membership>> {
        Membership::load_own(self.folder(), &self.plan_id)
    }

    fn expect_membership(&self) -> HostResult<Membership> {
        let member = self.membership()?;
        member.ok_or_else(|| not_joined(&self.plan_id))
    }

    /// This clone's membership; `None` for a plan that isn't shared. Fails if the plan is shared and this clone hasn't
    /// joined.
    fn part(&self) -> HostResult<Option<Membership>> {
        match self.membership()? {
            None if self.load()?.state.is_shared() => Err(not_joined(&self.plan_id)),
            part => Ok(part),
        }
    }

    /// True if the waiting entries are still those in `loaded`. Compares file marks only, without reading the entries.
    pub(super) fn waits_still(&self, loaded: &Loaded) -> bool {
        let file = open_marked(&self.waiting_file()).ok().flatten();
        loaded.waiting.mark == file.map_or_else(FileMark::default, |(_, mark)| mark)
    }

    /// Adds the waiting entries to `loaded`, whose state so far is the log's.
    pub(super) fn add_waiting(&self, loaded: &mut Loaded) -> HostResult<()> {
        let path = self.waiting_file();
        let Some((file, mark)) = open_marked(&path)? else {
            return Ok(());
        };
        let text = read_all(file, &path)?;
        loaded.waiting.mark = mark;
        loaded.waiting.whole = reader::whole_lines(&text) as u64;
        if text.is_empty() {
            return Ok(());
        }
        // After a kill, entries may still be here that were pushed and are already in the log.
        let Some(member) = self.membership()? else {
            return Ok(());
        };
        let landed = member
            .in_flight
            .last()
            .filter(|pushed| loaded.mark.bytes > pushed.log_bytes);
        let skipped = landed.map_or(0, |pushed| pushed.waited_in(&text));
        let entries = self.entries_in(&path, &text, skipped)?;
        if !entries.is_empty() {
            let (state, entries) = loaded.state.with_waiting(entries);
            loaded.waiting.base = Some(std::mem::replace(&mut loaded.state, Arc::new(state)));
            loaded.waiting.entries = entries;
        }
        Ok(())
    }

    /// Takes the lock for appending, after fetching everything that other machines have done. In a plan that isn't
    /// shared, the same as [`Store::lock`].
    ///
    /// # Errors
    /// As for [`Store::lock`] and [`Store::sync`].
    pub fn lock_in_order(&self, patience: Duration) -> HostResult<(Ledger<'_>, Synced)> {
        let Some(before) = self.part()? else {
            return Ok((self.lock(patience)?, Synced::default()));
        };
        let sync = acquire(&self.folder().join(SYNC_LOCK), patience)?;
        let member = self.expect_membership()?;
        // Another process of this clone has just fetched, so there is no need to fetch again.
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

    /// Fetches what other machines have done; does nothing in a plan that isn't shared.
    ///
    /// # Errors
    /// The remote can't be reached, its log doesn't continue the known one, or a file can't be used.
    pub fn sync(&self, patience: Duration) -> HostResult<Synced> {
        if self.part()?.is_none() {
            return Ok(Synced::default());
        }
        let _sync = acquire(&self.folder().join(SYNC_LOCK), patience)?;
        self.sync_locked(patience)
    }

    /// Creates the plan on a remote, with this machine as its first member.
    ///
    /// # Errors
    /// As for [`FleetRemote::begin`]; in that case nothing has changed.
    pub fn share(
        &self,
        remote: &FleetRemote,
        machine: &MachineId,
        head: &Oid,
        now: Timestamp,
    ) -> HostResult<()> {
        let ledger = self.lock(PATIENCE)?;
        let approval = ledger.state().approval.iter();
        let mut commands =
            approval.flat_map(|approval| approval.setup.iter().chain(&approval.end_commands));
        if commands.any(|command| redacted(command) != *command) {
            return Err(secret_found("a command of the setup or of the end"));
        }
        let joined = Event::Joined {
            head: head.to_string(),
        };
        let joined = Entry {
            by: Some(EntryOrigin {
                machine: machine.clone(),
                number: 1,
            }),
            ..ledger.next_entry(vec![joined], now)
        };
        let mut lines = Vec::new();
        for entry in self.past()?.entries {
            lines.extend(line_of(&without_secrets(&entry)?)?);
        }
        let line = line_of(&joined)?;
        lines.extend(&line);
        let member = remote.begin(machine, &lines, head)?;
        let line = ledger.chain().write(&line);
        append_at(&self.log_file(), ledger.loaded.mark.bytes, &line)?;
        member.write(self.folder())?;
        self.remember(None);
        Ok(())
    }

    /// Joins as `machine`: writes everything in `news` to this folder. `heard` holds the time of each machine's last
    /// sign of life.
    ///
    /// # Errors
    /// A file can't be written, or an entry is invalid.
    pub fn adopt(
        &self,
        remote: &FleetRemote,
        machine: MachineId,
        news: News,
        heard: BTreeMap<MachineId, Timestamp>,
    ) -> HostResult<()> {
        let (member, entries) = remote.join_as(machine, news, heard)?;
        let key = self.key_to_write()?;
        let mut chain = Chain::new(Some(&key), &self.plan_id, "");
        let mut lines = Vec::new();
        for (number, entry) in (1..).zip(&entries) {
            if entry.seq != number {
                let detail = format!("entry {} comes where {number} is due", entry.seq);
                return Err(foreign_commit(&member.seen, &member.place.log_ref, &detail));
            }
            lines.extend(chain.write(&line_of(entry)?));
        }
        remote.expect_room(&member.seen, lines.len() as u64)?;
        file::replace(&self.log_file(), &lines)?;
        self.forget_waiting()?;
        member.write(self.folder())?;
        self.remember(None);
        Ok(())
    }

    /// Ends this machine's membership without contacting the remote: writes `last` only locally.
    ///
    /// # Errors
    /// As for [`Store::lock`].
    pub fn leave_alone(&self, last: Vec<Event>, now: Timestamp) -> HostResult<()> {
        let _sync = acquire(&self.folder().join(SYNC_LOCK), PATIENCE)?;
        let ledger = self.lock(PATIENCE)?;
        let entry = ledger.next_entry(last, now);
        let (mut chain, mut lines) = (ledger.chain(), Vec::new());
        for entry in ledger.loaded.waiting.entries.iter().chain([&entry]) {
            lines.extend(chain.write(&line_of(entry)?));
        }
        self.forget_waiting()?;
        append_at(&self.log_file(), ledger.loaded.mark.bytes, &lines)?;
        self.remember(None);
        Ok(())
    }

    /// Keeps syncing a shared plan in the background as long as this process lives.
    pub fn follow_remote(&self) {
        if self.membership().is_ok_and(|member| member.is_some()) {
            let store = Self::new(self.folder().to_owned(), self.plan_id.clone());
            std::thread::spawn(move || {
                loop {
                    // An unreachable remote may be back the next time.
                    let _ = store.sync(PATIENCE);
                    std::thread::sleep(LOOK_AROUND);
                }
            });
        }
    }

    /// The number of waiting entries.
    ///
    /// # Errors
    /// As for [`Store::load`].
    pub fn waiting(&self) -> HostResult<usize> {
        Ok(self.load()?.waiting.entries.len())
    }

    fn sync_locked(&self, patience: Duration) -> HostResult<Synced> {
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
    ) -> HostResult<Synced> {
        let key = self.key_to_write()?;
        let loaded = self.load()?;
        let mut chain = Chain::new(Some(&key), &self.plan_id, &loaded.code);
        let landed = member
            .in_flight
            .iter()
            .find(|pushed| news.has_commit(&pushed.commit))
            .cloned();
        let mut base = State::clone(loaded.base());
        let (mut lines, mut noted) = (Vec::new(), false);
        for (commit, entry) in news.entries(&member.place.log_ref)? {
            // A process killed after its push may already have written this entry to the log.
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
            member.record_heard(&entry);
        }
        let log = self.log_file();
        remote.expect_room(&member.seen, loaded.mark.bytes + lines.len() as u64)?;
        let mark = match lines.is_empty() {
            true => loaded.mark,
            false => append_at(&log, loaded.mark.bytes, &lines)?,
        };
        let lost = loaded.state.lost_since(&base);
        self.drop_waiting(landed.as_ref(), &lost)?;
        let notices = remote.write_files(&mut member, &news)?;
        member.apply_news(news);
        member.write(self.folder())?;
        self.remember(None);
        snapshot::write(&self.snapshot_file(), &key, mark, &chain.last, &base);
        let synced = Synced {
            lost: (!lost.is_empty()).then_some((loaded.state, lost)),
            notices,
        };
        if noted {
            let text = fp_run::run::notepad::render(&base);
            file::replace(&self.folder().join("notepad.md"), text.as_bytes())?;
        }
        Ok(synced)
    }

    /// The chain for one waiting line. Each line has its own chain, since lines leave the file one by one.
    fn waiting_chain<'k>(&'k self, key: Option<&'k MachineKey>) -> Chain<'k> {
        Chain::new(key, &self.plan_id, WAITING)
    }

    /// The entries in the complete lines of `text`, the content of `path`, from byte `skipped` on. Includes only
    /// entries that are allowed to wait and that this machine wrote, since others would be pushed in its name. Leaves
    /// out a torn entry, which was never reported as written.
    fn entries_in(&self, path: &Path, text: &[u8], skipped: usize) -> HostResult<Vec<Entry>> {
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
            let entry: Entry = serde_json::from_slice(line)
                .map_err(|error| reader::wrong_line(path, number, &error))?;
            if is_own(line) && entry.events.iter().all(Event::may_wait) {
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    /// Drops all waiting entries.
    fn forget_waiting(&self) -> HostResult<()> {
        let path = self.waiting_file();
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(HostError::using(&path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Drops the waiting entries that have `landed`, and those about `lost` tasks.
    fn drop_waiting(&self, landed: Option<&InFlight>, lost: &BTreeSet<TaskId>) -> HostResult<()> {
        let path = self.waiting_file();
        let Some((file, _)) = open_marked(&path)? else {
            return Ok(());
        };
        // Closes the file, since Windows may refuse to replace an open one.
        let text = read_all(file, &path)?;
        let skipped = landed.map_or(0, |pushed| pushed.waited_in(&text));
        if skipped == 0 && lost.is_empty() {
            return Ok(());
        }
        let key = self.key_to_write()?;
        let mut lines = Vec::new();
        for entry in still_waiting(self.entries_in(&path, &text, skipped)?, lost) {
            lines.extend(self.waiting_chain(Some(&key)).write(&line_of(&entry)?));
        }
        file::replace(&path, &lines)
    }
}

impl Ledger<'_> {
    /// Appends `events` to the ledger of a shared plan: locally if all of them may wait, otherwise to the remote first.
    pub(super) fn append_shared(&mut self, events: Vec<Event>, now: Timestamp) -> HostResult<()> {
        // Otherwise other machines would get entries that don't continue their log.
        if let Some(foreign) = foreign_entry(&self.loaded.state) {
            return Err(foreign);
        }
        let waits = events.iter().all(Event::may_wait);
        let commit = events
            .iter()
            .find_map(Event::commit_to_push)
            .map(str::to_owned);
        let entry = without_secrets(&self.next_entry(events, now))?;
        match waits {
            true => self.let_wait(entry),
            false => self.push(entry, commit.as_deref()),
        }
    }

    fn let_wait(&mut self, entry: Entry) -> HostResult<()> {
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

    fn push(&mut self, entry: Entry, commit: Option<&str>) -> HostResult<()> {
        let store = self.store;
        let Waiting {
            entries: waiting,
            whole,
            base,
            ..
        } = self.loaded.waiting.clone();
        let before = self.loaded.mark;
        let entries: Vec<Entry> = waiting.into_iter().chain([entry]).collect();
        let mut lines = Vec::new();
        for entry in &entries {
            lines.extend(line_of(entry)?);
        }
        // Lets hooks write while git talks to the remote.
        self.lock = None;
        if self.sync.is_none() {
            self.sync = Some(acquire(&store.folder().join(SYNC_LOCK), PATIENCE)?);
            let now = open_marked(&store.log_file())?.map(|(_, mark)| mark);
            if now != Some(before) {
                return Err(overtaken());
            }
        }
        let mut member = store.expect_membership()?;
        let remote = FleetRemote::of(store.folder(), &store.plan_id, &member)?;
        let text = fs::read(store.waiting_file()).unwrap_or_default();
        let waited = &text[..text.len().min(whole as usize)];
        let last = entries.last().expect("there is the new one");
        let pushed = remote.push(&mut member, last, &lines, commit, (before.bytes, waited))?;
        self.lock = Some(acquire(&store.folder().join(LOCK), PATIENCE)?);
        store.remember(None);
        let mut base = base.unwrap_or_else(|| Arc::clone(&self.loaded.state));
        let state = Arc::make_mut(&mut base);
        let (mut chain, mut written) = (self.chain(), Vec::new());
        for entry in &entries {
            written.extend(chain.write(&line_of(entry)?));
            state.apply_line(entry, &chain.last, true);
        }
        let mark = append_at(&store.log_file(), before.bytes, &written)?;
        store.drop_waiting(Some(&pushed), &BTreeSet::new())?;
        member.in_flight.clear();
        member.write(store.folder())?;
        snapshot::write(&store.snapshot_file(), &self.key, mark, &chain.last, state);
        self.snapshot_due = false;
        self.loaded = store.load()?;
        Ok(())
    }
}

/// Returns `entry` as it is written and sent, without secrets.
fn without_secrets(entry: &Entry) -> HostResult<Entry> {
    let clean = serde_json::to_value(entry).and_then(|mut value| {
        redact(&mut value);
        serde_json::from_value(value)
    });
    clean.map_err(|error| HostError::using("an entry".as_ref())(error.into()))
}

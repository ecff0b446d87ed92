//! Shares a plan through a git remote. A ref on the remote serves as the log's register: a chain of commits whose
//! messages are the log's lines and whose trees are the plan's files, changed only by compare-and-swap. A completed
//! task's commit goes to the integration branch in the same atomic push as the log entry that records it, so that
//! neither ever appears alone.

mod redact;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use fp_plan::hint::{Exit, Hint as _};
use fp_plan::plan::id::{MachineId, PlanId};
use fp_run::run::event::{Entry, EntryOrigin, Event, SHARED_LOG_VERSION};
use fp_run::run::{State, approval};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::error::{HostError, HostResult};
use crate::file;
use crate::git::{Git, LedgerCommit, Oid, Pushed, RefUpdate};
use crate::repo::Repo;
use crate::run::fresh_token;
use crate::trust::{Consent, ConsentSource, TrustStore};

pub(crate) use redact::redact;
pub use redact::redacted;

const MEMBERSHIP: &str = "fleet.json";
const PLAIN: &str = "it has text keys and plain values";
/// Size limit of `fleet.json`, in bytes.
const MEMBERSHIP_CAP: u64 = 16 * 1024 * 1024;
/// Size limit of a shared plan's log, in bytes. It leaves room in the local file for this machine's own entries.
const SHARED_LOG_CAP: u64 = 60 * 1024 * 1024;
/// Size limit of a shared file of a plan, in bytes.
const FILE_CAP: u64 = 16 * 1024 * 1024;
/// The plan's files that are shared, in addition to its evidence.
const TRAVELS: &str = "tasks.md plan.md plan.json import.json interview.json interview.md context.md \
    research.md critique.md signals.json";
const EVIDENCE: &str = "evidence";

/// The error for a clone that hasn't joined the shared plan `plan`.
pub fn not_joined(plan: &PlanId) -> HostError {
    HostError::refused(format_args!(
        "{plan} is shared, and this clone takes no part in it"
    ))
    .with_hint(format_args!("run `fp join {plan}`"))
}

/// The error if another machine changed the plan first; a retry decides based on the new state.
pub fn overtaken() -> HostError {
    HostError::failed("another machine changed the plan at the same moment")
        .with_hint("run the same command again")
        .with_end(Exit::Overtaken)
}

/// The error for failing to reach `remote`, with the cause `source`.
fn unreachable(remote: &str, source: &HostError) -> HostError {
    let error = HostError::worded(
        format_args!("the remote {remote} can't be used: {source}"),
        source,
    );
    let hint = source.hint().unwrap_or(
        "see to the connection and to your credentials, then run the command again: what is not handed in yet is kept"
            .into(),
    );
    error.with_hint(hint).with_end(Exit::CutOff)
}

/// The error for a `commit` on the ref `name` that none of the plan's machines made; `detail` says why.
pub(crate) fn foreign_commit(commit: &Oid, name: &str, detail: &str) -> HostError {
    HostError::failed(format_args!("commit {commit} of {name}: {detail}")).with_hint(
        "somebody else pushed to it: take that commit away, and keep others from pushing there, or `fp fleet --leave` the plan",
    )
}

/// The error for a secret in `place`.
pub(crate) fn secret_found(place: &str) -> HostError {
    HostError::refused(format_args!(
        "{place} has what looks like a secret; secrets don't travel, and without it the plan is not the approved one"
    ))
    .with_hint(
        "take it out: a command can read it from a file or a variable of each machine. Then approve the plan again",
    )
}

const NOT_SIGNED: &str = "it is not signed by somebody that git trusts";

/// Maximum number of doublings of a [`pause`].
const LONGER: u32 = 2;
/// Maximum number of times a command is retried because other machines were faster.
pub const TRIES: u32 = 40;

/// Waits a random time before try number `tries`, counted from 1. The maximum is twice the duration of the previous
/// try, `took`, at first, and four times that duration later. This way, machines that lost the same race retry at
/// different moments.
pub fn pause(tries: u32, took: Duration) {
    let part = u64::from_str_radix(&fresh_token()[..8], 16).unwrap_or_default();
    let part = part as f64 / f64::from(u32::MAX);
    std::thread::sleep((took * (1 << tries.min(LONGER))).mul_f64(part));
}

/// A push whose outcome is not known yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InFlight {
    pub commit: Oid,
    /// Length of the log before this push.
    pub log_bytes: u64,
    /// Length and hash of the entries that were waiting before this push; the push includes them.
    waited: u64,
    waited_hash: String,
}

impl InFlight {
    /// Length of the part of `waiting`, the currently waiting entries, that this push includes; 0 if those entries have
    /// been dropped.
    pub(crate) fn waited_in(&self, waiting: &[u8]) -> usize {
        let length = self.waited as usize;
        let same = waiting
            .get(..length)
            .is_some_and(|waited| approval::hash(waited) == self.waited_hash);
        if same { length } else { 0 }
    }
}

/// The remote's version of a file of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KnownFile {
    blob: Oid,
    /// Hash of the local file's text.
    #[serde(default)]
    hash: String,
}

/// The remote and refs through which a plan is shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetPlace {
    /// The name of the remote.
    pub remote: String,
    /// The ref of the log on the remote.
    pub log_ref: String,
    /// The integration branch on the remote.
    pub branch: String,
    /// True if every commit of the log has to be signed.
    pub signed: bool,
}

/// This clone's membership in a shared plan, from its `fleet.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Membership {
    /// Random, so that nobody else can forge a valid membership.
    #[serde(default)]
    key: String,
    pub machine: MachineId,
    #[serde(flatten)]
    pub place: FleetPlace,
    /// The newest commit of the shared log that has been added to the local log.
    pub seen: Oid,
    /// The newest known commit of the integration branch.
    pub tip: Oid,
    /// Pushes based on `seen` that may still land, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_flight: Vec<InFlight>,
    /// When each machine last showed a sign of life, by this machine's clock.
    pub heard: BTreeMap<MachineId, Timestamp>,
    /// The times of the last fetch and of this machine's last successful push.
    pub fetched_at: Timestamp,
    pub pushed_at: Timestamp,
    tree: Oid,
    files: BTreeMap<String, KnownFile>,
}

impl Membership {
    /// Loads the membership that this machine created. Ignores a file that somebody else wrote, since a cloned
    /// repository can contain one.
    pub(crate) fn load_own(folder: &Path, plan: &PlanId) -> HostResult<Option<Self>> {
        let Some(text) = file::read_text_if_there(&folder.join(MEMBERSHIP), MEMBERSHIP_CAP)? else {
            return Ok(None);
        };
        let Ok(member) = serde_json::from_str::<Self>(&text) else {
            return Ok(None);
        };
        let is_own =
            TrustStore::of_process(&Repo::find(folder))?.knows(&member.trust_consent(plan))?;
        Ok(is_own.then_some(member))
    }

    /// The trust store entry for this membership, made from its fixed fields.
    fn trust_consent(&self, plan: &PlanId) -> Consent {
        let fixed = serde_json::to_vec(&(&self.key, &self.machine, &self.place));
        Consent::Part {
            plan: plan.clone(),
            hash: approval::hash(&fixed.expect(PLAIN)),
        }
    }

    pub(crate) fn write(&self, folder: &Path) -> HostResult<()> {
        let text = serde_json::to_vec(self).expect(PLAIN);
        file::replace(&folder.join(MEMBERSHIP), &text)
    }

    /// Ends this clone's membership; the log and the files stay.
    pub fn remove(folder: &Path) -> HostResult<()> {
        let path = folder.join(MEMBERSHIP);
        fs::remove_file(&path).map_err(HostError::writing(&path))
    }

    /// Records a sign of life from the machine that wrote `entry`.
    pub(crate) fn record_heard(&mut self, entry: &Entry) {
        if let Some(EntryOrigin { machine, .. }) = &entry.by {
            self.heard.insert(machine.clone(), clock::now());
        }
    }

    /// Fails if `entry` of `commit` can't follow `before`, or claims to come from this machine although this machine
    /// didn't push that commit.
    pub(crate) fn expect_genuine(
        &self,
        commit: &Oid,
        entry: &Entry,
        before: &State,
    ) -> HostResult<()> {
        let foreign = |detail: String| {
            let detail = format!("after it, {detail}");
            foreign_commit(&self.seen, &self.place.log_ref, &detail)
        };
        if entry.seq != before.seq + 1 {
            return Err(foreign(format!(
                "entry {} comes where {} is due",
                entry.seq,
                before.seq + 1
            )));
        }
        let Some(EntryOrigin { machine, number }) = &entry.by else {
            return Err(foreign(format!("entry {} names no machine", entry.seq)));
        };
        if *machine == self.machine && self.in_flight.iter().all(|pushed| pushed.commit != *commit)
        {
            return Err(HostError::refused(format_args!("another clone writes as {machine}")).with_hint(
                "a copy of this clone is at work: have one of them `fp fleet --leave` the plan and join under a name of its own",
            ));
        }
        let known = before
            .machines
            .get(machine)
            .map_or(0, |known| known.entries);
        if *number != known + 1 {
            return Err(foreign(format!(
                "entry {number} of {machine} comes after its entry {known}"
            )));
        }
        Ok(())
    }

    pub(crate) fn apply_news(&mut self, news: News) {
        if let Some(last) = news.commits.into_iter().next_back() {
            (self.seen, self.tree) = (last.id, last.tree);
            // Pushes based on an older commit can't land any more.
            self.in_flight.clear();
        }
        (self.tip, self.fetched_at) = (news.tip, clock::now());
    }
}

/// The result of a fetch.
#[derive(Debug)]
pub struct News {
    /// Oldest first.
    commits: Vec<LedgerCommit>,
    tip: Oid,
}

impl News {
    pub(crate) fn has_commit(&self, commit: &Oid) -> bool {
        self.commits.iter().any(|known| known.id == *commit)
    }

    /// The entries in the commits of `log_ref`, each with its commit.
    pub fn entries(&self, log_ref: &str) -> HostResult<Vec<(&Oid, Entry)>> {
        let mut entries = Vec::new();
        for commit in &self.commits {
            let lines = commit
                .message
                .split_once("\n\n")
                .map_or("", |(_, lines)| lines)
                .lines();
            for line in lines.filter(|line| !line.trim().is_empty()) {
                let version = crate::store::line_version(line.as_bytes()).unwrap_or_default();
                if version > SHARED_LOG_VERSION {
                    return Err(HostError::refused(format_args!(
                        "commit {} of {log_ref} was written by a newer fp (log version {version}, this fp reads {SHARED_LOG_VERSION})",
                        commit.id
                    ))
                    .with_hint("update fp: `fp --version` says what this one is"));
                }
                let entry = serde_json::from_str(line)
                    .map_err(|error| foreign_commit(&commit.id, log_ref, &error.to_string()))?;
                entries.push((&commit.id, entry));
            }
        }
        Ok(entries)
    }
}

/// A plan's place on a remote, and its local files.
#[derive(Debug)]
pub struct FleetRemote {
    git: Git,
    folder: std::path::PathBuf,
    plan: PlanId,
    place: FleetPlace,
}

impl FleetRemote {
    /// The place on the remote that `member` names.
    pub(crate) fn of(folder: &Path, plan: &PlanId, member: &Membership) -> HostResult<Self> {
        Ok(Self::new(
            Git::open(folder)?,
            folder,
            plan,
            member.place.clone(),
        ))
    }

    /// The place of `plan` on its remote; `folder` has the local files. Accesses neither.
    pub fn new(git: Git, folder: &Path, plan: &PlanId, place: FleetPlace) -> Self {
        Self {
            git,
            folder: folder.to_owned(),
            plan: plan.clone(),
            place,
        }
    }

    /// The text of the plan's file `name` in `news`, if it has one.
    pub fn text_of(&self, news: &News, name: &str) -> HostResult<Option<String>> {
        let Some(last) = news.commits.last() else {
            return Ok(None);
        };
        let files = self.git.files_of_tree(&last.tree)?;
        let Some(blob) = files.get(name) else {
            return Ok(None);
        };
        let text = self.git.blobs(&[blob])?.remove(blob);
        Ok(text.map(|text| String::from_utf8_lossy(&text).into_owned()))
    }

    fn branch_ref(&self) -> String {
        format!("refs/heads/{}", self.place.branch)
    }

    /// The local ref for `what`: `log` and `branch` as last accepted, `new/log` and `new/branch` as last fetched.
    fn local_ref(&self, what: &str) -> String {
        format!("refs/fp-seen/{}/{what}", self.plan)
    }

    fn rewound(&self, name: &str) -> HostError {
        HostError::refused(format_args!(
            "{name} on {} does not go on from what was there before: it was rewound or rewritten",
            self.place.remote
        ))
        .with_hint(format_args!(
            "nothing was pushed. Put back what {name} was before, from a clone that has it under refs/fp-seen/, or \
             `fp fleet --leave` the plan"
        ))
    }

    fn not_on_remote(&self, name: &str) -> HostError {
        let remote = &self.place.remote;
        HostError::refused(format_args!("{name} is not on {remote}")).with_hint(format_args!(
            "`git ls-remote {remote} 'refs/fp/*'` lists the shared plans; one that was deleted has to be pushed again, \
             from a clone that has it under refs/fp-seen/; `fp fleet --leave` ends the part of this one"
        ))
    }

    /// Fails if a log of `bytes` bytes would be too long; the error names `commit`.
    pub(crate) fn expect_room(&self, commit: &Oid, bytes: u64) -> HostResult<()> {
        if bytes <= SHARED_LOG_CAP {
            return Ok(());
        }
        let detail = format!(
            "{bytes} bytes would be in it, and the log of a shared plan may have {SHARED_LOG_CAP}"
        );
        Err(foreign_commit(commit, &self.place.log_ref, &detail))
    }

    /// If entries must be signed, fails unless one of them names the new tip of the branch or the tip itself is signed.
    fn expect_signed_tip(&self, news: &News) -> HostResult<()> {
        let tip = news.tip.as_str();
        let names = |event: &Event| {
            event.commit_to_push() == Some(tip)
                || matches!(event, Event::Joined { head } if head == tip)
        };
        let is_trusted = !self.place.signed
            || news
                .entries(&self.place.log_ref)?
                .iter()
                .flat_map(|(_, entry)| &entry.events)
                .any(names)
            || self.git.is_signed(&news.tip)?;
        match is_trusted {
            true => Ok(()),
            false => Err(foreign_commit(&news.tip, &self.branch_ref(), NOT_SIGNED)),
        }
    }

    fn fetch_error(&self, error: &HostError) -> HostError {
        let words = error.to_string();
        if !words.contains("couldn't find remote ref") {
            return unreachable(&self.place.remote, error);
        }
        match words.contains(&self.place.log_ref) {
            true => self.not_on_remote(&self.place.log_ref),
            false => self.not_on_remote(&self.branch_ref()),
        }
    }

    /// Fetches both refs into separate local refs beside the accepted ones; returns the newest commits of the log and
    /// of the branch.
    fn fetch_tips(&self) -> HostResult<(Oid, Oid)> {
        let branch = self.branch_ref();
        let (new_log, new_branch) = (self.local_ref("new/log"), self.local_ref("new/branch"));
        let refs = [
            (self.place.log_ref.as_str(), new_log.as_str()),
            (&branch, &new_branch),
        ];
        self.git
            .fetch_refs(&self.place.remote, &refs)
            .map_err(|error| self.fetch_error(&error))?;
        let of = |local: &str, name: &str| {
            self.git
                .commit_of_ref(local)?
                .ok_or_else(|| self.not_on_remote(name))
        };
        Ok((
            of(&new_log, &self.place.log_ref)?,
            of(&new_branch, &branch)?,
        ))
    }

    fn commits(&self, seen: Option<&Oid>, to: &Oid) -> HostResult<Vec<LedgerCommit>> {
        let name = &self.place.log_ref;
        self.expect_room(to, self.git.commits_size(seen, to)?)?;
        let commits = self.git.ledger_commits(seen, to)?;
        let mut before = seen;
        for commit in &commits {
            if commit.parent.as_ref() != before {
                return Err(self.rewound(name));
            }
            if self.place.signed && commit.signature != "G" {
                return Err(foreign_commit(&commit.id, name, NOT_SIGNED));
            }
            before = Some(&commit.id);
        }
        match before {
            Some(last) if last == to => Ok(commits),
            _ => Err(self.rewound(name)),
        }
    }

    /// Points the local refs at the accepted commits, so that git keeps those commits whatever is fetched next.
    fn keep_seen(&self, member: &Membership) -> HostResult<()> {
        let (log, branch) = (self.local_ref("log"), self.local_ref("branch"));
        let refs = [(log.as_str(), &member.seen), (&branch, &member.tip)];
        self.git.set_refs(&refs)
    }

    /// Fetches the remote's news since `member` last fetched, if any.
    pub(crate) fn fetch(&self, member: &Membership) -> HostResult<Option<News>> {
        self.keep_seen(member)?;
        let (to, tip) = self.fetch_tips()?;
        if to == member.seen && tip == member.tip && member.in_flight.is_empty() {
            let looked = Membership {
                fetched_at: clock::now(),
                ..member.clone()
            };
            looked.write(&self.folder)?;
            return Ok(None);
        }
        let commits = if to == member.seen {
            Vec::new()
        } else {
            self.commits(Some(&member.seen), &to)?
        };
        let news = News { commits, tip };
        if news.tip != member.tip {
            if !self.git.goes_on(news.tip.as_str(), &member.tip)? {
                return Err(self.rewound(&self.branch_ref()));
            }
            self.expect_signed_tip(&news)?;
        }
        Ok(Some(news))
    }

    /// Fetches the remote's whole plan.
    pub fn fetch_all(&self) -> HostResult<News> {
        let (to, tip) = self.fetch_tips()?;
        let news = News {
            commits: self.commits(None, &to)?,
            tip,
        };
        self.expect_signed_tip(&news)?;
        Ok(news)
    }

    /// Pushes `lines`, which end with `entry`, and along with them pushes `commit`, if any, to the branch. On success
    /// `member` is updated; nothing else is written locally yet.
    pub(crate) fn push(
        &self,
        member: &mut Membership,
        entry: &Entry,
        lines: &[u8],
        commit: Option<&str>,
        (log_bytes, waited): (u64, &[u8]),
    ) -> HostResult<InFlight> {
        let (tree, files) = self.stored_files(member)?;
        let machine = &member.machine;
        let message = format!(
            "fp: {machine}, entry {}\n\n{}",
            entry.seq,
            String::from_utf8_lossy(lines)
        );
        let pushed =
            self.git
                .write_commit(&tree, Some(&member.seen), message, self.place.signed)?;
        let in_flight = InFlight {
            commit: pushed.clone(),
            log_bytes,
            waited: waited.len() as u64,
            waited_hash: approval::hash(waited),
        };
        member.in_flight.push(in_flight.clone());
        member.write(&self.folder)?;
        let branch = self.branch_ref();
        let commit: Option<Oid> = commit.map(str::parse).transpose()?;
        let mut updates = vec![RefUpdate {
            name: &self.place.log_ref,
            to: &pushed,
            from: Some(&member.seen),
        }];
        updates.extend(commit.as_ref().map(|to| RefUpdate {
            name: &branch,
            to,
            from: Some(&member.tip),
        }));
        self.pushed(&updates)?;
        (member.seen, member.tree, member.files) = (pushed, tree, files);
        member.tip = commit.unwrap_or_else(|| member.tip.clone());
        member.pushed_at = clock::now();
        member.record_heard(entry);
        Ok(in_flight)
    }

    fn pushed(&self, updates: &[RefUpdate<'_>]) -> HostResult<()> {
        let remote = &self.place.remote;
        match self.git.push_refs(remote, updates) {
            Ok(Pushed::Done) => Ok(()),
            Ok(Pushed::Overtaken) => Err(overtaken()),
            Ok(Pushed::Refused(said)) => Err(HostError::refused(format_args!(
                "the remote {remote} refuses {said}"
            ))
            .with_hint("ask for the right to push `refs/fp/*` and `fp/*`")),
            Err(source) => Err(unreachable(remote, &source)),
        }
    }

    /// Creates a membership for `machine` that has seen only the branch at `tip`.
    fn membership(
        &self,
        machine: MachineId,
        tip: Oid,
        heard: BTreeMap<MachineId, Timestamp>,
    ) -> HostResult<Membership> {
        let now = clock::now();
        let member = Membership {
            key: fresh_token(),
            machine,
            place: self.place.clone(),
            seen: tip.clone(),
            tree: tip.clone(),
            tip,
            in_flight: Vec::new(),
            heard,
            fetched_at: now,
            pushed_at: now,
            files: BTreeMap::new(),
        };
        TrustStore::of_process(&Repo::find(&self.folder))?.add(
            member.trust_consent(&self.plan),
            ConsentSource::Command,
            now,
        )?;
        Ok(member)
    }

    /// Creates the plan on the remote with its whole log, and the branch at `head`; fails if either already exists.
    pub fn begin(&self, machine: &MachineId, lines: &[u8], head: &Oid) -> HostResult<Membership> {
        let heard = BTreeMap::from([(machine.clone(), clock::now())]);
        let mut member = self.membership(machine.clone(), head.clone(), heard)?;
        let (tree, files) = self.stored_files(&member)?;
        let message = format!(
            "fp: {machine} shares the plan\n\n{}",
            String::from_utf8_lossy(lines)
        );
        let first = self
            .git
            .write_commit(&tree, None, message, self.place.signed)?;
        let branch = self.branch_ref();
        self.pushed(&[
            RefUpdate {
                name: &self.place.log_ref,
                to: &first,
                from: None,
            },
            RefUpdate {
                name: &branch,
                to: head,
                from: None,
            },
        ])?;
        (member.seen, member.tree, member.files) = (first, tree, files);
        Ok(member)
    }

    /// Joins as `machine`: writes the plan's files from `news`, and returns the membership and the log's entries.
    pub fn join_as(
        &self,
        machine: MachineId,
        news: News,
        heard: BTreeMap<MachineId, Timestamp>,
    ) -> HostResult<(Membership, Vec<Entry>)> {
        let entries = news.entries(&self.place.log_ref)?.into_iter();
        let entries = entries.map(|(_, entry)| entry).collect();
        let mut member = self.membership(machine, news.tip.clone(), heard)?;
        if let Some(last) = news.commits.last() {
            (member.seen, member.tree) = (last.id.clone(), last.tree.clone());
        }
        self.write_files(&mut member, &news)?;
        Ok((member, entries))
    }

    /// Stores the plan's local files in git; returns their tree. Runs no process if no file has changed.
    fn stored_files(&self, member: &Membership) -> HostResult<(Oid, BTreeMap<String, KnownFile>)> {
        let mut files = BTreeMap::new();
        for name in self.travelling_files()? {
            let path = self.folder.join(&name);
            let Some(text) = plain_text(&path)? else {
                continue;
            };
            let hash = approval::hash(text.as_bytes());
            let known = match member.files.get(&name).filter(|known| known.hash == hash) {
                Some(known) => known.clone(),
                None => {
                    let clean = redact::to_send(&name, text)?;
                    let blob = self.git.write_blob(clean.into_bytes())?;
                    KnownFile { blob, hash }
                }
            };
            files.insert(name, known);
        }
        if !member.files.is_empty() && files == member.files {
            return Ok((member.tree.clone(), files));
        }
        let tree = self
            .git
            .write_tree(files.iter().map(|(name, file)| (name.as_str(), &file.blob)))?;
        Ok((tree, files))
    }

    /// The names of the plan's local files that are shared.
    fn travelling_files(&self) -> HostResult<Vec<String>> {
        let mut names: Vec<String> = TRAVELS.split(' ').map(str::to_owned).collect();
        let evidence = self.folder.join(EVIDENCE);
        if fs::symlink_metadata(&evidence).is_ok_and(|found| found.is_dir()) {
            let read = HostError::reading(&evidence);
            for entry in fs::read_dir(&evidence).map_err(read)? {
                let name = entry.map_err(read)?.file_name();
                names.extend(name.to_str().map(|name| format!("{EVIDENCE}/{name}")));
            }
        }
        names.retain(|name| travels(name));
        Ok(names)
    }

    /// Writes the plan's files that others have changed. If a file was also changed locally, the local version is kept
    /// beside it.
    pub(crate) fn write_files(
        &self,
        member: &mut Membership,
        news: &News,
    ) -> HostResult<Vec<String>> {
        let Some(last) = news
            .commits
            .last()
            .filter(|last| member.files.is_empty() || last.tree != member.tree)
        else {
            return Ok(Vec::new());
        };
        let mut notices = Vec::new();
        let there = self.git.files_of_tree(&last.tree)?;
        let is_news = |(name, blob): &(&String, &Oid)| {
            travels(name)
                && member
                    .files
                    .get(*name)
                    .is_none_or(|known| known.blob != **blob)
        };
        let news: Vec<(&String, &Oid)> = there.iter().filter(is_news).collect();
        let contents = self
            .git
            .blobs(&news.iter().map(|(_, blob)| *blob).collect::<Vec<_>>())?;
        for (name, blob) in news {
            let (path, Some(content)) = (self.folder.join(name), contents.get(blob)) else {
                continue;
            };
            // A symbolic link in the repository could lead out of the plan's folder.
            if let Some(folder) = path.parent().filter(|folder| folder.is_symlink()) {
                return Err(HostError::link(folder));
            }
            let mine = plain_text(&path).unwrap_or_default();
            let is_known = |mine: &String| {
                let hash = approval::hash(mine.as_bytes());
                member
                    .files
                    .get(name)
                    .is_some_and(|known| known.hash == hash)
            };
            if mine.is_some_and(|mine| mine.as_bytes() != content && !is_known(&mine)) {
                let kept = self.folder.join(format!("{name}.mine"));
                fs::rename(&path, &kept).map_err(HostError::writing(&kept))?;
                notices.push(format!(
                    "{name} was changed here and by another machine: yours is {}",
                    kept.display()
                ));
            }
            if let Some(folder) = path.parent() {
                file::make_folders(folder)?;
            }
            file::replace(&path, content)?;
            let known = KnownFile {
                blob: blob.clone(),
                hash: approval::hash(content),
            };
            member.files.insert(name.clone(), known);
        }
        Ok(notices)
    }
}

/// True if the file `name` of a plan's folder is exchanged with other machines.
fn travels(name: &str) -> bool {
    let is_evidence = |rest: &str| {
        let id = rest
            .strip_prefix("task-")
            .and_then(|rest| rest.strip_suffix("-verification.md"));
        id.is_some_and(|id| fp_plan::plan::id::TaskId::new(id).is_ok())
    };
    TRAVELS.split(' ').any(|known| known == name)
        || name.strip_prefix("evidence/").is_some_and(is_evidence)
}

/// The text of a regular file; `None` for anything else. Links aren't followed, since their targets must not be shared.
fn plain_text(path: &Path) -> HostResult<Option<String>> {
    match fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        true => file::read_text_if_there(path, FILE_CAP),
        false => Ok(None),
    }
}

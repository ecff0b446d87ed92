//! Commits exactly the recorded files. Plain `git commit` would take what the user has staged along.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fp_plan::plan::path;
use fp_plan::repo_path::RepoPath;

use super::command::{Finished, GitCall, readable_tail};
use super::status::HEAD_CAP;
use super::tree::INDEX;
use super::{
    EntryState, Git, GitError, GitFailure, Oid, Operation, StatusEntry, WorkingTreeStatus,
};
use crate::file;
use crate::platform::os_string;

/// Time that another process may hold the index before that is reported; editors hold it for moments.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
const LOCK_POLL: Duration = Duration::from_millis(20);
/// Bytes kept of the end of what git and its hooks say.
const OUTPUT_TAIL: usize = 8 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitOutcome {
    Committed {
        /// The commit's content may differ from the intended one, if a hook rewrote files: see
        /// [`Git::rewritten`].
        hash: Oid,
    },
    /// None of the files differs from HEAD.
    NothingToCommit,
    /// There is no commit, and the index is unchanged.
    Blocked(Blocked),
}

/// Why there is no commit; a person has to settle it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Blocked {
    /// The user has to finish a merge, a rebase or another operation first.
    #[error("a {0} is in progress; {way_out}", way_out = .0.way_out())]
    InProgress(Operation),
    /// Another process holds a lock that a commit may need, or one that died left it. The lock, from git's folder.
    #[error("git is locked: another git process is at work, or one that died left `{0}` behind")]
    Locked(String),
    /// Files are in conflict, whether or not they belong to this commit.
    #[error("files are in conflict: {}; settle them and `git add` them", listed(.0))]
    Conflict(Vec<RepoPath>),
    /// A hook refused it, it could not be signed, or git failed in another way. The end of what was said.
    #[error("git made no commit{}", if .0.is_empty() { ", and said nothing".into() } else { format!(": {}", .0) })]
    Failed(String),
}

/// The paths in one line.
pub(crate) fn listed(files: &[RepoPath]) -> String {
    files
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The end of a sentence about files that stay as they are, because they changed during a failed commit.
pub(crate) fn stays_as_edited(files: &[RepoPath]) -> Option<String> {
    (!files.is_empty()).then(|| format!("; edited meanwhile, and left as it is: {}", listed(files)))
}

impl Git {
    /// Commits the working tree's version of `files` (both ends of a rename). Anything else that is staged
    /// stays staged. Runs hooks and respects signing.
    ///
    /// # Errors
    /// Git can't be run or its output can't be read. A problem that a person can settle is
    /// [`CommitOutcome::Blocked`].
    pub fn commit(&self, files: &[RepoPath], message: &str) -> Result<CommitOutcome, GitError> {
        let before = match self.before_commit()? {
            Ok(before) => before,
            Err(blocked) => return Ok(CommitOutcome::Blocked(blocked)),
        };
        let of_files = |entry: &&StatusEntry| files.contains(&entry.path);
        let changed: Vec<&StatusEntry> = before.entries.iter().filter(of_files).collect();
        if changed.is_empty() {
            return Ok(CommitOutcome::NothingToCommit);
        }
        let new = changed
            .iter()
            .filter(|entry| entry.state == EntryState::Untracked);
        let new: Vec<&RepoPath> = new.map(|entry| &entry.path).collect();
        if !new.is_empty() {
            // `git commit --only` takes nothing that git doesn't know.
            let add = self.call("add --intent-to-add");
            add.paths(new.iter().copied()).output()?;
        }
        let result = self.make(message, |call| {
            // The hooks would inherit a setting that makes all paths literal.
            let literal = |path: &RepoPath| os_string(&[b":(literal)", path.as_bytes()].concat());
            // Where a folder has replaced a file, git takes the file out for those in the folder.
            let is_named = |entry: &&&StatusEntry| {
                entry.letter() != 'D' || !self.absolute(&entry.path).is_dir()
            };
            let named = changed
                .iter()
                .filter(is_named)
                .map(|entry| literal(&entry.path));
            named.fold(call.arg("--only").arg("--"), GitCall::arg)
        });
        match &result {
            Ok(CommitOutcome::Committed { .. }) => self.follow_hooks(files, &before)?,
            _ => self.take_back(files.iter().filter(|path| !before.has_staged(path)))?,
        }
        result
    }

    /// Commits `files` (both ends of a rename) as they are in `tree`, whatever the working tree has by now.
    /// Anything else that is staged stays staged. Runs hooks and respects signing. Skips a file that doesn't
    /// differ from HEAD.
    ///
    /// # Errors
    /// Git can't be run or its output can't be read. A problem that a person can settle is
    /// [`CommitOutcome::Blocked`].
    pub fn commit_tree(
        &self,
        tree: &Oid,
        files: &[RepoPath],
        message: &str,
    ) -> Result<CommitOutcome, GitError> {
        let before = match self.before_commit()? {
            Ok(before) => before,
            Err(blocked) => return Ok(CommitOutcome::Blocked(blocked)),
        };
        let base = before
            .commit
            .clone()
            .map_or_else(|| self.empty_tree(), Ok)?;
        let lines = self.lines_between(&base, tree, Some(files))?;
        if lines.is_empty() {
            return Ok(CommitOutcome::NothingToCommit);
        }
        let folder = self.temporary_index_of_head()?;
        let index = folder.path().join(INDEX);
        self.call_on(&index, STAGE).input(lines.clone()).output()?;
        // The user's index is ahead of the commit: a process that dies in between leaves nothing to mend.
        let entries = self.index_entries(&lines)?;
        let staged = self.call(STAGE).input(lines).run()?;
        if let Some(failure) = staged.failure {
            return Ok(CommitOutcome::Blocked(blocked(failure, &[])));
        }
        let result = self.make(message, |call| call.env("GIT_INDEX_FILE", &index));
        if let Ok(CommitOutcome::Committed { .. }) = &result {
            self.follow_hooks(files, &before)?;
        } else {
            self.call(STAGE).input(entries).output()?;
        }
        result
    }

    /// The paths at which `commit` differs from its first parent with `files` as they are in `tree`: a hook
    /// changed or added something. Three processes.
    ///
    /// # Errors
    /// Git fails.
    pub fn rewritten(
        &self,
        commit: &Oid,
        tree: &Oid,
        files: &[RepoPath],
    ) -> Result<Vec<RepoPath>, GitError> {
        let parent = self.parent(commit)?;
        let intended = self.lines_between(&parent, tree, Some(files))?;
        let made = self.lines_between(&parent, commit, None)?;
        let [intended, made]: [HashSet<&[u8]>; 2] =
            [&intended, &made].map(|lines| records(lines).collect());
        let mut paths: Vec<RepoPath> = intended
            .symmetric_difference(&made)
            .filter_map(|r| path_of(r))
            .collect();
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// The first parent of `commit`.
    ///
    /// # Errors
    /// Git fails, or there is none.
    pub fn parent(&self, commit: &Oid) -> Result<Oid, GitError> {
        self.call("rev-parse --verify --end-of-options")
            .arg(format!("{commit}^"))
            .oid()
    }

    /// The entries of the user's index at the paths of `lines`, as lines for `--index-info`.
    fn index_entries(&self, lines: &[u8]) -> Result<Vec<u8>, GitError> {
        let paths: Vec<RepoPath> = records(lines).filter_map(path_of).collect();
        let mut entries = Vec::new();
        for record in records(lines) {
            let nothing = record
                .split(|&b| b == b' ')
                .nth(1)
                .map_or(40, |id| id.iter().take_while(|b| **b != b'\t').count());
            let path = path_of(record).unwrap_or_else(|| RepoPath::from_bytes(b""));
            entries.extend(
                [
                    b"0 ",
                    "0".repeat(nothing).as_bytes(),
                    b"\t",
                    path.as_bytes(),
                    b"\0",
                ]
                .concat(),
            );
        }
        entries.extend(self.call("ls-files --stage -z").paths(&paths).output()?);
        Ok(entries)
    }

    /// Commits exactly what is staged. Runs hooks and respects signing.
    ///
    /// # Errors
    /// Git can't be run or its output can't be read. A problem that a person can settle is
    /// [`CommitOutcome::Blocked`].
    pub fn commit_staged(&self, message: &str) -> Result<CommitOutcome, GitError> {
        match self.before_commit()? {
            Err(blocked) => Ok(CommitOutcome::Blocked(blocked)),
            Ok(status) if !status.entries.iter().any(StatusEntry::is_staged) => {
                Ok(CommitOutcome::NothingToCommit)
            }
            Ok(_) => self.make(message, |call| call),
        }
    }

    /// The reason why no commit can be made now, if any. Waits a moment for another git.
    ///
    /// # Errors
    /// Git can't be run or its output can't be read.
    pub fn commit_obstacle(&self) -> Result<Option<Blocked>, GitError> {
        Ok(self.before_commit()?.err())
    }

    /// The differences from HEAD, or the reason why no commit can be made.
    fn before_commit(&self) -> Result<Result<WorkingTreeStatus, Blocked>, GitError> {
        if let Some(operation) = self
            .state()
            .filter(|&operation| operation != Operation::Bisect)
        {
            return Ok(Err(Blocked::InProgress(operation)));
        }
        if let Some(lock) = self.wait_for_locks() {
            return Ok(Err(Blocked::Locked(lock)));
        }
        let status = self.status()?;
        let unmerged = status
            .entries
            .iter()
            .filter(|entry| entry.state == EntryState::Unmerged);
        let unmerged: Vec<RepoPath> = unmerged.map(|entry| entry.path.clone()).collect();
        Ok(if unmerged.is_empty() {
            Ok(status)
        } else {
            Err(Blocked::Conflict(unmerged))
        })
    }

    /// Resets the index entries of `files` to HEAD, in case the git that committed them died before it wrote
    /// the index. Leaves an index alone that stays locked.
    ///
    /// # Errors
    /// Git can't be run or its output can't be read.
    pub fn follow_commit(&self, files: &[RepoPath]) -> Result<(), GitError> {
        let status = self.status()?;
        let stale = |e: &&StatusEntry| e.is_staged() && files.contains(&e.path);
        let mut stale = status
            .entries
            .iter()
            .filter(stale)
            .map(|e| &e.path)
            .peekable();
        if stale.peek().is_none() || self.wait_for_locks().is_some() {
            return Ok(());
        }
        self.take_back(stale)
    }

    /// Waits until no lock is in the way of a commit; the first that stays, from git's folder.
    fn wait_for_locks(&self) -> Option<String> {
        let start = Instant::now();
        loop {
            let lock = self.locks().into_iter().next()?;
            if start.elapsed() > LOCK_PATIENCE {
                let shown = lock.strip_prefix(self.common_dir()).unwrap_or(&lock);
                return Some(shown.to_string_lossy().into_owned());
            }
            std::thread::sleep(LOCK_POLL);
        }
    }

    /// The locks that are there now, of those that a commit may need.
    pub fn locks(&self) -> Vec<PathBuf> {
        let head = file::read_text(&self.git_dir().join("HEAD"), HEAD_CAP).unwrap_or_default();
        let branch = head.strip_prefix("ref: ").map(str::trim_end);
        let branch = branch.filter(|name| path::normal(name).is_ok());
        let of_head = ["index", "HEAD"].map(|name| (self.git_dir(), name));
        let of_all = branch.into_iter().chain(["packed-refs", "config"]);
        let of_all = of_all.map(|name| (self.common_dir(), name));
        of_head
            .into_iter()
            .chain(of_all)
            .map(|(folder, name)| folder.join(format!("{name}.lock")))
            .filter(|lock| lock.exists())
            .collect()
    }

    /// Resets the index entries of `paths` to HEAD.
    pub(crate) fn take_back<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p RepoPath>,
    ) -> Result<(), GitError> {
        let list = nul_ended(paths);
        if list.is_empty() {
            return Ok(());
        }
        self.call("reset -q --pathspec-from-file=- --pathspec-file-nul")
            .input(list)
            .output()
            .map(drop)
    }

    /// Makes a commit by a `git commit` to which `with` adds what it takes.
    fn make(
        &self,
        message: &str,
        with: impl FnOnce(GitCall) -> GitCall,
    ) -> Result<CommitOutcome, GitError> {
        let message = temporary(message.as_bytes())?;
        let call = self.call_with_hooks("commit --cleanup=whitespace --no-edit");
        let call = with(call.arg("-F").arg(message.path()));
        let Finished {
            stdout, failure, ..
        } = self.locked(call)?.run()?;
        Ok(match failure {
            None => CommitOutcome::Committed {
                hash: self.head()?.commit,
            },
            Some(failure) if is_nothing(&failure, &stdout) => CommitOutcome::NothingToCommit,
            Some(failure) => CommitOutcome::Blocked(blocked(failure, &stdout)),
        })
    }

    /// Updates the user's index after a hook that rewrote some of `files`, or added others, which were not staged
    /// `before`. Git leaves the version from before the hook in the index, as if staged, and the user's next commit would
    /// undo the hook's work.
    fn follow_hooks(&self, files: &[RepoPath], before: &WorkingTreeStatus) -> Result<(), GitError> {
        let mut stale = self.status()?.entries;
        stale.retain(|e| e.is_staged() && (files.contains(&e.path) || !before.has_staged(&e.path)));
        if stale.is_empty() {
            return Ok(());
        }
        let committed = self.last_commit()?.map(|commit| commit.files);
        let committed = committed.unwrap_or_default();
        let stale = stale.iter().map(|e| &e.path);
        self.take_back(stale.filter(|path| committed.contains(path)))
    }

    /// `call`, with a process that holds the commit lock, if there is one.
    pub(super) fn locked(&self, call: GitCall) -> Result<GitCall, GitError> {
        let Some(lock) = &self.commit_lock else {
            return Ok(call);
        };
        Ok(call.holds(lock.try_clone().map_err(GitError::io("hold the lock"))?))
    }
}

/// Updates an index by lines.
const STAGE: &str = "update-index --replace -z --index-info";

fn records(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines.split(|&b| b == 0).filter(|record| !record.is_empty())
}

/// The path in a line for `--index-info`.
fn path_of(record: &[u8]) -> Option<RepoPath> {
    let at = record.iter().position(|&b| b == b'\t')?;
    Some(RepoPath::from_bytes(&record[at + 1..]))
}

fn temporary(content: &[u8]) -> Result<tempfile::NamedTempFile, GitError> {
    let mut file = tempfile::NamedTempFile::new().map_err(GitError::io("make a temporary file"))?;
    file.write_all(content)
        .map_err(GitError::io(format!("write {}", file.path().display())))?;
    Ok(file)
}

/// The paths for git, each ended by NUL.
pub(super) fn nul_ended<'p>(paths: impl IntoIterator<Item = &'p RepoPath>) -> Vec<u8> {
    paths
        .into_iter()
        .flat_map(|path| [path.as_bytes(), b"\0"].concat())
        .collect()
}

fn is_nothing(failure: &GitFailure, stdout: &[u8]) -> bool {
    let said = String::from_utf8_lossy(stdout);
    let sentences = [
        "nothing to commit",
        "nothing added to commit",
        "no changes added to commit",
    ];
    failure.status == Some(1) && sentences.iter().any(|sentence| said.contains(sentence))
}

/// The lock over which git failed, from its folder: "Unable to create '/repo/.git/HEAD.lock': File exists."
fn lock_in_the_way(stderr: &str) -> Option<String> {
    let (before, _) = stderr.split_once(".lock': File exists")?;
    let path = before.rsplit_once('\'')?.1;
    let shown = path.rsplit_once("/.git/").map_or(path, |(_, name)| name);
    Some(format!("{shown}.lock"))
}

/// Recognises a lock by git's messages, which are in English here.
fn blocked(failure: GitFailure, stdout: &[u8]) -> Blocked {
    match lock_in_the_way(&failure.stderr) {
        Some(lock) => Blocked::Locked(lock),
        None => {
            let all = [stdout, failure.stderr.as_bytes()].concat();
            Blocked::Failed(readable_tail(&all, OUTPUT_TAIL))
        }
    }
}

//! Commits exactly the recorded files. Plain `git commit` would include whatever the user has staged.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fp_plan::plan::path;
use fp_plan::repo_path::RepoPath;

use super::command::{Finished, GitCall, readable_tail};
use super::status::head_text;
use super::tree::INDEX;
use super::{
    EntryState, Git, GitFailure, Oid, Operation, StatusEntry, WorkingTreeStatus, records_of,
};
use crate::error::{HostError, HostResult};

/// Time to wait for another process that holds the index; editors hold it only briefly.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
const LOCK_POLL: Duration = Duration::from_millis(20);
/// Number of bytes kept from the end of the output of git and its hooks.
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
    /// No commit was made, and the index is unchanged.
    Blocked(Blocked),
}

/// Why no commit was made; a person has to resolve it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Blocked {
    /// The user has to finish a merge, a rebase or another operation first.
    #[error("a {0} is in progress; {way_out}", way_out = .0.way_out())]
    InProgress(Operation),
    /// A lock that a commit may need is held by another process or was left behind by one that died. The value is its
    /// path in git's folder.
    #[error("git is locked: another git process is at work, or one that died left `{0}` behind")]
    Locked(String),
    /// Files are in conflict, whether or not they belong to this commit.
    #[error("files are in conflict: {}; settle them and `git add` them", file_list(.0))]
    Conflict(Vec<RepoPath>),
    /// A hook rejected the commit, it couldn't be signed, or git failed in another way. The value is the end of the
    /// output.
    #[error("git made no commit{}", if .0.is_empty() { ", and said nothing".into() } else { format!(": {}", .0) })]
    Failed(String),
}

/// The paths on one line.
pub(crate) fn file_list(files: &[RepoPath]) -> String {
    files
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// A clause for the end of an error message, listing the files that were left as they are because they changed during a
/// failed commit.
pub(crate) fn stays_as_edited(files: &[RepoPath]) -> Option<String> {
    (!files.is_empty()).then(|| {
        format!(
            "; edited meanwhile, and left as it is: {}",
            file_list(files)
        )
    })
}

/// The name of the notes with the evidence for commits, below `refs/notes/`.
const NOTES: &str = "fp";

impl Git {
    /// The commits that have a note of `fp`.
    ///
    /// # Errors
    /// Git fails.
    pub fn noted_commits(&self) -> HostResult<HashSet<String>> {
        let call = self.call("notes").arg(format!("--ref={NOTES}"));
        let listed = call.arg("list").output()?;
        let listed = String::from_utf8_lossy(&listed);
        let noted = listed.lines().filter_map(|line| line.split_once(' '));
        Ok(noted.map(|(_, commit)| commit.to_owned()).collect())
    }

    /// Makes `text` the note of `fp` on `commit`.
    ///
    /// # Errors
    /// Git fails, or there is no such commit.
    pub fn add_note(&self, commit: &str, text: &str) -> HostResult<()> {
        let call = self.call("notes").arg(format!("--ref={NOTES}"));
        let call = call.arg("add").arg("--force").arg("--file=-");
        let call = call.arg("--end-of-options").arg(commit);
        call.input(text.as_bytes().to_vec()).output().map(drop)
    }
}

impl Git {
    /// Commits the working tree's version of `files` (both ends of a rename), as [`Git::commit_tree`] does.
    pub fn commit(&self, files: &[RepoPath], message: &str) -> HostResult<CommitOutcome> {
        let folder = self.temporary_index_of_head()?;
        let index = folder.path().join(INDEX);
        let mut status = self.status_by(&index)?;
        status.entries.retain(|entry| files.contains(&entry.path));
        for entry in &mut status.entries {
            // An uncommitted change inside a submodule can't be committed here.
            if let EntryState::Tracked {
                dirty_submodule, ..
            } = &mut entry.state
            {
                *dirty_submodule = false;
            }
        }
        self.update_index(&index, &status)?;
        self.commit_tree(&self.tree_of(&index)?, files, message)
    }

    /// Commits `files` (both ends of a rename) as they are in `tree`, regardless of the working tree. Anything else
    /// that is staged stays staged. Runs hooks and signs if git is configured to. Skips files that don't differ from
    /// HEAD.
    ///
    /// # Errors
    /// Git can't be run or its output can't be read. A problem that a person can resolve is returned as
    /// [`CommitOutcome::Blocked`].
    pub fn commit_tree(
        &self,
        tree: &Oid,
        files: &[RepoPath],
        message: &str,
    ) -> HostResult<CommitOutcome> {
        let before = match self.status_or_obstacle()? {
            Ok(before) => before,
            Err(blocked) => return Ok(CommitOutcome::Blocked(blocked)),
        };
        let base = match &before.commit {
            Some(commit) => commit.clone(),
            None => self.empty_tree()?,
        };
        let lines = self.lines_between(&base, tree, Some(files))?;
        if lines.is_empty() {
            return Ok(CommitOutcome::NothingToCommit);
        }
        let folder = self.temporary_index_of_head()?;
        let index = folder.path().join(INDEX);
        self.call_on(&index, STAGE).input(lines.clone()).output()?;
        // The user's index is updated before the commit, so a process that dies in between leaves nothing to repair.
        let entries = self.index_entries(&lines, tree)?;
        let staged = self.call(STAGE).input(lines).run()?;
        if let Some(failure) = staged.failure {
            return Ok(CommitOutcome::Blocked(blocked_by(&failure, &[])));
        }
        let result = self.run_commit(message, |call| call.env("GIT_INDEX_FILE", &index));
        if let Ok(CommitOutcome::Committed { .. }) = &result {
            self.follow_hooks(files, &before)?;
        } else {
            self.call(STAGE).input(entries).output()?;
        }
        result
    }

    /// The paths at which `commit` differs from the intended commit, which is its first parent plus `files` as they are
    /// in `tree`: a hook may have changed or added something. Three processes.
    ///
    /// # Errors
    /// Git fails.
    pub fn rewritten(
        &self,
        commit: &Oid,
        tree: &Oid,
        files: &[RepoPath],
    ) -> HostResult<Vec<RepoPath>> {
        let parent = self.parent(commit)?;
        let intended = self.lines_between(&parent, tree, Some(files))?;
        let made = self.lines_between(&parent, commit, None)?;
        let [intended, made]: [HashSet<&[u8]>; 2] =
            [&intended, &made].map(|lines| records_of(lines).collect());
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
    /// Git fails, or `commit` has no parent.
    pub fn parent(&self, commit: &Oid) -> HostResult<Oid> {
        self.call("rev-parse --verify --end-of-options")
            .arg(format!("{commit}^"))
            .oid()
    }

    /// The entries of the user's index at the paths in `lines`, as lines for `--index-info`, along with lines that
    /// remove paths that aren't in the index. `tree` only determines the length of the ids.
    fn index_entries(&self, lines: &[u8], tree: &Oid) -> HostResult<Vec<u8>> {
        let paths: Vec<RepoPath> = records_of(lines).filter_map(path_of).collect();
        let nothing = format!("0 {}\t", "0".repeat(tree.as_str().len()));
        let taken_out = paths
            .iter()
            .map(|path| [nothing.as_bytes(), path.as_bytes(), b"\0"].concat());
        let mut entries: Vec<u8> = taken_out.flatten().collect();
        entries.extend(self.call("ls-files --stage -z").paths(&paths).output()?);
        Ok(entries)
    }

    /// Commits exactly what is staged. Runs hooks and respects signing.
    ///
    /// # Errors
    /// As for [`Git::commit_tree`].
    pub fn commit_staged(&self, message: &str) -> HostResult<CommitOutcome> {
        match self.status_or_obstacle()? {
            Err(blocked) => Ok(CommitOutcome::Blocked(blocked)),
            Ok(status) if !status.entries.iter().any(StatusEntry::is_staged) => {
                Ok(CommitOutcome::NothingToCommit)
            }
            Ok(_) => self.run_commit(message, |call| call),
        }
    }

    /// The reason why no commit can be made now, if any. Waits a moment for another git.
    ///
    /// # Errors
    /// Git can't be run or its output can't be read.
    pub fn commit_obstacle(&self) -> HostResult<Option<Blocked>> {
        Ok(self.status_or_obstacle()?.err())
    }

    /// The differences from HEAD, or the reason why no commit can be made.
    fn status_or_obstacle(&self) -> HostResult<Result<WorkingTreeStatus, Blocked>> {
        if let Some(operation) = self.blocking_operation() {
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
        Ok(match unmerged.is_empty() {
            true => Ok(status),
            false => Err(Blocked::Conflict(unmerged)),
        })
    }

    /// Resets the index entries of `files` to HEAD, in case the git process that committed them died before it wrote
    /// the index. If the index stays locked, leaves it alone.
    ///
    /// # Errors
    /// Git can't be run or its output can't be read.
    pub fn follow_commit(&self, files: &[RepoPath]) -> HostResult<()> {
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

    /// Waits until no lock blocks a commit; if one stays, returns its path relative to git's folder.
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

    /// The existing locks among those that a commit may need.
    pub fn locks(&self) -> Vec<PathBuf> {
        let head = head_text(&self.git_dir().join("HEAD")).unwrap_or_default();
        let branch = head.strip_prefix("ref: ");
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
    ) -> HostResult<()> {
        let list = nul_ended(paths);
        if list.is_empty() {
            return Ok(());
        }
        self.call("reset -q --pathspec-from-file=- --pathspec-file-nul")
            .input(list)
            .output()
            .map(drop)
    }

    /// Runs `git commit` with `message`; `with` completes the call.
    fn run_commit(
        &self,
        message: &str,
        with: impl FnOnce(GitCall) -> GitCall,
    ) -> HostResult<CommitOutcome> {
        let message = message_file(message).map_err(HostError::doing("make a temporary file"))?;
        let call = self.call_with_hooks("commit --cleanup=whitespace --no-edit");
        let call = with(call.arg("-F").arg(message.path()));
        let Finished {
            stdout, failure, ..
        } = self.locked(call)?.run()?;
        Ok(match failure {
            None => CommitOutcome::Committed { hash: self.head()? },
            Some(failure) if is_nothing(&failure, &stdout) => CommitOutcome::NothingToCommit,
            Some(failure) => CommitOutcome::Blocked(blocked_by(&failure, &stdout)),
        })
    }

    /// Updates the user's index after a hook has rewritten some of `files`, or has added other files that weren't
    /// staged `before`. Otherwise git leaves the pre-hook version in the index, as if staged, and the user's next
    /// commit would undo the hook's work.
    fn follow_hooks(&self, files: &[RepoPath], before: &WorkingTreeStatus) -> HostResult<()> {
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

    /// Makes the process of `call` hold the commit lock, if there is one.
    pub(super) fn locked(&self, call: GitCall) -> HostResult<GitCall> {
        let Some(lock) = &self.commit_lock else {
            return Ok(call);
        };
        Ok(call.holds(
            lock.try_clone()
                .map_err(HostError::doing("hold the lock"))?,
        ))
    }
}

/// Updates an index from lines on stdin.
const STAGE: &str = "update-index --replace -z --index-info";

/// The path in a line for `--index-info`.
fn path_of(record: &[u8]) -> Option<RepoPath> {
    let at = record.iter().position(|&b| b == b'\t')?;
    Some(RepoPath::from_bytes(&record[at + 1..]))
}

fn message_file(message: &str) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(message.as_bytes())?;
    Ok(file)
}

/// The paths as input for git, each terminated by NUL.
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

/// The path, relative to git's folder, of the lock named in a git error such as "Unable to create
/// '/repo/.git/HEAD.lock': File exists."
fn lock_in_the_way(stderr: &str) -> Option<String> {
    let (before, _) = stderr.split_once(".lock': File exists")?;
    let path = before.rsplit_once('\'')?.1;
    let shown = path.rsplit_once("/.git/").map_or(path, |(_, name)| name);
    Some(format!("{shown}.lock"))
}

/// Recognises a lock by git's messages, which are in English because git runs with `LC_MESSAGES=C`.
fn blocked_by(failure: &GitFailure, stdout: &[u8]) -> Blocked {
    match lock_in_the_way(&failure.stderr) {
        Some(lock) => Blocked::Locked(lock),
        None => {
            let all = [stdout, failure.stderr.as_bytes()].concat();
            Blocked::Failed(readable_tail(&all, OUTPUT_TAIL))
        }
    }
}

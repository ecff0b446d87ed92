//! Undoes a commit with another one. `git revert` requires an index with nothing staged and leaves conflicts
//! in the working tree; this computes the result apart from both, and what is staged stays staged.

use std::collections::HashSet;

use fp_plan::repo_path::RepoPath;
use fp_run::verification::change::{Change, ChangeStatus, FileKind};

use super::command::Finished;
use super::commit::nul_ended;
use super::history::reverts;
use super::tree::INDEX;
use super::{CommitOutcome, Git, GitError, Oid, StatusEntry};

/// The result of trying to undo a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undoing {
    Clean(Undo),
    /// Later commits changed the same lines of these files.
    Conflict(Vec<RepoPath>),
}

/// HEAD with one commit undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undo {
    commit: Oid,
    head: Oid,
    tree: Oid,
    /// Empty if nothing of the commit is left.
    pub changes: Vec<Change>,
}

impl Undo {
    /// The files that change, with both ends of a rename.
    pub fn files(&self) -> Vec<RepoPath> {
        self.changes
            .iter()
            .flat_map(|change| change.ends().cloned().collect::<Vec<_>>())
            .collect()
    }

    /// The files that come back.
    fn created(&self) -> impl Iterator<Item = &RepoPath> {
        let comes_back = |change: &&Change| {
            matches!(
                change.status,
                ChangeStatus::Added | ChangeStatus::Renamed { .. }
            )
        };
        self.changes
            .iter()
            .filter(comes_back)
            .map(|change| &change.path)
    }

    /// The changed submodules, which `fp` can't reset.
    pub fn submodules(&self) -> Vec<RepoPath> {
        let submodules = self
            .changes
            .iter()
            .filter(|change| change.kind == FileKind::Submodule);
        submodules.map(|change| change.path.clone()).collect()
    }
}

impl Git {
    /// Computes HEAD without `commit`, relative to its first parent. Touches neither index nor working tree.
    /// At most twelve processes.
    ///
    /// # Errors
    /// Git fails.
    pub fn undo(&self, commit: &Oid) -> Result<Undoing, GitError> {
        let head = self.head()?.commit;
        let clean = |tree: Oid, changes| {
            Undoing::Clean(Undo {
                commit: commit.clone(),
                head: head.clone(),
                tree,
                changes,
            })
        };
        let patch = self.patch(&self.before(commit)?, commit)?;
        if patch.is_empty() {
            return Ok(clean(head.clone(), Vec::new()));
        }
        let folder = self.folder_with_index(&head)?;
        let index = folder.path().join(INDEX);
        let patched = |options: &[&str]| {
            let arguments = [
                &["apply", "--cached", "--whitespace=nowarn"],
                options,
                &["-"],
            ]
            .concat();
            self.call(&arguments)
                .env("GIT_INDEX_FILE", &index)
                .input(patch.clone())
                .run()
        };
        // `git apply` ends with 1 if a patch doesn't fit, and with more if git itself fails.
        let fits = |finished: &Finished| {
            finished
                .failure
                .as_ref()
                .is_none_or(|f| f.status != Some(1))
        };
        let undone = patched(&["--reverse", "--3way"])?;
        if fits(&undone) {
            undone.into_output()?;
            let tree = self.tree_of(&index)?;
            let changes = self.diff(&head, &tree)?;
            return Ok(clean(tree, changes));
        }
        let conflict = self.conflict(commit, &index)?;
        self.call(&["read-tree", head.as_str()])
            .env("GIT_INDEX_FILE", &index)
            .output()?;
        // If the patch applies forward again, nothing of it is left, unless its files moved.
        let made_again = patched(&["--check"])?;
        if fits(&made_again) && !self.has_moved(commit, &head)? {
            made_again.into_output()?;
            return Ok(clean(head.clone(), Vec::new()));
        }
        Ok(Undoing::Conflict(conflict))
    }

    /// True if `head` has a file of `commit` under another name.
    fn has_moved(&self, commit: &Oid, head: &Oid) -> Result<bool, GitError> {
        let files = self.files_of(commit)?;
        let moved = |change: &Change| match &change.status {
            ChangeStatus::Renamed { from } => files.contains(from),
            _ => false,
        };
        Ok(self.diff(commit, head)?.iter().any(moved))
    }

    /// What was there before `commit`: its first parent, or nothing if it is the first one.
    fn before(&self, commit: &Oid) -> Result<Oid, GitError> {
        self.parent(commit).or_else(|_| self.empty_tree())
    }

    pub(super) fn empty_tree(&self) -> Result<Oid, GitError> {
        self.call(&["hash-object", "-t", "tree", "--stdin"])
            .input(Vec::new())
            .oid()
    }

    fn files_of(&self, commit: &Oid) -> Result<Vec<RepoPath>, GitError> {
        let changes = self.diff(&self.before(commit)?, commit)?;
        Ok(changes
            .iter()
            .flat_map(|change| change.ends().cloned().collect::<Vec<_>>())
            .collect())
    }

    /// The files in conflict in `index`; all files of the commit if git rejected the whole patch.
    fn conflict(&self, commit: &Oid, index: &std::path::Path) -> Result<Vec<RepoPath>, GitError> {
        let output = self
            .call(&["ls-files", "-z", "--unmerged"])
            .env("GIT_INDEX_FILE", index)
            .output()?;
        let records = output.split(|&b| b == 0).filter_map(|record| {
            let path = record.iter().position(|&b| b == b'\t')? + 1;
            Some(RepoPath::from_bytes(&record[path..]))
        });
        let mut files: Vec<RepoPath> = records.collect();
        if files.is_empty() {
            files = self.files_of(commit)?;
        }
        files.dedup();
        Ok(files)
    }

    /// The files of `undo` with uncommitted changes of the user's. Doesn't count what a killed undo left in
    /// the working tree.
    ///
    /// # Errors
    /// Git fails.
    pub fn in_the_way(&self, undo: &Undo) -> Result<Vec<RepoPath>, GitError> {
        let files = undo.files();
        let snapshot = self.snapshot_tree()?;
        let left = self.diff(&undo.tree, &snapshot.tree)?;
        let left: HashSet<&RepoPath> = left.iter().flat_map(Change::ends).collect();
        let status = self.status()?;
        let differing = status
            .entries
            .iter()
            .filter(|entry| files.contains(&entry.path));
        let staged = self
            .call(&[
                "diff-index",
                "--cached",
                "--name-only",
                "-z",
                undo.tree.as_str(),
            ])
            .output()?;
        let staged: HashSet<&[u8]> = staged.split(|&b| b == 0).collect();
        let is_staged =
            |entry: &StatusEntry| entry.is_staged() && staged.contains(entry.path.as_bytes());
        let the_users = differing.filter(|entry| is_staged(entry) || left.contains(&entry.path));
        let mut found: Vec<RepoPath> = the_users.map(|entry| entry.path.clone()).collect();
        // Status doesn't list ignored files.
        let unknown = |path: &&RepoPath| status.entries.iter().all(|entry| entry.path != **path);
        let ignored = undo.created().filter(unknown);
        found.extend(
            ignored
                .filter(|path| self.absolute(path).symlink_metadata().is_ok())
                .cloned(),
        );
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Writes `undo` to the working tree and commits it; nothing may be [in the way](Git::in_the_way).
    /// Restores the files if the commit can't be made, but for those that were edited meanwhile, which it returns.
    ///
    /// # Errors
    /// Git can't be run or its output can't be read. A problem that a person can settle is
    /// [`CommitOutcome::Blocked`].
    pub fn commit_undo(&self, undo: &Undo) -> Result<(CommitOutcome, Vec<RepoPath>), GitError> {
        if let Some(blocked) = self.commit_obstacle()? {
            return Ok((CommitOutcome::Blocked(blocked), Vec::new()));
        }
        let files = undo.files();
        let subject = self.subject_of(&undo.commit)?;
        let message = format!("Revert \"{subject}\"\n\n{}\n", reverts(&undo.commit));
        // One that was killed may have left it staged.
        self.take_back(&files)?;
        let made = self
            .restore(&undo.tree, &files)
            .and_then(|()| self.commit_tree(&undo.tree, &files, &message));
        let edited = match made {
            Ok(CommitOutcome::Committed { .. }) => Vec::new(),
            _ => self.put_back(undo)?,
        };
        Ok((made?, edited))
    }

    fn subject_of(&self, commit: &Oid) -> Result<String, GitError> {
        let output = self
            .log(&["--max-count=1", "--format=%s"], commit.as_str())
            .output()?;
        let text = String::from_utf8_lossy(&output).into_owned();
        Ok(text.trim_end_matches(['\0', '\n']).to_owned())
    }

    /// Writes `files` as they are in `tree`; removes those that it doesn't have.
    fn restore(&self, tree: &Oid, files: &[RepoPath]) -> Result<(), GitError> {
        if files.is_empty() {
            return Ok(());
        }
        let source = format!("--source={tree}");
        let arguments = [
            "restore",
            "--worktree",
            &source,
            "--pathspec-from-file=-",
            "--pathspec-file-nul",
        ];
        self.call(&arguments)
            .input(nul_ended(files))
            .output()
            .map(drop)
    }

    /// Restores the files of HEAD, but for those that were edited since `undo` was written, which it returns.
    fn put_back(&self, undo: &Undo) -> Result<Vec<RepoPath>, GitError> {
        let files = undo.files();
        let (as_undone, as_before) = (
            self.unlike(&undo.tree, &files)?,
            self.unlike(&undo.head, &files)?,
        );
        let edited: Vec<RepoPath> = as_undone.intersection(&as_before).cloned().collect();
        let created: Vec<&RepoPath> = undo
            .created()
            .filter(|path| !edited.contains(path))
            .collect();
        for path in &created {
            let path = self.absolute(path);
            // Fails if the file was never written, which is fine.
            drop(std::fs::remove_file(&path));
            for folder in path
                .ancestors()
                .skip(1)
                .take_while(|folder| *folder != self.worktree())
            {
                // A folder that is not empty stays.
                if std::fs::remove_dir(folder).is_err() {
                    break;
                }
            }
        }
        let kept: Vec<RepoPath> = files
            .iter()
            .filter(|path| !created.contains(path) && !edited.contains(path))
            .cloned()
            .collect();
        self.restore(&undo.head, &kept)?;
        Ok(edited)
    }
}

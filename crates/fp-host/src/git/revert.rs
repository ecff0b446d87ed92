//! Undoes a commit by another one. `git revert` itself asks for an index without anything staged, and leaves its
//! conflicts in the working tree; here the result is found beside both, and what is staged stays staged.

use std::collections::HashSet;

use fp_plan::repo_path::RepoPath;
use fp_run::verification::change::{Change, ChangeStatus, FileKind};

use super::command::Finished;
use super::history::reverts;
use super::tree::INDEX;
use super::{CommitOutcome, Git, GitError, Oid};

/// What undoing a commit comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undoing {
    /// It can be undone.
    Clean(Undo),
    /// Later commits have changed the same lines of these files.
    Conflict(Vec<RepoPath>),
}

/// How HEAD would be without a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undo {
    commit: Oid,
    head: Oid,
    tree: Oid,
    /// What changes. Nothing where what the commit did is gone already.
    pub changes: Vec<Change>,
}

impl Undo {
    /// The files that change, both ends of a rename.
    pub fn files(&self) -> Vec<RepoPath> {
        self.changes.iter().flat_map(|change| change.ends().cloned().collect::<Vec<_>>()).collect()
    }

    /// The files that come back.
    fn created(&self) -> impl Iterator<Item = &RepoPath> {
        let comes_back =
            |change: &&Change| matches!(change.status, ChangeStatus::Added | ChangeStatus::Renamed { .. });
        self.changes.iter().filter(comes_back).map(|change| &change.path)
    }

    /// The submodules among them, which can't be set back from here.
    pub fn submodules(&self) -> Vec<RepoPath> {
        let submodules = self.changes.iter().filter(|change| change.kind == FileKind::Submodule);
        submodules.map(|change| change.path.clone()).collect()
    }
}

impl Git {
    /// What HEAD would be without `commit`, against its first parent. Neither index nor working tree is touched. At
    /// most eight processes.
    ///
    /// # Errors
    /// A failing git.
    pub fn undo(&self, commit: &Oid) -> Result<Undoing, GitError> {
        let head = self.head()?.commit;
        let clean = |tree: Oid, changes| {
            Undoing::Clean(Undo { commit: commit.clone(), head: head.clone(), tree, changes })
        };
        let patch = self.patch_of(commit)?;
        if patch.is_empty() {
            return Ok(clean(head.clone(), Vec::new()));
        }
        let folder = self.folder_with_index(&head)?;
        let index = folder.path().join(INDEX);
        let patched = |options: &[&str]| {
            let arguments = [&["apply", "--cached", "--whitespace=nowarn"], options, &["-"]].concat();
            self.call(&arguments).env("GIT_INDEX_FILE", &index).input(patch.clone()).run()
        };
        // It ends with 1 where a patch doesn't fit, and with more where git itself fails.
        let fits = |finished: &Finished| finished.failure.as_ref().is_none_or(|f| f.status != Some(1));
        let undone = patched(&["--reverse", "--3way"])?;
        if fits(&undone) {
            undone.into_output()?;
            let tree = self.tree_of(&index)?;
            let changes = self.diff(&head, &tree)?;
            return Ok(clean(tree, changes));
        }
        let conflict = self.conflict(commit, &index)?;
        self.call(&["read-tree", head.as_str()]).env("GIT_INDEX_FILE", &index).output()?;
        // Where it could be made once more, nothing of it is left, unless it has moved.
        let made_again = patched(&["--check"])?;
        if fits(&made_again) && !self.has_moved(commit, &head)? {
            made_again.into_output()?;
            return Ok(clean(head.clone(), Vec::new()));
        }
        Ok(Undoing::Conflict(conflict))
    }

    /// Whether a file that `commit` has changed has another name in `head`.
    fn has_moved(&self, commit: &Oid, head: &Oid) -> Result<bool, GitError> {
        let files = self.files_of(commit)?;
        let moved = |change: &Change| match &change.status {
            ChangeStatus::Renamed { from } => files.contains(from),
            _ => false,
        };
        Ok(self.diff(commit, head)?.iter().any(moved))
    }

    fn files_of(&self, commit: &Oid) -> Result<Vec<RepoPath>, GitError> {
        let arguments = ["diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only"];
        let call = self.call(
            &[&arguments[..], &["--diff-merges=first-parent", "--end-of-options", commit.as_str()]].concat(),
        );
        let names = call.output()?;
        Ok(names.split(|&b| b == 0).filter(|name| !name.is_empty()).map(RepoPath::from_bytes).collect())
    }

    fn patch_of(&self, commit: &Oid) -> Result<Vec<u8>, GitError> {
        let mut call =
            self.call(&["diff-tree", "-p", "--root", "--no-commit-id", "--diff-merges=first-parent"]);
        let options =
            ["--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"];
        for option in options.iter().chain(&["--submodule=short", "--src-prefix=a/", "--dst-prefix=b/"]) {
            call = call.arg(option);
        }
        call.arg("--end-of-options").arg(commit.as_str()).output()
    }

    /// The files that are in conflict in `index`; all of the commit's where git gave up on a whole.
    fn conflict(&self, commit: &Oid, index: &std::path::Path) -> Result<Vec<RepoPath>, GitError> {
        let output = self.call(&["ls-files", "-z", "--unmerged"]).env("GIT_INDEX_FILE", index).output()?;
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

    /// The files that `undo` changes and in which the user has something that no commit has. What an undoing that
    /// died has left in the working tree is none such.
    ///
    /// # Errors
    /// A failing git.
    pub fn in_the_way(&self, undo: &Undo) -> Result<Vec<RepoPath>, GitError> {
        let files = undo.files();
        let snapshot = self.snapshot_tree()?;
        let left = self.diff(&undo.tree, &snapshot.tree)?;
        let left: HashSet<&RepoPath> = left.iter().flat_map(Change::ends).collect();
        let status = self.status()?;
        let differing = status.entries.iter().filter(|entry| files.contains(&entry.path));
        let the_users = differing.filter(|entry| entry.is_staged() || left.contains(&entry.path));
        let mut found: Vec<RepoPath> = the_users.map(|entry| entry.path.clone()).collect();
        // A file that git ignores is in no status.
        let unknown = |path: &&RepoPath| status.entries.iter().all(|entry| entry.path != **path);
        let ignored = undo.created().filter(unknown);
        found.extend(ignored.filter(|path| self.absolute(path).symlink_metadata().is_ok()).cloned());
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Makes `undo` the working tree's files and a commit of its own; nothing may be [in the way](Git::in_the_way).
    /// Where the commit can't be made, the files are as they were.
    ///
    /// # Errors
    /// A git that can't be run or understood; what a person can settle is [`CommitOutcome::Blocked`].
    pub fn commit_undo(&self, undo: &Undo) -> Result<CommitOutcome, GitError> {
        if let Some(blocked) = self.commit_obstacle()? {
            return Ok(CommitOutcome::Blocked(blocked));
        }
        let files = undo.files();
        let subject = self.subject_of(&undo.commit)?;
        let message = format!("Revert \"{subject}\"\n\n{}\n", reverts(&undo.commit));
        let made = self.restore(&undo.tree, &files).and_then(|()| {
            // What comes back may be a file that git ignores, which no status would show.
            match self.intend(undo.created(), &["--force"])? {
                Some(blocked) => Ok(CommitOutcome::Blocked(blocked)),
                None => self.commit(&files, &message),
            }
        });
        if !matches!(made, Ok(CommitOutcome::Committed { .. })) {
            self.put_back(undo)?;
        }
        made
    }

    fn subject_of(&self, commit: &Oid) -> Result<String, GitError> {
        let output = self.log(&["--max-count=1", "--format=%s"], commit.as_str()).output()?;
        let text = String::from_utf8_lossy(&output).into_owned();
        Ok(text.trim_end_matches(['\0', '\n']).to_owned())
    }

    /// Writes `files` as `tree` has them; one that it doesn't have is taken away.
    fn restore(&self, tree: &Oid, files: &[RepoPath]) -> Result<(), GitError> {
        if files.is_empty() {
            return Ok(());
        }
        let source = format!("--source={tree}");
        let arguments = ["restore", "--worktree", &source, "--pathspec-from-file=-", "--pathspec-file-nul"];
        let list = files.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
        self.call(&arguments).input(list).output().map(drop)
    }

    fn put_back(&self, undo: &Undo) -> Result<(), GitError> {
        let created: Vec<&RepoPath> = undo.created().collect();
        for path in &created {
            let path = self.absolute(path);
            // What could not be written is not there.
            drop(std::fs::remove_file(&path));
            for folder in path.ancestors().skip(1).take_while(|folder| *folder != self.worktree()) {
                // One that has something else in it stays.
                if std::fs::remove_dir(folder).is_err() {
                    break;
                }
            }
        }
        let kept: Vec<RepoPath> = undo.files().into_iter().filter(|path| !created.contains(&path)).collect();
        self.restore(&undo.head, &kept)
    }
}

//! Brings a passed change from a builder's worktree into the user's checkout for the commit. First merges it without
//! touching any file there, then renames each file into place. If the process is killed in between, each file is in
//! either its old or its new state, so the next process can tell them from the user's changes.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use fp_plan::repo_path::RepoPath;
use fp_run::run::state::TaskState;
use fp_run::verification::change::{Change, ChangeStatus, FileKind};

use super::frozen::Frozen;
use super::paths;
use super::worktree::Worktrees;
use crate::error::{HostError, HostErrorKind, HostResult};
use crate::file;
use crate::git::{Git, GitCommit, Merge, Oid, is_same};
use crate::plan::OpenPlan;

/// Maximum number of files, of commits and of messages that the feedback on a conflict lists.
const SHOWN: usize = 10;

/// A judged task's work on the newest commit.
pub(super) enum Newest {
    Fits(Frozen),
    /// The work conflicts with commits made in the meantime: the message for the next builder.
    Conflict(String),
}

/// A merged change, staged beside the checkout.
pub(super) struct Incoming<'p> {
    worktrees: Worktrees<'p>,
    stage: tempfile::TempDir,
    placed: Placed,
}

/// A change's files, placed in the checkout.
pub(super) struct Placed {
    git: Git,
    head: Oid,
    /// HEAD's tree with the change applied.
    tree: Oid,
    files: Vec<Place>,
}

struct Place {
    path: RepoPath,
    /// True if the file exists in HEAD.
    was: bool,
    /// True if the file exists after the change.
    is: bool,
}

/// The error for something in the checkout that blocks a task's files.
pub(super) fn in_the_way(reason: &str) -> HostError {
    HostError::refused(reason)
        .with_hint("fix it, then answer again")
        .with_kind(HostErrorKind::InTheWay)
}

/// Merges the judged work of `task` onto HEAD of `git`, the run's checkout, without touching any file.
///
/// # Errors
/// [`HostErrorKind::InTheWay`] if HEAD no longer contains the commit that the work was judged on.
pub(super) fn merge_newest(git: &Git, task: &TaskState, work: &Frozen) -> HostResult<Newest> {
    let head = git.head()?;
    if head == work.onto {
        return Ok(Newest::Fits(work.clone()));
    }
    let (base, files) = (git.tree_of_commit(&head)?, paths(task.measured_changes()));
    if !git.contains(&work.onto)? {
        if task.worktree().is_none() {
            let tree = git.tree_with(&base, &work.tree, &files)?;
            let onto = head;
            return Ok(Newest::Fits(Frozen { tree, onto, base }));
        }
        return Err(in_the_way(&format!(
            "the task is judged on commit {}, which is not in what is checked out: the branch was switched, or its \
             history rewritten",
            work.onto.short()
        )));
    }
    Ok(match git.merge(&work.onto, &work.tree, &files, &head)? {
        Merge::Clean(tree) => {
            let onto = head;
            Newest::Fits(Frozen { tree, onto, base })
        }
        Merge::Conflict {
            files, messages, ..
        } => {
            let commits = git.commits_since(&work.onto)?;
            Newest::Conflict(feedback(&files, &messages, &commits))
        }
    })
}

/// The message for the next builder of work that passed alone, and whose commands fail with `reasons` on the newest
/// commit.
pub(super) fn fails_together(reasons: &str) -> String {
    format!(
        "It passed, and fails together with what was committed meanwhile:\n{reasons}\nMake it pass on the newest commit."
    )
}

/// Writes those of the committed `files` that are still as submitted in `before` as they are in `tree`, because a
/// command changed them there.
pub(super) fn follow_commands(
    plan: &OpenPlan,
    git: &Git,
    (before, tree): (&Oid, &Oid),
    files: &[RepoPath],
) -> HostResult<()> {
    let mut changed = git.diff(before, tree)?;
    changed.retain(|change| files.contains(&change.path) && change.status != ChangeStatus::Deleted);
    let unlike = git.unlike(before, &paths(&changed))?;
    changed.retain(|change| !unlike.contains(&change.path));
    if changed.is_empty() {
        return Ok(());
    }
    let stage = Worktrees::lock(plan)?.temporary()?;
    let there: Vec<Place> = changed
        .into_iter()
        .map(|change| Place {
            path: change.path,
            was: true,
            is: true,
        })
        .collect();
    git.export(
        tree,
        &there.iter().map(|file| &file.path).collect::<Vec<_>>(),
        stage.path(),
    )?;
    put(
        git.worktree(),
        stage.path(),
        (there.iter().collect(), Vec::new()),
    )
}

impl<'p> Incoming<'p> {
    /// Stages the files that turn `head`, which `git` has checked out, into `tree`; `None` if they are equal.
    ///
    /// # Errors
    /// [`HostErrorKind::InTheWay`] if applying them would overwrite something of the user's.
    pub(super) fn stage(
        worktrees: Worktrees<'p>,
        git: &Git,
        head: Oid,
        tree: Oid,
    ) -> HostResult<Option<Self>> {
        let changes = git.diff(&head, &tree)?;
        if changes.is_empty() {
            return Ok(None);
        }
        let is_submodule = |change: &&Change| change.kind == FileKind::Submodule;
        if let Some(Change { path, .. }) = changes.iter().find(is_submodule) {
            return Err(in_the_way(&format!(
                "{path} is a submodule, and fp changes none"
            )));
        }
        let places = changes.iter().flat_map(|change| {
            let from = change.ends().skip(1).map(|from| Place {
                path: from.clone(),
                was: true,
                is: false,
            });
            let (was, is) = match change.status {
                ChangeStatus::Added | ChangeStatus::Renamed { .. } => (false, true),
                ChangeStatus::Deleted => (true, false),
                _ => (true, true),
            };
            from.chain([Place {
                path: change.path.clone(),
                was,
                is,
            }])
            .collect::<Vec<_>>()
        });
        let placed = Placed {
            git: git.clone(),
            head,
            tree,
            files: places.collect(),
        };
        let stage = worktrees.temporary()?;
        let there: Vec<&RepoPath> = placed
            .files
            .iter()
            .filter(|f| f.is)
            .map(|f| &f.path)
            .collect();
        git.export(&placed.tree, &there, stage.path())?;
        if let Some(reason) = placed.obstacle(stage.path())? {
            return Err(in_the_way(&reason));
        }
        Ok(Some(Self {
            worktrees,
            stage,
            placed,
        }))
    }

    /// The files that the change touches, including added and removed ones.
    pub(super) fn files(&self) -> Vec<RepoPath> {
        self.placed
            .files
            .iter()
            .map(|file| file.path.clone())
            .collect()
    }

    /// HEAD's tree with the change applied.
    pub(super) fn tree(&self) -> &Oid {
        &self.placed.tree
    }

    /// Moves the files into the checkout.
    pub(super) fn place(self) -> HostResult<Placed> {
        let Self {
            worktrees,
            stage,
            placed,
            ..
        } = self;
        let is = |file: &&Place| file.is;
        put(
            placed.git.worktree(),
            stage.path(),
            placed.files.iter().partition(is),
        )?;
        drop(worktrees);
        Ok(placed)
    }
}

impl Placed {
    /// Restores the files of HEAD after a failed commit. Leaves, and returns, those that somebody or a hook has edited
    /// since.
    pub(super) fn put_back(self, plan: &OpenPlan) -> HostResult<Vec<RepoPath>> {
        let worktrees = Worktrees::lock(plan)?;
        let stage = worktrees.temporary()?;
        let paths: Vec<RepoPath> = self.files.iter().map(|file| file.path.clone()).collect();
        let there: Vec<&RepoPath> = self
            .files
            .iter()
            .filter(|f| f.was)
            .map(|f| &f.path)
            .collect();
        self.git.export(&self.head, &there, stage.path())?;
        let mut edited = self.git.unlike(&self.tree, &paths)?;
        edited.retain(|path| {
            let staged = on_disk(stage.path(), path);
            let staged = there.contains(&path).then_some(&*staged);
            !is_same(staged, &on_disk(self.git.worktree(), path)).unwrap_or(false)
        });
        let placed = self
            .files
            .iter()
            .filter(|file| !edited.contains(&file.path));
        put(
            self.git.worktree(),
            stage.path(),
            placed.partition(|f| f.was),
        )?;
        let mut edited: Vec<RepoPath> = edited.into_iter().collect();
        edited.sort();
        Ok(edited)
    }

    /// The reason why applying the change would overwrite something of the user's; `None` if it wouldn't.
    fn obstacle(&self, stage: &Path) -> HostResult<Option<String>> {
        let top = self.git.worktree();
        let status = self.git.status()?;
        let dirty: HashSet<&[u8]> = status
            .entries
            .iter()
            .map(|entry| entry.path.as_bytes())
            .collect();
        let removed: HashSet<&RepoPath> = self
            .files
            .iter()
            .filter(|f| !f.is)
            .map(|f| &f.path)
            .collect();
        let overlooked = self
            .git
            .overlooked(&self.files.iter().map(|f| &f.path).collect::<Vec<_>>())?;
        for file in &self.files {
            let (path, target) = (&file.path, on_disk(top, &file.path));
            let above: Vec<RepoPath> = path.folders().map(RepoPath::from_bytes).collect();
            if let Some(folder) = above.iter().find(|f| {
                let no_folder =
                    fs::symlink_metadata(on_disk(top, f)).is_ok_and(|found| !found.is_dir());
                no_folder && !removed.contains(f) || dirty.contains(f.as_bytes())
            }) {
                return Ok(Some(format!(
                    "{folder}, above {path}, is not what the last commit has"
                )));
            }
            let staged = file.is.then(|| on_disk(stage, path));
            if is_same(staged.as_deref(), &target).map_err(HostError::reading(&target))? {
                continue;
            }
            let found = fs::symlink_metadata(&target).ok();
            let clean = !dirty.contains(path.as_bytes()) && !overlooked.contains(path);
            let reason = match found {
                None if !file.was && clean => continue,
                _ if !clean => {
                    "has changes in the checkout that are not committed: commit them or put them back"
                }
                Some(_) if !file.was => "is there already, and is in no commit",
                Some(found) if found.is_dir() => "is a folder, where a file should be",
                _ => continue,
            };
            return Ok(Some(format!("{path} {reason}")));
        }
        Ok(None)
    }
}

/// Moves each file in `there` from `stage` to its place below `top`, and deletes those in `gone`.
fn put(top: &Path, stage: &Path, (there, gone): (Vec<&Place>, Vec<&Place>)) -> HostResult<()> {
    for file in gone {
        let path = on_disk(top, &file.path);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(HostError::writing(&path)(error));
            }
            _ => {}
        }
        // Removes folders that are now empty, as git does, up to the first one that isn't.
        let mut above = path.parent();
        while let Some(folder) =
            above.filter(|folder| *folder != top && fs::remove_dir(folder).is_ok())
        {
            above = folder.parent();
        }
    }
    for file in there {
        let (from, to) = (on_disk(stage, &file.path), on_disk(top, &file.path));
        let folder = to.parent().unwrap_or(top);
        file::make_folders(folder)?;
        fs::rename(&from, &to).map_err(HostError::writing(&to))?;
    }
    Ok(())
}

fn on_disk(top: &Path, path: &RepoPath) -> std::path::PathBuf {
    top.join(crate::platform::os_string(path.as_bytes()))
}

/// The message to the builder about a conflict.
fn feedback(files: &[RepoPath], messages: &[String], commits: &[GitCommit]) -> String {
    let mut text =
        String::from("Its change does not fit what was committed since the task began:\n");
    for file in files.iter().take(SHOWN) {
        let by = commits
            .iter()
            .filter(|commit| commit.files.contains(file))
            .take(SHOWN);
        let by: Vec<String> = by
            .map(|commit| format!("{} {:?}", commit.hash.short(), commit.subject))
            .collect();
        text.push_str(&match by.is_empty() {
            true => format!("- {file}\n"),
            false => format!("- {file}, changed by {}\n", by.join(", ")),
        });
    }
    if files.len() > SHOWN {
        text.push_str(&format!("- and {} more files\n", files.len() - SHOWN));
    }
    for message in messages.iter().take(SHOWN) {
        text.push_str(&format!("{message}\n"));
    }
    text.push_str(
        "Your worktree is at the newest commit now, with your change in it and conflict markers where the two \
         differ. Keep what both were for, run the commands again, and submit.",
    );
    text
}

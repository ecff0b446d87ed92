//! Measures a task's work in the folder in which it is done, when the work is submitted. A task's changes are the
//! differences between the working tree now and at the claim, minus those that belong to other tasks.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};

use fp_plan::repo_path::RepoPath;
use fp_run::run::state::TaskState;
use fp_run::run::{State, refuse};
use fp_run::verification::change::Change;
use fp_run::verification::ownership::{Divided, OwnershipEvidence, divide};
use fp_run::verification::{
    Boundary, ChangeFacts, ChangedText, GitSurroundings, OtherTask, TaskScope, wants_text,
};

use crate::error::HostResult;
use crate::git::{Blobs, Git, GitCommit, Oid, Snapshot};

/// The working tree of a task, its state at the claim, and the facts that decide which task owns a change.
#[derive(Debug, Clone)]
pub struct TaskFolder<'b> {
    pub git: &'b Git,
    /// The working tree at the claim.
    pub base: Oid,
    /// HEAD at the claim.
    pub head: Oid,
    /// HEAD, index and submodules around the working tree at the claim, if known.
    pub around: Option<&'b GitSurroundings>,
    /// The task's boundaries. Any other tasks listed in it work in the same working tree.
    pub scope: TaskScope,
    /// The commits that `fp` made in this run.
    pub committed: HashSet<Oid>,
    /// Paths that the task's builder was seen editing.
    pub seen: HashSet<RepoPath>,
}

#[derive(Debug, Clone)]
pub struct MeasuredChange {
    /// The current working tree: a git tree, or the commit it equals.
    pub tree: Oid,
    /// Lines and texts are filled in by [`MeasuredChange::read`].
    pub facts: ChangeFacts,
    base: Oid,
    blobs: HashMap<RepoPath, Blobs>,
}

/// The tasks whose uncommitted changes may have entered the working tree since `task` was first claimed: those under
/// way, those released, and those that ended since then. A task in a worktree has none.
pub(crate) fn tasks_beside(state: &State, task: &TaskState) -> Vec<OtherTask> {
    if task.worktree().is_some() {
        return Vec::new();
    }
    let since = task.started_at;
    let ended_before = |t: &TaskState| {
        t.ended_at
            .zip(since)
            .is_some_and(|(ended, since)| ended <= since)
    };
    let in_checkout = |t: &TaskState| t.base.is_some() && t.worktree().is_none();
    let others = state
        .tasks
        .iter()
        .filter(|t| t.leaf.id != task.leaf.id && in_checkout(t));
    let others = others.filter(|t| t.commit.is_none() && !ended_before(t));
    others
        .map(|t| OtherTask {
            id: t.leaf.id.to_string(),
            files: t.files().map(str::to_owned).collect(),
        })
        .collect()
}

impl<'b> TaskFolder<'b> {
    /// The folder of `task`, which works in `git`. Other tasks that work there are added to `scope`.
    ///
    /// # Errors
    /// The task was never claimed, or the log has no valid hash.
    pub(crate) fn of(
        git: &'b Git,
        state: &State,
        task: &'b TaskState,
        scope: TaskScope,
    ) -> HostResult<Self> {
        let base = task
            .base
            .as_ref()
            .ok_or_else(|| refuse(task, "only a task that was claimed has a change"))?;
        let of_tasks = state.tasks.iter().filter_map(|task| task.commit.as_ref());
        let committed = of_tasks.chain(&state.undone);
        Ok(Self {
            git,
            base: base.tree.parse()?,
            head: base.head.parse()?,
            around: base.around.as_ref(),
            scope: TaskScope {
                others: tasks_beside(state, task),
                ignores_case: git.ignores_case(),
                ..scope
            },
            committed: committed.filter_map(|commit| commit.parse().ok()).collect(),
            seen: task.edited.iter().cloned().collect(),
        })
    }

    /// Measures what the task changed. Runs three processes if the task was alone since the claim
    /// and changed every file it lists; up to four more if something differs from HEAD or HEAD has moved.
    ///
    /// # Errors
    /// Git fails, or a tree is gone.
    pub fn measure(&self) -> HostResult<MeasuredChange> {
        let (snapshot, now) = match self.around {
            Some(_) => {
                let (snapshot, surroundings) = self.git.observe()?;
                (snapshot, Some(surroundings))
            }
            None => (self.git.snapshot_tree()?, None),
        };
        let commits = self.commits_since(&snapshot)?;
        let (changes, blobs) = with_blobs(self.git, &self.base, &snapshot.tree)?;
        let settled = self.settled(commits.as_deref().unwrap_or_default(), &snapshot);
        let evidence = OwnershipEvidence {
            shared: !self.scope.others.is_empty(),
            settled,
            seen: self.seen.clone(),
        };
        let Divided {
            own,
            elsewhere,
            made_locks,
        } = divide(changes, &self.scope, &evidence);
        let ignored = self.ignored(&own)?;
        let foreign = |commit: &&GitCommit| !self.committed.contains(&commit.hash);
        let told = |commit: &GitCommit| format!("{} {:?}", commit.hash.short(), commit.subject);
        let facts = ChangeFacts {
            changes: own,
            elsewhere,
            made_locks,
            ignored,
            base_kept: commits.is_some(),
            commits: commits.iter().flatten().filter(foreign).map(told).collect(),
            around: self.around.cloned().zip(now),
            ..ChangeFacts::default()
        };
        Ok(MeasuredChange {
            tree: snapshot.tree,
            facts,
            base: self.base.clone(),
            blobs,
        })
    }

    /// The commits since the claim; `None` if HEAD no longer contains the commit that it pointed to at the claim.
    fn commits_since(&self, snapshot: &Snapshot) -> HostResult<Option<Vec<GitCommit>>> {
        match &snapshot.status.commit {
            Some(head) if *head == self.head => Ok(Some(Vec::new())),
            Some(_) if self.git.contains(&self.head)? => {
                self.git.commits_since(&self.head).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Paths that other tasks' commits changed and that are unchanged since.
    fn settled(&self, commits: &[GitCommit], snapshot: &Snapshot) -> HashSet<RepoPath> {
        let own = commits
            .iter()
            .filter(|commit| self.committed.contains(&commit.hash));
        let mut paths: HashSet<RepoPath> = own
            .flat_map(|commit| commit.files.iter().cloned())
            .collect();
        for entry in &snapshot.status.entries {
            paths.remove(&entry.path);
        }
        paths
    }

    /// Listed files that exist, are missing from the change, and are ignored by git.
    fn ignored(&self, changes: &[Change]) -> HostResult<Vec<String>> {
        let unseen = |file: &&String| {
            let listed = Boundary::new([file]).ignoring_case(self.scope.ignores_case);
            let inside = Path::new(file)
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            inside
                && self.git.worktree().join(file).symlink_metadata().is_ok()
                && !changes.iter().any(|change| listed.covers(&change.path))
        };
        let unseen: Vec<&String> = self.scope.files.iter().filter(unseen).collect();
        self.git.ignored(&unseen)
    }
}

/// The changes from `base` to `tree`, and the blobs at their paths.
fn with_blobs(
    git: &Git,
    base: &Oid,
    tree: &Oid,
) -> HostResult<(Vec<Change>, HashMap<RepoPath, Blobs>)> {
    let (mut changes, mut blobs) = (Vec::new(), HashMap::<RepoPath, Blobs>::new());
    for (change, sides, _) in git.diff_with_blobs(base, tree)? {
        let old = change.ends().last().expect("a change has an end").clone();
        blobs.entry(old).or_default().before = sides.before;
        blobs.entry(change.path.clone()).or_default().after = sides.after;
        changes.push(change);
    }
    Ok((changes, blobs))
}

impl MeasuredChange {
    /// The change from `base` to `tree`, both trees of `git`.
    ///
    /// # Errors
    /// Git fails, or a tree is gone.
    pub(crate) fn between(git: &Git, base: &Oid, tree: &Oid) -> HostResult<Self> {
        let (changes, blobs) = with_blobs(git, base, tree)?;
        let facts = ChangeFacts {
            changes,
            base_kept: true,
            ..ChangeFacts::default()
        };
        Ok(Self {
            tree: tree.clone(),
            facts,
            base: base.clone(),
            blobs,
        })
    }

    /// Reads the changed lines, with one process.
    ///
    /// # Errors
    /// Git fails.
    pub fn read_lines(&mut self, git: &Git) -> HostResult<()> {
        let changes: Vec<&Change> = self.facts.changes.iter().collect();
        self.facts.lines = git.changed_lines(&self.base, &self.tree, &changes)?;
        Ok(())
    }

    /// Reads the lines and texts that the checks need, with up to three processes.
    ///
    /// # Errors
    /// Git fails.
    pub fn read(&mut self, git: &Git) -> HostResult<()> {
        self.read_lines(git)?;
        let changes = self
            .facts
            .changes
            .iter()
            .filter(|change| wants_text(change));
        let wanted: Vec<(&RepoPath, Blobs)> = changes
            .map(|change| (&change.path, self.blobs_of(change)))
            .collect();
        let sides = wanted
            .iter()
            .flat_map(|(_, blobs)| [&blobs.before, &blobs.after]);
        let contents = git.blobs(&sides.flatten().collect::<Vec<_>>())?;
        // A side that exists but wasn't read is too large.
        let text = |id: &Option<Oid>| match id {
            None => Some(None),
            Some(id) => contents
                .get(id)
                .map(|bytes| Some(String::from_utf8_lossy(bytes).into_owned())),
        };
        let (mut texts, mut unread) = (Vec::new(), Vec::new());
        for (path, blobs) in &wanted {
            let path = (*path).clone();
            match text(&blobs.before).zip(text(&blobs.after)) {
                Some((before, after)) => texts.push(ChangedText {
                    path,
                    before,
                    after,
                }),
                None => unread.push(path),
            }
        }
        (self.facts.texts, self.facts.unread) = (texts, unread);
        Ok(())
    }

    /// Both sides of a change; for a rename, the old side comes from the old path.
    fn blobs_of(&self, change: &Change) -> Blobs {
        let side = |path: &RepoPath| self.blobs.get(path).cloned().unwrap_or_default();
        Blobs {
            before: change.ends().last().and_then(|old| side(old).before),
            after: side(&change.path).after,
        }
    }
}

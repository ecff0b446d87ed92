//! Tells one task's changes from everybody else's: all differences between the working tree now and at the
//! claim, minus those that belong to other tasks.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};

use fp_plan::repo_path::RepoPath;
use fp_run::verification::GitSurroundings;
use fp_run::verification::change::Change;
use fp_run::verification::ownership::{Divided, OwnershipEvidence, divide};
use fp_run::verification::{Boundary, ChangeFacts, ChangedText, TaskScope, wants_text};

use crate::error::HostResult;
use crate::git::{Blobs, Git, GitCommit, Oid, Snapshot};

/// The state at the claim, and what tells whose a change is.
#[derive(Debug, Clone)]
pub struct ChangeRequest<'r> {
    /// The working tree at the claim.
    pub base: &'r Oid,
    /// HEAD at the claim.
    pub head: &'r Oid,
    /// HEAD, index and submodules around the working tree at the claim, if known.
    pub around: Option<&'r GitSurroundings>,
    /// The task's boundaries.
    pub scope: &'r TaskScope,
    /// True if other tasks work in the same working tree.
    pub shared: bool,
    /// The commits that `fp` made in this run.
    pub committed: &'r HashSet<Oid>,
    /// Paths that the task's builder was seen editing.
    pub seen: &'r HashSet<RepoPath>,
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

/// Measures what the task of `request` changed. Runs three processes if the task was alone since the claim
/// and changed every file it lists; up to four more if something differs from HEAD or HEAD has moved.
///
/// # Errors
/// Git fails, or a tree is gone.
pub fn measure(git: &Git, request: &ChangeRequest) -> HostResult<MeasuredChange> {
    let (snapshot, now) = match request.around {
        Some(_) => git
            .observe()
            .map(|(snapshot, surroundings)| (snapshot, Some(surroundings)))?,
        None => (git.snapshot_tree()?, None),
    };
    let commits = commits(git, request, &snapshot)?;
    let (changes, blobs): (Vec<Change>, Vec<Blobs>) = git
        .diff_with_blobs(request.base, &snapshot.tree)?
        .into_iter()
        .unzip();
    let blobs = by_path(&changes, blobs);
    let evidence = OwnershipEvidence {
        shared: request.shared,
        settled: commits.as_deref().map_or(HashSet::new(), |commits| {
            settled(commits, request, &snapshot)
        }),
        seen: request.seen.clone(),
    };
    let Divided {
        own,
        elsewhere,
        made_locks,
    } = divide(changes, request.scope, &evidence);
    let ignored = ignored(git, request.scope, &own)?;
    let foreign = |commit: &&GitCommit| !request.committed.contains(&commit.hash);
    let told = |commit: &GitCommit| format!("{} {:?}", commit.hash.short(), commit.subject);
    let facts = ChangeFacts {
        changes: own,
        elsewhere,
        made_locks,
        ignored,
        base_kept: commits.is_some(),
        commits: commits.iter().flatten().filter(foreign).map(told).collect(),
        around: request.around.cloned().zip(now),
        ..ChangeFacts::default()
    };
    Ok(MeasuredChange {
        tree: snapshot.tree,
        facts,
        base: request.base.clone(),
        blobs,
    })
}

impl MeasuredChange {
    /// Adds the lines of the changes, with one process.
    ///
    /// # Errors
    /// Git fails.
    pub fn read_lines(&mut self, git: &Git) -> HostResult<()> {
        let changes: Vec<&Change> = self.facts.changes.iter().collect();
        self.facts.lines = git.changed_lines(&self.base, &self.tree, &changes)?;
        Ok(())
    }

    /// Adds the lines and texts that the checks look at, with up to three processes.
    ///
    /// # Errors
    /// Git fails.
    pub fn read(&mut self, git: &Git) -> HostResult<()> {
        self.read_lines(git)?;
        let changes = self.facts.changes.iter();
        let wanted: Vec<(&Change, Blobs)> = changes
            .filter(|change| wants_text(change))
            .map(|c| (c, self.blobs_of(c)))
            .collect();
        let ids: Vec<&Oid> = wanted
            .iter()
            .flat_map(|(_, blobs)| blobs.before.iter().chain(&blobs.after))
            .collect();
        let contents = git.blobs(&ids)?;
        let (mut texts, mut unread) = (Vec::new(), Vec::new());
        for (change, blobs) in &wanted {
            let text = |id: &Oid| {
                contents
                    .get(id)
                    .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            };
            let (before, after) = (
                blobs.before.as_ref().map(text),
                blobs.after.as_ref().map(text),
            );
            let path = change.path.clone();
            if before == Some(None) || after == Some(None) {
                unread.push(path);
            } else {
                texts.push(ChangedText {
                    path,
                    before: before.flatten(),
                    after: after.flatten(),
                });
            }
        }
        (self.facts.texts, self.facts.unread) = (texts, unread);
        Ok(())
    }

    /// Both sides of a change; for a rename, the old side comes from the old path.
    fn blobs_of(&self, change: &Change) -> Blobs {
        let side = |path: &RepoPath| self.blobs.get(path);
        Blobs {
            before: change
                .ends()
                .last()
                .and_then(side)
                .and_then(|blobs| blobs.before.clone()),
            after: side(&change.path).and_then(|blobs| blobs.after.clone()),
        }
    }
}

/// The blobs before and after, by path.
fn by_path(changes: &[Change], blobs: Vec<Blobs>) -> HashMap<RepoPath, Blobs> {
    let mut sides: HashMap<RepoPath, Blobs> = HashMap::new();
    for (change, blobs) in changes.iter().zip(blobs) {
        let old = change.ends().last().expect("a change has an end").clone();
        sides.entry(old).or_default().before = blobs.before;
        sides.entry(change.path.clone()).or_default().after = blobs.after;
    }
    sides
}

/// The commits since the claim; `None` if HEAD no longer contains the commit of that time.
fn commits(
    git: &Git,
    request: &ChangeRequest,
    snapshot: &Snapshot,
) -> HostResult<Option<Vec<GitCommit>>> {
    match &snapshot.status.commit {
        Some(head) if head == request.head => Ok(Some(Vec::new())),
        Some(_) if git.contains(request.head)? => git.commits_since(request.head).map(Some),
        _ => Ok(None),
    }
}

/// Paths that other tasks' commits changed and that are unchanged since.
fn settled(
    commits: &[GitCommit],
    request: &ChangeRequest,
    snapshot: &Snapshot,
) -> HashSet<RepoPath> {
    let mut paths: HashSet<RepoPath> = commits
        .iter()
        .filter(|commit| request.committed.contains(&commit.hash))
        .flat_map(|commit| commit.files.iter().cloned())
        .collect();
    for entry in &snapshot.status.entries {
        paths.remove(&entry.path);
    }
    paths
}

/// Listed files that exist, are missing from the change, and are ignored by git.
fn ignored(git: &Git, scope: &TaskScope, changes: &[Change]) -> HostResult<Vec<String>> {
    let unseen = |file: &&String| {
        let listed = Boundary::new([file]).ignoring_case(scope.ignores_case);
        let inside = Path::new(file)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        inside
            && git.worktree().join(file).symlink_metadata().is_ok()
            && !changes.iter().any(|change| listed.covers(&change.path))
    };
    let unseen: Vec<&String> = scope.files.iter().filter(unseen).collect();
    git.ignored(&unseen)
}

//! The builders' own worktrees, one for each builder below the plan's folder. A builder reuses its worktree from task
//! to task, and all are gone when the run is over. Uncommitted work in them is kept as a patch, and a nested repository
//! is moved aside. Creating, emptying or removing a worktree takes one lock, so that two agents with the same name
//! can't remove each other's worktree.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::repo_path::RepoPath;
use fp_run::run::State;
use fp_run::run::event::Base;
use fp_run::run::state::{MeasuredWork, Status, TaskState};

use super::branch::{close_branch, open_branch};
use crate::bench::remove_benches;
use crate::error::{HostError, HostErrorKind, HostResult};
use crate::file;
use crate::file::acquire;
use crate::git::{EntryState, Git, Merge, Oid, Snapshot};
use crate::plan::OpenPlan;
use crate::platform::{self, os_string};
use crate::repo::git_dir_of;

/// Time to wait for other processes that create worktrees, each of which takes a checkout.
const PATIENCE: Duration = Duration::from_secs(300);

/// The lock for creating, resetting and removing a repository's worktrees, held as long as this value lives.
#[derive(Debug)]
pub struct Worktrees<'p> {
    pub(super) plan: &'p OpenPlan,
    lock: Arc<File>,
}

/// The worktree of `owner` in `plan`.
pub fn path(plan: &OpenPlan, owner: &AgentName) -> PathBuf {
    plan.worktrees().join(owner.as_str())
}

/// The working tree of `task`: its builder's worktree, or the run's checkout.
///
/// # Errors
/// The worktree is gone.
pub fn of(plan: &OpenPlan, state: &State, task: &TaskState) -> HostResult<Git> {
    match task.worktree() {
        None => plan.checkout(state),
        Some(owner) => open(plan, owner).ok_or_else(|| no_worktree(owner, &path(plan, owner))),
    }
}

fn no_worktree(owner: &AgentName, path: &Path) -> HostError {
    let said = format!("the worktree of {owner} is gone: {}", path.display());
    let hint = format!(
        "`fp claim PLAN --as {owner}` makes it again, at the commit that the task began on"
    );
    HostError::refused(said).with_hint(hint)
}

/// The worktree of `owner`, if it exists and works.
fn open(plan: &OpenPlan, owner: &AgentName) -> Option<Git> {
    open_at(plan, &path(plan, owner))
}

pub(super) fn open_at(plan: &OpenPlan, path: &Path) -> Option<Git> {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let git = Git::open_with(path, &plan.settings.plans_dir).ok()?;
    // A folder that isn't a worktree belongs to the checkout around it. A builder can write the file that names git's
    // folder, and what lies outside of the repository's own.
    let is_own = plan.repo.git_dir.as_deref() == Some(git.common_dir())
        && git
            .git_dir()
            .starts_with(git.common_dir().join("worktrees"))
        && platform::real_path(path).is_ok_and(|path| path == git.worktree());
    Some(git.pinned()).filter(|_| is_folder && is_own && !is_half_made(path))
}

/// True if a git that was killed left the worktree at `path` half made: git locks it with this reason until it is whole.
/// A user may lock one for any other reason.
pub(super) fn is_half_made(path: &Path) -> bool {
    let locked = git_dir_of(path).and_then(|git_dir| fs::read(git_dir.join("locked")).ok());
    locked.is_some_and(|reason| reason.trim_ascii() == b"initializing")
}

impl<'p> Worktrees<'p> {
    /// Takes the lock; waits until it is free. Fails if the folder of the worktrees is a link.
    pub fn lock(plan: &'p OpenPlan) -> HostResult<Self> {
        let lock = acquire(&plan.worktrees_lock(), PATIENCE)?;
        let folder = plan.worktrees();
        if folder.is_symlink() {
            return Err(HostError::link(&folder));
        }
        Ok(Self {
            plan,
            lock: Arc::new(lock),
        })
    }

    /// Prepares the worktree of `owner`, which is about to claim `task`: resets it to HEAD of the checkout, and brings
    /// in the task's work from its last submission, or from an earlier patch. If `task` was the last task claimed there
    /// and not submitted, the worktree stays as `owner` left it. Calls `say` with the path of anything that it saves on
    /// the way.
    pub fn prepare(
        &self,
        state: &State,
        owner: &AgentName,
        task: &TaskState,
        say: impl Fn(&Path),
    ) -> HostResult<(Base, Option<EarlierWork>)> {
        let left_there = state.worktrees.get(owner) == Some(&task.leaf.id)
            && task.worktree() == Some(owner)
            && task.handed_in.is_none();
        if let Some(base) = task.base.as_ref().filter(|_| left_there)
            && let Some(git) = self.open(owner)
        {
            let is_changed = git.snapshot_tree()?.tree != base.tree.parse()?;
            return Ok((base.clone(), is_changed.then_some(EarlierWork::Restored)));
        }
        for name in std::iter::once(owner).chain(task.worktree().filter(|other| *other != owner)) {
            if let Some(git) = self.open(name) {
                let kept = keep_unfinished(self.plan, state, name, &git)?;
                // The patch of the task itself is applied below.
                let of_another = kept.filter(|_| state.worktrees.get(name) != Some(&task.leaf.id));
                of_another.iter().for_each(|patch| say(patch));
            }
        }
        let head = self.plan.newest(state)?;
        // Differences right after a checkout, such as line ends, aren't anybody's change.
        let git = self.at(owner, &head, &say)?;
        let (mut snapshot, surroundings) = git.observe()?;
        let repositories = keep_repositories(self.plan, owner.as_str(), &git, &snapshot)?;
        if !repositories.is_empty() {
            repositories.iter().for_each(|kept| say(kept));
            snapshot = git.snapshot_tree()?;
        }
        let around = Some(surroundings.since(state.git_surroundings(), true));
        let tree = snapshot.tree.to_string();
        let earlier = match &task.base {
            None => None,
            // Only the machine where it was submitted has its tree.
            Some(_) if !state.is_own(task) => self.take_up(&git, task)?,
            Some(_) => match take_up_submitted(&git, task, &head)? {
                None => self.take_up(&git, task)?,
                earlier => earlier,
            },
        };
        Ok((
            Base {
                tree,
                head: head.to_string(),
                worktree: Some(owner.clone()),
                around,
            },
            earlier,
        ))
    }

    /// Makes the worktree of `owner`, at HEAD of the checkout, unless it has one.
    pub fn make(&self, state: &State, owner: &AgentName) -> HostResult<()> {
        if self.open(owner).is_none() {
            self.at(owner, &self.plan.newest(state)?, &|_| {})?;
        }
        Ok(())
    }

    /// Applies the patch of `task` to the worktree `git`, if there is one.
    fn take_up(&self, git: &Git, task: &TaskState) -> HostResult<Option<EarlierWork>> {
        let path = patch_of(self.plan, task)?;
        if !fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(None);
        }
        let fits = git.apply(file::read_bytes(&path, MAX_PATCH)?)?;
        Ok(Some(if fits {
            EarlierWork::Restored
        } else {
            EarlierWork::Kept(path)
        }))
    }

    /// Recreates the worktree of `task` if it is gone, with the submitted files if there are any. Returns true if it
    /// did.
    pub fn restore(&self, task: &TaskState) -> HostResult<bool> {
        let (Some(owner), Some(base)) = (task.worktree(), &task.base) else {
            return Ok(false);
        };
        if open(self.plan, owner).is_some() {
            return Ok(false);
        }
        let git = self.at(owner, &base.head.parse()?, &|_| {})?;
        if let Some(MeasuredWork { tree, .. }) = &task.submission {
            git.show_tree(&tree.parse()?)?;
        }
        Ok(true)
    }

    /// Resets the worktree of `owner` to `commit`. If git can't reset it, saves its nested repositories, calls `say`
    /// with their new paths, and recreates the worktree.
    fn at(&self, owner: &AgentName, commit: &Oid, say: &dyn Fn(&Path)) -> HostResult<Git> {
        let path = path(self.plan, owner);
        if let Some(git) = self.open(owner).filter(|git| git.operation().is_none())
            // A sandbox may keep folders in the worktree that can't be removed; they hold no work.
            && (git.begin_anew(commit).is_ok() || is_fresh(&git, commit))
        {
            return Ok(git);
        }
        let folder = self.plan.worktrees();
        file::make_folders(&folder)?;
        let main = self.git()?;
        main.remove_broken_worktrees(&self.plan.worktrees(), |_| false)?;
        if let Some(git) = self.open(owner)
            && let Ok(snapshot) = git.snapshot_tree()
        {
            let kept = keep_repositories(self.plan, owner.as_str(), &git, &snapshot)?;
            kept.iter().for_each(|kept| say(kept));
        }
        main.remove_worktree(&path)?;
        main.add_worktree(&path, commit)?;
        self.open(owner).ok_or_else(|| no_worktree(owner, &path))
    }

    /// A [`Git`] whose processes hold the lock, so that nothing disturbs a process that outlives its `fp`.
    pub(super) fn git(&self) -> HostResult<Git> {
        Ok(self.plan.git()?.with_commit_lock(Arc::clone(&self.lock)))
    }

    fn open(&self, owner: &AgentName) -> Option<Git> {
        open(self.plan, owner).map(|git| git.with_commit_lock(Arc::clone(&self.lock)))
    }

    /// A new folder beside the worktrees, for files on their way into the checkout.
    pub(super) fn temporary(&self) -> HostResult<tempfile::TempDir> {
        let folder = self.plan.worktrees();
        let made = fs::create_dir_all(&folder).and_then(|()| tempfile::tempdir_in(&folder));
        made.map_err(HostError::writing(&folder))
    }

    /// Removes everything in the worktrees folder that isn't `needed`, along with git's records. Returns the paths at
    /// which it saved uncommitted work on tasks in `state`.
    fn sweep(&self, state: &State, needed: &BTreeSet<OsString>) -> HostResult<Vec<PathBuf>> {
        let folder = self.plan.worktrees();
        let git = self.git()?;
        let mut owners: BTreeSet<&str> = state.agents.keys().map(AgentName::as_str).collect();
        owners.extend(
            state
                .tasks
                .iter()
                .filter_map(|task| Some(task.worktree()?.as_str())),
        );
        // Git finds the record of a missing worktree only if the folder that held the worktree exists.
        file::make_folders(&folder)?;
        git.remove_broken_worktrees(&folder, |name| {
            let digits = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
            owners
                .iter()
                .any(|owner| name.strip_prefix(owner).is_some_and(digits))
        })?;
        let known = git.worktrees()?;
        let mut found: BTreeSet<OsString> = known
            .iter()
            .filter(|path| path.parent() == Some(&folder))
            .filter_map(|p| name(p))
            .collect();
        found.extend(names_in(&folder)?);
        let left: Vec<&OsString> = found.difference(needed).collect();
        let mut submitted = Vec::new();
        if needed.is_empty() && !left.is_empty() {
            let is_kept = |task: &&TaskState| {
                state.is_own(task) && task.worktree().is_some() && !task.awaits_commit()
            };
            for task in state.tasks.iter().filter(is_kept) {
                submitted.extend(keep_submitted(self.plan, &git, task)?);
            }
        }
        // A worktree that can't be removed must not stop the removal of the others.
        let remove = |name: &OsString| {
            let kept = self.keep(state, name)?;
            git.remove_worktree(&folder.join(name))?;
            Ok(kept)
        };
        let removed: Vec<HostResult<_>> = left.into_iter().map(remove).collect();
        let kept: Vec<Vec<PathBuf>> = removed.into_iter().collect::<Result<_, _>>()?;
        if needed.is_empty() {
            // Fails if another process has put something there in the meantime, which is fine.
            drop(fs::remove_dir(&folder));
        }
        Ok([submitted, kept.concat()].concat())
    }

    /// Saves the work in the worktree `name`, if it is a builder's and intact.
    fn keep(&self, state: &State, name: &OsString) -> HostResult<Vec<PathBuf>> {
        let owner = name.to_str().and_then(|name| AgentName::new(name).ok());
        let Some((owner, git)) = owner.and_then(|owner| self.open(&owner).map(|git| (owner, git)))
        else {
            return Ok(Vec::new());
        };
        let patch = keep_unfinished(self.plan, state, &owner, &git)?;
        let snapshot = git.snapshot_tree()?;
        let repositories = keep_repositories(self.plan, owner.as_str(), &git, &snapshot)?;
        Ok(patch.into_iter().chain(repositories).collect())
    }
}

/// Removes the worktrees that the run no longer needs (all of them, once it is over) and anything that killed processes
/// left behind. If the run has no worktrees, only checks that their folder doesn't exist. Returns the paths at which it
/// saved uncommitted work.
pub fn sweep(plan: &OpenPlan) -> HostResult<Vec<PathBuf>> {
    let state = plan.load()?.state;
    if !state.is_running() {
        remove_benches(plan)?;
    }
    let had_some = state.terms().checkout.is_some();
    if !had_some && fs::symlink_metadata(plan.worktrees()).is_err() {
        return Ok(Vec::new());
    }
    let worktrees = Worktrees::lock(plan)?;
    // The previous holder of the lock may have claimed a task.
    let state = plan.load()?.state;
    let needed = needed(&state).map(|owner| owner.as_str().into());
    let kept = worktrees.sweep(&state, &needed.collect())?;
    if !state.is_running() {
        close_branch(&worktrees, &state)?;
    }
    Ok(kept)
}

/// Checks out the newest commit of a plan's branch in `fp`'s own checkout. Does nothing where the commits go to the
/// branch that is checked out.
pub fn follow_branch(plan: &OpenPlan) -> HostResult<()> {
    let Some(member) = plan.store.membership()? else {
        let state = plan.load()?.state;
        let branch = state.terms().branch.as_ref();
        return branch.map_or(Ok(()), |branch| open_branch(plan, &state, branch).map(drop));
    };
    let worktrees = Worktrees::lock(plan)?;
    let (path, main) = (plan.integration(), worktrees.git()?);
    if let Some(git) = open_at(plan, &path)
        && (git.head_in_files().as_deref() == Some(member.tip.as_str())
            || git.begin_anew(&member.tip).is_ok())
    {
        return Ok(());
    }
    main.remove_worktree(&path)?;
    main.add_worktree(&path, &member.tip)
}

/// Keeps the work on the `lost` tasks, which this machine held in `before`, as patches.
pub(crate) fn keep_lost(
    plan: &OpenPlan,
    before: &State,
    lost: &BTreeSet<TaskId>,
) -> HostResult<()> {
    let _lock = Worktrees::lock(plan)?;
    for task in lost.iter().filter_map(|id| before.task(id)) {
        if task.handed_in.is_some() {
            keep_submitted(plan, &plan.git()?, task)?;
        } else if let Some((git, base)) = task
            .worktree()
            .and_then(|owner| open(plan, owner))
            .zip(task.base.as_ref())
        {
            keep_patch(
                plan,
                task,
                &git.patch(&base.tree.parse()?, &git.snapshot_tree()?.tree)?,
            )?;
        }
    }
    Ok(())
}

/// Removes this machine's worktrees when it leaves a shared plan, and keeps its unfinished work as patches. `before` is
/// its state before leaving.
pub fn leave(plan: &OpenPlan, before: &State) -> HostResult<()> {
    let worktrees = Worktrees::lock(plan)?;
    worktrees.sweep(before, &BTreeSet::new())?;
    worktrees.git()?.remove_worktree(&plan.integration())
}

/// True if `git` is at `commit`, without uncommitted changes.
fn is_fresh(git: &Git, commit: &Oid) -> bool {
    git.status().is_ok_and(|status| {
        status.entries.is_empty() && status.head().is_ok_and(|head| head == commit)
    })
}

/// The builders of a running run whose worktrees hold work, or at least builds worth keeping.
fn needed(state: &State) -> impl Iterator<Item = &AgentName> {
    let held = state.running().filter_map(TaskState::worktree);
    state
        .worktrees
        .keys()
        .chain(held)
        .filter(|_| state.is_running())
}

fn name(path: &Path) -> Option<OsString> {
    path.file_name().map(ToOwned::to_owned)
}

fn names_in(folder: &Path) -> HostResult<Vec<OsString>> {
    let failed = HostError::reading(folder);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    entries
        .map(|entry| Ok(entry.map_err(failed)?.file_name()))
        .collect()
}

/// The folder below the plan's folder for patches, and for repositories that don't fit in a patch.
const FOLDER: &str = "unfinished";

/// Size limit of a patch to be reapplied, in bytes.
const MAX_PATCH: u64 = 64 * 1024 * 1024;

/// Work on a task that an earlier attempt left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EarlierWork {
    /// The work is in the worktree.
    Restored,
    /// The submitted change of these files is in the worktree, merged with the newest commit.
    Merged {
        changed: Vec<RepoPath>,
        /// Those with conflict markers.
        conflicts: Vec<RepoPath>,
    },
    /// The work no longer applies, and stays in this patch.
    Kept(PathBuf),
}

/// Merges the last submission of `task` onto `head`, which the worktree `git` shows, and writes the result there;
/// `None` if there is no submission, or git no longer has its tree.
fn take_up_submitted(git: &Git, task: &TaskState, head: &Oid) -> HostResult<Option<EarlierWork>> {
    let work = task
        .handed_in
        .as_ref()
        .filter(|work| !work.files.is_empty());
    let (Some(work), Some(base)) = (work, &task.base) else {
        return Ok(None);
    };
    let (base, tree) = (base.head.parse()?, work.tree.parse()?);
    match git.diff(&base, &tree) {
        Err(error) if error.kind == HostErrorKind::MissingObject => return Ok(None),
        diff => drop(diff?),
    }
    let changed = super::paths(&work.files);
    let (tree, conflicts) = match git.merge(&base, &tree, &changed, head)? {
        Merge::Clean(tree) => (tree, Vec::new()),
        Merge::Conflict { tree, files, .. } => (tree, files),
    };
    git.show_tree(&tree)?;
    Ok(Some(EarlierWork::Merged { changed, conflicts }))
}

/// The path of the patch with the unfinished work on `task`. Fails if the folder is a link.
fn patch_of(plan: &OpenPlan, task: &TaskState) -> HostResult<PathBuf> {
    Ok(unfinished_folder(plan)?.join(format!("task-{}.patch", task.leaf.id)))
}

fn unfinished_folder(plan: &OpenPlan) -> HostResult<PathBuf> {
    let folder = plan.folder.file(FOLDER);
    if folder.is_symlink() {
        return Err(HostError::link(&folder));
    }
    Ok(folder)
}

/// Saves as a patch the work in `owner`'s worktree `git` on the last task claimed there, unless it was submitted, or
/// another builder has taken it over along with the patch. A later patch replaces an earlier one for the same task.
/// Returns the patch's path; `None` if there are no changes.
fn keep_unfinished(
    plan: &OpenPlan,
    state: &State,
    owner: &AgentName,
    git: &Git,
) -> HostResult<Option<PathBuf>> {
    let last = state.worktrees.get(owner).and_then(|id| state.task(id));
    let is_its_own = |task: &&TaskState| {
        let is_kept = task.status == Status::Completed || task.handed_in.is_some();
        !is_kept && task.worktree() == Some(owner)
    };
    let Some(task) = last.filter(is_its_own) else {
        return Ok(None);
    };
    let Some(base) = &task.base else {
        return Ok(None);
    };
    keep_patch(
        plan,
        task,
        &git.patch(&base.tree.parse()?, &git.snapshot_tree()?.tree)?,
    )
}

/// Moves the repositories that a builder created or cloned in its worktree `git`, whose state is `snapshot`, to a
/// folder for the worktree `name`: a patch can't hold their content. Returns their new paths.
fn keep_repositories(
    plan: &OpenPlan,
    name: &str,
    git: &Git,
    snapshot: &Snapshot,
) -> HostResult<Vec<PathBuf>> {
    let nested = snapshot
        .status
        .entries
        .iter()
        .filter(|entry| entry.state == EntryState::NestedRepository);
    let mut kept = Vec::new();
    for entry in nested {
        let folder = unfinished_folder(plan)?.join(name);
        let from = git.absolute(&entry.path);
        let base = folder.join(os_string(entry.path.as_bytes()));
        let later = (2..).map(|number| {
            let mut name = base.clone().into_os_string();
            name.push(format!("-{number}"));
            PathBuf::from(name)
        });
        let mut places = std::iter::once(base.clone()).chain(later);
        let to = places.find(|place| fs::symlink_metadata(place).is_err());
        let to = to.unwrap_or(base);
        let above = to.parent().unwrap_or(&folder);
        let moved = fs::create_dir_all(above).and_then(|()| fs::rename(&from, &to));
        moved.map_err(HostError::writing(&to))?;
        kept.push(to);
    }
    Ok(kept)
}

/// Writes the patch of the unfinished work on `task`, unless it is empty.
fn keep_patch(plan: &OpenPlan, task: &TaskState, patch: &[u8]) -> HostResult<Option<PathBuf>> {
    if patch.is_empty() {
        return Ok(None);
    }
    let path = patch_of(plan, task)?;
    let folder = plan.folder.file(FOLDER);
    file::make_folders(&folder)?;
    file::replace(&path, patch)?;
    // The work itself is about to be removed. Windows can't sync a file that is open only for reading.
    let synced = fs::File::options()
        .write(true)
        .open(&path)
        .and_then(|file| file.sync_all());
    synced.map_err(HostError::writing(&path))?;
    Ok(Some(path))
}

/// Saves the last submission of `task` as a patch. Returns the patch's path; `None` if there is nothing to save.
fn keep_submitted(plan: &OpenPlan, git: &Git, task: &TaskState) -> HostResult<Option<PathBuf>> {
    let (Some(work), Some(base)) = (&task.handed_in, &task.base) else {
        return Ok(None);
    };
    match git.patch(&base.tree.parse()?, &work.tree.parse()?) {
        Err(error) if error.kind == HostErrorKind::MissingObject => Ok(None),
        patch => keep_patch(plan, task, &patch?),
    }
}

//! The bench: a checkout of `fp`'s own, outside the repository and the folders of builders, in which a plan's commands
//! run and a verifier reads. What is on it comes from a tree in an object store of `fp`'s own. Ignored files that
//! commands leave there stay for the next tree, so that builds stay warm; they never come from a builder's folder.
//!
//! A plan has as many benches as verifications run at once. A file beside each names the attempt that it is for, until
//! that attempt is judged.

mod objects;

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fp_plan::plan::id::TaskId;
use fp_plan::repo_path::RepoPath;
use fp_plan::setup::is_setup_input;
use fp_run::run::State;
use fp_run::run::state::Status;
use fp_run::verification::by_products::ByProducts;
use fp_run::verification::{CommandEnd, CommandRun};

use self::objects::{ObjectStore, forged, place_name};
use crate::error::{HostError, HostErrorKind, HostResult};
use crate::file;
use crate::git::{Git, Oid, copy_index, remove_all, text_hash};
use crate::plan::OpenPlan;
use crate::platform::{self, UserFolder, os_string};
use crate::repo::Repo;

/// Time to wait for another process that uses the bench of the same attempt.
const PATIENCE: Duration = Duration::from_secs(600);
/// Maximum number of benches.
const MOST: usize = 64;
/// The folder of all benches, in the user's cache folder.
const BENCHES: &str = "fractal-planner/benches";
/// The file beside a plan's benches with the path of its checkout.
const REPOSITORY: &str = "repository";
/// Size limit of the file that names a bench's attempt, in bytes.
const CAP: u64 = 4096;

/// A bench, locked as long as this value lives.
#[derive(Debug)]
pub struct Bench {
    objects: ObjectStore,
    /// The checkout's files, with the store's objects.
    git: Git,
    /// The path of the checkout's files beside its folder, without their endings.
    slot: PathBuf,
    lock: Arc<File>,
}

/// The reason why a bench isn't set up.
#[derive(Debug)]
pub(crate) enum Unready {
    /// A setup command fails.
    Fails(CommandRun),
    /// The setup changes these tracked files, which the commit wouldn't have.
    Changes(Vec<RepoPath>),
}

/// An attempt at a task.
pub(crate) type Attempt<'a> = (&'a TaskId, u32);

/// The folders of a plan's benches and of its object store, which need not exist.
///
/// # Errors
/// No variable of the environment says where the user's folders are.
pub fn bench_folders(plan: &OpenPlan) -> HostResult<[PathBuf; 2]> {
    let name = place_name(plan.id(), plan.git()?.common_dir());
    let place = |kind: UserFolder, folder: &str| {
        let found = kind.path_on(std::env::consts::OS, |name| std::env::var_os(name));
        let found = found.map(|found| found.join(folder).join(&name));
        found.ok_or_else(|| {
            HostError::failed("there is no folder for benches")
                .with_hint("set HOME, or XDG_CACHE_HOME and XDG_STATE_HOME")
        })
    };
    Ok([
        place(UserFolder::Cache, BENCHES)?,
        place(UserFolder::State, "fractal-planner/objects")?,
    ])
}

/// The repository around `cwd`; for a folder on a bench, the repository that the bench is for.
pub fn repository_around(cwd: &Path) -> Repo {
    let benches = UserFolder::Cache
        .path_on(std::env::consts::OS, |name| std::env::var_os(name))
        .and_then(|caches| platform::real_path(caches.join(BENCHES)).ok());
    let of_bench = benches.and_then(|benches| {
        let plan = cwd.strip_prefix(&benches).ok()?.iter().next()?;
        let text = file::read_text(&benches.join(plan).join(REPOSITORY), CAP).ok()?;
        Some(PathBuf::from(text))
    });
    Repo::find(of_bench.as_deref().unwrap_or(cwd))
}

/// Removes the benches and the object store of `plan`, whose run is over.
pub fn remove_benches(plan: &OpenPlan) -> HostResult<()> {
    for place in bench_folders(plan)? {
        remove_all(&place).map_err(HostError::writing(&place))?;
    }
    Ok(())
}

/// The repository with what was judged in `plan`: the store, which no builder can write, or the user's, if `tree` was
/// judged in the checkout.
pub fn judged_objects(plan: &OpenPlan, tree: &Oid) -> HostResult<Git> {
    let [_, objects] = bench_folders(plan)?;
    match ObjectStore::existing(objects) {
        Some(objects) if objects.git.has_objects([tree])? == [true] => Ok(objects.git),
        Some(_) | None => plan.git(),
    }
}

/// Fails if the repository of `git` has other content than the store of `plan` under one of the names that `tree` adds
/// to `base`. Does nothing if nothing of the plan was judged on a bench.
pub(crate) fn expect_same_objects(
    plan: &OpenPlan,
    git: &Git,
    tree: &Oid,
    base: &Oid,
) -> HostResult<()> {
    let [_, folder] = bench_folders(plan)?;
    let Some(objects) = ObjectStore::existing(folder.clone()) else {
        return Ok(());
    };
    let base = git.tree_of_commit(base)?;
    objects.compare(git, tree, &base).or_else(|error| {
        match error.kind {
            HostErrorKind::MissingObject => Err(error),
            // The store can't be read. In a new one, git computes the names of the repository's objects.
            _ => ObjectStore::renew(&folder, tree)?.compare(git, tree, &base),
        }
    })
}

impl Bench {
    /// Takes the bench of `attempt`, or one that no attempt in `state` needs. Makes it if there is none. Without an
    /// attempt, the bench is free again once this value is dropped.
    ///
    /// # Errors
    /// A folder can't be written, or another process uses the bench of `attempt`.
    pub fn take(plan: &OpenPlan, state: &State, attempt: Option<Attempt<'_>>) -> HostResult<Self> {
        let [folder, objects] = bench_folders(plan)?;
        platform::make_private_folder(&folder).map_err(HostError::writing(&folder))?;
        let repository = plan.git()?.worktree().to_string_lossy().into_owned();
        if file::read_text(&folder.join(REPOSITORY), CAP).ok().as_ref() != Some(&repository) {
            file::replace(&folder.join(REPOSITORY), repository.as_bytes())?;
        }
        let name = plan.repo.root.file_name().unwrap_or(OsStr::new("bench"));
        let wanted = attempt.map(|(id, iteration)| format!("{id} {iteration}\n"));
        let is_needed = |noted: &str| {
            let mut words = noted.split_whitespace();
            let task = words
                .next()
                .and_then(|id| state.task(&TaskId::new(id).ok()?));
            let iteration = words.next().and_then(|number| number.parse().ok());
            task.zip(iteration)
                .is_some_and(|(task, iteration): (_, u32)| {
                    task.status == Status::AwaitingVerification && task.iteration == iteration
                })
        };
        let slots: Vec<PathBuf> = (1..=MOST).map(|n| folder.join(n.to_string())).collect();
        let noted =
            |slot: &Path| file::read_text(&slot.with_extension("task"), CAP).unwrap_or_default();
        let own = slots
            .iter()
            .find(|slot| wanted.as_ref().is_some_and(|wanted| noted(slot) == *wanted));
        let (slot, lock) = match own {
            Some(slot) => (slot, file::acquire(&slot.with_extension("lock"), PATIENCE)?),
            None => {
                let mut found = None;
                for slot in &slots {
                    match file::acquire(&slot.with_extension("lock"), Duration::ZERO) {
                        Ok(lock) if !is_needed(&noted(slot)) => {
                            found = Some((slot, lock));
                            break;
                        }
                        Err(error) if !error.is_locked() => return Err(error),
                        Ok(_) | Err(_) => {}
                    }
                }
                found.ok_or_else(|| {
                    HostError::refused("all benches are in use")
                        .with_hint("wait until a verdict is in")
                })?
            }
        };
        let note = slot.with_extension("task");
        file::replace(&note, wanted.unwrap_or_default().as_bytes())?;
        let checkout = slot.join(name);
        for place in [slot, &checkout] {
            if place.is_symlink() {
                remove_all(place).map_err(HostError::writing(place))?;
            }
        }
        file::make_folders(&checkout)?;
        let objects = match ObjectStore::existing(objects.clone()) {
            Some(objects) => objects,
            None => ObjectStore::make(&objects, &plan.newest(state)?)?,
        };
        let lock = Arc::new(lock);
        let bench = Self {
            git: checkout_of(&objects, checkout, &lock),
            objects,
            slot: slot.clone(),
            lock,
        };
        bench.remove_strangers(&folder)?;
        Ok(bench)
    }

    /// The root of the checkout.
    pub fn folder(&self) -> &Path {
        self.git.worktree()
    }

    /// Copies `tree` from the repository of `git`, which has `known`, to the store, and brings the checkout to it:
    /// writes what differs, and removes what neither the tree nor the repository's ignore rules explain. A store that
    /// is damaged is made anew.
    ///
    /// # Errors
    /// A file can't be written, or an object of the repository is missing or damaged.
    pub(crate) fn bring(&self, git: &Git, tree: &Oid, known: &Oid) -> HostResult<()> {
        let bring = || {
            self.objects.take(git, tree, known)?;
            self.bring_whole(git, tree)
        };
        bring().or_else(|_| {
            ObjectStore::renew(self.git.git_dir(), tree)?;
            bring()
        })
    }

    /// Brings the newest commit of the run of `plan` in `state`.
    ///
    /// # Errors
    /// As for [`Bench::bring`].
    pub fn bring_newest(&self, plan: &OpenPlan, state: &State) -> HostResult<()> {
        let git = plan.checkout(state)?;
        let tree = git.tree_of_commit(&plan.newest(state)?)?;
        self.bring(&git, &tree, &tree)
    }

    /// Copies `tree` from the store to the repository of `git`, which has `known`.
    pub(crate) fn give_tree(&self, git: &Git, tree: &Oid, known: &Oid) -> HostResult<()> {
        self.objects.git.send_objects(tree, &[known], git)
    }

    fn index(&self) -> PathBuf {
        self.slot.with_extension("index")
    }

    fn bring_whole(&self, checkout: &Git, tree: &Oid) -> HostResult<()> {
        let whole = self.whole();
        self.bring_part(&whole, tree)?;
        self.bring_submodules(checkout, &whole)?;
        self.make_repository(tree)
    }

    /// Removes the new files that commands have left outside of the ignored places, except `kept`, so that the next one
    /// starts from what is judged.
    pub(crate) fn remove_new(&self, kept: &[RepoPath]) -> HostResult<()> {
        let whole = self.whole();
        let mut files = whole.git.paths_by(&whole.index)?;
        files.extend_from_slice(kept);
        whole.clean(&files).map(drop)
    }

    /// Runs the setup `commands` by `run`, unless they have passed here since a file that they read changed. Returns
    /// true if they ran and passed.
    pub(crate) fn set_up(
        &self,
        commands: &[String],
        run: impl FnOnce() -> Vec<CommandRun>,
    ) -> HostResult<Result<bool, Unready>> {
        if commands.is_empty() {
            return Ok(Ok(false));
        }
        let mut read = commands.join("\0");
        for (entry, path) in self.git.entries(&self.index())? {
            if is_setup_input(&path, commands) {
                read += &format!("\0{entry}{path}");
            }
        }
        let (state, note) = (
            text_hash(read.as_bytes()),
            self.slot.with_extension("setup"),
        );
        if file::read_text(&note, CAP).is_ok_and(|known| known == state) {
            return Ok(Ok(false));
        }
        self.forget_setup();
        let has_failed = |run: &CommandRun| run.end != Some(CommandEnd::Exited(0));
        if let Some(failed) = run().into_iter().find(has_failed) {
            return Ok(Err(Unready::Fails(failed)));
        }
        let changed = self.changed()?.tracked;
        if !changed.is_empty() {
            return Ok(Err(Unready::Changes(changed)));
        }
        file::replace(&note, state.as_bytes())?;
        Ok(Ok(true))
    }

    /// Brings `part` to `tree`. A setup that has left something that is removed here has to run again.
    fn bring_part(&self, part: &Part, tree: &Oid) -> HostResult<()> {
        if part.bring(tree)? {
            self.forget_setup();
        }
        Ok(())
    }

    /// Has the setup run again, whatever it reads.
    pub(crate) fn forget_setup(&self) {
        drop(fs::remove_file(self.slot.with_extension("setup")));
    }

    /// The checkout without its submodules.
    fn whole(&self) -> Part {
        Part {
            git: self.git.clone(),
            index: self.index(),
            is_root: true,
        }
    }

    /// Brings the submodules that are recorded in `part` and checked out in `checkout`, and those in them.
    fn bring_submodules(&self, checkout: &Git, part: &Part) -> HostResult<()> {
        for (path, commit) in part.git.submodules(&part.index)? {
            let Ok(source) = Git::open(&checkout.absolute(&path)) else {
                continue;
            };
            if source.worktree() == checkout.worktree() {
                continue;
            }
            let tree = source.tree_of_commit(&commit)?;
            self.objects.take(&source, &tree, &tree)?;
            let inner = self.part_at(part, &path);
            file::make_folders(inner.git.worktree())?;
            self.bring_part(&inner, &tree)?;
            self.bring_submodules(&source, &inner)?;
        }
        Ok(())
    }

    /// The submodule at `path` in `part`.
    fn part_at(&self, part: &Part, path: &RepoPath) -> Part {
        let folder = part.git.absolute(path);
        let name = text_hash(folder.as_os_str().as_encoded_bytes());
        Part {
            index: self.slot.with_extension(format!("{name}.index")),
            git: checkout_of(&self.objects, folder, &self.lock),
            is_root: false,
        }
    }

    /// The tracked files that are no longer as they were brought, and the new files that aren't ignored.
    pub(crate) fn changed(&self) -> HostResult<Changed> {
        self.changed_in(&self.whole())
    }

    fn changed_in(&self, part: &Part) -> HostResult<Changed> {
        let (mut tracked, new) = part.git.changed_by(&part.index)?;
        for (path, _) in part.git.submodules(&part.index)? {
            let inner = self.part_at(part, &path);
            if inner.index.exists() {
                let below = |inner: RepoPath| [path.as_bytes(), b"/", inner.as_bytes()].concat();
                let changed = self.changed_in(&inner)?.tracked.into_iter();
                tracked.extend(changed.map(|path| RepoPath::from_bytes(below(path))));
            }
        }
        Ok(Changed { tracked, new })
    }

    /// The tree that was brought, with `paths` as they are now.
    pub(crate) fn tree_with(&self, paths: &[RepoPath]) -> HostResult<Oid> {
        self.git.tree_by(&self.index(), paths)
    }

    /// Removes what tools would find above the checkout, and what isn't `fp`'s.
    fn remove_strangers(&self, folder: &Path) -> HostResult<()> {
        // No tool looks for a name that begins with a digit.
        let is_own = |name: &OsStr| {
            let name = name.as_encoded_bytes();
            name[0].is_ascii_digit() || name.starts_with(REPOSITORY.as_bytes())
        };
        let is_of_plan = |name: &OsStr| {
            let hash = name.to_str().and_then(|name| name.rsplit_once('-'));
            hash.is_some_and(|(_, hash)| hash.len() == 8)
        };
        let is_checkout = |name: &OsStr| Some(name) == self.folder().file_name();
        let all = folder.parent().unwrap_or(folder);
        let check = |folder: &Path, is_own: &dyn Fn(&OsStr) -> bool| -> HostResult<()> {
            for entry in file::entries_in(folder).map_err(HostError::reading(folder))? {
                if !is_own(&entry.file_name()) {
                    remove_stranger(&entry.path())?;
                }
            }
            Ok(())
        };
        check(all, &is_of_plan)?;
        check(folder, &is_own)?;
        check(&self.slot, &is_checkout)
    }

    /// Makes the checkout a repository of its own with `tree` as its only commit, for commands that ask git.
    fn make_repository(&self, tree: &Oid) -> HostResult<()> {
        let place = self.folder().join(".git");
        let failed = HostError::writing(&place);
        let head = self.git.lone_commit(tree)?;
        let format = match head.as_str().len() {
            40 => "[core]\n\trepositoryformatversion = 0\n",
            _ => "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n",
        };
        let mut objects: OsString = self.git.git_dir().join("objects").into();
        objects.push("\n");
        if !fs::symlink_metadata(&place).is_ok_and(|found| found.is_dir()) {
            remove_all(&place).map_err(failed)?;
        }
        // The folder itself may be a mount in an agent's sandbox.
        for entry in file::entries_in(&place).map_err(failed)? {
            remove_stranger(&entry.path())?;
        }
        let make = || -> io::Result<()> {
            fs::create_dir_all(place.join("objects/info"))?;
            fs::create_dir_all(place.join("refs"))?;
            fs::write(
                place.join("objects/info/alternates"),
                objects.as_encoded_bytes(),
            )?;
            fs::write(place.join("config"), format)?;
            fs::write(place.join("HEAD"), format!("{head}\n"))
        };
        make().map_err(failed)?;
        copy_index(&self.index(), &place.join("index"))
    }
}

/// The checkout in `folder` of what is in `objects`. Git holds `lock` too, and so is done with an index once that is free.
fn checkout_of(objects: &ObjectStore, folder: PathBuf, lock: &Arc<File>) -> Git {
    let git = Git::of_store(objects.git.git_dir().to_owned(), folder);
    git.with_commit_lock(Arc::clone(lock))
}

/// Removes what is at `path`. Something empty may stay: an agent's sandbox mounts such files and folders, and no tool
/// reads anything from them.
fn remove_stranger(path: &Path) -> HostResult<()> {
    let is_empty = || -> io::Result<bool> {
        let found = fs::symlink_metadata(path)?;
        Ok(match found.is_dir() {
            true => file::entries_in(path)?.is_empty(),
            false => found.is_file() && found.len() == 0,
        })
    };
    match remove_all(path) {
        Err(_) if is_empty().unwrap_or(false) => Ok(()),
        removed => removed.map_err(HostError::writing(path)),
    }
}

/// Files that would give git orders, unless they are tracked.
const NEVER_KEPT: [&[u8]; 3] = [b".gitignore", b".gitattributes", b".git"];

/// The changes that commands made in a checkout.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) tracked: Vec<RepoPath>,
    pub(crate) new: Vec<RepoPath>,
}

/// The files of the checkout, or of a submodule in it, as an index outside of it records them.
struct Part {
    git: Git,
    index: PathBuf,
    /// False for a submodule.
    is_root: bool,
}

impl Part {
    /// Brings the files to `tree`; returns true if anything that isn't in the tree was removed.
    fn bring(&self, tree: &Oid) -> HostResult<bool> {
        let folder = self.git.worktree();
        // Left by a git that was killed: one that runs would hold the bench's lock.
        drop(fs::remove_file(self.index.with_extension("index.lock")));
        if let Ok(before) = self.git.paths_by(&self.index) {
            for link in self.links_for_folders(&before) {
                remove_all(&link).map_err(HostError::writing(&link))?;
            }
        }
        let brought = self.git.bring_to(&self.index, tree);
        if let Err(error) = &brought
            && error.kind == HostErrorKind::MissingObject
        {
            return Err(forged(tree));
        }
        let is_new = brought.is_err();
        if is_new {
            // Commands may have made folders that can't be written.
            for place in [folder, &self.index] {
                remove_all(place).map_err(HostError::writing(place))?;
            }
            file::make_folders(folder)?;
            self.git.bring_to(&self.index, tree)?;
        }
        let tracked = self.git.paths_by(&self.index)?;
        Ok(self.clean(&tracked)? || is_new)
    }

    /// The links that stand where the tree has folders. Git takes the files behind a link for those of the folder.
    fn links_for_folders(&self, tracked: &[RepoPath]) -> Vec<PathBuf> {
        let folders: BTreeSet<&[u8]> = tracked.iter().flat_map(RepoPath::folders).collect();
        let places = folders
            .into_iter()
            .map(|folder| self.git.worktree().join(os_string(folder)));
        places.filter(|place| place.is_symlink()).collect()
    }

    /// Removes untracked files that aren't ignored, and everything that is neither a file nor a folder nor a link. Git
    /// itself lists no pipes, and follows ignore rules that a command left behind. Returns true if anything was removed.
    fn clean(&self, tracked: &[RepoPath]) -> HostResult<bool> {
        let untracked = self.list_untracked(tracked);
        self.remove_unexplained(&untracked.map_err(HostError::using(self.git.worktree()))?)
    }

    /// The untracked files, links and folders, each with true for a folder. Removes all else.
    fn list_untracked(&self, tracked: &[RepoPath]) -> io::Result<Vec<(RepoPath, bool)>> {
        let mut folders: HashSet<&[u8]> = HashSet::from([&b""[..]]);
        folders.extend(tracked.iter().flat_map(RepoPath::folders));
        let files: HashSet<&[u8]> = tracked.iter().map(RepoPath::as_bytes).collect();
        let mut untracked = Vec::new();
        for folder in &folders {
            for entry in file::entries_in(&self.git.worktree().join(os_string(folder)))? {
                let name = platform::git_bytes(&entry.file_name());
                let name = name.unwrap_or_else(|| entry.file_name().into_encoded_bytes());
                let path = match folder.is_empty() {
                    true => name.clone(),
                    false => [folder, &b"/"[..], &name].concat(),
                };
                if self.is_root && path == b".git"
                    || files.contains(&*path)
                    || folders.contains(&*path)
                {
                    continue;
                }
                let kind = entry.file_type()?;
                let is_plain = kind.is_dir() || kind.is_file() || kind.is_symlink();
                match is_plain && !NEVER_KEPT.contains(&&*name) {
                    true => untracked.push((RepoPath::from_bytes(path), kind.is_dir())),
                    false => remove_all(&entry.path())?,
                }
            }
        }
        Ok(untracked)
    }

    /// Removes those of `untracked`, which are files and folders, that are neither ignored nor by-products.
    fn remove_unexplained(&self, untracked: &[(RepoPath, bool)]) -> HostResult<bool> {
        let inside = |(path, is_folder): &(RepoPath, bool)| match is_folder {
            true => [RepoPath::from_bytes(
                [path.as_bytes(), b"/CACHEDIR.TAG"].concat(),
            )]
            .to_vec(),
            false => vec![path.clone()],
        };
        let files: Vec<RepoPath> = untracked.iter().flat_map(inside).collect();
        let is_there = |path: &RepoPath| self.git.absolute(path).exists();
        let made = ByProducts::among(&files, is_there);
        let left = untracked
            .iter()
            .zip(&files)
            .filter(|(_, file)| !made.covers(file));
        let mut left: Vec<&RepoPath> = left.map(|((path, _), _)| path).collect();
        let ignored = self.git.ignored_by(&self.index, &left)?;
        let ignored: HashSet<RepoPath> = ignored.into_iter().collect();
        left.retain(|path| !ignored.contains(*path));
        for path in &left {
            remove_stranger(&self.git.absolute(path))?;
        }
        Ok(!left.is_empty())
    }
}

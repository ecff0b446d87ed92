//! Opens a plan for a command: its folder, its tree, its ledger and the repository around it.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::plan::{self, Plan, Task};
use fp_plan::settings::{SandboxMode, Settings};
use fp_plan::signals_record::composites_in;
use fp_run::run::event::Leaf;
use fp_run::run::{Refusal, State, approval};

use crate::error::{HostError, HostResult};
use crate::file::{self, TASKS_CAP};
use crate::git::{Git, Oid};
use crate::lead::{LEAD_LOCK, LeadLook};
use crate::plan_folder::PlanFolder;
use crate::platform;
use crate::process::{self, Confinement};
use crate::repo::Repo;
use crate::run::worktree;
use crate::store::{Ledger, Loaded, Store, Synced};
use crate::trust::{AgreedCommands, TrustStore};

pub const TASKS: &str = "tasks.md";
pub const SIGNALS: &str = "signals.json";
/// Name of the folder, inside a plan's folder, for the builders' worktrees.
pub const WORKTREES: &str = "worktrees";
const INTEGRATION: &str = "integration";
/// Time to wait for another process that holds the lock of a plan.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(10);
/// Time to wait while another process of this clone talks to a remote.
const SYNC_PATIENCE: Duration = Duration::from_secs(60);
/// File with the conventions and commands of the code base.
pub const CONTEXT: &str = "context.md";
/// File with the research for the plan.
pub const RESEARCH: &str = "research.md";
/// File with the description of a plan.
pub const PLAN: &str = "plan.json";

/// Size limit of `signals.json`, in bytes.
const SIGNALS_CAP: u64 = 64 * 1024 * 1024;

/// A plan and everything that a command needs from it.
#[derive(Debug)]
pub struct OpenPlan {
    pub repo: Repo,
    pub settings: Settings,
    pub folder: PlanFolder,
    pub store: Store,
    confinement: OnceLock<Option<Confinement>>,
}

/// The task tree as it is in the file now.
#[derive(Debug)]
pub struct Tree {
    /// Hash of the whole text.
    pub hash: String,
    pub text: String,
}

impl Tree {
    /// The leaves that were edited after their approval. Parses only if the text has changed.
    pub fn edited(&self, state: &State) -> BTreeSet<TaskId> {
        let same = state
            .approval
            .as_ref()
            .is_none_or(|a| a.tree_hash == self.hash);
        if same {
            BTreeSet::new()
        } else {
            approval::edited_leaves(state, &self.parse())
        }
    }

    /// The parsed tree. Ignores parse errors, which `fp validate` reports.
    pub fn parse(&self) -> Plan<'_> {
        plan::parse(&self.text).0
    }

    /// Passes `take` the current version of the leaf `known`; `None` if it is gone.
    pub fn with_leaf<R>(&self, known: &Leaf, take: impl FnOnce(Option<&Task<'_>>) -> R) -> R {
        let plan = self.parse();
        take(plan.leaves().find(|task| task.id == known.id.as_str()))
    }

    /// Like [`Tree::with_leaf`], for a leaf that must be unchanged since its approval.
    pub fn with_approved<R>(
        &self,
        known: &Leaf,
        take: impl FnOnce(&Task<'_>) -> R,
    ) -> Result<R, Refusal> {
        self.with_leaf(known, |leaf| match leaf {
            None => Err(Refusal::UnknownTask(known.id.clone())),
            Some(leaf) if !approval::is_approved(leaf, known) => {
                Err(Refusal::Edited(known.id.clone()))
            }
            Some(leaf) => Ok(take(leaf)),
        })
    }
}

pub fn leaf<'p>(plan: &'p Plan<'p>, id: &TaskId) -> Option<&'p Task<'p>> {
    plan.leaves().find(|task| task.id == id.as_str())
}

impl OpenPlan {
    pub fn new(repo: Repo, settings: Settings, folder: PlanFolder) -> Self {
        let store = Store::new(folder.path().to_owned(), folder.id().clone());
        Self {
            repo,
            settings,
            folder,
            store,
            confinement: OnceLock::new(),
        }
    }

    pub fn id(&self) -> &PlanId {
        self.folder.id()
    }

    pub fn tasks_file(&self) -> PathBuf {
        self.folder.file(TASKS)
    }

    /// The file with the conventions and commands of the code base, if there is one.
    pub fn conventions(&self) -> Option<PathBuf> {
        let files = [CONTEXT, RESEARCH].map(|name| self.folder.file(name));
        files.into_iter().find(|path| path.is_file())
    }

    /// The path of the signals file, which need not exist.
    pub fn signals_file(&self) -> PathBuf {
        self.folder.file(SIGNALS)
    }

    /// The composite signal of each task, by id, as last measured; `None` if never measured. Fails if the
    /// file is damaged.
    pub fn composites(&self) -> HostResult<Option<HashMap<String, u8>>> {
        let path = self.signals_file();
        let Some(text) = file::read_text_if_there(&path, SIGNALS_CAP)? else {
            return Ok(None);
        };
        composites_in(&text).map(Some).map_err(|said| {
            HostError::failed(format_args!("{}: {said}", path.display()))
                .with_hint("run `fp signals` again, or remove the file")
        })
    }

    /// Reads the task tree. Fails if there is none, or it is not text.
    pub fn tree(&self) -> HostResult<Tree> {
        let text = file::read_text(&self.tasks_file(), TASKS_CAP)?;
        Ok(Tree {
            hash: approval::hash(text.as_bytes()),
            text,
        })
    }

    /// The goal in the user's words, or the plan's id if they weren't recorded.
    pub fn goal(&self) -> String {
        self.folder.goal().unwrap_or_else(|| self.id().to_string())
    }

    /// Fails unless the user of this machine agreed to the approval in `state`. A sync may bring a different approval,
    /// so check the same state that you act on.
    pub fn agreed_commands(&self, state: &State) -> HostResult<AgreedCommands<'_>> {
        TrustStore::of_process(&self.repo)?.expect_approval(state)?;
        let confinement = self.confinement();
        Ok(AgreedCommands { confinement })
    }

    /// The confinement of the plan's commands; `None` if nothing confines them.
    pub fn confinement(&self) -> Option<&Confinement> {
        let made = self.confinement.get_or_init(|| {
            let sandbox = &self.settings.sandbox;
            let network = match sandbox.mode {
                SandboxMode::Off => return None,
                SandboxMode::On => true,
                SandboxMode::NoNetwork => false,
            };
            let env = |name: &str| std::env::var_os(name).map(PathBuf::from);
            let own = |path: &String| process::user_path(path);
            let repo = &self.repo;
            let mut closed = vec![repo.root.clone(), repo.worktree.clone()];
            closed.extend(repo.git_dir.clone());
            Confinement::new(env, sandbox.write.iter().filter_map(own), network, &closed)
        });
        made.as_ref()
    }

    pub fn load(&self) -> HostResult<Loaded> {
        self.store.load()
    }

    /// Checks the lock of the run's lead; call this before reading the log.
    pub fn look_at_lead(&self) -> LeadLook {
        LeadLook::in_folder(self.folder.path())
    }

    /// Takes the lock for appending to the log; waits if another process holds it.
    pub fn lock(&self) -> HostResult<Ledger<'_>> {
        self.store.lock(LOCK_PATIENCE)
    }

    /// Syncs, then takes the lock for appending entries that all machines must see in the same order. Equivalent to
    /// [`OpenPlan::lock`] if the plan isn't shared.
    pub fn lock_in_order(&self) -> HostResult<Ledger<'_>> {
        loop {
            match self.try_lock_in_order()? {
                Ok(ledger) => return Ok(ledger),
                // The lock on worktrees must be taken before the lock on the log.
                Err(synced) => self.keep_lost(&synced),
            }
        }
    }

    /// Like [`OpenPlan::lock_in_order`], for a caller that holds the lock on worktrees. If this machine has lost tasks,
    /// releases the lock and returns the result of the sync, because [`OpenPlan::keep_lost`] has to save their work
    /// first.
    pub fn try_lock_in_order(&self) -> HostResult<Result<Ledger<'_>, Synced>> {
        let (ledger, synced) = self.store.lock_in_order(SYNC_PATIENCE)?;
        Ok(if synced.lost.is_none() {
            Ok(ledger)
        } else {
            Err(synced)
        })
    }

    /// Syncs with the other machines if the plan is shared. Returns notices for the user.
    pub fn sync(&self) -> HostResult<Vec<String>> {
        let synced = self.store.sync(SYNC_PATIENCE)?;
        self.keep_lost(&synced);
        Ok(synced.notices)
    }

    /// Saves the work on tasks that another machine has taken. Anything that can't be saved stays in the builder's
    /// worktree.
    pub fn keep_lost(&self, synced: &Synced) {
        if let Some((before, lost)) = &synced.lost {
            let _ = worktree::keep_lost(self, before, lost);
        }
    }

    /// The checkout of a shared plan's integration branch; it need not exist.
    pub fn integration(&self) -> PathBuf {
        self.worktrees().with_file_name(INTEGRATION)
    }

    /// The commit that the next task will be based on.
    pub fn newest(&self, state: &State) -> HostResult<Oid> {
        match self.store.membership()? {
            Some(member) => Ok(member.tip),
            None => self.checkout(state)?.head(),
        }
    }

    /// The lock for making commits; only one process at a time may commit in the whole repository.
    pub fn commit_lock(&self) -> PathBuf {
        self.folder.path().with_file_name("commit.lock")
    }

    /// The lock for adding and removing builders' worktrees: one for the whole repository, since git keeps its records
    /// of them in one place.
    pub fn worktrees_lock(&self) -> PathBuf {
        self.folder.path().with_file_name("worktrees.lock")
    }

    /// The lock of the process that leads the run.
    pub fn lead_lock(&self) -> PathBuf {
        self.folder.file(LEAD_LOCK)
    }

    /// The folder of the builders' worktrees; it need not exist.
    pub fn worktrees(&self) -> PathBuf {
        let folder = self.folder.path();
        // Canonical, since git lists worktrees by their real paths.
        platform::real_path(folder)
            .unwrap_or_else(|_| folder.to_owned())
            .join(WORKTREES)
    }

    /// The user's checkout in which `fp` was called, or the main one if it was called in a builder's worktree. Fails
    /// without git.
    pub fn git(&self) -> HostResult<Git> {
        let plans = self.repo.plans_dir(&self.settings);
        let plans = platform::real_path(&plans).unwrap_or(plans);
        let of_a_builder = self.repo.worktree.starts_with(plans);
        self.open_git(if of_a_builder {
            &self.repo.root
        } else {
            &self.repo.worktree
        })
    }

    /// The checkout that receives the run's commits. A shared plan has its own. Otherwise it is the checkout in which
    /// the run was started if builders have their own worktrees, or else the one in which `fp` was called. Fails
    /// without git, or if the checkout is gone.
    pub fn checkout(&self, state: &State) -> HostResult<Git> {
        let of_run = || {
            state
                .run
                .as_ref()
                .and_then(|run| run.terms.checkout.as_ref())
                .map(PathBuf::from)
        };
        let Some(path) = state
            .is_shared()
            .then(|| self.integration())
            .or_else(of_run)
        else {
            return self.git();
        };
        let found = Repo::find(&path);
        if found.git_dir.is_none() || found.git_dir != self.repo.git_dir || found.worktree != path {
            let said = format!("{} is not a checkout of this repository", path.display());
            return Err(
                HostError::failed(said).with_hint(match state.terms().branch {
                    Some(_) => "`fp run PLAN` makes it again",
                    None => "run `fp start PLAN` in the checkout that should get the commits",
                }),
            );
        }
        self.open_git(&path)
    }

    fn open_git(&self, worktree: &Path) -> HostResult<Git> {
        Git::open_with(worktree, &self.settings.plans_dir)
    }
}

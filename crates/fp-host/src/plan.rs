//! A plan that a command works on: its folder, its tree, its ledger and the repository around it.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fp_plan::hint::Hint;
use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::plan::{self, Plan, Task};
use fp_plan::settings::Settings;
use fp_plan::signals_record::{SignalsRecordError, composites_in};
use fp_run::run::event::Leaf;
use fp_run::run::{State, approval};
use serde::Deserialize;

use crate::file::{self, FileError, TASKS_CAP};
use crate::git::{Git, GitError};
use crate::plan_folder::PlanFolder;
use crate::repo::Repo;
use crate::store::{Ledger, Loaded, Store, StoreError};

/// Name of the task tree in a plan's folder.
pub const TASKS: &str = "tasks.md";
/// Name of the signals in a plan's folder.
pub const SIGNALS: &str = "signals.json";
/// Name of the folder of the builders' own worktrees in a plan's folder.
pub const WORKTREES: &str = "worktrees";
/// Name of what is known of the code base in a plan's folder.
pub const CONTEXT: &str = "context.md";
/// Name of the description of a plan in its folder.
pub const PLAN: &str = "plan.json";

/// Largest `plan.json` that is read: the goal is the user's own words, however many.
const PLAN_CAP: u64 = 16 * 1024 * 1024;
/// Largest `signals.json` that is read, in bytes.
const SIGNALS_CAP: u64 = 64 * 1024 * 1024;

/// Why the signals of a plan can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SignalsError {
    /// The file can't be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not what `fp signals` writes.
    #[error("{}: {source}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: SignalsRecordError,
    },
}

impl Hint for SignalsError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::File(error) => error.hint(),
            Self::Record { .. } => Some("run `fp signals` again, or remove the file".into()),
        }
    }
}

/// A plan and all that a command needs of it.
#[derive(Debug)]
pub struct OpenPlan {
    /// The repository.
    pub repo: Repo,
    /// The settings in force.
    pub settings: Settings,
    /// Its folder.
    pub folder: PlanFolder,
    /// Its ledger.
    pub store: Store,
}

/// The task tree as the file has it now.
#[derive(Debug)]
pub struct Tree {
    /// Hash of the whole text.
    pub hash: String,
    /// The text.
    pub text: String,
}

impl Tree {
    /// The approved leaves that were edited since. Parses only when the text has changed at all.
    pub fn edited(&self, state: &State) -> BTreeSet<TaskId> {
        let same = state.approval.as_ref().is_none_or(|a| a.tree_hash == self.hash);
        if same { BTreeSet::new() } else { approval::edited(state, &self.parse()) }
    }

    /// The tree as parsed; what is wrong with it is the business of `fp validate`.
    pub fn parse(&self) -> Plan<'_> {
        plan::parse(&self.text).0
    }

    /// The part of the text to parse for `leaf`: itself alone where it is as it was approved, else all.
    pub fn part_with(&self, leaf: &Leaf) -> Cow<'_, str> {
        approval::excerpt(&self.text, leaf).map_or(Cow::Borrowed(&self.text), Cow::Owned)
    }
}

/// The leaf `id` of a parsed tree.
pub fn leaf<'p>(plan: &'p Plan<'p>, id: &TaskId) -> Option<&'p Task<'p>> {
    plan.leaves().find(|task| task.id == id.as_str())
}

impl OpenPlan {
    /// The plan in `folder`.
    pub fn new(repo: Repo, settings: Settings, folder: PlanFolder) -> Self {
        let store = Store::new(folder.path().to_owned(), folder.id().clone());
        Self { repo, settings, folder, store }
    }

    /// Its id.
    pub fn id(&self) -> &PlanId {
        self.folder.id()
    }

    /// Path of its task tree.
    pub fn tasks_file(&self) -> PathBuf {
        self.folder.file(TASKS)
    }

    /// Path of the file that has the conventions and commands of the code base, if there is one.
    pub fn conventions(&self) -> Option<PathBuf> {
        Some(self.folder.file(CONTEXT)).filter(|path| path.is_file())
    }

    /// Path of its signals; the file need not exist.
    pub fn signals_file(&self) -> PathBuf {
        self.folder.file(SIGNALS)
    }

    /// The composite signal of each task, by id, as it was last measured; `None` where it never was. Fails where the
    /// file is damaged.
    pub fn composites(&self) -> Result<Option<HashMap<String, u8>>, SignalsError> {
        let path = self.signals_file();
        let Some(text) = file::read_text_if_there(&path, SIGNALS_CAP)? else { return Ok(None) };
        composites_in(&text).map(Some).map_err(|source| SignalsError::Record { path, source })
    }

    /// Its task tree. Fails where there is none, or it is no text.
    pub fn tree(&self) -> Result<Tree, FileError> {
        let text = file::read_text(&self.tasks_file(), TASKS_CAP)?;
        Ok(Tree { hash: approval::hash(text.as_bytes()), text })
    }

    /// The user's own words, or the plan's id where they were not kept.
    pub fn goal(&self) -> String {
        self.goal_if_kept().unwrap_or_else(|| self.id().to_string())
    }

    /// The user's own words, where they were kept.
    pub fn goal_if_kept(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Described {
            goal: String,
        }
        let text = file::read_text(&self.folder.file(PLAN), PLAN_CAP).ok()?;
        serde_json::from_str::<Described>(&text).ok().map(|described| described.goal)
    }

    /// The state now.
    pub fn load(&self) -> Result<Loaded, StoreError> {
        self.store.load()
    }

    /// The right to append to the log; waits as long as the settings say.
    pub fn lock(&self) -> Result<Ledger<'_>, StoreError> {
        self.store.lock(Duration::from_secs(self.settings.lock_timeout_seconds.into()))
    }

    /// Path of the lock under which commits are made, one at a time in the whole repository.
    pub fn commit_lock(&self) -> PathBuf {
        self.folder.path().with_file_name("commit.lock")
    }

    /// Path of the lock under which worktrees of builders are made and removed, in the whole repository: git's records
    /// of them have one place.
    pub fn worktrees_lock(&self) -> PathBuf {
        self.folder.path().with_file_name("worktrees.lock")
    }

    /// Path of the folder that the builders' own worktrees are in; it need not exist.
    pub fn worktrees(&self) -> PathBuf {
        let folder = self.folder.path();
        // Git names them without links on the way.
        std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()).join(WORKTREES)
    }

    /// The user's checkout that `fp` was called in, as git sees it; from a builder's worktree, the main one. Fails
    /// without git.
    pub fn git(&self) -> Result<Git, GitError> {
        let plans = self.repo.plans_dir(&self.settings);
        let plans = std::fs::canonicalize(&plans).unwrap_or(plans);
        let of_a_builder = self.repo.worktree.starts_with(plans);
        self.open_git(if of_a_builder { &self.repo.root } else { &self.repo.worktree })
    }

    /// The checkout that the run's commits are made in: the one that it was started in, where builders have
    /// worktrees of their own, else the one that `fp` was called in. Fails without git, or where it is gone.
    pub fn checkout(&self, state: &State) -> Result<Git, GitError> {
        let Some(path) = state.run.as_ref().and_then(|run| run.terms.checkout.as_ref()).map(PathBuf::from)
        else {
            return self.git();
        };
        let found = Repo::find(&path);
        if found.git_dir.is_none() || found.git_dir != self.repo.git_dir || found.worktree != path {
            return Err(GitError::NotACheckout(path));
        }
        self.open_git(&path)
    }

    fn open_git(&self, worktree: &Path) -> Result<Git, GitError> {
        Ok(Git::open(worktree)?.with_plans_dir(self.settings.plans_dir.as_str()))
    }
}

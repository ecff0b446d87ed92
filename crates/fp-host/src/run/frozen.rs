//! Freezes submitted work into the tree that is judged and committed, and runs the task's commands on it.

use std::collections::BTreeSet;
use std::path::Path;

use fp_plan::repo_path::RepoPath;
use fp_plan::settings::CheckPlace;
use fp_plan::setup::is_setup_input;
use fp_run::run::state::{MeasuredWork, TaskState};
use fp_run::run::{State, refuse};
use fp_run::verification::change::{Change, ChangeStatus};
use fp_run::verification::{Check, CheckVerdict, CommandEnd, CommandRun, TaskScope, command_check};

use super::{paths, worktree};
use crate::bench::{Bench, Changed, Unready};
use crate::error::{HostError, HostResult};
use crate::git::{Git, Merge, Oid, file_list};
use crate::plan::OpenPlan;
use crate::process::Limits;
use crate::trust::AgreedCommands;

/// A submitted task's work on a commit.
#[derive(Debug, Clone)]
pub(super) struct Frozen {
    /// The tree of `onto` with the task's own files, and nothing else.
    pub(super) tree: Oid,
    /// The newest commit that the work fits.
    pub(super) onto: Oid,
    /// The tree of `onto`, or in a run without commits, the checkout at the claim.
    pub(super) base: Oid,
}

impl Frozen {
    /// The submitted work of `task` on the newest commit, or, if it doesn't fit there, on the commit that it began on.
    /// `git` is the run's checkout.
    pub(super) fn of(
        plan: &OpenPlan,
        git: &Git,
        state: &State,
        task: &TaskState,
    ) -> HostResult<Self> {
        let none = MeasuredWork::default();
        let work = task.submission.as_ref().unwrap_or(&none);
        let base = task.base.as_ref();
        let base = base.ok_or_else(|| refuse(task, "only a task that was claimed has a change"))?;
        let files = paths(&work.files);
        let began: Oid = base.head.parse()?;
        let head = plan.newest(state)?;
        if state.terms().no_commit {
            let base: Oid = base.tree.parse()?;
            return Ok(Self {
                tree: frozen_tree(git, &base, work, &files)?,
                onto: began,
                base,
            });
        }
        if head != began
            && git.contains(&began)?
            && let Merge::Clean(tree) = merge_work(git, &began, work, &files, &head)?
        {
            let base = git.tree_of_commit(&head)?;
            return Ok(Self {
                tree,
                onto: head,
                base,
            });
        }
        let base = git.tree_of_commit(&began)?;
        Ok(Self {
            tree: frozen_tree(git, &base, work, &files)?,
            onto: began,
            base,
        })
    }
}

fn frozen_tree(git: &Git, base: &Oid, work: &MeasuredWork, files: &[RepoPath]) -> HostResult<Oid> {
    match files.is_empty() {
        true => Ok(base.clone()),
        false => git.tree_with(base, &work.tree.parse()?, files),
    }
}

fn merge_work(
    git: &Git,
    began: &Oid,
    work: &MeasuredWork,
    files: &[RepoPath],
    onto: &Oid,
) -> HostResult<Merge> {
    match files.is_empty() {
        true => git.tree_of_commit(onto).map(Merge::Clean),
        false => git.merge(began, &work.tree.parse()?, files, onto),
    }
}

/// The check that fails because the setup changes `files`.
fn setup_check(files: &[RepoPath]) -> Check {
    let detail = format!(
        "the plan's setup changes {}: a commit needs what it makes of them, or the setup a command that leaves them, as \
         `npm ci` does",
        file_list(files)
    );
    Check {
        name: "setup".to_owned(),
        verdict: CheckVerdict::Fail,
        detail,
    }
}

/// The error for a bench that can't be set up.
fn unready(failed: &Check) -> HostError {
    let said = format!("the plan's setup fails on the bench: {}", failed.told());
    HostError::refused(said).with_hint(
        "mend what it needs and run this again; or change `Setup` in the plan, or set `verify.place` to `checkout`",
    )
}

/// Where commands run.
pub(super) enum Place {
    Bench(Box<Bench>),
    /// The user's checkout, in which the task was done and still is.
    Checkout(Git),
}

/// The results of commands, and what they changed.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) runs: Vec<CommandRun>,
    /// Forbidden changes that a command made.
    pub(super) faults: Vec<String>,
    /// The tree with the task's files as the commands left them.
    pub(super) tree: Oid,
}

impl Tried {
    fn nothing(work: &Frozen) -> Self {
        Self {
            runs: Vec::new(),
            faults: Vec::new(),
            tree: work.tree.clone(),
        }
    }

    fn has_failed(&self) -> bool {
        let mut ends = self.runs.iter().map(|run| run.end);
        ends.any(|end| end != Some(CommandEnd::Exited(0)))
    }
}

impl Place {
    /// The place for the commands of `task`.
    pub(super) fn of(plan: &OpenPlan, state: &State, task: &TaskState) -> HostResult<Self> {
        let is_chosen = plan.settings.verify.place == CheckPlace::Checkout;
        if is_chosen && task.worktree().is_none() {
            return worktree::of(plan, state, task).map(Self::Checkout);
        }
        let attempt = (&task.leaf.id, task.iteration);
        let bench = Bench::take(plan, state, Some(attempt))?;
        Ok(Self::Bench(Box::new(bench)))
    }

    /// A place with the newest commit of the run, for commands that belong to no attempt.
    pub(super) fn of_newest(plan: &OpenPlan, state: &State) -> HostResult<Self> {
        if plan.settings.verify.place == CheckPlace::Checkout && state.terms().checkout.is_none() {
            return plan.checkout(state).map(Self::Checkout);
        }
        let bench = Bench::take(plan, state, None)?;
        bench.bring_newest(plan, state)?;
        Ok(Self::Bench(Box::new(bench)))
    }

    pub(super) fn folder(&self) -> &Path {
        match self {
            Self::Bench(bench) => bench.folder(),
            Self::Checkout(git) => git.worktree(),
        }
    }

    /// Puts `work`, whose objects `git` has, in place. In the checkout, it is there already.
    pub(super) fn bring(&self, git: &Git, work: &Frozen) -> HostResult<()> {
        match self {
            Self::Bench(bench) => bench.bring(git, &work.tree, &work.base),
            Self::Checkout(_) => Ok(()),
        }
    }

    /// Runs the setup commands of the approval in `state`, if that is due on this bench. Returns true if they ran, or a
    /// check if they fail or change tracked files.
    pub(super) fn set_up(
        &self,
        state: &State,
        agreed: AgreedCommands,
        limits: Limits,
    ) -> HostResult<Result<bool, Check>> {
        let (Self::Bench(bench), Some(approval)) = (self, &state.approval) else {
            return Ok(Ok(false));
        };
        let commands = &approval.setup;
        let run = || {
            let lines = commands.iter().map(String::as_str);
            agreed.run(lines, self.folder(), limits)
        };
        Ok(bench
            .set_up(commands, run)?
            .map_err(|unready| match unready {
                Unready::Fails(run) => command_check(&run),
                Unready::Changes(files) => setup_check(&files),
            }))
    }

    /// Like [`Place::set_up`].
    ///
    /// # Errors
    /// The setup fails, or changes tracked files.
    pub(super) fn expect_set_up(
        &self,
        state: &State,
        agreed: AgreedCommands,
        limits: Limits,
    ) -> HostResult<()> {
        let ready = self.set_up(state, agreed, limits)?;
        ready.map(drop).map_err(|check| unready(&check))
    }

    /// Like [`Place::try_commands`], after the setup. If a command fails on a bench that was set up for an earlier change,
    /// sets it up anew and runs them once more: what ran between may have broken what the setup made. A setup that
    /// fails because of `change` is a check instead of them.
    ///
    /// # Errors
    /// The setup fails, and `change` touches nothing that it reads.
    pub(super) fn set_up_and_try(
        &self,
        (git, work): (&Git, &Frozen),
        scope: &TaskScope,
        (state, agreed): (&State, AgreedCommands),
        (lines, limits): (&[&str], Limits),
        change: &[Change],
    ) -> HostResult<(Tried, Option<Check>)> {
        let setup = state.approval.as_ref().map_or(&[][..], |it| &it.setup);
        loop {
            let is_new = match self.set_up(state, agreed, limits)? {
                Ok(is_new) => is_new,
                Err(check) => {
                    let mut paths = change.iter().flat_map(Change::ends);
                    return match paths.any(|path| is_setup_input(path, setup)) {
                        true => Ok((Tried::nothing(work), Some(check))),
                        false => Err(unready(&check)),
                    };
                }
            };
            let tried = self.try_commands(git, work, scope, agreed, lines, limits)?;
            match self {
                Self::Bench(bench) if !is_new && !setup.is_empty() && tried.has_failed() => {
                    bench.forget_setup();
                    self.bring(git, work)?;
                }
                Self::Bench(_) | Self::Checkout(_) => return Ok((tried, None)),
            }
        }
    }

    /// Runs `lines` on `work`, which is in place. If they change the task's own files, as a formatter does, that counts
    /// as the work, and they run again.
    pub(super) fn try_commands(
        &self,
        git: &Git,
        work: &Frozen,
        scope: &TaskScope,
        agreed: AgreedCommands,
        lines: &[&str],
        limits: Limits,
    ) -> HostResult<Tried> {
        let run = || self.run_each(work, scope, agreed, lines, limits);
        let mut tried = run()?;
        if tried.tree != work.tree && tried.faults.is_empty() {
            let again = run()?;
            if again.tree != tried.tree {
                let fault = "the commands change the task's files each time they run";
                tried.faults.push(fault.to_owned());
            }
            tried.runs = again.runs;
        }
        if let (Self::Bench(bench), true) = (self, tried.tree != work.tree) {
            bench.give_tree(git, &tried.tree, &work.base)?;
        }
        Ok(tried)
    }

    /// Runs the commands one after the other, and looks after each one at what it changed, since none may change
    /// anything that a later one or the commit depends on.
    fn run_each(
        &self,
        work: &Frozen,
        scope: &TaskScope,
        agreed: AgreedCommands,
        lines: &[&str],
        limits: Limits,
    ) -> HostResult<Tried> {
        let mut tried = Tried::nothing(work);
        let began = match self {
            Self::Bench(_) => work.tree.clone(),
            Self::Checkout(git) => git.snapshot_tree()?.tree,
        };
        let (mut known, mut kept) = (BTreeSet::new(), Vec::new());
        for (n, line) in lines.iter().enumerate() {
            if let (Self::Bench(bench), true) = (self, n > 0) {
                bench.remove_new(&kept)?;
            }
            tried
                .runs
                .extend(agreed.run([*line], self.folder(), limits));
            let (own, others, tree) = self.changed_since(&began, scope)?;
            let new = others.into_iter().filter(|path| known.insert(path.clone()));
            let faults = new.map(|path| format!("`{line}` changed {path}"));
            tried.faults.extend(faults.collect::<Vec<_>>());
            if !own.is_empty() {
                tried.tree = match (self, tree) {
                    (Self::Checkout(git), Some(tree)) => git.tree_with(&work.tree, &tree, &own)?,
                    (Self::Checkout(_), None) => work.tree.clone(),
                    (Self::Bench(bench), _) => bench.tree_with(&own)?,
                };
            }
            kept = own;
        }
        Ok(tried)
    }

    /// Removes the new files that a command has left on a bench, so that the next one doesn't depend on them.
    pub(super) fn remove_new(&self) -> HostResult<()> {
        match self {
            Self::Bench(bench) => bench.remove_new(&[]),
            Self::Checkout(_) => Ok(()),
        }
    }

    /// The tree of the checkout now; `None` on a bench.
    pub(super) fn tree_now(&self) -> HostResult<Option<Oid>> {
        match self {
            Self::Bench(_) => Ok(None),
            Self::Checkout(git) => git.snapshot_tree().map(|snapshot| Some(snapshot.tree)),
        }
    }

    /// The tracked files that are no longer as they were in `began`, the state that was brought. In the checkout, new
    /// files don't count.
    pub(super) fn changed_files(&self, began: Option<&Oid>) -> HostResult<Vec<RepoPath>> {
        match (self, began) {
            (Self::Bench(bench), _) => Ok(bench.changed()?.tracked),
            (Self::Checkout(git), Some(began)) => {
                let mut changes = git.diff(began, &git.snapshot_tree()?.tree)?;
                changes.retain(|change| change.status != ChangeStatus::Added);
                Ok(paths(&changes))
            }
            (Self::Checkout(_), None) => Ok(Vec::new()),
        }
    }

    /// The paths that changed since `began`: the task's own, and those that no command may change. In the checkout,
    /// also its tree now. New files that are nobody's don't count on the bench, where nothing keeps them.
    fn changed_since(
        &self,
        began: &Oid,
        scope: &TaskScope,
    ) -> HostResult<(Vec<RepoPath>, Vec<RepoPath>, Option<Oid>)> {
        let boundary = scope.boundary();
        let is_own = |path: &RepoPath| boundary.allows(path, || false);
        let is_new = |path: &RepoPath| boundary.allows(path, || true);
        match self {
            Self::Bench(bench) => {
                let Changed { tracked, new } = bench.changed()?;
                let (mut own, others): (Vec<_>, Vec<_>) = tracked.into_iter().partition(is_own);
                own.extend(new.into_iter().filter(is_new));
                Ok((own, others, None))
            }
            Self::Checkout(git) => {
                let tree = git.snapshot_tree()?.tree;
                let changed = paths(&git.diff(began, &tree)?);
                let (own, mut others): (Vec<_>, Vec<_>) = changed.into_iter().partition(is_own);
                others.retain(|path| !scope.is_of_another(path));
                Ok((own, others, Some(tree)))
            }
        }
    }
}

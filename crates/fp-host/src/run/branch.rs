//! The branch of a plan's own, which gets the commits of `fp run` in a worktree of its own. So a run never touches the
//! user's checkout, in which they edit, commit and switch branches meanwhile. The worktree goes when the run is over,
//! since git lets no other checkout have the branch until then.

use std::fs;
use std::path::Path;

use fp_run::run::State;
use fp_run::run::event::PlanBranch;

use super::worktree::{Worktrees, is_half_made, open_at};
use crate::error::{HostError, HostResult};
use crate::git::Git;
use crate::plan::OpenPlan;

/// The branch `name` for the run of `plan`, to be made at HEAD of the user's checkout.
///
/// # Errors
/// `name` names no branch, or one that is there already; or there is no commit.
pub fn plan_branch(plan: &OpenPlan, name: Option<&str>) -> HostResult<PlanBranch> {
    let git = plan.git()?;
    let name = name.map_or_else(|| format!("fp/{}", plan.id()), str::to_owned);
    let elsewhere = "`--branch NAME` takes another name, `--here` the branch that is checked out";
    if !git.is_branch_name(&name)? {
        let said = format!("{name:?} can't be the name of a branch");
        return Err(HostError::failed(said).with_hint(elsewhere));
    }
    // A killed process has made it, and did not log that.
    let own = open_at(plan, &plan.integration()).and_then(|git| git.head().ok());
    let tip = git.branch_tip(&name)?;
    if tip.is_some() && tip != own {
        let said = format!("there is a branch {name} already, and this run did not make it");
        return Err(HostError::refused(said).with_hint(elsewhere));
    }
    let status = git.status()?;
    Ok(PlanBranch {
        name,
        at: tip.as_ref().unwrap_or(status.head()?).to_string(),
        from: status.branch,
    })
}

/// The worktree of `branch`. Makes it if it is gone, and the branch too, at the last commit of a task in `state`.
///
/// # Errors
/// Another checkout has the branch, or what was committed to it is gone.
pub fn open_branch(plan: &OpenPlan, state: &State, branch: &PlanBranch) -> HostResult<Git> {
    let (path, name) = (plan.integration(), branch.name.as_str());
    let is_on_it = |git: &Git| git.head_branch().as_deref() == Some(name);
    if let Some(git) = open_at(plan, &path).filter(is_on_it) {
        return Ok(git);
    }
    let worktrees = Worktrees::lock(plan)?;
    let main = worktrees.git()?;
    if let Some(holder) = main.holder_of(name)?.filter(|holder| *holder != path) {
        let said = format!("{name} is checked out in {}", holder.display());
        let hint = format!(
            "`git -C {} switch --detach` frees it; the run goes on with it then",
            fp_plan::text::shell_quoted(&holder.display().to_string())
        );
        return Err(HostError::refused(said).with_hint(hint));
    }
    if has_work(plan, &path) {
        let said = format!("{} has files that are in no commit", path.display());
        let hint = "move that folder elsewhere, and run this again";
        return Err(HostError::refused(said).with_hint(hint));
    }
    let tip = match main.branch_tip(name)? {
        Some(tip) => tip,
        None => {
            let made = state.tasks.iter().filter_map(|task| task.commit.as_ref());
            main.newest_of(made.chain([&branch.at]))?
        }
    };
    main.remove_worktree(&path)?;
    main.add_worktree(&path, &tip)?;
    main.set_refs(&[(&format!("refs/heads/{name}"), &tip)])?;
    Git::open(&path)?.attach_head(name)?;
    open_at(plan, &path).ok_or_else(|| {
        HostError::failed(format!("{} can't be made a worktree", path.display()))
            .with_hint("see whether something else is there, and remove it")
    })
}

/// True if something in the folder `path` may be lost with it: it is no worktree, or one with uncommitted changes.
fn has_work(plan: &OpenPlan, path: &Path) -> bool {
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    let is_clean = |git: Git| git.status().is_ok_and(|status| status.entries.is_empty());
    is_folder && !is_empty() && !is_half_made(path) && !open_at(plan, path).is_some_and(is_clean)
}

/// Removes the worktree of the branch of the run in `state`, which is over. It stays if something in it is uncommitted.
pub(super) fn close_branch(worktrees: &Worktrees<'_>, state: &State) -> HostResult<()> {
    let path = worktrees.plan.integration();
    if state.terms().branch.is_none() || path.symlink_metadata().is_err() {
        return Ok(());
    }
    let is_clean = |git: Git| git.status().map(|status| status.entries.is_empty());
    match open_at(worktrees.plan, &path).map(is_clean).transpose()? {
        Some(false) => Ok(()),
        _ => worktrees.git()?.remove_worktree(&path),
    }
}

//! The branch of a plan's own, which gets the commits of `fp run` in a worktree of its own. So a run never touches the
//! user's checkout, in which they edit, commit and switch branches meanwhile. The worktree goes when the run is over,
//! since git lets no other checkout have the branch until then.

use fp_run::run::State;
use fp_run::run::event::PlanBranch;

use super::worktree::{Worktrees, open_at};
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
    if git.branch_tip(&name)?.is_some() {
        let said = format!("there is a branch {name} already, and this run did not make it");
        return Err(HostError::refused(said).with_hint(elsewhere));
    }
    let status = git.status()?;
    Ok(PlanBranch {
        name,
        at: status.head()?.to_string(),
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
    let tip = match main.branch_tip(name)? {
        Some(tip) => tip,
        None => {
            let made = state.tasks.iter().filter_map(|task| task.commit.as_ref());
            let tip = main.newest_of(made.chain([&branch.at]))?;
            main.set_refs(&[(&format!("refs/heads/{name}"), &tip)])
                .map_err(|error| {
                    error.with_hint(format!("make the branch {name} again where it was"))
                })?;
            tip
        }
    };
    main.remove_worktree(&path)?;
    main.add_worktree(&path, &tip)?;
    Git::open(&path)?.attach_head(name)?;
    open_at(plan, &path).ok_or_else(|| {
        HostError::failed(format!("{} can't be made a worktree", path.display()))
            .with_hint("see whether something else is there, and remove it")
    })
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

//! The place of work: the repository, the settings, and the leftovers of interrupted runs.

use fp_host::config::Config;
use fp_host::git::command::ask;
use fp_host::git::{Git, GitError};
use fp_host::plan::OpenPlan;
use fp_host::plan_folder::Plans;
use fp_plan::plan::id::PlanId;
use fp_plan::text::counted;

use super::plan::{claims, is_led, leftovers as left_in, way_of_commit};
use super::{DoctorFinding, DoctorLevel};
use crate::context::Context;

/// The repository of the current folder, in which a run can start.
pub(super) fn repository(context: &Context) -> DoctorFinding {
    let check = "repository";
    let repo = context.repo();
    if repo.git_dir.is_none() {
        return DoctorFinding::warning(check, "the current folder is in none, and plans need one")
            .fixed_by("git init");
    }
    let root = repo.root.display();
    match ask(&context.cwd, &["rev-parse", "--verify", "--quiet", "HEAD"]) {
        // A missing commit shows in the status alone; every other fault has words.
        Err(GitError::Failed(failure)) if failure.stderr.is_empty() => {
            DoctorFinding::warning(check, format!("{root} has no commit yet, and a run starts from one"))
                .fixed_by("git commit --allow-empty --message Start")
        }
        // Another check reports a missing git.
        Ok(_) | Err(GitError::NotInstalled) => {
            let worktree = repo.worktree.display();
            let linked =
                if repo.worktree == repo.root { String::new() } else { format!(", a worktree of {root}") };
            DoctorFinding::ok(check, format!("{worktree}{linked}"))
        }
        Err(error) => DoctorFinding::of_error(check, error),
    }
}

/// The settings of all layers.
pub(super) fn settings(context: &Context) -> DoctorFinding {
    match Config::load(context.repo(), &|name| context.env(name)) {
        Ok(_) => DoctorFinding::ok("settings", "all can be read"),
        Err(error) => DoctorFinding::of_error("settings", error),
    }
}

/// The leftovers of interrupted runs in the repository and in its plans.
pub(super) fn leftovers(context: &Context) -> Vec<DoctorFinding> {
    let check = "leftovers";
    let mut left = Vec::new();
    let mut note = |plan: Option<&PlanId>, found: DoctorFinding| {
        if found.level != DoctorLevel::Ok {
            let detail = plan.map(|plan| format!("{plan}: {}", found.detail));
            left.push(DoctorFinding { check, detail: detail.unwrap_or(found.detail), ..found });
        }
    };
    if let Ok(git) = Git::open(&context.cwd) {
        note(None, way_of_commit(&git));
    }
    // Settings that can't be read are a finding already; plans are then looked for in their usual place.
    let repo = context.repo();
    let config = Config::load(repo, &|name| context.env(name)).unwrap_or_default();
    let plans = Plans::of(repo, &config.settings());
    let ids = plans.list().unwrap_or_default();
    for id in &ids {
        let Ok(folder) = plans.open(id) else { continue };
        let plan = OpenPlan::new(repo.clone(), config.settings(), folder);
        note(Some(id), left_in(&plan));
        let of_run = match plan.load() {
            Ok(loaded) => claims(&loaded.state, is_led(&loaded.state)),
            Err(error) => DoctorFinding::error(check, format!("its log can't be read: {error}"))
                .fixed_by(format!("fp doctor {id}")),
        };
        note(Some(id), of_run);
    }
    if left.is_empty() {
        let detail = match ids.len() {
            0 => "none; there is no plan".to_owned(),
            plans => format!("none in {}", counted(plans, "plan")),
        };
        left.push(DoctorFinding::ok(check, detail));
    }
    left
}

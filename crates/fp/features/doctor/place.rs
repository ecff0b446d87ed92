//! Where work is done: the repository, the files of settings, what interrupted runs have left, and the disks.

use std::path::Path;

use fp_host::config::{Config, client_file, read_plugin_options, user_file};
use fp_host::config_file::{ConfigError, read_layer};
use fp_host::file::FileError;
use fp_host::git::command::ask;
use fp_host::git::{Git, GitError};
use fp_host::plan::OpenPlan;
use fp_host::plan_folder::Plans;
use fp_plan::plan::id::PlanId;
use fp_plan::text::counted;
use fp_run::run::State;

use super::plan::{RunLead, claims, lead_of, leftovers as left_in, way_of_commit};
use super::{DoctorFinding, DoctorLevel};
use crate::context::Context;

/// Bytes free below which the doctor warns: a gigabyte.
#[cfg(unix)]
const LITTLE: u64 = 1_000_000_000;

/// Whether a run can be started in the current folder.
pub(super) fn repository(context: &Context) -> DoctorFinding {
    let check = "repository";
    let repo = context.repo();
    if repo.git_dir.is_none() {
        return DoctorFinding::warning(check, "the current folder is in none; a plan is made and run in one")
            .fixed_by("git init");
    }
    let root = repo.root.display();
    match ask(&context.cwd, &["rev-parse", "--verify", "--quiet", "HEAD"]) {
        // Nothing but the status says that there is no commit; whatever else is wrong has words.
        Err(GitError::Failed(failure)) if failure.stderr.is_empty() => {
            DoctorFinding::warning(check, format!("{root} has no commit yet, and a run starts from one"))
                .fixed_by("git commit --allow-empty --message Start")
        }
        // Another check says that there is no git.
        Ok(_) | Err(GitError::NotInstalled) => {
            let worktree = repo.worktree.display();
            let is_linked = repo.worktree != repo.root;
            let detail =
                if is_linked { format!("{worktree}, a worktree of {root}") } else { root.to_string() };
            DoctorFinding::ok(check, detail)
        }
        Err(error) => DoctorFinding::of_error(check, error),
    }
}

/// Whether the files of settings can be used: a finding for each that can't, or one for all.
pub(super) fn settings(context: &Context) -> Vec<DoctorFinding> {
    let check = "settings";
    let env = |name: &str| context.env(name);
    let (user, project) = (user_file(&env), context.repo().config_file());
    let (mut faults, mut shown) = (Vec::new(), Vec::new());
    for (whose, path) in [("user", user.as_deref()), ("project", Some(project.as_path()))] {
        let Some(path) = path else {
            shown.push(format!("{whose}: no home to look in"));
            continue;
        };
        match read_layer(path) {
            Ok(None) => shown.push(format!("{whose}: none")),
            Ok(Some(_)) => shown.push(format!("{whose}: {}", path.display())),
            Err(error) => faults.push(settings_fault(check, error, whose)),
        }
    }
    // Whoever has set no option of the plugin doesn't hear of them.
    if let Some(Err(error)) = client_file(&env).as_deref().map(read_plugin_options) {
        faults.push(DoctorFinding::of_error(check, error));
    }
    if faults.is_empty() { vec![DoctorFinding::ok(check, shown.join(", "))] } else { faults }
}

/// An editor fixes what is wrong in a file, but not what is wrong with the file itself.
fn settings_fault(check: &'static str, error: ConfigError, whose: &str) -> DoctorFinding {
    let in_text = match &error {
        ConfigError::File(file) => matches!(file, FileError::NotText { .. }),
        ConfigError::Syntax { .. } | ConfigError::Setting { .. } | ConfigError::Given(_) => true,
    };
    let found = DoctorFinding::of_error(check, error);
    if in_text { found.fixed_by(format!("fp config edit --{whose}")) } else { found }
}

/// What runs that did not come to their end have left in the repository and in its plans.
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
    // Settings that can't be read are a finding already; then the folder of plans is looked for in its usual place.
    let repo = context.repo();
    let config = Config::load(repo, &|name| context.env(name)).unwrap_or_default();
    let plans = Plans::of(repo, &config.settings());
    let ids = plans.list().unwrap_or_default();
    for id in &ids {
        let Ok(folder) = plans.open(id) else { continue };
        let plan = OpenPlan::new(repo.clone(), config.settings(), folder);
        left_in(&plan, context.now()).into_iter().for_each(|found| note(Some(id), found));
        let by_run = match plan.load() {
            Ok(loaded) => left_by_run(&loaded.state, lead_of(&loaded.state)),
            Err(error) => DoctorFinding::error(check, format!("its log can't be read: {error}"))
                .fixed_by(format!("fp doctor {id}")),
        };
        note(Some(id), by_run);
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

/// What is left of the run of `state`, whose session is there or not.
pub(super) fn left_by_run(state: &State, lead: RunLead) -> DoctorFinding {
    if state.is_running() && lead == RunLead::Gone {
        return DoctorFinding::warning("leftovers", "its run is on, and the session that led it is gone")
            .fixed_by(format!("fp run start {}", state.plan_id));
    }
    claims(state, lead)
}

/// The room for the repository.
#[cfg(unix)]
pub(super) fn disk(cwd: &Path) -> DoctorFinding {
    match rustix::fs::statvfs(cwd) {
        Ok(found) => room(found.f_bavail.saturating_mul(found.f_frsize)),
        Err(error) => {
            let reason = fp_host::file::reason(&error.into());
            DoctorFinding::ok("disk", format!("the free room can't be told: {reason}"))
        }
    }
}

#[cfg(not(unix))]
pub(super) fn disk(_cwd: &Path) -> DoctorFinding {
    DoctorFinding::ok("disk", "not looked at on this system")
}

/// Whether there is room to work in, with this number of free bytes.
#[cfg(unix)]
pub(super) fn room(bytes: u64) -> DoctorFinding {
    let (whole, tenth) = (bytes / LITTLE, bytes % LITTLE * 10 / LITTLE);
    let detail = format!("{whole}.{tenth} GB free for the repository");
    if bytes < LITTLE {
        return DoctorFinding::warning("disk", format!("{detail}; below 1 GB a build or a commit may fail"));
    }
    DoctorFinding::ok("disk", detail)
}

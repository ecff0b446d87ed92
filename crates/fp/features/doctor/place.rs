//! Where work is done: the repository, the files of settings, what interrupted runs have left, and the disks.

use std::path::Path;

use fp_core::plan::id::PlanId;
use fp_core::run::State;
use fp_host::config::{Config, client_file, read_plugin_options, user_file};
use fp_host::config_file::{ConfigError, read_layer};
use fp_host::file::FileError;
use fp_host::git::command::ask;
use fp_host::git::{Git, GitError};
use fp_host::plan::OpenPlan;
use fp_host::plan_folder::Plans;

use super::plan::{RunLead, claims, lead_of, leftovers as left_in, way_of_commit};
use super::{DoctorFinding, DoctorLevel};
use crate::context::Context;

/// Bytes free below which the doctor warns.
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
        Ok(_) | Err(GitError::NotInstalled) if repo.worktree == repo.root => {
            DoctorFinding::ok(check, root.to_string())
        }
        Ok(_) | Err(GitError::NotInstalled) => {
            DoctorFinding::ok(check, format!("{}, a worktree of {root}", repo.worktree.display()))
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
        ConfigError::Empty { .. }
        | ConfigError::Syntax { .. }
        | ConfigError::Setting { .. }
        | ConfigError::Given(_) => true,
    };
    let found = DoctorFinding::of_error(check, error);
    if in_text { found.fixed_by(format!("fp config edit --{whose}")) } else { found }
}

/// What runs that did not come to their end have left in the repository and in its plans.
pub(super) fn leftovers(context: &Context) -> Vec<DoctorFinding> {
    let mut found: Vec<(Option<PlanId>, DoctorFinding)> = Vec::new();
    if let Ok(git) = Git::open(&context.cwd) {
        found.push((None, way_of_commit(&git)));
    }
    // Settings that can't be read are a finding already; then the folder of plans is looked for in its usual place.
    let repo = context.repo();
    let config = Config::load(&repo.config_file(), &|name| context.env(name)).unwrap_or_default();
    let plans = Plans::of(repo, &config.settings());
    let ids = plans.list().unwrap_or_default();
    for id in &ids {
        let Ok(folder) = plans.open(id) else { continue };
        let plan = OpenPlan::new(repo.clone(), config.settings(), folder);
        found.extend(left_in(&plan, context.now()).into_iter().map(|left| (Some(id.clone()), left)));
        found.push((
            Some(id.clone()),
            match plan.load() {
                Ok(loaded) => left_by_run(&loaded.state, lead_of(&loaded.state)),
                Err(error) => DoctorFinding::error("leftovers", format!("its log can't be read: {error}"))
                    .fixed_by(format!("fp doctor {id}")),
            },
        ));
    }
    all_leftovers(ids.len(), found)
}

/// What is left of the run of `state`, whose session is there or not.
pub(super) fn left_by_run(state: &State, lead: RunLead) -> DoctorFinding {
    if state.is_running() && lead == RunLead::Gone {
        return DoctorFinding::warning("leftovers", "its run is on, and the session that led it is gone")
            .fixed_by(format!("fp run start {}", state.plan_id));
    }
    claims(state, lead)
}

/// What was found in the repository, and in `plans` plans of it, each with the plan that it belongs to.
pub(super) fn all_leftovers(plans: usize, found: Vec<(Option<PlanId>, DoctorFinding)>) -> Vec<DoctorFinding> {
    let check = "leftovers";
    let left = found.into_iter().filter(|(_, finding)| finding.level != DoctorLevel::Ok);
    let left: Vec<DoctorFinding> = left
        .map(|(plan, finding)| {
            let detail = plan.map(|plan| format!("{plan}: {}", finding.detail));
            DoctorFinding { check, detail: detail.unwrap_or(finding.detail), ..finding }
        })
        .collect();
    if !left.is_empty() {
        return left;
    }
    vec![DoctorFinding::ok(
        check,
        match plans {
            0 => "none; there is no plan".to_owned(),
            1 => "none in 1 plan".to_owned(),
            plans => format!("none in {plans} plans"),
        },
    )]
}

/// The room for the repository and for the plugin.
pub(super) fn disk(cwd: &Path, data: Option<&Path>) -> DoctorFinding {
    let there = |path: &Path| path.ancestors().find(|folder| folder.exists()).map(Path::to_owned);
    let places = match (there(cwd), data.and_then(there)) {
        (Some(repository), Some(plugin)) if same_disk(&repository, &plugin) => {
            vec![("the repository and the plugin", Some(repository))]
        }
        (repository, plugin) => vec![("the repository", repository), ("the plugin", plugin)],
    };
    let rooms = places.into_iter().filter_map(|(of, path)| Some((of, free_bytes(&path?)?)));
    room(&rooms.collect::<Vec<_>>())
}

/// Whether there is room to work in: bytes that are free, or why that can't be told. Empty where this system isn't
/// asked.
pub(super) fn room(rooms: &[(&str, Result<u64, String>)]) -> DoctorFinding {
    let check = "disk";
    if rooms.is_empty() {
        return DoctorFinding::ok(check, "not looked at on this system");
    }
    let shown = rooms.iter().map(|(of, free)| match free {
        Ok(bytes) => format!("{} free for {of}", shown_bytes(*bytes)),
        Err(reason) => format!("what is free for {of} can't be told: {reason}"),
    });
    let detail = shown.collect::<Vec<_>>().join(", ");
    if rooms.iter().any(|(_, free)| free.as_ref().is_ok_and(|bytes| *bytes < LITTLE)) {
        return DoctorFinding::warning(check, format!("{detail}; below 1 GB a build or a commit may fail"));
    }
    DoctorFinding::ok(check, detail)
}

/// A number of bytes as people say it.
fn shown_bytes(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(unix)]
fn same_disk(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let device = |path: &Path| path.metadata().ok().map(|found| found.dev());
    device(one) == device(other)
}

#[cfg(not(unix))]
fn same_disk(_one: &Path, _other: &Path) -> bool {
    false
}

/// Bytes that the user may still write where `folder` is, or why that can't be told.
#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<Result<u64, String>> {
    let room = rustix::fs::statvfs(folder).map(|found| found.f_bavail.saturating_mul(found.f_frsize));
    Some(room.map_err(|error| fp_host::file::reason(&error.into())))
}

/// Not asked on this system.
#[cfg(not(unix))]
fn free_bytes(_folder: &Path) -> Option<Result<u64, String>> {
    None
}

//! The repository, the files of settings, what interrupted runs have left, and the room on the disks.

use std::ffi::OsString;
use std::path::Path;

use fp_core::doctor::Finding;
use fp_core::doctor::setup::{self, Disk, Fault, Located, SettingsFile};
use fp_core::hint::Hint as _;
use fp_core::plan::id::PlanId;

use super::git::of_git;
use super::{Setup, fault};
use crate::claude::install::bundle_folder;
use crate::config::{self, Config, ConfigError};
use crate::doctor::{files, lead, repository as around};
use crate::file::FileError;
use crate::git::command::ask;
use crate::git::{Git, GitError};
use crate::plan::OpenPlan;
use crate::plan_folder::Plans;

/// What the current folder is in.
pub(super) fn repository(setup: &Setup<'_>) -> Finding {
    if setup.repo.git_dir.is_none() {
        return setup::repository(&Located::Outside);
    }
    let has_commit = match ask(setup.cwd, &["rev-parse", "--verify", "--quiet", "HEAD"]) {
        Ok(_) => Ok(true),
        // Nothing but the status says that there is no commit; whatever else is wrong has words.
        Err(GitError::Failed(failure)) if failure.stderr.is_empty() => Ok(false),
        // That there is no git was said already.
        Err(GitError::NotInstalled) => Ok(true),
        Err(error) => Err(of_git(&error)),
    };
    let repo = setup.repo;
    let shown = |path: &Path| path.display().to_string();
    let worktree = (repo.worktree != repo.root).then(|| shown(&repo.worktree));
    setup::repository(&Located::Inside { root: shown(&repo.root), worktree, has_commit })
}

/// The user's file of settings and the project's, and the options of the plugin.
pub(super) fn settings(setup: &Setup<'_>) -> Vec<Finding> {
    let file = |whose, path: Option<&Path>| SettingsFile {
        whose,
        path: path.map(|path| path.display().to_string()),
        found: match path.map(config::read_layer).transpose() {
            Ok(layer) => Ok(layer.flatten().is_some()),
            Err(error) => Err(of_config(&error, whose)),
        },
    };
    let (user, project) = (config::user_file(setup.env), setup.repo.config_file());
    let mut files = vec![file("user", user.as_deref()), file("project", Some(&project))];
    let client = config::client_file(setup.env);
    // Who has set none is not told of them.
    if let Some(Err(error)) = client.as_deref().map(config::read_plugin_options) {
        let path = client.map(|path| path.display().to_string());
        files.push(SettingsFile { whose: "plugin", path, found: Err(fault(&error, error.hint())) });
    }
    setup::settings(&files)
}

/// What is wrong in a file is mended with an editor; what is wrong with the file itself is not.
fn of_config(error: &ConfigError, whose: &str) -> Fault {
    let found = fault(error, error.hint());
    match error {
        ConfigError::File(file) if !matches!(file, FileError::NotText { .. }) => found,
        _ => found.mended_by(&format!("fp config edit --{whose}")),
    }
}

/// What runs that did not come to their end have left in the repository and in its plans.
pub(super) fn leftovers(setup: &Setup<'_>) -> Vec<Finding> {
    let mut found: Vec<(Option<PlanId>, Finding)> = Vec::new();
    if let Ok(git) = Git::open(setup.cwd) {
        found.push((None, around::free(&git)));
    }
    // Settings that can't be read are a finding already; the folder of plans is then looked for where it mostly is.
    let config = Config::load(&setup.repo.config_file(), setup.env).unwrap_or_default();
    let plans = Plans::of(setup.repo, &config.settings());
    let ids = plans.list().unwrap_or_default();
    for id in &ids {
        let Ok(folder) = plans.open(id) else { continue };
        let plan = OpenPlan::new(setup.repo.clone(), config.settings(), folder);
        found.extend(of_plan(&plan, setup).into_iter().map(|finding| (Some(id.clone()), finding)));
    }
    setup::leftovers(ids.len(), found)
}

fn of_plan(plan: &OpenPlan, setup: &Setup<'_>) -> Vec<Finding> {
    let mut found = files::leftovers(plan, setup.now);
    match plan.load() {
        Ok(loaded) => found.extend(setup::left_by(&loaded.state, lead(&loaded.state))),
        Err(error) => {
            let detail = format!("its log can't be read: {error}");
            found.push(Finding::error("leftovers", detail).mended_by(format!("fp doctor {}", plan.id())));
        }
    }
    found
}

/// The room for the repository and for the plugin.
pub(super) fn disk(setup: &Setup<'_>) -> Finding {
    let data = bundle_folder(|name| (setup.env)(name).map(OsString::from));
    let there = |path: &Path| path.ancestors().find(|folder| folder.exists()).map(Path::to_owned);
    let (repository, plugin) = (there(setup.cwd), data.as_deref().and_then(there));
    let places = match (repository, plugin) {
        (Some(repository), Some(plugin)) if same_disk(&repository, &plugin) => {
            vec![("the repository and the plugin", repository)]
        }
        (repository, plugin) => {
            let named = [("the repository", repository), ("the plugin", plugin)];
            named.into_iter().filter_map(|(of, path)| Some((of, path?))).collect()
        }
    };
    let disks: Vec<Disk> =
        places.into_iter().filter_map(|(of, path)| Some(Disk { of, free: free(&path)? })).collect();
    setup::disk(&disks)
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

/// Bytes that the user may still write where `folder` is, or why nobody knows.
#[cfg(unix)]
fn free(folder: &Path) -> Option<Result<u64, String>> {
    let room = rustix::fs::statvfs(folder).map(|found| found.f_bavail.saturating_mul(found.f_frsize));
    Some(room.map_err(|error| crate::file::reason(&error.into())))
}

/// Not asked on this system.
#[cfg(not(unix))]
fn free(_folder: &Path) -> Option<Result<u64, String>> {
    None
}

//! Where work is done: the repository, the files of settings, what interrupted runs have left, and the disk.

use super::Fault;
use crate::doctor::{Finding, Lead, Level};
use crate::plan::id::PlanId;
use crate::run::State;

/// Bytes free below which something is said.
const LITTLE: u64 = 1_000_000_000;

/// What the current folder is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Located {
    /// No repository.
    Outside,
    /// One, at this folder.
    Inside {
        /// The root of its main checkout.
        root: String,
        /// The linked worktree that the current folder is in.
        worktree: Option<String>,
        /// Whether it has a commit, or why git can't say so.
        has_commit: Result<bool, Fault>,
    },
}

/// Whether a run can be started in the current folder.
#[must_use]
pub fn repository(located: &Located) -> Finding {
    let check = "repository";
    match located {
        Located::Outside => {
            Finding::warning(check, "the current folder is in none; a plan is made and run in one")
                .mended_by("git init")
        }
        Located::Inside { has_commit: Err(fault), .. } => fault.finding(check),
        Located::Inside { root, has_commit: Ok(false), .. } => {
            Finding::warning(check, format!("{root} has no commit yet, and a run starts from one"))
                .mended_by("git commit --allow-empty --message Start")
        }
        Located::Inside { root, worktree: None, .. } => Finding::ok(check, root.clone()),
        Located::Inside { root, worktree: Some(worktree), .. } => {
            Finding::ok(check, format!("{worktree}, a worktree of {root}"))
        }
    }
}

/// A file of this program's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    /// Whose: `user`, `project` or `plugin`.
    pub whose: &'static str,
    /// Where it is; `None` where there is no home to look in.
    pub path: Option<String>,
    /// Whether it is there, or what is wrong with it.
    pub found: Result<bool, Fault>,
}

/// Whether the files of settings can be used: a finding for each that can't, or one for all.
#[must_use]
pub fn settings(files: &[SettingsFile]) -> Vec<Finding> {
    let faults: Vec<Finding> =
        files.iter().filter_map(|file| Some(file.found.as_ref().err()?.finding("settings"))).collect();
    if !faults.is_empty() {
        return faults;
    }
    let told = files.iter().map(|file| match (&file.path, &file.found) {
        (Some(path), Ok(true)) => format!("{}: {path}", file.whose),
        (Some(_), _) => format!("{}: none", file.whose),
        (None, _) => format!("{}: no home to look in", file.whose),
    });
    vec![Finding::ok("settings", told.collect::<Vec<_>>().join(", "))]
}

/// What is left of the run of `state`, whose session is there or not: `None` where it just goes on, or is over.
#[must_use]
pub fn left_by(state: &State, lead: Lead) -> Option<Finding> {
    let finding = if state.is_running() && lead == Lead::Gone {
        Finding::warning("leftovers", "its run is on, and the session that led it is gone")
            .mended_by(format!("fp run start {}", state.plan_id))
    } else {
        super::super::claims(state, lead)
    };
    Some(finding).filter(|finding| finding.level != Level::Ok)
}

/// What was found in the repository, and in `plans` plans of it, each with the plan that it belongs to.
#[must_use]
pub fn leftovers(plans: usize, found: Vec<(Option<PlanId>, Finding)>) -> Vec<Finding> {
    let mut left: Vec<Finding> = found
        .into_iter()
        .filter(|(_, finding)| finding.level != Level::Ok)
        .map(|(plan, finding)| {
            let detail = plan.map(|plan| format!("{plan}: {}", finding.detail));
            Finding { check: "leftovers", detail: detail.unwrap_or(finding.detail), ..finding }
        })
        .collect();
    if left.is_empty() {
        let looked_at = match plans {
            0 => "none; there is no plan".to_owned(),
            1 => "none in 1 plan".to_owned(),
            plans => format!("none in {plans} plans"),
        };
        left.push(Finding::ok("leftovers", looked_at));
    }
    left
}

/// The file system that something is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// What is there.
    pub of: &'static str,
    /// Bytes that are free for the user, or why nobody knows.
    pub free: Result<u64, String>,
}

/// Whether there is room to work in; none of `disks` where this system isn't asked.
#[must_use]
pub fn disk(disks: &[Disk]) -> Finding {
    if disks.is_empty() {
        return Finding::ok("disk", "not looked at on this system");
    }
    let told = disks.iter().map(|disk| match &disk.free {
        Ok(bytes) => format!("{} free for {}", shown(*bytes), disk.of),
        Err(reason) => format!("nobody knows what is free for {}: {reason}", disk.of),
    });
    let detail = told.collect::<Vec<_>>().join(", ");
    if disks.iter().any(|disk| disk.free.as_ref().is_ok_and(|bytes| *bytes < LITTLE)) {
        return Finding::warning("disk", format!("{detail}; below 1 GB a build or a commit may fail"));
    }
    Finding::ok("disk", detail)
}

/// A number of bytes as people say it.
fn shown(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} bytes"),
    }
}

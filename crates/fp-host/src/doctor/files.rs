//! The files of a plan's folder: those that have to be readable, and those that nobody needs.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use fp_core::doctor::{Finding, Fix};
use fp_core::hint::Hint as _;
use fp_core::interview::Interview;
use jiff::Timestamp;

use crate::file::{self, TASKS_CAP};
use crate::plan::OpenPlan;

/// Seconds after which a temporary file is taken for one whose writer is gone.
const STALE: i64 = 60;

/// Whether what people and agents wrote can be read.
pub(super) fn files(plan: &OpenPlan) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut wrong = |error: String, hint: Option<Cow<'_, str>>| {
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        found.push(Finding::error("files", format!("{error}{hint}")));
    };
    match plan.tree() {
        Ok(_) => {}
        Err(error) if error.is_missing() => {
            wrong("there is no tasks.md".into(), Some("plan again, or put it back".into()))
        }
        Err(error) => wrong(error.to_string(), error.hint()),
    }
    if let Err(error) = plan.folder.settings() {
        wrong(error.to_string(), error.hint());
    }
    if let Err(error) = plan.composites() {
        wrong(error.to_string(), error.hint());
    }
    let interview = plan.folder.file("interview.json");
    match file::read_text_if_there(&interview, TASKS_CAP) {
        Ok(None) => {}
        Ok(Some(text)) => {
            if let Err(error) = Interview::parse(&text) {
                wrong(format!("{}: {error}", interview.display()), error.hint());
            }
        }
        Err(error) => wrong(error.to_string(), error.hint()),
    }
    for name in names(plan.folder.path()) {
        if plan.folder.path().join(&name).is_symlink() {
            let detail =
                format!("{name} is a symbolic link, which is not followed; put the real one in its place");
            found.push(Finding::warning("files", detail));
        }
    }
    if found.is_empty() {
        found.push(Finding::ok("files", "all that are there can be read"));
    }
    found
}

/// What processes that were killed have left behind.
pub(super) fn leftovers(plan: &OpenPlan, now: Timestamp) -> Vec<Finding> {
    let mut found = Vec::new();
    let folder = plan.folder.path();
    let in_evidence = names(&folder.join("evidence")).into_iter().map(|name| format!("evidence/{name}"));
    let mut temporary: Vec<String> = names(folder).into_iter().chain(in_evidence).collect();
    temporary.retain(|name| {
        let path = folder.join(name);
        is_temporary(name) && path.is_file() && age(&path, now).is_some_and(|seconds| seconds >= STALE)
    });
    if !temporary.is_empty() {
        let detail = format!("left by a process that was killed: {}", temporary.join(", "));
        let fix = Fix::RemoveTemporary(temporary);
        found.push(Finding::warning("leftovers", detail).fixable(plan.id(), fix));
    }
    let worktrees = names(&folder.join("worktrees"));
    let running = plan.load().is_ok_and(|loaded| loaded.state.is_running());
    if !worktrees.is_empty() && !running {
        let detail = format!("working trees of a run that is over, in worktrees/: {}", worktrees.join(", "));
        found.push(Finding::warning("leftovers", detail).mended_by("git worktree list"));
    }
    if found.is_empty() {
        found.push(Finding::ok("leftovers", "none"));
    }
    found
}

/// Seconds since `path` was written.
pub(super) fn age(path: &Path, now: Timestamp) -> Option<i64> {
    let written: SystemTime = fs::symlink_metadata(path).ok()?.modified().ok()?;
    Some(now.as_second() - Timestamp::try_from(written).ok()?.as_second())
}

/// Whether a file of that path is one that a write is made through.
fn is_temporary(path: &str) -> bool {
    let name = path.strip_prefix("evidence/").unwrap_or(path);
    let through = |written: &str| matches!(written, "execution-state.json" | "notepad.md");
    let evidence = |written: &str| written.starts_with("task-") && written.ends_with("-verification.md");
    name.strip_suffix(".tmp")
        .is_some_and(|written| written.starts_with(".fp-") || through(written) || evidence(written))
}

/// The names in `folder` that are text, sorted; none where it can't be read, or is a link, which may lead anywhere.
fn names(folder: &Path) -> Vec<String> {
    if folder.is_symlink() {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

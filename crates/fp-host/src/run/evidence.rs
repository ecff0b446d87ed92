//! Writes the files that people read alongside the log: evidence and notepad. They are written from the new state
//! before it is logged: if a command is killed in between, running it again rewrites them, and no log entry ever lacks
//! its file. The caller holds the lock on the log.

use std::path::PathBuf;

use fp_plan::plan::id::TaskId;
use fp_run::report::evidence::{commit_note, evidence_page};
use fp_run::run::state::TaskState;
use fp_run::run::{State, notepad};
use jiff::Timestamp;

use crate::error::{HostError, HostResult};
use crate::file;
use crate::fleet::redacted;
use crate::git::Git;
use crate::plan::OpenPlan;

/// Size limit of an evidence file, in bytes.
const CAP: u64 = 16 * 1024 * 1024;

/// The path of the evidence file of `id`, relative to the plan's folder.
pub fn evidence_file(id: &TaskId) -> String {
    format!("evidence/task-{id}-verification.md")
}

/// The content of the evidence file of `id`, if it exists yet. Doesn't read through a link.
pub fn read_evidence(plan: &OpenPlan, id: &TaskId) -> HostResult<Option<String>> {
    let folder = evidence_folder(plan)?;
    file::read_text_if_there(&folder.with_file_name(evidence_file(id)), CAP)
}

fn evidence_folder(plan: &OpenPlan) -> HostResult<PathBuf> {
    let folder = plan.folder.file("evidence");
    match folder.is_symlink() {
        true => Err(HostError::link(&folder)),
        false => Ok(folder),
    }
}

/// Writes the last verdict on `id` in `state` to its evidence file, above the verdicts on earlier attempts. Returns the
/// file's path relative to the plan's folder.
pub fn write_verdict(
    plan: &OpenPlan,
    state: &State,
    id: &TaskId,
    criteria: &[String],
    at: Timestamp,
) -> HostResult<String> {
    let (folder, name) = (evidence_folder(plan)?, evidence_file(id));
    let path = folder.with_file_name(&name);
    let page = redacted(&evidence_page(state.expect_task(id)?, criteria, at)).into_owned();
    file::make_folders(&folder)?;
    let before = file::read_text_if_there(&path, CAP)?.unwrap_or_default();
    let earlier = match before.split_at_checked(page.len()) {
        Some((last, earlier)) if untimed(last).eq(untimed(&page)) => earlier.trim_start(),
        _ => &before,
    };
    let gap = if earlier.is_empty() { "" } else { "\n" };
    file::replace(&path, format!("{page}{gap}{earlier}").as_bytes())?;
    Ok(name)
}

/// The lines of a page that stay the same when a killed command runs again.
fn untimed(page: &str) -> impl Iterator<Item = &str> {
    page.lines().filter(|line| !line.starts_with("Timestamp: "))
}

/// Puts the evidence for `task` into git's notes on its commit. Does nothing without a commit.
pub fn note_evidence(
    plan: &OpenPlan,
    state: &State,
    task: &TaskState,
    git: &Git,
) -> HostResult<()> {
    let Some(commit) = &task.commit else {
        return Ok(());
    };
    let evidence = read_evidence(plan, &task.leaf.id)?.unwrap_or_default();
    git.add_note(commit, &redacted(&commit_note(state, task, &evidence)))
}

pub fn write_notepad(plan: &OpenPlan, state: &State) -> HostResult<()> {
    let page = notepad::render(state);
    file::replace(&plan.folder.file("notepad.md"), page.as_bytes())
}

//! Writes the files that people read beside the log: evidence and notepad. They are written from the new
//! state before it is logged: a command killed in between runs again and rewrites them, and no log entry
//! lacks its file. The caller holds the lock on the log.

use fp_plan::plan::id::TaskId;
use fp_run::report::evidence::evidence_page;
use fp_run::run::{State, notepad};
use jiff::Timestamp;

use crate::error::HostError;
use crate::error::HostResult;
use crate::file;
use crate::fleet::redacted;
use crate::plan::OpenPlan;

/// Size limit of an evidence file, in bytes.
const CAP: u64 = 16 * 1024 * 1024;

/// The path of the evidence file of `id` below the plan's folder.
pub fn evidence_file(id: &TaskId) -> String {
    format!("evidence/task-{id}-verification.md")
}

/// The evidence file of `id`, if there is one yet.
pub fn read(plan: &OpenPlan, id: &TaskId) -> HostResult<Option<String>> {
    let folder = plan.folder.file("evidence");
    if folder.is_symlink() {
        return Err(HostError::link(&folder));
    }
    file::read_text_if_there(&plan.folder.path().join(evidence_file(id)), CAP)
}

/// Writes the last verdict on `id`, which is in `state`, to its evidence file, above those on earlier tries. Returns
/// the file's path below the plan's folder.
pub fn write(
    plan: &OpenPlan,
    state: &State,
    id: &TaskId,
    criteria: &[String],
    at: Timestamp,
) -> HostResult<String> {
    let name = evidence_file(id);
    let Some(task) = state.task(id) else {
        return Ok(name);
    };
    let folder = plan.folder.file("evidence");
    if folder.is_symlink() {
        return Err(HostError::link(&folder));
    }
    file::make_folders(&folder)?;
    let page = redacted(&evidence_page(task, criteria, at)).into_owned();
    let before = read(plan, id)?.unwrap_or_default();
    let earlier = match before.split_at_checked(page.len()) {
        Some((last, earlier)) if untimed(last).eq(untimed(&page)) => earlier.trim_start(),
        _ => &before,
    };
    let gap = if earlier.is_empty() { "" } else { "\n" };
    file::replace(
        &plan.folder.path().join(&name),
        format!("{page}{gap}{earlier}").as_bytes(),
    )?;
    Ok(name)
}

/// The lines of a page that are the same when a command that was killed runs again.
fn untimed(page: &str) -> impl Iterator<Item = &str> {
    page.lines().filter(|line| !line.starts_with("Timestamp: "))
}

pub fn write_notepad(plan: &OpenPlan, state: &State) -> HostResult<()> {
    file::replace(
        &plan.folder.file("notepad.md"),
        notepad::render(state).as_bytes(),
    )
}

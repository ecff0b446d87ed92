//! The fixes: each makes anew what follows from the log, or takes away what a killed process has left. Nothing of the
//! user's is touched, and nothing at all where the log can't be read.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use fp_core::doctor::{Finding, Fix, Level};
use fp_core::plan::id::TaskId;
use fp_core::run::event::{Entry, Event};
use fp_core::run::{Refusal, State};

use crate::file::FileError;
use crate::plan::{self, OpenPlan};
use crate::run::{RunError, evidence};
use crate::store::SNAPSHOT;

/// Makes the fixes of `findings`; what was mended, a line each.
pub fn mend(plan: &OpenPlan, findings: &[Finding]) -> Result<Vec<String>, RunError> {
    let readable = !findings.iter().any(|found| found.check == "log" && found.level == Level::Error);
    let fixes: Vec<&Fix> = findings.iter().filter_map(|found| found.fix.as_ref()).collect();
    if fixes.is_empty() || !readable {
        return Ok(Vec::new());
    }
    if fixes.contains(&&Fix::RebuildSnapshot) {
        remove(plan, SNAPSHOT)?;
    }
    // Taking the lock drops a torn line, and writes the snapshot where there is none.
    let ledger = plan.lock()?;
    let mut mended = Vec::new();
    for fix in fixes {
        mended.push(match fix {
            Fix::DropTornLine => "the torn line of the log was dropped".to_owned(),
            Fix::RebuildSnapshot => "the snapshot was made anew from the log".to_owned(),
            Fix::WriteEvidence(tasks) => {
                write_evidence(plan, tasks)?;
                format!("{} evidence file{} written from the log", tasks.len(), was(tasks.len()))
            }
            Fix::WriteNotepad => {
                evidence::write_notepad(plan, ledger.state())?;
                "notepad.md was written from the log".to_owned()
            }
            Fix::RemoveTemporary(names) => {
                names.iter().try_for_each(|name| remove(plan, name))?;
                format!("{} temporary file{} removed", names.len(), was(names.len()))
            }
        });
    }
    Ok(mended)
}

fn was(count: usize) -> &'static str {
    if count == 1 { " was" } else { "s were" }
}

/// Removes `name` in the plan's folder, which is a name that this program gives.
fn remove(plan: &OpenPlan, name: &str) -> Result<(), FileError> {
    let path = plan.folder.path().join(name);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(FileError::Write { path, source }),
        _ => Ok(()),
    }
}

/// Writes the evidence of `tasks` as it was when each of them was last judged.
fn write_evidence(plan: &OpenPlan, tasks: &[TaskId]) -> Result<(), RunError> {
    let tree = plan.tree()?;
    let parsed = tree.parse();
    let mut state = State::new(plan.id().clone());
    for entry in plan.store.examine()?.log.entries {
        state.apply(&entry);
        for id in judged(&entry).intersection(&tasks.iter().collect()) {
            let leaf = plan::leaf(&parsed, id).ok_or_else(|| Refusal::UnknownTask((*id).clone()))?;
            let criteria: Vec<String> = leaf.acceptance().map(str::to_owned).collect();
            evidence::write(plan, &state, id, &criteria, entry.at)?;
        }
    }
    Ok(())
}

fn judged(entry: &Entry) -> BTreeSet<&TaskId> {
    let mut tasks = BTreeSet::new();
    for event in &entry.events {
        if let Event::Judged { task, .. } = event {
            tasks.insert(task);
        }
    }
    tasks
}

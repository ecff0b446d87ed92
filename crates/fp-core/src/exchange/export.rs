//! A portable plan in the formats of other systems.
//!
//! What a format has a field for stands in that field, and what does not come back from there stands beside it under
//! one key, see `kept`, so that whoever imports what was exported has the same plan. What came from the system itself,
//! and was kept for it, goes back to where it was.

mod beads;
mod ccw;
mod csv;
mod family;
pub mod github_issues;
mod json;
mod names;
mod object;
mod said;
mod spec_kit;
mod task_master;
mod tree;

use self::said::{Said, Written};
use super::folder::Folder;
use super::import::{Source, as_read};
use super::kept::Kept;
use super::portable::PortablePlan;

pub use tree::portable;

/// A format that a plan can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Claude-Code-Workflow: `plan.json`, a file a task below `.task`, and `TODO_LIST.md`.
    Ccw,
    /// Task Master: `tasks.json`.
    TaskMaster,
    /// Spec Kit: `tasks.md`.
    SpecKit,
    /// Beads: `issues.jsonl`.
    Beads,
    /// The portable plan itself.
    Json,
    /// A table, by RFC 4180.
    Csv,
    /// What the GitHub API takes to make an issue, for each task.
    GithubIssues,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Ccw, Self::TaskMaster, Self::SpecKit, Self::Beads, Self::Json, Self::Csv, Self::GithubIssues];

    /// Its name, on the command line and in an [`Origin`](super::Origin).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ccw => "ccw",
            Self::TaskMaster => "task-master",
            Self::SpecKit => "spec-kit",
            Self::Beads => "beads",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::GithubIssues => "github-issues",
        }
    }

    /// What its one file is called; `None` where it is a folder.
    #[must_use]
    pub fn file(self) -> Option<&'static str> {
        match self {
            Self::Ccw => None,
            Self::TaskMaster => Some("tasks.json"),
            Self::SpecKit => Some("tasks.md"),
            Self::Beads => Some("issues.jsonl"),
            Self::Json => Some("plan.json"),
            Self::Csv => Some("tasks.csv"),
            Self::GithubIssues => Some("issues.json"),
        }
    }
}

/// `plan`, which came from the system `from`, if it came from another, in the format `target`. Ids of tasks that the
/// format can't have are changed, and so are those that are there twice.
#[must_use]
pub fn export(target: Target, plan: &PortablePlan, from: Option<&str>) -> Folder {
    let text = match target {
        Target::Json => json::text(plan),
        Target::Csv => csv::text(plan),
        Target::GithubIssues => github_issues::text(plan),
        Target::Ccw => return faithful(Source::Ccw, ccw::write, plan, from).folder,
        Target::TaskMaster => return faithful(Source::TaskMaster, task_master::write, plan, from).folder,
        Target::SpecKit => return faithful(Source::SpecKit, spec_kit::write, plan, from).folder,
        Target::Beads => return faithful(Source::Beads, beads::write, plan, from).folder,
    };
    target.file().map(|name| (name, text)).into_iter().collect()
}

/// How a plan is written that was read from `source`; `None` for a format that is not written.
pub(super) fn written_as(source: Source, plan: &PortablePlan, from: Option<&str>) -> Option<Written> {
    Some(match source {
        Source::Ccw => faithful(source, ccw::write, plan, from),
        Source::TaskMaster => faithful(source, task_master::write, plan, from),
        Source::SpecKit => faithful(source, spec_kit::write, plan, from),
        Source::Beads => faithful(source, beads::write, plan, from),
        Source::Uctm | Source::Maestro | Source::FractalPlanner | Source::Json => return None,
    })
}

/// What `write` makes of `plan`, with all kept in it that an importer would not find again.
fn faithful(
    source: Source,
    write: fn(&Said<'_>) -> Written,
    plan: &PortablePlan,
    from: Option<&str>,
) -> Written {
    let from = from.filter(|from| *from == source.name());
    let mut said = Said::new(plan, from.is_some());
    let keep = |said: &Said<'_>| {
        let written = write(said);
        let read = as_read(source, &written.folder).map(|(read, _)| read).unwrap_or_default();
        Kept::of(plan, &written.names, &read, from)
    };
    let mut kept = keep(&said);
    let changed = |kept: &Kept| kept.tasks.iter().map(|rest| !rest.is_empty()).collect::<Vec<_>>();
    if said.comes_back && changed(&kept).contains(&true) {
        for (as_it_was, changed) in said.as_it_was.iter_mut().zip(changed(&kept)) {
            *as_it_was = !changed;
        }
        kept = keep(&said);
    }
    said.kept = kept;
    write(&said)
}

#[cfg(test)]
mod tests;

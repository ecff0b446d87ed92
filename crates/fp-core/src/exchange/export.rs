//! A portable plan in the formats of other systems.
//!
//! What a format has a field for stands in that field. All else stands under one key, see [`rest`](super::rest), so
//! that whoever imports what was exported has the same plan. What came from the system itself, and was kept for it,
//! goes back to where it was.

mod back;
pub mod beads;
pub mod ccw;
mod csv;
mod family;
pub mod github_issues;
mod json;
mod names;
mod object;
mod spec_kit;
pub mod task_master;
mod tree;

use super::folder::Folder;
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
    let comes_back = from == Some(target.name());
    let text = match target {
        Target::Ccw => return ccw::folder(plan, comes_back),
        Target::TaskMaster => task_master::text(plan, comes_back),
        Target::SpecKit => spec_kit::text(plan),
        Target::Beads => beads::text(plan, comes_back),
        Target::Json => json::text(plan),
        Target::Csv => csv::text(plan),
        Target::GithubIssues => github_issues::text(plan),
    };
    target.file().map(|name| (name, text)).into_iter().collect()
}

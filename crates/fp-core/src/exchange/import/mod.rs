//! From the files of another system to a portable plan: one file for each format, and which of them it is.
//!
//! Reading is lenient. What can't be read is said with its place and left out, what is not known is kept, and an error
//! is only what leaves nothing to import.

mod arrange;
mod beads;
mod ccw;
mod converged;
mod documents;
mod error;
mod fields;
mod fractal_planner;
mod json;
mod maestro;
mod markdown;
mod spec_kit;
mod task_master;
mod uctm;
mod words;

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use self::documents::Documents;
pub use self::error::ImportError;
use super::folder::Folder;
use super::given_back::given_back;
use super::notice::{Kind, Notice};
use super::portable::PortablePlan;

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// `PLAN.md` and `TASK-NN.md`.
    Uctm,
    /// `tasks.json` or `tasks.csv` with roles, or `task.json` with what to read first.
    Maestro,
    /// `.task/IMPL-*.json`, with `plan.json` in the newer version.
    Ccw,
    /// `tasks.json` with tags or a list of tasks.
    TaskMaster,
    /// `tasks.md` with `- [ ] T001` lines.
    SpecKit,
    /// `issues.jsonl`.
    Beads,
    /// A plan folder with `tasks.md`.
    FractalPlanner,
    /// A portable plan, as `fp export` writes it.
    Json,
}

/// Why a format is taken for the one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recognised {
    /// The format.
    pub source: Source,
    /// What shows it, with the file.
    pub because: String,
}

/// What a format's reader has found.
type Found = Result<(PortablePlan, Vec<Notice>), ImportError>;

impl Source {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Uctm,
        Self::Maestro,
        Self::Ccw,
        Self::TaskMaster,
        Self::SpecKit,
        Self::Beads,
        Self::FractalPlanner,
        Self::Json,
    ];

    /// The name on the command line and in `import.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Uctm => "uctm",
            Self::Maestro => "maestro",
            Self::Ccw => "ccw",
            Self::TaskMaster => "task-master",
            Self::SpecKit => "spec-kit",
            Self::Beads => "beads",
            Self::FractalPlanner => "fractal-planner",
            Self::Json => "json",
        }
    }

    /// What it is known by.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Uctm => "PLAN.md with `# WORK-NN`, or TASK-NN.md",
            Self::Maestro => "tasks.json or tasks.csv with `role` or `deps`, or a task with `read_first`",
            Self::Ccw => ".task/*.json, or plan.json with `task_ids`",
            Self::TaskMaster => "tasks.json with `dependencies` or `subtasks`",
            Self::SpecKit => "a .md file with lines like `- [ ] T001`",
            Self::Beads => "a .jsonl file of issues",
            Self::FractalPlanner => "tasks.md with lines like `- [ID: 1]`",
            Self::Json => "a .json file with `schemaVersion`, `title` and `tasks`",
        }
    }

    fn recognise(self, documents: &Documents<'_>) -> Option<String> {
        match self {
            Self::Uctm => uctm::recognise(documents),
            Self::Maestro => maestro::recognise(documents),
            Self::Ccw => ccw::recognise(documents),
            Self::TaskMaster => task_master::recognise(documents),
            Self::SpecKit => spec_kit::recognise(documents),
            Self::Beads => beads::recognise(documents),
            Self::FractalPlanner => fractal_planner::recognise(documents),
            Self::Json => json::recognise(documents),
        }
    }

    fn read(self, documents: &Documents<'_>) -> Found {
        match self {
            Self::Uctm => uctm::read(documents),
            Self::Maestro => maestro::read(documents),
            Self::Ccw => ccw::read(documents),
            Self::TaskMaster => task_master::read(documents),
            Self::SpecKit => spec_kit::read(documents),
            Self::Beads => beads::read(documents),
            Self::FractalPlanner => fractal_planner::read(documents),
            Self::Json => json::read(documents),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Source {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|source| source.name() == name);
        known.ok_or_else(|| format!("{name:?} is no format that can be read"))
    }
}

/// Which format `folder` has, by what its files say.
///
/// # Errors
/// None of them, with what was looked for; or several, each with what speaks for it.
pub fn recognise(folder: &Folder) -> Result<Recognised, ImportError> {
    let documents = Documents::of(folder);
    let because = |source: Source| Some(Recognised { source, because: source.recognise(&documents)? });
    let mut found: Vec<Recognised> = Source::ALL.into_iter().filter_map(because).collect();
    match found.len() {
        0 => Err(documents.first_broken().unwrap_or_else(|| ImportError::not_recognised(folder))),
        1 => Ok(found.remove(0)),
        _ => Err(ImportError::Several(found)),
    }
}

/// Reads `folder` as what `source` writes. What is wrong or left out is told; what is wrong with the plan as a whole
/// is the business of [`check`](super::check).
///
/// # Errors
/// What leaves no task to import.
pub fn read(source: Source, folder: &Folder) -> Result<(PortablePlan, Vec<Notice>), ImportError> {
    let (plan, notices) = as_read(source, folder)?;
    Ok((given_back(source, plan), notices))
}

/// The same by the format's own fields alone, where what an export keeps beside them is not known.
pub(super) fn as_read(source: Source, folder: &Folder) -> Found {
    let (plan, notices) = source.read(&Documents::of(folder))?;
    if plan.tasks.is_empty() {
        let broken = notices.into_iter().find(|notice| notice.kind == Kind::Broken);
        return Err(broken.map_or(ImportError::NoTask(source), ImportError::Broken));
    }
    Ok((plan, notices))
}

#[cfg(test)]
mod tests;

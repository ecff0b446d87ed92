//! The formats that can be read: one file each, and which of them a folder has.
//!
//! Reading is lenient. What can't be read is reported with its place and left out, what is unknown is kept, and only
//! what leaves no task at all is an error.

mod beads;
mod boxes;
mod ccw;
mod fractal_planner;
mod json;
mod maestro;
mod spec_kit;
mod task_master;
mod uctm;

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use thiserror::Error;

use crate::folder::SourceFolder;
use crate::portable::{ImportNotice, NoticeKind, PortablePlan, PortableTask, TaskWork};

/// Most files or folders that an error names.
const MAX_LISTED: usize = 5;

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceFormat {
    Uctm,
    Maestro,
    Ccw,
    TaskMaster,
    SpecKit,
    /// Numbered boxes, as OpenSpec and Kiro write them.
    Boxes,
    Beads,
    FractalPlanner,
    Json,
}

/// The format of a folder, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecognisedSource {
    pub source: SourceFormat,
    pub because: String,
}

type ReadResult = Result<(PortablePlan, Vec<ImportNotice>), ImportError>;

impl SourceFormat {
    pub const ALL: [Self; 9] = [
        Self::Uctm,
        Self::Maestro,
        Self::Ccw,
        Self::TaskMaster,
        Self::SpecKit,
        Self::Boxes,
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
            Self::Boxes => "boxes",
            Self::Beads => "beads",
            Self::FractalPlanner => "fractal-planner",
            Self::Json => "json",
        }
    }

    /// How a person knows it.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Uctm => "PLAN.md with `# WORK-NN`, or TASK-NN.md",
            Self::Maestro => "tasks.json or tasks.csv with `role` or `deps`, or a task with `read_first`",
            Self::Ccw => ".task/*.json, or plan.json with `task_ids`",
            Self::TaskMaster => "tasks.json with `dependencies` or `subtasks`",
            Self::SpecKit => "a .md file with lines like `- [ ] T001`",
            Self::Boxes => "tasks.md with lines like `- [ ] 1.1`, as OpenSpec and Kiro write it",
            Self::Beads => "a .jsonl file of issues",
            Self::FractalPlanner => "tasks.md with lines like `- [ID: 1]`",
            Self::Json => "a .json file with `schemaVersion`, `title` and `tasks`",
        }
    }

    fn recognise(self, folder: &SourceFolder) -> Option<String> {
        match self {
            Self::Uctm => uctm::recognise(folder),
            Self::Maestro => maestro::recognise(folder),
            Self::Ccw => ccw::recognise(folder),
            Self::TaskMaster => task_master::recognise(folder),
            Self::SpecKit => spec_kit::recognise(folder),
            Self::Boxes => boxes::recognise(folder),
            Self::Beads => beads::recognise(folder),
            Self::FractalPlanner => fractal_planner::recognise(folder),
            Self::Json => json::recognise(folder),
        }
    }

    fn read(self, folder: &SourceFolder) -> ReadResult {
        match self {
            Self::Uctm => uctm::read(folder),
            Self::Maestro => maestro::read(folder),
            Self::Ccw => ccw::read(folder),
            Self::TaskMaster => task_master::read(folder),
            Self::SpecKit => spec_kit::read(folder),
            Self::Boxes => boxes::read(folder),
            Self::Beads => beads::read(folder),
            Self::FractalPlanner => fractal_planner::read(folder),
            Self::Json => json::read(folder),
        }
    }
}

impl fmt::Display for SourceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for SourceFormat {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|format| format.name() == name);
        known.ok_or_else(|| format!("{name:?} is no format that can be read"))
    }
}

/// Why nothing can be imported.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ImportError {
    #[error("no format of a plan is recognised{}", .0.as_ref().map_or_else(|| ": there is no .md, .json, .jsonl or .csv file".to_owned(), |files| format!(" in {files}")))]
    NotRecognised(Option<String>),
    #[error("it could be of several formats:{}", .0.iter().map(|found| format!("\n  {}: {}", found.source, found.because)).collect::<String>())]
    SeveralFormats(Vec<RecognisedSource>),
    #[error("there are several plans of {format} in it: {folders}")]
    SeveralPlans { format: SourceFormat, folders: String },
    #[error("there is no task of {0} in it")]
    NoTask(SourceFormat),
    #[error("{0}")]
    Broken(ImportNotice),
    #[error("{file}: written by a newer fp (version {version} of the format, this fp reads 1)")]
    Newer { file: String, version: u64 },
}

impl ImportError {
    pub(crate) fn several_plans(format: SourceFormat, folders: &[&str]) -> Self {
        let folders: Vec<&str> =
            folders.iter().map(|folder| if folder.is_empty() { "." } else { folder }).collect();
        Self::SeveralPlans { format, folders: first_of(&folders) }
    }

    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NotRecognised(_) => {
                let signs = SourceFormat::ALL.map(|format| format!("\n  {format}: {}", format.sign()));
                format!("name the folder of a plan, which is known by:{}", signs.concat())
            }
            Self::SeveralFormats(_) => "say which it is with `--from FORMAT`".into(),
            Self::SeveralPlans { .. } => "name the folder of one of them".into(),
            Self::NoTask(format) => format!("it is known by {}", format.sign()),
            Self::Broken(_) => "correct that place, and import again".into(),
            Self::Newer { .. } => "update fp: `fp --version` says what this one is".into(),
        }
    }
}

fn first_of(names: &[&str]) -> String {
    let mut text = names[..names.len().min(MAX_LISTED)].join(", ");
    if names.len() > MAX_LISTED {
        text.push_str(&format!(" and {} more", names.len() - MAX_LISTED));
    }
    text
}

/// Which format `folder` has, by what its files say.
///
/// # Errors
/// None of them, or several.
pub fn recognise_source(folder: &SourceFolder) -> Result<RecognisedSource, ImportError> {
    let recognised =
        |source: SourceFormat| Some(RecognisedSource { source, because: source.recognise(folder)? });
    let mut found: Vec<RecognisedSource> = SourceFormat::ALL.into_iter().filter_map(recognised).collect();
    match (found.len(), folder.broken().next()) {
        (0, Some((_, notice))) => Err(ImportError::Broken(notice.clone())),
        (0, None) => {
            let files: Vec<&str> = folder.paths().collect();
            Err(ImportError::NotRecognised((!files.is_empty()).then(|| first_of(&files))))
        }
        (1, _) => Ok(found.remove(0)),
        _ => Err(ImportError::SeveralFormats(found)),
    }
}

/// Reads `folder` as a plan of `format`, with what is wrong in its files. What is wrong with the plan as a whole is
/// the business of [`settle`](crate::settle()).
///
/// # Errors
/// No task is left to import.
pub fn read_source(format: SourceFormat, folder: &SourceFolder) -> ReadResult {
    let (plan, notices) = format.read(folder)?;
    if plan.tasks.iter().all(|task| task.work == TaskWork::Cancelled) {
        let broken = notices.into_iter().find(|notice| notice.kind == NoticeKind::Broken);
        return Err(broken.map_or(ImportError::NoTask(format), ImportError::Broken));
    }
    Ok((plan, notices))
}

/// The tasks in the order given, but parents first. `parents` has the position of each one's parent; a task that is
/// its own ancestor loses it, and that is reported.
fn parents_first(
    tasks: Vec<PortableTask>,
    mut parents: Vec<Option<usize>>,
    notices: &mut Vec<ImportNotice>,
) -> Vec<PortableTask> {
    // Where each task goes; `None` while it is on the way there.
    let mut place: Vec<Option<usize>> = vec![None; tasks.len()];
    let mut order = Vec::with_capacity(tasks.len());
    for start in 0..tasks.len() {
        let mut way = Vec::new();
        let mut next = Some(start);
        while let Some(at) = next.filter(|&at| place[at].is_none()) {
            if parents[at].is_some_and(|parent| parent == at || way.contains(&parent)) {
                let id = &tasks[at].id;
                let text = format!("{id} is a part of itself; it becomes a task without a parent");
                notices.push(ImportNotice::new(NoticeKind::AncestorDependency, text).about(id));
                parents[at] = None;
            }
            way.push(at);
            next = parents[at];
        }
        for at in way.into_iter().rev() {
            place[at] = Some(order.len());
            order.push(at);
        }
    }
    let mut tasks: Vec<Option<PortableTask>> = tasks.into_iter().map(Some).collect();
    let moved = order.into_iter().filter_map(|at| {
        let parent = parents[at].and_then(|parent| place[parent]);
        Some(PortableTask { parent, ..tasks[at].take()? })
    });
    moved.collect()
}

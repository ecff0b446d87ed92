//! Finds plan folders by id, part of an id or number, and creates them. Users and agents name plans, so an id
//! is never used as a path, and a link never leads out of the repository.

mod archive;
mod record;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use fp_plan::hint::{Exit, Hint};
use fp_plan::plan::id::{InvalidId, PlanId};
use fp_plan::settings::Settings;
use fp_run::interview::slug;
use jiff::civil::Date;

use crate::file::{self, FileError};
use crate::platform;
use crate::repo::Repo;
use crate::store::{FOREIGN, StoreError};

pub use archive::ARCHIVED;
pub use record::{OfLayer, PlanRecord, Purpose};

/// What `fp` and its agents write into the folder of a plan.
const PLAN_FILES: [&str; 25] = [
    "analysis.md",
    "archived.json",
    "context.md",
    "critique.md",
    "events.jsonl",
    "execution-state.json",
    "fleet.json",
    "handoff.md",
    "import.json",
    "interview.json",
    "interview.md",
    "lead.lock",
    "linear-mapping.json",
    "lock",
    "material.md",
    "notepad.md",
    "plan.json",
    "plan.md",
    "pre-analysis.md",
    "report.html",
    "research.md",
    "signals.json",
    "sync.lock",
    "tasks.md",
    "waiting.jsonl",
];
/// What it writes beside those folders.
const BESIDE_PLANS: [&str; 3] = [".gitignore", "commit.lock", "worktrees.lock"];

/// True if `path`, relative to the folder of all plans, is a file of a plan: nothing else may be where nothing is measured.
pub fn is_plan_file(path: &str) -> bool {
    match path.split_once('/') {
        None => BESIDE_PLANS.contains(&path),
        Some((plan, file)) => PlanId::new(plan).is_ok() && is_file_of_plan(file),
    }
}

fn is_file_of_plan(file: &str) -> bool {
    match file.split_once('/') {
        None => PLAN_FILES.contains(&file),
        Some(("evidence", name)) => name.ends_with(".md"),
        Some(("unfinished", name)) => name.ends_with(".patch"),
        Some((kept, file)) => kept.starts_with(FOREIGN) && is_file_of_plan(file),
    }
}

/// Most plans for the same goal on one day.
const MAX_SUFFIX: u32 = 999;

/// The folder of one plan; it exists, and is a real folder inside the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFolder {
    id: PlanId,
    path: PathBuf,
}

impl PlanFolder {
    /// The plan's id, which is the folder's name.
    pub fn id(&self) -> &PlanId {
        &self.id
    }

    /// Absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of `name` in the folder. `name` is static, so it never comes from a stranger.
    pub fn file(&self, name: &'static str) -> PathBuf {
        self.path.join(name)
    }
}

/// All plans of a repository.
#[derive(Debug, Clone)]
pub struct Plans {
    root: PathBuf,
    dir: PathBuf,
}

impl Plans {
    /// The plans of `repo`, in the folder that `settings` names. Touches no file.
    pub fn of(repo: &Repo, settings: &Settings) -> Self {
        Self {
            root: repo.root.clone(),
            dir: repo.plans_dir(settings),
        }
    }

    /// The folder of all plans; it need not exist.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The ids of all plans, oldest first: by the date in the id, then by name. Their positions, from 1, are
    /// the numbers that select them. Skips files, links and names that are not ids.
    pub fn list(&self) -> Result<Vec<PlanId>, PlanError> {
        if !self.dir_is_inside()? {
            return Ok(Vec::new());
        }
        let failed = FileError::reading(&self.dir);
        let mut ids = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let name = entry.file_name();
                ids.extend(name.to_str().and_then(|name| PlanId::new(name).ok()));
            }
        }
        ids.sort_by(|a, b| age(a).cmp(&age(b)));
        Ok(ids)
    }

    /// Opens the plan with exactly this id. Fails if there is none, or if its folder is a link.
    pub fn open(&self, id: &PlanId) -> Result<PlanFolder, PlanError> {
        let missing = || PlanError::NotFound {
            selector: id.to_string(),
            existing: self.list().unwrap_or_default(),
        };
        if !self.dir_is_inside()? {
            return Err(missing());
        }
        let path = self.dir.join(id.as_str());
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => Ok(PlanFolder {
                id: id.clone(),
                path,
            }),
            Ok(metadata) if metadata.is_symlink() => Err(FileError::Link { path }.into()),
            Ok(_) => Err(PlanError::NotAFolder { path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(missing()),
            Err(source) => Err(FileError::Read { path, source }.into()),
        }
    }

    /// Opens the plan that `selector` names: an id, a part of exactly one, or a number from [`Plans::list`].
    pub fn resolve(&self, selector: &str) -> Result<PlanFolder, PlanError> {
        let id = PlanId::new(selector).map_err(PlanError::Selector)?;
        match self.open(&id) {
            Err(PlanError::NotFound { existing, .. }) => self.open(&select(selector, existing)?),
            found => found,
        }
    }

    /// Opens the plan that `selector` names or, without one, the only active plan. `active` returns a plan's
    /// line for a list of several, or `None` if it is not active.
    pub fn choose(
        &self,
        selector: Option<&str>,
        mut active: impl FnMut(&PlanFolder) -> Option<String>,
    ) -> Result<PlanFolder, PlanError> {
        if let Some(selector) = selector {
            return self.resolve(selector);
        }
        let existing = self.list()?;
        let mut candidates = Vec::new();
        for (index, id) in existing.iter().enumerate() {
            let folder = self.open(id)?;
            if let Some(line) = active(&folder) {
                candidates.push((index + 1, line, folder));
            }
        }
        match candidates.len() {
            0 => Err(PlanError::NoneActive { existing }),
            1 => Ok(candidates.remove(0).2),
            count => {
                let lines: Vec<_> = candidates
                    .into_iter()
                    .map(|(number, line, _)| (number, line))
                    .collect();
                let said = format!(
                    "no plan was named and {count} are active:{}",
                    Listed(&lines)
                );
                Err(PlanError::Said {
                    said,
                    hint: NAME_ONE,
                })
            }
        }
    }

    /// Creates the folder of a new plan for `goal` on the day `today`. Its id is the goal's slug and the
    /// date, with `-2`, `-3` … if that is taken. Two concurrent processes each get their own.
    pub fn create(&self, goal: &str, today: Date) -> Result<PlanFolder, PlanError> {
        self.make_dir()?;
        let base = format!("{}-{}", slug(goal), today.strftime("%Y%m%d"));
        for number in 1..=MAX_SUFFIX {
            let name = if number == 1 {
                base.clone()
            } else {
                format!("{base}-{number}")
            };
            let id = PlanId::new(name).map_err(PlanError::Selector)?;
            if self.is_archived(&id) {
                continue;
            }
            let path = self.dir.join(id.as_str());
            match fs::create_dir(&path) {
                Ok(()) => return Ok(PlanFolder { id, path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(FileError::Write { path, source }.into()),
            }
        }
        let said = format!("there are too many plans called {base}");
        Err(PlanError::Said {
            said,
            hint: "say in the goal what is special about this plan",
        })
    }

    /// True if the folder of all plans exists; fails if a link takes it out of the repository.
    fn dir_is_inside(&self) -> Result<bool, PlanError> {
        match platform::real_path(&self.dir) {
            Ok(real) if !real.is_dir() => Err(PlanError::NotAFolder {
                path: self.dir.clone(),
            }),
            Ok(real) if real.starts_with(&self.root) => Ok(true),
            Ok(target) => Err(PlanError::Outside {
                path: self.dir.clone(),
                target,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                let file = self
                    .dir
                    .ancestors()
                    .find(|above| above.is_file())
                    .unwrap_or(&self.dir);
                Err(PlanError::NotAFolder {
                    path: file.to_owned(),
                })
            }
            Err(error) => Err(FileError::reading(&self.dir)(error).into()),
        }
    }

    /// Creates the folder of all plans, ignored by git, if it doesn't exist.
    pub fn make_dir(&self) -> Result<(), PlanError> {
        self.make_bare_dir()?;
        // A user who wants plans in git deletes this file, so it comes back only while there is no plan.
        let ignore = self.dir.join(".gitignore");
        if fs::symlink_metadata(&ignore).is_err() && self.list()?.is_empty() {
            file::atomic_write(&ignore, b"*\n")?;
        }
        Ok(())
    }

    fn make_bare_dir(&self) -> Result<(), PlanError> {
        if self.dir_is_inside()? {
            return Ok(());
        }
        self.ancestor_is_inside()?;
        Ok(file::make_folders(&self.dir)?)
    }

    /// Fails if the nearest existing ancestor is, through a link, outside the repository.
    fn ancestor_is_inside(&self) -> Result<(), PlanError> {
        let nearest = self
            .dir
            .ancestors()
            .skip(1)
            .find_map(|above| platform::real_path(above).ok());
        match nearest {
            Some(real) if !real.starts_with(&self.root) => Err(PlanError::Outside {
                path: self.dir.clone(),
                target: real,
            }),
            _ => Ok(()),
        }
    }
}

/// Most plans that an error lists.
const MAX_LISTED: usize = 20;

/// Why a plan was not found, created, read or moved. [`PlanError::hint`] has the remedy.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The text given as a plan can't be an id.
    #[error("no plan has such a name: {0}")]
    Selector(InvalidId),
    /// No plan has that id, number or part.
    #[error("no plan matches {selector:?}{}", others(existing))]
    NotFound {
        selector: String,
        /// In the order of [`Plans::list`].
        existing: Vec<PlanId>,
    },
    #[error("{}", none_active(existing))]
    NoneActive { existing: Vec<PlanId> },
    #[error("{} leads out of the repository, to {}", path.display(), target.display())]
    Outside {
        /// The folder of all plans.
        path: PathBuf,
        target: PathBuf,
    },
    /// A file is in the place of the plan's folder.
    #[error("{} is not a folder", path.display())]
    NotAFolder { path: PathBuf },
    #[error("{said}")]
    Said { said: String, hint: &'static str },
    /// It is not as it has to be for this; nothing has changed.
    #[error("{said}")]
    Refused { said: String, hint: String },
    #[error(transparent)]
    File(#[from] FileError),
    /// Its log can't be read, or another process has its lock.
    #[error(transparent)]
    Store(#[from] StoreError),
}

const NAME_ONE: &str =
    "name a plan by its number, its id or a part of its id; `fp plans` lists them";

impl Hint for PlanError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::NotFound { existing, .. } | Self::NoneActive { existing } if existing.is_empty() => {
                Some("plan a goal with `/fp:plan GOAL` in Claude Code, or by hand with `fp new GOAL`".into())
            }
            Self::Selector(_) | Self::NotFound { .. } => Some(NAME_ONE.into()),
            Self::Said { hint, .. } => Some((*hint).into()),
            Self::Refused { hint, .. } => Some(hint.into()),
            Self::NoneActive { .. } => Some(
                "name a plan by its number, its id or a part of its id; `fp plans --all` lists them".into(),
            ),
            Self::Outside { .. } => Some(
                "put a real folder in the link's place, or set `plansDir` to one inside the repository"
                    .into(),
            ),
            Self::NotAFolder { .. } => Some("move the file out of the way".into()),
            Self::File(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }

    fn ends(&self) -> Exit {
        if matches!(self, Self::Refused { .. }) {
            Exit::Findings
        } else {
            Exit::Failed
        }
    }
}

fn none_active(existing: &[PlanId]) -> String {
    match existing {
        [] => "nothing is planned here yet".into(),
        _ => format!("no plan was named and none is active{}", others(existing)),
    }
}

fn others(existing: &[PlanId]) -> String {
    if existing.is_empty() {
        return ": there is no plan yet".into();
    }
    let numbered: Vec<_> = existing
        .iter()
        .cloned()
        .enumerate()
        .map(|(i, id)| (i + 1, id))
        .collect();
    format!("; there are:{}", Listed(&numbered))
}

/// Lists plans by number, one a line; at most [`MAX_LISTED`], with a count of the rest.
struct Listed<'a, T>(&'a [(usize, T)]);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keeps the newest: the user most likely means one of those.
        let left_out = self.0.len().saturating_sub(MAX_LISTED);
        if left_out > 0 {
            write!(f, "\n  … {left_out} older ones")?;
        }
        for (number, plan) in &self.0[left_out..] {
            write!(f, "\n{number:>3}  {plan}")?;
        }
        Ok(())
    }
}

/// Most digits of a plan's number. With more it is a part of a date.
const MAX_NUMBER: usize = 3;

/// The id of `existing` that `selector` names: a number from 1, or a part of exactly one id. A number is never a part: each
/// id has digits.
fn select(selector: &str, existing: Vec<PlanId>) -> Result<PlanId, PlanError> {
    if let Some(number) = selector
        .parse::<usize>()
        .ok()
        .filter(|_| selector.len() <= MAX_NUMBER)
    {
        let known = number
            .checked_sub(1)
            .and_then(|index| existing.get(index).cloned());
        return known.ok_or(PlanError::NotFound {
            selector: selector.into(),
            existing,
        });
    }
    let part = selector.to_ascii_lowercase();
    let mut matching: Vec<(usize, PlanId)> = (1..)
        .zip(&existing)
        .filter(|(_, id)| id.as_str().to_ascii_lowercase().contains(&part))
        .map(|(number, id)| (number, id.clone()))
        .collect();
    match matching.len() {
        0 => Err(PlanError::NotFound {
            selector: selector.into(),
            existing,
        }),
        1 => Ok(matching.remove(0).1),
        count => {
            let said = format!("{selector:?} matches {count} plans:{}", Listed(&matching));
            Err(PlanError::Said {
                said,
                hint: NAME_ONE,
            })
        }
    }
}

/// The sort key of plans: the date in the id, its words, and the number behind the date. Ids without a date
/// come first.
fn age(id: &PlanId) -> (&str, &str, u32) {
    let text = id.as_str();
    let is_date = |part: &str| part.len() == 8 && part.bytes().all(|b| b.is_ascii_digit());
    let dated = |text| str::rsplit_once(text, '-').filter(|(_, date)| is_date(date));
    if let Some((words, date)) = dated(text) {
        return (date, words, 1);
    }
    let numbered = text
        .rsplit_once('-')
        .and_then(|(rest, number)| Some((dated(rest)?, number.parse().ok()?)));
    match numbered {
        Some(((words, date), number)) => (date, words, number),
        None => ("", text, 1),
    }
}

#[cfg(test)]
mod tests;

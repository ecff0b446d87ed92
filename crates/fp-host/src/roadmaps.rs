//! Roadmaps on the disk: `.fractal-planner/roadmaps/ID.md` of the main checkout, which are the user's to commit. A link
//! never leads out of the repository.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fp_core::hint::Hint;
use fp_core::interview::slug::slug;
use fp_core::plan::id::{InvalidId, RoadmapId};
use jiff::civil::Date;

use crate::file::{self, FileError};
use crate::repo::Repo;

/// Path of their folder in a repository.
pub const ROADMAPS: &str = ".fractal-planner/roadmaps";

/// Largest roadmap that is read, in bytes.
const CAP: u64 = 1024 * 1024;
/// Most roadmaps that one goal gets on one day.
const MAX_SUFFIX: u32 = 999;

/// Why there is no such roadmap.
#[derive(Debug, thiserror::Error)]
pub enum RoadmapError {
    /// What was typed can't be a part of an id.
    #[error("{0}")]
    Selector(InvalidId),
    /// No id has it.
    #[error("no roadmap matches {selector:?}; there are:{}", listed(existing))]
    NotFound {
        /// What was typed.
        selector: String,
        /// What there is.
        existing: Vec<RoadmapId>,
    },
    /// Several ids have it, or nothing was typed and there are several.
    #[error("several roadmaps could be meant:{}", listed(candidates))]
    Ambiguous {
        /// Those that it could be.
        candidates: Vec<RoadmapId>,
    },
    /// There is none at all.
    #[error("there is no roadmap")]
    None,
    /// One goal has too many on one day.
    #[error("there are {MAX_SUFFIX} roadmaps {base} already")]
    TooMany {
        /// What they have in common.
        base: String,
    },
    /// It can't be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

fn listed(ids: &[RoadmapId]) -> String {
    ids.iter().map(|id| format!("\n  {id}")).collect()
}

impl Hint for RoadmapError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Selector(_) | Self::NotFound { .. } | Self::Ambiguous { .. } => {
                Some("name a roadmap by its id or a part of it".into())
            }
            Self::None => Some("`fp roadmap new GOAL` makes one".into()),
            Self::TooMany { .. } => Some("say the goal in other words, or remove what is not needed".into()),
            Self::File(error) => error.hint(),
        }
    }
}

/// The roadmaps of a repository.
#[derive(Debug)]
pub struct Roadmaps<'r> {
    repo: &'r Repo,
}

impl<'r> Roadmaps<'r> {
    /// Those of `repo`. Touches nothing.
    #[must_use]
    pub fn of(repo: &'r Repo) -> Self {
        Self { repo }
    }

    /// Their ids, sorted; none where there is no such folder. Other names are left alone.
    pub fn list(&self) -> Result<Vec<RoadmapId>, RoadmapError> {
        let folder = self.repo.root.join(ROADMAPS);
        let failed = |source| FileError::Read { path: folder.clone(), source };
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error).into()),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".md"));
            ids.extend(id.and_then(|id| RoadmapId::new(id).ok()));
        }
        ids.sort();
        Ok(ids)
    }

    /// The one that `selector` means, an id or a part of exactly one; without it, the only one that there is.
    pub fn resolve(&self, selector: Option<&str>) -> Result<RoadmapId, RoadmapError> {
        let existing = self.list()?;
        let part = match selector {
            Some(selector) => RoadmapId::new(selector).map_err(RoadmapError::Selector)?.to_string(),
            None => String::new(),
        };
        let is_meant = |id: &&RoadmapId| id.as_str().to_lowercase().contains(&part.to_lowercase());
        let mut candidates: Vec<RoadmapId> = existing.iter().filter(is_meant).cloned().collect();
        if let Some(exact) = candidates.iter().position(|id| id.as_str() == part) {
            return Ok(candidates.remove(exact));
        }
        match (candidates.len(), selector) {
            (1, _) => Ok(candidates.remove(0)),
            (0, _) if existing.is_empty() => Err(RoadmapError::None),
            (0, Some(selector)) => Err(RoadmapError::NotFound { selector: selector.to_owned(), existing }),
            _ => Err(RoadmapError::Ambiguous { candidates }),
        }
    }

    /// Where the page of `id` is or would be, absolute.
    #[must_use]
    pub fn path(&self, id: &RoadmapId) -> PathBuf {
        self.repo.root.join(ROADMAPS).join(format!("{id}.md"))
    }

    /// The text of `id`. Fails where there is none, where it is no text, or lies outside of the repository.
    pub fn text(&self, id: &RoadmapId) -> Result<String, RoadmapError> {
        let path = self.path(id);
        let real =
            fs::canonicalize(&path).map_err(|source| FileError::Read { path: path.clone(), source })?;
        if !real.starts_with(&self.repo.root) {
            return Err(FileError::Link { path }.into());
        }
        Ok(file::read_text(&path, CAP)?)
    }

    /// Writes `page`, a new roadmap for `goal` on the day `today`. Its id is the goal's slug and the date, with `-2`,
    /// `-3` … where that is taken; of two processes that ask at once each gets its own.
    pub fn create(&self, goal: &str, today: Date, page: &str) -> Result<RoadmapId, RoadmapError> {
        self.repo.make_folder(ROADMAPS)?;
        let base = format!("{}-{}", slug(goal), today.strftime("%Y%m%d"));
        for number in 1..=MAX_SUFFIX {
            let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
            let id = RoadmapId::new(name).map_err(RoadmapError::Selector)?;
            if file::write_if_absent(&self.path(&id), page.as_bytes())? {
                return Ok(id);
            }
        }
        Err(RoadmapError::TooMany { base })
    }

    /// Whether there is something at `path`, which is in normal form, in the repository.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let real = fs::canonicalize(self.repo.root.join(Path::new(path)));
        real.is_ok_and(|real| real.starts_with(&self.repo.root))
    }
}

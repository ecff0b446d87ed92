//! Why a plan was not found or made, with the plans that could have been meant.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use fp_core::hint::Hint;
use fp_core::plan::id::{InvalidId, PlanId};

use crate::file::FileError;

/// Most plans that an error lists.
const MAX_LISTED: usize = 20;

/// Why a plan was not found or made. [`PlanError::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// What was given as a plan can't be one.
    #[error("no plan has such a name: {0}")]
    Selector(InvalidId),
    /// No plan has that id, number or part.
    #[error("no plan matches {selector:?}{}", others(existing))]
    NotFound {
        /// What was asked for.
        selector: String,
        /// All plans, in order.
        existing: Vec<PlanId>,
    },
    /// Several ids have that part.
    #[error("{selector:?} matches {} plans:{}", candidates.len(), Listed(candidates))]
    Ambiguous {
        /// What was asked for.
        selector: String,
        /// Number and id of each.
        candidates: Vec<(usize, PlanId)>,
    },
    /// No plan was named and none is active.
    #[error("no plan was named and none is active{}", others(existing))]
    NoneActive {
        /// All plans, in order.
        existing: Vec<PlanId>,
    },
    /// No plan was named and several are active.
    #[error("no plan was named and {} are active:{}", candidates.len(), Listed(candidates))]
    SeveralActive {
        /// Number and line of each.
        candidates: Vec<(usize, String)>,
    },
    /// A link leads the plans out of the repository.
    #[error("{} leads out of the repository, to {}", path.display(), target.display())]
    Outside {
        /// The folder of all plans.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// The plan's folder is a link.
    #[error("{} is a symbolic link, which is not followed", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A file is in the place of the plan's folder.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// What it is not.
        path: PathBuf,
    },
    /// One goal got too many plans on one day.
    #[error("there are too many plans called {base}")]
    TooMany {
        /// The id without its number.
        base: String,
    },
    /// `plan.json` can't be understood.
    #[error("{}:{line}:{column}: {detail}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        detail: String,
    },
    /// A file or folder could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Hint for PlanError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::NotFound { existing, .. } | Self::NoneActive { existing } if existing.is_empty() => {
                Some("make a plan with `fp new GOAL`".into())
            }
            Self::Selector(_)
            | Self::NotFound { .. }
            | Self::Ambiguous { .. }
            | Self::NoneActive { .. }
            | Self::SeveralActive { .. } => {
                Some("name a plan by its number, its id or a part of its id; `fp plans` lists them".into())
            }
            Self::Link { .. } => Some("remove the link, or put the real folder in its place".into()),
            Self::Outside { .. } => Some(
                "put a real folder in the link's place, or set `plansDir` to one inside the repository"
                    .into(),
            ),
            Self::Record { .. } => {
                Some("correct that place, or delete the file: the plan loses its goal and flags".into())
            }
            Self::NotAFolder { .. } => Some("move the file out of the way".into()),
            Self::TooMany { .. } => Some("say in the goal what is special about this plan".into()),
            Self::File(error) => error.hint(),
        }
    }
}

fn others(existing: &[PlanId]) -> String {
    if existing.is_empty() {
        return ": there is no plan yet".into();
    }
    let numbered: Vec<_> = existing.iter().cloned().enumerate().map(|(i, id)| (i + 1, id)).collect();
    format!("; there are:{}", Listed(&numbered))
}

/// A line for each plan, with its number, cut off with a count.
struct Listed<'a, T>(&'a [(usize, T)]);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The newest are the likeliest to be meant.
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

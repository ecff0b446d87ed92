//! What rules need to know of the world, gathered by the caller, so that checking stays a function.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::plan::path::{Reference, literal_prefix, normal, reference};
use crate::plan::task::Plan;

/// What is known of the world around a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The highest complexity that a leaf may have.
    pub max_complexity: u32,
    /// What each path of [`mentioned`] is. A path that isn't in it is not judged.
    pub paths: HashMap<String, PathFact>,
    /// The confirmed requirements.
    pub requirements: Vec<Requirement>,
    /// What the user ruled out.
    pub scope_exclusions: Vec<String>,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            max_complexity: 4,
            paths: HashMap::new(),
            requirements: Vec::new(),
            scope_exclusions: Vec::new(),
        }
    }
}

impl Facts {
    /// What is known of a path as a plan has it.
    pub(super) fn path(&self, path: &str) -> Option<PathFact> {
        self.paths.get(normal(path).ok()?.as_ref()).copied()
    }
}

/// What a path of the repository is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathFact {
    /// Nothing is there.
    Missing,
    /// A folder.
    Folder,
    /// A file, with the number of its lines where that was asked for and could be told.
    File {
        /// Its lines.
        lines: Option<u64>,
    },
    /// A link on the way leads out of the repository.
    Outside,
}

/// A requirement that the user confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Its id, such as `R1`.
    pub id: String,
    /// Its words.
    pub text: String,
}

/// The paths that a plan mentions, in the form that [`Facts::paths`] has them: inside the repository as far
/// as their text can tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mentioned<'p> {
    /// Paths of which it matters whether they exist, and whether their number of lines matters.
    pub paths: HashMap<Cow<'p, str>, bool>,
}

/// What to look up for the facts about `plan`.
#[must_use]
pub fn mentioned<'p>(plan: &'p Plan<'_>) -> Mentioned<'p> {
    let mut found = Mentioned::default();
    for leaf in plan.leaves() {
        for file in leaf.files() {
            if let Ok(path) = normal(literal_prefix(file)) {
                found.paths.entry(path).or_default();
            }
        }
        for Reference { path, line, .. } in leaf.references().filter_map(reference) {
            if let Ok(path) = normal(path) {
                *found.paths.entry(path).or_default() |= line.is_some();
            }
        }
    }
    found
}

//! What rules need to know of the world, gathered by the caller, so that checking stays a function.

use std::collections::{BTreeSet, HashMap};

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
pub struct Mentioned {
    /// Paths of which it matters whether they exist.
    pub paths: BTreeSet<String>,
    /// Those of them whose number of lines matters.
    pub lines: BTreeSet<String>,
}

/// What to look up for the facts about `plan`.
#[must_use]
pub fn mentioned(plan: &Plan) -> Mentioned {
    let mut found = Mentioned::default();
    for leaf in plan.leaves() {
        for file in leaf.files() {
            if let Ok(path) = normal(literal_prefix(file)) {
                found.paths.insert(path.into_owned());
            }
        }
        for Reference { path, line, .. } in leaf.references().filter_map(reference) {
            if let Ok(path) = normal(path) {
                if line.is_some() {
                    found.lines.insert(path.to_string());
                }
                found.paths.insert(path.into_owned());
            }
        }
    }
    found
}

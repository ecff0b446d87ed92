//! Detects drift: a commit changed files that a pending task was planned on, and the task needs another look before
//! anyone claims it. A commit by one of its own dependencies is no drift, because the plan expected it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::state::{State, Status, TaskState};
use fp_plan::plan::id::TaskId;
use fp_plan::plan::path::{folders, held};

/// Maximum number of commits listed per task.
const COMMITS: usize = 5;

/// A commit that reached HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenCommit {
    pub hash: String,
    /// Short hash and subject.
    pub told: String,
    /// The paths it changed, relative to the repository, separated by `/`.
    pub files: Vec<String>,
}

/// HEAD moved since it was last looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The new HEAD.
    pub head: String,
    /// The commits that are new in HEAD.
    pub commits: Vec<SeenCommit>,
}

/// The changes beneath one task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// The changed files among those that the task lists or refers to.
    pub files: BTreeSet<String>,
    /// The commits that changed them: short hash and subject.
    pub commits: Vec<String>,
    /// True once the user was asked about it.
    #[serde(default)]
    pub asked: bool,
}

impl Drift {
    /// A short text for people.
    pub fn told(&self) -> String {
        let files: Vec<&str> = self.files.iter().map(String::as_str).collect();
        format!("{} changed by {}", files.join(", "), self.commits.join("; "))
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.files.extend(other.files.iter().cloned());
        let new = other.commits.iter().filter(|commit| !self.commits.contains(commit));
        let new: Vec<String> = new.take(COMMITS.saturating_sub(self.commits.len())).cloned().collect();
        self.commits.extend(new);
        self.asked = false;
    }
}

impl State {
    /// Finds the pending and skipped tasks that the commits in `moved` affect.
    pub fn drift(&self, moved: &Moved) -> BTreeMap<TaskId, Drift> {
        let waiting = |task: &&TaskState| matches!(task.status, Status::Pending | Status::Skipped);
        let waiting: Vec<(&TaskState, Vec<Cow<'_, str>>)> = self
            .tasks
            .iter()
            .filter(waiting)
            .map(|task| (task, task.files().chain(task.leaf.references()).filter_map(held).collect()))
            .collect();
        let mut drifted: BTreeMap<TaskId, Drift> = BTreeMap::new();
        // A rolled-back commit and its revert cancel out.
        for commit in moved.commits.iter().filter(|commit| !self.undone.contains(&commit.hash)) {
            let maker = self.tasks.iter().find(|task| task.commit.as_ref() == Some(&commit.hash));
            let planned: BTreeSet<TaskId> = maker.map_or_else(BTreeSet::new, |maker| {
                self.dependents(&maker.leaf.id).into_iter().chain([maker.leaf.id.clone()]).collect()
            });
            let changed: BTreeMap<&str, &str> = commit
                .files
                .iter()
                .flat_map(|file| folders(file).chain([file.as_str()]).map(move |part| (part, file.as_str())))
                .collect();
            for (task, paths) in waiting.iter().filter(|(task, _)| !planned.contains(&task.leaf.id)) {
                let files: BTreeSet<String> = paths
                    .iter()
                    .filter_map(|path| changed.get(&**path).map(|file| (*file).to_owned()))
                    .collect();
                if !files.is_empty() {
                    let found = Drift { files, commits: vec![commit.told.clone()], asked: false };
                    drifted.entry(task.leaf.id.clone()).or_default().add(&found);
                }
            }
        }
        drifted
    }
}

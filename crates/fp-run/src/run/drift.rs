//! Drift: a commit has changed what a task that nobody has begun was planned on. It is looked at again before it
//! is claimed. What the tasks that it waits for have made is no drift: it was planned.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::state::{State, Status, TaskState};
use fp_plan::plan::id::TaskId;
use fp_plan::plan::path::{folders, held};

/// Commits told of one task, at most.
const COMMITS: usize = 5;

/// A commit that came to HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenCommit {
    /// Its full hash.
    pub hash: String,
    /// Its short hash and subject.
    pub told: String,
    /// The paths that it changed, relative to the repository, with `/`.
    pub files: Vec<String>,
}

/// HEAD is where it was not when it was last looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Where it is.
    pub head: String,
    /// The commits that it has and had not.
    pub commits: Vec<SeenCommit>,
}

/// What has changed under a task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// The files, of those that it lists or refers to.
    pub files: BTreeSet<String>,
    /// The commits that changed them: short hash and subject.
    pub commits: Vec<String>,
    /// Whether the user was asked about it.
    #[serde(default)]
    pub asked: bool,
}

impl Drift {
    /// It in a few words.
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
    /// What `moved` has changed under the tasks that nobody has begun.
    pub fn drift(&self, moved: &Moved) -> BTreeMap<TaskId, Drift> {
        let waiting = |task: &&TaskState| matches!(task.status, Status::Pending | Status::Skipped);
        let waiting: Vec<(&TaskState, Vec<Cow<'_, str>>)> = self
            .tasks
            .iter()
            .filter(waiting)
            .map(|task| (task, task.files().chain(task.leaf.references()).filter_map(held).collect()))
            .collect();
        let mut drifted: BTreeMap<TaskId, Drift> = BTreeMap::new();
        // What was undone, and what undid it, leaves nothing.
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

//! Detects drift: a commit changed files that a pending task was planned on, and the task needs another look before
//! anyone claims it. A commit of the plan's own tasks is no drift, because the plan expected it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::ready::listed;
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
    /// The paths it changed, relative to the repository, separated by `/`, each with the numbers of added and removed
    /// lines.
    pub files: BTreeMap<String, String>,
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
pub struct Drift {
    /// The changed files among those that the task lists or refers to.
    pub files: BTreeSet<String>,
    /// The commits that changed them: short hash and subject.
    pub commits: Vec<String>,
    /// The changes, a line each; empty in logs that don't record it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub changes: BTreeSet<String>,
    /// True once the user was asked about it.
    #[serde(default)]
    pub asked: bool,
}

impl Drift {
    /// A short text for people.
    pub fn told(&self) -> String {
        match self.changes.is_empty() {
            true => {
                let files: Vec<&str> = self.files.iter().map(String::as_str).collect();
                let commits = self.commits.join("; ");
                format!("{} changed by {commits}", files.join(", "))
            }
            false => self.changes.iter().cloned().collect::<Vec<_>>().join("; "),
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.files.extend(other.files.iter().cloned());
        self.changes.extend(other.changes.iter().cloned());
        let new = other
            .commits
            .iter()
            .filter(|commit| !self.commits.contains(commit));
        let new: Vec<String> = new
            .take(COMMITS.saturating_sub(self.commits.len()))
            .cloned()
            .collect();
        self.commits.extend(new);
        self.asked = false;
    }
}

impl State {
    /// True while a task's commit is on its way: HEAD may have it, and the log doesn't have its hash yet.
    pub(super) fn is_committing(&self) -> bool {
        let asked = |id: &TaskId| self.open_questions().any(|q| q.topic.blocks_commit_of(id));
        self.own_running().any(|task| {
            task.awaits_commit() && task.commit_intent.is_some() && !asked(&task.leaf.id)
        })
    }

    /// The commits of `commits` that no task of this plan made, without those that a rollback cancelled out.
    fn made_outside<'c>(&self, commits: &'c [SeenCommit]) -> impl Iterator<Item = &'c SeenCommit> {
        let own: BTreeSet<&String> = self
            .tasks
            .iter()
            .filter_map(|task| task.commit.as_ref())
            .chain(&self.undone)
            .collect();
        commits
            .iter()
            .filter(move |commit| !own.contains(&commit.hash))
    }

    /// Finds the pending and skipped tasks that the commits in `moved` affect.
    pub fn drift(&self, moved: &Moved) -> BTreeMap<TaskId, Drift> {
        let waits = |task: &&TaskState| matches!(task.status, Status::Pending | Status::Skipped);
        let paths = |task: &'_ TaskState| {
            let named = task.files().chain(task.leaf.references());
            named.filter_map(held).map(Cow::into_owned).collect()
        };
        let waiting = self.tasks.iter().filter(waits);
        let waiting: Vec<(&TaskState, Vec<String>)> =
            waiting.map(|task| (task, paths(task))).collect();
        let mut drifted: BTreeMap<TaskId, Drift> = BTreeMap::new();
        for commit in self.made_outside(&moved.commits) {
            let changed: BTreeMap<&str, &String> = commit
                .files
                .keys()
                .flat_map(|file| {
                    folders(file)
                        .chain([file.as_str()])
                        .map(move |part| (part, file))
                })
                .collect();
            for (task, paths) in &waiting {
                let listed = paths
                    .iter()
                    .filter_map(|path| changed.get(&**path).copied());
                let files: BTreeSet<String> = listed.cloned().collect();
                if files.is_empty() {
                    continue;
                }
                let line =
                    |file: &String| format!("{file} {} in {}", commit.files[file], commit.told);
                let changes = files.iter().map(line).collect();
                let found = Drift {
                    files,
                    commits: vec![commit.told.clone()],
                    changes,
                    asked: false,
                };
                drifted.entry(task.leaf.id.clone()).or_default().add(&found);
            }
        }
        drifted
    }

    /// The waiting tasks that drifted since the user was last asked about them, and the question about them.
    pub(super) fn unasked_drift(&self) -> Option<(Vec<TaskId>, String)> {
        let due = self
            .tasks
            .iter()
            .filter(|task| task.status == Status::Pending);
        let due: Vec<(&TaskState, &Drift)> = due
            .filter_map(|task| Some((task, task.drift.as_ref().filter(|drift| !drift.asked)?)))
            .collect();
        let mut told: BTreeMap<String, Vec<TaskId>> = BTreeMap::new();
        for (task, drift) in &due {
            let changes = match drift.changes.is_empty() {
                true => vec![drift.told()],
                false => drift.changes.iter().cloned().collect(),
            };
            for change in changes {
                told.entry(change).or_default().push(task.leaf.id.clone());
            }
        }
        let line = |(change, tasks): (&String, &Vec<TaskId>)| {
            let noun = if tasks.len() == 1 { "task" } else { "tasks" };
            format!("{change} ({noun} {})", listed(tasks))
        };
        let told: Vec<String> = told.iter().map(line).collect();
        let tasks: Vec<TaskId> = due.iter().map(|(task, _)| task.leaf.id.clone()).collect();
        (!tasks.is_empty()).then(|| (tasks, told.join("; ")))
    }
}

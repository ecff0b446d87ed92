//! Detects drift: a commit changed files that a pending task was planned on, so the task needs another look before
//! anyone claims it. Commits of the plan's own tasks don't count as drift, because the plan expected them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::ready::tasks_listed;
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
    /// The paths it changed, relative to the repository and with `/` as separator, each with its numbers of added and
    /// removed lines.
    pub files: BTreeMap<String, String>,
}

/// A move of HEAD since it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The new HEAD.
    pub head: String,
    /// The commits that are new in HEAD.
    pub commits: Vec<SeenCommit>,
}

/// The changes to the files that one task was planned on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Drift {
    /// The changed files among those that the task lists or refers to.
    pub files: BTreeSet<String>,
    /// The commits that changed them: short hash and subject.
    pub commits: Vec<String>,
    /// The changes, one per line; empty in logs that don't record them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub changes: BTreeSet<String>,
    /// True once the user was asked about this drift.
    #[serde(default)]
    pub asked: bool,
}

impl Drift {
    /// A short text for people.
    pub fn summary_text(&self) -> String {
        self.change_lines().join("; ")
    }

    fn change_lines(&self) -> Vec<String> {
        if !self.changes.is_empty() {
            return self.changes.iter().cloned().collect();
        }
        let files: Vec<&str> = self.files.iter().map(String::as_str).collect();
        let commits = self.commits.join("; ");
        vec![format!("{} changed by {commits}", files.join(", "))]
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.files.extend(other.files.iter().cloned());
        self.changes.extend(other.changes.iter().cloned());
        for commit in &other.commits {
            if self.commits.len() < COMMITS && !self.commits.contains(commit) {
                self.commits.push(commit.clone());
            }
        }
        self.asked = false;
    }
}

impl State {
    /// True while a task's commit is under way: HEAD may already have it, but the log doesn't have its hash yet.
    pub(super) fn is_committing(&self) -> bool {
        let begun = |task: &&TaskState| task.commit_intent.is_some() && task.awaits_commit();
        let mut begun = self.own_running().filter(begun);
        begun.any(|task| !self.asks_about_commit(&task.leaf.id))
    }

    /// Finds the pending and skipped tasks that the commits in `moved` affect. Commits of the plan's own tasks don't
    /// count, nor do commits that a rollback cancelled out.
    pub fn drift_by(&self, moved: &Moved) -> BTreeMap<TaskId, Drift> {
        let own = self.tasks.iter().filter_map(|task| task.commit.as_ref());
        let own: BTreeSet<&String> = own.chain(&self.undone).collect();
        let waits = |task: &&TaskState| matches!(task.status, Status::Pending | Status::Skipped);
        let waiting = self.tasks.iter().filter(waits).map(|task| {
            let references = task.leaf.references.iter().map(String::as_str);
            let paths: Vec<Cow<str>> = task.files().chain(references).filter_map(held).collect();
            (&task.leaf.id, paths)
        });
        let waiting: Vec<(&TaskId, Vec<Cow<str>>)> = waiting.collect();
        let mut drifted: BTreeMap<TaskId, Drift> = BTreeMap::new();
        let is_outside = |commit: &&SeenCommit| !own.contains(&commit.hash);
        for commit in moved.commits.iter().filter(is_outside) {
            let parts = |file| folders(file).chain([file]);
            let changed = commit.files.keys();
            let changed =
                changed.flat_map(|file| parts(file.as_str()).map(move |part| (part, file)));
            let changed: BTreeMap<&str, &String> = changed.collect();
            for (id, paths) in &waiting {
                let files = paths.iter().filter_map(|path| changed.get(&**path));
                let files: BTreeSet<String> = files.map(|file| (*file).clone()).collect();
                let told = &commit.told;
                let line = |file: &String| format!("{file} {} in {told}", commit.files[file]);
                if !files.is_empty() {
                    drifted.entry((*id).clone()).or_default().add(&Drift {
                        changes: files.iter().map(line).collect(),
                        files,
                        commits: vec![told.clone()],
                        asked: false,
                    });
                }
            }
        }
        drifted
    }

    /// The waiting tasks that drifted since the user was last asked about them, and the question about them.
    pub(super) fn unasked_drift(&self) -> Option<(Vec<TaskId>, String)> {
        let mut due = Vec::new();
        let mut told: BTreeMap<String, Vec<&TaskId>> = BTreeMap::new();
        for task in self.tasks_in(Status::Pending) {
            if let Some(drift) = task.drift.as_ref().filter(|drift| !drift.asked) {
                due.push(task.leaf.id.clone());
                for change in drift.change_lines() {
                    told.entry(change).or_default().push(&task.leaf.id);
                }
            }
        }
        let line = |(change, ids): (&String, &Vec<&TaskId>)| {
            format!("{change} ({})", tasks_listed(ids.iter().copied()))
        };
        let told: Vec<String> = told.iter().map(line).collect();
        (!due.is_empty()).then(|| (due, told.join("; ")))
    }
}

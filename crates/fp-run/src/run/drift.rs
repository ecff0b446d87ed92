//! Detects drift: a commit changed files that a pending task was planned on, and the task needs another look before
//! anyone claims it. A commit of the plan's own tasks is no drift, because the plan expected it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::ready::listed;
use super::reference::StampedReference;
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
    /// The lines that references named and whose text is gone: path and line.
    pub gone: BTreeSet<(String, u64)>,
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
        let told = self.changes_by_end();
        let told = told
            .iter()
            .map(|(end, changes)| format!("{}{end}", changes.join(", ")));
        told.collect::<Vec<_>>().join("; ")
    }

    /// The changes, grouped by the words that name their commit; empty words for changes without one.
    fn changes_by_end(&self) -> BTreeMap<String, Vec<String>> {
        let mut by_end: BTreeMap<String, Vec<String>> = BTreeMap::new();
        if self.changes.is_empty() {
            let files: Vec<&str> = self.files.iter().map(String::as_str).collect();
            let change = format!(
                "{} changed by {}",
                files.join(", "),
                self.commits.join("; ")
            );
            by_end.insert(String::new(), vec![change]);
        }
        for change in &self.changes {
            let mut ends = self.commits.iter().map(|commit| format!(" in {commit}"));
            let end = ends.find(|end| change.ends_with(end)).unwrap_or_default();
            let change = change.strip_suffix(&end).unwrap_or(change).to_owned();
            by_end.entry(end).or_default().push(change);
        }
        by_end
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
    fn awaiting_drift(&self) -> impl Iterator<Item = &TaskState> {
        self.tasks
            .iter()
            .filter(|task| matches!(task.status, Status::Pending | Status::Skipped))
    }

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

    /// The references of waiting tasks to lines of files that `commits` changed from outside the plan.
    pub fn endangered(&self, commits: &[SeenCommit]) -> Vec<&StampedReference> {
        let changed: BTreeSet<&String> = self
            .made_outside(commits)
            .flat_map(|commit| commit.files.keys())
            .collect();
        let stamps = self
            .awaiting_drift()
            .flat_map(|task| task.leaf.stamps.iter().flatten());
        stamps
            .filter(|stamp| changed.contains(&stamp.path))
            .collect()
    }

    /// Finds the pending and skipped tasks that the commits in `moved` affect.
    pub fn drift(&self, moved: &Moved) -> BTreeMap<TaskId, Drift> {
        // A task whose references can't be followed depends on their whole files.
        let unstamped = |task: &TaskState| task.leaf.stamps.is_none();
        let is_gone =
            |stamp: &&StampedReference| moved.gone.contains(&(stamp.path.clone(), stamp.line));
        let waiting: Vec<(&TaskState, Vec<Cow<'_, str>>)> = self
            .awaiting_drift()
            .map(|task| {
                let references = task.leaf.references().filter(|_| unstamped(task));
                (
                    task,
                    task.files().chain(references).filter_map(held).collect(),
                )
            })
            .collect();
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
                let stamps = || task.leaf.stamps.iter().flatten();
                let lost: Vec<&StampedReference> = stamps()
                    .filter(|stamp| commit.files.contains_key(&stamp.path))
                    .filter(is_gone)
                    .collect();
                // Where all that a task refers to in a file is still there, the change moves nothing of it.
                let is_followed = |file: &&String| {
                    let mut of_file = stamps().filter(|stamp| stamp.path == **file).peekable();
                    of_file.peek().is_some() && !of_file.any(|stamp| is_gone(&stamp))
                };
                let listed = paths
                    .iter()
                    .filter_map(|path| changed.get(&**path).copied());
                let listed = listed.filter(|file| !is_followed(file));
                let files: BTreeSet<String> = listed
                    .chain(lost.iter().map(|stamp| &stamp.path))
                    .cloned()
                    .collect();
                if files.is_empty() {
                    continue;
                }
                let line =
                    |file: &String| format!("{file} {} in {}", commit.files[file], commit.told);
                let mut changes: BTreeSet<String> = files.iter().map(line).collect();
                let gone = |stamp: &&StampedReference| {
                    format!("{}:{}, which it refers to, is gone", stamp.path, stamp.line)
                };
                changes.extend(lost.iter().map(gone));
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
        // What changed, by the end that names the commit; what names none comes first.
        let mut told: BTreeMap<String, BTreeMap<String, Vec<TaskId>>> = BTreeMap::new();
        for (task, drift) in &due {
            for (end, changes) in drift.changes_by_end() {
                let told = told.entry(end).or_default();
                for change in changes {
                    told.entry(change).or_default().push(task.leaf.id.clone());
                }
            }
        }
        let line = |(change, tasks): (&String, &Vec<TaskId>)| {
            let noun = if tasks.len() == 1 { "task" } else { "tasks" };
            format!("{change} ({noun} {})", listed(tasks))
        };
        let told = told.iter().map(|(end, changes)| {
            format!(
                "{}{end}",
                changes.iter().map(line).collect::<Vec<_>>().join(", ")
            )
        });
        let told: Vec<String> = told.collect();
        let tasks: Vec<TaskId> = due.iter().map(|(task, _)| task.leaf.id.clone()).collect();
        (!tasks.is_empty()).then(|| (tasks, told.join("; ")))
    }
}

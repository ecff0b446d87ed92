//! Derives which tasks can be claimed, and why the others can't, from the state; nothing of it is stored. A refused
//! claim, the status report, a deadlock and `fp status --ready` all take their reasons from here.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::drift::Drift;
use super::event::Leaf;
use super::question::Topic;
use super::state::{RunStatus, State, Status, TaskState};
use fp_plan::plan::Graph;
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::plan::path::{held, meet};
use fp_plan::settings::{ExecutionOrder, Settings};
use fp_plan::text::first_few;

/// Finds what keeps each task from being claimed, apart from run-wide obstacles. Built once for many tasks.
#[derive(Debug)]
pub struct Obstacles<'s, 'e> {
    state: &'s State,
    edited: &'e BTreeSet<TaskId>,
    /// The running tasks with the paths they reserve.
    running: Vec<(&'s TaskState, Vec<Cow<'s, str>>)>,
    /// The tasks with a command that failed before any work, while the user is asked about it.
    fails_before: BTreeSet<&'s TaskId>,
}

impl<'s, 'e> Obstacles<'s, 'e> {
    fn new(state: &'s State, edited: &'e BTreeSet<TaskId>) -> Self {
        let wanted = |task: &'s TaskState| task.held().chain(state.wanted_by(&task.leaf.id));
        let running = state
            .running()
            .map(|task| (task, wanted(task).filter_map(held).collect()))
            .collect();
        let fails_before = state
            .open_questions()
            .flat_map(|question| match &question.topic {
                Topic::FailsBefore { commands } => commands.keys().collect(),
                _ => Vec::new(),
            });
        Self {
            state,
            edited,
            running,
            fails_before: fails_before.collect(),
        }
    }

    /// Returns the obstacle to claiming `task`, or `None` if it is ready.
    pub fn of(&self, task: &TaskState) -> Option<Obstacle> {
        match task.status {
            Status::Pending => {}
            Status::Completed => return Some(Obstacle::Done),
            Status::Failed => return Some(Obstacle::Failed),
            Status::Skipped => {
                let cause = task.because.clone().unwrap_or_else(|| task.leaf.id.clone());
                return Some(Obstacle::Blocked { by: cause });
            }
            Status::Implementing | Status::AwaitingVerification => {
                let by = task.claim.as_ref().map(|claim| claim.owner.clone());
                return Some(Obstacle::Held {
                    by,
                    status: task.status,
                });
            }
        }
        if self.edited.contains(&task.leaf.id) {
            return Some(Obstacle::Edited);
        }
        if self.fails_before.contains(&task.leaf.id) {
            return Some(Obstacle::FailsBefore);
        }
        let waits = self.waits(task);
        waits
            .or_else(|| doubted(task))
            .or_else(|| self.shares_a_file(task))
    }

    fn waits(&self, task: &TaskState) -> Option<Obstacle> {
        let status = |id: &TaskId| self.state.task(id).map(|t| t.status);
        let open = |id: &&TaskId| status(id) != Some(Status::Completed);
        let running = |id: &&TaskId| status(id).is_some_and(|status| !status.is_final());
        let mut on: Vec<TaskId> = task
            .leaf
            .dependencies
            .iter()
            .filter(open)
            .cloned()
            .collect();
        // A leaf added after its dependency failed is pending, yet waits in vain.
        let lost = on
            .iter()
            .find(|id| matches!(status(id), Some(Status::Failed | Status::Skipped)));
        if let Some(lost) = lost {
            let cause = self.state.task(lost).and_then(|t| t.because.clone());
            return Some(Obstacle::Blocked {
                by: cause.unwrap_or_else(|| lost.clone()),
            });
        }
        on.extend(task.leaf.after.iter().filter(running).cloned());
        (!on.is_empty()).then_some(Obstacle::Waits { on })
    }

    fn shares_a_file(&self, task: &TaskState) -> Option<Obstacle> {
        let files: Vec<(&str, Cow<str>)> = task
            .held()
            .filter_map(|file| Some((file, held(file)?)))
            .collect();
        self.running.iter().find_map(|(running, others)| {
            let (file, _) = files
                .iter()
                .find(|(_, path)| others.iter().any(|other| meet(other, path)))?;
            Some(Obstacle::File {
                task: running.leaf.id.clone(),
                file: (*file).to_owned(),
            })
        })
    }
}

/// A doubt that the user must settle before a claim.
fn doubted(task: &TaskState) -> Option<Obstacle> {
    if task.to_revise {
        return Some(Obstacle::ToRevise);
    }
    if let Some(drift) = &task.drift {
        return Some(Obstacle::Drifted {
            drift: drift.clone(),
        });
    }
    let doubtful = task
        .before
        .as_ref()
        .is_some_and(|before| before.passed && before.waived.is_none());
    doubtful.then_some(Obstacle::PassesBefore)
}

impl State {
    /// Prepares the obstacles of all tasks. `edited` holds the leaves that differ from the approval.
    pub fn obstacles<'s, 'e>(&'s self, edited: &'e BTreeSet<TaskId>) -> Obstacles<'s, 'e> {
        Obstacles::new(self, edited)
    }

    /// The tasks that can be claimed, apart from run-wide obstacles, in claim order.
    pub fn ready(&self, edited: &BTreeSet<TaskId>) -> Vec<&TaskState> {
        let obstacles = self.obstacles(edited);
        self.in_claim_order(
            self.tasks
                .iter()
                .filter(|task| obstacles.of(task).is_none())
                .collect(),
        )
    }

    /// The run-wide obstacle, if any: the plan isn't approved, or its run isn't running.
    pub fn bar(&self) -> Option<Obstacle> {
        match (&self.approval, &self.run) {
            (None, _) => Some(Obstacle::NotApproved),
            (_, None) => Some(Obstacle::NotStarted),
            (_, Some(run)) if run.status == RunStatus::Running => None,
            _ => Some(Obstacle::Over),
        }
    }

    /// Describes an obstacle in words.
    pub fn explain(&self, task: &TaskState, obstacle: &Obstacle) -> String {
        match obstacle {
            Obstacle::Done => "it is done".to_owned(),
            Obstacle::Failed => match &task.reason {
                Some(reason) => format!("it failed: {reason}"),
                None => "it failed".to_owned(),
            },
            Obstacle::Blocked { by } if task.status == Status::Skipped => {
                format!("it is skipped: blocked by {by}")
            }
            Obstacle::Blocked { by } => {
                format!("it waits for {by}, which was given up: retry that first")
            }
            Obstacle::Held {
                by: Some(by),
                status,
            } => format!("it is {}, with {by}", status.into_str()),
            Obstacle::Held { by: None, status } => format!("it is {}", status.into_str()),
            Obstacle::Edited => {
                format!(
                    "it was edited after the approval: run `fp approve {}`",
                    self.plan_id
                )
            }
            Obstacle::Waits { on } => format!("it waits for {}", listed(on)),
            Obstacle::Drifted { drift } if drift.asked => {
                format!(
                    "{}. If the task still fits, run `fp approve {1}`; if not, `fp task revise {1} {2}` first",
                    drift.told(),
                    self.plan_id,
                    task.leaf.id
                )
            }
            Obstacle::Drifted { drift } => format!("{}: its lead asks what to do", drift.told()),
            Obstacle::ToRevise => {
                let (plan, id) = (&self.plan_id, &task.leaf.id);
                format!(
                    "it has to be changed: run `fp task revise {plan} {id} --file -`, then `fp approve {plan}`"
                )
            }
            Obstacle::PassesBefore => {
                "its Verify passes before the work: answer the question about it".into()
            }
            Obstacle::FailsBefore => {
                "a check of it fails before any work: answer the question about it".into()
            }
            Obstacle::File { task, file } => format!("running task {task} may change {file}"),
            Obstacle::NotApproved => "the plan is not approved yet".into(),
            Obstacle::NotStarted => "the run is not started yet".into(),
            Obstacle::Over => "the run is over".into(),
        }
    }

    /// The leaves that depend on `id`, directly or not, in document order.
    pub fn dependents(&self, id: &TaskId) -> Vec<TaskId> {
        self.waiting(id, |_| true)
    }

    /// The dependents that can't be done without `id`. Leaves out completed tasks, and tasks that depend on it only
    /// through completed ones.
    pub fn blocked_by(&self, id: &TaskId) -> Vec<TaskId> {
        self.waiting(id, |task| task.status != Status::Completed)
    }

    /// The leaves that depend on `id`, directly or not, through tasks for which `counts` holds.
    fn waiting(&self, id: &TaskId, counts: impl Fn(&TaskState) -> bool) -> Vec<TaskId> {
        let mut users: HashMap<&TaskId, Vec<usize>> = HashMap::new();
        for (i, task) in self.tasks.iter().enumerate() {
            for dependency in &task.leaf.dependencies {
                users.entry(dependency).or_default().push(i);
            }
        }
        let mut found = vec![false; self.tasks.len()];
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            for &i in users.get(id).map_or(&[][..], |v| v) {
                if !found[i] && counts(&self.tasks[i]) {
                    found[i] = true;
                    open.push(&self.tasks[i].leaf.id);
                }
            }
        }
        self.tasks
            .iter()
            .zip(found)
            .filter(|(_, f)| *f)
            .map(|(t, _)| t.leaf.id.clone())
            .collect()
    }
}

/// The reason why a task can't be claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Obstacle {
    /// It is completed.
    Done,
    /// It was given up.
    Failed,
    /// A task it can't do without was given up.
    Blocked {
        /// The task that was given up.
        by: TaskId,
    },
    /// Somebody builds it, or it awaits its verdict.
    Held {
        /// The builder.
        by: Option<AgentName>,
        /// One of the two running states.
        status: Status,
    },
    /// It differs from the approval.
    Edited,
    /// Something it was planned on has changed.
    Drifted { drift: Drift },
    /// The user wants it changed.
    ToRevise,
    /// Test-driven work: its checks pass before the work.
    PassesBefore,
    /// One of its commands failed before any work.
    FailsBefore,
    /// Dependencies are not completed.
    Waits {
        /// In the order in which the task names them.
        on: Vec<TaskId>,
    },
    /// A running task may change one of its files.
    File {
        /// The running task.
        task: TaskId,
        /// The file, as listed by the task that can't be claimed.
        file: String,
    },
    /// The plan isn't approved.
    NotApproved,
    /// The run was not started.
    NotStarted,
    /// The run is over.
    Over,
}

impl Obstacle {
    /// True if only a new approval takes it away.
    pub fn wants_approval(&self) -> bool {
        matches!(self, Self::ToRevise | Self::Edited | Self::Drifted { .. })
    }
}

/// Comma-separated ids, at most eight of them.
pub(crate) fn listed(ids: &[TaskId]) -> String {
    let ids: Vec<&str> = ids.iter().map(TaskId::as_str).collect();
    first_few(&ids, 8)
}

/// What a run asks of its tasks. Runs of earlier versions that went by phases or one by one go on in parallel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExecutionModel {
    #[default]
    Parallel,
    Sequential,
    Phased,
    /// A task's check fails before its work and passes after it.
    Tdd,
}

/// The order of claims.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Policy {
    /// The order among ready tasks.
    pub order: ExecutionOrder,
    pub model: ExecutionModel,
    /// The leaves' composite signals, 1 to 5, if the order uses them. A missing one counts as 0.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub composites: BTreeMap<TaskId, u8>,
}

impl Policy {
    /// Reads the policy from `settings`. Document order ignores `composites`, the measured signals.
    pub fn new(settings: &Settings, composites: impl IntoIterator<Item = (TaskId, u8)>) -> Self {
        let order = settings.execution_order;
        let by_signal = order != ExecutionOrder::DocumentOrder;
        Self {
            order,
            model: if settings.test_first {
                ExecutionModel::Tdd
            } else {
                ExecutionModel::Parallel
            },
            composites: composites.into_iter().filter(|_| by_signal).collect(),
        }
    }

    /// The sort key for claims; smaller comes first.
    pub(super) fn rank(&self, leaf: &Leaf) -> (i64, i64) {
        self.order
            .rank(self.composites.get(&leaf.id).copied(), leaf.complexity)
    }
}

/// For each task, the total complexity of the heaviest chain of dependents that starts with it. `users` lists the
/// direct dependents of each task and must have no cycle.
pub(crate) fn work_behind(weights: &[u64], users: Vec<Vec<usize>>) -> Vec<u64> {
    let graph = Graph::of_edges(users);
    graph.chain_weights(&graph.order(|_| ()), |task| weights[task])
}

impl State {
    pub(super) fn policy(&self) -> &Policy {
        &self.terms().policy
    }

    /// Sorts ready `tasks` into claim order. Several builders take the task with the most work behind it first, which
    /// makes the run shortest. Ties, and a run with one builder, follow the policy's order.
    pub(super) fn in_claim_order<'s>(
        &'s self,
        mut tasks: Vec<&'s TaskState>,
    ) -> Vec<&'s TaskState> {
        let policy = self.policy();
        if tasks.len() > 1 && self.terms().builders > 1 {
            let behind = self.open_work_behind();
            let work = |task: &TaskState| self.index.get(&task.leaf.id).map_or(0, |&at| behind[at]);
            tasks.sort_by_key(|task| (std::cmp::Reverse(work(task)), policy.rank(&task.leaf)));
        } else {
            tasks.sort_by_key(|task| policy.rank(&task.leaf));
        }
        tasks
    }

    /// For each unfinished task, the total complexity of the heaviest chain that starts with it.
    fn open_work_behind(&self) -> Vec<u64> {
        let is_open = |task: &TaskState| {
            !matches!(
                task.status,
                Status::Completed | Status::Failed | Status::Skipped
            )
        };
        let mut users = vec![Vec::new(); self.tasks.len()];
        for (user, task) in self
            .tasks
            .iter()
            .enumerate()
            .filter(|(_, task)| is_open(task))
        {
            for &dependency in task.leaf.waits_for().filter_map(|id| self.index.get(id)) {
                users[dependency].push(user);
            }
        }
        let weights: Vec<u64> = self
            .tasks
            .iter()
            .map(|task| u64::from(task.leaf.complexity))
            .collect();
        work_behind(&weights, users)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_plan::plan::path::overlap;
    use proptest::prelude::*;

    fn files() -> impl Strategy<Value = Vec<String>> {
        let names = [
            "a", "a/b", "a/b/c.rs", "a/*.rs", "./a/b", "ab", "ab/c.rs", ".", "*", "../x", "a/b/",
        ];
        prop::collection::vec(
            prop::sample::select(names.map(str::to_owned).to_vec()),
            0..4,
        )
    }

    proptest! {
        #[test]
        fn a_task_that_overlaps_a_running_one_waits_for_the_first(tasks in prop::collection::vec(files(), 1..5)) {
            let mut state = State::new(fp_plan::plan::id::PlanId::new("p").unwrap());
            for (number, files) in tasks.iter().enumerate() {
                let leaf = crate::run::event::Leaf {
                    id: TaskId::new((number + 1).to_string()).unwrap(),
                    title: String::new(),
                    hash: String::new(),
                    dependencies: Vec::new(),
                    after: Vec::new(),
                    files: files.clone(),
                    complexity: 1,
                    references: Vec::new(),
                    stamps: None,
                    exclusive: Vec::new(),
                    phase: 0,
                };
                let status = if number == 0 { Status::Pending } else { Status::Implementing };
                state.tasks.push(TaskState { status, ..TaskState::new(leaf) });
            }
            let expect = state.tasks[1..].iter().find(|other| overlap(&tasks[0], &other.leaf.files));
            let none = BTreeSet::new();
            let found = state.obstacles(&none).of(&state.tasks[0]);
            match (expect, found) {
                (None, None) => {}
                (Some(other), Some(Obstacle::File { task, file })) => {
                    prop_assert_eq!(&task, &other.leaf.id);
                    prop_assert!(overlap(&[file], &other.leaf.files));
                }
                (expect, found) => prop_assert!(false, "{:?} {:?}", expect, found),
            }
        }
    }
}

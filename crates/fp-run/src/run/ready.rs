//! Derives from the state which tasks can be claimed, and why the others can't; none of this is stored. Refused claims,
//! the status report, deadlock reports and `fp status --ready` all get their reasons here.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::drift::Drift;
use super::event::Leaf;
use super::question::Topic;
use super::state::{ChecksBefore, RunStatus, State, Status, TaskState};
use fp_plan::plan::Graph;
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::plan::path::{held, meet};
use fp_plan::settings::{ExecutionOrder, JudgePolicy, Settings};
use fp_plan::text::first_few;

/// Finds what keeps each task from being claimed, apart from run-wide obstacles. Built once for many tasks.
#[derive(Debug)]
pub struct Obstacles<'s, 'e> {
    state: &'s State,
    edited: &'e BTreeSet<TaskId>,
    /// The running tasks with the paths they reserve.
    running: Vec<(&'s TaskState, Vec<Cow<'s, str>>)>,
    /// The tasks with a command that failed before any work and that the user is being asked about.
    fails_before: BTreeSet<&'s TaskId>,
    /// The tasks with a spent budget that the user is being asked about.
    budgets: BTreeSet<&'s TaskId>,
}

impl Obstacles<'_, '_> {
    /// Returns the obstacle to claiming `task`, or `None` if it is ready.
    pub fn obstacle_to(&self, task: &TaskState) -> Option<Obstacle> {
        let id = &task.leaf.id;
        let is_open =
            task.status == Status::Pending || task.is_sent_back() && self.state.is_own(task);
        match task.status {
            _ if is_open && self.edited.contains(id) => Some(Obstacle::Edited),
            _ if is_open && self.fails_before.contains(id) => Some(Obstacle::FailsBefore),
            _ if is_open && self.budgets.contains(id) => Some(Obstacle::Budget),
            _ if is_open => self
                .unfinished_before(task)
                .or_else(|| doubt_about(task))
                .or_else(|| self.shared_file(task)),
            Status::Completed => Some(Obstacle::Done),
            Status::Failed => Some(Obstacle::Failed),
            Status::Skipped => Some(Obstacle::Blocked {
                by: task.because.as_ref().unwrap_or(id).clone(),
            }),
            Status::Pending | Status::Implementing | Status::AwaitingVerification => {
                Some(Obstacle::Held {
                    by: task.owner().cloned(),
                    status: task.status,
                })
            }
        }
    }

    fn unfinished_before(&self, task: &TaskState) -> Option<Obstacle> {
        // A leaf added after its dependency failed is pending, yet waits in vain.
        if let Some(by) = self.state.lost_cause(task) {
            return Some(Obstacle::Blocked { by });
        }
        let status = |id: &TaskId| self.state.task(id).map(|task| task.status);
        let needed = task.leaf.dependencies.iter();
        let needed = needed.filter(|id| status(id) != Some(Status::Completed));
        let after = task.leaf.after.iter();
        let after = after.filter(|id| status(id).is_some_and(|status| !status.is_final()));
        let on: Vec<TaskId> = needed.chain(after).cloned().collect();
        (!on.is_empty()).then_some(Obstacle::Waits { on })
    }

    fn shared_file(&self, task: &TaskState) -> Option<Obstacle> {
        let files: Vec<(&str, Cow<str>)> = task
            .held()
            .filter_map(|file| Some((file, held(file)?)))
            .collect();
        let others = self.running.iter();
        let mut others = others.filter(|(running, _)| running.leaf.id != task.leaf.id);
        others.find_map(|(running, others)| {
            let shared = |path: &Cow<str>| others.iter().any(|other| meet(other, path));
            let (file, _) = files.iter().find(|(_, path)| shared(path))?;
            Some(Obstacle::File {
                task: running.leaf.id.clone(),
                file: (*file).to_owned(),
            })
        })
    }
}

/// Returns a doubt that the user must settle before `task` can be claimed, if any.
fn doubt_about(task: &TaskState) -> Option<Obstacle> {
    let unproven = |before: &ChecksBefore| before.passed && before.waived.is_none();
    if task.to_revise {
        return Some(Obstacle::ToRevise);
    }
    if let Some(drift) = task.drift.clone() {
        return Some(Obstacle::Drifted { drift });
    }
    let is_doubtful = task.before.as_ref().is_some_and(unproven);
    is_doubtful.then_some(Obstacle::PassesBefore)
}

impl State {
    /// Prepares the obstacles of all tasks. `edited` holds the leaves that differ from the approval.
    pub fn obstacles<'s, 'e>(&'s self, edited: &'e BTreeSet<TaskId>) -> Obstacles<'s, 'e> {
        let wanted = |task: &'s TaskState| task.held().chain(self.wanted_by(&task.leaf.id));
        let failing = self.open_topics().filter_map(|topic| match topic {
            Topic::FailsBefore { commands } => Some(commands.keys()),
            _ => None,
        });
        let spent = self.open_topics().filter_map(|topic| match topic {
            Topic::Budget { task, .. } => task.as_ref(),
            _ => None,
        });
        Obstacles {
            state: self,
            edited,
            running: self
                .running()
                .map(|task| (task, wanted(task).filter_map(held).collect()))
                .collect(),
            fails_before: failing.flatten().collect(),
            budgets: spent.collect(),
        }
    }

    /// The tasks that can be claimed, apart from run-wide obstacles, in claim order: first those that were sent back.
    /// With several builders, the task with the most work depending on it comes first, to keep the run short. Ties, and
    /// a run with one builder, follow the policy's order.
    pub fn ready(&self, edited: &BTreeSet<TaskId>) -> Vec<&TaskState> {
        let obstacles = self.obstacles(edited);
        let is_ready = |task: &&TaskState| obstacles.obstacle_to(task).is_none();
        let mut ready: Vec<&TaskState> = self.tasks.iter().filter(is_ready).collect();
        let behind = match ready.len() > 1 && self.terms().builders > 1 {
            true => self.open_work_behind(),
            false => Vec::new(),
        };
        let work = |task: &TaskState| behind.get(*self.index.get(&task.leaf.id)?);
        let Policy {
            order, composites, ..
        } = &self.terms().policy;
        let rank = |leaf: &Leaf| order.rank(composites.get(&leaf.id).copied(), leaf.complexity);
        let is_back = |task: &TaskState| Reverse(task.is_sent_back());
        ready.sort_by_key(|task| (is_back(task), Reverse(work(task)), rank(&task.leaf)));
        ready
    }

    /// For each unfinished task, the total complexity of the heaviest chain that starts with it.
    fn open_work_behind(&self) -> Vec<u64> {
        let mut users = vec![Vec::new(); self.tasks.len()];
        let tasks = self.tasks.iter().enumerate();
        for (user, task) in tasks.filter(|(_, task)| !task.status.is_final()) {
            for &dependency in task.leaf.waits_for().filter_map(|id| self.index.get(id)) {
                users[dependency].push(user);
            }
        }
        let weight = |task: &TaskState| u64::from(task.leaf.complexity);
        let weights: Vec<u64> = self.tasks.iter().map(weight).collect();
        work_behind(&weights, users)
    }

    /// The run-wide obstacle, if any: the plan isn't approved, or its run hasn't started or is over.
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
        let (plan, id) = (&self.plan_id, &task.leaf.id);
        match obstacle {
            Obstacle::Done => "it is done".into(),
            Obstacle::Failed => match &task.reason {
                Some(reason) => format!("it failed: {reason}"),
                None => "it failed".into(),
            },
            Obstacle::Blocked { by } if task.status == Status::Skipped => {
                format!("it is skipped: blocked by {by}")
            }
            Obstacle::Blocked { by } => {
                format!("it waits for {by}, which was given up: retry that first")
            }
            Obstacle::Held { by: None, .. } if task.is_sent_back() => {
                let machine = task.machine.as_ref().map_or("", |machine| machine.as_str());
                format!("it was sent back, and its work is on {machine}")
            }
            Obstacle::Held { by, status } => {
                let by = by.as_ref().map(|by| format!(", with {by}"));
                format!("it is {}{}", status.into_str(), by.unwrap_or_default())
            }
            Obstacle::Edited => {
                format!("it was edited after the approval: run `fp approve {plan}`")
            }
            Obstacle::Waits { on } => format!("it waits for {}", ids_listed(on)),
            Obstacle::Drifted { drift } if drift.asked => format!(
                "{}. If the task still fits, run `fp approve {plan}`; if not, `fp task revise {plan} {id}` first",
                drift.summary_text()
            ),
            Obstacle::Drifted { drift } => {
                format!("{}: its lead asks what to do", drift.summary_text())
            }
            Obstacle::ToRevise => format!(
                "it has to be changed: run `fp task revise {plan} {id} --file -`, then `fp approve {plan}`"
            ),
            Obstacle::PassesBefore => {
                "its Verify passes before the work: answer the question about it".into()
            }
            Obstacle::FailsBefore => {
                "a check of it fails before any work: answer the question about it".into()
            }
            Obstacle::Budget => "its budget is spent: answer the question about it".into(),
            Obstacle::File { task, file } => format!("running task {task} may change {file}"),
            Obstacle::NotApproved => "the plan is not approved yet".into(),
            Obstacle::NotStarted => "the run is not started yet".into(),
            Obstacle::Over => "the run is over".into(),
        }
    }

    /// The failed task because of which `task` can never be done, if any.
    pub(super) fn lost_cause(&self, task: &TaskState) -> Option<TaskId> {
        let dependencies = task.leaf.dependencies.iter().filter_map(|id| self.task(id));
        let is_lost = |task: &&TaskState| matches!(task.status, Status::Failed | Status::Skipped);
        let lost = dependencies.into_iter().find(is_lost)?;
        Some(lost.because.as_ref().unwrap_or(&lost.leaf.id).clone())
    }

    /// The leaves that depend on `id`, directly or not, in document order.
    pub fn dependents(&self, id: &TaskId) -> Vec<&TaskState> {
        self.dependents_through(id, |_| true)
    }

    /// The dependents that can't be done without `id`. Leaves out completed tasks, and tasks that depend on it only
    /// through completed ones.
    pub fn blocked_by(&self, id: &TaskId) -> Vec<&TaskState> {
        self.dependents_through(id, |task| task.status != Status::Completed)
    }

    fn dependents_through(
        &self,
        id: &TaskId,
        counts: impl Fn(&TaskState) -> bool,
    ) -> Vec<&TaskState> {
        let mut found = BTreeSet::from([id]);
        loop {
            let known = found.len();
            for task in self.tasks.iter().filter(|task| counts(task)) {
                let needed = &task.leaf.dependencies;
                if needed.iter().any(|needed| found.contains(needed)) {
                    found.insert(&task.leaf.id);
                }
            }
            if found.len() == known {
                break;
            }
        }
        let is_user = |task: &&TaskState| task.leaf.id != *id && found.contains(&task.leaf.id);
        self.tasks.iter().filter(is_user).collect()
    }
}

/// The reason why a task can't be claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Obstacle {
    /// The task is completed.
    Done,
    /// The task was given up.
    Failed,
    /// A task that this one needs was given up.
    Blocked {
        /// The task that was given up.
        by: TaskId,
    },
    /// A builder is working on the task, or it awaits its verdict.
    Held {
        /// The builder.
        by: Option<AgentName>,
        /// `Implementing` or `AwaitingVerification`.
        status: Status,
    },
    /// The task differs from the approval.
    Edited,
    /// Something the task was planned on has changed.
    Drifted { drift: Drift },
    /// The user wants the task changed.
    ToRevise,
    /// Test-driven work: the task's checks already pass before the work.
    PassesBefore,
    /// One of the task's commands failed before any work.
    FailsBefore,
    /// The task was sent back, and its budget is spent.
    Budget,
    /// Dependencies are not completed.
    Waits {
        /// In the order in which the task names them.
        on: Vec<TaskId>,
    },
    /// A running task may change one of this task's files.
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
    /// True if only a new approval removes this obstacle.
    pub fn wants_approval(&self) -> bool {
        matches!(self, Self::ToRevise | Self::Edited | Self::Drifted { .. })
    }
}

/// Comma-separated ids, at most eight of them.
pub(crate) fn ids_listed<'i>(ids: impl IntoIterator<Item = &'i TaskId>) -> String {
    let ids: Vec<&str> = ids.into_iter().map(TaskId::as_str).collect();
    first_few(&ids, 8)
}

/// `task 1`, or `tasks 1, 2`.
pub(super) fn tasks_listed<'i>(ids: impl ExactSizeIterator<Item = &'i TaskId>) -> String {
    let noun = if ids.len() == 1 { "task" } else { "tasks" };
    format!("{noun} {}", ids_listed(ids))
}

/// The way a run works through its tasks. Earlier versions also ran tasks by phase or one by one; such runs now
/// continue in parallel.
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
    /// The tasks that a verifier judges.
    pub judge: JudgePolicy,
    /// The leaves' composite signals, 1 to 5, if the order uses them. A missing one counts as 0.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub composites: BTreeMap<TaskId, u8>,
}

impl Policy {
    /// Reads the policy from `settings`. `composites` are the measured signals; document order ignores them.
    pub fn new(settings: &Settings, composites: impl IntoIterator<Item = (TaskId, u8)>) -> Self {
        let order = settings.execution_order;
        let by_signal = order != ExecutionOrder::DocumentOrder;
        Self {
            order,
            model: match settings.test_first {
                true => ExecutionModel::Tdd,
                false => ExecutionModel::Parallel,
            },
            judge: settings.verify.judge,
            composites: composites.into_iter().filter(|_| by_signal).collect(),
        }
    }
}

/// For each task, the total complexity of the heaviest chain of dependents that starts with it. `users` lists the
/// direct dependents of each task and must have no cycle.
fn work_behind(weights: &[u64], users: Vec<Vec<usize>>) -> Vec<u64> {
    let graph = Graph::of_edges(users);
    graph.chain_weights(&graph.order(|_| ()), |task| weights[task])
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
                    risky: false,
                    contract: false,
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
            let found = state.obstacles(&none).obstacle_to(&state.tasks[0]);
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

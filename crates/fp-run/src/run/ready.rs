//! What can be claimed now, and why the rest can't: derived from the state, never stored. A refused claim, the
//! status report, a deadlock and `fp ready` all take their reasons from here.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::drift::Drift;
use super::event::Leaf;
use super::state::{RunStatus, State, Status, TaskState};
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::plan::path::{held, is_above};
use fp_plan::settings::{ExecutionModel, ExecutionOrder, Settings};

/// Says of each task why it can't be claimed now, as far as the task itself goes. Made once for many tasks.
#[derive(Debug)]
pub struct Obstacles<'s, 'e> {
    state: &'s State,
    edited: &'e BTreeSet<TaskId>,
    /// The running tasks, each with what nobody else may change meanwhile.
    running: Vec<(&'s TaskState, Vec<Cow<'s, str>>)>,
    /// A task of the phase that is on, in the phased model.
    first_of_phase: Option<&'s TaskState>,
}

impl<'s, 'e> Obstacles<'s, 'e> {
    fn new(state: &'s State, edited: &'e BTreeSet<TaskId>) -> Self {
        let wanted = |task: &'s TaskState| task.held().chain(state.wanted_by(&task.leaf.id));
        let running = state.running().map(|task| (task, wanted(task).filter_map(held).collect())).collect();
        let phased = state.policy().model == ExecutionModel::Phased;
        let open = state.tasks.iter().filter(|task| phased && !task.status.is_final());
        let first_of_phase = open.min_by_key(|task| task.leaf.phase);
        Self { state, edited, running, first_of_phase }
    }

    /// Why `task` can't be claimed now; `None` when it is ready.
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
                return Some(Obstacle::Held { by, status: task.status });
            }
        }
        if self.edited.contains(&task.leaf.id) {
            return Some(Obstacle::Edited);
        }
        let waits = self.waits(task).or_else(|| self.comes_later(task));
        waits.or_else(|| doubted(task)).or_else(|| self.shares_a_file(task))
    }

    fn waits(&self, task: &TaskState) -> Option<Obstacle> {
        let status = |id: &TaskId| self.state.task(id).map(|t| t.status);
        let open = |id: &&TaskId| status(id) != Some(Status::Completed);
        let on: Vec<TaskId> = task.leaf.dependencies.iter().filter(open).cloned().collect();
        // A leaf that came in after its dependency had failed is pending, and waits in vain.
        let lost = on.iter().find(|id| matches!(status(id), Some(Status::Failed | Status::Skipped)));
        if let Some(lost) = lost {
            let cause = self.state.task(lost).and_then(|t| t.because.clone());
            return Some(Obstacle::Blocked { by: cause.unwrap_or_else(|| lost.clone()) });
        }
        (!on.is_empty()).then_some(Obstacle::Waits { on })
    }

    /// A phase begins when the ones before it are over.
    fn comes_later(&self, task: &TaskState) -> Option<Obstacle> {
        let on = self.first_of_phase?;
        (on.leaf.phase < task.leaf.phase).then(|| Obstacle::Phase { on: on.leaf.id.clone() })
    }

    fn shares_a_file(&self, task: &TaskState) -> Option<Obstacle> {
        let files: Vec<(&str, Cow<str>)> = task.held().filter_map(|file| Some((file, held(file)?))).collect();
        self.running.iter().find_map(|(running, others)| {
            let shared =
                |path: &str| others.iter().any(|o| o == path || is_above(o, path) || is_above(path, o));
            let (file, _) = files.iter().find(|(_, path)| shared(path))?;
            Some(Obstacle::File { task: running.leaf.id.clone(), file: (*file).to_owned() })
        })
    }
}

/// What has to be looked at before it is claimed.
fn doubted(task: &TaskState) -> Option<Obstacle> {
    if let Some(drift) = &task.drift {
        return Some(Obstacle::Drifted { drift: drift.clone() });
    }
    let doubtful = task.before.as_ref().is_some_and(|before| before.passed && before.waived.is_none());
    doubtful.then_some(Obstacle::PassesBefore)
}

impl State {
    /// What says of many tasks why they can't be claimed now. `edited` are the leaves that differ from what was
    /// approved.
    pub fn obstacles<'s, 'e>(&'s self, edited: &'e BTreeSet<TaskId>) -> Obstacles<'s, 'e> {
        Obstacles::new(self, edited)
    }

    /// The tasks that can be claimed now as far as they themselves go, in the order in which they are claimed.
    pub fn ready(&self, edited: &BTreeSet<TaskId>) -> Vec<&TaskState> {
        let obstacles = self.obstacles(edited);
        self.in_claim_order(self.tasks.iter().filter(|task| obstacles.of(task).is_none()).collect())
    }

    /// What keeps every task of the plan from being claimed, whatever the task: it is not approved, or its run
    /// is not on.
    pub fn bar(&self) -> Option<Obstacle> {
        match (&self.approval, &self.run) {
            (None, _) => Some(Obstacle::NotApproved),
            (_, None) => Some(Obstacle::NotStarted),
            (_, Some(run)) if run.status == RunStatus::Running => None,
            _ => Some(Obstacle::Over),
        }
    }

    /// An obstacle in words.
    pub fn explain(&self, task: &TaskState, obstacle: &Obstacle) -> String {
        match obstacle {
            Obstacle::Done | Obstacle::Failed => match &task.reason {
                Some(reason) => format!("it is {}: {reason}", task.status.word()),
                None => format!("it is {}", task.status.word()),
            },
            Obstacle::Blocked { by } if task.status == Status::Skipped => {
                format!("it is SKIPPED: Blocked by {by}")
            }
            Obstacle::Blocked { by } => format!("it waits for {by}, which was given up: retry that first"),
            Obstacle::Held { by: Some(by), status } => format!("it is {} by {by}", status.word()),
            Obstacle::Held { by: None, status } => format!("it is {}", status.word()),
            Obstacle::Edited => {
                format!("it was edited after the approval: run `fp approve {}`", self.plan_id)
            }
            Obstacle::Waits { on } => format!("it waits for {}", List(on)),
            Obstacle::Drifted { drift } if drift.asked => {
                format!(
                    "{}: answer `fp next`, or revise it and run `fp approve {}`",
                    drift.told(),
                    self.plan_id
                )
            }
            Obstacle::Drifted { drift } => format!("{}: `fp next` asks what to do", drift.told()),
            Obstacle::PassesBefore => "its Verify passes before the work: answer `fp next`".into(),
            Obstacle::Phase { on } => format!("its phase begins when that of task {on} is over"),
            Obstacle::File { task, file } => format!("running task {task} may change {file}"),
            Obstacle::NotApproved => "the plan is not approved yet".into(),
            Obstacle::NotStarted => "the run is not started yet".into(),
            Obstacle::Over => "the run is over".into(),
        }
    }

    /// The leaves that wait for `id`, directly or through others, in document order.
    pub fn dependents(&self, id: &TaskId) -> Vec<TaskId> {
        self.waiting(id, |_| true)
    }

    /// Those of them that can't be done without `id`: not what is done, or waits for it through nothing but that.
    pub fn blocked_by(&self, id: &TaskId) -> Vec<TaskId> {
        self.waiting(id, |task| task.status != Status::Completed)
    }

    /// The leaves that wait for `id`, directly or through others, as far as `counts` goes.
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
        self.tasks.iter().zip(found).filter(|(_, f)| *f).map(|(t, _)| t.leaf.id.clone()).collect()
    }
}

/// Why a task can't be claimed now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Obstacle {
    /// It is completed.
    Done,
    /// It was given up.
    Failed,
    /// This task was given up, and it can't be done without.
    Blocked {
        /// The task that was given up.
        by: TaskId,
    },
    /// Somebody builds it, or it is being verified.
    Held {
        /// The builder.
        by: Option<AgentName>,
        /// Which of the two.
        status: Status,
    },
    /// It differs from what was approved.
    Edited,
    /// What it was planned on has changed since.
    Drifted {
        /// How.
        drift: Drift,
    },
    /// Its checks pass before its work, in test-driven work.
    PassesBefore,
    /// These dependencies are not completed.
    Waits {
        /// The leaves, in the order in which the task names them.
        on: Vec<TaskId>,
    },
    /// This task belongs to an earlier phase.
    Phase {
        /// The first such task in the document.
        on: TaskId,
    },
    /// A running task may change one of its files.
    File {
        /// The running task.
        task: TaskId,
        /// The file, as the task that can't be claimed lists it.
        file: String,
    },
    /// Nothing of the plan is approved.
    NotApproved,
    /// The run was not started.
    NotStarted,
    /// The run is over.
    Over,
}

/// Ids with commas between them, at most eight.
pub(crate) struct List<'a>(pub(crate) &'a [TaskId]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<&str> = self.0.iter().take(8).map(TaskId::as_str).collect();
        f.write_str(&shown.join(", "))?;
        match self.0.len().saturating_sub(8) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// The order of claims and their limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Policy {
    /// Which of several ready tasks is claimed first.
    pub order: ExecutionOrder,
    /// How tasks relate in time.
    pub model: ExecutionModel,
    /// The composite signal of leaves, 1 to 5, where the order goes by it; one that has none counts as 0.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub composites: BTreeMap<TaskId, u8>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            order: ExecutionOrder::DocumentOrder,
            model: ExecutionModel::Parallel,
            composites: BTreeMap::new(),
        }
    }
}

impl Policy {
    /// What `settings` say; `composites` are the measured signals, of no meaning in document order.
    pub fn new(settings: &Settings, composites: impl IntoIterator<Item = (TaskId, u8)>) -> Self {
        let order = settings.execution_order;
        let by_signal = order != ExecutionOrder::DocumentOrder;
        Self {
            order,
            model: settings.execution_model,
            composites: composites.into_iter().filter(|_| by_signal).collect(),
        }
    }

    /// How many of `builders` work at once.
    pub fn limit(&self, builders: u32) -> u32 {
        if self.model == ExecutionModel::Sequential { 1 } else { builders.max(1) }
    }

    /// What comes first among equals: the smaller.
    pub(super) fn rank(&self, leaf: &Leaf) -> (i64, i64) {
        let composite = i64::from(self.composites.get(&leaf.id).copied().unwrap_or(0));
        let complexity = i64::from(leaf.complexity);
        match self.order {
            ExecutionOrder::DocumentOrder => (0, 0),
            ExecutionOrder::RiskFirst => (-composite, -complexity),
            ExecutionOrder::EasyFirst => (composite, complexity),
        }
    }
}

/// The complexity of each task and of the longest chain that waits for it. `users` are the tasks that wait for one
/// directly, none of which waits for itself by any way.
pub(crate) fn work_behind(weights: &[u64], users: &[Vec<usize>]) -> Vec<u64> {
    let mut open: Vec<usize> = users.iter().map(Vec::len).collect();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); users.len()];
    for (task, users) in users.iter().enumerate() {
        users.iter().for_each(|&user| before[user].push(task));
    }
    let mut behind = weights.to_vec();
    let mut done: Vec<usize> = (0..users.len()).filter(|&task| open[task] == 0).collect();
    while let Some(task) = done.pop() {
        for &earlier in &before[task] {
            behind[earlier] = behind[earlier].max(weights[earlier] + behind[task]);
            open[earlier] -= 1;
            if open[earlier] == 0 {
                done.push(earlier);
            }
        }
    }
    behind
}

impl State {
    /// The policy in force.
    pub(super) fn policy(&self) -> &Policy {
        static NONE: std::sync::LazyLock<Policy> = std::sync::LazyLock::new(Policy::default);
        self.run.as_ref().map_or(&NONE, |run| &run.terms.policy)
    }

    /// `tasks`, which are ready, in the order in which they are claimed. Several builders take the task with the most
    /// work behind it first, which makes the run shortest; one builder keeps to the order of the plan, and so do
    /// tasks with as much work behind them.
    pub(super) fn in_claim_order<'s>(&'s self, mut tasks: Vec<&'s TaskState>) -> Vec<&'s TaskState> {
        let policy = self.policy();
        if tasks.len() > 1 && self.run.as_ref().is_some_and(|run| run.terms.builders > 1) {
            let behind = self.open_work_behind();
            let work = |task: &TaskState| self.index.get(&task.leaf.id).map_or(0, |&at| behind[at]);
            tasks.sort_by_key(|task| (std::cmp::Reverse(work(task)), policy.rank(&task.leaf)));
        } else {
            tasks.sort_by_key(|task| policy.rank(&task.leaf));
        }
        tasks
    }

    /// Of every task that is not over, the complexity of the longest chain that begins with it.
    fn open_work_behind(&self) -> Vec<u64> {
        let is_open =
            |task: &TaskState| !matches!(task.status, Status::Completed | Status::Failed | Status::Skipped);
        let mut users = vec![Vec::new(); self.tasks.len()];
        for (user, task) in self.tasks.iter().enumerate().filter(|(_, task)| is_open(task)) {
            for &dependency in task.leaf.dependencies.iter().filter_map(|id| self.index.get(id)) {
                users[dependency].push(user);
            }
        }
        let weights: Vec<u64> = self.tasks.iter().map(|task| u64::from(task.leaf.complexity)).collect();
        work_behind(&weights, &users)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_plan::plan::path::overlap;
    use proptest::prelude::*;

    fn files() -> impl Strategy<Value = Vec<String>> {
        let names = ["a", "a/b", "a/b/c.rs", "a/*.rs", "./a/b", "ab", "ab/c.rs", ".", "*", "../x", "a/b/"];
        prop::collection::vec(prop::sample::select(names.map(str::to_owned).to_vec()), 0..4)
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
                    files: files.clone(),
                    complexity: 1,
                    references: Vec::new(),
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

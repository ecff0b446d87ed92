//! Gathers a task tree for display: its tasks with their state in the run, when each of them could start, and the
//! tree's errors.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::{Value, json};

use super::standing::{LeadPresence, RunStanding};
use super::status::{Phase, StatusReport, TaskCounts, TaskLine};
use crate::critique::CritiqueLine;
use crate::run::approval;
use crate::run::state::State;
use fp_plan::diagnostic::{Diagnostic, Severity};
use fp_plan::plan::Lines;
use fp_plan::plan::field::FieldKind;
use fp_plan::plan::graph::{Graph, PlanIndex};
use fp_plan::plan::id::PlanId;
use fp_plan::plan::task::{Plan, TaskFields, TaskIndex};
use fp_plan::schedule::prediction::{CriticalPath, PredictionTerms};
use fp_plan::schedule::{Delay, ScheduleOptions, schedule};

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeReport<'p> {
    /// `None` if the tree is just a file, without a plan.
    pub plan_id: Option<PlanId>,
    /// The purpose of the tree.
    pub goal: String,
    /// `None` if the tree is just a file, without a plan.
    pub phase: Option<Phase>,
    /// `None` if the tree is just a file, without a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<RunStanding>,
    /// Number of leaves.
    pub leaves: usize,
    pub total_complexity: u64,
    /// The chain that more builders can't shorten; empty if the tasks can't be ordered.
    pub critical_path: CriticalPath<'p>,
    /// Number of leaves in each state; `None` before the approval.
    pub counts: Option<TaskCounts>,
    /// When the leaves start, for each requested number of builders; empty if the tasks can't be ordered.
    pub schedules: Vec<Timetable<'p>>,
    /// Predicted minutes of one session; 0 if the tasks can't be ordered.
    pub session_minutes: u32,
    /// The errors of the tree, in source order.
    pub problems: Vec<Problem>,
    /// The last critique, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critique: Option<CritiqueLine>,
    /// All tasks in document order.
    pub tasks: Vec<TaskRow>,
}

/// When the leaves start with a number of builders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timetable<'p> {
    pub builders: u32,
    /// The prediction for the plan.
    pub minutes: u32,
    /// One for each leaf, in document order.
    pub places: Vec<TimetablePlace<'p>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TimetablePlace<'p> {
    pub id: &'p str,
    /// In minutes from the beginning.
    pub start: u64,
    /// The reason why the leaf doesn't start earlier, if any.
    pub delay: Option<Delay<'p>>,
}

/// An error of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub rule: &'static str,
    /// Id of the task; empty if the error isn't about one.
    pub id: String,
    pub line: usize,
    pub detail: String,
}

/// One task, with everything the tree says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRow {
    /// As written; may not be unique in an invalid tree.
    pub id: String,
    pub title: String,
    pub complexity: Option<u32>,
    pub depth: usize,
    pub parent_id: Option<String>,
    /// Index of the parent task.
    pub parent: Option<TaskIndex>,
    pub children: Vec<TaskIndex>,
    pub leaf: bool,
    /// True for the placeholder of a root that the text doesn't have.
    #[serde(skip)]
    pub synthetic: bool,
    /// As written.
    pub dependencies: Vec<String>,
    /// Tasks that must come before this one although it doesn't need them, as written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preceded_by: Vec<String>,
    /// Indexes of the tasks in `dependencies` and `preceded_by`, leaves or parents, except for those that this task
    /// can't wait for.
    pub after: Vec<TaskIndex>,
    /// True if the task is on the critical path.
    pub critical: bool,
    /// The task's state in the run; `None` before the approval, and for a task that wasn't approved.
    pub state: Option<TaskLine>,
    pub files: Vec<String>,
    pub acceptance: Vec<String>,
    /// The task's other fields.
    #[serde(flatten)]
    pub fields: BTreeMap<String, Value>,
    /// Prose below the task: its description, and everything that isn't a field.
    pub notes: Vec<String>,
}

impl<'p> TreeReport<'p> {
    /// Reports on `tree`. Its purpose is `goal` or, if there is none, the root's text.
    pub fn new(tree: &Plan, goal: Option<String>) -> Self {
        let graph = Graph::new(tree, &PlanIndex::new(tree));
        let root = tree.root.map(|root| &tree.tasks[root].description);
        let complexities = tree.leaves().filter_map(|leaf| leaf.complexity);
        let rows = (0..tree.tasks.len()).map(|task| TaskRow::new(tree, &graph, task));
        Self {
            goal: goal.unwrap_or_else(|| root.map_or_else(String::new, ToString::to_string)),
            leaves: tree.leaves().count(),
            total_complexity: complexities.map(u64::from).sum(),
            tasks: rows.collect(),
            ..Self::default()
        }
    }

    /// Adds each leaf's state in the run.
    pub fn with_run(mut self, tree: &Plan, state: &State, lead: LeadPresence) -> Self {
        let status = StatusReport::with_edits(state, lead, &approval::edited_leaves(state, tree));
        let lines = status.tasks.into_iter();
        let mut runs: HashMap<String, TaskLine> =
            lines.map(|line| (line.id.to_string(), line)).collect();
        for task in self.tasks.iter_mut().filter(|task| task.leaf) {
            task.state = runs.remove(&task.id);
        }
        self.plan_id = Some(status.plan_id);
        self.phase = Some(status.phase);
        self.standing = Some(status.standing);
        let runs = || self.tasks.iter().filter_map(|task| task.state.as_ref());
        let counts = TaskCounts::of_tasks(runs());
        self.counts = (counts.total > 0).then_some(counts);
        self
    }

    /// Adds when the leaves of `tree` start with each number of builders, and the critical path. Adds neither if the
    /// dependencies form a cycle.
    pub fn with_schedules(
        mut self,
        tree: &'p Plan<'p>,
        options: &ScheduleOptions,
        terms: &PredictionTerms,
        builders: &[u32],
    ) -> Self {
        for &builders in builders {
            let options = ScheduleOptions {
                max_parallel_tasks: builders,
                ..options.clone()
            };
            let Ok(found) = schedule(tree, &options, terms) else {
                return self;
            };
            let mut steps = found.order;
            steps.sort_by_key(|step| step.task);
            let places = steps.into_iter().map(|step| TimetablePlace {
                id: step.id,
                start: step.start,
                delay: step.delay,
            });
            self.schedules.push(Timetable {
                builders,
                minutes: found.prediction.minutes,
                places: places.collect(),
            });
            self.session_minutes = found.prediction.session;
            self.critical_path = found.prediction.critical_path;
        }
        for task in self.tasks.iter_mut().filter(|task| task.leaf) {
            task.critical = self.critical_path.tasks.contains(&task.id.as_str());
        }
        self
    }

    /// Adds the errors among `found`, with their places in `lines`.
    pub fn with_problems(mut self, found: &[Diagnostic], lines: &Lines<'_>) -> Self {
        let problem = |found: &Diagnostic| Problem {
            rule: found.rule,
            id: found.task_id.clone(),
            line: lines.range(found.span).0.line,
            detail: found.detail.clone(),
        };
        let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
        self.problems = found.iter().filter(is_error).map(problem).collect();
        self
    }
}

impl TaskRow {
    fn new(tree: &Plan, graph: &Graph, number: TaskIndex) -> Self {
        let task = &tree.tasks[number];
        let fields = &task.fields;
        let field = |kind: FieldKind| Some((kind.key(), field_value(fields, kind)?));
        let mut after: Vec<TaskIndex> = Vec::new();
        if task.is_leaf() {
            let targets = graph.waits_for(number).iter();
            targets.for_each(|target| {
                if !after.contains(target) {
                    after.push(*target)
                }
            });
        }
        let mut notes = owned(fields.text(FieldKind::Description).into_iter());
        notes.extend(task.notes.iter().map(|note| note.text.to_string()));
        Self {
            id: task.id.to_string(),
            title: task.description.to_string(),
            complexity: task.complexity,
            depth: task.depth,
            parent_id: task.parent.map(|parent| tree.tasks[parent].id.to_string()),
            parent: task.parent,
            children: task.children.clone(),
            leaf: task.is_leaf(),
            synthetic: task.synthetic,
            dependencies: owned(task.dependencies()),
            preceded_by: owned(task.runs_after()),
            after,
            critical: false,
            state: None,
            files: owned(task.files()),
            acceptance: owned(task.acceptance()),
            fields: FieldKind::ALL.into_iter().filter_map(field).collect(),
            notes,
        }
    }
}

fn owned<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<String> {
    texts.map(str::to_owned).collect()
}

/// Returns a field as JSON; `None` if [`TaskRow`] has its own member for it.
fn field_value(fields: &TaskFields, kind: FieldKind) -> Option<Value> {
    use FieldKind::{
        Acceptance, After, Complexity, Dependencies, Description, Files, TestsRequired,
    };
    Some(match kind {
        Acceptance | After | Complexity | Dependencies | Description | Files => return None,
        TestsRequired => json!(fields.text(kind).map(|text| text == "yes")),
        _ if kind.form().is_list() => fields.items(kind).iter().map(|item| &*item.text).collect(),
        _ => json!(fields.text(kind)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_plan::plan::parse;
    use fp_plan::rules::{RuleFacts, check_plan};

    const TREE: &str = "- [ID: root] Goal\n- [ID: 1] A\n  - [ID: 1.1] B (Complexity: 2)\n  - [ID: 1.2] C (Complexity: 3)\n    - Dependencies: 1.1, 1.1, 9\n- [ID: 2] D (Complexity: 1)\n  - Dependencies: 1\n- [ID: 3] E (Complexity: 1)\n";

    /// Reports on the tree in `text`, leaking it on purpose.
    fn report(text: &'static str, builders: &[u32]) -> TreeReport<'static> {
        let (tree, parsed) = parse(text);
        let tree = Box::leak(Box::new(tree));
        let found = check_plan(tree, &parsed, &RuleFacts::default());
        TreeReport::new(tree, None)
            .with_schedules(
                tree,
                &ScheduleOptions::default(),
                &PredictionTerms::default(),
                builders,
            )
            .with_problems(&found, &Lines::new(text))
    }

    #[test]
    fn dependencies_are_positions() {
        let found = report(TREE, &[1]);
        let after: Vec<&[TaskIndex]> = found.tasks.iter().map(|task| &task.after[..]).collect();
        assert_eq!(after, [&[][..], &[], &[], &[2], &[1], &[]]);
        assert_eq!(
            (found.goal.as_str(), found.leaves, found.total_complexity),
            ("Goal", 4, 7)
        );
    }

    #[test]
    fn one_schedule_for_each_number_of_builders() {
        let found = report(TREE, &[1, 2]);
        let starts = |at: usize| {
            let places = found.schedules[at].places.iter();
            places.map(|place| place.start).collect::<Vec<_>>()
        };
        // 1.1 is built in 8 minutes and judged in 2, 1.2 in 11.75 and 2, 3 in 5.5 and 2.
        assert_eq!(
            (starts(0), starts(1)),
            (vec![0, 13, 27, 8], vec![0, 10, 23, 0])
        );
        let critical: Vec<&str> = found
            .tasks
            .iter()
            .filter(|task| task.critical)
            .map(|task| task.id.as_str())
            .collect();
        assert_eq!(critical, ["1.1", "1.2", "2"]);
    }

    #[test]
    fn tasks_that_wait_for_each_other_have_no_schedule_and_a_problem() {
        let found = report(
            "- [ID: 1] A\n  - Dependencies: 2\n- [ID: 2] B\n  - Dependencies: 1\n",
            &[1, 2],
        );
        assert_eq!((found.schedules.len(), found.session_minutes), (0, 0));
        let cycle = found
            .problems
            .iter()
            .find(|problem| problem.rule == "dependency-cycle")
            .unwrap();
        assert!(cycle.line > 0 && cycle.detail.contains('1'), "{cycle:?}");
    }
}

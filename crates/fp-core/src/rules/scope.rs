//! What a check sees, and where it puts what it finds.

use std::collections::{HashMap, HashSet};

use super::Rule;
use super::facts::{Facts, PathFact};
use crate::diagnostic::{Diagnostic, Fix, Span};
use crate::plan::field::FieldKind;
use crate::plan::graph::{Graph, PlanIndex};
use crate::plan::task::{Plan, Task, TaskIndex};

/// A plan with what several rules ask of it.
pub(super) struct Scope<'p> {
    pub(super) plan: &'p Plan<'p>,
    pub(super) index: PlanIndex<'p>,
    pub(super) graph: Graph,
    /// All tasks, each behind what it waits for; without those that a cycle holds up.
    pub(super) order: Vec<TaskIndex>,
    pub(super) facts: &'p Facts,
    /// Whether the parser had something to say.
    pub(super) has_syntax_errors: bool,
    /// Paths that do not exist and that a leaf says it creates.
    pub(super) created: HashSet<&'p str>,
    /// The requirements that leaves cover, in lower case.
    pub(super) covered: HashSet<String>,
    /// How often each id is used, where more than once.
    repeated: HashMap<&'p str, usize>,
}

impl<'p> Scope<'p> {
    pub(super) fn new(plan: &'p Plan<'p>, parsed: &[Diagnostic], facts: &'p Facts) -> Self {
        let index = PlanIndex::new(plan);
        let graph = Graph::new(plan, &index);
        let order = graph.order(|_| ());
        let mut repeated = HashMap::new();
        let mut created = HashSet::new();
        let mut covered = HashSet::new();
        for (number, task) in plan.tasks.iter().enumerate() {
            if index.find(&task.id) != Some(number) {
                *repeated.entry(&*task.id).or_insert(1) += 1;
            }
            if task.is_leaf() {
                created.extend(super::catalogue::created_files(task, facts));
            }
            if !facts.requirements.is_empty() {
                covered
                    .extend(task.fields.items(FieldKind::Covers).iter().map(|item| item.text.to_lowercase()));
            }
        }
        Self {
            plan,
            index,
            graph,
            order,
            facts,
            has_syntax_errors: !parsed.is_empty(),
            created,
            covered,
            repeated,
        }
    }

    pub(super) fn task(&self, index: TaskIndex) -> &'p Task<'p> {
        &self.plan.tasks[index]
    }

    /// Whether a task's id was used before it.
    pub(super) fn repeats_id(&self, index: TaskIndex) -> bool {
        self.index.find(&self.task(index).id) != Some(index)
    }

    /// Whether an id names exactly one task.
    pub(super) fn is_unique(&self, id: &str) -> bool {
        self.index.find(id).is_some() && !self.repeated.contains_key(id)
    }

    /// What is known of a path as a plan has it.
    pub(super) fn path(&self, path: &str) -> Option<PathFact> {
        self.facts.path(path)
    }
}

/// Takes the findings of one rule.
pub(super) struct Sink<'f> {
    rule: &'static Rule,
    plan: &'f Plan<'f>,
    found: &'f mut Vec<Diagnostic>,
}

impl<'f> Sink<'f> {
    pub(super) fn new(rule: &'static Rule, scope: &'f Scope<'f>, found: &'f mut Vec<Diagnostic>) -> Self {
        Self { rule, plan: scope.plan, found }
    }

    /// Reports something about `task`, at `span`.
    pub(super) fn report(&mut self, task: &Task, span: Span, detail: impl Into<String>) -> Finding<'_> {
        self.found.push(Diagnostic {
            rule: self.rule.id,
            severity: self.rule.severity,
            span,
            task_id: task.id.to_string(),
            task_description: task.description.to_string(),
            parent_id: task.parent.map(|parent| self.plan.tasks[parent].id.to_string()),
            depth: task.depth,
            detail: detail.into(),
            hint: None,
            fixes: Vec::new(),
        });
        Finding(self.found.last_mut().expect("it was just pushed"))
    }

    /// Reports something about the plan as a whole: at its root, or where it has none at its beginning.
    pub(super) fn report_plan(&mut self, detail: impl Into<String>) -> Finding<'_> {
        let nothing = Task::default();
        let plan = self.plan;
        let root = plan.root.map_or(&nothing, |root| &plan.tasks[root]);
        self.report(root, root.span, detail)
    }
}

/// A finding that was just reported, for what more there is to say.
pub(super) struct Finding<'d>(&'d mut Diagnostic);

impl Finding<'_> {
    /// Says what to do about it.
    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Gives the edits that resolve it.
    pub(super) fn fixes(self, fixes: Vec<Fix>) -> Self {
        self.0.fixes = fixes;
        self
    }
}

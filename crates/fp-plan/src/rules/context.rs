//! Provides everything that a check can see, and collects its findings. The caller gathers the facts about the outside
//! world beforehand, which keeps checking a pure function.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::Rule;
use super::missing_file::created_files;
use crate::command_line::{is_builtin, program_of, words_behind_commas};
use crate::diagnostic::{Diagnostic, Span};
use crate::plan::graph::{Graph, PlanIndex};
use crate::plan::path::{Reference, literal_prefix, normal, reference};
use crate::plan::task::{Plan, Task, TaskIndex};
use crate::setup::setup_files;

/// The facts about a plan's surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFacts {
    /// The highest complexity allowed for a leaf.
    pub max_complexity: u32,
    /// The state of each path in [`mentioned_paths`]. Other paths aren't judged.
    pub paths: HashMap<String, PathFact>,
    /// Which of [`mentioned_programs`] are on the search path. Other words aren't judged.
    pub programs: HashMap<String, bool>,
    /// The texts of files in which a reference points to a line, by path.
    pub texts: HashMap<String, String>,
    pub requirements: Vec<ConfirmedRequirement>,
    /// The titles, by id, of leaves that were done before the plan was made, and so aren't built.
    pub done: HashMap<String, String>,
}

impl Default for RuleFacts {
    fn default() -> Self {
        Self {
            max_complexity: 8,
            paths: HashMap::new(),
            programs: HashMap::new(),
            texts: HashMap::new(),
            requirements: Vec::new(),
            done: HashMap::new(),
        }
    }
}

impl RuleFacts {
    /// The fact about `path`, which is spelled as in the plan.
    pub(super) fn path(&self, path: &str) -> Option<PathFact> {
        self.paths.get(normal(path).ok()?.as_ref()).copied()
    }
}

/// The state of a path in the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathFact {
    /// Nothing is there.
    Missing,
    Folder,
    /// A file, with its number of lines if that was requested and could be determined.
    File {
        lines: Option<u64>,
    },
    /// A symlink along the path leads out of the repository.
    Outside,
    /// No file can have this name on this system.
    Impossible,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmedRequirement {
    /// Such as `R1`.
    pub id: String,
    pub text: String,
}

/// The paths to look up for the facts about `plan`, in the form of [`RuleFacts::paths`], each with a flag that is true
/// if its number of lines matters. Judging by their text alone, all of them are inside the repository.
pub fn mentioned_paths<'p>(plan: &'p Plan<'_>) -> HashMap<Cow<'p, str>, bool> {
    let mut found = HashMap::new();
    let mut add_path = |path: &'p str, has_line: bool| {
        if let Ok(path) = normal(path) {
            *found.entry(path).or_default() |= has_line;
        }
    };
    setup_files().for_each(|file| add_path(file, false));
    for leaf in plan.leaves() {
        leaf.files()
            .for_each(|file| add_path(literal_prefix(file), false));
        for Reference { path, line, .. } in leaf.references().filter_map(reference) {
            add_path(path, line.is_some());
        }
    }
    let of_leaves = plan.leaves().flat_map(|leaf| leaf.commands());
    let commands = plan
        .setup_commands()
        .chain(of_leaves.map(|item| &*item.text));
    let scripts = commands
        .filter_map(program_of)
        .filter(|word| word.contains('/'));
    scripts.for_each(|script| add_path(script, false));
    found
}

/// The words in the commands of `plan` to look up on the search path: those that start a command, and those that may
/// start one after a comma.
pub fn mentioned_programs<'p>(plan: &'p Plan<'_>) -> HashSet<&'p str> {
    let of_leaves = plan.leaves().flat_map(|leaf| leaf.commands());
    let of_leaves = of_leaves.map(|item| &*item.text);
    let words = plan.setup_commands().chain(of_leaves).flat_map(|line| {
        let first = program_of(line).into_iter();
        first.chain(words_behind_commas(line))
    });
    let programs = words.filter(|word| !word.contains('/') && !is_builtin(word));
    programs.collect()
}

/// A plan with the data that several rules need.
pub(super) struct RuleContext<'p> {
    pub(super) plan: &'p Plan<'p>,
    pub(super) index: PlanIndex<'p>,
    pub(super) graph: Graph,
    /// All tasks except those that a cycle blocks, each after its dependencies.
    pub(super) order: Vec<TaskIndex>,
    pub(super) facts: &'p RuleFacts,
    /// True if the parser reported something.
    pub(super) has_syntax_errors: bool,
    /// Missing paths that a leaf says it creates.
    pub(super) created: HashSet<&'p str>,
}

impl<'p> RuleContext<'p> {
    pub(super) fn new(plan: &'p Plan<'p>, parsed: &[Diagnostic], facts: &'p RuleFacts) -> Self {
        let index = PlanIndex::new(plan);
        let graph = Graph::new(plan, &index);
        let order = graph.order(|_| ());
        let created = plan.leaves().flat_map(|leaf| created_files(leaf, facts));
        Self {
            plan,
            index,
            graph,
            order,
            facts,
            has_syntax_errors: !parsed.is_empty(),
            created: created.collect(),
        }
    }

    pub(super) fn task(&self, index: TaskIndex) -> &'p Task<'p> {
        &self.plan.tasks[index]
    }

    /// True if an earlier task has the same id.
    pub(super) fn repeats_id(&self, index: TaskIndex) -> bool {
        self.index.find(&self.task(index).id) != Some(index)
    }

    /// True if an id names exactly one task.
    pub(super) fn is_unique(&self, id: &str) -> bool {
        let named = self.plan.tasks.iter().filter(|task| task.id == id);
        named.take(2).count() == 1
    }
}

/// Collects the findings of one rule.
pub(super) struct FindingSink<'f> {
    rule: &'static Rule,
    plan: &'f Plan<'f>,
    found: &'f mut Vec<Diagnostic>,
}

impl<'f> FindingSink<'f> {
    pub(super) fn new(
        rule: &'static Rule,
        context: &'f RuleContext<'f>,
        found: &'f mut Vec<Diagnostic>,
    ) -> Self {
        Self {
            rule,
            plan: context.plan,
            found,
        }
    }

    /// Reports a finding about `task` at `span`.
    pub(super) fn report(
        &mut self,
        task: &Task,
        span: Span,
        detail: impl Into<String>,
    ) -> &mut Diagnostic {
        let rule = (self.rule.id, self.rule.severity);
        let finding = Diagnostic::new(rule, task, &self.plan.tasks, span, detail.into());
        self.found.push(finding);
        self.found.last_mut().expect("it was just pushed")
    }

    /// Reports a finding about the whole plan, at its root, or at the start if it has none.
    pub(super) fn report_plan(&mut self, detail: impl Into<String>) -> &mut Diagnostic {
        let nothing = Task::default();
        let plan = self.plan;
        let root = plan.root.map_or(&nothing, |root| &plan.tasks[root]);
        self.report(root, root.span, detail)
    }
}

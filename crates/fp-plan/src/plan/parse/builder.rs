//! Collects tasks and findings during the parse, and links them into a tree at the end.

use super::task_line::{SyntaxFault, whole_number};
use crate::diagnostic::{Diagnostic, Severity, Span};
use crate::plan::field::FieldKind;
use crate::plan::task::{Item, Plan, Task, TaskIndex};

struct Misreading {
    span: Span,
    task: Option<TaskIndex>,
    fault: SyntaxFault,
}

/// The part of the tree read so far.
#[derive(Default)]
pub(super) struct TreeBuilder<'t> {
    /// In document order, linked to their parents only.
    pub(super) tasks: Vec<Task<'t>>,
    findings: Vec<Misreading>,
    prose: Vec<(usize, Item<'t>)>,
}

impl<'t> TreeBuilder<'t> {
    pub(super) fn add_task(&mut self, task: Task<'t>, fault: Option<SyntaxFault>) -> TaskIndex {
        let index = self.tasks.len();
        if let Some(fault) = fault {
            self.add_fault(task.span, Some(index), fault);
        }
        self.tasks.push(task);
        index
    }

    pub(super) fn add_fault(&mut self, span: Span, task: Option<TaskIndex>, fault: SyntaxFault) {
        self.findings.push(Misreading { span, task, fault });
    }

    /// Adds prose to `task`, or to the document if `task` is `None`.
    pub(super) fn add_note(&mut self, task: Option<TaskIndex>, item: Item<'t>) {
        match task {
            _ if item.text.is_empty() => {}
            Some(task) => self.tasks[task].notes.push(item),
            None => self.prose.push((self.tasks.len(), item)),
        }
    }

    /// Links the tree and turns the findings into diagnostics.
    pub(super) fn finish(mut self, text: &str) -> (Plan<'t>, Vec<Diagnostic>) {
        for task in &mut self.tasks {
            let complexity = task.fields.items(FieldKind::Complexity).first();
            task.complexity = complexity.and_then(|item| whole_number(&item.text));
        }
        let root = self.link_tops();
        measure_tasks(&mut self.tasks);
        let nothing = Task::default();
        let diagnostics = self
            .findings
            .into_iter()
            .map(|Misreading { span, task, fault }| {
                let task = task.map_or(&nothing, |task| &self.tasks[task]);
                Diagnostic {
                    hint: Some(fault.hint),
                    ..Diagnostic::new(
                        ("syntax", Severity::Error),
                        task,
                        &self.tasks,
                        span,
                        fault.detail,
                    )
                }
            });
        let mut diagnostics: Vec<Diagnostic> = diagnostics.collect();
        diagnostics.sort_by_key(|diagnostic| diagnostic.span);
        let plan = Plan {
            tasks: self.tasks,
            root,
            prose: self.prose,
            crlf: text.find('\n').is_some_and(|at| text[..at].ends_with('\r')),
        };
        (plan, diagnostics)
    }

    /// Links the top-level tasks into one tree, with the root first.
    fn link_tops(&mut self) -> Option<TaskIndex> {
        let is_top = |index: &TaskIndex| self.tasks[*index].parent.is_none();
        let tops: Vec<TaskIndex> = (0..self.tasks.len()).filter(is_top).collect();
        let (&first, others) = tops.split_first()?;
        if others.is_empty() || self.tasks[first].id == "root" {
            others
                .iter()
                .for_each(|&top| self.tasks[top].parent = Some(first));
            return Some(first);
        }
        let root = synthetic_root(&tops, &self.tasks);
        for task in &mut self.tasks {
            task.parent = Some(task.parent.map_or(0, |parent| parent + 1));
        }
        for finding in &mut self.findings {
            finding.task = finding.task.map(|task| task + 1);
        }
        for (before, _) in &mut self.prose {
            *before += usize::from(*before > 0);
        }
        self.tasks.insert(0, root);
        Some(0)
    }
}

fn synthetic_root<'t>(tops: &[TaskIndex], tasks: &[Task<'t>]) -> Task<'t> {
    let descriptions: Vec<&str> = tops
        .iter()
        .map(|&top| &*tasks[top].description)
        .filter(|d| !d.is_empty())
        .collect();
    let start = tasks[tops[0]].span.start;
    Task {
        id: "root".into(),
        description: descriptions.join("; ").into(),
        complexity: tops.iter().filter_map(|&top| tasks[top].complexity).max(),
        span: Span::new(start, start),
        id_span: Span::new(start, start),
        synthetic: true,
        ..Task::default()
    }
}

/// Sets children, depths and extents. Relies on parents coming before their children.
fn measure_tasks(tasks: &mut [Task<'_>]) {
    for index in 0..tasks.len() {
        if let Some(parent) = tasks[index].parent {
            tasks[index].depth = tasks[parent].depth + 1;
            tasks[parent].children.push(index);
        }
    }
    for index in (0..tasks.len()).rev() {
        let task = &tasks[index];
        let notes = task.notes.iter().map(|note| note.span.end);
        let children = task.children.iter().map(|&child| tasks[child].extent.end);
        let end = notes.chain(children).fold(task.own_end(), usize::max);
        tasks[index].extent = Span::new(tasks[index].span.start, end);
    }
}

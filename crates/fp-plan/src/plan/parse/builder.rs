//! Collects tasks and findings during the parse, and links them into a tree at the end.

use std::borrow::Cow;
use std::ops::Range;

use super::fields;
use super::task_line::{self, SyntaxFault, TaskHead};
use crate::diagnostic::{Diagnostic, Severity, Span};
use crate::plan::field::{FieldForm, FieldKind};
use crate::plan::task::{Field, Item, Plan, Task, TaskIndex};

struct Misreading {
    span: Span,
    task: Option<TaskIndex>,
    fault: SyntaxFault,
}

/// The tree read so far.
#[derive(Default)]
pub(super) struct TreeBuilder<'t> {
    /// In document order, linked to their parents only.
    pub(super) tasks: Vec<Task<'t>>,
    /// For every task, a bit for each field given.
    given: Vec<u16>,
    findings: Vec<Misreading>,
    prose: Vec<(usize, Item<'t>)>,
}

impl<'t> TreeBuilder<'t> {
    pub(super) fn task(
        &mut self,
        head: TaskHead<'t>,
        own: Range<usize>,
        parent: Option<TaskIndex>,
        indent: usize,
    ) -> TaskIndex {
        let index = self.tasks.len();
        let span = Span::new(own.start, own.end);
        let broken = head.fault.is_some();
        if let Some(fault) = head.fault.or(head.flaw) {
            self.fault(span, Some(index), fault);
        }
        self.given
            .push(u16::from(head.complexity.is_some()) << FieldKind::Complexity as u16);
        self.tasks.push(Task {
            id: head.id.into(),
            id_span: head.id_span,
            description: head.title,
            complexity: head
                .complexity
                .as_ref()
                .and_then(|item| task_line::number(&item.text)),
            complexity_source: head.complexity,
            span,
            line_end: span.end,
            extent: span,
            parent,
            field_indent: indent,
            broken,
            ..Task::default()
        });
        index
    }

    pub(super) fn fault(&mut self, span: Span, task: Option<TaskIndex>, fault: SyntaxFault) {
        self.findings.push(Misreading { span, task, fault });
    }

    /// Records where the line of the last task ends.
    pub(super) fn end_line(&mut self, end: usize) {
        if let Some(task) = self.tasks.last_mut() {
            task.line_end = end;
        }
    }

    /// Records the column of a field: added ones go below it.
    pub(super) fn field_at(&mut self, task: TaskIndex, column: usize) {
        self.tasks[task].field_indent = column;
    }

    /// True if the field was given before; marks it as given.
    pub(super) fn is_given(&mut self, task: TaskIndex, field: FieldKind) -> bool {
        let bit = 1 << field as u16;
        let given = self.given[task] & bit != 0;
        self.given[task] |= bit;
        given
    }

    fn reach(&mut self, task: TaskIndex, end: usize) {
        let extent = &mut self.tasks[task].extent;
        extent.end = extent.end.max(end);
    }

    pub(super) fn begin_field(
        &mut self,
        task: TaskIndex,
        field: FieldKind,
        entries: Vec<Item<'t>>,
        span: Span,
    ) {
        self.reach(task, span.end);
        if field.form().is_list() {
            *self.tasks[task].fields.slot(field) = Some(Field {
                span,
                ..entries.into()
            });
        } else if entries.is_empty() && field == FieldKind::TestsRequired {
            // Unless an answer follows below.
            self.tasks[task].fields.unreadable.push((
                field,
                Item {
                    span,
                    ..Item::default()
                },
            ));
        } else {
            entries
                .into_iter()
                .for_each(|item| self.scalar(task, field, item, span));
        }
    }

    /// Adds an entry below the field's label, in an item at column `indent` or without one.
    pub(super) fn entry(
        &mut self,
        task: TaskIndex,
        field: FieldKind,
        item: Item<'t>,
        indent: Option<usize>,
    ) {
        self.reach(task, item.span.end);
        if !field.form().is_list() {
            let span = item.span;
            self.scalar(task, field, item, span);
        } else if let Some(list) = self.tasks[task].fields.slot(field) {
            list.span.end = list.span.end.max(item.span.end);
            if fields::is_none(&item.text) {
                return;
            }
            if list.items.is_empty() {
                list.entry_indent = indent;
            }
            list.items.push(item);
        }
    }

    fn scalar(&mut self, task: TaskIndex, field: FieldKind, item: Item<'t>, span: Span) {
        let task_read = &mut self.tasks[task];
        // The field ended without a value, but one follows below it after all.
        task_read
            .fields
            .unreadable
            .retain(|(kind, item)| *kind != field || !item.text.is_empty());
        let second = match field.form() {
            FieldForm::Number => task_read.complexity_source.is_some(),
            FieldForm::Prose => false,
            _ => task_read.fields.get(field).is_some(),
        };
        let item_span = item.span;
        match field.form() {
            _ if second => {}
            FieldForm::Prose => {}
            FieldForm::Number => {
                task_read.complexity = task_line::number(&item.text);
                task_read.complexity_source = Some(item);
            }
            FieldForm::Choice(words) => match fields::choice(words, &item.text) {
                Some(word) => {
                    let written =
                        fields::is_more_than_a_word(&item.text).then(|| (*item.text).into());
                    let items = vec![Item {
                        text: word.into(),
                        ..item
                    }];
                    *task_read.fields.slot(field) = Some(Field {
                        span,
                        written,
                        ..items.into()
                    });
                }
                None => task_read.fields.unreadable.push((field, item)),
            },
            _ => {
                *task_read.fields.slot(field) = Some(Field {
                    span,
                    ..vec![item].into()
                })
            }
        }
        if second {
            if let Some(span) = span_mut(&mut self.tasks[task], field) {
                span.end = span.end.max(item_span.end);
            }
            let fault = SyntaxFault {
                detail: format!("`{}` takes one value and has more", field.label()),
                hint: "keep one of them".to_owned(),
            };
            self.fault(item_span, Some(task), fault);
        }
    }

    pub(super) fn describe(&mut self, task: TaskIndex, text: Cow<'t, str>, span: Span) {
        self.reach(task, span.end);
        if !text.is_empty() && !fields::is_none(&text) {
            let items = vec![Item {
                text,
                span,
                note: None,
            }];
            *self.tasks[task].fields.slot(FieldKind::Description) = Some(Field {
                span,
                ..items.into()
            });
        }
    }

    /// Keeps a field that is unknown or was given before.
    pub(super) fn labelled(
        &mut self,
        task: TaskIndex,
        label: &'t str,
        item: Item<'t>,
        duplicate: bool,
    ) {
        self.reach(task, item.span.end);
        let fields = &mut self.tasks[task].fields;
        let list = if duplicate {
            &mut fields.duplicates
        } else {
            &mut fields.unknown
        };
        list.push((label, item));
    }

    /// Keeps prose with its task, or else with the document.
    pub(super) fn note(&mut self, task: Option<TaskIndex>, item: Item<'t>) {
        if item.text.is_empty() {
            return;
        }
        match task {
            Some(task) => {
                self.reach(task, item.span.end);
                self.tasks[task].notes.push(item);
            }
            None => self.prose.push((self.tasks.len(), item)),
        }
    }

    /// Links the tree and turns the findings into diagnostics.
    pub(super) fn finish(mut self, text: &str) -> (Plan<'t>, Vec<Diagnostic>) {
        let root = link_tops(&mut self.tasks, &mut self.findings, &mut self.prose);
        measure(&mut self.tasks);
        let mut diagnostics: Vec<Diagnostic> = self
            .findings
            .into_iter()
            .map(|finding| diagnostic(finding, &self.tasks))
            .collect();
        diagnostics.sort_by_key(|diagnostic| diagnostic.span);
        let crlf = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
        (
            Plan {
                tasks: self.tasks,
                root,
                prose: self.prose,
                crlf,
            },
            diagnostics,
        )
    }
}

/// The position of a field that is present; for a complexity, that of its value.
fn span_mut<'f>(task: &'f mut Task<'_>, field: FieldKind) -> Option<&'f mut Span> {
    match field.form() {
        FieldForm::Number => task.complexity_source.as_mut().map(|item| &mut item.span),
        _ => task
            .fields
            .slot(field)
            .as_mut()
            .map(|field| &mut field.span),
    }
}

/// Links the top-level tasks to one tree, with the root first.
fn link_tops(
    tasks: &mut Vec<Task<'_>>,
    findings: &mut [Misreading],
    prose: &mut [(usize, Item<'_>)],
) -> Option<TaskIndex> {
    let tops: Vec<TaskIndex> = (0..tasks.len())
        .filter(|&index| tasks[index].parent.is_none())
        .collect();
    if tops.len() <= 1 {
        return tops.first().copied();
    }
    if tasks[tops[0]].id == "root" {
        tops[1..]
            .iter()
            .for_each(|&top| tasks[top].parent = Some(tops[0]));
        return Some(tops[0]);
    }
    let root = synthetic_root(&tops, tasks);
    for task in tasks.iter_mut() {
        task.parent = Some(task.parent.map_or(0, |parent| parent + 1));
    }
    for finding in findings {
        finding.task = finding.task.map(|task| task + 1);
    }
    for (before, _) in prose {
        *before += usize::from(*before > 0);
    }
    tasks.insert(0, root);
    Some(0)
}

fn synthetic_root<'t>(tops: &[TaskIndex], tasks: &[Task<'t>]) -> Task<'t> {
    let descriptions: Vec<&str> = tops
        .iter()
        .map(|&top| &*tasks[top].description)
        .filter(|d| !d.is_empty())
        .collect();
    let complexities = tops.iter().filter_map(|&top| tasks[top].complexity);
    Task {
        id: Cow::Borrowed("root"),
        description: descriptions.join("; ").into(),
        complexity: complexities.max(),
        extent: Span::new(tasks[tops[0]].extent.start, tasks[tops[0]].extent.start),
        span: Span::new(tasks[tops[0]].span.start, tasks[tops[0]].span.start),
        id_span: Span::new(tasks[tops[0]].id_span.start, tasks[tops[0]].id_span.start),
        synthetic: true,
        ..Task::default()
    }
}

/// Sets children, depths and extents. Relies on parents coming before their children.
fn measure(tasks: &mut [Task<'_>]) {
    for index in 0..tasks.len() {
        if let Some(parent) = tasks[index].parent {
            tasks[index].depth = tasks[parent].depth + 1;
            tasks[parent].children.push(index);
        }
    }
    for index in (0..tasks.len()).rev() {
        if let Some(parent) = tasks[index].parent {
            let extent = tasks[index].extent;
            let above = &mut tasks[parent].extent;
            *above = Span::new(above.start.min(extent.start), above.end.max(extent.end));
        }
    }
}

fn diagnostic(finding: Misreading, tasks: &[Task<'_>]) -> Diagnostic {
    let nothing = Task::default();
    let task = finding.task.map_or(&nothing, |task| &tasks[task]);
    let SyntaxFault { detail, hint } = finding.fault;
    let rule = ("syntax", Severity::Error);
    Diagnostic {
        hint: Some(hint),
        ..Diagnostic::new(rule, task, tasks, finding.span, detail)
    }
}

//! Stores the tree as an arena, with parents and children by index, so that a tree of any depth can be walked and
//! dropped without recursion.

use std::borrow::Cow;

use super::field::{FieldForm, FieldKind};
use super::parse::fields::choice_of;
use crate::diagnostic::Span;

/// Position of a task in [`Plan::tasks`].
pub type TaskIndex = usize;

/// One entry of a field: its trimmed source text and its position.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item<'t> {
    /// The unrendered source text: for a file only its path, for a dependency only its id.
    pub text: Cow<'t, str>,
    pub span: Span,
    /// The text that follows a file or a dependency on the same line, such as `(new)`, as written.
    pub note: Option<Box<str>>,
}

/// A field that is present; an empty list (`none`) counts as a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Field<'t> {
    /// The entries. A field that isn't a list has at most one.
    pub items: Vec<Item<'t>>,
    /// The whole field, including its label.
    pub span: Span,
    /// Columns before the bullet of the first entry; `None` if that entry is on the label's line.
    pub entry_indent: Option<usize>,
}

impl<'t> Item<'t> {
    /// An entry whose text is `part`, a slice of `text`, unchanged.
    pub(crate) fn from_slice(text: &str, part: &'t str) -> Self {
        Self {
            text: part.into(),
            span: Span::of_slice(text, part),
            note: None,
        }
    }
}

impl<'t> Field<'t> {
    pub(crate) fn new(span: Span, items: Vec<Item<'t>>) -> Self {
        Self {
            items,
            span,
            entry_indent: None,
        }
    }
}

impl<'t> From<Vec<Item<'t>>> for Field<'t> {
    fn from(items: Vec<Item<'t>>) -> Self {
        Self {
            items,
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskFields<'t> {
    by_kind: [Option<Field<'t>>; FieldKind::ALL.len()],
    /// Fields that the plan language doesn't define: label and value as written.
    pub unknown: Vec<(&'t str, Item<'t>)>,
    /// Label and value of each repeated field; the first occurrence counts.
    pub duplicates: Vec<(&'t str, Item<'t>)>,
}

impl<'t> TaskFields<'t> {
    /// The field `kind`; `None` if it is absent.
    pub fn get(&self, kind: FieldKind) -> Option<&Field<'t>> {
        self.by_kind[kind as usize].as_ref()
    }

    /// The mutable slot of field `kind`.
    pub fn slot(&mut self, kind: FieldKind) -> &mut Option<Field<'t>> {
        &mut self.by_kind[kind as usize]
    }

    /// All given fields in writing order.
    pub fn given(&self) -> impl Iterator<Item = (FieldKind, &Field<'t>)> {
        FieldKind::ALL
            .into_iter()
            .filter_map(|kind| Some((kind, self.get(kind)?)))
    }

    /// The entries of `kind`; empty if it is absent.
    pub fn items(&self, kind: FieldKind) -> &[Item<'t>] {
        self.get(kind).map_or(&[], |field| &field.items)
    }

    /// The single entry of field `kind`; `None` if the field is a list or has no entry.
    pub fn value(&self, kind: FieldKind) -> Option<&Item<'t>> {
        let items = self.items(kind);
        items.first().filter(|_| !kind.form().is_list())
    }

    /// The canonical value of `kind`; `None` if the field is a list or has no entry, and for a word that isn't one of
    /// its choices.
    pub fn text(&self, kind: FieldKind) -> Option<&str> {
        let text = &*self.value(kind)?.text;
        match kind.form() {
            FieldForm::Choice(words) => choice_of(words, text),
            _ => Some(text),
        }
    }

    pub fn span(&self, kind: FieldKind) -> Option<Span> {
        self.get(kind).map(|field| field.span)
    }

    fn texts(&self, kind: FieldKind) -> impl Iterator<Item = &str> {
        self.items(kind).iter().map(|item| &*item.text)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task<'t> {
    /// As written; the rules check it, not the parser.
    pub id: Cow<'t, str>,
    pub id_span: Span,
    /// The title, on one line.
    pub description: Cow<'t, str>,
    /// `None` unless it is a whole number. 1 to 10 is valid.
    pub complexity: Option<u32>,
    /// The task's own line, without fields and children.
    pub span: Span,
    /// The task with its fields and children.
    pub extent: Span,
    /// Steps from the root, whose depth is 0.
    pub depth: usize,
    /// `None` for the root.
    pub parent: Option<TaskIndex>,
    /// In document order.
    pub children: Vec<TaskIndex>,
    pub fields: TaskFields<'t>,
    /// Prose below the task that isn't a field: Markdown blocks as written, dedented.
    pub notes: Vec<Item<'t>>,
    /// Columns before the bullet of the task's last field or, if it has none, of a field that an edit would insert.
    pub field_indent: usize,
    /// True if the parser added the task as the root of several top-level tasks.
    pub synthetic: bool,
    /// True if the task's line only starts like one. The line was reported as `syntax`, and the task is in the tree so
    /// that its subtasks and dependents aren't reported too.
    pub broken: bool,
}

/// A parsed tree. It may break every rule, but its links are always valid.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan<'t> {
    /// All tasks in document order; a synthetic root comes first.
    pub tasks: Vec<Task<'t>>,
    /// `None` for an empty tree.
    pub root: Option<TaskIndex>,
    /// Prose outside all tasks: Markdown blocks as written, each with the number of tasks before it.
    pub prose: Vec<(usize, Item<'t>)>,
    /// True if the lines of the source end with a carriage return and a line feed.
    pub crlf: bool,
}

impl<'t> Task<'t> {
    /// True if the task has no children, even if it is the root and the only task in its tree.
    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    /// The end of the task's line and fields; notes and children come after it.
    pub(crate) fn own_end(&self) -> usize {
        let fields = &self.fields;
        let given = fields.given().map(|(_, field)| field.span.end);
        let kept = fields.unknown.iter().chain(&fields.duplicates);
        let kept = kept.map(|(_, item)| item.span.end);
        given.chain(kept).fold(self.span.end, usize::max)
    }

    pub fn acceptance(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::Acceptance)
    }

    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::Files)
    }

    /// The ids of the task's dependencies, as written.
    pub fn dependencies(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::Dependencies)
    }

    /// The ids of the tasks that this one runs after without needing them, as written.
    pub fn runs_after(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::After)
    }

    /// Every entry that names a task to wait for.
    pub fn ordering(&self) -> impl Iterator<Item = &Item<'t>> {
        FieldKind::ORDERING
            .into_iter()
            .flat_map(|kind| self.fields.items(kind))
    }

    pub fn hints(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::Hints)
    }

    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::References)
    }

    pub fn guardrails(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::Guardrails)
    }

    pub fn test_commands(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::TestCommands)
    }

    /// Every command to run for the task: its test commands, then `Verify`.
    pub fn commands(&self) -> impl Iterator<Item = &Item<'t>> {
        [FieldKind::TestCommands, FieldKind::Verify]
            .into_iter()
            .flat_map(|kind| self.fields.items(kind))
    }

    /// True if tests must be written; false if the field is absent.
    pub fn tests_required(&self) -> bool {
        self.fields.text(FieldKind::TestsRequired) == Some("yes")
    }

    /// The single command whose exit status decides whether the task passes, if there is one.
    pub fn verify(&self) -> Option<&str> {
        self.fields.text(FieldKind::Verify)
    }
}

impl<'t> Plan<'t> {
    /// The line ending of the source.
    pub fn newline(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    /// The commands that a fresh checkout needs before any other, which only the root has.
    pub fn setup_commands(&self) -> impl Iterator<Item = &str> {
        let root = self.root.map(|root| &self.tasks[root]);
        root.into_iter()
            .flat_map(|root| root.fields.texts(FieldKind::Setup))
    }

    pub fn leaves(&self) -> impl Iterator<Item = &Task<'t>> {
        self.tasks.iter().filter(|t| t.is_leaf())
    }

    /// The first task with this id, found by a linear search; for many look-ups, use
    /// [`PlanIndex`](super::graph::PlanIndex).
    pub fn find(&self, id: &str) -> Option<&Task<'t>> {
        self.tasks.iter().find(|t| t.id == id)
    }
}

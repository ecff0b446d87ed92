//! The tree as an arena: parents and children by index, so that a tree of any depth is walked, and
//! dropped, without recursion.

use std::borrow::Cow;

use super::field::FieldKind;
use crate::diagnostic::Span;

/// Position of a task in [`Plan::tasks`].
pub type TaskIndex = usize;

/// One entry of a field: its text as it stands in the source, trimmed, and where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Item<'t> {
    /// The source text of the entry, not rendered; of a file its path alone, of a dependency its id alone.
    pub text: Cow<'t, str>,
    /// Where the text stands.
    pub span: Span,
    /// What follows a file or a dependency on its line, such as `(new)`, as written.
    pub note: Option<Box<str>>,
}

/// A field that is given; an empty list (`none`) is a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Field<'t> {
    /// The entries; a field that is no list has one, whose text is the value in the words of the language.
    pub items: Vec<Item<'t>>,
    /// The whole field, its label included.
    pub span: Span,
    /// Columns before the bullet of its first entry; `None` where that stands on the line of the label.
    pub entry_indent: Option<usize>,
    /// The value as written, where more is written than the value says, such as `yes (unit tests)`.
    pub written: Option<Box<str>>,
}

impl<'t> From<Vec<Item<'t>>> for Field<'t> {
    fn from(items: Vec<Item<'t>>) -> Self {
        Self { items, ..Self::default() }
    }
}

/// The fields of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskFields<'t> {
    by_kind: [Option<Field<'t>>; FieldKind::ALL.len()],
    /// Fields that are not of the language: label and value as written.
    pub unknown: Vec<(&'t str, Item<'t>)>,
    /// Label, place and value of every field given a second time; the first one counts.
    pub duplicates: Vec<(&'t str, Item<'t>)>,
    /// Fields of the language whose value can't be read, such as `Tests Required: maybe`.
    pub unreadable: Vec<(FieldKind, Item<'t>)>,
}

impl<'t> TaskFields<'t> {
    /// The field `kind`; `None` where it is absent, and for the complexity, which is the task's.
    pub fn get(&self, kind: FieldKind) -> Option<&Field<'t>> {
        self.by_kind[kind as usize].as_ref()
    }

    /// The place of the field `kind`, to change it.
    pub fn slot(&mut self, kind: FieldKind) -> &mut Option<Field<'t>> {
        &mut self.by_kind[kind as usize]
    }

    /// All fields that are given, in the order in which they would be written.
    pub fn given(&self) -> impl Iterator<Item = (FieldKind, &Field<'t>)> {
        FieldKind::ALL.into_iter().filter_map(|kind| Some((kind, self.get(kind)?)))
    }

    /// The entries of `kind`; empty where it is absent.
    pub fn items(&self, kind: FieldKind) -> &[Item<'t>] {
        self.get(kind).map_or(&[], |field| &field.items)
    }

    /// The value of `kind`, which is no list, in the words of the language.
    pub fn text(&self, kind: FieldKind) -> Option<&str> {
        self.items(kind).first().filter(|_| !kind.form().is_list()).map(|item| &*item.text)
    }

    /// Where `kind` stands; `None` where it is absent.
    pub fn span(&self, kind: FieldKind) -> Option<Span> {
        self.get(kind).map(|field| field.span)
    }

    fn texts(&self, kind: FieldKind) -> impl Iterator<Item = &str> {
        self.items(kind).iter().map(|item| &*item.text)
    }
}

/// One node of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task<'t> {
    /// The id as written, checked by rules, not by the parser.
    pub id: Cow<'t, str>,
    /// Where the id stands.
    pub id_span: Span,
    /// Title: one line.
    pub description: Cow<'t, str>,
    /// Complexity, if a whole number is given; 1 to 10 is valid.
    pub complexity: Option<u32>,
    /// Complexity as written, whether it is a number or not.
    pub complexity_source: Option<Item<'t>>,
    /// Line of the task itself, without fields and children.
    pub span: Span,
    /// Where its line ends, or both lines of an underlined heading; a field can be inserted behind it.
    pub line_end: usize,
    /// The task with its fields and children.
    pub extent: Span,
    /// Steps from the root, whose depth is 0.
    pub depth: usize,
    /// Its parent; `None` for the root.
    pub parent: Option<TaskIndex>,
    /// Its children in document order.
    pub children: Vec<TaskIndex>,
    /// Its fields.
    pub fields: TaskFields<'t>,
    /// Prose below it that is no field: Markdown blocks as written, dedented.
    pub notes: Vec<Item<'t>>,
    /// Columns before the bullet of its last field, or where one would stand, for edits that insert one.
    pub field_indent: usize,
    /// Whether the parser made it up, to be the root of several top-level tasks.
    pub synthetic: bool,
    /// Whether its line only starts like a task. It was reported as `syntax` and is in the tree so that
    /// what hangs below it or waits for it isn't reported too.
    pub broken: bool,
}

/// A parsed tree; may break every rule, never its own links.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan<'t> {
    /// All tasks in document order; a synthetic root comes first.
    pub tasks: Vec<Task<'t>>,
    /// The root; `None` for an empty tree.
    pub root: Option<TaskIndex>,
    /// Prose outside all tasks: Markdown blocks as written, each with the number of tasks before it.
    pub prose: Vec<(usize, Item<'t>)>,
    /// Whether the lines of the source end with a carriage return and a line feed.
    pub crlf: bool,
}

impl<'t> Task<'t> {
    /// Whether it is a leaf. The root alone in its tree is one.
    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    /// Its acceptance criteria; empty where absent.
    pub fn acceptance(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::Acceptance)
    }

    /// Its files; empty where absent.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::Files)
    }

    /// The ids it waits for, as written.
    pub fn dependencies(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::Dependencies)
    }

    /// Its hints.
    pub fn hints(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::Hints)
    }

    /// Its references.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::References)
    }

    /// Its guardrails.
    pub fn guardrails(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::Guardrails)
    }

    /// Its test commands.
    pub fn test_commands(&self) -> impl Iterator<Item = &str> {
        self.fields.texts(FieldKind::TestCommands)
    }

    /// Whether tests have to be written; `false` where absent.
    pub fn tests_required(&self) -> bool {
        self.fields.text(FieldKind::TestsRequired) == Some("yes")
    }

    /// The one command whose exit status decides, if there is one.
    pub fn verify(&self) -> Option<&str> {
        self.fields.text(FieldKind::Verify)
    }
}

impl<'t> Plan<'t> {
    /// How the source ends its lines.
    pub fn newline(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    /// The leaves in document order.
    pub fn leaves(&self) -> impl Iterator<Item = &Task<'t>> {
        self.tasks.iter().filter(|t| t.is_leaf())
    }

    /// The first task with this id. Looks at every task; [`PlanIndex`](super::graph::PlanIndex) does it for many.
    pub fn find(&self, id: &str) -> Option<&Task<'t>> {
        self.tasks.iter().find(|t| t.id == id)
    }
}

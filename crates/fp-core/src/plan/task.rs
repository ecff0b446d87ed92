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

/// A field that is present. `None` in [`Fields`] means it is absent; an empty list (`none`) is a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Field<T> {
    /// The value.
    pub value: T,
    /// The whole field, its label included.
    pub span: Span,
    /// Columns before the bullet of its first entry; `None` where that stands on the line of the label.
    pub entry_indent: Option<usize>,
    /// The value as written, where more is written than the value says, such as `yes (unit tests)`.
    pub written: Option<Box<str>>,
}

/// A field whose value is a list.
pub type ListField<'t> = Option<Field<Vec<Item<'t>>>>;

/// How risky a task is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Little can go wrong.
    Low,
    /// Something can go wrong.
    Medium,
    /// Much can go wrong.
    High,
}

impl Risk {
    /// The word of the language for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The fields of a task, each absent or present with a span.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fields<'t> {
    /// `Acceptance`: criteria that a verifier checks one by one.
    pub acceptance: ListField<'t>,
    /// `Dependencies`: ids of tasks (leaves or parents) that must be done before.
    pub dependencies: ListField<'t>,
    /// `Files`: the files that the task may change, relative to the repository.
    pub files: ListField<'t>,
    /// `Tests Required`: whether tests have to be written.
    pub tests_required: Option<Field<bool>>,
    /// `Hints`.
    pub hints: ListField<'t>,
    /// `References`: `file:line - why`.
    pub references: ListField<'t>,
    /// `Guardrails`.
    pub guardrails: ListField<'t>,
    /// `Test Commands`: shell command lines.
    pub test_commands: ListField<'t>,
    /// `Covers`: requirement ids.
    pub covers: ListField<'t>,
    /// `Group`: execution group.
    pub group: Option<Field<Cow<'t, str>>>,
    /// `Risk`.
    pub risk: Option<Field<Risk>>,
    /// `Verify`: one command whose exit status decides.
    pub verify: Option<Field<Cow<'t, str>>>,
    /// `Priority`, as written.
    pub priority: Option<Field<Cow<'t, str>>>,
    /// `Description` of the heading dialect.
    pub description: Option<Field<Cow<'t, str>>>,
    /// Fields that are not of the language: label and value as written.
    pub unknown: Vec<(&'t str, Item<'t>)>,
    /// Label, place and value of every field given a second time; the first one counts.
    pub duplicates: Vec<(&'t str, Item<'t>)>,
    /// Fields of the language whose value can't be read, such as `Tests Required: maybe`.
    pub unreadable: Vec<(FieldKind, Item<'t>)>,
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
    pub fields: Fields<'t>,
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
    /// How the source ends its lines.
    pub newline: Newline,
}

/// How a text ends its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Newline {
    /// A line feed.
    #[default]
    Lf,
    /// A carriage return and a line feed.
    CrLf,
}

impl Newline {
    /// The characters themselves.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

fn texts<'f>(field: &'f ListField<'_>) -> impl Iterator<Item = &'f str> {
    field.iter().flat_map(|f| f.value.iter().map(|i| &*i.text))
}

impl<'t> Task<'t> {
    /// Whether it is a leaf. The root alone in its tree is one.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    /// Its acceptance criteria; empty where absent.
    pub fn acceptance(&self) -> impl Iterator<Item = &str> {
        texts(&self.fields.acceptance)
    }

    /// Its files; empty where absent.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        texts(&self.fields.files)
    }

    /// The ids it waits for, as written.
    pub fn dependencies(&self) -> impl Iterator<Item = &str> {
        texts(&self.fields.dependencies)
    }

    /// Its hints.
    pub fn hints(&self) -> impl Iterator<Item = &str> {
        texts(&self.fields.hints)
    }

    /// Its references.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        texts(&self.fields.references)
    }

    /// Its guardrails.
    pub fn guardrails(&self) -> impl Iterator<Item = &str> {
        texts(&self.fields.guardrails)
    }

    /// Its test commands.
    pub fn test_commands(&self) -> impl Iterator<Item = &str> {
        texts(&self.fields.test_commands)
    }

    /// Whether tests have to be written; `false` where absent.
    #[must_use]
    pub fn tests_required(&self) -> bool {
        self.fields.tests_required.as_ref().is_some_and(|f| f.value)
    }

    /// The one command whose exit status decides, if there is one.
    #[must_use]
    pub fn verify(&self) -> Option<&str> {
        self.fields.verify.as_ref().map(|f| &*f.value)
    }
}

impl<'t> Fields<'t> {
    /// The list that `kind` is; `None` where it is absent, and for a kind that is no list.
    #[must_use]
    pub fn list(&self, kind: FieldKind) -> Option<&Field<Vec<Item<'t>>>> {
        match kind {
            FieldKind::Acceptance => self.acceptance.as_ref(),
            FieldKind::Dependencies => self.dependencies.as_ref(),
            FieldKind::Files => self.files.as_ref(),
            FieldKind::Hints => self.hints.as_ref(),
            FieldKind::References => self.references.as_ref(),
            FieldKind::Guardrails => self.guardrails.as_ref(),
            FieldKind::TestCommands => self.test_commands.as_ref(),
            FieldKind::Covers => self.covers.as_ref(),
            _ => None,
        }
    }

    /// The one value that `kind` has, in the words of the language; `None` where it is absent, for a list,
    /// and for the complexity, which is the task's.
    #[must_use]
    pub fn scalar(&self, kind: FieldKind) -> Option<&str> {
        match kind {
            FieldKind::TestsRequired => {
                self.tests_required.as_ref().map(|f| if f.value { "yes" } else { "no" })
            }
            FieldKind::Risk => self.risk.as_ref().map(|field| field.value.word()),
            FieldKind::Group => self.group.as_ref().map(|field| &*field.value),
            FieldKind::Verify => self.verify.as_ref().map(|field| &*field.value),
            FieldKind::Priority => self.priority.as_ref().map(|field| &*field.value),
            FieldKind::Description => self.description.as_ref().map(|field| &*field.value),
            _ => None,
        }
    }
}

impl<'t> Plan<'t> {
    /// The leaves in document order.
    pub fn leaves(&self) -> impl Iterator<Item = &Task<'t>> {
        self.tasks.iter().filter(|t| t.is_leaf())
    }

    /// The first task with this id. Looks at every task; [`Index`](super::index::Index) does it for many.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Task<'t>> {
        self.tasks.iter().find(|t| t.id == id)
    }
}

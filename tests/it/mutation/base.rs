//! The base of mutants: a good fixture with its repository, and the edits that break it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use fp_host::facts;
use fp_plan::diagnostic::{Diagnostic, Span};
use fp_plan::plan::{FieldKind, Lines, Plan, PlanIndex, Task, parse};
use fp_plan::rules::{RuleFacts, check_plan};
use fp_run::interview::Interview;

use crate::common::fixture::Fixture;
use crate::common::search_path;

/// Name of a link that every repository contains and that leads out of it.
pub(crate) const LINK: &str = "outside-link";

/// A good fixture and its repository.
pub(crate) struct Base {
    pub(crate) name: String,
    pub(crate) text: &'static str,
    pub(crate) plan: Plan<'static>,
    _folder: tempfile::TempDir,
    root: PathBuf,
    interview: Option<Interview>,
}

/// The expected place of the finding.
#[derive(Debug)]
pub(crate) enum At {
    /// On this task.
    Task(String),
    /// On one of these tasks.
    OneOf(Vec<String>),
    /// On this line.
    Line(usize),
    /// Anywhere.
    Anywhere,
}

/// A tree that was broken in one place.
#[derive(Debug)]
pub(crate) struct Mutant {
    /// The rule that must find the mutant.
    pub(crate) rule: &'static str,
    /// Description of the mutation and its task.
    pub(crate) what: String,
    pub(crate) at: At,
    /// Ids of the tasks that were changed.
    pub(crate) touched: BTreeSet<String>,
    pub(crate) text: String,
}

impl Base {
    pub(crate) fn all() -> Vec<Self> {
        Fixture::all().iter().map(Self::new).collect()
    }

    fn new(fixture: &Fixture) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fixture.lay_out(folder.path());
        std::os::unix::fs::symlink("/", folder.path().join(LINK)).unwrap();
        let interview = fs::read_to_string(folder.path().join("interview.json")).ok();
        // Leaked, so that the tree can be stored beside the text that it borrows.
        let text: &str = fixture.text("tree.md").unwrap().leak();
        Self {
            name: fixture.name.clone(),
            plan: parse(text).0,
            text,
            root: folder.path().canonicalize().unwrap(),
            _folder: folder,
            interview: interview.map(|text| Interview::parse(&text).unwrap()),
        }
    }

    pub(crate) fn facts(&self, plan: &Plan) -> RuleFacts {
        facts::gather(
            &self.root,
            plan,
            7,
            self.interview.as_ref(),
            search_path::of_tests(),
        )
    }

    /// The findings for `text` as a tree in this repository.
    pub(crate) fn found(&self, text: &str) -> Vec<Diagnostic> {
        let (plan, parsed) = parse(text);
        check_plan(&plan, &parsed, &self.facts(&plan))
    }

    pub(crate) fn leaves(&self) -> impl Iterator<Item = &Task<'_>> {
        self.plan.leaves()
    }

    /// The tasks above `task`, the nearest first.
    pub(crate) fn above<'b>(&'b self, task: &'b Task) -> impl Iterator<Item = &'b Task<'b>> {
        std::iter::successors(Some(task), |task| Some(&self.plan.tasks[task.parent?])).skip(1)
    }

    pub(crate) fn is_heading(&self, task: &Task) -> bool {
        self.line_start(task).starts_with('#')
    }

    fn line_start(&self, task: &Task) -> &str {
        self.text[lines_of(self.text, task.span).start..].trim_start()
    }

    /// The text with `span` replaced.
    pub(crate) fn replaced(&self, span: Span, new: &str) -> String {
        format!(
            "{}{new}{}",
            &self.text[..span.start],
            &self.text[span.end..]
        )
    }

    /// The text with each of these spans replaced.
    pub(crate) fn changed(&self, changes: &mut [(Span, String)]) -> String {
        changes.sort();
        let mut text = self.text.to_owned();
        for (span, new) in changes.iter().rev() {
            text.replace_range(span.start..span.end, new);
        }
        text
    }

    /// True if `task` waits for `other`, directly or indirectly.
    pub(crate) fn waits(&self, task: &Task, other: &Task) -> bool {
        let index = PlanIndex::new(&self.plan);
        let mut waited: BTreeSet<&str> = BTreeSet::new();
        let mut open = vec![&*task.id];
        while let Some(id) = open.pop() {
            let named = |kind| index.leaves_named(self.plan.find(id).unwrap(), kind);
            for next in FieldKind::ORDERING.into_iter().flat_map(named) {
                if waited.insert(next) {
                    open.push(next);
                }
            }
        }
        waited.contains(&*other.id)
    }

    /// The text without the lines of `span`.
    pub(crate) fn without(&self, span: Span) -> String {
        self.replaced(lines_of(self.text, span), "")
    }

    /// The text with a line `- LINE` before the first field of `task`.
    pub(crate) fn with_field(&self, task: &Task, line: &str) -> String {
        let first = FieldKind::ALL
            .iter()
            .filter_map(|&kind| field(task, kind))
            .min();
        let newline = self.plan.newline();
        let Some(first) = first else {
            let own = task
                .fields
                .value(FieldKind::Complexity)
                .map_or(task.span, |source| source.span);
            let end = lines_of(self.text, own.max(task.span)).end;
            let indent = " ".repeat(task.field_indent);
            return self.replaced(Span::new(end, end), &format!("{indent}- {line}{newline}"));
        };
        let start = lines_of(self.text, first).start;
        let lead = &self.text[start..first.start];
        self.replaced(Span::new(start, start), &format!("{lead}{line}{newline}"))
    }

    /// The text with the field `kind` of `task` set to a value on its own line, or added.
    pub(crate) fn with_value(&self, task: &Task, kind: FieldKind, value: &str) -> String {
        let line = format!("{}: {value}", kind.label());
        match field(task, kind) {
            Some(span) => self.replaced(span, &line),
            None => self.with_field(task, &line),
        }
    }

    /// The text with a dependency on `id` added to `task`.
    pub(crate) fn with_dependency(&self, task: &Task, id: &str) -> String {
        let ids: Vec<&str> = task.dependencies().chain([id]).collect();
        self.with_value(task, FieldKind::Dependencies, &ids.join(", "))
    }

    /// A mutant of `task`, with the finding expected on that task.
    pub(crate) fn mutant(
        &self,
        rule: &'static str,
        task: &Task,
        what: impl Into<String>,
        text: String,
    ) -> Mutant {
        Mutant {
            rule,
            what: format!("{}: {}", task.id, what.into()),
            at: At::Task(task.id.to_string()),
            touched: BTreeSet::from([task.id.to_string()]),
            text,
        }
    }
}

/// `span` extended to whole lines, including their line endings.
pub(crate) fn lines_of(text: &str, span: Span) -> Span {
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[span.end..]
        .find('\n')
        .map_or(text.len(), |at| span.end + at + 1);
    Span::new(start, end)
}

/// The span of a field of `task`, except for fields that are part of the task's own line.
pub(crate) fn field(task: &Task, kind: FieldKind) -> Option<Span> {
    match kind {
        FieldKind::Complexity | FieldKind::Description => None,
        kind => task.fields.span(kind),
    }
}

/// `text` with a comment before each task and before some fields, and a line of prose at the end; a fix must keep all
/// of them.
pub(crate) fn commented(text: &str) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut result = String::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let indent = &line[..line.len() - bare.len()];
        let is_task = indent.is_empty()
            && ["##", "- [ID:", "* [ID:"]
                .iter()
                .any(|lead| bare.starts_with(lead));
        let is_field = ["- Files:", "- Hints:", "- Guardrails:", "- Dependencies:"]
            .iter()
            .any(|lead| bare.starts_with(lead));
        if is_task || is_field {
            result.push_str(&format!("{indent}<!-- kept: {} -->{newline}", result.len()));
        }
        if is_task {
            result.push_str(newline);
        }
        result.push_str(line);
    }
    result + &format!("{newline}A word at the end.{newline}")
}

/// The lines of `text` with all ids and dependencies removed.
pub(crate) fn without_ids(text: &str, plan: &Plan) -> Vec<String> {
    let mut spans: Vec<Span> = plan
        .tasks
        .iter()
        .filter(|task| !task.synthetic)
        .map(|task| task.id_span)
        .collect();
    let dependencies = plan
        .tasks
        .iter()
        .flat_map(|task| task.fields.items(FieldKind::Dependencies));
    spans.extend(dependencies.map(|item| item.span));
    spans.sort();
    let mut rest = text.to_owned();
    for span in spans.into_iter().rev() {
        rest.replace_range(span.start..span.end, "");
    }
    let lines = Lines::new(&rest);
    (1..=lines.position(rest.len()).line)
        .map(|line| lines.line_text(line).to_owned())
        .collect()
}

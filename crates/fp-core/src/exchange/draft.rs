//! From a portable plan to the text of a task tree, and to the record of where each of its tasks came from.
//!
//! Texts of strangers can begin anything in Markdown. So each task is written, read again and compared; what would be
//! read as something else is written in a plainer form, and what has none stays out of the tree, in `ext`.

mod ids;

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::notice::{Kind, Notice};
use super::origin::{Origin, OriginTask};
use super::portable::{PortablePlan, PortableTask, Work};
use crate::plan::field::FieldKind;
use crate::plan::meaning::{Difference, difference};
use crate::plan::task::{Field, Item, Plan, Task, TaskFields};
use crate::plan::{parse, write};

/// The name in `ext` of what can't be written in a tree.
pub const UNWRITTEN: &str = "unwritten";

/// The title of a plan that has none.
const UNTITLED: &str = "Imported plan";
/// Most attempts to write a tree with plainer tasks; what is left then is title and dependencies.
const ATTEMPTS: usize = 24;

/// A tree that can be written to `tasks.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The canonical text.
    pub text: String,
    /// The id of each task of the portable plan in it.
    pub ids: Vec<String>,
    /// What is not there as the source has it.
    pub notices: Vec<Notice>,
    /// What is not there at all, by position.
    unwritten: BTreeMap<usize, Map<String, Value>>,
}

/// A leaf that the source says is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Its id in the tree.
    pub id: String,
    /// Its title in the tree.
    pub title: String,
    /// The commit that the source names.
    pub commit: Option<String>,
}

/// How plainly a task is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Plainness {
    /// As it is.
    #[default]
    AsItIs,
    /// With its description on one line.
    OneLine,
    /// Without what can't be read back.
    Sifted,
    /// Title and dependencies alone.
    Bare,
}

impl Plainness {
    fn next(self) -> Self {
        match self {
            Self::AsItIs => Self::OneLine,
            Self::OneLine => Self::Sifted,
            Self::Sifted | Self::Bare => Self::Bare,
        }
    }
}

impl Draft {
    /// The tree of `plan`, in which [`settle`](super::check::settle) has found nothing more to do.
    #[must_use]
    pub fn of(plan: &PortablePlan) -> Self {
        let (ids, kept) = ids::assign(plan);
        let mut writing = Writing::new(plan, &ids);
        let text = writing.text();
        let unwritten = writing.unwritten();
        let mut notices = Vec::new();
        if !kept {
            let text = "the ids of the source can't be ids of a tree; the tasks are numbered, and import.json has both";
            notices.push(Notice::new(Kind::Rewritten, text));
        }
        for (&at, left) in &unwritten {
            let fields: Vec<&str> = left.keys().map(String::as_str).collect();
            let text = format!(
                "of {}, this can't be written in a tree and is kept in import.json: {}",
                plan.tasks[at].id,
                fields.join(", ")
            );
            notices.push(Notice::new(Kind::Rewritten, text).about(&plan.tasks[at].id));
        }
        Self { text, ids, notices, unwritten }
    }

    /// The leaves of `plan` that are said to be done.
    #[must_use]
    pub fn done(&self, plan: &PortablePlan) -> Vec<Done> {
        let (tree, _) = parse(&self.text);
        let titles: HashMap<&str, &str> = tree.leaves().map(|leaf| (&*leaf.id, &*leaf.description)).collect();
        let done = plan.tasks.iter().zip(&self.ids).filter_map(|(task, id)| {
            let Work::Done { commit } = &task.work else { return None };
            let title = titles.get(id.as_str())?;
            Some(Done { id: id.clone(), title: (*title).to_owned(), commit: commit.clone() })
        });
        done.collect()
    }

    /// Where `plan` came from: `from` is the name of its format, `path` what was imported.
    #[must_use]
    pub fn origin(&self, plan: &PortablePlan, from: &str, path: &str, at: Timestamp) -> Origin {
        let tasks = plan.tasks.iter().zip(&self.ids).enumerate().map(|(at, (task, id))| {
            let mut ext = task.ext.clone();
            if let Some(left) = self.unwritten.get(&at) {
                ext.insert(UNWRITTEN.into(), Value::Object(left.clone()));
            }
            (id.clone(), OriginTask { id: task.id.clone(), ext })
        });
        Origin {
            schema_version: 1,
            from: from.to_owned(),
            path: path.to_owned(),
            imported_at: at,
            ext: plan.ext.clone(),
            tasks: tasks.collect(),
        }
    }
}

/// A tree on its way.
struct Writing<'p> {
    plan: &'p PortablePlan,
    ids: &'p [String],
    /// The position of each id of the source.
    place: HashMap<&'p str, usize>,
    /// The children of each task, and of the root under the number of tasks.
    children: Vec<Vec<usize>>,
    tasks: Vec<Task<'static>>,
    plainness: Vec<Plainness>,
}

impl<'p> Writing<'p> {
    fn new(plan: &'p PortablePlan, ids: &'p [String]) -> Self {
        let mut place = HashMap::new();
        let mut children = vec![Vec::new(); plan.tasks.len() + 1];
        for (at, task) in plan.tasks.iter().enumerate() {
            place.entry(task.id.as_str()).or_insert(at);
            children[task.parent.unwrap_or(plan.tasks.len())].push(at);
        }
        let mut writing = Self { plan, ids, place, children, tasks: Vec::new(), plainness: Vec::new() };
        writing.plainness = vec![Plainness::default(); plan.tasks.len()];
        writing.tasks = (0..plan.tasks.len()).map(|at| writing.readable(at)).collect();
        writing
    }

    /// The task at `at`, as plainly as it has to be to be read back.
    fn readable(&mut self, at: usize) -> Task<'static> {
        loop {
            let task = self.task(at);
            if self.plainness[at] == Plainness::Bare || reads_back(&task) {
                return task;
            }
            self.plainness[at] = self.plainness[at].next();
        }
    }

    /// The task as it is to be written, by itself.
    fn task(&self, at: usize) -> Task<'static> {
        let portable = &self.plan.tasks[at];
        let dependencies = portable.dependencies.as_ref().map(|list| {
            let known = list.iter().filter_map(|id| self.place.get(id.as_str()));
            known.map(|&target| self.ids[target].clone()).collect::<Vec<_>>()
        });
        let mut task = Task {
            id: self.ids[at].clone().into(),
            description: title(&portable.title, &self.ids[at]).into(),
            fields: with_field(FieldKind::Dependencies, dependencies.map(list)),
            ..Task::default()
        };
        if let Some(complexity) = portable.complexity {
            task.complexity = Some(complexity);
            task.complexity_source = Some(item(complexity.to_string()));
        }
        let plainness = self.plainness[at];
        if plainness < Plainness::Bare {
            fill(&mut task.fields, portable, plainness);
        }
        if plainness == Plainness::Sifted {
            sift(&mut task);
        }
        task
    }

    /// The text of the whole; what is read as something else is made plainer until nothing is.
    fn text(&mut self) -> String {
        for attempt in 1..=ATTEMPTS {
            let (tree, order) = self.tree();
            let text = write(&tree);
            let (again, findings) = parse(&text);
            let at = match difference(&tree, &again) {
                None if findings.is_empty() => return text,
                Some(Difference::Task(index)) => index,
                _ => 0,
            };
            // What is read wrongly can be the end of the task before it. The root has no place in the order.
            let suspects = order.get(at.saturating_sub(2)..at.min(order.len())).unwrap_or_default();
            if attempt == ATTEMPTS || suspects.is_empty() {
                order.iter().for_each(|&suspect| self.simplify(suspect, Plainness::Bare));
            } else {
                suspects.iter().for_each(|&suspect| self.simplify(suspect, self.plainness[suspect].next()));
            }
        }
        write(&self.tree().0)
    }

    fn simplify(&mut self, at: usize, plainness: Plainness) {
        self.plainness[at] = plainness;
        self.tasks[at] = self.task(at);
    }

    /// The tree, and which task stands at each of its places behind the root.
    fn tree(&self) -> (Plan<'static>, Vec<usize>) {
        let goal = match one_line(&self.plan.title) {
            title if title.is_empty() => UNTITLED.to_owned(),
            title => title,
        };
        let complexity = self.plan.ext.get("root").and_then(|root| root.get("complexity")?.as_u64());
        let complexity = complexity.and_then(|complexity| u32::try_from(complexity).ok());
        let root = Task {
            id: "root".into(),
            description: readable_title(goal, "root").into(),
            complexity,
            complexity_source: complexity.map(|complexity| item(complexity.to_string())),
            ..Task::default()
        };
        let mut tasks = vec![root];
        let mut order = Vec::with_capacity(self.tasks.len());
        let below_root = &self.children[self.plan.tasks.len()];
        let mut open: Vec<(usize, usize)> = below_root.iter().rev().map(|&at| (at, 0)).collect();
        while let Some((at, parent)) = open.pop() {
            let index = tasks.len();
            let depth = tasks[parent].depth + 1;
            tasks[parent].children.push(index);
            tasks.push(Task { parent: Some(parent), depth, ..self.tasks[at].clone() });
            order.push(at);
            open.extend(self.children[at].iter().rev().map(|&child| (child, index)));
        }
        (Plan { tasks, root: Some(0), ..Plan::default() }, order)
    }

    /// What the source says and the tree doesn't.
    fn unwritten(&self) -> BTreeMap<usize, Map<String, Value>> {
        let all = 0..self.tasks.len();
        all.map(|at| (at, missing(&self.plan.tasks[at], &self.tasks[at])))
            .filter(|(_, map)| !map.is_empty())
            .collect()
    }
}

/// What of `portable` is not in `task`, by the names of a portable task.
fn missing(portable: &PortableTask, task: &Task<'_>) -> Map<String, Value> {
    let mut whole = TaskFields::default();
    fill(&mut whole, portable, Plainness::OneLine);
    let mut left = Map::new();
    let lists = [
        ("acceptance", FieldKind::Acceptance),
        ("files", FieldKind::Files),
        ("hints", FieldKind::Hints),
        ("references", FieldKind::References),
        ("guardrails", FieldKind::Guardrails),
        ("testCommands", FieldKind::TestCommands),
        ("covers", FieldKind::Covers),
    ];
    for (name, kind) in lists {
        let (said, written) = (whole.items(kind), task.fields.items(kind));
        let whole = |item: &Item<'_>| format!("{} {}", item.text, item.note.as_deref().unwrap_or_default());
        let lost = said.iter().filter(|item| !written.contains(item));
        let lost: Vec<Value> = lost.map(|item| whole(item).trim_end().into()).collect();
        if !lost.is_empty() {
            left.insert(name.into(), lost.into());
        }
    }
    let described = whole.text(FieldKind::Description).and(portable.description.as_ref()).cloned();
    let is_given = |kind: FieldKind| task.fields.get(kind).is_some();
    let texts = [
        ("description", &described, is_given(FieldKind::Description)),
        ("verify", &portable.verify, is_given(FieldKind::Verify)),
        ("group", &portable.group, is_given(FieldKind::Group)),
        ("priority", &portable.priority, is_given(FieldKind::Priority)),
        ("risk", &portable.risk, is_given(FieldKind::Risk)),
    ];
    for (name, said, written) in texts {
        if let Some(said) = said.as_ref().filter(|said| !written && !said.trim().is_empty()) {
            left.insert(name.into(), said.clone().into());
        }
    }
    if one_line(&portable.title) != task.description && !portable.title.trim().is_empty() {
        left.insert("title".into(), portable.title.clone().into());
    }
    left
}

/// Puts what a task says into fields.
fn fill(fields: &mut TaskFields<'static>, portable: &PortableTask, plainness: Plainness) {
    let plain = |given: &Option<Vec<String>>| given.as_ref().map(|given| list(sayable(given)));
    *fields.slot(FieldKind::Acceptance) = plain(&portable.acceptance);
    *fields.slot(FieldKind::Hints) = plain(&portable.hints);
    *fields.slot(FieldKind::References) = plain(&portable.references);
    *fields.slot(FieldKind::Guardrails) = plain(&portable.guardrails);
    *fields.slot(FieldKind::TestCommands) = plain(&portable.test_commands);
    *fields.slot(FieldKind::Covers) = plain(&portable.covers);
    *fields.slot(FieldKind::Files) = portable.files.as_ref().map(|files| {
        let paths = files.iter().filter(|file| !is_nothing(&file.path));
        let file = |file: &super::portable::PortableFile| Item {
            note: file.note.as_deref().map(one_line).filter(|note| !note.is_empty()).map(Into::into),
            ..item(one_line(&file.path))
        };
        paths.map(file).collect::<Vec<_>>().into()
    });
    let text = |given: &Option<String>| {
        let given = given.as_deref().map(one_line).filter(|given| !is_nothing(given))?;
        Some(list(vec![given]))
    };
    *fields.slot(FieldKind::TestsRequired) =
        portable.tests_required.map(|yes| list(vec![if yes { "yes" } else { "no" }.to_owned()]));
    *fields.slot(FieldKind::Verify) = text(&portable.verify);
    *fields.slot(FieldKind::Group) = text(&portable.group);
    *fields.slot(FieldKind::Priority) = text(&portable.priority);
    let risk = portable.risk.as_deref().map(|risk| risk.trim().to_lowercase());
    *fields.slot(FieldKind::Risk) =
        risk.filter(|risk| ["low", "medium", "high"].contains(&risk.as_str())).map(|risk| list(vec![risk]));
    let description = portable.description.as_deref().map(|text| match plainness {
        Plainness::AsItIs => lines(text),
        _ => one_line(text),
    });
    let description = description.filter(|text| !is_nothing(text) && *text != one_line(&portable.title));
    *fields.slot(FieldKind::Description) = description.map(|text| list(vec![text]));
}

fn with_field(kind: FieldKind, field: Option<Field<'static>>) -> TaskFields<'static> {
    let mut fields = TaskFields::default();
    *fields.slot(kind) = field;
    fields
}

/// Takes out what is not read back by itself.
fn sift(task: &mut Task<'static>) {
    let bare =
        Task { fields: TaskFields::default(), complexity_source: None, complexity: None, ..task.clone() };
    let reads = |fields: TaskFields<'static>| reads_back(&Task { fields, ..bare.clone() });
    let fields = &mut task.fields;
    for kind in FieldKind::ALL.into_iter().filter(|kind| *kind != FieldKind::TestsRequired) {
        let Some(mut field) = fields.slot(kind).take() else { continue };
        if kind.form().is_list() {
            field.items.retain(|item| reads(with_field(kind, Some(vec![item.clone()].into()))));
        }
        if kind == FieldKind::Risk || reads(with_field(kind, Some(field.clone()))) {
            *fields.slot(kind) = Some(field);
        }
    }
}

/// Whether a task is read as it was meant, by itself.
fn reads_back(task: &Task<'static>) -> bool {
    let alone = Plan { tasks: vec![task.clone()], root: Some(0), ..Plan::default() };
    let text = write(&alone);
    let (again, findings) = parse(&text);
    findings.is_empty() && difference(&alone, &again).is_none()
}

/// A title that can be one, whatever it is.
fn title(text: &str, id: &str) -> String {
    match one_line(text) {
        text if text.is_empty() => format!("Task {id}"),
        text => readable_title(text, id),
    }
}

fn readable_title(text: String, id: &str) -> String {
    let reads = |title: &str| {
        reads_back(&Task {
            id: id.to_owned().into(),
            description: title.to_owned().into(),
            ..Task::default()
        })
    };
    if reads(&text) {
        return text;
    }
    // What could begin or end something else stands behind a word, or in quotation marks.
    let forms = [format!("Task: {text}"), format!("“{text}”")];
    let bare: String = text.chars().filter(|c| c.is_alphanumeric() || " _-./,".contains(*c)).collect();
    forms
        .into_iter()
        .find(|form| reads(form))
        .unwrap_or_else(|| format!("Task {}", one_line(&bare)).trim_end().to_owned())
}

fn item(text: String) -> Item<'static> {
    Item { text: text.into(), ..Item::default() }
}

fn list(entries: Vec<String>) -> Field<'static> {
    entries.into_iter().map(item).collect::<Vec<_>>().into()
}

/// The entries as lines; those that say nothing say nothing.
fn sayable(entries: &[String]) -> Vec<String> {
    entries.iter().map(|entry| one_line(entry)).filter(|entry| !is_nothing(entry)).collect()
}

/// Whether a tree would read a text as that there is nothing.
fn is_nothing(text: &str) -> bool {
    let bare = text.trim().trim_matches(['*', '_', '`', '(', ')', '.']);
    bare.is_empty() || bare.eq_ignore_ascii_case("none")
}

/// `text` on one line, without control characters.
fn one_line(text: &str) -> String {
    let blank = |c: char| c.is_whitespace() || c.is_control();
    text.split(blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// `text` with its lines, without control characters and blanks at their ends.
fn lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
    let lines = text.split('\n').map(|line| line.replace(char::is_control, " ").trim_end().to_owned());
    let lines: Vec<String> = lines.skip_while(String::is_empty).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests;

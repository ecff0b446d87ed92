//! From a portable plan to the text of a task tree, and to the record of where each of its tasks came from.
//!
//! Texts of strangers can begin anything in Markdown. So each task is written, read again and compared. A text that
//! would be read as something else stays out of the tree, and `import.json` keeps it.

use std::collections::{BTreeMap, HashMap, HashSet};

use fp_plan::plan::id::TaskId;
use fp_plan::plan::meaning::difference;
use fp_plan::plan::{FieldForm, FieldKind, Item, Plan, Task, parse, write};
use fp_plan::text::one_line;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::export::pretty_json;
use crate::formats::SourceFormat;
use crate::portable::{PortableFile, PortablePlan, PortableTask, TaskWork};
use crate::settle::{children_of, settle};

/// The name in `ext` of texts that can't be written in a tree.
const UNWRITTEN: &str = "unwritten";
/// Longest id of the source that stays an id: a longer one is no help in a tree.
const MAX_OWN_ID: usize = 40;

/// A tree that can be written to `tasks.md`, and the record of its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanDraft {
    /// The settled plan. The `ext` of a task keeps texts that the tree can't hold.
    pub plan: PortablePlan,
    /// The canonical text.
    pub text: String,
    /// The id of each task of the plan in it.
    pub ids: Vec<String>,
}

impl PlanDraft {
    pub fn new(mut plan: PortablePlan) -> Self {
        settle(&mut plan);
        let (ids, own) = assign_ids(&plan);
        if !own {
            plan.note(
                "the source's ids can't be ids of a tree: the tasks are numbered, and import.json has both",
            );
        }
        let text = write_readable(&mut plan, &ids);
        for at in 0..plan.tasks.len() {
            let PortableTask { id, ext, .. } = &plan.tasks[at];
            if let Some(Value::Object(left)) = ext.get(UNWRITTEN) {
                let fields = left
                    .keys()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", ");
                plan.note(format!(
                    "{id}: a tree can't hold this, so import.json keeps it: {fields}"
                ));
            }
        }
        Self { plan, text, ids }
    }

    /// The leaves that are done: id and title in the tree, and the commit that the source names.
    pub fn done(&self) -> Vec<(TaskId, String, Option<String>)> {
        let (tree, _) = parse(&self.text);
        let titles: HashMap<&str, &str> = tree
            .leaves()
            .map(|leaf| (&*leaf.id, &*leaf.description))
            .collect();
        let done = self
            .plan
            .tasks
            .iter()
            .zip(&self.ids)
            .filter_map(|(task, id)| {
                let TaskWork::Done { commit } = &task.work else {
                    return None;
                };
                let title = (*titles.get(id.as_str())?).to_owned();
                Some((TaskId::new(id.as_str()).ok()?, title, commit.clone()))
            });
        done.collect()
    }

    /// The text of `import.json` for an import from `path` in the format `from`: where the plan came from, and what its
    /// source says that the tree has no field for.
    pub fn origin(&self, from: SourceFormat, path: &str, at: Timestamp) -> String {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct PlanOrigin<'p> {
            schema_version: u32,
            from: SourceFormat,
            path: &'p str,
            imported_at: Timestamp,
            #[serde(skip_serializing_if = "Map::is_empty")]
            ext: &'p Map<String, Value>,
            /// By the ids in `tasks.md`.
            tasks: BTreeMap<&'p str, TaskOrigin<'p>>,
        }
        #[derive(Serialize)]
        struct TaskOrigin<'p> {
            /// Its id in the source.
            id: &'p str,
            #[serde(skip_serializing_if = "Map::is_empty")]
            ext: &'p Map<String, Value>,
        }
        let origins = self.plan.tasks.iter().map(|task| TaskOrigin {
            id: &task.id,
            ext: &task.ext,
        });
        pretty_json(&PlanOrigin {
            schema_version: 1,
            from,
            path,
            imported_at: at,
            ext: &self.plan.ext,
            tasks: self.ids.iter().map(String::as_str).zip(origins).collect(),
        })
    }
}

/// An id for each task, and whether they are those of the source: all of them, or none.
fn assign_ids(plan: &PortablePlan) -> (Vec<String>, bool) {
    let own: Option<Vec<String>> = plan.tasks.iter().map(own_id).collect();
    match own.filter(|ids| are_valid_ids(plan, ids)) {
        Some(ids) => (ids, true),
        None => (new_numbers(plan), false),
    }
}

fn own_id(task: &PortableTask) -> Option<String> {
    let is_id = TaskId::new(task.id.as_str()).is_ok() && task.id.len() <= MAX_OWN_ID;
    // These words mean something else where an id can stand.
    let is_word = ["none", "and", "root", "task", "id"].contains(&task.id.to_lowercase().as_str());
    (is_id && !is_word).then(|| task.id.clone())
}

/// Each id is used once, on disks that ignore case as well, and extends its parent's.
fn are_valid_ids(plan: &PortablePlan, ids: &[String]) -> bool {
    let mut seen = HashSet::new();
    let unique = ids
        .iter()
        .all(|id| id != "root" && seen.insert(id.to_lowercase()));
    let extends = |(task, id): (&PortableTask, &String)| match task.parent {
        Some(parent) => id
            .strip_prefix(ids[parent].as_str())
            .and_then(|rest| rest.strip_prefix('.'))
            .is_some_and(|rest| !rest.is_empty() && !rest.contains('.')),
        None => !id.contains('.'),
    };
    unique && plan.tasks.iter().zip(ids).all(extends)
}

fn new_numbers(plan: &PortablePlan) -> Vec<String> {
    let mut ids: Vec<String> = Vec::with_capacity(plan.tasks.len());
    let mut next = vec![1_u32; plan.tasks.len() + 1];
    for task in &plan.tasks {
        let number = &mut next[task.parent.unwrap_or(plan.tasks.len())];
        let id = match task.parent {
            Some(parent) => format!("{}.{number}", ids[parent]),
            None => number.to_string(),
        };
        *number += 1;
        ids.push(id);
    }
    ids
}

/// The task of the tree with all texts of `portable` that are read back as they were meant; `ext` keeps the others, and
/// those of a parent, of whose fields only the description counts. Dependencies are the caller's.
fn readable_task(portable: &mut PortableTask, id: &str, is_parent: bool) -> Task<'static> {
    let title = one_line(&portable.title);
    let complexity = portable.complexity;
    let bare = with_complexity(
        Task {
            id: id.to_owned().into(),
            description: readable_title(&title, id).into(),
            ..Task::default()
        },
        complexity,
    );
    if bare.description != title && !title.is_empty() {
        let title = portable.title.clone();
        keep_unwritten(portable, "title", title.into());
    }
    let mut fields = bare.fields.clone();
    for (kind, items) in said_fields(portable) {
        let is_ignored = is_parent && kind != FieldKind::Description;
        let said = items.len();
        let is_empty_list = kind.form().is_list() && said == 0;
        let readable = match is_ignored {
            true => Vec::new(),
            false => readable_items(&bare, kind, items),
        };
        if readable.len() < said {
            keep_field(portable, kind);
        }
        if !readable.is_empty() || is_empty_list && !is_ignored {
            *fields.slot(kind) = Some(readable.into());
        }
    }
    Task { fields, ..bare }
}

/// `items` as they are read back from the field `kind` of the task `bare`; none if they would be read as something else.
fn readable_items(
    bare: &Task<'static>,
    kind: FieldKind,
    mut items: Vec<Item<'static>>,
) -> Vec<Item<'static>> {
    let reads = |items: &[Item<'static>]| {
        let mut alone = bare.clone();
        *alone.fields.slot(kind) = Some(items.to_vec().into());
        reads_back(&alone)
    };
    if kind == FieldKind::Description && !reads(&items) {
        for item in &mut items {
            item.text = one_line(&item.text).into();
        }
    }
    items.retain(|item| reads(std::slice::from_ref(item)));
    items
}

fn keep_field(task: &mut PortableTask, kind: FieldKind) {
    let name = json_name(kind);
    let value = serde_json::to_value(&*task).expect("a task is plain data")[&name].take();
    keep_unwritten(task, &name, value);
}

/// Keeps what a tree can't hold.
fn keep_unwritten(task: &mut PortableTask, name: &str, value: Value) {
    let unwritten = task
        .ext
        .entry(UNWRITTEN)
        .or_insert_with(|| Map::new().into());
    unwritten[name] = value;
}

/// The name of a field in a portable task as JSON, such as `testCommands`.
fn json_name(kind: FieldKind) -> String {
    let label = kind.label().replace(' ', "");
    label[..1].to_lowercase() + &label[1..]
}

/// The fields of a task as texts of a tree.
fn said_fields(task: &PortableTask) -> Vec<(FieldKind, Vec<Item<'static>>)> {
    let lists = [
        (FieldKind::Acceptance, &task.acceptance),
        (FieldKind::Hints, &task.hints),
        (FieldKind::References, &task.references),
        (FieldKind::Guardrails, &task.guardrails),
        (FieldKind::TestCommands, &task.test_commands),
        (FieldKind::Covers, &task.covers),
    ];
    let lists = lists.into_iter().filter_map(|(kind, list)| {
        let lines = list
            .as_ref()?
            .iter()
            .map(|entry| one_line(entry))
            .filter(|line| !says_nothing(line));
        Some((kind, lines.map(text_item).collect()))
    });
    let files = task.files.iter().map(|files| {
        let files = files.iter().filter(|file| !says_nothing(&file.path));
        (FieldKind::Files, files.map(file_item).collect())
    });
    let required = task
        .tests_required
        .map(|required| if required { "yes" } else { "no" }.to_owned());
    let description = task.description.as_deref().map(clean_lines);
    let texts = [
        (FieldKind::Verify, task.verify.as_deref().map(one_line)),
        (FieldKind::Group, task.group.as_deref().map(one_line)),
        (FieldKind::Priority, task.priority.as_deref().map(one_line)),
        (FieldKind::Risk, task.risk.as_deref().map(one_line)),
        (FieldKind::TestsRequired, required),
        (
            FieldKind::Description,
            description.filter(|text| *text != one_line(&task.title)),
        ),
    ];
    let texts = texts.into_iter().filter_map(|(kind, text)| {
        let text = text.filter(|text| !says_nothing(text))?;
        let same = |text: &String| {
            matches!(kind.form(), FieldForm::Choice(_)).then(|| text.to_lowercase())
        };
        Some((kind, vec![text_item(same(&text).unwrap_or(text))]))
    });
    lists.chain(files).chain(texts).collect()
}

fn with_complexity(mut task: Task<'static>, complexity: Option<u32>) -> Task<'static> {
    task.complexity = complexity;
    let item = complexity.map(|complexity| text_item(complexity.to_string()));
    *task.fields.slot(FieldKind::Complexity) = item.map(|item| vec![item].into());
    task
}

fn text_item(text: String) -> Item<'static> {
    Item {
        text: text.into(),
        ..Item::default()
    }
}

fn file_item(file: &PortableFile) -> Item<'static> {
    let note = file
        .note
        .as_deref()
        .map(one_line)
        .filter(|note| !note.is_empty());
    Item {
        note: note.map(Into::into),
        ..text_item(one_line(&file.path))
    }
}

/// The task is read as it was meant, and so is the one behind it.
fn reads_back(task: &Task<'static>) -> bool {
    let next = Task {
        id: "next".into(),
        description: "The task behind it".into(),
        ..Task::default()
    };
    let plan = tree_of(
        "Plan".into(),
        None,
        vec![(task.clone(), None), (next, None)],
    );
    let text = write(&plan);
    let (again, findings) = parse(&text);
    findings.is_empty() && difference(&plan, &again).is_none()
}

/// A title that is read as one: `text`, or `text` in quotation marks, or the id.
fn readable_title(text: &str, id: &str) -> String {
    let reads = |title: &String| {
        let (id, description) = (id.to_owned().into(), title.clone().into());
        !text.is_empty()
            && reads_back(&Task {
                id,
                description,
                ..Task::default()
            })
    };
    [text.to_owned(), format!("“{text}”")]
        .into_iter()
        .find(reads)
        .unwrap_or_else(|| format!("Task {id}"))
}

/// The tree of `tasks`, each with the position of its parent among them, in document order.
fn tree_of(
    title: String,
    complexity: Option<u32>,
    tasks: Vec<(Task<'static>, Option<usize>)>,
) -> Plan<'static> {
    let root = with_complexity(
        Task {
            id: "root".into(),
            description: title.into(),
            ..Task::default()
        },
        complexity,
    );
    let mut all = vec![root];
    for (task, parent) in tasks {
        let (index, parent) = (all.len(), parent.map_or(0, |parent| parent + 1));
        let depth = all[parent].depth + 1;
        all[parent].children.push(index);
        all.push(Task {
            parent: Some(parent),
            depth,
            ..task
        });
    }
    Plan {
        tasks: all,
        root: Some(0),
        ..Plan::default()
    }
}

/// The text of the whole tree. Should it be read as another tree although each task by itself is read right, the tasks
/// keep no fields but their dependencies.
fn write_readable(plan: &mut PortablePlan, ids: &[String]) -> String {
    let title = one_line(&plan.title);
    let title = if title.is_empty() {
        "Imported plan".to_owned()
    } else {
        readable_title(&title, "root")
    };
    let complexity = plan
        .ext
        .get("root")
        .and_then(|root| root.get("complexity")?.as_u64());
    let complexity = complexity.and_then(|complexity| u32::try_from(complexity).ok());
    let mut positions = HashMap::new();
    for (at, task) in plan.tasks.iter().enumerate() {
        positions.entry(task.id.clone()).or_insert(at);
    }
    let order = document_order(plan);
    let mut rank = vec![0; order.len()];
    order
        .iter()
        .enumerate()
        .for_each(|(at, &task)| rank[task] = at);
    let mut drafted = Vec::with_capacity(order.len());
    let parents: HashSet<usize> = plan.tasks.iter().filter_map(|task| task.parent).collect();
    for &at in &order {
        let portable = &mut plan.tasks[at];
        let mut task = readable_task(portable, &ids[at], parents.contains(&at));
        let known = |list: &Vec<String>| -> Vec<Item<'static>> {
            let known = list.iter().filter_map(|id| positions.get(id));
            known.map(|&at| text_item(ids[at].clone())).collect()
        };
        let edges = [
            (FieldKind::Dependencies, &portable.dependencies),
            (FieldKind::After, &portable.after),
        ];
        for (kind, list) in edges {
            *task.fields.slot(kind) = list.as_ref().map(|list| known(list).into());
        }
        drafted.push((task, portable.parent.map(|parent| rank[parent])));
    }
    let tree = tree_of(title.clone(), complexity, drafted.clone());
    let text = write(&tree);
    let (again, findings) = parse(&text);
    if findings.is_empty() && difference(&tree, &again).is_none() {
        return text;
    }
    for ((task, _), &at) in drafted.iter_mut().zip(&order) {
        for (kind, _) in said_fields(&plan.tasks[at]) {
            keep_field(&mut plan.tasks[at], kind);
            *task.fields.slot(kind) = None;
        }
    }
    write(&tree_of(title, complexity, drafted))
}

/// The positions of the tasks, each parent directly before its children.
fn document_order(plan: &PortablePlan) -> Vec<usize> {
    let children = children_of(plan);
    let mut order = Vec::with_capacity(plan.tasks.len());
    let mut open: Vec<usize> = (0..plan.tasks.len())
        .rev()
        .filter(|&at| plan.tasks[at].parent.is_none())
        .collect();
    while let Some(at) = open.pop() {
        order.push(at);
        open.extend(children[at].iter().rev());
    }
    order
}

/// A tree reads such a text as an empty field.
fn says_nothing(text: &str) -> bool {
    let bare = text.trim().trim_matches(['*', '_', '`', '(', ')', '.']);
    bare.is_empty() || bare.eq_ignore_ascii_case("none")
}

/// `text` with its lines, without control characters and blanks at their ends.
fn clean_lines(text: &str) -> String {
    let text = text
        .replace("\r\n", "\n")
        .replace('\r', "\n")
        .replace('\t', "    ");
    let lines = text
        .split('\n')
        .map(|line| line.replace(char::is_control, " ").trim_end().to_owned());
    lines
        .skip_while(String::is_empty)
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use fp_plan::plan::format;

    /// The tree of a draft, which has to be canonical.
    fn tree(draft: &PlanDraft) -> Plan<'_> {
        let (tree, findings) = parse(&draft.text);
        assert_eq!(findings, [], "{}", draft.text);
        assert_eq!(format(&draft.text).as_ref(), Ok(&draft.text));
        tree
    }

    fn task(id: &str, title: &str) -> PortableTask {
        PortableTask {
            id: id.into(),
            title: title.into(),
            ..PortableTask::default()
        }
    }

    #[test]
    fn a_plan_without_a_title_has_one() {
        let plan = PortablePlan {
            tasks: vec![task("1", "")],
            ..PortablePlan::default()
        };
        let draft = PlanDraft::new(plan);
        assert_eq!(
            draft.text,
            "# Task Decomposition\n\n## Root Task\n- [ID: root] Imported plan\n\n### Subtasks\n- [ID: 1] Task 1\n"
        );
    }

    #[test]
    fn what_can_not_be_written_is_kept() {
        let hostile = PortableTask {
            risk: Some("cosmic".into()),
            acceptance: Some(vec!["It is there".into(), "none".into(), "  ".into()]),
            ..task("x", "(Complexity: 99)")
        };
        let plan = PortablePlan {
            title: "T".into(),
            tasks: vec![hostile],
            ..PortablePlan::default()
        };
        let draft = PlanDraft::new(plan);
        let tree = tree(&draft);
        assert_eq!(
            tree.tasks[1].acceptance().collect::<Vec<_>>(),
            ["It is there"]
        );
        let origin = draft.origin(SourceFormat::Json, "x.json", Timestamp::UNIX_EPOCH);
        let origin: Value = serde_json::from_str(&origin).unwrap();
        assert_eq!(
            origin["tasks"]["x"]["ext"][UNWRITTEN],
            json!({ "title": "(Complexity: 99)" })
        );
        // `fp validate` says that it is none.
        let risk = tree.tasks[1].fields.value(FieldKind::Risk);
        assert_eq!(risk.map(|item| &*item.text), Some("cosmic"));
        assert_eq!(draft.plan.notices.len(), 1);
    }

    #[test]
    fn a_long_description_stays_whole() {
        let long = "a line of words\n".repeat(100_000);
        let plan = PortablePlan {
            tasks: vec![PortableTask {
                description: Some(long.clone()),
                ..task("1", "A")
            }],
            ..PortablePlan::default()
        };
        let draft = PlanDraft::new(plan);
        let tree = tree(&draft);
        assert_eq!(
            tree.tasks[1].fields.text(FieldKind::Description),
            Some(long.trim())
        );
    }

    #[test]
    fn done_leaves_are_named_as_in_the_tree() {
        let done = |task: PortableTask| PortableTask {
            work: TaskWork::Done {
                commit: Some("abc".into()),
            },
            ..task
        };
        let plan = PortablePlan {
            tasks: vec![
                done(task("p", "P")),
                done(PortableTask {
                    parent: Some(0),
                    ..task("q", "# Q  q")
                }),
            ],
            ..PortablePlan::default()
        };
        let done = PlanDraft::new(plan).done();
        assert_eq!(
            done,
            [(
                TaskId::new("1.1").unwrap(),
                "# Q q".into(),
                Some("abc".into())
            )]
        );
    }

    /// Texts that mean something in Markdown or in a tree, and any others.
    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-zA-Z0-9 ]{0,12}",
            2 => prop::sample::select(vec![
                "- [ID: 1] x", "\n", "\n\n", "```", "~~~", "<!--", "-->", "## [2] y", "Files: a", "(Complexity: 3)", "none", "`", "[", "](", "|",
                "---", "===", "> ", "1. ", "    ", "\t", "\r\n", "\u{0}", "\u{1b}[1m", "한글", "; ", ", ", "and", "\\", "*", "<div>", "[a]: b",
                "Dependencies: 1", "- Complexity: x", "\u{feff}", "\u{2028}", "&amp;", "../x", "“", "#",
            ])
            .prop_map(str::to_owned),
            1 => any::<String>(),
        ];
        prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
    }

    fn texts() -> impl Strategy<Value = Option<Vec<String>>> {
        prop::option::of(prop::collection::vec(text(), 0..3))
    }

    fn any_task() -> impl Strategy<Value = PortableTask> {
        let head = (
            text(),
            text(),
            prop::option::of(text()),
            prop::option::of(0..12_u32),
            any::<prop::sample::Index>(),
        );
        let lists = (
            texts(),
            texts(),
            texts(),
            texts(),
            texts(),
            prop::collection::vec(
                prop_oneof![Just("a".to_owned()), Just("1".to_owned()), text()],
                0..3,
            ),
        );
        let others = (
            prop::option::of(prop::collection::vec(
                (text(), prop::option::of(text())),
                0..3,
            )),
            prop::option::of(text()),
            prop::option::of(text()),
            prop::option::of(any::<bool>()),
        );
        (head, lists, others).prop_map(
            |((id, title, description, complexity, parent), lists, others)| PortableTask {
                id,
                title,
                description,
                complexity,
                parent: Some(parent.index(4)),
                acceptance: lists.0,
                hints: lists.1,
                guardrails: lists.2,
                references: lists.3,
                test_commands: lists.4,
                dependencies: Some(lists.5),
                files: others.0.map(|files| {
                    files
                        .into_iter()
                        .map(|(path, note)| PortableFile { path, note })
                        .collect()
                }),
                group: others.1,
                verify: others.2,
                tests_required: others.3,
                ..PortableTask::default()
            },
        )
    }

    pub(crate) fn any_plan() -> impl Strategy<Value = PortablePlan> {
        (text(), prop::collection::vec(any_task(), 1..6)).prop_map(|(title, mut tasks)| {
            for (at, task) in tasks.iter_mut().enumerate() {
                task.parent = task.parent.filter(|parent| *parent < at);
            }
            PortablePlan {
                title,
                tasks,
                ..PortablePlan::default()
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        /// Whatever a plan says, its draft is a canonical tree of the same shape, and what is not in it is kept.
        #[test]
        fn any_plan_is_drafted_and_read_back(plan in any_plan()) {
            let draft = PlanDraft::new(plan);
            let plan = &draft.plan;
            let (tree, findings) = parse(&draft.text);
            prop_assert!(findings.is_empty(), "{:?}\n{}", findings, draft.text);
            let formatted = format(&draft.text);
            prop_assert_eq!(formatted.as_ref(), Ok(&draft.text));
            prop_assert_eq!(tree.tasks.len(), plan.tasks.len() + 1, "{}", draft.text);
            for (task, id) in plan.tasks.iter().zip(&draft.ids) {
                let found = tree.find(id);
                prop_assert!(found.is_some(), "{} is gone:\n{}", id, draft.text);
                let Some(found) = found else { continue };
                let parent = task.parent.map_or("root", |parent| draft.ids[parent].as_str());
                prop_assert_eq!(found.parent.map(|parent| &*tree.tasks[parent].id), Some(parent));
                prop_assert_eq!(found.complexity, task.complexity);
                let kept = serde_json::to_string(&task.ext).unwrap_or_default();
                for criterion in task.acceptance.iter().flatten().filter(|text| !says_nothing(&one_line(text))) {
                    let encoded = json!(criterion).to_string();
                    prop_assert!(found.acceptance().any(|text| text == one_line(criterion)) || kept.contains(&encoded), "{:?} is lost:\n{}", criterion, draft.text);
                }
            }
        }
    }

    #[test]
    fn the_ids_of_the_source_where_they_are_right() {
        let check = |tasks: &[(&str, Option<usize>)], expect: &[&str], kept: bool| {
            let task = |(id, parent): &(&str, Option<usize>)| PortableTask {
                id: (*id).into(),
                parent: *parent,
                ..PortableTask::default()
            };
            let plan = PortablePlan {
                tasks: tasks.iter().map(task).collect(),
                ..PortablePlan::default()
            };
            let expect: Vec<String> = expect.iter().map(|id| (*id).to_owned()).collect();
            assert_eq!(assign_ids(&plan), (expect, kept), "{tasks:?}");
        };
        check(
            &[("1", None), ("1.1", Some(0)), ("2", None)],
            &["1", "1.1", "2"],
            true,
        );
        check(&[("T001", None), ("T002", None)], &["T001", "T002"], true);
        check(
            &[("PLAN-001", None), ("IMPL-001", None)],
            &["PLAN-001", "IMPL-001"],
            true,
        );
        check(
            &[("bd-a1b2", None), ("bd-a1b2.1", Some(0))],
            &["bd-a1b2", "bd-a1b2.1"],
            true,
        );
        check(
            &[("bd-a1b2", None), ("bd-c3", Some(0))],
            &["1", "1.1"],
            false,
        );
        check(&[("a", None), ("A", None)], &["1", "2"], false);
        check(&[("x y", None), ("../..", None)], &["1", "2"], false);
        check(&[("1", None), ("1", None)], &["1", "2"], false);
        check(&[("none", None)], &["1"], false);
    }
}

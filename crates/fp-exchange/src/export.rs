//! Writes a plan in neutral formats, and turns a task tree into a portable plan.

use fp_plan::plan::{FieldForm, FieldKind, Item, Plan, Task};
use serde_json::{Map, Value, json};

use crate::portable::{PortablePlan, PortableTask, TaskWork, text_item};

/// Version of the format `json`.
const SCHEMA_VERSION: u32 = 1;

/// Converts `tree` into a portable plan, with the user's `goal` and the state of each leaf. The root stands for the
/// plan itself, unless it is the only task.
pub fn portable_plan(
    tree: &Plan<'_>,
    goal: Option<&str>,
    work_of_leaf: impl Fn(&Task<'_>) -> TaskWork,
) -> PortablePlan {
    let root = tree.root.filter(|&root| !tree.tasks[root].is_leaf());
    let works = all_works(tree, work_of_leaf);
    let mut plan = PortablePlan {
        goal: goal.map(str::to_owned),
        ..PortablePlan::default()
    };
    let first_line = || goal?.lines().map(str::trim).find(|line| !line.is_empty());
    let titled = tree.root.map(|root| &tree.tasks[root]);
    plan.title = match titled.filter(|root| !root.synthetic) {
        Some(root) => root.description.to_string(),
        None => first_line().unwrap_or_default().to_owned(),
    };
    let mut positions: Vec<Option<usize>> = vec![None; tree.tasks.len()];
    for (at, task) in tree.tasks.iter().enumerate() {
        if Some(at) != root {
            positions[at] = Some(plan.tasks.len());
            plan.tasks.push(PortableTask {
                parent: task.parent.and_then(|parent| positions[parent]),
                work: works[at].clone(),
                ..portable_task(task)
            });
        } else if !task.synthetic {
            let mut about = portable_task(task).to_json();
            about.remove("work");
            plan.ext.insert("root".into(), about.into());
        }
    }
    let prose = tree.prose.iter().map(|(_, item)| Value::from(&*item.text));
    let prose: Vec<Value> = prose.collect();
    if !prose.is_empty() {
        plan.ext.insert("prose".into(), prose.into());
    }
    plan
}

/// The fields of `task` itself.
fn portable_task(task: &Task<'_>) -> PortableTask {
    let mut portable = PortableTask {
        id: task.id.to_string(),
        title: task.description.to_string(),
        ext: unread_fields(task),
        ..PortableTask::default()
    };
    let ids = |kind: FieldKind| {
        let field = task.fields.get(kind)?;
        Some(
            field
                .items
                .iter()
                .map(|item| item.text.to_string())
                .collect(),
        )
    };
    portable.dependencies = ids(FieldKind::Dependencies);
    portable.after = ids(FieldKind::After);
    for (kind, field) in task.fields.given().filter(|(kind, _)| is_read(task, *kind)) {
        let items = field.items.iter().map(|item| Item {
            note: item.note.clone(),
            ..text_item(item.text.to_string())
        });
        *portable.fields.slot(kind) = Some(items.collect::<Vec<_>>().into());
    }
    let description = task.fields.items(FieldKind::Description).iter();
    let prose: Vec<&str> = description
        .chain(&task.notes)
        .map(|item| &*item.text)
        .filter(|paragraph| !paragraph.trim().is_empty())
        .collect();
    portable.add_texts(
        FieldKind::Description,
        (!prose.is_empty()).then(|| prose.join("\n\n")),
    );
    portable
}

/// True if a portable task can hold the whole content of the field `kind`.
fn is_read(task: &Task<'_>, kind: FieldKind) -> bool {
    let is_value = || task.fields.text(kind).is_some();
    match kind.form() {
        FieldForm::Ids => false,
        FieldForm::Number => task.complexity.is_some(),
        form => form.is_list() || is_value(),
    }
}

/// The texts that no field of a portable task can hold, by label: unknown and unreadable fields, and notes on
/// dependencies.
fn unread_fields(task: &Task<'_>) -> Map<String, Value> {
    let mut unread = Map::new();
    let mut add = |label: &str, text: &str| match unread.get_mut(label) {
        Some(Value::Array(texts)) => texts.push(text.into()),
        Some(before) => *before = Value::Array(vec![before.take(), text.into()]),
        None => drop(unread.insert(label.to_owned(), text.into())),
    };
    let fields = &task.fields;
    for (label, item) in fields.unknown.iter().chain(&fields.duplicates) {
        add(label, &item.text);
    }
    for (kind, field) in fields.given().filter(|(kind, _)| !is_read(task, *kind)) {
        for item in &field.items {
            match &item.note {
                Some(note) => add(kind.label(), &format!("{} {note}", item.text)),
                None if kind.form() == FieldForm::Ids => {}
                None => add(kind.label(), &item.text),
            }
        }
    }
    unread
}

/// The progress of each task in the tree; a parent's progress follows from its leaves.
fn all_works(tree: &Plan<'_>, work_of_leaf: impl Fn(&Task<'_>) -> TaskWork) -> Vec<TaskWork> {
    let mut works = vec![TaskWork::Todo; tree.tasks.len()];
    for (index, task) in tree.tasks.iter().enumerate().rev() {
        let below: Vec<&TaskWork> = task.children.iter().map(|&child| &works[child]).collect();
        works[index] = match below.is_empty() {
            true => work_of_leaf(task),
            false => work_of_parent(&below),
        };
    }
    works
}

fn work_of_parent(children: &[&TaskWork]) -> TaskWork {
    let all = |is: fn(&TaskWork) -> bool| children.iter().all(|work| is(work));
    if all(|work| *work == TaskWork::Todo) {
        TaskWork::Todo
    } else if all(|work| matches!(work, TaskWork::Done { .. })) {
        TaskWork::Done { commit: None }
    } else if all(|work| *work == TaskWork::Skipped) {
        TaskWork::Skipped
    } else if all(|work| !matches!(work, TaskWork::Todo | TaskWork::Running)) {
        TaskWork::Failed { reason: None }
    } else {
        TaskWork::Running
    }
}

/// The whole plan as JSON, in this program's own format.
pub fn json_text(plan: &PortablePlan) -> String {
    let tasks = plan.tasks.iter().map(|task| {
        let mut json = task.to_json();
        if let Some(parent) = task.parent {
            json.insert("parent".to_owned(), plan.tasks[parent].id.as_str().into());
        }
        Value::Object(json)
    });
    let tasks: Vec<Value> = tasks.collect();
    let mut json = json!({ "schemaVersion": SCHEMA_VERSION, "title": plan.title, "tasks": tasks });
    if let Some(goal) = &plan.goal {
        json["goal"] = goal.as_str().into();
    }
    if !plan.ext.is_empty() {
        json["ext"] = json!(plan.ext);
    }
    format!("{json:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_as_far_as_its_leaves() {
        let done = TaskWork::Done { commit: None };
        let failed = TaskWork::Failed { reason: None };
        let check = |children: &[&TaskWork], expect: &TaskWork| {
            assert_eq!(work_of_parent(children), *expect)
        };
        check(&[&TaskWork::Todo, &TaskWork::Todo], &TaskWork::Todo);
        check(&[&TaskWork::Todo, &done], &TaskWork::Running);
        check(&[&done, &done], &done);
        check(
            &[&TaskWork::Skipped, &TaskWork::Skipped],
            &TaskWork::Skipped,
        );
        check(&[&done, &TaskWork::Skipped], &failed);
        check(&[&done, &TaskWork::Running], &TaskWork::Running);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

        /// An exported plan in JSON is read back as the same plan.
        #[test]
        fn json_is_read_back(mut plan in crate::draft::tests::any_plan()) {
            for (at, task) in plan.tasks.iter_mut().enumerate() {
                task.id = format!("{at} {}", task.id);
            }
            crate::settle::sort_by_parents(&mut plan);
            let folder = [("plan.json", json_text(&plan))].into_iter().collect();
            let back = crate::read_source(crate::SourceFormat::Json, &folder).unwrap();
            proptest::prop_assert_eq!(&back, &plan);
        }
    }
}

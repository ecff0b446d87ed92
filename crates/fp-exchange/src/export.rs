//! Writes a plan in neutral formats, and turns a task tree into a portable plan.

use std::collections::BTreeMap;

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
        ext: unknown_fields(task),
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
    let texts = task.fields.given();
    for (kind, field) in texts.filter(|(kind, _)| kind.form() != FieldForm::Ids) {
        let items = field.items.iter().map(|item| Item {
            note: item.note.clone(),
            ..text_item(item.text.to_string())
        });
        *portable.fields.slot(kind) = Some(items.collect::<Vec<_>>().into());
    }
    for (kind, field) in task.fields.given() {
        let texts: Vec<&str> = field.items.iter().map(|item| &*item.text).collect();
        let text = texts.join("\n");
        if !text.is_empty() && portable.field_json(kind).is_none() {
            portable.ext.insert(kind.label().to_owned(), text.into());
        }
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

/// The fields of a task that a plan doesn't know, or has twice, by label.
fn unknown_fields(task: &Task<'_>) -> Map<String, Value> {
    let mut unknown: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (label, item) in task.fields.unknown.iter().chain(&task.fields.duplicates) {
        unknown.entry(label).or_default().push(&item.text);
    }
    let texts = unknown.into_iter();
    texts
        .map(|(label, texts)| (label.to_owned(), texts.join("\n").into()))
        .collect()
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

//! Task Master: `tasks.json` with a list of tasks, or with one list per tag. Subtasks are numbered from 1 within each
//! task.

use std::collections::HashSet;

use fp_plan::plan::FieldKind;
use fp_plan::text::one_line;
use serde_json::{Map, Value};

use super::ReadResult;
use crate::folder::{SourceFolder, folder_of};
use crate::portable::{PortablePlan, PortableTask, TaskWork};
use crate::words::{entries_of, pieces_of, text_at, title_of, work_of};

/// The default tag of a new plan.
const MAIN_TAG: &str = "master";

/// True if `value` is a task list in this format, and not in another format that also has task lists.
fn is_list(value: Option<&Value>) -> bool {
    let Some(all) = value.and_then(Value::as_array) else {
        return false;
    };
    let objects = || all.iter().filter_map(Value::as_object);
    let has = |keys: &[&str]| objects().any(|task| keys.iter().any(|key| task.contains_key(*key)));
    has(&["id"])
        && has(&["dependencies", "subtasks", "testStrategy", "details"])
        && !has(&["deps", "role", "work", "modification_points"])
}

/// The task lists in a file, each with its tag, if any.
fn lists_of(map: &Map<String, Value>) -> Vec<(Option<&str>, &Map<String, Value>)> {
    if is_list(map.get("tasks")) {
        return vec![(None, map)];
    }
    let tagged = map
        .iter()
        .filter_map(|(tag, value)| Some((Some(tag.as_str()), value.as_object()?)));
    tagged
        .filter(|(_, list)| is_list(list.get("tasks")))
        .collect()
}

fn is_plan(map: &Map<String, Value>) -> bool {
    let is_of_ccw = map.contains_key("approach") || map.contains_key("task_ids");
    !map.contains_key("schemaVersion") && !is_of_ccw && !lists_of(map).is_empty()
}

pub(super) fn plan_files(folder: &SourceFolder) -> Vec<&str> {
    folder.plan_objects(is_plan)
}

pub(super) fn read_plan(folder: &SourceFolder, base: &str) -> ReadResult {
    let mut plan = PortablePlan::default();
    for (path, map) in folder
        .objects()
        .filter(|(path, map)| folder_of(path) == base && is_plan(map))
    {
        read_file(&mut plan, path, map);
    }
    for (_, report) in folder.objects() {
        add_complexities(&mut plan, report);
    }
    Ok(plan)
}

fn read_file(plan: &mut PortablePlan, path: &str, map: &Map<String, Value>) {
    let lists = lists_of(map);
    for (tag, list) in &lists {
        let mut place = TaskList {
            path,
            prefix: String::new(),
            above: String::new(),
            parent: None,
        };
        if let Some(tag) = tag.filter(|_| lists.len() > 1) {
            place.prefix = format!("{tag}:");
            place.parent = Some(plan.tasks.len());
            let title = one_line(tag);
            plan.tasks.push(PortableTask {
                id: tag.to_owned(),
                title,
                ..PortableTask::default()
            });
        }
        let mut about: Map<String, Value> = (*list).clone();
        let tasks = about.remove("tasks");
        name_after(plan, &about);
        if !about.is_empty() {
            plan.ext
                .insert(tag.unwrap_or(MAIN_TAG).to_owned(), about.into());
        }
        read_list(plan, tasks.as_ref(), &place);
    }
}

fn name_after(plan: &mut PortablePlan, about: &Map<String, Value>) {
    let metadata = about
        .get("metadata")
        .or(about.get("meta"))
        .and_then(Value::as_object);
    let text = |keys: &[&str]| text_at(metadata?, keys);
    // The default description of a new tag.
    let description = text(&["description"]).filter(|said| !said.starts_with("Tasks for "));
    if plan.title.is_empty() {
        let named = text(&["projectName", "title"]).or_else(|| description.clone());
        plan.title = title_of(&named.unwrap_or_default()).0;
    }
    plan.goal = plan.goal.take().or(description);
}

/// Tasks with the same parent.
struct TaskList<'p> {
    path: &'p str,
    /// Prefix of all ids if there are several tags.
    prefix: String,
    /// The parent's id without the prefix (empty at the top level), and the parent's position.
    above: String,
    parent: Option<usize>,
}

fn read_list(plan: &mut PortablePlan, tasks: Option<&Value>, list: &TaskList<'_>) {
    let TaskList {
        path,
        prefix,
        above,
        parent,
    } = list;
    let tasks = tasks.and_then(Value::as_array).into_iter().flatten();
    let ids: HashSet<String> = tasks
        .clone()
        .filter_map(|task| text_at(task.as_object()?, &["id"]))
        .collect();
    for (task, number) in tasks.zip(1..) {
        let Some(map) = task.as_object() else {
            plan.add_notice_in(path, format!("task {number} is no object; it is left out"));
            continue;
        };
        let own = text_at(map, &["id"])
            .map(|id| one_line(&id))
            .unwrap_or_else(|| {
                plan.add_notice_in(
                    path,
                    format!("task {number} has no id; it is called {number}"),
                );
                number.to_string()
            });
        let id = nested_id(&own, above);
        let mut task = read_task(plan, path, &format!("{prefix}{id}"), map);
        task.parent = *parent;
        for dependency in task.dependencies.iter_mut().flatten() {
            // A number refers to a sibling if one has that number, otherwise to a task at the top level or in another
            // tag.
            if !above.is_empty() && !dependency.contains('.') && ids.contains(dependency) {
                *dependency = nested_id(dependency, above);
            }
            if !dependency.contains(':') {
                dependency.insert_str(0, prefix);
            }
        }
        let below = TaskList {
            path,
            prefix: prefix.clone(),
            above: id,
            parent: Some(plan.tasks.len()),
        };
        plan.tasks.push(task);
        read_list(plan, map.get("subtasks"), &below);
    }
}

/// Reads the task `id` from `map`. Its `ext` keeps `map` unchanged except for the subtasks.
fn read_task(
    plan: &mut PortablePlan,
    path: &str,
    id: &str,
    map: &Map<String, Value>,
) -> PortableTask {
    let text = |key: &str| text_at(map, &[key]);
    let status = text("status").unwrap_or_else(|| "pending".to_owned());
    let work = work_of(&status).unwrap_or_else(|| {
        let status = one_line(&status);
        plan.add_notice_in(path, format!("{id} has an unknown status: {status}"));
        TaskWork::Todo
    });
    let waits = map.get("dependencies").filter(|value| !value.is_null());
    let dependencies = waits.and_then(ids_in);
    if waits.is_some() && dependencies.is_none() {
        plan.add_notice_in(path, format!("the dependencies of {id} can't be read"));
    }
    let (title, more) = title_of(&text("title").unwrap_or_default());
    let mut task = PortableTask {
        id: id.to_owned(),
        title: if title.is_empty() {
            id.to_owned()
        } else {
            title
        },
        dependencies,
        work,
        ext: map.clone(),
        ..PortableTask::default()
    };
    task.ext.remove("subtasks");
    let listed = |key: &str| map.get(key).and_then(Value::as_array).into_iter().flatten();
    let prose = [more, text("description"), text("details")]
        .into_iter()
        .flatten();
    let prose: Vec<String> = prose.collect();
    let tested = text("testStrategy");
    let criteria = listed("acceptanceCriteria")
        .filter_map(Value::as_str)
        .map(one_line);
    let criteria = criteria.chain(entries_of(tested.as_deref().unwrap_or_default()));
    let files = listed("relevantFiles")
        .filter_map(|file| file.as_str().or_else(|| file.get("path")?.as_str()));
    let hints = text("implementationApproach").unwrap_or_default();
    task.add_texts(FieldKind::Complexity, complexity_of(map.get("complexity")));
    task.add_texts(
        FieldKind::Description,
        (!prose.is_empty()).then(|| prose.join("\n\n")),
    );
    task.add_texts(FieldKind::Acceptance, criteria);
    task.add_texts(FieldKind::Files, files.map(str::to_owned));
    task.add_texts(
        FieldKind::TestsRequired,
        tested.as_ref().map(|_| "yes".to_owned()),
    );
    task.add_texts(FieldKind::Hints, entries_of(&hints));
    task.add_texts(
        FieldKind::Priority,
        text("priority").map(|text| one_line(&text)),
    );
    task
}

/// The ids that a value lists: an array of strings and numbers, or a single one. `None` for any other value.
fn ids_in(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(entries) => {
            let ids: Option<Vec<Vec<String>>> = entries.iter().map(ids_in).collect();
            Some(ids?.concat())
        }
        Value::String(list) => Some(pieces_of(list)),
        Value::Number(number) => Some(vec![number.to_string()]),
        _ => None,
    }
}

/// A complexity on the scale of 1 to 10.
fn complexity_of(value: Option<&Value>) -> Option<String> {
    let complexity = value?.as_u64()?;
    (1..=10)
        .contains(&complexity)
        .then(|| complexity.to_string())
}

/// Fills in missing complexities from a report.
fn add_complexities(plan: &mut PortablePlan, report: &Map<String, Value>) {
    let entries = report.get("complexityAnalysis").and_then(Value::as_array);
    for entry in entries.into_iter().flatten().filter_map(Value::as_object) {
        let id = text_at(entry, &["taskId"]);
        let mut tasks = plan.tasks.iter_mut();
        let task = tasks.find(|task| Some(&task.id) == id.as_ref());
        if let Some(task) = task.filter(|task| task.fields.get(FieldKind::Complexity).is_none()) {
            task.add_texts(
                FieldKind::Complexity,
                complexity_of(entry.get("complexityScore")),
            );
        }
    }
}

/// Below `5`, both `2` and `5.2` mean `5.2`.
fn nested_id(own: &str, above: &str) -> String {
    let is_whole = above.is_empty()
        || own
            .strip_prefix(above)
            .is_some_and(|rest| rest.starts_with('.'));
    if is_whole {
        own.to_owned()
    } else {
        format!("{above}.{own}")
    }
}

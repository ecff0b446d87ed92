//! Task Master: `tasks.json` with a list of tasks, or with one for each tag. Subtasks are numbered from 1 in each task.

use std::collections::HashSet;

use fp_plan::text::one_line;
use serde_json::{Map, Value};

use super::ReadResult;
use crate::folder::{SourceFolder, base_of};
use crate::json_task::{complexity_of, id_of, ids_in, read_json_task, text_at};
use crate::portable::{PortablePlan, PortableTask};
use crate::words::title_of;

/// The tag that new plans have.
const MAIN_TAG: &str = "master";

/// A list of tasks of this format, and of no other that has one.
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

/// The lists of a file, each with its tag where it has one.
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

pub(super) fn files(folder: &SourceFolder) -> Vec<&str> {
    folder
        .objects()
        .filter(|(_, map)| is_plan(map))
        .map(|(path, _)| path)
        .collect()
}

pub(super) fn read(folder: &SourceFolder, base: &str) -> ReadResult {
    let mut plan = PortablePlan::default();
    for (path, map) in folder
        .objects()
        .filter(|(path, map)| base_of(path) == base && is_plan(map))
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
    // Each new tag is described with this.
    let description = text(&["description"]).filter(|said| !said.starts_with("Tasks for "));
    if plan.title.is_empty() {
        let named = text(&["projectName", "title"]).or_else(|| description.clone());
        plan.title = title_of(&named.unwrap_or_default()).0;
    }
    plan.goal = plan.goal.take().or(description);
}

/// Tasks beside each other.
struct TaskList<'p> {
    path: &'p str,
    /// In front of all ids where there are several tags.
    prefix: String,
    /// The id of the parent without the prefix, empty at the top, and its position.
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
    let tasks = tasks
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let ids: HashSet<String> = tasks
        .iter()
        .filter_map(|task| id_of(task.as_object()?))
        .collect();
    let within = if above.is_empty() {
        String::new()
    } else {
        format!(" of {above}")
    };
    for (task, number) in tasks.iter().zip(1..) {
        let Some(mut map) = task.as_object().cloned() else {
            plan.problem_in(
                path,
                format!("task {number}{within} is no object; it is left out"),
            );
            continue;
        };
        let own = id_of(&map).unwrap_or_else(|| {
            plan.problem_in(
                path,
                format!("task {number}{within} has no id; it is called {number}"),
            );
            number.to_string()
        });
        let id = nested_id(&own, above);
        let subtasks = map.remove("subtasks");
        let mut task = read_json_task(plan, path, &format!("{prefix}{id}"), &map);
        task.parent = *parent;
        task.tests_required = text_at(&map, &["testStrategy"]).map(|_| true);
        for dependency in task.dependencies.iter_mut().flatten() {
            // The number of a task beside it, where there is one, else that of a task at the top or of another tag.
            let beside = !above.is_empty() && !dependency.contains('.') && ids.contains(dependency);
            let id = if beside {
                nested_id(dependency, above)
            } else {
                dependency.clone()
            };
            *dependency = if id.contains(':') {
                id
            } else {
                format!("{prefix}{id}")
            };
        }
        let parent = Some(plan.tasks.len());
        plan.tasks.push(task);
        read_list(
            plan,
            subtasks.as_ref(),
            &TaskList {
                path,
                prefix: prefix.clone(),
                above: id,
                parent,
            },
        );
    }
}

/// Takes the complexities of a report for tasks that have none.
fn add_complexities(plan: &mut PortablePlan, report: &Map<String, Value>) {
    for entry in report
        .get("complexityAnalysis")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let id = entry
            .get("taskId")
            .and_then(ids_in)
            .and_then(|mut ids| ids.pop());
        if let Some(task) = plan
            .tasks
            .iter_mut()
            .find(|task| Some(&task.id) == id.as_ref())
        {
            task.complexity = task
                .complexity
                .or_else(|| complexity_of(entry.get("complexityScore")));
        }
    }
}

/// `2` below `5` is `5.2`, and so is `5.2`.
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

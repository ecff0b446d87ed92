//! Task Master: `tasks.json` with a list of tasks, or with one for each tag. Subtasks are numbered from 1 in each task.

use std::collections::HashSet;

use fp_plan::text::one_line;
use serde_json::{Map, Value};

use super::{ReadResult, SourceFormat};
use crate::folder::{SourceFolder, folder_of};
use crate::json_task::{id_of, ids_in, read_json_task};
use crate::portable::{ImportNotice, PortablePlan, PortableTask};
use crate::words::title_of;

/// The tag that new plans have.
const MAIN_TAG: &str = "master";

/// Whether a list of tasks is of this format, and of no other that has one.
fn is_list(value: Option<&Value>) -> bool {
    let Some(all) = value.and_then(Value::as_array) else { return false };
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
    let tagged = map.iter().filter_map(|(tag, value)| Some((Some(tag.as_str()), value.as_object()?)));
    tagged.filter(|(_, list)| is_list(list.get("tasks"))).collect()
}

fn is_plan(map: &Map<String, Value>) -> bool {
    let is_of_ccw = map.contains_key("approach") || map.contains_key("task_ids");
    !map.contains_key("schemaVersion") && !is_of_ccw && !lists_of(map).is_empty()
}

pub(super) fn recognise(folder: &SourceFolder) -> Option<&str> {
    folder.objects().find(|(_, map)| is_plan(map)).map(|(path, _)| path)
}

pub(super) fn read(folder: &SourceFolder) -> ReadResult {
    let plans = || folder.objects().filter(|(_, map)| is_plan(map));
    let base = folder.only(SourceFormat::TaskMaster, plans().map(|(path, _)| folder_of(path)))?;
    let mut reader = TaskMasterReader::default();
    for (path, map) in plans().filter(|(path, _)| folder_of(path) == base) {
        reader.read_file(path, map);
    }
    for (_, report) in folder.objects() {
        reader.add_complexities(report);
    }
    Ok((reader.plan, reader.notices))
}

#[derive(Default)]
struct TaskMasterReader {
    plan: PortablePlan,
    notices: Vec<ImportNotice>,
}

/// What the tasks of one list have in common.
struct TaskList<'p> {
    path: &'p str,
    /// What stands in front of all ids where there are several tags.
    prefix: String,
    /// The id of the parent without the prefix, and its position.
    parent: Option<(String, usize)>,
    /// The ids within the list, without prefix and parent.
    ids: HashSet<String>,
}

impl TaskMasterReader {
    fn read_file(&mut self, path: &str, map: &Map<String, Value>) {
        let lists = lists_of(map);
        for (tag, list) in &lists {
            let mut place = TaskList { path, prefix: String::new(), parent: None, ids: HashSet::new() };
            if let Some(tag) = tag.filter(|_| lists.len() > 1) {
                place.prefix = format!("{tag}:");
                place.parent = Some((String::new(), self.plan.tasks.len()));
                let title = one_line(tag);
                self.plan.tasks.push(PortableTask { id: tag.to_owned(), title, ..PortableTask::default() });
            }
            let mut about: Map<String, Value> = (*list).clone();
            about.remove("tasks");
            self.name_after(&about);
            if !about.is_empty() {
                self.plan.ext.insert(tag.unwrap_or(MAIN_TAG).to_owned(), about.into());
            }
            self.read_list(list.get("tasks").and_then(Value::as_array).map_or(&[], Vec::as_slice), place);
        }
    }

    fn name_after(&mut self, about: &Map<String, Value>) {
        let metadata = about.get("metadata").or(about.get("meta")).and_then(Value::as_object);
        let text = |key: &str| metadata?.get(key)?.as_str().filter(|text| !text.trim().is_empty());
        if let Some(name) = text("projectName").or(text("title")).filter(|_| self.plan.title.is_empty()) {
            self.plan.title = title_of(name).0;
        }
        // Each new tag is described with this.
        let description = text("description").filter(|said| !said.starts_with("Tasks for "));
        if let Some(description) = description.filter(|_| self.plan.goal.is_none()) {
            self.plan.goal = Some(description.to_owned());
        }
    }

    fn read_list(&mut self, tasks: &[Value], mut list: TaskList<'_>) {
        list.ids = tasks.iter().filter_map(|task| id_of(task.as_object()?)).collect();
        for (at, task) in tasks.iter().enumerate() {
            let within = list.parent.as_ref().filter(|(id, _)| !id.is_empty());
            let within = within.map(|(id, _)| format!(" of {id}")).unwrap_or_default();
            let Some(map) = task.as_object() else {
                let text = format!("task {}{within} is no object; it is left out", at + 1);
                self.notices.push(ImportNotice::problem(text).in_file(list.path));
                continue;
            };
            let own = id_of(map).unwrap_or_else(|| {
                let number = (at + 1).to_string();
                let text = format!("task {number}{within} has no id; it is called {number}");
                self.notices.push(ImportNotice::problem(text).in_file(list.path));
                number
            });
            self.read_task(&own, map, &list);
        }
    }

    fn read_task(&mut self, own: &str, map: &Map<String, Value>, list: &TaskList<'_>) {
        let above = list.parent.as_ref().map_or("", |(id, _)| id.as_str());
        let id = nested_id(own, above);
        let mut map = map.clone();
        let subtasks = map.remove("subtasks");
        let mut task = read_json_task(&format!("{}{id}", list.prefix), &map, list.path, &mut self.notices);
        task.parent = list.parent.as_ref().map(|(_, position)| *position);
        let has_strategy =
            map.get("testStrategy").and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
        task.tests_required = has_strategy.then_some(true);
        for dependency in task.dependencies.iter_mut().flatten() {
            // The number of a task beside it, where there is one, else that of a task at the top or of another tag.
            let beside = !above.is_empty() && !dependency.contains('.') && list.ids.contains(dependency);
            let id = if beside { nested_id(dependency, above) } else { dependency.clone() };
            *dependency = if id.contains(':') { id } else { format!("{}{id}", list.prefix) };
        }
        let position = self.plan.tasks.len();
        self.plan.tasks.push(task);
        if let Some(Value::Array(subtasks)) = subtasks {
            let below = TaskList {
                path: list.path,
                prefix: list.prefix.clone(),
                parent: Some((id, position)),
                ids: HashSet::new(),
            };
            self.read_list(&subtasks, below);
        }
    }

    /// Takes the complexities of a report for tasks that have none; its scale is 1 to 10.
    fn add_complexities(&mut self, report: &Map<String, Value>) {
        let analysed = report.get("complexityAnalysis").and_then(Value::as_array).into_iter().flatten();
        for entry in analysed {
            let id = entry.get("taskId").and_then(ids_in).and_then(|mut ids| ids.pop());
            let score = entry.get("complexityScore").and_then(Value::as_u64);
            let score =
                score.filter(|score| (1..=10).contains(score)).and_then(|score| u32::try_from(score).ok());
            let task = self.plan.tasks.iter_mut().find(|task| Some(&task.id) == id.as_ref());
            if let Some(task) = task.filter(|task| task.complexity.is_none()) {
                task.complexity = score;
            }
        }
    }
}

/// `2` below `5` is `5.2`, and so is `5.2`.
fn nested_id(own: &str, above: &str) -> String {
    let is_whole = above.is_empty() || own.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'));
    if is_whole { own.to_owned() } else { format!("{above}.{own}") }
}

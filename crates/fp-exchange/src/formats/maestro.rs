//! maestro: `tasks.json` as a list, by id or within a session, `tasks.csv`, and `task-analysis.json` with a graph of
//! dependencies. The newer form, a file for each task, is read as CCW's is.

use std::collections::BTreeMap;

use fp_plan::text::one_line;
use serde_json::{Map, Value};

use super::ccw::{self, natural_order, reads_first};
use super::{ReadResult, report_mismatch};
use crate::folder::{SourceFolder, folder_of, name_of};
use crate::json_task::{WAITS_FOR, id_of, ids_in, read_json_task, text_at};
use crate::portable::{ImportNotice, PortablePlan, PortableTask};
use crate::words::title_of;

fn is_task(value: &Value) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| value.get(*key).is_some());
    has(&["role", "prefix", "deps", "blockedBy", "context_from"]) && has(&["title", "description"])
}

/// The tasks of an analysis, which may never have been dispatched.
fn analysed_tasks(map: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let capabilities = map.get("capabilities").and_then(Value::as_array).into_iter().flatten();
    capabilities.filter_map(|capability| capability.get("tasks")?.as_array()).flatten()
}

/// The tasks of a file in any of its shapes, each with the key that it stands under, if it does.
fn tasks_of(value: &Value) -> Vec<(Option<&str>, &Value)> {
    match (value, value.get("tasks")) {
        (Value::Array(all), _) | (_, Some(Value::Array(all))) => {
            all.iter().map(|task| (None, task)).collect()
        }
        (_, Some(Value::Object(tasks))) => tasks.iter().map(|(id, task)| (Some(id.as_str()), task)).collect(),
        (Value::Object(map), _) => {
            let objects = map.iter().filter(|(_, task)| task.is_object());
            objects.map(|(id, task)| (Some(id.as_str()), task)).collect()
        }
        _ => Vec::new(),
    }
}

/// A file with tasks, or with an analysis of them.
fn is_plan(value: &Value) -> bool {
    let is_analysis = |map: &Map<String, Value>| {
        map.get("dependency_graph").is_some_and(Value::is_object) || analysed_tasks(map).next().is_some()
    };
    tasks_of(value).into_iter().any(|(_, task)| is_task(task)) || value.as_object().is_some_and(is_analysis)
}

/// The plan's own tables: results and waves beside one are copies of it.
fn tables(folder: &SourceFolder) -> Vec<(&str, &str)> {
    let is_table = |text: &str| {
        let heading = text.lines().next().unwrap_or_default();
        let columns: Vec<String> =
            heading.split(',').map(|column| column.trim().trim_matches('"').to_lowercase()).collect();
        let has = |column: &str| columns.iter().any(|found| found == column);
        has("id") && (has("role") || has("deps") || has("wave"))
    };
    let all: Vec<(&str, &str)> = folder.files_in("csv").filter(|(_, text)| is_table(text)).collect();
    let is_plan = |path: &str| name_of(path).eq_ignore_ascii_case("tasks.csv");
    let has_plan =
        |path: &str| all.iter().any(|(other, _)| folder_of(other) == folder_of(path) && is_plan(other));
    all.iter().copied().filter(|(path, _)| is_plan(path) || !has_plan(path)).collect()
}

pub(super) fn files(folder: &SourceFolder) -> Vec<&str> {
    if let Some(first) = reads_first(folder) {
        return std::iter::once(first).chain(ccw::files(folder)).collect();
    }
    let json = folder.values().filter(|(_, value)| is_plan(value)).map(|(path, _)| path);
    json.chain(tables(folder).into_iter().map(|(path, _)| path)).collect()
}

pub(super) fn read(folder: &SourceFolder, base: &str) -> ReadResult {
    if reads_first(folder).is_some() {
        return ccw::read(folder, base);
    }
    let mut reader = MaestroReader::default();
    for (_, notice) in folder.broken().filter(|(path, _)| folder_of(path) == base) {
        let text = format!("{}; it is left out", notice.text);
        reader.plan.notices.push(ImportNotice { text, ..notice.clone() });
    }
    for (path, value) in folder.values().filter(|(path, value)| folder_of(path) == base && is_plan(value)) {
        reader.read_file(path, value);
    }
    for (path, text) in tables(folder).into_iter().filter(|(path, _)| folder_of(path) == base) {
        if reader.plan.tasks.is_empty() {
            reader.read_table(path, text);
        }
    }
    let sessions =
        folder.objects().filter(|(path, _)| folder_of(path) == base && name_of(path).contains("session"));
    for (_, map) in sessions {
        reader.name_after(map);
        reader.plan.ext.insert("session".into(), map.clone().into());
    }
    if reader.plan.tasks.is_empty() {
        reader.plan.tasks = std::mem::take(&mut reader.analysed);
    }
    for (path, graph) in std::mem::take(&mut reader.graphs) {
        reader.follow_graph(&path, &graph);
    }
    Ok(reader.plan)
}

#[derive(Default)]
struct MaestroReader {
    plan: PortablePlan,
    /// The graph of each file: what each task waits for.
    graphs: Vec<(String, BTreeMap<String, Vec<String>>)>,
    /// Tasks that only an analysis has.
    analysed: Vec<PortableTask>,
}

impl MaestroReader {
    fn read_file(&mut self, path: &str, value: &Value) {
        let mut tasks = tasks_of(value);
        let has_tasks = tasks.iter().any(|(_, task)| is_task(task));
        if has_tasks {
            // An object of JSON has no order.
            tasks.sort_by_cached_key(|(key, task)| {
                let wave = task.get("wave").and_then(Value::as_u64);
                key.map(|key| (wave, natural_order(key)))
            });
            for (at, (key, task)) in tasks.into_iter().enumerate() {
                self.read_entry(path, at, key, task);
            }
        }
        let Some(map) = value.as_object() else { return };
        self.name_after(map);
        if let Some(Value::Object(graph)) = map.get("dependency_graph") {
            let waits = |node: &Value| {
                let in_object = || WAITS_FOR.iter().find_map(|key| ids_in(node.get(*key)?));
                ids_in(node).or_else(in_object).unwrap_or_default()
            };
            self.graphs
                .push((path.to_owned(), graph.iter().map(|(id, node)| (id.clone(), waits(node))).collect()));
        }
        for task in analysed_tasks(map).filter_map(Value::as_object) {
            let Some(id) = id_of(task) else { continue };
            let task = read_json_task(&mut self.plan, path, &id, task);
            self.analysed.push(with_goal_as_title(task));
        }
        let mut rest = map.clone();
        if rest.remove("tasks").is_some() || !has_tasks {
            self.plan.ext.insert(name_of(path).trim_end_matches(".json").to_owned(), rest.into());
        }
    }

    fn name_after(&mut self, map: &Map<String, Value>) {
        let named = text_at(map, &["title", "requirement", "task_description", "description"]);
        if let Some(named) = named.filter(|_| self.plan.title.is_empty()) {
            let (title, rest) = title_of(named.trim());
            self.plan.title = title;
            self.plan.goal = rest.or_else(|| text_at(map, &["description", "requirement"]));
        }
    }

    fn read_entry(&mut self, path: &str, at: usize, key: Option<&str>, task: &Value) {
        let called = key.map_or_else(|| format!("task-{}", at + 1), one_line);
        let Some(map) = task.as_object() else {
            return self.plan.problem_in(path, format!("{called} is no object; it is left out"));
        };
        let id = id_of(map).unwrap_or_else(|| {
            if key.is_none() {
                self.plan.problem_in(path, format!("task {} has no id; it is called {called}", at + 1));
            }
            called
        });
        let task = read_json_task(&mut self.plan, path, &id, map);
        self.plan.tasks.push(with_goal_as_title(task));
    }

    fn read_table(&mut self, path: &str, text: &str) {
        let mut reader =
            csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
        let Ok(heading) = reader.headers().cloned() else { return };
        for (at, record) in reader.records().enumerate() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let text = format!("row {} can't be read: {error}; it is left out", at + 1);
                    self.plan.problem_in(path, text);
                    continue;
                }
            };
            if record.len() > heading.len() {
                self.plan.problem_in(path, format!("row {} has more cells than the heading", at + 1));
            }
            let cell = |(name, cell): (&str, &str)| match &*name.to_lowercase() {
                "evaluation_criteria" => (name.to_lowercase(), cell.replace(';', "\n").into()),
                // An empty cell says that there is nothing.
                _ => (name.to_lowercase(), Value::from(cell)),
            };
            if record.iter().any(|cell| !cell.is_empty()) {
                let map: Map<String, Value> = heading.iter().zip(&record).map(cell).collect();
                self.read_entry(path, at, None, &map.into());
            }
        }
    }

    /// Adds the dependencies of a graph, and compares its nodes with the tasks.
    fn follow_graph(&mut self, path: &str, graph: &BTreeMap<String, Vec<String>>) {
        let nodes: Vec<String> = graph.keys().cloned().collect();
        report_mismatch(&mut self.plan, path, &nodes);
        for task in &mut self.plan.tasks {
            let Some(waits) = graph.get(&task.id) else { continue };
            let known = task.dependencies.is_some();
            let more = task.wait_for(waits).join(", ");
            if known && !more.is_empty() {
                let text = format!("{} waits for {more} by the graph alone; that counts too", task.id);
                self.plan.notices.push(ImportNotice::problem(text).in_file(path));
            }
        }
    }
}

/// Takes the first line of the description for the title, where there is no better one.
fn with_goal_as_title(mut task: PortableTask) -> PortableTask {
    if let Some(said) = task.description.as_deref().filter(|_| task.title == task.id) {
        let purpose = said.trim_start().trim_start_matches("PURPOSE:");
        task.title = title_of(purpose.split("| Success:").next().unwrap_or_default()).0;
    }
    task.description = task.description.take().filter(|description| *description != task.title);
    task
}

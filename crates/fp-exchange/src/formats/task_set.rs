//! Tasks as JSON, with a plan beside them. maestro writes `tasks.json` as a list, by id or within a session,
//! `tasks.csv`, and `task-analysis.json` with a graph of dependencies. Claude-Code-Workflow and the newer maestro write
//! `.task/*.json` with `plan.json` and `TODO_LIST.md`: in version 5 of CCW a task has `context` and `flow_control`, and
//! lite plans have their tasks within `plan.json`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fp_plan::text::one_line;
use regex::Regex;
use serde_json::{Map, Value};

use super::{ReadResult, place_tasks, report_mismatch};
use crate::folder::{SourceFolder, base_of, folder_of, name_of};
use crate::json_task::{WAITS_FOR, id_of, ids_in, read_json_task, text_at};
use crate::page::{page_lines, plain_text, sections_of};
use crate::portable::{ImportNotice, PortablePlan, PortableTask, TaskWork};
use crate::words::{joined_paragraphs, pattern, title_of};

/// A line of `TODO_LIST.md`.
static BOX: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*[-*+]\s+\[([ xX])\]\s+(.*)$"));

fn has(value: &Value, keys: &[&str]) -> bool {
    keys.iter().any(|key| value.get(*key).is_some())
}

/// A task that maestro has given to a role.
fn has_role(value: &Value) -> bool {
    has(
        value,
        &["role", "prefix", "deps", "blockedBy", "context_from"],
    ) && has(value, &["title", "description"])
}

/// The tasks of an analysis, which may never have been dispatched.
fn analysed_tasks(map: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let capabilities = map
        .get("capabilities")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    capabilities
        .filter_map(|capability| capability.get("tasks")?.as_array())
        .flatten()
}

/// The tasks of a file in any of its shapes, each with the key that it stands under, if it does.
fn tasks_of(value: &Value) -> Vec<(Option<&str>, &Value)> {
    match (value, value.get("tasks")) {
        (Value::Array(all), _) | (_, Some(Value::Array(all))) => {
            all.iter().map(|task| (None, task)).collect()
        }
        (_, Some(Value::Object(tasks))) => tasks
            .iter()
            .map(|(id, task)| (Some(id.as_str()), task))
            .collect(),
        (Value::Object(map), _) => {
            let objects = map.iter().filter(|(_, task)| task.is_object());
            objects
                .map(|(id, task)| (Some(id.as_str()), task))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// A file of maestro with tasks, or with an analysis of them.
fn has_tasks_of_roles(value: &Value) -> bool {
    let is_analysis = |map: &Map<String, Value>| {
        map.get("dependency_graph").is_some_and(Value::is_object)
            || analysed_tasks(map).next().is_some()
    };
    tasks_of(value).into_iter().any(|(_, task)| has_role(task))
        || value.as_object().is_some_and(is_analysis)
}

/// A task by its folder, or by keys that only files of one task have.
fn is_task_file(path: &str, value: &Value) -> bool {
    let in_tasks = folder_of(path) == ".task" || folder_of(path).ends_with("/.task");
    let converges = has(value, &["convergence", "implementation"]) && has(value, &["title"]);
    has(value, &["id", "task_id"])
        && (in_tasks || has(value, &["flow_control", "read_first"]) || converges)
}

/// A plan of CCW, which may have its tasks within it.
fn is_plan(value: &Value) -> bool {
    has(value, &["task_ids", "task_count"]) || (has(value, &["approach"]) && holds_tasks(value))
}

fn holds_tasks(value: &Value) -> bool {
    value.get("tasks").is_some_and(Value::is_array)
}

/// A task of the newer maestro: where there is one, the folder is maestro's.
pub(super) fn reads_first(folder: &SourceFolder) -> Option<&str> {
    let is_newer =
        |map: &Map<String, Value>| map.contains_key("read_first") && id_of(map).is_some();
    folder
        .objects()
        .find(|(_, map)| is_newer(map))
        .map(|(path, _)| path)
}

/// The plan's own tables: results and waves beside one are copies of it.
fn tables(folder: &SourceFolder) -> Vec<(&str, &str)> {
    let is_table = |text: &str| {
        let heading = text.lines().next().unwrap_or_default();
        let columns: Vec<String> = heading
            .split(',')
            .map(|column| column.trim().trim_matches('"').to_lowercase())
            .collect();
        let has = |column: &str| columns.iter().any(|found| found == column);
        has("id") && (has("role") || has("deps") || has("wave"))
    };
    let all: Vec<(&str, &str)> = folder
        .files_in("csv")
        .filter(|(_, text)| is_table(text))
        .collect();
    let is_plan = |path: &str| name_of(path).eq_ignore_ascii_case("tasks.csv");
    let has_plan = |path: &str| {
        all.iter()
            .any(|(other, _)| folder_of(other) == folder_of(path) && is_plan(other))
    };
    all.iter()
        .copied()
        .filter(|(path, _)| is_plan(path) || !has_plan(path))
        .collect()
}

pub(super) fn maestro_files(folder: &SourceFolder) -> Vec<&str> {
    if let Some(first) = reads_first(folder) {
        return std::iter::once(first).chain(ccw_files(folder)).collect();
    }
    let json = folder
        .values()
        .filter(|(_, value)| has_tasks_of_roles(value))
        .map(|(path, _)| path);
    json.chain(tables(folder).into_iter().map(|(path, _)| path))
        .collect()
}

pub(super) fn ccw_files(folder: &SourceFolder) -> Vec<&str> {
    let ours = folder
        .values()
        .filter(|(path, value)| is_task_file(path, value) || is_plan(value));
    ours.map(|(path, _)| path).collect()
}

pub(super) fn read(folder: &SourceFolder, base: &str) -> ReadResult {
    let mut reader = TaskSetReader::default();
    for (path, notice) in folder.broken().filter(|(path, _)| base_of(path) == base) {
        let id = name_of(path).trim_end_matches(".json").to_owned();
        let mut text = format!("{}; it is left out", notice.text);
        if folder_of(path) != base {
            text = format!("{}; {id} stays, with its name alone", notice.text);
            reader.plan.tasks.push(PortableTask {
                title: id.clone(),
                id,
                ..PortableTask::default()
            });
        }
        reader.plan.notices.push(ImportNotice {
            text,
            ..notice.clone()
        });
    }
    let here = || folder.values().filter(|(path, _)| base_of(path) == base);
    for (path, value) in here().filter(|(path, value)| is_task_file(path, value)) {
        reader.read_entry(path, 0, None, value);
    }
    let has_files = !reader.plan.tasks.is_empty();
    let (mut plans, mut sessions) = (Vec::new(), Vec::new());
    for (path, value) in here().filter(|(path, value)| !is_task_file(path, value)) {
        if has_tasks_of_roles(value) || is_plan(value) || name_of(path) == "plan.json" {
            plans.push((path, value));
        } else if name_of(path).contains("session") {
            sessions.extend(value.as_object());
        }
    }
    for (path, value) in plans {
        reader.read_file(path, value);
    }
    for (path, text) in tables(folder)
        .into_iter()
        .filter(|(path, _)| folder_of(path) == base)
    {
        if reader.plan.tasks.is_empty() {
            reader.read_table(path, text);
        }
    }
    for session in sessions {
        reader.name_after(session);
        reader
            .plan
            .ext
            .insert("session".into(), session.clone().into());
    }
    if let Some((name, document)) = folder.page(base, "IMPL_PLAN.md") {
        reader.read_document(name_of(name), document);
    }
    if let Some((path, text)) = folder.page(base, "TODO_LIST.md") {
        reader.read_todo_list(path, text);
    }
    if reader.plan.tasks.is_empty() {
        reader.plan.tasks = std::mem::take(&mut reader.analysed);
    }
    for (path, graph) in std::mem::take(&mut reader.graphs) {
        reader.follow_graph(&path, &graph);
    }
    reader.follow_waves();
    let TaskSetReader {
        mut plan, order, ..
    } = reader;
    if has_files {
        plan.tasks.sort_by_cached_key(|task| {
            let listed = order.iter().position(|id| *id == task.id);
            (listed.is_none(), listed, natural_order(&task.id))
        });
    }
    let above = vec![None; plan.tasks.len()];
    place_tasks(&mut plan, above, true);
    Ok(plan)
}

#[derive(Default)]
struct TaskSetReader {
    plan: PortablePlan,
    /// The ids in the order of the plan.
    order: Vec<String>,
    /// The ids of each wave, where waves are told.
    waves: BTreeMap<u64, Vec<String>>,
    /// The graph of each file: what each task waits for.
    graphs: Vec<(String, BTreeMap<String, Vec<String>>)>,
    /// Tasks that only an analysis has.
    analysed: Vec<PortableTask>,
}

impl TaskSetReader {
    /// Reads a file with tasks, with an analysis of them, or with a plan for them.
    fn read_file(&mut self, path: &str, value: &Value) {
        let mut tasks = tasks_of(value);
        let embedded = holds_tasks(value) && tasks.iter().any(|(_, task)| task.is_object());
        let has_tasks = embedded || tasks.iter().any(|(_, task)| has_role(task));
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
        self.read_plan(path, map);
        if let Some(Value::Object(graph)) = map.get("dependency_graph") {
            let waits = |node: &Value| {
                let in_object = || WAITS_FOR.iter().find_map(|key| ids_in(node.get(*key)?));
                ids_in(node).or_else(in_object).unwrap_or_default()
            };
            self.graphs.push((
                path.to_owned(),
                graph
                    .iter()
                    .map(|(id, node)| (id.clone(), waits(node)))
                    .collect(),
            ));
        }
        for task in analysed_tasks(map).filter_map(Value::as_object) {
            let Some(id) = id_of(task) else { continue };
            let task = read_json_task(&mut self.plan, path, &id, task);
            self.analysed.push(with_goal_as_title(task));
        }
        let mut rest = map.clone();
        let has_more = rest.remove("tasks").is_some() || !has_tasks;
        match name_of(path).trim_end_matches(".json") {
            "plan" => self.plan.ext.extend(rest),
            name if has_more => drop(self.plan.ext.insert(name.to_owned(), rest.into())),
            _ => {}
        }
    }

    /// Reads what a plan says of its tasks.
    fn read_plan(&mut self, path: &str, map: &Map<String, Value>) {
        if let Some(listed) = map.get("task_ids").and_then(ids_in) {
            report_mismatch(&mut self.plan, path, &listed);
            self.order = listed;
        }
        let count = map.get("task_count").and_then(Value::as_u64);
        if let Some(count) =
            count.filter(|count| usize::try_from(*count) != Ok(self.plan.tasks.len()))
        {
            let text = format!(
                "it counts {count} tasks, and there are {}",
                self.plan.tasks.len()
            );
            self.plan.problem_in(path, text);
        }
        // `[{from, to}]`: the second waits for the first.
        for edge in map
            .get("dependencies")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let end = |key: &str| edge.get(key).and_then(Value::as_str).map(one_line);
            let (Some(from), Some(to)) = (end("from"), end("to")) else {
                continue;
            };
            if let Some(task) = self.plan.tasks.iter_mut().find(|task| task.id == to) {
                task.wait_for([&from]);
            }
        }
        for (number, wave) in (1..).zip(
            map.get("waves")
                .and_then(Value::as_array)
                .into_iter()
                .flatten(),
        ) {
            let number = wave.get("wave").and_then(Value::as_u64).unwrap_or(number);
            let ids = wave.get("tasks").or(wave.get("task_ids")).and_then(ids_in);
            self.waves
                .entry(number)
                .or_default()
                .extend(ids.unwrap_or_default());
        }
    }

    fn name_after(&mut self, map: &Map<String, Value>) {
        let said = ["summary", "objective", "approach"].map(|key| text_at(map, &[key]));
        let keys = [
            "title",
            "topic",
            "requirement",
            "task_description",
            "project",
            "description",
        ];
        let named = text_at(map, &keys).or_else(|| said.iter().flatten().next().cloned());
        if let Some(named) = named.filter(|_| self.plan.title.is_empty()) {
            let (title, rest) = title_of(named.trim());
            self.plan.title = title;
            let goal = joined_paragraphs(said.into_iter().flatten());
            self.plan.goal = goal
                .or(rest)
                .or_else(|| text_at(map, &["description", "requirement"]));
        }
    }

    /// Takes the title from the heading of the planning document, if there is none yet.
    fn read_document(&mut self, name: &str, document: &str) {
        let first = sections_of(document)
            .into_iter()
            .find(|section| section.level == 1);
        if let Some(heading) = first
            .map(|section| section.heading)
            .filter(|_| self.plan.title.is_empty())
        {
            let bare = heading
                .split_once(": ")
                .filter(|(before, _)| before.ends_with("Plan"));
            self.plan.title = title_of(bare.map_or(&*heading, |(_, title)| title)).0;
        }
        self.plan.ext.insert(name.to_owned(), document.into());
    }

    /// Reads the task at the position `at` of its file, which stands under `key` if it does.
    fn read_entry(&mut self, path: &str, at: usize, key: Option<&str>, task: &Value) {
        let called = key.map_or_else(|| format!("task-{}", at + 1), one_line);
        let Some(map) = task.as_object() else {
            return self
                .plan
                .problem_in(path, format!("{called} is no object; it is left out"));
        };
        let id = id_of(map).unwrap_or_else(|| {
            if key.is_none() {
                self.plan.problem_in(
                    path,
                    format!("task {} has no id; it is called {called}", at + 1),
                );
            }
            called
        });
        // A task of a role says itself what it waits for.
        if let Some(wave) = map
            .get("wave")
            .and_then(Value::as_u64)
            .filter(|_| !has_role(task))
        {
            self.waves.entry(wave).or_default().push(id.clone());
        }
        let task = read_json_task(&mut self.plan, path, &id, map);
        self.plan.tasks.push(with_goal_as_title(task));
    }

    fn read_table(&mut self, path: &str, text: &str) {
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let Ok(heading) = reader.headers().cloned() else {
            return;
        };
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
                self.plan.problem_in(
                    path,
                    format!("row {} has more cells than the heading", at + 1),
                );
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
            let Some(waits) = graph.get(&task.id) else {
                continue;
            };
            let known = task.dependencies.is_some();
            let more = task.wait_for(waits).join(", ");
            if known && !more.is_empty() {
                let text = format!(
                    "{} waits for {more} by the graph alone; that counts too",
                    task.id
                );
                self.plan
                    .notices
                    .push(ImportNotice::problem(text).in_file(path));
            }
        }
    }

    /// The list wins over the files: it is kept up while they are not.
    fn read_todo_list(&mut self, path: &str, text: &str) {
        let mut unknown = Vec::new();
        for line in page_lines(text).iter().filter(|line| !line.in_code) {
            let Some(found) = BOX.captures(line.text) else {
                continue;
            };
            let (ticked, text) = (&found[1] != " ", plain_text(&found[2]));
            let (first, title) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
            let first = first.trim_end_matches(':');
            let Some(task) = self.plan.tasks.iter_mut().find(|task| task.id == first) else {
                unknown.extend(first.contains('-').then(|| first.to_owned()));
                continue;
            };
            if task.title == task.id && !title.is_empty() {
                task.title = one_line(title);
            }
            let done = matches!(task.work, TaskWork::Done { .. });
            if ticked != done {
                let (list, file) = if ticked {
                    ("done", "not done")
                } else {
                    ("not done", "done")
                };
                task.work = if ticked {
                    TaskWork::Done { commit: None }
                } else {
                    TaskWork::Todo
                };
                let text = format!(
                    "{first} is {list} by this list and {file} by its file; the list counts"
                );
                self.plan.problem_at(path, line.number, text);
            }
        }
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            self.plan.problem_in(
                path,
                format!("these tasks are listed and have no file: {unknown}"),
            );
        }
    }

    /// Makes each wave wait for the one before it.
    fn follow_waves(&mut self) {
        let mut added = false;
        let waves: Vec<&Vec<String>> = self.waves.values().collect();
        for pair in waves.windows(2) {
            for task in self
                .plan
                .tasks
                .iter_mut()
                .filter(|task| pair[1].contains(&task.id))
            {
                added |= !task
                    .wait_for(pair[0].iter().filter(|id| !pair[1].contains(id)))
                    .is_empty();
            }
        }
        if added {
            self.plan
                .note("the waves became dependencies: each wave waits for the one before it");
        }
    }
}

/// Takes the first line of the description for the title, where there is no better one.
fn with_goal_as_title(mut task: PortableTask) -> PortableTask {
    if let Some(said) = task
        .description
        .as_deref()
        .filter(|_| task.title == task.id)
    {
        let purpose = said.trim_start().trim_start_matches("PURPOSE:");
        task.title = title_of(purpose.split("| Success:").next().unwrap_or_default()).0;
    }
    task.description = task
        .description
        .take()
        .filter(|description| *description != task.title);
    task
}

/// The key to sort ids by, so that `IMPL-2` comes before `IMPL-10`: their texts and numbers by turns.
fn natural_order(id: &str) -> Vec<(String, u64)> {
    let mut runs: Vec<(String, u64)> = vec![(String::new(), 0)];
    let mut in_number = false;
    for c in id.chars() {
        let run = runs.last_mut().expect("there is a first run");
        match c.to_digit(10) {
            Some(digit) => run.1 = run.1.saturating_mul(10).saturating_add(digit.into()),
            None if in_number => runs.push((c.to_string(), 0)),
            None => run.0.push(c),
        }
        in_number = c.is_ascii_digit();
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_numbers() {
        let mut ids = ["IMPL-10", "IMPL-2", "IMPL-10.1", "IMPL-010"];
        ids.sort_by_key(|id| natural_order(id));
        assert_eq!(ids, ["IMPL-2", "IMPL-10", "IMPL-010", "IMPL-10.1"]);
    }
}

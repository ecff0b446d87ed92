//! maestro: `tasks.json` as a list, by id or within a session, `tasks.csv`, `task-analysis.json` with a graph of
//! dependencies, and the newer `task.json` with what to read first.

mod description;
mod keys;

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use self::description::Parts;
use self::keys::order_of_keys;

use super::converged;
use super::documents::{Documents, folder_of, name_of, only};
use super::fields::{Fields, ids};
use super::words::{self, one_line};
use super::{Found, ImportError, Source};
use crate::exchange::notice::{Kind, Notice};
use crate::exchange::portable::{PortablePlan, PortableTask, Work};

/// The names under which a task, or a node of the graph, says what it waits for.
const WAITS_FOR: [&str; 6] = ["deps", "depends_on", "blockedBy", "blocked_by", "dependencies", "dependsOn"];

/// What marks a task of the older form.
fn is_task(value: &Value) -> bool {
    let Some(map) = value.as_object() else { return false };
    let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
    has(&["role", "prefix", "deps", "blockedBy", "context_from"]) && has(&["title", "description"])
}

fn is_newer(map: &Map<String, Value>) -> bool {
    map.contains_key("read_first") && (map.contains_key("id") || map.contains_key("title"))
}

fn is_analysis(map: &Map<String, Value>) -> bool {
    map.get("dependency_graph").is_some_and(Value::is_object)
        || map
            .get("capabilities")
            .and_then(Value::as_array)
            .is_some_and(|all| all.iter().any(|c| c.get("tasks").is_some()))
}

/// The tasks of a file in any of its shapes, each with the key that it stands under, if it does.
fn tasks_of(value: &Value) -> Vec<(Option<&str>, &Value)> {
    match value {
        Value::Array(all) => all.iter().map(|task| (None, task)).collect(),
        Value::Object(map) => match map.get("tasks") {
            Some(Value::Array(all)) => all.iter().map(|task| (None, task)).collect(),
            Some(Value::Object(tasks)) => tasks.iter().map(|(id, task)| (Some(id.as_str()), task)).collect(),
            _ => map
                .iter()
                .filter(|(_, task)| task.is_object())
                .map(|(id, task)| (Some(id.as_str()), task))
                .collect(),
        },
        _ => Vec::new(),
    }
}

/// What a file is to this format.
fn shape(value: &Value) -> Option<&'static str> {
    let of_tasks = || tasks_of(value).into_iter().any(|(_, task)| is_task(task));
    match value {
        Value::Object(map) if is_newer(map) => Some("is a task with `read_first`"),
        Value::Array(_) if of_tasks() => Some("is a list of tasks with `role` or `deps`"),
        Value::Object(_) if of_tasks() => Some("has tasks with `role` or `deps`"),
        Value::Object(map) if is_analysis(map) => Some("has a `dependency_graph`"),
        _ => None,
    }
}

/// Whether a file is of this format once somebody has said so: its newer tasks need not have anything to read first.
fn is_ours(value: &Value) -> bool {
    shape(value).is_some()
        || value.as_object().is_some_and(|map| map.contains_key("id") && map.contains_key("convergence"))
}

fn is_table(text: &str) -> bool {
    let Some(heading) = text.lines().next() else { return false };
    let columns: Vec<String> =
        heading.split(',').map(|column| column.trim().trim_matches('"').to_lowercase()).collect();
    let has = |column: &str| columns.iter().any(|found| found == column);
    has("id") && (has("role") || has("deps") || has("wave"))
}

pub(super) fn recognise(documents: &Documents<'_>) -> Option<String> {
    let json = documents.values().find_map(|(path, value)| Some(format!("{path} {}", shape(value)?)));
    let table = || documents.files_in("csv").find(|(_, text)| is_table(text));
    json.or_else(|| table().map(|(path, _)| format!("{path} has columns for ids and roles")))
}

fn base(path: &str) -> &str {
    let folder = folder_of(path);
    if folder == ".task" { "" } else { folder.strip_suffix("/.task").unwrap_or(folder) }
}

pub(super) fn read(documents: &Documents<'_>) -> Found {
    let json = documents.values().filter(|(_, value)| is_ours(value)).map(|(path, _)| base(path));
    let tables = documents.files_in("csv").filter(|(_, text)| is_table(text)).map(|(path, _)| base(path));
    let base = match only(Source::Maestro, json.chain(tables)) {
        Err(ImportError::NoTask(_)) => {
            return Err(documents.first_broken().unwrap_or(ImportError::NoTask(Source::Maestro)));
        }
        found => found?,
    };
    let mut reading = Reading::default();
    for (_, notice) in documents.broken().filter(|(path, _)| self::base(path) == base) {
        let text = format!("{}; it is left out", notice.text);
        reading.notices.push(Notice { text, ..notice.clone() });
    }
    let here = || documents.values().filter(|(path, _)| self::base(path) == base);
    for (path, value) in here().filter(|(_, value)| is_ours(value)) {
        let text = documents.text(folder_of(path), name_of(path)).map_or("", |(_, text)| text);
        reading.file(path, value, text);
    }
    if reading.plan.tasks.is_empty() {
        for (path, text) in
            documents.files_in("csv").filter(|(path, text)| self::base(path) == base && is_table(text))
        {
            reading.table(path, text);
        }
    }
    for (path, map) in here().filter_map(|(path, value)| Some((path, value.as_object()?))) {
        if name_of(path).contains("session") {
            reading.name_after(map);
            reading.plan.ext.insert("session".into(), map.clone().into());
        }
    }
    Ok(reading.finish())
}

#[derive(Default)]
struct Reading {
    plan: PortablePlan,
    notices: Vec<Notice>,
    /// What the graphs say, by file.
    graphs: Vec<(String, BTreeMap<String, Vec<String>>)>,
    /// Tasks that only an analysis has.
    analysed: Vec<PortableTask>,
}

impl Reading {
    fn file(&mut self, path: &str, value: &Value, text: &str) {
        match value {
            Value::Object(map) if is_newer(map) || map.contains_key("convergence") => {
                let task = self.newer(path, map);
                self.plan.tasks.push(task);
            }
            Value::Object(map) => {
                self.name_after(map);
                self.graph(path, map);
                let has_tasks = tasks_of(value).into_iter().any(|(_, task)| is_task(task));
                if has_tasks {
                    self.tasks(path, value, text);
                } else {
                    self.analysis(map);
                }
                let wrapped =
                    matches!(map.get("tasks"), Some(Value::Array(_) | Value::Object(_))) || !has_tasks;
                if wrapped {
                    let mut rest = map.clone();
                    if has_tasks {
                        rest.remove("tasks");
                    }
                    let name = name_of(path).trim_end_matches(".json");
                    self.plan.ext.insert(name.to_owned(), rest.into());
                }
            }
            _ => self.tasks(path, value, text),
        }
    }

    fn name_after(&mut self, map: &Map<String, Value>) {
        let text = |keys: &[&str]| keys.iter().find_map(|key| map.get(*key)?.as_str()).map(str::trim);
        let said = text(&["title", "requirement", "task_description", "description"])
            .filter(|said| !said.is_empty());
        if let Some(said) = said.filter(|_| self.plan.title.is_empty()) {
            let (title, rest) = words::title(said);
            self.plan.title = title;
            self.plan.goal = rest.or_else(|| text(&["description", "requirement"]).map(str::to_owned));
        }
    }

    fn graph(&mut self, path: &str, map: &Map<String, Value>) {
        let Some(graph) = map.get("dependency_graph").and_then(Value::as_object) else { return };
        let waits_for = |node: &Value| match node {
            Value::Object(node) => WAITS_FOR.iter().find_map(|key| ids(node.get(*key)?)).unwrap_or_default(),
            other => ids(other).unwrap_or_default(),
        };
        let graph = graph.iter().map(|(id, node)| (id.clone(), waits_for(node))).collect();
        self.graphs.push((path.to_owned(), graph));
    }

    fn tasks(&mut self, path: &str, value: &Value, text: &str) {
        let mut tasks = tasks_of(value);
        let keys = order_of_keys(text);
        let mut place: HashMap<&str, usize> = HashMap::new();
        for (at, key) in keys.iter().enumerate() {
            if place.insert(key, at).is_some() && tasks.iter().any(|(known, _)| *known == Some(key)) {
                let text = format!("{key} stands here twice; the last one counts");
                self.notices.push(Notice::new(Kind::DuplicateId, text).in_file(path).about(key));
            }
        }
        tasks.sort_by_key(|(key, _)| key.and_then(|key| place.get(key).copied()));
        for (at, (key, task)) in tasks.into_iter().enumerate() {
            match task.as_object() {
                Some(map) => {
                    let task = self.task(path, at, key, map);
                    self.plan.tasks.push(task);
                }
                None => {
                    let called = key.map_or_else(|| format!("task {}", at + 1), str::to_owned);
                    let text = format!("{called} is no object; it is left out");
                    self.notices.push(Notice::new(Kind::Broken, text).in_file(path));
                }
            }
        }
    }

    fn task(&mut self, path: &str, at: usize, key: Option<&str>, map: &Map<String, Value>) -> PortableTask {
        let mut fields = Fields::of(map);
        let mut task = PortableTask { id: self.id(path, at, key, &mut fields), ..PortableTask::default() };
        task.dependencies = fields.first_ids(&WAITS_FOR);
        self.status(path, &mut fields, &mut task);
        let description = fields.said("description").unwrap_or_default();
        let parts = Parts::of(&description);
        let named = fields.said("title").map(|title| words::title(&title));
        let named = named.filter(|(title, _)| *title != task.id && !title.is_empty());
        let goal = parts.goal.as_deref().map(words::title);
        (task.title, task.description) = match (named, goal) {
            (Some((title, rest)), Some(_)) => {
                (title, words::paragraphs(rest.into_iter().chain(parts.goal.clone())))
            }
            (Some((title, rest)), None) => {
                (title, words::paragraphs(rest.into_iter().chain(Some(description.clone()))))
            }
            (None, Some((title, rest))) => (title, rest),
            (None, None) if description.is_empty() => (task.id.clone(), None),
            (None, None) => words::title(&description),
        };
        if task.description.as_deref() == Some(&*task.title) {
            task.description = None;
        }
        if parts.is_structured() {
            fields.put("description", description.into());
        }
        task.acceptance = parts.acceptance();
        task.hints = Some(parts.steps).filter(|steps| !steps.is_empty());
        task.references = Some(parts.key_files).filter(|files| !files.is_empty());
        task.guardrails = Some(parts.constraints).filter(|constraints| !constraints.is_empty());
        if let Some(criteria) =
            fields.sentences("evaluation_criteria").filter(|criteria| !criteria.is_empty())
        {
            task.acceptance.get_or_insert_default().extend(criteria);
        }
        if let Some(wave) = fields.text("wave").filter(|wave| !words::is_none(wave)) {
            task.group = Some(format!("wave {}", one_line(&wave)));
            fields.put("wave", wave.into());
        }
        task.ext = without_blanks(fields.rest());
        task
    }

    fn id(&mut self, path: &str, at: usize, key: Option<&str>, fields: &mut Fields) -> String {
        let said = fields.text("id").map(|id| one_line(&id)).filter(|id| !id.is_empty());
        said.or_else(|| key.map(one_line)).unwrap_or_else(|| {
            let id = format!("task-{}", at + 1);
            let text = format!("task {} has no id; it is called {id}", at + 1);
            self.notices.push(Notice::new(Kind::UnknownValue, text).in_file(path).about(&id));
            id
        })
    }

    fn status(&mut self, path: &str, fields: &mut Fields, task: &mut PortableTask) {
        match converged::status(fields) {
            Ok(work) => task.work = work,
            Err(word) => {
                let text = format!("{} has a status that means nothing here: {}", task.id, one_line(&word));
                self.notices.push(Notice::new(Kind::UnknownValue, text).in_file(path).about(&task.id));
            }
        }
        if let Work::Failed { reason } = &mut task.work {
            *reason =
                fields.get("error").and_then(Value::as_str).map(one_line).filter(|error| !error.is_empty());
        }
    }

    fn newer(&mut self, path: &str, map: &Map<String, Value>) -> PortableTask {
        let mut fields = Fields::of(map);
        let key = name_of(path).trim_end_matches(".json");
        let mut task =
            PortableTask { id: self.id(path, 0, Some(key), &mut fields), ..PortableTask::default() };
        let (title, rest) = words::title(&fields.first_text(&["title", "name"]).unwrap_or_default());
        task.title = if title.is_empty() { task.id.clone() } else { title };
        task.description = words::paragraphs(rest.into_iter().chain(fields.said("description")));
        if let Some(mut meta) = fields.object("meta") {
            if let Some(status) = meta.text("status").filter(|_| fields.get("status").is_none()) {
                fields.put("status", status.into());
            }
            fields.put_back("meta", meta);
        }
        self.status(path, &mut fields, &mut task);
        task.dependencies = fields.first_ids(&WAITS_FOR);
        converged::take(&mut fields, &mut task);
        task.ext = fields.rest();
        task
    }

    fn table(&mut self, path: &str, text: &str) {
        let mut reader =
            csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
        let Ok(heading) = reader.headers().cloned() else { return };
        for (at, record) in reader.records().enumerate() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let line = error.position().map_or(0, csv::Position::line);
                    let notice =
                        Notice::new(Kind::Broken, format!("not a row of a table: {error}; it is left out"));
                    self.notices.push(notice.in_file(path).at_line(usize::try_from(line).unwrap_or(0)));
                    continue;
                }
            };
            let cells = heading.iter().zip(&record).filter(|(_, cell)| !cell.is_empty());
            let mut map: Map<String, Value> =
                cells.map(|(name, cell)| (name.to_lowercase(), Value::from(cell))).collect();
            if map.is_empty() {
                continue;
            }
            if record.len() > heading.len() {
                let line = record.position().map_or(0, csv::Position::line);
                let text = format!("a row has {} cells, and the heading has {}", record.len(), heading.len());
                let notice = Notice::new(Kind::UnknownValue, text).in_file(path);
                self.notices.push(notice.at_line(usize::try_from(line).unwrap_or(0)));
                let more: Vec<&str> = record.iter().skip(heading.len()).collect();
                map.insert("cells".into(), more.into());
            }
            // An empty cell of a list says that there is nothing.
            for list in heading.iter().filter(|name| name.eq_ignore_ascii_case("deps")) {
                map.entry(list.to_lowercase()).or_insert_with(|| Value::Array(Vec::new()));
            }
            if let Some(Value::String(criteria)) = map.get("evaluation_criteria").cloned() {
                map.insert("evaluation_criteria".into(), criteria.split(';').map(str::trim).collect());
            }
            let task = self.task(path, at, None, &map);
            self.plan.tasks.push(task);
        }
    }

    /// What is known of tasks that were never dispatched.
    fn analysis(&mut self, map: &Map<String, Value>) {
        let all = map.get("capabilities").and_then(Value::as_array).into_iter().flatten();
        for task in all.filter_map(|capability| capability.get("tasks")?.as_array()).flatten() {
            let Some(task) = task.as_object() else { continue };
            let mut fields = Fields::of(task);
            let Some(id) = fields.text("id") else { continue };
            let (title, description) =
                words::title(&fields.first_text(&["title", "goal"]).unwrap_or_default());
            let list = |list: Option<Vec<String>>| list.filter(|list| !list.is_empty());
            self.analysed.push(PortableTask {
                title: if title.is_empty() { id.clone() } else { title },
                id,
                description: words::paragraphs(description.into_iter().chain(fields.said("goal"))),
                acceptance: list(fields.sentences("success_criteria")),
                hints: list(fields.sentences("steps")),
                references: list(fields.sentences("key_files")),
                guardrails: list(fields.sentences("constraints")),
                dependencies: fields.first_ids(&WAITS_FOR),
                ext: fields.rest(),
                ..PortableTask::default()
            });
        }
    }

    fn finish(mut self) -> (PortablePlan, Vec<Notice>) {
        if self.plan.tasks.is_empty() {
            self.plan.tasks = std::mem::take(&mut self.analysed);
        }
        for (path, graph) in std::mem::take(&mut self.graphs) {
            self.follow(&path, &graph);
        }
        (self.plan, self.notices)
    }

    /// Adds what a graph says of dependencies, and holds its nodes against the tasks.
    fn follow(&mut self, path: &str, graph: &BTreeMap<String, Vec<String>>) {
        let mut place: HashMap<String, usize> = HashMap::new();
        for (at, task) in self.plan.tasks.iter().enumerate() {
            place.entry(task.id.clone()).or_insert(at);
        }
        let missing: Vec<String> = graph.keys().filter(|id| !place.contains_key(*id)).cloned().collect();
        let absent = |id: &&String| !graph.contains_key(*id);
        let unlisted: Vec<String> =
            self.plan.tasks.iter().map(|task| &task.id).filter(absent).cloned().collect();
        for (ids, what) in
            [(missing, "in the graph and are no tasks"), (unlisted, "tasks and are not in the graph")]
        {
            if !ids.is_empty() {
                let notice =
                    Notice::new(Kind::CountMismatch, format!("these are {what}: {}", ids.join(", ")));
                self.notices.push(Notice { tasks: ids, ..notice.in_file(path) });
            }
        }
        for (id, waits_for) in graph {
            let Some(task) = place.get(id).map(|&at| &mut self.plan.tasks[at]) else { continue };
            let known = task.dependencies.clone();
            let own = task.dependencies.get_or_insert_default();
            let more: Vec<String> = waits_for.iter().filter(|other| !own.contains(other)).cloned().collect();
            if known.is_some() && !more.is_empty() {
                let text = format!("{id} waits for {} by the graph alone; that counts too", more.join(", "));
                self.notices.push(Notice::new(Kind::Contradiction, text).in_file(path).about(id));
            }
            own.extend(more);
        }
    }
}

/// Fields that the form has in every task, most of the time with nothing in them.
fn without_blanks(map: Map<String, Value>) -> Map<String, Value> {
    map.into_iter().filter(|(_, value)| value.as_str() != Some("")).collect()
}

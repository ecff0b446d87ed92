//! task-master: `tasks.json` with a list of tasks, or with one for each tag. Subtasks are numbered from 1 in each task.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::converged;
use super::documents::{Documents, folder_of, only};
use super::fields::{Fields, ids};
use super::words::{self, one_line};
use super::{Found, ImportError, Source};
use crate::exchange::notice::{Kind, Notice};
use crate::exchange::portable::{PortablePlan, PortableTask, Work};

/// The tag that a plan has where it has no others.
const MAIN_TAG: &str = "master";

/// Whether a list of tasks is of this format, and of no other that has one.
fn is_list(value: Option<&Value>) -> bool {
    let Some(all) = value.and_then(Value::as_array) else { return false };
    let objects = || all.iter().filter_map(Value::as_object);
    let has = |keys: &[&str]| objects().any(|task| keys.iter().any(|key| task.contains_key(*key)));
    has(&["id"])
        && has(&["dependencies", "subtasks", "testStrategy", "details"])
        && !has(&["deps", "role", "work"])
}

/// The lists of a file, each with its tag where it has one.
fn lists(map: &Map<String, Value>) -> Vec<(Option<&str>, &Map<String, Value>)> {
    if is_list(map.get("tasks")) {
        return vec![(None, map)];
    }
    let tagged = map.iter().filter_map(|(tag, value)| Some((tag, value.as_object()?)));
    tagged
        .filter(|(_, list)| is_list(list.get("tasks")))
        .map(|(tag, list)| (Some(tag.as_str()), list))
        .collect()
}

fn is_ours(map: &Map<String, Value>) -> bool {
    !map.contains_key("schemaVersion") && !lists(map).is_empty()
}

pub(super) fn recognise(documents: &Documents<'_>) -> Option<String> {
    let (path, map) = documents.objects().find(|(_, map)| is_ours(map))?;
    let lists = lists(map);
    let tags: Vec<&str> = lists.iter().filter_map(|(tag, _)| *tag).collect();
    Some(match tags[..] {
        [] => format!("{path} has a list of tasks with `dependencies` or `subtasks`"),
        _ => format!("{path} has tasks by tag: {}", tags.join(", ")),
    })
}

pub(super) fn read(documents: &Documents<'_>) -> Found {
    let ours = || documents.objects().filter(|(_, map)| is_ours(map));
    let folder = match only(Source::TaskMaster, ours().map(|(path, _)| folder_of(path))) {
        Err(ImportError::NoTask(_)) => {
            return Err(documents.first_broken().unwrap_or(ImportError::NoTask(Source::TaskMaster)));
        }
        found => found?,
    };
    let mut reading = Reading::default();
    for (path, map) in ours().filter(|(path, _)| folder_of(path) == folder) {
        reading.file(path, map);
    }
    for (_, map) in documents.objects() {
        reading.complexities(map);
    }
    Ok((reading.plan, reading.notices))
}

#[derive(Default)]
struct Reading {
    plan: PortablePlan,
    notices: Vec<Notice>,
}

/// Where a task stands.
struct Place<'p> {
    path: &'p str,
    /// What is in front of all ids, where there are several tags.
    prefix: String,
    /// The parent: its id without the prefix, and its position.
    parent: Option<(String, usize)>,
    /// The ids of the tasks beside it, without what is in front of them.
    beside: HashSet<String>,
}

impl Reading {
    fn file(&mut self, path: &str, map: &Map<String, Value>) {
        let lists = lists(map);
        let several = lists.len() > 1;
        let mut rest = Map::new();
        for (tag, list) in &lists {
            let tag = tag.unwrap_or(MAIN_TAG);
            let mut place = Place { path, prefix: String::new(), parent: None, beside: HashSet::new() };
            if several {
                place.prefix = format!("{tag}:");
                place.parent = Some((String::new(), self.plan.tasks.len()));
                self.plan.tasks.push(PortableTask {
                    id: tag.to_owned(),
                    title: one_line(tag),
                    ..PortableTask::default()
                });
            }
            let mut about = (*list).clone();
            about.remove("tasks");
            self.name_after(&about);
            if !about.is_empty() {
                rest.insert(tag.to_owned(), about.into());
            }
            self.tasks(list.get("tasks").and_then(Value::as_array).map_or(&[], Vec::as_slice), &place);
        }
        let known: Vec<&str> = lists.iter().filter_map(|(tag, _)| *tag).collect();
        let others = map.iter().filter(|(key, _)| !known.contains(&key.as_str()) && *key != "tasks");
        if known.is_empty() {
            self.plan.ext.extend(others.map(|(key, value)| (key.clone(), value.clone())));
        } else {
            rest.extend(others.map(|(key, value)| (key.clone(), value.clone())));
            self.plan.ext.insert("tags".into(), rest.into());
        }
    }

    /// What its analysis says of tasks that don't say it themselves; its scale is 1 to 10.
    fn complexities(&mut self, report: &Map<String, Value>) {
        let analysed = report.get("complexityAnalysis").and_then(Value::as_array).into_iter().flatten();
        for task in analysed {
            let Some(id) = task.get("taskId").and_then(ids).and_then(|mut ids| ids.pop()) else { continue };
            let score =
                task.get("complexityScore").and_then(Value::as_u64).filter(|score| (1..=10).contains(score));
            let found = self.plan.tasks.iter_mut().find(|task| task.id == id && task.complexity.is_none());
            if let Some((task, score)) = found.zip(score) {
                task.complexity = u32::try_from(score).ok();
            }
        }
    }

    fn name_after(&mut self, about: &Map<String, Value>) {
        let metadata = about.get("metadata").or(about.get("meta")).and_then(Value::as_object);
        let text = |key: &str| metadata?.get(key)?.as_str().filter(|text| !text.trim().is_empty());
        if let Some(name) = text("projectName").or(text("title")).filter(|_| self.plan.title.is_empty()) {
            self.plan.title = words::title(name).0;
        }
        // What every new tag is described with says nothing.
        let said = text("description").filter(|said| !said.starts_with("Tasks for "));
        if let Some(description) = said.filter(|_| self.plan.goal.is_none()) {
            self.plan.goal = Some(description.to_owned());
        }
    }

    fn tasks(&mut self, tasks: &[Value], place: &Place<'_>) {
        let numbers = tasks.iter().filter_map(|task| ids(task.get("id")?)?.pop());
        let beside: HashSet<String> = numbers.collect();
        for (at, task) in tasks.iter().enumerate() {
            let Some(map) = task.as_object() else {
                let within = place.parent.as_ref().map_or_else(String::new, |(id, _)| format!(" of {id}"));
                let text = format!("task {}{within} is no object; it is left out", at + 1);
                self.notices.push(Notice::new(Kind::Broken, text).in_file(place.path));
                continue;
            };
            let here = Place {
                path: place.path,
                prefix: place.prefix.clone(),
                parent: place.parent.clone(),
                beside: beside.clone(),
            };
            self.task(at, map, &here);
        }
    }

    fn task(&mut self, at: usize, map: &Map<String, Value>, place: &Place<'_>) {
        let mut fields = Fields::of(map);
        let above = place.parent.as_ref().map_or("", |(id, _)| id.as_str());
        let id = self.id(at, above, &mut fields, place);
        let (title, rest) = words::title(&fields.said("title").unwrap_or_default());
        let description = fields.said("description");
        let details = fields.said("details");
        if let Some(details) = details.clone().filter(|_| description.is_some()) {
            fields.put("details", details.into());
        }
        let mut task = PortableTask {
            id: format!("{}{id}", place.prefix),
            parent: place.parent.as_ref().map(|(_, at)| *at),
            title: if title.is_empty() { id.clone() } else { title },
            description: words::paragraphs(rest.into_iter().chain(description).chain(details)),
            ..PortableTask::default()
        };
        if let Some(strategy) = fields.said("testStrategy") {
            task.acceptance = Some(words::entries(&strategy)).filter(|list| !list.is_empty());
            task.tests_required = Some(true);
            fields.put("testStrategy", strategy.into());
        }
        let complexity = fields.get("complexity").and_then(Value::as_u64).filter(|n| (1..=10).contains(n));
        if let Some(complexity) = complexity.and_then(|_| fields.whole("complexity")) {
            task.complexity = u32::try_from(complexity).ok();
        }
        task.dependencies =
            fields.ids("dependencies").map(|list| list.iter().map(|d| waits_for(d, above, place)).collect());
        task.priority = fields.said("priority").map(|priority| one_line(&priority));
        self.status(&mut fields, &mut task, place);
        let subtasks = fields.get("subtasks").and_then(Value::as_array).cloned();
        if subtasks.is_some() {
            fields.put("subtasks", Value::Null);
        }
        task.ext = fields.rest();
        let position = self.plan.tasks.len();
        self.plan.tasks.push(task);
        if let Some(subtasks) = subtasks.filter(|all| !all.is_empty()) {
            let below = Place {
                path: place.path,
                prefix: place.prefix.clone(),
                parent: Some((id, position)),
                beside: HashSet::new(),
            };
            self.tasks(&subtasks, &below);
        }
    }

    /// `2` below `5` is `5.2`, and so is `5.2`.
    fn id(&mut self, at: usize, above: &str, fields: &mut Fields, place: &Place<'_>) -> String {
        let said = fields.text("id").map(|id| one_line(&id)).filter(|id| !id.is_empty());
        let own = said.unwrap_or_else(|| {
            let number = (at + 1).to_string();
            let text = format!("task {} has no id; it is called {number}", at + 1);
            self.notices.push(Notice::new(Kind::UnknownValue, text).in_file(place.path).about(&number));
            number
        });
        within(&own, above)
    }

    fn status(&mut self, fields: &mut Fields, task: &mut PortableTask, place: &Place<'_>) {
        let word = fields.get("status").cloned();
        match converged::status(fields) {
            Ok(work) => task.work = work,
            Err(word) => {
                let text = format!("{} has a status that means nothing here: {}", task.id, one_line(&word));
                self.notices.push(Notice::new(Kind::UnknownValue, text).in_file(place.path).about(&task.id));
            }
        }
        // Several of its words mean the same here.
        if let Some(word) =
            word.filter(|word| !matches!(word.as_str(), Some("pending" | "done" | "in-progress")))
        {
            fields.put("status", word);
        }
        if let (Work::Done { commit }, Some(hash)) = (&mut task.work, fields.said("commit")) {
            *commit = Some(hash);
        }
    }
}

/// The id `own` of a task below `above`.
fn within(own: &str, above: &str) -> String {
    let has_parent = above.is_empty() || own.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'));
    if has_parent { own.to_owned() } else { format!("{above}.{own}") }
}

/// What a dependency of a task below `above` means: the task beside it with that number, if there is one, else one of
/// all.
fn waits_for(dependency: &str, above: &str, place: &Place<'_>) -> String {
    let beside = !above.is_empty() && !dependency.contains('.') && place.beside.contains(dependency);
    let id = if beside { within(dependency, above) } else { dependency.to_owned() };
    format!("{}{id}", place.prefix)
}

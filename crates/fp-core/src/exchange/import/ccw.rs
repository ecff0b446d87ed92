//! Claude-Code-Workflow: a file for each task in `.task`. In version 5 a task has `context` and `flow_control`, in
//! version 7 `convergence` and `files`, and `plan.json` beside the folder. `TODO_LIST.md` says what is done.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::arrange::{order_of, parents_first};
use super::converged;
use super::documents::{Documents, folder_of, name_of, only};
use super::fields::{Fields, ids, sentence};
use super::markdown::{entries, lines, plain, sections};
use super::words::{self, one_line};
use super::{Found, ImportError, Source};
use crate::exchange::notice::{Kind, Notice};
use crate::exchange::portable::{PortablePlan, PortableTask, Work};

/// Where the task files are.
const TASKS: &str = ".task";

fn is_task(map: &Map<String, Value>) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
    let newer = has(&["convergence", "implementation"]) && has(&["title"]);
    has(&["id"]) && !has(&["read_first"]) && (has(&["flow_control"]) || newer)
}

fn is_plan(map: &Map<String, Value>) -> bool {
    // The first plans of the newer version have their tasks within.
    let holds_tasks = map.contains_key("approach") && map.get("tasks").is_some_and(Value::is_array);
    map.contains_key("task_ids") || map.contains_key("task_count") || holds_tasks
}

fn is_in_tasks(path: &str) -> bool {
    folder_of(path) == TASKS || folder_of(path).ends_with("/.task")
}

/// The folder of the plan that the file at `path` belongs to.
fn base(path: &str) -> &str {
    let folder = folder_of(path);
    if folder == TASKS { "" } else { folder.strip_suffix("/.task").unwrap_or(folder) }
}

pub(super) fn recognise(documents: &Documents<'_>) -> Option<String> {
    let all = || documents.objects();
    let newer_maestro = all().any(|(_, map)| map.contains_key("read_first"));
    if newer_maestro {
        return None;
    }
    let task = all().find(|(_, map)| is_task(map));
    let found = task.map(|(path, map)| {
        let version = if map.contains_key("flow_control") { "`flow_control`" } else { "`convergence`" };
        format!("{path} is a task with {version}")
    });
    let plan = || all().find(|(_, map)| is_plan(map)).map(|(path, _)| format!("{path} counts its tasks"));
    let in_tasks = || {
        let mut tasks = all().filter(|(path, map)| is_in_tasks(path) && map.contains_key("id"));
        tasks.next().map(|(path, _)| format!("{path} is in .task"))
    };
    found.or_else(plan).or_else(in_tasks)
}

pub(super) fn read(documents: &Documents<'_>) -> Found {
    let is_ours = |path: &str, map: &Map<String, Value>| {
        is_task(map) || is_plan(map) || (is_in_tasks(path) && map.contains_key("id"))
    };
    let ours = documents.objects().filter(|(path, map)| is_ours(path, map)).map(|(path, _)| base(path));
    let base = match only(Source::Ccw, ours) {
        Err(ImportError::NoTask(_)) => {
            return Err(documents.first_broken().unwrap_or(ImportError::NoTask(Source::Ccw)));
        }
        found => found?,
    };
    let mut reading = Reading::default();
    for (path, notice) in documents.broken().filter(|(path, _)| self::base(path) == base) {
        let text = format!("{}; it is left out", notice.text);
        reading.broken.push(name_of(path).trim_end_matches(".json").to_owned());
        reading.notices.push(Notice { text, ..notice.clone() });
    }
    let here = || documents.objects().filter(|(path, _)| self::base(path) == base);
    for (path, map) in
        here().filter(|(path, map)| is_task(map) || (is_in_tasks(path) && map.contains_key("id")))
    {
        reading.task(path, map);
    }
    if let Some((path, map)) = here().find(|(_, map)| is_plan(map)) {
        reading.plan_file(path, map);
    }
    reading.about_session(documents, base);
    if let Some((path, text)) = documents.text(base, "TODO_LIST.md") {
        reading.todo_list(path, text);
    }
    Ok(reading.finish())
}

#[derive(Default)]
struct Reading {
    plan: PortablePlan,
    tasks: Vec<PortableTask>,
    notices: Vec<Notice>,
    /// Names of the task files that can't be read.
    broken: Vec<String>,
    /// The ids in the order of the plan.
    order: Vec<String>,
}

impl Reading {
    fn plan_file(&mut self, path: &str, map: &Map<String, Value>) {
        let mut fields = Fields::of(map);
        let summary = fields.said("summary");
        let title = fields.said("title").or_else(|| summary.clone()).unwrap_or_default();
        self.plan.title = words::title(&title).0;
        let approach = fields.said("approach");
        self.plan.goal = words::paragraphs(summary.iter().chain(&approach).cloned());
        for (key, text) in [("summary", summary), ("approach", approach)] {
            text.into_iter().for_each(|text| fields.put(key, text.into()));
        }
        if let Some(Value::Array(embedded)) = fields.get("tasks").cloned() {
            for task in embedded.iter().filter_map(Value::as_object).filter(|task| task.contains_key("id")) {
                self.task(path, task);
            }
            fields.put("tasks", Value::Null);
        }
        self.count(path, map);
        self.plan.ext = fields.rest();
    }

    /// Holds what the plan says of its tasks against the files that there are.
    fn count(&mut self, path: &str, map: &Map<String, Value>) {
        let mut differs = |text: String, tasks: Vec<String>| {
            let notice = Notice::new(Kind::CountMismatch, text).in_file(path);
            self.notices.push(Notice { tasks, ..notice });
        };
        let known: HashSet<&str> = self.tasks.iter().map(|task| task.id.as_str()).collect();
        if let Some(listed) = map.get("task_ids").and_then(ids) {
            let missing = |id: &&String| !known.contains(id.as_str()) && !self.broken.contains(id);
            let missing: Vec<String> = listed.iter().filter(missing).cloned().collect();
            if !missing.is_empty() {
                differs(format!("these tasks are listed and have no file: {}", missing.join(", ")), missing);
            }
            let unlisted = self.tasks.iter().map(|task| &task.id).filter(|id| !listed.contains(id));
            let unlisted: Vec<String> = unlisted.cloned().collect();
            if !unlisted.is_empty() {
                differs(
                    format!("these tasks have a file and are not listed: {}", unlisted.join(", ")),
                    unlisted,
                );
            }
            self.order = listed;
        }
        let there = self.tasks.len() + self.broken.len();
        let counted =
            map.get("task_count").and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
        if let Some(count) = counted.filter(|count| *count != there) {
            differs(format!("it counts {count} tasks, and there are {there}"), Vec::new());
        }
    }

    /// What else names the plan: the session, or the heading of the planning document.
    fn about_session(&mut self, documents: &Documents<'_>, base: &str) {
        let session = documents
            .objects()
            .find(|(path, _)| folder_of(path) == base && name_of(path) == "workflow-session.json")
            .map(|(_, map)| map);
        if let Some(session) = session {
            let name = session.get("project").or(session.get("description")).and_then(Value::as_str);
            if let Some(name) = name.filter(|_| self.plan.title.is_empty()) {
                self.plan.title = words::title(name).0;
            }
            self.plan.ext.insert("session".into(), session.clone().into());
        }
        let Some((_, document)) = documents.text(base, "IMPL_PLAN.md") else { return };
        let first = sections(document).into_iter().find(|section| section.level == 1);
        if let Some(heading) = first.map(|section| section.heading).filter(|_| self.plan.title.is_empty()) {
            let bare = heading.split_once(": ").filter(|(before, _)| before.ends_with("Plan"));
            self.plan.title = words::title(bare.map_or(&*heading, |(_, title)| title)).0;
        }
        self.plan.ext.insert("document".into(), document.into());
    }

    fn task(&mut self, path: &str, map: &Map<String, Value>) {
        let mut fields = Fields::of(map);
        let id = fields.text("id").map(|id| one_line(&id)).unwrap_or_default();
        let (title, rest) = words::title(&fields.first_text(&["title", "name"]).unwrap_or_default());
        let mut task = PortableTask { id, title, ..PortableTask::default() };
        let description = fields.said("description");
        match converged::status(&mut fields) {
            Ok(work) => task.work = work,
            Err(word) => self.notices.push(
                Notice::new(
                    Kind::UnknownValue,
                    format!("{} has a status that means nothing here: {}", task.id, one_line(&word)),
                )
                .in_file(path)
                .about(&task.id),
            ),
        }
        task.dependencies = fields.ids("depends_on");
        converged::take(&mut fields, &mut task);
        let requirements = context(&mut fields, &mut task);
        task.description = words::paragraphs(rest.into_iter().chain(description).chain(requirements));
        flow_control(&mut fields, &mut task);
        if let Some(mut meta) = fields.object("meta") {
            if let Some(group) = meta.said("execution_group") {
                task.group.get_or_insert_with(|| one_line(&group));
            }
            fields.put_back("meta", meta);
        }
        if let (Work::Done { commit }, Some(hash)) = (&mut task.work, fields.said("commit")) {
            *commit = Some(hash);
        }
        task.ext = fields.rest();
        if task.title.is_empty() {
            task.title.clone_from(&task.id);
        }
        self.tasks.push(task);
    }

    /// The list says what is done: it is kept up while the files are not.
    fn todo_list(&mut self, path: &str, text: &str) {
        let mut place: HashMap<String, usize> = HashMap::new();
        for (at, task) in self.tasks.iter().enumerate() {
            place.entry(task.id.clone()).or_insert(at);
        }
        let mut listed = HashSet::new();
        let mut unknown = Vec::new();
        for entry in entries(&lines(text)) {
            let Some(ticked) = entry.ticked else { continue };
            let text = plain(&entry.text);
            let first = text.split_whitespace().next().unwrap_or_default().trim_end_matches(':');
            let Some(&at) = place.get(first) else {
                unknown.extend(first.contains('-').then(|| first.to_owned()));
                continue;
            };
            listed.insert(at);
            let task = &mut self.tasks[at];
            let done = matches!(task.work, Work::Done { .. });
            if ticked != done {
                let (list, file) = if ticked { ("done", "not done") } else { ("not done", "done") };
                let text =
                    format!("{} is {list} by this list and {file} by its file; the list counts", task.id);
                self.notices.push(
                    Notice::new(Kind::Contradiction, text).in_file(path).at_line(entry.line).about(&task.id),
                );
                task.work = if ticked { Work::Done { commit: None } } else { Work::Todo };
            }
        }
        if !unknown.is_empty() && !self.tasks.is_empty() {
            let text = format!("these tasks are listed and have no file: {}", unknown.join(", "));
            let notice = Notice::new(Kind::CountMismatch, text).in_file(path);
            self.notices.push(Notice { tasks: unknown, ..notice });
        }
    }

    fn finish(mut self) -> (PortablePlan, Vec<Notice>) {
        let rank: HashMap<&str, usize> =
            self.order.iter().enumerate().map(|(at, id)| (id.as_str(), at)).collect();
        let rank = |task: &PortableTask| {
            (rank.get(task.id.as_str()).copied().unwrap_or(usize::MAX), order_of(&task.id))
        };
        self.tasks.sort_by_cached_key(rank);
        let mut place: HashMap<&str, usize> = HashMap::new();
        for (at, task) in self.tasks.iter().enumerate() {
            place.entry(&task.id).or_insert(at);
        }
        // IMPL-1.2 is a part of IMPL-1.
        let parent =
            |task: &PortableTask| task.id.rsplit_once('.').and_then(|(above, _)| place.get(above).copied());
        let parents: Vec<Option<usize>> = self.tasks.iter().map(parent).collect();
        self.plan.tasks = parents_first(self.tasks, &parents, &mut self.notices);
        (self.plan, self.notices)
    }
}

/// Version 5: what is asked for, and where. Returns the requirements as a list.
fn context(fields: &mut Fields, task: &mut PortableTask) -> Option<String> {
    let mut context = fields.object("context")?;
    if task.dependencies.is_none() {
        task.dependencies = context.ids("depends_on");
    }
    if let Some(acceptance) = context.sentences("acceptance") {
        task.acceptance.get_or_insert_default().extend(acceptance);
    }
    let focus = context.get("focus_paths").and_then(ids).unwrap_or_default();
    let artifacts: Vec<Value> =
        context.get("artifacts").and_then(Value::as_array).cloned().unwrap_or_default();
    let artifacts = artifacts.iter().filter_map(|artifact| {
        let text = |key: &str| artifact.get(key).and_then(Value::as_str).map(one_line);
        let path = text("path").filter(|path| !path.contains("{{"))?;
        Some(text("type").map_or_else(|| path.clone(), |kind| format!("{path} - {kind}")))
    });
    let references: Vec<String> = focus.into_iter().chain(artifacts).collect();
    if !references.is_empty() {
        task.references.get_or_insert_default().extend(references);
    }
    let requirements = context.sentences("requirements").filter(|list| !list.is_empty());
    fields.put_back("context", context);
    requirements
        .map(|list| list.iter().map(|line| format!("- {line}\n")).collect::<String>().trim_end().to_owned())
}

/// Version 5: how to go about it, and `path:function:lines` to change. Its commands are kept and never run.
fn flow_control(fields: &mut Fields, task: &mut PortableTask) {
    let Some(flow) = fields.object("flow_control") else { return };
    if let Some(Value::Array(steps)) = flow.get("implementation_approach") {
        let hints: Vec<String> = steps.iter().filter_map(step).collect();
        if !hints.is_empty() {
            task.hints.get_or_insert_default().extend(hints);
        }
    }
    if let Some(Value::Array(targets)) = flow.get("target_files").cloned() {
        let mut files = Vec::new();
        for target in targets.iter().filter_map(sentence) {
            let mut parts = target.splitn(3, ':');
            let path = parts.next().unwrap_or_default();
            if let (Some(function), lines) = (parts.next(), parts.next()) {
                let place = lines.filter(|lines| lines.starts_with(|c: char| c.is_ascii_digit()));
                let place = place.map_or_else(|| path.to_owned(), |lines| format!("{path}:{lines}"));
                task.references.get_or_insert_default().push(format!("{place} - {function}"));
            }
            let known = |file: &crate::exchange::portable::PortableFile| file.path == path.trim();
            files.extend(words::file(path, None, None).filter(|_| !files.iter().any(known)));
        }
        task.files = Some(files);
    }
    fields.put_back("flow_control", flow);
}

/// A step, as its title and what it is about.
fn step(step: &Value) -> Option<String> {
    let Value::Object(map) = step else { return sentence(step) };
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(one_line).filter(|text| !text.is_empty());
    match (text("title"), text("description")) {
        (Some(title), Some(description)) => Some(format!("{title}: {description}")),
        (title, description) => title.or(description).or_else(|| sentence(step)),
    }
}

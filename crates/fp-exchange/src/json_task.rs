//! A task as an object of JSON. Fields are taken out under all the names that the systems have for them; the rest is
//! kept.

use fp_core::text::one_line;
use serde_json::{Map, Value};

use crate::portable::{ImportNotice, NoticeKind, PortableFile, PortableTask, TaskWork};
use crate::words::{
    entries_of, is_command, is_none, joined_paragraphs, pieces_of, portable_file, title_of, work_of,
};

pub(crate) const WAITS_FOR: [&str; 6] =
    ["depends_on", "dependencies", "deps", "blockedBy", "blocked_by", "dependsOn"];
/// Parts of the names that other keys for dependencies would have.
const LIKE_WAITS: [&str; 5] = ["depend", "blocked_by", "blockedby", "prerequisite", "wait"];
const ACCEPTANCE: [&str; 6] = [
    "acceptance",
    "acceptance_criteria",
    "acceptanceCriteria",
    "evaluation_criteria",
    "success_criteria",
    "testStrategy",
];
const DESCRIPTION: [&str; 5] = ["description", "goal", "problem", "details", "design"];
const FILES: [&str; 4] = ["files", "relevantFiles", "modification_points", "target_files"];
const HINTS: [&str; 5] =
    ["implementation", "implementation_outline", "implementation_notes", "implementationApproach", "steps"];
const REFERENCES: [&str; 3] = ["read_first", "key_files", "evidence_refs"];
const GROUP: [&str; 2] = ["parallel_group", "execution_group"];
/// Names under which an entry of a list says what it is about, as it is read aloud.
const SAID_BY: [&str; 13] = [
    "title",
    "name",
    "step",
    "action",
    "description",
    "text",
    "criterion",
    "content",
    "change",
    "task",
    "detail",
    "item",
    "value",
];

/// What is left of an object.
#[derive(Debug, Default)]
pub(crate) struct JsonObject(Map<String, Value>);

impl JsonObject {
    pub(crate) fn new(map: &Map<String, Value>) -> Self {
        Self(map.clone())
    }

    /// What was not taken and says anything.
    pub(crate) fn rest(self) -> Map<String, Value> {
        let says = |value: &Value| match value {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(map) => !map.is_empty(),
            Value::Bool(_) | Value::Number(_) => true,
        };
        self.0.into_iter().filter(|(_, value)| says(value)).collect()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key)
    }

    pub(crate) fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    /// Takes the first text under `keys` that is not blank; a number counts as one.
    pub(crate) fn text(&mut self, keys: &[&str]) -> Option<String> {
        let (key, text) = keys.iter().find_map(|key| {
            let text = match self.0.get(*key)? {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => return None,
            };
            (!text.trim().is_empty()).then_some((*key, text))
        })?;
        self.0.remove(key);
        Some(text)
    }

    /// Takes ids: an array of texts and numbers, or one text that lists them.
    pub(crate) fn ids(&mut self, keys: &[&str]) -> Option<Vec<String>> {
        let mut all: Option<Vec<String>> = None;
        for key in keys {
            let Some(ids) = self.0.get(*key).and_then(ids_in) else { continue };
            self.0.remove(*key);
            let all = all.get_or_insert_default();
            all.extend(ids.into_iter().filter(|id| !id.is_empty()));
        }
        all
    }

    /// Takes what lists say, as one line each; `None` for nothing. What is more than a text is kept as well, since
    /// something of it may be lost.
    pub(crate) fn list(&mut self, keys: &[&str]) -> Option<Vec<String>> {
        let mut all = Vec::new();
        for key in keys {
            let (entries, whole) = match self.0.get(*key) {
                Some(Value::Array(items)) => {
                    (items.iter().filter_map(sentence_of).collect(), items.iter().all(Value::is_string))
                }
                Some(Value::String(text)) => (entries_of(text), true),
                _ => continue,
            };
            if whole {
                self.0.remove(*key);
            }
            all.extend(entries);
        }
        (!all.is_empty()).then_some(all)
    }

    /// Works on the object under `key`; what is left of it stays.
    pub(crate) fn within<T: Default>(&mut self, key: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let Some(Value::Object(map)) = self.0.get_mut(key) else { return T::default() };
        let mut inner = Self(std::mem::take(map));
        let result = work(&mut inner);
        self.put(key, inner.rest());
        result
    }
}

/// The ids that a value lists; `None` where it is no such list.
pub(crate) fn ids_in(value: &Value) -> Option<Vec<String>> {
    let id = |entry: &Value| match entry {
        Value::String(id) => Some(one_line(id)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match value {
        Value::Array(entries) => entries.iter().map(id).collect(),
        Value::String(list) => Some(pieces_of(list)),
        Value::Number(number) => Some(vec![number.to_string()]),
        _ => None,
    }
}

/// What an entry of a list says, in one line.
pub(crate) fn sentence_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => one_line(text),
        Value::Null => return None,
        Value::Object(map) => {
            let said = SAID_BY.iter().filter_map(|key| map.get(*key)).filter_map(Value::as_str).map(one_line);
            // The number of a step says nothing.
            let said: Vec<String> =
                said.filter(|text| text.contains(|c: char| !c.is_ascii_digit())).collect();
            if said.is_empty() { value.to_string() } else { said.join(": ") }
        }
        other => other.to_string(),
    };
    (!text.is_empty()).then_some(text)
}

/// The id that an object has by itself.
pub(crate) fn id_of(map: &Map<String, Value>) -> Option<String> {
    let id = JsonObject::new(map).text(&["id", "task_id"])?;
    Some(one_line(&id))
}

/// The task `id` as `map` in the file `path` says it.
pub(crate) fn read_json_task(
    id: &str,
    map: &Map<String, Value>,
    path: &str,
    notices: &mut Vec<ImportNotice>,
) -> PortableTask {
    let mut object = JsonObject::new(map);
    ["id", "task_id"].into_iter().for_each(|key| drop(object.take(key)));
    let task = take_task(id, &mut object, path, notices);
    let like_waits = |key: &str| LIKE_WAITS.iter().any(|part| key.to_lowercase().contains(part));
    let ext = object.rest();
    for key in ext.keys().filter(|key| like_waits(key)) {
        let text = format!("{id} has `{key}`, which looks like dependencies and can't be read");
        notices.push(ImportNotice::new(NoticeKind::UnknownValue, text).in_file(path).about(id));
    }
    PortableTask { ext, ..task }
}

/// Takes out of `object` what a portable task has fields for.
fn take_task(id: &str, object: &mut JsonObject, path: &str, notices: &mut Vec<ImportNotice>) -> PortableTask {
    let (title, more) = title_of(&object.text(&["title", "name"]).unwrap_or_default());
    let mut task = PortableTask {
        id: id.to_owned(),
        title: if title.is_empty() { id.to_owned() } else { title },
        dependencies: object.ids(&WAITS_FOR),
        acceptance: object.list(&ACCEPTANCE),
        files: take_files(object),
        hints: object.list(&HINTS),
        references: object.list(&REFERENCES),
        guardrails: object.list(&["constraints", "guardrails"]),
        priority: object.text(&["priority"]).map(|priority| one_line(&priority)),
        ..PortableTask::default()
    };
    if let Some(complexity) =
        object.get("complexity").and_then(Value::as_u64).filter(|n| (1..=10).contains(n))
    {
        object.take("complexity");
        task.complexity = u32::try_from(complexity).ok();
    }
    let paragraphs = DESCRIPTION.into_iter().filter_map(|key| object.text(&[key]));
    task.description = joined_paragraphs(more.into_iter().chain(paragraphs));
    take_convergence(object, &mut task);
    take_tests(object, &mut task);
    task.references = joined_lists(task.references, take_pattern(object));
    let group = object.text(&GROUP).or_else(|| object.within("meta", |meta| meta.text(&GROUP)));
    task.group = group.map(|group| one_line(&group)).filter(|group| !is_none(group));
    if let Some(wave) = object.text(&["wave"]).filter(|wave| !is_none(wave)) {
        task.group.get_or_insert_with(|| format!("wave {}", one_line(&wave)));
        object.put("wave", wave);
    }
    take_work(object, &mut task, path, notices);
    task
}

/// Takes `{path, action, change}` or mere paths.
fn take_files(object: &mut JsonObject) -> Option<Vec<PortableFile>> {
    let file = |entry: &Value| match entry {
        Value::String(path) => portable_file(path, None, None),
        Value::Object(map) => {
            let text = |keys: &[&str]| keys.iter().find_map(|key| map.get(*key)?.as_str());
            let what = text(&["change", "description", "reason"]);
            portable_file(text(&["path", "file", "file_path"])?, text(&["action"]), what)
        }
        _ => None,
    };
    let mut files: Vec<PortableFile> = Vec::new();
    for key in FILES {
        let Some(Value::Array(entries)) = object.get(key) else { continue };
        let found: Vec<PortableFile> = entries.iter().filter_map(file).collect();
        // Targets and functions have no field.
        if entries.iter().all(Value::is_string) {
            object.take(key);
        }
        for file in found {
            if files.iter().all(|known| known.path != file.path) {
                files.push(file);
            }
        }
    }
    (!files.is_empty()).then_some(files)
}

/// Takes `convergence`: criteria, a command that verifies, and what is done when.
fn take_convergence(object: &mut JsonObject, task: &mut PortableTask) {
    object.within("convergence", |convergence| {
        task.acceptance = joined_lists(task.acceptance.take(), convergence.list(&["criteria"]));
        let verification = convergence.text(&["verification"]);
        if let Some(command) = verification.as_ref().filter(|said| is_command(said)) {
            task.verify = Some(command.trim().to_owned());
        } else if let Some(said) = verification {
            task.acceptance = joined_lists(task.acceptance.take(), Some(entries_of(&said)));
        }
        let done = convergence.text(&["definition_of_done"]).map(|done| vec![one_line(&done)]);
        task.acceptance = joined_lists(task.acceptance.take(), done);
    });
}

/// Takes `test`: commands, and the tests that are to be written.
fn take_tests(object: &mut JsonObject, task: &mut PortableTask) {
    object.within("test", |test| {
        task.test_commands = test.list(&["commands"]);
        for (key, kind) in [("unit", "Unit test"), ("integration", "Integration test")] {
            let Some(wanted) = test.list(&[key]) else { continue };
            task.tests_required = Some(true);
            let hints = wanted.iter().map(|test| format!("{kind}: {test}")).collect();
            task.hints = joined_lists(task.hints.take(), Some(hints));
        }
    });
}

/// Reads `reference`: a pattern and the files that show it.
fn take_pattern(object: &mut JsonObject) -> Option<Vec<String>> {
    object.within("reference", |reference| {
        let why =
            reference.text(&["pattern"]).map(|why| format!(" - {}", one_line(&why))).unwrap_or_default();
        let files = reference.list(&["files"])?;
        Some(files.into_iter().map(|file| file + &why).collect())
    })
}

/// Takes `status`, and what belongs to it.
fn take_work(object: &mut JsonObject, task: &mut PortableTask, path: &str, notices: &mut Vec<ImportNotice>) {
    let status = object.text(&["status"]).or_else(|| object.within("meta", |meta| meta.text(&["status"])));
    let Some(word) = status else { return };
    match work_of(&word) {
        Some(work) => task.work = work,
        None => {
            let text = format!("{} has an unknown status: {}", task.id, one_line(&word));
            notices.push(ImportNotice::new(NoticeKind::UnknownValue, text).in_file(path).about(&task.id));
            object.put("status", word);
        }
    }
    match &mut task.work {
        TaskWork::Done { commit } => *commit = object.text(&["commit"]),
        TaskWork::Failed { reason } => *reason = object.text(&["error"]).map(|error| one_line(&error)),
        TaskWork::Todo | TaskWork::Running | TaskWork::Skipped | TaskWork::Deferred | TaskWork::Cancelled => {
        }
    }
}

/// Both lists as one; `None` where neither has an entry.
pub(crate) fn joined_lists(first: Option<Vec<String>>, second: Option<Vec<String>>) -> Option<Vec<String>> {
    let mut all = first.unwrap_or_default();
    for entry in second.unwrap_or_default() {
        if !all.contains(&entry) {
            all.push(entry);
        }
    }
    (!all.is_empty()).then_some(all)
}

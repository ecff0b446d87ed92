//! A task as an object of JSON, read by all the names that the systems have for its fields. The object stays beside the
//! task as it is.

use fp_plan::text::one_line;
use serde_json::{Map, Value, json};

use crate::portable::{PortableFile, PortablePlan, PortableTask, TaskWork};
use crate::words::{
    entries_of, is_command, is_none, joined_paragraphs, pieces_of, portable_file, title_of, work_of,
};

pub(crate) const WAITS_FOR: [&str; 6] = [
    "depends_on",
    "dependencies",
    "deps",
    "blockedBy",
    "blocked_by",
    "dependsOn",
];
/// Parts of the names that other keys for dependencies would have.
const LIKE_WAITS: [&str; 5] = ["depend", "blocked_by", "blockedby", "prerequisite", "wait"];
const ACCEPTANCE: [&str; 8] = [
    "acceptance",
    "acceptance_criteria",
    "acceptanceCriteria",
    "evaluation_criteria",
    "success_criteria",
    "testStrategy",
    "criteria",
    "definition_of_done",
];
const DESCRIPTION: [&str; 5] = ["description", "goal", "problem", "details", "design"];
const FILES: [&str; 4] = [
    "files",
    "relevantFiles",
    "modification_points",
    "target_files",
];
const HINTS: [&str; 6] = [
    "implementation",
    "implementation_outline",
    "implementation_notes",
    "implementationApproach",
    "implementation_approach",
    "steps",
];
const REFERENCES: [&str; 5] = [
    "read_first",
    "key_files",
    "evidence_refs",
    "focus_paths",
    "artifacts",
];
const GROUP: [&str; 2] = ["parallel_group", "execution_group"];
/// Objects within a task whose keys are read as the task's own.
const PARTS: [&str; 5] = ["context", "flow_control", "convergence", "test", "meta"];
/// Names under which an entry of a list says what it is about, as it is read aloud.
const SAID_BY: [&str; 14] = [
    "path",
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

/// The first text under `keys` that is not blank; a number counts as one.
pub(crate) fn text_at(map: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    let text = |key: &&str| match map.get(*key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    keys.iter()
        .filter_map(text)
        .find(|text| !text.trim().is_empty())
}

/// The entries of the lists under `keys`, a line each; `None` without any.
fn list_at(map: &Map<String, Value>, keys: &[&str]) -> Option<Vec<String>> {
    let entries = |value: &Value| match value {
        Value::Array(items) => items.iter().filter_map(sentence_of).collect(),
        Value::String(text) => entries_of(text),
        _ => Vec::new(),
    };
    joined_lists(
        None,
        Some(
            keys.iter()
                .filter_map(|key| map.get(*key))
                .flat_map(entries)
                .collect(),
        ),
    )
}

/// The ids that a value lists: an array of texts and numbers, or one text. `None` where it is no such list.
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

/// An entry of a list as one line.
fn sentence_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => one_line(text),
        Value::Null => return None,
        Value::Object(map) => {
            let said = SAID_BY
                .iter()
                .filter_map(|key| map.get(*key))
                .filter_map(Value::as_str)
                .map(one_line);
            // The number of a step says nothing.
            let said: Vec<String> = said
                .filter(|text| text.contains(|c: char| !c.is_ascii_digit()))
                .collect();
            if said.is_empty() {
                value.to_string()
            } else {
                said.join(": ")
            }
        }
        other => other.to_string(),
    };
    (!text.is_empty()).then_some(text)
}

/// A complexity on the scale of 1 to 10.
pub(crate) fn complexity_of(value: Option<&Value>) -> Option<u32> {
    let complexity = u32::try_from(value?.as_u64()?).ok()?;
    (1..=10).contains(&complexity).then_some(complexity)
}

/// The id that an object has by itself.
pub(crate) fn id_of(map: &Map<String, Value>) -> Option<String> {
    text_at(map, &["id", "task_id"]).map(|id| one_line(&id))
}

/// The task `id` as `source` in the file `path` says it; faults of it are reported to `plan`.
pub(crate) fn read_json_task(
    plan: &mut PortablePlan,
    path: &str,
    id: &str,
    source: &Map<String, Value>,
) -> PortableTask {
    let mut map = source.clone();
    for (key, value) in PARTS
        .iter()
        .filter_map(|part| source.get(*part)?.as_object())
        .flatten()
    {
        map.entry(key).or_insert_with(|| value.clone());
    }
    for (key, value) in map
        .iter()
        .filter(|(_, value)| !value.is_null() && **value != json!([]))
    {
        let is_like_waits = LIKE_WAITS
            .iter()
            .any(|part| key.to_lowercase().contains(part));
        let is_read = WAITS_FOR.contains(&key.as_str()) && ids_in(value).is_some();
        if is_like_waits && !is_read {
            let text = format!("{id} has `{key}`, which looks like dependencies and can't be read");
            plan.problem_in(path, text);
        }
    }
    let status = text_at(&map, &["status"]);
    let work = status.as_deref().map_or(Some(TaskWork::Todo), work_of);
    if work.is_none() {
        let status = one_line(&status.unwrap_or_default());
        plan.problem_in(path, format!("{id} has an unknown status: {status}"));
    }
    let reason = text_at(&map, &["error"]).map(|error| one_line(&error));
    let work = work
        .unwrap_or_default()
        .detailed(text_at(&map, &["commit"]), reason);
    PortableTask {
        work,
        ext: source.clone(),
        ..said_by(id, &map)
    }
}

/// The fields of a portable task.
fn said_by(id: &str, map: &Map<String, Value>) -> PortableTask {
    let line_at = |keys: &[&str]| text_at(map, keys).map(|text| one_line(&text));
    let (title, more) = title_of(&text_at(map, &["title", "name"]).unwrap_or_default());
    let waits: Vec<Vec<String>> = WAITS_FOR
        .iter()
        .filter_map(|key| ids_in(map.get(*key)?))
        .collect();
    let requirements = list_at(map, &["requirements"]).map(|lines| {
        lines
            .iter()
            .map(|line| format!("- {line}"))
            .collect::<Vec<_>>()
            .join("\n")
    });
    let paragraphs = DESCRIPTION
        .into_iter()
        .filter_map(|key| text_at(map, &[key]))
        .chain(requirements);
    let verification = text_at(map, &["verification"]);
    let verify = verification
        .clone()
        .filter(|said| is_command(said))
        .map(|said| said.trim().to_owned());
    let proven_by = verification
        .filter(|_| verify.is_none())
        .map(|said| entries_of(&said));
    let tests = [("unit", "Unit test"), ("integration", "Integration test")].map(|(key, kind)| {
        let wanted = list_at(map, &[key]).unwrap_or_default();
        wanted
            .iter()
            .map(|test| format!("{kind}: {test}"))
            .collect::<Vec<_>>()
    });
    let tests = tests.concat();
    // A place in braces is filled in by the system while it works.
    let references = list_at(map, &REFERENCES).map(|all| {
        all.into_iter()
            .filter(|line| !line.contains("{{"))
            .collect::<Vec<_>>()
    });
    let wave = || {
        line_at(&["wave"])
            .filter(|wave| !is_none(wave))
            .map(|wave| format!("wave {wave}"))
    };
    PortableTask {
        id: id.to_owned(),
        title: if title.is_empty() {
            id.to_owned()
        } else {
            title
        },
        description: joined_paragraphs(more.into_iter().chain(paragraphs)),
        complexity: complexity_of(map.get("complexity")),
        dependencies: (!waits.is_empty()).then(|| {
            waits
                .concat()
                .into_iter()
                .filter(|id| !id.is_empty())
                .collect()
        }),
        acceptance: joined_lists(list_at(map, &ACCEPTANCE), proven_by),
        files: files_at(map),
        tests_required: (!tests.is_empty()).then_some(true),
        hints: joined_lists(list_at(map, &HINTS), Some(tests)),
        references: joined_lists(references, pattern_at(map)),
        guardrails: list_at(map, &["constraints", "guardrails"]),
        test_commands: list_at(map, &["commands"]),
        verify,
        group: line_at(&GROUP)
            .filter(|group| !is_none(group))
            .or_else(wave),
        priority: line_at(&["priority"]),
        ..PortableTask::default()
    }
}

/// Files as `{path, action, change}`, as mere paths, or as `path:function:lines`.
fn files_at(map: &Map<String, Value>) -> Option<Vec<PortableFile>> {
    let mut files: Vec<PortableFile> = Vec::new();
    for entry in FILES
        .iter()
        .filter_map(|key| map.get(*key)?.as_array())
        .flatten()
    {
        let text = |keys: &[&str]| keys.iter().find_map(|key| entry.get(*key)?.as_str());
        let Some(place) = entry
            .as_str()
            .or_else(|| text(&["path", "file", "file_path"]))
        else {
            continue;
        };
        let path = place.split_once(':').map_or(place, |(path, _)| path);
        let file = portable_file(
            path,
            text(&["action"]),
            text(&["change", "description", "reason"]),
        );
        files.extend(file.filter(|file| files.iter().all(|known| known.path != file.path)));
    }
    (!files.is_empty()).then_some(files)
}

/// `reference`: a pattern, and the files that show it.
fn pattern_at(map: &Map<String, Value>) -> Option<Vec<String>> {
    let reference = map.get("reference")?.as_object()?;
    let why = text_at(reference, &["pattern"]).map(|why| format!(" - {}", one_line(&why)));
    let why = why.unwrap_or_default();
    Some(
        list_at(reference, &["files"])?
            .into_iter()
            .map(|file| file + &why)
            .collect(),
    )
}

/// Both lists as one; `None` where neither has an entry.
fn joined_lists(first: Option<Vec<String>>, second: Option<Vec<String>>) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for entry in first.into_iter().chain(second).flatten() {
        if !all.contains(&entry) {
            all.push(entry);
        }
    }
    (!all.is_empty()).then_some(all)
}

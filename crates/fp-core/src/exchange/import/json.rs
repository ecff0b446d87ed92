//! A portable plan as JSON: what `fp export` writes, and what other tools can.

use serde_json::{Map, Value};

use super::documents::Documents;
use super::{Found, ImportError, Source};
use crate::exchange::notice::{Kind, Notice};
use crate::exchange::portable::{PortablePlan, PortableTask, TASK_FIELDS};

/// The version that is read.
const VERSION: u64 = 1;
/// The fields of a plan; others are kept.
const PLAN: [&str; 5] = ["schemaVersion", "title", "goal", "tasks", "ext"];

fn is_ours(map: &Map<String, Value>) -> bool {
    map.get("schemaVersion").is_some_and(Value::is_u64)
        && map.get("title").is_some_and(Value::is_string)
        && map.get("tasks").is_some_and(Value::is_array)
}

pub(super) fn recognise(documents: &Documents<'_>) -> Option<String> {
    let (path, _) = documents.objects().find(|(_, map)| is_ours(map))?;
    Some(format!("{path} has `schemaVersion`, `title` and `tasks`"))
}

pub(super) fn read(documents: &Documents<'_>) -> Found {
    let mut ours = documents.objects().filter(|(_, map)| is_ours(map));
    let Some((path, map)) = ours.next() else {
        return Err(documents.first_broken().unwrap_or(ImportError::NoTask(Source::Json)));
    };
    if let Some((other, _)) = ours.next() {
        return Err(ImportError::several_plans(Source::Json, &[path, other]));
    }
    let version = map.get("schemaVersion").and_then(Value::as_u64).unwrap_or(VERSION);
    if version > VERSION {
        return Err(ImportError::Newer { file: path.to_owned(), version });
    }
    let mut notices = Vec::new();
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut plan = PortablePlan {
        title: text("title").unwrap_or_default(),
        goal: text("goal"),
        ..PortablePlan::default()
    };
    plan.ext = ext(map, &PLAN);
    // The position of each task that can be read, since parents are named by where they were.
    let mut places: Vec<Option<usize>> = Vec::new();
    for (at, value) in map.get("tasks").and_then(Value::as_array).into_iter().flatten().enumerate() {
        match task(value) {
            Ok(mut task) => {
                place(&mut task, &places, path, &mut notices);
                places.push(Some(plan.tasks.len()));
                plan.tasks.push(task);
            }
            Err(detail) => {
                let text = format!("task {} can't be read: {detail}; it is left out", at + 1);
                notices.push(Notice::new(Kind::Broken, text).in_file(path));
                places.push(None);
            }
        }
    }
    Ok((plan, notices))
}

/// What stands under `ext`, and what has no field here.
fn ext(map: &Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    let mut ext = map.get("ext").and_then(Value::as_object).cloned().unwrap_or_default();
    let others = map.iter().filter(|(key, _)| !known.contains(&key.as_str()));
    ext.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    ext
}

fn task(value: &Value) -> Result<PortableTask, String> {
    let map = value.as_object().ok_or("it is no object")?;
    let mut task: PortableTask = serde_json::from_value(value.clone()).map_err(|fault| fault.to_string())?;
    task.ext = ext(map, &TASK_FIELDS);
    Ok(task)
}

/// Finds the parent where it is now; one that does not stand above its child is none.
fn place(task: &mut PortableTask, places: &[Option<usize>], path: &str, notices: &mut Vec<Notice>) {
    let Some(parent) = task.parent else { return };
    task.parent = places.get(parent).copied().flatten();
    if task.parent.is_none() {
        let text = format!(
            "{} is below task {}, which is not above it or can't be read",
            task.id,
            parent.saturating_add(1)
        );
        notices.push(Notice::new(Kind::DanglingDependency, text).in_file(path).about(&task.id));
    }
}

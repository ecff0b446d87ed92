//! A portable plan as JSON: what `fp export --to json` writes, and what other tools can write too.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{ImportError, ReadResult, SourceFormat};
use crate::folder::SourceFolder;
use crate::json_task::text_at;
use crate::portable::{ImportNotice, PortablePlan, PortableTask};

const VERSION: u64 = 1;
const PLAN_FIELDS: [&str; 5] = ["schemaVersion", "title", "goal", "tasks", "ext"];

fn is_plan(map: &Map<String, Value>) -> bool {
    map.get("schemaVersion").is_some_and(Value::is_u64)
        && map.get("title").is_some_and(Value::is_string)
        && map.get("tasks").is_some_and(Value::is_array)
}

pub(super) fn recognise(folder: &SourceFolder) -> Option<&str> {
    folder.objects().find(|(_, map)| is_plan(map)).map(|(path, _)| path)
}

pub(super) fn read(folder: &SourceFolder) -> ReadResult {
    let paths = folder.objects().filter(|(_, map)| is_plan(map)).map(|(path, _)| path);
    let path = folder.only(SourceFormat::Json, paths)?;
    let map = folder.objects().find(|(other, _)| *other == path).map(|(_, map)| map).expect("it is there");
    let version = map.get("schemaVersion").and_then(Value::as_u64).unwrap_or(VERSION);
    if version > VERSION {
        return Err(ImportError::Newer { file: path.to_owned(), version });
    }
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut plan = PortablePlan {
        title: text("title").unwrap_or_default(),
        goal: text("goal"),
        ext: ext_of(map, |key| PLAN_FIELDS.contains(&key)),
        tasks: Vec::new(),
    };
    let mut notices = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    for (at, value) in map.get("tasks").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let (mut task, parent) = match read_task(value) {
            Ok(found) => found,
            Err(detail) => {
                let text = format!("task {} can't be read: {detail}; it is left out", at + 1);
                notices.push(ImportNotice::problem(text).in_file(path));
                continue;
            }
        };
        task.parent = parent.as_ref().and_then(|id| positions.get(id)).copied();
        if let Some(id) = parent.filter(|_| task.parent.is_none()) {
            let text = format!("{} is below {id}, which does not stand above it", task.id);
            notices.push(ImportNotice::problem(text).in_file(path));
        }
        positions.entry(task.id.clone()).or_insert(plan.tasks.len());
        plan.tasks.push(task);
    }
    Ok((plan, notices))
}

/// A task, and the id of its parent.
fn read_task(value: &Value) -> Result<(PortableTask, Option<String>), String> {
    let map = value.as_object().ok_or("it is no object")?;
    let mut task: PortableTask = serde_json::from_value(value.clone()).map_err(|fault| fault.to_string())?;
    let written = serde_json::to_value(&task).expect("a task is plain data");
    task.ext = ext_of(map, |key| written.get(key).is_some() || key == "parent" || key == "ext");
    let parent = text_at(map, &["parent"]);
    Ok((task, parent))
}

/// What stands under `ext`, and what is no field.
fn ext_of(map: &Map<String, Value>, is_field: impl Fn(&str) -> bool) -> Map<String, Value> {
    let mut ext = map.get("ext").and_then(Value::as_object).cloned().unwrap_or_default();
    let others = map.iter().filter(|(key, value)| !is_field(key) && !value.is_null());
    ext.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    ext
}

//! A portable plan as JSON, as `fp export` and other tools write it.

use fp_plan::plan::FieldKind;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::{ImportError, ReadResult, SourceFormat, place_tasks};
use crate::folder::{SourceFolder, folder_of};
use crate::portable::{ImportNotice, PortablePlan, PortableTask, TaskWork};
use crate::words::text_at;

const VERSION: u64 = 1;
const PLAN_FIELDS: [&str; 5] = ["schemaVersion", "title", "goal", "tasks", "ext"];

fn is_plan(map: &Map<String, Value>) -> bool {
    map.get("schemaVersion").is_some_and(Value::is_u64)
        && map.get("title").is_some_and(Value::is_string)
        && map.get("tasks").is_some_and(Value::is_array)
}

pub(super) fn plan_files(folder: &SourceFolder) -> Vec<&str> {
    folder.plan_objects(is_plan)
}

pub(super) fn read_plan(folder: &SourceFolder, base: &str) -> ReadResult {
    let plans: Vec<_> = folder
        .objects()
        .filter(|(path, map)| folder_of(path) == base && is_plan(map))
        .collect();
    let [(path, map)] = plans[..] else {
        let paths: Vec<&str> = plans.iter().map(|(path, _)| *path).collect();
        return Err(ImportError::several_plans(SourceFormat::Json, &paths));
    };
    let version = map
        .get("schemaVersion")
        .and_then(Value::as_u64)
        .unwrap_or(VERSION);
    if version > VERSION {
        let text = format!(
            "written by a newer fp (version {version} of the format, this fp reads {VERSION})"
        );
        return Err(ImportError::Newer(ImportNotice::new(text).in_file(path)));
    }
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut plan = PortablePlan {
        title: text("title").unwrap_or_default(),
        goal: text("goal"),
        ext: ext_of(map, |key| PLAN_FIELDS.contains(&key)),
        ..PortablePlan::default()
    };
    let mut above = Vec::new();
    for (at, value) in map
        .get("tasks")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        match read_task(value) {
            Ok((task, parent)) => {
                plan.tasks.push(task);
                above.push(parent);
            }
            Err(detail) => {
                plan.add_notice_in(
                    path,
                    format!("task {} can't be read: {detail}; it is left out", at + 1),
                );
            }
        }
    }
    place_tasks(&mut plan, above, false);
    Ok(plan)
}

/// A task, and the id of its parent.
fn read_task(value: &Value) -> Result<(PortableTask, Option<String>), String> {
    let map = value.as_object().ok_or("it is no object")?;
    let text = |key: &str| {
        let text = map.get(key).and_then(Value::as_str).map(str::to_owned);
        text.ok_or_else(|| format!("its `{key}` is no text"))
    };
    let mut task = PortableTask {
        id: text("id")?,
        title: text("title")?,
        ..PortableTask::default()
    };
    let given = |key: &str| map.get(key).filter(|value| !value.is_null());
    if let Some(work) = given("work") {
        let work = TaskWork::deserialize(work);
        task.work = work.map_err(|fault| format!("its `work`: {fault}"))?;
    }
    for kind in FieldKind::ALL {
        if given(&kind.key()).is_some_and(|value| !task.set_json(kind, value)) {
            return Err(format!("its `{}` is of another kind", kind.key()));
        }
    }
    task.ext = ext_of(map, |key| {
        let is_field = FieldKind::ALL.iter().any(|kind| kind.key() == key);
        is_field || ["id", "title", "work", "parent", "ext"].contains(&key)
    });
    Ok((task, text_at(map, &["parent"])))
}

/// The entries of `ext`, and those of `map` that aren't fields.
fn ext_of(map: &Map<String, Value>, is_field: impl Fn(&str) -> bool) -> Map<String, Value> {
    let mut ext = map
        .get("ext")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let others = map
        .iter()
        .filter(|(key, value)| !is_field(key) && !value.is_null());
    ext.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    ext
}

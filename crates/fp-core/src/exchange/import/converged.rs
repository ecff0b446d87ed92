//! A task as the newer versions of CCW and maestro both say it: with `convergence`, `files`, `implementation`, `test`.

use serde_json::Value;

use super::fields::{Fields, sentence};
use super::words;
use crate::exchange::portable::{PortableFile, PortableTask, Work};

/// Takes what both say. The status is left to the caller, since each has its own places for it.
pub(super) fn take(fields: &mut Fields, task: &mut PortableTask) {
    task.files = files(fields, "files");
    convergence(fields, task);
    if let Some(steps) = fields.sentences("implementation").filter(|steps| !steps.is_empty()) {
        task.hints.get_or_insert_default().extend(steps);
    }
    test(fields, task);
    let to_read = fields.sentences("read_first").into_iter().flatten();
    let references: Vec<String> = to_read.chain(reference(fields)).collect();
    if !references.is_empty() {
        task.references.get_or_insert_default().extend(references);
    }
    if let Some(priority) = fields.said("priority") {
        task.priority = Some(words::one_line(&priority));
    }
    if let Some(group) = fields.first_text(&["parallel_group", "execution_group"]) {
        task.group = Some(words::one_line(&group)).filter(|group| !words::is_none(group));
    }
}

/// `{path, action, change}`, or a mere path.
pub(super) fn files(fields: &mut Fields, key: &str) -> Option<Vec<PortableFile>> {
    let entries = fields.get(key)?.as_array()?.clone();
    let file = |entry: &Value| match entry {
        Value::String(path) => words::file(path, None, None),
        Value::Object(map) => {
            let text = |keys: &[&str]| keys.iter().find_map(|key| map.get(*key)?.as_str());
            words::file(
                text(&["path", "file", "file_path"])?,
                text(&["action"]),
                text(&["change", "description"]),
            )
        }
        _ => None,
    };
    // Actions and targets have no place of their own here.
    if entries.iter().all(Value::is_string) {
        fields.put(key, Value::Null);
    }
    Some(entries.iter().filter_map(file).collect())
}

fn convergence(fields: &mut Fields, task: &mut PortableTask) {
    let Some(mut convergence) = fields.object("convergence") else { return };
    let mut acceptance = convergence.sentences("criteria");
    if let Some(said) = convergence.said("verification") {
        if words::is_command(&said) {
            task.verify = Some(said.trim().to_owned());
        } else {
            acceptance.get_or_insert_default().extend(words::entries(&said));
        }
    }
    if let Some(done) = convergence.said("definition_of_done") {
        acceptance.get_or_insert_default().push(words::one_line(&done));
        convergence.put("definition_of_done", done.into());
    }
    task.acceptance = acceptance.or(task.acceptance.take());
    fields.put_back("convergence", convergence);
}

fn test(fields: &mut Fields, task: &mut PortableTask) {
    let Some(mut test) = fields.object("test") else { return };
    if let Some(commands) = test.sentences("commands") {
        task.test_commands.get_or_insert_default().extend(commands);
    }
    let kinds = [("unit", "Unit test"), ("integration", "Integration test")];
    for (kind, called) in kinds {
        let Some(wanted) = test.sentences(kind).filter(|wanted| !wanted.is_empty()) else { continue };
        task.tests_required = Some(true);
        task.hints.get_or_insert_default().extend(wanted.iter().map(|test| format!("{called}: {test}")));
        test.put(kind, wanted.into());
    }
    fields.put_back("test", test);
}

/// `{pattern, files, examples}`: whom to follow.
fn reference(fields: &mut Fields) -> Vec<String> {
    let Some(reference) = fields.get("reference").and_then(Value::as_object) else { return Vec::new() };
    let why = reference.get("pattern").and_then(sentence);
    let files = reference.get("files").and_then(Value::as_array).into_iter().flatten().filter_map(sentence);
    files.map(|file| why.as_ref().map_or_else(|| file.clone(), |why| format!("{file} - {why}"))).collect()
}

/// What a status says, or the word that means nothing.
pub(super) fn status(fields: &mut Fields) -> Result<Work, String> {
    let Some(word) = fields.text("status") else { return Ok(Work::Todo) };
    match words::work(&word) {
        Some(work) => Ok(work),
        None => {
            fields.put("status", word.clone().into());
            Err(word)
        }
    }
}

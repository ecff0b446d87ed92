//! A folder of task files: `.task/*.json` with `plan.json` and `TODO_LIST.md` beside it, as Claude-Code-Workflow and the
//! newer maestro write it. In version 5 of CCW a task has `context` and `flow_control`; lite plans have their tasks
//! within `plan.json`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fp_plan::text::one_line;
use regex::Regex;
use serde_json::{Map, Value};

use super::{ReadResult, place_tasks, report_mismatch};
use crate::folder::{SourceFolder, base_of, folder_of, name_of};
use crate::json_task::{id_of, ids_in, read_json_task, text_at};
use crate::page::{page_lines, plain_text, sections_of};
use crate::portable::{ImportNotice, PortablePlan, PortableTask, TaskWork};
use crate::words::{joined_paragraphs, pattern, title_of};

/// A line of `TODO_LIST.md`.
static BOX: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*[-*+]\s+\[([ xX])\]\s+(.*)$"));

/// A task by its folder, or by keys that only tasks of this format have.
fn is_task_in(path: &str, map: &Map<String, Value>) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
    let in_tasks = folder_of(path) == ".task" || folder_of(path).ends_with("/.task");
    let converges = has(&["read_first"]) || (has(&["convergence", "implementation"]) && has(&["title"]));
    has(&["id", "task_id"]) && (in_tasks || has(&["flow_control"]) || converges)
}

fn is_plan(map: &Map<String, Value>) -> bool {
    let holds_tasks = map.contains_key("approach") && map.get("tasks").is_some_and(Value::is_array);
    map.contains_key("task_ids") || map.contains_key("task_count") || holds_tasks
}

/// A task of the newer maestro: where there is one, the folder is maestro's.
pub(super) fn reads_first(folder: &SourceFolder) -> Option<&str> {
    let is_newer = |map: &Map<String, Value>| map.contains_key("read_first") && id_of(map).is_some();
    folder.objects().find(|(_, map)| is_newer(map)).map(|(path, _)| path)
}

pub(super) fn files(folder: &SourceFolder) -> Vec<&str> {
    let ours = folder.objects().filter(|(path, map)| is_task_in(path, map) || is_plan(map));
    ours.map(|(path, _)| path).collect()
}

pub(super) fn read(folder: &SourceFolder, base: &str) -> ReadResult {
    let mut reader = TaskFolderReader::default();
    for (path, notice) in folder.broken().filter(|(path, _)| base_of(path) == base) {
        let id = name_of(path).trim_end_matches(".json").to_owned();
        let mut text = format!("{}; it is left out", notice.text);
        if folder_of(path) != base {
            text = format!("{}; {id} stays, with its name alone", notice.text);
            reader.plan.tasks.push(PortableTask { title: id.clone(), id, ..PortableTask::default() });
        }
        reader.plan.notices.push(ImportNotice { text, ..notice.clone() });
    }
    let here = || folder.objects().filter(|(path, _)| base_of(path) == base);
    for (path, map) in here().filter(|(path, map)| is_task_in(path, map)) {
        reader.read_task(path, map);
    }
    let named = || here().find(|(path, _)| folder_of(path) == base && name_of(path) == "plan.json");
    if let Some((path, map)) = here().find(|(_, map)| is_plan(map)).or_else(named) {
        reader.read_plan(path, map);
    }
    reader.read_session(folder, base);
    if let Some((path, text)) = folder.page(base, "TODO_LIST.md") {
        reader.read_todo_list(path, text);
    }
    reader.follow_waves();
    let TaskFolderReader { mut plan, order, .. } = reader;
    let rank = |task: &PortableTask| {
        let listed = order.iter().position(|id| *id == task.id);
        (listed.is_none(), listed, natural_order(&task.id))
    };
    plan.tasks.sort_by_cached_key(rank);
    let above = vec![None; plan.tasks.len()];
    place_tasks(&mut plan, above, true);
    Ok(plan)
}

#[derive(Default)]
struct TaskFolderReader {
    plan: PortablePlan,
    /// The ids in the order of the plan.
    order: Vec<String>,
    /// The ids of each wave, where waves are told.
    waves: BTreeMap<u64, Vec<String>>,
}

impl TaskFolderReader {
    fn read_plan(&mut self, path: &str, map: &Map<String, Value>) {
        let said = ["summary", "objective", "approach"].map(|key| text_at(map, &[key]));
        let title = text_at(map, &["title", "topic"]).or_else(|| said.iter().flatten().next().cloned());
        self.plan.title = title_of(&title.unwrap_or_default()).0;
        self.plan.goal = joined_paragraphs(said.into_iter().flatten());
        let mut about = map.clone();
        if let Some(Value::Array(embedded)) = about.remove("tasks") {
            for task in embedded.iter().filter_map(Value::as_object) {
                self.read_task(path, task);
            }
        }
        if let Some(listed) = map.get("task_ids").and_then(ids_in) {
            report_mismatch(&mut self.plan, path, &listed);
            self.order = listed;
        }
        let count = map.get("task_count").and_then(Value::as_u64);
        if let Some(count) = count.filter(|count| usize::try_from(*count) != Ok(self.plan.tasks.len())) {
            let text = format!("it counts {count} tasks, and there are {}", self.plan.tasks.len());
            self.plan.problem_in(path, text);
        }
        self.read_edges(map.get("dependencies"));
        for (number, wave) in (1..).zip(map.get("waves").and_then(Value::as_array).into_iter().flatten()) {
            let number = wave.get("wave").and_then(Value::as_u64).unwrap_or(number);
            let ids = wave.get("tasks").or(wave.get("task_ids")).and_then(ids_in);
            self.waves.entry(number).or_default().extend(ids.unwrap_or_default());
        }
        self.plan.ext = about;
    }

    /// Reads `[{from, to}]`: the second waits for the first.
    fn read_edges(&mut self, edges: Option<&Value>) {
        for edge in edges.and_then(Value::as_array).into_iter().flatten() {
            let end = |key: &str| edge.get(key).and_then(Value::as_str).map(one_line);
            let (Some(from), Some(to)) = (end("from"), end("to")) else { continue };
            if let Some(task) = self.plan.tasks.iter_mut().find(|task| task.id == to) {
                task.wait_for([&from]);
            }
        }
    }

    /// Takes the title from the session or from the heading of the planning document, if there is none yet.
    fn read_session(&mut self, folder: &SourceFolder, base: &str) {
        if let Some(session) = folder.object(base, "workflow-session.json") {
            let name = text_at(session, &["project", "description"]);
            if let Some(name) = name.filter(|_| self.plan.title.is_empty()) {
                self.plan.title = title_of(&name).0;
            }
            self.plan.ext.insert("session".into(), session.clone().into());
        }
        let Some((name, document)) = folder.page(base, "IMPL_PLAN.md") else { return };
        let first = sections_of(document).into_iter().find(|section| section.level == 1);
        if let Some(heading) = first.map(|section| section.heading).filter(|_| self.plan.title.is_empty()) {
            let bare = heading.split_once(": ").filter(|(before, _)| before.ends_with("Plan"));
            self.plan.title = title_of(bare.map_or(&*heading, |(_, title)| title)).0;
        }
        self.plan.ext.insert(name_of(name).to_owned(), document.into());
    }

    fn read_task(&mut self, path: &str, map: &Map<String, Value>) {
        let Some(id) = id_of(map) else {
            return self.plan.problem_in(path, "a task without an id; it is left out");
        };
        if let Some(wave) = map.get("wave").and_then(Value::as_u64) {
            self.waves.entry(wave).or_default().push(id.clone());
        }
        let task = read_json_task(&mut self.plan, path, &id, map);
        self.plan.tasks.push(task);
    }

    /// The list wins over the files: it is kept up while they are not.
    fn read_todo_list(&mut self, path: &str, text: &str) {
        let mut unknown = Vec::new();
        for line in page_lines(text).iter().filter(|line| !line.in_code) {
            let Some(found) = BOX.captures(line.text) else { continue };
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
                let (list, file) = if ticked { ("done", "not done") } else { ("not done", "done") };
                task.work = if ticked { TaskWork::Done { commit: None } } else { TaskWork::Todo };
                let text = format!("{first} is {list} by this list and {file} by its file; the list counts");
                self.plan.problem_at(path, line.number, text);
            }
        }
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            self.plan.problem_in(path, format!("these tasks are listed and have no file: {unknown}"));
        }
    }

    /// Makes each wave wait for the one before it.
    fn follow_waves(&mut self) {
        let mut added = false;
        let waves: Vec<&Vec<String>> = self.waves.values().collect();
        for pair in waves.windows(2) {
            for task in self.plan.tasks.iter_mut().filter(|task| pair[1].contains(&task.id)) {
                added |= !task.wait_for(pair[0].iter().filter(|id| !pair[1].contains(id))).is_empty();
            }
        }
        if added {
            self.plan.note("the waves became dependencies: each wave waits for the one before it");
        }
    }
}

/// The key to sort ids by, so that `IMPL-2` comes before `IMPL-10`: their texts and numbers by turns.
pub(super) fn natural_order(id: &str) -> Vec<(String, u64)> {
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

//! A plan folder of Fractal Planner, 0.1 or this one: the tree from `tasks.md`, what is done from the state of its run,
//! from its reports, and from what its verifiers wrote.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::documents::{Documents, folder_of, name_of, only};
use super::markdown::{lines, plain, tables};
use super::words::{self, one_line};
use super::{Found, Source};
use crate::exchange::notice::{Kind, Notice};
use crate::exchange::of_task;
use crate::exchange::portable::{PortablePlan, PortableTask, Work};
use crate::plan::task::{Plan, Task};
use crate::plan::{Lines, parse};

/// A task of the list dialect.
static TASK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^\s*(?:[-*+]|\d+[.)])\s+\W{0,3}\[ID:\s*\S+\]").expect("the pattern is valid")
});
/// One of the heading dialect. Other pages have such headings as well, and no complexity below them.
static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?mi)^#{1,6}\s+\[[\w.-]+\]\s[^\n]*\n\s*[-*+]\s+\W{0,2}Complexity\b")
        .expect("the pattern is valid")
});
/// `- 1.1: Title | Iterations: 1/3 | Commit: abc1234`.
static DONE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*[-*]\s+\W{0,2}(?:Task\s+)?T?([\w][\w.-]*?)\]?\W{0,2}[:\s].*?\bcommit:?\s+`?([0-9a-f]{7,64})\b").expect("the pattern is valid")
});
static EVIDENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^task-T?(.+)-verification\.md$").expect("the pattern is valid"));
static RESULT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?im)^\W*Result\W+(PASS|FAIL)").expect("the pattern is valid"));

fn is_tree(path: &str, text: &str, alone: bool) -> bool {
    (alone || name_of(path).eq_ignore_ascii_case("tasks.md")) && first_task(text).is_some()
}

/// Where the first task of a tree begins.
fn first_task(text: &str) -> Option<usize> {
    TASK.find(text).or_else(|| HEADING.find(text)).map(|found| found.start())
}

fn trees<'f>(documents: &Documents<'f>) -> Vec<(&'f str, &'f str)> {
    let pages: Vec<(&str, &str)> = documents.files_in("md").collect();
    let alone = pages.len() == 1;
    pages.into_iter().filter(|(path, text)| is_tree(path, text, alone)).collect()
}

pub(super) fn recognise(documents: &Documents<'_>) -> Option<String> {
    let (path, text) = trees(documents).first().copied()?;
    let line = text[..first_task(text)?].lines().count() + 1;
    Some(format!("{path}:{line} is a task of a tree"))
}

pub(super) fn read(documents: &Documents<'_>) -> Found {
    let trees = trees(documents);
    let folder = only(Source::FractalPlanner, trees.iter().map(|(path, _)| folder_of(path)))?;
    let mut notices = Vec::new();
    let Some((path, text)) = trees.into_iter().find(|(path, _)| folder_of(path) == folder) else {
        return Ok((PortablePlan::default(), notices));
    };
    let (tree, faults) = parse(text);
    let places = Lines::new(text);
    for fault in faults {
        let place = places.position(fault.span.start);
        let notice = Notice::new(Kind::Broken, fault.detail).in_file(path).at_line(place.line);
        notices.push(Notice { column: Some(place.column), ..notice });
    }
    let mut plan = portable(&tree);
    let record =
        documents.objects().find(|(path, _)| folder_of(path) == folder && name_of(path) == "plan.json");
    plan.goal = record.and_then(|(_, record)| record.get("goal")?.as_str().map(str::to_owned));
    work_done(documents, folder, &mut plan);
    Ok((plan, notices))
}

/// The tree without its root, which is the plan.
fn portable(tree: &Plan<'_>) -> PortablePlan {
    let mut plan = PortablePlan::default();
    let root = tree.root.filter(|&root| !tree.tasks[root].is_leaf());
    let mut places: Vec<Option<usize>> = vec![None; tree.tasks.len()];
    for (at, task) in tree.tasks.iter().enumerate() {
        if Some(at) == root {
            plan.title = one_line(&task.description);
            if !task.synthetic {
                plan.ext.insert("root".into(), Value::Object(about_root(task)));
            }
            continue;
        }
        places[at] = Some(plan.tasks.len());
        let parent = task.parent.and_then(|parent| places[parent]);
        plan.tasks.push(PortableTask { parent, ..portable_task(task) });
    }
    if root.is_none() {
        plan.title = tree.tasks.first().map(|task| one_line(&task.description)).unwrap_or_default();
    }
    let prose: Vec<Value> = tree.prose.iter().map(|(_, item)| Value::from(&*item.text)).collect();
    if !prose.is_empty() {
        plan.ext.insert("prose".into(), prose.into());
    }
    plan
}

/// What a root says beside its title.
fn about_root(root: &Task<'_>) -> Map<String, Value> {
    let task = portable_task(root);
    match serde_json::to_value(task) {
        Ok(Value::Object(map)) => map.into_iter().filter(|(key, _)| key != "work").collect(),
        _ => Map::new(),
    }
}

/// A task of the tree, whose title is one line.
fn portable_task(task: &Task<'_>) -> PortableTask {
    let said = of_task::portable_task(task);
    PortableTask { title: one_line(&said.title), ..said }
}

/// What is known of the work, the surest last: what verifiers wrote, what reports say, what the state says.
fn work_done(documents: &Documents<'_>, folder: &str, plan: &mut PortablePlan) {
    let mut known: BTreeMap<String, Work> = BTreeMap::new();
    let evidence = if folder.is_empty() { "evidence".to_owned() } else { format!("{folder}/evidence") };
    for (path, text) in documents.files_in("md").filter(|(path, _)| folder_of(path) == evidence) {
        let Some(id) = EVIDENCE.captures(name_of(path)) else { continue };
        if RESULT.captures(text).is_some_and(|result| result[1].eq_ignore_ascii_case("PASS")) {
            known.insert(id[1].to_owned(), Work::Done { commit: None });
        }
    }
    for page in ["progress.md", "handoff.md"] {
        let text = documents.text(folder, page).map_or("", |(_, text)| text);
        for found in text.lines().filter_map(|line| DONE.captures(line)) {
            known.insert(found[1].to_owned(), Work::Done { commit: Some(found[2].to_lowercase()) });
        }
        for (_, row) in tables(&lines(text)).into_iter().flat_map(|table| table.rows) {
            by_row(&row, &mut known);
        }
    }
    let state = documents
        .objects()
        .find(|(path, _)| folder_of(path) == folder && name_of(path) == "execution-state.json")
        .map(|(_, state)| state);
    if let Some(state) = state {
        by_state(state, &mut known);
        plan.ext.insert("executionState".into(), without_copy(state));
    }
    for task in &mut plan.tasks {
        if let Some(work) = known.remove(plain_id(&task.id)) {
            task.work = work;
        }
    }
}

/// A row of a report: an id, somewhere a state, and perhaps a commit.
fn by_row(row: &[String], known: &mut BTreeMap<String, Work>) {
    let Some((id, cells)) = row.split_first() else { return };
    let is_commit = |cell: &&String| {
        let hash = cell.trim_matches('`');
        (7..=64).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let commit = cells.iter().find(is_commit).map(|cell| cell.trim_matches('`').to_lowercase());
    match cells.iter().find_map(|cell| words::work(cell)) {
        Some(Work::Done { .. }) => set_work(known, &plain(id), Work::Done { commit }),
        Some(work @ (Work::Running | Work::Failed { .. } | Work::Skipped)) => {
            set_work(known, &plain(id), work)
        }
        _ => {}
    }
}

/// The state without what this program keeps in it for itself.
fn without_copy(state: &Map<String, Value>) -> Value {
    let kept = state.iter().filter(|(key, _)| *key != "state" && *key != "checksum" && *key != "log");
    kept.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>().into()
}

/// `1.1` for `T1.1`, as 0.1 calls its tasks at times.
fn plain_id(id: &str) -> &str {
    id.strip_prefix('T').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(id)
}

/// Whoever says last that a task is done need not know its commit.
fn set_work(known: &mut BTreeMap<String, Work>, id: &str, work: Work) {
    let before = known.remove(plain_id(id));
    let work = match (work, before) {
        (Work::Done { commit: None }, Some(Work::Done { commit })) => Work::Done { commit },
        (work, _) => work,
    };
    known.insert(plain_id(id).to_owned(), work);
}

fn by_state(state: &Map<String, Value>, known: &mut BTreeMap<String, Work>) {
    let mut set = |id: &str, work: Work| set_work(known, id, work);
    let reasons = |key: &str| state.get(key).and_then(Value::as_object).into_iter().flatten();
    for (id, reason) in reasons("failureReasons") {
        set(id, Work::Failed { reason: reason.as_str().map(one_line) });
    }
    reasons("skippedTasks").for_each(|(id, _)| set(id, Work::Skipped));
    // What has an iteration and no end was under way.
    for (id, _) in reasons("iterationMap") {
        if !known.contains_key(plain_id(id)) {
            known.insert(plain_id(id).to_owned(), Work::Running);
        }
    }
    let mut set = |id: &str, work: Work| set_work(known, id, work);
    let of_tasks = |tasks: &Value| -> Vec<(String, Value)> {
        let id = |task: &Value| Some(task.get("id").or(task.get("leaf")?.get("id"))?.as_str()?.to_owned());
        match tasks {
            Value::Object(map) => map.iter().map(|(id, task)| (id.clone(), task.clone())).collect(),
            Value::Array(all) => all.iter().filter_map(|task| Some((id(task)?, task.clone()))).collect(),
            _ => Vec::new(),
        }
    };
    let own = state.get("state").and_then(|state| state.get("tasks"));
    for (id, task) in own.or(state.get("tasks")).map(of_tasks).unwrap_or_default() {
        let text = |key: &str| {
            task.get(key).or(task.get("metadata").and_then(|m| m.get(key))).and_then(Value::as_str)
        };
        let word = text("fpStatus").or_else(|| text("status")).or(task.as_str());
        match word.and_then(words::work) {
            Some(Work::Done { .. }) => set(&id, Work::Done { commit: text("commit").map(str::to_owned) }),
            Some(Work::Failed { .. }) => set(&id, Work::Failed { reason: text("reason").map(one_line) }),
            Some(work) => set(&id, work),
            None => {}
        }
    }
}

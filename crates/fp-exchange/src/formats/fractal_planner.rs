//! A plan folder of Fractal Planner 0.1: the tree comes from `tasks.md`, the finished work from its reports and its
//! evidence. Everything else began anew in 0.1, too.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fp_plan::plan::{Lines, parse};
use fp_plan::text::one_line;
use regex::Regex;

use super::ReadResult;
use crate::export::portable_plan;
use crate::folder::{SourceFolder, folder_of, name_of};
use crate::portable::{ImportNotice, TaskWork};
use crate::words::pattern;

/// A task of the list dialect.
static TASK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^\s*(?:[-*+]|\d+[.)])\s+\W{0,3}\[ID:\s*\S+\]"));
/// A task of the heading dialect. Other pages have such headings too, but no complexity below them.
static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?mi)^#{1,6}\s+\[[\w.-]+\]\s[^\n]*\n\s*[-*+]\s+\W{0,2}Complexity\b")
});
/// `- 1.1: Title | Iterations: 1/3 | Commit: abc1234`.
static DONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*[-*]\s+\W{0,2}(?:Task\s+)?T?([\w][\w.-]*?)\]?\W{0,2}[:\s].*?\bcommit:?\s+`?([0-9a-f]{7,64})\b",
    )
});
static EVIDENCE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^task-T?(.+)-verification\.md$"));
static PASSED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?im)^\W*Result\W+PASS"));

pub(super) fn plan_files(folder: &SourceFolder) -> Vec<&str> {
    folder.task_pages(|text| TASK.is_match(text) || HEADING.is_match(text))
}

pub(super) fn read_plan(folder: &SourceFolder, base: &str) -> ReadResult {
    let path = plan_files(folder)
        .into_iter()
        .find(|path| folder_of(path) == base)
        .unwrap_or_default();
    let text = folder.file_text(path).unwrap_or_default();
    let (tree, faults) = parse(text);
    let lines = Lines::new(text);
    let record = folder.object(base, "plan.json");
    let goal = record.and_then(|record| record.get("goal")?.as_str());
    let mut plan = portable_plan(&tree, goal, |_| TaskWork::Todo);
    for fault in faults {
        let place = lines.position(fault.span.start);
        let notice = ImportNotice::new(fault.detail).in_file(path);
        plan.notices.push(notice.at_place(place.line, place.column));
    }
    let mut done = done_tasks(folder, base);
    for task in &mut plan.tasks {
        task.title = one_line(&task.title);
        if let Some(commit) = done.remove(plain_id(&task.id)) {
            task.work = TaskWork::Done { commit };
        }
    }
    Ok(plan)
}

/// The finished tasks by id, each with the commit that a report names for it.
fn done_tasks(folder: &SourceFolder, base: &str) -> BTreeMap<String, Option<String>> {
    let evidence = format!("{base}/evidence");
    let evidence = evidence.trim_start_matches('/');
    let passed = folder
        .files_in("md")
        .filter(|(path, text)| folder_of(path) == evidence && PASSED.is_match(text));
    let mut done: BTreeMap<String, Option<String>> = passed
        .filter_map(|(path, _)| Some((EVIDENCE.captures(name_of(path))?[1].to_owned(), None)))
        .collect();
    for page in ["progress.md", "handoff.md"] {
        let text = folder.page(base, page).map_or("", |(_, text)| text);
        for found in text.lines().filter_map(|line| DONE.captures(line)) {
            let commit = found[2].to_lowercase();
            done.insert(plain_id(&found[1]).to_owned(), Some(commit));
        }
    }
    done
}

/// `1.1` for `T1.1`, as 0.1 sometimes names its tasks.
fn plain_id(id: &str) -> &str {
    id.strip_prefix('T')
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(id)
}

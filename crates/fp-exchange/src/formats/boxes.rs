//! Pages of numbered checkboxes: `tasks.md` of OpenSpec, with a heading per group, and of Kiro, with a checkbox per
//! group.

use std::collections::HashMap;
use std::sync::LazyLock;

use fp_plan::plan::FieldKind;
use fp_plan::text::one_line;
use regex::{Captures, Regex};

use super::{ReadResult, place_tasks};
use crate::folder::{SourceFolder, folder_of};
use crate::page::{PageSection, plain_text, sections_of};
use crate::portable::{ImportNotice, PortablePlan, PortableTask, TaskWork};
use crate::words::{paths_in, pattern, pieces_of, title_of, work_of_box};

/// `- [ ] 1.1 what to do` and `- [x] 1. what to do`; a `*` after the box marks a task as optional.
static BOX: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\s*[-*+]\s+\[([ xX~/-])\]\*?\s+\**(\d+(?:\.\d+)*)[.):]?\**\s+(.*\S)")
});
/// A box without a number.
static UNNUMBERED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[-*+]|\d+[.)])\s+\[[ xX~/-]\]\*?\s+\S"));
/// A Spec Kit number without a box.
static BARE_NUMBER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[-*+]|\d+[.)])\s+\**T\d{2,}\b"));
/// `## 1. What the group is about`.
static HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+(?:\.\d+)*)[.):]?\s+(.*\S)"));
static REQUIREMENTS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^[-*+\s]*_Requirements?:\s*(.*?)_?\s*$"));
/// Generic titles, which say nothing about the plan.
const SAY_NOTHING: [&str; 3] = ["implementation plan", "tasks", "implementation tasks"];

pub(super) fn plan_files(folder: &SourceFolder) -> Vec<&str> {
    folder.task_pages(|text| text.lines().any(|line| BOX.is_match(line)))
}

pub(super) fn read_plan(folder: &SourceFolder, base: &str) -> ReadResult {
    let mut plan = PortablePlan {
        ext: folder.pages_of(base),
        ..PortablePlan::default()
    };
    // Titles of numbered headings.
    let mut headings = HashMap::new();
    for path in plan_files(folder)
        .into_iter()
        .filter(|path| folder_of(path) == base)
    {
        for section in sections_of(folder.file_text(path).unwrap_or_default()) {
            let numbered = HEADING
                .captures(&section.heading)
                .filter(|_| section.level > 1);
            if let Some(found) = &numbered {
                headings.insert(found[1].to_owned(), found[2].to_owned());
            }
            let group = Some(&section.heading).filter(|_| section.level > 1 && numbered.is_none());
            read_boxes(&mut plan, path, &section, &BOX, |plan, found| {
                let above = found[2].rsplit_once('.').map_or("", |(above, _)| above);
                if let Some(title) = headings.remove(above)
                    && plan.tasks.iter().all(|task| task.id != above)
                {
                    add_task(plan, above, &title, TaskWork::Todo, None);
                }
                add_task(
                    plan,
                    &found[2],
                    &found[3],
                    work_of_box(&found[1]),
                    group.cloned(),
                );
            });
        }
    }
    let above = vec![None; plan.tasks.len()];
    place_tasks(&mut plan, above, true);
    follow_page(&mut plan);
    Ok(plan)
}

/// Reads the tasks of a section: `add` makes a task from each line that matches `is_task`, and the indented lines below
/// belong to it.
pub(super) fn read_boxes(
    plan: &mut PortablePlan,
    path: &str,
    section: &PageSection<'_>,
    is_task: &Regex,
    mut add: impl FnMut(&mut PortablePlan, &Captures<'_>),
) {
    let title = section
        .heading
        .strip_prefix("Tasks:")
        .unwrap_or(&section.heading);
    if section.level == 1 && plan.title.is_empty() && !SAY_NOTHING.contains(&&*title.to_lowercase())
    {
        plan.title = title_of(title).0;
    }
    // In sections without tasks, lists hold other things.
    let has_tasks = section.lines.iter().any(|line| is_task.is_match(line.text));
    let mut below_task = false;
    for line in section.lines.iter().filter(|line| !line.in_code) {
        if let Some(found) = is_task.captures(line.text) {
            add(plan, &found);
            below_task = true;
        } else if let Some(task) = plan
            .tasks
            .last_mut()
            .filter(|_| below_task && line.is_indented())
        {
            match REQUIREMENTS.captures(line.text) {
                Some(found) => task.add_texts(FieldKind::Covers, pieces_of(&found[1])),
                None => task.add_line(line.text),
            }
        } else {
            below_task &= line.text.trim().is_empty();
            if UNNUMBERED.is_match(line.text) || (has_tasks && BARE_NUMBER.is_match(line.text)) {
                let text = one_line(line.text);
                let text = format!("it is no box with a number, and left out: {text}");
                let notice = ImportNotice::problem(text).in_file(path);
                plan.notices.push(notice.at_line(line.number));
            }
        }
    }
}

fn add_task(
    plan: &mut PortablePlan,
    number: &str,
    text: &str,
    work: TaskWork,
    group: Option<String>,
) {
    let (title, description) = title_of(&plain_text(text));
    let mut task = PortableTask {
        id: number.to_owned(),
        title,
        work,
        ..PortableTask::default()
    };
    task.add_texts(FieldKind::Description, description);
    task.add_texts(FieldKind::Files, paths_in(text));
    task.add_texts(FieldKind::Group, group);
    plan.tasks.push(task);
}

/// Makes each leaf wait for the one before it: both systems work through the page in order.
fn follow_page(plan: &mut PortablePlan) {
    let parents: Vec<usize> = plan.tasks.iter().filter_map(|task| task.parent).collect();
    let mut before: Option<String> = None;
    for (at, task) in plan.tasks.iter_mut().enumerate() {
        if !parents.contains(&at) {
            task.dependencies = Some(before.replace(task.id.clone()).into_iter().collect());
        }
    }
    if plan.tasks.len() > 1 {
        plan.add_note(
            "the order of the page became dependencies: each task waits for the one above it",
        );
    }
}

//! Spec Kit: `tasks.md` with a numbered checkbox for each task, under headings of phases.
//!
//! `[P]` marks tasks that may be done in parallel with those around them. Everything else is done in page order, one
//! phase after the other; only user stories don't wait for each other.

use std::sync::LazyLock;

use fp_plan::plan::FieldKind;
use fp_plan::text::one_line;
use regex::{Captures, Regex};

use super::ReadResult;
use super::boxes::read_boxes;
use crate::folder::{SourceFolder, folder_of};
use crate::page::{plain_text, sections_of};
use crate::portable::{PortablePlan, PortableTask};
use crate::words::{paths_in, pattern, title_of, work_of_box};

/// `- [ ] T001 [P] [US1] what to do`.
static TASK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:[-*+]|\d+[.)])\s+\[([ xX~/-])\]\s+(?:\*\*|~~|\[)*(T\d{2,}[A-Za-z]?)\b[\]*:.]*((?:\s+\[[^\]]*\])*)\s*(.*?)(?:~~)?$",
    )
});
static TAG: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[([^\]]*)\]"));
static STORY: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\buser story\s+(\d+)|\bUS(\d+)\b"));
/// `(depends on T002, T003)`.
static DEPENDS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\bdepends on\s+((?:T\d{2,}[A-Za-z]?(?:,\s*|\s+and\s+)?)+)"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"T\d{2,}[A-Za-z]?"));
/// `Name.swift in Sources/Lib/`.
static FILE_IN_FOLDER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"`?([\w.@~-]+\.\w+)`? in `?((?:[\w.@~-]+/)+)`?"));

fn has_tasks(text: &str) -> bool {
    text.lines().any(|line| TASK.is_match(line))
}

pub(super) fn plan_files(folder: &SourceFolder) -> Vec<&str> {
    folder
        .files_in("md")
        .filter(|(_, text)| has_tasks(text))
        .map(|(path, _)| path)
        .collect()
}

pub(super) fn read_plan(folder: &SourceFolder, base: &str) -> ReadResult {
    let mut plan = PortablePlan {
        ext: folder.pages_of(base),
        ..PortablePlan::default()
    };
    let mut order = PageOrder::default();
    for path in plan_files(folder)
        .into_iter()
        .filter(|path| folder_of(path) == base)
    {
        let mut phase = String::new();
        for section in sections_of(folder.file_text(path).unwrap_or_default()) {
            // A deeper heading stays within the phase.
            if section.level == 2 {
                phase = one_line(&section.heading);
                order.begin_phase(STORY.is_match(&phase));
            }
            read_boxes(&mut plan, path, &section, &TASK, |plan, found| {
                let task = read_task(&mut order, found, &phase);
                plan.tasks.push(task);
            });
        }
    }
    if order.counts {
        plan.add_note(
            "the order of the page became dependencies: a phase waits for the one before it, a story for the \
             phases before all stories, and a task without [P] for the tasks above it",
        );
    }
    Ok(plan)
}

/// Tracks the tasks that the next one on the page waits for.
#[derive(Default)]
struct PageOrder {
    before: Vec<String>,
    /// The `[P]` tasks read since those in `before`.
    beside: Vec<String>,
    /// From the first story on: the tasks that all stories wait for, and the last tasks of each story.
    stories: Option<(Vec<String>, Vec<String>)>,
    /// True once the page's order makes a task wait.
    counts: bool,
}

impl PageOrder {
    fn next_waits(&mut self, id: &str, parallel: bool) -> Vec<String> {
        if parallel {
            self.beside.push(id.to_owned());
            return self.before.clone();
        }
        self.end_parallel();
        std::mem::replace(&mut self.before, vec![id.to_owned()])
    }

    fn end_parallel(&mut self) {
        if !self.beside.is_empty() {
            self.before = std::mem::take(&mut self.beside);
        }
    }

    fn begin_phase(&mut self, is_story: bool) {
        self.end_parallel();
        match (&mut self.stories, is_story) {
            (Some((base, ends)), true) => {
                ends.append(&mut std::mem::replace(&mut self.before, base.clone()))
            }
            (stories @ None, true) => *stories = Some((self.before.clone(), Vec::new())),
            (stories, false) => {
                if let Some((_, ends)) = stories.take() {
                    self.before = ends
                        .into_iter()
                        .chain(std::mem::take(&mut self.before))
                        .collect();
                }
            }
        }
    }
}

fn read_task(order: &mut PageOrder, found: &Captures<'_>, phase: &str) -> PortableTask {
    let id = found[2].to_uppercase();
    let text = plain_text(&found[4]);
    let (title, description) = title_of(&text);
    let tags: Vec<String> = TAG
        .captures_iter(&found[3])
        .map(|tag| one_line(&tag[1]))
        .collect();
    let is_parallel = tags.iter().any(|tag| tag.eq_ignore_ascii_case("P"));
    let stories = tags
        .into_iter()
        .filter(|tag| tag.to_uppercase().starts_with("US"));
    let mut waits = order.next_waits(&id, is_parallel);
    order.counts |= !waits.is_empty();
    for list in DEPENDS.captures_iter(&text) {
        let named = NUMBER
            .find_iter(&list[1])
            .map(|number| number.as_str().to_uppercase());
        waits.extend(named.filter(|number| *number != id).collect::<Vec<_>>());
    }
    waits.dedup();
    let whole = FILE_IN_FOLDER.replace_all(&found[4], "$2$1");
    let mut task = PortableTask {
        title: if title.is_empty() { id.clone() } else { title },
        dependencies: Some(waits),
        work: work_of_box(&found[1]),
        id,
        ..PortableTask::default()
    };
    let group = (!phase.is_empty()).then(|| phase.to_owned());
    task.add_texts(FieldKind::Description, description);
    task.add_texts(FieldKind::Files, paths_in(&whole));
    task.add_texts(FieldKind::Covers, stories);
    task.add_texts(FieldKind::Group, group);
    task
}

//! Spec Kit: `tasks.md` with a numbered box for each task, below headings of phases.
//!
//! `[P]` marks what may be done beside the tasks around it. Everything else is done in the order of the page, one
//! phase after the other; only user stories don't wait for each other.

use std::sync::LazyLock;

use fp_plan::text::one_line;
use regex::{Captures, Regex};

use super::{ReadResult, SourceFormat};
use crate::folder::{SourceFolder, folder_of};
use crate::page::{InCode, plain_text, sections_of};
use crate::portable::{ImportNotice, PortablePlan, PortableTask};
use crate::words::{files_named_in, title_of, work_of_box};

/// `- [ ] T001 [P] [US1] what to do`.
static TASK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^\s*(?:[-*+]|\d+[.)])\s+\[([ xX~/-])\]\s+(?:\*\*|~~|\[)*(T\d{2,}[A-Za-z]?)\b[\]*:.]*((?:\s+\[[^\]]*\])*)\s*(.*?)(?:~~)?$",
    )
    .expect("the pattern is valid")
});
/// A line that begins like a task, or a box without a number.
static ALMOST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[-*+]|\d+[.)])\s+(?:\[[ xX~/-]\]\s+\S|\**T\d{2,}\b)").expect("the pattern is valid")
});
static TAG: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[([^\]]*)\]").expect("the pattern is valid"));
static STORY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\buser story\s+(\d+)|\bUS(\d+)\b").expect("the pattern is valid"));
/// `(depends on T002, T003)`.
static DEPENDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\bdepends on\s+((?:T\d{2,}[A-Za-z]?(?:,\s*|\s+and\s+)?)+)")
        .expect("the pattern is valid")
});
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"T\d{2,}[A-Za-z]?").expect("the pattern is valid"));
/// `Name.swift in Sources/Lib/`.
static FILE_IN_FOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"`?([\w.@~-]+\.\w+)`? in `?((?:[\w.@~-]+/)+)`?").expect("the pattern is valid")
});

fn has_tasks(text: &str) -> bool {
    text.lines().any(|line| TASK.is_match(line))
}

pub(super) fn recognise(folder: &SourceFolder) -> Option<&str> {
    folder.files_in("md").find(|(_, text)| has_tasks(text)).map(|(path, _)| path)
}

pub(super) fn read(folder: &SourceFolder) -> ReadResult {
    let pages = || folder.files_in("md").filter(|(_, text)| has_tasks(text));
    let base = folder.only(SourceFormat::SpecKit, pages().map(|(path, _)| folder_of(path)))?;
    let mut reader = SpecKitReader::default();
    for (path, text) in pages().filter(|(path, _)| folder_of(path) == base) {
        reader.read_page(path, text);
    }
    reader.plan.ext = folder.pages_of(base);
    if reader.ordered {
        let text = "the order of the page became dependencies: a phase waits for the one before it, a story for the \
                    phases before all stories, and a task without [P] for the tasks above it";
        reader.notices.push(ImportNotice::note(text));
    }
    Ok((reader.plan, reader.notices))
}

#[derive(Default)]
struct SpecKitReader {
    plan: PortablePlan,
    notices: Vec<ImportNotice>,
    order: PageOrder,
    /// Whether the order of the page became a dependency.
    ordered: bool,
}

/// What the next task of the page waits for.
#[derive(Default)]
struct PageOrder {
    before: Vec<String>,
    /// Tasks with `[P]` since then.
    beside: Vec<String>,
    /// What all stories wait for, once there was one, and the last tasks of each.
    stories: Option<(Vec<String>, Vec<String>)>,
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
            (Some((base, ends)), true) => ends.append(&mut std::mem::replace(&mut self.before, base.clone())),
            (stories @ None, true) => *stories = Some((self.before.clone(), Vec::new())),
            (stories, false) => {
                if let Some((_, ends)) = stories.take() {
                    self.before = ends.into_iter().chain(std::mem::take(&mut self.before)).collect();
                }
            }
        }
    }
}

impl SpecKitReader {
    fn read_page(&mut self, path: &str, text: &str) {
        let mut phase = String::new();
        for section in sections_of(text) {
            match section.level {
                1 if self.plan.title.is_empty() => {
                    let bare = section.heading.strip_prefix("Tasks:").unwrap_or(&section.heading);
                    self.plan.title = title_of(bare).0;
                }
                // A heading within a phase is none of its own.
                2 => {
                    phase.clone_from(&section.heading);
                    self.order.begin_phase(STORY.is_match(&phase));
                }
                _ => {}
            }
            let mut below_task = false;
            for line in section.lines.iter().filter(|line| line.in_code == InCode::No) {
                if let Some(found) = TASK.captures(line.text) {
                    self.read_task(&found, &one_line(&phase));
                    below_task = true;
                } else if let Some(task) =
                    self.plan.tasks.last_mut().filter(|_| below_task && line.is_indented())
                {
                    task.add_line(line.text);
                } else {
                    below_task &= line.text.trim().is_empty();
                    // Sections without tasks have lists of other things.
                    if ALMOST.is_match(line.text) && section.lines.iter().any(|line| TASK.is_match(line.text))
                    {
                        let text =
                            format!("it is no box with a number, and left out: {}", one_line(line.text));
                        self.notices.push(ImportNotice::problem(text).in_file(path).at_line(line.number));
                    }
                }
            }
        }
    }

    fn read_task(&mut self, found: &Captures<'_>, phase: &str) {
        let id = found[2].to_uppercase();
        let text = plain_text(&found[4]);
        let (title, description) = title_of(&text);
        let tags: Vec<String> = TAG.captures_iter(&found[3]).map(|tag| one_line(&tag[1])).collect();
        let is_parallel = tags.iter().any(|tag| tag.eq_ignore_ascii_case("P"));
        let covers: Vec<String> =
            tags.into_iter().filter(|tag| tag.to_uppercase().starts_with("US")).collect();
        let mut waits = self.order.next_waits(&id, is_parallel);
        self.ordered |= !waits.is_empty();
        for list in DEPENDS.captures_iter(&text) {
            let named = NUMBER.find_iter(&list[1]).map(|number| number.as_str().to_uppercase());
            waits.extend(named.filter(|number| *number != id).collect::<Vec<_>>());
        }
        waits.dedup();
        let whole = FILE_IN_FOLDER.replace_all(&found[4], "$2$1");
        self.plan.tasks.push(PortableTask {
            title: if title.is_empty() { id.clone() } else { title },
            description,
            dependencies: Some(waits),
            files: files_named_in(&whole),
            covers: Some(covers).filter(|covers| !covers.is_empty()),
            group: Some(phase.to_owned()).filter(|phase| !phase.is_empty()),
            work: work_of_box(&found[1]),
            id,
            ..PortableTask::default()
        });
    }
}

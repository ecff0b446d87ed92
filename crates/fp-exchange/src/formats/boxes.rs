//! Pages of numbered checkboxes: `tasks.md` of OpenSpec, with a heading per group, of Kiro, with a checkbox per group,
//! and of Spec Kit, with a heading per phase.
//!
//! All three work through the page in order. Spec Kit marks tasks with `[P]` that may be done in parallel with those
//! around them, and its user stories don't wait for each other.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use fp_plan::plan::FieldKind;
use fp_plan::text::one_line;
use regex::{Captures, Regex};

use super::{ReadResult, place_tasks};
use crate::folder::{SourceFolder, folder_of};
use crate::page::{PageLine, PageSection, plain_text, sections_of};
use crate::portable::{ImportNotice, PortablePlan, PortableTask};
use crate::words::{paths_in, pattern, pieces_of, title_of, work_of_box};

/// `- [ ] 1.1 what to do`, `- [x] 1. what to do` or `- [ ] T001 [P] [US1] what to do`; a `*` after the box marks a task
/// as optional.
static BOX: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:[-*+]|\d+[.)])\s+\[([ xX~/-])\]\*?\s+(?:\*\*|~~|\[)*(\d+(?:\.\d+)*|T\d{2,}[A-Za-z]?)(?:[\]*:.)]+|\b)((?:\s*\[(?i:P|US\d+)\])*)(?:\s+(.*?))?(?:~~)?\s*$",
    )
});
static TAG: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[(\w+)\]"));
/// A box without a number.
static UNNUMBERED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[-*+]|\d+[.)])\s+\[[ xX~/-]\]\*?\s+\S"));
/// A Spec Kit number without a box.
static BARE_NUMBER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[-*+]|\d+[.)])\s+\**T\d{2,}\b"));
/// `## 1. What the group is about`.
static HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+(?:\.\d+)*)[.):]?\s+(.*\S)"));
static STORY: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\buser story\s+\d+|\bUS\d+\b"));
static REQUIREMENTS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^[-*+\s]*_Requirements?:\s*(.*?)_?\s*$"));
/// `(depends on T002, T003)`.
static DEPENDS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\bdepends on\s+((?:T\d{2,}[A-Za-z]?(?:,\s*|\s+and\s+)?)+)"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"T\d{2,}[A-Za-z]?"));
/// `Name.swift in Sources/Lib/`.
static FILE_IN_FOLDER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"`?([\w.@~-]+\.\w+)`? in `?((?:[\w.@~-]+/)+)`?"));
/// Generic titles, which say nothing about the plan.
const SAY_NOTHING: [&str; 3] = ["implementation plan", "tasks", "implementation tasks"];

pub(super) fn plan_files(folder: &SourceFolder) -> Vec<&str> {
    folder.task_pages(|text| text.lines().any(|line| BOX.is_match(line)))
}

pub(super) fn read_plan(folder: &SourceFolder, base: &str) -> ReadResult {
    let mut page = BoxPage::default();
    page.plan.ext = folder.pages_of(base);
    for path in plan_files(folder)
        .into_iter()
        .filter(|path| folder_of(path) == base)
    {
        for section in sections_of(folder.file_text(path).unwrap_or_default()) {
            page.read_heading(&section);
            page.read_lines(path, &section.lines);
        }
    }
    let BoxPage {
        mut plan, parallel, ..
    } = page;
    let above = vec![None; plan.tasks.len()];
    place_tasks(&mut plan, above, true);
    follow_page(&mut plan, &parallel);
    Ok(plan)
}

/// The part of a page that has been read.
#[derive(Default)]
struct BoxPage {
    plan: PortablePlan,
    /// Titles of the numbered headings that have no task yet.
    headings: HashMap<String, String>,
    /// The heading that the tasks stand under, unless it is numbered.
    phase: Option<String>,
    /// The tasks that may be done beside each other.
    parallel: HashSet<String>,
}

impl BoxPage {
    fn read_heading(&mut self, section: &PageSection<'_>) {
        let heading = &section.heading;
        let title = heading.strip_prefix("Tasks:").unwrap_or(heading);
        let says_nothing = SAY_NOTHING.contains(&&*title.to_lowercase());
        if section.level == 1 && self.plan.title.is_empty() && !says_nothing {
            self.plan.title = title_of(title).0;
        }
        if let Some(found) = HEADING.captures(heading).filter(|_| section.level > 1) {
            self.headings
                .insert(found[1].to_owned(), found[2].to_owned());
            self.phase = None;
        } else if section.level == 2 {
            // A deeper heading stays within the phase.
            self.phase = Some(one_line(heading));
        }
    }

    /// Reads the tasks among `lines`; the indented lines below a task belong to it.
    fn read_lines(&mut self, path: &str, lines: &[PageLine<'_>]) {
        // In sections without tasks, lists hold other things.
        let has_tasks = lines.iter().any(|line| BOX.is_match(line.text));
        let mut below_task = false;
        for line in lines.iter().filter(|line| !line.in_code) {
            if let Some(found) = BOX.captures(line.text) {
                self.add_task(&found);
                below_task = true;
            } else if let Some(task) = self
                .plan
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
                if UNNUMBERED.is_match(line.text) || (has_tasks && BARE_NUMBER.is_match(line.text))
                {
                    let text = one_line(line.text);
                    let text = format!("it is no box with a number, and left out: {text}");
                    let notice = ImportNotice::new(text).in_file(path);
                    self.plan.notices.push(notice.at_line(line.number));
                }
            }
        }
    }

    fn add_task(&mut self, found: &Captures<'_>) {
        let id = found[2].to_uppercase();
        let above = id.rsplit_once('.').map_or("", |(above, _)| above);
        if let Some(title) = self.headings.remove(above)
            && self.plan.tasks.iter().all(|task| task.id != above)
        {
            self.plan.tasks.push(PortableTask {
                id: above.to_owned(),
                title: title_of(&title).0,
                ..PortableTask::default()
            });
        }
        let tags = TAG.captures_iter(&found[3]);
        let (stories, marks): (Vec<String>, Vec<String>) = tags
            .map(|tag| tag[1].to_uppercase())
            .partition(|tag| tag.starts_with("US"));
        if !marks.is_empty() {
            self.parallel.insert(id.clone());
        }
        let written = found.get(4).map_or("", |text| text.as_str());
        let text = plain_text(written);
        let (title, description) = title_of(&text);
        let named = DEPENDS.captures_iter(&text).flat_map(|list| {
            let named = NUMBER.find_iter(list.get(1).map_or("", |list| list.as_str()));
            named.map(|number| number.as_str().to_uppercase())
        });
        let named: Vec<String> = named.filter(|number| *number != id).collect();
        let mut task = PortableTask {
            title: if title.is_empty() { id.clone() } else { title },
            dependencies: (!named.is_empty()).then_some(named),
            work: work_of_box(&found[1]),
            id,
            ..PortableTask::default()
        };
        let files = paths_in(&FILE_IN_FOLDER.replace_all(written, "$2$1"));
        task.add_texts(FieldKind::Description, description);
        task.add_texts(FieldKind::Files, files);
        task.add_texts(FieldKind::Covers, stories);
        task.add_texts(FieldKind::Group, self.phase.clone());
        self.plan.tasks.push(task);
    }
}

/// Makes each leaf wait for those before it on the page, in addition to those that it names.
fn follow_page(plan: &mut PortablePlan, parallel: &HashSet<String>) {
    let parents: HashSet<usize> = plan.tasks.iter().filter_map(|task| task.parent).collect();
    let mut order = PageOrder::default();
    let mut phase: Option<String> = None;
    let leaves = plan.tasks.iter_mut().enumerate();
    for (_, task) in leaves.filter(|(at, _)| !parents.contains(at)) {
        let group = task.fields.items(FieldKind::Group).first();
        let group = group.map(|item| item.text.to_string());
        if group != phase {
            order.begin_phase(group.as_deref().is_some_and(|name| STORY.is_match(name)));
            phase = group;
        }
        let mut waits = order.next_waits(&task.id, parallel.contains(&task.id));
        waits.extend(task.dependencies.take().into_iter().flatten());
        waits.dedup();
        task.dependencies = Some(waits);
    }
}

/// Tracks the tasks that the next one on the page waits for.
#[derive(Default)]
struct PageOrder {
    before: Vec<String>,
    /// The `[P]` tasks read since those in `before`.
    beside: Vec<String>,
    /// From the first story on: the tasks that all stories wait for, and the last tasks of each story.
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

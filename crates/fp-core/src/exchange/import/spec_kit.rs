//! spec-kit: `tasks.md` with a line for each task, below headings of phases. `[P]` marks what may be done beside the
//! tasks around it, and everything else is done in the order of the page, one phase after the other.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::documents::{Documents, folder_of, only};
use super::markdown::{Code, Section, plain, sections};
use super::words::{self, one_line};
use super::{Found, Source};
use crate::exchange::bullets::{self, Read};
use crate::exchange::notice::{Kind, Notice};
use crate::exchange::portable::{PortablePlan, PortableTask, Work};
use crate::exchange::rest::KEY;

/// `- [ ] T001 [P] [US1] what to do`.
static TASK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*[-*+]\s+\[([ xX~/-])\]\s+\**(T\d{2,}[A-Za-z]?)\**[:.]?((?:\s+\[[^\]]*\])*)\s*(.*)$")
        .expect("the pattern is valid")
});
/// A line that begins like a task and is none.
static ALMOST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*[-*+]\s+(?:\[[^\]]*\]\s*)?\**T\d{2,}\b").expect("the pattern is valid")
});
static TAG: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[([^\]]*)\]").expect("the pattern is valid"));

fn has_tasks(text: &str) -> bool {
    text.lines().any(|line| TASK.is_match(line))
}

pub(super) fn recognise(documents: &Documents<'_>) -> Option<String> {
    let mut pages = documents.files_in("md");
    let (path, text) = pages.find(|(_, text)| has_tasks(text))?;
    let line = text.lines().position(|line| TASK.is_match(line)).unwrap_or_default() + 1;
    Some(format!("{path}:{line} is a task with a box and a number"))
}

pub(super) fn read(documents: &Documents<'_>) -> Found {
    let pages = || documents.files_in("md").filter(|(_, text)| has_tasks(text));
    let folder = only(Source::SpecKit, pages().map(|(path, _)| folder_of(path)))?;
    let mut reading = Reading::default();
    for (path, text) in pages().filter(|(path, _)| folder_of(path) == folder) {
        reading.page(path, text);
    }
    if reading.ordered {
        let text = "the order of the page became dependencies: a phase waits for the one before it, and a task without \
                    [P] for the tasks above it";
        reading.notices.push(Notice::new(Kind::Rewritten, text));
    }
    Ok((reading.plan, reading.notices))
}

#[derive(Default)]
struct Reading {
    plan: PortablePlan,
    notices: Vec<Notice>,
    kept: Map<String, Value>,
    /// What each line says behind its number and its tags.
    lines: Vec<String>,
    /// Whether some task waits for what is above it.
    ordered: bool,
}

/// How far the order of a page is known.
#[derive(Default)]
struct Order {
    /// What the next task waits for.
    before: Vec<String>,
    /// The tasks that may be done beside each other, since then.
    beside: Vec<String>,
}

impl Order {
    /// What a task waits for.
    fn next(&mut self, id: &str, parallel: bool) -> Vec<String> {
        if parallel {
            self.beside.push(id.to_owned());
            return self.before.clone();
        }
        self.barrier();
        std::mem::replace(&mut self.before, vec![id.to_owned()])
    }

    /// Whatever comes now waits for all that was there.
    fn barrier(&mut self) {
        if !self.beside.is_empty() {
            self.before = std::mem::take(&mut self.beside);
        }
    }
}

impl Reading {
    fn page(&mut self, path: &str, text: &str) {
        let mut order = Order::default();
        let mut phase = None;
        for section in sections(text) {
            if section.level == 1 && self.plan.title.is_empty() {
                let bare = section.heading.strip_prefix("Tasks:").unwrap_or(&section.heading);
                self.plan.title = words::title(bare).0;
            }
            if section.heading == KEY
                && let Ok(Value::Object(kept)) =
                    serde_json::from_str(&section.code().unwrap_or_default().join("\n"))
            {
                self.plan.ext.insert(KEY.into(), kept.into());
                continue;
            }
            let has_tasks =
                section.lines.iter().any(|line| line.code == Code::Outside && TASK.is_match(line.text));
            // A heading within a phase is none of its own.
            if section.level == 2 {
                phase = Some(section.heading.clone());
                order.barrier();
            }
            if has_tasks {
                let group = phase.clone().unwrap_or_default();
                self.tasks(path, &section, &one_line(&group), &mut order);
            } else if section.level > 1 && !section.text().is_empty() {
                self.kept.insert(section.heading.clone(), section.text().into());
            }
        }
        if !self.kept.is_empty() {
            self.plan.ext.insert("sections".into(), Value::Object(std::mem::take(&mut self.kept)));
        }
    }

    fn tasks(&mut self, path: &str, section: &Section<'_>, group: &str, order: &mut Order) {
        let mut prose: Vec<&str> = Vec::new();
        let mut list = Read::default();
        let mut more: Vec<&str> = Vec::new();
        let mut below_task = false;
        for line in section.lines.iter().filter(|line| line.code == Code::Outside) {
            if below_task && list.line(line.text) {
                continue;
            }
            if let Some(found) = TASK.captures(line.text) {
                self.below(std::mem::take(&mut list), &std::mem::take(&mut more));
                let task = task(&found, group, order);
                self.lines.push(found[4].to_owned());
                self.plan.tasks.push(task);
                below_task = true;
            } else if below_task && goes_on(line.text) {
                more.push(line.text.trim());
            } else if ALMOST.is_match(line.text) {
                let text =
                    format!("it begins like a task and has no box: {}; it is left out", one_line(line.text));
                self.notices.push(Notice::new(Kind::Broken, text).in_file(path).at_line(line.number));
            } else {
                below_task &= line.text.trim().is_empty();
                prose.push(line.text);
            }
        }
        self.below(list, &more);
        let prose = prose.join("\n").trim().to_owned();
        if !prose.is_empty() {
            self.kept.insert(section.heading.clone(), prose.into());
        }
    }
}

impl Reading {
    /// What is said in the list below the last task counts for that one, and nothing else but its line; other lines
    /// there go on with its description.
    fn below(&mut self, list: Read, more: &[&str]) {
        let Some((task, line)) = self.plan.tasks.last_mut().zip(self.lines.last()) else { return };
        if list.is_list() {
            let mut fields = list.fields;
            let kept = fields.remove(KEY);
            fields.insert("id".into(), task.id.clone().into());
            fields.insert("title".into(), bullets::read_inline(line).into());
            let Ok(said) = serde_json::from_value::<PortableTask>(fields.into()) else { return };
            let title = bullets::untitled(&said.title, said.files.as_deref());
            let ext = kept.map(|kept| (KEY.to_owned(), kept)).into_iter().collect();
            let work = std::mem::take(&mut task.work);
            *task = PortableTask { title, dependencies: list.names, work, ext, ..said };
        } else {
            self.ordered |= task.dependencies.as_ref().is_some_and(|ids| !ids.is_empty());
        }
        if !more.is_empty() {
            let before = task.description.take().into_iter();
            task.description = Some(before.chain([more.join("\n")]).collect::<Vec<_>>().join("\n"));
        }
    }
}

/// Whether a line belongs to the item above it.
fn goes_on(line: &str) -> bool {
    line.starts_with(['\t', ' ']) && !line.trim().is_empty()
}

fn task(found: &regex::Captures<'_>, group: &str, order: &mut Order) -> PortableTask {
    let id = found[2].to_uppercase();
    let mut parallel = false;
    let mut covers = Vec::new();
    let mut others = Vec::new();
    for tag in TAG.captures_iter(&found[3]) {
        match one_line(&tag[1]) {
            tag if tag.eq_ignore_ascii_case("P") => parallel = true,
            tag if tag.to_uppercase().starts_with("US") => covers.push(tag),
            tag => others.push(Value::from(tag)),
        }
    }
    let text = plain(&found[4]);
    let (title, description) = words::title(&text);
    let files: Vec<_> =
        words::paths(&found[4]).iter().filter_map(|path| words::file(path, None, None)).collect();
    let mut ext = Map::new();
    if parallel {
        ext.insert("parallel".into(), true.into());
    }
    if !others.is_empty() {
        ext.insert("tags".into(), others.into());
    }
    PortableTask {
        title: if title.is_empty() { id.clone() } else { title },
        description,
        dependencies: Some(order.next(&id, parallel)),
        files: Some(files).filter(|files| !files.is_empty()),
        covers: Some(covers).filter(|covers| !covers.is_empty()),
        group: Some(group.to_owned()).filter(|group| !group.is_empty()),
        work: match &found[1] {
            "x" | "X" => Work::Done { commit: None },
            " " => Work::Todo,
            _ => Work::Running,
        },
        ext,
        id,
        ..PortableTask::default()
    }
}

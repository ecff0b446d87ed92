//! A page of numbered boxes: `tasks.md` of OpenSpec, with a heading for each group, and of Kiro, with a box for each.

use std::collections::HashMap;
use std::sync::LazyLock;

use fp_plan::text::one_line;
use regex::Regex;

use super::{ReadResult, SourceFormat};
use crate::folder::{SourceFolder, folder_of, name_of};
use crate::page::{InCode, PageSection, plain_text, sections_of};
use crate::portable::{ImportNotice, PortablePlan, PortableTask, TaskWork};
use crate::words::{files_named_in, pieces_of, title_of, work_of_box};

/// `- [ ] 1.1 what to do` and `- [x] 1. what to do`; a `*` behind the box marks what is optional.
static BOX: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*[-*+]\s+\[([ xX~/-])\]\*?\s+\**(\d+(?:\.\d+)*)[.):]?\**\s+(.*\S)")
        .expect("the pattern is valid")
});
static UNNUMBERED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[-*+]\s+\[[ xX~/-]\]\*?\s+\S").expect("the pattern is valid"));
/// `## 1. What the group is about`.
static HEADING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(\d+(?:\.\d+)*)[.):]?\s+(.*\S)").expect("the pattern is valid"));
static REQUIREMENTS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[-*+\s]*_Requirements?:\s*(.*?)_?\s*$").expect("the pattern is valid"));
/// Titles that every such page has.
const SAY_NOTHING: [&str; 3] = ["implementation plan", "tasks", "implementation tasks"];

fn pages(folder: &SourceFolder) -> Vec<(&str, &str)> {
    let alone = folder.files_in("md").count() == 1;
    let is_page = |path: &str, text: &str| {
        (alone || name_of(path).eq_ignore_ascii_case("tasks.md"))
            && text.lines().any(|line| BOX.is_match(line))
    };
    folder.files_in("md").filter(|(path, text)| is_page(path, text)).collect()
}

pub(super) fn recognise(folder: &SourceFolder) -> Option<&str> {
    pages(folder).first().map(|(path, _)| *path)
}

pub(super) fn read(folder: &SourceFolder) -> ReadResult {
    let pages = pages(folder);
    let base = folder.only(SourceFormat::Boxes, pages.iter().map(|(path, _)| folder_of(path)))?;
    let mut reader = BoxReader::default();
    for (path, text) in pages.into_iter().filter(|(path, _)| folder_of(path) == base) {
        for section in sections_of(text) {
            reader.read_section(path, &section);
        }
    }
    reader.plan.ext = folder.pages_of(base);
    Ok(reader.finish())
}

#[derive(Default)]
struct BoxReader {
    plan: PortablePlan,
    notices: Vec<ImportNotice>,
    /// Titles of numbered headings.
    headings: HashMap<String, String>,
    /// Where each number is.
    positions: HashMap<String, usize>,
}

impl BoxReader {
    fn read_section(&mut self, path: &str, section: &PageSection<'_>) {
        let numbered = HEADING.captures(&section.heading).filter(|_| section.level > 1);
        if let Some(found) = &numbered {
            self.headings.insert(found[1].to_owned(), found[2].to_owned());
        } else if section.level == 1 && !SAY_NOTHING.contains(&section.heading.to_lowercase().as_str()) {
            self.plan.title = title_of(section.heading.strip_prefix("Tasks:").unwrap_or(&section.heading)).0;
        }
        let group = Some(section.heading.clone()).filter(|_| section.level > 1 && numbered.is_none());
        let mut below_task = false;
        for line in section.lines.iter().filter(|line| line.in_code == InCode::No) {
            if let Some(found) = BOX.captures(line.text) {
                self.add_task(&found[2], &found[3], work_of_box(&found[1]), group.clone());
                below_task = true;
            } else if let Some(task) = self.plan.tasks.last_mut().filter(|_| below_task && line.is_indented())
            {
                match REQUIREMENTS.captures(line.text) {
                    Some(found) => task.covers.get_or_insert_default().extend(pieces_of(&found[1])),
                    None => task.add_line(line.text),
                }
            } else {
                if UNNUMBERED.is_match(line.text) {
                    let text = format!("it is a box without a number, and left out: {}", one_line(line.text));
                    self.notices.push(ImportNotice::problem(text).in_file(path).at_line(line.number));
                }
                below_task &= line.text.trim().is_empty();
            }
        }
    }

    fn add_task(&mut self, number: &str, text: &str, work: TaskWork, group: Option<String>) {
        let above = number.rsplit_once('.').map(|(above, _)| above.to_owned());
        if let Some((above, title)) =
            above.as_ref().and_then(|above| self.headings.remove_entry(above.as_str()))
            && !self.positions.contains_key(&above)
        {
            self.add_task(&above, &title, TaskWork::Todo, None);
        }
        let (title, description) = title_of(&plain_text(text));
        self.positions.entry(number.to_owned()).or_insert(self.plan.tasks.len());
        self.plan.tasks.push(PortableTask {
            id: number.to_owned(),
            parent: above.and_then(|above| self.positions.get(&above)).copied(),
            title,
            description,
            files: files_named_in(text),
            group,
            work,
            ..PortableTask::default()
        });
    }

    /// Makes each leaf wait for the one before it: both systems work through the page.
    fn finish(mut self) -> (PortablePlan, Vec<ImportNotice>) {
        let parents: Vec<usize> = self.plan.tasks.iter().filter_map(|task| task.parent).collect();
        let mut before: Option<String> = None;
        for (at, task) in self.plan.tasks.iter_mut().enumerate() {
            if !parents.contains(&at) {
                task.dependencies = Some(before.replace(task.id.clone()).into_iter().collect());
            }
        }
        if self.plan.tasks.len() > 1 {
            let text = "the order of the page became dependencies: each task waits for the one above it";
            self.notices.push(ImportNotice::note(text));
        }
        (self.plan, self.notices)
    }
}

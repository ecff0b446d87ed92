//! `github-issues`: what the GitHub API takes to make an issue, for each task. Numbers are not known before an issue
//! is made, so that tasks are named as `{{fp:ID}}` in the texts, for a script to replace. No text of the plan mentions
//! anybody there, or refers to an issue, a request or a commit.

use super::family::Family;
use super::names::Names;
use super::object::{Object, document};
use crate::exchange::kept::PLAN;
use crate::exchange::portable::{PortablePlan, PortableTask, Work};
use crate::exchange::rest::{KEY, Rest};
use crate::markdown;
use crate::plan::id::TaskId;

/// Longest title that GitHub takes, in characters.
const TITLE: usize = 256;
/// Longest text that it takes, in characters.
const BODY: usize = 65_536;
/// Longest label that it takes, in characters.
const LABEL: usize = 50;
/// What keeps a mention or a reference from being one, and is not seen.
const BREAK: char = '\u{200b}';

pub(super) fn text(plan: &PortablePlan) -> String {
    let exporter = Exporter::new(plan);
    document(&(0..plan.tasks.len()).map(|at| exporter.issue(at)).collect::<Vec<_>>())
}

struct Exporter<'p> {
    plan: &'p PortablePlan,
    family: Family<'p>,
    names: Names<'p>,
}

/// The ids of the tasks whose text is longer than GitHub takes.
#[must_use]
pub fn too_long(plan: &PortablePlan) -> Vec<&str> {
    let exporter = Exporter::new(plan);
    let long = (0..plan.tasks.len()).filter(|&at| exporter.body(at).chars().count() > BODY);
    long.map(|at| plan.tasks[at].id.as_str()).collect()
}

impl<'p> Exporter<'p> {
    fn new(plan: &'p PortablePlan) -> Self {
        let names = Names::new(plan, |id| TaskId::new(id).is_ok(), str::to_owned);
        Self { plan, family: Family::new(plan), names }
    }

    fn issue(&self, at: usize) -> Object {
        let task = &self.plan.tasks[at];
        let mut issue = Object::default();
        issue.put("title", title(&task.title));
        issue.put("body", self.body(at));
        issue.put("labels", labels(task));
        issue.put("state", if matches!(task.work, Work::Done { .. }) { "closed" } else { "open" });
        issue.put(KEY, self.names.of(at));
        issue
    }

    fn body(&self, at: usize) -> String {
        let task = &self.plan.tasks[at];
        let mut body = String::new();
        if let Some(description) = &task.description {
            for line in description.lines() {
                text_to(&mut body, line.trim());
                body.push('\n');
            }
        }
        let done = if matches!(task.work, Work::Done { .. }) { "[x] " } else { "[ ] " };
        section(&mut body, "Acceptance", done, task.acceptance.iter().flatten(), text_to);
        let parts = self.family.children(at).iter().map(|&child| self.reference(child));
        section(&mut body, "Parts", done, parts, |body, part| body.push_str(part));
        let waits = task.dependencies.iter().flatten().filter_map(|id| self.names.position(id));
        section(&mut body, "Depends on", "", waits.map(|at| self.reference(at)), |body, on| {
            body.push_str(on)
        });
        let files = task.files.iter().flatten();
        section(&mut body, "Files", "", files.map(|file| &file.path), code);
        section(&mut body, "Hints", "", task.hints.iter().flatten(), text_to);
        section(&mut body, "References", "", task.references.iter().flatten(), text_to);
        section(&mut body, "Guardrails", "", task.guardrails.iter().flatten(), text_to);
        let commands = task.test_commands.iter().flatten().chain(&task.verify);
        section(&mut body, "Commands that have to pass", "", commands, code);
        self.block(&mut body, at);
        body
    }

    /// All that is known of the task, for a program to read.
    fn block(&self, body: &mut String, at: usize) {
        let task = &self.plan.tasks[at];
        let mut rest = Rest::of_task(task);
        rest.keep("id", task.id.as_str());
        if let Some(parent) = self.family.parent_id(at) {
            rest.keep("parent", parent);
        }
        if at == 0 {
            rest.keep(PLAN, Rest::of_plan(self.plan).value());
        }
        let json = rest.value().unwrap_or_default().to_string();
        let longest = json.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        body.push_str(&format!(
            "\n<details><summary>For fp</summary>\n\n{fence}json\n{json}\n{fence}\n\n</details>\n"
        ));
    }

    /// The place of an issue's number, and its title for whoever reads it.
    fn reference(&self, at: usize) -> String {
        let mut text = format!("{{{{fp:{}}}}} ", self.names.of(at));
        text_to(&mut text, &self.plan.tasks[at].title);
        text
    }
}

fn section<T: AsRef<str>>(
    body: &mut String,
    title: &str,
    mark: &str,
    items: impl Iterator<Item = T>,
    write: impl Fn(&mut String, &str),
) {
    for (number, item) in items.enumerate() {
        if number == 0 {
            let gap = if body.is_empty() { "" } else { "\n" };
            body.push_str(&format!("{gap}## {title}\n\n"));
        }
        body.push_str(&format!("- {mark}"));
        write(body, item.as_ref());
        body.push('\n');
    }
}

fn code(body: &mut String, text: &str) {
    markdown::code(body, text).expect("a text takes whatever is written to it");
}

/// Writes `text` on one line, without markup but its code spans.
fn text_to(body: &mut String, text: &str) {
    let mut line = String::new();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    markdown::inline(&mut line, &text).expect("a text takes whatever is written to it");
    for (text, is_code) in markdown::spans(&line) {
        body.push_str(&if is_code { text.to_owned() } else { quiet(text) });
    }
}

fn title(title: &str) -> String {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    quiet(&title).chars().take(TITLE).collect()
}

fn labels(task: &PortableTask) -> Vec<String> {
    let named = [("risk", &task.risk), ("priority", &task.priority), ("group", &task.group)];
    let labels = named.into_iter().filter_map(|(name, value)| {
        let value = value.as_ref()?.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(format!("{name}: {value}").replace(',', " ").chars().take(LABEL).collect())
    });
    std::iter::once("fp".to_owned()).chain(labels).collect()
}

/// `text` in which GitHub finds nobody to tell, and nothing to link or to close: `@name`, `#1`, `GH-1`, the hash of a
/// commit, and addresses on GitHub itself are no longer what they were. Nor is `{{`, with which a reference begins.
fn quiet(text: &str) -> String {
    let mut quiet = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let length = match word.len() {
            0 => c.len_utf8(),
            length => length,
        };
        quiet.push_str(&rest[..length]);
        rest = &rest[length..];
        let refers = match c {
            '@' => true,
            '{' => rest.starts_with('{'),
            '#' => rest.starts_with(|c: char| c.is_ascii_digit()),
            _ if word.eq_ignore_ascii_case("gh") => rest.starts_with('-'),
            _ if word.eq_ignore_ascii_case("github") => rest.starts_with('.'),
            _ => false,
        };
        if refers {
            quiet.push(BREAK);
        } else if is_commit(word) {
            quiet.insert(quiet.len() - word.len() + 1, BREAK);
        }
    }
    quiet
}

/// Whether GitHub could take `word` for the hash of a commit.
fn is_commit(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

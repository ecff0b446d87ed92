//! `github-issues`: the fields that the GitHub API takes for an issue, of each task. Nobody knows the number of an
//! issue before it is made, so that tasks are named as `{{fp:ID}}` in the texts, for a script to replace. No text of the plan mentions
//! anybody there, or refers to an issue, a request or a commit.

use fp_plan::markdown;
use fp_plan::text::one_line;
use serde_json::{Value, json};

use super::pretty_json;
use crate::portable::{PortablePlan, PortableTask, TaskWork};

/// Longest title that GitHub takes, in characters.
const TITLE: usize = 256;
/// Longest text that it takes, in characters.
const BODY: usize = 65_536;
/// Longest label that it takes, in characters.
const LABEL: usize = 50;
/// An invisible character that keeps a mention or a reference from being one.
const BREAK: char = '\u{200b}';

/// The issues, and the ids of the tasks whose text is longer than GitHub takes.
pub fn github_text(plan: &PortablePlan) -> (String, Vec<&str>) {
    let issues: Vec<Value> = (0..plan.tasks.len()).map(|at| issue_of(plan, at)).collect();
    let is_long = |issue: &Value| {
        issue["body"]
            .as_str()
            .is_some_and(|body| body.chars().count() > BODY)
    };
    let long = plan
        .tasks
        .iter()
        .zip(&issues)
        .filter(|(_, issue)| is_long(issue));
    (
        pretty_json(&issues),
        long.map(|(task, _)| task.id.as_str()).collect(),
    )
}

fn issue_of(plan: &PortablePlan, at: usize) -> Value {
    let task = &plan.tasks[at];
    json!({
        "title": quiet(&one_line(&task.title)).chars().take(TITLE).collect::<String>(),
        "body": body_of(plan, at),
        "labels": labels_of(task),
        "state": if is_done(task) { "closed" } else { "open" },
        "fp": task.id,
    })
}

fn is_done(task: &PortableTask) -> bool {
    matches!(task.work, TaskWork::Done { .. })
}

fn body_of(plan: &PortablePlan, at: usize) -> String {
    let task = &plan.tasks[at];
    let mut body = String::new();
    for line in task
        .description
        .iter()
        .flat_map(|description| description.lines())
    {
        write_line(&mut body, line);
        body.push('\n');
    }
    let mark = |task: &PortableTask| if is_done(task) { "[x] " } else { "[ ] " };
    let own = mark(task);
    write_section(
        &mut body,
        "Acceptance",
        task.acceptance.iter().flatten(),
        |body, text| {
            body.push_str(own);
            write_line(body, text);
        },
    );
    let parts = plan.tasks.iter().filter(|task| task.parent == Some(at));
    write_section(&mut body, "Parts", parts, |body, part| {
        body.push_str(mark(part));
        write_reference(body, part);
    });
    for (title, ids) in [("Depends on", &task.dependencies), ("After", &task.after)] {
        let ids = ids.iter().flatten();
        let named = ids.filter_map(|id| plan.tasks.iter().find(|task| task.id == *id));
        write_section(&mut body, title, named, write_reference);
    }
    write_section(
        &mut body,
        "Files",
        task.files.iter().flatten(),
        |body, file| body.push_str(&markdown::code(&file.path)),
    );
    let prose = [
        ("Hints", &task.hints),
        ("References", &task.references),
        ("Guardrails", &task.guardrails),
    ];
    for (title, texts) in prose {
        write_section(&mut body, title, texts.iter().flatten(), |body, text| {
            write_line(body, text)
        });
    }
    let commands = task.test_commands.iter().flatten().chain(&task.verify);
    write_section(
        &mut body,
        "Commands that have to pass",
        commands,
        |body, line| body.push_str(&markdown::code(line)),
    );
    body
}

/// Writes the place of an issue's number, and its title for whoever reads it.
fn write_reference(body: &mut String, task: &PortableTask) {
    body.push_str(&format!("{{{{fp:{}}}}} ", task.id));
    write_line(body, &task.title);
}

fn write_section<T>(
    body: &mut String,
    title: &str,
    items: impl Iterator<Item = T>,
    write: impl Fn(&mut String, T),
) {
    for (number, item) in items.enumerate() {
        if number == 0 {
            let gap = if body.is_empty() { "" } else { "\n" };
            body.push_str(&format!("{gap}## {title}\n\n"));
        }
        body.push_str("- ");
        write(body, item);
        body.push('\n');
    }
}

/// Writes `text` on one line, without markup but its code spans.
fn write_line(body: &mut String, text: &str) {
    for (text, is_code) in markdown::spans(&markdown::inline(&one_line(text))) {
        body.push_str(&if is_code {
            text.to_owned()
        } else {
            quiet(text)
        });
    }
}

fn labels_of(task: &PortableTask) -> Vec<String> {
    let named = [
        ("risk", &task.risk),
        ("priority", &task.priority),
        ("group", &task.group),
    ];
    let labels = named.into_iter().filter_map(|(name, value)| {
        let value = one_line(value.as_ref()?);
        Some(
            format!("{name}: {value}")
                .replace(',', " ")
                .chars()
                .take(LABEL)
                .collect(),
        )
    });
    std::iter::once("fp".to_owned()).chain(labels).collect()
}

/// `text` in which GitHub finds nobody to tell, and nothing to link or to close: `@name`, `#1`, `GH-1`, the hash of a
/// commit, and addresses on GitHub itself are no longer what they were. Nor is `{{`, with which a reference begins.
fn quiet(text: &str) -> String {
    let mut quiet = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = rest
            .split(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap_or_default();
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

/// GitHub could take `word` for the hash of a commit.
fn is_commit(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

//! Signals as a table, and what those of one task are made of, within 80 columns.

use fp_core::signals::{Explained, FileFacts, Presence, TaskSignals, TestedBy};
use fp_core::text::{fitted, one_line};
use unicode_width::UnicodeWidthStr as _;

/// Columns of a line.
const WIDTH: usize = 80;
/// Most columns of an id.
const ID: usize = 20;
/// Most files that an explanation shows, and most names of each of their links.
const FILES: usize = 40;
const NAMES: usize = 8;

/// One line a task, then the tasks that deserve another look.
pub(crate) fn table(tasks: &[TaskSignals]) -> String {
    let id = |task: &TaskSignals| fitted(&task.id, ID);
    let width = tasks.iter().map(|task| id(task).width()).max().unwrap_or(0).max("Task".len());
    let head = |cells: [&str; 6]| {
        let [id, scope, coupling, git, tests, composite] = cells;
        let pad = " ".repeat(width.saturating_sub(id.width()));
        format!("{id}{pad}  {scope:>5}  {coupling:>8}  {git:>3}  {tests:>5}  {composite:>9}  ")
    };
    let mut text = head(["Task", "Scope", "Coupling", "Git", "Tests", "Composite"]) + "Title\n";
    for task in tasks {
        let s = &task.signals;
        let numbers =
            [s.file_scope, s.coupling, s.git_risk, s.test_coverage, s.composite].map(|n| n.to_string());
        let [scope, coupling, git, tests, composite] = numbers.each_ref().map(String::as_str);
        let row = head([&id(task), scope, coupling, git, tests, composite]);
        let title = fitted(&task.title, WIDTH - row.width());
        text.push_str(format!("{row}{title}").trim_end());
        text.push('\n');
    }
    let risky: Vec<String> = tasks
        .iter()
        .filter(|task| task.deserves_another_look())
        .map(|task| format!("{} ({})", id(task), task.signals.composite))
        .collect();
    if !risky.is_empty() {
        text.push('\n');
        text.push_str(&wrapped("Worth another look (composite 4 or 5): ", &risky, 2));
    }
    text
}

/// Each signal with its formula and its band, then what was measured on each file.
pub(crate) fn explanation(task: &TaskSignals, formulas: &[Explained], files: &[FileFacts]) -> String {
    let head = format!("Task {}: {}", fitted(&task.id, ID), one_line(&task.title));
    let mut text = format!("{}\n\n", fitted(&head, WIDTH));
    for Explained { signal, value, formula, band } in formulas {
        text.push_str(&format!("{signal:<12}  {value}  {formula}\n{:17}{band}\n", ""));
    }
    text.push_str(if files.is_empty() { "\nNo files\n" } else { "\nFiles\n" });
    for file in files.iter().take(FILES) {
        text.push_str(&one(file));
    }
    if files.len() > FILES {
        text.push_str(&format!("  and {} more\n", files.len() - FILES));
    }
    text
}

fn one(file: &FileFacts) -> String {
    let mut text = format!("  {}\n", fitted(&file.path, WIDTH - 2));
    let absent = match file.presence {
        Presence::File => None,
        Presence::Missing => Some("not there yet"),
        Presence::Folder => Some("a folder in which nothing counts"),
        Presence::Outside => Some("leads out of the repository: not looked at"),
        Presence::Link => Some("a symbolic link, or behind one: not followed"),
        Presence::Special => Some("no regular file: not read"),
        Presence::Unreadable => Some("can't be read"),
    };
    if let Some(absent) = absent {
        text.push_str(&format!("    {absent}\n"));
    } else {
        let plural = if file.lines == 1 { "" } else { "s" };
        text.push_str(&format!("    {} line{plural}", file.lines));
        if let Some(history) = &file.history {
            text.push_str(&format!(
                "; commits {}, authors {}, fixes {}",
                history.commits, history.authors, history.fix_commits
            ));
        }
        text.push('\n');
        for (what, names) in [("fan-in", &file.fan_in), ("fan-out", &file.fan_out)] {
            let shown = names.iter().take(NAMES).map(|name| fitted(name, WIDTH - 8));
            let more = names.len().saturating_sub(NAMES);
            let more = (more > 0).then(|| format!("and {more} more"));
            let shown: Vec<String> = shown.chain(more).collect();
            text.push_str(&wrapped(&format!("    {what} {}: ", names.len()), &shown, 6));
        }
    }
    let test = match &file.tested_by {
        None => "no test".to_owned(),
        Some(TestedBy::File(test)) => format!("tested by {}", one_line(test)),
        Some(TestedBy::Inside) => "tested inside".to_owned(),
        Some(TestedBy::Itself) => "a test itself".to_owned(),
    };
    text.push_str(&format!("    {}\n", fitted(&test, WIDTH - 4)));
    text
}

/// `head` and `items` with commas between them, on as many lines as it takes; the next ones begin `indent` columns
/// further in.
fn wrapped(head: &str, items: &[String], indent: usize) -> String {
    let mut text = String::new();
    let mut line = head.to_owned();
    for (number, item) in items.iter().enumerate() {
        let comma = if number + 1 < items.len() { "," } else { "" };
        if line.trim_end().width() + 1 + item.width() + comma.len() > WIDTH && number > 0 {
            text.push_str(line.trim_end());
            text.push('\n');
            line = " ".repeat(indent);
        }
        line.push_str(&format!("{item}{comma} "));
    }
    let line = if items.is_empty() { line.trim_end().trim_end_matches(':') } else { line.trim_end() };
    text + line + "\n"
}

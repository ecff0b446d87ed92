//! The task tree as text, a task a line.

use fp_core::report::tree::{TaskRow, TaskRun, TreeReport};
use fp_core::text::fitted;
use unicode_width::UnicodeWidthStr as _;

use super::status::word;

const WIDTH: usize = 80;
/// Columns of branches; what is deeper is drawn no further to the right.
const BRANCHES: usize = 36;

/// The whole tree. Walks with a stack of its own, since a tree can be deeper than the program's.
pub(crate) fn text(report: &TreeReport<'_>) -> String {
    if report.tasks.is_empty() {
        return "No tasks\n".to_owned();
    }
    let mut text = String::new();
    let mut open = vec![(0, String::new(), String::new())];
    while let Some((index, branch, below)) = open.pop() {
        let task = &report.tasks[index];
        text.push_str(&line(task, &branch));
        let mut children = task.children.iter().rev();
        let last = children.next().map(|child| (*child, "└─ ", "   "));
        let others = children.map(|child| (*child, "├─ ", "│  "));
        for (child, own, under) in last.into_iter().chain(others) {
            open.push((child, limited(&below, own), limited(&below, under)));
        }
    }
    if let Some(critique) = &report.critique {
        text.push_str(&format!("\n{critique}\n"));
    }
    text
}

fn limited(below: &str, part: &str) -> String {
    if below.width() < BRANCHES { format!("{below}{part}") } else { below.to_owned() }
}

fn line(task: &TaskRow, branch: &str) -> String {
    let facts = facts(task);
    let facts = if facts.is_empty() { facts } else { format!(" ({facts})") };
    let after = &task.dependencies;
    let after = if after.is_empty() { String::new() } else { format!("  after {}", after.join(", ")) };
    let after = fitted(&after, WIDTH / 3);
    let head = format!("{branch}{}  ", task.id);
    let room = WIDTH.saturating_sub(head.width() + facts.width() + after.width()).max(12);
    format!("{head}{}{facts}{after}\n", fitted(&task.title, room))
}

/// What stands in brackets behind a title: complexity and state, as far as there are any.
pub(crate) fn facts(task: &TaskRow) -> String {
    let complexity = task.complexity.map(|complexity| complexity.to_string());
    let state = task.state.as_ref().map(|run| state(run).to_owned());
    complexity.into_iter().chain(state).collect::<Vec<_>>().join(", ")
}

/// Where a task is, in one word.
pub(crate) fn state(run: &TaskRun) -> &'static str {
    if run.ready { "ready" } else { word(run.status) }
}

//! The tree of the page: a row a task, in the pattern that WAI-ARIA has for trees. The rows are flat and say their
//! level, so that a tree may be deeper than browsers nest elements.

use fp_core::report::tree::{TaskRow, TreeReport};

use super::super::tree::state;
use super::add;
use super::escape::text as escaped;

/// Levels that are indented; what is deeper is drawn no further in.
const LEVELS: usize = 12;

pub(super) fn tree(page: &mut String, report: &TreeReport) {
    page.push_str("<section class=\"pane tasks\" aria-labelledby=\"tree-title\"><div class=\"head\"><h2 id=\"tree-title\">Tasks</h2>");
    page.push_str("<button type=\"button\" id=\"fold\">Collapse all</button></div>\n");
    if report.tasks.is_empty() {
        page.push_str("<p class=\"empty\">There are no tasks in this tree.</p>");
    }
    page.push_str("<ul id=\"tree\" role=\"tree\" aria-labelledby=\"tree-title\">\n");
    for number in 0..report.tasks.len() {
        row(page, report, number);
    }
    page.push_str("</ul></section>\n");
}

fn row(page: &mut String, report: &TreeReport, number: usize) {
    let task = &report.tasks[number];
    let state = task.state.as_ref().map(|run| state(run).to_lowercase());
    let (siblings, place) = place(report, number);
    add(
        page,
        format_args!(
            "<li role=\"treeitem\" id=\"r{number}\" class=\"l{}{}{}{}\" tabindex=\"{}\" aria-level=\"{}\" aria-setsize=\"{siblings}\" aria-posinset=\"{place}\" aria-selected=\"false\"{}>",
            task.depth.min(LEVELS),
            if task.leaf { " leaf" } else { " parent" },
            if task.critical { " critical" } else { "" },
            state.as_deref().map(|state| format!(" {state}")).unwrap_or_default(),
            if number == 0 { 0 } else { -1 },
            task.depth + 1,
            if task.leaf { "" } else { " aria-expanded=\"true\"" },
        ),
    );
    page.push_str("<span class=\"mark\" aria-hidden=\"true\"></span>");
    add(page, format_args!("<bdi class=\"id\">{}</bdi> ", escaped(&task.id)));
    add(page, format_args!("<span class=\"title\" dir=\"auto\">{}</span>", prose(&task.title)));
    facts(page, task, state.as_deref());
    page.push_str("</li>\n");
}

fn facts(page: &mut String, task: &TaskRow, state: Option<&str>) {
    if let Some(complexity) = task.complexity {
        add(
            page,
            format_args!(
                " <span class=\"cx c{}\" title=\"Complexity {complexity}\"><span class=\"hidden\">complexity </span>{complexity}</span>",
                complexity.clamp(1, 10)
            ),
        );
    }
    if let Some(state) = state {
        add(page, format_args!(" <span class=\"state\">{state}</span>"));
    }
    if let Some(first) = task.files.first().filter(|_| task.leaf) {
        add(page, format_args!(" <span class=\"files\"><bdi>{}</bdi>", escaped(first)));
        if task.files.len() > 1 {
            add(page, format_args!(" +{}", task.files.len() - 1));
        }
        page.push_str("</span>");
    }
}

/// How many siblings there are, itself among them, and the place among them, from 1.
fn place(report: &TreeReport, number: usize) -> (usize, usize) {
    let Some(parent) = report.tasks[number].parent else { return (1, 1) };
    let siblings = &report.tasks[parent].children;
    // Children are in document order.
    (siblings.len(), siblings.binary_search(&number).map_or(1, |at| at + 1))
}

/// Text with its code spans as such.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len() % 2 == 0 || text.contains("``") {
        return escaped(text).into_owned();
    }
    let tagged = parts.iter().enumerate().map(|(at, part)| {
        if at % 2 == 1 { format!("<code>{}</code>", escaped(part)) } else { escaped(part).into_owned() }
    });
    tagged.collect()
}

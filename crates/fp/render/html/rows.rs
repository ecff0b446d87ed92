//! The tree of the page: a row a task, in the pattern that WAI-ARIA has for trees. The rows are flat and say their
//! level, so that a tree may be deeper than browsers nest elements.

use fp_core::report::tree::{TaskRow, TreeReport};

use super::super::tree::state;
use super::escape::text as escaped;

/// Levels that are indented; what is deeper is drawn no further in.
const LEVELS: usize = 12;

pub(super) fn tree(page: &mut String, report: &TreeReport<'_>) {
    put!(page, r#"<section class="pane tasks" aria-labelledby="tree-title"><div class="head">"#);
    put!(
        page,
        r#"<h2 id="tree-title">Tasks</h2><button type="button" id="fold">Collapse all</button></div>"#
    );
    if report.tasks.is_empty() {
        put!(page, r#"<p class="empty">There are no tasks in this tree.</p>"#);
    }
    put!(page, r#"<ul id="tree" role="tree" aria-labelledby="tree-title">"#);
    for number in 0..report.tasks.len() {
        row(page, report, number);
    }
    page.push_str("</ul></section>\n");
}

fn row(page: &mut String, report: &TreeReport<'_>, number: usize) {
    let task = &report.tasks[number];
    let state = task.state.as_ref().map(|run| state(run).to_lowercase()).unwrap_or_default();
    let (siblings, place) = place(report, number);
    let level = task.depth + 1;
    let indent = task.depth.min(LEVELS);
    let kind = if task.leaf { "leaf" } else { "parent" };
    let critical = if task.critical { "critical" } else { "" };
    let stop = if number == 0 { 0 } else { -1 };
    put!(
        page,
        r#"<li role="treeitem" id="r{number}" class="l{indent} {kind} {critical} {state}" tabindex="{stop}""#
    );
    put!(
        page,
        r#" aria-level="{level}" aria-setsize="{siblings}" aria-posinset="{place}" aria-selected="false""#
    );
    page.push_str(if task.leaf { ">" } else { r#" aria-expanded="true">"# });
    put!(
        page,
        r#"<span class="mark" aria-hidden="true"></span><bdi class="id">{}</bdi> "#,
        escaped(&task.id)
    );
    put!(page, r#"<span class="title" dir="auto">{}</span>"#, prose(&task.title));
    facts(page, task, &state);
    page.push_str("</li>\n");
}

fn facts(page: &mut String, task: &TaskRow, state: &str) {
    if let Some(complexity) = task.complexity {
        let colour = complexity.clamp(1, 10);
        put!(page, r#" <span class="cx c{colour}" title="Complexity {complexity}">"#);
        put!(page, r#"<span class="hidden">complexity </span>{complexity}</span>"#);
    }
    if !state.is_empty() {
        put!(page, r#" <span class="state">{state}</span>"#);
    }
    if let Some(first) = task.files.first().filter(|_| task.leaf) {
        let more = task.files.len() - 1;
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        put!(page, r#" <span class="files"><bdi>{}</bdi>{more}</span>"#, escaped(first));
    }
}

/// How many siblings there are, itself among them, and the place among them, from 1.
fn place(report: &TreeReport<'_>, number: usize) -> (usize, usize) {
    let Some(parent) = report.tasks[number].parent else { return (1, 1) };
    let siblings = &report.tasks[parent].children;
    // Children are in document order.
    (siblings.len(), siblings.binary_search(&number).map_or(1, |at| at + 1))
}

/// Text with its code spans as such.
pub(super) fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) || text.contains("``") {
        return escaped(text).into_owned();
    }
    let tagged = parts.iter().enumerate().map(|(at, part)| {
        if at % 2 == 1 { format!("<code>{}</code>", escaped(part)) } else { escaped(part).into_owned() }
    });
    tagged.collect()
}

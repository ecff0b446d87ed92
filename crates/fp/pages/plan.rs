//! The page of a task tree shows a plan before its run: goal and figures, then the tasks in WAI-ARIA's
//! pattern for trees, the waves, and the details of one task. The rows are flat and state their level, so
//! that a tree may be deeper than browsers nest elements.

use fp_plan::text::counted;
use fp_run::report::tree::{Problem, TaskRow, TreeReport};

use super::{
    GRAPH, THEME, data, end, escaped, failed_badge, footer, head, progress, prose, states,
};

const STYLE: &str = concat!(include_str!("base.css"), include_str!("page.css"));
const SCRIPT: &str = concat!(
    include_str!("element.js"),
    include_str!("tasks.js"),
    include_str!("tree.js"),
    include_str!("graph.js"),
    include_str!("detail.js")
);

/// Builders for the initial drawing if only one is configured: with one, each wave is one task, which makes a
/// long row.
const DRAWN: u32 = 4;

const DETAIL: &str = r#"<aside class="pane detail" id="detail" aria-labelledby="detail-title" tabindex="-1"><h2 id="detail-title">Task</h2></aside>
"#;

/// The page. `name` is the tree's name; `builders` is the number of builders in the initial drawing.
pub(crate) fn plan_page(report: &TreeReport<'_>, name: &str, builders: u32) -> String {
    let drawn = if builders > 1 { builders } else { DRAWN };
    let goal = report.goal.trim().lines().next().unwrap_or_default();
    let mut page = head(&format!("{goal} – task tree"), STYLE, SCRIPT, "");
    page.push_str("<body>\n<a class=\"skip\" href=\"#tree\">Skip to the tasks</a>\n");
    header(&mut page, report, name, drawn);
    problems(&mut page, &report.problems);
    tools(&mut page, report);
    page.push_str("<main>\n");
    tree(&mut page, report);
    page.push_str(GRAPH);
    page.push_str(DETAIL);
    page.push_str("</main>\n");
    footer(&mut page);
    data(&mut page, "report", report);
    end(&mut page, SCRIPT);
    page
}

/// Most problems that are listed.
const PROBLEMS: usize = 50;
/// Up to this many problems are shown unfolded.
const OPEN: usize = 4;

fn header(page: &mut String, report: &TreeReport<'_>, name: &str, drawn: u32) {
    let name = report.plan_id.as_ref().map_or(name, |id| id.as_str());
    put!(
        page,
        r#"<header><div class="top"><p class="name"><bdi>{}</bdi>"#,
        escaped(name)
    );
    if let Some(phase) = report.standing {
        put!(page, r#" <span class="phase">{}</span>"#, phase.into_str());
    }
    if let Some(counts) = &report.counts {
        failed_badge(page, counts);
    }
    put!(page, r#"</p>{THEME}</div>"#);
    put!(
        page,
        "\n<h1 dir=\"auto\">{}</h1>\n<div class=\"summary\">",
        escaped(report.goal.trim())
    );
    figures(page, report, drawn);
    builders(page, report, drawn);
    page.push_str("</div>\n");
    progress(page, report);
    page.push_str("</header>\n");
}

fn figures(page: &mut String, report: &TreeReport<'_>, drawn: u32) {
    page.push_str("<dl class=\"figures\">");
    let mut figure = |id: &str, label: &str, value: u64, about: String| {
        put!(
            page,
            r#"<div><dt>{label}</dt><dd id="{id}">{value} <small>{about}</small></dd></div>"#
        );
    };
    let parents = counted(report.tasks.len() - report.leaves, "parent");
    figure(
        "leaves",
        "Tasks",
        report.leaves as u64,
        format!("under {parents}"),
    );
    figure(
        "complexity",
        "Complexity",
        report.total_complexity,
        "in all".to_owned(),
    );
    if let Some(first) = report
        .schedules
        .iter()
        .find(|waves| waves.builders == drawn)
    {
        let builders = counted(drawn as usize, "builder");
        figure(
            "waves",
            "Waves",
            first.waves as u64,
            format!("with {builders}"),
        );
        let path = &report.critical_path;
        let tasks = counted(path.tasks.len(), "task");
        figure(
            "path",
            "Critical path",
            path.complexity,
            format!("{tasks} in a row"),
        );
    }
    page.push_str("</dl>\n");
}

/// The choice of how many builders to draw the waves for, with the ideal speed-up of each.
fn builders(page: &mut String, report: &TreeReport<'_>, drawn: u32) {
    if report.schedules.is_empty() {
        return;
    }
    put!(
        page,
        r#"<fieldset class="builders"><legend>Builders, and the ideal speed-up</legend>"#
    );
    for waves in &report.schedules {
        let builders = waves.builders;
        let factor = report
            .speed_up
            .iter()
            .find(|gain| gain.builders == builders);
        let factor = factor.map_or_else(String::new, |gain| format!("×{:.1}", gain.factor));
        let checked = if builders == drawn { " checked" } else { "" };
        put!(
            page,
            r#"<label><input type="radio" name="builders" value="{builders}"{checked}>"#
        );
        put!(page, "<span><b>{builders}</b> {factor}</span></label>");
    }
    page.push_str("</fieldset>\n");
}

fn problems(page: &mut String, problems: &[Problem]) {
    if problems.is_empty() {
        return;
    }
    // A few are quick to read; many would hide the plan.
    let open = if problems.len() <= OPEN { " open" } else { "" };
    let errors = counted(problems.len(), "error");
    put!(
        page,
        r#"<details class="problems"{open}><summary>This tree is not valid: {errors}</summary><ul>"#
    );
    for Problem {
        rule, line, detail, ..
    } in problems.iter().take(PROBLEMS)
    {
        put!(
            page,
            r#"<li><code>{rule}</code> <span dir="auto">{}</span>"#,
            escaped(detail)
        );
        put!(page, " <small>line {line}</small></li>");
    }
    if problems.len() > PROBLEMS {
        let more = problems.len() - PROBLEMS;
        put!(
            page,
            "<li>{more} more: <code>fp validate</code> lists them</li>"
        );
    }
    page.push_str("</ul></details>\n");
}

fn tools(page: &mut String, report: &TreeReport<'_>) {
    page.push_str(SEARCH);
    if report.counts.is_some() {
        put!(
            page,
            r#"<div class="filters" role="group" aria-label="Show states">"#
        );
        for (name, count) in states(report) {
            put!(
                page,
                r#"<button type="button" class="chip {name}" data-state="{name}" aria-pressed="false">"#
            );
            put!(page, "<i></i>{name} <b>{count}</b></button>");
        }
        page.push_str("</div>");
    }
    page.push_str("<p id=\"found\" role=\"status\"></p></div>\n");
}

const SEARCH: &str = r#"<div class="tools" role="search"><label class="search"><span class="hidden">Search tasks</span>
<input id="search" type="search" placeholder="Search tasks" dir="auto" autocomplete="off"><kbd>/</kbd></label>"#;

/// Deepest level of indentation; deeper rows are drawn at this one.
const LEVELS: usize = 12;

fn tree(page: &mut String, report: &TreeReport<'_>) {
    put!(
        page,
        r#"<section class="pane tasks" aria-labelledby="tree-title"><div class="head">"#
    );
    put!(
        page,
        r#"<h2 id="tree-title">Tasks</h2><button type="button" id="fold">Collapse all</button></div>"#
    );
    if report.tasks.is_empty() {
        put!(
            page,
            r#"<p class="empty">There are no tasks in this tree.</p>"#
        );
    }
    put!(
        page,
        r#"<ul id="tree" role="tree" aria-labelledby="tree-title">"#
    );
    for number in 0..report.tasks.len() {
        row(page, report, number);
    }
    page.push_str("</ul></section>\n");
}

fn row(page: &mut String, report: &TreeReport<'_>, number: usize) {
    let task = &report.tasks[number];
    let state = task
        .state
        .as_ref()
        .map(|run| run.state_word().to_lowercase())
        .unwrap_or_default();
    let (siblings, place) = place(report, number);
    let level = task.depth + 1;
    let indent = task.depth.min(LEVELS);
    let kind = if task.leaf { "leaf" } else { "parent" };
    let critical = if task.critical { "critical" } else { "" };
    let stop = if number == 0 { 0 } else { -1 };
    put!(
        page,
        r#"<li role="treeitem" id="r{number}" class="l{indent} {kind} {critical} {state}""#
    );
    put!(
        page,
        r#" tabindex="{stop}" aria-level="{level}" aria-setsize="{siblings}""#
    );
    put!(page, r#" aria-posinset="{place}" aria-selected="false""#);
    page.push_str(if task.leaf {
        ">"
    } else {
        r#" aria-expanded="true">"#
    });
    put!(
        page,
        r#"<span class="mark" aria-hidden="true"></span><bdi class="id">{}</bdi> "#,
        escaped(&task.id)
    );
    put!(
        page,
        r#"<span class="title" dir="auto">{}</span>"#,
        prose(&task.title)
    );
    facts(page, task, &state);
    page.push_str("</li>\n");
}

fn facts(page: &mut String, task: &TaskRow, state: &str) {
    if let Some(complexity) = task.complexity {
        let colour = complexity.clamp(1, 10);
        put!(
            page,
            r#" <span class="cx c{colour}" title="Complexity {complexity}">"#
        );
        put!(
            page,
            r#"<span class="hidden">complexity </span>{complexity}</span>"#
        );
    }
    if !state.is_empty() {
        put!(page, r#" <span class="state">{state}</span>"#);
    }
    if let Some(first) = task.files.first().filter(|_| task.leaf) {
        let more = task.files.len() - 1;
        let more = if more > 0 {
            format!(" +{more}")
        } else {
            String::new()
        };
        put!(
            page,
            r#" <span class="files"><bdi>{}</bdi>{more}</span>"#,
            escaped(first)
        );
    }
}

/// The number of siblings, including itself, and its position among them, from 1.
fn place(report: &TreeReport<'_>, number: usize) -> (usize, usize) {
    let Some(parent) = report.tasks[number].parent else {
        return (1, 1);
    };
    let siblings = &report.tasks[parent].children;
    // Children are in document order.
    (
        siblings.len(),
        siblings.binary_search(&number).map_or(1, |at| at + 1),
    )
}

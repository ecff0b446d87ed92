//! What stands above the panes: the goal, the figures, what is wrong with the tree, search and filter.

use fp_core::report::tree::{Problem, TreeReport};
use fp_core::text::counted;

use super::super::tree::state;
use super::escape::text as escaped;

/// Most problems that are listed.
const PROBLEMS: usize = 50;
/// So many problems are shown without being asked for.
const OPEN: usize = 4;

pub(super) fn header(page: &mut String, report: &TreeReport<'_>, name: &str, drawn: u32) {
    let name = report.plan_id.as_ref().map_or(name, |id| id.as_str());
    put!(page, r#"<header><div class="top"><p class="name"><bdi>{}</bdi>"#, escaped(name));
    if let Some(phase) = report.phase {
        put!(page, r#" <span class="phase">{}</span>"#, phase.word());
    }
    put!(page, r#"</p><button type="button" id="theme" aria-pressed="false">Dark</button></div>"#);
    put!(page, "\n<h1 dir=\"auto\">{}</h1>\n<div class=\"summary\">", escaped(report.goal.trim()));
    figures(page, report, drawn);
    builders(page, report, drawn);
    page.push_str("</div>\n");
    progress(page, report);
    page.push_str("</header>\n");
}

fn figures(page: &mut String, report: &TreeReport<'_>, drawn: u32) {
    page.push_str("<dl class=\"figures\">");
    let mut figure = |id: &str, label: &str, value: u64, about: String| {
        put!(page, r#"<div><dt>{label}</dt><dd id="{id}">{value} <small>{about}</small></dd></div>"#);
    };
    let parents = counted(report.tasks.len() - report.leaves, "parent");
    figure("leaves", "Tasks", report.leaves as u64, format!("under {parents}"));
    figure("complexity", "Complexity", report.total_complexity, "in all".to_owned());
    if let Some(first) = report.schedules.iter().find(|waves| waves.builders == drawn) {
        let builders = counted(drawn as usize, "builder");
        figure("waves", "Waves", first.waves as u64, format!("with {builders}"));
        let path = &report.critical_path;
        let tasks = counted(path.tasks.len(), "task");
        figure("path", "Critical path", path.complexity, format!("{tasks} in a row"));
    }
    page.push_str("</dl>\n");
}

/// The choice of how many builders the waves are drawn for, with what each is worth at best.
fn builders(page: &mut String, report: &TreeReport<'_>, drawn: u32) {
    if report.schedules.is_empty() {
        return;
    }
    put!(page, r#"<fieldset class="builders"><legend>Builders, and the ideal speed-up</legend>"#);
    for waves in &report.schedules {
        let builders = waves.builders;
        let factor = report.speed_up.iter().find(|gain| gain.builders == builders);
        let factor = factor.map_or_else(String::new, |gain| format!("×{:.1}", gain.factor));
        let checked = if builders == drawn { " checked" } else { "" };
        put!(
            page,
            r#"<label><input type="radio" name="builders" value="{builders}"{checked}><span><b>{builders}</b> {factor}</span></label>"#
        );
    }
    page.push_str("</fieldset>\n");
}

/// How many leaves are in each state, as a bar.
pub(super) fn progress(page: &mut String, report: &TreeReport<'_>) {
    let Some(counts) = &report.counts else { return };
    let (done, all) = (counts.completed, counts.total);
    put!(page, r#"<div class="progress" role="img" aria-label="{done} of {all} tasks done">"#);
    for (name, count) in states(report) {
        // A style attribute would need a hole in the policy, so the script sets the width.
        put!(page, r#"<i class="{name}" data-share="{count}"></i>"#);
    }
    page.push_str("</div>\n");
}

/// The states that occur, in the order of a task's life, each with its number of leaves.
fn states(report: &TreeReport<'_>) -> Vec<(String, usize)> {
    let order = ["done", "verifying", "building", "ready", "waiting", "skipped", "FAILED"];
    let of = |name: &str| {
        report.tasks.iter().filter_map(|task| task.state.as_ref()).filter(|run| state(run) == name).count()
    };
    order.iter().map(|name| (name.to_lowercase(), of(name))).filter(|(_, count)| *count > 0).collect()
}

pub(super) fn problems(page: &mut String, problems: &[Problem]) {
    if problems.is_empty() {
        return;
    }
    // Few are read at once; many would stand in front of the plan.
    let open = if problems.len() <= OPEN { " open" } else { "" };
    let errors = counted(problems.len(), "error");
    put!(page, r#"<details class="problems"{open}><summary>This tree is not valid: {errors}</summary><ul>"#);
    for Problem { rule, line, detail, .. } in problems.iter().take(PROBLEMS) {
        let detail = escaped(detail);
        put!(
            page,
            r#"<li><code>{rule}</code> <span dir="auto">{detail}</span> <small>line {line}</small></li>"#
        );
    }
    if problems.len() > PROBLEMS {
        let more = problems.len() - PROBLEMS;
        put!(page, "<li>{more} more: <code>fp validate</code> lists them</li>");
    }
    page.push_str("</ul></details>\n");
}

pub(super) fn tools(page: &mut String, report: &TreeReport<'_>) {
    page.push_str(SEARCH);
    if report.counts.is_some() {
        put!(page, r#"<div class="filters" role="group" aria-label="Show states">"#);
        for (name, count) in states(report) {
            put!(
                page,
                r#"<button type="button" class="chip {name}" data-state="{name}" aria-pressed="false"><i></i>{name} <b>{count}</b></button>"#
            );
        }
        page.push_str("</div>");
    }
    page.push_str("<p id=\"found\" role=\"status\"></p></div>\n");
}

const SEARCH: &str = r#"<div class="tools" role="search"><label class="search"><span class="hidden">Search tasks</span>
<input id="search" type="search" placeholder="Search tasks" dir="auto" autocomplete="off"><kbd>/</kbd></label>"#;

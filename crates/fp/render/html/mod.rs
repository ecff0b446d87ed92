//! The task tree as one page that needs nothing else: no network, no framework, no other file. The tree is in the
//! page as it is sent; the drawing and the details are made in the browser, of the report beside it.
//!
//! What the plan says is text a stranger may have written. It stands in the page escaped, and the policy lets no
//! script run but this one, known by its hash.

mod escape;
mod rows;

use std::fmt::Write as _;

use fp_core::report::tree::{Problem, TreeReport};
use sha2::{Digest as _, Sha256};

use super::tree::state;
use escape::{base64, embedded, text as escaped};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    include_str!("page.js"),
    include_str!("tree.js"),
    include_str!("graph.js"),
    include_str!("detail.js")
);

/// Builders of the waves that are drawn first where only one is configured: one task a wave is a long row.
const DRAWN: u32 = 4;
/// Most problems that are listed.
const PROBLEMS: usize = 50;
/// So many problems are shown without being asked for.
const OPEN: usize = 4;

/// The page. `name` is what the tree is called; with `builders` at work is how it is drawn at first.
pub(crate) fn text(report: &TreeReport, name: &str, builders: u32) -> String {
    let drawn = if builders > 1 { builders } else { DRAWN };
    let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    add(
        &mut page,
        format_args!(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; script-src '{}'; \
             base-uri 'none'; form-action 'none'\">\n",
            hash(STYLE),
            hash(SCRIPT)
        ),
    );
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    add(&mut page, format_args!("<title>{} – task tree</title>\n", escaped(first_line(&report.goal))));
    add(&mut page, format_args!("<style>{STYLE}</style>\n</head>\n<body>\n"));
    page.push_str("<a class=\"skip\" href=\"#tree\">Skip to the tasks</a>\n");
    header(&mut page, report, name, drawn);
    problems(&mut page, &report.problems);
    tools(&mut page, report);
    page.push_str("<main>\n");
    rows::tree(&mut page, report);
    page.push_str(PANES);
    page.push_str("</main>\n");
    let data = serde_json::to_string(report).expect("a report is made of texts and numbers");
    add(
        &mut page,
        format_args!("<script type=\"application/json\" id=\"report\">{}</script>\n", embedded(&data)),
    );
    add(&mut page, format_args!("<script type=\"module\">{SCRIPT}</script>\n</body>\n</html>\n"));
    page
}

const PANES: &str = r#"<section class="pane graph" aria-labelledby="graph-title">
<div class="head"><h2 id="graph-title">Waves</h2><p id="graph-note"></p>
<div class="zoom" role="group" aria-label="Zoom"><button type="button" id="zoom-out" aria-label="Smaller">−</button><button type="button" id="zoom-fit">Fit</button><button type="button" id="zoom-in" aria-label="Larger">+</button></div></div>
<div id="graph" role="group" aria-label="Tasks by wave"><p class="empty">The drawing needs JavaScript.</p></div>
</section>
<aside class="pane detail" id="detail" aria-labelledby="detail-title" tabindex="-1"><h2 id="detail-title">Task</h2></aside>
"#;

fn add(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("writing to a string can't fail");
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn hash(source: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(source.as_bytes())))
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

fn header(page: &mut String, report: &TreeReport, name: &str, drawn: u32) {
    page.push_str("<header>\n<div class=\"top\"><p class=\"name\">");
    let name = report.plan_id.as_ref().map_or(name, |id| id.as_str());
    add(page, format_args!("<bdi>{}</bdi>", escaped(name)));
    if let Some(phase) = report.phase {
        add(page, format_args!(" <span class=\"phase\">{}</span>", phase.word()));
    }
    page.push_str("</p><button type=\"button\" id=\"theme\" aria-pressed=\"false\">Dark</button></div>\n");
    add(
        page,
        format_args!(
            "<h1 dir=\"auto\">{}</h1>\n<div class=\"summary\">\n<dl class=\"figures\">",
            escaped(report.goal.trim())
        ),
    );
    let parents = report.tasks.len() - report.leaves;
    figure(page, "Tasks", &report.leaves.to_string(), &format!("under {}", count(parents, "parent")));
    figure(page, "Complexity", &report.total_complexity.to_string(), "in all");
    if let Some(first) = report.schedules.iter().find(|waves| waves.builders == drawn) {
        page.push_str("<div><dt>Waves</dt><dd id=\"waves\">");
        add(
            page,
            format_args!(
                "{} <small>with {}</small></dd></div>",
                first.waves,
                count(drawn as usize, "builder")
            ),
        );
        let path = &report.critical_path;
        let share = format!("{} in a row", count(path.tasks.len(), "task"));
        figure(page, "Critical path", &path.complexity.to_string(), &share);
    }
    page.push_str("</dl>\n");
    speed_up(page, report, drawn);
    page.push_str("</div>\n");
    progress(page, report);
    page.push_str("</header>\n");
}

fn figure(page: &mut String, label: &str, value: &str, about: &str) {
    add(page, format_args!("<div><dt>{label}</dt><dd>{value} <small>{about}</small></dd></div>"));
}

/// The choice of how many builders the waves are drawn for, with what each is worth at best.
fn speed_up(page: &mut String, report: &TreeReport, drawn: u32) {
    if report.schedules.is_empty() {
        return;
    }
    page.push_str("<fieldset class=\"builders\"><legend>Builders, and the ideal speed-up</legend>");
    for waves in &report.schedules {
        let builders = waves.builders;
        let factor = report.speed_up.iter().find(|gain| gain.builders == builders);
        let factor = factor.map_or_else(String::new, |gain| format!("×{:.1}", gain.factor));
        let checked = if builders == drawn { " checked" } else { "" };
        add(
            page,
            format_args!(
                "<label><input type=\"radio\" name=\"builders\" value=\"{builders}\"{checked}><span><b>{builders}</b> {factor}</span></label>"
            ),
        );
    }
    page.push_str("</fieldset>\n");
}

/// How many leaves are in each state, as a bar and as the filter.
fn progress(page: &mut String, report: &TreeReport) {
    let Some(counts) = &report.counts else { return };
    let done = counts.completed;
    add(
        page,
        format_args!(
            "<div class=\"progress\" role=\"img\" aria-label=\"{done} of {} tasks done\">",
            counts.total
        ),
    );
    for (name, count) in states(report) {
        // A style attribute would need a hole in the policy, so the script sets the width.
        add(page, format_args!("<i class=\"{name}\" data-share=\"{count}\"></i>"));
    }
    page.push_str("</div>\n");
}

/// The states that occur, in the order of a task's life, each with its number of leaves.
fn states(report: &TreeReport) -> Vec<(String, usize)> {
    let order = ["done", "verifying", "building", "ready", "waiting", "skipped", "FAILED"];
    let of = |name: &str| {
        report.tasks.iter().filter_map(|task| task.state.as_ref()).filter(|run| state(run) == name).count()
    };
    order.iter().map(|name| (name.to_lowercase(), of(name))).filter(|(_, count)| *count > 0).collect()
}

fn problems(page: &mut String, problems: &[Problem]) {
    if problems.is_empty() {
        return;
    }
    // Few are read at once; many would stand in front of the plan.
    let open = if problems.len() <= OPEN { " open" } else { "" };
    add(
        page,
        format_args!(
            "<details class=\"problems\"{open}><summary>This tree is not valid: {}</summary><ul>",
            count(problems.len(), "error")
        ),
    );
    for problem in problems.iter().take(PROBLEMS) {
        add(
            page,
            format_args!(
                "<li><code>{}</code> <span dir=\"auto\">{}</span> <small>line {}</small></li>",
                problem.rule,
                escaped(&problem.detail),
                problem.line
            ),
        );
    }
    if problems.len() > PROBLEMS {
        add(
            page,
            format_args!("<li>{} more: <code>fp validate</code> lists them</li>", problems.len() - PROBLEMS),
        );
    }
    page.push_str("</ul></details>\n");
}

fn tools(page: &mut String, report: &TreeReport) {
    page.push_str("<div class=\"tools\" role=\"search\"><label class=\"search\"><span class=\"hidden\">Search tasks</span><input id=\"search\" type=\"search\" placeholder=\"Search tasks\" dir=\"auto\" autocomplete=\"off\"><kbd>/</kbd></label>");
    if report.counts.is_some() {
        page.push_str("<div class=\"filters\" role=\"group\" aria-label=\"Show states\">");
        for (name, count) in states(report) {
            add(
                page,
                format_args!(
                    "<button type=\"button\" class=\"chip {name}\" data-state=\"{name}\" aria-pressed=\"false\"><i></i>{name} <b>{count}</b></button>"
                ),
            );
        }
        page.push_str("</div>");
    }
    page.push_str("<p id=\"found\" role=\"status\"></p></div>\n");
}

//! Pages that need nothing else: no network, no framework, no other file. This one is the task tree; beside it is
//! that of a run. What there is to read is in the page as it is sent; drawings are made in the browser, of the report
//! beside them.
//!
//! What the plan says is text a stranger may have written. It stands in the page escaped, and the policy lets no
//! script run but this one, known by its hash.

/// Appends to a page; what stands in the format is markup, and its arguments have to be escaped.
macro_rules! put {
    ($page:expr, $($format:tt)*) => {{
        use std::fmt::Write as _;
        write!($page, $($format)*).expect("writing to a string can't fail")
    }};
}

mod escape;
mod header;
mod rows;
pub(crate) mod run;

use fp_core::report::tree::TreeReport;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use escape::{base64, embedded, text as escaped};

const STYLE: &str = concat!(include_str!("base.css"), include_str!("page.css"));
const SCRIPT: &str = concat!(
    include_str!("element.js"),
    include_str!("tasks.js"),
    include_str!("tree.js"),
    include_str!("graph.js"),
    include_str!("detail.js")
);

/// Builders of the waves that are drawn first where only one is configured: one task a wave is a long row.
const DRAWN: u32 = 4;

const GRAPH: &str = r#"<section class="pane graph" aria-labelledby="graph-title">
<div class="head"><h2 id="graph-title">Waves</h2><p id="graph-note"></p>
<div class="zoom" role="group" aria-label="Zoom">
<button type="button" id="zoom-out" aria-label="Smaller">−</button>
<button type="button" id="zoom-fit">Fit</button>
<button type="button" id="zoom-in" aria-label="Larger">+</button>
</div></div>
<div id="graph" role="group" aria-label="Tasks by wave"><p class="empty">The drawing needs JavaScript.</p></div>
</section>
"#;

const DETAIL: &str = r#"<aside class="pane detail" id="detail" aria-labelledby="detail-title" tabindex="-1"><h2 id="detail-title">Task</h2></aside>
"#;

/// The page. `name` is what the tree is called; with `builders` at work is how it is drawn at first.
pub(crate) fn text(report: &TreeReport<'_>, name: &str, builders: u32) -> String {
    let drawn = if builders > 1 { builders } else { DRAWN };
    let goal = report.goal.trim().lines().next().unwrap_or_default();
    let mut page = head(&format!("{goal} – task tree"), STYLE, SCRIPT, "");
    page.push_str("<body>\n<a class=\"skip\" href=\"#tree\">Skip to the tasks</a>\n");
    header::header(&mut page, report, name, drawn);
    header::problems(&mut page, &report.problems);
    header::tools(&mut page, report);
    page.push_str("<main>\n");
    rows::tree(&mut page, report);
    page.push_str(GRAPH);
    page.push_str(DETAIL);
    page.push_str("</main>\n");
    data(&mut page, "report", report);
    end(&mut page, SCRIPT);
    page
}

/// Everything in front of the body; `more` is markup for the head.
fn head(title: &str, style: &str, script: &str, more: &str) -> String {
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">{more}
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{}</title>
<style>{style}</style>
</head>
"#,
        hash(style),
        hash(script),
        escaped(title)
    )
}

/// What the script reads, under the id that it knows it by.
fn data(page: &mut String, id: &str, data: &impl Serialize) {
    let data = serde_json::to_string(data).expect("a report is made of texts and numbers");
    put!(page, "<script type=\"application/json\" id=\"{id}\">{}</script>\n", embedded(&data));
}

fn end(page: &mut String, script: &str) {
    put!(page, "<script type=\"module\">{script}</script>\n</body>\n</html>\n");
}

/// What the policy knows a script or a style by.
fn hash(source: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(source.as_bytes())))
}

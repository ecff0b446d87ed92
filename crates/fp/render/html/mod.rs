//! The task tree as one page that needs nothing else: no network, no framework, no other file. The tree is in the
//! page as it is sent; the drawing and the details are made in the browser, of the report beside it.
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

use fp_core::report::tree::TreeReport;
use sha2::{Digest as _, Sha256};

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

const PANES: &str = r#"<section class="pane graph" aria-labelledby="graph-title">
<div class="head"><h2 id="graph-title">Waves</h2><p id="graph-note"></p>
<div class="zoom" role="group" aria-label="Zoom">
<button type="button" id="zoom-out" aria-label="Smaller">−</button>
<button type="button" id="zoom-fit">Fit</button>
<button type="button" id="zoom-in" aria-label="Larger">+</button>
</div></div>
<div id="graph" role="group" aria-label="Tasks by wave"><p class="empty">The drawing needs JavaScript.</p></div>
</section>
<aside class="pane detail" id="detail" aria-labelledby="detail-title" tabindex="-1"><h2 id="detail-title">Task</h2></aside>
"#;

/// The page. `name` is what the tree is called; with `builders` at work is how it is drawn at first.
pub(crate) fn text(report: &TreeReport<'_>, name: &str, builders: u32) -> String {
    let drawn = if builders > 1 { builders } else { DRAWN };
    let mut page = head(report);
    page.push_str("<body>\n<a class=\"skip\" href=\"#tree\">Skip to the tasks</a>\n");
    header::header(&mut page, report, name, drawn);
    header::problems(&mut page, &report.problems);
    header::tools(&mut page, report);
    page.push_str("<main>\n");
    rows::tree(&mut page, report);
    page.push_str(PANES);
    page.push_str("</main>\n");
    let data = serde_json::to_string(report).expect("a report is made of texts and numbers");
    put!(page, r#"<script type="application/json" id="report">{}</script>"#, embedded(&data));
    put!(page, "\n<script type=\"module\">{SCRIPT}</script>\n</body>\n</html>\n");
    page
}

fn head(report: &TreeReport<'_>) -> String {
    let title = report.goal.trim().lines().next().unwrap_or_default();
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{} – task tree</title>
<style>{STYLE}</style>
</head>
"#,
        hash(STYLE),
        hash(SCRIPT),
        escaped(title)
    )
}

/// What the policy knows a script or a style by.
fn hash(source: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(source.as_bytes())))
}

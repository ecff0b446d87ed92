//! The page of a run: who did what when, and on what each verdict rests. Tasks, questions and commits are in the page
//! as it is sent; the course of time and the waves are drawn in the browser.

mod head;
mod lists;
mod tasks;

use fp_core::report::run_page::{Lane, Mark, RunPage};
use jiff::Timestamp;
use serde::Serialize;

use super::escape::text as escaped;
use super::{GRAPH, data, end};

const STYLE: &str = concat!(include_str!("../base.css"), include_str!("run.css"));
const SCRIPT: &str = concat!(
    include_str!("../element.js"),
    include_str!("../tasks.js"),
    include_str!("../graph.js"),
    include_str!("axis.js"),
    include_str!("timeline.js"),
    include_str!("run.js")
);

/// What a page of this kind is known by.
const MARKER: &str = r#"<meta name="generator" content="fp report">"#;
/// So many bytes of a file are enough to tell what it is.
pub(crate) const FAR: u64 = 400;

/// What the script draws.
#[derive(Serialize)]
struct Drawn<'r> {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    lanes: &'r [Lane],
    marks: &'r [Mark],
    /// Of each task its id and its title.
    tasks: Vec<(&'r str, &'r str)>,
    /// Of each question its id and its text.
    questions: Vec<(&'r str, &'r str)>,
}

/// The page.
pub(crate) fn text(run: &RunPage<'_>) -> String {
    let goal = run.goal.trim().lines().next().unwrap_or_default();
    let mut page = super::head(&format!("{goal} – run"), STYLE, SCRIPT, &format!("\n{MARKER}"));
    page.push_str("<body>\n<a class=\"skip\" href=\"#tasks\">Skip to the tasks</a>\n");
    head::header(&mut page, run);
    page.push_str("<main>\n");
    page.push_str(TIMELINE);
    head::spent(&mut page, run);
    page.push_str(GRAPH);
    tasks::tasks(&mut page, run);
    lists::lists(&mut page, run);
    page.push_str("</main>\n");
    data(&mut page, "report", &run.tree);
    data(&mut page, "run", &drawn(run));
    end(&mut page, SCRIPT);
    page
}

/// Whether a file that begins like this is a page of a run, of this or another version.
pub(crate) fn is_one(beginning: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(beginning);
    beginning.starts_with("<!doctype html>") && beginning.contains(MARKER)
}

fn drawn<'r>(run: &'r RunPage<'_>) -> Drawn<'r> {
    Drawn {
        from: run.started_at,
        to: run.ended_at,
        lanes: &run.lanes,
        marks: &run.marks,
        tasks: run.tasks.iter().map(|task| (task.line.id.as_str(), task.line.title.as_str())).collect(),
        questions: run.decisions.iter().map(|asked| (asked.id.as_str(), asked.question.as_str())).collect(),
    }
}

/// A moment, which the script shows in the reader's own time.
fn time(at: Timestamp) -> String {
    let shown = at.strftime("%Y-%m-%d %H:%M:%S UTC");
    format!(
        "<time datetime=\"{}\">{}</time>",
        at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ"),
        escaped(&shown.to_string())
    )
}

const TIMELINE: &str = r#"<section class="pane course" aria-labelledby="course-title">
<div class="head"><h2 id="course-title">Course</h2><p id="course-note"></p>
<div class="zoom" role="group" aria-label="Zoom of the course">
<button type="button" id="time-out" aria-label="Shorter">−</button>
<button type="button" id="time-fit">Fit</button>
<button type="button" id="time-in" aria-label="Longer">+</button>
</div></div>
<div id="course" role="group" aria-label="The builders in the course of time"><p class="empty">The drawing needs JavaScript.</p></div>
<ul class="legend">
<li><i><span class="bar building passed"></span></i>built, and passed</li>
<li><i><span class="bar building failed"></span></i>built, and did not pass</li>
<li><i><span class="bar building open"></span></i>being built</li>
<li><i><span class="bar verifying"></span></i>verification</li>
<li><i><span class="bar committing"></span></i>commit</li>
<li><i><span class="bar waiting"></span></i>waits for that, or for its builder</li>
<li><i><span class="bar asking"></span></i>waits for the user</li>
</ul>
<p id="told"></p>
</section>
"#;

//! The page of a run shows its result, who did what when, and the evidence for each verdict. Tasks, questions
//! and commits are in the page itself; the browser draws the timeline and the waves.

use fp_plan::text::{clipped, counted, shell_quoted, shown_command};
use fp_run::report::cost::{CostReport, thousands};
use fp_run::report::run_page::{
    AttemptEnd, JudgedCriterion, RunCommit, RunLane, RunMark, RunPage, RunPause, RunQuestion,
    RunTask, RunTimes, TaskTry,
};
use fp_run::report::status::TaskLine;
use fp_run::report::took;
use fp_run::run::event::Decider;
use fp_run::run::payload::short;
use fp_run::run::state::Status;
use fp_run::verification::{Check, CheckVerdict};
use jiff::Timestamp;
use serde::Serialize;

use super::{GRAPH, THEME, data, end, escaped, failed_badge, footer, head, progress, prose};

const STYLE: &str = concat!(include_str!("base.css"), include_str!("run.css"));
const SCRIPT: &str = concat!(
    include_str!("element.js"),
    include_str!("tasks.js"),
    include_str!("graph.js"),
    include_str!("axis.js"),
    include_str!("timeline.js"),
    include_str!("spent.js"),
    include_str!("run.js")
);

/// Identifies a page of this kind.
const MARKER: &str = r#"<meta name="generator" content="fp report">"#;
const REFRESH: &str = "\n<meta http-equiv=\"refresh\" content=\"3\">";
/// Bytes from the beginning of a file that are enough to recognise it.
pub(crate) const FAR: u64 = 400;

/// The script's data.
#[derive(Serialize)]
struct DrawnRun<'r> {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    lanes: &'r [RunLane],
    marks: &'r [RunMark],
    pauses: &'r [RunPause],
    cost: Option<&'r CostReport>,
    /// Id and title of each task.
    tasks: Vec<(&'r str, &'r str)>,
    /// Id and text of each question.
    questions: Vec<(&'r str, &'r str)>,
}

/// The page; one that is watched loads itself again every few seconds.
pub(crate) fn run_page(run: &RunPage<'_>, is_watched: bool) -> String {
    let goal = run.goal.trim().lines().next().unwrap_or_default();
    let mut page = head(
        &format!("{goal} – run"),
        STYLE,
        SCRIPT,
        &format!("\n{MARKER}{}", if is_watched { REFRESH } else { "" }),
    );
    page.push_str("<body>\n<a class=\"skip\" href=\"#tasks\">Skip to the tasks</a>\n");
    header(&mut page, run);
    page.push_str("<main>\n");
    page.push_str(TIMELINE);
    if run.builder_lanes().next().is_some() {
        page.push_str(SPENT);
    }
    page.push_str(GRAPH);
    tasks(&mut page, run);
    lists(&mut page, run);
    page.push_str("</main>\n");
    footer(&mut page);
    data(&mut page, "report", &run.tree);
    data(&mut page, "run", &drawn(run));
    end(&mut page, SCRIPT);
    page
}

/// True if a file with this beginning is the page of a run, of this or another version.
pub(crate) fn is_run_page(beginning: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(beginning);
    beginning.starts_with("<!doctype html>") && beginning.contains(MARKER)
}

fn drawn<'r>(run: &'r RunPage<'_>) -> DrawnRun<'r> {
    DrawnRun {
        from: run.started_at,
        to: run.ended_at,
        lanes: &run.lanes,
        marks: &run.marks,
        pauses: &run.pauses,
        cost: run.cost.as_ref(),
        tasks: run
            .tasks
            .iter()
            .map(|task| (task.line.id.as_str(), task.line.title.as_str()))
            .collect(),
        questions: run
            .decisions
            .iter()
            .map(|asked| (asked.id.as_str(), asked.question.as_str()))
            .collect(),
    }
}

/// A time, which the script converts to the reader's time zone.
fn time(at: Timestamp) -> String {
    let (exact, shown) = (
        at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ"),
        at.strftime("%Y-%m-%d %H:%M:%S UTC"),
    );
    format!("<time datetime=\"{exact}\">{shown}</time>")
}

const TIMELINE: &str = r#"<section class="pane course" aria-labelledby="course-title">
<div class="head"><h2 id="course-title">Timeline</h2><p id="course-note"></p>
<button type="button" id="by-task" aria-pressed="false">By task</button>
<div class="zoom" role="group" aria-label="Zoom of the timeline">
<button type="button" id="time-out" aria-label="Shorter">−</button>
<button type="button" id="time-fit">Fit</button>
<button type="button" id="time-in" aria-label="Longer">+</button>
</div></div>
<div id="course" role="group" aria-label="Timeline"><p class="empty">The drawing needs JavaScript.</p></div>
<ul class="legend">
<li><i><span class="bar building passed"></span></i>built, passed</li>
<li><i><span class="bar building failed"></span></i>built, sent back</li>
<li><i><span class="bar building open"></span></i>being built</li>
<li><i><span class="bar verifying"></span></i>verified</li>
<li><i><span class="bar committing"></span></i>committed</li>
<li><i><span class="bar waiting"></span></i>waiting</li>
<li><i><span class="bar asking"></span></i>waiting for you</li>
</ul>
<p id="told"></p>
</section>
"#;

fn header(page: &mut String, run: &RunPage<'_>) {
    let plan = escaped(run.plan_id.as_str());
    let phase = run.standing.into_str();
    put!(
        page,
        r#"<header><div class="top"><p class="name"><bdi>{plan}</bdi>"#
    );
    put!(page, r#" <span class="phase">{phase}</span>"#);
    failed_badge(page, &run.counts);
    put!(
        page,
        "</p>{THEME}</div>\n<h1 dir=\"auto\">{}</h1>\n",
        escaped(run.goal.trim())
    );
    story(page, run);
    progress(page, &run.tree);
    needs(page, run);
    figures(page, run);
    page.push_str("</header>\n");
}

/// Tells the result in one or two sentences, and when it was.
fn story(page: &mut String, run: &RunPage<'_>) {
    let Some((from, to)) = run.started_at.zip(run.ended_at) else {
        page.push_str("<p class=\"when\">The run has not started.</p>\n");
        return;
    };
    let (done, all) = (run.counts.completed, run.counts.total);
    let how = if run.commits.is_empty() {
        "built and verified"
    } else {
        "built, verified and committed"
    };
    put!(
        page,
        "<p class=\"story\"><b>{done} of {all}</b> tasks {how}"
    );
    if run.builders > 0 {
        put!(
            page,
            " by <b>{}</b>",
            counted(run.builders as usize, "builder")
        );
    }
    put!(page, " in <b>{}</b> of work", took(run.work()));
    if let Some(dollars) = run.cost.as_ref().and_then(CostReport::dollars) {
        put!(page, " for <b>${dollars}</b>");
    }
    match run.sent_back() {
        0 => page.push_str(".</p>\n"),
        back => put!(
            page,
            ". Verification sent <b>{back} of {}</b> back before they reached your branch.</p>\n",
            counted(run.tries, "attempt")
        ),
    }
    put!(page, "<p class=\"when\">{} to {}", time(from), time(to));
    let paused = run.wall() - run.work();
    if paused > 0 {
        put!(
            page,
            ", with {} of pauses, which count nowhere below",
            took(paused)
        );
    }
    page.push_str("</p>\n");
}

/// Lists the tasks and questions that wait for the user, each with its command.
fn needs(page: &mut String, run: &RunPage<'_>) {
    let plan = run.plan_id.as_str();
    let questions: Vec<&RunQuestion> = run.open_questions().collect();
    let is_asked = |line: &TaskLine| {
        questions
            .iter()
            .any(|asked| asked.task.as_ref() == Some(&line.id))
    };
    let is_failed = |line: &&TaskLine| line.status == Status::Failed && !is_asked(line);
    let failed: Vec<&TaskLine> = run
        .tasks
        .iter()
        .map(|task| &task.line)
        .filter(is_failed)
        .collect();
    if questions.is_empty() && failed.is_empty() && run.go_on.is_none() {
        return;
    }
    page.push_str("<section class=\"needs\" aria-labelledby=\"needs-title\"><h2 id=\"needs-title\">Needs you</h2><ul>\n");
    let mut item = |kind: &str, id: &str, text: &str, command: &str| {
        let (id, text, command) = (escaped(id), prose(text), escaped(command));
        put!(
            page,
            "<li class=\"{kind}\"><span class=\"sign\" aria-hidden=\"true\"></span> <bdi class=\"id\">{id}</bdi> "
        );
        put!(
            page,
            "<span class=\"note\" dir=\"auto\">{text}</span> <code>{command}</code></li>\n"
        );
    };
    if let Some(step) = &run.go_on {
        item("stopped", "", &step.why, &step.command);
    }
    for asked in questions {
        let label = asked
            .options
            .first()
            .map_or_else(|| "LABEL".to_owned(), |label| shell_quoted(label));
        let command = format!("fp answer {plan} {} --option {label}", asked.id);
        item(
            "asks",
            asked.task.as_ref().map_or(&asked.id, |task| task.as_str()),
            &asked.question,
            &command,
        );
    }
    for line in failed {
        let text = format!(
            "{}: {}",
            line.title,
            line.detail.as_deref().unwrap_or("failed")
        );
        item(
            "failed",
            line.id.as_str(),
            &clipped(&text, 300),
            &format!("fp retry {plan} {}", line.id),
        );
    }
    page.push_str("</ul></section>\n");
}

fn figures(page: &mut String, run: &RunPage<'_>) {
    if run.started_at.is_none() {
        return;
    }
    page.push_str("<dl class=\"figures tiles\">");
    let mut figure = |label: &str, value: &str, about: &str| {
        put!(
            page,
            "<div><dt>{label}</dt><dd>{value} <small>{about}</small></dd></div>"
        );
    };
    let commits = run.commits.iter().filter(|commit| !commit.undone).count();
    figure("Commits", &commits.to_string(), "one a task");
    figure(
        "Attempts",
        &run.tries.to_string(),
        &format!("{} sent back", run.sent_back()),
    );
    let chain = counted(run.chain.tasks.len(), "task");
    figure(
        "Longest chain",
        &took(run.chain.millis),
        &format!("{chain} in a row"),
    );
    let waits = run.millis.asking + run.millis.waiting + run.idle();
    let share = waits * 100 / (run.millis.total() + run.idle()).max(1);
    figure("Waiting", &format!("{share} %"), "of the builders' time");
    if run.revisions > 0 {
        figure(
            "Revisions",
            &run.revisions.to_string(),
            "of tasks after the start",
        );
    }
    if let Some(cost) = &run.cost {
        let tokens = thousands(cost.tokens.total());
        match cost.dollars() {
            Some(dollars) => figure("Cost", &format!("${dollars}"), &format!("{tokens} tokens")),
            None => figure("Cost", &tokens, "tokens"),
        }
    }
    page.push_str("</dl>\n");
}

const SPENT: &str = r#"<section class="pane spent" aria-labelledby="spent-title">
<div class="head"><h2 id="spent-title">Where the time and the money went</h2></div>
<div class="halves" id="spent"><p class="empty">The drawing needs JavaScript.</p></div>
</section>
"#;

fn lists(page: &mut String, run: &RunPage<'_>) {
    let text_item: fn(&mut String, &String) = |page, text| {
        put!(page, "<p class=\"note\" dir=\"auto\">{}</p>", prose(text));
    };
    section(
        page,
        "Interview",
        "interview",
        &run.interview_decisions,
        text_item,
    );
    section(
        page,
        "Questions",
        "decisions",
        &run.decisions,
        question_item,
    );
    section(page, "Commits", "commits", &run.commits, commit_item);
    if let Some(cost) = &run.cost {
        costs(page, cost);
    }
    section(page, "Notes", "notes", &run.notes, text_item);
}

fn costs(page: &mut String, cost: &CostReport) {
    page.push_str("<section class=\"pane\" aria-labelledby=\"cost-title\"><div class=\"head\"><h2 id=\"cost-title\">Cost</h2></div>\n<div id=\"cost\">");
    for line in cost.lines() {
        put!(page, "<p dir=\"auto\">{}</p>", prose(line.trim()));
    }
    page.push_str("<table>\n");
    let mut row = |cell: &str, cells: [&str; 6]| {
        page.push_str("<tr>");
        for text in cells {
            put!(page, "<{cell}>{}</{cell}>", escaped(text));
        }
        page.push_str("</tr>\n");
    };
    row("th", CostReport::COLUMNS);
    for cells in cost.rows() {
        row("td", cells.each_ref().map(String::as_str));
    }
    page.push_str("</table></div></section>\n");
}

fn section<T>(page: &mut String, title: &str, id: &str, items: &[T], shown: fn(&mut String, &T)) {
    if items.is_empty() {
        return;
    }
    put!(
        page,
        "<section class=\"pane list\" aria-labelledby=\"{id}-title\"><div class=\"head\">"
    );
    put!(
        page,
        "<h2 id=\"{id}-title\">{title}</h2></div>\n<ul id=\"{id}\">"
    );
    for (number, item) in items.iter().enumerate() {
        put!(page, "<li id=\"{id}-{number}\" tabindex=\"-1\">");
        shown(page, item);
        page.push_str("</li>\n");
    }
    page.push_str("</ul></section>\n");
}

fn question_item(page: &mut String, asked: &RunQuestion) {
    put!(
        page,
        "<p class=\"note\" dir=\"auto\">{}</p><p class=\"line\">",
        prose(&asked.question)
    );
    let by = match asked.by {
        Decider::User => "the user",
        Decider::Auto => "a rule",
    };
    match asked.answer.is_empty() {
        true => page.push_str("Not answered yet"),
        false => put!(
            page,
            "<b dir=\"auto\">{}</b> – decided by {by}",
            escaped(&asked.answer.join(", "))
        ),
    }
    put!(page, " · asked {}", time(asked.asked_at));
    if let Some(at) = asked.answered_at {
        put!(page, " · settled {}", time(at));
    }
    page.push_str("</p>");
}

fn commit_item(page: &mut String, made: &RunCommit) {
    let undone = if made.undone { " · rolled back" } else { "" };
    let (hash, subject) = (escaped(short(&made.hash)), escaped(&made.subject));
    let (task, at) = (escaped(made.task.as_str()), time(made.at));
    put!(
        page,
        "<code>{hash}</code> <span dir=\"auto\">{subject}</span>"
    );
    put!(
        page,
        " <span class=\"line\">task <bdi>{task}</bdi> · {at}{undone}</span>"
    );
}

fn tasks(page: &mut String, run: &RunPage<'_>) {
    page.push_str(
        "<section class=\"pane tasks\" id=\"tasks\" aria-labelledby=\"tasks-title\" tabindex=\"-1\"><div class=\"head\">\
         <h2 id=\"tasks-title\">Tasks</h2><button type=\"button\" id=\"fold\">Open all</button></div>\n",
    );
    if run.tasks.is_empty() {
        page.push_str("<p class=\"empty\">Nothing was approved yet.</p>\n");
    }
    for (number, task) in run.tasks.iter().enumerate() {
        task_row(page, number, task);
    }
    page.push_str("</section>\n");
}

fn task_row(page: &mut String, number: usize, task: &RunTask) {
    let line = &task.line;
    let state = line.state_word().to_lowercase();
    put!(
        page,
        "<details class=\"task {state}\" id=\"t{number}\"><summary>"
    );
    put!(
        page,
        "<span class=\"sign\" aria-hidden=\"true\"></span><bdi class=\"id\">{}</bdi> ",
        escaped(line.id.as_str())
    );
    put!(
        page,
        "<span class=\"title\" dir=\"auto\">{}</span> ",
        prose(&line.title)
    );
    put!(
        page,
        "<span class=\"facts\"><span class=\"state\">{state}</span>{}</span>",
        facts(task)
    );
    page.push_str("</summary>\n<div class=\"tries\">");
    let reasons = |one: &TaskTry| {
        one.attempt
            .end
            .as_ref()
            .and_then(AttemptEnd::reason)
            .map(str::to_owned)
    };
    let told = task.tries.last().and_then(reasons);
    if let Some(detail) = line
        .detail
        .as_ref()
        .filter(|detail| told.as_ref() != Some(*detail))
    {
        put!(page, "<p class=\"note\" dir=\"auto\">{}</p>", prose(detail));
    }
    if task.millis.total() > 0 {
        put!(page, "<p class=\"line\">{}</p>", times(&task.millis));
    }
    for granted in &line.granted {
        let (path, reason) = (escaped(&granted.path), escaped(&granted.reason));
        put!(
            page,
            "<p class=\"line\">May change <code>{path}</code> as well:"
        );
        put!(page, " <span dir=\"auto\">{reason}</span></p>");
    }
    for one in task.tries.iter().rev() {
        attempt(page, one);
    }
    page.push_str("</div></details>\n");
}

fn facts(task: &RunTask) -> String {
    let mut facts = String::new();
    if task.tries.len() > 1 {
        put!(facts, " <span>{} attempts</span>", task.tries.len());
    }
    if let Some(last) = task.tries.last() {
        put!(
            facts,
            " <bdi>{}</bdi>",
            escaped(last.attempt.builder.as_str())
        );
    }
    if task.millis.total() > 0 {
        put!(facts, " <span>{}</span>", took(task.millis.total()));
    }
    if let Some(commit) = &task.line.commit {
        put!(facts, " <code>{}</code>", escaped(short(commit)));
    }
    facts
}

fn times(times: &RunTimes) -> String {
    let parts = [
        (times.building, "built"),
        (times.asking, "waited for an answer"),
        (
            times.waiting,
            "waited for verification or to be taken up again",
        ),
        (times.verifying, "verified"),
        (times.committing, "committed"),
    ];
    let told: Vec<String> = parts
        .iter()
        .filter(|(millis, _)| *millis > 0)
        .map(|(millis, what)| format!("{what} {}", took(*millis)))
        .collect();
    told.join(" · ")
}

fn attempt(page: &mut String, one: &TaskTry) {
    let (class, end) = match &one.attempt.end {
        Some(AttemptEnd::Passed) => ("done", "passed"),
        Some(AttemptEnd::Failed(_)) => ("failed", "did not pass"),
        Some(AttemptEnd::Released(_)) => ("skipped", "was taken back"),
        None => ("building", "is under way"),
    };
    put!(
        page,
        "<section class=\"try {class}\"><h3><span class=\"sign\" aria-hidden=\"true\"></span>"
    );
    let (iteration, builder) = (one.attempt.iteration, escaped(one.attempt.builder.as_str()));
    put!(
        page,
        "Attempt {iteration} by <bdi>{builder}</bdi> {end}</h3><p class=\"line\">{}</p>",
        moments(one)
    );
    let reason = one.attempt.end.as_ref().and_then(AttemptEnd::reason);
    if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
        put!(
            page,
            "<h4>Why</h4><p class=\"note feedback\" dir=\"auto\">{}</p>",
            prose(reason)
        );
    }
    list(
        page,
        "Criteria",
        ("ol", "criteria"),
        &one.criteria,
        criterion_item,
    );
    if !one.summary.trim().is_empty() {
        put!(
            page,
            "<h4>Summary</h4><p class=\"note\" dir=\"auto\">{}</p>",
            prose(one.summary.trim())
        );
    }
    list(page, "Checks", ("ul", "checks"), &one.checks, check_item);
    list(
        page,
        &counted(one.files.len(), "changed file"),
        ("ul", "files"),
        &one.files,
        |page, file| {
            put!(page, "<li><code>{}</code></li>", escaped(file));
        },
    );
    page.push_str("</section>\n");
}

fn moments(one: &TaskTry) -> String {
    let mut told = format!("from {}", time(one.from));
    if let Some(at) = one.submitted_at {
        put!(told, " · handed in {}", time(at));
    }
    if let Some(at) = one.judged_at {
        put!(told, " · judged {}", time(at));
    }
    if let Some(verifier) = &one.verifier {
        put!(told, " by <bdi>{}</bdi>", escaped(verifier.as_str()));
    }
    if one.nudges > 0 {
        let times = if one.nudges == 1 {
            "once".to_owned()
        } else {
            format!("{} times", one.nudges)
        };
        put!(told, " · told to go on {times}");
    }
    told
}

/// A heading and a list of this element and class; nothing without an item.
fn list<T>(
    page: &mut String,
    heading: &str,
    kind: (&str, &str),
    items: &[T],
    shown: fn(&mut String, &T),
) {
    let (element, class) = kind;
    if !items.is_empty() {
        put!(page, "<h4>{heading}</h4><{element} class=\"{class}\">");
        items.iter().for_each(|item| shown(page, item));
        put!(page, "</{element}>");
    }
}

fn criterion_item(page: &mut String, judged: &JudgedCriterion) {
    let (class, verdict) = if judged.pass {
        ("done", "met")
    } else {
        ("failed", "not met")
    };
    let (number, text, evidence) = (judged.number, prose(&judged.text), prose(&judged.evidence));
    put!(
        page,
        "<li class=\"{class}\" value=\"{number}\"><span class=\"verdict\">{verdict}</span> "
    );
    put!(
        page,
        "<span dir=\"auto\">{text}</span><p class=\"note\" dir=\"auto\">{evidence}</p></li>"
    );
}

fn check_item(page: &mut String, check: &Check) {
    let (class, verdict) = match check.verdict {
        CheckVerdict::Pass => ("done", "pass"),
        CheckVerdict::Fail => ("failed", "fail"),
        CheckVerdict::Note => ("building", "note"),
        CheckVerdict::NotApplicable => ("skipped", "nothing to check"),
    };
    let (name, detail) = (shown_command(&check.name), escaped(&check.detail));
    put!(
        page,
        "<li class=\"{class}\"><span class=\"verdict\">{verdict}</span> <code>{}</code> ",
        escaped(&name)
    );
    match detail.split_once('\n') {
        Some((first, output)) => {
            put!(page, "<details class=\"output\"><summary>{first}</summary>");
            put!(page, "<pre tabindex=\"0\">{output}</pre></details>");
        }
        None => put!(page, "<span class=\"soft\" dir=\"auto\">{detail}</span>"),
    }
    page.push_str("</li>");
}

//! The tasks of a run: a row each, and behind it every try with what its verdict rests on.

use fp_core::report::duration::took;
use fp_core::report::history::End;
use fp_core::report::run_page::{RunPage, RunTask, Times, Try};
use fp_core::run::payload::short;
use fp_core::text::counted;
use fp_core::verification::{Check, CheckVerdict};

use super::super::super::status::word;
use super::super::rows::prose;
use super::{escaped, time};

pub(super) fn tasks(page: &mut String, run: &RunPage<'_>) {
    page.push_str(
        "<section class=\"pane tasks\" id=\"tasks\" aria-labelledby=\"tasks-title\" tabindex=\"-1\"><div class=\"head\">\
         <h2 id=\"tasks-title\">Tasks</h2><button type=\"button\" id=\"fold\">Open all</button></div>\n",
    );
    if run.tasks.is_empty() {
        page.push_str("<p class=\"empty\">Nothing was approved yet.</p>\n");
    }
    for (number, task) in run.tasks.iter().enumerate() {
        row(page, number, task);
    }
    page.push_str("</section>\n");
}

fn row(page: &mut String, number: usize, task: &RunTask) {
    let line = &task.line;
    let state = if line.ready { "ready".to_owned() } else { word(line.status).to_lowercase() };
    put!(
        page,
        "<details class=\"task {state}\" id=\"t{number}\"><summary><span class=\"sign\" aria-hidden=\"true\"></span>"
    );
    put!(page, "<bdi class=\"id\">{}</bdi> ", escaped(line.id.as_str()));
    put!(page, "<span class=\"title\" dir=\"auto\">{}</span> ", prose(&line.title));
    put!(page, "<span class=\"facts\"><span class=\"state\">{state}</span>{}</span>", facts(task));
    page.push_str("</summary>\n<div class=\"tries\">");
    let reasons = |one: &Try| one.attempt.end.as_ref().and_then(End::reason).map(str::to_owned);
    let told = task.tries.last().and_then(reasons);
    if let Some(detail) = line.detail.as_ref().filter(|detail| told.as_ref() != Some(*detail)) {
        put!(page, "<p class=\"note\" dir=\"auto\">{}</p>", prose(detail));
    }
    if task.millis.total() > 0 {
        put!(page, "<p class=\"line\">{}</p>", times(&task.millis));
    }
    for granted in &line.granted {
        let (path, reason) = (escaped(&granted.path), escaped(&granted.reason));
        put!(
            page,
            "<p class=\"line\">May change <code>{path}</code> as well: <span dir=\"auto\">{reason}</span></p>"
        );
    }
    for one in task.tries.iter().rev() {
        attempt(page, one);
    }
    page.push_str("</div></details>\n");
}

fn facts(task: &RunTask) -> String {
    let mut facts = String::new();
    if task.tries.len() > 1 {
        put!(facts, " <span>{} tries</span>", task.tries.len());
    }
    if let Some(last) = task.tries.last() {
        put!(facts, " <bdi>{}</bdi>", escaped(last.attempt.builder.as_str()));
    }
    if task.millis.total() > 0 {
        put!(facts, " <span>{}</span>", took(task.millis.total()));
    }
    if let Some(commit) = &task.line.commit {
        put!(facts, " <code>{}</code>", escaped(short(commit)));
    }
    facts
}

fn times(times: &Times) -> String {
    let parts = [
        (times.building, "built"),
        (times.asking, "waited for an answer"),
        (times.waiting, "waited for verification or to be taken up again"),
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

fn attempt(page: &mut String, one: &Try) {
    let (class, end) = match &one.attempt.end {
        Some(End::Passed) => ("done", "passed"),
        Some(End::Failed(_)) => ("failed", "did not pass"),
        Some(End::Released(_)) => ("skipped", "was taken back"),
        None => ("building", "is under way"),
    };
    put!(page, "<section class=\"try {class}\"><h3><span class=\"sign\" aria-hidden=\"true\"></span>");
    put!(
        page,
        "Iteration {} by <bdi>{}</bdi> {end}</h3>",
        one.attempt.iteration,
        escaped(one.attempt.builder.as_str())
    );
    put!(page, "<p class=\"line\">{}</p>", moments(one));
    if let Some(reason) = one.attempt.end.as_ref().and_then(End::reason).filter(|reason| !reason.is_empty()) {
        put!(page, "<h4>Why</h4><p class=\"note feedback\" dir=\"auto\">{}</p>", prose(reason));
    }
    criteria(page, one);
    if !one.summary.trim().is_empty() {
        put!(page, "<h4>Summary</h4><p class=\"note\" dir=\"auto\">{}</p>", prose(one.summary.trim()));
    }
    checks(page, &one.checks);
    files(page, &one.files);
    page.push_str("</section>\n");
}

fn moments(one: &Try) -> String {
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
        let times = if one.nudges == 1 { "once".to_owned() } else { format!("{} times", one.nudges) };
        put!(told, " · told to go on {times}");
    }
    told
}

fn criteria(page: &mut String, one: &Try) {
    if one.criteria.is_empty() {
        return;
    }
    page.push_str("<h4>Criteria</h4><ol class=\"criteria\">");
    for judged in &one.criteria {
        let (class, verdict) = if judged.pass { ("done", "met") } else { ("failed", "not met") };
        put!(
            page,
            "<li class=\"{class}\" value=\"{}\"><span class=\"verdict\">{verdict}</span> ",
            judged.number
        );
        put!(page, "<span dir=\"auto\">{}</span>", prose(&judged.text));
        put!(page, "<p class=\"note\" dir=\"auto\">{}</p></li>", prose(&judged.evidence));
    }
    page.push_str("</ol>");
}

fn checks(page: &mut String, checks: &[Check]) {
    if checks.is_empty() {
        return;
    }
    page.push_str("<h4>Checks</h4><ul class=\"checks\">");
    for check in checks {
        let (class, verdict) = match check.verdict {
            CheckVerdict::Pass => ("done", "pass"),
            CheckVerdict::Fail => ("failed", "fail"),
            CheckVerdict::Note => ("building", "note"),
            CheckVerdict::NotApplicable => ("skipped", "nothing to check"),
        };
        put!(
            page,
            "<li class=\"{class}\"><span class=\"verdict\">{verdict}</span> <code>{}</code> ",
            escaped(&check.name)
        );
        match check.detail.split_once('\n') {
            Some((first, output)) => put!(
                page,
                "<details class=\"output\"><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>",
                escaped(first),
                escaped(output)
            ),
            None => put!(page, "<span class=\"soft\" dir=\"auto\">{}</span>", escaped(&check.detail)),
        }
        page.push_str("</li>");
    }
    page.push_str("</ul>");
}

fn files(page: &mut String, files: &[String]) {
    if files.is_empty() {
        return;
    }
    put!(page, "<h4>{}</h4><ul class=\"files\">", counted(files.len(), "changed file"));
    for file in files {
        put!(page, "<li><code>{}</code></li>", escaped(file));
    }
    page.push_str("</ul>");
}

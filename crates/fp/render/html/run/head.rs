//! What stands first on the page of a run: what it was for, how it ended, and what its time went into.

use fp_core::report::duration::took;
use fp_core::report::run_page::{Lane, RunPage, Times};
use fp_core::text::counted;

use super::super::header::progress;
use super::{escaped, time};

pub(super) fn header(page: &mut String, run: &RunPage<'_>) {
    let plan = escaped(run.plan_id.as_str());
    let phase = run.phase.word();
    put!(
        page,
        r#"<header><div class="top"><p class="name"><bdi>{plan}</bdi> <span class="phase">{phase}</span></p>"#
    );
    page.push_str(r#"<button type="button" id="theme" aria-pressed="false">Dark</button></div>"#);
    put!(page, "\n<h1 dir=\"auto\">{}</h1>\n", escaped(run.goal.trim()));
    when(page, run);
    figures(page, run);
    progress(page, &run.tree);
    page.push_str("</header>\n");
}

fn when(page: &mut String, run: &RunPage<'_>) {
    let told = match run.started_at.zip(run.ended_at) {
        Some((from, to)) => format!("From {} to {}, event {}", time(from), time(to), run.seq),
        None => "The run has not started.".to_owned(),
    };
    put!(page, "<p class=\"when\">{told}</p>\n");
}

fn figures(page: &mut String, run: &RunPage<'_>) {
    page.push_str("<dl class=\"figures\">");
    let mut figure = |label: &str, value: &str, about: &str| {
        put!(page, "<div><dt>{label}</dt><dd>{value} <small>{about}</small></dd></div>");
    };
    let counts = &run.counts;
    let rest = [
        (counts.failed, "failed"),
        (counts.skipped, "skipped"),
        (counts.implementing + counts.awaiting_verification, "under way"),
        (counts.pending, "left"),
    ];
    let rest: Vec<String> =
        rest.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    figure("Done", &format!("{} of {}", counts.completed, counts.total), &rest.join(", "));
    if run.started_at.is_some() {
        let commits = run.commits.iter().filter(|commit| !commit.undone).count();
        figure("Commits", &commits.to_string(), "");
        figure(
            "Tries",
            &run.tries.to_string(),
            &format!("with {}", counted(run.builders as usize, "builder")),
        );
        figure("Took", &took(run.wall()), "from start to end");
        let chain = counted(run.chain.tasks.len(), "task");
        figure("Longest chain", &took(run.chain.millis), &format!("{chain} in a row"));
        figure("Waits", &took(run.millis.asking + run.millis.waiting + run.idle()), "of all builders");
    }
    page.push_str("</dl>\n");
}

/// What each builder's time went into.
pub(super) fn spent(page: &mut String, run: &RunPage<'_>) {
    let builders: Vec<&Lane> = run.lanes.iter().filter(|lane| !lane.user).collect();
    if builders.is_empty() {
        return;
    }
    page.push_str(
        "<section class=\"pane spent\" aria-labelledby=\"spent-title\"><div class=\"head\">\
         <h2 id=\"spent-title\">Where the time went</h2></div>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" \
         aria-labelledby=\"spent-title\"><table>\n<thead><tr><th scope=\"col\">Builder</th>",
    );
    for column in ["Building", "Verification", "Commits", "Waiting", "Asking", "Without a task"] {
        put!(page, "<th scope=\"col\">{column}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>");
    for lane in &builders {
        row(page, &lane.name, &lane.millis, lane.idle);
    }
    page.push_str("</tbody>\n");
    if builders.len() > 1 {
        page.push_str("<tfoot>");
        row(page, "All", &run.millis, run.idle());
        page.push_str("</tfoot>");
    }
    page.push_str("</table></div></section>\n");
}

fn row(page: &mut String, name: &str, times: &Times, idle: u64) {
    put!(page, "<tr><th scope=\"row\"><bdi>{}</bdi></th>", escaped(name));
    for part in [times.building, times.verifying, times.committing, times.waiting, times.asking, idle] {
        let shown = if part == 0 { "–".to_owned() } else { took(part) };
        put!(page, "<td>{shown}</td>");
    }
    page.push_str("</tr>\n");
}

//! What stands last on the page of a run: who decided what, the commits, and what was learnt.

use fp_core::report::run_page::{Commit, Decision, RunPage};
use fp_core::run::event::Decider;
use fp_core::run::payload::short;

use super::super::rows::prose;
use super::{escaped, time};

pub(super) fn lists(page: &mut String, run: &RunPage<'_>) {
    section(page, "Questions", "decisions", &run.decisions, decision);
    section(page, "Commits", "commits", &run.commits, commit);
    section(page, "Notes", "notes", &run.notes, |page, note| {
        put!(page, "<p class=\"note\" dir=\"auto\">{}</p>", prose(note));
    });
}

fn section<T>(page: &mut String, title: &str, id: &str, items: &[T], shown: fn(&mut String, &T)) {
    if items.is_empty() {
        return;
    }
    put!(
        page,
        "<section class=\"pane list\" aria-labelledby=\"{id}-title\"><div class=\"head\"><h2 id=\"{id}-title\">{title}</h2></div>\n"
    );
    put!(page, "<ul id=\"{id}\">");
    for (number, item) in items.iter().enumerate() {
        put!(page, "<li id=\"{id}-{number}\" tabindex=\"-1\">");
        shown(page, item);
        page.push_str("</li>\n");
    }
    page.push_str("</ul></section>\n");
}

fn decision(page: &mut String, asked: &Decision) {
    put!(page, "<p class=\"note\" dir=\"auto\">{}</p><p class=\"line\">", prose(&asked.question));
    let by = match asked.by {
        Decider::User => "the user",
        Decider::Auto => "a rule",
    };
    match asked.answer.is_empty() {
        true => page.push_str("Not answered yet"),
        false => put!(page, "<b dir=\"auto\">{}</b> – decided by {by}", escaped(&asked.answer.join(", "))),
    }
    put!(page, " · asked {}", time(asked.asked_at));
    if let Some(at) = asked.answered_at {
        put!(page, " · settled {}", time(at));
    }
    page.push_str("</p>");
}

fn commit(page: &mut String, made: &Commit) {
    let undone = if made.undone { " · rolled back" } else { "" };
    put!(
        page,
        "<code>{}</code> <span dir=\"auto\">{}</span>",
        escaped(short(&made.hash)),
        escaped(&made.subject)
    );
    put!(
        page,
        " <span class=\"line\">task <bdi>{}</bdi> · {}{undone}</span>",
        escaped(made.task.as_str()),
        time(made.at)
    );
}

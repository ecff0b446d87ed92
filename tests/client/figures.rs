//! Measures the cost of a run for its lead: turns, requests and tokens per task, from what the client actually sent.

use std::io::Write as _;

use crate::bundle::plugin;
use crate::cast::{Builder, Cast, OVER};
use crate::request::{Entry, Request};
use crate::run::PLAN;
use crate::run::events;
use crate::sample::Sample;
use crate::session::Client;
use crate::stand_in::StandIn;
use crate::tests;

tests![
    a_lead_spends_little_on_a_task,
    a_lead_spends_little_on_a_task_of_three_builders
];

/// Number of tasks in the measured plan.
const TASKS: usize = 6;
/// Maximum number of turns that a lead may spend per task if nothing fails.
const TURNS: f64 = 4.0;
/// Approximate number of characters per token, which the project uses to measure its prompts.
const CHARACTERS: usize = 4;

/// A plan whose tasks don't depend on each other.
fn sample() -> Sample {
    let sample = Sample::new();
    sample.fp(&["new", "Add a greeting command", "--mode", "pipeline"]);
    let leaves: String = (1..=TASKS).map(leaf).collect();
    let tree = format!("# Task Decomposition\n\n{leaves}");
    sample.write(&format!(".fractal-planner/plans/{PLAN}/tasks.md"), &tree);
    sample.fp(&["approve", PLAN, "--yes"]);
    sample
}

fn leaf(number: usize) -> String {
    format!(
        "- [ID: {number}] Write page {number} (Complexity: 2)\n  - Acceptance:\n    - `pages/{number}.txt` says {number}\n  \
         - Dependencies: none\n  - Files: pages/{number}.txt\n  - Tests Required: no\n  - Hints:\n    - One line\n    \
         - Nothing else\n  - Test Commands: grep -q {number} pages/{number}.txt\n"
    )
}

/// The cost of a run for its lead.
struct Spent {
    turns: usize,
    requests: usize,
    /// Growth of the lead's context during the run, in tokens.
    grown: usize,
    /// Everything that was sent for the lead, in tokens.
    sent: usize,
    /// The client's own part of each request, its prompt and tools, in tokens.
    own: usize,
}

fn tokens(request: &Request, parts: &[&str]) -> usize {
    parts
        .iter()
        .map(|part| request.body[part].to_string().len())
        .sum::<usize>()
        / CHARACTERS
}

fn asks_next(request: &Request) -> bool {
    request.entries().iter().any(|entry| {
        matches!(entry, Entry::Called { input, .. } if input["command"].as_str().is_some_and(|line| line.starts_with("fp next")))
    })
}

fn spent(stand_in: &StandIn) -> Spent {
    let lead = stand_in.of_lead();
    let leading: Vec<_> = lead.iter().filter(|request| asks_next(request)).collect();
    // A turn begins where the client sends something other than a tool's result.
    let begins = |request: &&&std::sync::Arc<Request>| {
        request
            .news()
            .iter()
            .any(|entry| matches!(entry, Entry::Heard(text) if text.contains("task-notification")))
    };
    let (first, last) = (
        leading.first().expect("it led"),
        leading.last().expect("it led"),
    );
    Spent {
        turns: 1 + leading.iter().filter(begins).count(),
        requests: leading.len() + 1,
        grown: tokens(last, &["messages"]) - tokens(first, &["messages"]),
        sent: leading
            .iter()
            .map(|request| tokens(request, &["system", "tools", "messages"]))
            .sum(),
        own: tokens(last, &["system", "tools"]),
    }
}

fn measure(builders: usize) {
    let sample = sample();
    let builder = (1..=TASKS).fold(Builder::default(), |builder, number| {
        builder.writing(
            &number.to_string(),
            &format!("pages/{number}.txt"),
            &format!("{number}\n"),
        )
    });
    let cast = Cast {
        builder,
        ..Cast::default()
    };
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let ended = client
        .print(&format!("/fp:implement {PLAN} --builders {builders}"))
        .end();
    assert!(
        ended.result().contains(OVER),
        "{}\n{}",
        ended.result(),
        stand_in.summary()
    );
    assert_eq!(sample.new_commits().len(), TASKS);
    assert!(events(&sample, "sentBack").is_empty(), "nothing failed");

    let Spent {
        turns,
        requests,
        grown,
        sent,
        own,
    } = spent(&stand_in);
    let of_a_task =
        |total: usize| f64::from(u32::try_from(total).expect("it is small")) / TASKS as f64;
    let line = format!(
        "{builders} builder(s), a task: {:.1} turns, {:.1} requests, {:.0} tokens new, {:.0} sent; {own} of each request \
         are the client's own\n",
        of_a_task(turns),
        of_a_task(requests),
        of_a_task(grown),
        of_a_task(sent)
    );
    std::io::stdout()
        .write_all(line.as_bytes())
        .expect("standard output is open");
    assert!(of_a_task(turns) <= TURNS, "{line}");
}

fn a_lead_spends_little_on_a_task() {
    measure(1);
}

fn a_lead_spends_little_on_a_task_of_three_builders() {
    measure(3);
}

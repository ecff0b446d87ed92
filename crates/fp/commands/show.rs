//! `fp show`: draws the task tree.

use std::path::PathBuf;

use fp_host::file;
use fp_plan::plan::{Lines, Plan, parse};
use fp_plan::rules::{RuleFacts, check};
use fp_plan::schedule::{BUILDERS, ScheduleOptions};
use fp_plan::settings::Settings;
use fp_plan::text::fitted;
use fp_run::critique::CritiqueLine;
use fp_run::report::standing::LeadPresence;
use fp_run::report::tree::{TaskRow, TreeReport};
use fp_run::run::State;
use unicode_width::UnicodeWidthStr as _;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::pages::{mermaid, plan};
use crate::printer::{Output, WIDTH, format_option, json};
use crate::source::PlanSource;
use crate::theme::{self, Look, StyledLine};

/// Most columns of branches; deeper tasks are drawn at this indentation.
const BRANCHES: usize = 36;

/// Show the task tree, with the state of each task
#[derive(Debug, clap::Args)]
#[command(arg(format_option(&["text", "json", "mermaid", "html"])))]
pub(crate) struct ShowTreeArgs {
    /// The plan, or a file that ends in `.md`; defaults to the only active plan.
    plan: Option<String>,
    /// Write it to a file instead of printing it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: ShowTreeArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open_to_read(context, args.plan.as_deref())?;
    let settings = source
        .plan
        .as_ref()
        .map_or_else(|| context.settings(), |plan| Ok(&plan.settings))?;
    let text = source.text()?;
    let (parsed, problems) = parse(&text);
    let mut report = TreeReport::new(
        &parsed,
        source.plan.as_ref().and_then(|plan| plan.folder.goal()),
    );
    let mut at_once = settings.max_parallel_tasks;
    if let Some(plan) = &source.plan {
        let (state, lead) = context.seen(plan)?;
        report = report.with_run(&parsed, &state, lead);
        report.critique = CritiqueLine::new(&state, &text);
        at_once = state.run.as_ref().map_or(at_once, |run| run.terms.builders);
    }
    if context.output != Output::Text {
        let facts = RuleFacts {
            max_complexity: settings.max_complexity,
            ..RuleFacts::default()
        };
        report = report
            .with_schedules(
                &parsed,
                &schedule_options(settings),
                &builders(at_once, context.output),
            )
            .with_problems(&check(&parsed, &problems, &facts), &Lines::new(&text));
    }
    let shown = rendered(context, &source, &report, at_once)?;
    let Some(path) = args.out else {
        match context.output {
            Output::Mermaid | Output::Html => context.printer.exact(&shown),
            Output::Text => context.printer.styled(&shown),
            Output::Json => context.printer.data(&shown),
        }
        return Ok(Exit::Done);
    };
    let path = context.cwd.join(path);
    file::atomic_write(&path, theme::without_colours(&shown).as_bytes())?;
    context
        .printer
        .note(&format!("note: written to {}", context.shown(&path)));
    Ok(Exit::Done)
}

fn rendered(
    context: &Context,
    source: &PlanSource,
    report: &TreeReport<'_>,
    at_once: u32,
) -> Result<String, CommandError> {
    Ok(match context.output {
        Output::Mermaid => drawn(context, report),
        Output::Html => plan::plan_page(report, &source.name, at_once),
        Output::Json => json(report)?,
        Output::Text => tree_text(report),
    })
}

/// The flowchart of a plan's `tree`; prints a note if Mermaid may refuse it.
pub(crate) fn chart(
    context: &Context,
    tree: &Plan<'_>,
    state: &State,
    lead: LeadPresence,
    settings: &Settings,
    goal: Option<String>,
) -> String {
    drawn(context, &scheduled_tree(tree, state, lead, settings, goal))
}

fn drawn(context: &Context, report: &TreeReport<'_>) -> String {
    let chart = mermaid::flowchart(report);
    context.notices(mermaid::limit(report, &chart).as_slice());
    chart
}

/// `tree` with its run, and its schedule for as many builders as there are.
pub(super) fn scheduled_tree<'p>(
    tree: &'p Plan<'p>,
    state: &State,
    lead: LeadPresence,
    settings: &Settings,
    goal: Option<String>,
) -> TreeReport<'p> {
    let at_once = state
        .run
        .as_ref()
        .map_or(settings.max_parallel_tasks, |run| run.terms.builders);
    let report = TreeReport::new(tree, goal).with_run(tree, state, lead);
    report.with_schedules(tree, &schedule_options(settings), &[at_once])
}

fn schedule_options(settings: &Settings) -> ScheduleOptions {
    ScheduleOptions {
        order: settings.execution_order,
        exclusive: settings.exclusive.clone(),
        ..ScheduleOptions::default()
    }
}

/// The numbers of builders whose waves are shown: the configured one, and on the page some for comparison.
fn builders(at_once: u32, output: Output) -> Vec<u32> {
    let mut builders = vec![at_once];
    if output == Output::Html {
        builders.extend(BUILDERS);
        builders.sort_unstable();
        builders.dedup();
    }
    builders
}

/// The whole tree. Uses a stack of its own, since a tree can be deeper than the program's stack.
fn tree_text(report: &TreeReport<'_>) -> String {
    if report.tasks.is_empty() {
        return "No tasks\n".to_owned();
    }
    let mut text = String::new();
    let mut open = vec![(0, String::new(), String::new())];
    while let Some((index, branch, below)) = open.pop() {
        let task = &report.tasks[index];
        text.push_str(&tree_line(task, &branch));
        let mut children = task.children.iter().rev();
        let last = children.next().map(|child| (*child, "└─ ", "   "));
        let others = children.map(|child| (*child, "├─ ", "│  "));
        for (child, own, under) in last.into_iter().chain(others) {
            open.push((child, limited(&below, own), limited(&below, under)));
        }
    }
    if let Some(critique) = &report.critique {
        text.push_str(&format!("\n{critique}\n"));
    }
    text
}

fn limited(below: &str, part: &str) -> String {
    if below.width() < BRANCHES {
        format!("{below}{part}")
    } else {
        below.to_owned()
    }
}

fn tree_line(task: &TaskRow, branch: &str) -> String {
    let facts = complexity_and_state(task);
    let facts = if facts.is_empty() {
        facts
    } else {
        format!(" ({facts})")
    };
    let after: Vec<&str> = task
        .dependencies
        .iter()
        .chain(&task.preceded_by)
        .map(String::as_str)
        .collect();
    let after = if after.is_empty() {
        String::new()
    } else {
        format!("  after {}", after.join(", "))
    };
    let after = fitted(&after, WIDTH / 3);
    let look = task
        .state
        .as_ref()
        .map_or(Look::Plain, |run| Look::of(run.status, run.ready, run.halt));
    let head = StyledLine::default()
        .and(Look::Plain, branch)
        .and(Look::Strong, format!("{}  ", task.id));
    let room = WIDTH
        .saturating_sub(head.width() + facts.width() + after.width())
        .max(12);
    let line = head
        .and(Look::Plain, fitted(&task.title, room))
        .and(look, facts)
        .and(Look::Faint, after);
    line.painted(usize::MAX) + "\n"
}

/// The text in brackets after a title: complexity and state, if known.
pub(crate) fn complexity_and_state(task: &TaskRow) -> String {
    let complexity = task.complexity.map(|complexity| complexity.to_string());
    let state = task.state.as_ref().map(|run| run.state_word().to_owned());
    complexity
        .into_iter()
        .chain(state)
        .collect::<Vec<_>>()
        .join(", ")
}

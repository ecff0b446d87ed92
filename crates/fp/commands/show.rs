//! `fp show`: draws the task tree.

use std::path::PathBuf;

use fp_host::file;
use fp_plan::plan::{Lines, Plan, parse};
use fp_plan::rules::{RuleFacts, check_plan};
use fp_plan::schedule::{BUILDERS, ScheduleOptions};
use fp_plan::settings::Settings;
use fp_plan::text::fitted;
use fp_run::critique::CritiqueLine;
use fp_run::report::standing::LeadPresence;
use fp_run::report::tree::{TaskRow, TreeReport};
use fp_run::run::State;
use unicode_width::UnicodeWidthStr as _;

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::pace::prediction_terms;
use crate::pages::plan;
use crate::printer::{Output, WIDTH, format_option, json};
use crate::source::PlanSource;
use crate::theme::{self, Look, StyledLine};

/// Maximum width of the branches, in columns; deeper tasks are drawn at this indentation.
const BRANCHES: usize = 36;

/// Show the task tree, with the state of each task
#[derive(Debug, clap::Args)]
#[command(arg(format_option(&["text", "json", "html"])))]
pub(crate) struct ShowTreeArgs {
    /// The plan, or a file that ends in `.md`; defaults to the only active plan.
    plan: Option<String>,
    /// Write it to a file instead of printing it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn show_tree(args: ShowTreeArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open_to_read(context, args.plan.as_deref())?;
    let plan = source.plan.as_ref();
    let settings = plan.map_or_else(|| context.settings(), |plan| Ok(&plan.settings))?;
    let text = source.read_text()?;
    let (tree, problems) = parse(&text);
    let mut report = TreeReport::new(&tree, plan.and_then(|plan| plan.folder.goal()));
    let mut at_once = settings.max_parallel_tasks;
    if let Some(plan) = plan {
        let (state, lead) = context.state_and_lead(plan)?;
        report = report.with_run(&tree, &state, lead);
        report.critique = CritiqueLine::new(&state, &text);
        at_once = state.run.as_ref().map_or(at_once, |run| run.terms.builders);
    }
    if context.output != Output::Text {
        let facts = RuleFacts {
            max_complexity: settings.max_complexity,
            ..RuleFacts::default()
        };
        let builders = builders_shown(at_once, context.output);
        report = report
            .with_schedules(
                &tree,
                &schedule_options(settings),
                &prediction_terms(&tree, settings, context),
                &builders,
            )
            .with_problems(&check_plan(&tree, &problems, &facts), &Lines::new(&text));
    }
    let shown = match context.output {
        Output::Html => plan::plan_page(&report, &source.name, at_once),
        Output::Json => json(&report)?,
        Output::Text => tree_text(&report),
    };
    match (args.out, context.output) {
        (Some(out), _) => {
            let path = context.cwd.join(out);
            file::atomic_write(&path, theme::without_colours(&shown).as_bytes())?;
            context.note_written(&path);
        }
        (None, Output::Html) => context.printer.exact(&shown),
        (None, Output::Text | Output::Json) => context.printer.styled(&shown),
    }
    Ok(Exit::Done)
}

/// `tree` with its run, and its schedule for the run's number of builders, or else the configured one.
pub(super) fn scheduled_tree<'p>(
    tree: &'p Plan<'p>,
    state: &State,
    lead: LeadPresence,
    settings: &Settings,
    goal: Option<String>,
    context: &Context,
) -> TreeReport<'p> {
    let run = state.run.as_ref();
    let at_once = run.map_or(settings.max_parallel_tasks, |run| run.terms.builders);
    let report = TreeReport::new(tree, goal).with_run(tree, state, lead);
    let terms = prediction_terms(tree, settings, context);
    report.with_schedules(tree, &schedule_options(settings), &terms, &[at_once])
}

/// The order is without what `fp signals` measured.
pub(super) fn schedule_options(settings: &Settings) -> ScheduleOptions {
    ScheduleOptions {
        order: settings.execution_order,
        max_parallel_tasks: settings.max_parallel_tasks,
        exclusive: settings.exclusive.clone(),
        ..ScheduleOptions::default()
    }
}

/// The numbers of builders to schedule for: the configured one, and, on the HTML page, others for comparison.
fn builders_shown(at_once: u32, output: Output) -> Vec<u32> {
    let mut builders = vec![at_once];
    if output == Output::Html {
        builders.extend(BUILDERS);
        builders.sort_unstable();
        builders.dedup();
    }
    builders
}

/// The whole tree. Uses an explicit stack, since a tree can be too deep for recursion.
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
            open.push((child, with_branch(&below, own), with_branch(&below, under)));
        }
    }
    if let Some(critique) = &report.critique {
        text += &format!("\n{critique}\n");
    }
    text
}

/// Appends a branch to `below`, unless it has reached the maximum width.
fn with_branch(below: &str, part: &str) -> String {
    let part = if below.width() < BRANCHES { part } else { "" };
    format!("{below}{part}")
}

fn tree_line(task: &TaskRow, branch: &str) -> String {
    let mut facts = complexity_and_state(task);
    if !facts.is_empty() {
        facts = format!(" ({facts})");
    }
    let after = task.dependencies.iter().chain(&task.preceded_by);
    let after: Vec<&str> = after.map(String::as_str).collect();
    let after = match after.is_empty() {
        true => String::new(),
        false => fitted(&format!("  after {}", after.join(", ")), WIDTH / 3),
    };
    let look = task.state.as_ref().map_or(Look::Plain, Look::of_task);
    let head =
        StyledLine::new(Look::Plain, branch).with_text(Look::Strong, format!("{}  ", task.id));
    let used = head.width() + facts.width() + after.width();
    let title = fitted(&task.title, WIDTH.saturating_sub(used).max(12));
    let line = head
        .with_text(Look::Plain, title)
        .with_text(look, facts)
        .with_text(Look::Faint, after);
    line.painted(usize::MAX) + "\n"
}

/// The text in parentheses after a title: complexity and state, if known.
pub(crate) fn complexity_and_state(task: &TaskRow) -> String {
    let complexity = task.complexity.map(|complexity| complexity.to_string());
    let state = task.state.as_ref().map(|run| run.state_word().to_owned());
    let facts: Vec<String> = complexity.into_iter().chain(state).collect();
    facts.join(", ")
}

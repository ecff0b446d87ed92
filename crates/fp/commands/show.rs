//! `fp show`.

use std::path::PathBuf;

use fp_core::critique::CritiqueLine;
use fp_core::plan::{Lines, Plan, parse};
use fp_core::report::tree::TreeReport;
use fp_core::rules::{RuleFacts, check};
use fp_core::run::State;
use fp_core::schedule::{BUILDERS, ScheduleOptions};
use fp_core::settings::Settings;
use fp_host::file;
use fp_host::plan::OpenPlan;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::pages::{mermaid, plan};
use crate::printer::{Output, json};
use crate::render::tree;
use crate::source::PlanSource;

/// Draw the task tree, with the state of each task once it is approved
#[derive(Debug, clap::Args)]
pub(crate) struct ShowTreeArgs {
    /// The plan, or a file that ends in `.md`; the only active plan where left out.
    plan: Option<String>,
    /// Write it to a file instead of printing it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: ShowTreeArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open(context, args.plan.as_deref())?;
    let settings = source.plan.as_ref().map_or_else(|| context.settings(), |plan| Ok(&plan.settings))?;
    let text = source.text()?;
    let (parsed, problems) = parse(&text);
    let mut report = TreeReport::new(&parsed, source.plan.as_ref().and_then(OpenPlan::goal_if_kept));
    let mut at_once = settings.max_parallel_tasks;
    if let Some(plan) = &source.plan {
        let loaded = plan.load()?;
        context.notices(&loaded.notices);
        report = report.with_run(&parsed, &loaded.state);
        report.critique = CritiqueLine::new(&loaded.state, &text);
        at_once = loaded.state.run.as_ref().map_or(at_once, |run| run.terms.builders);
    }
    if context.output != Output::Text {
        let facts = RuleFacts { max_complexity: settings.max_complexity, ..RuleFacts::default() };
        report = report
            .with_schedules(&parsed, &schedule_options(settings), &builders(at_once, context.output))
            .with_problems(&check(&parsed, &problems, &facts), &Lines::new(&text));
    }
    let shown = rendered(context, &source, &report, at_once)?;
    let Some(path) = args.out else {
        if context.output.is_export() {
            context.printer.exact(&shown);
        } else {
            context.printer.data(&shown);
        }
        return Ok(Exit::Done);
    };
    let path = context.cwd.join(path);
    file::atomic_write(&path, shown.as_bytes())?;
    context.printer.note(&format!("note: written to {}", context.shown(&path)));
    Ok(Exit::Done)
}

fn rendered(
    context: &Context,
    source: &PlanSource,
    report: &TreeReport<'_>,
    at_once: u32,
) -> Result<String, CommandError> {
    Ok(match context.output {
        Output::Mermaid => {
            let chart = mermaid::flowchart(report);
            context.notices(mermaid::limit(report, &chart).as_slice());
            chart
        }
        Output::Html => plan::plan_page(report, &source.name, at_once),
        Output::Json => json(report)?,
        Output::Text => tree::text(report),
    })
}

/// The flowchart of a plan's `tree`, with what limits it said.
pub(crate) fn chart(
    context: &Context,
    tree: &Plan<'_>,
    state: &State,
    settings: &Settings,
    goal: Option<String>,
) -> String {
    let at_once = state.run.as_ref().map_or(settings.max_parallel_tasks, |run| run.terms.builders);
    let report = TreeReport::new(tree, goal).with_run(tree, state).with_schedules(
        tree,
        &schedule_options(settings),
        &[at_once],
    );
    let chart = mermaid::flowchart(&report);
    context.notices(mermaid::limit(&report, &chart).as_slice());
    chart
}

pub(super) fn schedule_options(settings: &Settings) -> ScheduleOptions {
    ScheduleOptions {
        order: settings.execution_order,
        model: settings.execution_model,
        exclusive: settings.exclusive.clone(),
        ..ScheduleOptions::default()
    }
}

/// The numbers of builders whose waves are told: those that run, and on the page some to compare with.
fn builders(at_once: u32, output: Output) -> Vec<u32> {
    let mut builders = vec![at_once];
    if output == Output::Html {
        builders.extend(BUILDERS);
        builders.sort_unstable();
        builders.dedup();
    }
    builders
}

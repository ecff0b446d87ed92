//! `fp schedule`: orders the tasks, so that people see the schedule before they approve it.

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use fp_host::run::end_checks::end_commands;
use fp_plan::plan::{Plan, parse};
use fp_plan::schedule::{DelayCause, Schedule, ScheduleOptions, ScheduleStep, schedule};
use fp_plan::settings::ExecutionOrder;
use fp_plan::text::{counted, wrapped, wrapped_within};
use fp_run::critique::{Critique, CritiqueLine};
use serde::Serialize;

use super::approve::commands_text;
use super::critique::last_critique;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::features::exchange::note_named;
use crate::printer::WIDTH;
use crate::source::PlanSource;

/// Maximum number of lines per task.
const LINES: usize = 3;

/// Show the order of the tasks
#[derive(Debug, clap::Args)]
pub(crate) struct ScheduleArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// How to choose among the tasks that could be next; defaults to the setting.
    #[arg(long, value_parser = PossibleValuesParser::new(["document-order", "risk-first", "easy-first"])
        .try_map(|name| serde_json::from_value::<ExecutionOrder>(name.into())))]
    order: Option<ExecutionOrder>,
    /// How many tasks run at once (1-16); defaults to the run's number or the setting.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16))]
    parallel: Option<u32>,
}

pub(crate) fn run(args: ScheduleArgs, context: &Context) -> CommandResult {
    let goal = args.plan.as_deref().filter(|name| name.contains(' '));
    let source =
        PlanSource::open_to_read(context, args.plan.as_deref()).map_err(|error| match goal {
            Some(_) => {
                error.with_hint("to plan a goal: `/fp:plan GOAL` in Claude Code, or `fp new GOAL`")
            }
            None => error,
        })?;
    let plan = source.plan()?;
    let tree_text = source.read_text()?;
    let (tree, problems) = parse(&tree_text);
    let settings = &plan.settings;
    let order = args.order.unwrap_or(settings.execution_order);
    let composite = plan.composites()?;
    if composite.is_none() && order != ExecutionOrder::DocumentOrder {
        context.printer.print_note(&format!(
            "note: the order goes by complexity alone, since nothing was measured: run `fp signals {}` first",
            plan.id()
        ));
    }
    let state = plan.load()?.state;
    let at_once = state
        .run
        .as_ref()
        .map_or(settings.max_parallel_tasks, |run| run.terms.builders);
    let options = ScheduleOptions {
        order,
        max_parallel_tasks: args.parallel.unwrap_or(at_once),
        composite: composite.unwrap_or_default(),
        exclusive: settings.exclusive.clone(),
    };
    source.refuse_invalid(&tree, &problems)?;
    note_named(plan, &tree, context)?;
    let schedule = schedule(&tree, &options).map_err(|error| {
        CommandError::refused(error)
            .with_hint(format!("`fp validate {}` shows the cycle", plan.id()))
    })?;
    let critique = CritiqueLine::new(&state, &tree_text);
    let found = critique
        .as_ref()
        .filter(|critique| critique.findings > 0 && !state.is_running());
    let found = found.map_or(Ok(None), |_| last_critique(plan))?;
    let found = found
        .as_ref()
        .map_or_else(String::new, Critique::finding_list);
    let told = critique
        .as_ref()
        .map_or_else(String::new, |critique| format!("\n{critique}\n{found}"));
    let mut commands = commands_text(&tree, &end_commands(plan, &tree));
    if !commands.is_empty() {
        commands.insert(0, '\n');
    }
    let text = schedule_text(&schedule, widest_wave(&tree, &options)) + &commands + &told;
    context.report(
        &PrintedSchedule {
            schedule: &schedule,
            critique: critique.as_ref(),
        },
        &text,
    )
}

/// The output of `--format json`.
#[derive(Serialize)]
struct PrintedSchedule<'s> {
    #[serde(flatten)]
    schedule: &'s Schedule<'s>,
    #[serde(skip_serializing_if = "Option::is_none")]
    critique: Option<&'s CritiqueLine>,
}

/// The number of tasks that could run at once with unlimited builders.
fn widest_wave(tree: &Plan, options: &ScheduleOptions) -> usize {
    let widest = ScheduleOptions {
        max_parallel_tasks: u32::MAX,
        ..options.clone()
    };
    let widest = schedule(tree, &widest).ok();
    let tasks = |schedule: Schedule<'_>| schedule.waves.iter().map(|wave| wave.tasks.len()).max();
    widest.and_then(tasks).unwrap_or_default()
}

/// The schedule as text, at most 80 columns wide.
fn schedule_text(schedule: &Schedule<'_>, width: usize) -> String {
    let mut text = format!(
        "{} in {}, at most {} at once; {width} could run at once\n",
        counted(schedule.order.len(), "task"),
        counted(schedule.waves.len(), "wave"),
        schedule.max_parallel_tasks
    );
    // With one builder, tasks run one after the other.
    let why = |step: &ScheduleStep<'_>| {
        let delay = step.delay.as_ref();
        let told = delay
            .filter(|delay| delay.cause != DelayCause::Limit || schedule.max_parallel_tasks > 1);
        told.map_or_else(String::new, ToString::to_string)
    };
    let (number, wave) = (
        schedule.order.len().to_string().len(),
        schedule.waves.len().to_string().len(),
    );
    for step in &schedule.order {
        let ScheduleStep {
            position,
            wave: at,
            id,
            title,
            complexity,
            ..
        } = step;
        let reason = Some(why(step))
            .filter(|why| !why.is_empty())
            .map(|why| format!(": {why}"));
        let line = format!("{id} {title} ({complexity}){}", reason.unwrap_or_default());
        let head = format!("{position:>number$}. wave {at:<wave$}  ");
        let lines = wrapped_within(&line, WIDTH - head.len(), LINES);
        text.push_str(&format!(
            "{head}{}\n",
            lines.join(&format!("\n{}", " ".repeat(head.len())))
        ));
    }
    let path = &schedule.critical_path;
    let way = if path.tasks.is_empty() {
        "none".to_owned()
    } else {
        path.tasks.join(" → ")
    };
    text.push('\n');
    let label = format!(
        "Critical path, {} of {} complexity: ",
        path.complexity, schedule.total_complexity
    );
    text.push_str(&(wrapped(&(label + &way), WIDTH - 2).join("\n  ") + "\n"));
    let factors = schedule
        .speed_up
        .iter()
        .map(|gain| format!("{:.1}x with {}", gain.factor, gain.builders));
    text.push_str(&format!(
        "Ideal speed-up: {} builders\n",
        factors.collect::<Vec<_>>().join(", ")
    ));
    text
}

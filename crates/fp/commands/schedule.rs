//! `fp schedule`: orders the tasks, so that people see the schedule before they approve it.

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use fp_host::run::end_checks::end_commands;
use fp_plan::plan::parse;
use fp_plan::schedule::prediction::Prediction;
use fp_plan::schedule::{Delay, Schedule, ScheduleOptions, schedule};
use fp_plan::settings::ExecutionOrder;
use fp_plan::text::{counted, wrapped, wrapped_within};
use fp_run::critique::CritiqueLine;
use serde::Serialize;

use super::approve::commands_text;
use super::critique::last_critique;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::features::exchange::note_named;
use crate::pace::prediction_terms;
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
    let terms = prediction_terms(&tree, settings, context);
    let schedule = schedule(&tree, &options, &terms).map_err(|error| {
        CommandError::refused(error)
            .with_hint(format!("`fp validate {}` shows the cycle", plan.id()))
    })?;
    let critique = CritiqueLine::new(&state, &tree_text);
    let found = critique
        .as_ref()
        .filter(|it| it.findings > 0 && !it.changed && !state.is_running());
    let found = found.map_or(Ok(None), |_| last_critique(plan))?;
    let found = found.map(|it| it.finding_list()).unwrap_or_default();
    let told = critique.as_ref().map(|it| format!("\n{it}\n{found}"));
    let mut commands = commands_text(&tree, &end_commands(plan, &tree));
    if !commands.is_empty() {
        commands.insert(0, '\n');
    }
    let text = schedule_text(&schedule)
        + &prediction_text(&schedule.prediction)
        + &commands
        + &told.unwrap_or_default();
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

/// The schedule as text, at most 80 columns wide.
fn schedule_text(schedule: &Schedule<'_>) -> String {
    let (steps, builders) = (&schedule.order, schedule.prediction.builders);
    let tasks = counted(steps.len(), "task");
    let mut text = format!("{tasks}, at most {builders} at once\n");
    // With one builder, tasks run one after the other.
    let is_told = |delay: &&Delay<'_>| builders > 1 || !matches!(delay, Delay::Limit { .. });
    let number = steps.len().to_string().len();
    let start = steps
        .iter()
        .map(|step| step.start)
        .max()
        .unwrap_or_default();
    let start = start.to_string().len() + "at  min".len();
    for step in steps {
        let why = step.delay.as_ref().filter(is_told);
        let why = why.map_or_else(String::new, |delay| format!(": {delay}"));
        let line = format!("{} {} ({}){why}", step.id, step.title, step.complexity);
        let minute = format!("at {} min", step.start);
        let head = format!("{:>number$}. {minute:<start$}  ", step.position);
        let lines = wrapped_within(&line, WIDTH - head.len(), LINES);
        let below = format!("\n{}", " ".repeat(head.len()));
        text += &format!("{head}{}\n", lines.join(&below));
    }
    let path = &schedule.prediction.critical_path;
    let way = match path.tasks.is_empty() {
        true => "none".to_owned(),
        false => path.tasks.join(" → "),
    };
    let line = format!("Critical path, {} min: {way}", path.minutes);
    text + "\n" + &wrapped(&line, WIDTH - 2).join("\n  ") + "\n"
}

/// The prediction for the plan, and whether it is worth it.
pub(super) fn prediction_text(prediction: &Prediction<'_>) -> String {
    let line = |text: &str| wrapped(text, WIDTH - 2).join("\n  ") + "\n";
    let mut text = line(&prediction.to_string());
    let mut by_builders = prediction.by_builders.iter();
    let told = by_builders.clone();
    let told = told.map(|it| format!("{} min with {}", it.minutes, it.builders));
    let told: Vec<String> = told.collect();
    if told.len() > 1 {
        text += &line(&format!("By builders: {}", told.join(", ")));
    }
    if prediction.measured > 0 {
        let tasks = counted(prediction.measured as usize, "task");
        text += &line(&format!("Corrected by {tasks} measured here"));
    }
    if prediction.is_not_worth {
        let enough = by_builders.find(|it| it.minutes * 5 <= prediction.session * 4);
        let more = enough.map_or_else(String::new, |it| format!("take {} builders, ", it.builders));
        text += &line(&format!(
            "The split gains less than a fifth of one session: make it one leaf, {more}or say why it is split: \
             `Split: gate | context | asked`"
        ));
    }
    text
}

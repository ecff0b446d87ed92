//! `fp plan`.

use fp_core::schedule::{Options, Schedule, ScheduleError, markdown, schedule};
use fp_core::settings::ExecutionOrder;
use fp_host::file;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::render::status::fit;
use crate::source::Source;

/// Columns of a title.
const TITLE: usize = 48;

/// Order the tasks and write plan.md
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan; the only active one where left out.
    plan: Option<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let source = Source::open(context, args.plan.as_deref())?;
    let plan = source.plan()?;
    let (_, tree) = source.valid_tree()?;
    let settings = &plan.settings;
    let composite = plan.composites()?;
    if composite.is_none() && settings.execution_order != ExecutionOrder::DocumentOrder {
        context.printer.note(&format!(
            "note: the order goes by complexity alone, since nothing was measured: run `fp signals {}` first",
            plan.id()
        ));
    }
    let options = Options {
        order: settings.execution_order,
        model: settings.execution_model,
        max_parallel_tasks: settings.max_parallel_tasks,
        composite: composite.unwrap_or_default(),
    };
    let schedule = schedule(&tree, &options).map_err(|error @ ScheduleError::Cycle { .. }| {
        CommandError::refused(error).hint(format!("`fp validate {}` shows the cycle", plan.id()))
    })?;
    let path = plan.folder.file("plan.md");
    file::atomic_write(&path, markdown(&schedule).as_bytes())?;
    match context.format {
        Format::Json => context.printer.json(&schedule)?,
        Format::Text => context.printer.data(&text(&schedule)),
    }
    Ok(Exit::Done)
}

fn text(schedule: &Schedule) -> String {
    let mut text = format!("{} tasks in {} waves\n", schedule.order.len(), schedule.waves.len());
    let width = schedule.order.iter().map(|step| step.id.len()).max().unwrap_or(0);
    for step in &schedule.order {
        let title = fit(&step.title, TITLE);
        let row = format!("{:>4}. wave {:<3} {:width$}  {title}", step.position, step.wave, step.id);
        text.push_str(&format!("{}\n", row.trim_end()));
    }
    let path = &schedule.critical_path;
    text.push_str(&format!(
        "Critical path: {} of {} complexity\n",
        path.complexity, schedule.total_complexity
    ));
    let factors = schedule.speed_up.iter().map(|s| format!("{} builders {:.1}x", s.builders, s.factor));
    text.push_str(&format!("At best: {}\n", factors.collect::<Vec<_>>().join(", ")));
    text
}

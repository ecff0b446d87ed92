//! `fp plan`.

use std::mem::ManuallyDrop;
use std::thread;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use fp_core::critique::CritiqueLine;
use fp_core::plan::parse;
use fp_core::schedule::{Options, Schedule, ScheduleError, markdown, schedule};
use fp_core::settings::ExecutionOrder;
use fp_host::file;
use serde::Serialize;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{Format, json};
use crate::render;
use crate::source::Source;

/// Order the tasks and write plan.md
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan; the only active one where left out.
    plan: Option<String>,
    /// Which of several tasks that could be next is next; else as configured.
    #[arg(long, value_parser = PossibleValuesParser::new(["document-order", "risk-first", "easy-first"])
        .try_map(|name| serde_json::from_value::<ExecutionOrder>(name.into())))]
    order: Option<ExecutionOrder>,
    /// How many tasks run at once (1-16); else as configured.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16))]
    parallel: Option<u32>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let source = Source::open(context, args.plan.as_deref())?;
    let plan = source.plan()?;
    let tree_text = source.text()?;
    // The process ends with this command, and gives back all of its memory faster than piece by piece.
    let (tree, problems) = &*ManuallyDrop::new(parse(&tree_text));
    let settings = &plan.settings;
    let order = args.order.unwrap_or(settings.execution_order);
    let composite = plan.composites()?;
    if composite.is_none() && order != ExecutionOrder::DocumentOrder {
        context.printer.note(&format!(
            "note: the order goes by complexity alone, since nothing was measured: run `fp signals {}` first",
            plan.id()
        ));
    }
    let options = Options {
        order,
        model: settings.execution_model,
        max_parallel_tasks: args.parallel.unwrap_or(settings.max_parallel_tasks),
        composite: composite.unwrap_or_default(),
        exclusive: settings.exclusive.clone(),
    };
    let (scheduled, valid) = at_once(|| schedule(tree, &options), || source.refuse_invalid(tree, problems));
    valid?;
    let schedule = ManuallyDrop::new(scheduled.map_err(|error @ ScheduleError::Cycle { .. }| {
        CommandError::refused(error).hint(format!("`fp validate {}` shows the cycle", plan.id()))
    })?);
    let critique = CritiqueLine::new(&plan.load()?.state, &tree_text);
    let path = plan.folder.file("plan.md");
    let format = context.format;
    let (text, written) = at_once(
        || match format {
            Format::Json => json(&Printed { schedule: &schedule, critique: critique.as_ref() }),
            Format::Text => Ok(render::schedule::text(&schedule) + &line(critique.as_ref())),
        },
        || file::atomic_write(&path, markdown(&schedule).as_bytes()),
    );
    written?;
    context.printer.data(&text?);
    context.printer.note(&format!("note: written to {}", context.shown(&path)));
    Ok(Exit::Done)
}

/// What `--format json` prints.
#[derive(Serialize)]
struct Printed<'s> {
    #[serde(flatten)]
    schedule: &'s Schedule<'s>,
    #[serde(skip_serializing_if = "Option::is_none")]
    critique: Option<&'s CritiqueLine>,
}

fn line(critique: Option<&CritiqueLine>) -> String {
    critique.map_or_else(String::new, |critique| format!("\n{critique}\n"))
}

/// What both give, the first one on a thread of its own.
fn at_once<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        (first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), second)
    })
}

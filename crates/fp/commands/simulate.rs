//! `fp simulate`.

use fp_core::plan::parse;
use fp_core::run::event::Leaf;
use fp_core::run::simulate::{Simulation, simulate};
use fp_core::run::{State, approval};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::render;
use crate::source::PlanSource;

/// Show how long the plan takes with so many builders, and what keeps it from being shorter
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan; the only active one where left out.
    plan: Option<String>,
    /// The numbers of builders (1-16).
    #[arg(short = 'j', long = "builders", value_name = "N", value_delimiter = ',', default_values_t = [1, 2, 4, 8],
        value_parser = clap::value_parser!(u32).range(1..=16))]
    builders: Vec<u32>,
}

/// What was simulated, and what came of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Simulated<'s> {
    /// The plan.
    pub(crate) plan_id: &'s str,
    /// All its leaves.
    pub(crate) tasks: usize,
    /// Those that are not over, which are simulated.
    pub(crate) left: usize,
    /// The sum of their complexities.
    pub(crate) total_complexity: u64,
    /// One for each number of builders.
    pub(crate) simulations: Vec<Simulation>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let source = PlanSource::open(context, args.plan.as_deref())?;
    let plan = source.plan()?;
    let loaded = plan.load()?;
    context.notices(&loaded.notices);
    let all = leaves(&source, &loaded.state, &plan.settings.exclusive)?;
    let is_open = |leaf: &&Leaf| loaded.state.task(&leaf.id).is_none_or(|task| !task.status.is_final());
    let left: Vec<Leaf> = all.iter().filter(is_open).cloned().collect();
    let policy = super::run::policy(plan)?;
    let simulations = simulate(&left, &policy, &args.builders).ok_or_else(|| {
        CommandError::refused("some tasks wait for each other, so that the run would never end")
            .hint(format!("`fp validate {}` shows the cycle", plan.id()))
    })?;
    let simulated = Simulated {
        plan_id: plan.id().as_str(),
        tasks: all.len(),
        left: left.len(),
        total_complexity: left.iter().map(|leaf| u64::from(leaf.complexity)).sum(),
        simulations,
    };
    match context.format {
        Format::Text => context.printer.data(&render::simulation::text(&simulated)),
        Format::Json => context.printer.json(&simulated)?,
    }
    Ok(Exit::Done)
}

/// The leaves as they were approved; before that, as the tree has them.
fn leaves(source: &PlanSource, state: &State, exclusive: &[String]) -> Result<Vec<Leaf>, CommandError> {
    if state.approval.is_some() {
        return Ok(state.tasks.iter().map(|task| task.leaf.clone()).collect());
    }
    let text = source.text()?;
    approval::leaves(&parse(&text).0, exclusive).map_err(|error| {
        CommandError::refused(error).hint(format!("`fp validate {}` shows where", source.argument()))
    })
}

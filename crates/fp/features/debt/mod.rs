//! Debts: work that somebody noted for later or that a run left undone, kept until a plan does it or it is dropped.
//!
//! A noted debt is a line in a log of its own. Leftovers of a run are read off the run's state each time and never
//! written down twice: their id names plan and task, so they can be closed like any other.

pub(crate) mod command;
mod disk;
mod model;

pub(crate) use self::model::DebtOffer;
use crate::context::Context;
use crate::context::Known;

/// The open debts to show to whoever starts a plan for `goal`. A log that can't be read becomes a warning.
pub(crate) fn offer_for(
    goal: &str,
    known: &[Known],
    context: &Context,
    warnings: &mut Vec<String>,
) -> DebtOffer {
    let entries = disk::read_log(context.repo()).unwrap_or_else(|error| {
        warnings.push(error.message);
        Vec::new()
    });
    model::offer(model::all_debts(&entries, &disk::debt_plans(known)), goal)
}

//! Debts as commands need them: what was noted, and what the runs of all plans left over.

use fp_core::debt::{self, Debt, Entry, PlanState};
use fp_host::debts::DebtLog;

use crate::context::Context;
use crate::context::Known;
use crate::error::CommandError;

/// The log of debts of the repository.
pub(crate) fn log(context: &Context) -> Result<DebtLog<'_>, CommandError> {
    Ok(DebtLog::of(context.repo(), context.plans()?))
}

/// All debts by the lines of their log and the plans that are known.
pub(crate) fn of(log: &[Entry], known: &[Known]) -> Vec<Debt> {
    let states: Vec<PlanState<'_>> = known
        .iter()
        .filter_map(|known| Some((known.state.as_deref().ok()?, known.archived)))
        .map(|(state, archived)| PlanState { state, archived })
        .collect();
    debt::debts(log, &states)
}

/// All debts. A plan whose log can't be read is named, and left out.
pub(crate) fn all(context: &Context) -> Result<Vec<Debt>, CommandError> {
    let known = context.known_plans()?;
    context.warn_of_unread(&known);
    let read = log(context)?.read()?;
    context.notices(&read.notices);
    Ok(of(&read.entries, &known))
}

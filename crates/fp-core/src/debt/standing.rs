//! What has become of each debt, by its log and by the plans that have taken some up.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use super::{Debt, DebtId, Entry, Event, leftover};
use crate::plan::id::PlanId;
use crate::report::status::Phase;
use crate::run::State;
use crate::run::state::Status;

/// What has become of a debt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum Standing {
    /// Nobody does it.
    Open,
    /// A plan does it, which is not over.
    Taken {
        /// The plan.
        by: PlanId,
    },
    /// It is done.
    Done {
        /// The plan that did it, where it was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<PlanId>,
    },
    /// It is not wanted any more.
    Dropped,
}

impl Standing {
    /// Whether it is still to be done, by whomever.
    #[must_use]
    pub fn is_due(&self) -> bool {
        matches!(self, Self::Open | Self::Taken { .. })
    }
}

/// A plan and whether it is archived.
#[derive(Debug, Clone, Copy)]
pub struct PlanState<'s> {
    /// Its state.
    pub state: &'s State,
    /// Whether it was put away.
    pub archived: bool,
}

impl PlanState<'_> {
    /// What becomes of a debt that this plan has taken up: it is done with the last task, and open again where the
    /// plan ended, or was put away, without that.
    #[must_use]
    pub fn of_taken(&self) -> Standing {
        let Self { state, archived } = self;
        let by = state.plan_id.clone();
        let is_over = matches!(Phase::of(state), Phase::Finished | Phase::Cancelled);
        let is_done = state.tasks.iter().all(|task| task.status == Status::Completed);
        match (is_over, *archived) {
            (true, _) if is_done => Standing::Done { by: Some(by) },
            (false, false) => Standing::Taken { by },
            _ => Standing::Open,
        }
    }
}

/// Every debt that there is, those noted first, in the order of their lines, then what the runs of `plans` left over.
#[must_use]
pub fn debts(log: &[Entry], plans: &[PlanState<'_>]) -> Vec<Debt> {
    let mut debts: Vec<Debt> = log.iter().filter_map(noted).collect();
    let mut known = BTreeSet::new();
    // A merge of two branches can bring in a second line with one number; the first one counts.
    debts.retain(|debt| known.insert(debt.id.clone()));
    debts.extend(plans.iter().flat_map(|plan| leftover::of_run(plan.state)));
    let closed: BTreeMap<&DebtId, (Timestamp, Ending)> = log.iter().filter_map(ending).collect();
    for debt in &mut debts {
        match closed.get(&debt.id) {
            // What a later run of the same task left over is there again.
            Some((at, ending)) if *at >= debt.at => debt.standing = ending.standing(plans),
            _ => {}
        }
    }
    debts
}

fn noted(entry: &Entry) -> Option<Debt> {
    let Event::Noted { id, text, files, from } = &entry.event else { return None };
    Some(Debt {
        id: id.clone(),
        text: text.clone(),
        files: files.clone(),
        from: from.clone(),
        at: entry.at,
        standing: Standing::Open,
    })
}

/// How a debt was closed.
enum Ending<'e> {
    Done,
    By(&'e PlanId),
    Dropped,
}

fn ending(entry: &Entry) -> Option<(&DebtId, (Timestamp, Ending<'_>))> {
    let ending = match &entry.event {
        Event::Noted { .. } => return None,
        Event::Closed { plan: Some(plan), .. } => Ending::By(plan),
        Event::Closed { plan: None, .. } => Ending::Done,
        Event::Dropped { .. } => Ending::Dropped,
    };
    Some((entry.event.id(), (entry.at, ending)))
}

impl Ending<'_> {
    fn standing(&self, plans: &[PlanState<'_>]) -> Standing {
        match self {
            Self::Done => Standing::Done { by: None },
            Self::Dropped => Standing::Dropped,
            Self::By(plan) => {
                let plan = plans.iter().find(|known| known.state.plan_id == **plan);
                plan.map_or(Standing::Open, PlanState::of_taken)
            }
        }
    }
}

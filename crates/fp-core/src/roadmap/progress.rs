//! How far a layer is, by the plans that were made for it.

use serde::Serialize;

use crate::plan::id::PlanId;
use crate::report::status::Phase;
use crate::run::State;
use crate::run::state::Status;

/// A plan that was made for a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LayerPlan {
    /// Its id.
    pub plan_id: PlanId,
    /// Where it is.
    pub phase: Phase,
    /// Whether it was put away.
    pub archived: bool,
    /// How many of its tasks are done.
    pub done: usize,
    /// How many it has.
    pub total: usize,
}

impl LayerPlan {
    /// The plan with this state.
    #[must_use]
    pub fn new(state: &State, archived: bool) -> Self {
        Self {
            plan_id: state.plan_id.clone(),
            phase: Phase::of(state),
            archived,
            done: state.count(Status::Completed),
            total: state.tasks.len(),
        }
    }

    fn state(&self) -> LayerState {
        match self.phase {
            Phase::Finished | Phase::Cancelled if self.done == self.total => LayerState::Done,
            Phase::Finished | Phase::Cancelled => LayerState::Stopped,
            _ if self.archived => LayerState::Stopped,
            Phase::Running => LayerState::Running,
            Phase::Planning | Phase::Approved => LayerState::Planning,
        }
    }
}

/// How far a layer is, from what needs a plan to what needs nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerState {
    /// There is no plan for it.
    None,
    /// Its plan ended, or was put away, before all of it was done.
    Stopped,
    /// Its plan is made.
    Planning,
    /// Its plan is built.
    Running,
    /// All of its plan is done.
    Done,
}

impl LayerState {
    /// The word it is written as.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "no plan",
            Self::Stopped => "stopped",
            Self::Planning => "planning",
            Self::Running => "running",
            Self::Done => "done",
        }
    }

    /// Whether a plan is to be made for it, as soon as all that comes before it is done.
    #[must_use]
    pub fn wants_a_plan(self) -> bool {
        matches!(self, Self::None | Self::Stopped)
    }
}

/// How far a layer is that these plans were made for, and the one of them that says so, the latest of several.
#[must_use]
pub fn state_of(plans: &[LayerPlan]) -> (LayerState, Option<&LayerPlan>) {
    let furthest = plans.iter().max_by_key(|plan| plan.state());
    (furthest.map_or(LayerState::None, LayerPlan::state), furthest)
}

//! How much planning a goal gets. A model that has read the goal decides; the steps follow from that.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use fp_plan::settings::Settings;

/// Modes of planning, from the least planning to the most.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Mode {
    /// One task, planned on the spot.
    Direct,
    /// The goal already says what to build, so the user needn't confirm what follows from it.
    Specified,
    /// The user has to be asked.
    #[default]
    Pipeline,
    /// Something has to be researched too, and an approach chosen.
    Full,
}

/// A planning step, named as in the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum PlanningStep {
    Interview,
    Research,
    Approach,
    Decompose,
    Critique,
    Review,
    Approve,
}

impl Mode {
    /// The steps in this mode, in order, minus those that `settings` skip. In direct mode the goal says it all: the
    /// single question is the approval's.
    pub fn steps(self, settings: &Settings) -> Vec<PlanningStep> {
        let planned = self != Self::Direct;
        let is_explored = self == Self::Full;
        let whole = !settings.research_only;
        let is_reviewed = planned && whole && !settings.skip_plan_review;
        let steps = [
            (PlanningStep::Interview, planned),
            (
                PlanningStep::Research,
                is_explored || settings.research_only,
            ),
            (PlanningStep::Approach, is_explored && whole),
            (PlanningStep::Decompose, whole),
            (PlanningStep::Critique, planned && whole),
            (PlanningStep::Review, is_reviewed),
            (PlanningStep::Approve, whole),
        ];
        let due = steps.into_iter().filter(|(_, due)| *due);
        due.map(|(step, _)| step).collect()
    }
}

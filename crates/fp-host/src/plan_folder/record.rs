//! `plan.json` records a plan's goal, its mode and its settings, for the steps that follow.

use fp_plan::plan::id::{PlanId, RoadmapId, TaskId};
use fp_plan::settings::SettingsLayer;
use fp_plan::text::json_fault;
use fp_run::interview::Mode;
use fp_run::run::event::Decider;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{PlanError, PlanFolder};
use crate::file;
use crate::plan::PLAN;

const SCHEMA_VERSION: u32 = 1;

/// Size limit of `plan.json`, in bytes: the goal is the user's own text, however long.
const CAP: u64 = 16 * 1024 * 1024;

/// The parts of the record that shape an interview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Purpose {
    pub mode: Mode,
    /// Who answers for the plan's choices.
    pub by: Decider,
}

/// The content of `plan.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRecord {
    pub plan_id: PlanId,
    /// In the user's words.
    pub goal: String,
    /// The amount of planning that the work deserves.
    pub mode: Mode,
    /// The reason for the mode.
    pub mode_reason: String,
    pub created_at: Timestamp,
    /// Who answers for the plan's choices: the user, or nobody if the user asked for that.
    pub by: Decider,
    /// The settings for this plan alone.
    pub settings: SettingsLayer,
}

/// A layer of a roadmap, for which a plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfLayer {
    pub id: RoadmapId,
    pub layer: TaskId,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    schema_version: u32,
    #[serde(flatten)]
    record: &'a PlanRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    roadmap: Option<&'a OfLayer>,
}

/// A part of the record, which is read also where another part is broken.
#[derive(Deserialize, Default)]
#[serde(default)]
struct SettingsOfPlan {
    settings: SettingsLayer,
}

/// The same of the layer.
#[derive(Deserialize, Default)]
#[serde(default)]
struct LayerOfPlan {
    roadmap: Option<OfLayer>,
}

/// The same of the goal.
#[derive(Deserialize, Default)]
#[serde(default)]
struct GoalOfPlan {
    goal: Option<String>,
}

impl PlanFolder {
    /// The goal in the user's words, if they were kept.
    pub fn goal(&self) -> Option<String> {
        self.read_record::<GoalOfPlan>().ok()?.goal
    }

    /// Writes `plan.json`; `roadmap` is the layer for which the plan was made, if any.
    pub fn describe(
        &self,
        record: &PlanRecord,
        roadmap: Option<&OfLayer>,
    ) -> Result<(), PlanError> {
        let written = Written {
            schema_version: SCHEMA_VERSION,
            record,
            roadmap,
        };
        let mut text = serde_json::to_string_pretty(&written)
            .expect("a record has text keys and plain values");
        text.push('\n');
        Ok(file::atomic_write(&self.file(PLAN), text.as_bytes())?)
    }

    /// The settings for this plan alone; none without a `plan.json`. Those that a repository may not set don't count:
    /// the folder may have come with a clone.
    pub fn settings(&self) -> Result<SettingsLayer, PlanError> {
        Ok(self.read_record::<SettingsOfPlan>()?.settings.split().0)
    }

    /// The layer of a roadmap for which the plan was made, if any.
    pub fn layer(&self) -> Result<Option<OfLayer>, PlanError> {
        Ok(self.read_record::<LayerOfPlan>()?.roadmap)
    }

    /// The purpose of the plan; the default without a `plan.json`.
    pub fn purpose(&self) -> Result<Purpose, PlanError> {
        self.read_record()
    }

    fn read_record<T: DeserializeOwned + Default>(&self) -> Result<T, PlanError> {
        let path = self.file(PLAN);
        let Some(text) = file::read_text_if_there(&path, CAP)? else {
            return Ok(T::default());
        };
        serde_json::from_str(&text).map_err(|fault| {
            let (line, column, detail) = json_fault(&fault);
            PlanError::Said {
                said: format!("{}:{line}:{column}: {detail}", path.display()),
                hint: "correct that place, or delete the file: the plan loses its goal and flags",
            }
        })
    }
}

//! `plan.json` records a plan's goal, mode and settings for later steps.

use fp_plan::plan::id::{PlanId, RoadmapId, TaskId};
use fp_plan::settings::SettingsLayer;
use fp_plan::text::json_fault;
use fp_run::interview::Mode;
use fp_run::run::event::Decider;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::PlanFolder;
use crate::error::{HostError, HostResult};
use crate::file;
use crate::plan::PLAN;

const SCHEMA_VERSION: u32 = 1;

/// Size limit of `plan.json`, in bytes; high, since the goal is the user's own text and may be long.
const CAP: u64 = 16 * 1024 * 1024;

/// The record as read from `plan.json`; missing fields have their default values.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct StoredRecord {
    goal: Option<String>,
    pub mode: Mode,
    /// Who is responsible for the plan's choices.
    pub by: Decider,
    settings: SettingsLayer,
    /// The number of the issue that the goal comes from.
    pub issue: Option<u64>,
    /// Parsed only on demand, since a plan runs without it.
    roadmap: Option<serde_json::Value>,
}

/// The content of `plan.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRecord {
    pub plan_id: PlanId,
    /// The goal in the user's words.
    pub goal: String,
    /// The amount of planning that the work needs.
    pub mode: Mode,
    /// The reason for the mode.
    pub mode_reason: String,
    pub created_at: Timestamp,
    /// Who is responsible for the plan's choices: the user, or nobody if the user asked for that.
    pub by: Decider,
    /// The settings for this plan alone.
    pub settings: SettingsLayer,
    /// The number of the issue that the goal comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<u64>,
}

/// The layer of a roadmap that a plan was made for.
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

impl PlanFolder {
    /// The goal in the user's words, if they were kept.
    pub fn goal(&self) -> Option<String> {
        self.record().ok()?.goal
    }

    /// Writes `plan.json`; `roadmap` is the layer for which the plan was made, if any.
    pub fn describe(&self, record: &PlanRecord, roadmap: Option<&OfLayer>) -> HostResult<()> {
        let written = Written {
            schema_version: SCHEMA_VERSION,
            record,
            roadmap,
        };
        let mut text = serde_json::to_string_pretty(&written)
            .expect("a record has text keys and plain values");
        text.push('\n');
        file::atomic_write(&self.file(PLAN), text.as_bytes())
    }

    /// The settings for this plan alone; none without a `plan.json`. Ignores settings that a repository isn't allowed
    /// to set, since the folder may have come with a clone.
    pub fn settings(&self) -> HostResult<SettingsLayer> {
        Ok(self.record()?.settings.split().0)
    }

    /// The layer of a roadmap for which the plan was made, if any.
    pub fn layer(&self) -> HostResult<Option<OfLayer>> {
        let layer = self.record()?.roadmap.map(serde_json::from_value);
        layer.transpose().map_err(|fault| {
            let place = self.file(PLAN);
            HostError::failed(format_args!("{}: roadmap: {fault}", place.display()))
                .with_hint("correct it, or take `roadmap` out of that file")
        })
    }

    /// The content of `plan.json`, or the default if the file doesn't exist.
    pub fn record(&self) -> HostResult<StoredRecord> {
        let path = self.file(PLAN);
        let Some(text) = file::read_text_if_there(&path, CAP)? else {
            return Ok(StoredRecord::default());
        };
        serde_json::from_str(&text).map_err(|fault| {
            let (line, column, detail) = json_fault(&fault);
            HostError::failed(format_args!("{}:{line}:{column}: {detail}", path.display()))
                .with_hint(
                    "correct that place, or delete the file: the plan loses its goal and flags",
                )
        })
    }
}

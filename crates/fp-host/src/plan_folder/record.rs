//! `plan.json`: what a plan was made for, and with which flags.

use fp_plan::plan::id::{PlanId, RoadmapId, TaskId};
use fp_plan::settings::SettingsLayer;
use fp_run::interview::{Intent, Mode};
use fp_run::run::event::Decider;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{PlanError, PlanFolder};
use crate::file;
use crate::plan::PLAN;

/// Version of `plan.json`.
const SCHEMA_VERSION: u32 = 1;

/// Largest `plan.json` that is read, in bytes: the goal is the user's own words, however many.
const CAP: u64 = 16 * 1024 * 1024;

/// What an interview about a plan goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Purpose {
    /// What kind of work it is; mid-sized where it is not recorded.
    #[serde(default = "mid_sized")]
    pub intent: Intent,
    /// How much planning it gets; a pipeline where it is not recorded.
    #[serde(default = "pipeline")]
    pub mode: Mode,
    /// Who answers for the plan's choices.
    #[serde(default)]
    pub by: Decider,
}

impl Default for Purpose {
    fn default() -> Self {
        Self { intent: mid_sized(), mode: pipeline(), by: Decider::default() }
    }
}

fn mid_sized() -> Intent {
    Intent::MidSized
}

fn pipeline() -> Mode {
    Mode::Pipeline
}

/// What a plan was made for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRecord {
    /// The plan.
    pub plan_id: PlanId,
    /// The user's own words.
    pub goal: String,
    /// What kind of work they ask for.
    pub intent: Intent,
    /// How much planning that deserves.
    pub mode: Mode,
    /// Why.
    pub mode_reason: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who answers for the plan's choices: the user, or nobody, as the user asked.
    pub by: Decider,
    /// The settings that were given for this plan alone.
    pub settings: SettingsLayer,
}

/// The layer of a roadmap that a plan was made for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfLayer {
    /// The roadmap.
    pub id: RoadmapId,
    /// The layer of it.
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
    /// Writes what the plan was made for, which may be a layer of a roadmap.
    pub fn describe(&self, record: &PlanRecord, roadmap: Option<&OfLayer>) -> Result<(), PlanError> {
        let written = Written { schema_version: SCHEMA_VERSION, record, roadmap };
        let mut text =
            serde_json::to_string_pretty(&written).expect("a record has text keys and plain values");
        text.push('\n');
        Ok(file::atomic_write(&self.file(PLAN), text.as_bytes())?)
    }

    /// The settings that were given for this plan alone; none for a plan that has no `plan.json`.
    pub fn settings(&self) -> Result<SettingsLayer, PlanError> {
        #[derive(Deserialize, Default)]
        struct Read {
            #[serde(default)]
            settings: SettingsLayer,
        }
        Ok(self.read_record::<Read>()?.settings)
    }

    /// The layer of a roadmap that the plan was made for, if it was.
    pub fn layer(&self) -> Result<Option<OfLayer>, PlanError> {
        #[derive(Deserialize, Default)]
        struct Read {
            #[serde(default)]
            roadmap: Option<OfLayer>,
        }
        Ok(self.read_record::<Read>()?.roadmap)
    }

    /// What an interview about the plan goes by; what is usual for a plan that has no `plan.json`.
    pub fn purpose(&self) -> Result<Purpose, PlanError> {
        self.read_record()
    }

    fn read_record<T: DeserializeOwned + Default>(&self) -> Result<T, PlanError> {
        let path = self.file(PLAN);
        let Some(text) = file::read_text_if_there(&path, CAP)? else {
            return Ok(T::default());
        };
        serde_json::from_str(&text).map_err(|fault| {
            let (line, column) = (fault.line(), fault.column());
            let whole = fault.to_string();
            let detail = whole.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&whole);
            PlanError::Record { path, line, column, detail: detail.to_owned() }
        })
    }
}

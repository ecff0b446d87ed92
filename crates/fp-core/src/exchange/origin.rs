//! `import.json`: where a plan came from, and what its source said that a task tree has no field for.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Where an imported plan came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// Version of this format: 1.
    pub schema_version: u32,
    /// The name of the format that it was read from.
    pub from: String,
    /// What was imported, as it was named.
    pub path: String,
    /// When.
    pub imported_at: Timestamp,
    /// What the source said of the whole and no field of a task tree has.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub ext: Map<String, Value>,
    /// What it said of each task, by the id that the task has in `tasks.md`.
    #[serde(default)]
    pub tasks: BTreeMap<String, OriginTask>,
}

/// Where an imported task came from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OriginTask {
    /// Its id in the source.
    pub id: String,
    /// What the source said of it and no field of a task tree has.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub ext: Map<String, Value>,
}

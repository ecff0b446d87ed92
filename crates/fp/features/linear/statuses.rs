//! Which of a team's statuses stands for which stage: by the configured name, else by the type that Linear gives it.

use std::collections::BTreeMap;

use fp_core::plan::id::LinearId;
use fp_core::settings::LinearStatusMap;
use serde::Deserialize;
use serde_json::Value;

use super::mapping::LinearStage;

/// What team boards call the stage in which people look at what was made.
const REVIEW: &str = "in review";

/// A status of a team, as Linear lists it.
#[derive(Debug, Deserialize)]
pub(super) struct TeamStatus {
    pub(super) id: LinearId,
    pub(super) name: String,
    /// `backlog`, `unstarted`, `started`, `completed`, `canceled`, or another one, which means nothing here.
    #[serde(rename = "type")]
    kind: String,
    /// Its place on the team's board, where it is told.
    position: Option<f64>,
}

/// The statuses in `text` in the order of the board: a JSON array, or an object that has one, as some servers answer.
pub(super) fn team_statuses(text: &str) -> Result<Vec<TeamStatus>, serde_json::Error> {
    let mut value: Value = serde_json::from_str(text)?;
    if let Some(array) = ["statuses", "nodes"].into_iter().find_map(|field| value.get(field)) {
        value = array.clone();
    }
    let mut list: Vec<TeamStatus> = serde_json::from_value(value)?;
    let place = |status: &TeamStatus| status.position.unwrap_or(0.0);
    list.sort_by(|a, b| place(a).total_cmp(&place(b)));
    Ok(list)
}

/// The team's status for each stage.
#[derive(Debug, Default)]
pub(super) struct ResolvedStatuses<'l> {
    pub(super) statuses: BTreeMap<LinearStage, &'l TeamStatus>,
    /// Configured names that the team doesn't have, and stages without a status.
    pub(super) warnings: Vec<String>,
}

/// Finds the status of each stage in `list`, a team's statuses in the order of its board. A name in `names` counts
/// without regard to case; else the first status of the stage's type is taken, and for `review` one that is called so,
/// else that of `completed`.
pub(super) fn resolved_statuses<'l>(list: &'l [TeamStatus], names: &LinearStatusMap) -> ResolvedStatuses<'l> {
    let mut found = ResolvedStatuses::default();
    let stages = [
        (LinearStage::Pending, &names.pending),
        (LinearStage::InProgress, &names.in_progress),
        (LinearStage::Completed, &names.completed),
        (LinearStage::Failed, &names.failed),
        (LinearStage::Review, &names.review),
    ];
    for (stage, name) in stages {
        let word = stage.word();
        let by_name = name.as_ref().and_then(|name| list.iter().find(|status| status.is_called(name)));
        if let (Some(name), None) = (name, by_name) {
            found
                .warnings
                .push(format!("the team has no status called {name:?}: {word} is found by its type"));
        }
        let completed = found.statuses.get(&LinearStage::Completed).copied();
        let fallback = completed.filter(|_| stage == LinearStage::Review);
        match by_name.or_else(|| by_type(list, stage)).or(fallback) {
            Some(status) => drop(found.statuses.insert(stage, status)),
            None => {
                let warning = format!("the team has no status for {word}: issues are not moved there");
                found.warnings.push(warning);
            }
        }
    }
    found
}

fn by_type(list: &[TeamStatus], stage: LinearStage) -> Option<&TeamStatus> {
    let first = |kind: &str| list.iter().find(|status| status.kind == kind && !status.is_called(REVIEW));
    match stage {
        LinearStage::Pending => first("unstarted").or_else(|| first("backlog")),
        LinearStage::InProgress => first("started"),
        LinearStage::Review => list.iter().find(|status| status.is_called(REVIEW)),
        LinearStage::Completed => first("completed"),
        LinearStage::Failed => first("canceled").or_else(|| first("cancelled")),
    }
}

impl TeamStatus {
    fn is_called(&self, name: &str) -> bool {
        self.name.trim().to_lowercase() == name.trim().to_lowercase()
    }
}

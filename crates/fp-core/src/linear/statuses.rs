//! Which of a team's statuses is which stage: by the configured name, else by the type that Linear gives it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::id::LinearId;
use super::stage::Stage;
use crate::settings::LinearStatusMap;

/// A status of a team, as Linear lists it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TeamStatus {
    /// Its id.
    pub id: LinearId,
    /// What the team calls it.
    pub name: String,
    /// `backlog`, `unstarted`, `started`, `completed`, `canceled`, or one that is of no meaning here.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its place on the team's board, where it is told.
    #[serde(default)]
    pub position: Option<f64>,
}

/// The statuses of a team, as an array or as an object that has one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum TeamStatuses {
    /// The array alone.
    Bare(Vec<TeamStatus>),
    /// Within an object, as some servers answer.
    Within {
        /// The array.
        #[serde(alias = "nodes")]
        statuses: Vec<TeamStatus>,
    },
}

impl TeamStatuses {
    /// The list in the order of the board.
    #[must_use]
    pub fn in_order(self) -> Vec<TeamStatus> {
        let (Self::Bare(mut list) | Self::Within { statuses: mut list }) = self;
        let place = |status: &TeamStatus| status.position.unwrap_or(0.0);
        list.sort_by(|a, b| place(a).total_cmp(&place(b)));
        list
    }
}

/// What each stage is in the team.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resolved {
    /// Id of the status of each stage; a stage that has none is not here.
    pub statuses: BTreeMap<Stage, LinearId>,
    /// The team's name of each of them.
    pub names: BTreeMap<Stage, String>,
    /// What the user should know: a configured name that the team doesn't have, a stage without a status.
    pub warnings: Vec<String>,
}

/// What team boards call the stage in which people look at what was made.
const REVIEW: &str = "in review";

/// Finds the status of each stage in `list`, a team's statuses in the order of its board. A name in `names` counts
/// without regard to case; else the first status of the stage's type is taken, and for `review` one that is called
/// so, else that of `completed`.
#[must_use]
pub fn resolve(list: &[TeamStatus], names: &LinearStatusMap) -> Resolved {
    let mut found = Resolved::default();
    // What `review` falls back to comes before it.
    for stage in [Stage::Pending, Stage::InProgress, Stage::Completed, Stage::Failed, Stage::Review] {
        let configured = configured(names, stage);
        let by_name = configured.and_then(|name| list.iter().find(|s| same(&s.name, name)));
        if let (Some(name), None) = (configured, by_name) {
            found.warnings.push(format!(
                "the team has no status called {name:?}: {} is found by its type",
                stage.word()
            ));
        }
        let status = by_name.or_else(|| by_type(list, stage));
        let fallback = (stage == Stage::Review).then(|| found.statuses.get(&Stage::Completed).cloned());
        if let Some(status) = status {
            found.statuses.insert(stage, status.id.clone());
            found.names.insert(stage, status.name.clone());
        } else if let Some(id) = fallback.flatten() {
            found.names.extend(found.names.get(&Stage::Completed).cloned().map(|name| (stage, name)));
            found.statuses.insert(stage, id);
        } else {
            found
                .warnings
                .push(format!("the team has no status for {}: issues are not moved there", stage.word()));
        }
    }
    found
}

fn configured(names: &LinearStatusMap, stage: Stage) -> Option<&str> {
    let name = match stage {
        Stage::Pending => &names.pending,
        Stage::InProgress => &names.in_progress,
        Stage::Review => &names.review,
        Stage::Completed => &names.completed,
        Stage::Failed => &names.failed,
    };
    name.as_deref()
}

fn by_type(list: &[TeamStatus], stage: Stage) -> Option<&TeamStatus> {
    let first = |kind: &str| list.iter().find(|s| s.kind == kind && !same(&s.name, REVIEW));
    match stage {
        Stage::Pending => first("unstarted").or_else(|| first("backlog")),
        Stage::InProgress => first("started"),
        Stage::Review => list.iter().find(|s| same(&s.name, REVIEW)),
        Stage::Completed => first("completed"),
        Stage::Failed => first("canceled").or_else(|| first("cancelled")),
    }
}

fn same(a: &str, b: &str) -> bool {
    a.trim().to_lowercase() == b.trim().to_lowercase()
}

//! What the signals of a plan rest on: one walk over the repository and one `git log`, at the same time, however
//! many tasks and files there are. The paths that tasks list come from a model: they are compared with what the walk
//! meets, and looked at by themselves only where they stay inside the repository and no link is on the way.

mod listed;
mod read;
mod walk;

use std::path::Path;

use fp_core::plan::Plan;
use fp_core::signals::{Listed, Survey};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use crate::git::{Churn, Git, GitError};

/// Where to look.
#[derive(Debug, Clone, Copy)]
pub struct Place<'p> {
    /// The top of the working tree, absolute and without links.
    pub root: &'p Path,
    /// The repository, or why there is none.
    pub git: Result<&'p Git, &'p GitError>,
    /// The folder of plans, relative to the top, which is nobody's source.
    pub plans_dir: &'p str,
}

/// What was found, and what could not be.
#[derive(Debug)]
pub struct Surveyed {
    /// What was found.
    pub survey: Survey,
    /// What could not be measured, and why, one sentence each.
    pub notes: Vec<String>,
}

/// Looks at everything that the signals of `plan` need. `now` ends the six months of history that count; `progress`
/// hears of every file that was met, from several threads.
#[must_use]
pub fn survey(place: Place<'_>, plan: &Plan, now: Timestamp, progress: &(dyn Fn() + Sync)) -> Surveyed {
    let listed = Listed::new(plan.leaves());
    let (mut survey, churn) = std::thread::scope(|scope| {
        let churn = scope.spawn(|| churn(place.git, &listed, now));
        let survey = walk::walk(place, &listed, progress);
        (survey, churn.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let mut notes = Vec::new();
    match churn {
        Ok(churn) => {
            if churn.is_shallow {
                notes.push("the clone is shallow: gitRisk knows only the history that is here".to_owned());
            }
            survey.history = churn.files;
        }
        Err(why) => notes.push(format!("gitRisk is 1 everywhere, since there is no history: {why}")),
    }
    Surveyed { survey, notes }
}

fn churn(git: Result<&Git, &GitError>, listed: &Listed, now: Timestamp) -> Result<Churn, String> {
    let since = now.to_zoned(TimeZone::UTC).checked_sub(6.months()).map(|then| then.timestamp());
    let since = since.map_err(|error| error.to_string())?;
    let git = git.map_err(ToString::to_string)?;
    git.churn(since, |path| listed.covers(path)).map_err(|error| error.to_string())
}

//! Remembers how long tasks have taken on this machine, by program, model and complexity, so that predictions get
//! better. The file is in the user's state folder and names no project.

use std::collections::BTreeMap;

use fp_host::file;
use fp_host::plan::OpenPlan;
use fp_plan::plan::Plan;
use fp_plan::schedule::prediction::{MeasuredPace, PredictionTerms};
use fp_plan::settings::{JudgePolicy, Settings};
use fp_run::report::pace::built_tasks;
use fp_run::run::approval::leaves_to_run;
use fp_run::run::judging::is_judged_leaf;

use crate::context::Context;
use crate::error::CommandError;

/// Name of the file, and its size limit in bytes.
const FILE: &str = "pace.json";
const CAP: u64 = 1024 * 1024;

/// The pace of each program and model.
type Paces = BTreeMap<String, MeasuredPace>;

fn read_paces(context: &Context) -> Paces {
    let read = || {
        let path = context.trust().ok()?.folder().join(FILE);
        let text = file::read_text_if_there(&path, CAP).ok()??;
        serde_json::from_str(&text).ok()
    };
    // Without the file, or with a damaged one, predictions go by the scale.
    read().unwrap_or_default()
}

/// The terms of a prediction for `tree`.
pub(crate) fn prediction_terms(
    tree: &Plan<'_>,
    settings: &Settings,
    context: &Context,
) -> PredictionTerms {
    let builder = &settings.agents.builder;
    let mut paces = read_paces(context);
    let leaves = leaves_to_run(tree, &[]).unwrap_or_default();
    let policy = settings.verify.judge;
    let is_judged = |leaf| leaves.len() == 1 || is_judged_leaf(policy, leaf);
    PredictionTerms {
        pace: paces
            .remove(&pace_key(&builder.program, builder.model.as_deref()))
            .unwrap_or_default(),
        judged: leaves
            .iter()
            .map(|leaf| (leaf.id.to_string(), is_judged(leaf)))
            .collect(),
        is_judged_whole: policy != JudgePolicy::Each,
    }
}

fn pace_key(program: &str, model: Option<&str>) -> String {
    let words: Vec<&str> = std::iter::once(program).chain(model).collect();
    words.join(" ")
}

/// Adds what the tasks of the finished run of `plan` took.
pub(crate) fn learn_pace(plan: &OpenPlan, context: &Context) -> Result<(), CommandError> {
    let past = plan.store.past()?;
    let mut paces = read_paces(context);
    for task in built_tasks(&past.state, &past.entries) {
        let (program, model) = match past.state.processes.get(task.owner) {
            Some(process) => (process.program.as_str(), process.model.as_deref()),
            // The builder of a session.
            None => ("claude", plan.settings.agents.builder.model.as_deref()),
        };
        let pace = paces.entry(pace_key(program, model));
        pace.or_default().add_task(task.complexity, task.minutes);
    }
    let text = serde_json::to_string(&paces).unwrap_or_default();
    file::replace(&context.trust()?.folder().join(FILE), text.as_bytes())?;
    Ok(())
}

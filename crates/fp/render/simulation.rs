//! A simulated run as text that fits 80 columns.

use fp_core::run::simulate::{Limit, Simulation};
use fp_core::text::fitted;

use crate::commands::simulate::Simulated;

/// Columns of a line, and of those before what limits the run.
const WIDTH: usize = 80;
const FIGURES: usize = 37;

/// One line for each number of builders.
pub(crate) fn text(simulated: &Simulated<'_>) -> String {
    let Simulated { tasks, left, total_complexity, simulations, .. } = simulated;
    let what = if left == tasks { format!("{tasks} tasks") } else { format!("{left} of {tasks} tasks left") };
    let mut text = format!(
        "{what}, {total_complexity} complexity; a task takes as long as its complexity.\n\n{:>8}  {:>6}  {:>8}  {:>4}  limited by\n",
        "builders", "length", "speed-up", "busy"
    );
    for found in simulations {
        let Simulation { builders, length, speed_up, busy, .. } = found;
        let figures = format!("{builders:>8}  {length:>6}  {speed_up:>7.2}x  {:>3.0}%", busy * 100.0);
        text.push_str(&format!("{figures}  {}\n", fitted(&limit(&found.limit), WIDTH - FIGURES)));
    }
    text
}

fn limit(limit: &Limit) -> String {
    match limit {
        Limit::CriticalPath { tasks } => {
            let ids: Vec<&str> = tasks.iter().map(fp_core::plan::id::TaskId::as_str).collect();
            format!("critical path {}", ids.join(" → "))
        }
        Limit::Builders => "builders".to_owned(),
        Limit::Files { files } => {
            let files: Vec<String> =
                files.iter().map(|file| format!("{} (waited {})", file.file, file.waited)).collect();
            format!("files: {}", files.join(", "))
        }
        Limit::Phases => "phases".to_owned(),
        Limit::Dependencies => "dependencies".to_owned(),
    }
}

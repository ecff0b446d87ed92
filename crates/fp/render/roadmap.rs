//! Roadmaps as text, within 80 columns.

use fp_core::plan::id::RoadmapId;
use fp_core::roadmap::{Layer, LayerPlan, LayerState};
use fp_core::text::{counted, fitted, wrapped_within};
use unicode_width::UnicodeWidthStr as _;

use super::WIDTH;
use crate::roadmap::Standing;

/// Columns of the id and title of a layer.
const TITLE: usize = 44;

/// `text` with two blanks before each of its lines.
pub(crate) fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect()
}

/// The last line of a check.
pub(crate) fn summary(name: &str, valid: bool, layers: usize, errors: usize, found: usize) -> String {
    let verdict = if valid { "valid" } else { "not valid" };
    let warnings = found - errors;
    format!(
        "{name}: {verdict}, {}, {}, {}\n",
        counted(layers, "layer"),
        counted(errors, "error"),
        counted(warnings, "warning")
    )
}

/// What `fp roadmap show` prints.
pub(crate) fn shown(id: &RoadmapId, path: &str, standing: &Standing<'_>) -> String {
    let roadmap = &standing.roadmap;
    let mut text = format!("Roadmap {id}\n  {path}\n");
    text.extend(wrapped_within(&roadmap.goal, WIDTH - 2, 4).iter().map(|line| format!("  {line}\n")));
    text.push('\n');
    let waves = &standing.order.waves;
    let last = waves.iter().flatten().max().copied().unwrap_or(0);
    // Where each waits for the one before it, waves say nothing.
    let in_waves = last < roadmap.layers.len();
    for wave in 1..=last {
        if in_waves {
            text += &format!("Wave {wave}\n");
        }
        let layers = roadmap.layers.iter().zip(waves).filter(|(_, own)| **own == Some(wave));
        text.extend(layers.map(|(layer, _)| line(layer, standing)));
    }
    let done = roadmap.layers.iter().filter(|layer| standing.state(layer).0 == LayerState::Done).count();
    text + &format!("\n{done} of {} done\n", counted(roadmap.layers.len(), "layer"))
}

fn line(layer: &Layer<'_>, standing: &Standing<'_>) -> String {
    let (state, plan) = standing.state(layer);
    let head = format!("  {}", fitted(&titled(layer), TITLE));
    let pad = " ".repeat((TITLE + 4).saturating_sub(head.width()));
    let line = format!("{head}{pad}{}\n", state.word());
    match plan {
        Some(plan) => line + &format!("      {}\n", at(plan)),
        None => line,
    }
}

fn titled(layer: &Layer<'_>) -> String {
    format!("[{}] {}", layer.id, layer.title)
}

/// A plan and how far it is.
fn at(plan: &LayerPlan) -> String {
    let archived = if plan.archived { ", archived" } else { "" };
    match plan.total {
        0 => format!("{}{archived}", plan.plan_id),
        total => format!("{} ({} of {total} done{archived})", plan.plan_id, plan.done),
    }
}

/// The command that makes the plan of a layer.
pub(crate) fn start(id: &RoadmapId, layer: &Layer<'_>) -> String {
    format!("fp new --roadmap {id} --layer {}", layer.id)
}

/// What `fp roadmap next` prints.
pub(crate) fn next(id: &RoadmapId, standing: &Standing<'_>, due: &[&Layer<'_>], done: usize) -> String {
    let layers = &standing.roadmap.layers;
    if done == layers.len() {
        return format!("{done} of {} done\n", counted(done, "layer"));
    }
    let mut text = String::new();
    for layer in due {
        text += &format!("{}\n", fitted(&format!("{}: {}", titled(layer), layer.goal), WIDTH));
        text += &format!("  {}\n", start(id, layer));
        if let Some(plan) = standing.state(layer).1.filter(|plan| !plan.archived) {
            text += &format!("  or go on with {}: /fp:implement {}\n", at(plan), plan.plan_id);
        }
    }
    for layer in standing.under_way() {
        let (state, plan) = standing.state(layer);
        let plan = plan.map(at).unwrap_or_default();
        text += &format!("{}: {}\n  {plan}\n", fitted(&titled(layer), TITLE), state.word());
    }
    if due.is_empty() {
        text += "Nothing else is due before that is done\n";
    }
    text
}

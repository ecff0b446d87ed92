//! `fp roadmap`.

use fp_core::diagnostic::Severity;
use fp_core::plan::Lines;
use fp_core::plan::id::RoadmapId;
use fp_core::report::validation::Violations;
use fp_core::text::{counted, fitted, wrapped_within};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::disk::{check_page, create_page, open_page, progress};
use super::model::{FORM, LayerPlan, RoadmapLayer, RoadmapProgress};
use crate::commands::validate::finding_text;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::WIDTH;

/// Columns of the id and title of a layer.
const TITLE: usize = 44;

/// Split a goal larger than one plan into layers that each become a plan
#[derive(Debug, clap::Args)]
pub(crate) struct RoadmapArgs {
    #[command(subcommand)]
    action: RoadmapAction,
}

#[derive(Debug, clap::Subcommand)]
enum RoadmapAction {
    /// Begin the page of a roadmap, and print the form of its layers
    New {
        /// The goal of all layers together, in your own words.
        #[arg(required = true, value_name = "GOAL")]
        goal: Vec<String>,
    },
    /// Check a roadmap and report every finding
    Check {
        /// The roadmap, by its id or a part of it; the only one by default.
        id: Option<String>,
        /// Let warnings fail too.
        #[arg(long)]
        strict: bool,
    },
    /// Show the layers of a roadmap and their states
    Show {
        /// The roadmap, by its id or a part of it; the only one by default.
        id: Option<String>,
    },
    /// List the layers that are due: everything they depend on is done
    Next {
        /// The roadmap, by its id or a part of it; the only one by default.
        id: Option<String>,
    },
}

pub(crate) fn run(args: RoadmapArgs, context: &Context) -> CommandResult {
    match args.action {
        RoadmapAction::New { goal } => new(&goal.join(" "), context),
        RoadmapAction::Check { id, strict } => check(id.as_deref(), strict, context),
        RoadmapAction::Show { id } => show(id.as_deref(), context),
        RoadmapAction::Next { id } => next(id.as_deref(), context),
    }
}

fn new(goal: &str, context: &Context) -> CommandResult {
    if goal.trim().is_empty() {
        return Err(CommandError::failed("the roadmap has no goal")
            .hint("say what you want in the end: `fp roadmap new 'Accounts for everybody'`"));
    }
    let (id, path) = create_page(context.repo(), goal, context.today())?;
    let form: String = FORM.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect();
    let text = format!(
        "Roadmap {id}\n  {}\n\nWrite its layers there, each of which becomes a plan:\n\n{form}\nA layer without \
         `Depends on` waits for the one before it.\n\nNext: fp roadmap check {id}\n",
        context.shown(&path),
    );
    context.report(&json!({ "roadmap": id, "path": path, "form": FORM }), &text)
}

fn check(selector: Option<&str>, strict: bool, context: &Context) -> CommandResult {
    let page = open_page(context.repo(), selector)?;
    let (roadmap, found) = check_page(&page, context.repo());
    let lines = Lines::new(&page.text);
    let valid = found.iter().all(|finding| !finding.fails(strict));
    let name = context.shown(&page.path);
    let mut text: String = found.iter().map(|found| finding_text(&name, &lines, found) + "\n").collect();
    let errors = found.iter().filter(|finding| finding.severity == Severity::Error).count();
    let counts = [(roadmap.layers.len(), "layer"), (errors, "error"), (found.len() - errors, "warning")];
    let counts = counts.map(|(number, what)| counted(number, what)).join(", ");
    text += &format!("{name}: {}, {counts}\n", if valid { "valid" } else { "not valid" });
    let violations = Violations { found: &found, lines: &lines };
    let layers = roadmap.layers.len();
    context.report(
        &json!({ "roadmap": page.id, "valid": valid, "layers": layers, "violations": violations }),
        &text,
    )?;
    Ok(if valid { Exit::Done } else { Exit::Findings })
}

fn show(selector: Option<&str>, context: &Context) -> CommandResult {
    let page = open_page(context.repo(), selector)?;
    let progress = progress(&page, context)?;
    let layers = progress.roadmap.layers.iter().zip(&progress.order.waves);
    let layers = layers.map(|(layer, wave)| {
        let mut value = layer_json(layer, &progress);
        value["wave"] = json!(wave);
        value
    });
    let json = json!({
        "roadmap": page.id, "path": page.path, "goal": progress.roadmap.goal,
        "layers": layers.collect::<Vec<_>>(),
    });
    context.report(&json, &shown_text(&page.id, &context.shown(&page.path), &progress))
}

fn next(selector: Option<&str>, context: &Context) -> CommandResult {
    let page = open_page(context.repo(), selector)?;
    let progress = progress(&page, context)?;
    let due = progress.due();
    let (done, total) = (progress.count_done(), progress.roadmap.layers.len());
    let due_json = due.iter().map(|layer| {
        let mut value = layer_json(layer, &progress);
        value["command"] = json!(start_command(&page.id, layer));
        value
    });
    let under_way = progress.under_way();
    let json = json!({
        "roadmap": page.id, "done": done, "total": total,
        "due": due_json.collect::<Vec<_>>(),
        "underWay": under_way.into_iter().map(|layer| layer_json(layer, &progress)).collect::<Vec<_>>(),
    });
    context.report(&json, &next_text(&page.id, &progress, &due))?;
    Ok(if due.is_empty() && done < total { Exit::NothingReady } else { Exit::Done })
}

fn layer_json(layer: &RoadmapLayer, progress: &RoadmapProgress) -> Value {
    let mut value = json!(layer);
    value["state"] = json!(progress.state(&layer.id).0);
    value["plans"] = json!(progress.plans(&layer.id));
    value
}

fn shown_text(id: &RoadmapId, path: &str, progress: &RoadmapProgress) -> String {
    let (roadmap, waves) = (&progress.roadmap, &progress.order.waves);
    let mut text = format!("Roadmap {id}\n  {path}\n");
    text.extend(wrapped_within(&roadmap.goal, WIDTH - 2, 4).iter().map(|line| format!("  {line}\n")));
    text.push('\n');
    let last = waves.iter().flatten().max().copied().unwrap_or(0);
    // Waves of one layer each say nothing.
    let in_waves = last < roadmap.layers.len();
    for wave in 1..=last {
        if in_waves {
            text += &format!("Wave {wave}\n");
        }
        let layers = roadmap.layers.iter().zip(waves).filter(|(_, own)| **own == Some(wave));
        text.extend(layers.map(|(layer, _)| layer_line(layer, progress)));
    }
    text + "\n" + &done_text(progress)
}

fn done_text(progress: &RoadmapProgress) -> String {
    format!("{} of {} done\n", progress.count_done(), counted(progress.roadmap.layers.len(), "layer"))
}

fn layer_line(layer: &RoadmapLayer, progress: &RoadmapProgress) -> String {
    let (state, plan) = progress.state(&layer.id);
    let head = format!("  {}", fitted(&titled(layer), TITLE));
    let pad = " ".repeat((TITLE + 4).saturating_sub(head.width()));
    let plan = plan.map(|plan| format!("      {}\n", plan_text(plan)));
    format!("{head}{pad}{}\n{}", state.word(), plan.unwrap_or_default())
}

fn titled(layer: &RoadmapLayer) -> String {
    format!("[{}] {}", layer.id, layer.title)
}

fn plan_text(plan: &LayerPlan) -> String {
    let archived = if plan.archived { ", archived" } else { "" };
    match plan.total {
        0 => format!("{}{archived}", plan.plan_id),
        total => format!("{} ({} of {total} done{archived})", plan.plan_id, plan.done),
    }
}

/// The command that makes the plan of a layer.
fn start_command(id: &RoadmapId, layer: &RoadmapLayer) -> String {
    format!("fp new --roadmap {id} --layer {}", layer.id)
}

fn next_text(id: &RoadmapId, progress: &RoadmapProgress, due: &[&RoadmapLayer]) -> String {
    if progress.count_done() == progress.roadmap.layers.len() {
        return done_text(progress);
    }
    let mut text = String::new();
    for layer in due {
        text += &format!("{}\n", fitted(&format!("{}: {}", titled(layer), layer.goal), WIDTH));
        text += &format!("  {}\n", start_command(id, layer));
        if let Some(plan) = progress.state(&layer.id).1.filter(|plan| !plan.archived) {
            text += &format!("  or continue {}: /fp:implement {}\n", plan_text(plan), plan.plan_id);
        }
    }
    for layer in progress.under_way() {
        let (state, plan) = progress.state(&layer.id);
        let plan = plan.map(plan_text).unwrap_or_default();
        text += &format!("{}: {}\n  {plan}\n", fitted(&titled(layer), TITLE), state.word());
    }
    if due.is_empty() {
        text += "Nothing else is due before that is done\n";
    }
    text
}

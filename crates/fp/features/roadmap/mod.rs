//! Roadmaps: a goal larger than one plan, as layers that each become a plan.
//!
//! A page is written in the heading dialect of task trees and read by their parser. Plans name the layer that they
//! make, and a layer's state follows from their runs: the page repeats none of that, so it can't contradict it.

mod check;
mod model;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use fp_host::file::{self, FileError};
use fp_host::plan_folder::OfLayer;
use fp_host::repo::{ROADMAPS, Repo};
use fp_plan::diagnostic::{Diagnostic, Severity};
use fp_plan::plan::Lines;
use fp_plan::plan::id::{RoadmapId, TaskId};
use fp_plan::text::{counted, fitted, wrapped_within};
use fp_run::interview::slug;
use fp_run::report::validation::Violations;
use jiff::civil::Date;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use self::check::{UNMADE_INPUT, check_roadmap};
use self::model::{
    FORM, LayerPlan, LayerState, Roadmap, RoadmapLayer, RoadmapProgress, empty_page, plan_goal, read_roadmap,
};
use crate::commands::validate::finding_text;
use crate::context::{Context, Known};
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::WIDTH;

/// Columns of the id and title of a layer.
const TITLE: usize = 44;
/// Largest page that is read, in bytes.
const CAP: u64 = 1024 * 1024;
const NAME_ONE: &str = "name a roadmap by its id or a part of it";

/// What `fp new` needs to know about the layer that it makes a plan for.
pub(crate) struct LayerToPlan {
    /// The user's words, or else the layer's goal.
    pub(crate) words: String,
    /// The words with what the layer builds on, makes, and is done by.
    pub(crate) goal: String,
    pub(crate) title: String,
    pub(crate) of: OfLayer,
    /// Names the layers before it that are not done.
    pub(crate) warning: Option<String>,
}

/// The layer `id` of the roadmap that `selector` means, or else the only layer that is due. Fails where it has a plan.
pub(crate) fn layer_to_plan(
    selector: &str,
    id: Option<&TaskId>,
    words: String,
    context: &Context,
) -> Result<LayerToPlan, CommandError> {
    let page = open_page(context.repo(), Some(selector))?;
    let progress = progress_of(&page, context)?;
    let at = progress.place_to_plan(&page.id, id)?;
    let layer = &progress.roadmap.layers[at];
    let missing: Vec<&str> = progress.missing(at).iter().map(|layer| &*layer.id).collect();
    let warning = format!("layer {} builds on layers that are not done: {}", layer.id, missing.join(", "));
    let of = TaskId::new(&*layer.id).expect("a page without errors has no other ids");
    let words = if words.trim().is_empty() { layer.goal.clone() } else { words };
    Ok(LayerToPlan {
        goal: plan_goal(&words, &page.id, layer),
        title: layer.title.clone(),
        words,
        warning: (!missing.is_empty()).then_some(warning),
        of: OfLayer { id: page.id, layer: of },
    })
}

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
    let progress = progress_of(&page, context)?;
    let layers: Vec<Value> =
        progress.roadmap.layers.iter().map(|layer| layer_json(layer, &progress)).collect();
    let json = json!({
        "roadmap": page.id, "path": page.path, "goal": progress.roadmap.goal,
        "layers": layers,
    });
    context.report(&json, &shown_text(&page.id, &context.shown(&page.path), &progress))
}

fn next(selector: Option<&str>, context: &Context) -> CommandResult {
    let page = open_page(context.repo(), selector)?;
    let progress = progress_of(&page, context)?;
    let due = progress.due();
    let (done, total) = (progress.count_done(), progress.roadmap.layers.len());
    let due_json = due.iter().map(|layer| {
        let mut value = layer_json(layer, &progress);
        value["command"] = json!(start_command(&page.id, layer));
        value
    });
    let json = json!({
        "roadmap": page.id, "done": done, "total": total, "due": due_json.collect::<Vec<_>>(),
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
    let mut text = format!("Roadmap {id}\n  {path}\n");
    let goal = wrapped_within(&progress.roadmap.goal, WIDTH - 2, 4);
    text.extend(goal.iter().map(|line| format!("  {line}\n")));
    text.push('\n');
    text.extend(progress.roadmap.layers.iter().map(|layer| layer_line(layer, progress)));
    text + "\n" + &done_text(progress)
}

fn done_text(progress: &RoadmapProgress) -> String {
    format!("{} of {} done\n", progress.count_done(), counted(progress.roadmap.layers.len(), "layer"))
}

fn layer_line(layer: &RoadmapLayer, progress: &RoadmapProgress) -> String {
    let (state, plan) = progress.state(&layer.id);
    let head = fitted(&titled(layer), TITLE);
    let pad = " ".repeat(TITLE + 2 - head.width());
    let plan = plan.map(|plan| format!("      {}\n", plan_text(plan)));
    format!("  {head}{pad}{}\n{}", state.word(), plan.unwrap_or_default())
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
    if due.is_empty() {
        text += "Nothing else is due before this is done:\n";
        let is_under_way = |layer: &&RoadmapLayer| {
            let (state, plan) = progress.state(&layer.id);
            plan.is_some() && state != LayerState::Done && !state.wants_a_plan()
        };
        let under_way = progress.roadmap.layers.iter().filter(is_under_way);
        text.extend(under_way.map(|layer| layer_line(layer, progress)));
    }
    text
}

// The pages, `.fractal-planner/roadmaps/ID.md` of the main checkout, which the user commits. A link never leads out of the
// repository.

struct RoadmapPage {
    id: RoadmapId,
    path: PathBuf,
    text: String,
}

/// The page that `selector` means, an id or a part of exactly one; without it, the only page there is.
fn open_page(repo: &Repo, selector: Option<&str>) -> Result<RoadmapPage, CommandError> {
    let part = match selector {
        Some(selector) => {
            RoadmapId::new(selector).map_err(|why| CommandError::failed(why).hint(NAME_ONE))?.into()
        }
        None => String::new(),
    };
    let id = choose_id(list_ids(repo)?, &part)?;
    let path = page_path(repo, &id);
    let real = fs::canonicalize(&path).map_err(|source| FileError::Read { path: path.clone(), source })?;
    if !real.starts_with(&repo.root) {
        return Err(FileError::Link { path }.into());
    }
    Ok(RoadmapPage { text: file::read_text(&path, CAP)?, path, id })
}

/// The one of `ids` that is `part`, or else the only one that has it.
fn choose_id(ids: Vec<RoadmapId>, part: &str) -> Result<RoadmapId, CommandError> {
    if let Some(exact) = ids.iter().find(|id| id.as_str() == part) {
        return Ok(exact.clone());
    }
    let has_part = |id: &&RoadmapId| id.as_str().to_lowercase().contains(&part.to_lowercase());
    let matching: Vec<&RoadmapId> = ids.iter().filter(has_part).collect();
    match matching.as_slice() {
        [id] => Ok((*id).clone()),
        _ if ids.is_empty() => {
            Err(CommandError::failed("there is no roadmap").hint("`fp roadmap new GOAL` makes one"))
        }
        _ => {
            let listed: String = ids.iter().map(|id| format!("\n  {id}")).collect();

            Err(CommandError::failed(format!("no single roadmap is meant; there are:{listed}"))
                .hint(NAME_ONE))
        }
    }
}

/// The ids of all pages, sorted; none where there is no such folder.
fn list_ids(repo: &Repo) -> Result<Vec<RoadmapId>, CommandError> {
    let folder = repo.root.join(ROADMAPS);
    let failed = |source| FileError::Read { path: folder.clone(), source };
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error).into()),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(".md"));
        ids.extend(id.and_then(|id| RoadmapId::new(id).ok()));
    }
    ids.sort();
    Ok(ids)
}

fn page_path(repo: &Repo, id: &RoadmapId) -> PathBuf {
    repo.root.join(ROADMAPS).join(format!("{id}.md"))
}

/// Begins the page of a new roadmap. Its id is the goal's slug and the date, with `-2`, `-3` … where that is taken; two
/// processes that ask at once each get their own.
fn create_page(repo: &Repo, goal: &str, today: Date) -> Result<(RoadmapId, PathBuf), CommandError> {
    repo.make_folder(ROADMAPS)?;
    let base = format!("{}-{}", slug(goal), today.strftime("%Y%m%d"));
    let mut number = 1;
    loop {
        let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
        let id = RoadmapId::new(name).map_err(|why| CommandError::failed(why).hint("use other words"))?;
        let path = page_path(repo, &id);
        if file::write_if_absent(&path, empty_page(goal).as_bytes())? {
            return Ok((id, path));
        }
        number += 1;
    }
}

/// The roadmap on `page` and all findings in it.
fn check_page(page: &RoadmapPage, repo: &Repo) -> (Roadmap, Vec<Diagnostic>) {
    let (roadmap, parsed) = read_roadmap(&page.text);
    let exists =
        |path: &str| fs::canonicalize(repo.root.join(path)).is_ok_and(|real| real.starts_with(&repo.root));
    let found = check_roadmap(&roadmap, parsed, exists);
    (roadmap, found)
}

/// The roadmap on `page` and how far it is. Fails where the page has errors, except that a layer which is done may have
/// lost its inputs since.
fn progress_of(page: &RoadmapPage, context: &Context) -> Result<RoadmapProgress, CommandError> {
    let (roadmap, found) = check_page(page, context.repo());
    let progress = RoadmapProgress::new(roadmap, layer_plans(&page.id, context)?);
    let counts = |finding: &&Diagnostic| {
        let lost = finding.rule == UNMADE_INPUT && progress.is_done(&finding.task_id);
        finding.severity == Severity::Error && !lost
    };
    match found.iter().filter(counts).count() {
        0 => Ok(progress),
        errors => {
            let (path, errors) = (context.shown(&page.path), counted(errors, "error"));
            Err(CommandError::refused(format!("{path} is not valid: it has {errors}"))
                .hint(format!("`fp roadmap check {}` shows them", page.id)))
        }
    }
}

/// The plans that make layers of the roadmap `id`, by layer. A plan that can't be read is named and left out.
fn layer_plans(id: &RoadmapId, context: &Context) -> Result<HashMap<String, Vec<LayerPlan>>, CommandError> {
    let known = context.known_plans()?;
    context.warn_of_unread(&known);
    let mut found: HashMap<String, Vec<LayerPlan>> = HashMap::new();
    for Known { folder, state, archived } in &known {
        let layer = folder.layer().unwrap_or_else(|error| {
            context.printer.note(&format!("warning: plan {} is left out: {error}", folder.id()));
            None
        });
        if let (Some(layer), Ok(state)) = (layer.filter(|layer| layer.id == *id), state) {
            found.entry(layer.layer.to_string()).or_default().push(LayerPlan::new(state, *archived));
        }
    }
    Ok(found)
}

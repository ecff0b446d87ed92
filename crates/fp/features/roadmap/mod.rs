//! Roadmaps: a goal larger than one plan, as layers that each become a plan.
//!
//! A page is written in the heading dialect of task trees and read by their parser. Plans name the layer that they
//! make, and a layer's state follows from their runs. The page repeats none of that, so it can't contradict it.

mod check;
mod model;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use fp_host::file::{self, FileError};
use fp_host::plan_folder::OfLayer;
use fp_host::platform;
use fp_host::repo::{ROADMAPS, Repo};
use fp_plan::diagnostic::{Diagnostic, Severity};
use fp_plan::plan::Lines;
use fp_plan::plan::id::{RoadmapId, TaskId};
use fp_plan::text::{counted, fitted, visible_line, wrapped_within};
use fp_run::interview::slug;
use fp_run::report::validation::violations;
use jiff::civil::Date;
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use self::check::{UNMADE_INPUT, check_roadmap};
use self::model::{
    FORM, LayerPlan, LayerState, Roadmap, RoadmapLayer, empty_page, plan_goal, read_roadmap,
};
use crate::commands::new::PlanGoal;
use crate::commands::validate::finding_text;
use crate::context::{Context, Known};
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{WIDTH, word_of};

/// Columns of the id and title of a layer.
const TITLE: usize = 44;
/// Largest page that is read, in bytes.
const CAP: u64 = 1024 * 1024;

/// The goal of a plan for the layer `id` of the roadmap that `selector` means, or else for the only layer that is due.
/// Fails where the layer has a plan.
pub(crate) fn layer_to_plan(
    selector: &str,
    id: Option<&TaskId>,
    words: String,
    context: &Context,
) -> Result<PlanGoal, CommandError> {
    let RoadmapPage {
        id: name, roadmap, ..
    } = open_valid_page(Some(selector), context)?;
    let layer = roadmap.layer_to_plan(&name, id)?;
    let missing = roadmap.missing_before(layer);
    let warning = format!(
        "layer {} builds on layers that are not done: {}",
        layer.id,
        missing.join(", ")
    );
    let of = TaskId::new(&*layer.id).expect("a page without errors has no other ids");
    let words = if words.trim().is_empty() {
        layer.goal.clone()
    } else {
        words
    };
    Ok(PlanGoal {
        goal: plan_goal(&words, &name, layer),
        name: layer.title.clone(),
        words,
        warning: (!missing.is_empty()).then_some(warning),
        roadmap: Some(OfLayer {
            id: name,
            layer: of,
        }),
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
        RoadmapAction::Check { id } => check(id.as_deref(), context),
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
    let form: String = FORM
        .lines()
        .map(|line| format!("  {line}").trim_end().to_owned() + "\n")
        .collect();
    let text = format!(
        "Roadmap {id}\n  {}\n\nWrite its layers there; each becomes a plan:\n\n{form}\nA layer without \
         `Depends on` waits for the one before it.\n\nNext: fp roadmap check {id}\n",
        context.shown(&path),
    );
    context.report(&json!({ "roadmap": id, "path": path, "form": FORM }), &text)
}

fn check(selector: Option<&str>, context: &Context) -> CommandResult {
    let page = open_page(selector, context.repo())?;
    let lines = Lines::new(&page.text);
    let (name, layers) = (
        visible_line(&context.shown(&page.path)),
        page.roadmap.layers.len(),
    );
    let mut text: String = page
        .found
        .iter()
        .map(|found| finding_text(&name, &lines, found) + "\n")
        .collect();
    let errors = page
        .found
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .count();
    let counts = [
        (layers, "layer"),
        (errors, "error"),
        (page.found.len() - errors, "warning"),
    ];
    let counts = counts
        .map(|(number, what)| counted(number, what))
        .join(", ");
    let valid = errors == 0;
    text += &format!(
        "{name}: {}, {counts}\n",
        if valid { "valid" } else { "not valid" }
    );
    let violations = violations(&page.found, &lines);
    let json =
        json!({ "roadmap": page.id, "valid": valid, "layers": layers, "violations": violations });
    context.styled_report(&json, &text)?;
    Ok(if valid { Exit::Done } else { Exit::Findings })
}

fn show(selector: Option<&str>, context: &Context) -> CommandResult {
    let RoadmapPage {
        id, path, roadmap, ..
    } = open_valid_page(selector, context)?;
    let json =
        json!({ "roadmap": id, "path": path, "goal": roadmap.goal, "layers": roadmap.layers });
    context.report(&json, &shown_text(&id, &context.shown(&path), &roadmap))
}

fn next(selector: Option<&str>, context: &Context) -> CommandResult {
    let RoadmapPage { id, roadmap, .. } = open_valid_page(selector, context)?;
    let due = roadmap.due();
    let (done, total) = (roadmap.count_done(), roadmap.layers.len());
    let due_json = due.iter().map(|layer| {
        let mut value = json!(layer);
        value["command"] = json!(start_command(&id, layer));
        value
    });
    let json =
        json!({ "roadmap": id, "done": done, "total": total, "due": due_json.collect::<Vec<_>>() });
    context.report(&json, &next_text(&id, &roadmap, &due))?;
    Ok(if due.is_empty() && done < total {
        Exit::NothingReady
    } else {
        Exit::Done
    })
}

fn shown_text(id: &RoadmapId, path: &str, roadmap: &Roadmap) -> String {
    let mut text = format!("Roadmap {id}\n  {path}\n");
    let goal = wrapped_within(&roadmap.goal, WIDTH - 2, 4);
    text.extend(goal.iter().map(|line| format!("  {line}\n")));
    text.push('\n');
    text.extend(roadmap.layers.iter().map(layer_line));
    text + "\n" + &done_text(roadmap)
}

fn done_text(roadmap: &Roadmap) -> String {
    format!(
        "{} of {} done\n",
        roadmap.count_done(),
        counted(roadmap.layers.len(), "layer")
    )
}

fn layer_line(layer: &RoadmapLayer) -> String {
    let state = match layer.state {
        LayerState::None => "no plan".to_owned(),
        state => word_of(state),
    };
    let head = fitted(&titled(layer), TITLE);
    let pad = " ".repeat(TITLE + 2 - head.width());
    let plan = layer
        .plan()
        .map(|plan| format!("      {}\n", plan_text(plan)));
    format!("  {head}{pad}{state}\n{}", plan.unwrap_or_default())
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

fn start_command(id: &RoadmapId, layer: &RoadmapLayer) -> String {
    format!("fp new --roadmap {id} --layer {}", layer.id)
}

fn next_text(id: &RoadmapId, roadmap: &Roadmap, due: &[&RoadmapLayer]) -> String {
    if roadmap.count_done() == roadmap.layers.len() {
        return done_text(roadmap);
    }
    let mut text = String::new();
    for layer in due {
        text += &format!(
            "{}\n",
            fitted(&format!("{}: {}", titled(layer), layer.goal), WIDTH)
        );
        text += &format!("  {}\n", start_command(id, layer));
        if let Some(plan) = layer.plan().filter(|plan| !plan.archived) {
            text += &format!(
                "  or continue {}: /fp:implement {}\n",
                plan_text(plan),
                plan.plan_id
            );
        }
    }
    if due.is_empty() {
        text += "Nothing else is due until this is done:\n";
        let under_way = roadmap
            .layers
            .iter()
            .filter(|layer| !layer.wants_a_plan() && !layer.is_done());
        text.extend(under_way.map(layer_line));
    }
    text
}

// The pages, `.fractal-planner/roadmaps/ID.md` of the main checkout, which the user commits.

struct RoadmapPage {
    id: RoadmapId,
    path: PathBuf,
    text: String,
    roadmap: Roadmap,
    found: Vec<Diagnostic>,
}

/// The page that `selector` means, an id or a part of exactly one. Without it, the only page there is.
fn open_page(selector: Option<&str>, repo: &Repo) -> Result<RoadmapPage, CommandError> {
    let id = choose_id(repo, selector.unwrap_or_default())?;
    let path = page_path(repo, &id);
    if !is_inside(repo, &path) {
        return Err(FileError::Link { path }.into());
    }
    let text = file::read_text(&path, CAP)?;
    let (roadmap, parsed) = read_roadmap(&text);
    let found = check_roadmap(&roadmap, parsed, |path| {
        is_inside(repo, &repo.root.join(path))
    });
    Ok(RoadmapPage {
        id,
        path,
        text,
        roadmap,
        found,
    })
}

/// True for a file that is there, and in the repository even behind links.
fn is_inside(repo: &Repo, path: &Path) -> bool {
    platform::real_path(path).is_ok_and(|real| real.starts_with(&repo.root))
}

/// The id of the page that is called `part`, or else of the only one that contains it.
fn choose_id(repo: &Repo, part: &str) -> Result<RoadmapId, CommandError> {
    let folder = repo.root.join(ROADMAPS);
    let mut ids = Vec::new();
    if folder.exists() {
        let failed = |source| FileError::Read {
            path: folder.clone(),
            source,
        };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".md"));
            ids.extend(id.and_then(|id| RoadmapId::new(id).ok()));
        }
    }
    ids.sort();
    if ids.is_empty() {
        return Err(
            CommandError::failed("there is no roadmap").hint("`fp roadmap new GOAL` begins one")
        );
    }
    let has_part = |id: &&RoadmapId| id.as_str().to_lowercase().contains(&part.to_lowercase());
    let matching: Vec<&RoadmapId> = ids.iter().filter(has_part).collect();
    match (
        ids.iter().find(|id| id.as_str() == part),
        matching.as_slice(),
    ) {
        (Some(id), _) => Ok(id.clone()),
        (None, [id]) => Ok((*id).clone()),
        (None, matching) => {
            let listed: String = ids.iter().map(|id| format!("\n  {id}")).collect();
            let matching = counted(matching.len(), "roadmap");
            Err(
                CommandError::failed(format!("{matching} match; there are:{listed}"))
                    .hint("name a roadmap by its id or a part of it"),
            )
        }
    }
}

fn page_path(repo: &Repo, id: &RoadmapId) -> PathBuf {
    repo.root.join(ROADMAPS).join(format!("{id}.md"))
}

/// Begins the page of a new roadmap. Its id is the goal's slug and the date, with `-2`, `-3` … where that is taken. Two
/// processes at once each get their own.
fn create_page(repo: &Repo, goal: &str, today: Date) -> Result<(RoadmapId, PathBuf), CommandError> {
    repo.make_folder(ROADMAPS)?;
    let base = format!("{}-{}", slug(goal), today.strftime("%Y%m%d"));
    let mut number = 1;
    loop {
        let name = if number == 1 {
            base.clone()
        } else {
            format!("{base}-{number}")
        };
        let id = RoadmapId::new(name)
            .map_err(|why| CommandError::failed(why).hint("use other words"))?;
        let path = page_path(repo, &id);
        if file::write_if_absent(&path, empty_page(goal).as_bytes())? {
            return Ok((id, path));
        }
        number += 1;
    }
}

/// The page that `selector` means, with the plans for its layers. A plan that can't be read is named and left out. Fails
/// where the page has errors, except that a finished layer may have lost its inputs since.
fn open_valid_page(selector: Option<&str>, context: &Context) -> Result<RoadmapPage, CommandError> {
    let mut page = open_page(selector, context.repo())?;
    let known = context.known_plans()?;
    context.warn_of_unread(&known);
    for Known {
        folder,
        state,
        archived,
        ..
    } in &known
    {
        let layer = folder.layer().unwrap_or_else(|error| {
            context.printer.note(&format!(
                "warning: plan {} is left out: {error}",
                folder.id()
            ));
            None
        });
        if let (Some(of), Ok(state)) = (layer.filter(|of| of.id == page.id), state) {
            page.roadmap
                .add_plan(&of.layer, LayerPlan::new(state, *archived));
        }
    }
    let is_done = |id: &str| {
        page.roadmap
            .layers
            .iter()
            .any(|layer| layer.id == id && layer.is_done())
    };
    let counts = |finding: &&Diagnostic| {
        let lost = finding.rule == UNMADE_INPUT && is_done(&finding.task_id);
        finding.severity == Severity::Error && !lost
    };
    match page.found.iter().filter(counts).count() {
        0 => Ok(page),
        errors => {
            let (path, errors) = (context.shown(&page.path), counted(errors, "error"));
            Err(
                CommandError::refused(format!("{path} is not valid: it has {errors}"))
                    .hint(format!("`fp roadmap check {}` shows them", page.id)),
            )
        }
    }
}

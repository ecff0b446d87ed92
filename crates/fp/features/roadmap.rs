//! Roadmaps: a goal larger than one plan, as layers that each become a plan.
//!
//! Plans name the layer that they implement, and a layer's state follows from their runs. The page repeats none of
//! that, so it can't contradict it.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::PathBuf;

use fp_host::error::HostError;
use fp_host::file;
use fp_host::plan_folder::OfLayer;
use fp_host::platform;
use fp_host::repo::{ROADMAPS, Repo};
use fp_plan::plan::id::{PlanId, RoadmapId, TaskId};
use fp_plan::text::{counted, fitted, visible_line, wrapped_within};
use fp_run::interview::slug;
use fp_run::report::status::Phase;
use fp_run::run::State;
use fp_run::run::state::Status;
use serde::Serialize;
use serde_json::json;

use crate::commands::new::PlanGoal;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{WIDTH, word_of};

/// The format of a layer.
const FORM: &str = "\
## [1] What people can use when it is done
- Goal: one sentence in the user's words
- Done when:
  - what anybody can see then, with the input that shows it

## [2] The next one
- Goal: …
- Done when: …
";

/// Largest page that is read, in bytes.
const CAP: u64 = 1024 * 1024;

/// Split a goal larger than one plan into layers that each become a plan
#[derive(Debug, clap::Args)]
pub(crate) struct RoadmapArgs {
    #[command(subcommand)]
    action: RoadmapAction,
}

#[derive(Debug, clap::Subcommand)]
enum RoadmapAction {
    /// Create the page of a roadmap, and print the format of its layers
    New {
        /// The goal of all layers together, in your own words.
        #[arg(required = true, value_name = "GOAL")]
        goal: Vec<String>,
    },
    /// Show the layers of a roadmap, their states, and the command that plans the due one
    ///
    /// Exit status 1 means that the page has a fault.
    Show {
        /// The roadmap, by its id or a part of it; the only one by default.
        id: Option<String>,
    },
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RoadmapLayer {
    id: String,
    title: String,
    goal: String,
    /// The layer's lines on the page.
    #[serde(skip)]
    text: String,
    state: LayerState,
    /// The plan that is furthest along; if several are, the newest.
    plan: Option<PlanId>,
    /// The command that creates the layer's plan, if the layer is due.
    command: Option<String>,
}

/// The states of a layer, in order of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
enum LayerState {
    /// There is no plan yet.
    #[default]
    None,
    /// The plan ended or was archived before everything was done.
    Stopped,
    Planning,
    Running,
    Done,
}

/// A roadmap's page: the file `.fractal-planner/roadmaps/ID.md` in the main checkout, which the user commits.
#[derive(Serialize)]
struct RoadmapPage {
    #[serde(rename = "roadmap")]
    id: RoadmapId,
    path: PathBuf,
    goal: String,
    layers: Vec<RoadmapLayer>,
    faults: Vec<String>,
}

pub(crate) fn run(args: RoadmapArgs, context: &Context) -> CommandResult {
    match args.action {
        RoadmapAction::New { goal } => begin_page(goal.join(" ").trim(), context),
        RoadmapAction::Show { id } => show_page(id.as_deref(), context),
    }
}

/// Creates the page of a new roadmap. Its id is the goal's slug and the date, with `-2`, `-3` … if that is taken. Two
/// concurrent processes get different ids.
fn begin_page(goal: &str, context: &Context) -> CommandResult {
    if goal.is_empty() {
        return Err(CommandError::failed("the roadmap has no goal")
            .with_hint("say what you want in the end: `fp roadmap new 'Accounts for everybody'`"));
    }
    context.repo().make_folder(ROADMAPS)?;
    let page = format!("# Roadmap\n\n> {}\n", goal.replace('\n', "\n> "));
    let base = format!("{}-{}", slug(goal), context.today().strftime("%Y%m%d"));
    let (mut name, mut number) = (base.clone(), 1);
    let (id, path) = loop {
        let id = RoadmapId::new(&name).map_err(CommandError::failed)?;
        let path = page_path(context.repo(), &id);
        if file::write_if_absent(&path, page.as_bytes())? {
            break (id, path);
        }
        number += 1;
        name = format!("{base}-{number}");
    };
    let text = format!(
        "Roadmap {id}\n  {}\n\nWrite its layers there; each becomes a plan when the one before it is done:\n\n\
         {FORM}\nNext: fp roadmap show {id}\n",
        context.display_path(&path),
    );
    context.report(&json!({ "roadmap": id, "path": path, "form": FORM }), &text)
}

fn show_page(selector: Option<&str>, context: &Context) -> CommandResult {
    let page = RoadmapPage::open_page(selector, context)?;
    let mut text = format!(
        "Roadmap {}\n  {}\n",
        page.id,
        context.display_path(&page.path)
    );
    for line in wrapped_within(&page.goal, WIDTH - 2, 4) {
        text += &format!("  {line}\n");
    }
    text += "\n";
    text.extend(page.layers.iter().map(|layer| layer.to_lines()));
    let done = page.layers.iter().filter(|layer| layer.is_done()).count();
    let all = counted(page.layers.len(), "layer");
    text += &format!("\n{done} of {all} done\n");
    for fault in &page.faults {
        text += &format!("error: {}\n", visible_line(fault));
    }
    context.report(&page, &text)?;
    Ok(Exit::with_findings(!page.faults.is_empty()))
}

/// Composes the goal of a plan for the due layer of the roadmap that `selector` names.
pub(crate) fn layer_to_plan(
    selector: &str,
    words: String,
    context: &Context,
) -> Result<PlanGoal, CommandError> {
    let page = RoadmapPage::open_page(Some(selector), context)?;
    let due = page.layers.iter().find(|layer| layer.command.is_some());
    let layer = due.ok_or_else(|| {
        CommandError::refused("no layer is due")
            .with_hint(format!("`fp roadmap show {}` says why", page.id))
    })?;
    let words = match words.trim() {
        "" => &layer.goal,
        words => words,
    };
    let RoadmapLayer { id, title, .. } = layer;
    let heading = format!("Layer {id} of the roadmap {}: {title}", page.id);
    Ok(PlanGoal {
        goal: format!("{words}\n\n{heading}\n{}", layer.text.trim_end()),
        name: title.clone(),
        roadmap: Some(OfLayer {
            layer: TaskId::new(&**id).map_err(CommandError::failed)?,
            id: page.id,
        }),
        issue: None,
    })
}

/// Parses a page into its layers and the goal quoted before the first one.
fn read_page(text: &str) -> (String, Vec<RoadmapLayer>) {
    let (mut goal, mut layers) = (String::new(), Vec::<RoadmapLayer>::new());
    for line in text.lines() {
        let heading = line.strip_prefix("##").unwrap_or_default();
        let heading = heading.trim_matches(['#', ' ']).strip_prefix('[');
        if let Some((id, title)) = heading.and_then(|rest| rest.split_once(']')) {
            layers.push(RoadmapLayer {
                id: id.trim().to_owned(),
                title: title.trim().to_owned(),
                ..RoadmapLayer::default()
            });
        } else if let Some(layer) = layers.last_mut() {
            layer.text += &format!("{line}\n");
            if let Some(goal) = line.trim_start().strip_prefix("- Goal:") {
                goal.trim().clone_into(&mut layer.goal);
            }
        } else if let Some(quoted) = line.strip_prefix('>') {
            goal += &format!("{}\n", quoted.trim());
        }
    }
    (goal.trim().to_owned(), layers)
}

/// The problems in `layers` that prevent creating plans from them.
fn faults_in(layers: &[RoadmapLayer]) -> Vec<String> {
    let mut faults = Vec::new();
    if layers.is_empty() {
        let form = "write one as `## [1] Title`, with its `- Goal:`";
        faults.push(format!("there is no layer: {form}"));
    }
    for (at, RoadmapLayer { id, goal, .. }) in layers.iter().enumerate() {
        if layers[..at].iter().any(|above| above.id == *id) {
            faults.push(format!("there are two layers {id}"));
        }
        if goal.is_empty() {
            faults.push(format!("layer {id} has no `- Goal:` for its plan"));
        }
    }
    faults
}

impl RoadmapLayer {
    fn is_done(&self) -> bool {
        self.state == LayerState::Done
    }

    fn to_lines(&self) -> String {
        let title = fitted(&format!("[{}] {}", self.id, self.title), WIDTH - 2);
        let mut lines = match &self.plan {
            None => format!("  {title}\n      no plan\n"),
            Some(plan) => format!("  {title}\n      {}: {plan}\n", word_of(self.state)),
        };
        if let Some(command) = &self.command {
            lines += &format!("      next: {command}\n");
        }
        lines
    }

    /// Updates the layer's state for `plan`, one of the layer's plans.
    fn add_plan(&mut self, plan: &State, is_archived: bool) {
        let is_done = plan.count_in(Status::Completed) == plan.tasks.len();
        let state = match Phase::of(plan) {
            Phase::Finished | Phase::Cancelled if is_done => LayerState::Done,
            Phase::Finished | Phase::Cancelled => LayerState::Stopped,
            _ if is_archived => LayerState::Stopped,
            Phase::Running => LayerState::Running,
            Phase::Planning | Phase::Approved => LayerState::Planning,
        };
        if state >= self.state {
            self.state = state;
            self.plan = Some(plan.plan_id.clone());
        }
    }
}

impl RoadmapPage {
    /// Opens the page whose id is `selector`, or else the only page whose id contains it, along with the plans for its
    /// layers. Without a selector, opens the only page. Unreadable plans are reported and skipped.
    fn open_page(selector: Option<&str>, context: &Context) -> Result<Self, CommandError> {
        let id = choose_id(context.repo(), selector.unwrap_or_default())?;
        let path = page_path(context.repo(), &id);
        // A link may lead to anybody's file.
        if !platform::real_path(&path).is_ok_and(|real| real.starts_with(&context.repo().root)) {
            return Err(HostError::link(&path).into());
        }
        let (goal, mut layers) = read_page(&file::read_text(&path, CAP)?);
        let known = context.known_plans()?;
        context.warn_of_unread(&known);
        for plan in &known {
            let of = plan.folder.layer().unwrap_or_else(|error| {
                let note = format!("warning: plan {} is left out: {error}", plan.folder.id());
                context.printer.print_note(&note);
                None
            });
            let (Some(of), Ok(state)) = (of.filter(|of| of.id == id), &plan.state) else {
                continue;
            };
            let mut layers = layers.iter_mut();
            if let Some(layer) = layers.find(|layer| layer.id == of.layer.as_str()) {
                layer.add_plan(state, plan.archived);
            }
        }
        let faults = faults_in(&layers);
        let next = layers.iter_mut().find(|layer| !layer.is_done());
        if let Some(layer) =
            next.filter(|layer| faults.is_empty() && layer.state <= LayerState::Stopped)
        {
            layer.command = Some(format!("fp new --roadmap {id}"));
        }
        Ok(Self {
            id,
            path,
            goal,
            layers,
            faults,
        })
    }
}

fn page_path(repo: &Repo, id: &RoadmapId) -> PathBuf {
    repo.root.join(ROADMAPS).join(format!("{id}.md"))
}

/// The page id that equals `part`, or else the only one that contains it.
fn choose_id(repo: &Repo, part: &str) -> Result<RoadmapId, CommandError> {
    // Without the folder there are no pages.
    let entries = fs::read_dir(repo.root.join(ROADMAPS));
    let names = entries.into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let ids = names.filter_map(|name| RoadmapId::new(name.strip_suffix(".md")?).ok());
    let mut ids: Vec<RoadmapId> = ids.collect();
    ids.sort();
    let is_meant = |id: &&RoadmapId| id.as_str().contains(part);
    let matching: Vec<&RoadmapId> = ids.iter().filter(is_meant).collect();
    let whole = matching.iter().find(|id| id.as_str() == part);
    if let Some(id) = whole.or(matching.first().filter(|_| matching.len() == 1)) {
        return Ok((*id).clone());
    }
    if ids.is_empty() {
        return Err(CommandError::failed("there is no roadmap")
            .with_hint("`fp roadmap new GOAL` begins one"));
    }
    let listed: String = ids.iter().map(|id| format!("\n  {id}")).collect();
    let count = counted(matching.len(), "roadmap");
    Err(
        CommandError::failed(format!("{count} match; there are:{listed}"))
            .with_hint("name a roadmap by its id or a part of it"),
    )
}

//! Roadmaps: a goal larger than one plan, as layers that each become a plan.
//!
//! Plans name the layer that they make, and a layer's state follows from their runs. The page repeats none of that, so it
//! can't contradict it.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use fp_host::file::{self, FileError};
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
use crate::context::{Context, Known};
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{WIDTH, word_of};

/// How to write a layer.
const FORM: &str = "\
## [1] What people can use when it is done
- Goal: one sentence in the user's words
- Done when:
  - what anybody can see then, with the input that shows it

## [2] The next one
- Goal: …
- Done when: …
- Depends on: 1
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
    /// Begin the page of a roadmap, and print the form of its layers
    New {
        /// The goal of all layers together, in your own words.
        #[arg(required = true, value_name = "GOAL")]
        goal: Vec<String>,
    },
    /// Show the layers of a roadmap, their states, and the commands that plan those that are due
    ///
    /// Exit status 1 says that the page has a fault, 3 that something under way has to be done first.
    #[command(aliases = ["check", "next"])]
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
    /// The layers before it: those that it names, else the one above it on the page.
    depends_on: Vec<String>,
    /// Its lines on the page.
    #[serde(skip)]
    text: String,
    plans: Vec<LayerPlan>,
    /// The furthest state of its plans.
    state: LayerState,
    /// Makes its plan; only of a layer that is due.
    command: Option<String>,
}

/// From the least to the furthest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
enum LayerState {
    /// It has no plan.
    #[default]
    None,
    /// Its plan ended, or was archived, before all of it was done.
    Stopped,
    Planning,
    Running,
    Done,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LayerPlan {
    plan_id: PlanId,
    state: LayerState,
    archived: bool,
    done: usize,
    total: usize,
}

impl LayerPlan {
    fn new(state: &State, archived: bool) -> Self {
        let (done, total) = (state.count(Status::Completed), state.tasks.len());
        Self {
            plan_id: state.plan_id.clone(),
            state: match Phase::of(state) {
                Phase::Finished | Phase::Cancelled if done == total => LayerState::Done,
                Phase::Finished | Phase::Cancelled => LayerState::Stopped,
                Phase::Planning | Phase::Approved | Phase::Running if archived => {
                    LayerState::Stopped
                }
                Phase::Running => LayerState::Running,
                Phase::Planning | Phase::Approved => LayerState::Planning,
            },
            archived,
            done,
            total,
        }
    }
}

/// A page, `.fractal-planner/roadmaps/ID.md` of the main checkout, which the user commits.
struct RoadmapPage {
    id: RoadmapId,
    path: PathBuf,
    goal: String,
    layers: Vec<RoadmapLayer>,
    faults: Vec<String>,
}

pub(crate) fn run(args: RoadmapArgs, context: &Context) -> CommandResult {
    match args.action {
        RoadmapAction::New { goal } => begin_page(&goal.join(" "), context),
        RoadmapAction::Show { id } => show_page(id.as_deref(), context),
    }
}

/// Begins the page of a new roadmap. Its id is the goal's slug and the date, with `-2`, `-3` … where that is taken. Two
/// processes at once each get their own.
fn begin_page(goal: &str, context: &Context) -> CommandResult {
    let goal = goal.trim();
    if goal.is_empty() {
        return Err(CommandError::failed("the roadmap has no goal")
            .hint("say what you want in the end: `fp roadmap new 'Accounts for everybody'`"));
    }
    context.repo().make_folder(ROADMAPS)?;
    let quoted: String = goal.lines().map(|line| format!("> {line}\n")).collect();
    let base = format!("{}-{}", slug(goal), context.today().strftime("%Y%m%d"));
    let names = std::iter::once(base.clone()).chain((2..).map(|n| format!("{base}-{n}")));
    for name in names {
        let id = RoadmapId::new(name).map_err(CommandError::failed)?;
        let path = page_path(context.repo(), &id);
        if file::write_if_absent(&path, format!("# Roadmap\n\n{quoted}").as_bytes())? {
            let text = format!(
                "Roadmap {id}\n  {}\n\nWrite its layers there; each becomes a plan:\n\n{FORM}\nA layer without \
                 `Depends on` waits for the one before it.\n\nNext: fp roadmap show {id}\n",
                context.shown(&path),
            );
            return context.report(&json!({ "roadmap": id, "path": path, "form": FORM }), &text);
        }
    }
    unreachable!("the names never end")
}

fn show_page(selector: Option<&str>, context: &Context) -> CommandResult {
    let page = RoadmapPage::open(selector, context)?;
    let RoadmapPage {
        id,
        path,
        goal,
        layers,
        faults,
    } = &page;
    let total = layers.len();
    let done = layers.iter().filter(|layer| layer.is_done()).count();
    let json = json!({
        "roadmap": id, "path": path, "goal": goal, "layers": layers, "faults": faults, "done": done, "total": total,
    });
    let mut text = format!("Roadmap {id}\n  {}\n", context.shown(path));
    let goal = wrapped_within(goal, WIDTH - 2, 4);
    text.extend(goal.iter().map(|line| format!("  {line}\n")));
    text.push('\n');
    text.extend(layers.iter().map(RoadmapLayer::lines));
    text += &format!("\n{done} of {} done\n", counted(total, "layer"));
    let faults = faults.iter().map(|fault| format!("error: {fault}\n"));
    text.extend(faults.map(|line| visible_line(line.trim_end()) + "\n"));
    context.report(&json, &text)?;
    Ok(match page.faults.is_empty() {
        false => Exit::Findings,
        true if done < total && layers.iter().all(|layer| layer.command.is_none()) => {
            Exit::NothingReady
        }
        true => Exit::Done,
    })
}

/// The goal of a plan for the layer `id` of the roadmap that `selector` means, or else for the only layer that is due.
/// Fails where the layer has a plan.
pub(crate) fn layer_to_plan(
    selector: &str,
    id: Option<&TaskId>,
    words: String,
    context: &Context,
) -> Result<PlanGoal, CommandError> {
    let page = RoadmapPage::open(Some(selector), context)?;
    let show = format!("`fp roadmap show {}` shows its layers", page.id);
    if !page.faults.is_empty() {
        let faults = counted(page.faults.len(), "fault");
        return Err(CommandError::refused(format!("{} has {faults}", page.id)).hint(show));
    }
    let is_due = |layer: &&RoadmapLayer| layer.command.is_some();
    let layer = match id {
        Some(id) => page.layer(id.as_str()).ok_or_else(|| {
            CommandError::failed(format!("{} has no layer {id}", page.id)).hint(&show)
        })?,
        None if page.layers.iter().filter(is_due).count() == 1 => {
            page.layers.iter().find(is_due).expect("it was counted")
        }
        None => {
            return Err(CommandError::refused("no single layer is due").hint(&show));
        }
    };
    if let Some(plan) = layer.plan().filter(|_| layer.state > LayerState::Stopped) {
        let said = format!("layer {} already has a plan: {}", layer.id, plan.plan_id);
        return Err(CommandError::refused(said)
            .hint("`fp plans archive` puts a plan away; then the layer can have another"));
    }
    let missing = page.missing_before(layer);
    let warning = format!(
        "layer {} builds on layers that are not done: {}",
        layer.id,
        missing.join(", ")
    );
    let words = Some(words).filter(|words| !words.trim().is_empty());
    let words = words.unwrap_or_else(|| layer.goal.clone());
    Ok(PlanGoal {
        goal: format!(
            "{}\n\nLayer {} of the roadmap {}: {}\n{}",
            words.trim(),
            layer.id,
            page.id,
            layer.title,
            layer.text.trim_end()
        ),
        name: layer.title.clone(),
        warning: (!missing.is_empty()).then_some(warning),
        roadmap: Some(OfLayer {
            layer: TaskId::new(&*layer.id).map_err(CommandError::failed)?,
            id: page.id.clone(),
        }),
    })
}

/// The goal that a page quotes before its first layer, and its layers.
fn read_page(text: &str) -> (String, Vec<RoadmapLayer>) {
    let (mut goal, mut layers) = (String::new(), Vec::<RoadmapLayer>::new());
    for line in text.lines() {
        let heading = line
            .strip_prefix("##")
            .map(|rest| rest.trim_matches(['#', ' ']));
        if let Some((id, title)) = heading.and_then(|rest| rest.strip_prefix('[')?.split_once(']'))
        {
            layers.push(RoadmapLayer {
                id: id.trim().to_owned(),
                title: title.trim().to_owned(),
                depends_on: layers
                    .last()
                    .map(|layer| layer.id.clone())
                    .into_iter()
                    .collect(),
                ..RoadmapLayer::default()
            });
        } else if let Some(layer) = layers.last_mut() {
            layer.text += &format!("{line}\n");
            if let Some(text) = field(line, "Goal") {
                text.clone_into(&mut layer.goal);
            }
            if let Some(text) = field(line, "Depends on") {
                let ids = text
                    .split([',', ' '])
                    .filter(|id| !["", "and", "none"].contains(id));
                layer.depends_on = ids.map(str::to_owned).collect();
            }
        } else if let Some(quoted) = line.strip_prefix('>') {
            goal += &format!("{}\n", quoted.trim());
        }
    }
    (goal.trim().to_owned(), layers)
}

/// What the list item `line` says of `label`.
fn field<'l>(line: &'l str, label: &str) -> Option<&'l str> {
    let (said, text) = line.trim_start().strip_prefix("- ")?.split_once(':')?;
    (said.trim() == label).then(|| text.trim())
}

/// What keeps plans from being made of `layers`.
fn faults_in(layers: &[RoadmapLayer]) -> Vec<String> {
    if layers.is_empty() {
        return vec![
            "there is no layer: write one as `## [1] Title`, with its `- Goal:`".to_owned(),
        ];
    }
    let mut faults = Vec::new();
    let mut ids = HashSet::new();
    for RoadmapLayer { id, goal, .. } in layers {
        if let Err(error) = TaskId::new(&**id) {
            faults.push(error.to_string());
        }
        if !ids.insert(&**id) {
            faults.push(format!("there are two layers {id}"));
        }
        if goal.is_empty() {
            faults.push(format!(
                "layer {id} has no `- Goal:`, which begins the goal of its plan"
            ));
        }
    }
    for RoadmapLayer { id, depends_on, .. } in layers {
        let unknown = depends_on.iter().filter(|other| !ids.contains(&***other));
        faults.extend(
            unknown.map(|other| format!("layer {id} depends on {other}, which is no layer")),
        );
    }
    // A layer is in reach once all before it are; what is left over waits for itself.
    let mut waiting: Vec<&RoadmapLayer> = layers.iter().collect();
    loop {
        let is_waited_for = |id: &String| waiting.iter().any(|layer| layer.id == *id);
        let left: Vec<&RoadmapLayer> = waiting
            .iter()
            .copied()
            .filter(|layer| layer.depends_on.iter().any(is_waited_for))
            .collect();
        if left.len() == waiting.len() {
            break;
        }
        waiting = left;
    }
    if !waiting.is_empty() {
        let ids: Vec<&str> = waiting.iter().map(|layer| &*layer.id).collect();
        faults.push(format!("layers wait for each other: {}", ids.join(", ")));
    }
    faults
}

impl RoadmapLayer {
    fn is_done(&self) -> bool {
        self.state == LayerState::Done
    }

    /// The plan that decides its state: the latest of the furthest ones.
    fn plan(&self) -> Option<&LayerPlan> {
        self.plans.iter().max_by_key(|plan| plan.state)
    }

    fn lines(&self) -> String {
        let state = match self.state {
            LayerState::None => "no plan".to_owned(),
            state => word_of(state),
        };
        let mut text = format!(
            "  {}\n",
            fitted(&format!("[{}] {}", self.id, self.title), WIDTH - 2)
        );
        text += &match self.plan() {
            Some(LayerPlan {
                plan_id,
                done,
                total,
                archived,
                ..
            }) => {
                let archived = if *archived { ", archived" } else { "" };
                format!("      {state}: {plan_id} ({done} of {total} done{archived})\n")
            }
            None => format!("      {state}\n"),
        };
        text + &self
            .command
            .as_ref()
            .map_or_else(String::new, |command| format!("      next: {command}\n"))
    }
}

impl RoadmapPage {
    /// The page that `selector` means, an id or a part of exactly one, with the plans for its layers. Without it, the only
    /// page there is. A plan that can't be read is named and left out.
    fn open(selector: Option<&str>, context: &Context) -> Result<Self, CommandError> {
        let id = choose_id(context.repo(), selector.unwrap_or_default())?;
        let path = page_path(context.repo(), &id);
        // A page behind a link may be a file of anybody.
        if !platform::real_path(&path).is_ok_and(|real| real.starts_with(&context.repo().root)) {
            return Err(FileError::Link { path }.into());
        }
        let (goal, layers) = read_page(&file::read_text(&path, CAP)?);
        let faults = faults_in(&layers);
        let mut page = Self {
            id,
            path,
            goal,
            layers,
            faults,
        };
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
            let (Some(of), Ok(state)) = (layer.filter(|of| of.id == page.id), state) else {
                continue;
            };
            let layer = page
                .layers
                .iter_mut()
                .find(|known| known.id == of.layer.as_str());
            if let Some(layer) = layer {
                let plan = LayerPlan::new(state, *archived);
                layer.state = layer.state.max(plan.state);
                layer.plans.push(plan);
            }
        }
        for at in 0..page.layers.len() {
            let layer = &page.layers[at];
            let is_due =
                layer.state <= LayerState::Stopped && page.missing_before(layer).is_empty();
            let command = format!("fp new --roadmap {} --layer {}", page.id, layer.id);
            page.layers[at].command = (is_due && page.faults.is_empty()).then_some(command);
        }
        Ok(page)
    }

    fn layer(&self, id: &str) -> Option<&RoadmapLayer> {
        self.layers.iter().find(|layer| layer.id == id)
    }

    /// The layers directly before `layer` that are not done.
    fn missing_before<'l>(&self, layer: &'l RoadmapLayer) -> Vec<&'l str> {
        let is_missing = |id: &&String| !self.layer(id).is_some_and(RoadmapLayer::is_done);
        layer
            .depends_on
            .iter()
            .filter(is_missing)
            .map(String::as_str)
            .collect()
    }
}

fn page_path(repo: &Repo, id: &RoadmapId) -> PathBuf {
    repo.root.join(ROADMAPS).join(format!("{id}.md"))
}

/// The id of the page that is called `part`, or else of the only one that contains it.
fn choose_id(repo: &Repo, part: &str) -> Result<RoadmapId, CommandError> {
    // Without the folder there is none.
    let entries = fs::read_dir(repo.root.join(ROADMAPS))
        .into_iter()
        .flatten()
        .flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut ids: Vec<RoadmapId> = names
        .filter_map(|name| RoadmapId::new(name.strip_suffix(".md")?).ok())
        .collect();
    ids.sort();
    let part = part.to_lowercase();
    let matching: Vec<&RoadmapId> = ids
        .iter()
        .filter(|id| id.as_str().to_lowercase().contains(&part))
        .collect();
    let whole = matching.iter().find(|id| id.as_str() == part);
    match (whole, matching.as_slice()) {
        (Some(id), _) | (None, [id]) => Ok((*id).clone()),
        _ if ids.is_empty() => {
            Err(CommandError::failed("there is no roadmap")
                .hint("`fp roadmap new GOAL` begins one"))
        }
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

//! Specs: Markdown pages with a project's rules for every task. Frontmatter says which work a page applies to, so that
//! an agent reads only relevant pages. A required page that applies is quoted in full or named, never left out.

mod page;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use fp_host::file;
use fp_host::plan;
use fp_host::platform;
use fp_host::repo::{HOME, Repo};
use fp_plan::plan::Task;
use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::text::{counted, fitted, is_invisible, prompt_lines, visible_line};
use fp_run::run::payload::ROOM_FOR_SPECS;
use ignore::WalkBuilder;
use serde_json::{Value, json};

use self::page::{
    Spec, SpecCategory, applicable_specs, named_line, parse_spec, payload_section, quoted_line,
    work_of_task,
};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{WIDTH, word_of};

/// Width of a name, in columns.
const NAME: usize = 20;
/// Maximum number of characters of specs to print. Further specs are only named.
const BUDGET: usize = 8_000;
/// Largest page that is read, in bytes.
const CAP: u64 = 1024 * 1024;
/// The specs that apply to planning a goal, as JSON and as lines.
#[derive(Default)]
pub(crate) struct PlanningSpecs {
    pub(crate) json: Vec<Value>,
    pub(crate) text: String,
}

/// The specs that apply to planning `goal`; unreadable ones become warnings.
pub(crate) fn specs_for_planning(
    goal: &str,
    context: &Context,
    warnings: &mut Vec<String>,
) -> PlanningSpecs {
    let found = ProjectSpecs::load(context.repo());
    let stages = [SpecCategory::Exploration, SpecCategory::Planning];
    let applicable = applicable_specs(&found.specs, &stages, goal);
    let mut planning = PlanningSpecs::default();
    if !context.trusts_place().unwrap_or(false) {
        // Nothing from a clone's pages, not even a title, reaches a model before the user trusts the repository.
        if !applicable.is_empty() {
            let specs = counted(applicable.len(), "spec");
            warnings.push(format!(
                "{specs} of the project left out: Claude Code has no record that you trust this folder"
            ));
        }
        return planning;
    }
    warnings.extend(found.faults.iter().cloned());
    for spec in applicable {
        let (mode, path) = (word_of(spec.read_mode), context.display_path(&spec.path));
        planning.text += &format!("  {mode:<8}  {path}: {}\n", spec.title);
        planning.json.push(json!({
            "title": spec.title, "path": spec.path, "readMode": spec.read_mode, "category": spec.category,
        }));
    }
    planning
}

/// The payload section with the specs for `task`; empty if none applies.
pub(crate) fn section_of_payload(
    plan: &PlanId,
    leaf: &Task,
    goal: &str,
    context: &Context,
) -> String {
    let found = ProjectSpecs::load_with_warnings(context);
    let about = work_of_task(leaf) + goal;
    let apply = applicable_specs(&found.specs, &[SpecCategory::Execution], &about);
    let command = format!("fp specs for {plan} {}", leaf.id);
    match apply.is_empty() {
        true => String::new(),
        false => payload_section(&apply, ROOM_FOR_SPECS, &command),
    }
}

/// Show the project's rules for every task, from `.fractal-planner/specs`
#[derive(Debug, clap::Args)]
pub(crate) struct SpecsArgs {
    #[command(subcommand)]
    action: SpecsAction,
}

#[derive(Debug, clap::Subcommand)]
enum SpecsAction {
    /// List the specs, with a warning for each that can't be read
    List,
    /// Print the specs that apply to a piece of work
    ///
    /// Required specs of the stage always apply. Optional ones apply if they have no keywords, or if one of their
    /// keywords occurs in the goal, title or files of the work. Specs beyond 8,000 characters are only named, with
    /// their path.
    For {
        /// The plan whose goal describes the work.
        plan: Option<String>,
        /// A task of the plan, whose title and files also describe the work; the default stage is then `execution`.
        #[arg(requires = "plan")]
        task: Option<TaskId>,
        /// The stage of the work; all of them by default.
        #[arg(long, value_name = "STAGE", value_delimiter = ',')]
        stage: Vec<SpecCategory>,
    },
}

pub(crate) fn run(args: SpecsArgs, context: &Context) -> CommandResult {
    match args.action {
        SpecsAction::List => list_specs(context),
        SpecsAction::For { plan, task, stage } => {
            let stages = match (stage.as_slice(), &task) {
                ([], Some(_)) => &[SpecCategory::Execution][..],
                (stages, _) => stages,
            };
            let about = description_of_work(plan.as_deref(), task.as_ref(), context)?;
            print_specs(&about, stages, context)
        }
    }
}

fn list_specs(context: &Context) -> CommandResult {
    let ProjectSpecs { specs, faults } = ProjectSpecs::load_with_warnings(context);
    let mut text = String::new();
    for spec in &specs {
        let (mode, category) = (word_of(spec.read_mode), word_of(spec.category));
        let name = fitted(&spec.name, NAME);
        let line = format!("{name:<NAME$}  {mode:<8}  {category:<11}  {}", spec.title);
        text += &format!("{}\n", fitted(&line, WIDTH));
    }
    context.report(&json!({ "specs": specs, "faults": faults }), &text)?;
    if specs.is_empty() && faults.is_empty() {
        let note = "note: there are no specs; a spec is a Markdown file in .fractal-planner/specs";
        context.printer.print_note(note);
    }
    Ok(Exit::Done)
}

fn print_specs(about: &str, stages: &[SpecCategory], context: &Context) -> CommandResult {
    let found = ProjectSpecs::load_with_warnings(context);
    let mut room = BUDGET;
    let (mut rows, mut text, mut beyond) = (Vec::new(), String::new(), String::new());
    for spec in applicable_specs(&found.specs, stages, about) {
        let mode = word_of(spec.read_mode);
        let body: String = spec.body.lines().map(quoted_line).collect();
        let whole = format!("# Spec {}: {} ({mode})\n\n{body}\n", spec.name, spec.title);
        let whole = prompt_lines(&whole, usize::MAX);
        let (length, mut row) = (whole.chars().count(), json!(spec));
        if length <= room {
            room -= length;
            text += &whole;
            row["text"] = json!(whole);
        } else {
            beyond += &named_line(spec, &context.display_path(&spec.path));
        }
        rows.push(row);
    }
    if !beyond.is_empty() {
        text += &format!("# Beyond {BUDGET} characters\n\n{beyond}");
    }
    if rows.is_empty() {
        context.printer.print_note("note: no spec applies");
    } else {
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    context.report(
        &json!({ "stages": stages, "specs": rows, "faults": found.faults }),
        &text,
    )
}

/// The text to search for keywords.
fn description_of_work(
    plan: Option<&str>,
    task: Option<&TaskId>,
    context: &Context,
) -> Result<String, CommandError> {
    let Some(selector) = plan else {
        return Ok(String::new());
    };
    let plan = context.open(Some(selector))?;
    let mut about = plan.goal();
    if let Some(id) = task {
        let tree = plan.tree()?;
        let parsed = tree.parse();
        let leaf = plan::leaf(&parsed, id).ok_or_else(|| {
            CommandError::failed(format!("{} has no leaf {id}", plan.id()))
                .with_hint("`fp show PLAN` lists them")
        })?;
        about += &work_of_task(leaf);
    }
    Ok(about)
}

fn folder_of_specs(repo: &Repo) -> PathBuf {
    repo.root.join(HOME).join("specs")
}

/// The specs of a repository, sorted by name, and the problems with pages that couldn't be read.
#[derive(Default)]
struct ProjectSpecs {
    specs: Vec<Spec>,
    faults: Vec<String>,
}

impl ProjectSpecs {
    /// The pages `.fractal-planner/specs/*.md` and those one folder below. A link is followed if it stays in the
    /// repository. An unreadable page doesn't hide the others.
    fn load(repo: &Repo) -> Self {
        let mut found = Self::default();
        let folder = folder_of_specs(repo);
        if fs::symlink_metadata(&folder).is_err() {
            return found;
        }
        if let Err(fault) = refuse_outside(repo, &folder) {
            found.faults.push(visible_line(&fault));
            return found;
        }
        let mut walk = WalkBuilder::new(&folder);
        walk.standard_filters(false)
            .hidden(true)
            .follow_links(true)
            .max_depth(Some(2))
            .sort_by_file_path(Path::cmp);
        for page in walk.build() {
            let read = match page.map(|page| page.into_path()) {
                Ok(path) if path.extension().is_none_or(|end| end != "md") || path.is_dir() => {
                    continue;
                }
                Ok(path) => read_page(repo, &folder, &path),
                Err(error) => Err(error.to_string()),
            };
            match read {
                Ok(spec) => found.specs.push(spec),
                Err(fault) => found.faults.push(visible_line(&fault)),
            }
        }
        found
    }

    fn load_with_warnings(context: &Context) -> Self {
        let found = Self::load(context.repo());
        for fault in &found.faults {
            context.printer.print_note(&format!("warning: {fault}"));
        }
        found
    }
}

fn read_page(repo: &Repo, folder: &Path, path: &Path) -> Result<Spec, String> {
    let below = path.strip_prefix(folder).unwrap_or(path).with_extension("");
    let name = platform::slashed(&below);
    let name = String::from_utf8_lossy(&name);
    // A spec's path appears in prompts.
    if name.chars().any(|c| c.is_control() || is_invisible(c)) {
        return Err(format!("{}: a spec's name is visible text", path.display()));
    }
    refuse_outside(repo, path)?;
    let text = file::read_text(path, CAP).map_err(|error| error.to_string())?;
    parse_spec(&name, path, &text).map_err(|fault| format!("{}: {fault}", path.display()))
}

/// Fails if `path` leads out of the repository.
fn refuse_outside(repo: &Repo, path: &Path) -> Result<(), String> {
    let shown = path.display();
    match platform::real_path(path) {
        Ok(real) if real.starts_with(&repo.root) => Ok(()),
        Ok(real) => Err(format!(
            "{shown} leads out of the repository, to {}",
            real.display()
        )),
        Err(error) => Err(format!("{shown}: {}", file::reason_of(&error))),
    }
}

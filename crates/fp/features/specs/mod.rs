//! Specs: Markdown pages with the demands of a project on every task. Frontmatter says which work a page applies to, so
//! that an agent reads only that. A required page that applies is handed on whole or named, never left out.

mod disk;
mod model;
mod promote;
#[cfg(test)]
mod tests;

use fp_host::plan;
use fp_plan::plan::Task;
use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::text::{counted, fitted, prompt_lines};
use fp_run::run::payload::ROOM_FOR_SPECS;
use serde_json::{Value, json};

use self::disk::{ProjectSpecs, load_specs, load_with_warnings};
use self::model::{
    Spec, SpecCategory, SpecFault, applicable_specs, named_line, payload_section, quoted_line,
    work_of_task,
};
pub(crate) use self::promote::{PromoteArgs, promote_note};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{WIDTH, word_of};

/// Columns of a name.
const NAME: usize = 20;
/// Most characters of specs that are printed. The others are named.
const BUDGET: usize = 8_000;

/// The specs that apply to planning a goal, as JSON and as lines.
#[derive(Default)]
pub(crate) struct PlanningSpecs {
    pub(crate) json: Vec<Value>,
    pub(crate) text: String,
}

/// The specs that apply to planning `goal`; those that can't be read become warnings.
pub(crate) fn specs_for_planning(
    goal: &str,
    context: &Context,
    warnings: &mut Vec<String>,
) -> PlanningSpecs {
    let found = load_specs(context.repo());
    let stages = [SpecCategory::Exploration, SpecCategory::Planning];
    let applicable = applicable_specs(&found.specs, &stages, goal);
    if !context.trusts_place().unwrap_or(false) {
        // A clone's pages, titles too, reach no model before its user trusts it.
        let count = applicable.len();
        if count > 0 {
            warnings.push(format!(
                "{} of the project left out: Claude Code has no record that you trust this folder",
                counted(count, "spec")
            ));
        }
        return PlanningSpecs::default();
    }
    warnings.extend(found.faults.iter().map(SpecFault::line));
    let mut planning = PlanningSpecs::default();
    for Spec {
        name,
        title,
        read_mode,
        category,
        ..
    } in applicable
    {
        let path = found.path(name);
        planning.text += &format!(
            "  {:<8}  {}: {title}\n",
            word_of(read_mode),
            context.shown(&path)
        );
        let json =
            json!({ "title": title, "path": path, "readMode": read_mode, "category": category });
        planning.json.push(json);
    }
    planning
}

/// The section with the specs of `task` for its payload; empty where none applies.
pub(crate) fn section_of_payload(
    plan: &PlanId,
    leaf: &Task,
    goal: &str,
    context: &Context,
) -> String {
    let found = load_with_warnings(context);
    let about = work_of_task(leaf) + goal;
    let apply = applicable_specs(&found.specs, &[SpecCategory::Execution], &about);
    if apply.is_empty() {
        return String::new();
    }
    payload_section(
        &apply,
        ROOM_FOR_SPECS,
        |spec| found.path(&spec.name).display().to_string(),
        &format!("fp specs for {plan} {}", leaf.id),
    )
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
    List {
        /// End with status 1 where one can't be read.
        #[arg(long)]
        strict: bool,
    },
    /// Print the specs that apply to a piece of work
    ///
    /// Required specs of the stage always apply. Optional ones apply where one of their keywords occurs in the goal, title
    /// or files of the work, or where they have no keywords. Specs beyond 8,000 characters are named with their path.
    For {
        /// The plan whose goal describes the work.
        plan: Option<String>,
        /// A task of the plan, whose title and files describe the work too; the stage is `execution` by default then.
        #[arg(requires = "plan")]
        task: Option<TaskId>,
        /// The stage of the work; all of them by default.
        #[arg(long, value_name = "STAGE", value_delimiter = ',')]
        stage: Vec<SpecCategory>,
    },
}

pub(crate) fn run(args: SpecsArgs, context: &Context) -> CommandResult {
    match args.action {
        SpecsAction::List { strict } => list(strict, context),
        SpecsAction::For { plan, task, stage } => {
            let stages = match (stage.as_slice(), &task) {
                ([], Some(_)) => &[SpecCategory::Execution][..],
                (stages, _) => stages,
            };
            let about = description_of_work(plan.as_deref(), task.as_ref(), context)?;
            for_work(&about, stages, context)
        }
    }
}

fn list(strict: bool, context: &Context) -> CommandResult {
    let found = load_with_warnings(context);
    let rows: Vec<Value> = found
        .specs
        .iter()
        .map(|spec| spec_json(spec, &found))
        .collect();
    let text: String = found.specs.iter().map(spec_line).collect();
    context.report(&json!({ "specs": rows, "faults": found.faults }), &text)?;
    if found.specs.is_empty() && found.faults.is_empty() {
        context
            .printer
            .note("note: there are no specs; a spec is a Markdown file in .fractal-planner/specs");
    }
    Ok(if strict && !found.faults.is_empty() {
        Exit::Findings
    } else {
        Exit::Done
    })
}

fn spec_json(spec: &Spec, found: &ProjectSpecs) -> Value {
    let mut value = json!(spec);
    value["path"] = json!(found.path(&spec.name));
    value
}

fn for_work(about: &str, stages: &[SpecCategory], context: &Context) -> CommandResult {
    let found = load_with_warnings(context);
    let mut room = BUDGET;
    let (mut rows, mut text, mut beyond) = (Vec::new(), String::new(), String::new());
    for spec in applicable_specs(&found.specs, stages, about) {
        let mode = word_of(spec.read_mode);
        let body: String = spec.body.lines().map(quoted_line).collect();
        let whole = format!("# Spec {}: {} ({mode})\n\n{body}\n", spec.name, spec.title);
        let whole = prompt_lines(&whole, usize::MAX);
        let (length, mut row) = (whole.chars().count(), spec_json(spec, &found));
        if length <= room {
            room -= length;
            text += &whole;
            row["text"] = json!(whole);
        } else {
            beyond += &named_line(spec, &context.shown(&found.path(&spec.name)));
        }
        rows.push(row);
    }
    if !beyond.is_empty() {
        text += &format!("# Beyond {BUDGET} characters\n\n{beyond}");
    }
    let text = text.trim_end().to_owned() + if rows.is_empty() { "" } else { "\n" };
    context.report(
        &json!({ "stages": stages, "specs": rows, "faults": found.faults }),
        &text,
    )?;
    if rows.is_empty() {
        context.printer.note("note: no spec applies");
    }
    Ok(Exit::Done)
}

/// The text in which keywords are looked for.
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
                .hint("`fp show PLAN` lists them")
        })?;
        about += &work_of_task(leaf);
    }
    Ok(about)
}

fn spec_line(spec: &Spec) -> String {
    let (mode, priority) = (word_of(spec.read_mode), word_of(spec.priority));
    let (name, category) = (fitted(spec.name.as_str(), NAME), word_of(spec.category));
    let line = format!(
        "{name:<NAME$}  {mode:<8}  {priority:<8}  {category:<11}  {}",
        spec.title
    );
    fitted(&line, WIDTH) + "\n"
}

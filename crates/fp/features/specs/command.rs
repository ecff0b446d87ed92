//! `fp specs`.

use fp_core::plan::id::TaskId;
use fp_core::text::fitted;
use fp_host::plan;
use serde_json::{Value, json};

use super::disk::{ProjectSpecs, load_specs, load_with_warnings, page_text};
use super::model::{JudgedSpec, Spec, SpecCategory, judge_specs, named_line, word_of, work_of_task};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{Format, WIDTH};

/// Columns of a name.
const NAME: usize = 20;

/// Show what the project wants of every task: the pages in `.fractal-planner/specs`
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
    /// Print one spec as its file has it
    Show {
        /// Its name in `fp specs list`.
        name: String,
    },
    For(SpecsForArgs),
}

/// Print the specs that apply to a piece of work
///
/// Required ones of the stage always apply; optional ones do where a keyword of theirs occurs in the description of the
/// work, or where they have no keywords. Specs beyond the budget are named with their path.
#[derive(Debug, clap::Args)]
struct SpecsForArgs {
    /// The plan whose goal describes the work.
    plan: Option<String>,
    /// A task of the plan, whose title and files describe the work too; the stage is `execution` by default then.
    #[arg(requires = "plan")]
    task: Option<TaskId>,
    /// The stage of the work; all of them by default.
    #[arg(long, value_name = "STAGE", value_delimiter = ',')]
    stage: Vec<SpecCategory>,
    /// Files that the work concerns.
    #[arg(long, value_name = "PATHS", value_delimiter = ',', num_args = 1..)]
    files: Vec<String>,
    /// Words that describe the work.
    #[arg(long, value_name = "WORDS", value_delimiter = ',', num_args = 1..)]
    keywords: Vec<String>,
    /// Most characters of specs to print.
    #[arg(long, value_name = "CHARS", default_value_t = 8_000)]
    budget: usize,
    /// Explain for each spec why it applies or not, and print none.
    #[arg(long)]
    explain: bool,
}

pub(crate) fn run(args: SpecsArgs, context: &Context) -> CommandResult {
    match args.action {
        SpecsAction::List { strict } => list(strict, context),
        SpecsAction::Show { name } => show(&name, context),
        SpecsAction::For(args) => for_work(&args, context),
    }
}

fn list(strict: bool, context: &Context) -> CommandResult {
    let found = load_with_warnings(context);
    let rows: Vec<Value> = found.specs.iter().map(|spec| spec_json(spec, &found)).collect();
    let text: String = found.specs.iter().map(spec_line).collect();
    context.report(&json!({ "specs": rows, "faults": found.faults }), &text)?;
    if found.specs.is_empty() && found.faults.is_empty() {
        context.printer.note("note: there are no specs; a spec is a Markdown file in .fractal-planner/specs");
    }
    Ok(if strict && !found.faults.is_empty() { Exit::Findings } else { Exit::Done })
}

fn show(name: &str, context: &Context) -> CommandResult {
    let found = load_specs(context.repo());
    let Some(spec) = found.get(name) else { return Err(not_found(name, found)) };
    match context.format {
        Format::Text => {
            context.printer.exact(&page_text(context.repo(), &spec.name)?.unwrap_or_default());
        }
        Format::Json => {
            let mut value = spec_json(spec, &found);
            value["text"] = spec.body.clone().into();
            context.printer.json(&value)?;
        }
    }
    Ok(Exit::Done)
}

/// Why there is no spec `name`: its own fault where it has one.
fn not_found(name: &str, found: ProjectSpecs) -> CommandError {
    let file = format!("{}.md", name.strip_suffix(".md").unwrap_or(name));
    match found.faults.into_iter().find(|fault| fault.path.ends_with(&file)) {
        Some(fault) => fault.into(),
        None => CommandError::failed(format!("there is no spec `{name}`")).hint("`fp specs list` lists them"),
    }
}

fn spec_json(spec: &Spec, found: &ProjectSpecs) -> Value {
    let mut value = json!(spec);
    value["path"] = json!(found.path(&spec.name));
    value
}

fn for_work(args: &SpecsForArgs, context: &Context) -> CommandResult {
    let about = description_of_work(args, context)?;
    let stages = match (args.stage.as_slice(), &args.task) {
        ([], Some(_)) => &[SpecCategory::Execution][..],
        (stages, _) => stages,
    };
    let found = load_with_warnings(context);
    let judged = judge_specs(&found.specs, stages, &about);
    let mut room = args.budget;
    let (mut rows, mut texts, mut beyond, mut explained) =
        (Vec::new(), String::new(), String::new(), String::new());
    for JudgedSpec { spec, why } in judged.iter().filter(|judged| args.explain || judged.why.is_ok()) {
        let (mode, path) = (word_of(spec.read_mode), context.shown(&found.path(&spec.name)));
        let text = format!("# Spec {}: {} ({mode})\n\n{}\n\n", spec.name, spec.title, spec.body);
        let (length, mut row) = (text.chars().count(), spec_json(spec, &found));
        let form = match why {
            Err(_) => "out",
            Ok(_) if length <= room => {
                room -= length;
                texts += &text;
                row["text"] = json!(text);
                "whole"
            }
            Ok(_) => {
                beyond += &named_line(spec, &path);
                "named"
            }
        };
        let why = why.as_ref().unwrap_or_else(|why| why);
        let name = fitted(spec.name.as_str(), NAME);
        explained += &fitted(&format!("{name:<NAME$}  {form:<5}  {why} ({length} characters)"), WIDTH);
        explained.push('\n');
        (row["as"], row["why"]) = (json!(form), json!(why));
        rows.push(row);
    }
    if !beyond.is_empty() {
        texts += &format!("# Beyond the budget of {} characters\n\n{beyond}", args.budget);
    }
    let text = if args.explain {
        explained
    } else {
        texts.trim_end().to_owned() + if rows.is_empty() { "" } else { "\n" }
    };
    context.report(
        &json!({ "stages": stages, "budget": args.budget, "specs": rows, "faults": found.faults }),
        &text,
    )?;
    if text.is_empty() {
        context.printer.note("note: no spec applies");
    }
    Ok(Exit::Done)
}

/// The text where keywords are looked for.
fn description_of_work(args: &SpecsForArgs, context: &Context) -> Result<String, CommandError> {
    let mut about = args.keywords.join(", ") + "\n" + &args.files.join("\n");
    let Some(selector) = &args.plan else { return Ok(about) };
    let plan = context.open(Some(selector))?;
    if let Some(id) = &args.task {
        let tree = plan.tree()?;
        let parsed = tree.parse();
        let leaf = plan::leaf(&parsed, id).ok_or_else(|| {
            CommandError::failed(format!("{} has no leaf {id}", plan.id())).hint("`fp show PLAN` lists them")
        })?;
        about += &work_of_task(leaf);
    }
    Ok(about + "\n" + &plan.goal())
}

fn spec_line(spec: &Spec) -> String {
    let (mode, priority) = (word_of(spec.read_mode), word_of(spec.priority));
    let (name, category) = (fitted(spec.name.as_str(), NAME), word_of(spec.category));
    let line = format!("{name:<NAME$}  {mode:<8}  {priority:<8}  {category:<11}  {}", spec.title);
    fitted(&line, WIDTH) + "\n"
}

//! `fp specs`.

use fp_core::plan::id::TaskId;
use fp_host::plan;
use serde::Serialize;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::disk::{ProjectSpecs, load_specs, load_with_warnings, page_text};
use super::model::{
    JudgedSpec, Spec, SpecCategory, SpecName, SpecReadMode, judge_specs, word_of, work_of_task,
};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::render::WIDTH;
use crate::render::status::fit;
use crate::render::wrap::wrap;

/// Most columns of a name.
const NAME: usize = 28;
/// Most lines of a reason.
const MOST_LINES: usize = 4;

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
    let width = name_width(found.specs.iter());
    let text: String = found.specs.iter().map(|spec| spec_line(spec, width)).collect();
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
    let like = |spec: &&Spec| strsim::jaro_winkler(spec.name.as_str(), name);
    let closest = found.specs.iter().max_by(|a, b| like(a).total_cmp(&like(b)));
    let hint = match closest.filter(|spec| like(spec) > 0.8) {
        Some(spec) => format!("did you mean `{}`?", spec.name),
        None => "`fp specs list` lists them".to_owned(),
    };
    match found.faults.into_iter().find(|fault| fault.path.ends_with(&file)) {
        Some(fault) => fault.into(),
        None => CommandError::failed(format!("there is no spec `{name}`")).hint(hint),
    }
}

fn spec_json(spec: &Spec, found: &ProjectSpecs) -> Value {
    let mut value = json!(spec);
    value["path"] = json!(found.path(&spec.name));
    value
}

/// A spec, and how it is handed on.
#[derive(Serialize)]
struct ChosenSpec<'a> {
    #[serde(flatten)]
    spec: &'a Spec,
    #[serde(flatten)]
    form: SpecForm,
    why: String,
}

#[derive(Serialize)]
#[serde(tag = "as", rename_all = "camelCase")]
enum SpecForm {
    Whole {
        text: String,
    },
    /// By its path: the budget has no room for it.
    Named,
    /// It doesn't apply.
    Out,
}

fn for_work(args: &SpecsForArgs, context: &Context) -> CommandResult {
    let about = description_of_work(args, context)?;
    let stages = match (args.stage.as_slice(), &args.task) {
        ([], Some(_)) => &[SpecCategory::Execution][..],
        (stages, _) => stages,
    };
    let found = load_with_warnings(context);
    let mut chosen = choose_forms(judge_specs(&found.specs, stages, &about), args.budget);
    if !args.explain {
        chosen.retain(|chosen| !matches!(chosen.form, SpecForm::Out));
    }
    let text = match args.explain {
        true => explained_text(&chosen),
        false => chosen_text(&chosen, args.budget, |name| context.shown(&found.path(name))),
    };
    let row = |chosen: &ChosenSpec<'_>| {
        let mut value = json!(chosen);
        value["path"] = json!(found.path(&chosen.spec.name));
        value
    };
    let rows: Vec<Value> = chosen.iter().map(row).collect();
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

/// Those that apply as whole texts as long as `budget` characters last, or else by name.
fn choose_forms(judged: Vec<JudgedSpec<'_>>, budget: usize) -> Vec<ChosenSpec<'_>> {
    let mut room = budget;
    let chosen = judged.into_iter().map(|JudgedSpec { spec, why }| match why {
        Err(why) => ChosenSpec { spec, form: SpecForm::Out, why },
        Ok(why) => {
            let mode = word_of(spec.read_mode);
            let text = format!("# Spec {}: {} ({mode})\n\n{}\n\n", spec.name, spec.title, spec.body);
            let form = match room.checked_sub(text.chars().count()) {
                Some(left) => {
                    room = left;
                    SpecForm::Whole { text }
                }
                None => SpecForm::Named,
            };
            ChosenSpec { spec, form, why }
        }
    });
    chosen.collect()
}

fn spec_line(spec: &Spec, width: usize) -> String {
    let (mode, priority) = (word_of(spec.read_mode), word_of(spec.priority));
    let name = padded_name(spec, width);
    let head = format!("{name}  {mode:<8}  {priority:<8}  {:<11}  ", word_of(spec.category));
    format!("{head}{}\n", fit(&spec.title, WIDTH.saturating_sub(head.width())))
}

fn name_width<'a>(specs: impl Iterator<Item = &'a Spec>) -> usize {
    specs.map(|spec| spec.name.as_str().width().min(NAME)).max().unwrap_or(0)
}

fn padded_name(spec: &Spec, width: usize) -> String {
    let name = fit(spec.name.as_str(), NAME);
    let pad = " ".repeat(width.saturating_sub(name.width()));
    name + &pad
}

fn explained_text(chosen: &[ChosenSpec<'_>]) -> String {
    let width = name_width(chosen.iter().map(|chosen| chosen.spec));
    let line = |ChosenSpec { spec, form, why }: &ChosenSpec<'_>| {
        let (word, more) = match form {
            SpecForm::Whole { text } => ("in", format!(" ({} characters)", text.chars().count())),
            SpecForm::Named => ("named", "; the budget has no room for its text".to_owned()),
            SpecForm::Out => ("out", String::new()),
        };
        let head = format!("{}  {word:<5}  ", padded_name(spec, width));
        let lines = wrap(&format!("{why}{more}"), WIDTH.saturating_sub(head.width()), MOST_LINES);
        format!("{head}{}\n", lines.join(&format!("\n{}", " ".repeat(head.width()))))
    };
    chosen.iter().map(line).collect()
}

/// The texts of the specs that apply, between the names of those beyond the budget: required ones come first.
fn chosen_text(chosen: &[ChosenSpec<'_>], budget: usize, path: impl Fn(&SpecName) -> String) -> String {
    let named = |mode: SpecReadMode, heading: &str, line: fn(&str, &str) -> String| {
        let named = chosen.iter().filter(|chosen| matches!(chosen.form, SpecForm::Named));
        let named = named.filter(|chosen| chosen.spec.read_mode == mode);
        let lines: String = named.map(|named| line(&path(&named.spec.name), &named.spec.title)).collect();
        match lines.is_empty() {
            true => String::new(),
            false => format!("# {heading} the budget of {budget} characters\n\n{lines}\n"),
        }
    };
    let mut text = named(SpecReadMode::Required, "Required, and beyond", |path, title| {
        format!("- Read {path} before you begin: {title}\n")
    });
    for chosen in chosen {
        if let SpecForm::Whole { text: whole } = &chosen.form {
            text += whole;
        }
    }
    text += &named(SpecReadMode::Optional, "Optional, and beyond", |path, title| {
        format!("- Where it helps, read {path}: {title}\n")
    });
    text.trim_end().to_owned() + if text.is_empty() { "" } else { "\n" }
}

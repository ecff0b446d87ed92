//! `fp specs`.

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use fp_core::plan::id::TaskId;
use fp_core::specs::{Category, Choice as _, Chosen, DEFAULT_BUDGET, Form, Spec, select};
use fp_host::plan;
use fp_host::specs::Specs;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::render::specs as render;
use crate::specs;

/// What the project wants of every task: the pages in `.fractal-planner/specs`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    List(ListArgs),
    Show(ShowArgs),
    For(ForArgs),
}

/// List the specs; those that can't be read are named on standard error
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// End with status 1 where one can't be read.
    #[arg(long)]
    strict: bool,
}

/// Print one spec as its file has it
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Its name, as `fp specs list` prints it.
    name: String,
}

/// Print the specs that apply to a piece of work
///
/// Required ones of the stage always do, optional ones where one of their keywords occurs in what the work is about,
/// or where they have no keywords. What exceeds the budget is left out by whole sections, the least important first,
/// and named; required ones that don't fit are named with their path.
#[derive(Debug, clap::Args)]
struct ForArgs {
    /// The plan whose goal says what the work is about.
    plan: Option<String>,
    /// The task of it whose title and files say so too; the stage is then `execution` where none is named.
    #[arg(requires = "plan")]
    task: Option<TaskId>,
    /// The stage of the work; all of them where it is left out.
    #[arg(long, value_name = "STAGE", value_delimiter = ',', value_parser = stages())]
    stage: Vec<Category>,
    /// Files that the work is about.
    #[arg(long, value_name = "PATHS", value_delimiter = ',', num_args = 1..)]
    files: Vec<String>,
    /// Words that the work is about.
    #[arg(long, value_name = "WORDS", value_delimiter = ',', num_args = 1..)]
    keywords: Vec<String>,
    /// How many characters of specs to print at the most.
    #[arg(long, value_name = "CHARS", default_value_t = DEFAULT_BUDGET)]
    budget: usize,
    /// Say of each spec why it is in, cut or out, and print none.
    #[arg(long)]
    explain: bool,
}

/// The stages that can be named: each category but the one that is for all of them.
fn stages() -> impl clap::builder::TypedValueParser<Value = Category> {
    let stages = || Category::ALL.iter().filter(|(category, _)| *category != Category::General);
    PossibleValuesParser::new(stages().map(|(_, word)| *word).collect::<Vec<_>>()).try_map(move |word| {
        stages().find(|(_, known)| *known == word).map(|(stage, _)| *stage).ok_or("no such stage")
    })
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    match args.action {
        Action::List(args) => list(&args, context),
        Action::Show(args) => show(&args, context),
        Action::For(args) => for_work(&args, context),
    }
}

fn list(args: &ListArgs, context: &Context) -> CommandResult {
    let found = specs::load(context);
    let rows: Vec<_> = found.specs.iter().map(|spec| specs::described(spec, &found)).collect();
    context
        .report(&json!({ "specs": rows, "faults": specs::faults(&found) }), &render::list(&found.specs))?;
    if found.specs.is_empty() && found.faults.is_empty() {
        context.printer.note("note: there are no specs; a spec is a Markdown file in .fractal-planner/specs");
    }
    Ok(if args.strict && !found.faults.is_empty() { Exit::Findings } else { Exit::Done })
}

fn show(args: &ShowArgs, context: &Context) -> CommandResult {
    let found = Specs::load(context.repo());
    let Some(spec) = found.get(&args.name) else { return Err(not_found(&args.name, found)) };
    match context.format {
        Format::Text => {
            let text = fp_host::specs::text_of(context.repo(), &spec.name).map_err(CommandError::from)?;
            context.printer.exact(&text.unwrap_or_default());
        }
        Format::Json => {
            let mut value = specs::described(spec, &found);
            value["text"] = spec.body.clone().into();
            context.printer.json(&value)?;
        }
    }
    Ok(Exit::Done)
}

/// Why there is no spec `name`: its own fault where it has one.
fn not_found(name: &str, found: Specs) -> CommandError {
    let file = format!("{}.md", name.strip_suffix(".md").unwrap_or(name));
    if let Some(fault) =
        found.faults.into_iter().find(|fault| fault.path().is_some_and(|path| path.ends_with(&file)))
    {
        return fault.into();
    }
    let like = |spec: &&Spec| strsim::jaro_winkler(spec.name.as_str(), name);
    let closest = found.specs.iter().max_by(|a, b| like(a).total_cmp(&like(b)));
    let hint = match closest.filter(|spec| like(spec) > 0.8) {
        Some(spec) => format!("did you mean `{}`?", spec.name),
        None => "`fp specs list` lists them".to_owned(),
    };
    CommandError::failed(format!("there is no spec `{name}`")).hint(hint)
}

fn for_work(args: &ForArgs, context: &Context) -> CommandResult {
    let about = about(args, context)?;
    let stages = match (args.stage.as_slice(), &args.task) {
        ([], Some(_)) => &[Category::Execution][..],
        (stages, _) => stages,
    };
    let found = specs::load(context);
    let chosen = select(&found.specs, stages, &about, args.budget);
    let path = |spec: &Spec| context.shown(&found.path(spec));
    let text = match args.explain {
        true => render::explained(&chosen),
        false => render::chosen(&chosen, args.budget, path),
    };
    let applies = |chosen: &&Chosen<'_>| args.explain || chosen.form != Form::Out;
    let rows = chosen.iter().filter(applies).map(|chosen| {
        let mut value = json!(chosen);
        value["path"] = json!(found.path(chosen.spec));
        value
    });
    let rows: Vec<_> = rows.collect();
    context.report(
        &json!({ "stages": stages, "budget": args.budget, "specs": rows, "faults": specs::faults(&found) }),
        &text,
    )?;
    if text.is_empty() {
        context.printer.note("note: no spec applies");
    }
    Ok(Exit::Done)
}

/// The words in which keywords are looked for; what is nearest to the work comes first.
fn about(args: &ForArgs, context: &Context) -> Result<String, CommandError> {
    let mut about = [args.keywords.join(", "), args.files.join("\n")];
    let Some(selector) = &args.plan else { return Ok(about.join("\n")) };
    let plan = context.open(Some(selector))?;
    if let Some(id) = &args.task {
        let tree = plan.tree()?;
        let parsed = tree.parse();
        let leaf = plan::leaf(&parsed, id).ok_or_else(|| {
            CommandError::failed(format!("{} has no leaf {id}", plan.id())).hint("`fp show PLAN` lists them")
        })?;
        about[1] += &specs::about(leaf);
    }
    Ok(about.join("\n") + "\n" + &plan.goal())
}

//! `fp signals`.

use fp_core::plan::{Plan, parse};
use fp_core::signals::{Measured, Record, explain, measure, record};
use fp_host::file;
use fp_host::git::Git;
use fp_host::survey::{Place, survey};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::render::signals;
use crate::source::Source;

/// Measure how large and how risky each task is, and write signals.json
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan, or a file that ends in `.md`, for which nothing is written; the only active plan where left out.
    plan: Option<String>,
    /// Show what the signals of this task are made of.
    #[arg(long, value_name = "TASK")]
    explain: Option<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let source = Source::open(context, args.plan.as_deref())?;
    let text = source.text()?;
    let (tree, _) = parse(&text);
    if tree.leaves().all(|task| task.broken) {
        return Err(CommandError::refused(format!("{} has no task", source.name))
            .hint("`fp validate` says what is wrong with it"));
    }
    let git = Git::open(&context.repo().worktree);
    let place = Place {
        root: &context.repo().worktree,
        git: git.as_ref(),
        plans_dir: &context.settings()?.plans_dir,
    };
    let surveyed = survey(place, &tree, context.now(), &|| ());
    let mut measured = measure(&tree, &surveyed.survey);
    for note in &surveyed.notes {
        context.printer.note(&format!("note: {note}"));
    }
    let record =
        Record { schema_version: record::SCHEMA_VERSION, tasks: &measured.tasks, notes: &surveyed.notes };
    if let Some(plan) = &source.plan {
        let text = serde_json::to_string_pretty(&record).map_err(CommandError::failed)? + "\n";
        file::atomic_write(&plan.signals_file(), text.as_bytes())?;
    }
    match &args.explain {
        Some(task) => explained(task, &tree, &mut measured, &source.name, context)?,
        None => match context.format {
            Format::Json => context.printer.json(&record)?,
            Format::Text => context.printer.data(&signals::table(&measured.tasks)),
        },
    }
    Ok(Exit::Done)
}

fn explained(
    id: &str,
    tree: &Plan,
    measured: &mut Measured<'_>,
    name: &str,
    context: &Context,
) -> Result<(), CommandError> {
    let leaf = tree.leaves().find(|task| task.id == id);
    let signals = measured.tasks.iter().find(|task| task.id == id).cloned();
    let Some((leaf, signals)) = leaf.zip(signals) else {
        return Err(CommandError::refused(format!("{name} has no leaf {id:?}"))
            .hint("`fp signals` without --explain lists the leaves"));
    };
    let files = measured.files(leaf);
    let formulas = explain(&signals.signals, &signals.inputs);
    match context.format {
        Format::Json => {
            context.printer.json(&json!({ "task": signals, "formulas": formulas, "measured": files }))
        }
        Format::Text => {
            context.printer.data(&signals::explanation(&signals, &formulas, &files));
            Ok(())
        }
    }
}

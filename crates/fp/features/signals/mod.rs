//! `fp signals`: how large and how risky each task is, measured on the files that it lists.

mod coupling;
mod history;
mod measure;
mod score;
mod survey;
mod text;

use fp_core::plan::{Plan, parse};
use fp_core::signals_record::SIGNALS_VERSION;
use fp_host::file;
use fp_host::git::Git;
use serde::Serialize;
use serde_json::json;

use self::measure::{MeasuredTree, TaskSignals};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::source::PlanSource;

/// Measure how large and how risky each task is, and write signals.json
#[derive(Debug, clap::Args)]
pub(crate) struct SignalsArgs {
    /// The plan, or a file that ends in `.md`, for which nothing is written; the only active plan where left out.
    plan: Option<String>,
    /// Explain how the signals of this task came about.
    #[arg(long, value_name = "TASK")]
    explain: Option<String>,
}

/// `signals.json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SignalsFile<'m> {
    schema_version: u32,
    /// The leaves in document order.
    tasks: &'m [TaskSignals],
    /// What could not be measured, and why.
    notes: &'m [String],
}

pub(crate) fn run(args: SignalsArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open(context, args.plan.as_deref())?;
    let text = source.text()?;
    let (tree, _) = parse(&text);
    let leaves = || tree.leaves().filter(|task| !task.broken);
    if leaves().next().is_none() {
        return Err(CommandError::refused(format!("{} has no task", source.name))
            .hint("`fp validate` says what is wrong with it"));
    }
    let root = &context.repo().worktree;
    let mut survey = survey::survey(root, &context.settings()?.plans_dir, &tree);
    let mut notes = Vec::new();
    survey.history = history::file_history(Git::open(root).as_ref(), context.now(), &mut notes);
    let measured = MeasuredTree::new(&tree, &survey);
    for note in &notes {
        context.printer.note(&format!("note: {note}"));
    }
    let tasks: Vec<TaskSignals> = leaves().map(|task| measured.signals_of(task)).collect();
    let record = SignalsFile { schema_version: SIGNALS_VERSION, tasks: &tasks, notes: &notes };
    if let Some(plan) = &source.plan {
        let text = serde_json::to_string_pretty(&record).map_err(CommandError::failed)? + "\n";
        file::atomic_write(&plan.signals_file(), text.as_bytes())?;
    }
    match &args.explain {
        Some(task) => explain(task, &tree, &measured, &source.name, context),
        None => context.report(&json!(record), &text::table(&tasks)),
    }
}

fn explain(
    id: &str,
    tree: &Plan,
    measured: &MeasuredTree<'_>,
    name: &str,
    context: &Context,
) -> CommandResult {
    let Some(leaf) = tree.leaves().find(|task| task.id == id && !task.broken) else {
        return Err(CommandError::refused(format!("{name} has no leaf {id:?}"))
            .hint("`fp signals` without --explain lists the leaves"));
    };
    let (task, files) = (measured.signals_of(leaf), measured.files_of(leaf));
    let formulas = task.inputs.explain();
    context.report(
        &json!({ "task": task, "formulas": formulas, "measured": files }),
        &text::explanation(&task, &formulas, &files),
    )
}

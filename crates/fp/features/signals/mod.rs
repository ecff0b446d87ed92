//! `fp signals` measures the size and risk of each task on its files, so that planning and runs can order and
//! size tasks by more than a model's guess.

mod coupling;
mod measure;
mod score;
mod survey;

use fp_host::file;
use fp_host::git::Git;
use fp_plan::plan::parse;
use fp_plan::signals_record::SIGNALS_VERSION;
use fp_plan::text::{fitted, wrapped};
use serde::Serialize;
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use self::measure::{TaskSignals, signals_of};
use self::score::ANOTHER_LOOK;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::printer::WIDTH;
use crate::source::PlanSource;

/// Most columns of an id.
const ID: usize = 20;

/// Measure how large and how risky each task is, and write signals.json
#[derive(Debug, clap::Args)]
pub(crate) struct SignalsArgs {
    /// The plan, or a file that ends in `.md`, for which nothing is written; defaults to the only active plan.
    plan: Option<String>,
}

/// The content of `signals.json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SignalsFile<'m> {
    schema_version: u32,
    /// The leaves in document order.
    tasks: &'m [TaskSignals],
    /// Measurements that failed, and why.
    notes: &'m [String],
}

pub(crate) fn run(args: SignalsArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open(context, args.plan.as_deref())?;
    let text = source.text()?;
    let (tree, _) = parse(&text);
    if tree.leaves().all(|task| task.broken) {
        return Err(
            CommandError::refused(format!("{} has no task", source.name))
                .hint("`fp validate` says what is wrong with it"),
        );
    }
    let root = &context.repo().worktree;
    let mut survey = survey::survey(root, &context.settings()?.plans_dir, &tree);
    let mut notes = Vec::new();
    survey.history = survey::file_history(Git::open(root).as_ref(), context.now(), &mut notes);
    for note in &notes {
        context.printer.note(&format!("note: {note}"));
    }
    let tasks = signals_of(&tree, &survey);
    let record = SignalsFile {
        schema_version: SIGNALS_VERSION,
        tasks: &tasks,
        notes: &notes,
    };
    if let Some(plan) = &source.plan {
        let text = serde_json::to_string_pretty(&record).map_err(CommandError::failed)? + "\n";
        file::atomic_write(&plan.signals_file(), text.as_bytes())?;
    }
    context.report(&json!(record), &table(&tasks))
}

/// One line a task, then the tasks that deserve another look.
fn table(tasks: &[TaskSignals]) -> String {
    let id = |task: &TaskSignals| fitted(&task.id, ID);
    let width = tasks
        .iter()
        .map(|task| id(task).width())
        .max()
        .unwrap_or(0)
        .max("Task".len());
    let head = |cells: [&str; 6]| {
        let [id, scope, coupling, git, tests, composite] = cells;
        let pad = " ".repeat(width.saturating_sub(id.width()));
        format!("{id}{pad}  {scope:>5}  {coupling:>8}  {git:>3}  {tests:>5}  {composite:>9}  ")
    };
    let mut text = head(["Task", "Scope", "Coupling", "Git", "Tests", "Composite"]) + "Title\n";
    for task in tasks {
        let s = &task.values;
        let numbers = [
            s.file_scope,
            s.coupling,
            s.git_risk,
            s.test_coverage,
            s.composite,
        ]
        .map(|n| n.to_string());
        let [scope, coupling, git, tests, composite] = numbers.each_ref().map(String::as_str);
        let row = head([&id(task), scope, coupling, git, tests, composite]);
        let title = fitted(&task.title, WIDTH - row.width());
        text.push_str(format!("{row}{title}").trim_end());
        text.push('\n');
    }
    let risky: Vec<String> = tasks
        .iter()
        .filter(|task| task.values.composite >= ANOTHER_LOOK)
        .map(|task| format!("{} ({})", id(task), task.values.composite))
        .collect();
    if !risky.is_empty() {
        text.push('\n');
        let worth = format!(
            "Worth another look (composite 4 or 5): {}",
            risky.join(", ")
        );
        text.push_str(&(wrapped(&worth, WIDTH - 2).join("\n  ") + "\n"));
    }
    text
}

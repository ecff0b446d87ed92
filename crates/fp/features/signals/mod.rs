//! `fp signals` measures the size and risk of each task on its files, so that planning and runs can order and
//! size tasks by more than a model's guess.

mod coupling;
mod measure;
mod score;
mod survey;

use fp_host::file;
use fp_host::git::Git;
use fp_plan::plan::{Plan, parse};
use fp_plan::signals_record::SIGNALS_VERSION;
use fp_plan::text::{counted, fitted, wrapped};
use serde::Serialize;
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use self::measure::{FilePresence, MeasuredFile, MeasuredTree, TaskSignals, TestOfFile};
use self::score::{ANOTHER_LOOK, ExplainedSignal};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::printer::WIDTH;
use crate::source::PlanSource;

/// Most columns of an id.
const ID: usize = 20;
/// Most files in an explanation, and most names of each of their links.
const FILES: usize = 40;
const NAMES: usize = 8;

/// Measure how large and how risky each task is, and write signals.json
#[derive(Debug, clap::Args)]
pub(crate) struct SignalsArgs {
    /// The plan, or a file that ends in `.md`, for which nothing is written; defaults to the only active plan.
    plan: Option<String>,
    /// Explain how the signals of this task came about.
    #[arg(long, value_name = "TASK")]
    explain: Option<String>,
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
    let leaves = || tree.leaves().filter(|task| !task.broken);
    if leaves().next().is_none() {
        return Err(CommandError::refused(format!("{} has no task", source.name))
            .hint("`fp validate` says what is wrong with it"));
    }
    let root = &context.repo().worktree;
    let mut survey = survey::survey(root, &context.settings()?.plans_dir, &tree);
    let mut notes = Vec::new();
    survey.history = survey::file_history(Git::open(root).as_ref(), context.now(), &mut notes);
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
        None => context.report(&json!(record), &table(&tasks)),
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
        &explanation(&task, &formulas, &files),
    )
}

/// One line a task, then the tasks that deserve another look.
fn table(tasks: &[TaskSignals]) -> String {
    let id = |task: &TaskSignals| fitted(&task.id, ID);
    let width = tasks.iter().map(|task| id(task).width()).max().unwrap_or(0).max("Task".len());
    let head = |cells: [&str; 6]| {
        let [id, scope, coupling, git, tests, composite] = cells;
        let pad = " ".repeat(width.saturating_sub(id.width()));
        format!("{id}{pad}  {scope:>5}  {coupling:>8}  {git:>3}  {tests:>5}  {composite:>9}  ")
    };
    let mut text = head(["Task", "Scope", "Coupling", "Git", "Tests", "Composite"]) + "Title\n";
    for task in tasks {
        let s = &task.values;
        let numbers =
            [s.file_scope, s.coupling, s.git_risk, s.test_coverage, s.composite].map(|n| n.to_string());
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
        text.push_str(&listed("Worth another look (composite 4 or 5): ", &risky, 2));
    }
    text
}

/// Each signal with the sums that it comes from, then the measurements of each file.
fn explanation(task: &TaskSignals, formulas: &[ExplainedSignal], files: &[MeasuredFile]) -> String {
    let head = format!("Task {}: {}", fitted(&task.id, ID), task.title);
    let mut text = format!("{}\n\n", fitted(&head, WIDTH));
    for ExplainedSignal { signal, value, formula } in formulas {
        text.push_str(&format!("{signal:<12}  {value}  {formula}\n"));
    }
    text.push_str(if files.is_empty() { "\nNo files\n" } else { "\nFiles\n" });
    for file in files.iter().take(FILES) {
        text.push_str(&file_text(file));
    }
    if files.len() > FILES {
        text.push_str(&format!("  and {} more\n", files.len() - FILES));
    }
    text
}

fn file_text(file: &MeasuredFile) -> String {
    let mut text = format!("  {}\n", fitted(&file.path, WIDTH - 2));
    let absent = match file.presence {
        FilePresence::File => None,
        FilePresence::Missing => Some("not there yet"),
        FilePresence::NotRead => Some("not read: no plain file of the repository, or no permission"),
    };
    if let Some(absent) = absent {
        text.push_str(&format!("    {absent}\n"));
    } else {
        text.push_str(&format!("    {}", counted(file.lines, "line")));
        if let Some(history) = &file.history {
            text.push_str(&format!(
                "; commits {}, authors {}, fixes {}",
                history.commits, history.authors, history.fix_commits
            ));
        }
        text.push('\n');
        for (what, names) in [("fan-in", &file.links.fan_in), ("fan-out", &file.links.fan_out)] {
            let shown = names.iter().take(NAMES).map(|name| fitted(name, WIDTH - 8));
            let more = names.len().saturating_sub(NAMES);
            let more = (more > 0).then(|| format!("and {more} more"));
            let shown: Vec<String> = shown.chain(more).collect();
            let colon = if names.is_empty() { "" } else { ": " };
            text.push_str("    ");
            text.push_str(&listed(&format!("{what} {}{colon}", names.len()), &shown, 6));
        }
    }
    let test = match &file.tested_by {
        None => "no test".to_owned(),
        Some(TestOfFile::File(test)) => format!("tested by {}", test),
        Some(TestOfFile::Inside) => "tested inside".to_owned(),
        Some(TestOfFile::Itself) => "a test itself".to_owned(),
    };
    text.push_str(&format!("    {}\n", fitted(&test, WIDTH - 4)));
    text
}

/// `head` and `items`, separated by commas, on as many lines as needed, all but the first indented.
fn listed(head: &str, items: &[String], indent: usize) -> String {
    let lines = wrapped(&format!("{head}{}", items.join(", ")), WIDTH - indent);
    lines.join(&format!("\n{:indent$}", "")) + "\n"
}

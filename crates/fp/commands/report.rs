//! `fp report`.

use std::path::{Path, PathBuf};

use fp_core::plan::{Plan, parse};
use fp_core::report::duration::{minute, took};
use fp_core::report::results::results_page;
use fp_core::report::run_page::{RunPage, RunQuestion, RunTask};
use fp_core::report::tree::TreeReport;
use fp_core::run::event::Decider;
use fp_core::run::payload::short;
use fp_core::text::fitted;
use fp_host::file;
use fp_host::plan::{OpenPlan, Tree};
use fp_host::store::Past;
use unicode_width::UnicodeWidthStr as _;

use super::show::schedule_options;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::pages::run::{FAR, is_run_page, run_page};
use crate::printer::{Output, json};
use crate::render::WIDTH;

/// Most columns of a builder's name, and of a task's id.
const NAME: usize = 20;

/// Show what happened in a run: who did what when, what it took, and what each verdict rests on
///
/// Without a flag a summary is printed. --markdown prints the results: each task with its commit and evidence, the
/// decisions, the notes. --out writes a page to look at in a browser, or what the other flags ask for. An archived
/// plan can be named as well.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// The plan; the only active one where left out.
    plan: Option<String>,
    /// The results as Markdown, for those who were not there.
    #[arg(long)]
    markdown: bool,
    /// Write to this file. A page that an earlier `fp report` wrote is replaced.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace whatever file is there.
    #[arg(long, requires = "out")]
    force: bool,
}

pub(crate) fn run(args: ReportArgs, context: &Context) -> CommandResult {
    let plan = match &args.plan {
        Some(selector) => context.open_or_archived(selector)?,
        None => context.open(None)?,
    };
    let past = plan.store.past()?;
    context.notices(&past.notices);
    let tree = tree(&plan)?;
    let text = tree.as_ref().map_or("", |tree| tree.text.as_str());
    let parsed = parse(text).0;
    let report = report(&plan, &past, &parsed);
    let page = match context.output {
        _ if args.markdown => results_page(&report),
        Output::Json => json(&report)?,
        Output::Text if args.out.is_none() => summary(&report),
        Output::Text | Output::Html | Output::Mermaid => run_page(&report),
    };
    let Some(out) = args.out else {
        if context.output.is_export() {
            context.printer.exact(&page);
        } else {
            context.printer.data(&page);
        }
        return Ok(Exit::Done);
    };
    let path = context.cwd.join(out);
    write(context, &path, &page, args.force)?;
    context.printer.note(&format!("note: written to {}", context.shown(&path)));
    Ok(Exit::Done)
}

fn tree(plan: &OpenPlan) -> Result<Option<Tree>, CommandError> {
    match plan.tree() {
        Ok(tree) => Ok(Some(tree)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn report<'p>(plan: &OpenPlan, past: &Past, tree: &'p Plan<'p>) -> RunPage<'p> {
    let settings = &plan.settings;
    let builders = past.state.run.as_ref().map_or(settings.max_parallel_tasks, |run| run.terms.builders);
    let tree = TreeReport::new(tree, plan.goal_if_kept()).with_run(tree, &past.state).with_schedules(
        tree,
        &schedule_options(settings),
        &[builders],
    );
    RunPage::new(&past.state, &past.entries, plan.goal(), tree)
}

/// Writes the page, unless a file that no `fp report` wrote is in the way.
fn write(context: &Context, path: &Path, page: &str, force: bool) -> Result<(), CommandError> {
    if !force && file::write_if_absent(path, page.as_bytes())? {
        return Ok(());
    }
    if force || is_run_page(&file::beginning(path, FAR)?) {
        return Ok(file::atomic_write(path, page.as_bytes())?);
    }
    Err(CommandError::refused(format!("{} is there already, and no page of fp report", context.shown(path)))
        .hint("name another file, or add --force to replace it"))
}

fn summary(run: &RunPage<'_>) -> String {
    let goal = run.goal.lines().next().unwrap_or_default();
    let mut text = format!("{}\n\n  Plan {} ({})\n", fitted(goal, WIDTH), run.plan_id, run.phase.word());
    match run.started_at.zip(run.ended_at) {
        Some((from, to)) => {
            let wall = took(run.wall());
            text.push_str(&format!("  From {} to {}, {wall}\n", minute(from), minute(to)));
        }
        None => text.push_str("  The run has not started.\n"),
    }
    if run.counts.total > 0 {
        text.push_str(&format!("  {}\n", run.counts.in_words()));
    }
    if !run.chain.tasks.is_empty() {
        let tasks: Vec<&str> = run.chain.tasks.iter().map(|task| task.as_str()).collect();
        let chain = format!("Longest chain, {}: {}", took(run.chain.millis), tasks.join(" → "));
        text.push_str(&format!("  {}\n", fitted(&chain, WIDTH - 2)));
    }
    builders(&mut text, run);
    let width = run.tasks.iter().map(|task| task.line.id.as_str().len()).max().unwrap_or(0).min(NAME);
    list(&mut text, "Tasks", &run.tasks, |task| task_line(task, width));
    list(&mut text, "Questions", &run.decisions, question_line);
    list(&mut text, "Commits, oldest first", &run.commits, |made| {
        let undone = if made.undone { " (rolled back)" } else { "" };
        format!("{}  task {}: {}{undone}", short(&made.hash), made.task, made.subject)
    });
    list(&mut text, "Notes", &run.notes, Clone::clone);
    text
}

fn list<T>(text: &mut String, title: &str, items: &[T], told: impl Fn(&T) -> String) {
    if !items.is_empty() {
        text.push_str(&format!("\n{title}\n"));
    }
    for item in items {
        text.push_str(&format!("  {}\n", fitted(&told(item), WIDTH - 2)));
    }
}

fn builders(text: &mut String, run: &RunPage<'_>) {
    if run.builder_lanes().next().is_none() {
        return;
    }
    text.push_str(&format!("\n{:<NAME$}", "Builders"));
    for column in ["building", "verified", "waiting", "asking", "idle"] {
        text.push_str(&format!("{column:>12}"));
    }
    text.push('\n');
    for lane in run.builder_lanes() {
        let name = format!("  {}", fitted(&lane.name, NAME - 3));
        text.push_str(&format!("{name}{}", " ".repeat(NAME.saturating_sub(name.width()))));
        let times = &lane.millis;
        let verified = times.verifying + times.committing;
        for part in [times.building, verified, times.waiting, times.asking, lane.idle] {
            text.push_str(&format!("{:>12}", took(part)));
        }
        text.push('\n');
    }
}

fn task_line(task: &RunTask, width: usize) -> String {
    let line = &task.line;
    let tries = match task.tries.len() {
        0 => String::new(),
        1 => "1 try".to_owned(),
        tries => format!("{tries} tries"),
    };
    let time = if task.tries.is_empty() { String::new() } else { took(task.millis.total()) };
    let (id, state) = (fitted(line.id.as_str(), NAME), line.state_word());
    format!("{id:<width$}  {state:<9}  {tries:<7}  {time:>11}  {}", line.title)
}

fn question_line(asked: &RunQuestion) -> String {
    let by = match asked.by {
        Decider::User => "the user",
        Decider::Auto => "a rule",
    };
    if asked.answer.is_empty() {
        return format!("open: {}", asked.question);
    }
    format!("{}, by {by}: {}", asked.answer.join(", "), asked.question)
}

//! `fp report`.

use std::path::{Path, PathBuf};

use fp_core::plan::{Plan, parse};
use fp_core::report::run_page::RunPage;
use fp_core::report::tree::TreeReport;
use fp_core::schedule::Options;
use fp_host::file;
use fp_host::plan::{OpenPlan, Tree};
use fp_host::store::Past;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{Export, Format, json};
use crate::render::{html, run_page};

/// Show what happened in a run: who did what when, what it took, and what each verdict rests on
///
/// With --out it is a page to look at, in one file; with --format json the same as data. Without --out a summary is
/// printed. An archived plan can be named as well.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan; the only active one where left out.
    plan: Option<String>,
    /// Write the page to this file. A page that an earlier `fp report` wrote is replaced.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace whatever file is there.
    #[arg(long, requires = "out")]
    force: bool,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
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
    let page = match (context.export, context.format) {
        (Some(Export::Html), _) => html::run::text(&report),
        (_, Format::Json) => json(&report)?,
        _ if args.out.is_some() => html::run::text(&report),
        _ => run_page::text(&report),
    };
    let Some(out) = args.out else {
        match context.export {
            Some(_) => context.printer.exact(&page),
            None => context.printer.data(&page),
        }
        return Ok(Exit::Done);
    };
    let path = context.cwd.join(out);
    write(context, &path, &page, args.force)?;
    context.printer.note(&format!("note: written to {}", context.shown(&path)));
    Ok(Exit::Done)
}

/// The tree, as far as there is one.
fn tree(plan: &OpenPlan) -> Result<Option<Tree>, CommandError> {
    match plan.tree() {
        Ok(tree) => Ok(Some(tree)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn report<'p>(plan: &OpenPlan, past: &Past, tree: &'p Plan<'p>) -> RunPage<'p> {
    let settings = &plan.settings;
    let options = Options {
        order: settings.execution_order,
        model: settings.execution_model,
        exclusive: settings.exclusive.clone(),
        ..Options::default()
    };
    let builders = past.state.run.as_ref().map_or(settings.max_parallel_tasks, |run| run.terms.builders);
    let tree = TreeReport::new(tree, plan.goal_if_kept()).with_run(tree, &past.state).with_schedules(
        tree,
        &options,
        &[builders],
    );
    RunPage::new(&past.state, &past.entries, plan.goal(), tree)
}

/// Writes the page, where nothing but a page of its kind is in the way.
fn write(context: &Context, path: &Path, page: &str, force: bool) -> Result<(), CommandError> {
    if force {
        return Ok(file::atomic_write(path, page.as_bytes())?);
    }
    if file::write_if_absent(path, page.as_bytes())? {
        return Ok(());
    }
    if html::run::is_one(&file::beginning(path, html::run::FAR)?) {
        return Ok(file::atomic_write(path, page.as_bytes())?);
    }
    Err(CommandError::refused(format!("{} is there already, and no page of fp report", context.shown(path)))
        .hint("name another file, or add --force to replace it"))
}

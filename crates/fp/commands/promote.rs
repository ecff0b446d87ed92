//! `fp note PLAN promote`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fp_core::run::State;
use fp_core::run::event::Note;
use fp_core::specs::promote::{ENOUGH, Sighting, addition, default_name, find, normal, says, sightings};
use fp_core::specs::{Spec, SpecName};
use fp_host::plan::OpenPlan;
use fp_host::specs::{self, Specs};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

/// Make a note a spec, which every task after it is given
///
/// Without --yes it only says what would be written where, and in which tasks and plans the note was learnt: once may be
/// chance. A note that a spec has already is not written again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The note: its number in `fp note PLAN list`, or its text.
    note: String,
    /// The title of the spec, where that is a new one.
    #[arg(long)]
    title: Option<String>,
    /// The spec that it is appended to; `learnt` where it is left out.
    #[arg(long, value_name = "NAME")]
    spec: Option<SpecName>,
    /// Write it; for after the user has said yes.
    #[arg(long)]
    yes: bool,
}

/// What is proposed, or was done.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    note: String,
    learnt_in: Vec<Sighting>,
    /// The file.
    spec: String,
    /// Whether there is no such file yet.
    new: bool,
    /// What is to be written behind what the file has; nothing where it has the note already.
    addition: String,
    written: bool,
}

pub(crate) fn run(args: &Args, plan: &OpenPlan, context: &Context) -> CommandResult {
    let own = plan.load()?.state;
    let note =
        find(&own.notes, &args.note).filter(|note| !normal(&note.text).is_empty()).ok_or_else(|| {
            CommandError::failed(format!("{} has no such note", plan.id()))
                .hint(format!("`fp note {} list` numbers them", plan.id()))
        })?;
    let known = context.known_plans()?;
    context.warn_of_unread(&known);
    let runs: Vec<Arc<State>> = known.into_iter().filter_map(|known| known.state.ok()).collect();
    let learnt_in = sightings(runs.iter().map(Arc::as_ref), note);
    let name = args.spec.clone().unwrap_or_else(default_name);
    let all = Specs::load(context.repo());
    let known = all.specs.iter().find(|spec| says(&spec.body, note));
    let page = specs::text_of(context.repo(), &name)?;
    if page.is_some() && args.title.is_some() {
        return Err(CommandError::refused(format!(
            "the spec `{name}` is there already, with a title of its own"
        ))
        .hint("leave --title out, or name another one with --spec"));
    }
    let title = args.title.clone().unwrap_or_else(|| title_of(&name));
    let write = |page: Option<&str>| addition(page, &title, note, &learnt_in, context.today());
    let mut report = Report {
        note: note.line(),
        spec: context
            .shown(&known.map_or_else(|| specs::file(context.repo(), &name), |spec: &Spec| all.path(spec))),
        addition: if known.is_some() { String::new() } else { write(page.as_deref()) },
        new: page.is_none() && known.is_none(),
        learnt_in: learnt_in.clone(),
        written: false,
    };
    if args.yes && known.is_none() {
        under_way(&runs)?;
        let lock = plan.folder.path().with_file_name("specs.lock");
        report.written = keep(plan, &name, &lock, note, write)?;
    }
    context.report(&serde_json::json!(report), &report.text())?;
    let chance = known.is_none() && !args.yes && learnt_in.len() < ENOUGH;
    Ok(if chance { Exit::Findings } else { Exit::Done })
}

/// Writes the note, unless somebody else just has.
fn keep(
    plan: &OpenPlan,
    name: &SpecName,
    lock: &Path,
    note: &Note,
    addition: impl Fn(Option<&str>) -> String,
) -> Result<bool, CommandError> {
    let patience = Duration::from_secs(plan.settings.lock_timeout_seconds.into());
    let mut written = false;
    specs::append(&plan.repo, name, (lock, patience), |page| {
        written = !page.is_some_and(|page| says(page, note));
        written.then(|| addition(page))
    })?;
    Ok(written)
}

fn title_of(name: &SpecName) -> String {
    if *name == default_name() { "What was learnt".to_owned() } else { name.file().to_owned() }
}

/// Fails while a task is built in the checkout: what is written there would count as its change.
fn under_way(runs: &[Arc<State>]) -> Result<(), CommandError> {
    let building = |run: &Arc<State>| {
        let task = run.running().find(|task| task.worktree().is_none())?;
        Some(format!("task {} of {} is being built in this checkout", task.leaf.id, run.plan_id))
    };
    match runs.iter().find_map(building) {
        Some(what) => {
            Err(CommandError::refused(format!("{what}, and what is written now would count as its change"))
                .hint("do it when the run is over"))
        }
        None => Ok(()),
    }
}

impl Report {
    fn text(&self) -> String {
        let Self { note, learnt_in, spec, addition, written, new } = self;
        let places: Vec<String> = learnt_in.iter().map(Sighting::words).collect();
        let mut text = format!("{note}\nLearnt in {}\n", places.join(", "));
        if addition.is_empty() {
            return text + &format!("It is in {spec} already\n");
        }
        if *written {
            return text + &format!("Written to {spec}, which is yours to commit\n");
        }
        if learnt_in.len() < ENOUGH {
            text += "That is one place alone, and may be chance\n";
        }
        text += &match new {
            true => format!("To be written to {spec}, a new file:\n\n"),
            false => format!("To be written to the end of {spec}:\n\n"),
        };
        for line in addition.trim_start().lines() {
            text += format!("  {line}").trim_end();
            text.push('\n');
        }
        text + "\nNext: ask the user, and after a yes the same command with --yes\n"
    }
}

//! `fp note`.

use fp_core::plan::id::TaskId;
use fp_core::run::event::{Event, Note};
use fp_core::run::notepad::relevant;
use fp_host::run::evidence::write_notepad;
use serde_json::json;

use super::promote;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Add to the notepad, or read it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan.
    plan: String,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Add a note
    Add {
        /// `KIND: text`, with PATTERN, GOTCHA, UTIL or WARN.
        note: String,
        /// The task it was learnt in.
        #[arg(long)]
        task: Option<TaskId>,
    },
    /// Print the notes
    List {
        /// Only those that help with this task, at most ten.
        #[arg(long = "for", value_name = "TASK")]
        task: Option<TaskId>,
    },
    Promote(promote::Args),
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open(Some(&args.plan))?;
    match args.action {
        Action::Add { note, task } => {
            let mut ledger = plan.lock()?;
            if let Some(id) = &task {
                ledger.state().expect_task(id)?;
            }
            let note = Note::parse(&note, task).map_err(CommandError::failed)?;
            let line = note.line();
            let known = ledger.state().notes.contains(&note);
            let events = if known { Vec::new() } else { vec![Event::Noted { note }] };
            write_notepad(&plan, &ledger.after(&events, context.now()))?;
            ledger.append(events, context.now())?;
            context.printer.data(&format!("{line}\n"));
        }
        Action::Promote(args) => return promote::run(&args, &plan, context),
        Action::List { task } => {
            let state = plan.load()?.state;
            let notes: Vec<&Note> = match &task {
                Some(id) => relevant(&state, id),
                None => state.notes.iter().collect(),
            };
            match context.format {
                Format::Json => context.printer.json(&json!({ "notes": notes }))?,
                Format::Text => {
                    let lines: String = notes.iter().map(|note| numbered(&state.notes, note)).collect();
                    context.printer.data(&lines);
                }
            }
        }
    }
    Ok(Exit::Done)
}

/// A line with the number of `note` among all of the plan.
fn numbered(all: &[Note], note: &Note) -> String {
    let number = all.iter().position(|other| std::ptr::eq(other, note)).map_or(0, |at| at + 1);
    format!("{number:>3}  {}\n", note.line())
}

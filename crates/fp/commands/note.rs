//! `fp note`: passes one builder's findings on to later ones.

use fp_host::plan::OpenPlan;
use fp_host::run::evidence::write_notepad;
use fp_plan::plan::id::TaskId;
use fp_run::run::event::{Event, Note};
use fp_run::run::notepad::relevant_notes;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Add to the notepad, or read it
#[derive(Debug, clap::Args)]
pub(crate) struct NoteArgs {
    /// The plan.
    plan: String,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Add a note for later builders
    Add(Add),
    /// Print the notes
    List {
        /// Only the notes that help with this task, at most ten.
        #[arg(long = "for", value_name = "TASK")]
        task: Option<TaskId>,
    },
    /// End a note whose warning is over
    End {
        /// Its number in `fp note PLAN list`.
        #[arg(value_name = "NUMBER")]
        note: usize,
    },
}

#[derive(Debug, clap::Args)]
struct Add {
    /// `KIND: text` or `KIND(PATH): text`, with PATTERN, GOTCHA, UTIL, WARN or DEBT.
    note: String,
    /// The task that the note comes from.
    #[arg(long)]
    task: Option<TaskId>,
}

pub(crate) fn run(args: NoteArgs, context: &Context) -> CommandResult {
    let plan = context.open(Some(&args.plan))?;
    match args.action {
        Action::Add(add) => add_note(&plan, add, context),
        Action::End { note } => end_note(&plan, note, context),
        Action::List { task } => list_notes(&plan, task.as_ref(), context),
    }
}

fn add_note(plan: &OpenPlan, add: Add, context: &Context) -> CommandResult {
    let mut ledger = plan.lock()?;
    if let Some(id) = &add.task {
        ledger.state().expect_task(id)?;
    }
    let note: Note = add.note.parse().map_err(CommandError::failed)?;
    let note = Note {
        task: add.task,
        ..note
    };
    let (json, line) = (json!({ "note": note }), note.notepad_line());
    let known = ledger.state().notes.contains(&note);
    let events = if known {
        Vec::new()
    } else {
        vec![Event::Noted { note }]
    };
    write_notepad(plan, &ledger.after(&events, context.now()))?;
    ledger.append(events, context.now())?;
    context.report(&json, &format!("{line}\n"))
}

fn end_note(plan: &OpenPlan, number: usize, context: &Context) -> CommandResult {
    let mut ledger = plan.lock()?;
    let note = number
        .checked_sub(1)
        .and_then(|at| ledger.state().notes.get(at));
    let Some(note) = note else {
        let id = plan.id();
        return Err(CommandError::refused(format!("there is no note {number}"))
            .with_hint(format!("`fp note {id} list` has their numbers")));
    };
    let ended = Note {
        ended: true,
        ..note.clone()
    };
    let events = vec![Event::NoteEnded { number }];
    write_notepad(plan, &ledger.after(&events, context.now()))?;
    ledger.append(events, context.now())?;
    context.report(
        &json!({ "ended": number }),
        &format!("{}\n", ended.notepad_line()),
    )
}

fn list_notes(plan: &OpenPlan, task: Option<&TaskId>, context: &Context) -> CommandResult {
    let state = plan.load()?.state;
    let notes: Vec<&Note> = match task {
        Some(id) => relevant_notes(&state, id),
        None => state.notes.iter().collect(),
    };
    let text: String = notes
        .iter()
        .map(|note| numbered(&state.notes, note))
        .collect();
    if text.is_empty() {
        context.printer.print_note("note: nothing is noted yet");
    }
    context.report(&json!({ "notes": notes }), &text)
}

/// A line with `note` and its number among all of the plan's notes.
fn numbered(all: &[Note], note: &Note) -> String {
    let number = all
        .iter()
        .position(|other| std::ptr::eq(other, note))
        .map_or(0, |at| at + 1);
    format!("{number:>3}  {}\n", note.notepad_line())
}

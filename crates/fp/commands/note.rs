//! `fp note`: passes knowledge between builders, by the notepad or by messages.

use fp_host::plan::OpenPlan;
use fp_host::run::evidence::write_notepad;
use fp_plan::plan::id::{AgentName, TaskId};
use fp_run::run::event::{Event, Note};
use fp_run::run::notepad::relevant;
use fp_run::run::peer_message::{PeerKind, PeerMessage};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::features::specs::{PromoteArgs, promote_note};

/// Add to the notepad, tell another builder something, or read both
#[derive(Debug, clap::Args)]
pub(crate) struct NoteArgs {
    /// The plan.
    plan: String,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Add a note for the builders that come after, or tell those that work now something
    Add(Add),
    /// Print the notes and messages
    List {
        /// Only the notes that help with this task, at most ten.
        #[arg(long = "for", value_name = "TASK")]
        task: Option<TaskId>,
    },
    Promote(PromoteArgs),
}

#[derive(Debug, clap::Args)]
struct Add {
    /// `KIND: text`. A note is a PATTERN, GOTCHA, UTIL, WARN or DEBT; with `--to`, a message is an INTERFACE_CREATED,
    /// PATTERN_FOUND, CONFLICT_WARNING or FILE_MOVED.
    note: String,
    /// The task that the note was learnt in.
    #[arg(long, conflicts_with = "to")]
    task: Option<TaskId>,
    /// Who sends the message: a builder that holds a task.
    #[arg(long = "as", value_name = "NAME", requires = "to")]
    from: Option<AgentName>,
    /// A builder that is given the message in its next payload, or `all`; at most two messages a task.
    #[arg(long, value_name = "NAME", requires = "from")]
    to: Vec<AgentName>,
}

pub(crate) fn run(args: NoteArgs, context: &Context) -> CommandResult {
    let plan = context.open(Some(&args.plan))?;
    match args.action {
        Action::Add(add) => match &add.from {
            Some(from) => tell(&plan, from, &add, context),
            None => note(&plan, add, context),
        },
        Action::Promote(args) => promote_note(&args, &plan, context),
        Action::List { task } => list(&plan, task.as_ref(), context),
    }
}

fn note(plan: &OpenPlan, add: Add, context: &Context) -> CommandResult {
    let mut ledger = plan.lock()?;
    if let Some(id) = &add.task {
        ledger.state().expect_task(id)?;
    }
    if let Some((kind, _)) = PeerKind::read(&add.note) {
        let word = kind.into_str();
        return Err(CommandError::refused(format!(
            "{word} is a message to another builder: it needs one"
        ))
        .hint(format!(
            "fp note {} add '{word}: TEXT' --as builder-1 --to builder-2",
            plan.id()
        )));
    }
    let note = Note::parse(&add.note, add.task).map_err(CommandError::failed)?;
    let (json, line) = (json!({ "note": note }), note.line());
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

fn tell(plan: &OpenPlan, from: &AgentName, add: &Add, context: &Context) -> CommandResult {
    if let Ok(note) = Note::parse(&add.note, None) {
        let word = note.kind.into_str();
        return Err(CommandError::refused(format!(
            "{word} is a note, which goes to nobody in particular"
        ))
        .hint(format!(
            "for the builders that come after: fp note {} add '{word}: TEXT'",
            plan.id()
        )));
    }
    let mut ledger = context.told(plan.lock()?);
    let (message, events) = ledger.state().tell(from, &add.to, &add.note)?;
    ledger.append(events, context.now())?;
    context.report(
        &json!({ "message": message }),
        &format!("{}\n", message.line()),
    )
}

fn list(plan: &OpenPlan, task: Option<&TaskId>, context: &Context) -> CommandResult {
    let state = plan.load()?.state;
    let (notes, messages): (Vec<&Note>, &[PeerMessage]) = match task {
        Some(id) => (relevant(&state, id), &[]),
        None => (state.notes.iter().collect(), &state.messages),
    };
    let notes_text = notes.iter().map(|note| numbered(&state.notes, note));
    let text: String = notes_text
        .chain(messages.iter().map(|message| message.line() + "\n"))
        .collect();
    if text.is_empty() {
        context.printer.note("note: nothing is noted yet");
    }
    context.report(&json!({ "notes": notes, "messages": messages }), &text)
}

/// A line with the number of `note` among all of the plan's notes.
fn numbered(all: &[Note], note: &Note) -> String {
    let number = all
        .iter()
        .position(|other| std::ptr::eq(other, note))
        .map_or(0, |at| at + 1);
    format!("{number:>3}  {}\n", note.line())
}

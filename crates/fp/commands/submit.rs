//! `fp submit`: hands a claimed task in for verification, with its changes as git shows them.

use fp_host::run::evidence::write_notepad;
use fp_host::run::verify::measure;
use fp_host::run::worktree::path;
use fp_plan::plan::id::TaskId;
use fp_run::run::event::{Event, Note};
use fp_run::run::state::TaskState;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Hand in a claimed task for verification
#[derive(Debug, clap::Args)]
pub(crate) struct SubmitArgs {
    /// The plan.
    plan: String,
    /// The task.
    task: TaskId,
    /// The token that the payload printed.
    #[arg(long, value_name = "TOKEN")]
    claim: String,
    /// Something the next builder should know: `KIND: text`, with PATTERN, GOTCHA, UTIL or WARN.
    #[arg(long, value_name = "NOTE")]
    note: Vec<String>,
}

pub(crate) fn run(args: SubmitArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(Some(&args.plan))?;
    let notes = args.note.iter().map(|text| Note::parse(text, Some(args.task.clone())));
    let notes: Vec<Note> = notes.collect::<Result<_, _>>().map_err(CommandError::failed)?;
    let (tree, changes) = {
        let state = plan.load()?.state;
        state.expect_claim(&args.task, &args.claim)?;
        measure(&plan, &state, &args.task)?
    };
    let mut ledger = plan.lock()?;
    context.notices(ledger.notices());
    let mut events = ledger.state().submit(&args.task, &args.claim, tree, changes.clone())?;
    events.extend(notes.iter().map(|note| Event::Noted { note: note.clone() }));
    if !notes.is_empty() {
        write_notepad(&plan, &ledger.after(&events, context.now()))?;
    }
    ledger.append(events, context.now())?;
    let state = ledger.into_state();
    // Names the place, in case the builder edited another checkout.
    let owner = state.task(&args.task).and_then(TaskState::worktree);
    let place = owner.map_or_else(String::new, |owner| format!(" in {}", path(&plan, owner).display()));
    match context.format {
        Format::Text => {
            let mut text = format!("Task {} handed in: ", args.task);
            match changes.len() {
                0 => text.push_str(&format!("nothing changed{place}\n")),
                1 => text.push_str("1 file changed\n"),
                n => text.push_str(&format!("{n} files changed\n")),
            }
            for change in &changes {
                text.push_str(&format!("  {}\n", change.path));
            }
            text.push_str("End your turn now: a message tells you what is next.\n");
            context.printer.data(&text);
        }
        Format::Json => context.printer.json(&json!({ "task": args.task, "files": changes }))?,
    }
    Ok(Exit::Done)
}

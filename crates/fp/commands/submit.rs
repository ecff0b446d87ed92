//! `fp submit`: submits a claimed task for verification, with its changes as git shows them.

use fp_host::run::evidence::write_notepad;
use fp_host::run::verify::{Submission, measure};
use fp_host::run::worktree::path;
use fp_plan::plan::id::TaskId;
use fp_plan::text::{counted, prompt_quoted, shell_quoted};
use fp_run::run::event::{Event, Note};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Maximum number of paths outside the boundary for which next steps are suggested.
const SHOWN: usize = 10;

/// Submit a claimed task for verification
#[derive(Debug, clap::Args)]
pub(crate) struct SubmitArgs {
    /// The plan.
    plan: String,
    /// The task.
    task: TaskId,
    /// The token that the payload printed.
    #[arg(long, value_name = "TOKEN")]
    claim: String,
    /// A note for later builders: `KIND: text`, with PATTERN, GOTCHA, UTIL, WARN or DEBT.
    #[arg(long, value_name = "NOTE")]
    note: Vec<Note>,
}

pub(crate) fn run(args: SubmitArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(Some(&args.plan))?;
    let (submission, place) = {
        let state = plan.load()?.state;
        state.expect_claim(&args.task, &args.claim)?;
        context.expect_own_task(state.expect_task(&args.task)?)?;
        // The builder may have edited the wrong checkout.
        let place = match state.expect_task(&args.task)?.worktree() {
            Some(owner) => path(&plan, owner).display().to_string(),
            None => "the checkout".to_owned(),
        };
        (measure(&plan, &state, &args.task)?, place)
    };
    if !submission.failed.is_empty() {
        let failed = submission.failed.iter();
        let failed: Vec<String> = failed
            .map(|check| format!("{}: {}", check.name, check.detail))
            .collect();
        let reason = failed.join("; ");
        let mut ledger = plan.lock()?;
        let state = ledger.state();
        let events = state.refuse_submission(&args.task, &args.claim, &reason)?;
        ledger.append(events, context.now())?;
        return Err(refused(&submission, &reason, &args, &place));
    }
    let (work, changes) = (submission.work.clone(), submission.work.files);
    let mut ledger = context.with_notices(plan.lock()?);
    let mut events = ledger.state().submit(&args.task, &args.claim, work)?;
    let notes = args
        .note
        .iter()
        .cloned()
        .map(|note| note.learned_in(&args.task));
    events.extend(notes.map(|note| Event::Noted { note }));
    if !args.note.is_empty() {
        write_notepad(&plan, &ledger.after(&events, context.now()))?;
    }
    ledger.append(events, context.now())?;
    let what = if changes.is_empty() {
        "nothing".to_owned()
    } else {
        counted(changes.len(), "file")
    };
    let files: String = changes
        .iter()
        .map(|change| format!("  {}\n", change.path))
        .collect();
    let head = format!("Task {} handed in: {what} changed\n", args.task);
    let text = head + &files + "End your turn now: a message tells you what is next.\n";
    context.report(&json!({ "task": args.task, "files": changes }), &text)
}

/// The error that refuses a submission that would fail anyway, with suggested next steps.
fn refused(submission: &Submission, reason: &str, args: &SubmitArgs, place: &str) -> CommandError {
    let SubmitArgs {
        plan, task, claim, ..
    } = args;
    let mut error = CommandError::refused(format!("task {task} can't be handed in: {reason}"))
        .with_hint(
            "nothing was handed in, and no attempt is used: correct this and run `fp submit` again",
        );
    let base = &submission.base;
    for (path, was_there) in submission.outside.iter().take(SHOWN) {
        let path = path.to_string();
        let is_plain = prompt_quoted(&path, path.len()) == format!("\"{path}\"");
        let path = if is_plain {
            shell_quoted(&path)
        } else {
            "PATH".to_owned()
        };
        let undo = match was_there {
            true => format!("git restore --source={base} --worktree -- {path}"),
            false => format!("rm -- {path}"),
        };
        error = error.with_hint(format!(
            "if you changed {path}, undo it: `{undo}`; if the task can't be done without it: \
             `fp scope extend {plan} {task} {path} --claim {claim} --reason '…'`"
        ));
    }
    if submission.work.files.is_empty() {
        error = error.with_hint(format!(
            "change its files in {place}; if nothing is left to change, end your turn and say so"
        ));
    }
    error
}

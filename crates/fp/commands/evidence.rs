//! `fp evidence`.

use fp_core::plan::id::TaskId;
use fp_core::report::evidence::Evidence;
use fp_core::run::state::TaskState;
use fp_host::run::evidence::{self, ReadError};

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::render;

/// Show what the last verdict on a task rests on
#[derive(Debug, clap::Args)]
pub(crate) struct EvidenceArgs {
    /// The plan.
    plan: String,
    /// The task.
    task: TaskId,
}

pub(crate) fn run(args: EvidenceArgs, context: &Context) -> CommandResult {
    let plan = context.open(Some(&args.plan))?;
    let loaded = plan.load()?;
    context.notices(&loaded.notices);
    let task = loaded.state.expect_task(&args.task)?;
    let evidence = evidence::read(&plan, &args.task).map_err(unreadable)?;
    let Some(evidence) = evidence else {
        if task.imported {
            return Err(CommandError::refused(format!(
                "task {} has no evidence: it was done before the plan was imported",
                args.task
            ))
            .hint(format!(
                "`fp retry {} {}` has it done again, and verified",
                plan.id(),
                args.task
            )));
        }
        return Err(CommandError::refused(format!(
            "task {} has no evidence: it is {}, and no verdict has been recorded",
            args.task,
            task.status.word()
        ))
        .hint(format!("`fp status {}` shows where each task is", plan.id())));
    };
    context.notices(disagreement(&evidence, task).as_slice());
    match context.format {
        Format::Text => context.printer.data(&render::evidence::text(&evidence)),
        Format::Json => context.printer.json(&evidence)?,
    }
    Ok(Exit::Done)
}

fn unreadable(error: ReadError) -> CommandError {
    match error {
        ReadError::File(error) => error.into(),
        ReadError::Form { .. } => CommandError::failed(&error)
            .hint("mend that line, or remove the file: the verdict itself is in the log, and is not lost"),
    }
}

/// What the file says that the log, which alone counts, does not.
fn disagreement(evidence: &Evidence, task: &TaskState) -> Option<String> {
    let word = |pass: bool| if pass { "PASS" } else { "FAIL" };
    let verdict = task.verdict.as_ref();
    if evidence.task != task.leaf.id.as_str() {
        return Some(format!("the file is about task {}", evidence.task));
    }
    match verdict {
        None if task.imported => Some("the verdict was given before the plan was imported".to_owned()),
        None => Some("the file is older than the last try of the task".to_owned()),
        Some(verdict) if verdict.pass != evidence.pass => Some(format!(
            "the file says {}, but the log says {}: it was edited",
            word(evidence.pass),
            word(verdict.pass)
        )),
        Some(_) => None,
    }
}

//! `fp evidence`: shows the evidence for the last verdict on a task.

use fp_host::run::evidence;
use fp_plan::plan::id::TaskId;
use fp_run::report::evidence::evidence_head;
use fp_run::run::Refusal;
use fp_run::run::state::TaskState;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Show the evidence for the last verdict on a task
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct EvidenceArgs {
    /// The plan; defaults to the active one, or the last one.
    plan: Option<String>,
    /// The task.
    task: TaskId,
}

pub(crate) fn run(args: EvidenceArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    let state = context.state(&plan)?;
    if state.approval.is_none() {
        return Err(Refusal::NotApproved.into());
    }
    let (id, task) = (&args.task, state.expect_task(&args.task)?);
    if let Some(text) = evidence::read(&plan, id)? {
        context.notices(disagreement(&text, task).as_slice());
        return context.report(
            &json!({ "task": id, "file": evidence::evidence_file(id), "text": text }),
            &text,
        );
    }
    let (why, hint) = if task.imported {
        (
            "it was done before the plan was imported".to_owned(),
            format!(
                "`fp retry {} {id}` has it done again, and verified",
                plan.id()
            ),
        )
    } else {
        (
            format!(
                "it is {}, and no verdict has been recorded",
                task.status.into_str()
            ),
            format!("`fp status {}` shows where each task is", plan.id()),
        )
    };
    Err(CommandError::refused(format!("task {id} has no evidence: {why}")).hint(hint))
}

/// The contradiction between the file and the log, if any; only the log counts.
fn disagreement(text: &str, task: &TaskState) -> Option<String> {
    let told = match &task.verdict {
        None if task.imported => "the verdict was given before the plan was imported",
        None => "the file is older than the last attempt at the task",
        Some(verdict) if text.starts_with(&evidence_head(&task.leaf.id, verdict.pass)) => {
            return None;
        }
        Some(verdict) if verdict.pass => "the file was edited: by the log the task passed",
        Some(_) => "the file was edited: by the log the task did not pass",
    };
    Some(told.to_owned())
}

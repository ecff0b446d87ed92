//! `fp evidence`.

use fp_core::plan::id::TaskId;
use fp_core::report::evidence::{EvidenceCheck, EvidenceCriterion, EvidenceOutput, TaskEvidence};
use fp_core::run::state::TaskState;
use fp_core::verification::CheckVerdict;
use fp_host::run::evidence::{self, ReadError};

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use fp_core::text::one_line;

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
        Format::Text => context.printer.data(&text(&evidence)),
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
fn disagreement(evidence: &TaskEvidence, task: &TaskState) -> Option<String> {
    let verdict_word = |pass: bool| if pass { "PASS" } else { "FAIL" };
    let verdict = task.verdict.as_ref();
    if evidence.task != task.leaf.id.as_str() {
        return Some(format!("the file is about task {}", evidence.task));
    }
    match verdict {
        None if task.imported => Some("the verdict was given before the plan was imported".to_owned()),
        None => Some("the file is older than the last try of the task".to_owned()),
        Some(verdict) if verdict.pass != evidence.pass => Some(format!(
            "the file says {}, but the log says {}: it was edited",
            verdict_word(evidence.pass),
            verdict_word(verdict.pass)
        )),
        Some(_) => None,
    }
}

fn text(evidence: &TaskEvidence) -> String {
    let iteration = evidence.iteration.map_or_else(String::new, |number| format!(", iteration {number}"));
    let mut text = format!(
        "# Task {}: {}\n\n{}{iteration}, {}\n\n## Criteria\n\n",
        one_line(&evidence.task),
        one_line(&evidence.title),
        word(evidence.pass),
        evidence.at
    );
    for EvidenceCriterion { number, criterion, pass, evidence } in &evidence.criteria {
        text.push_str(&format!("{}  {number}. {criterion}\n", word(*pass)));
        if !evidence.is_empty() {
            text.push_str(&format!("         {evidence}\n"));
        }
    }
    if !evidence.checks.is_empty() || !evidence.outputs.is_empty() {
        text.push_str("\n## Checks\n\n");
    }
    for EvidenceCheck { name, verdict, detail } in &evidence.checks {
        text.push_str(&format!("{}  {name}", check_word(*verdict)));
        text.push_str(&if detail.is_empty() { "\n".to_owned() } else { format!(": {detail}\n") });
    }
    for EvidenceOutput { name, verdict, text: output } in &evidence.outputs {
        text.push_str(&format!("{}  {name}\n", verdict.map_or("    ", check_word)));
        for line in output.lines() {
            text.push_str(format!("      {line}").trim_end());
            text.push('\n');
        }
    }
    if !evidence.files.is_empty() {
        text.push_str("\n## Files\n\n");
        evidence.files.iter().for_each(|file| text.push_str(&format!("- {file}\n")));
    }
    if !evidence.summary.is_empty() {
        text.push_str(&format!("\n## Summary\n\n{}\n", evidence.summary));
    }
    text
}

fn word(pass: bool) -> &'static str {
    if pass { "pass" } else { "FAIL" }
}

fn check_word(verdict: CheckVerdict) -> &'static str {
    match verdict {
        CheckVerdict::Pass => "pass",
        CheckVerdict::Fail => "FAIL",
        CheckVerdict::Note => "note",
        CheckVerdict::NotApplicable => "n/a ",
    }
}

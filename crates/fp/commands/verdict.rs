//! `fp verdict`: records a verifier's judgement, and commits the task if it passed.

use fp_host::run::commit::Settled;
use fp_host::run::verify::{RecordedVerdict, VerifierVerdict, judge};
use fp_plan::plan::id::TaskId;
use fp_run::run::event::{Judgement, Note};
use fp_run::run::state::{State, Status};
use fp_run::run::verdict::VerifierOpinion;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Words that only assert that a criterion is met, without evidence.
const NO_EVIDENCE: [&str; 14] = [
    "checked", "done", "fine", "good", "lgtm", "met", "ok", "pass", "passed", "passes", "read",
    "true", "verified", "yes",
];

/// Record the verdict on a submitted task; commit it if it passed
#[derive(Debug, clap::Args)]
pub(crate) struct VerdictArgs {
    /// The plan.
    pub(crate) plan: String,
    /// The task.
    pub(crate) task: TaskId,
    /// The attempt that was judged.
    #[arg(long, value_name = "N")]
    iteration: Option<u32>,
    /// A criterion that is met: `NUMBER: evidence`.
    #[arg(long, value_name = "N: EVIDENCE")]
    pass: Vec<String>,
    /// A criterion that is not met: `NUMBER: reason`.
    #[arg(long, value_name = "N: REASON")]
    fail: Vec<String>,
    /// One or two sentences on the task as a whole.
    #[arg(long, default_value = "")]
    summary: String,
    /// An observation outside of the criteria: `KIND: text`, with PATTERN, GOTCHA, UTIL, WARN or DEBT.
    #[arg(long, value_name = "NOTE")]
    note: Vec<Note>,
}

pub(crate) fn run(args: VerdictArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(Some(&args.plan))?;
    let passed = args.pass.iter().map(|text| judgement(text, true));
    let failed = args.fail.iter().map(|text| judgement(text, false));
    let judgements = passed.chain(failed).collect::<Result<_, _>>()?;
    let verdict = VerifierVerdict {
        task: args.task,
        iteration: args.iteration,
        opinion: VerifierOpinion {
            judgements,
            summary: args.summary,
        },
        notes: args.note,
    };
    let recorded = judge(&plan, &verdict, || context.now())?;
    if let Some(error) = &recorded.delayed {
        context.printer.print_note(&format!(
            "note: {error}: the verdict is recorded, and its commit follows"
        ));
    }
    report(context, &plan.load()?.state, &verdict.task, &recorded)
}

fn judgement(text: &str, pass: bool) -> Result<Judgement, CommandError> {
    let wrong = || {
        CommandError::failed(format!("{text:?} is no judgement")).with_hint(
            "write the number of the criterion, a colon and the evidence: '1: tests/a.sh shows it'",
        )
    };
    let (number, evidence) = text.split_once(':').ok_or_else(wrong)?;
    let criterion = number.trim().parse().map_err(|_| wrong())?;
    let evidence = evidence.trim();
    if evidence.is_empty() {
        return Err(wrong());
    }
    if pass && shows_nothing(evidence) {
        return Err(CommandError::failed(format!(
            "{evidence:?} is no evidence for criterion {criterion}"
        ))
        .with_hint(
            "say what shows it: FILE:LINE and what is there, or a command and what it printed",
        ));
    }
    Ok(Judgement {
        criterion,
        pass,
        evidence: evidence.to_owned(),
    })
}

fn shows_nothing(evidence: &str) -> bool {
    let word = evidence.trim_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation());
    word.is_empty() || NO_EVIDENCE.contains(&word.to_lowercase().as_str())
}

fn report(
    context: &Context,
    state: &State,
    id: &TaskId,
    recorded: &RecordedVerdict,
) -> CommandResult {
    let RecordedVerdict {
        evidence, settled, ..
    } = recorded;
    let task = state.expect_task(id)?;
    let pass = task.verdict.as_ref().is_some_and(|v| v.pass);
    let blocked = settled.iter().find_map(|s| match s {
        Settled::Blocked(blocked, reason) if blocked == id => Some(reason.as_str()),
        _ => None,
    });
    let conflict = settled.iter().find_map(|s| match s {
        Settled::Conflict(back, feedback) if back == id => Some(feedback.as_str()),
        _ => None,
    });
    let next = format!("it goes back, attempt {}", task.iteration);
    let how = match (pass, task.status, &task.commit) {
        (true, Status::Completed, Some(commit)) => format!("passed: commit {commit}"),
        (true, Status::Completed, None) => {
            format!(
                "passed, without a commit: {}",
                task.note.as_deref().unwrap_or("none was made")
            )
        }
        (true, Status::Implementing, _) => format!("passed, and can't be committed: {next}"),
        (true, Status::Failed, _) => {
            "passed, and can't be committed, and that was its last attempt".to_owned()
        }
        (true, ..) => {
            let why = blocked
                .map(|blocked| format!(": {blocked}"))
                .unwrap_or_default();
            format!("passed, its commit is due{why}")
        }
        (false, Status::Implementing, _) => format!("did not pass: {next}"),
        (false, Status::AwaitingVerification, _) => {
            "did not pass by its commands: the user is asked".to_owned()
        }
        (false, ..) => "did not pass, and that was its last attempt".to_owned(),
    };
    let json = json!({
        "task": id, "pass": pass, "status": task.status, "iteration": task.iteration, "commit": task.commit,
        "note": task.note, "blocked": blocked, "conflict": conflict, "evidence": evidence,
    });
    context.report(&json, &format!("Task {id} {how}\nEvidence: {evidence}\n"))
}

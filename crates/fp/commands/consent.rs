//! Takes the user's answers from the client's own events, so no agent has to repeat an answer, and none can invent one.

use fp_host::plan::OpenPlan;
use fp_host::run::commit::before_answer;
use fp_host::trust::ConsentSource;
use fp_run::run::State;
use fp_run::run::consent::{APPROVE, ConsentCode, PrintedQuestion};
use fp_run::run::event::{Decider, Event};

use super::approve::Proposal;
use crate::context::Context;
use crate::error::CommandError;
use crate::source::PlanSource;

/// Records the answer `chosen` to the question `asked`, identified by `code`; returns what to tell the lead.
///
/// # Errors
/// The question isn't the one that `fp` now prints for this code.
pub(crate) fn record_consent(
    context: &Context,
    code: &ConsentCode,
    asked: &PrintedQuestion,
    chosen: &[String],
) -> Result<String, CommandError> {
    match &code.question {
        None => record_approval(context, code, asked, chosen),
        Some(question) => record_answer(context, code, question, asked, chosen),
    }
}

fn record_approval(
    context: &Context,
    code: &ConsentCode,
    asked: &PrintedQuestion,
    chosen: &[String],
) -> Result<String, CommandError> {
    let id = &code.plan;
    if chosen != [APPROVE] {
        return Ok(format!("Plan {id} is not approved."));
    }
    let source = PlanSource::open(context, Some(id.as_str()))?;
    let text = source.read_text()?;
    let tree = source.valid_tree(&text)?;
    let proposal = Proposal::new(source.plan()?, &text, &tree, context)?;
    expect_printed(&proposal.question()?, asked, &format!("fp approve {id}"))?;
    let approved = proposal.approve(ConsentSource::Question, context)?;
    let mut told = format!(
        "Plan {id} is approved by the user, and that is recorded. Next: {}",
        approved.next()
    );
    if let Some(note) = approved.kept_note(context) {
        told += &format!("\n{note}");
    }
    Ok(told)
}

fn record_answer(
    context: &Context,
    code: &ConsentCode,
    question: &str,
    asked: &PrintedQuestion,
    chosen: &[String],
) -> Result<String, CommandError> {
    let id = &code.plan;
    let plan = context.open_trusted(Some(id.as_str()))?;
    let state = plan.load()?.state;
    let Some(open) = state.open_questions().find(|open| open.id == question) else {
        return Ok(format!(
            "Question {question} is no longer open. Next: {}",
            state.lead_command()
        ));
    };
    let open = open.with_safe_texts();
    let printed = PrintedQuestion::of_run(id, &open.id, &open.text, &open.header, &open.options);
    expect_printed(&printed, asked, &state.lead_command())?;
    let next = answer_question(&plan, question, chosen, context)?;
    Ok(format!(
        "The user's answer to {question} is recorded. Next: {next}"
    ))
}

/// Formats a question that has to be asked word for word, with each line indented by `indent`.
pub(super) fn question_text(printed: &PrintedQuestion, indent: &str) -> String {
    let PrintedQuestion {
        question, header, ..
    } = printed;
    let mut text =
        format!("{indent}question: {question}\n{indent}header: {header}\n{indent}options:\n");
    for option in &printed.options {
        text += &format!("{indent}- {}: {}\n", option.label, option.description);
    }
    text
}

/// Fails unless the user was asked exactly what `fp` prints now, byte for byte.
fn expect_printed(
    printed: &PrintedQuestion,
    asked: &PrintedQuestion,
    command: &str,
) -> Result<(), CommandError> {
    match printed == asked {
        true => Ok(()),
        false => Err(CommandError::refused(
            "the answer doesn't count: the user was not asked what fp prints now",
        )
        .with_hint(format!(
            "run `{command}` and ask the printed question, word for word, with its options"
        ))),
    }
}

/// Records the user's answer to a question of the run, and returns the next command.
pub(crate) fn answer_question(
    plan: &OpenPlan,
    question: &str,
    options: &[String],
    context: &Context,
) -> Result<String, CommandError> {
    let answer = |state: &State| state.answer(question, options, Decider::User);
    let mut before = plan.load()?.state;
    if before.is_shared() && answer(&before).is_err() {
        // Another machine may have asked since.
        context.notices(&plan.sync()?);
        before = plan.load()?.state;
    }
    before_answer(plan, &before, &answer(&before)?)?;
    let mut ledger = plan.lock_in_order()?;
    let events = answer(ledger.state())?;
    let to_revise = events.iter().find_map(|event| match event {
        Event::RevisionDue { task } => Some(task.clone()),
        _ => None,
    });
    ledger.append(events, context.now())?;
    let over = !ledger.state().is_running();
    let lead = ledger.state().lead_command();
    drop(ledger);
    if over {
        context.remove_unneeded_worktrees(plan);
    }
    let id = plan.id();
    Ok(match to_revise {
        Some(task) => format!("fp task revise {id} {task} --file -, then fp approve {id}"),
        None => lead,
    })
}

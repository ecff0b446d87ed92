//! Hooks on the user's own input: typed prompts, and answers that give consent.

use fp_host::claude::hook::HookReply;
use fp_run::report::standing::LeadPresence;
use fp_run::run::consent::{ConsentCode, PrintedQuestion};

use super::{IncomingHook, OngoingRun};
use crate::commands::consent::record_consent;
use crate::commands::new::PLAN_SKILL;
use crate::commands::run::asked_text;
use crate::error::CommandError;

/// Start of the client's prompt for a finished background task.
const NEWS: &str = "<task-notification>";
/// The client's text for a command that exited with [`Exit::Asked`](crate::error::Exit::Asked).
const ASKED: &str = " failed with exit code 3</summary>";

/// Stores the prompt of `/fp:plan`, so that the plan gets the user's own words and flags. If `fp run` has ended with a
/// question, adds the question to the client's notice, so that the session needn't read the output.
pub(super) fn user_has_typed(hook: &IncomingHook) -> Result<(), CommandError> {
    // An agent's prompt is written by a model.
    let Some(prompt) = hook
        .event
        .prompt()
        .filter(|_| hook.event.agent_id.is_none())
    else {
        return Ok(());
    };
    if prompt.starts_with(NEWS) && prompt.contains(ASKED) {
        return tell_questions(hook);
    }
    let is_to_plan = prompt.trim_start().starts_with(PLAN_SKILL);
    if let Some(session) = hook.event.session.as_deref().filter(|_| is_to_plan) {
        let trust = hook.context.trust()?;
        trust.keep_prompt(session, prompt, hook.event.transcript())?;
    }
    Ok(())
}

fn tell_questions(hook: &IncomingHook) -> Result<(), CommandError> {
    let is_asked = |run: &OngoingRun| {
        let is_open = run.state.has_processes() && run.state.open_questions().next().is_some();
        is_open && run.plan.look_at_lead().presence(&run.state) == LeadPresence::Gone
    };
    let mut asked = hook.runs()?.filter(is_asked);
    // If several runs have open questions, only the command's output says which one asked.
    if let (Some(run), None) = (asked.next(), asked.next()) {
        let text = asked_text(run.plan.id(), &run.state.asks(), &run.state.run_command());
        let reply = HookReply::PromptContext(&text);
        // A truncated question can't be asked word for word.
        if reply.json()["hookSpecificOutput"]["additionalContext"] == *text {
            hook.reply(reply);
        }
    }
    Ok(())
}

/// Records the user's answers to the questions that `fp` printed, and tells the lead.
pub(super) fn user_has_answered(hook: &IncomingHook) -> Result<(), CommandError> {
    // A question asked by an agent isn't one of the run's questions.
    if hook.event.agent_id.is_some() {
        return Ok(());
    }
    let answered = hook.event.answered();
    let code_of = |(asked, _): &(PrintedQuestion, _)| ConsentCode::in_question(&asked.question);
    let codes: Vec<ConsentCode> = answered.iter().filter_map(code_of).collect();
    if codes.is_empty() {
        return Ok(());
    }
    if codes.len() < answered.len() {
        // Another question in the dialog may have changed the meaning of this one.
        hook.reply(HookReply::AfterTool(
            "The answers don't count: ask the questions that fp prints by themselves, without others beside them.",
        ));
        return Ok(());
    }
    let told = codes.iter().zip(&answered).map(|(code, (asked, chosen))| {
        let recorded = record_consent(&hook.context, code, asked, chosen);
        recorded.unwrap_or_else(|error| {
            let said = [error.message].into_iter().chain(error.hints);
            said.collect::<Vec<_>>().join("; ")
        })
    });
    hook.reply(HookReply::AfterTool(&told.collect::<Vec<_>>().join("\n")));
    Ok(())
}

//! Which run an agent belongs to, and by which name: looked up, and remembered where it shows.

use std::sync::Arc;

use fp_core::hook::identity::{Agent, BUILDER, VERIFIER, remember};
use fp_core::hook::own_command::calls;
use fp_core::plan::id::AgentName;
use fp_core::run::State;
use fp_core::run::event::Event;
use fp_host::claude::hook::HookEvent;
use fp_host::plan::OpenPlan;

use super::PATIENCE;
use super::runs::{Run, place, runs};
use crate::cli::Cli;
use crate::context::Context;
use crate::error::CommandError;

/// An agent of a run that is on.
pub(super) struct Member {
    pub(super) plan: OpenPlan,
    pub(super) state: Arc<State>,
    pub(super) name: AgentName,
}

/// The run that `agent` belongs to: one of this session, else one that knows no session. A log that can't be read is
/// the business of the commands that need it.
pub(super) fn find(
    context: &Context,
    agent: &Agent<'_>,
    session: Option<&str>,
) -> Result<Option<Member>, CommandError> {
    let mut likeliest: Option<((bool, bool), Member)> = None;
    // The newest is the likeliest, and each costs a read.
    for Run { plan, state } in runs(context)? {
        let Some(name) = agent.name_in(&state) else { continue };
        let of_session = session_of(&state).map(|own| Some(own) == session);
        let rank = (of_session == Some(true), agent.known_in(&state).is_some());
        if of_session != Some(false) && likeliest.as_ref().is_none_or(|(best, _)| rank > *best) {
            likeliest = Some((rank, Member { plan, state, name }));
        }
        if rank == (true, true) {
            break;
        }
    }
    Ok(likeliest.map(|(_, member)| member))
}

fn session_of(state: &State) -> Option<&str> {
    state.run.as_ref()?.terms.session.as_deref()
}

/// Remembers a background agent that is about to say its name, by claiming in it.
pub(super) fn learn_from_claim(context: &Context, event: &HookEvent) -> Result<(), CommandError> {
    let (Some(BUILDER), Some(id), Some(line)) = (event.agent_type(), event.agent_id(), event.command())
    else {
        return Ok(());
    };
    let calls = calls(line).into_iter().filter(|call| call.get(1).is_some_and(|word| word == "claim"));
    let Some(claim) = calls.filter_map(|call| Cli::claim(&call)).next_back() else { return Ok(()) };
    let context = place(context, event);
    // A name of no plan is the business of the command itself.
    let Ok(folder) = context.plans()?.resolve(&claim.plan) else { return Ok(()) };
    let plan = OpenPlan::new(context.repo().clone(), context.settings()?.clone(), folder);
    let Ok(state) = plan.load().map(|loaded| loaded.state) else { return Ok(()) };
    let own = session_of(&state).is_none_or(|own| Some(own) == event.session());
    if !own {
        return Ok(());
    }
    log(&context, &plan, &state, |state| remember(state, &claim.owner, id))
}

/// Remembers an agent that the lead has just started.
pub(super) fn learn_from_start(context: &Context, event: &HookEvent) -> Result<(), CommandError> {
    let Some((BUILDER | VERIFIER, name, id)) = event.started_agent() else { return Ok(()) };
    let Ok(name) = AgentName::new(name) else { return Ok(()) };
    let context = place(context, event);
    match find(&context, &Agent::Named(name), event.session())? {
        Some(Member { plan, state, name }) => {
            log(&context, &plan, &state, |state| remember(state, &name, id))
        }
        None => Ok(()),
    }
}

/// Appends what `decide` says, if it says it of the newest state as well.
pub(super) fn log(
    context: &Context,
    plan: &OpenPlan,
    state: &State,
    decide: impl Fn(&State) -> Option<Event>,
) -> Result<(), CommandError> {
    if decide(state).is_none() {
        return Ok(());
    }
    let mut ledger = plan.store.lock(PATIENCE)?;
    if let Some(event) = decide(ledger.state()) {
        ledger.append(vec![event], context.now())?;
    }
    Ok(())
}

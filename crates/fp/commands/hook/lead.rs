//! Hooks for the session that leads a run: what it is told when it begins, when its conversation is summed up, and
//! when it stops.

use fp_core::hook::Reply;
use fp_core::hook::lead::{Due, due, lead_stops};
use fp_core::hook::recovery::{self, Leader, Led};
use fp_core::run::State;
use fp_core::run::next::RunSurroundings;
use fp_host::claude::hook::{HookEvent, block, keep_in_summary, session_context};

use super::PATIENCE;
use super::runs::{Run, place, runs};
use crate::context::Context;
use crate::error::CommandError;

/// A session begins: it is told of the runs that are on.
pub(super) fn session_starts(event: &HookEvent, context: &Context) -> Result<(), CommandError> {
    if let Some(said) = of_runs(event, context, recovery::context)? {
        context.printer.data(&(session_context(&said) + "\n"));
    }
    Ok(())
}

/// The conversation is about to be summed up.
pub(super) fn is_compacted(event: &HookEvent, context: &Context) -> Result<(), CommandError> {
    if let Some(said) = of_runs(event, context, recovery::to_keep)? {
        context.printer.data(&(keep_in_summary(&said) + "\n"));
    }
    Ok(())
}

fn of_runs(
    event: &HookEvent,
    context: &Context,
    tell: impl Fn(&[Led<'_>]) -> Option<String>,
) -> Result<Option<String>, CommandError> {
    if event.agent_id().is_some() {
        return Ok(None);
    }
    let context = place(context, event);
    let runs: Vec<Run> = runs(&context)?.collect();
    let goals: Vec<String> = runs.iter().map(|run| run.plan.goal()).collect();
    let led = runs.iter().zip(&goals).map(|(run, goal)| Led {
        state: &run.state,
        goal,
        leader: leader(run, event, &context),
    });
    Ok(tell(&led.collect::<Vec<_>>()))
}

fn leader(run: &Run, event: &HookEvent, context: &Context) -> Leader {
    if !run.is_led_by(event.session(), None) {
        return Leader::Another;
    }
    let process_is_known = context.client().is_some() && run.client().is_some();
    // A compaction and the like leave the process as it is.
    let goes_on = matches!(event.source(), None | Some("compact" | "clear"));
    let is_same = if process_is_known { run.is_led_by(event.session(), context.client()) } else { goes_on };
    if is_same { Leader::This } else { Leader::ThisBefore }
}

/// A session ends its turn: if it leads a run in which something is due, it goes on.
pub(super) fn stops(event: &HookEvent, context: &Context) -> Result<(), CommandError> {
    if event.agent_id().is_some() {
        return Ok(());
    }
    let context = &place(context, event);
    // Who comes back to a run in another process has no agents any more, and goes on when the user wants to.
    for run in runs(context)?.filter(|run| run.is_led_by(event.session(), context.client())) {
        if let Some(reason) = goes_on(&run, !event.stop_hook_active(), context)? {
            context.printer.data(&(block(&reason) + "\n"));
            break;
        }
    }
    Ok(())
}

/// Why the lead of `run` goes on, if it does. That it is told so is in the log first.
fn goes_on(run: &Run, may_continue: bool, context: &Context) -> Result<Option<String>, CommandError> {
    let nudges = run.plan.settings.nudge.times();
    let told = |state: &State, due| lead_stops(state, due, nudges, may_continue);
    // Most that stop are not told whatever is due, or nothing is.
    if told(&run.state, Due::Work).reply == Reply::Silent {
        return Ok(None);
    }
    let found = look(run, &run.state, context)?;
    if told(&run.state, found).reply == Reply::Silent {
        return Ok(None);
    }
    let mut ledger = run.plan.store.lock(PATIENCE)?;
    let unchanged = ledger.state().seq == run.state.seq;
    let found = if unchanged { found } else { look(run, ledger.state(), context)? };
    let decision = told(ledger.state(), found);
    ledger.append(decision.events, context.now())?;
    Ok(match decision.reply {
        Reply::Continue(reason) => Some(reason),
        Reply::Silent => None,
    })
}

/// What is due in `state`. The tree is read only where something seems to be: what was edited can but make it less.
fn look(run: &Run, state: &State, context: &Context) -> Result<Due, CommandError> {
    // What `fp next` would know, but for what git would have to be asked.
    let around = RunSurroundings::new(state, &run.plan.settings, context.now(), context.attended());
    let found = due(state, &around);
    if found == Due::Nothing {
        return Ok(found);
    }
    let edited = context.tree(&run.plan)?.edited(state);
    Ok(if edited.is_empty() { found } else { due(state, &RunSurroundings { edited, ..around }) })
}

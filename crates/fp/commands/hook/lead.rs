//! Hooks for the session that leads a run: when it begins, when its conversation is summed up, and when it stops.

use fp_core::hook::recovery::{self, LedRun, RunLeader};
use fp_core::hook::stop::{LeadDue, lead_due, lead_stops};
use fp_core::run::State;
use fp_core::run::next::RunSurroundings;
use fp_host::claude::hook::{block, keep_in_summary, session_context};

use super::{IncomingHook, OngoingRun, PATIENCE};
use crate::error::CommandError;

/// A session begins: it is told of the runs that are on.
pub(super) fn session_starts(hook: &IncomingHook) -> Result<(), CommandError> {
    if let Some(said) = of_runs(hook, recovery::context)? {
        hook.reply(session_context(&said));
    }
    Ok(())
}

/// The conversation is about to be summed up.
pub(super) fn is_compacted(hook: &IncomingHook) -> Result<(), CommandError> {
    if let Some(said) = of_runs(hook, recovery::to_keep)? {
        hook.reply(keep_in_summary(&said));
    }
    Ok(())
}

fn of_runs(
    hook: &IncomingHook,
    tell: impl Fn(&[LedRun<'_>]) -> Option<String>,
) -> Result<Option<String>, CommandError> {
    if hook.event.agent_id().is_some() {
        return Ok(None);
    }
    let runs: Vec<OngoingRun> = hook.runs()?.collect();
    let goals: Vec<String> = runs.iter().map(|run| run.plan.goal()).collect();
    let led = runs.iter().zip(&goals);
    let led = led.map(|(run, goal)| LedRun { state: &run.state, goal, leader: leader_of(run, hook) });
    Ok(tell(&led.collect::<Vec<_>>()))
}

fn leader_of(run: &OngoingRun, hook: &IncomingHook) -> RunLeader {
    let (session, process) = (hook.event.session(), hook.context.client());
    if !run.is_led_by(session, None) {
        return RunLeader::Another;
    }
    let known = run.state.run.as_ref().and_then(|run| run.terms.client);
    let is_same = if process.is_some() && known.is_some() {
        run.is_led_by(session, process)
    } else {
        // A compaction or a cleared conversation leaves the process as it is.
        matches!(hook.event.source(), None | Some("compact" | "clear"))
    };
    if is_same { RunLeader::This } else { RunLeader::ThisBefore }
}

/// A session ends its turn: if it leads a run in which something is due, it goes on.
pub(super) fn stops(hook: &IncomingHook) -> Result<(), CommandError> {
    if hook.event.agent_id().is_some() {
        return Ok(());
    }
    let (session, process) = (hook.event.session(), hook.context.client());
    // A session that comes back in another process has no agents any more, and goes on when the user wants it to.
    for run in hook.runs()?.filter(|run| run.is_led_by(session, process)) {
        if let Some(reason) = goes_on(&run, hook)? {
            hook.reply(block(&reason));
            break;
        }
    }
    Ok(())
}

impl OngoingRun {
    /// Whether `session` leads it, in the client's process `client` where that is known.
    fn is_led_by(&self, session: Option<&str>, client: Option<u32>) -> bool {
        self.state.run.as_ref().is_some_and(|run| run.is_led_by(session, client))
    }
}

/// The reason for which the lead of `run` goes on, if there is one. It is logged before the lead is told.
fn goes_on(run: &OngoingRun, hook: &IncomingHook) -> Result<Option<String>, CommandError> {
    let nudges = run.plan.settings.nudge.times();
    let may_continue = !hook.event.stop_hook_active();
    let decide = |state: &State, due| lead_stops(state, due, nudges, may_continue);
    // Most leads that stop are not told anything, whatever is due.
    if decide(&run.state, LeadDue::Work).told.is_none() {
        return Ok(None);
    }
    let due = look(run, &run.state, hook)?;
    if decide(&run.state, due).told.is_none() {
        return Ok(None);
    }
    let mut ledger = run.plan.store.lock(PATIENCE)?;
    let unchanged = ledger.state().seq == run.state.seq;
    let due = if unchanged { due } else { look(run, ledger.state(), hook)? };
    let decision = decide(ledger.state(), due);
    ledger.append(decision.events, hook.context.now())?;
    Ok(decision.told)
}

/// The work that is due in `state`. The tree is read only where something seems due: edits of it only make that less.
fn look(run: &OngoingRun, state: &State, hook: &IncomingHook) -> Result<LeadDue, CommandError> {
    let context = &hook.context;
    // What `fp next` would know without asking git.
    let around = RunSurroundings::new(state, &run.plan.settings, context.now(), context.attended());
    let due = lead_due(state, &around);
    if due == LeadDue::Nothing {
        return Ok(due);
    }
    let edited = context.tree(&run.plan)?.edited(state);
    Ok(if edited.is_empty() { due } else { lead_due(state, &RunSurroundings { edited, ..around }) })
}

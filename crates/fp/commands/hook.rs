//! `fp hook`: one JSON object in, at most one out. Whatever goes wrong here, the client goes on as if there
//! were no hook: the exit status is never the one that blocks it.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fp_core::hook::own_command::is_own;
use fp_core::hook::{Reply, Stopping, agent_stops};
use fp_core::plan::id::AgentName;
use fp_core::run::State;
use fp_host::claude::hook::{HookEvent, MAX_EVENT_BYTES, allow, block};
use fp_host::plan::OpenPlan;
use fp_host::repo::Repo;

use crate::commands::comments;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

/// How long a hook waits for another command that writes to the log.
const PATIENCE: Duration = Duration::from_secs(2);

/// Name of the builder that there is in any run: who a subagent is that nothing names, where it is the only one.
const ONLY_BUILDER: &str = "builder-1";

/// Answer an event of the client, which is read from standard input
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The event, such as teammate-idle; an unknown one is ignored.
    event: String,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    if let Err(error) = answer(&args.event, context) {
        context.printer.note(&complaint(&format!("fp hook {}", args.event), &error.message));
    }
    Ok(Exit::Done)
}

/// What went wrong, on the one line that a hook may say.
pub(crate) fn complaint(who: &str, message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    format!("{who}: {}", lines.join(" "))
}

fn answer(event: &str, context: &Context) -> Result<(), CommandError> {
    match event {
        "teammate-idle" => {
            let event = read()?;
            let name = event.teammate().or(event.agent_type());
            agent_stopped(context, &event, name, true)
        }
        "subagent-stop" => {
            let event = read()?;
            // A teammate's type is its name; TeammateIdle comes right after, and answers for it.
            match event.agent_type() {
                Some("fp:builder") => {
                    let named = event.own_description().filter(|text| AgentName::new(*text).is_ok());
                    agent_stopped(context, &event, named.or(Some(ONLY_BUILDER)), named.is_some())
                }
                Some("fp:verifier") => agent_stopped(context, &event, event.own_description(), true),
                _ => Ok(()),
            }
        }
        "pre-tool-use" => {
            let event = read()?;
            if event.command().is_some_and(|line| is_own(line, event.agent_id().is_some())) {
                context.printer.data(&(allow("a command of this plugin") + "\n"));
            }
            Ok(())
        }
        "post-tool-use" => comments::after_edit(context, &read()?),
        _ => Ok(()),
    }
}

fn read() -> Result<HookEvent, CommandError> {
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_EVENT_BYTES + 1).read_to_end(&mut bytes).map_err(CommandError::failed)?;
    if bytes.len() as u64 > MAX_EVENT_BYTES {
        return Err(CommandError::failed(format!("the event has more than {MAX_EVENT_BYTES} bytes")));
    }
    HookEvent::parse(&bytes).map_err(CommandError::failed)
}

/// The agent `name` stops; where it is not `certain` that it is, only in a run that has no other builder.
fn agent_stopped(
    context: &Context,
    event: &HookEvent,
    name: Option<&str>,
    certain: bool,
) -> Result<(), CommandError> {
    let Some(name) = name.and_then(|name| AgentName::new(name).ok()) else { return Ok(()) };
    let context = match event.cwd().map(PathBuf::from).filter(|cwd| cwd.is_dir()) {
        Some(cwd) => &context.at(cwd),
        None => context,
    };
    let Some((plan, state)) = run_of(context, &name, event.session())? else { return Ok(()) };
    if !certain && state.run.as_ref().is_none_or(|run| run.builders != 1) {
        return Ok(());
    }
    let settings = &plan.settings.nudge;
    let disabled = context.env("NUDGE_DISABLED").is_some_and(|value| value != "0");
    let nudges = if settings.enabled && !disabled { settings.max_retries } else { 0 };
    let may_continue = !event.stop_hook_active();
    let decide = |state: &State| agent_stops(Stopping { state, agent: &name, nudges, may_continue });
    if decide(&state).events.is_empty() {
        return Ok(());
    }
    let mut ledger = plan.store.lock(PATIENCE)?;
    let decision = decide(ledger.state());
    ledger.append(decision.events, context.now())?;
    if let Reply::Continue(reason) = decision.reply {
        context.printer.data(&(block(&reason) + "\n"));
    }
    Ok(())
}

/// The run that `name` is an agent of, with its state: one of this session, else one that knows no session. A log
/// that can't be read is the business of the commands that need it.
fn run_of(
    context: &Context,
    name: &AgentName,
    session: Option<&str>,
) -> Result<Option<(OpenPlan, Arc<State>)>, CommandError> {
    if Repo::find(&context.cwd).git_dir.is_none() {
        return Ok(None);
    }
    let plans = context.plans()?;
    let mut without_session = None;
    // The newest is the likeliest, and each costs a read.
    for id in plans.list()?.into_iter().rev() {
        let Ok(folder) = plans.open(&id) else { continue };
        let plan = OpenPlan::new(context.repo().clone(), context.settings()?.clone(), folder);
        let Ok(state) = plan.load().map(|loaded| loaded.state) else { continue };
        if !state.is_running() || !(state.agents.contains_key(name) || state.held_by(name).is_some()) {
            continue;
        }
        match state.run.as_ref().and_then(|run| run.session.as_deref()) {
            Some(own) if Some(own) == session => return Ok(Some((plan, state))),
            Some(_) => {}
            None => without_session = without_session.or(Some((plan, state))),
        }
    }
    Ok(without_session)
}

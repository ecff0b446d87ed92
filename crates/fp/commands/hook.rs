//! `fp hook`: one JSON object in, at most one out. Whatever goes wrong here, the client goes on as if there
//! were no hook: the exit status is never the one that blocks it.

mod guard;
mod identity;
mod lead;
mod legacy;
mod runs;

use std::io::Read as _;
use std::time::Duration;

use fp_core::hook::identity::{Agent, BUILDER, VERIFIER};
use fp_core::hook::legacy::is_team;
use fp_core::hook::own_command::is_own;
use fp_core::hook::{Reply, Stopping, agent_stops};
use fp_core::plan::id::AgentName;
use fp_core::run::State;
use fp_core::settings::CommentMode;
use fp_host::claude::hook::{HookEvent, MAX_EVENT_BYTES, after_tool, allow, block, deny};

use self::identity::Member;
use self::runs::place;
use crate::commands::comments;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

/// How long a hook waits for another command that writes to the log.
const PATIENCE: Duration = Duration::from_secs(2);

/// Answer an event of the client, which is read from standard input
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The event, such as teammate-idle; an unknown one is ignored.
    event: String,
}

impl Args {
    /// For this event.
    pub(crate) fn new(event: String) -> Self {
        Self { event }
    }
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
            if event.team().is_some_and(is_team) {
                return legacy::teammate_goes_idle(&event, context);
            }
            let name = event.teammate().or(event.agent_type());
            let name = name.and_then(|name| AgentName::new(name).ok());
            agent_stopped(context, &event, name.map(Agent::Named))
        }
        "subagent-stop" => {
            let event = read()?;
            // A teammate's type is its name; TeammateIdle comes right after, and answers for it.
            let kind = event.agent_type().filter(|kind| [BUILDER, VERIFIER].contains(kind));
            let agent = kind.and_then(|kind| Agent::new(kind, event.agent_id(), event.own_description()));
            agent_stopped(context, &event, agent)
        }
        "pre-tool-use" => {
            let event = read()?;
            if event.command().is_some_and(|line| is_own(line, event.agent_id().is_some())) {
                context.printer.data(&(allow("a command of this plugin") + "\n"));
                return identity::learn_from_claim(context, &event);
            }
            if let Some(reason) = guard::refuses(context, &event)? {
                context.printer.data(&(deny(&reason) + "\n"));
            }
            Ok(())
        }
        "post-tool-use" => {
            let event = read()?;
            identity::learn_from_start(context, &event)?;
            after_edit(context, &event)
        }
        "session-start" => lead::session_starts(&read()?, context),
        "pre-compact" => lead::is_compacted(&read()?, context),
        "stop" => lead::stops(&read()?, context),
        _ => Ok(()),
    }
}

/// What the model is told of an edit that was made, in one reply: that it is not its task's, and which comments it added.
fn after_edit(context: &Context, event: &HookEvent) -> Result<(), CommandError> {
    let not_its_own = guard::after_edit(context, event)?;
    let asked = comments::after_edit(&place(context, event), event)?;
    let mode = asked.as_ref().map_or(CommentMode::Warn, |(mode, _)| *mode);
    let told: Vec<String> = not_its_own.into_iter().chain(asked.map(|(_, text)| text)).collect();
    if !told.is_empty() {
        let text = told.join("\n\n");
        let reply = if mode == CommentMode::Block { block(&text) } else { after_tool(&text) };
        context.printer.data(&(reply + "\n"));
    }
    Ok(())
}

fn read() -> Result<HookEvent, CommandError> {
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_EVENT_BYTES + 1).read_to_end(&mut bytes).map_err(CommandError::failed)?;
    if bytes.len() as u64 > MAX_EVENT_BYTES {
        return Err(CommandError::failed(format!("the event has more than {MAX_EVENT_BYTES} bytes")));
    }
    HookEvent::parse(&bytes).map_err(CommandError::failed)
}

/// `agent` stops, if it is one of a run.
fn agent_stopped(context: &Context, event: &HookEvent, agent: Option<Agent<'_>>) -> Result<(), CommandError> {
    let Some(agent) = agent else { return Ok(()) };
    let context = &place(context, event);
    let Some(member) = identity::find(context, &agent, event.session())? else { return Ok(()) };
    let Member { plan, state, name } = member;
    let nudges = plan.settings.nudge.times();
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

//! `fp hook`: reads one JSON object and prints at most one. An error must never block the client, so it
//! continues as if there were no hook: the exit status is always 0.

mod own_calls;
mod user;

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fp_host::claude::hook::{HookEvent, HookReply, MAX_EVENT_BYTES};
use fp_host::claude::transcript::{RecordedUse, recorded_use};
use fp_host::error::HostErrorKind;
use fp_host::plan::OpenPlan;
use fp_host::repo::Repo;
use fp_host::run::place::Site;
use fp_plan::plan::id::{AgentName, PlanId};
use fp_plan::settings::{CommentMode, GuardMode};
use fp_run::hook::guard::{EditPlace, GuardedEdit, edit_seen};
use fp_run::hook::own_command::{Caller, LineJudgement, judge_line};
use fp_run::hook::recovery::{self, LedRun, RunLeader};
use fp_run::hook::{
    BUILDER, HookAgent, LeadDue, StopDecision, VERIFIER, agent_known, agent_stops, lead_due,
    lead_stops, message_reached,
};
use fp_run::run::State;
use fp_run::run::crew::session_spent;
use fp_run::run::event::Event;
use fp_run::run::next::RunSurroundings;

use self::own_calls::{line_in_project, own_calls_are_about_to_run};
use self::user::{user_has_answered, user_has_typed};
use crate::commands::comments;
use crate::commands::new::PLAN_SKILL;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

/// Time that a hook waits for another command that writes to the log.
const PATIENCE: Duration = Duration::from_secs(2);

/// Answer a hook event of the client, read from standard input
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// The event, such as teammate-idle; unknown ones are ignored.
    pub(crate) event: String,
}

pub(crate) fn run(args: HookArgs, context: &Context) -> CommandResult {
    if let Err(error) = answer(&args.event, context) {
        context.printer.note(&complaint(
            &format!("fp hook {}", args.event),
            &error.message,
        ));
    }
    Ok(Exit::Done)
}

/// An error on one line; a hook must not print more.
pub(crate) fn complaint(who: &str, message: &str) -> String {
    let lines: Vec<&str> = message
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    format!("{who}: {}", lines.join(" "))
}

fn answer(event: &str, context: &Context) -> Result<(), CommandError> {
    let answer = match event {
        "teammate-idle" => teammate_stops,
        "subagent-stop" => subagent_stops,
        "pre-tool-use" => tool_is_about_to_run,
        "post-tool-use" => tool_has_run,
        "user-prompt-submit" => user_has_typed,
        "session-start" => session_starts,
        "pre-compact" => conversation_is_compacted,
        "stop" => session_stops,
        // A newer client may have more events.
        _ => return Ok(()),
    };
    answer(&IncomingHook::read(context)?)
}

/// An event of the client, with the context of its folder.
pub(crate) struct IncomingHook {
    pub(crate) event: HookEvent,
    pub(crate) context: Context,
}

/// An unfinished run, as read from the log.
struct OngoingRun {
    plan: OpenPlan,
    state: Arc<State>,
}

/// An agent of an unfinished run.
struct RunMember {
    run: OngoingRun,
    name: AgentName,
}

impl IncomingHook {
    fn read(context: &Context) -> Result<Self, CommandError> {
        let mut bytes = Vec::new();
        std::io::stdin()
            .take(MAX_EVENT_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(CommandError::failed)?;
        if bytes.len() as u64 > MAX_EVENT_BYTES {
            return Err(CommandError::failed(format!(
                "the event has more than {MAX_EVENT_BYTES} bytes"
            )));
        }
        let event = HookEvent::parse(&bytes).map_err(CommandError::failed)?;
        let cwd = event
            .cwd
            .as_deref()
            .map(PathBuf::from)
            .filter(|cwd| cwd.is_absolute() && cwd.is_dir());
        let context = context.at(cwd.unwrap_or_else(|| context.cwd.clone()));
        // An agent may edit a repository from outside of it.
        let edited = event
            .edited_path()
            .map(Path::new)
            .filter(|path| path.is_absolute());
        let edited = edited.filter(|_| context.repo().git_dir.is_none());
        let folder =
            edited.and_then(|path| path.ancestors().skip(1).find(|folder| folder.is_dir()));
        let context = match folder {
            Some(folder) => context.at(folder.to_owned()),
            None => context,
        };
        Ok(Self { event, context })
    }

    fn reply(&self, reply: HookReply<'_>) {
        self.context.printer.data(&format!("{}\n", reply.json()));
    }

    /// The repository's unfinished runs, newest first, each read on demand. Skips unreadable logs, which the commands
    /// that need one report, and runs that came with the repository and aren't this user's.
    fn runs(&self) -> Result<impl Iterator<Item = OngoingRun>, CommandError> {
        let context = &self.context;
        // Outside of a repository, or without the user's word for a plan in it, it doesn't even read the settings.
        let own = match Repo::find(&context.cwd).git_dir {
            Some(_) => context.own_ids(),
            None => BTreeSet::new(),
        };
        let found = match own.is_empty() {
            true => None,
            false => Some((context.plans()?, context.settings()?)),
        };
        let ids = found
            .as_ref()
            .map_or_else(|| Ok(Vec::new()), |(plans, _)| plans.list())?;
        let ids: Vec<PlanId> = ids.into_iter().filter(|id| own.contains(id)).collect();
        let mut said = false;
        Ok(ids.into_iter().rev().filter_map(move |id| {
            let (plans, settings) = found.as_ref()?;
            let plan = OpenPlan::new(
                context.repo().clone(),
                (*settings).clone(),
                plans.open(&id).ok()?,
            );
            let state = match plan.load() {
                Ok(loaded) => loaded.state,
                Err(error) => {
                    let is_large = error.kind == HostErrorKind::TooLarge;
                    if is_large && !std::mem::replace(&mut said, true) {
                        context
                            .printer
                            .note(&format!("note: plan {id} is left out: {error}"));
                    }
                    return None;
                }
            };
            let is_ours =
                state.is_running() && context.trust().ok()?.knows_approval(&state).ok()?;
            is_ours.then_some(OngoingRun { plan, state })
        }))
    }

    /// `agent` with its run: one of this session, else one that records no session.
    fn member(&self, agent: &HookAgent<'_>) -> Result<Option<RunMember>, CommandError> {
        let mut likeliest: Option<((bool, bool), RunMember)> = None;
        // The newest is the likeliest, and each costs a read.
        for run in self.runs()? {
            let Some(name) = agent.name_in(&run.state) else {
                continue;
            };
            let of_session = self.is_of_session(&run.state);
            let rank = (
                of_session == Some(true),
                agent.known_in(&run.state).is_some(),
            );
            if of_session != Some(false) && likeliest.as_ref().is_none_or(|(best, _)| rank > *best)
            {
                likeliest = Some((rank, RunMember { run, name }));
            }
            if rank == (true, true) {
                break;
            }
        }
        Ok(likeliest.map(|(_, member)| member))
    }

    /// True if the run belongs to this session; `None` if it records no session.
    fn is_of_session(&self, state: &State) -> Option<bool> {
        let own = state.run.as_ref()?.terms.session.as_deref()?;
        let session = self.event.session.as_deref();
        Some(Some(own) == session || session.is_some_and(|id| state.agent_ids.contains_key(id)))
    }
}

impl OngoingRun {
    /// Appends the events that `decide` returns, if it also returns some for the newest state; what the agent is told.
    fn log(
        &self,
        hook: &IncomingHook,
        decide: impl Fn(&State) -> Result<StopDecision, CommandError>,
    ) -> Result<Option<String>, CommandError> {
        if decide(&self.state)?.events.is_empty() {
            return Ok(None);
        }
        let mut ledger = self.plan.store.lock(PATIENCE)?;
        let decision = decide(ledger.state())?;
        ledger.append(decision.events, hook.context.now())?;
        Ok(decision.told)
    }

    /// The same for an event that the agent isn't told of.
    fn note(
        &self,
        hook: &IncomingHook,
        decide: impl Fn(&State) -> Option<Event>,
    ) -> Result<(), CommandError> {
        let decide = |state: &State| Ok(StopDecision::silent(decide(state).into_iter().collect()));
        self.log(hook, decide).map(drop)
    }
}

fn teammate_stops(hook: &IncomingHook) -> Result<(), CommandError> {
    let name = hook
        .event
        .teammate
        .as_ref()
        .or(hook.event.agent_type.as_ref());
    let name = name.and_then(|name| AgentName::new(name).ok());
    name.map_or(Ok(()), |name| agent_stopped(hook, &HookAgent::Named(name)))
}

fn subagent_stops(hook: &IncomingHook) -> Result<(), CommandError> {
    let event = &hook.event;
    record_cost(hook)?;
    // A teammate's type is its name; TeammateIdle comes right after and handles it.
    let kind = event
        .agent_type
        .as_deref()
        .filter(|kind| [BUILDER, VERIFIER].contains(kind));
    let agent = kind
        .and_then(|kind| HookAgent::new(kind, event.agent_id.as_deref(), event.own_description()));
    agent.map_or(Ok(()), |agent| agent_stopped(hook, &agent))
}

/// Records what the agent that stops has used, as far as the client's record says it.
fn record_cost(hook: &IncomingHook) -> Result<(), CommandError> {
    let event = &hook.event;
    let Some((kind, id)) = event.agent_type.as_deref().zip(event.agent_id.as_deref()) else {
        return Ok(());
    };
    let Some(record) = event.agent_transcript() else {
        return Ok(());
    };
    let Some(agent) = HookAgent::new(kind, Some(id), event.own_description()) else {
        return Ok(());
    };
    let Some(RunMember { run, name }) = hook.member(&agent)? else {
        return Ok(());
    };
    let RecordedUse {
        turns,
        tokens,
        model,
    } = recorded_use(record);
    let spent = |state: &State| session_spent(state, &name, id, turns, tokens, model.clone());
    run.log(hook, |state| Ok(StopDecision::silent(spent(state))))
        .map(drop)
}

fn agent_stopped(hook: &IncomingHook, agent: &HookAgent<'_>) -> Result<(), CommandError> {
    let Some(RunMember { run, name }) = hook.member(agent)? else {
        return Ok(());
    };
    let nudges = run.plan.settings.nudge.max_retries;
    let may_continue = !hook.event.stop_hook_active();
    if let Some(reason) = run.log(hook, |state| {
        let said = hook.event.last_words();
        Ok(agent_stops(state, &name, said, nudges, may_continue))
    })? {
        hook.reply(HookReply::Block(&reason));
    }
    Ok(())
}

fn tool_is_about_to_run(hook: &IncomingHook) -> Result<(), CommandError> {
    let event = &hook.event;
    if event
        .scheduled_prompt()
        .is_some_and(|prompt| prompt.contains(PLAN_SKILL))
    {
        hook.reply(HookReply::Deny(&format!(
            "{PLAN_SKILL} is for the user to type, and can't be scheduled"
        )));
        return Ok(());
    }
    let caller = Caller::of(event.agent_type.as_deref(), event.agent_id.as_deref());
    match event
        .command()
        .map(|line| judge_line(line_in_project(hook, line), caller))
    {
        Some(LineJudgement::Own(calls)) => return own_calls_are_about_to_run(hook, caller, &calls),
        Some(LineJudgement::NotYours(reason)) => hook.reply(HookReply::Deny(&reason)),
        Some(LineJudgement::Unknown) | None => {}
    }
    let objection = match BuilderEdit::of(hook)? {
        Some(edit) if edit.mode() == GuardMode::Deny => edit.objection(),
        Some(_) => None,
        None if caller == Caller::Builder => edit_without_task(hook)?,
        None => None,
    };
    if let Some(reason) = objection {
        hook.reply(HookReply::Deny(&reason));
    }
    Ok(())
}

/// The objection to an edit in the repository by a builder that holds no task of a run of this session.
fn edit_without_task(hook: &IncomingHook) -> Result<Option<String>, CommandError> {
    let Some(path) = hook.event.edited_path() else {
        return Ok(None);
    };
    let (repo, path) = (hook.context.repo(), hook.context.cwd.join(path));
    let is_inside = path.starts_with(&repo.root) || repo.relative(&path).is_some();
    if !is_inside {
        return Ok(None);
    }
    let agent = HookAgent::new(
        hook.event.agent_type.as_deref().unwrap_or_default(),
        hook.event.agent_id.as_deref(),
        None,
    );
    let name = |run: &OngoingRun| agent.as_ref().and_then(|agent| agent.name_in(&run.state));
    let mut guarding = hook.runs()?.filter(|run| {
        hook.is_of_session(&run.state) != Some(false)
            && run.plan.settings.guard.mode == GuardMode::Deny
    });
    let holds = |run: &OngoingRun| name(run).is_some_and(|name| run.state.held_by(&name).is_some());
    let Some(run) = guarding.next() else {
        return Ok(None);
    };
    if holds(&run) || guarding.any(|run| holds(&run)) {
        return Ok(None);
    }
    let plan = &run.state.plan_id;
    Ok(Some(format!(
        "you hold no task of {plan}, so there is nothing for you to change: run the fp claim line of your prompt first"
    )))
}

/// Records agents and edits. A single reply tells the model if an edit lies outside its task, and which
/// comments it added.
fn tool_has_run(hook: &IncomingHook) -> Result<(), CommandError> {
    user_has_answered(hook)?;
    learn_from_start(hook)?;
    learn_from_message(hook)?;
    let not_its_own = after_edit(hook)?;
    let asked = comments::after_edit(hook)?;
    let mode = asked.as_ref().map_or(CommentMode::Warn, |(mode, _)| *mode);
    let told: Vec<String> = not_its_own
        .into_iter()
        .chain(asked.map(|(_, text)| text))
        .collect();
    if !told.is_empty() {
        let text = told.join("\n\n");
        hook.reply(match mode {
            CommentMode::Block => HookReply::Block(&text),
            CommentMode::Warn => HookReply::AfterTool(&text),
        });
    }
    Ok(())
}

/// Records an agent that the lead has just started.
fn learn_from_start(hook: &IncomingHook) -> Result<(), CommandError> {
    let Some((BUILDER | VERIFIER, name, id)) = hook.event.started_agent() else {
        return Ok(());
    };
    let Ok(name) = AgentName::new(name) else {
        return Ok(());
    };
    match hook.member(&HookAgent::Named(name))? {
        Some(RunMember { run, name }) => run.note(hook, |state| agent_known(state, &name, id)),
        None => Ok(()),
    }
}

/// Records that the lead's message reached a builder.
fn learn_from_message(hook: &IncomingHook) -> Result<(), CommandError> {
    let name = hook
        .event
        .messaged_agent()
        .filter(|_| hook.event.agent_id.is_none());
    let Some(Ok(name)) = name.map(AgentName::new) else {
        return Ok(());
    };
    match hook.member(&HookAgent::Named(name))? {
        Some(RunMember { run, name }) => run.note(hook, |state| message_reached(state, &name)),
        None => Ok(()),
    }
}

/// An edit by a builder that holds a task.
struct BuilderEdit<'h> {
    member: RunMember,
    hook: &'h IncomingHook,
    path: &'h str,
}

impl<'h> BuilderEdit<'h> {
    /// The edit, if a builder with a task makes it. Reads nothing for the main session.
    fn of(hook: &'h IncomingHook) -> Result<Option<Self>, CommandError> {
        let event = &hook.event;
        let Some((path, kind)) = event.edited_path().zip(event.agent_type.as_deref()) else {
            return Ok(None);
        };
        let Some(agent) = HookAgent::new(kind, event.agent_id.as_deref(), None) else {
            return Ok(None);
        };
        let Some(member) = hook.member(&agent)? else {
            return Ok(None);
        };
        let holds = member.run.state.held_by(&member.name).is_some();
        Ok(holds.then_some(Self { member, hook, path }))
    }

    /// The edit in the guard's terms, and the task's site; `None` if it names no file.
    fn guarded(&self) -> Option<(GuardedEdit<'_>, Site<'_>)> {
        let OngoingRun { plan, state } = &self.member.run;
        let task = state.held_by(&self.member.name)?;
        let site = Site::new(plan, state, task);
        let place = site.place(&self.hook.context.cwd, self.path)?;
        let extension = (plan.settings.guard.extend, plan.settings.plans_dir.as_str());
        Some((
            GuardedEdit {
                state,
                task,
                place,
                extension,
            },
            site,
        ))
    }

    fn mode(&self) -> GuardMode {
        self.member.run.plan.settings.guard.mode
    }

    fn objection(&self) -> Option<String> {
        let (edit, site) = self.guarded()?;
        edit.objection(|path| site.is_new(path))
    }
}

/// Records who made the edit; returns the message to the builder about it, if any.
fn after_edit(hook: &IncomingHook) -> Result<Option<String>, CommandError> {
    let Some(edit) = BuilderEdit::of(hook)? else {
        return Ok(None);
    };
    if let Some((
        GuardedEdit {
            task,
            place: EditPlace::Work(path),
            ..
        },
        _,
    )) = edit.guarded()
    {
        let id = &task.leaf.id;
        edit.member
            .run
            .note(hook, |state| edit_seen(state, state.task(id)?, &path))?;
    }
    Ok(match edit.mode() {
        GuardMode::Warn => edit.objection(),
        GuardMode::Deny | GuardMode::Off => None,
    })
}

/// Tells a starting session about unfinished runs.
fn session_starts(hook: &IncomingHook) -> Result<(), CommandError> {
    let tell = |runs: &[LedRun<'_>]| Some((recovery::context(runs)?, recovery::for_user(runs)));
    if let Some((model, user)) = tell_of_runs(hook, tell)? {
        hook.reply(HookReply::SessionContext {
            model: &model,
            user: user.as_deref(),
        });
    }
    Ok(())
}

/// Keeps the information on who leads the run in a summary of the conversation.
fn conversation_is_compacted(hook: &IncomingHook) -> Result<(), CommandError> {
    if let Some(said) = tell_of_runs(hook, recovery::to_keep)? {
        hook.reply(HookReply::KeepInSummary(&said));
    }
    Ok(())
}

fn tell_of_runs<T>(
    hook: &IncomingHook,
    tell: impl Fn(&[LedRun<'_>]) -> Option<T>,
) -> Result<Option<T>, CommandError> {
    if hook.event.agent_id.is_some() {
        return Ok(None);
    }
    let runs: Vec<OngoingRun> = hook.runs()?.collect();
    let goals: Vec<String> = runs.iter().map(|run| run.plan.goal()).collect();
    let led = runs.iter().zip(&goals);
    let led = led.map(|(run, goal)| LedRun {
        state: &run.state,
        goal,
        leader: leader_of(run, hook),
    });
    Ok(tell(&led.collect::<Vec<_>>()))
}

fn leader_of(run: &OngoingRun, hook: &IncomingHook) -> RunLeader {
    let (session, process) = (hook.event.session.as_deref(), hook.context.client());
    if !run.is_led_by(session, None) {
        return RunLeader::Another;
    }
    let known = run.state.terms().client;
    let is_same = if process.is_some() && known.is_some() {
        run.is_led_by(session, process)
    } else {
        // Compacting or clearing a conversation keeps the process.
        matches!(
            hook.event.source.as_deref(),
            None | Some("compact" | "clear")
        )
    };
    if is_same {
        RunLeader::This
    } else {
        RunLeader::ThisBefore
    }
}

/// Keeps a session going that ends its turn while its run has work due.
fn session_stops(hook: &IncomingHook) -> Result<(), CommandError> {
    // A process that plays an agent is a session of its own.
    if hook.event.agent_id.is_some() {
        return subagent_stops(hook);
    }
    let (session, process) = (hook.event.session.as_deref(), hook.context.client());
    // A session that resumes in another process has no agents any more; the user decides whether it goes on.
    for run in hook.runs()?.filter(|run| run.is_led_by(session, process)) {
        if let Some(reason) = reason_to_go_on(&run, hook)? {
            hook.reply(HookReply::Block(&reason));
            break;
        }
    }
    Ok(())
}

impl OngoingRun {
    /// True if `session` leads it, in the client's process `client` if that is known.
    fn is_led_by(&self, session: Option<&str>, client: Option<u32>) -> bool {
        self.state
            .run
            .as_ref()
            .is_some_and(|run| run.is_led_by(session, client))
    }
}

/// The reason why the lead of `run` has to go on, if any. It is logged before the lead sees it.
fn reason_to_go_on(run: &OngoingRun, hook: &IncomingHook) -> Result<Option<String>, CommandError> {
    let nudges = run.plan.settings.nudge.max_retries;
    let may_continue = !hook.event.stop_hook_active();
    run.log(hook, |state| {
        let decide = |due| lead_stops(state, due, nudges, may_continue);
        // Most leads may stop, whatever is due.
        match decide(LeadDue::Work).told {
            Some(_) => Ok(decide(due_now(run, state, hook)?)),
            None => Ok(StopDecision::default()),
        }
    })
}

/// The work that is due in `state`. Reads the tree only if something seems due: edits of it can only reduce
/// that.
fn due_now(run: &OngoingRun, state: &State, hook: &IncomingHook) -> Result<LeadDue, CommandError> {
    let context = &hook.context;
    // `fp next` would know the same without asking git.
    let around = RunSurroundings::new(state, &run.plan.settings, context.now(), context.attended());
    let due = lead_due(state, &around);
    if due == LeadDue::Nothing {
        return Ok(due);
    }
    let edited = context.tree(&run.plan)?.edited(state);
    Ok(if edited.is_empty() {
        due
    } else {
        lead_due(state, &RunSurroundings { edited, ..around })
    })
}

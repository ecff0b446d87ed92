//! `fp hook`: reads one JSON object and prints at most one. An error must never block the client, which should continue
//! as if there were no hook, so the exit status is always 0.

mod comments;
mod own_calls;
mod user;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fp_host::claude::hook::{HookEvent, HookReply, MAX_EVENT_BYTES};
use fp_host::claude::transcript::recorded_use;
use fp_host::error::{HostErrorKind, HostResult};
use fp_host::plan::OpenPlan;
use fp_host::plan_folder::PlanFolder;
use fp_host::run::place::Site;
use fp_plan::plan::id::AgentName;
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
use fp_run::run::state::TaskState;

use self::own_calls::{line_in_project, own_calls_are_about_to_run};
use self::user::{user_has_answered, user_has_typed};
use crate::commands::new::PLAN_SKILL;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::input::read_standard_input;

/// Time to wait for another command that writes to the log.
const PATIENCE: Duration = Duration::from_secs(2);

/// Answer a hook event of the client, read from standard input
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// The event, such as teammate-idle; unknown ones are ignored.
    pub(crate) event: String,
}

pub(crate) fn run_hook(args: HookArgs, context: &Context) -> CommandResult {
    if let Err(error) = answer_event(&args.event, context) {
        let who = format!("fp hook {}", args.event);
        context.printer.print_note(&complaint(&who, &error.message));
    }
    Ok(Exit::Done)
}

/// An error on one line; a hook must not print more.
pub(crate) fn complaint(who: &str, message: &str) -> String {
    let lines = message.lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    format!("{who}: {}", lines.join(" "))
}

fn answer_event(event: &str, context: &Context) -> Result<(), CommandError> {
    let answer = match event {
        "teammate-idle" => teammate_stops,
        "subagent-stop" => subagent_stops,
        "pre-tool-use" => tool_is_about_to_run,
        "post-tool-use" => tool_has_run,
        "user-prompt-submit" => user_has_typed,
        "session-start" => session_starts,
        "pre-compact" => conversation_is_compacted,
        "stop" => session_stops,
        // A newer client may send events that are unknown here.
        _ => return Ok(()),
    };
    answer(&IncomingHook::read_event(context)?)
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

impl RunMember {
    fn task(&self) -> Option<&TaskState> {
        task_of(&self.run.state, &self.name)
    }
}

/// The task that `agent` is building, or has submitted last and awaits the verdict.
fn task_of<'s>(state: &'s State, agent: &AgentName) -> Option<&'s TaskState> {
    let is_its_own = |task: &&TaskState| task.owner() == Some(agent);
    state.last_of(agent).filter(is_its_own)
}

impl IncomingHook {
    fn read_event(context: &Context) -> Result<Self, CommandError> {
        let text = read_standard_input(MAX_EVENT_BYTES).map_err(|error| {
            CommandError::failed(format!("the event can't be read: {}", error.message))
        })?;
        let event = HookEvent::parse(text.as_bytes()).map_err(CommandError::failed)?;
        let cwd = event.cwd.as_deref().map(PathBuf::from);
        let cwd = cwd.filter(|cwd| cwd.is_absolute() && cwd.is_dir());
        let mut context = context.in_directory(cwd.unwrap_or_else(|| context.cwd.clone()));
        // An agent that works outside the repository may edit files in it.
        let edited = event.edited_path().map(Path::new);
        let edited = edited.filter(|path| path.is_absolute() && context.repo().git_dir.is_none());
        let mut folders = edited.iter().flat_map(|path| path.ancestors().skip(1));
        if let Some(folder) = folders.find(|folder| folder.is_dir()) {
            context = context.in_directory(folder.to_owned());
        }
        Ok(Self { event, context })
    }

    fn reply(&self, reply: HookReply<'_>) {
        self.context.printer.data(&format!("{}\n", reply.json()));
    }

    /// The repository's unfinished runs, newest first, each read on demand. Skips unreadable logs, which other commands
    /// report, and runs that came with the repository and aren't this user's.
    fn runs(&self) -> Result<impl Iterator<Item = OngoingRun>, CommandError> {
        let context = &self.context;
        let mut ids = Vec::new();
        // Outside a repository, or if the user hasn't agreed to any plan in it, not even the settings are read.
        let has_git = context.repo().git_dir.is_some();
        let own = if has_git {
            context.own_ids()
        } else {
            BTreeSet::new()
        };
        if !own.is_empty() {
            ids = context.plans()?.list()?;
            ids.retain(|id| own.contains(id));
        }
        let mut is_told = false;
        Ok(ids.into_iter().rev().filter_map(move |id| {
            let run = match self.run_in(context.plans().ok()?.open(&id).ok()?)? {
                Ok(run) => run,
                Err(error) => {
                    if error.kind == HostErrorKind::TooLarge && !is_told {
                        is_told = true;
                        context.note(format_args!("plan {id} is left out: {error}"));
                    }
                    return None;
                }
            };
            let knows_approval = || context.trust().ok()?.knows_approval(&run.state).ok();
            let is_ours = run.state.is_running() && knows_approval()?;
            is_ours.then_some(run)
        }))
    }

    /// The run of the plan in `folder`; `None` if the settings can't be read.
    fn run_in(&self, folder: PlanFolder) -> Option<HostResult<OngoingRun>> {
        let settings = self.context.settings().ok()?.clone();
        let plan = OpenPlan::new(self.context.repo().clone(), settings, folder);
        let state = plan.load().map(|loaded| loaded.state);
        Some(state.map(|state| OngoingRun { plan, state }))
    }

    /// Finds the run of `agent`: preferably one of this session, else one that records no session.
    fn member(&self, agent: &HookAgent<'_>) -> Result<Option<RunMember>, CommandError> {
        let mut likeliest: Option<((bool, bool), RunMember)> = None;
        // The newest run is the likeliest, and each run costs a read.
        for run in self.runs()? {
            let Some(name) = agent.name_in(&run.state) else {
                continue;
            };
            let of_session = self.is_of_session(&run.state);
            let is_known = agent.known_in(&run.state).is_some();
            let rank = (of_session == Some(true), is_known);
            let is_likelier = likeliest.as_ref().is_none_or(|(best, _)| rank > *best);
            if of_session != Some(false) && is_likelier {
                likeliest = Some((rank, RunMember { run, name }));
            }
            if rank == (true, true) {
                break;
            }
        }
        Ok(likeliest.map(|(_, member)| member))
    }

    /// Calls `act` with the run that `agent` belongs to, if any.
    fn with_member<T: Default>(
        &self,
        agent: Option<HookAgent<'_>>,
        act: impl FnOnce(RunMember) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let member = agent.map(|agent| self.member(&agent)).transpose()?;
        member.flatten().map_or_else(|| Ok(T::default()), act)
    }

    /// The agent of this event, if it can belong to a run.
    fn agent(&self, description: Option<&str>) -> Option<HookAgent<'_>> {
        let kind = self.event.agent_type.as_deref()?;
        HookAgent::new(kind, self.event.agent_id.as_deref(), description)
    }

    /// True if the run belongs to this session; `None` if it records no session.
    fn is_of_session(&self, state: &State) -> Option<bool> {
        let own = state.run.as_ref()?.terms.session.as_deref()?;
        let session = self.event.session.as_deref();
        Some(Some(own) == session || session.is_some_and(|id| state.agent_ids.contains_key(id)))
    }
}

fn agent_named(name: &str) -> Option<HookAgent<'_>> {
    AgentName::new(name).ok().map(HookAgent::Named)
}

impl OngoingRun {
    /// If `decide` returns events, decides again on the newest state and appends the events. Returns the message for
    /// the agent.
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

    /// Like [`Self::log`], without a message for the agent.
    fn record_silently(
        &self,
        hook: &IncomingHook,
        decide: impl Fn(&State) -> Vec<Event>,
    ) -> Result<(), CommandError> {
        let decide = |state: &State| Ok(StopDecision::without_reply(decide(state)));
        self.log(hook, decide).map(drop)
    }

    /// True if `session` leads the run; if `client` is known, it must be the same client process.
    fn is_led_by(&self, session: Option<&str>, client: Option<u32>) -> bool {
        let run = self.state.run.as_ref();
        run.is_some_and(|run| run.is_led_by(session, client))
    }
}

fn teammate_stops(hook: &IncomingHook) -> Result<(), CommandError> {
    let event = &hook.event;
    let name = event.teammate.as_ref().or(event.agent_type.as_ref());
    agent_stopped(hook, name.and_then(|name| agent_named(name)))
}

fn subagent_stops(hook: &IncomingHook) -> Result<(), CommandError> {
    record_cost(hook)?;
    // A teammate's type is its name; TeammateIdle comes right after and handles it.
    let is_background = |agent: &HookAgent<'_>| matches!(agent, HookAgent::Background { .. });
    let agent = hook.agent(hook.event.own_description());
    agent_stopped(hook, agent.filter(is_background))
}

/// Records the token use of the agent that is stopping, if the client recorded any.
fn record_cost(hook: &IncomingHook) -> Result<(), CommandError> {
    let event = &hook.event;
    let (Some(id), Some(record)) = (event.agent_id.as_deref(), event.agent_transcript()) else {
        return Ok(());
    };
    hook.with_member(hook.agent(event.own_description()), |member| {
        let (spent, name) = (recorded_use(record), &member.name);
        member.run.record_silently(hook, |state| {
            session_spent(
                state,
                name,
                id,
                spent.turns,
                spent.tokens,
                spent.model.clone(),
            )
        })
    })
}

fn agent_stopped(hook: &IncomingHook, agent: Option<HookAgent<'_>>) -> Result<(), CommandError> {
    hook.with_member(agent, |RunMember { run, name }| {
        let nudges = run.plan.settings.nudge.max_retries;
        let may_continue = !hook.event.stop_hook_active();
        let said = hook.event.last_words();
        let told = run.log(hook, |state| {
            Ok(agent_stops(state, &name, said, nudges, may_continue))
        })?;
        if let Some(reason) = told {
            hook.reply(HookReply::Block(&reason));
        }
        Ok(())
    })
}

fn tool_is_about_to_run(hook: &IncomingHook) -> Result<(), CommandError> {
    let event = &hook.event;
    let scheduled = event.scheduled_prompt();
    if scheduled.is_some_and(|prompt| prompt.contains(PLAN_SKILL)) {
        let reason = format!("{PLAN_SKILL} is for the user to type, and can't be scheduled");
        hook.reply(HookReply::Deny(&reason));
        return Ok(());
    }
    let caller = Caller::from_agent(event.agent_type.as_deref(), event.agent_id.as_deref());
    let line = event.command().map(|line| line_in_project(hook, line));
    match line.map(|line| judge_line(line, caller)) {
        Some(LineJudgement::Own(calls)) => return own_calls_are_about_to_run(hook, caller, &calls),
        Some(LineJudgement::NotYours(reason)) => hook.reply(HookReply::Deny(&reason)),
        Some(LineJudgement::Unknown) | None => {}
    }
    let objection = match BuilderEdit::from_hook(hook)? {
        Some(edit) if edit.mode() == GuardMode::Deny => edit.objection(),
        None if caller == Caller::Builder => edit_without_task(hook)?,
        Some(_) | None => None,
    };
    if let Some(reason) = objection {
        hook.reply(HookReply::Deny(&reason));
    }
    Ok(())
}

/// The objection if a builder edits the repository but holds no task in any run of this session.
fn edit_without_task(hook: &IncomingHook) -> Result<Option<String>, CommandError> {
    let repo = hook.context.repo();
    let path = hook
        .event
        .edited_path()
        .map(|path| hook.context.cwd.join(path));
    if !path.is_some_and(|path| path.starts_with(&repo.root) || repo.relative(&path).is_some()) {
        return Ok(None);
    }
    let agent = hook.agent(None);
    let holds = |run: &OngoingRun| {
        let name = agent.as_ref().and_then(|agent| agent.name_in(&run.state));
        name.is_some_and(|name| task_of(&run.state, &name).is_some())
    };
    let mut guarding = hook.runs()?.filter(|run| {
        let is_here = hook.is_of_session(&run.state) != Some(false);
        is_here && run.plan.settings.guard.mode == GuardMode::Deny
    });
    let Some(first) = guarding.next() else {
        return Ok(None);
    };
    let plan = first.plan.id();
    let has_task = holds(&first) || guarding.any(|run| holds(&run));
    Ok((!has_task).then(|| format!(
        "you hold no task of {plan}, so there is nothing for you to change: run the fp claim line of your prompt first"
    )))
}

/// Records agents and edits. A single reply tells the model if its edit lies outside its task, and which comments the
/// edit added.
fn tool_has_run(hook: &IncomingHook) -> Result<(), CommandError> {
    user_has_answered(hook)?;
    learn_from_start(hook)?;
    learn_from_message(hook)?;
    let not_its_own = after_edit(hook)?;
    let asked = comments::after_edit(hook)?;
    let mode = asked.as_ref().map_or(CommentMode::Warn, |(mode, _)| *mode);
    let asked = asked.map(|(_, text)| text);
    let told: Vec<String> = not_its_own.into_iter().chain(asked).collect();
    let text = told.join("\n\n");
    match mode {
        _ if told.is_empty() => {}
        CommentMode::Block => hook.reply(HookReply::Block(&text)),
        CommentMode::Warn => hook.reply(HookReply::AfterTool(&text)),
    }
    Ok(())
}

/// Records an agent that the lead has just started.
fn learn_from_start(hook: &IncomingHook) -> Result<(), CommandError> {
    let Some((BUILDER | VERIFIER, name, id)) = hook.event.started_agent() else {
        return Ok(());
    };
    hook.with_member(agent_named(name), |RunMember { run, name }| {
        run.record_silently(hook, |state| Vec::from_iter(agent_known(state, &name, id)))
    })
}

/// Records that the lead's message reached a builder.
fn learn_from_message(hook: &IncomingHook) -> Result<(), CommandError> {
    let name = hook.event.messaged_agent();
    let name = name.filter(|_| hook.event.agent_id.is_none());
    hook.with_member(name.and_then(agent_named), |RunMember { run, name }| {
        run.record_silently(hook, |state| Vec::from_iter(message_reached(state, &name)))
    })
}

/// An edit by a builder that has a task.
struct BuilderEdit<'h> {
    member: RunMember,
    hook: &'h IncomingHook,
    path: &'h str,
}

impl<'h> BuilderEdit<'h> {
    /// The edit in this event, if it is by a builder that has a task. Reads nothing in the main session.
    fn from_hook(hook: &'h IncomingHook) -> Result<Option<Self>, CommandError> {
        let Some(path) = hook.event.edited_path() else {
            return Ok(None);
        };
        hook.with_member(hook.agent(None), |member| {
            let has_task = member.task().is_some();
            Ok(has_task.then_some(Self { member, hook, path }))
        })
    }

    /// The edit as the guard sees it, and the task's site; `None` if the path isn't that of a file.
    fn guarded(&self) -> Option<(GuardedEdit<'_>, Site<'_>)> {
        let OngoingRun { plan, state } = &self.member.run;
        let task = self.member.task()?;
        let site = Site::new(plan, state, task);
        let edit = GuardedEdit {
            state,
            task,
            place: site.place(&self.hook.context.cwd, self.path)?,
        };
        Some((edit, site))
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
    let Some(edit) = BuilderEdit::from_hook(hook)? else {
        return Ok(None);
    };
    if let Some((guarded, _)) = edit.guarded()
        && let EditPlace::Work(path) = &guarded.place
    {
        let id = &guarded.task.leaf.id;
        let seen = |state: &State| edit_seen(state, state.task(id)?, path);
        edit.member
            .run
            .record_silently(hook, |state| Vec::from_iter(seen(state)))?;
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
        let (model, user) = (model.as_str(), user.as_deref());
        hook.reply(HookReply::SessionContext { model, user });
    }
    Ok(())
}

/// Makes a conversation's summary say which runs the conversation leads.
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
    let led = runs.iter().map(|run| LedRun {
        state: &run.state,
        leader: leader_of(run, hook),
    });
    Ok(tell(&led.collect::<Vec<_>>()))
}

fn leader_of(run: &OngoingRun, hook: &IncomingHook) -> RunLeader {
    let (session, process) = (hook.event.session.as_deref(), hook.context.client());
    if !run.is_led_by(session, None) {
        return RunLeader::Another;
    }
    let is_same = match process.and(run.state.terms().client) {
        Some(_) => run.is_led_by(session, process),
        // Compacting or clearing a conversation keeps the process.
        None => matches!(
            hook.event.source.as_deref(),
            None | Some("compact" | "clear")
        ),
    };
    match is_same {
        true => RunLeader::This,
        false => RunLeader::ThisBefore,
    }
}

/// Keeps a session from ending its turn while its run has work due.
fn session_stops(hook: &IncomingHook) -> Result<(), CommandError> {
    // A process that plays an agent is a separate session.
    if hook.event.agent_id.is_some() {
        return subagent_stops(hook);
    }
    let (session, process) = (hook.event.session.as_deref(), hook.context.client());
    // A session that resumes in another process has lost its agents; the user decides whether it continues.
    for run in hook.runs()?.filter(|run| run.is_led_by(session, process)) {
        if let Some(reason) = reason_to_go_on(&run, hook)? {
            hook.reply(HookReply::Block(&reason));
            break;
        }
    }
    Ok(())
}

/// The reason why the lead of `run` must continue, if any. The reason is logged before the lead sees it.
fn reason_to_go_on(run: &OngoingRun, hook: &IncomingHook) -> Result<Option<String>, CommandError> {
    let nudges = run.plan.settings.nudge.max_retries;
    let may_continue = !hook.event.stop_hook_active();
    run.log(hook, |state| {
        let decide = |due| lead_stops(state, due, nudges, may_continue);
        // Usually the lead may stop even if work is due.
        match decide(LeadDue::Work).told {
            Some(_) => Ok(decide(due_now(run, state, hook)?)),
            None => Ok(StopDecision::default()),
        }
    })
}

/// The work that is due in `state`. Reads the tree only if something seems due, since edits of the tree can only reduce
/// the due work.
fn due_now(run: &OngoingRun, state: &State, hook: &IncomingHook) -> Result<LeadDue, CommandError> {
    let context = &hook.context;
    // Git isn't asked, because that wouldn't change what `fp next` finds due.
    let mut around =
        RunSurroundings::new(state, &run.plan.settings, context.now(), context.attended());
    let due = lead_due(state, &around);
    if due == LeadDue::Nothing {
        return Ok(due);
    }
    around.edited = context.tree(&run.plan)?.edited(state);
    Ok(lead_due(state, &around))
}

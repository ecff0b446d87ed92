//! The agents of a run as processes: starts them, reads their output, retries them when their service is unavailable,
//! and ends them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use fp_host::agents::{AgentNews, AgentOrder, AgentProgram, LifeSigns, RunningAgent, ServiceFault};
use fp_host::bench::bench_folders;
use fp_host::error::HostResult;
use fp_host::file::acquire;
use fp_host::plan::OpenPlan;
use fp_host::process::CommandEnd;
use fp_host::run::verify::verifier_folder;
use fp_host::run::whole::whole_folder;
use fp_host::run::{fresh_token, worktree};
use fp_plan::plan::Task;
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::settings::AgentPlayer;
use fp_run::run::State;
use fp_run::run::crew::{AgentCost, AgentProcess, TokenUse};
use fp_run::run::event::Event;
use fp_run::run::next::LeadAction;
use fp_run::run::state::{Activity, Role, TaskState};

use crate::assets::plugin_file;
use crate::context::Context;
use crate::error::CommandError;
use crate::features::install::write_plugin;

/// Time that a process gets to end on its own.
const GRACE: Duration = Duration::from_secs(5);
/// Time to wait for output after a process has ended, since another one may hold the pipe.
const DRAIN: Duration = Duration::from_secs(2);
/// Interval between checks of a process that is about to end.
const SOON: Duration = Duration::from_millis(10);
/// The first and the longest pause before retrying an unavailable service.
const PAUSES: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(300));
/// Maximum time for which a program may retry its service on its own.
const MAX_WAIT: Duration = Duration::from_secs(300);
/// Consecutive failed tries after which the network counts as down; also the number of tries after an unknown fault.
const TRIES: u32 = 3;
/// Time within which a failure counts as immediate.
const AT_ONCE: Duration = Duration::from_secs(10);
/// Silence after which a verifier is replaced. Its program says nothing during a call, which takes ten minutes at most.
const LONGEST_CALL: Duration = Duration::from_secs(900);
/// Number of checks for signs of life within the time after which an agent counts as silent.
const LOOKS: u32 = 4;
/// Capacity of the news queue; a process that produces more has to wait.
const QUEUE: usize = 1024;

/// An agent to start, and its work.
#[derive(Debug, Clone)]
pub(super) struct AgentTask {
    name: AgentName,
    role: Role,
    player: AgentPlayer,
    prompt: String,
    cwd: PathBuf,
    /// The task, if known, and its iteration.
    task: Option<(TaskId, u32)>,
    session: Option<String>,
    /// Consecutive tries that found the service unavailable.
    away: u32,
}

impl AgentTask {
    /// The task in `action`, if it starts or wakes an agent.
    ///
    /// # Errors
    /// The folder of a verifier can't be prepared.
    pub(super) fn of(
        action: LeadAction,
        state: &State,
        plan: &OpenPlan,
    ) -> HostResult<Option<Self>> {
        let checkout = || plan.repo.worktree.clone();
        let agent = match action {
            LeadAction::Spawn {
                name,
                prompt,
                player,
                ..
            }
            | LeadAction::Resume {
                name,
                message: prompt,
                player,
                ..
            } => {
                let held = state.held_by(&name);
                let has_place = state.terms().checkout.is_some();
                let cwd = if has_place {
                    worktree::path(plan, &name)
                } else {
                    checkout()
                };
                let known = state
                    .processes
                    .get(&name)
                    .filter(|process| process.program == player.program);
                // A builder starts each task with a new conversation: the old context would only cost tokens.
                let back = state.sent_back_to(&name).map(|task| &task.leaf.id).next();
                let goes_on = back.is_some() && back == last_claimed(state, &name);
                let session = known
                    .filter(|_| held.is_some() || goes_on)
                    .and_then(|process| process.session.clone());
                let session = session.filter(|id| is_plain_id(id));
                let task = held.map(|task| (task.leaf.id.clone(), task.iteration));
                let own = format!("You are {name}");
                let is_told = session.is_some() || prompt.starts_with(&own);
                let prompt = match is_told {
                    true => prompt,
                    false => format!("{own}. {prompt}"),
                };
                Some(Self {
                    name,
                    role: Role::Builder,
                    player,
                    prompt,
                    cwd,
                    task,
                    session,
                    away: 0,
                })
            }
            LeadAction::Verify {
                name,
                prompt,
                player,
                task,
                iteration,
                ..
            } => {
                let cwd = match &task {
                    Some(task) => verifier_folder(plan, state, task)?,
                    None => whole_folder(plan, state)?,
                };
                let task = task.map(|task| (task, iteration));
                Some(Self {
                    name,
                    role: Role::Verifier,
                    player,
                    prompt,
                    cwd,
                    task,
                    session: None,
                    away: 0,
                })
            }
            _ => None,
        };
        Ok(agent)
    }
}

/// True if `id` can't be mistaken for an option on a command line.
fn is_plain_id(id: &str) -> bool {
    id.len() <= 200
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// News about the agents.
pub(super) enum CrewNews {
    /// An agent has ended its turn.
    Ended(AgentName),
    /// A notice for the user.
    Told(String),
}

/// An agent's process.
struct Member {
    agent: RunningAgent,
    key: u64,
    task: AgentTask,
    started: Instant,
    heard: Instant,
    signs: LifeSigns,
    doing: String,
    /// True once it has printed anything.
    has_spoken: bool,
    /// True once its service has answered.
    was_reached: bool,
    cost: AgentCost,
    fault: Option<ServiceFault>,
    /// When and how the process ended.
    end: Option<(Instant, CommandEnd)>,
    /// True once its output has ended.
    is_closed: bool,
    /// The last task that the agent had claimed before this process started.
    before: Option<TaskId>,
    /// The last reported token use of its conversation that isn't in the log yet.
    counted: (TokenUse, u64),
    /// The id of the last request.
    request: String,
    /// Number of requests that the program's own total doesn't include yet, and their token use.
    uncounted: (u64, TokenUse),
    /// Start of the service's outage, and the program's message about it.
    waits: Option<(Instant, String)>,
    process: AgentProcess,
}

impl Member {
    /// True if the agent has given no sign of life for `limit`.
    fn is_silent(&mut self, limit: Duration) -> bool {
        let is_due = self.heard.elapsed().min(self.signs.at.elapsed()) > limit / LOOKS;
        let is_over = self.heard.elapsed() > limit;
        if (is_due || is_over) && self.signs.has_worked(&self.task.cwd) {
            self.heard = Instant::now();
        }
        self.heard.elapsed() > limit
    }
}

/// All agents of a run.
pub(super) struct Crew<'c> {
    plan: &'c OpenPlan,
    context: &'c Context,
    programs: BTreeMap<String, AgentProgram>,
    /// The plugin of this version, for the programs that can load one.
    plugin: tempfile::TempDir,
    _plugin_lock: File,
    /// The search path, with this `fp` first.
    search_path: OsString,
    allow: Vec<String>,
    writes: Vec<PathBuf>,
    members: BTreeMap<AgentName, Member>,
    /// Agents whose service was unavailable, with the time of the next try.
    waiting: BTreeMap<AgentName, (AgentTask, Instant)>,
    sender: SyncSender<(u64, AgentNews)>,
    receiver: Receiver<(u64, AgentNews)>,
    keys: u64,
    /// Consecutive tries that reached no service.
    unreached: u32,
    /// True once no more agents may start.
    is_ending: bool,
}

impl<'c> Crew<'c> {
    /// Finds the agents' programs, and creates the folder with the plugin.
    pub(super) fn gather(plan: &'c OpenPlan, context: &'c Context) -> Result<Self, CommandError> {
        let agents = &plan.settings.agents;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut programs = BTreeMap::new();
        for name in [&agents.builder.program, &agents.verifier.program] {
            programs.insert(name.clone(), AgentProgram::find(name, agents, &path)?);
        }
        let (plugin, lock) = own_plugin(context)?;
        let own = std::iter::once(plugin.path().join("bin"));
        let search_path = std::env::join_paths(own.chain(std::env::split_paths(&path)))
            .map_err(CommandError::failed)?;
        let (tree, state) = (plan.tree()?, plan.load()?.state);
        let (parsed, edited) = (tree.parse(), tree.edited(&state));
        let is_approved = |leaf: &&Task<'_>| {
            TaskId::new(leaf.id.to_string())
                .is_ok_and(|id| state.task(&id).is_some() && !edited.contains(&id))
        };
        let approved = parsed.leaves().filter(is_approved);
        let of_tasks = approved.flat_map(|leaf| leaf.test_commands().chain(leaf.verify()));
        // In a permission rule, an asterisk would match more than the user agreed to.
        let of_tasks = of_tasks.filter(|command| !command.contains('*'));
        let of_tasks: BTreeSet<String> =
            of_tasks.map(|command| format!("Bash({command})")).collect();
        let allow = of_tasks
            .into_iter()
            .chain(agents.allow.iter().cloned())
            .collect();
        let git = plan.repo.git_dir.clone();
        let writes = git
            .into_iter()
            .chain([plan.repo.plans_dir(&plan.settings)])
            .chain(bench_folders(plan)?)
            .collect();
        let (sender, receiver) = sync_channel(QUEUE);
        let (members, waiting) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self {
            plan,
            context,
            programs,
            plugin,
            _plugin_lock: lock,
            search_path,
            allow,
            writes,
            members,
            waiting,
            sender,
            receiver,
            keys: 0,
            unreached: 0,
            is_ending: false,
        })
    }

    /// True if the agent `name` has a process, or is waiting for a retry.
    pub(super) fn has(&self, name: &AgentName) -> bool {
        self.members.contains_key(name) || self.waiting.contains_key(name)
    }

    /// True if no process runs or waits to start.
    pub(super) fn is_idle(&self) -> bool {
        self.members.is_empty() && self.waiting.is_empty()
    }

    /// Starts no agent from now on, not even one that is waiting for a retry.
    pub(super) fn start_nothing_more(&mut self) {
        self.is_ending = true;
        self.waiting.clear();
    }

    /// The current activity of each agent, and the time since its last sign of life.
    pub(super) fn doing(&self) -> BTreeMap<AgentName, (String, Duration)> {
        let members = self.members.iter().map(|(name, member)| {
            let doing = (member.doing.clone(), member.heard.elapsed());
            (name.clone(), doing)
        });
        let waits = |until: Instant| {
            let seconds = until.saturating_duration_since(Instant::now()).as_secs() + 1;
            format!("starts again in {seconds} s")
        };
        let waiting = self.waiting.iter().map(|(name, (_, until))| {
            let doing = (waits(*until), Duration::ZERO);
            (name.clone(), doing)
        });
        members.chain(waiting).collect()
    }

    /// Updates the task of each builder.
    pub(super) fn observe(&mut self, state: &State) {
        for (name, member) in &mut self.members {
            attribute(&mut member.cost, state.held_by(name));
        }
    }

    /// Starts a process for `task` and logs it, unless the agent already has one; returns true if it was started.
    pub(super) fn start(&mut self, task: AgentTask) -> Result<bool, CommandError> {
        if self.has(&task.name) || self.is_ending {
            return Ok(false);
        }
        let program = &self.programs[&task.player.program];
        let page = if task.role == Role::Builder {
            "agents/builder.md"
        } else {
            "agents/verifier.md"
        };
        let page = plugin_file(page)
            .map(String::from_utf8_lossy)
            .unwrap_or_default();
        self.keys += 1;
        let judged = task.task.as_ref().map(|(id, _)| id);
        let order = AgentOrder {
            name: &task.name,
            role: task.role,
            task: judged.filter(|_| task.role == Role::Verifier),
            checkout: &self.plan.repo.worktree,
            player: &task.player,
            cwd: &task.cwd,
            page: without_front_matter(&page),
            prompt: &task.prompt,
            session: task.session.as_deref(),
            plugin: self.plugin.path(),
            search_path: &self.search_path,
            writes: &self.writes,
            confinement: self.plan.confinement(),
            allow: &self.allow,
            needs_network: self.plan.store.membership()?.is_some(),
            scratch: self.plugin.path(),
        };
        let agent = RunningAgent::start(program, &order, self.keys, self.sender.clone())?;
        let process = AgentProcess {
            program: task.player.program.clone(),
            model: task.player.model.clone(),
            session: agent.session.clone().or_else(|| task.session.clone()),
            mark: agent.process_mark(),
            ..AgentProcess::default()
        };
        let (id, iteration) = task
            .task
            .clone()
            .map_or((None, 0), |(id, iteration)| (Some(id), iteration));
        let cost = AgentCost {
            task: id,
            iteration,
            role: task.role,
            program: process.program.clone(),
            model: process.model.clone(),
            ..AgentCost::default()
        };
        let name = task.name.clone();
        self.log(vec![Event::AgentStarted {
            name: name.clone(),
            process: process.clone(),
        }])?;
        let now = Instant::now();
        let member = Member {
            agent,
            key: self.keys,
            task,
            started: now,
            heard: now,
            signs: LifeSigns::at_start(),
            doing: "starts".to_owned(),
            has_spoken: false,
            was_reached: false,
            cost,
            fault: None,
            end: None,
            is_closed: false,
            waits: None,
            before: last_claimed(&self.plan.load()?.state, &name).cloned(),
            counted: (TokenUse::default(), 0),
            request: String::new(),
            uncounted: (0, TokenUse::default()),
            process,
        };
        self.members.insert(name, member);
        Ok(true)
    }

    /// Waits up to `time` for news. Fails if no agent can work until the user acts.
    pub(super) fn news(&mut self, time: Duration) -> Result<Vec<CrewNews>, CommandError> {
        let mut told = Vec::new();
        // A process whose output has ended is about to end.
        let is_soon = |member: &Member| member.is_closed && member.end.is_none();
        let time = match self.members.values().any(is_soon) {
            true => time.min(SOON),
            false => time,
        };
        let mut next = self.receiver.recv_timeout(time).ok();
        while let Some((key, news)) = next {
            told.extend(self.take_in(key, news)?.map(CrewNews::Told));
            next = self.receiver.try_recv().ok();
        }
        let silence =
            Duration::from_secs(u64::from(self.plan.settings.agents.silence_minutes) * 60);
        let ended: Vec<(AgentName, Option<CommandEnd>)> = self
            .members
            .iter_mut()
            .filter_map(|(name, member)| {
                let waits = member
                    .waits
                    .as_ref()
                    .filter(|(since, _)| since.elapsed() > MAX_WAIT);
                if let Some((_, why)) = waits {
                    member.fault = Some(ServiceFault::Away(why.clone()));
                }
                // Ends a process that can't make progress on its own.
                let is_refused =
                    matches!(member.fault, Some(ServiceFault::Refused(_))) || waits.is_some();
                if member.end.is_none() {
                    member.end = member.agent.try_wait().map(|end| (Instant::now(), end));
                }
                // The last output of the process may still be in the pipe.
                let has_ended = member
                    .end
                    .is_some_and(|(since, _)| member.is_closed || since.elapsed() > DRAIN);
                let is_silent = member.is_silent(match member.task.role {
                    Role::Builder => silence,
                    Role::Verifier => silence.min(LONGEST_CALL),
                });
                let is_over = has_ended || is_refused || is_silent;
                is_over.then(|| (name.clone(), member.end.map(|(_, end)| end)))
            })
            .collect();
        for (name, end) in ended {
            if let Some(member) = self.members.remove(&name) {
                told.extend(self.ended(member, end)?);
            }
        }
        let due: Vec<AgentName> = self
            .waiting
            .iter()
            .filter(|(_, (_, until))| Instant::now() >= *until)
            .map(|(name, _)| name.clone())
            .collect();
        for name in due {
            if let Some((task, _)) = self.waiting.remove(&name) {
                match self.may_spend(&task)? {
                    true => drop(self.start(task)?),
                    // The next turn asks whether the agent may continue.
                    false => told.push(CrewNews::Ended(name)),
                }
            }
        }
        Ok(told)
    }

    /// Handles the output of a process; returns notices for the user.
    fn take_in(&mut self, key: u64, news: AgentNews) -> Result<Option<String>, CommandError> {
        let Some((name, member)) = self
            .members
            .iter_mut()
            .find(|(_, member)| member.key == key)
        else {
            return Ok(None);
        };
        member.heard = Instant::now();
        member.has_spoken |= news != AgentNews::Closed;
        if !matches!(news, AgentNews::Waiting(_)) {
            member.waits = None;
        }
        match news {
            AgentNews::Session(session) => {
                if is_plain_id(&session) && member.process.session.as_ref() != Some(&session) {
                    member.process.session = Some(session);
                    let started = Event::AgentStarted {
                        name: name.clone(),
                        process: member.process.clone(),
                    };
                    self.log(vec![started])?;
                }
            }
            AgentNews::Doing(doing) => {
                member.was_reached = true;
                member.doing = doing;
            }
            AgentNews::Spent {
                turns,
                tokens,
                micro_usd,
            } => {
                member.was_reached |= tokens.total() > 0;
                let (counted, used) = std::mem::take(&mut member.uncounted);
                member.cost.turns -= counted;
                member.cost.tokens = member.cost.tokens.since(used);
                member.cost.spend(turns, tokens, micro_usd);
            }
            AgentNews::Request { id, tokens } if id != member.request => {
                member.request = id;
                member.cost.spend(1, tokens, None);
                member.uncounted.0 += 1;
                member.uncounted.1.add(tokens);
            }
            AgentNews::SessionTotal { tokens, micro_usd } => {
                let state = self.plan.load()?.state;
                let before = state.processes.get(name);
                let (known, usd) =
                    before.map_or_else(Default::default, |known| (known.tokens, known.micro_usd));
                let tokens = tokens.map_or_else(TokenUse::default, |whole| whole.since(known));
                let usd = micro_usd.map(|whole| whole.saturating_sub(usd));
                member.was_reached |= tokens.total() > 0;
                let (tokens_before, usd_before) = member.counted;
                let more = usd.map(|usd| usd.saturating_sub(usd_before));
                member.cost.spend(0, tokens.since(tokens_before), more);
                member.counted = (tokens, usd.unwrap_or(usd_before));
            }
            AgentNews::Waiting(why) => {
                member
                    .waits
                    .get_or_insert((Instant::now(), String::new()))
                    .1
                    .clone_from(&why);
                member.doing = format!("waits for its service: {why}");
            }
            AgentNews::Denied(rule) => {
                let told = format!("{name} was refused {rule}");
                return Ok(member.cost.denied.insert(rule).then_some(told));
            }
            AgentNews::Fault(fault) => member.fault = Some(fault),
            AgentNews::Heard | AgentNews::Said(_) | AgentNews::Request { .. } => {}
            AgentNews::Closed => member.is_closed = true,
        }
        Ok(None)
    }

    /// True if the budgets allow another try of `task`.
    fn may_spend(&self, task: &AgentTask) -> Result<bool, CommandError> {
        let (state, budget) = (self.plan.load()?.state, &self.plan.settings.budget);
        let known = task.task.as_ref().map(|(id, _)| id);
        let id = known.or_else(|| state.held_by(&task.name).map(|held| &held.leaf.id));
        let is_spent = |limit: Option<_>, id| limit.is_some_and(|limit| state.is_spent(limit, id));
        Ok(!(is_spent(budget.run, None) || id.is_some() && is_spent(budget.task, id)))
    }

    /// Handles the end of a process. `end` is its exit if it ended on its own.
    fn ended(
        &mut self,
        member: Member,
        end: Option<CommandEnd>,
    ) -> Result<Vec<CrewNews>, CommandError> {
        let Member {
            agent,
            task,
            started,
            has_spoken,
            was_reached,
            cost,
            fault,
            process,
            before,
            ..
        } = member;
        let ran = started.elapsed();
        let words = agent.end_and_collect(GRACE);
        let name = task.name.clone();
        let cost = AgentCost {
            seconds: started.elapsed().as_secs(),
            ..cost
        };
        let state = self.log_cost(&name, cost, before.as_ref())?;
        let program = &process.program;
        if was_reached {
            self.unreached = 0;
        }
        let is_well = matches!(end, Some(CommandEnd::Exited(0)));
        let is_own = matches!(self.programs[program], AgentProgram::Own(_));
        let has_failed = !is_well && end.is_some() && !is_own;
        let is_lost = match &fault {
            Some(fault) => matches!(fault, ServiceFault::SessionLost(_)),
            // A program may report an unknown conversation in its own words.
            None => has_failed && !was_reached,
        };
        if is_lost && task.session.is_some() {
            let anew = AgentTask {
                session: None,
                ..task
            };
            self.waiting.insert(name, (anew, Instant::now()));
            return Ok(Vec::new());
        }
        let failed_at_once = fault.is_none()
            && !is_well
            && end.is_some()
            && (has_spoken || !has_failed)
            && ran < AT_ONCE
            && state.ended_empty(&name, "", None).is_some();
        let fault = match failed_at_once {
            true => Some(ServiceFault::Unknown(words.failure(program))),
            false => fault,
        };
        let is_done = state
            .agents
            .get(&name)
            .is_none_or(|agent| agent.activity == Activity::Idle);
        match fault {
            Some(ServiceFault::SessionLost(_)) if was_reached => Ok(vec![CrewNews::Ended(name)]),
            Some(ServiceFault::Refused(why) | ServiceFault::SessionLost(why)) => {
                Err(self.refused(why))
            }
            Some(ServiceFault::Away(_) | ServiceFault::Unknown(_)) if self.is_ending || is_done => {
                Ok(vec![CrewNews::Ended(name)])
            }
            Some(ServiceFault::Unknown(why)) if task.away + 1 >= TRIES => {
                self.log(Vec::from_iter(state.ended_empty(&name, &words.last, None)))?;
                Err(self.refused(why))
            }
            Some(ServiceFault::Away(why) | ServiceFault::Unknown(why)) => {
                self.unreached += u32::from(!was_reached && !failed_at_once);
                // A service that fails soon after it was reached also gets longer pauses.
                let is_first = was_reached && started.elapsed() > MAX_WAIT;
                let again = AgentTask {
                    away: if is_first { 0 } else { task.away },
                    session: match was_reached {
                        true => process.session,
                        false => task.session.clone(),
                    },
                    ..task
                };
                self.try_again(again, &why).map(|told| vec![told])
            }
            None if has_failed && !has_spoken => Err(CommandError::failed(words.failure(program)).with_hint(format!(
                "see whether `{program}` works by itself, and what `agents` in your settings has"
            ))),
            None => {
                let limit = self.plan.settings.agents.silence_minutes;
                let silent = end.is_none().then_some(limit);
                let ended = state.ended_empty(&name, &words.last, silent);
                self.log(Vec::from_iter(ended))?;
                let why = match end {
                    None => "said nothing for too long, and was ended".to_owned(),
                    Some(_) => format!("ended badly: {}", words.complaint),
                };
                let told = CrewNews::Told(format!("{name} ({program}) {why}"));
                let told = (!is_well).then_some(told);
                Ok(told.into_iter().chain([CrewNews::Ended(name)]).collect())
            }
        }
    }

    /// Logs the cost of a process of `name`. If the agent submitted its task before anyone saw that the agent held it,
    /// only its last claim names the task; the earlier task `before` doesn't count. Returns the state before the entry.
    fn log_cost(
        &self,
        name: &AgentName,
        mut cost: AgentCost,
        before: Option<&TaskId>,
    ) -> Result<Arc<State>, CommandError> {
        let state = self.plan.load()?.state;
        let last = last_claimed(&state, name).filter(|id| Some(*id) != before);
        let task = state.held_by(name).or(last.and_then(|id| state.task(id)));
        attribute(&mut cost, task);
        let name = name.clone();
        self.log(vec![Event::AgentSpent { name, cost }])?;
        Ok(state)
    }

    /// The error that ends the lead: no agent can work until the user acts.
    fn refused(&self, why: String) -> CommandError {
        let id = self.plan.id();
        CommandError::failed(why).with_hint(format!("nothing is lost: `fp run {id}` goes on"))
    }

    /// Schedules `task` for a retry, since its service is unavailable because of `why`.
    fn try_again(&mut self, task: AgentTask, why: &str) -> Result<CrewNews, CommandError> {
        let program = &task.player.program;
        if self.unreached >= TRIES && self.context.session().is_some() {
            return Err(CommandError::failed(format!("{program} can't reach its service from here: {why}"))
                .with_hint("the session may run commands without network: `fp run` in a terminal, or `/fp:implement --here`"));
        }
        let (name, pause) = (task.name.clone(), pause_before(task.away));
        let told = format!("{name}: {why}; again in {} s", pause.as_secs());
        let again = AgentTask {
            away: task.away + 1,
            ..task
        };
        self.waiting.insert(name, (again, Instant::now() + pause));
        Ok(CrewNews::Told(told))
    }

    /// Ends every process.
    pub(super) fn end_all(&mut self) {
        self.waiting.clear();
        self.members
            .values()
            .for_each(|member| member.agent.ask_to_end());
        for member in std::mem::take(&mut self.members).into_values() {
            let Member {
                agent,
                task,
                started,
                mut cost,
                ..
            } = member;
            agent.end_and_collect(GRACE);
            cost.seconds = started.elapsed().as_secs();
            // The run is over or stopping, so a cost that can't be written isn't worth an error.
            drop(self.log(vec![Event::AgentSpent {
                name: task.name,
                cost,
            }]));
        }
    }

    fn log(&self, events: Vec<Event>) -> Result<(), CommandError> {
        Ok(self.plan.lock()?.append(events, self.context.now())?)
    }
}

fn last_claimed<'s>(state: &'s State, name: &AgentName) -> Option<&'s TaskId> {
    state.agents.get(name)?.claimed.as_ref()
}

/// Attributes `cost` to `task`, unless it already has a task.
fn attribute(cost: &mut AgentCost, task: Option<&TaskState>) {
    if let Some(task) = task.filter(|_| cost.task.is_none() && cost.role == Role::Builder) {
        cost.task = Some(task.leaf.id.clone());
        cost.iteration = task.iteration;
    }
}

/// A pause that doubles with each try, randomised so that it differs between agents.
fn pause_before(tries: u32) -> Duration {
    let (first, most) = PAUSES;
    let pause = first.saturating_mul(1 << tries.min(16)).min(most);
    let random = u32::from_str_radix(&fresh_token()[..4], 16).unwrap_or(0);
    // Between 0.5 and 1.5 times the pause.
    pause / 2 + pause * random / 0x1_0000
}

/// Prefix of the folders that hold the plugin.
const PLUGIN_FOLDER: &str = "fp-run-";
/// Age after which such a folder counts as abandoned if it isn't locked.
const LEFT_OVER: Duration = Duration::from_secs(60);

/// Writes the plugin, with this executable, to a folder beside the trust store, where no agent's sandbox can write. The
/// folder is locked while in use; folders abandoned by killed processes are removed.
fn own_plugin(context: &Context) -> Result<(tempfile::TempDir, File), CommandError> {
    let failed = |error: std::io::Error| {
        CommandError::failed(format!(
            "the plugin for the agents can't be written: {error}"
        ))
        .with_hint(
            "see whether the folder of your state, ~/.local/state, has room and may be written to",
        )
    };
    let trust = context.trust()?;
    let state = trust.folder();
    fs::create_dir_all(state).map_err(failed)?;
    for entry in fs::read_dir(state).map_err(failed)?.flatten() {
        let is_ours = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(PLUGIN_FOLDER));
        let age = entry
            .metadata()
            .and_then(|found| found.modified())
            .ok()
            .and_then(|at| at.elapsed().ok());
        let is_old = is_ours && age.is_some_and(|age| age > LEFT_OVER);
        if is_old && acquire(&entry.path().join("lock"), Duration::ZERO).is_ok() {
            // Harmless if it can't be removed.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
    let folder = tempfile::Builder::new()
        .prefix(PLUGIN_FOLDER)
        .tempdir_in(state)
        .map_err(failed)?;
    let lock = acquire(&folder.path().join("lock"), Duration::ZERO)?;
    write_plugin(folder.path())?;
    Ok((folder, lock))
}

fn without_front_matter(page: &str) -> &str {
    let body = page
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"));
    body.map_or(page, |(_, body)| body)
}

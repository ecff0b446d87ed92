//! Decides what is due next. An action that starts something is logged as dispatched before anybody sees it. It is
//! printed again, marked as a repeat, until its agent is heard from, so the lead can't lose it. Whatever a dead agent
//! left undone becomes due again automatically.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde::{Serialize, Serializer};

use super::drift::Moved;
use super::event::{AgentDispatch, Decider, Dispatch, Event};
use super::message;
use super::question::{AnswerChoice, AnswerOption, ClosedUnanswered, Question, Topic};
use super::ready::Obstacle;
use super::refusal::Refusal;
use super::state::{Asked, Role, RunAgent, State, Status, TaskState};
use fp_plan::plan::id::{AgentName, MachineId, TaskId};
use fp_plan::plan::path::overlap;
use fp_plan::settings::{AgentPlayer, Agents, Budget, Settings, SpendingLimit};

/// Agent type of a builder, as the client addresses it.
pub const BUILDER: &str = "fp:builder";
/// Agent type of a verifier, as the client addresses it.
pub const VERIFIER: &str = "fp:verifier";

/// Number of verifiers per submission before the user is asked.
const VERIFIERS: u32 = 2;
/// Number of times a builder may fall silent on one task before the task fails.
const SILENCES: u32 = 2;
/// Time after a submission in which the builder's turn is expected to end.
const ENDING: SignedDuration = SignedDuration::from_mins(2);
/// Number of consecutive times a builder may end without a task before the user is asked.
const FRUITLESS: u32 = 3;

/// One action for the lead.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum LeadAction {
    /// Start a builder.
    Spawn {
        /// Also used as its description.
        name: AgentName,
        agent: &'static str,
        prompt: String,
        /// The program and model that play the agent; a session uses only the model.
        #[serde(flatten, serialize_with = "model_of")]
        player: AgentPlayer,
        /// True if the lead was already told this and the agent hasn't been heard from since.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        again: bool,
    },
    /// Send a message to a waiting builder.
    Resume {
        name: AgentName,
        message: String,
        /// The program and model that play the builder.
        #[serde(skip)]
        player: AgentPlayer,
        /// As in `Spawn`.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        again: bool,
    },
    /// Start a verifier.
    Verify {
        /// Also used as its description.
        name: AgentName,
        /// `None` for the result as a whole.
        task: Option<TaskId>,
        iteration: u32,
        agent: &'static str,
        prompt: String,
        /// As in `Spawn`.
        #[serde(flatten, serialize_with = "model_of")]
        player: AgentPlayer,
        /// As in `Spawn`.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        again: bool,
    },
    /// Let the checks of a task decide.
    Check { task: TaskId, iteration: u32 },
    /// Ask the user, then record the answer.
    Ask {
        /// Id of the question.
        question: String,
        /// The question.
        text: String,
        header: String,
        options: Vec<AnswerOption>,
        #[serde(rename = "multiSelect")]
        multi_select: bool,
    },
    /// End the turn, until something listed in `on` wakes the lead.
    Wait {
        /// The work under way, and anything else that the run waits for.
        on: Vec<String>,
    },
    /// Tell the user which tasks wait for what.
    Deadlock {
        /// One line per task.
        chain: Vec<String>,
    },
    /// Change the plan with the user, and have it approved.
    Revise {
        /// The changes to make, one line per task.
        due: Vec<String>,
    },
    /// Show the report; the run is over.
    Finish {
        /// Filled in when the action is shown.
        report: String,
    },
}

/// Serializes only the model of `player`, since a session uses nothing else of it.
fn model_of<S: Serializer>(player: &AgentPlayer, serializer: S) -> Result<S::Ok, S::Error> {
    let model = player.model.iter().map(|model| ("model", model));
    model.collect::<BTreeMap<_, _>>().serialize(serializer)
}

impl LeadAction {
    /// The action that ends a run, still without its report.
    fn finish_action() -> Self {
        let report = String::new();
        Self::Finish { report }
    }

    /// The open question as an action.
    fn ask_action(question: &Question) -> Self {
        let shown = question.with_safe_texts();
        Self::Ask {
            question: shown.id,
            text: shown.text,
            header: shown.header,
            options: shown.options,
            multi_select: false,
        }
    }

    /// True if the action starts or wakes an agent and the lead hasn't been told before.
    fn is_new_dispatch(&self) -> bool {
        match self {
            Self::Spawn { again, .. } | Self::Resume { again, .. } | Self::Verify { again, .. } => {
                !again
            }
            _ => false,
        }
    }

    /// True if only the user can move the run forward.
    fn is_for_user(&self) -> bool {
        matches!(
            self,
            Self::Ask { .. } | Self::Deadlock { .. } | Self::Revise { .. }
        )
    }
}

/// Facts from outside the state.
#[derive(Debug, Clone, Default)]
pub struct RunSurroundings {
    pub now: Timestamp,
    /// True if the user can be asked.
    pub attended: bool,
    /// Maximum number of nudges per builder and iteration.
    pub nudges: u32,
    /// Silence after which an agent counts as ended.
    pub timeout: SignedDuration,
    /// The leaves that differ from the approval.
    pub edited: BTreeSet<TaskId>,
    /// HEAD's move since it was last read, if any.
    pub moved: Option<Moved>,
    /// The programs and models that play the agents.
    pub agents: Agents,
    pub budget: Budget,
    /// Machines that haven't been heard from for too long.
    pub silent: BTreeSet<MachineId>,
    /// True if it's time to tell other machines that this one is at work.
    pub renew: bool,
    /// True if other machines can't be reached: work in progress continues, but nothing new starts.
    pub cut_off: bool,
}

impl RunSurroundings {
    /// Collects the surroundings at `now`. Treats nothing as edited or moved.
    pub fn new(
        state: &State,
        settings: &Settings,
        now: Timestamp,
        session_is_attended: bool,
    ) -> Self {
        Self {
            now,
            attended: session_is_attended || state.terms().attended,
            nudges: settings.nudge.max_retries,
            timeout: match state.has_processes() {
                // `fp run` notices when its processes end, so it needs no timeout.
                true => SignedDuration::MAX,
                false => SignedDuration::from_mins(settings.agents.silence_minutes.into()),
            },
            agents: settings.agents.clone(),
            budget: settings.budget.clone(),
            ..Self::default()
        }
    }
}

/// Events to record, and the actions they make due.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeadTurn {
    /// To be logged before the actions are shown to the lead.
    pub events: Vec<Event>,
    /// In the order in which the lead does them.
    pub actions: Vec<LeadAction>,
}

impl LeadTurn {
    /// Events to log once the actions were shown, but not if showing them fails.
    pub fn events_once_shown(&self) -> Vec<Event> {
        let is_news = self.actions.iter().any(LeadAction::is_new_dispatch);
        is_news.then_some(Event::Told).into_iter().collect()
    }
}

impl State {
    /// The open questions as actions.
    pub fn asks(&self) -> Vec<LeadAction> {
        self.open_questions().map(LeadAction::ask_action).collect()
    }

    /// True if the run can't continue until the user answers or changes the plan.
    pub fn waits_for_user(&self) -> bool {
        let goes_on = |task: &TaskState| {
            !self.is_own(task) || task.awaits_commit() && !self.asks_about_commit(&task.leaf.id)
        };
        if !self.is_running()
            || self.active_agents().next().is_some()
            || self.running().any(goes_on)
        {
            return false;
        }
        let (now, settings) = (self.last_at.unwrap_or_default(), Settings::default());
        let mut around = RunSurroundings::new(self, &settings, now, !self.has_processes());
        for topic in self.open_topics() {
            if let Topic::Budget { limit, task, .. } = topic {
                let budget = match task {
                    Some(_) => &mut around.budget.task,
                    None => &mut around.budget.run,
                };
                *budget = Some(*limit);
            }
        }
        let turn = self.next(&[], &around);
        turn.is_ok_and(|turn| turn.actions.iter().all(LeadAction::is_for_user))
    }

    /// Decides what is due now that the agents in `ended` have ended. Refused before the run is started.
    pub fn next(&self, ended: &[AgentName], around: &RunSurroundings) -> Result<LeadTurn, Refusal> {
        let mut draft = Draft::new(self, around);
        match self.expect_running() {
            Ok(()) => {}
            Err(Refusal::Over) => {
                draft.turn.actions.push(LeadAction::finish_action());
                return Ok(draft.turn);
            }
            Err(refusal) => return Err(refusal),
        }
        draft.take_back_from_silent();
        draft.end_agents(ended);
        draft.look_at_head();
        draft.answer_unattended();
        // Must follow the automatic answers, because they change which dispatches are repeated.
        draft.repeat_dispatches();
        if draft.spent_budget(None).is_some() {
            draft.ask_to_spend();
        } else {
            draft.start_verifiers();
            draft.wake_owners();
            draft.answer_unattended();
            if !around.cut_off {
                draft.staff_builders();
            }
        }
        draft.close_turn();
        if around.renew && draft.state.own_running().next().is_some() {
            draft.record(Event::Renewed);
        }
        Ok(draft.turn)
    }
}

/// A turn under construction, and the state after its events so far.
struct Draft<'a> {
    state: State,
    around: &'a RunSurroundings,
    turn: LeadTurn,
}

impl<'a> Draft<'a> {
    fn new(state: &State, around: &'a RunSurroundings) -> Self {
        Self {
            state: state.clone(),
            around,
            turn: LeadTurn::default(),
        }
    }

    fn record(&mut self, event: Event) {
        self.state.fold(&event, self.around.now);
        self.turn.events.push(event);
    }

    fn record_all(&mut self, events: Vec<Event>) {
        events.into_iter().for_each(|event| self.record(event));
    }

    /// Asks about `topic`, unless the user is asked about it already.
    fn ask_once(&mut self, topic: Topic, reason: &str) {
        if !self.state.open_topics().any(|open| *open == topic) {
            self.record(self.state.ask_about(topic, reason));
        }
    }

    fn end_agents(&mut self, ended: &[AgentName]) {
        let now = self.around.now;
        // A time in the future comes from the log, not from the clock, so silence is counted from the known clock time.
        let counted = |since: Timestamp| match since > now {
            true => self.state.behind,
            false => Some(since),
        };
        let is_silent = |agent: &RunAgent| {
            // Without processes, the end of a turn may go unnoticed.
            let limit = match agent.is_ending && !self.state.has_processes() {
                true => ENDING.min(self.around.timeout),
                false => self.around.timeout,
            };
            counted(agent.since).is_some_and(|since| now.duration_since(since) > limit)
        };
        // An end that is reported again because `next` was killed refers to the agent's previous turn.
        let is_untold = |name: &AgentName| self.state.untold.iter().any(|told| told.name == *name);
        let active = self.state.active_agents();
        let over = active
            .filter(|(name, agent)| ended.contains(name) && !is_untold(name) || is_silent(agent));
        let over = over
            .map(|(name, _)| Event::agent_ended(name.clone()))
            .collect();
        self.record_all(over);
    }

    /// Repeats the dispatches that a killed `next` may not have shown to the lead, and those that the lead has seen but
    /// may have lost.
    fn repeat_dispatches(&mut self) {
        let State {
            untold,
            unstarted,
            unwoken,
            ..
        } = &self.state;
        let due = [(untold, false), (unstarted, true), (unwoken, true)];
        let due = due
            .iter()
            .flat_map(|(due, again)| due.iter().map(move |due| (due, *again)));
        let actions = due.filter_map(|(due, again)| self.action_for(due, again));
        self.turn.actions = actions.collect();
    }

    /// Records the drift of pending tasks, and asks about all of it in one question. Ignores a move of HEAD while the
    /// plan itself is committing: later it will be clear whose commits they are.
    fn look_at_head(&mut self) {
        let moved = self.around.moved.as_ref();
        if let Some(moved) = moved.filter(|_| !self.state.is_committing()) {
            self.record(Event::HeadMoved {
                head: moved.head.clone(),
                drifted: self.state.drift_by(moved),
            });
        }
        if let Some((tasks, told)) = self.state.unasked_drift() {
            self.record(self.state.ask_about(Topic::Drift(tasks), &told));
        }
    }

    fn answer_unattended(&mut self) {
        if self.around.attended {
            return;
        }
        // Other machines ask their own users, unless they have fallen silent.
        let is_silent = |machine: &MachineId| self.around.silent.contains(machine);
        let is_due = |asked: &&Asked| {
            asked.is_open() && (self.is_own(asked) || asked.machine.as_ref().is_some_and(is_silent))
        };
        let due = self.state.questions.iter().filter(is_due);
        let due: Vec<Question> = due.map(|asked| asked.question.clone()).collect();
        for question in due {
            let answer = [question.unattended_answer().to_owned()];
            let events = self.state.answer(&question.id, &answer, Decider::Auto);
            self.record_all(events.unwrap_or_default());
        }
    }

    fn is_own(&self, asked: &Asked) -> bool {
        asked.machine == self.state.machine
    }

    /// The budget of the run, or of `task`, if it is spent.
    fn spent_budget(&self, task: Option<&TaskId>) -> Option<SpendingLimit> {
        let limit = match task {
            Some(_) => self.around.budget.task,
            None => self.around.budget.run,
        };
        limit.filter(|limit| self.state.is_spent(*limit, task))
    }

    /// Asks if more may be spent, provided that anything would be started. In an unattended run, where a rule answers,
    /// waits until nothing is under way.
    fn ask_to_spend(&mut self) {
        let mut would = Draft::new(&self.state, self.around);
        would.start_verifiers();
        would.wake_owners();
        would.staff_builders();
        if !would.turn.actions.is_empty() && (self.around.attended || self.under_way().is_empty()) {
            self.may_spend(None);
        }
    }

    /// True if the budget of the run, or of `task`, isn't spent. Asks the user once it is.
    fn may_spend(&mut self, task: Option<&TaskId>) -> bool {
        let Some(limit) = self.spent_budget(task) else {
            return true;
        };
        let is_asked =
            |topic: &Topic| matches!(topic, Topic::Budget { task: of, .. } if of.as_ref() == task);
        if !self.state.open_topics().any(is_asked) {
            let topic = Topic::Budget {
                limit,
                spent: Some(self.state.spent_of(limit, task)),
                task: task.cloned(),
            };
            self.record(self.state.ask_about(topic, ""));
            self.answer_unattended();
        }
        false
    }

    fn start_verifiers(&mut self) {
        let is_due = |task: &&TaskState| {
            !self.state.has_verifier(Some(&task.leaf.id)) && self.state.is_judged(task)
        };
        let active = self.state.active_agents();
        let active = active.filter(|(_, agent)| agent.role == Role::Verifier);
        let limit = self.state.terms().builders;
        let free = (limit.max(1) as usize).saturating_sub(active.count());
        let due = self.state.unjudged().filter(is_due);
        let due: Vec<TaskState> = due.take(free).cloned().collect();
        for task in due {
            self.start_verifier(&task);
        }
        // No agent is started, so nothing is recorded: it stays due until there is a verdict.
        let checks = self.state.checks_due().map(|task| LeadAction::Check {
            task: task.leaf.id.clone(),
            iteration: task.iteration,
        });
        self.turn.actions.extend(checks);
        if self.state.is_whole_due() && !self.state.has_verifier(None) && self.may_spend(None) {
            let is_new = |name: &AgentName| !self.state.agents.contains_key(name);
            let mut names =
                (1_u32..).map_while(|nth| AgentName::new(format!("verifier-end-{nth}")).ok());
            if let Some(name) = names.find(is_new) {
                self.dispatch_agent(Dispatch::Verify, name, None);
            }
        }
    }

    fn start_verifier(&mut self, task: &TaskState) {
        let id = &task.leaf.id;
        if !self.may_spend(Some(id)) {
            return;
        }
        let topic = Topic::VerifierSilent(id.clone());
        if task.verifiers >= VERIFIERS + self.retries_of(&topic) {
            let said = self.state.said_by_verifiers(id);
            return self.ask_once(topic, &said);
        }
        // A retried task starts over at the first iteration, but the client still knows the earlier verifiers by their
        // names.
        let is_new = |name: &AgentName| !self.state.agents.contains_key(name);
        let mut names = (task.verifiers..=u32::MAX).map_while(|nth| verifier_name(task, nth));
        if let Some(name) = names.find(is_new) {
            self.dispatch_agent(Dispatch::Verify, name, Some(id.clone()));
        }
    }

    /// The number of times that the user chose to retry `topic`.
    fn retries_of(&self, topic: &Topic) -> u32 {
        let tries = self.state.answered_with(AnswerChoice::Retry);
        let tries = tries.filter(|asked| asked.question.topic == *topic);
        u32::try_from(tries.count()).unwrap_or(u32::MAX)
    }

    fn wake_owners(&mut self) {
        let is_stopped = |task: &&TaskState| {
            let agent = task.owner().map(|owner| self.state.agents.get(owner));
            let is_idle = |agent: Option<&RunAgent>| agent.is_none_or(|agent| !agent.is_at_work());
            task.status == Status::Implementing && agent.is_some_and(is_idle)
        };
        let stopped = self.state.own_running().filter(is_stopped);
        for task in stopped.cloned().collect::<Vec<TaskState>>() {
            self.wake_owner(&task);
        }
    }

    fn wake_owner(&mut self, task: &TaskState) {
        let id = &task.leaf.id;
        if self.state.awaits_answer(id) || !self.may_spend(Some(id)) {
            return;
        }
        let Some(owner) = task.owner().cloned() else {
            return;
        };
        let left = self.state.reasons_left(&owner, task);
        if task.silences >= SILENCES {
            self.fail_task(
                id,
                &format!("{owner} fell silent twice, and was ended{left}"),
            );
        } else if task.resume_due {
            self.dispatch_agent(Dispatch::Resume, owner, Some(id.clone()));
        } else if task.nudges < self.around.nudges {
            self.record(Event::Nudged {
                task: id.clone(),
                owner: owner.clone(),
            });
            self.dispatch_agent(Dispatch::Resume, owner, Some(id.clone()));
        } else {
            let times = self.around.nudges + 1;
            let reason = format!("{owner} handed nothing in, {times} times{left}");
            self.take_back(task, &reason);
        }
    }

    /// Takes back the tasks of machines that aren't heard from any more.
    fn take_back_from_silent(&mut self) {
        let is_silent = |machine: &MachineId| self.around.silent.contains(machine);
        let lost = self.state.running().filter_map(|task| {
            let machine = task.machine.clone().filter(is_silent)?;
            Some((task.clone(), machine))
        });
        for (task, machine) in lost.collect::<Vec<_>>() {
            let about = |topic: &Topic| topic.task() == Some(&task.leaf.id);
            let closed = self
                .state
                .close_questions(about, ClosedUnanswered::Withdrawn);
            self.record_all(closed);
            self.take_back(&task, &format!("nothing is heard of {machine} any more"));
        }
    }

    /// Takes a claim back. The attempt counts, since otherwise this could repeat forever.
    fn take_back(&mut self, task: &TaskState, reason: &str) {
        let id = &task.leaf.id;
        match self.state.is_last_attempt(task) {
            true => self.fail_task(id, reason),
            false => self.record(Event::released(id, reason, task.iteration + 1)),
        }
    }

    fn fail_task(&mut self, id: &TaskId, reason: &str) {
        self.record_all(self.state.give_up(id, reason));
        self.record(self.state.ask_about(Topic::TaskFailed(id.clone()), reason));
    }

    /// Records that the lead has to start or wake `name`, and adds the action that tells it to.
    fn dispatch_agent(&mut self, dispatch: Dispatch, name: AgentName, task: Option<TaskId>) {
        let due = AgentDispatch {
            dispatch,
            name,
            task,
        };
        self.turn.actions.extend(self.action_for(&due, false));
        self.record(Event::Dispatched(due));
    }

    fn action_for(&self, due: &AgentDispatch, again: bool) -> Option<LeadAction> {
        let (plan, name) = (&self.state.plan_id, due.name.clone());
        let task = due.task.as_ref().and_then(|id| self.state.task(id));
        Some(match due.dispatch {
            Dispatch::Spawn => LeadAction::Spawn {
                agent: BUILDER,
                prompt: message::builder_prompt(plan, &name),
                player: self.around.agents.builder.clone(),
                name,
                again,
            },
            Dispatch::Resume => {
                let held = task.filter(|task| task.owner() == Some(&name));
                LeadAction::Resume {
                    message: match (held, &due.task) {
                        (Some(task), _) => message::wake_up(&self.state, task, &name),
                        (None, Some(lost)) => message::lost_task(plan, lost, &name),
                        (None, None) => match self.state.sent_back_to(&name).next() {
                            Some(task) => message::sent_back(plan, task, &name),
                            None => message::work_offer(plan, &name),
                        },
                    },
                    player: self.around.agents.builder.clone(),
                    name,
                    again,
                }
            }
            Dispatch::Verify if due.task.is_none() => LeadAction::Verify {
                agent: VERIFIER,
                prompt: message::whole_prompt(plan, &name),
                player: self.around.agents.verifier.clone(),
                task: None,
                iteration: 1,
                name,
                again,
            },
            Dispatch::Verify => {
                let task = task.filter(|task| task.status == Status::AwaitingVerification)?;
                LeadAction::Verify {
                    agent: VERIFIER,
                    prompt: message::verifier_prompt(plan, &name, task),
                    player: self.around.agents.verifier.clone(),
                    task: Some(task.leaf.id.clone()),
                    iteration: task.iteration,
                    name,
                    again,
                }
            }
        })
    }

    /// The builders that are about to claim.
    fn on_their_way(&self) -> impl Iterator<Item = &AgentName> {
        let active = self.state.active_agents();
        let builders = active.filter(|(_, agent)| agent.role == Role::Builder && !agent.is_ending);
        let names = builders.map(|(name, _)| name);
        names.filter(|name| self.state.held_by(name).is_none())
    }

    /// Dispatches builders for as many ready tasks as can run side by side.
    fn staff_builders(&mut self) {
        let back = self.state.own_running().filter(|task| task.is_sent_back());
        for id in back.map(|task| task.leaf.id.clone()).collect::<Vec<_>>() {
            self.may_spend(Some(&id));
        }
        let on_their_way = self.on_their_way().count();
        let builders = self.state.run.as_ref().map_or(1, |run| run.terms.builders);
        let building =
            |task: &&TaskState| task.status == Status::Implementing && task.owner().is_some();
        let busy = self.state.own_running().filter(building).count() + on_their_way;
        let free = (builders as usize).saturating_sub(busy);
        let startable = self.startable(free + on_their_way);
        let mut wanted = startable.saturating_sub(on_their_way).min(free);
        let limit = FRUITLESS * (1 + self.retries_of(&Topic::BuildersSilent));
        let (mut is_exhausted, mut has_started) = (false, on_their_way > 0);
        // A builder that may take up its own work again comes first.
        let names = (1..=builders).filter_map(|number| self.state.builder(number));
        let is_new_to = |name: &AgentName| self.state.sent_back_to(name).next().is_none();
        let (others, first): (Vec<_>, Vec<_>) = names.partition(is_new_to);
        for name in first.into_iter().chain(others) {
            if wanted == 0 {
                return;
            }
            let agent = self.state.agents.get(&name);
            if agent.is_some_and(RunAgent::is_at_work) || self.state.held_by(&name).is_some() {
                continue;
            }
            let fruitless = agent.map(|agent| agent.fruitless);
            if fruitless.is_some_and(|times| times >= limit) {
                is_exhausted = true;
                continue;
            }
            let dispatch = match fruitless {
                Some(0) => Dispatch::Resume,
                _ => Dispatch::Spawn,
            };
            self.dispatch_agent(dispatch, name, None);
            (wanted, has_started) = (wanted - 1, true);
        }
        if is_exhausted && !has_started {
            let said = self.state.said_by_fruitless();
            self.ask_once(Topic::BuildersSilent, &said);
            self.answer_unattended();
        }
    }

    /// Counts, in claim order, the ready tasks that can run at the same time; stops at `enough`.
    fn startable(&self, enough: usize) -> usize {
        let mut taken: Vec<Vec<&str>> = Vec::new();
        for task in self.state.ready(&self.around.edited) {
            let held: Vec<&str> = task.held().collect();
            if !taken.iter().any(|files| overlap(files, &held)) {
                taken.push(held);
            }
            if taken.len() >= enough {
                break;
            }
        }
        taken.len()
    }

    /// Ends the turn with the open questions, or else with what the run waits for.
    fn close_turn(&mut self) {
        if !self.state.is_running() {
            self.turn.actions = vec![LeadAction::finish_action()];
            return;
        }
        let open = self.state.questions.iter().filter(|asked| asked.is_open());
        let (here, elsewhere): (Vec<&Asked>, Vec<&Asked>) =
            open.partition(|asked| self.around.attended || self.is_own(asked));
        let asks = here
            .iter()
            .map(|asked| LeadAction::ask_action(&asked.question));
        self.turn.actions.extend(asks);
        let is_check = |action: &LeadAction| matches!(action, LeadAction::Check { .. });
        if !here.is_empty() || self.turn.actions.iter().any(is_check) {
            return;
        }
        let answers = elsewhere.iter().filter_map(|asked| {
            let machine = asked.machine.as_ref()?;
            Some(format!("the answer to {} on {machine}", asked.question.id))
        });
        let remote = self
            .around
            .cut_off
            .then(|| "the connection to the remote".to_owned());
        let mut on = self.under_way();
        on.extend(answers.chain(remote));
        let last = self.last_action(on);
        if matches!(last, LeadAction::Finish { .. }) {
            self.record(Event::Finished);
        }
        self.turn.actions.push(last);
    }

    /// The action that ends a turn without a question. `on` lists what the run waits for, if anything.
    fn last_action(&self, on: Vec<String>) -> LeadAction {
        let (state, plan) = (&self.state, &self.state.plan_id);
        if !on.is_empty() {
            return LeadAction::Wait { on };
        }
        if state.wants_task() {
            let add = format!("another task: `fp task add {plan} …`, then `fp approve {plan}`");
            return LeadAction::Revise { due: vec![add] };
        }
        // Tasks that repair the result are added before the next turn.
        if state.wants_repairs() || !state.end_commands_due().is_empty() {
            let on = vec!["the checks at the end".to_owned()];
            return LeadAction::Wait { on };
        }
        if state.tasks.iter().all(|task| task.status.is_final()) {
            return LeadAction::finish_action();
        }
        let due = self.open_chain(|obstacle| obstacle.is_some_and(Obstacle::wants_approval));
        match due.is_empty() {
            true => LeadAction::Deadlock {
                chain: self.open_chain(|_| true),
            },
            false => LeadAction::Revise { due },
        }
    }

    fn under_way(&self) -> Vec<String> {
        let agents = self.state.active_agents();
        let (ending, agents): (Vec<_>, Vec<_>) = agents.partition(|(_, agent)| agent.is_ending);
        let named = |agents: Vec<(&AgentName, &RunAgent)>| -> Vec<String> {
            agents.iter().map(|(name, _)| name.to_string()).collect()
        };
        let commits = self.state.own_running().filter(|task| task.awaits_commit());
        let commits = commits.map(|task| format!("the commit of task {}", task.leaf.id));
        let elsewhere = self.state.running().filter(|task| !self.state.is_own(task));
        let elsewhere = elsewhere.filter_map(|task| {
            let machine = task.machine.as_ref()?;
            Some(format!("task {} on {machine}", task.leaf.id))
        });
        let on: Vec<String> = named(agents)
            .into_iter()
            .chain(commits)
            .chain(elsewhere)
            .collect();
        if on.is_empty() { named(ending) } else { on }
    }

    /// One line for each open task whose obstacle is `wanted`, with the reason why it can't be claimed.
    fn open_chain(&self, wanted: impl Fn(Option<&Obstacle>) -> bool) -> Vec<String> {
        let obstacles = self.state.obstacles(&self.around.edited);
        let open = self
            .state
            .tasks
            .iter()
            .filter(|task| !task.status.is_final());
        let open = open.map(|task| (task, obstacles.obstacle_to(task)));
        let chain = open.filter(|(_, obstacle)| wanted(obstacle.as_ref()));
        let line = |(task, obstacle): (&TaskState, Option<Obstacle>)| {
            let why = match obstacle {
                None => "it is ready, but no builder may be started".to_owned(),
                Some(obstacle) => self.state.explain(task, &obstacle),
            };
            format!("{}: {why}", task.leaf.id)
        };
        chain.map(line).collect()
    }
}

fn verifier_name(task: &TaskState, nth: u32) -> Option<AgentName> {
    let again = match nth {
        0 => String::new(),
        nth => format!("-{}", nth + 1),
    };
    let (id, iteration) = (task.leaf.id.as_str().replace('.', "-"), task.iteration);
    AgentName::new(format!("verifier-{id}-i{iteration}{again}"))
        .or_else(|_| AgentName::new(format!("verifier-i{iteration}{again}")))
        .ok()
}

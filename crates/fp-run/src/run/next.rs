//! Decides what is due next. An action that starts something is logged as dispatched before anybody sees it, and printed
//! again, marked as said before, until its agent is heard of: a lead that lost it loses nothing. Whatever a dead agent
//! left undone becomes due again by itself.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::{Serialize, Serializer};

use super::crew::player;
use super::drift::Moved;
use super::event::{Decider, Dispatch, Event};
use super::message;
use super::question::{AnswerChoice, AnswerOption, ClosedUnanswered, Question, Topic};
use super::ready::Obstacle;
use super::refusal::Refusal;
use super::state::{Activity, Asked, Role, RunAgent, State, Status, TaskState, Untold};
use fp_plan::plan::id::{AgentName, MachineId, TaskId};
use fp_plan::plan::path::overlap;
use fp_plan::settings::{AgentPlayer, Agents, Budget, Settings};

/// Agent type of a builder, as the client addresses it.
pub const BUILDER: &str = "fp:builder";
/// Agent type of a verifier, as the client addresses it.
pub const VERIFIER: &str = "fp:verifier";

/// Verifiers per submission before the user is asked.
const VERIFIERS: u32 = 2;
/// Times that a builder may fall silent on one task before the task fails.
const SILENCES: u32 = 2;
/// Consecutive times a builder may end without a task before the user is asked.
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
        /// Who plays it; a session takes the model.
        #[serde(
            rename = "model",
            serialize_with = "model_of",
            skip_serializing_if = "has_no_model"
        )]
        player: AgentPlayer,
        /// True if the lead was told before, and the agent has not been heard of.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        again: bool,
    },
    /// Send a message to a builder that waits.
    Resume {
        name: AgentName,
        message: String,
        /// Who plays it.
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
        task: TaskId,
        iteration: u32,
        agent: &'static str,
        prompt: String,
        /// As in `Spawn`.
        #[serde(
            rename = "model",
            serialize_with = "model_of",
            skip_serializing_if = "has_no_model"
        )]
        player: AgentPlayer,
        /// As in `Spawn`.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        again: bool,
    },
    /// Judge a task in place of a verifier.
    Judge {
        task: TaskId,
        iteration: u32,
        /// Instructions for the judgement.
        prompt: String,
    },
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
    /// End the turn; any of these events wakes the lead.
    Wait {
        /// The work under way.
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
        /// Filled in by whoever renders it.
        report: String,
    },
}

fn model_of<S: Serializer>(player: &AgentPlayer, serializer: S) -> Result<S::Ok, S::Error> {
    player.model.serialize(serializer)
}

fn has_no_model(player: &AgentPlayer) -> bool {
    player.model.is_none()
}

/// Facts from outside the state.
#[derive(Debug, Clone)]
pub struct RunSurroundings {
    pub now: Timestamp,
    /// True if the user can be asked.
    pub attended: bool,
    /// Maximum nudges of a builder in one iteration.
    pub nudges: u32,
    /// Silence after which an agent counts as ended.
    pub timeout: SignedDuration,
    /// The leaves that differ from the approval.
    pub edited: BTreeSet<TaskId>,
    /// HEAD's move since the last look, if it moved.
    pub moved: Option<Moved>,
    /// A fresh token, in case a task is sent back.
    pub token: String,
    /// Who plays the agents.
    pub agents: Agents,
    pub budget: Budget,
    /// Machines of which nothing was heard for too long.
    pub silent: BTreeSet<MachineId>,
    /// True if it's time to tell other machines that this one is at work.
    pub renew: bool,
    /// True if other machines can't be reached: what is under way goes on, and nothing new begins.
    pub cut_off: bool,
}

impl RunSurroundings {
    /// Collects the surroundings known at `now`. Nothing counts as edited or moved, and the empty token means that
    /// nothing can be sent back.
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
            timeout: match state.terms().processes {
                // `fp run` sees its processes end.
                true => SignedDuration::MAX,
                false => SignedDuration::from_mins(settings.agents.silence_minutes.into()),
            },
            edited: BTreeSet::new(),
            moved: None,
            token: String::new(),
            agents: settings.agents.clone(),
            budget: settings.budget.clone(),
            silent: BTreeSet::new(),
            renew: false,
            cut_off: false,
        }
    }
}

/// Events to record, and the actions they make due.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeadTurn {
    /// To be logged before the actions are shown.
    pub events: Vec<Event>,
    /// In the order in which the lead does them.
    pub actions: Vec<LeadAction>,
}

impl LeadTurn {
    /// Events to log once the actions were shown, but not if showing them fails.
    pub fn told(&self) -> Vec<Event> {
        let is_new = |action: &LeadAction| {
            matches!(
                action,
                LeadAction::Spawn { again: false, .. }
                    | LeadAction::Resume { again: false, .. }
                    | LeadAction::Verify { again: false, .. }
            )
        };
        if self.actions.iter().any(is_new) {
            vec![Event::Told]
        } else {
            Vec::new()
        }
    }
}

struct Draft<'a> {
    state: State,
    around: &'a RunSurroundings,
    turn: LeadTurn,
}

impl State {
    /// The open questions as actions.
    pub fn asks(&self) -> Vec<LeadAction> {
        self.open_questions().map(ask_of).collect()
    }

    /// True if nothing goes on in the run before the user has answered, or has changed the plan.
    pub fn waits_for_user(&self) -> bool {
        let goes_on = |task: &TaskState| {
            let is_blocked = |q: &Question| q.topic.blocks_commit_of(&task.leaf.id);
            !self.is_own(task) || task.awaits_commit() && !self.open_questions().any(is_blocked)
        };
        let works = |agent: &RunAgent| agent.activity != Activity::Idle;
        if !self.is_running() || self.agents.values().any(works) || self.running().any(goes_on) {
            return false;
        }
        let (now, settings) = (self.last_at.unwrap_or_default(), Settings::default());
        let mut around = RunSurroundings::new(self, &settings, now, !self.has_processes());
        for question in self.open_questions() {
            if let Topic::Budget { limit, task, .. } = &question.topic {
                let budget = &mut around.budget;
                let of = if task.is_some() {
                    &mut budget.task
                } else {
                    &mut budget.run
                };
                *of = Some(*limit);
            }
        }
        let waits = |action: &LeadAction| match action {
            LeadAction::Ask { .. } | LeadAction::Deadlock { .. } | LeadAction::Revise { .. } => {
                true
            }
            LeadAction::Spawn { .. }
            | LeadAction::Resume { .. }
            | LeadAction::Verify { .. }
            | LeadAction::Judge { .. }
            | LeadAction::Wait { .. }
            | LeadAction::Finish { .. } => false,
        };
        self.next(&[], &around)
            .is_ok_and(|turn| turn.actions.iter().all(waits))
    }

    /// Decides what is due now that the agents in `ended` have ended. Refused before the run is started.
    pub fn next(&self, ended: &[AgentName], around: &RunSurroundings) -> Result<LeadTurn, Refusal> {
        match self.expect_running() {
            Ok(()) => {}
            Err(Refusal::Over) => {
                let actions = vec![LeadAction::Finish {
                    report: String::new(),
                }];
                return Ok(LeadTurn {
                    events: Vec::new(),
                    actions,
                });
            }
            Err(refusal) => return Err(refusal),
        }
        let mut draft = Draft {
            state: self.clone(),
            around,
            turn: LeadTurn::default(),
        };
        draft.take_back_from_silent();
        draft.end_agents(ended);
        draft.look_at_head();
        draft.answer_unattended();
        // An answer by a rule changes what is said again.
        draft.repeat();
        if draft.is_spent() {
            draft.ask_to_spend();
        } else {
            draft.verify();
            draft.wake_owners();
            draft.answer_unattended();
            if !around.cut_off {
                draft.staff();
            }
        }
        draft.close();
        if around.renew && draft.state.own_running().next().is_some() {
            draft.record(Event::Renewed);
        }
        Ok(draft.turn)
    }
}

impl Draft<'_> {
    fn record(&mut self, event: Event) {
        self.state.fold(&event, self.around.now);
        self.turn.events.push(event);
    }

    fn record_all(&mut self, events: Vec<Event>) {
        events.into_iter().for_each(|event| self.record(event));
    }

    fn end_agents(&mut self, ended: &[AgentName]) {
        // A time in the future is the log's, not the clock's, so the silence counts from where the clock is known.
        let counted = |since: Timestamp| {
            if since > self.around.now {
                self.state.behind
            } else {
                Some(since)
            }
        };
        let waited =
            |since: Timestamp| counted(since).map(|since| self.around.now.duration_since(since));
        let silent =
            |since: Timestamp| waited(since).is_some_and(|waited| waited > self.around.timeout);
        // A report repeated after a killed `next` refers to the previous turn.
        let ended = |name: &AgentName| {
            ended.contains(name) && self.state.untold.iter().all(|u| u.name != *name)
        };
        let over: Vec<AgentName> = self
            .state
            .agents
            .iter()
            .filter(|(name, agent)| {
                agent.activity != Activity::Idle && (ended(name) || silent(agent.since))
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in over {
            self.record(Event::agent_ended(name));
        }
    }

    /// Repeats to the lead what a killed `next` may not have told it, and what it was told and may have lost.
    fn repeat(&mut self) {
        let State {
            untold,
            unstarted,
            unwoken,
            ..
        } = &self.state;
        let told = unstarted.iter().chain(unwoken).map(|told| (told, true));
        let due = untold.iter().map(|untold| (untold, false)).chain(told);
        let actions = due.filter_map(|(due, again)| self.action(due, again));
        self.turn.actions = actions.collect();
    }

    /// Records changes beneath pending tasks, and asks once about all of them. While the plan itself commits, a later
    /// look sees whose commits there are.
    fn look_at_head(&mut self) {
        let moved = self.around.moved.as_ref();
        if let Some(moved) = moved.filter(|_| !self.state.is_committing()) {
            let drifted = self.state.drift(moved);
            self.record(Event::HeadMoved {
                head: moved.head.clone(),
                drifted,
            });
        }
        if let Some((tasks, told)) = self.state.unasked_drift() {
            let ask = self.state.ask(Topic::Drift(tasks), &told);
            self.record(ask);
        }
    }

    fn answer_unattended(&mut self) {
        if self.around.attended {
            return;
        }
        // Of those that other machines ask, their own users are asked, unless nothing is heard of them.
        let is_silent = |asked: &&Asked| {
            asked
                .machine
                .as_ref()
                .is_some_and(|m| self.around.silent.contains(m))
        };
        let asked = self
            .state
            .questions
            .iter()
            .filter(|asked| self.is_own(asked) || is_silent(asked));
        let open: Vec<Question> = asked
            .filter(|asked| asked.answer.is_empty())
            .map(|asked| asked.question.clone())
            .collect();
        for question in open {
            let answer = question.unattended_answer().to_owned();
            let token = self.around.token.clone();
            let events = self
                .state
                .answer(&question.id, &[answer], Decider::Auto, token)
                .unwrap_or_default();
            self.record_all(events);
        }
    }

    fn is_own(&self, asked: &Asked) -> bool {
        asked.machine == self.state.machine
    }

    /// True if the budget of the run is spent.
    fn is_spent(&self) -> bool {
        self.around
            .budget
            .run
            .is_some_and(|limit| self.state.is_spent(limit, None))
    }

    /// Asks whether more may be spent, if anything would be started. Where a rule answers, what is under way comes to its
    /// end first.
    fn ask_to_spend(&mut self) {
        let state = self.state.clone();
        let mut would = Draft {
            state,
            around: self.around,
            turn: LeadTurn::default(),
        };
        would.verify();
        would.wake_owners();
        would.staff();
        if !would.turn.actions.is_empty() && (self.around.attended || self.under_way().is_empty()) {
            self.may_spend(None);
        }
    }

    /// True if the budget of the run, or of `task`, isn't spent. Asks the user once it is.
    fn may_spend(&mut self, task: Option<&TaskId>) -> bool {
        let limit = if task.is_none() {
            self.around.budget.run
        } else {
            self.around.budget.task
        };
        let Some(limit) = limit.filter(|limit| self.state.is_spent(*limit, task)) else {
            return true;
        };
        let is_asked = |q: &Question| matches!(&q.topic, Topic::Budget { task: of, .. } if of.as_ref() == task);
        if !self.state.open_questions().any(is_asked) {
            let ask = self.state.ask(
                Topic::Budget {
                    limit,
                    spent: Some(self.state.spent_of(limit, task)),
                    task: task.cloned(),
                },
                "",
            );
            self.record(ask);
            self.answer_unattended();
        }
        false
    }

    fn verify(&mut self) {
        let due: Vec<TaskId> = self
            .state
            .tasks
            .iter()
            .filter(|t| {
                t.status == Status::AwaitingVerification
                    && !t.awaits_commit()
                    && self.state.is_own(t)
            })
            .map(|t| t.leaf.id.clone())
            .filter(|id| !self.is_being_verified(id) && !self.state.doubts_checks_of(id))
            .collect();
        let lead_judges = self.state.terms().lead_judges;
        for id in due {
            if lead_judges {
                self.have_judged(&id);
            } else {
                self.start_verifier(&id);
            }
        }
    }

    /// Records nothing, because nothing is started: the judgement stays due until there is a verdict.
    fn have_judged(&mut self, id: &TaskId) {
        let Some(iteration) = self.state.task(id).map(|task| task.iteration) else {
            return;
        };
        let prompt = message::judge(&self.state.plan_id, id, iteration);
        self.turn.actions.push(LeadAction::Judge {
            task: id.clone(),
            iteration,
            prompt,
        });
    }

    fn is_being_verified(&self, id: &TaskId) -> bool {
        self.state
            .agents
            .values()
            .any(|a| a.task.as_ref() == Some(id) && a.activity != Activity::Idle)
    }

    fn start_verifier(&mut self, id: &TaskId) {
        if !self.may_spend(Some(id)) {
            return;
        }
        let Some(task) = self.state.task(id) else {
            return;
        };
        let topic = Topic::VerifierSilent(id.clone());
        if task.verifiers >= VERIFIERS + self.retries(&topic) {
            if !self.is_open(&topic) {
                let ask = self.state.ask(topic, &self.state.said_by_verifiers(id));
                self.record(ask);
            }
            return;
        }
        let (iteration, nth) = (task.iteration, task.verifiers);
        // A retried task begins at the first iteration again, and the client still knows the verifiers of before.
        let is_new = |name: &AgentName| !self.state.agents.contains_key(name);
        let mut names = (nth..=u32::MAX).map_while(|nth| verifier_name(id, iteration, nth));
        let Some(name) = names.find(is_new) else {
            return;
        };
        self.dispatch(Dispatch::Verify, name, Some(id.clone()));
    }

    fn is_open(&self, topic: &Topic) -> bool {
        self.state.open_questions().any(|q| q.topic == *topic)
    }

    fn retries(&self, topic: &Topic) -> u32 {
        let answered = self
            .state
            .questions
            .iter()
            .filter(|a| a.question.topic == *topic);
        let retried = answered.filter(|a| {
            a.answer
                .iter()
                .any(|label| label == AnswerChoice::Retry.into_str())
        });
        u32::try_from(retried.count()).unwrap_or(u32::MAX)
    }

    fn wake_owners(&mut self) {
        let stopped: Vec<TaskId> = self
            .state
            .tasks
            .iter()
            .filter(|t| t.status == Status::Implementing && self.state.is_own(t))
            .filter(|t| {
                let agent = t
                    .claim
                    .as_ref()
                    .and_then(|c| self.state.agents.get(&c.owner));
                agent.is_none_or(|a| a.activity == Activity::Idle)
            })
            .map(|t| t.leaf.id.clone())
            .collect();
        for id in stopped {
            self.wake_owner(&id);
        }
    }

    fn wake_owner(&mut self, id: &TaskId) {
        if self.state.awaits_answer(id) || !self.may_spend(Some(id)) {
            return;
        }
        let Some(task) = self.state.task(id) else {
            return;
        };
        let Some(owner) = task.claim.as_ref().map(|c| c.owner.clone()) else {
            return;
        };
        let left = self.state.reasons_left(&owner, task);
        if task.silences >= SILENCES {
            self.give_up(
                id,
                &format!("{owner} fell silent twice, and was ended{left}"),
            );
        } else if task.resume_due {
            self.dispatch(Dispatch::Resume, owner, Some(id.clone()));
        } else if task.nudges < self.around.nudges {
            self.record(Event::Nudged {
                task: id.clone(),
                owner: owner.clone(),
            });
            self.dispatch(Dispatch::Resume, owner, Some(id.clone()));
        } else {
            let times = self.around.nudges + 1;
            self.give_back(
                id,
                &format!("{owner} handed nothing in, {times} times{left}"),
            );
        }
    }

    /// Takes back what machines hold that nothing is heard of.
    fn take_back_from_silent(&mut self) {
        let held = self.state.running().filter_map(|task| {
            let machine = task
                .machine
                .as_ref()
                .filter(|machine| self.around.silent.contains(*machine))?;
            Some((task.leaf.id.clone(), machine.clone()))
        });
        for (id, machine) in held.collect::<Vec<_>>() {
            let about = |topic: &Topic| topic.task() == Some(&id);
            self.record_all(
                self.state
                    .close_questions(about, ClosedUnanswered::Withdrawn.into_str()),
            );
            self.give_back(&id, &format!("nothing is heard of {machine} any more"));
        }
    }

    /// Takes a claim back. The attempt counts, or this would never end.
    fn give_back(&mut self, id: &TaskId, reason: &str) {
        let iteration = self.state.task(id).map_or(0, |t| t.iteration) + 1;
        if iteration <= self.state.iterations_of(id) {
            self.record(Event::Released {
                task: id.clone(),
                reason: reason.to_owned(),
                iteration,
            });
            return;
        }
        self.give_up(id, reason);
    }

    fn give_up(&mut self, id: &TaskId, reason: &str) {
        self.record_all(self.state.failing(id, reason));
        let ask = self.state.ask(Topic::TaskFailed(id.clone()), reason);
        self.record(ask);
    }

    /// Records a dispatch and hands it to the lead.
    fn dispatch(&mut self, dispatch: Dispatch, name: AgentName, task: Option<TaskId>) {
        let due = Untold {
            dispatch,
            name: name.clone(),
            task: task.clone(),
        };
        let action = self.action(&due, false);
        self.record(Event::Dispatched {
            dispatch,
            name,
            task,
        });
        self.turn.actions.extend(action);
    }

    fn action(&self, due: &Untold, again: bool) -> Option<LeadAction> {
        let plan = &self.state.plan_id;
        let task = due.task.as_ref().and_then(|id| self.state.task(id));
        let name = due.name.clone();
        Some(match due.dispatch {
            Dispatch::Spawn => {
                let prompt = message::builder_prompt(plan, &name);
                let player = self.player_of_next(&name);
                LeadAction::Spawn {
                    name,
                    agent: BUILDER,
                    prompt,
                    player,
                    again,
                }
            }
            Dispatch::Resume => {
                let held = task.filter(|t| t.claim.as_ref().is_some_and(|c| c.owner == name));
                let message = match (held, &due.task) {
                    (Some(task), _) => message::wake(&self.state, task, &name),
                    (None, Some(lost)) => message::lost(plan, lost, &name),
                    (None, None) => message::offer(plan, &name),
                };
                let player = match held {
                    Some(task) => player(&self.around.agents, Role::Builder, Some(task)),
                    None => self.player_of_next(&name),
                };
                LeadAction::Resume {
                    name,
                    message,
                    player,
                    again,
                }
            }
            Dispatch::Verify => {
                let task = task.filter(|t| t.status == Status::AwaitingVerification)?;
                let player = player(&self.around.agents, Role::Verifier, Some(task));
                let (task, iteration) = (task.leaf.id.clone(), task.iteration);
                let prompt = message::verifier_prompt(plan, &name, &task, iteration);
                LeadAction::Verify {
                    name,
                    task,
                    iteration,
                    agent: VERIFIER,
                    prompt,
                    player,
                    again,
                }
            }
        })
    }

    /// The player of `name`, which is about to claim: each takes the first task that those before it leave.
    fn player_of_next(&self, name: &AgentName) -> AgentPlayer {
        if self.around.agents.by_complexity.is_empty() {
            return player(&self.around.agents, Role::Builder, None);
        }
        let before = self.on_their_way().filter(|other| *other < name).count();
        let ready = self.state.ready(&self.around.edited);
        player(
            &self.around.agents,
            Role::Builder,
            ready.get(before).or(ready.last()).copied(),
        )
    }

    /// The builders that are about to claim.
    fn on_their_way(&self) -> impl Iterator<Item = &AgentName> {
        let builders = self
            .state
            .agents
            .iter()
            .filter(|(_, agent)| agent.role == Role::Builder);
        let active = builders.filter(|(_, agent)| agent.activity != Activity::Idle);
        active
            .map(|(name, _)| name)
            .filter(|name| self.state.held_by(name).is_none())
    }

    /// Assigns builders to ready tasks, as many as can run side by side.
    fn staff(&mut self) {
        let on_their_way = self.on_their_way().count();
        let builders = self.state.run.as_ref().map_or(1, |r| r.terms.builders);
        let capacity =
            (builders as usize).saturating_sub(self.state.own_running().count() + on_their_way);
        let wanted = self
            .startable(capacity + on_their_way)
            .saturating_sub(on_their_way)
            .min(capacity);
        let limit = FRUITLESS * (1 + self.retries(&Topic::BuildersSilent));
        let mut exhausted = false;
        let mut started = 0;
        for number in 1..=builders {
            if started == wanted {
                return;
            }
            let Some(name) = self.state.builder(number) else {
                continue;
            };
            match self.state.agents.get(&name) {
                _ if self.state.held_by(&name).is_some() => continue,
                Some(agent) if agent.activity != Activity::Idle => continue,
                Some(agent) if agent.fruitless >= limit => {
                    exhausted = true;
                    continue;
                }
                Some(agent) if agent.fruitless == 0 => self.dispatch(Dispatch::Resume, name, None),
                _ => self.dispatch(Dispatch::Spawn, name, None),
            }
            started += 1;
        }
        if started == 0 && exhausted && on_their_way == 0 && !self.is_open(&Topic::BuildersSilent) {
            let said = self.state.said_by_fruitless();
            let ask = self.state.ask(Topic::BuildersSilent, &said);
            self.record(ask);
            self.answer_unattended();
        }
    }

    /// Counts the ready tasks that can run at the same time, in order; stops at `enough`.
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

    fn close(&mut self) {
        if !self.state.is_running() {
            self.turn.actions = vec![LeadAction::Finish {
                report: String::new(),
            }];
            return;
        }
        let open = self
            .state
            .questions
            .iter()
            .filter(|asked| asked.answer.is_empty());
        let (here, elsewhere): (Vec<&Asked>, Vec<&Asked>) =
            open.partition(|asked| self.around.attended || self.is_own(asked));
        let questions: Vec<LeadAction> = here
            .into_iter()
            .map(|asked| ask_of(&asked.question))
            .collect();
        let asks = !questions.is_empty();
        self.turn.actions.extend(questions);
        if asks
            || self
                .turn
                .actions
                .iter()
                .any(|action| matches!(action, LeadAction::Judge { .. }))
        {
            return;
        }
        let mut on = self.under_way();
        on.extend(elsewhere.into_iter().filter_map(|asked| {
            Some(format!(
                "the answer to {} on {}",
                asked.question.id,
                asked.machine.as_ref()?
            ))
        }));
        on.extend(
            self.around
                .cut_off
                .then(|| "the connection to the remote".to_owned()),
        );
        if !on.is_empty() {
            self.turn.actions.push(LeadAction::Wait { on });
        } else if self.state.wants_task() {
            let add = format!(
                "another task: `fp task add {0} …`, then `fp approve {0}`",
                self.state.plan_id
            );
            self.turn
                .actions
                .push(LeadAction::Revise { due: vec![add] });
        } else if !self.state.end_commands_due().is_empty() {
            self.turn.actions.push(LeadAction::Wait {
                on: vec!["the checks at the end".to_owned()],
            });
        } else if self.state.tasks.iter().all(|t| t.status.is_final()) {
            self.record(Event::Finished);
            self.turn.actions.push(LeadAction::Finish {
                report: String::new(),
            });
        } else {
            let due = self.chain(|obstacle| obstacle.is_some_and(Obstacle::wants_approval));
            self.turn.actions.push(match due.is_empty() {
                true => LeadAction::Deadlock {
                    chain: self.chain(|_| true),
                },
                false => LeadAction::Revise { due },
            });
        }
    }

    fn under_way(&self) -> Vec<String> {
        let agents = self
            .state
            .agents
            .iter()
            .filter(|(_, a)| a.activity != Activity::Idle)
            .map(|(n, _)| n.to_string());
        let commits = self.state.own_running().filter(|t| t.awaits_commit());
        let commits = commits.map(|t| format!("the commit of task {}", t.leaf.id));
        let elsewhere = self.state.running().filter(|task| !self.state.is_own(task));
        let elsewhere = elsewhere
            .filter_map(|t| Some(format!("task {} on {}", t.leaf.id, t.machine.as_ref()?)));
        agents.chain(commits).chain(elsewhere).collect()
    }

    /// The open tasks whose obstacle is `wanted`, with it.
    fn chain(&self, wanted: impl Fn(Option<&Obstacle>) -> bool) -> Vec<String> {
        let open = self.state.tasks.iter().filter(|t| !t.status.is_final());
        let obstacles = self.state.obstacles(&self.around.edited);
        let open = open.map(|task| (task, obstacles.of(task)));
        open.filter(|(_, obstacle)| wanted(obstacle.as_ref()))
            .map(|(task, obstacle)| {
                let why = match obstacle {
                    None => "it is ready, but no builder may be started".to_owned(),
                    Some(obstacle) => self.state.explain(task, &obstacle),
                };
                format!("{}: {why}", task.leaf.id)
            })
            .collect()
    }
}

fn ask_of(question: &Question) -> LeadAction {
    let Question {
        id: question,
        text,
        header,
        options,
        ..
    } = question.shown();
    LeadAction::Ask {
        question,
        text,
        header,
        options,
        multi_select: false,
    }
}

fn verifier_name(task: &TaskId, iteration: u32, nth: u32) -> Option<AgentName> {
    let task = task.as_str().replace('.', "-");
    let again = if nth == 0 {
        String::new()
    } else {
        format!("-{}", nth + 1)
    };
    let name = format!("verifier-{task}-i{iteration}{again}");
    AgentName::new(name)
        .or_else(|_| AgentName::new(format!("verifier-i{iteration}{again}")))
        .ok()
}

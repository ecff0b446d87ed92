//! Folds events into the state. Folding never fails, because the log states facts: an event about an unknown task
//! changes only the sequence number.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::event::{Approve, Base, Decider, Dispatch, Entry, Event};
use super::inquiry::allowed_path;
use super::question::{ClosedUnanswered, Topic};
use super::state::{
    Activity, Approval, Asked, ChecksBefore, Claim, MeasuredWork, Role, Run, RunAgent, RunStatus,
    State, Status, TaskState, Untold,
};
use crate::verification::{Check, tests_ran};
use fp_plan::plan::id::{AgentName, TaskId};

/// The folder that no task may have, wherever the settings put the plans.
const PLANS: &str = ".fractal-planner";

impl State {
    /// Replays a log from the start.
    pub fn replay<'a>(
        plan_id: fp_plan::plan::id::PlanId,
        entries: impl IntoIterator<Item = &'a Entry>,
    ) -> Self {
        let mut state = Self::new(plan_id);
        for entry in entries {
            state.apply(entry);
        }
        state
    }

    /// Applies one line of the log.
    pub fn apply(&mut self, entry: &Entry) {
        self.seq = entry.seq;
        self.last_at = Some(entry.at);
        self.created_at.get_or_insert(entry.at);
        let is_own = self.count_entry(entry);
        if is_own {
            self.behind = entry.clock.map(|clock| self.behind.unwrap_or(clock));
        }
        let answered = self.answered_by(entry);
        let machine = entry.by.as_ref().map(|by| by.machine.clone());
        for event in &entry.events {
            if !self.counts(event, entry, &answered) {
                continue;
            }
            let at = entry.clock.unwrap_or(entry.at);
            match is_own {
                true => self.fold(event, at),
                false => self.fold_of_other(event, at),
            }
            match event {
                Event::Claimed { task, .. } | Event::Completed { task, .. } => {
                    self.change(task, |t| t.machine.clone_from(&machine));
                }
                Event::Asked { .. } => self
                    .questions
                    .last_mut()
                    .into_iter()
                    .for_each(|q| q.machine.clone_from(&machine)),
                _ => {}
            }
        }
    }

    /// Applies a line of the log whose code is `code`, and which this machine wrote or not.
    pub fn apply_line(&mut self, entry: &Entry, code: &str, is_own: bool) {
        self.apply(entry);
        if !is_own {
            self.foreign.get_or_insert(entry.seq);
        }
        let approves = |event: &Event| matches!(event, Event::Approved(_));
        if let Some(approval) = &mut self.approval
            && entry.events.iter().any(approves)
        {
            approval.code = Some(code.to_owned());
        }
    }

    pub(super) fn fold(&mut self, event: &Event, at: Timestamp) {
        self.lead_nudges = match event {
            Event::LeadNudged => self.lead_nudges + 1,
            Event::Told
            | Event::Interviewed { .. }
            | Event::Validated { .. }
            | Event::Critiqued(_) => self.lead_nudges,
            // Any other event shows progress.
            _ => 0,
        };
        match event {
            Event::Interviewed { by } => {
                self.interview_rounds.count(*by);
                // A changed wish leads to another tree.
                if *by == Decider::User {
                    self.planning.begin_anew();
                }
            }
            Event::Imported { tasks, from: _ } => {
                self.imported
                    .extend(tasks.iter().map(|done| (done.task.clone(), done.clone())));
            }
            Event::Approved(Approve {
                tree_hash,
                leaves,
                base,
                commits,
                end_commands,
                by,
            }) => {
                self.head = base.clone().or_else(|| self.head.take());
                self.approval = Some(Approval {
                    tree_hash: tree_hash.clone(),
                    at,
                    by: *by,
                    commits: commits.clone(),
                    end_commands: end_commands.clone(),
                    code: None,
                });
                self.take_leaves(leaves);
                self.tried = false;
                self.planning.begin_anew();
                self.tasks.iter_mut().for_each(|t| t.to_revise = false);
            }
            Event::Validated { pass, seen } => self.planning.fold_validated(*pass, seen),
            Event::Critiqued(critique) => self.planning.fold_critiqued(critique),
            Event::RunStarted(terms) => {
                let started_at = self.run.as_ref().map_or(at, |r| r.started_at);
                if !self.is_running() {
                    self.checkout_left = terms.found.as_ref().map(|found| found.tree.clone());
                }
                let (session, client) = (terms.session.as_deref(), terms.client);
                if !self
                    .run
                    .as_ref()
                    .is_some_and(|r| r.is_led_by(session, client))
                {
                    let keeps_sessions = self.keeps_sessions(terms);
                    self.agents.clear();
                    self.forget(|_| true);
                    self.tasks.iter_mut().for_each(|t| t.verifiers = 0);
                    if keeps_sessions {
                        self.wake_holders(at);
                    } else {
                        self.agent_ids.clear();
                        self.processes.clear();
                    }
                }
                self.run = Some(Run {
                    terms: terms.clone(),
                    status: RunStatus::Running,
                    started_at,
                });
            }
            Event::ProgressDropped {} => {
                for task in self
                    .tasks
                    .iter_mut()
                    .filter(|task| task.status != Status::Completed)
                {
                    *task = TaskState::new(task.leaf.clone());
                }
                self.agents.clear();
                self.agent_ids.clear();
                self.processes.clear();
                self.costs.clear();
                self.questions.clear();
                self.notes.clear();
            }
            Event::CheckoutSeen { tree } => self.checkout_left = Some(tree.clone()),
            Event::HeadMoved { head, drifted } => {
                self.head = Some(head.clone());
                for (id, drift) in drifted {
                    self.change(id, |t| t.drift.get_or_insert_default().add(drift));
                }
            }
            Event::Kept { tasks } => tasks
                .iter()
                .for_each(|id| self.change(id, |t| t.drift = None)),
            Event::CommandsTried { checks, .. } => {
                self.count_tests(checks);
                self.tried = true;
                self.untried.clear();
            }
            Event::CheckedBefore {
                task,
                checks,
                passed,
            } => {
                self.count_tests(checks);
                let before = ChecksBefore {
                    checks: checks.clone(),
                    passed: *passed,
                    waived: None,
                };
                self.change(task, |t| t.before = Some(before));
            }
            Event::ChecksDropped {
                task,
                commands,
                by: _,
            } => self.change(task, |t| {
                t.dropped.extend(commands.iter().cloned());
                t.verification = None;
                t.verifiers = 0;
            }),
            Event::RevisionDue { task } => self.change(task, |t| t.to_revise = true),
            Event::Waived { task, by } => self.change(task, |t| {
                t.before
                    .iter_mut()
                    .for_each(|before| before.waived = Some(*by));
            }),
            Event::Dispatched {
                dispatch,
                name,
                task,
            } => self.dispatched(*dispatch, name, task.as_ref(), at),
            Event::Told => {
                let told = self.untold.drain(..);
                let (unwoken, unstarted): (Vec<Untold>, Vec<Untold>) =
                    told.partition(|told| told.dispatch == Dispatch::Resume);
                self.unwoken.extend(unwoken);
                self.unstarted.extend(unstarted);
            }
            Event::LeadNudged => {}
            Event::Reached { name } => self.heard_of(name),
            Event::AgentStarted { name, process } => {
                self.heard_of(name);
                self.fold_process(name, process);
            }
            Event::AgentSpent { name, cost } => self.fold_cost(name, cost),
            Event::AgentEnded {
                name,
                said,
                silent,
                task: _,
            } => {
                let is_silent = silent.is_some();
                let held = self.held_by(name).map(|task| task.leaf.id.clone());
                held.into_iter()
                    .for_each(|id| self.change(&id, |t| t.silences += u32::from(is_silent)));
                self.agent_ended(name, is_silent, at);
                if let Some(agent) = self.agents.get_mut(name).filter(|_| said.is_some()) {
                    agent.said.clone_from(said);
                }
            }
            Event::AgentKnown { name, id } => {
                self.heard_of(name);
                self.agent_ids.retain(|_, known| known != name);
                self.agent_ids.insert(id.clone(), name.clone());
            }
            Event::Claimed {
                task,
                owner,
                token,
                iteration,
                base,
            } => {
                self.end_checks = None;
                let agent = self.agent(owner, Role::Builder, at);
                (agent.fruitless, agent.said) = (0, None);
                self.working(owner, at);
                if base.worktree.is_some() {
                    self.worktrees.insert(owner.clone(), task.clone());
                } else {
                    self.leave_checkout(&base.tree);
                }
                self.change(task, |t| {
                    t.status = Status::Implementing;
                    t.claim = Some(Claim {
                        owner: owner.clone(),
                        token: token.clone(),
                        since: at,
                    });
                    t.iteration = *iteration;
                    t.take_base(base);
                    t.started_at.get_or_insert(at);
                    t.begin_iteration();
                });
            }
            Event::Resumed { task, owner } => {
                self.working(owner, at);
                self.change(task, |t| {
                    t.resume_due = false;
                    t.answered = None;
                });
            }
            Event::Nudged { task, owner } => {
                self.working(owner, at);
                self.change(task, |t| t.nudges += 1);
            }
            Event::Submitted {
                task,
                owner,
                tree,
                files,
            } => {
                self.heard_of(owner);
                self.idle(owner, at);
                self.agent(owner, Role::Builder, at).said = None;
                self.close_unanswered(task, ClosedUnanswered::Withdrawn);
                if self.is_in_checkout(task) {
                    self.leave_checkout(tree);
                }
                self.change(task, |t| {
                    t.status = Status::AwaitingVerification;
                    t.submission = Some(MeasuredWork {
                        tree: tree.clone(),
                        files: files.clone(),
                        checks: Vec::new(),
                    });
                    t.verification = None;
                    t.verifiers = 0;
                    t.refused = None;
                    t.silences = 0;
                });
            }
            Event::SubmitRefused {
                task,
                reason,
                owner: _,
            } => self.change(task, |t| t.refused = Some(reason.clone())),
            Event::Edited { task, path } => self.change(task, |t| t.edited.extend([path.clone()])),
            Event::ScopeExtended { task, granted } => {
                // A log may come from anywhere.
                if allowed_path(&granted.path, PLANS).is_ok_and(|allowed| allowed == granted.path) {
                    self.change(task, |t| t.granted.push(granted.clone()));
                }
            }
            Event::Verified {
                task,
                work,
                iteration: _,
            } => {
                if self.is_in_checkout(task) {
                    self.leave_checkout(&work.tree);
                }
                self.count_tests(&work.checks);
                // Whoever measures a submission is its verifier, as far as the log can tell.
                self.forget(|told| told.task.as_ref() == Some(task));
                self.change(task, |t| t.verification = Some(work.clone()));
            }
            Event::Judged { task, verdict } => {
                self.end_verifiers(task, at);
                self.change(task, |t| {
                    t.verdict = Some(verdict.clone());
                    t.failed_verdicts += u32::from(!verdict.pass);
                    if !verdict.pass {
                        t.failed.clone_from(&t.verification);
                        t.failed
                            .iter_mut()
                            .for_each(|failed| failed.checks.retain(Check::fails));
                    }
                });
            }
            Event::SentBack {
                task,
                iteration,
                token,
                feedback,
                base,
            } => {
                self.change(task, |t| {
                    t.base = base.clone().or(t.base.take());
                    t.status = Status::Implementing;
                    t.iteration = *iteration;
                    t.feedback = Some(feedback.clone());
                    t.resume_due = true;
                    t.commit_intent = None;
                    if let Some(claim) = &mut t.claim {
                        claim.token.clone_from(token);
                        claim.since = at;
                    }
                    t.begin_iteration();
                });
            }
            Event::CommitStarted { task, intent } => {
                self.change(task, |t| t.commit_intent = Some(intent.clone()));
            }
            Event::CommitBlocked { task, reason } => {
                self.change(task, |t| t.reason = Some(reason.clone()));
            }
            Event::Completed { task, commit, note } => self.change(task, |t| {
                t.end(Status::Completed, at);
                t.commit.clone_from(commit);
                t.note.clone_from(note);
                t.reason = None;
                t.feedback = None;
                t.submission = None;
                // The log keeps the other checks. Unfinished work that was let through is needed when the next plan
                // starts.
                t.verification
                    .iter_mut()
                    .for_each(|verified| verified.checks.retain(Check::lets_go));
            }),
            Event::Released {
                task,
                iteration,
                reason: _,
            } => {
                self.close_unanswered(task, ClosedUnanswered::Withdrawn);
                self.change(task, |t| {
                    t.status = Status::Pending;
                    t.claim = None;
                    t.commit_intent = None;
                    t.iteration = *iteration;
                    t.begin_iteration();
                });
            }
            Event::Failed { task, reason } => {
                self.end_verifiers(task, at);
                self.close_unanswered(task, ClosedUnanswered::GivenUp);
                self.change(task, |t| {
                    t.end(Status::Failed, at);
                    t.reason = Some(reason.clone());
                });
            }
            Event::Skipped { task, because } => {
                self.close_unanswered(task, ClosedUnanswered::GivenUp);
                self.change(task, |t| {
                    t.end(Status::Skipped, at);
                    t.because = Some(because.clone());
                    t.reason = Some(format!("Blocked by {because}"));
                });
            }
            Event::Retried { task, restored } => {
                for id in std::iter::once(task).chain(restored) {
                    self.imported.remove(id);
                    self.change(id, TaskState::restart);
                }
                self.reopen();
            }
            Event::RolledBack {
                task,
                commit,
                revert,
            } => {
                self.undone.extend(commit.iter().chain(revert).cloned());
                self.imported.remove(task);
                self.change(task, |t| t.roll_back(commit.is_some()));
                self.reopen();
            }
            Event::Asked { question } => {
                if let Topic::Drift(tasks) = &question.topic {
                    for id in tasks {
                        self.change(id, |t| {
                            t.drift.iter_mut().for_each(|drift| drift.asked = true)
                        });
                    }
                }
                if let Topic::Clarify(id) | Topic::CheckDoubted { task: id, .. } = &question.topic {
                    self.change(id, |t| t.asked_after = Some(t.failed_checks()));
                }
                self.questions.push(Asked {
                    question: question.clone(),
                    answer: Vec::new(),
                    by: Default::default(),
                    machine: self.machine.clone(),
                });
            }
            Event::Answered {
                question,
                options,
                by,
            } => {
                if let Some(asked) = self
                    .questions
                    .iter_mut()
                    .find(|a| a.question.id == *question)
                {
                    asked.answer.clone_from(options);
                    asked.by = *by;
                    let about = asked
                        .question
                        .topic
                        .task()
                        .filter(|_| asked.question.topic.is_inquiry());
                    if let Some(t) = about.cloned().and_then(|task| self.task_mut(&task)) {
                        t.answered = Some(question.clone());
                        t.resume_due = t.status == Status::Implementing;
                    }
                }
            }
            Event::Noted { note } => self.notes.push(note.clone()),
            Event::CheckedAtEnd { checks } => self.end_checks = Some(checks.clone()),
            Event::Joined { head } => self.head = Some(head.clone()),
            Event::Messaged { .. } | Event::Left | Event::Renewed => {}
            Event::Cancelled { .. } => self.set_run_status(RunStatus::Cancelled),
            Event::Finished => self.set_run_status(RunStatus::Finished),
        }
    }

    /// Changes the task `id`, if the plan has it.
    fn change(&mut self, id: &TaskId, change: impl FnOnce(&mut TaskState)) {
        if let Some(task) = self.task_mut(id) {
            change(task);
        }
    }

    /// Remembers how many tests the commands of `checks` ran.
    fn count_tests(&mut self, checks: &[Check]) {
        for check in checks {
            if let Some((line, count)) = check.command().zip(tests_ran(check).filter(|n| *n > 0)) {
                self.tests_ran.insert(line.to_owned(), count);
            }
        }
    }

    fn is_in_checkout(&self, task: &TaskId) -> bool {
        self.task(task)
            .is_some_and(|task| task.worktree().is_none())
    }

    /// Remembers `tree` as the checkout's last state, in a run that recorded its first.
    fn leave_checkout(&mut self, tree: &str) {
        if let Some(left) = &mut self.checkout_left {
            tree.clone_into(left);
        }
    }

    fn take_leaves(&mut self, leaves: &[super::event::Leaf]) {
        let mut before: std::collections::HashMap<TaskId, TaskState> =
            std::mem::take(&mut self.tasks)
                .into_iter()
                .map(|t| (t.leaf.id.clone(), t))
                .collect();
        let is_revised = |leaf: &&super::event::Leaf| {
            before
                .get(&leaf.id)
                .is_some_and(|known| known.leaf.hash != leaf.hash)
        };
        let revised: BTreeSet<TaskId> = leaves
            .iter()
            .filter(is_revised)
            .map(|leaf| leaf.id.clone())
            .collect();
        if self.run.is_some() {
            let is_new = |leaf: &&super::event::Leaf| {
                !before.contains_key(&leaf.id) || revised.contains(&leaf.id)
            };
            self.untried
                .extend(leaves.iter().filter(is_new).map(|leaf| leaf.id.clone()));
        }
        self.tasks = leaves
            .iter()
            .map(|leaf| match before.remove(&leaf.id) {
                Some(known) if known.leaf.hash == leaf.hash => TaskState {
                    leaf: leaf.clone(),
                    ..known
                },
                Some(known) => TaskState {
                    leaf: leaf.clone(),
                    drift: None,
                    before: None,
                    feedback: None,
                    failed: None,
                    dropped: BTreeSet::new(),
                    ..known
                },
                None => match self
                    .imported
                    .get(&leaf.id)
                    .filter(|done| done.title == leaf.title)
                {
                    Some(done) => TaskState::imported(leaf.clone(), done.commit.clone()),
                    None => TaskState::new(leaf.clone()),
                },
            })
            .collect();
        self.restore_index();
        self.notes.retain(|note| {
            note.task
                .as_ref()
                .is_none_or(|task| !revised.contains(task))
        });
    }

    /// Has every builder that holds a task go on with its conversation.
    fn wake_holders(&mut self, at: Timestamp) {
        let machine = &self.machine;
        let is_held =
            |task: &&mut TaskState| task.status == Status::Implementing && task.machine == *machine;
        let held = self.tasks.iter_mut().filter(is_held);
        let owners: Vec<AgentName> = held
            .filter_map(|task| {
                task.resume_due = true;
                Some(task.claim.as_ref()?.owner.clone())
            })
            .collect();
        for owner in owners {
            self.idle(&owner, at);
        }
    }

    fn agent(&mut self, name: &AgentName, role: Role, at: Timestamp) -> &mut RunAgent {
        self.agents.entry(name.clone()).or_insert(RunAgent {
            role,
            activity: Activity::Working,
            since: at,
            task: None,
            fruitless: 0,
            said: None,
        })
    }

    fn dispatched(
        &mut self,
        dispatch: Dispatch,
        name: &AgentName,
        task: Option<&TaskId>,
        at: Timestamp,
    ) {
        let role = if dispatch == Dispatch::Verify {
            Role::Verifier
        } else {
            Role::Builder
        };
        self.untold.push(Untold {
            dispatch,
            name: name.clone(),
            task: task.cloned(),
        });
        let agent = self.agent(name, role, at);
        agent.turn(Activity::Dispatched, at);
        agent.task = task.filter(|_| role == Role::Verifier).cloned();
        task.into_iter().for_each(|id| {
            self.change(id, |t| match dispatch {
                Dispatch::Verify => t.verifiers += 1,
                Dispatch::Spawn | Dispatch::Resume => t.resume_due = false,
            });
        });
    }

    /// Of two silences that cost their time, the second is the last.
    fn agent_ended(&mut self, name: &AgentName, is_silent: bool, at: Timestamp) {
        self.heard_of(name);
        let holds = self.held_by(name).is_some();
        if let Some(agent) = self.agents.get_mut(name) {
            if agent.role == Role::Builder && !holds && agent.activity == Activity::Dispatched {
                agent.fruitless += 1 + u32::from(is_silent);
            }
            agent.turn(Activity::Idle, at);
        }
    }

    /// The lead has started `name`, or no longer needs to.
    fn heard_of(&mut self, name: &AgentName) {
        self.forget(|told| told.name == *name);
    }

    /// Nothing that the lead was told to do is due any more, as far as it `is_gone`.
    fn forget(&mut self, is_gone: impl Fn(&Untold) -> bool) {
        for told in [&mut self.untold, &mut self.unstarted, &mut self.unwoken] {
            told.retain(|told| !is_gone(told));
        }
    }

    fn working(&mut self, name: &AgentName, at: Timestamp) {
        self.heard_of(name);
        self.agent(name, Role::Builder, at)
            .turn(Activity::Working, at);
    }

    fn idle(&mut self, name: &AgentName, at: Timestamp) {
        self.agent(name, Role::Builder, at).turn(Activity::Idle, at);
    }

    fn end_verifiers(&mut self, task: &TaskId, at: Timestamp) {
        self.forget(|told| told.task.as_ref() == Some(task));
        let verifiers = self
            .agents
            .values_mut()
            .filter(|agent| agent.task.as_ref() == Some(task));
        verifiers.for_each(|agent| agent.turn(Activity::Idle, at));
    }

    /// Closes the questions about a task that was given up, or, where a builder continued without an answer or lost its
    /// claim, its own ones.
    fn close_unanswered(&mut self, task: &TaskId, how: ClosedUnanswered) {
        let open = self.questions.iter_mut().filter(|a| a.answer.is_empty());
        let about = open.filter(|a| a.question.topic.task() == Some(task));
        for asked in
            about.filter(|a| how == ClosedUnanswered::GivenUp || a.question.topic.is_inquiry())
        {
            asked.answer = vec![how.into_str().into()];
        }
    }

    fn set_run_status(&mut self, status: RunStatus) {
        if let Some(run) = &mut self.run {
            run.status = status;
        }
    }

    fn reopen(&mut self) {
        if self.has_status(RunStatus::Finished) {
            self.set_run_status(RunStatus::Running);
        }
    }
}

impl RunAgent {
    fn turn(&mut self, activity: Activity, at: Timestamp) {
        (self.activity, self.since) = (activity, at);
    }
}

impl TaskState {
    /// Half-done work stays in the user's checkout, and so does its base; a worktree starts at the base its claim
    /// names.
    fn take_base(&mut self, base: &Base) {
        match &mut self.base {
            Some(kept) if kept.worktree.is_none() && base.worktree.is_none() => {
                kept.around.clone_from(&base.around);
            }
            _ => self.base = Some(base.clone()),
        }
    }

    /// A leaf that was done before the plan was imported.
    fn imported(leaf: super::event::Leaf, commit: Option<String>) -> Self {
        let note = commit
            .is_none()
            .then(|| "done before the import; not verified".to_owned());
        Self {
            status: Status::Completed,
            imported: true,
            commit,
            note,
            ..Self::new(leaf)
        }
    }

    fn begin_iteration(&mut self) {
        self.answered = None;
        self.submission = None;
        self.verification = None;
        self.nudges = 0;
        self.verifiers = 0;
        self.refused = None;
    }

    fn end(&mut self, status: Status, at: Timestamp) {
        self.status = status;
        self.claim = None;
        self.commit_intent = None;
        self.resume_due = false;
        self.ended_at = Some(at);
    }

    /// Forgets the task's history. If no commit was undone, its changes are still there, and are measured from the old
    /// base.
    fn roll_back(&mut self, is_undone: bool) {
        let begun = (self.base.take(), self.started_at);
        *self = Self::new(self.leaf.clone());
        if !is_undone {
            (self.base, self.started_at) = begun;
        }
    }

    fn restart(&mut self) {
        self.status = Status::Pending;
        self.iteration = 0;
        self.verdict = None;
        self.failed = None;
        self.reason = None;
        self.because = None;
        self.ended_at = None;
        self.imported = false;
        self.commit = None;
        self.note = None;
        self.silences = 0;
        self.begin_iteration();
    }
}

//! Folds events into the state. Folding never fails, because the log states facts: an event about an unknown task
//! changes only the sequence number.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;

use super::event::{AgentDispatch, Approve, Base, Decider, Dispatch, Entry, Event, Leaf, RunTerms};
use super::inquiry::allowed_path;
use super::question::{ClosedUnanswered, Topic};
use super::state::{
    Activity, Approval, Asked, ChecksBefore, Claim, HandedIn, MeasuredWork, Role, Run, RunAgent,
    RunStatus, State, Status, TaskState,
};
use crate::verification::{Check, tests_ran};
use fp_plan::plan::id::{AgentName, PlanId, TaskId};

/// The folder that no task may be granted files in, wherever the settings put the plans.
const PLANS: &str = ".fractal-planner";

impl State {
    /// Replays a log from the start.
    pub fn replay<'a>(plan_id: PlanId, entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut state = Self::new(plan_id);
        entries.into_iter().for_each(|entry| state.apply(entry));
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
        let at = entry.clock.unwrap_or(entry.at);
        for event in &entry.events {
            if !self.is_effective(event, entry, &answered) {
                continue;
            }
            match is_own {
                true => self.fold(event, at),
                false => self.fold_of_other(event, at),
            }
            match event {
                Event::Claimed { task, .. } | Event::Completed { task, .. } => {
                    self.change(task, |t| t.machine.clone_from(&machine));
                }
                Event::Asked { .. } => {
                    let asked = self.questions.last_mut();
                    asked
                        .into_iter()
                        .for_each(|q| q.machine.clone_from(&machine));
                }
                _ => {}
            }
        }
    }

    /// Applies a log line. `code` is its authentication code; `is_own` tells if this machine wrote it.
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

    /// Folds `event` into its task, then into the run and its agents.
    pub(super) fn fold(&mut self, event: &Event, at: Timestamp) {
        if let Some(task) = event.task().and_then(|id| self.task_mut(id)) {
            task.fold(event, at);
        }
        self.lead_nudges = match event {
            Event::LeadNudged => self.lead_nudges + 1,
            Event::Told | Event::Interviewed { .. } | Event::Validated(_) | Event::Critiqued(_) => {
                self.lead_nudges
            }
            // Any other event shows progress.
            _ => 0,
        };
        match event {
            Event::Interviewed { by } => {
                self.interview_rounds.count_round(*by);
                // A changed goal leads to a different tree.
                if *by == Decider::User {
                    self.planning.begin_anew();
                }
            }
            Event::Imported { tasks, .. } => {
                let done = tasks.iter().map(|done| (done.task.clone(), done.clone()));
                self.imported.extend(done);
            }
            Event::Approved(approve) => self.fold_approval(approve, at),
            Event::Validated(_) => {}
            Event::Critiqued(critique) => self.planning.fold_critiqued(critique),
            Event::RunStarted(terms) => self.fold_start(terms, at),
            Event::ProgressDropped {} => {
                let open = |task: &&mut TaskState| task.status != Status::Completed;
                for task in self.tasks.iter_mut().filter(open) {
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
            Event::Kept { tasks } => {
                for id in tasks {
                    self.change(id, |t| t.drift = None);
                }
            }
            Event::CommandsTried { checks, .. } => {
                self.count_tests(checks);
                self.tried = true;
                self.untried.clear();
            }
            Event::CheckedBefore { checks, .. } => self.count_tests(checks),
            Event::Dispatched(due) => self.fold_dispatch(due, at),
            Event::Told => {
                for told in self.untold.drain(..) {
                    match told.dispatch {
                        Dispatch::Resume => self.unwoken.push(told),
                        Dispatch::Spawn | Dispatch::Verify => self.unstarted.push(told),
                    }
                }
            }
            Event::Reached { name } => self.heard_of(name),
            Event::AgentStarted { name, process } => {
                self.heard_of(name);
                self.fold_process(name, process);
            }
            Event::AgentSpent { name, cost } => self.fold_cost(name, cost),
            Event::AgentEnded {
                name, said, silent, ..
            } => {
                self.fold_agent_end(name, u32::from(silent.is_some()), at);
                if let (Some(agent), Some(said)) = (self.agents.get_mut(name), said) {
                    agent.said = Some(said.clone());
                }
            }
            Event::AgentKnown { name, id } => {
                self.heard_of(name);
                self.know_agent(name, id);
            }
            Event::Claimed {
                task, owner, base, ..
            } => {
                self.end_checks = None;
                self.heard_of(owner);
                let agent = self.turn_agent(owner, Activity::Working, at);
                (agent.fruitless, agent.said) = (0, None);
                agent.claimed = Some(task.clone());
                self.leave_checkout(task, &base.tree);
                if base.worktree.is_some() {
                    self.worktrees.insert(owner.clone(), task.clone());
                }
            }
            Event::Resumed { owner, .. } | Event::Nudged { owner, .. } => {
                self.heard_of(owner);
                self.turn_agent(owner, Activity::Working, at);
            }
            Event::Submitted {
                task, owner, tree, ..
            } => {
                self.heard_of(owner);
                let agent = self.turn_agent(owner, Activity::Idle, at);
                (agent.said, agent.is_ending) = (None, true);
                self.close_unanswered(task, ClosedUnanswered::Withdrawn);
                self.leave_checkout(task, tree);
            }
            Event::Verified { task, work, .. } => {
                if work.onto.is_none() {
                    self.leave_checkout(task, &work.tree);
                }
                self.count_tests(&work.checks);
                // The log can't name the verifier, but a measured submission shows that one has started.
                self.forget_dispatches(|told| told.task.as_ref() == Some(task));
            }
            Event::Judged { task, .. } => {
                self.end_verifiers(Some(task), at);
                // `fp run` sees when its builders end; a session's lead may have missed it by now.
                if !self.has_processes() {
                    let builders = self.agents.values_mut();
                    let builders = builders.filter(|agent| agent.claimed.as_ref() == Some(task));
                    builders.for_each(|agent| agent.is_ending = false);
                }
            }
            Event::Released { task, .. } => {
                self.end_verifiers(Some(task), at);
                self.close_unanswered(task, ClosedUnanswered::Withdrawn);
            }
            Event::Failed { task, .. } => {
                self.end_verifiers(Some(task), at);
                self.close_unanswered(task, ClosedUnanswered::GivenUp);
            }
            Event::Skipped { task, .. } => {
                self.close_unanswered(task, ClosedUnanswered::GivenUp);
            }
            Event::Retried { task, restored } => {
                for id in std::iter::once(task).chain(restored) {
                    self.imported.remove(id);
                    self.change(id, TaskState::restart);
                }
                self.reopen_run();
            }
            Event::RolledBack {
                task,
                commit,
                revert,
            } => {
                self.undone.extend(commit.iter().chain(revert).cloned());
                self.imported.remove(task);
                self.reopen_run();
            }
            Event::Asked { question } => {
                match &question.topic {
                    Topic::Drift(tasks) => {
                        for id in tasks {
                            self.change(id, |t| t.drift.iter_mut().for_each(|d| d.asked = true));
                        }
                    }
                    Topic::Clarify(id) | Topic::CheckDoubted { task: id, .. } => {
                        self.change(id, |t| t.asked_after = Some(t.failed_checks()));
                    }
                    _ => {}
                }
                self.questions.push(Asked {
                    question: question.clone(),
                    answer: Vec::new(),
                    by: Decider::default(),
                    machine: self.machine.clone(),
                });
            }
            Event::Answered {
                question,
                options,
                by,
            } => self.fold_answer(question, options, *by),
            Event::NoteEnded { number } => {
                let at = number.checked_sub(1);
                if let Some(note) = at.and_then(|at| self.notes.get_mut(at)) {
                    note.ended = true;
                }
            }
            Event::Noted { note } => self.notes.push(note.clone()),
            Event::CheckedAtEnd { checks } => self.end_checks = Some(checks.clone()),
            Event::WholeJudged { verdict } => {
                self.whole_verdict = Some(verdict.clone());
                self.end_verifiers(None, at);
            }
            Event::Joined { head } => self.head = Some(head.clone()),
            Event::Cancelled { .. } => self.set_run_status(RunStatus::Cancelled),
            Event::Finished => self.set_run_status(RunStatus::Finished),
            Event::LeadNudged | Event::Messaged { .. } | Event::Left | Event::Renewed => {}
            // These change only their task.
            Event::ChecksDropped { .. }
            | Event::RevisionDue { .. }
            | Event::Waived { .. }
            | Event::SubmitRefused { .. }
            | Event::Edited { .. }
            | Event::ScopeExtended { .. }
            | Event::SentBack { .. }
            | Event::CommitStarted { .. }
            | Event::CommitBlocked { .. }
            | Event::Completed { .. } => {}
        }
    }

    fn fold_approval(&mut self, approve: &Approve, at: Timestamp) {
        self.head = approve.base.clone().or_else(|| self.head.take());
        self.approval = Some(Approval {
            tree_hash: approve.tree_hash.clone(),
            at,
            by: approve.by,
            commits: approve.commits.clone(),
            end_commands: approve.end_commands.clone(),
            setup: approve.setup.clone(),
            code: None,
        });
        self.take_leaves(&approve.leaves);
        self.tried = false;
        self.planning.begin_anew();
    }

    fn fold_start(&mut self, terms: &RunTerms, at: Timestamp) {
        if !self.is_running() {
            self.checkout_left = terms.found.as_ref().map(|found| found.tree.clone());
        }
        if !self.is_led_by(terms) {
            let keeps_sessions = self.keeps_sessions(terms);
            self.agents.clear();
            self.forget_dispatches(|_| true);
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
            started_at: self.run.as_ref().map_or(at, |run| run.started_at),
        });
    }

    fn fold_answer(&mut self, question: &str, options: &[String], by: Decider) {
        let mut asked = self.questions.iter_mut();
        let Some(asked) = asked.find(|asked| asked.question.id == question) else {
            return;
        };
        (asked.answer, asked.by) = (options.to_vec(), by);
        let topic = &asked.question.topic;
        if let Some(id) = topic.task().filter(|_| topic.is_inquiry()).cloned() {
            self.change(&id, |t| {
                t.answered = Some(question.to_owned());
                t.resume_due = t.status == Status::Implementing;
            });
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

    /// Remembers `tree` as the state in which `task` left the checkout, if the task is done there and the run recorded
    /// the checkout's first state.
    fn leave_checkout(&mut self, task: &TaskId, tree: &str) {
        let is_there = self
            .task(task)
            .is_some_and(|task| task.worktree().is_none());
        if let Some(left) = self.checkout_left.as_mut().filter(|_| is_there) {
            tree.clone_into(left);
        }
    }

    /// Takes over the approved leaves. A changed leaf keeps its history, but loses everything that was said about its
    /// old text.
    fn take_leaves(&mut self, leaves: &[Leaf]) {
        let before = std::mem::take(&mut self.tasks).into_iter();
        let mut before: HashMap<TaskId, TaskState> =
            before.map(|task| (task.leaf.id.clone(), task)).collect();
        for leaf in leaves {
            let (id, leaf) = (&leaf.id, leaf.clone());
            let known = before.remove(id);
            let is_same = known
                .as_ref()
                .is_some_and(|task| task.leaf.hash == leaf.hash);
            if !is_same && self.run.is_some() {
                self.untried.insert(id.clone());
            }
            let done = self.imported.get(id);
            let done = done.filter(|done| done.title == leaf.title);
            self.tasks.push(match (known, done) {
                (Some(known), _) if is_same => TaskState {
                    leaf,
                    to_revise: false,
                    ..known
                },
                (Some(known), _) => {
                    self.notes.retain(|note| note.task.as_ref() != Some(id));
                    TaskState {
                        leaf,
                        to_revise: false,
                        drift: None,
                        before: None,
                        feedback: None,
                        failed: None,
                        dropped: BTreeSet::new(),
                        ..known
                    }
                }
                (None, Some(done)) => TaskState::of_import(leaf, done.commit.clone()),
                (None, None) => TaskState::new(leaf),
            });
        }
        self.restore_index();
    }

    /// Makes every builder of this machine that holds a task continue its conversation.
    fn wake_holders(&mut self, at: Timestamp) {
        let mut owners = Vec::new();
        for task in &mut self.tasks {
            let is_held = task.status == Status::Implementing && task.machine == self.machine;
            if let Some(claim) = task.claim.as_ref().filter(|_| is_held) {
                task.resume_due = true;
                owners.push(claim.owner.clone());
            }
        }
        for owner in owners {
            self.turn_agent(&owner, Activity::Idle, at);
        }
    }

    /// Records the current activity of `name`, which is a builder unless known otherwise.
    fn turn_agent(&mut self, name: &AgentName, activity: Activity, at: Timestamp) -> &mut RunAgent {
        let agent = self.agents.entry(name.clone()).or_default();
        (agent.activity, agent.since) = (activity, at);
        agent.is_ending = false;
        agent
    }

    fn fold_dispatch(&mut self, due: &AgentDispatch, at: Timestamp) {
        self.untold.push(due.clone());
        let is_verifier = due.dispatch == Dispatch::Verify;
        let agent = self.turn_agent(&due.name, Activity::Dispatched, at);
        agent.task = due.task.clone().filter(|_| is_verifier);
        if is_verifier {
            agent.role = Role::Verifier;
        }
        self.whole_verifiers += u32::from(is_verifier && due.task.is_none());
        if let Some(task) = due.task.as_ref().and_then(|id| self.task_mut(id)) {
            match is_verifier {
                true => task.verifiers += 1,
                false => task.resume_due = false,
            }
        }
    }

    fn fold_agent_end(&mut self, name: &AgentName, silences: u32, at: Timestamp) {
        self.heard_of(name);
        let held = self.held_by(name).map(|task| task.leaf.id.clone());
        if let Some(id) = &held {
            self.change(id, |t| t.silences += silences);
        }
        let Some(agent) = self.agents.get_mut(name) else {
            return;
        };
        let is_fruitless = held.is_none() && agent.activity == Activity::Dispatched;
        if is_fruitless && agent.role == Role::Builder {
            // A silent builder costs the whole timeout, so silence counts double and the second one is the last.
            agent.fruitless += 1 + silences;
        }
        (agent.activity, agent.since) = (Activity::Idle, at);
        agent.is_ending = false;
    }

    /// Notes that the lead has started `name`, or no longer needs to.
    fn heard_of(&mut self, name: &AgentName) {
        self.forget_dispatches(|told| told.name == *name);
    }

    /// Drops the dispatches for which `is_gone` holds.
    fn forget_dispatches(&mut self, is_gone: impl Fn(&AgentDispatch) -> bool) {
        for told in [&mut self.untold, &mut self.unstarted, &mut self.unwoken] {
            told.retain(|told| !is_gone(told));
        }
    }

    /// Ends the verifiers of `task`, or those of the whole.
    fn end_verifiers(&mut self, task: Option<&TaskId>, at: Timestamp) {
        self.forget_dispatches(|told| {
            let is_it = task.is_some() || told.dispatch == Dispatch::Verify;
            is_it && told.task.as_ref() == task
        });
        for agent in self.agents.values_mut() {
            if agent.role == Role::Verifier && agent.task.as_ref() == task {
                (agent.activity, agent.since) = (Activity::Idle, at);
            }
        }
    }

    /// Closes the questions about `task` if it was given up. If its builder continued without an answer or lost its
    /// claim, closes only the builder's own questions.
    fn close_unanswered(&mut self, task: &TaskId, how: ClosedUnanswered) {
        for asked in self.questions.iter_mut().filter(|asked| asked.is_open()) {
            let topic = &asked.question.topic;
            let is_closed = how == ClosedUnanswered::GivenUp || topic.is_inquiry();
            if is_closed && topic.task() == Some(task) {
                asked.answer = vec![how.into_str().into()];
            }
        }
    }

    fn set_run_status(&mut self, status: RunStatus) {
        if let Some(run) = &mut self.run {
            run.status = status;
        }
    }

    fn reopen_run(&mut self) {
        if self.has_status(RunStatus::Finished) {
            self.set_run_status(RunStatus::Running);
        }
    }
}

impl TaskState {
    /// Folds `event`, which is about this task, into its state.
    fn fold(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::CheckedBefore { checks, passed, .. } => {
                self.before = Some(ChecksBefore {
                    checks: checks.clone(),
                    passed: *passed,
                    waived: None,
                });
            }
            Event::Waived { by, .. } => {
                let before = self.before.iter_mut();
                before.for_each(|before| before.waived = Some(*by));
            }
            Event::ChecksDropped { commands, .. } => {
                self.dropped.extend(commands.iter().cloned());
                self.verification = None;
                self.verifiers = 0;
            }
            Event::RevisionDue { .. } => self.to_revise = true,
            Event::Claimed {
                owner,
                token,
                iteration,
                base,
                ..
            } => {
                self.status = Status::Implementing;
                self.claim = Some(Claim {
                    owner: owner.clone(),
                    token: token.clone(),
                    since: at,
                });
                self.take_base(base);
                self.started_at.get_or_insert(at);
                self.begin_iteration(*iteration);
                self.handed_in = None;
            }
            Event::Resumed { .. } => (self.resume_due, self.answered) = (false, None),
            Event::Nudged { .. } => self.nudges += 1,
            Event::Submitted {
                owner,
                tree,
                files,
                checks,
                ..
            } => {
                self.status = Status::AwaitingVerification;
                self.handed_in = Some(HandedIn {
                    by: owner.clone(),
                    tree: tree.clone(),
                    files: files.clone(),
                });
                self.submission = Some(MeasuredWork {
                    tree: tree.clone(),
                    onto: None,
                    files: files.clone(),
                    checks: checks.clone(),
                });
                self.verification = None;
                self.verifiers = 0;
                self.refused = None;
                self.silences = 0;
            }
            Event::SubmitRefused { reason, .. } => self.refused = Some(reason.clone()),
            Event::Edited { path, .. } => self.edited.extend([path.clone()]),
            Event::ScopeExtended { granted, .. } => {
                // The log may come from anywhere, so the path is checked again.
                let allowed = allowed_path(&granted.path, PLANS);
                let is_allowed = allowed.is_ok_and(|path| path == granted.path);
                self.granted.extend(is_allowed.then(|| granted.clone()));
            }
            Event::Verified { work, .. } => self.verification = Some(work.clone()),
            Event::Judged { verdict, .. } => {
                if !verdict.pass {
                    self.failed_verdicts += 1;
                    self.failed.clone_from(&self.verification);
                    let failed = self.failed.iter_mut();
                    failed.for_each(|failed| failed.checks.retain(Check::fails));
                }
                self.verdict = Some(verdict.clone());
            }
            Event::SentBack {
                iteration,
                token,
                feedback,
                base,
                ..
            } => {
                self.base = base.clone().or(self.base.take());
                self.status = Status::Implementing;
                self.feedback = Some(feedback.clone());
                self.resume_due = token.is_some();
                self.commit_intent = None;
                if let (Some(claim), Some(token)) = (&mut self.claim, token) {
                    (claim.token, claim.since) = (token.clone(), at);
                    self.handed_in = None;
                } else {
                    self.claim = None;
                }
                self.begin_iteration(*iteration);
            }
            Event::CommitStarted { intent, .. } => self.commit_intent = Some(intent.clone()),
            Event::CommitBlocked { reason, .. } => self.reason = Some(reason.clone()),
            Event::Completed { commit, note, .. } => {
                self.end_as(Status::Completed, at);
                self.commit.clone_from(commit);
                self.note.clone_from(note);
                self.reason = None;
                self.feedback = None;
                self.submission = None;
                self.handed_in = None;
                // Keeps only the notes about unfinished work, which are needed when the next plan starts. The other
                // checks stay in the log.
                let verified = self.verification.iter_mut();
                verified.for_each(|verified| verified.checks.retain(Check::lets_go));
            }
            Event::Released { iteration, .. } => {
                self.status = Status::Pending;
                self.claim = None;
                self.commit_intent = None;
                self.begin_iteration(*iteration);
            }
            Event::Failed { reason, .. } => {
                self.end_as(Status::Failed, at);
                self.reason = Some(reason.clone());
            }
            Event::Skipped { because, .. } => {
                self.end_as(Status::Skipped, at);
                self.because = Some(because.clone());
                self.reason = Some(format!("Blocked by {because}"));
            }
            Event::RolledBack { commit, .. } => self.roll_back(commit.is_some()),
            // All other events are about the run.
            _ => {}
        }
    }

    /// In the user's checkout, half-done work stays, and so does its base. A worktree starts at the base named by its
    /// claim.
    fn take_base(&mut self, base: &Base) {
        match &mut self.base {
            Some(kept) if kept.worktree.is_none() && base.worktree.is_none() => {
                kept.around.clone_from(&base.around);
            }
            _ => self.base = Some(base.clone()),
        }
    }

    /// A leaf that was done before the plan was imported.
    fn of_import(leaf: Leaf, commit: Option<String>) -> Self {
        let note = "done before the import; not verified";
        Self {
            status: Status::Completed,
            imported: true,
            note: commit.is_none().then(|| note.to_owned()),
            commit,
            ..Self::new(leaf)
        }
    }

    fn begin_iteration(&mut self, iteration: u32) {
        self.iteration = iteration;
        self.answered = None;
        self.submission = None;
        self.verification = None;
        self.nudges = 0;
        self.verifiers = 0;
        self.refused = None;
    }

    fn end_as(&mut self, status: Status, at: Timestamp) {
        self.status = status;
        self.claim = None;
        self.commit_intent = None;
        self.resume_due = false;
        self.ended_at = Some(at);
    }

    /// Forgets the task's history. If no commit was undone, keeps the old base, since the task's changes are still
    /// there and are measured from it.
    fn roll_back(&mut self, is_undone: bool) {
        let begun = (self.base.take(), self.started_at);
        *self = Self::new(self.leaf.clone());
        if !is_undone {
            (self.base, self.started_at) = begun;
        }
    }

    fn restart(&mut self) {
        self.status = Status::Pending;
        self.verdict = None;
        self.failed = None;
        self.reason = None;
        self.because = None;
        self.ended_at = None;
        self.imported = false;
        self.commit = None;
        self.note = None;
        self.silences = 0;
        self.begin_iteration(0);
    }
}

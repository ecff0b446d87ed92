//! Decides commands against the state: each returns the events it causes, or the reason for its refusal.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{Approve, Base, Decider, Dispatch, Event, Leaf, RunTerms};
use super::question::{AnswerChoice, ClosedUnanswered, Question, Topic};
use super::ready::{Obstacle, listed};
use super::refusal::{Refusal, decline, refuse};
use super::state::{Activity, Approval, Claim, RunStatus, State, Status, TaskState};
use super::verdict::said_by_verifier;
use crate::verification::change::Change;
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::plan::path::overlap;
use fp_plan::text::{clipped, one_line};

/// Longest reason in the question about a task that failed, in characters. Its last attempt has the whole.
const MAX_REASON: usize = 500;
/// Most lines of it from the beginning, and from the end.
const MAX_LINES: usize = 3;

/// Events, or the reason why there are none.
pub type RunDecision = Result<Vec<Event>, Refusal>;

impl State {
    /// Approves the plan; approving the same tree again only accepts what its tasks have drifted to. Finished and running
    /// leaves can't change, but a failed one may be fixed before its retry.
    pub fn approve(&self, mut approve: Approve) -> RunDecision {
        for leaf in &mut approve.leaves {
            let same = self
                .task(&leaf.id)
                .filter(|task| task.leaf.hash == leaf.hash && task.drift.is_none());
            if let Some(task) = same {
                leaf.stamps.clone_from(&task.leaf.stamps);
            }
        }
        let drifted = self.tasks.iter().filter(|task| task.drift.is_some());
        let tasks: Vec<TaskId> = drifted.map(|task| task.leaf.id.clone()).collect();
        let mut kept = self.close_questions(
            |topic| matches!(topic, Topic::Drift(_)),
            AnswerChoice::Keep.into_str(),
        );
        kept.extend((!tasks.is_empty()).then_some(Event::Kept { tasks }));
        let same_leaves = || self.tasks.iter().map(|task| &task.leaf).eq(&approve.leaves);
        let same = |approval: &Approval| {
            approval.tree_hash == approve.tree_hash && approval.end_commands == approve.end_commands
        };
        let to_revise = self.tasks.iter().any(|task| task.to_revise);
        if self.approval.as_ref().is_some_and(same) && !to_revise && same_leaves() {
            return Ok(kept);
        }
        for task in self
            .tasks
            .iter()
            .filter(|t| !matches!(t.status, Status::Pending | Status::Skipped))
        {
            let may_differ = task.status == Status::Failed;
            let same = |l: &Leaf| l.id == task.leaf.id && (may_differ || l.hash == task.leaf.hash);
            let same = approve.leaves.iter().any(same);
            if !same {
                return Err(Refusal::Frozen(
                    task.leaf.id.clone(),
                    task.status.into_str(),
                ));
            }
        }
        // Commands that are tried again are asked about again.
        let stays = |id: &TaskId| {
            let same = |leaf: &Leaf| {
                leaf.id == *id && self.task(id).is_some_and(|t| t.leaf.hash == leaf.hash)
            };
            self.has_claimed() && approve.leaves.iter().any(same)
        };
        let is_retried = |topic: &Topic| matches!(topic, Topic::FailsBefore { commands } if !commands.keys().any(stays));
        kept.extend(self.close_questions(is_retried, ClosedUnanswered::Withdrawn.into_str()));
        // A run keeps the style that it began with: its own commits are no habit of the repository.
        if self.run.is_some() {
            approve.commits = self.commits().cloned();
        }
        Ok([Event::Approved(approve)].into_iter().chain(kept).collect())
    }

    /// True if the log has something of a task that is not done.
    pub fn has_begun(&self) -> bool {
        let fresh = |task: &TaskState| {
            TaskState {
                drift: None,
                ..task.clone()
            } == TaskState::new(task.leaf.clone())
        };
        self.tasks
            .iter()
            .any(|task| task.status != Status::Completed && !fresh(task))
    }

    /// Starts the run or takes it over. A repeat with the same terms by the session that leads it changes nothing. If
    /// the session or the client's process is another one, claims return to pending without losing their iteration, and
    /// the agents are forgotten, unless `fp run` goes on after itself.
    pub fn start(&self, terms: RunTerms) -> RunDecision {
        let terms = RunTerms {
            builders: terms.builders.max(1),
            ..terms
        };
        if self.approval.is_none() {
            return Err(Refusal::NotApproved);
        }
        let run = self.run.as_ref();
        let same_session = run.is_some_and(|r| r.is_led_by(terms.session.as_deref(), terms.client));
        if self.is_running() && same_session && run.is_some_and(|r| r.agrees_with(&terms)) {
            return Ok(Vec::new());
        }
        if run.is_some_and(|run| run.status == RunStatus::Finished)
            && self.tasks.iter().all(|task| task.status.is_final())
        {
            return Ok(Vec::new());
        }
        let mut events = Vec::new();
        if !same_session && !self.keeps_sessions(&terms) {
            events.extend(
                self.own_running()
                    .filter(|t| t.status == Status::Implementing)
                    .map(|t| Event::Released {
                        task: t.leaf.id.clone(),
                        reason: "its run was interrupted".into(),
                        iteration: t.iteration,
                    }),
            );
        }
        events.push(Event::RunStarted(terms));
        Ok(events)
    }

    /// True if a run on `terms` can go on with the conversations of the agents: their processes outlive no lead, what they
    /// have said does.
    pub(super) fn keeps_sessions(&self, terms: &RunTerms) -> bool {
        terms.processes && self.has_processes()
    }

    /// Returns the task that `owner` would get now. `edited` holds the leaves that differ from the approval.
    pub fn choose(
        &self,
        owner: &AgentName,
        wanted: Option<&TaskId>,
        edited: &BTreeSet<TaskId>,
    ) -> Result<&TaskState, Refusal> {
        self.expect_running()?;
        if let Some(machine) = &self.machine
            && !owner
                .as_str()
                .strip_prefix(machine.as_str())
                .is_some_and(|rest| rest.starts_with('-'))
        {
            return Err(decline(
                format!("{owner} is no builder of this machine, which is {machine}"),
                format!("claim as {machine}-builder-1, or with another number"),
            ));
        }
        if let Some(held) = self.held_by(owner) {
            let same =
                held.status == Status::Implementing && wanted.is_none_or(|w| *w == held.leaf.id);
            return if same && edited.contains(&held.leaf.id) {
                Err(Refusal::Edited(held.leaf.id.clone()))
            } else if same {
                Ok(held)
            } else {
                let (held, status) = (&held.leaf.id, held.status);
                let said = format!(
                    "{owner} holds task {held}, which is {}: one task at a time",
                    status.into_str()
                );
                Err(decline(
                    said,
                    match status {
                        Status::Implementing => {
                            "run `fp claim` without a task for the payload of the one you hold"
                        }
                        _ => "end your turn: you are told when it has been judged",
                    },
                ))
            };
        }
        match wanted {
            Some(id) => {
                let task = self.expect_task(id)?;
                match self.obstacles(edited).of(task) {
                    None => Ok(task),
                    Some(Obstacle::Edited) => Err(Refusal::Edited(id.clone())),
                    Some(obstacle) => {
                        Err(Refusal::NotReady(id.clone(), self.explain(task, &obstacle)))
                    }
                }
            }
            None => self
                .ready(edited)
                .first()
                .copied()
                .ok_or_else(|| Refusal::NothingReady(self.why_nothing_is_ready(edited))),
        }
    }

    /// Gives `owner` a task, or the payload of the task it already holds. `token` must be fresh.
    pub fn claim(
        &self,
        owner: &AgentName,
        wanted: Option<&TaskId>,
        edited: &BTreeSet<TaskId>,
        token: String,
        base: Base,
    ) -> Result<(TaskId, Vec<Event>), Refusal> {
        let task = self.choose(owner, wanted, edited)?;
        let id = task.leaf.id.clone();
        let event = if task.status == Status::Implementing {
            Event::Resumed {
                task: id.clone(),
                owner: owner.clone(),
            }
        } else {
            let iteration = task.iteration.max(1);
            Event::Claimed {
                task: id.clone(),
                owner: owner.clone(),
                token,
                iteration,
                base,
            }
        };
        Ok((id, vec![event]))
    }

    /// Returns the claim on `id` if the task is being implemented and `token` is current.
    pub fn expect_claim(&self, id: &TaskId, token: &str) -> Result<&Claim, Refusal> {
        self.expect_running()?;
        let task = self.expect_task(id)?;
        match &task.claim {
            Some(claim) if task.status == Status::Implementing => {
                if claim.token == token {
                    Ok(claim)
                } else {
                    Err(decline(
                        format!(
                            "the claim on task {id} is not yours any more: its token has changed"
                        ),
                        "run `fp claim PLAN --as NAME`: if the task is still yours, it prints the token in force",
                    ))
                }
            }
            _ => Err(refuse(task, submit_advice(task.status))),
        }
    }

    /// Hands in the task that `token` holds.
    pub fn submit(
        &self,
        id: &TaskId,
        token: &str,
        tree: String,
        files: Vec<Change>,
    ) -> RunDecision {
        let owner = self.expect_claim(id, token)?.owner.clone();
        Ok(vec![Event::Submitted {
            task: id.clone(),
            owner,
            tree,
            files,
        }])
    }

    /// Records why what `token` holds could not be submitted, once for the same reason.
    pub fn refuse_submission(&self, id: &TaskId, token: &str, reason: &str) -> RunDecision {
        let owner = self.expect_claim(id, token)?.owner.clone();
        let reason = clipped(reason, MAX_REASON);
        let is_known = self
            .task(id)
            .is_some_and(|task| task.refused.as_ref() == Some(&reason));
        let refused = Event::SubmitRefused {
            task: id.clone(),
            owner,
            reason,
        };
        Ok(Vec::from_iter((!is_known).then_some(refused)))
    }

    /// Returns task `id` if it awaits a verdict, and in iteration `given` if there is one.
    pub fn expect_submitted(&self, id: &TaskId, given: Option<u32>) -> Result<&TaskState, Refusal> {
        self.expect_running()?;
        let task = self.expect_task(id)?;
        if let Some(given) = given.filter(|g| *g != task.iteration) {
            return Err(decline(
                format!(
                    "task {id} is at attempt {}, this verdict is about attempt {given}",
                    task.iteration
                ),
                format!("run `fp verify PLAN {id}` and judge what it shows"),
            ));
        }
        if task.status != Status::AwaitingVerification {
            return Err(refuse(task, "only a submitted task can be verified"));
        }
        if let Some(machine) = task.machine.as_ref().filter(|_| !self.is_own(task)) {
            return Err(refuse(
                task,
                &format!("its work is on {machine}, where it is verified"),
            ));
        }
        if task.awaits_commit() {
            return Err(refuse(
                task,
                "it has passed already, and `fp next` makes its commit",
            ));
        }
        if self.doubts_checks_of(id) {
            return Err(refuse(
                task,
                "the user is asked about its commands; `fp next` prints the question",
            ));
        }
        Ok(task)
    }

    /// Takes back the claim on a task. The attempt doesn't count.
    pub fn release(&self, id: &TaskId, reason: &str) -> RunDecision {
        let task = self.expect_task(id)?;
        if task.status != Status::Implementing {
            return Err(refuse(task, "only a claimed task can be released"));
        }
        Ok(vec![Event::Released {
            task: id.clone(),
            reason: reason.into(),
            iteration: task.iteration,
        }])
    }

    /// Gives a task up and skips everything that waits for it.
    pub fn fail(&self, id: &TaskId, reason: &str) -> RunDecision {
        let task = self.expect_task(id)?;
        if task.status.is_final() {
            return Err(refuse(task, "only a task that is not over can be given up"));
        }
        let asked = self.open_questions().any(|q| q.topic.blocks_commit_of(id));
        if task.commit_intent.is_some() && !asked {
            return Err(refuse(
                task,
                "it has passed and its commit is under way; `fp next` completes it",
            ));
        }
        let mut events = self.failing(id, reason);
        let owner = task
            .claim
            .as_ref()
            .filter(|_| task.status == Status::Implementing);
        let is_at_it = |name: &AgentName| {
            self.agents
                .get(name)
                .is_some_and(|a| a.activity != Activity::Idle)
        };
        // Its builder would find out only when it hands the task in.
        events.extend(owner.filter(|claim| is_at_it(&claim.owner)).map(|claim| {
            Event::Dispatched {
                dispatch: Dispatch::Resume,
                name: claim.owner.clone(),
                task: Some(id.clone()),
            }
        }));
        Ok(events)
    }

    /// Retries a failed task and restores the tasks skipped only because of it. Also reopens an imported task that
    /// counted as done.
    pub fn retry(&self, id: &TaskId) -> RunDecision {
        let task = self.expect_task(id)?;
        match task.status {
            Status::Failed => {}
            Status::Completed if task.imported => return self.redo(task),
            Status::Skipped => {
                let cause = task
                    .because
                    .as_ref()
                    .map_or_else(String::new, |c| format!(", retry {c}"));
                return Err(refuse(task, &format!("it waits for a failed task{cause}")));
            }
            _ => return Err(refuse(task, "only a failed task can be retried")),
        }
        self.expect_nothing_lost(task)?;
        let mut blocked: BTreeMap<TaskId, TaskId> = BTreeMap::new();
        for other in self
            .tasks
            .iter()
            .filter(|t| t.status == Status::Failed && t.leaf.id != *id)
        {
            let because = &other.leaf.id;
            blocked.extend(
                self.blocked_by(because)
                    .into_iter()
                    .map(|d| (d, because.clone())),
            );
        }
        let skipped = |d: &TaskId| self.task(d).is_some_and(|t| t.status == Status::Skipped);
        let (still, restored): (Vec<TaskId>, Vec<TaskId>) = self
            .blocked_by(id)
            .into_iter()
            .filter(skipped)
            .partition(|d| blocked.contains_key(d));
        let mut events = self.close_questions(
            |topic| *topic == Topic::TaskFailed(id.clone()),
            AnswerChoice::Retry.into_str(),
        );
        events.push(Event::Retried {
            task: id.clone(),
            restored,
        });
        events.extend(still.into_iter().filter_map(|task| {
            let because = blocked.get(&task)?.clone();
            Some(Event::Skipped { task, because })
        }));
        Ok(events)
    }

    /// Refuses if a dependency of `task` failed or was skipped.
    fn expect_nothing_lost(&self, task: &TaskState) -> Result<(), Refusal> {
        let lost = |d: &&TaskId| {
            self.task(d)
                .is_some_and(|t| matches!(t.status, Status::Failed | Status::Skipped))
        };
        match task.leaf.dependencies.iter().find(lost) {
            Some(cause) => Err(refuse(
                task,
                &format!("it waits for {cause}, which is not done: retry that first"),
            )),
            None => Ok(()),
        }
    }

    /// Reopens a task that counts as done only because its source said so.
    fn redo(&self, task: &TaskState) -> RunDecision {
        let id = &task.leaf.id;
        let running =
            |dependent: &TaskId| self.task(dependent).is_some_and(|t| t.status.is_running());
        if let Some(on_it) = self.dependents(id).into_iter().find(running) {
            return Err(refuse(
                task,
                &format!("task {on_it}, which builds on it, is under way: release that first"),
            ));
        }
        self.expect_nothing_lost(task)?;
        Ok(vec![Event::Retried {
            task: id.clone(),
            restored: Vec::new(),
        }])
    }

    /// Ends the run at once. Cancelling again changes nothing.
    pub fn cancel(&self, by: Decider) -> RunDecision {
        if self.run.is_none() {
            return Err(Refusal::NotStarted);
        }
        Ok(if self.is_running() {
            vec![Event::Cancelled { by }]
        } else {
            Vec::new()
        })
    }

    /// Fails `id` and skips exactly the tasks that wait for it.
    pub(super) fn failing(&self, id: &TaskId, reason: &str) -> Vec<Event> {
        let mut events = vec![Event::Failed {
            task: id.clone(),
            reason: reason.into(),
        }];
        let skipped = self
            .blocked_by(id)
            .into_iter()
            .filter(|d| self.task(d).is_some_and(|t| !t.status.is_final()));
        events.extend(skipped.map(|task| Event::Skipped {
            task,
            because: id.clone(),
        }));
        events
    }

    /// Asks about `topic`, with the next free question id.
    pub(super) fn ask(&self, topic: Topic, reason: &str) -> Event {
        let is_last = |task: &TaskId| {
            self.task(task)
                .is_some_and(|of| of.iteration >= self.iterations_of(task))
        };
        // Sent back after its last attempt, a task has failed.
        let ends = matches!(&topic, Topic::CheckFailed { task, .. } if is_last(task));
        let mut question = Question::new(topic, self.questions.len() as u64 + 1, reason);
        let back = AnswerChoice::SendBack.into_str();
        let mut options = question.options.iter_mut();
        if let Some(option) = options.find(|option| ends && option.label == back) {
            option.description = "its attempts are used up, so the task fails".to_owned();
        }
        Event::Asked { question }
    }

    pub(super) fn close_questions(
        &self,
        about: impl Fn(&Topic) -> bool,
        answer: &str,
    ) -> Vec<Event> {
        self.open_questions()
            .filter(|q| about(&q.topic))
            .map(|q| Event::Answered {
                question: q.id.clone(),
                options: vec![answer.into()],
                by: Decider::User,
            })
            .collect()
    }

    /// Records the user's answer and applies its consequences. `token` must be fresh.
    pub fn answer(
        &self,
        question: &str,
        options: &[String],
        by: Decider,
        token: String,
    ) -> RunDecision {
        let asked = self
            .open_questions()
            .find(|q| q.id == question)
            .ok_or_else(|| Refusal::UnknownQuestion(question.into()))?;
        let refused = |given: &str| Refusal::UnknownOption {
            question: question.into(),
            given: given.into(),
            options: asked
                .options
                .iter()
                .map(|o| o.label.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        };
        // A builder's question also takes a free-form answer.
        let in_own_words = matches!(asked.topic, Topic::Clarify(_));
        let mut chosen = Vec::new();
        for given in options {
            let option = asked
                .options
                .iter()
                .find(|o| o.label.eq_ignore_ascii_case(given.trim()));
            chosen.push(match option {
                Some(option) => option.label.clone(),
                None if in_own_words && !given.trim().is_empty() => given.trim().to_owned(),
                None => return Err(refused(given)),
            });
        }
        let Some(first) = chosen.first().cloned() else {
            return Err(Refusal::UnknownQuestion(question.into()));
        };
        let mut events = vec![Event::Answered {
            question: question.into(),
            options: chosen,
            by,
        }];
        if !in_own_words {
            let choice = asked.topic.choice(&first).ok_or_else(|| refused(&first))?;
            let consequences = self.consequences(&asked.topic, choice, by, token)?;
            events.extend(consequences.ok_or_else(|| refused(&first))?);
        }
        Ok(events)
    }

    /// Returns the events a choice causes, or `None` if a question about `topic` doesn't offer it.
    pub(super) fn consequences(
        &self,
        topic: &Topic,
        choice: AnswerChoice,
        by: Decider,
        token: String,
    ) -> Result<Option<Vec<Event>>, Refusal> {
        let done = |id: &TaskId, note: &str| {
            vec![Event::Completed {
                task: id.clone(),
                commit: None,
                note: Some(note.into()),
            }]
        };
        let events = match (topic, choice) {
            (Topic::Clarify(_), _) | (Topic::Scope { .. }, AnswerChoice::Stop) => return Ok(None),
            (_, AnswerChoice::Stop) => vec![Event::Cancelled { by }],
            (Topic::Scope { task, path }, AnswerChoice::Allow) => self.extended(task, path, by)?,
            (Topic::Drift(tasks), AnswerChoice::Keep) => vec![Event::Kept {
                tasks: tasks.clone(),
            }],
            (Topic::PassesBefore(id), AnswerChoice::Build) => vec![Event::Waived {
                task: id.clone(),
                by,
            }],
            (Topic::PassesBefore(id), AnswerChoice::Done) => {
                if !self.only_doubted(id) {
                    let reason = "something else has come in between".to_owned();
                    return Err(Refusal::NotReady(id.clone(), reason));
                }
                done(id, "its Verify passed before the work")
            }
            (Topic::TaskFailed(id), AnswerChoice::Retry | AnswerChoice::Change) => {
                let retried = self
                    .retry(id)?
                    .into_iter()
                    .filter(|e| !matches!(e, Event::Answered { .. }));
                let is_changed = choice == AnswerChoice::Change;
                retried
                    .chain(is_changed.then(|| Event::RevisionDue { task: id.clone() }))
                    .collect()
            }
            (
                Topic::CheckFailed { task, .. } | Topic::CheckDoubted { task, .. },
                AnswerChoice::Change,
            ) => {
                let iteration = self.expect_task(task)?.iteration;
                let reason = "the user wants it changed".to_owned();
                let released = Event::Released {
                    task: task.clone(),
                    reason,
                    iteration,
                };
                vec![released, Event::RevisionDue { task: task.clone() }]
            }
            (
                Topic::CheckFailed { task, commands } | Topic::CheckDoubted { task, commands },
                AnswerChoice::Drop,
            ) => {
                vec![Event::ChecksDropped {
                    task: task.clone(),
                    commands: commands.clone(),
                    by,
                }]
            }
            (Topic::CheckFailed { task, .. }, AnswerChoice::SendBack) => {
                let Some(verdict) = &self.expect_task(task)?.verdict else {
                    return Ok(Some(Vec::new()));
                };
                self.send_back(task, &verdict.reasons.join("\n"), &verdict.summary, token)
            }
            (Topic::FailsBefore { commands }, AnswerChoice::Change) => {
                let due = |task: &TaskId| Event::RevisionDue { task: task.clone() };
                commands.keys().map(due).collect()
            }
            (Topic::FailsBefore { commands }, AnswerChoice::Drop) => {
                let dropped =
                    |(task, commands): (&TaskId, &BTreeSet<String>)| Event::ChecksDropped {
                        task: task.clone(),
                        commands: commands.clone(),
                        by,
                    };
                commands.iter().map(dropped).collect()
            }
            (Topic::VerifierSilent(id), AnswerChoice::GiveUp) => {
                let said = self.said_by_verifiers(id);
                self.failing(id, &format!("given up without a verdict{said}"))
            }
            (Topic::Budget { task: Some(id), .. }, AnswerChoice::GiveUp) => {
                self.failing(id, "given up when its budget was spent")
            }
            (Topic::CommitBlocked(id), AnswerChoice::SendBack) => {
                let reason = self
                    .task(id)
                    .and_then(|t| t.reason.clone())
                    .unwrap_or_default();
                self.send_back(
                    id,
                    &format!("The commit could not be made: {reason}"),
                    "",
                    token,
                )
            }
            (Topic::CommitBlocked(id), AnswerChoice::Leave) => {
                done(id, "left uncommitted by the user's choice")
            }
            (Topic::CheckoutChanged { tree, .. }, AnswerChoice::Keep) => {
                vec![Event::CheckoutSeen { tree: tree.clone() }]
            }
            // The answer alone unblocks what waited for it.
            (Topic::Scope { .. }, AnswerChoice::Deny)
            | (Topic::CheckDoubted { .. }, AnswerChoice::SendBack)
            | (Topic::Drift(_), AnswerChoice::Revise)
            | (Topic::TaskFailed(_) | Topic::Budget { .. }, AnswerChoice::Continue)
            | (Topic::CommitRewritten(_) | Topic::FailsBefore { .. }, AnswerChoice::Keep)
            | (Topic::EndChecks, AnswerChoice::AddTask | AnswerChoice::Finish)
            | (
                Topic::VerifierSilent(_)
                | Topic::CommitBlocked(_)
                | Topic::IndexLocked(_)
                | Topic::CheckoutChanged { .. }
                | Topic::BuildersSilent,
                AnswerChoice::Retry,
            ) => Vec::new(),
            _ => return Ok(None),
        };
        Ok(Some(events))
    }

    /// Sends `id` back with this feedback, or fails it if it has used all its iterations. `summary` is the verifier's.
    pub(super) fn send_back(
        &self,
        id: &TaskId,
        feedback: &str,
        summary: &str,
        token: String,
    ) -> Vec<Event> {
        let iteration = self.task(id).map_or(0, |t| t.iteration) + 1;
        if iteration <= self.iterations_of(id) {
            vec![Event::SentBack {
                task: id.clone(),
                iteration,
                token,
                feedback: feedback.into(),
                base: None,
            }]
        } else {
            let mut events = self.failing(id, feedback);
            let mut lines: Vec<&str> = feedback
                .lines()
                .filter(|line| !line.trim().is_empty())
                .collect();
            if lines.len() > 2 * MAX_LINES {
                lines.splice(MAX_LINES..lines.len() - MAX_LINES, ["…"]);
            }
            let failed = clipped(&one_line(&lines.join("; ")), MAX_REASON);
            let reason = format!(
                "{}. {}",
                failed.trim_end_matches('.'),
                said_by_verifier(summary)
            );
            events.push(self.ask(Topic::TaskFailed(id.clone()), reason.trim_end()));
            events
        }
    }

    pub(super) fn expect_running(&self) -> Result<(), Refusal> {
        match self.bar() {
            None => Ok(()),
            Some(Obstacle::NotApproved) => Err(Refusal::NotApproved),
            Some(Obstacle::NotStarted) => Err(Refusal::NotStarted),
            Some(_) => Err(Refusal::Over),
        }
    }

    pub fn expect_task(&self, id: &TaskId) -> Result<&TaskState, Refusal> {
        self.task(id)
            .ok_or_else(|| Refusal::UnknownTask(id.clone()))
    }

    fn why_nothing_is_ready(&self, edited: &BTreeSet<TaskId>) -> String {
        let over = self.tasks.iter().filter(|t| t.status.is_final()).count();
        if over == self.tasks.len() {
            return "every task is over".into();
        }
        let running: Vec<String> = self
            .running()
            .map(|t| {
                let owner = t.claim.as_ref().map_or("nobody", |c| c.owner.as_str());
                format!("{} ({}, {owner})", t.leaf.id, t.status.into_str())
            })
            .collect();
        let none = BTreeSet::new();
        let unapproved: Vec<TaskId> = self
            .ready(&none)
            .iter()
            .map(|t| t.leaf.id.clone())
            .filter(|id| edited.contains(id))
            .collect();
        let mut parts = vec![format!("{} of {} tasks are over", over, self.tasks.len())];
        if !running.is_empty() {
            parts.push(format!("under way: {}", running.join(", ")));
        }
        if !unapproved.is_empty() {
            parts.push(format!(
                "edited since the approval: {}",
                listed(&unapproved)
            ));
        }
        parts.join("; ")
    }
}

fn submit_advice(status: Status) -> &'static str {
    match status {
        Status::Pending => "claim it first",
        Status::AwaitingVerification => "it is handed in already",
        _ => "nothing can be handed in for it",
    }
}

impl State {
    /// Returns task `id` if it may be rolled back: it is completed, none of its direct or indirect dependents is
    /// completed or running, and no running task may change one of `files`, the files in its commit.
    pub fn expect_revertible(&self, id: &TaskId, files: &[String]) -> Result<&TaskState, Refusal> {
        let task = self.expect_task(id)?;
        if task.status != Status::Completed {
            return Err(refuse(task, "only a task that is done can be rolled back"));
        }
        let on_it: Vec<(TaskId, Status)> = self
            .dependents(id)
            .into_iter()
            .filter_map(|dependent| Some((dependent.clone(), self.task(&dependent)?.status)))
            .filter(|(_, status)| *status == Status::Completed || status.is_running())
            .collect();
        if !on_it.is_empty() {
            return Err(Refusal::BuiltOn {
                task: id.clone(),
                on_it,
            });
        }
        let shares = |running: &TaskState| {
            running
                .leaf
                .files
                .iter()
                .find(|file| overlap(std::slice::from_ref(file), files))
                .cloned()
        };
        match self
            .running()
            .find_map(|running| Some((running.leaf.id.clone(), shares(running)?)))
        {
            Some((running, file)) => Err(Refusal::Shared {
                task: id.clone(),
                running,
                file,
            }),
            None => Ok(task),
        }
    }

    /// Records that `revert` undid `commit` of task `id`. A dependent claimed in the meantime loses its claim, and that
    /// attempt doesn't count.
    pub fn roll_back(
        &self,
        id: &TaskId,
        commit: Option<String>,
        revert: Option<String>,
    ) -> RunDecision {
        let task = self.expect_task(id)?;
        if task.status != Status::Completed || task.commit != commit {
            return Err(refuse(task, "only a task that is done can be rolled back"));
        }
        let running = self
            .dependents(id)
            .into_iter()
            .filter_map(|dependent| self.task(&dependent));
        let mut events: Vec<Event> = running
            .filter(|dependent| dependent.status.is_running())
            .map(|dependent| Event::Released {
                task: dependent.leaf.id.clone(),
                reason: format!("task {id}, which it builds on, was rolled back"),
                iteration: dependent.iteration,
            })
            .collect();
        events.push(Event::RolledBack {
            task: id.clone(),
            commit,
            revert,
        });
        // A task done before the import may be completed although a dependency has failed.
        if let Some(because) = self.lost_cause(task) {
            let ended = |id: &TaskId| self.task(id).is_some_and(|task| task.status.is_final());
            let waiting = self
                .dependents(id)
                .into_iter()
                .filter(|dependent| !ended(dependent));
            let skipped = std::iter::once(id.clone()).chain(waiting);
            events.extend(skipped.map(|task| Event::Skipped {
                task,
                because: because.clone(),
            }));
        }
        Ok(events)
    }

    /// Finds the failed task that blocks `task`.
    fn lost_cause(&self, task: &TaskState) -> Option<TaskId> {
        task.leaf
            .dependencies
            .iter()
            .filter_map(|dependency| self.task(dependency))
            .find_map(|dependency| match dependency.status {
                Status::Failed => Some(dependency.leaf.id.clone()),
                Status::Skipped => dependency.because.clone(),
                _ => None,
            })
    }
}

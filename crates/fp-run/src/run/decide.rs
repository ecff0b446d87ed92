//! Decides commands against the state: each returns the events it causes, or the reason for its refusal.

use std::collections::BTreeSet;

use super::event::{AgentDispatch, Approve, Base, Decider, Dispatch, Event, Leaf, RunTerms};
use super::question::{AnswerChoice, AnswerOption, ClosedUnanswered, Question, Topic};
use super::ready::{Obstacle, ids_listed};
use super::refusal::{Refusal, decline, refuse};
use super::state::{
    Activity, Approval, Claim, MeasuredWork, RunStatus, State, Status, TaskState, TaskVerdict,
};
use super::verdict::{full_lines, said_by_verifier};
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::plan::path::overlap;
use fp_plan::text::{clipped, one_line};

/// Maximum length of the reason in the question about a failed task, in characters. The task's last attempt has the
/// full text.
const MAX_REASON: usize = 500;
/// Maximum number of the reason's lines quoted from its beginning, and from its end.
const MAX_LINES: usize = 3;

/// The events that a command causes, or its refusal.
pub type RunDecision = Result<Vec<Event>, Refusal>;

impl State {
    /// Approves the plan; approving the same tree again only accepts the drift of its tasks. Finished and running
    /// leaves can't change, but a failed one may be fixed before it is retried.
    pub fn approve(&self, mut approve: Approve) -> RunDecision {
        let known = |leaf: &Leaf| {
            self.task(&leaf.id)
                .filter(|task| task.leaf.hash == leaf.hash)
        };
        for leaf in &mut approve.leaves {
            if let Some(task) = known(leaf) {
                leaf.stamps.clone_from(&task.leaf.stamps);
                leaf.phase = task.leaf.phase;
            }
        }
        let drifted = self.tasks.iter().filter(|task| task.drift.is_some());
        let drifted: Vec<TaskId> = drifted.map(|task| task.leaf.id.clone()).collect();
        let is_drift = |topic: &Topic| matches!(topic, Topic::Drift(_));
        let mut kept = self.close_questions(is_drift, AnswerChoice::Keep);
        kept.extend((!drifted.is_empty()).then_some(Event::Kept { tasks: drifted }));
        let same = |approval: &Approval| {
            approval.tree_hash == approve.tree_hash
                && approval.end_commands == approve.end_commands
                && approval.setup == approve.setup
        };
        if self.approval.as_ref().is_some_and(same)
            && self.tasks.iter().all(|task| !task.to_revise)
            && self.tasks.iter().map(|task| &task.leaf).eq(&approve.leaves)
        {
            return Ok(kept);
        }
        let leaf = |id: &TaskId| approve.leaves.iter().find(|leaf| leaf.id == *id);
        let stays = |id: &TaskId| leaf(id).and_then(known).is_some();
        for task in &self.tasks {
            let id = &task.leaf.id;
            let may_be_so = match task.status {
                Status::Pending | Status::Skipped => true,
                Status::Failed => leaf(id).is_some(),
                Status::Implementing | Status::AwaitingVerification | Status::Completed => {
                    stays(id)
                }
            };
            if !may_be_so {
                let status = task.status.into_str();
                return Err(decline(
                    format!("task {id} is {status} and can't be changed or removed any more"),
                    "undo the edit of that task in tasks.md and add a new task instead; one that is being built can be \
                     released first, a failed one retried",
                ));
            }
        }
        // Commands that will be tried again will also be asked about again.
        let is_retried = |topic: &Topic| {
            let is_kept = |id| self.has_claimed() && stays(id);
            matches!(topic, Topic::FailsBefore { commands } if !commands.keys().any(is_kept))
        };
        kept.extend(self.close_questions(is_retried, ClosedUnanswered::Withdrawn));
        // A run keeps the commit style it began with: its own commits must not be taken for the repository's habits.
        if self.run.is_some() {
            approve.commits = self.commits().cloned();
        }
        Ok([Event::Approved(approve)].into_iter().chain(kept).collect())
    }

    /// True if any unfinished task has a history in the log.
    pub fn has_begun(&self) -> bool {
        let has_history = |task: &TaskState| {
            let fresh = TaskState {
                drift: task.drift.clone(),
                ..TaskState::new(task.leaf.clone())
            };
            task.status != Status::Completed && *task != fresh
        };
        self.tasks.iter().any(has_history)
    }

    /// Starts the run or takes it over. Does nothing if the session that already leads it repeats the same terms. If
    /// the session or the client's process has changed, claims return to pending without losing their iteration and the
    /// agents are forgotten, unless one `fp run` continues another.
    pub fn start(&self, terms: RunTerms) -> RunDecision {
        if self.approval.is_none() {
            return Err(Refusal::NotApproved);
        }
        let is_led = self.is_led_by(&terms);
        let agrees = self.run.as_ref().is_some_and(|run| run.agrees_with(&terms));
        let is_over = self.has_status(RunStatus::Finished)
            && self.tasks.iter().all(|task| task.status.is_final());
        if is_over || self.is_running() && is_led && agrees {
            return Ok(Vec::new());
        }
        let mut events = Vec::new();
        if !is_led && !self.keeps_sessions(&terms) {
            let held = self
                .own_running()
                .filter(|t| t.status == Status::Implementing && !t.is_sent_back());
            events.extend(
                held.map(|t| Event::released(&t.leaf.id, "its run was interrupted", t.iteration)),
            );
        }
        events.push(Event::RunStarted(terms));
        Ok(events)
    }

    /// True if a lead that starts on `terms` still has the agents of this run.
    pub(super) fn is_led_by(&self, terms: &RunTerms) -> bool {
        let (session, client) = (terms.session.as_deref(), terms.client);
        self.run
            .as_ref()
            .is_some_and(|run| run.is_led_by(session, client))
    }

    /// True if a run on `terms` can continue the agents' conversations: their processes never outlive a lead, but their
    /// conversations do.
    pub(super) fn keeps_sessions(&self, terms: &RunTerms) -> bool {
        terms.processes && self.has_processes()
    }

    /// Returns the task that `owner` would get now: among those that were sent back, its own come first. `edited`
    /// holds the leaves that differ from the approval.
    pub fn choose(
        &self,
        owner: &AgentName,
        wanted: Option<&TaskId>,
        edited: &BTreeSet<TaskId>,
    ) -> Result<&TaskState, Refusal> {
        self.expect_running()?;
        self.expect_own_name(owner)?;
        if let Some(held) = self.held_by(owner) {
            return if wanted.is_some_and(|wanted| *wanted != held.leaf.id) {
                Err(refuse_second(owner, held))
            } else if edited.contains(&held.leaf.id) {
                Err(Refusal::Edited(held.leaf.id.clone()))
            } else {
                Ok(held)
            };
        }
        let Some(id) = wanted else {
            let ready = self.ready(edited);
            let is_ready = |task: &&TaskState| ready.iter().any(|t| t.leaf.id == task.leaf.id);
            let own = self.sent_back_to(owner).find(is_ready);
            let first = own.or_else(|| ready.first().copied());
            return first.ok_or_else(|| Refusal::NothingReady(self.why_nothing_is_ready(edited)));
        };
        let task = self.expect_task(id)?;
        match self.obstacles(edited).obstacle_to(task) {
            None => Ok(task),
            Some(Obstacle::Edited) => Err(Refusal::Edited(id.clone())),
            Some(obstacle) => Err(not_ready(id, &self.explain(task, &obstacle))),
        }
    }

    /// Refuses a builder that belongs to another machine.
    fn expect_own_name(&self, owner: &AgentName) -> Result<(), Refusal> {
        let Some(machine) = &self.machine else {
            return Ok(());
        };
        match owner.as_str().strip_prefix(machine.as_str()) {
            Some(rest) if rest.starts_with('-') => Ok(()),
            _ => Err(decline(
                format!("{owner} is no builder of this machine, which is {machine}"),
                format!("claim as {machine}-builder-1, or with another number"),
            )),
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
        let (id, owner) = (task.leaf.id.clone(), owner.clone());
        let event = match task.owner() == Some(&owner) {
            true => Event::Resumed {
                task: id.clone(),
                owner,
            },
            false => Event::Claimed {
                task: id.clone(),
                owner,
                token,
                iteration: task.iteration.max(1),
                base,
            },
        };
        Ok((id, vec![event]))
    }

    /// Returns the claim on `id` if the task is being implemented and `token` is current.
    pub fn expect_claim(&self, id: &TaskId, token: &str) -> Result<&Claim, Refusal> {
        self.expect_running()?;
        let task = self.expect_task(id)?;
        match &task.claim {
            Some(claim) if task.status == Status::Implementing && claim.token == token => Ok(claim),
            _ if task.status == Status::Implementing => Err(decline(
                format!("the claim on task {id} is not yours any more: its token has changed"),
                "run `fp claim PLAN --as NAME`: if the task is still yours, it prints the token in force",
            )),
            _ => Err(refuse(
                task,
                match task.status {
                    Status::Pending => "claim it first",
                    Status::AwaitingVerification => "it is handed in already",
                    _ => "nothing can be handed in for it",
                },
            )),
        }
    }

    /// Submits task `id`, whose claim has `token`.
    pub fn submit(&self, id: &TaskId, token: &str, work: MeasuredWork) -> RunDecision {
        let owner = self.expect_claim(id, token)?.owner.clone();
        Ok(vec![Event::Submitted {
            task: id.clone(),
            owner,
            tree: work.tree,
            files: work.files,
            checks: work.checks,
        }])
    }

    /// Records why task `id`, whose claim has `token`, couldn't be submitted, but not twice in a row for the same
    /// reason.
    pub fn refuse_submission(&self, id: &TaskId, token: &str, reason: &str) -> RunDecision {
        let owner = self.expect_claim(id, token)?.owner.clone();
        let reason = clipped(reason, MAX_REASON);
        if self.expect_task(id)?.refused.as_ref() == Some(&reason) {
            return Ok(Vec::new());
        }
        Ok(vec![Event::SubmitRefused {
            task: id.clone(),
            owner,
            reason,
        }])
    }

    /// Returns task `id` if it awaits a verdict and, if an iteration is `given`, is in that one.
    pub fn expect_submitted(&self, id: &TaskId, given: Option<u32>) -> Result<&TaskState, Refusal> {
        self.expect_running()?;
        let task = self.expect_task(id)?;
        let iteration = task.iteration;
        if let Some(given) = given.filter(|given| *given != iteration) {
            return Err(decline(
                format!(
                    "task {id} is at attempt {iteration}, this verdict is about attempt {given}"
                ),
                format!("run `fp verify PLAN {id}` and judge what it shows"),
            ));
        }
        let machine = task.machine.as_ref().filter(|_| !self.is_own(task));
        if task.status != Status::AwaitingVerification {
            Err(refuse(task, &self.why_not_submitted(task)))
        } else if let Some(machine) = machine {
            let said = format!("its work is on {machine}, where it is verified");
            Err(refuse(task, &said))
        } else if task.awaits_commit() {
            Err(refuse(
                task,
                "it has passed already, and `fp next` makes its commit",
            ))
        } else if self.doubts_checks_of(id) {
            let said = "the user is asked about its commands; `fp next` prints the question";
            Err(refuse(task, said))
        } else {
            Ok(task)
        }
    }

    /// The reason why `task` awaits no verdict.
    fn why_not_submitted(&self, task: &TaskState) -> String {
        let only = "only a submitted task can be verified";
        let was = match task.status {
            Status::Pending if task.handed_in.is_some() => "its submission was taken back".into(),
            Status::Implementing if task.handed_in.is_some() => {
                "its submission was sent back".into()
            }
            Status::Implementing if task.iteration > 1 || task.failed.is_some() => {
                let by = task.owner().map_or("a builder", AgentName::as_str);
                format!("{by} works on it again")
            }
            Status::Failed if task.handed_in.is_some() => "it was given up meanwhile".into(),
            Status::Skipped => {
                let because = task.because.as_ref().unwrap_or(&task.leaf.id);
                format!("task {because}, which it needs, was given up")
            }
            Status::Completed => "its commit is made".into(),
            _ => return only.to_owned(),
        };
        format!("{was}, and {only}")
    }

    /// Takes back the claim on a task. The attempt doesn't count.
    pub fn release(&self, id: &TaskId, reason: &str) -> RunDecision {
        let task = self.expect_task(id)?;
        match task.status {
            Status::Implementing => Ok(vec![Event::released(id, reason, task.iteration)]),
            _ => Err(refuse(task, "only a claimed task can be released")),
        }
    }

    /// Gives a task up and skips everything that waits for it.
    pub fn fail(&self, id: &TaskId, reason: &str) -> RunDecision {
        let task = self.expect_task(id)?;
        if task.status.is_final() {
            return Err(refuse(task, "only a task that is not over can be given up"));
        }
        if task.commit_intent.is_some() && !self.asks_about_commit(id) {
            let said = "it has passed and its commit is under way; `fp next` completes it";
            return Err(refuse(task, said));
        }
        let mut events = self.give_up(id, reason);
        let is_at_it = |name: &&AgentName| {
            let agent = self.agents.get(*name);
            agent.is_some_and(|agent| agent.activity != Activity::Idle)
        };
        // Tells the builder, which would otherwise only find out when submitting the task.
        if let Some(name) = task.owner().filter(is_at_it)
            && task.status == Status::Implementing
        {
            events.push(Event::Dispatched(AgentDispatch {
                dispatch: Dispatch::Resume,
                name: name.clone(),
                task: Some(id.clone()),
            }));
        }
        Ok(events)
    }

    /// Retries a failed task and restores the tasks skipped only because of it. Also reopens an imported task that
    /// counted as done.
    pub fn retry(&self, id: &TaskId) -> RunDecision {
        let task = self.expect_task(id)?;
        match task.status {
            Status::Failed => {}
            Status::Completed if task.imported => return self.retry_imported(task),
            Status::Skipped => {
                let cause = task.because.iter().map(|cause| format!(", retry {cause}"));
                let said = format!("it waits for a failed task{}", cause.collect::<String>());
                return Err(refuse(task, &said));
            }
            _ => return Err(refuse(task, "only a failed task can be retried")),
        }
        self.expect_nothing_lost(task)?;
        let failed = self.tasks_in(Status::Failed).map(|other| &other.leaf.id);
        let others: Vec<&TaskId> = failed.filter(|other| *other != id).collect();
        let (mut restored, mut still) = (Vec::new(), Vec::new());
        for task in self.blocked_by(id) {
            let of = &task.leaf.id;
            let is_blocked = |by: &TaskId| self.blocked_by(by).iter().any(|t| t.leaf.id == *of);
            if task.status == Status::Skipped {
                match others.iter().rfind(|other| is_blocked(other)) {
                    Some(because) => still.push(Event::skipped(of, because)),
                    None => restored.push(of.clone()),
                }
            }
        }
        let about = |topic: &Topic| *topic == Topic::TaskFailed(id.clone());
        let mut events = self.close_questions(about, AnswerChoice::Retry);
        let task = id.clone();
        events.push(Event::Retried { task, restored });
        events.extend(still);
        Ok(events)
    }

    /// Refuses if a dependency of `task` failed or was skipped.
    fn expect_nothing_lost(&self, task: &TaskState) -> Result<(), Refusal> {
        self.lost_cause(task).map_or(Ok(()), |cause| {
            let said = format!("it waits for {cause}, which is not done: retry that first");
            Err(refuse(task, &said))
        })
    }

    /// Reopens a task that counts as done only because its source said so.
    fn retry_imported(&self, task: &TaskState) -> RunDecision {
        let id = &task.leaf.id;
        let dependents = self.dependents(id);
        if let Some(user) = dependents.iter().find(|user| user.status.is_running()) {
            let on_it = &user.leaf.id;
            let said =
                format!("task {on_it}, which builds on it, is under way: release that first");
            return Err(refuse(task, &said));
        }
        self.expect_nothing_lost(task)?;
        let (task, restored) = (id.clone(), Vec::new());
        Ok(vec![Event::Retried { task, restored }])
    }

    /// Ends the run at once. Cancelling again changes nothing.
    pub fn cancel(&self, by: Decider) -> RunDecision {
        match &self.run {
            None => Err(Refusal::NotStarted),
            Some(_) if self.is_running() => Ok(vec![Event::Cancelled { by }]),
            Some(_) => Ok(Vec::new()),
        }
    }

    /// Fails `id` and skips exactly the tasks that wait for it.
    pub(super) fn give_up(&self, id: &TaskId, reason: &str) -> Vec<Event> {
        let (task, reason) = (id.clone(), reason.to_owned());
        let mut events = vec![Event::Failed { task, reason }];
        let blocked = self.blocked_by(id).into_iter();
        let waiting = blocked.filter(|task| !task.status.is_final());
        events.extend(waiting.map(|task| Event::skipped(&task.leaf.id, id)));
        events
    }

    /// The question about `topic`, with the next free id.
    pub(super) fn new_question(&self, topic: Topic, reason: &str) -> Question {
        Question::new(topic, self.questions.len() as u64 + 1, reason)
    }

    /// Asks about `topic`.
    pub(super) fn ask_about(&self, topic: Topic, reason: &str) -> Event {
        let mut question = self.new_question(topic, reason);
        let is_last = |id| self.task(id).is_some_and(|task| self.is_last_attempt(task));
        // Sending back the last attempt fails the task.
        if matches!(&question.topic, Topic::CheckFailed { task, .. } if is_last(task)) {
            let is_back = |o: &&mut AnswerOption| o.label == AnswerChoice::SendBack.into_str();
            if let Some(back) = question.options.iter_mut().find(is_back) {
                back.description = "its attempts are used up, so the task fails".to_owned();
            }
        }
        Event::Asked { question }
    }

    /// Closes the open questions whose topics match `about`, with `answer` and without asking the user.
    pub(super) fn close_questions(
        &self,
        about: impl Fn(&Topic) -> bool,
        answer: impl Into<&'static str>,
    ) -> Vec<Event> {
        let answer = vec![answer.into().to_owned()];
        let closed = |question: &Question| Event::Answered {
            question: question.id.clone(),
            options: answer.clone(),
            by: Decider::User,
        };
        let open = self.open_questions().filter(|q| about(&q.topic));
        open.map(closed).collect()
    }

    /// Records the user's answer and applies its consequences.
    pub fn answer(&self, question: &str, options: &[String], by: Decider) -> RunDecision {
        let unknown = || {
            let said = format!("there is no open question {question:?}");
            decline(said, "`fp status PLAN` lists the open questions")
        };
        let asked = self
            .open_questions()
            .find(|q| q.id == question)
            .ok_or_else(unknown)?;
        let labels = || asked.options.iter().map(|option| option.label.as_str());
        let refused = |given: &str| {
            let known = labels().collect::<Vec<_>>().join(", ");
            decline(
                format!("question {question} has no option {given:?}"),
                format!("it has {known}"),
            )
        };
        // A builder's question also takes a free-form answer.
        let in_own_words = matches!(asked.topic, Topic::Clarify(_));
        let chosen = options.iter().map(|given| given.trim()).map(|given| {
            match labels().find(|label| label.eq_ignore_ascii_case(given)) {
                Some(label) => Ok(label.to_owned()),
                None if in_own_words && !given.is_empty() => Ok(given.to_owned()),
                None => Err(refused(given)),
            }
        });
        let chosen = chosen.collect::<Result<Vec<String>, Refusal>>()?;
        let first = chosen.first().cloned().ok_or_else(unknown)?;
        let mut events = vec![Event::Answered {
            question: question.into(),
            options: chosen,
            by,
        }];
        if !in_own_words {
            let choice = asked
                .topic
                .choice_of(&first)
                .ok_or_else(|| refused(&first))?;
            let consequences = self.consequences(&asked.topic, choice, by)?;
            events.extend(consequences.ok_or_else(|| refused(&first))?);
        }
        Ok(events)
    }

    /// Returns the events that a choice causes, or `None` if a question about `topic` doesn't offer that choice.
    pub(super) fn consequences(
        &self,
        topic: &Topic,
        choice: AnswerChoice,
        by: Decider,
    ) -> Result<Option<Vec<Event>>, Refusal> {
        use AnswerChoice::*;
        let revise = |id: &TaskId| Event::RevisionDue { task: id.clone() };
        let events = match (choice, topic) {
            (Stop, _) => vec![Event::Cancelled { by }],
            (Allow, Topic::Scope { task, path }) => self.grant_file(task, path, by)?,
            (Keep, Topic::Drift(tasks)) => vec![Event::Kept {
                tasks: tasks.clone(),
            }],
            (Keep, Topic::CheckoutChanged { tree, .. }) => {
                vec![Event::CheckoutSeen { tree: tree.clone() }]
            }
            (Build, Topic::PassesBefore(id)) => vec![Event::Waived {
                task: id.clone(),
                by,
            }],
            (Done, Topic::PassesBefore(id)) if !self.is_only_doubted(id) => {
                return Err(not_ready(id, "something else has come in between"));
            }
            (Done, Topic::PassesBefore(id)) => {
                vec![Event::done_without(id, "its Verify passed before the work")]
            }
            (Leave, Topic::CommitBlocked(id)) => {
                vec![Event::done_without(
                    id,
                    "left uncommitted by the user's choice",
                )]
            }
            (Retry | Change, Topic::TaskFailed(id)) => {
                let mut retried = self.retry(id)?;
                retried.retain(|event| !matches!(event, Event::Answered { .. }));
                retried.extend((choice == Change).then(|| revise(id)));
                retried
            }
            (Change, Topic::CheckFailed { task, .. } | Topic::CheckDoubted { task, .. }) => {
                let iteration = self.expect_task(task)?.iteration;
                let reason = "the user wants it changed";
                vec![Event::released(task, reason, iteration), revise(task)]
            }
            (Change, Topic::FailsBefore { commands }) => commands.keys().map(revise).collect(),
            (Drop, _) => {
                let dropped =
                    |(task, commands): (&TaskId, &BTreeSet<String>)| Event::ChecksDropped {
                        task: task.clone(),
                        commands: commands.clone(),
                        by,
                    };
                topic.doubted_commands().into_iter().map(dropped).collect()
            }
            (SendBack, Topic::CheckFailed { task, .. }) => {
                let task = self.expect_task(task)?;
                let last = task.verdict.as_ref();
                let send = |last: &TaskVerdict| {
                    self.send_back(task, &last.reasons.join("\n"), &last.summary)
                };
                last.map(send).unwrap_or_default()
            }
            (SendBack, Topic::CommitBlocked(id)) => {
                let task = self.expect_task(id)?;
                let reason = task.reason.as_deref().unwrap_or_default();
                let feedback = format!("The commit could not be made: {reason}");
                self.send_back(task, &feedback, "")
            }
            (GiveUp, Topic::VerifierSilent(id)) => {
                let said = self.said_by_verifiers(id);
                self.give_up(id, &format!("given up without a verdict{said}"))
            }
            (GiveUp, Topic::Budget { task: Some(id), .. }) => {
                self.give_up(id, "given up when its budget was spent")
            }
            // The answer alone unblocks everything that waited for it.
            (Continue | Revise | Deny | AddTask | Repair | Finish, _)
            | (SendBack, Topic::CheckDoubted { .. })
            | (Keep, Topic::CommitRewritten(_) | Topic::FailsBefore { .. })
            | (
                Retry,
                Topic::VerifierSilent(_)
                | Topic::CommitBlocked(_)
                | Topic::IndexLocked(_)
                | Topic::CheckoutChanged { .. }
                | Topic::BuildersSilent,
            ) => Vec::new(),
            _ => return Ok(None),
        };
        Ok(Some(events))
    }

    /// True if `task` is on its last attempt.
    pub(super) fn is_last_attempt(&self, task: &TaskState) -> bool {
        task.iteration >= self.iterations_of(&task.leaf.id)
    }

    /// Sends `task` back with this feedback, or fails it after its last attempt. `summary` is the verifier's.
    pub(super) fn send_back(&self, task: &TaskState, feedback: &str, summary: &str) -> Vec<Event> {
        let id = &task.leaf.id;
        if !self.is_last_attempt(task) {
            return vec![Event::SentBack {
                task: id.clone(),
                iteration: task.iteration + 1,
                token: None,
                feedback: feedback.into(),
                base: None,
            }];
        }
        let mut events = self.give_up(id, feedback);
        let mut lines: Vec<&str> = full_lines(feedback).collect();
        if lines.len() > 2 * MAX_LINES {
            lines.splice(MAX_LINES..lines.len() - MAX_LINES, ["…"]);
        }
        let failed = clipped(&one_line(&lines.join("; ")), MAX_REASON);
        let said = said_by_verifier(summary);
        let reason = format!("{}. {said}", failed.trim_end_matches('.'));
        events.push(self.ask_about(Topic::TaskFailed(id.clone()), reason.trim_end()));
        events
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
        let running = self.running().map(|t| {
            let owner = t.owner().map_or("nobody", AgentName::as_str);
            format!("{} ({}, {owner})", t.leaf.id, t.status.into_str())
        });
        let approved = BTreeSet::new();
        let ready = self.ready(&approved).into_iter().map(|t| &t.leaf.id);
        let unapproved = ids_listed(ready.filter(|id| edited.contains(*id)));
        let parts = [
            ("under way", running.collect::<Vec<_>>().join(", ")),
            ("edited since the approval", unapproved),
        ];
        let parts = parts.iter().filter(|(_, told)| !told.is_empty());
        let parts: String = parts
            .map(|(what, told)| format!("; {what}: {told}"))
            .collect();
        format!("{over} of {} tasks are over{parts}", self.tasks.len())
    }

    /// Returns task `id` if it may be rolled back: it is completed, none of its direct or indirect dependents is
    /// completed or running, and no running task may change one of `files`, the files in its commit.
    pub fn expect_revertible(&self, id: &TaskId, files: &[String]) -> Result<&TaskState, Refusal> {
        let task = self.expect_task(id)?;
        if task.status != Status::Completed {
            return Err(refuse(task, "only a task that is done can be rolled back"));
        }
        let is_built =
            |user: &&TaskState| user.status == Status::Completed || user.status.is_running();
        let on_it: Vec<&TaskState> = self.dependents(id).into_iter().filter(is_built).collect();
        if let Some(last) = on_it.last() {
            return Err(refuse_rollback(id, &on_it, last));
        }
        for running in self.running() {
            if let Some(file) = running.files().find(|file| overlap(&[file], files)) {
                let other = &running.leaf.id;
                let said = format!(
                    "task {id} can't be rolled back: running task {other} may change {file}, too"
                );
                let hint = "wait until it is over, or take it back with `fp retry`";
                return Err(decline(said, hint));
            }
        }
        Ok(task)
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
        let dependents = self.dependents(id).into_iter();
        let open: Vec<&TaskState> = dependents.filter(|user| !user.status.is_final()).collect();
        let reason = format!("task {id}, which it builds on, was rolled back");
        let released = open.iter().filter(|user| user.status.is_running());
        let released =
            released.map(|user| Event::released(&user.leaf.id, &*reason, user.iteration));
        let mut events: Vec<Event> = released.collect();
        events.push(Event::RolledBack {
            task: id.clone(),
            commit,
            revert,
        });
        // A task done before the import may be completed although a dependency has failed.
        if let Some(because) = self.lost_cause(task) {
            let lost = std::iter::once(task).chain(open);
            events.extend(lost.map(|lost| Event::skipped(&lost.leaf.id, &because)));
        }
        Ok(events)
    }
}

/// Refuses to give `owner` a task besides the one it holds.
fn refuse_second(owner: &AgentName, held: &TaskState) -> Refusal {
    let (id, status) = (&held.leaf.id, held.status.into_str());
    decline(
        format!("{owner} holds task {id}, which is {status}: one task at a time"),
        "run `fp claim` without a task for the payload of the one you hold",
    )
}

fn not_ready(id: &TaskId, why: &str) -> Refusal {
    let said = format!("task {id} is not ready: {why}");
    decline(
        said,
        "`fp status PLAN --ready` says what each task waits for",
    )
}

/// Refuses to roll back `id`, because the tasks `on_it` build on it; `last` is the last of them.
fn refuse_rollback(id: &TaskId, on_it: &[&TaskState], last: &TaskState) -> Refusal {
    let told = on_it
        .iter()
        .map(|user| format!("{} ({})", user.leaf.id, user.status.into_str()));
    let told = told.collect::<Vec<_>>().join(", ");
    let build = match on_it.len() {
        1 => format!("task {told} builds"),
        _ => format!("tasks {told} build"),
    };
    let user = &last.leaf.id;
    let hint = match last.status {
        Status::Completed => {
            format!("roll back what builds on it first: `fp retry PLAN {user} --undo`")
        }
        Status::Implementing => {
            format!("wait until it is over, or take it back: `fp retry PLAN {user}`")
        }
        _ => format!("wait until task {user} has been judged"),
    };
    decline(
        format!("task {id} can't be rolled back: {build} on it"),
        hint,
    )
}

//! Decides what a verifier judges: each task, those at risk, or the result as a whole. The other tasks pass by their
//! checks alone.

use fp_plan::plan::id::TaskId;
use fp_plan::settings::JudgePolicy;

use super::decide::RunDecision;
use super::event::{Event, Leaf};
use super::question::{AnswerChoice, Topic};
use super::refusal::decline;
use super::state::{Asked, Granted, Role, State, Status, TaskState};
use super::verdict::{VerifierOpinion, reasons, said_by_verifier};
use crate::test_files::is_test_file;
use crate::verification::Check;
use crate::verification::change::{Change, ChangeStatus};

/// Complexity from which a task is judged.
const COMPLEX: u32 = 5;
/// Number of verifiers that may end without a verdict on the whole.
const VERIFIERS: u32 = 2;
/// Beginning of the ids of tasks that mend what the last verdict found, and their greatest number.
pub const REPAIR: &str = "repair";
pub const MOST_REPAIRS: usize = 5;

/// True if `change` alters a test that was there before.
fn alters_test(change: &Change) -> bool {
    change.status != ChangeStatus::Added && change.ends().any(is_test_file)
}

/// True if a verifier judges `leaf`, whatever its work turns out to be.
pub fn is_judged_leaf(policy: JudgePolicy, leaf: &Leaf) -> bool {
    match policy {
        JudgePolicy::Each => true,
        JudgePolicy::Risk => leaf.complexity >= COMPLEX || leaf.risky,
        JudgePolicy::End => false,
    }
}

impl TaskState {
    /// True if the task passed without a verifier.
    pub fn is_only_checked(&self) -> bool {
        let verdict = self.verdict.as_ref();
        verdict.is_some_and(|verdict| verdict.pass && verdict.judgements.is_empty())
    }
}

impl State {
    /// The tasks that the run builds: those that weren't done before.
    fn built(&self) -> impl Iterator<Item = &TaskState> {
        self.tasks.iter().filter(|task| !task.imported)
    }

    /// True if a verifier judges `task`; else its checks decide.
    pub fn is_judged(&self, task: &TaskState) -> bool {
        let policy = self.terms().policy.judge;
        let changes = task.measured_changes();
        let is_at_risk = || {
            let is_last = self.is_last(task);
            // The verifier of the whole sees a new file as well as any other.
            let is_new = |file: &Granted| {
                let mut added = changes.iter().filter(|it| it.status == ChangeStatus::Added);
                added.any(|it| it.path.to_string() == file.path)
            };
            task.leaf.complexity >= COMPLEX && !is_last
                || task.leaf.risky
                || task.iteration > 1
                || task.granted.iter().any(|it| !is_last || !is_new(it))
                || changes.iter().any(alters_test)
        };
        // Nothing else judges the only task of a run.
        self.built().count() == 1
            || policy == JudgePolicy::Each
            || policy == JudgePolicy::Risk && is_at_risk()
    }

    /// True if only `task` is open, without a verifier at work on it: the verdict on the whole follows at once.
    fn is_last(&self, task: &TaskState) -> bool {
        let is_open = |it: &&TaskState| it.status != Status::Completed;
        self.whole_verdict.is_none()
            && !self.is_shared()
            && self.tasks.iter().filter(is_open).count() == 1
            && !self.has_verifier(Some(&task.leaf.id))
    }

    /// The submitted tasks of this machine that await a verdict.
    pub(super) fn unjudged(&self) -> impl Iterator<Item = &TaskState> {
        self.own_running().filter(|task| {
            task.status == Status::AwaitingVerification
                && !task.awaits_commit()
                && !self.doubts_checks_of(&task.leaf.id)
        })
    }

    /// Those of them whose checks decide.
    pub fn checks_due(&self) -> impl Iterator<Item = &TaskState> {
        self.unjudged().filter(|task| !self.is_judged(task))
    }

    /// Judges the submitted task `id` by its checks, which must already be recorded.
    pub fn judge_by_checks(&self, id: &TaskId, iteration: u32) -> RunDecision {
        let task = self.expect_submitted(id, Some(iteration))?;
        if self.is_judged(task) {
            return Err(decline(
                format!("a verifier judges task {id}"),
                format!("run `fp next {}`", self.plan_id),
            ));
        }
        self.judge_task(id, Some(iteration), VerifierOpinion::default(), &[])
    }

    /// True if a verifier has to judge the result as a whole, because every task is done.
    pub fn is_whole_due(&self) -> bool {
        let mut tasks = self.tasks.iter();
        let is_over = tasks.all(|task| task.status == Status::Completed);
        let has_failed = self.end_checks.iter().flatten().any(Check::fails);
        self.is_running()
            && is_over
            && !self.is_shared()
            && self.terms().policy.judge != JudgePolicy::Each
            && self.whole_verdict.is_none()
            && self.built().take(2).count() == 2
            && self.open_questions().next().is_none()
            && self.end_commands_due().is_empty()
            && !has_failed
            && (self.whole_verifiers < VERIFIERS || self.has_verifier(None))
    }

    /// True if a verifier is at work on `task`, or with `None` on the whole.
    pub(super) fn has_verifier(&self, task: Option<&TaskId>) -> bool {
        let mut active = self.active_agents();
        active.any(|(_, agent)| agent.role == Role::Verifier && agent.task.as_ref() == task)
    }

    /// True if the verifiers of the whole ended without a verdict.
    pub fn is_whole_unjudged(&self) -> bool {
        self.whole_verdict.is_none()
            && self.whole_verifiers >= VERIFIERS
            && !self.has_verifier(None)
    }

    /// Records the verdict on the whole, whose requirements are `criteria`, and asks about a failure.
    pub fn judge_whole(&self, opinion: VerifierOpinion, criteria: &[String]) -> RunDecision {
        if !self.is_whole_due() {
            return Err(decline(
                "no verdict on the whole is due".to_owned(),
                format!("`fp status {}` says what is", self.plan_id),
            ));
        }
        let reasons = reasons(&opinion, criteria, &[]);
        let told = reasons.join("; ");
        let said = said_by_verifier(&opinion.summary);
        let verdict = opinion.into_verdict(1, reasons);
        let is_passed = verdict.pass;
        let mut events = vec![Event::WholeJudged { verdict }];
        if !is_passed {
            let reason = format!("{}. {said}", told.trim_end_matches('.'));
            events.push(self.ask_about(Topic::WholeFailed, reason.trim_end()));
        }
        Ok(events)
    }

    /// True if the user wants tasks that mend what the last verdict found, and there are none yet.
    pub fn wants_repairs(&self) -> bool {
        let is_wanted = |asked: &Asked| asked.answer == [AnswerChoice::Repair.into_str()];
        let mut asked = self.asked_about(&Topic::WholeFailed);
        let is_repair = |task: &TaskState| task.leaf.id.as_str().starts_with(REPAIR);
        self.is_running() && asked.any(is_wanted) && !self.tasks.iter().any(is_repair)
    }
}

//! Turns a verifier's opinion into a verdict. A pass needs every criterion and every mechanical check, whatever the
//! verifier says overall.

use std::collections::BTreeSet;

use super::decide::RunDecision;
use super::event::{Base, Decider, Event, Judgement};
use super::question::{AnswerChoice, ClosedUnanswered, Topic, said_within};
use super::ready::ExecutionModel;
use super::ready::Obstacle;
use super::refusal::Refusal;
use super::state::{ChecksBefore, CommitIntent, State, Status, TaskState, TaskVerdict};
use crate::verification::{Check, CheckVerdict, list};
use fp_plan::plan::id::TaskId;
use fp_plan::repo_path::RepoPath;
use fp_plan::text::command_span;

/// Longest summary in a question, in bytes.
const MAX_SUMMARY: usize = 500;
/// Longest end of a command's output in a question, in bytes.
const MAX_OUTPUT: usize = 300;

/// A verifier's opinion.
#[derive(Debug, Clone, Default)]
pub struct VerifierOpinion {
    /// One judgement per criterion, in any order.
    pub judgements: Vec<Judgement>,
    /// One or two sentences.
    pub summary: String,
}

/// The reason why an opinion is incomplete or invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidOpinion(String);

impl VerifierOpinion {
    /// Sorts the judgements and checks that there is exactly one for each of `criteria` criteria.
    pub fn complete(mut self, criteria: usize) -> Result<Self, InvalidOpinion> {
        self.judgements.sort_by_key(|j| j.criterion);
        for (i, judgement) in self.judgements.iter().enumerate() {
            let given = judgement.criterion;
            if given == 0 || given > criteria {
                let said = format!("there is no criterion {given}: the task has {criteria}");
                return Err(InvalidOpinion(said));
            }
            if i > 0 && self.judgements[i - 1].criterion == given {
                return Err(InvalidOpinion(format!("criterion {given} is judged twice")));
            }
        }
        let judged = |n: &usize| self.judgements.iter().any(|j| j.criterion == *n);
        let missing: Vec<String> = (1..=criteria)
            .filter(|n| !judged(n))
            .map(|n| n.to_string())
            .collect();
        let said = || format!("no judgement on criteria {}", missing.join(", "));
        if missing.is_empty() {
            Ok(self)
        } else {
            Err(InvalidOpinion(said()))
        }
    }
}

/// The reasons against a pass: failed criteria with their text, then failed checks.
pub fn reasons(opinion: &VerifierOpinion, criteria: &[String], checks: &[Check]) -> Vec<String> {
    let criteria = opinion.judgements.iter().filter(|j| !j.pass).map(|j| {
        let text = criteria.get(j.criterion - 1).map_or("", String::as_str);
        format!("Criterion {} ({text}): {}", j.criterion, j.evidence)
    });
    criteria
        .chain(checks.iter().filter(|check| check.fails()).map(Check::told))
        .collect()
}

/// A verifier's words, for the user.
pub(super) fn said_by_verifier(summary: &str) -> String {
    match summary.trim() {
        "" => String::new(),
        summary => {
            let summary = said_within(summary.trim_end_matches('.'), MAX_SUMMARY);
            format!("The verifier says: \"{summary}\".")
        }
    }
}

/// How the command of `check` ended, with the beginning or the end of its output; `None` if it runs none.
pub(super) fn told_end(check: &Check, by_beginning: bool) -> Option<String> {
    let (head, output) = check.detail.split_once('\n').unwrap_or((&check.detail, ""));
    let lines: Vec<&str> = output
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let shown = if by_beginning {
        lines.get(..3)
    } else {
        lines.get(lines.len().saturating_sub(3)..)
    };
    let shown = shown.unwrap_or(&lines).join(" ");
    let ended = head.split(" after ").next().unwrap_or_default();
    let command = command_span(check.command()?);
    let output = said_within(&shown, MAX_OUTPUT);
    Some(format!("{command} ended with {ended}: \"{output}\"."))
}

/// The question whether the plan is at fault, and its reason: all that failed is a command, or a command failed in the
/// tree in which it failed before.
fn doubt_of_checks(task: &TaskState, opinion: &VerifierOpinion) -> Option<(Topic, String)> {
    let verified = task.verification.as_ref()?;
    let failed = || verified.checks.iter().filter(|check| check.fails());
    let commands: BTreeSet<String> = failed()
        .filter_map(Check::command)
        .map(str::to_owned)
        .collect();
    let before = task
        .failed
        .as_ref()
        .filter(|before| before.tree == verified.tree);
    let again = |check: &Check| {
        before.is_some_and(|before| before.checks.iter().any(|b| b.name == check.name))
    };
    let why = if opinion.judgements.iter().all(|judged| judged.pass)
        && failed().all(|c| c.command().is_some())
    {
        "Each criterion was judged to hold."
    } else if failed().any(|check| check.command().is_some() && again(check)) {
        "It failed on the same files before."
    } else {
        return None;
    };
    let mut told: Vec<String> = failed()
        .filter_map(|check| told_end(check, false))
        .collect();
    told.extend([why.to_owned(), said_by_verifier(&opinion.summary)]);
    let topic = Topic::CheckFailed {
        task: task.leaf.id.clone(),
        commands: commands.clone(),
    };
    (!commands.is_empty()).then(|| (topic, told.join(" ").trim_end().to_owned()))
}

impl State {
    /// Judges the submitted task `id`, whose mechanical checks must be recorded. A fail sends it back with the reasons,
    /// or ends it after its last iteration. `token` must be fresh.
    pub fn judge(
        &self,
        id: &TaskId,
        iteration: Option<u32>,
        opinion: VerifierOpinion,
        criteria: &[String],
        token: String,
    ) -> RunDecision {
        let task = self.expect_submitted(id, iteration)?;
        let checks = task.verification.as_ref().map_or(&[][..], |v| &v.checks);
        let reasons = reasons(&opinion, criteria, checks);
        let pass = reasons.is_empty();
        let mut events = self.close_questions(
            |t| matches!(t, super::question::Topic::VerifierSilent(q) if q == id),
            ClosedUnanswered::Judged.into_str(),
        );
        let doubt = doubt_of_checks(task, &opinion);
        let VerifierOpinion {
            judgements,
            summary,
        } = opinion;
        let verdict = TaskVerdict {
            pass,
            iteration: task.iteration,
            judgements,
            summary,
            reasons,
        };
        events.push(Event::Judged {
            task: id.clone(),
            verdict: verdict.clone(),
        });
        if let Some((topic, reason)) = doubt {
            events.push(self.ask(topic, &reason));
        } else if !pass {
            events.extend(self.send_back(id, &verdict.reasons.join("\n"), &verdict.summary, token));
        }
        Ok(events)
    }

    /// True if the user is asked whether the plan is at fault, since `id` failed by its commands.
    pub(super) fn doubts_checks_of(&self, id: &TaskId) -> bool {
        self.open_questions()
            .any(|q| matches!(&q.topic, Topic::CheckFailed { task, .. } if task == id))
    }

    /// Announces the commit of a passed task.
    pub fn begin_commit(&self, id: &TaskId, intent: CommitIntent) -> RunDecision {
        self.expect_passed(id)?;
        Ok(vec![Event::CommitStarted {
            task: id.clone(),
            intent,
        }])
    }

    /// Completes a passed task, with its commit or the reason for having none.
    pub fn complete(
        &self,
        id: &TaskId,
        commit: Option<String>,
        note: Option<String>,
    ) -> RunDecision {
        self.expect_passed(id)?;
        Ok(vec![Event::Completed {
            task: id.clone(),
            commit,
            note,
        }])
    }

    /// Completes a passed task with its commit. Asks the user about the paths that a hook has `rewritten` in it.
    pub fn complete_with(&self, id: &TaskId, commit: String, rewritten: &[String]) -> RunDecision {
        let note = format!(
            "a hook changed {} in its commit after the verification",
            rewritten.join(", ")
        );
        let note = Some(note).filter(|_| !rewritten.is_empty());
        let mut events = self.complete(id, Some(commit), note)?;
        if !rewritten.is_empty() {
            events.push(self.ask(Topic::CommitRewritten(id.clone()), &rewritten.join(", ")));
        }
        Ok(events)
    }

    /// Asks the user about a passed task whose commit could not be made.
    pub fn block_commit(&self, id: &TaskId, topic: Topic, reason: &str) -> RunDecision {
        self.expect_passed(id)?;
        Ok(vec![
            Event::CommitBlocked {
                task: id.clone(),
                reason: reason.into(),
            },
            self.ask(topic, reason),
        ])
    }

    /// Sends a passed task that conflicts with newer commits back to its builder, whose worktree is now at `base`, or
    /// ends it after its last iteration. `token` must be fresh.
    pub fn conflict(&self, id: &TaskId, feedback: &str, base: Base, token: String) -> RunDecision {
        self.expect_passed(id)?;
        let mut events = self.send_back(id, feedback, "", token);
        if let Some(Event::SentBack { base: measured, .. }) = events.first_mut() {
            *measured = Some(base);
        }
        Ok(events)
    }

    fn expect_passed(&self, id: &TaskId) -> Result<(), Refusal> {
        let task = self.expect_task(id)?;
        if task.awaits_commit() {
            return Ok(());
        }
        Err(Refusal::Status {
            task: id.clone(),
            status: task.status,
            allowed: "only a task that has just passed is committed".into(),
        })
    }
}

impl State {
    /// Asks the user about a task whose checks all passed before its work.
    pub fn doubt(&self, id: &TaskId, checks: Vec<Check>) -> RunDecision {
        let task = self.expect_task(id)?;
        if task.status != Status::Pending || task.before.is_some() {
            return Ok(Vec::new());
        }
        let topic = Topic::PassesBefore(id.clone());
        Ok(vec![
            Event::CheckedBefore {
                task: id.clone(),
                checks,
                passed: true,
            },
            self.ask(topic, ""),
        ])
    }

    /// Asks the user about `paths` of the checkout, which is now as in `tree`: they changed while no task had them.
    pub fn doubt_checkout(&self, tree: String, paths: Vec<RepoPath>) -> Vec<Event> {
        if self
            .open_questions()
            .any(|q| matches!(q.topic, Topic::CheckoutChanged { .. }))
        {
            return Vec::new();
        }
        let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
        vec![self.ask(Topic::CheckoutChanged { tree, paths }, &list(&names))]
    }

    /// Tells of changes in the checkout that no task made. Fails if nobody could be asked about a file that one of the
    /// commands in `lines` names.
    pub fn kept_in_checkout(&self, lines: &[&str]) -> Option<Check> {
        let kept = self
            .questions
            .iter()
            .filter_map(|asked| match &asked.question.topic {
                Topic::CheckoutChanged { paths, .. }
                    if asked.answer == [AnswerChoice::Keep.into_str()] =>
                {
                    Some(paths.iter().map(|path| (path.to_string(), asked.by)))
                }
                _ => None,
            });
        let kept: Vec<(String, Decider)> = kept.flatten().collect();
        let read = |path: &str| lines.iter().any(|line| line.contains(path));
        let fails = kept
            .iter()
            .any(|(path, by)| *by == Decider::Auto && read(path));
        let verdict = if fails {
            CheckVerdict::Fail
        } else {
            CheckVerdict::Note
        };
        let names: Vec<String> = kept.into_iter().map(|(path, _)| path).collect();
        let detail = format!(
            "changed while no task had it, and in no commit: {}",
            list(&names)
        );
        (!names.is_empty()).then(|| Check {
            name: "checkout".into(),
            verdict,
            detail,
        })
    }

    /// True if only the user's answer keeps the task from being claimed.
    pub(super) fn only_doubted(&self, id: &TaskId) -> bool {
        let none = BTreeSet::new();
        self.task(id)
            .is_some_and(|task| self.obstacles(&none).of(task) == Some(Obstacle::PassesBefore))
    }

    /// Checks that `task` began with a failing check, in test-driven work.
    pub fn test_first(&self, task: &TaskState) -> Option<Check> {
        if self.policy().model != ExecutionModel::Tdd {
            return None;
        }
        let (verdict, detail) = match &task.before {
            None => (
                CheckVerdict::NotApplicable,
                "the task has no Verify command".to_owned(),
            ),
            Some(ChecksBefore {
                passed: false,
                checks,
                ..
            }) => {
                let ended = checks
                    .iter()
                    .filter_map(|check| check.detail.lines().next());
                (
                    CheckVerdict::Pass,
                    format!("before the work: {}", ended.collect::<Vec<_>>().join("; ")),
                )
            }
            Some(ChecksBefore {
                waived: Some(by), ..
            }) => {
                let who = if *by == Decider::User {
                    "the user"
                } else {
                    "a rule"
                };
                (
                    CheckVerdict::Note,
                    format!("Verify passed before the work already; {who} let it be built"),
                )
            }
            Some(_) => (
                CheckVerdict::Fail,
                "Verify passed before the work already, so that it proves nothing".into(),
            ),
        };
        Some(Check {
            name: "test first".into(),
            verdict,
            detail,
        })
    }

    /// True if the checks of task `id` must run before its work and haven't yet.
    pub fn wants_checks_before(&self, id: &TaskId) -> bool {
        let pending = |task: &TaskState| task.status == Status::Pending && task.before.is_none();
        self.policy().model == ExecutionModel::Tdd && self.task(id).is_some_and(pending)
    }
}

//! Turns a verifier's opinion into a verdict. To pass, every criterion must be met and every mechanical check must
//! pass, whatever the verifier's overall opinion.

use std::collections::BTreeSet;

use super::decide::RunDecision;
use super::event::{Decider, Event, Judgement};
use super::question::{AnswerChoice, ClosedUnanswered, Topic, said_within};
use super::ready::{ExecutionModel, Obstacle};
use super::refusal::{Refusal, decline, refuse};
use super::state::{CommitIntent, MeasuredWork, State, Status, TaskState, TaskVerdict};
use crate::verification::{Check, CheckVerdict, list};
use fp_plan::plan::id::TaskId;
use fp_plan::repo_path::RepoPath;
use fp_plan::text::command_span;

/// Maximum length of a summary in a question, in bytes.
const MAX_SUMMARY: usize = 500;
/// Number of digits of a tree's id that are shown.
const SHOWN_DIGITS: usize = 12;
/// Maximum number of lines of a command's output in a question, and their maximum total length in bytes.
const SHOWN_LINES: usize = 3;
const MAX_OUTPUT: usize = 300;

/// A verifier's opinion.
#[derive(Debug, Clone, Default)]
pub struct VerifierOpinion {
    /// One judgement per criterion, in any order.
    pub judgements: Vec<Judgement>,
    /// One or two sentences.
    pub summary: String,
    /// The beginning of the id of the judged tree, if known.
    pub tree: Option<String>,
}

impl VerifierOpinion {
    /// The verdict on an iteration, with the reasons against a pass.
    pub(super) fn into_verdict(self, iteration: u32, reasons: Vec<String>) -> TaskVerdict {
        TaskVerdict {
            pass: reasons.is_empty(),
            iteration,
            judgements: self.judgements,
            summary: self.summary,
            reasons,
        }
    }
}

/// The reason why an opinion is incomplete or invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidOpinion(String);

impl VerifierOpinion {
    /// Checks that there is exactly one judgement for each of `criteria` criteria, and puts them in order.
    pub fn check_complete(mut self, criteria: usize) -> Result<Self, InvalidOpinion> {
        self.judgements.sort_by_key(|judged| judged.criterion);
        let given = || self.judgements.iter().map(|judged| judged.criterion);
        let count = |number: &usize| given().filter(|given| given == number).count();
        let missing = (1..=criteria).filter(|number| count(number) == 0);
        let missing: Vec<String> = missing.map(|number| number.to_string()).collect();
        if let Some(number) = given().find(|number| !(1..=criteria).contains(number)) {
            let said = format!("there is no criterion {number}: the task has {criteria}");
            Err(InvalidOpinion(said))
        } else if let Some(number) = given().find(|number| count(number) > 1) {
            Err(InvalidOpinion(format!(
                "criterion {number} is judged twice"
            )))
        } else if !missing.is_empty() {
            let missing = missing.join(", ");
            Err(InvalidOpinion(format!(
                "no judgement on criteria {missing}"
            )))
        } else {
            Ok(self)
        }
    }
}

/// The reasons against a pass: failed criteria with their text, then failed checks.
pub fn reasons(opinion: &VerifierOpinion, criteria: &[String], checks: &[Check]) -> Vec<String> {
    let failed = opinion.judgements.iter().filter(|judged| !judged.pass);
    let failed = failed.map(|judged| {
        let text = criteria
            .get(judged.criterion - 1)
            .map_or("", String::as_str);
        format!(
            "Criterion {} ({text}): {}",
            judged.criterion, judged.evidence
        )
    });
    let checks = checks.iter().filter(|check| check.fails());
    failed.chain(checks.map(Check::told)).collect()
}

/// The verifier's summary, quoted for the user.
pub(super) fn said_by_verifier(summary: &str) -> String {
    match summary.trim() {
        "" => String::new(),
        summary => {
            let summary = said_within(summary.trim_end_matches('.'), MAX_SUMMARY);
            format!("The verifier says: \"{summary}\".")
        }
    }
}

/// The lines of `text` that aren't blank.
pub(super) fn full_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}

/// Describes how the command of `check` ended, with the first or last lines of its output; `None` if the check has no
/// command.
pub(super) fn told_end(check: &Check, by_beginning: bool) -> Option<String> {
    let (head, output) = check.detail.split_once('\n').unwrap_or((&check.detail, ""));
    let lines: Vec<&str> = full_lines(output).collect();
    let shown = match by_beginning {
        true => &lines[..lines.len().min(SHOWN_LINES)],
        false => &lines[lines.len().saturating_sub(SHOWN_LINES)..],
    };
    let ended = head.split(" after ").next().unwrap_or_default();
    let command = command_span(check.command()?);
    let output = said_within(&shown.join(" "), MAX_OUTPUT);
    Some(format!("{command} ended with {ended}: \"{output}\"."))
}

/// The question whether the plan is at fault, and its reason, if a task failed only because of commands, or if a
/// command failed again in the same tree.
fn doubt_of_checks(task: &TaskState, opinion: &VerifierOpinion) -> Option<(Topic, String)> {
    let verified = task.verification.as_ref()?;
    let is_same = |before: &MeasuredWork| before.tree == verified.tree;
    let before = match task.failed.as_ref().is_some_and(is_same) {
        true => task.failed_checks(),
        false => Vec::new(),
    };
    let (mut commands, mut told) = (BTreeSet::new(), Vec::new());
    let (mut by_commands_alone, mut is_again) = (true, false);
    for check in verified.checks.iter().filter(|check| check.fails()) {
        let Some(command) = check.command() else {
            by_commands_alone = false;
            continue;
        };
        commands.insert(command.to_owned());
        told.extend(told_end(check, false));
        is_again |= before.contains(&check.name);
    }
    let is_judged = !opinion.judgements.is_empty();
    let all_hold = is_judged && opinion.judgements.iter().all(|judged| judged.pass);
    told.push(match (all_hold && by_commands_alone, is_again) {
        _ if commands.is_empty() => return None,
        (true, _) => "Each criterion was judged to hold.".to_owned(),
        (false, true) => "It failed on the same files before.".to_owned(),
        (false, false) => return None,
    });
    told.push(said_by_verifier(&opinion.summary));
    let task = task.leaf.id.clone();
    let topic = Topic::CheckFailed { task, commands };
    Some((topic, told.join(" ").trim_end().to_owned()))
}

impl State {
    /// Judges the submitted task `id`, whose mechanical checks must already be recorded. If the task fails, it is sent
    /// back with the reasons, or ended if this was its last iteration.
    pub fn judge_task(
        &self,
        id: &TaskId,
        iteration: Option<u32>,
        opinion: VerifierOpinion,
        criteria: &[String],
    ) -> RunDecision {
        let task = self.expect_submitted(id, iteration)?;
        let verified = task
            .verification
            .as_ref()
            .map_or("", |verified| &verified.tree);
        let judged = opinion.tree.as_deref().unwrap_or_default();
        if !verified.starts_with(judged) {
            let judged = judged.get(..SHOWN_DIGITS).unwrap_or(judged);
            return Err(decline(
                format!("tree {judged} was judged, and task {id} has another tree now"),
                format!(
                    "run `fp verify {} {id}` again, and judge what it shows",
                    self.plan_id
                ),
            ));
        }
        let checks = task.verification.as_ref().map_or(&[][..], |v| &v.checks);
        let reasons = reasons(&opinion, criteria, checks);
        let (pass, summary) = (reasons.is_empty(), opinion.summary.clone());
        let feedback = reasons.join("\n");
        let is_silence = |topic: &Topic| *topic == Topic::VerifierSilent(id.clone());
        let mut events = self.close_questions(is_silence, ClosedUnanswered::Judged);
        let doubt = doubt_of_checks(task, &opinion);
        events.push(Event::Judged {
            task: id.clone(),
            verdict: opinion.into_verdict(task.iteration, reasons),
        });
        if let Some((topic, reason)) = doubt {
            events.push(self.ask_about(topic, &reason));
        } else if !pass {
            events.extend(self.send_back(task, &feedback, &summary));
        }
        Ok(events)
    }

    /// True if a question to the user is open about whether the plan is at fault, because `id` failed by its commands.
    pub(super) fn doubts_checks_of(&self, id: &TaskId) -> bool {
        let is_doubt =
            |topic: &Topic| matches!(topic, Topic::CheckFailed { task, .. } if task == id);
        self.open_topics().any(is_doubt)
    }

    /// Records that the commit of a passed task is about to be made.
    pub fn begin_commit(&self, id: &TaskId, intent: CommitIntent) -> RunDecision {
        let task = self.expect_passed(id)?.leaf.id.clone();
        Ok(vec![Event::CommitStarted { task, intent }])
    }

    /// Completes a passed task, with its commit or the reason why there is none.
    pub fn complete(
        &self,
        id: &TaskId,
        commit: Option<String>,
        note: Option<String>,
    ) -> RunDecision {
        let task = self.expect_passed(id)?.leaf.id.clone();
        Ok(vec![Event::Completed { task, commit, note }])
    }

    /// Completes a passed task with its commit. If a hook has changed the paths `rewritten` in the commit, asks the
    /// user about them.
    pub fn complete_with(&self, id: &TaskId, commit: String, rewritten: &[String]) -> RunDecision {
        if rewritten.is_empty() {
            return self.complete(id, Some(commit), None);
        }
        let paths = rewritten.join(", ");
        let note = format!("a hook changed {paths} in its commit after the verification");
        let mut events = self.complete(id, Some(commit), Some(note))?;
        events.push(self.ask_about(Topic::CommitRewritten(id.clone()), &paths));
        Ok(events)
    }

    /// Asks the user about a passed task whose commit could not be made.
    pub fn block_commit(&self, id: &TaskId, topic: Topic, reason: &str) -> RunDecision {
        let task = self.expect_passed(id)?.leaf.id.clone();
        let (asked, reason) = (self.ask_about(topic, reason), reason.to_owned());
        Ok(vec![Event::CommitBlocked { task, reason }, asked])
    }

    /// Sends back a passed task that conflicts with newer commits, or ends it after its last iteration.
    pub fn conflict(&self, id: &TaskId, feedback: &str) -> RunDecision {
        Ok(self.send_back(self.expect_passed(id)?, feedback, ""))
    }

    fn expect_passed(&self, id: &TaskId) -> Result<&TaskState, Refusal> {
        let task = self.expect_task(id)?;
        match task.awaits_commit() {
            true => Ok(task),
            false => Err(refuse(
                task,
                "only a task that has just passed is committed",
            )),
        }
    }

    /// Asks the user about a task whose checks all passed before its work.
    pub fn doubt(&self, id: &TaskId, checks: Vec<Check>) -> RunDecision {
        let task = self.expect_task(id)?;
        if task.status != Status::Pending || task.before.is_some() {
            return Ok(Vec::new());
        }
        let checked = Event::CheckedBefore {
            task: id.clone(),
            checks,
            passed: true,
        };
        Ok(vec![
            checked,
            self.ask_about(Topic::PassesBefore(id.clone()), ""),
        ])
    }

    /// Asks the user about `paths` in the checkout, which changed while no task held them; the checkout is now in the
    /// state `tree`.
    pub fn doubt_checkout(&self, tree: String, paths: Vec<RepoPath>) -> Vec<Event> {
        let is_it = |topic: &Topic| matches!(topic, Topic::CheckoutChanged { .. });
        if self.open_topics().any(is_it) {
            return Vec::new();
        }
        let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
        vec![self.ask_about(Topic::CheckoutChanged { tree, paths }, &list(&names))]
    }

    /// Reports changes in the checkout that no task made. Fails if a command in `lines` names such a file and nobody
    /// could be asked about it.
    pub fn kept_in_checkout(&self, lines: &[&str]) -> Option<Check> {
        let (mut names, mut verdict) = (Vec::new(), CheckVerdict::Note);
        for asked in self.answered_with(AnswerChoice::Keep) {
            let Topic::CheckoutChanged { paths, .. } = &asked.question.topic else {
                continue;
            };
            let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
            let is_read = |path: &String| lines.iter().any(|line| line.contains(path));
            if asked.by == Decider::Auto && paths.iter().any(is_read) {
                verdict = CheckVerdict::Fail;
            }
            names.extend(paths);
        }
        let told = "changed while no task had it, and in no commit";
        (!names.is_empty()).then(|| Check {
            name: "checkout".into(),
            verdict,
            detail: format!("{told}: {}", list(&names)),
        })
    }

    /// True if only the question about the task's checks keeps it from being claimed.
    pub(super) fn is_only_doubted(&self, id: &TaskId) -> bool {
        let none = BTreeSet::new();
        let obstacle = self
            .task(id)
            .and_then(|task| self.obstacles(&none).obstacle_to(task));
        obstacle == Some(Obstacle::PassesBefore)
    }

    fn is_test_driven(&self) -> bool {
        self.terms().policy.model == ExecutionModel::Tdd
    }

    /// In test-driven work, verifies that a check of `task` failed before the work began.
    pub fn test_first(&self, task: &TaskState) -> Option<Check> {
        if !self.is_test_driven() {
            return None;
        }
        let before = task.before.as_ref();
        let (verdict, detail) = match before.map(|before| (before.passed, before.waived)) {
            None => (
                CheckVerdict::NotApplicable,
                "the task has no Verify command".into(),
            ),
            Some((false, _)) => {
                let checks = before.into_iter().flat_map(|before| &before.checks);
                let ended = checks.filter_map(|check| check.detail.lines().next());
                let ended = ended.collect::<Vec<_>>().join("; ");
                (CheckVerdict::Pass, format!("before the work: {ended}"))
            }
            Some((true, Some(by))) => {
                let who = match by {
                    Decider::User => "the user",
                    Decider::Auto => "a rule",
                };
                let detail =
                    format!("Verify passed before the work already; {who} let it be built");
                (CheckVerdict::Note, detail)
            }
            Some((true, None)) => {
                let detail = "Verify passed before the work already, so that it proves nothing";
                (CheckVerdict::Fail, detail.into())
            }
        };
        Some(Check {
            name: "test first".into(),
            verdict,
            detail,
        })
    }

    /// True if the checks of task `id` must run before its work and haven't run yet.
    pub fn wants_checks_before(&self, id: &TaskId) -> bool {
        let is_due = |task: &TaskState| task.status == Status::Pending && task.before.is_none();
        self.is_test_driven() && self.task(id).is_some_and(is_due)
    }
}

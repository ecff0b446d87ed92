//! Replays the log as a course of time, for the run page: who worked on what, when, and how each attempt ended.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::log::{ToldEvent, tell};
use super::run_page::{
    AttemptEnd, BarKind, JudgedCriterion, LaneBar, MarkKind, RunCommit, RunLane, RunMark, RunPause,
    RunQuestion, RunTimes, TaskAttempt, TaskTry, TryOutcome, worked_between,
};
use super::tree::TreeReport;
use crate::run::State;
use crate::run::event::{Decider, Dispatch, Entry, Event, Judgement};
use crate::run::state::TaskVerdict;
use crate::verification::change::{Change, ChangeStatus};
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::text::clipped;

/// Maximum length of a mark's detail, in characters.
const DETAIL: usize = 300;
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) started_at: Option<Timestamp>,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) marks: Vec<RunMark>,
    pub(super) decisions: Vec<RunQuestion>,
    pub(super) commits: Vec<RunCommit>,
    pub(super) tries: BTreeMap<TaskId, Vec<TaskTry>>,
    pub(super) revisions: usize,
    /// The hash of each approved leaf.
    approved: BTreeMap<TaskId, String>,
    builders: Vec<AgentName>,
    bars: Vec<Vec<LaneBar>>,
    /// The current activity on each task, and its start.
    open: BTreeMap<TaskId, (BarKind, Timestamp)>,
    lane_of: BTreeMap<TaskId, usize>,
    /// Subjects of commits under way.
    subjects: BTreeMap<TaskId, String>,
}

impl Course {
    /// Builds the course of the run from `entries`, which produced `state`.
    pub(super) fn of_run(state: &State, entries: &[Entry]) -> Self {
        let mut course = Self::default();
        for entry in entries {
            entry
                .events
                .iter()
                .for_each(|event| course.take(event, entry.at));
            for mut mark in marks_of(entry) {
                mark.lane = mark
                    .task
                    .as_ref()
                    .and_then(|task| course.lane_of.get(task))
                    .copied();
                course.marks.push(mark);
            }
        }
        course.finish(state);
        course
    }

    fn finish(&mut self, state: &State) {
        if self.started_at.is_some() && self.ended_at.is_none() {
            self.ended_at = state.last_at;
        }
        if let Some(at) = state.last_at {
            self.close_all(at, true);
        }
        for bar in self.bars.iter_mut().flatten() {
            let tries = bar.task.as_ref().and_then(|task| self.tries.get(task));
            let one = tries.and_then(|tries| tries.get(bar.nth.checked_sub(1)?));
            bar.outcome = one
                .and_then(|one| one.attempt.end.as_ref())
                .map(TryOutcome::from);
        }
        // A question may be closed without an answer; the state knows how.
        for (decision, asked) in self.decisions.iter_mut().zip(&state.questions) {
            if decision.answer.is_empty() && !asked.answer.is_empty() {
                decision.answer.clone_from(&asked.answer);
                decision.by = Decider::Auto;
            }
        }
        for commit in self
            .commits
            .iter_mut()
            .filter(|commit| commit.subject.is_empty())
        {
            let title = state.task(&commit.task).map(|task| task.leaf.title.clone());
            commit.subject = title.unwrap_or_default();
        }
    }

    pub(super) fn word_criteria(&mut self, tree: &TreeReport<'_>) {
        for task in tree.tasks.iter().filter(|task| task.leaf) {
            let id = TaskId::new(task.id.as_str()).ok();
            let Some(tries) = id.and_then(|id| self.tries.get_mut(&id)) else {
                continue;
            };
            for judged in tries.iter_mut().flat_map(|one| &mut one.criteria) {
                let text = judged
                    .number
                    .checked_sub(1)
                    .and_then(|number| task.acceptance.get(number));
                judged.text = text.cloned().unwrap_or_default();
            }
        }
    }

    /// Takes the lanes out of the course, with the pauses of all.
    pub(super) fn lanes(&mut self) -> (Vec<RunLane>, Vec<RunPause>) {
        let span = self.started_at.zip(self.ended_at);
        let pauses = span.map_or_else(Vec::new, |span| {
            RunPause::all(self.bars.iter().flatten(), span)
        });
        let work = span.map_or(0, |(from, to)| worked_between(from, to, &pauses));
        let lane = |(name, bars): (&AgentName, Vec<LaneBar>)| {
            let millis = RunTimes::of_bars(&bars, &pauses);
            let idle = work.saturating_sub(millis.total());
            RunLane {
                name: name.to_string(),
                user: false,
                bars,
                millis,
                idle,
            }
        };
        let mut lanes: Vec<RunLane> = self
            .builders
            .iter()
            .zip(std::mem::take(&mut self.bars))
            .map(lane)
            .collect();
        if !self.decisions.is_empty() {
            let bars: Vec<LaneBar> = self
                .decisions
                .iter()
                .map(|asked| self.asked_bar(asked))
                .collect();
            let millis = RunTimes::of_bars(&bars, &pauses);
            lanes.push(RunLane {
                name: "user".into(),
                user: true,
                bars,
                millis,
                idle: 0,
            });
        }
        (lanes, pauses)
    }

    fn asked_bar(&self, asked: &RunQuestion) -> LaneBar {
        LaneBar {
            kind: BarKind::Asking,
            task: asked.task.clone(),
            nth: 0,
            question: Some(asked.id.clone()),
            from: asked.asked_at,
            to: asked
                .answered_at
                .or(self.ended_at)
                .unwrap_or(asked.asked_at),
            open: asked.answered_at.is_none(),
            outcome: None,
        }
    }

    fn take(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::Approved(approved) => {
                for leaf in &approved.leaves {
                    let before = self.approved.insert(leaf.id.clone(), leaf.hash.clone());
                    let has_started = self.started_at.is_some();
                    self.revisions +=
                        usize::from(has_started && before.as_ref() != Some(&leaf.hash));
                }
            }
            Event::RunStarted { .. } => {
                self.started_at.get_or_insert(at);
                self.ended_at = None;
            }
            Event::Cancelled { .. } | Event::Finished => {
                self.close_all(at, false);
                self.ended_at = Some(at);
            }
            Event::Asked { question } => {
                let (task, inquiry) = (question.topic.task().cloned(), question.topic.is_inquiry());
                if let Some(task) = task.as_ref().filter(|_| inquiry) {
                    self.turn(task, BarKind::Asking, at);
                }
                self.decisions.push(RunQuestion {
                    id: question.id.clone(),
                    task,
                    question: question.text.clone(),
                    options: question
                        .options
                        .iter()
                        .map(|option| option.label.clone())
                        .collect(),
                    answer: Vec::new(),
                    by: Decider::default(),
                    asked_at: at,
                    answered_at: None,
                    inquiry,
                });
            }
            Event::Answered {
                question,
                options,
                by,
            } => {
                if let Some(asked) = self
                    .decisions
                    .iter_mut()
                    .rfind(|asked| asked.id == *question)
                {
                    asked.answer.clone_from(options);
                    asked.by = *by;
                }
                self.settle(at, |asked| asked.id == *question);
            }
            Event::CommitStarted { task, intent } => {
                self.subjects
                    .insert(task.clone(), intent.subject().to_owned());
            }
            Event::RolledBack {
                commit: Some(hash), ..
            } => {
                self.commits
                    .iter_mut()
                    .filter(|made| made.hash == *hash)
                    .for_each(|made| made.undone = true);
            }
            event => self.take_work(event, at),
        }
    }

    fn take_work(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::Claimed {
                task,
                owner,
                iteration,
                ..
            } => {
                let lane = self.lane(owner);
                self.close(task, at, false);
                self.lane_of.insert(task.clone(), lane);
                self.begin_try(task, owner.clone(), *iteration, at);
                self.turn(task, BarKind::Building, at);
            }
            Event::Resumed { task, .. } => {
                if self.kind(task) != Some(BarKind::Building) {
                    self.turn(task, BarKind::Building, at);
                }
            }
            Event::Nudged { task, .. } => self.change_try(task, |one| one.nudges += 1),
            Event::Submitted { task, files, .. } => {
                self.turn(task, BarKind::Waiting, at);
                self.withdraw(task, true, at);
                self.change_try(task, |one| {
                    one.submitted_at = Some(at);
                    one.files = files.iter().map(changed_file).collect();
                });
            }
            Event::SentBack {
                task,
                iteration,
                feedback,
                ..
            } => {
                self.lose_try(task, feedback);
                if let Some(builder) = self
                    .lane_of
                    .get(task)
                    .map(|&lane| self.builders[lane].clone())
                {
                    self.close(task, at, false);
                    self.begin_try(task, builder, *iteration, at);
                    self.turn(task, BarKind::Waiting, at);
                }
            }
            Event::Released { task, reason, .. } => {
                self.change_try(task, |one| {
                    one.attempt.end = Some(AttemptEnd::Released(reason.clone()))
                });
                self.close(task, at, false);
                self.withdraw(task, true, at);
            }
            Event::Failed { task, reason } => {
                self.lose_try(task, reason);
                self.close(task, at, false);
                self.withdraw(task, false, at);
            }
            Event::Skipped { task, .. } => {
                self.close(task, at, false);
                self.withdraw(task, false, at);
            }
            event => self.take_verification(event, at),
        }
    }

    fn take_verification(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::Dispatched {
                dispatch: Dispatch::Verify,
                name,
                task: Some(task),
            } => {
                self.verify(task, at);
                self.change_try(task, |one| one.verifier = Some(name.clone()));
            }
            Event::Verified { task, work, .. } => {
                self.verify(task, at);
                self.change_try(task, |one| {
                    one.files = work.files.iter().map(changed_file).collect();
                    one.checks.clone_from(&work.checks);
                });
            }
            Event::Judged {
                task,
                verdict:
                    TaskVerdict {
                        pass,
                        judgements,
                        summary,
                        reasons,
                        ..
                    },
            } => {
                if *pass {
                    self.turn(task, BarKind::Committing, at);
                } else {
                    self.close(task, at, false);
                }
                let end = if *pass {
                    AttemptEnd::Passed
                } else {
                    AttemptEnd::Failed(reasons.join("\n"))
                };
                self.change_try(task, |one| {
                    one.attempt.end = Some(end);
                    one.judged_at = Some(at);
                    one.criteria = judgements.iter().map(judged_criterion).collect();
                    one.summary.clone_from(summary);
                });
            }
            Event::Completed { task, commit, .. } => {
                self.close(task, at, false);
                let subject = self.subjects.remove(task).unwrap_or_default();
                self.commits.extend(commit.clone().map(|hash| RunCommit {
                    task: task.clone(),
                    hash,
                    subject,
                    at,
                    undone: false,
                }));
            }
            _ => {}
        }
    }

    fn lane(&mut self, owner: &AgentName) -> usize {
        self.builders
            .iter()
            .position(|name| name == owner)
            .unwrap_or_else(|| {
                self.builders.push(owner.clone());
                self.bars.push(Vec::new());
                self.builders.len() - 1
            })
    }

    fn begin_try(&mut self, task: &TaskId, builder: AgentName, iteration: u32, at: Timestamp) {
        self.tries.entry(task.clone()).or_default().push(TaskTry {
            attempt: TaskAttempt {
                iteration,
                builder,
                end: None,
            },
            from: at,
            submitted_at: None,
            judged_at: None,
            verifier: None,
            nudges: 0,
            files: Vec::new(),
            checks: Vec::new(),
            criteria: Vec::new(),
            summary: String::new(),
        });
    }

    fn change_try(&mut self, task: &TaskId, change: impl FnOnce(&mut TaskTry)) {
        if let Some(one) = self.tries.get_mut(task).and_then(|tries| tries.last_mut()) {
            change(one);
        }
    }

    /// Ends the last attempt, unless its verdict already gave reasons.
    fn lose_try(&mut self, task: &TaskId, reason: &str) {
        self.change_try(task, |one| {
            if !matches!(one.attempt.end, Some(AttemptEnd::Failed(_))) {
                one.attempt.end = Some(AttemptEnd::Failed(reason.to_owned()));
            }
        });
    }

    fn kind(&self, task: &TaskId) -> Option<BarKind> {
        self.open.get(task).map(|(kind, _)| *kind)
    }

    fn turn(&mut self, task: &TaskId, kind: BarKind, at: Timestamp) {
        self.close(task, at, false);
        if self.lane_of.contains_key(task) {
            self.open.insert(task.clone(), (kind, at));
        }
    }

    fn verify(&mut self, task: &TaskId, at: Timestamp) {
        if self.kind(task) == Some(BarKind::Waiting) {
            self.turn(task, BarKind::Verifying, at);
        }
    }

    fn close_all(&mut self, at: Timestamp, open: bool) {
        let tasks: Vec<TaskId> = self.open.keys().cloned().collect();
        tasks.iter().for_each(|task| self.close(task, at, open));
    }

    /// Ends the open bar of `task`. A bar without length is only drawn for building, or while it is open.
    fn close(&mut self, task: &TaskId, at: Timestamp, open: bool) {
        let Some((kind, since)) = self.open.remove(task) else {
            return;
        };
        let Some(&lane) = self.lane_of.get(task) else {
            return;
        };
        if since == at && kind != BarKind::Building && !open {
            return;
        }
        self.bars[lane].push(LaneBar {
            kind,
            task: Some(task.clone()),
            nth: self.tries.get(task).map_or(0, Vec::len),
            question: None,
            from: since,
            to: at,
            open,
            outcome: None,
        });
    }

    /// Closes the open questions selected by `which`. A builder with no other open question now waits for its next
    /// turn.
    fn settle(&mut self, at: Timestamp, which: impl Fn(&RunQuestion) -> bool) {
        for asked in self
            .decisions
            .iter_mut()
            .filter(|asked| asked.answered_at.is_none() && which(asked))
        {
            asked.answered_at = Some(at);
        }
        let asks = |task: &TaskId| {
            let mut open = self
                .decisions
                .iter()
                .filter(|asked| asked.inquiry && asked.answered_at.is_none());
            open.any(|asked| asked.task.as_ref() == Some(task))
        };
        let asking = self
            .open
            .iter()
            .filter(|(_, (kind, _))| *kind == BarKind::Asking);
        let answered: Vec<TaskId> = asking
            .map(|(task, _)| task)
            .filter(|task| !asks(task))
            .cloned()
            .collect();
        answered
            .iter()
            .for_each(|task| self.turn(task, BarKind::Waiting, at));
    }

    /// Closes the questions about `task`, or only the builder's own if `inquiries`.
    fn withdraw(&mut self, task: &TaskId, inquiries: bool, at: Timestamp) {
        self.settle(at, |asked| {
            asked.task.as_ref() == Some(task) && (asked.inquiry || !inquiries)
        });
    }
}

/// The marks of an entry, one per task, because a command writes several events about a task at once.
fn marks_of(entry: &Entry) -> Vec<RunMark> {
    let mut marks: Vec<RunMark> = Vec::new();
    for (
        event,
        ToldEvent {
            task,
            text,
            details,
            ..
        },
    ) in entry.events.iter().zip(tell(entry))
    {
        let Some(kind) = mark_kind(event) else {
            continue;
        };
        let detail = clipped(&details.join("\n"), DETAIL);
        if let Some(mark) = marks.iter_mut().find(|mark| mark.task == task) {
            mark.kind = mark.kind.max(kind);
            mark.text = format!("{}; {text}", mark.text);
            if mark.detail.is_empty() {
                mark.detail = detail;
            }
        } else {
            marks.push(RunMark {
                at: entry.at,
                kind,
                task,
                lane: None,
                text,
                detail,
            });
        }
    }
    marks
}

fn mark_kind(event: &Event) -> Option<MarkKind> {
    Some(match event {
        Event::RunStarted { .. }
        | Event::HeadMoved { .. }
        | Event::LeadNudged
        | Event::Retried { .. }
        | Event::RolledBack { .. }
        | Event::Cancelled { .. }
        | Event::Finished => MarkKind::Run,
        Event::Messaged { .. } => MarkKind::Message,
        Event::Nudged { .. } => MarkKind::Nudge,
        Event::Asked { .. } | Event::Answered { .. } => MarkKind::Question,
        Event::Released { .. } => MarkKind::Released,
        Event::Judged {
            verdict: TaskVerdict { pass: true, .. },
            ..
        }
        | Event::Completed { commit: None, .. } => MarkKind::Passed,
        Event::Completed { .. } => MarkKind::Commit,
        Event::CommitBlocked { .. } => MarkKind::Blocked,
        Event::Judged { .. } | Event::SentBack { .. } => MarkKind::NotPassed,
        Event::Failed { .. } => MarkKind::GivenUp,
        _ => return None,
    })
}

fn changed_file(change: &Change) -> String {
    let path = &change.path;
    match &change.status {
        ChangeStatus::Added | ChangeStatus::Modified => path.to_string(),
        ChangeStatus::Deleted => format!("{path} (deleted)"),
        ChangeStatus::Renamed { from } => format!("{path} (was {from})"),
        ChangeStatus::ModeChanged => format!("{path} (mode)"),
        ChangeStatus::TypeChanged => format!("{path} (type)"),
    }
}

fn judged_criterion(judgement: &Judgement) -> JudgedCriterion {
    JudgedCriterion {
        number: judgement.criterion,
        text: String::new(),
        pass: judgement.pass,
        evidence: judgement.evidence.clone(),
    }
}

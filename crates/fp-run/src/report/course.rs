//! Replays the log as a timeline for the run page: who worked on what, when, and how each attempt ended.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::log::task_of;
use super::run_page::{
    AttemptEnd, BarKind, JudgedCriterion, LaneBar, RunCommit, RunLane, RunPause, RunQuestion,
    RunTimes, TaskAttempt, TaskTry, TryOutcome, TryWork, worked_between,
};
use super::tree::TreeReport;
use crate::run::State;
use crate::run::event::{AgentDispatch, Decider, Dispatch, Entry, Event, Judgement};
use crate::verification::change::{Change, ChangeStatus};
use fp_plan::plan::id::{AgentName, TaskId};

#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) started_at: Option<Timestamp>,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) decisions: Vec<RunQuestion>,
    pub(super) commits: Vec<RunCommit>,
    /// Remarks from the trial of the plan's commands.
    pub(super) trial_notes: Vec<String>,
    pub(super) tries: BTreeMap<TaskId, Vec<TaskTry>>,
    pub(super) revisions: usize,
    pub(super) spent: Vec<(Timestamp, u64, u64)>,
    /// The hash of each approved leaf.
    approved: BTreeMap<TaskId, String>,
    /// The builders' lanes, in order of first claim.
    lanes: Vec<RunLane>,
    lane_of: BTreeMap<TaskId, usize>,
    /// The current activity on each task, and its start.
    open: BTreeMap<TaskId, (BarKind, Timestamp)>,
    /// Subjects of commits in progress.
    subjects: BTreeMap<TaskId, String>,
}

impl Course {
    /// Builds the course of the run from `entries`, which produced `state`.
    pub(super) fn of_run(state: &State, entries: &[Entry]) -> Self {
        let mut course = Self::default();
        for entry in entries {
            for event in &entry.events {
                course.take_event(event, entry.at);
            }
        }
        course.finish_with(state);
        course
    }

    fn take_event(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::Approved(approved) => {
                for leaf in &approved.leaves {
                    let before = self.approved.insert(leaf.id.clone(), leaf.hash.clone());
                    let is_new = before.as_ref() != Some(&leaf.hash);
                    self.revisions += usize::from(self.started_at.is_some() && is_new);
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
            Event::CommandsTried { notes, .. } => self.trial_notes.extend(notes.iter().cloned()),
            Event::Asked { question } => self.decisions.push(RunQuestion {
                id: question.id.clone(),
                task: question.topic.task().cloned(),
                question: question.text.clone(),
                options: question.options.iter().map(|o| o.label.clone()).collect(),
                answer: Vec::new(),
                by: Decider::default(),
                asked_at: at,
                answered_at: None,
                inquiry: question.topic.is_inquiry(),
            }),
            Event::Answered {
                question,
                options,
                by,
            } => {
                let mut decisions = self.decisions.iter_mut();
                if let Some(asked) = decisions.rfind(|asked| asked.id == *question) {
                    asked.answer.clone_from(options);
                    asked.by = *by;
                }
            }
            Event::AgentSpent { cost, .. } => {
                let spent = (at, cost.micro_usd.unwrap_or(0), cost.tokens.total());
                self.spent.push(spent);
            }
            Event::CommitStarted { task, intent } => {
                self.subjects
                    .insert(task.clone(), intent.subject().to_owned());
            }
            Event::Completed {
                task,
                commit: Some(hash),
                ..
            } => self.commits.push(RunCommit {
                task: task.clone(),
                hash: hash.clone(),
                subject: self.subjects.remove(task).unwrap_or_default(),
                at,
                undone: false,
            }),
            Event::RolledBack {
                commit: Some(hash), ..
            } => {
                let undone = self.commits.iter_mut().filter(|made| made.hash == *hash);
                undone.for_each(|made| made.undone = true);
            }
            _ => {}
        }
        if let Some(task) = task_of(event) {
            self.take_activity(task, event, at);
            let tries = self.tries.entry(task.clone()).or_default();
            if let Some(last) = tries.last_mut() {
                last.take_event(event, at);
            }
            let last = tries.last();
            let begun = match event {
                Event::Claimed {
                    owner,
                    iteration,
                    base,
                    ..
                } => Some((owner, *iteration, &base.tree)),
                Event::SentBack {
                    iteration,
                    token: Some(_),
                    base,
                    ..
                } => last.map(|last| {
                    let base = base.as_ref().map_or(&last.work.base, |base| &base.tree);
                    (&last.attempt.builder, *iteration, base)
                }),
                _ => None,
            };
            let begun = begun.map(|(builder, iteration, base)| {
                TaskTry::new(builder.clone(), iteration, base.clone(), at)
            });
            tries.extend(begun);
        }
        self.settle_questions(event, at);
    }

    /// Updates the activity on `task` after `event`.
    fn take_activity(&mut self, task: &TaskId, event: &Event, at: Timestamp) {
        let now = self.open.get(task).map(|(kind, _)| *kind);
        let next = match event {
            Event::Claimed { owner, .. } => {
                self.close_bar(task, at, false);
                let lane = self.lane_of_builder(owner);
                self.leave_lane(lane, at);
                self.lane_of.insert(task.clone(), lane);
                Some(BarKind::Building)
            }
            Event::Resumed { .. } if now != Some(BarKind::Building) => Some(BarKind::Building),
            Event::Asked { question } if question.topic.is_inquiry() => Some(BarKind::Asking),
            Event::Submitted { .. } | Event::SentBack { token: Some(_), .. } => {
                Some(BarKind::Waiting)
            }
            Event::Dispatched(AgentDispatch {
                dispatch: Dispatch::Verify,
                ..
            })
            | Event::Verified { .. }
                if now == Some(BarKind::Waiting) =>
            {
                Some(BarKind::Verifying)
            }
            Event::Judged { verdict, .. } => verdict.pass.then_some(BarKind::Committing),
            Event::Completed { .. }
            | Event::SentBack { .. }
            | Event::Released { .. }
            | Event::Failed { .. }
            | Event::Skipped { .. } => None,
            _ => return,
        };
        self.turn_to(task, next, at);
    }

    /// Closes the questions that `event` settles. A builder without another open question waits for its next turn.
    fn settle_questions(&mut self, event: &Event, at: Timestamp) {
        let is_settled = |asked: &RunQuestion| match event {
            Event::Answered { question, .. } => asked.id == *question,
            Event::Submitted { task, .. } | Event::Released { task, .. } => {
                asked.inquiry && asked.is_about(task)
            }
            Event::Failed { task, .. } | Event::Skipped { task, .. } => asked.is_about(task),
            _ => false,
        };
        for asked in &mut self.decisions {
            if asked.answered_at.is_none() && is_settled(asked) {
                asked.answered_at = Some(at);
            }
        }
        let is_open = |asked: &RunQuestion| asked.inquiry && asked.answered_at.is_none();
        let asks = |task| {
            self.decisions
                .iter()
                .any(|asked| is_open(asked) && asked.is_about(task))
        };
        let mut answered: Vec<TaskId> = Vec::new();
        for (task, (kind, _)) in &self.open {
            if *kind == BarKind::Asking && !asks(task) {
                answered.push(task.clone());
            }
        }
        for task in answered {
            self.turn_to(&task, Some(BarKind::Waiting), at);
        }
    }

    fn lane_of_builder(&mut self, builder: &AgentName) -> usize {
        let mut lanes = self.lanes.iter();
        let known = lanes.position(|lane| lane.name == builder.as_str());
        known.unwrap_or_else(|| {
            self.lanes.push(RunLane {
                name: builder.to_string(),
                ..RunLane::default()
            });
            self.lanes.len() - 1
        })
    }

    /// Takes the tasks that the builder of `lane` has submitted out of its lane: it goes on with another.
    fn leave_lane(&mut self, lane: usize, at: Timestamp) {
        let of_lane = self.lane_of.iter().filter(|(_, of)| **of == lane);
        for task in of_lane.map(|(task, _)| task.clone()).collect::<Vec<_>>() {
            self.close_bar(&task, at, false);
            self.lane_of.remove(&task);
        }
    }

    fn turn_to(&mut self, task: &TaskId, kind: Option<BarKind>, at: Timestamp) {
        self.close_bar(task, at, false);
        if let Some(kind) = kind.filter(|_| self.lane_of.contains_key(task)) {
            self.open.insert(task.clone(), (kind, at));
        }
    }

    fn close_all(&mut self, at: Timestamp, open: bool) {
        for task in self.open.keys().cloned().collect::<Vec<TaskId>>() {
            self.close_bar(&task, at, open);
        }
    }

    /// Ends the open bar of `task`. A bar of zero length is only drawn for building, or while it is open.
    fn close_bar(&mut self, task: &TaskId, at: Timestamp, open: bool) {
        let (Some((kind, from)), Some(&lane)) = (self.open.remove(task), self.lane_of.get(task))
        else {
            return;
        };
        if from != at || kind == BarKind::Building || open {
            self.lanes[lane].bars.push(LaneBar {
                kind,
                task: Some(task.clone()),
                nth: self.tries.get(task).map_or(0, Vec::len),
                question: None,
                from,
                to: at,
                open,
                outcome: None,
            });
        }
    }

    fn finish_with(&mut self, state: &State) {
        if self.started_at.is_some() && self.ended_at.is_none() {
            self.ended_at = state.last_at;
        }
        if let Some(at) = state.last_at {
            self.close_all(at, true);
        }
        for bar in self.lanes.iter_mut().flat_map(|lane| &mut lane.bars) {
            let tries = bar.task.as_ref().and_then(|task| self.tries.get(task));
            let one = tries.and_then(|tries| tries.get(bar.nth.checked_sub(1)?));
            bar.outcome = one.and_then(|one| Some(TryOutcome::from(one.attempt.end.as_ref()?)));
        }
        // A question may be closed without an answer event; the state then has the answer.
        for (decision, asked) in self.decisions.iter_mut().zip(&state.questions) {
            if decision.answer.is_empty() && !asked.answer.is_empty() {
                decision.answer.clone_from(&asked.answer);
                decision.by = Decider::Auto;
            }
        }
        for made in &mut self.commits {
            if let (true, Some(task)) = (made.subject.is_empty(), state.task(&made.task)) {
                made.subject.clone_from(&task.leaf.title);
            }
        }
    }

    /// Adds the texts of the criteria, which only the tree has.
    pub(super) fn word_criteria(&mut self, tree: &TreeReport<'_>) {
        for task in tree.tasks.iter().filter(|task| task.leaf) {
            let tries = self.tries.get_mut(task.id.as_str()).into_iter().flatten();
            for judged in tries.flat_map(|one| &mut one.criteria) {
                let number = judged.number.checked_sub(1);
                let text = number.and_then(|number| task.acceptance.get(number));
                judged.text = text.cloned().unwrap_or_default();
            }
        }
    }

    /// Takes the lanes out of the course, together with the pauses common to all of them.
    pub(super) fn take_lanes(&mut self) -> (Vec<RunLane>, Vec<RunPause>) {
        let mut lanes = std::mem::take(&mut self.lanes);
        let (mut pauses, mut work) = (Vec::new(), 0);
        if let Some((from, to)) = self.started_at.zip(self.ended_at) {
            pauses = RunPause::pauses_between(lanes.iter().flat_map(|lane| &lane.bars), (from, to));
            work = worked_between(from, to, &pauses);
        }
        if !self.decisions.is_empty() {
            let bars = self.decisions.iter().map(|asked| self.bar_of(asked));
            lanes.push(RunLane {
                name: "user".into(),
                user: true,
                bars: bars.collect(),
                ..RunLane::default()
            });
        }
        for lane in &mut lanes {
            lane.millis = RunTimes::of_bars(&lane.bars, &pauses);
            if !lane.user {
                lane.idle = work.saturating_sub(lane.millis.total());
            }
        }
        (lanes, pauses)
    }

    fn bar_of(&self, asked: &RunQuestion) -> LaneBar {
        let to = asked.answered_at.or(self.ended_at);
        LaneBar {
            kind: BarKind::Asking,
            task: asked.task.clone(),
            nth: 0,
            question: Some(asked.id.clone()),
            from: asked.asked_at,
            to: to.unwrap_or(asked.asked_at),
            open: asked.answered_at.is_none(),
            outcome: None,
        }
    }
}

impl RunQuestion {
    fn is_about(&self, task: &TaskId) -> bool {
        self.task.as_ref() == Some(task)
    }
}

impl TaskTry {
    fn new(builder: AgentName, iteration: u32, base: String, from: Timestamp) -> Self {
        Self {
            attempt: TaskAttempt {
                iteration,
                builder,
                end: None,
            },
            from,
            submitted_at: None,
            judged_at: None,
            verifier: None,
            nudges: 0,
            files: Vec::new(),
            work: TryWork {
                base,
                ..TryWork::default()
            },
            checks: Vec::new(),
            criteria: Vec::new(),
            summary: String::new(),
        }
    }

    fn take_event(&mut self, event: &Event, at: Timestamp) {
        let end = &mut self.attempt.end;
        match event {
            Event::Dispatched(due) if due.dispatch == Dispatch::Verify => {
                self.verifier = Some(due.name.clone());
            }
            Event::Nudged { .. } => self.nudges += 1,
            Event::Submitted { files, tree, .. } => {
                self.submitted_at = Some(at);
                self.work.tree.clone_from(tree);
                self.work.changes.clone_from(files);
                self.files = files.iter().map(changed_file).collect();
            }
            Event::Verified { work, .. } => {
                self.files = work.files.iter().map(changed_file).collect();
                self.checks.clone_from(&work.checks);
            }
            Event::Judged { verdict, .. } => {
                *end = Some(match verdict.pass {
                    true => AttemptEnd::Passed,
                    false => AttemptEnd::Failed(verdict.reasons.join("\n")),
                });
                self.judged_at = Some(at);
                self.criteria = verdict.judgements.iter().map(judged_criterion).collect();
                self.summary.clone_from(&verdict.summary);
            }
            // An attempt that failed was over before.
            Event::Released { reason, .. } if end.is_none() => {
                *end = Some(AttemptEnd::Released(reason.clone()));
            }
            // The verdict may already have given the reasons.
            Event::SentBack {
                feedback: reason, ..
            }
            | Event::Failed { reason, .. }
                if !matches!(end, Some(AttemptEnd::Failed(_))) =>
            {
                *end = Some(AttemptEnd::Failed(reason.clone()));
            }
            _ => {}
        }
    }
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

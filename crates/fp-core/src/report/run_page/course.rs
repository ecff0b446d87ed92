//! The log read from its beginning: who was at what from when to when.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use super::mark::{Mark, marks};
use super::tries::{Try, file, judged, shortened};
use super::{Bar, BarKind, Commit, Decision, Lane, Times, TryOutcome, millis};
use crate::plan::id::{AgentName, TaskId};
use crate::report::history::History;
use crate::run::State;
use crate::run::event::{Decider, Dispatch, Entry, Event};
use crate::run::question::Question;

/// What a task is at, which has not ended yet.
#[derive(Debug)]
struct Open {
    kind: BarKind,
    since: Timestamp,
}

/// A question that waits for the user.
#[derive(Debug)]
struct OpenQuestion {
    number: usize,
    inquiry: bool,
}

/// What a log says of the course of a run.
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) started_at: Option<Timestamp>,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) marks: Vec<Mark>,
    pub(super) decisions: Vec<Decision>,
    pub(super) commits: Vec<Commit>,
    pub(super) tries: BTreeMap<TaskId, Vec<Try>>,
    builders: Vec<AgentName>,
    bars: Vec<Vec<Bar>>,
    open: BTreeMap<TaskId, Open>,
    lane_of: BTreeMap<TaskId, usize>,
    open_questions: Vec<OpenQuestion>,
    subjects: BTreeMap<TaskId, String>,
}

impl Course {
    /// What `entries`, a whole log, say.
    pub(super) fn new(entries: &[Entry]) -> Self {
        let mut course = Self::default();
        for entry in entries {
            entry.events.iter().for_each(|event| course.take(event, entry.at));
            for mut mark in marks(entry) {
                mark.lane = mark.task.as_ref().and_then(|task| course.lane_of.get(task)).copied();
                course.marks.push(mark);
            }
        }
        course
    }

    /// Ends what goes on with the last event of `state`, and adds what `history` says came of each try.
    pub(super) fn finish(&mut self, state: &State, history: &History) {
        if self.started_at.is_some() && self.ended_at.is_none() {
            self.ended_at = state.last_at;
        }
        if let Some(at) = state.last_at {
            let open: Vec<TaskId> = self.open.keys().cloned().collect();
            open.iter().for_each(|task| self.close(task, at, true));
        }
        for (task, tries) in &mut self.tries {
            for (one, attempt) in tries.iter_mut().zip(history.of(task)) {
                one.attempt.end.clone_from(&attempt.end);
            }
        }
        for bar in self.bars.iter_mut().flatten() {
            let tries = bar.task.as_ref().and_then(|task| self.tries.get(task));
            let one = tries.and_then(|tries| tries.get(bar.nth.checked_sub(1)?));
            bar.outcome = one.and_then(|one| one.attempt.end.as_ref()).map(TryOutcome::of);
        }
        // A question may be settled without an answer; the state says how.
        for (decision, asked) in self.decisions.iter_mut().zip(&state.questions) {
            if decision.answer.is_empty() && !asked.answer.is_empty() {
                decision.answer.clone_from(&asked.answer);
                decision.by = Decider::Auto;
            }
        }
        for commit in self.commits.iter_mut().filter(|commit| commit.subject.is_empty()) {
            let title = state.task(&commit.task).map(|task| task.leaf.title.clone());
            commit.subject = title.unwrap_or_default();
        }
    }

    /// Adds the words of the criteria that were judged.
    pub(super) fn word_criteria(&mut self, criteria: &HashMap<String, Vec<String>>) {
        for (task, tries) in &mut self.tries {
            let Some(texts) = criteria.get(task.as_str()) else { continue };
            for judged in tries.iter_mut().flat_map(|one| &mut one.criteria) {
                let text = judged.number.checked_sub(1).and_then(|number| texts.get(number));
                judged.text = text.cloned().unwrap_or_default();
            }
        }
    }

    /// The lanes of the builders, and that of the user where there was a question.
    pub(super) fn lanes(&mut self) -> Vec<Lane> {
        let wall = self.started_at.zip(self.ended_at).map_or(0, |(from, to)| millis(from, to));
        let named = self.builders.iter().zip(std::mem::take(&mut self.bars));
        let mut lanes: Vec<Lane> = named
            .map(|(name, bars)| {
                let millis = times(&bars);
                Lane {
                    name: name.to_string(),
                    user: false,
                    idle: wall.saturating_sub(millis.total()),
                    bars,
                    millis,
                }
            })
            .collect();
        if !self.decisions.is_empty() {
            let bars: Vec<Bar> = self.decisions.iter().map(|asked| self.asked_bar(asked)).collect();
            lanes.push(Lane { name: "user".into(), user: true, millis: times(&bars), bars, idle: 0 });
        }
        lanes
    }

    fn asked_bar(&self, asked: &Decision) -> Bar {
        Bar {
            kind: BarKind::Asking,
            task: asked.task.clone(),
            nth: 0,
            question: Some(asked.id.clone()),
            from: asked.asked_at,
            to: asked.answered_at.or(self.ended_at).unwrap_or(asked.asked_at),
            open: asked.answered_at.is_none(),
            outcome: None,
        }
    }

    fn take(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::RunStarted(_) => {
                self.started_at.get_or_insert(at);
                self.ended_at = None;
            }
            Event::Cancelled { .. } | Event::Finished => {
                let open: Vec<TaskId> = self.open.keys().cloned().collect();
                open.iter().for_each(|task| self.close(task, at, false));
                self.ended_at = Some(at);
            }
            Event::Asked { question } => self.asked(question, at),
            Event::Answered { question, options, by } => {
                if let Some(number) = self.decisions.iter().rposition(|asked| asked.id == *question) {
                    self.decisions[number].answer.clone_from(options);
                    self.decisions[number].by = *by;
                    self.settled(|open| open.number == number, at);
                }
            }
            Event::CommitStarted { task, message, .. } => {
                let subject = message.lines().next().unwrap_or_default();
                self.subjects.insert(task.clone(), subject.to_owned());
            }
            Event::RolledBack { commit: Some(hash), .. } => {
                self.commits.iter_mut().filter(|made| made.hash == *hash).for_each(|made| made.undone = true);
            }
            event => self.take_work(event, at),
        }
    }

    fn take_work(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::Claimed { task, owner, iteration, .. } => {
                let lane = self.lane(owner);
                self.close(task, at, false);
                self.lane_of.insert(task.clone(), lane);
                self.try_again(task, owner.clone(), *iteration, at);
                self.turn(task, BarKind::Building, at);
            }
            Event::Resumed { task, .. } => {
                if self.kind(task) != Some(BarKind::Building) {
                    self.turn(task, BarKind::Building, at);
                }
            }
            Event::Nudged { task, .. } => self.last(task, |one| one.nudges += 1),
            Event::Submitted { task, files, .. } => {
                self.turn(task, BarKind::Waiting, at);
                self.withdraw(task, true, at);
                self.last(task, |one| {
                    one.submitted_at = Some(at);
                    one.files = files.iter().map(file).collect();
                });
            }
            Event::SentBack { task, iteration, .. } => {
                if let Some(builder) = self.lane_of.get(task).map(|&lane| self.builders[lane].clone()) {
                    self.close(task, at, false);
                    self.try_again(task, builder, *iteration, at);
                    self.turn(task, BarKind::Waiting, at);
                }
            }
            Event::Released { task, .. } => {
                self.close(task, at, false);
                self.withdraw(task, true, at);
            }
            Event::Failed { task, .. } | Event::Skipped { task, .. } => {
                self.close(task, at, false);
                self.withdraw(task, false, at);
            }
            event => self.take_verification(event, at),
        }
    }

    fn take_verification(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::Dispatched { dispatch: Dispatch::Verify, name, task: Some(task) } => {
                self.verify(task, at);
                self.last(task, |one| one.verifier = Some(name.clone()));
            }
            Event::Verified { task, files, checks, .. } => {
                self.verify(task, at);
                self.last(task, |one| {
                    one.files = files.iter().map(file).collect();
                    one.checks = checks.iter().map(shortened).collect();
                });
            }
            Event::Judged { task, pass, judgements, summary, .. } => {
                match pass {
                    true => self.turn(task, BarKind::Committing, at),
                    false => self.close(task, at, false),
                }
                self.last(task, |one| {
                    one.judged_at = Some(at);
                    one.criteria = judged(judgements);
                    one.summary.clone_from(summary);
                });
            }
            Event::Completed { task, commit, .. } => {
                self.close(task, at, false);
                let subject = self.subjects.remove(task).unwrap_or_default();
                let made = commit.clone().map(|hash| Commit {
                    task: task.clone(),
                    hash,
                    subject,
                    at,
                    undone: false,
                });
                self.commits.extend(made);
            }
            _ => {}
        }
    }

    fn lane(&mut self, owner: &AgentName) -> usize {
        self.builders.iter().position(|name| name == owner).unwrap_or_else(|| {
            self.builders.push(owner.clone());
            self.bars.push(Vec::new());
            self.builders.len() - 1
        })
    }

    fn try_again(&mut self, task: &TaskId, builder: AgentName, iteration: u32, at: Timestamp) {
        self.tries.entry(task.clone()).or_default().push(Try::new(builder, iteration, at));
    }

    fn last(&mut self, task: &TaskId, change: impl FnOnce(&mut Try)) {
        if let Some(one) = self.tries.get_mut(task).and_then(|tries| tries.last_mut()) {
            change(one);
        }
    }

    fn kind(&self, task: &TaskId) -> Option<BarKind> {
        self.open.get(task).map(|open| open.kind)
    }

    /// From now on the task is at something else.
    fn turn(&mut self, task: &TaskId, kind: BarKind, at: Timestamp) {
        self.close(task, at, false);
        if self.lane_of.contains_key(task) {
            self.open.insert(task.clone(), Open { kind, since: at });
        }
    }

    fn verify(&mut self, task: &TaskId, at: Timestamp) {
        if self.kind(task) == Some(BarKind::Waiting) {
            self.turn(task, BarKind::Verifying, at);
        }
    }

    /// Ends what the task is at. What took no time is left out, unless somebody built.
    fn close(&mut self, task: &TaskId, at: Timestamp, open: bool) {
        let Some(Open { kind, since }) = self.open.remove(task) else { return };
        let Some(&lane) = self.lane_of.get(task) else { return };
        if since == at && kind != BarKind::Building && !open {
            return;
        }
        let nth = self.tries.get(task).map_or(0, Vec::len);
        let task = Some(task.clone());
        self.bars[lane].push(Bar {
            kind,
            task,
            nth,
            question: None,
            from: since,
            to: at,
            open,
            outcome: None,
        });
    }

    fn asked(&mut self, question: &Question, at: Timestamp) {
        let inquiry = question.topic.is_inquiry();
        let task = question.topic.task();
        if let Some(task) = task.filter(|_| inquiry) {
            self.turn(task, BarKind::Asking, at);
        }
        self.open_questions.push(OpenQuestion { number: self.decisions.len(), inquiry });
        self.decisions.push(Decision {
            id: question.id.clone(),
            task: task.cloned(),
            question: question.text.clone(),
            answer: Vec::new(),
            by: Decider::default(),
            asked_at: at,
            answered_at: None,
        });
    }

    /// Open questions that `which` means wait no more; a builder that waited for one has yet to be woken.
    fn settled(&mut self, which: impl Fn(&OpenQuestion) -> bool, at: Timestamp) {
        for open in self.open_questions.extract_if(.., |open| which(open)) {
            self.decisions[open.number].answered_at = Some(at);
        }
        let asks = |task: &TaskId| {
            let mut open = self.open_questions.iter().filter(|open| open.inquiry);
            open.any(|open| self.decisions[open.number].task.as_ref() == Some(task))
        };
        let waiting = self.open.iter().filter(|(_, open)| open.kind == BarKind::Asking);
        let answered: Vec<TaskId> =
            waiting.map(|(task, _)| task).filter(|task| !asks(task)).cloned().collect();
        answered.iter().for_each(|task| self.turn(task, BarKind::Waiting, at));
    }

    /// What was asked about the task is of no more use; with `inquiries` only what its builder has asked.
    fn withdraw(&mut self, task: &TaskId, inquiries: bool, at: Timestamp) {
        let about: Vec<usize> = (0..self.decisions.len())
            .filter(|&number| self.decisions[number].task.as_ref() == Some(task))
            .collect();
        self.settled(|open| about.contains(&open.number) && (open.inquiry || !inquiries), at);
    }
}

fn times(bars: &[Bar]) -> Times {
    let mut times = Times::default();
    bars.iter().for_each(|bar| times.add(bar));
    times
}

//! What a person or a new session needs to go on with a plan, as data and as `handoff.md`. The page has the sections of
//! fractal-planner 0.1, so that older tools can read it, and is of a length to be read.

use std::cmp::Reverse;

use serde::Serialize;

use super::next_step::{NextStep, next_steps};
use super::page::{Item, Page, TEXT, plain, span};
use super::progress::{GOAL, ProgressReport, TaskProgress, lost};
use super::status::Phase;
use crate::interview::Interview;
use crate::run::event::{Decider, Note};
use crate::run::payload::short;
use crate::run::peer_message::PeerMessage;
use crate::run::question::Question;
use crate::run::state::{State, Status};
use crate::text::counted;

/// Most items that one section of the page lists.
const ITEMS: usize = 12;
/// Most tries of a task that the page tells, the last ones; `progress.md` has them all.
const TRIES: usize = 1;

/// The report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HandoffReport {
    /// What the run has come to.
    #[serde(flatten)]
    pub progress: ProgressReport,
    /// Questions that wait for the user.
    pub questions: Vec<Question>,
    /// What was decided, and by whom, oldest first.
    pub decisions: Vec<String>,
    /// What was taken for granted without asking.
    pub assumptions: Vec<String>,
    /// The notepad, oldest first.
    pub notes: Vec<Note>,
    /// What builders told each other, oldest first.
    pub messages: Vec<PeerMessage>,
    /// Files of the plan's folder that say more.
    pub read: Vec<String>,
    /// What brings the plan on, the first thing first.
    pub next: Vec<NextStep>,
}

impl HandoffReport {
    /// The report on `state`, with what the interview found, and the files in the plan's folder that are worth reading.
    #[must_use]
    pub fn new(
        state: &State,
        progress: ProgressReport,
        interview: Option<&Interview>,
        read: Vec<String>,
    ) -> Self {
        let assumptions = interview.map_or_else(Vec::new, Interview::assumptions);
        Self {
            questions: state.open_questions().cloned().collect(),
            decisions: decisions(state, interview),
            assumptions: assumptions.into_iter().map(str::to_owned).collect(),
            notes: state.notes.clone(),
            messages: state.messages.clone(),
            next: next_steps(state),
            progress,
            read,
        }
    }
}

fn decisions(state: &State, interview: Option<&Interview>) -> Vec<String> {
    let confirmed = interview.map_or_else(Vec::new, Interview::decisions).into_iter().map(|decided| {
        let by = if decided.by.is_empty() { String::new() } else { format!(" (by {})", decided.by) };
        format!("{} {}{by}", decided.question, decided.answer)
    });
    let by = |by: Decider| if by == Decider::Auto { "by a rule" } else { "by the user" };
    let approved = state.approval.as_ref().map(|approval| {
        let tasks = counted(state.tasks.len(), "task");
        format!("The plan of {tasks} was approved {}", by(approval.by))
    });
    let answered = state.questions.iter().filter(|asked| !asked.answer.is_empty());
    let answered = answered
        .map(|asked| format!("{} {} ({})", asked.question.text, asked.answer.join(", "), by(asked.by)));
    confirmed.chain(approved).chain(answered).collect()
}

/// `handoff.md`.
#[must_use]
pub fn markdown(report: &HandoffReport) -> String {
    let progress = &report.progress;
    let plan = &progress.plan_id;
    let mut page = Page::new(&format!("Handoff: {plan}"));
    let at = progress
        .last_at
        .map_or_else(|| "no event yet".to_owned(), |at| format!("{at}, event {}", progress.seq));
    page.paragraph(&format!("State of: {at} ({})", progress.phase.word()));
    page.paragraph(&format!("## Goal\n\n> {}", plain(&progress.goal, GOAL)));
    page.paragraph(&format!("## Progress\n\n{}", counts(progress)));
    let status = format!("`fp status {plan}`");
    let questions: Vec<Item> = report.questions.iter().map(question).collect();
    page.list("Open Questions", &questions, ITEMS, &status);
    tasks(&mut page, progress, &status);
    let lines = |texts: &[String]| texts.iter().map(|text| plain(text, TEXT).into()).collect::<Vec<Item>>();
    let log = format!("`fp log {plan}`");
    page.latest("Decisions", lines(&report.decisions), ITEMS, &log);
    page.list("Assumptions", &lines(&report.assumptions), ITEMS, "`interview.md`");
    let notes = report.notes.iter().map(note).collect();
    page.latest("Key Discoveries", notes, ITEMS, &format!("`fp note {plan} list`"));
    page.list("Resume Notes", &resume_notes(report), ITEMS, &status);
    page.list("Next Commands", &report.next.iter().map(step).collect::<Vec<_>>(), ITEMS, &status);
    page.paragraph(&format!("## Resume Command\n\n{}", resume(report)));
    page.finish()
}

fn counts(progress: &ProgressReport) -> String {
    let counts = &progress.counts;
    let over = counts.completed + counts.failed + counts.skipped;
    format!(
        "Completed: {}/{} | Failed: {} | Skipped: {} | Remaining: {}",
        counts.completed,
        counts.total,
        counts.failed,
        counts.skipped,
        counts.total - over
    )
}

fn tasks(page: &mut Page, progress: &ProgressReport, status: &str) {
    let mut section = |title: &str, states: &[Status], told: fn(&TaskProgress) -> String| {
        let mut tasks: Vec<&TaskProgress> = progress.within(states).collect();
        if states == [Status::Completed] {
            tasks.sort_by_key(|task| Reverse(task.ended_at));
        }
        let items: Vec<Item> = tasks.into_iter().map(|task| item(task, told(task))).collect();
        page.list(title, &items, ITEMS, status);
    };
    section("Failed Tasks", &[Status::Failed], |task| iterations(task, "Iterations"));
    section("In Progress (Interrupted)", &[Status::Implementing, Status::AwaitingVerification], |task| {
        let owner = task.line.owner.as_ref().map_or_else(String::new, |owner| format!(" | Owner: {owner}"));
        format!("{} | {}{owner}{}", iterations(task, "Iteration"), task.line.status.word(), reason(task))
    });
    section("Pending Tasks", &[Status::Pending], |task| match &task.line.detail {
        Some(detail) => format!(" | {}", plain(detail, TEXT)),
        None => " | ready".into(),
    });
    section("Skipped Tasks", &[Status::Skipped], reason);
    section("Completed Tasks", &[Status::Completed], |task| {
        let commit = task.line.commit.as_ref().map(|commit| format!(" | Commit: {}", short(commit)));
        format!("{}{}", iterations(task, "Iterations"), commit.unwrap_or_else(|| reason(task)))
    });
}

fn item(task: &TaskProgress, told: String) -> Item {
    let text = format!("{}: {}{told}", plain(task.line.id.as_str(), TEXT), plain(&task.line.title, TEXT));
    let tries: Vec<String> = match task.line.status {
        Status::Completed | Status::Skipped => Vec::new(),
        _ => task.attempts.iter().filter_map(lost).collect(),
    };
    let below = tries[tries.len().saturating_sub(TRIES)..].to_vec();
    if below.is_empty() && task.line.status == Status::Failed {
        return Item { text: text + &reason(task), below };
    }
    Item { text, below }
}

fn iterations(task: &TaskProgress, word: &str) -> String {
    if task.line.iteration == 0 && task.line.status == Status::Completed {
        return String::new();
    }
    format!(" | {word}: {}/{}", task.line.iteration, task.line.max_iterations)
}

fn reason(task: &TaskProgress) -> String {
    let detail = task.line.detail.as_ref();
    detail.map_or_else(String::new, |detail| format!(" | Reason: {}", plain(detail, TEXT)))
}

fn question(question: &Question) -> Item {
    let options = question
        .options
        .iter()
        .map(|option| format!("{}: {}", plain(&option.label, TEXT), plain(&option.description, TEXT)));
    Item { text: format!("{}: {}", question.id, plain(&question.text, TEXT)), below: options.collect() }
}

/// A note as fractal-planner 0.1 has it.
fn note(note: &Note) -> Item {
    let line = note.line();
    let head = line.strip_suffix(note.text.as_str()).unwrap_or_default();
    format!("{head}{}", plain(&note.text, TEXT)).into()
}

fn step(step: &NextStep) -> Item {
    format!("{}: {}", span(&step.command), plain(&step.why, TEXT)).into()
}

fn resume_notes(report: &HandoffReport) -> Vec<Item> {
    let mut notes = vec!["The state is in the log; nothing of it has to be kept in mind".to_owned()];
    if !report.read.is_empty() {
        let files: Vec<String> = report.read.iter().map(|file| span(file)).collect();
        notes.push(format!("In the plan's folder: {}", files.join(", ")));
    }
    if !report.messages.is_empty() {
        let list = span(&format!("fp note {} list", report.progress.plan_id));
        notes.push(format!("Messages between builders: {} ({list})", report.messages.len()));
    }
    notes.into_iter().map(Item::from).collect()
}

fn resume(report: &HandoffReport) -> String {
    let progress = &report.progress;
    let counts = &progress.counts;
    if progress.phase == Phase::Planning {
        return format!("/fp:plan (the plan {} is not approved yet)", progress.plan_id);
    }
    if counts.total > 0 && counts.completed == counts.total {
        return "All tasks complete. No resume needed.".into();
    }
    if counts.total == counts.completed + counts.failed + counts.skipped {
        return format!("fp retry {} TASK (no other task is left)", progress.plan_id);
    }
    format!("/fp:implement {}", progress.plan_id)
}

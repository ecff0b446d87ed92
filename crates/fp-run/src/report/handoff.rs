//! Tells a person or a new session how to continue a plan, as data and as `handoff.md`, which is short enough to be
//! read.

use std::cmp::Reverse;
use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;

use super::course::Course;
use super::run_page::{AttemptEnd, TaskAttempt};
use super::standing::{LeadPresence, RunStanding};
use super::status::{Phase, StatusReport, TaskCounts, TaskLine};
use crate::interview::Interview;
use crate::interview::record::quoted_lines;
use crate::run::event::{Decider, Entry, Note};
use crate::run::payload::short;
use crate::run::question::Question;
use crate::run::state::{State, Status};
use fp_plan::markdown::code;
use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::text::{clipped, counted, one_line, shell_quoted};

/// Maximum items in one section of the page.
const ITEMS: usize = 12;
/// Maximum characters of a text on the page, apart from the goal.
const TEXT: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HandoffReport {
    pub plan_id: PlanId,
    pub goal: String,
    pub phase: Phase,
    pub standing: RunStanding,
    /// Number of the last event.
    pub seq: u64,
    pub started_at: Option<Timestamp>,
    pub last_at: Option<Timestamp>,
    pub counts: TaskCounts,
    pub tasks: Vec<HandoffTask>,
    /// Open questions to the user.
    pub questions: Vec<Question>,
    /// Decisions with who made them: those of the interview, the approval, then answers in the run.
    pub decisions: Vec<String>,
    pub assumptions: Vec<String>,
    pub notes: Vec<Note>,
    /// Other files of the plan's folder worth reading.
    pub read: Vec<String>,
    pub next: Vec<NextStep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HandoffTask {
    #[serde(flatten)]
    pub line: TaskLine,
    pub attempts: Vec<TaskAttempt>,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

impl HandoffReport {
    /// Builds the report on `state`, which replays `entries`. `read` are files of the plan's folder worth reading.
    pub fn new(
        state: &State,
        entries: &[Entry],
        lead: LeadPresence,
        goal: String,
        interview: Option<&Interview>,
        read: Vec<String>,
    ) -> Self {
        let status = StatusReport::new(state, lead);
        let mut tries = Course::of_run(state, entries).tries;
        let tasks = status
            .tasks
            .into_iter()
            .zip(&state.tasks)
            .map(|(line, task)| HandoffTask {
                attempts: tries
                    .remove(&line.id)
                    .into_iter()
                    .flatten()
                    .map(|one| one.attempt)
                    .collect(),
                started_at: task.started_at,
                ended_at: task.ended_at,
                line,
            });
        let assumptions = interview.map_or(&[][..], |interview| &interview.assumptions);
        Self {
            plan_id: status.plan_id,
            goal,
            phase: status.phase,
            standing: status.standing,
            seq: state.seq,
            started_at: state.run.as_ref().map(|run| run.started_at),
            last_at: state.last_at,
            counts: status.counts,
            tasks: tasks.collect(),
            questions: state.open_questions().cloned().collect(),
            decisions: decisions_of(state, interview),
            assumptions: assumptions.to_vec(),
            notes: state.notes.clone(),
            read,
            next: next_steps(state, status.standing),
        }
    }

    /// The text of `handoff.md`.
    pub fn to_markdown(&self) -> String {
        let plan = &self.plan_id;
        let at = self.last_at.map_or_else(
            || "no event".into(),
            |at| format!("{at:.0}, event {}", self.seq),
        );
        let mut page = format!(
            "# Handoff: {plan}\n\nState of: {at} ({})\n\n## Goal\n\n{}\n## Progress\n\n{}\n",
            self.standing.into_str(),
            quoted_lines(&self.goal),
            self.counts.in_words()
        );
        let status = format!("`fp status {plan}`");
        section(
            &mut page,
            "Open questions",
            self.questions.iter().map(question_item),
            &status,
        );
        for (title, states) in [
            ("Failed", &[Status::Failed][..]),
            (
                "Begun",
                &[Status::Implementing, Status::AwaitingVerification],
            ),
            ("Pending", &[Status::Pending]),
            ("Skipped", &[Status::Skipped]),
            ("Done, the last first", &[Status::Completed]),
        ] {
            let is_in = |task: &&HandoffTask| states.contains(&task.line.status);
            let mut tasks: Vec<&HandoffTask> = self.tasks.iter().filter(is_in).collect();
            if states == [Status::Completed] {
                tasks.sort_by_key(|task| Reverse(task.ended_at));
            }
            section(&mut page, title, tasks.into_iter().map(task_item), &status);
        }
        let decisions = self.decisions.iter().map(|text| plain(text));
        section(
            &mut page,
            "Decisions",
            decisions,
            &format!("`fp log {plan}`"),
        );
        section(
            &mut page,
            "Assumptions",
            self.assumptions.iter().map(|text| plain(text)),
            "`interview.md`",
        );
        let list = format!("`fp note {plan} list`");
        section(
            &mut page,
            "Notes, the last first",
            self.notes.iter().rev().map(note_item),
            &list,
        );
        let files = self
            .read
            .iter()
            .map(|file| format!("{} in the plan's folder", code(file)));
        section(&mut page, "Worth reading", files, &status);
        let step = |step: &NextStep| format!("{}: {}", code(&step.command), plain(&step.why));
        section(
            &mut page,
            "Next commands",
            self.next.iter().map(step),
            &status,
        );
        page
    }
}

/// A command and its purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NextStep {
    /// As typed in a terminal, or, if it starts with `/`, in Claude Code.
    pub command: String,
    pub why: String,
}

impl NextStep {
    pub fn new(command: String, why: impl Into<String>) -> Self {
        Self {
            command,
            why: why.into(),
        }
    }

    /// The command that answers `question` with the option `wanted`, or the first if none has that label. The
    /// explanation lists all options.
    pub(super) fn answer(plan: &PlanId, question: &Question, wanted: &str) -> Self {
        let labels: Vec<&str> = question
            .options
            .iter()
            .map(|option| option.label.as_str())
            .collect();
        let chosen = labels
            .iter()
            .find(|label| **label == wanted)
            .or(labels.first());
        Self::new(
            format!(
                "fp answer {plan} {} --option {}",
                shell_quoted(&question.id),
                shell_quoted(chosen.copied().unwrap_or_default())
            ),
            format!("answers {} ({})", question.id, labels.join(", ")),
        )
    }

    pub(super) fn retry(plan: &PlanId, task: &TaskId) -> Self {
        Self::new(
            format!("fp retry {plan} {task}"),
            format!("gives task {task} another attempt"),
        )
    }

    pub(super) fn revise(plan: &PlanId, task: &TaskId) -> Self {
        Self::new(
            format!("fp task revise {plan} {task} --file -"),
            format!("changes task {task}, if it is at fault; then `fp approve {plan}`"),
        )
    }

    /// The command that continues an interrupted run, and that it is one.
    pub fn if_interrupted(state: &State, standing: RunStanding) -> Option<Self> {
        let why = standing.obstacle(state)?;
        let is_interrupted = standing == RunStanding::Interrupted;
        is_interrupted.then(|| Self::new(Self::go_on(state, "").command, why))
    }

    /// The command that begins the run, or continues it.
    pub(super) fn go_on(state: &State, why: &str) -> Self {
        let plan = &state.plan_id;
        match state.has_processes() {
            true => Self::new(state.run_command(), why),
            false => Self::new(
                format!("/fp:implement {plan}"),
                format!("{why}, in Claude Code; in a terminal: `fp run {plan}`"),
            ),
        }
    }
}

/// The commands that move the plan of `state` forward, most urgent first; empty if everything is done.
pub fn next_steps(state: &State, standing: RunStanding) -> Vec<NextStep> {
    let plan = &state.plan_id;
    let mut steps: Vec<NextStep> = state
        .open_questions()
        .map(|q| NextStep::answer(plan, q, ""))
        .collect();
    if standing == RunStanding::Interrupted {
        steps.push(NextStep::go_on(state, "goes on with the run"));
    }
    let asked = |id: &TaskId| state.open_questions().any(|q| q.topic.task() == Some(id));
    let failed = state
        .tasks
        .iter()
        .filter(|task| task.status == Status::Failed && !asked(&task.leaf.id));
    steps.extend(failed.map(|task| NextStep::retry(plan, &task.leaf.id)));
    let to_revise = state
        .tasks
        .iter()
        .filter(|task| task.to_revise && !task.status.is_final());
    steps.extend(to_revise.map(|task| NextStep::revise(plan, &task.leaf.id)));
    let open = state.tasks.iter().any(|task| !task.status.is_final());
    match standing {
        RunStanding::Planning => {
            steps.push(NextStep::new(
                format!("fp validate {plan}"),
                "checks the task tree",
            ));
            steps.push(NextStep::new(
                format!("fp approve {plan}"),
                "approves it as it stands",
            ));
        }
        RunStanding::Approved => steps.push(NextStep::go_on(state, "builds it")),
        RunStanding::Cancelled if open => {
            steps.push(NextStep::go_on(state, "goes on where it was cancelled"))
        }
        RunStanding::Running | RunStanding::WaitsForYou if state.has_processes() => {
            let watch = format!("fp status {plan} --watch");
            steps.push(NextStep::new(watch, "shows what the run does"));
        }
        RunStanding::Running | RunStanding::WaitsForYou => {
            steps.push(NextStep::go_on(state, "goes on with the run"));
        }
        RunStanding::Interrupted | RunStanding::Finished | RunStanding::Cancelled => {}
    }
    steps
}

fn decisions_of(state: &State, interview: Option<&Interview>) -> Vec<String> {
    let confirmed = interview.map_or(&[][..], |interview| &interview.decisions);
    let by = |by: Decider| {
        if by == Decider::Auto {
            "by a rule"
        } else {
            "by the user"
        }
    };
    let approved = state.approval.as_ref().map(|approval| {
        let tasks = counted(state.tasks.len(), "task");
        format!("The plan of {tasks} was approved {}", by(approval.by))
    });
    let answered = state
        .questions
        .iter()
        .filter(|asked| !asked.answer.is_empty());
    let answered = answered.map(|asked| {
        format!(
            "{} {} ({})",
            asked.question.text,
            asked.answer.join(", "),
            by(asked.by)
        )
    });
    confirmed
        .iter()
        .map(ToString::to_string)
        .chain(approved)
        .chain(answered)
        .collect()
}

/// A task, with the end of its last attempt unless it is done.
fn task_item(task: &HandoffTask) -> String {
    let line = &task.line;
    let is_over = matches!(line.status, Status::Completed | Status::Skipped);
    let is_begun = matches!(
        line.status,
        Status::Implementing | Status::AwaitingVerification
    );
    let lost = task
        .attempts
        .iter()
        .rev()
        .find_map(lost_try)
        .filter(|_| !is_over);
    let detail = line.detail.as_deref().filter(|_| lost.is_none()).map(plain);
    let facts = [
        (line.iteration > 0)
            .then(|| format!("attempt {} of {}", line.iteration, line.max_iterations)),
        is_begun.then(|| line.status.into_str().to_owned()),
        line.owner
            .as_ref()
            .filter(|_| is_begun)
            .map(ToString::to_string),
        line.commit
            .as_ref()
            .map(|commit| format!("commit {}", short(commit))),
        detail.or_else(|| (line.status == Status::Pending).then(|| "ready".into())),
    ];
    let mut item = format!("{}: {}", plain(line.id.as_str()), plain(&line.title));
    item.extend(facts.into_iter().flatten().map(|fact| format!(" | {fact}")));
    item.extend(lost.map(|lost| format!("\n  - {lost}")));
    item
}

fn lost_try(attempt: &TaskAttempt) -> Option<String> {
    let reason = plain(&super::reason_lines(attempt.end.as_ref()?.reason()?).join("; "));
    let how = if matches!(attempt.end, Some(AttemptEnd::Released(_))) {
        "taken back, "
    } else {
        ""
    };
    Some(format!(
        "attempt {}, {}: {how}{reason}",
        attempt.iteration, attempt.builder
    ))
}

fn question_item(question: &Question) -> String {
    let mut item = format!("{}: {}", question.id, plain(&question.text));
    for option in &question.options {
        item.push_str(&format!(
            "\n  - {}: {}",
            plain(&option.label),
            plain(&option.description)
        ));
    }
    item
}

fn note_item(note: &Note) -> String {
    let line = note.line();
    format!(
        "{}{}",
        line.strip_suffix(note.text.as_str()).unwrap_or_default(),
        plain(&note.text)
    )
}

/// Writes a section with the first items, and a hint where to find the others.
fn section(page: &mut String, title: &str, items: impl IntoIterator<Item = String>, rest: &str) {
    let items: Vec<String> = items.into_iter().collect();
    if items.is_empty() {
        return;
    }
    let _ = write!(page, "\n## {title}\n\n");
    for item in items.iter().take(ITEMS) {
        let _ = writeln!(page, "- {item}");
    }
    if let Some(more @ 1..) = items.len().checked_sub(ITEMS) {
        let _ = writeln!(page, "- and {more} more: {rest}");
    }
}

/// A text on one line, in its own characters: whoever reads the page quotes from it.
fn plain(text: &str) -> String {
    clipped(&one_line(text), TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_as_it_was_given() {
        assert_eq!(plain("a\n# b\t*c* 10**20"), "a # b *c* 10**20");
        assert_eq!(plain(&"한".repeat(TEXT + 1)), "한".repeat(TEXT - 1) + "…");
    }

    #[test]
    fn a_long_list_says_where_the_rest_is() {
        let items = || (1..=ITEMS + 2).map(|number| number.to_string());
        let mut page = String::new();
        section(&mut page, "T", items(), "there");
        assert!(
            page.starts_with("\n## T\n\n- 1\n") && page.ends_with("- 12\n- and 2 more: there\n"),
            "{page}"
        );
        let mut page = String::new();
        section(&mut page, "T", [], "there");
        assert_eq!(page, "");
    }
}

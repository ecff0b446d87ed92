//! Tells a person or a new session how to continue a plan, as data and as `handoff.md`, which is kept short enough to
//! read.

use std::cmp::Reverse;

use jiff::Timestamp;
use serde::Serialize;

use super::course::Course;
use super::log::by_whom;
use super::run_page::{AttemptEnd, TaskAttempt};
use super::standing::{LeadPresence, RunStanding};
use super::status::{Phase, StatusReport, TaskCounts, TaskLine};
use crate::interview::Interview;
use crate::interview::record::quoted_lines;
use crate::run::event::{Entry, Note};
use crate::run::payload::short;
use crate::run::question::Question;
use crate::run::state::{State, Status, TaskState};
use fp_plan::markdown::code;
use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::text::{clipped, counted, one_line, shell_quoted};

/// Maximum number of items in one section of the page.
const ITEMS: usize = 12;
/// Maximum length of a text on the page, in characters; doesn't apply to the goal.
const TEXT: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HandoffReport {
    pub plan_id: PlanId,
    pub goal: String,
    pub phase: Phase,
    pub standing: RunStanding,
    /// Sequence number of the last event.
    pub seq: u64,
    pub started_at: Option<Timestamp>,
    pub last_at: Option<Timestamp>,
    pub counts: TaskCounts,
    pub tasks: Vec<HandoffTask>,
    /// Open questions for the user.
    pub questions: Vec<Question>,
    /// Decisions, each with who made it: those from the interview, then the approval, then answers given during the
    /// run.
    pub decisions: Vec<String>,
    pub assumptions: Vec<String>,
    pub notes: Vec<Note>,
    /// Other files in the plan's folder that are worth reading.
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
    /// Builds the report on `state`, which replays `entries`. `read` lists files in the plan's folder that are worth
    /// reading.
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
        let task_of = |(line, task): (TaskLine, &TaskState)| {
            let tries = tries.remove(&line.id).into_iter().flatten();
            HandoffTask {
                attempts: tries.map(|one| one.attempt).collect(),
                started_at: task.started_at,
                ended_at: task.ended_at,
                line,
            }
        };
        let tasks = status.tasks.into_iter().zip(&state.tasks).map(task_of);
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
            assumptions: interview.map_or_else(Vec::new, |said| said.assumptions.clone()),
            notes: state.notes.clone(),
            read,
            next: next_steps(state, status.standing),
        }
    }

    /// The text of `handoff.md`.
    pub fn to_markdown(&self) -> String {
        let plan = &self.plan_id;
        let (standing, counts) = (self.standing.into_str(), self.counts.in_words());
        let at = match self.last_at {
            Some(at) => format!("{at:.0}, event {}", self.seq),
            None => "no event".into(),
        };
        let goal = quoted_lines(&self.goal);
        let mut page = format!(
            "# Handoff: {plan}\n\nState of: {at} ({standing})\n\n## Goal\n\n{goal}\n## Progress\n\n{counts}\n"
        );
        let plain = |texts: &[String]| texts.iter().map(|text| plain_line(text)).collect();
        let folder = |file: &String| format!("{} in the plan's folder", code(file));
        let step = |step: &NextStep| format!("{}: {}", code(&step.command), plain_line(&step.why));
        let questions = self.questions.iter().map(question_item).collect();
        let notes = self.notes.iter().rev().map(note_item).collect();
        let files = self.read.iter().map(folder).collect();
        let steps = self.next.iter().map(step).collect();
        let status = format!("`fp status {plan}`");
        let (log, notepad) = (format!("`fp log {plan}`"), format!("`fp note {plan} list`"));
        let begun = [Status::Implementing, Status::AwaitingVerification];
        let done = self.items_in(&[Status::Completed]);
        let sections: [(&str, Vec<String>, &str); 11] = [
            ("Open questions", questions, &status),
            ("Failed", self.items_in(&[Status::Failed]), &status),
            ("Begun", self.items_in(&begun), &status),
            ("Pending", self.items_in(&[Status::Pending]), &status),
            ("Skipped", self.items_in(&[Status::Skipped]), &status),
            ("Done, the last first", done, &status),
            ("Decisions", plain(&self.decisions), &log),
            ("Assumptions", plain(&self.assumptions), "`interview.md`"),
            ("Notes, the last first", notes, &notepad),
            ("Worth reading", files, &status),
            ("Next commands", steps, &status),
        ];
        for (title, items, rest) in sections {
            add_section(&mut page, title, &items, rest);
        }
        page
    }

    /// The tasks in these `states` as list items; completed ones in reverse order of completion.
    fn items_in(&self, states: &[Status]) -> Vec<String> {
        let tasks = self.tasks.iter();
        let mut tasks: Vec<&HandoffTask> = tasks
            .filter(|task| states.contains(&task.line.status))
            .collect();
        if states == [Status::Completed] {
            tasks.sort_by_key(|task| Reverse(task.ended_at));
        }
        tasks.into_iter().map(task_item).collect()
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

    /// The command that answers `question` with the option `wanted`, or with the first option if none has that label.
    /// The explanation lists all options.
    pub(super) fn answer_command(plan: &PlanId, question: &Question, wanted: &str) -> Self {
        let id = &question.id;
        let labels: Vec<&str> = question
            .options
            .iter()
            .map(|option| &*option.label)
            .collect();
        let chosen = labels.iter().find(|label| **label == wanted);
        let chosen = chosen.or(labels.first()).copied().unwrap_or_default();
        let (quoted_id, chosen) = (shell_quoted(id), shell_quoted(chosen));
        Self::new(
            format!("fp answer {plan} {quoted_id} --option {chosen}"),
            format!("answers {id} ({})", labels.join(", ")),
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

    /// If the run is interrupted, the command that continues it, with the reason.
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
    let answers = state
        .open_questions()
        .map(|question| NextStep::answer_command(plan, question, ""));
    let mut steps: Vec<NextStep> = answers.collect();
    if standing == RunStanding::Interrupted {
        steps.push(NextStep::go_on(state, "goes on with the run"));
    }
    let is_asked = |id: &TaskId| state.open_questions().any(|q| q.topic.task() == Some(id));
    let failed = state
        .tasks
        .iter()
        .filter(|task| task.status == Status::Failed);
    let failed = failed.map(|task| &task.leaf.id).filter(|id| !is_asked(id));
    steps.extend(failed.map(|id| NextStep::retry(plan, id)));
    let open = || state.tasks.iter().filter(|task| !task.status.is_final());
    let to_revise = open().filter(|task| task.to_revise);
    steps.extend(to_revise.map(|task| NextStep::revise(plan, &task.leaf.id)));
    match standing {
        RunStanding::Planning => steps.extend([
            NextStep::new(format!("fp validate {plan}"), "checks the task tree"),
            NextStep::new(format!("fp approve {plan}"), "approves it as it stands"),
        ]),
        RunStanding::Approved => steps.push(NextStep::go_on(state, "builds it")),
        RunStanding::Cancelled if open().next().is_some() => {
            steps.push(NextStep::go_on(state, "goes on where it was cancelled"));
        }
        RunStanding::Running | RunStanding::WaitsForYou => {
            steps.push(match state.has_processes() {
                true => NextStep::new(
                    format!("fp status {plan} --watch"),
                    "shows what the run does",
                ),
                false => NextStep::go_on(state, "goes on with the run"),
            })
        }
        RunStanding::Interrupted | RunStanding::Finished | RunStanding::Cancelled => {}
    }
    steps
}

fn decisions_of(state: &State, interview: Option<&Interview>) -> Vec<String> {
    let confirmed = interview.map_or(&[][..], |interview| &interview.decisions);
    let mut decisions: Vec<String> = confirmed.iter().map(ToString::to_string).collect();
    if let Some(approval) = &state.approval {
        let (tasks, by) = (counted(state.tasks.len(), "task"), by_whom(approval.by));
        decisions.push(format!("The plan of {tasks} was approved {by}"));
    }
    for asked in state
        .questions
        .iter()
        .filter(|asked| !asked.answer.is_empty())
    {
        let (question, answer) = (&asked.question.text, asked.answer.join(", "));
        decisions.push(format!("{question} {answer} ({})", by_whom(asked.by)));
    }
    decisions
}

/// A line for a task. Says how the last attempt ended, unless the task is done or skipped.
fn task_item(task: &HandoffTask) -> String {
    let line = &task.line;
    let is_over = matches!(line.status, Status::Completed | Status::Skipped);
    let is_begun = line.status.is_running();
    let lost = task.attempts.iter().rev().find_map(lost_try);
    let lost = lost.filter(|_| !is_over);
    let detail = line.detail.as_deref().filter(|_| lost.is_none());
    let attempt = format!("attempt {} of {}", line.iteration, line.max_iterations);
    let owner = line.owner.as_ref().filter(|_| is_begun);
    let commit = line.commit.as_ref();
    let facts = [
        (line.iteration > 0).then_some(attempt),
        is_begun.then(|| line.status.into_str().to_owned()),
        owner.map(ToString::to_string),
        commit.map(|commit| format!("commit {}", short(commit))),
        detail
            .map(plain_line)
            .or_else(|| line.ready.then(|| "ready".into())),
    ];
    let mut item = format!("{}: {}", line.id, plain_line(&line.title));
    item.extend(facts.into_iter().flatten().map(|fact| format!(" | {fact}")));
    item.extend(lost.map(|lost| format!("\n  - {lost}")));
    item
}

fn lost_try(attempt: &TaskAttempt) -> Option<String> {
    let TaskAttempt {
        iteration,
        builder,
        end,
    } = attempt;
    let reason = plain_line(&super::reason_lines(end.as_ref()?.reason()?).join("; "));
    let how = match end {
        Some(AttemptEnd::Released(_)) => "taken back, ",
        _ => "",
    };
    Some(format!("attempt {iteration}, {builder}: {how}{reason}"))
}

fn question_item(question: &Question) -> String {
    let mut item = format!("{}: {}", question.id, plain_line(&question.text));
    for option in &question.options {
        let (label, description) = (plain_line(&option.label), plain_line(&option.description));
        item.push_str(&format!("\n  - {label}: {description}"));
    }
    item
}

fn note_item(note: &Note) -> String {
    let line = note.notepad_line();
    let head = line.strip_suffix(note.text.as_str());
    format!("{}{}", head.unwrap_or_default(), plain_line(&note.text))
}

/// Writes a section with the first `items`, and a hint on where to find the rest.
fn add_section(page: &mut String, title: &str, items: &[String], rest: &str) {
    if items.is_empty() {
        return;
    }
    page.push_str(&format!("\n## {title}\n\n"));
    let shown = items.iter().take(ITEMS).map(|item| format!("- {item}\n"));
    page.extend(shown);
    if let Some(more @ 1..) = items.len().checked_sub(ITEMS) {
        page.push_str(&format!("- and {more} more: {rest}\n"));
    }
}

/// Puts `text` on one line, clipped but otherwise verbatim, because readers of the page quote from it.
fn plain_line(text: &str) -> String {
    clipped(&one_line(text), TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_as_it_was_given() {
        assert_eq!(plain_line("a\n# b\t*c* 10**20"), "a # b *c* 10**20");
        assert_eq!(
            plain_line(&"한".repeat(TEXT + 1)),
            "한".repeat(TEXT - 1) + "…"
        );
    }

    #[test]
    fn a_long_list_says_where_the_rest_is() {
        let items: Vec<String> = (1..=ITEMS + 2).map(|number| number.to_string()).collect();
        let mut page = String::new();
        add_section(&mut page, "T", &items, "there");
        assert!(
            page.starts_with("\n## T\n\n- 1\n") && page.ends_with("- 12\n- and 2 more: there\n"),
            "{page}"
        );
        let mut page = String::new();
        add_section(&mut page, "T", &[], "there");
        assert_eq!(page, "");
    }
}

//! Tells a person or a new session how to continue a plan, in `handoff.md`, which is kept short enough to read.

use serde::Serialize;

use super::evidence::fence_around;
use super::log::by_whom;
use super::standing::RunStanding;
use crate::interview::Interview;
use crate::interview::record::quoted_lines;
use crate::run::event::Note;
use crate::run::question::Question;
use crate::run::state::{State, Status};
use fp_plan::markdown::code;
use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::text::{clipped, counted, one_line, shell_quoted};

/// Maximum number of items in one section of the page.
const ITEMS: usize = 12;
/// Maximum length of a text on the page, in characters; doesn't apply to the goal.
const TEXT: usize = 300;

/// The text of `handoff.md`: the `goal`, the progress that `status` tells, the decisions of `interview` and of the run,
/// the notes, and how to go on. `read` lists files in the plan's folder that are worth reading.
pub fn handoff_page(
    state: &State,
    standing: RunStanding,
    goal: &str,
    status: &str,
    interview: &Interview,
    read: &[&str],
) -> String {
    let plan = &state.plan_id;
    let at = match state.last_at {
        Some(at) => format!("{at:.0}, event {}", state.seq),
        None => "no event".into(),
    };
    let (goal, fence) = (quoted_lines(goal), fence_around(status));
    let mut page = format!(
        "# Handoff: {plan}\n\nState of: {at}\n\n## Goal\n\n{goal}\n## Progress\n\n{fence}text\n{status}{fence}\n"
    );
    let plain = |texts: &[String]| texts.iter().map(|text| plain_line(text)).collect();
    let notes = state.notes.iter().rev();
    let notes: Vec<String> = notes.map(Note::notepad_line).collect();
    let read = read.iter();
    let read = read.map(|file| format!("{} in the plan's folder", code(file)));
    let steps = next_steps(state, standing).into_iter();
    let steps = steps.map(|step| format!("{}: {}", code(&step.command), plain_line(&step.why)));
    let (log, notepad) = (format!("`fp log {plan}`"), format!("`fp note {plan} list`"));
    let sections: [(&str, Vec<String>, &str); 5] = [
        ("Decisions", plain(&decisions_of(state, interview)), &log),
        (
            "Assumptions",
            plain(&interview.assumptions),
            "`interview.md`",
        ),
        ("Notes, the last first", plain(&notes), &notepad),
        ("Worth reading", read.collect(), &log),
        (
            "Next commands",
            steps.collect(),
            &format!("`fp status {plan}`"),
        ),
    ];
    for (title, items, rest) in sections {
        add_section(&mut page, title, &items, rest);
    }
    page
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

fn decisions_of(state: &State, interview: &Interview) -> Vec<String> {
    let confirmed = interview.decisions.iter();
    let mut decisions: Vec<String> = confirmed.map(ToString::to_string).collect();
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

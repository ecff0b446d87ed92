//! The page of a run shows its result, who did what when, and the evidence for each verdict. Tasks, questions and commits are
//! in the page itself; the browser draws the timeline and the schedule.

use fp_plan::text::{clipped, shell_quoted};
use fp_run::report::cost::{CostReport, thousands};
use fp_run::report::run_page::{RunLane, RunPage, RunPause, RunQuestion};
use fp_run::report::status::TaskLine;
use fp_run::run::state::Status;
use jiff::Timestamp;
use serde::Serialize;

use super::{HtmlPage, json_of, states_of};

const STYLE: &str = concat!(include_str!("base.css"), include_str!("run.css"));
const SCRIPT: &str = concat!(
    include_str!("element.js"),
    include_str!("tasks.js"),
    include_str!("graph.js"),
    include_str!("axis.js"),
    include_str!("timeline.js"),
    include_str!("spent.js"),
    include_str!("run.js")
);

/// Identifies the page of a run.
const GENERATOR: &str = "fp report";
/// Number of bytes at the beginning of a file that are enough to recognise the page of a run.
pub(crate) const FAR: u64 = 400;
/// Maximum length, in characters, of a failed task's text in the list of items that need the user.
const MAX_NEED: usize = 300;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownRun<'r> {
    run: &'r RunPage<'r>,
    generator: &'static str,
    standing: &'static str,
    states: Vec<(&'static str, usize)>,
    /// The state of each task.
    task_states: Vec<&'static str>,
    needs: Vec<RunNeed>,
    /// Milliseconds with and without work.
    work: u64,
    paused: u64,
    /// Share of the builders' time spent waiting, in percent.
    waiting_share: u64,
    sent_back: usize,
    dollars: Option<String>,
    tokens: Option<String>,
    cost_lines: Vec<String>,
    cost_columns: [&'static str; 6],
    cost_rows: Vec<[String; 6]>,
}

/// An item that waits for the user, with its command.
#[derive(Serialize)]
struct RunNeed {
    kind: &'static str,
    id: String,
    text: String,
    command: String,
}

/// The data for the page's script.
#[derive(Serialize)]
struct DrawnRun<'r> {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    lanes: &'r [RunLane],
    pauses: &'r [RunPause],
    cost: Option<&'r CostReport>,
    /// Id and title of each task.
    tasks: Vec<(&'r str, &'r str)>,
    /// Id and text of each question.
    questions: Vec<(&'r str, &'r str)>,
}

pub(crate) fn run_page(run: &RunPage<'_>) -> String {
    let waits = run.millis.asking + run.millis.waiting + run.idle();
    let cost = run.cost.as_ref();
    let lines = run.tasks.iter().map(|task| &task.line);
    let page = ShownRun {
        run,
        generator: GENERATOR,
        standing: run.standing.into_str(),
        states: states_of(&run.tree),
        task_states: lines.map(TaskLine::state_word).collect(),
        needs: needs_of(run),
        work: run.work(),
        paused: run.wall() - run.work(),
        waiting_share: waits * 100 / (run.millis.total() + run.idle()).max(1),
        sent_back: run.sent_back(),
        dollars: cost.and_then(CostReport::dollars),
        tokens: cost.map(|cost| thousands(cost.tokens.total())),
        cost_lines: cost.map_or_else(Vec::new, CostReport::summary_lines),
        cost_columns: CostReport::COLUMNS,
        cost_rows: cost.map_or_else(Vec::new, |cost| cost.rows().collect()),
    };
    HtmlPage {
        template: "run.html",
        goal: &run.goal,
        kind: "run",
        style: STYLE,
        script: SCRIPT,
        data: vec![
            ("report", json_of(&run.tree)),
            ("run", json_of(&DrawnRun::of_run(run))),
        ],
        page,
    }
    .render()
}

/// True if a file with this beginning is the page of a run, of this or another version.
pub(crate) fn is_run_page(beginning: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(beginning);
    let marker = format!("<meta name=\"generator\" content=\"{GENERATOR}\">");
    beginning.starts_with("<!doctype html>") && beginning.contains(&marker)
}

impl<'r> DrawnRun<'r> {
    fn of_run(run: &'r RunPage<'_>) -> Self {
        let lines = run.tasks.iter().map(|task| &task.line);
        let questions = run.decisions.iter();
        Self {
            from: run.started_at,
            to: run.ended_at,
            lanes: &run.lanes,
            pauses: &run.pauses,
            cost: run.cost.as_ref(),
            tasks: lines
                .map(|line| (line.id.as_str(), line.title.as_str()))
                .collect(),
            questions: questions
                .map(|asked| (asked.id.as_str(), asked.question.as_str()))
                .collect(),
        }
    }
}

/// The items that wait for the user: the interrupted run, the open questions, and the failed tasks without a question.
fn needs_of(run: &RunPage<'_>) -> Vec<RunNeed> {
    let (plan, questions) = (&run.plan_id, run.open_questions());
    let questions: Vec<&RunQuestion> = questions.collect();
    let goes_on = run.go_on.iter().map(|step| RunNeed {
        kind: "stopped",
        id: String::new(),
        text: step.why.clone(),
        command: step.command.clone(),
    });
    let asks = questions.iter().map(|asked| {
        let label = asked.options.first().map(|label| shell_quoted(label));
        let label = label.as_deref().unwrap_or("LABEL");
        RunNeed {
            kind: "asks",
            id: asked
                .task
                .as_ref()
                .map_or(&*asked.id, |task| task.as_str())
                .to_owned(),
            text: asked.question.clone(),
            command: format!("fp answer {plan} {} --option {label}", asked.id),
        }
    });
    let is_asked = |line: &TaskLine| {
        questions
            .iter()
            .any(|asked| asked.task.as_ref() == Some(&line.id))
    };
    let lines = run.tasks.iter().map(|task| &task.line);
    let failed = lines.filter(|line| line.status == Status::Failed && !is_asked(line));
    let failed = failed.map(|line| RunNeed {
        kind: "failed",
        id: line.id.to_string(),
        text: {
            let detail = line.detail.as_deref().unwrap_or("failed");
            clipped(&format!("{}: {detail}", line.title), MAX_NEED)
        },
        command: format!("fp retry {plan} {}", line.id),
    });
    goes_on.chain(asks).chain(failed).collect()
}

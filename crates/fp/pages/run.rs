//! The page of a run shows its result, who did what when, and for each attempt its change beside the evidence for its
//! verdict. All of that is in the page itself; the browser only draws the timeline.

use std::collections::{BTreeMap, HashMap};

use fp_host::git::Git;
use fp_plan::text::{clipped, shell_quoted};
use fp_run::report::cost::{CostReport, in_cents, thousands};
use fp_run::report::run_page::{RunPage, RunQuestion, RunTask, worked_between};
use fp_run::report::status::TaskLine;
use fp_run::report::tree::TaskRow;
use fp_run::run::crew::total_cost;
use fp_run::run::state::Status;
use serde::Serialize;
use serde_json::json;

use super::change::{PageChange, changes_of};
use super::{HtmlPage, counted_states, json_of, states_of};

const STYLE: &str = concat!(include_str!("base.css"), include_str!("run.css"));
const SCRIPT: &str = concat!(
    include_str!("element.js"),
    include_str!("find.js"),
    include_str!("axis.js"),
    include_str!("timeline.js"),
    include_str!("run.js")
);

/// Identifies the page of a run.
const GENERATOR: &str = "fp report";
/// Number of bytes at the beginning of a file that are enough to recognise the page of a run.
pub(crate) const FAR: u64 = 400;
/// Maximum length, in characters, of a failed task's text in the list of items that need the user.
const MAX_NEED: usize = 300;
/// Maximum number of parents below which the tasks are listed.
const MOST_GROUPS: usize = 24;

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
    groups: Vec<TaskGroup<'r>>,
    /// The changes of the tasks' attempts.
    changes: BTreeMap<String, PageChange>,
    /// Milliseconds with and without work.
    work: u64,
    paused: u64,
    /// Share of the builders' time spent waiting, in percent.
    waiting_share: u64,
    sent_back: usize,
    dollars: Option<String>,
    tokens: Option<String>,
    /// The cost of each task.
    task_costs: Vec<Option<String>>,
    /// The run's cost over time, as a path in a drawing of 1000 by 100.
    cost_path: Option<String>,
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

/// The tasks below a parent.
#[derive(Serialize)]
struct TaskGroup<'r> {
    id: &'r str,
    title: &'r str,
    /// Their numbers.
    tasks: Vec<usize>,
    states: Vec<(&'static str, usize)>,
}

/// Renders the page, with the changes that `git` still has.
pub(crate) fn run_page(run: &RunPage<'_>, git: Option<&Git>) -> String {
    let waits = run.millis.asking + run.millis.waiting + run.idle();
    let cost = run.cost.as_ref();
    let lines = || run.tasks.iter().map(|task| &task.line);
    let page = ShownRun {
        run,
        generator: GENERATOR,
        standing: run.standing.into_str(),
        states: states_of(&run.tree),
        task_states: lines().map(TaskLine::state_word).collect(),
        needs: needs_of(run),
        groups: groups_of(run),
        changes: changes_of(run, git),
        work: run.work(),
        paused: run.wall() - run.work(),
        waiting_share: waits * 100 / (run.millis.total() + run.idle()).max(1),
        sent_back: run.sent_back(),
        dollars: cost.and_then(CostReport::dollars),
        tokens: cost.map(|cost| thousands(cost.tokens.total())),
        task_costs: lines().map(|line| task_cost(cost?, line)).collect(),
        cost_path: cost_path(run),
        cost_lines: cost.map_or_else(Vec::new, CostReport::summary_lines),
        cost_columns: CostReport::COLUMNS,
        cost_rows: cost.map_or_else(Vec::new, |cost| cost.rows().collect()),
    };
    // Of tasks and questions, the id and the text.
    let tasks: Vec<_> = lines().map(|line| (&line.id, &line.title)).collect();
    let asked = run.decisions.iter();
    let questions: Vec<_> = asked.map(|asked| (&asked.id, &asked.question)).collect();
    let drawn = json!({ "from": run.started_at, "to": run.ended_at, "lanes": run.lanes,
        "pauses": run.pauses, "tasks": tasks, "questions": questions });
    HtmlPage {
        template: "run.html",
        goal: &run.goal,
        kind: "run",
        style: STYLE,
        script: SCRIPT,
        data: vec![("run", json_of(&drawn))],
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

/// The tasks by parent: by the deepest ones of which there are few enough.
fn groups_of<'r>(run: &'r RunPage<'_>) -> Vec<TaskGroup<'r>> {
    let rows = &run.tree.tasks;
    let leaves = rows.iter().filter(|row| row.leaf);
    let leaves: HashMap<&str, &TaskRow> = leaves.map(|row| (&*row.id, row)).collect();
    let above = |task: &RunTask| {
        let parent = leaves.get(task.line.id.as_str()).and_then(|row| row.parent);
        let parents = std::iter::successors(parent, |at| rows[*at].parent);
        let mut parents: Vec<usize> = parents.collect();
        parents.reverse();
        parents
    };
    let above: Vec<Vec<usize>> = run.tasks.iter().map(above).collect();
    let grouped = |depth: usize| {
        let mut groups: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for (number, above) in above.iter().enumerate() {
            let parent = above.get(depth).or(above.last()).copied();
            groups.entry(parent).or_default().push(number);
        }
        groups
    };
    let depths = (0..above.iter().map(Vec::len).max().unwrap_or(0)).rev();
    let is_short = |groups: &BTreeMap<_, _>| groups.len() <= MOST_GROUPS;
    let groups = depths.map(grouped).find(is_short);
    let group = |(parent, tasks): (Option<usize>, Vec<usize>)| TaskGroup {
        id: parent.map_or("", |parent| &rows[parent].id),
        title: parent.map_or("No longer in the tree", |parent| &rows[parent].title),
        states: counted_states(tasks.iter().map(|task| run.tasks[*task].line.state_word())),
        tasks,
    };
    let groups = groups.unwrap_or_else(|| grouped(0));
    groups.into_iter().map(group).collect()
}

/// The cost of a task in dollars or, if no program reports that, in tokens.
fn task_cost(cost: &CostReport, task: &TaskLine) -> Option<String> {
    let agents = cost.agents.iter();
    let (tokens, dollars) = total_cost(agents.filter(|one| one.task.as_ref() == Some(&task.id)));
    let tokens = Some(tokens.total()).filter(|tokens| *tokens > 0);
    let dollars = dollars.map(|micro| format!("${}", in_cents(micro)));
    dollars.or_else(|| Some(format!("{} tokens", thousands(tokens?))))
}

fn cost_path(run: &RunPage<'_>) -> Option<String> {
    let (from, work) = (run.started_at?, run.work().max(1));
    let in_dollars = run.cost.as_ref()?.micro_usd.is_some();
    let amounts = run.spent.iter().map(|(at, micro, tokens)| {
        let amount = if in_dollars { micro } else { tokens };
        (worked_between(from, *at, &run.pauses), *amount as f64)
    });
    let total: f64 = amounts.clone().map(|(_, amount)| amount).sum();
    let (mut path, mut sum) = ("M0 100".to_owned(), 0.0);
    for (millis, amount) in amounts {
        sum += amount;
        let (x, y) = (millis * 1000 / work, 100.0 - sum / total * 100.0);
        path.push_str(&format!("H{}V{y:.1}", x.min(1000)));
    }
    (total > 0.0).then(|| path + "H1000V100Z")
}

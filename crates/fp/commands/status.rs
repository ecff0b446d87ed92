//! `fp status`: shows the progress of a plan, once or as a view that follows the log and fits a terminal of
//! any size.

use std::collections::BTreeMap;
use std::time::Duration;

use fp_host::plan::OpenPlan;
use fp_host::screen::{Screen, ScreenInput};
use fp_host::store::{LogReader, Portion, StoreError};
use fp_plan::plan::id::AgentName;
use fp_plan::text::{counted, fitted, wrapped_within};
use fp_run::critique::CritiqueLine;
use fp_run::report::cost::{CostReport, spent_in_words};
use fp_run::report::handoff::next_steps;
use fp_run::report::lasted;
use fp_run::report::status::{Phase, StatusReport, TaskLine, time_left};
use fp_run::run::State;
use fp_run::run::event::{Decider, Entry};
use fp_run::run::payload::short;
use fp_run::run::state::{Activity, Role, RunAgent, Status};
use jiff::Timestamp;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::fleet::short_time;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{Format, WIDTH, columns};
use crate::theme::{self, Look, StyledLine};

/// The files of planning, in order.
const WRITTEN: [&str; 7] =
    ["pre-analysis.md", "interview.md", "research.md", "context.md", "tasks.md", "critique.md", "plan.md"];

/// Show how far a plan is, and what needs you
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The plan; defaults to the active one, or the last one.
    plan: Option<String>,
    /// Follow the run on the whole terminal, until it ends or `q` is pressed; arrow keys scroll.
    #[arg(long, short)]
    watch: bool,
    /// Show every task, in the order of the tree.
    #[arg(long, short)]
    all: bool,
}

pub(crate) fn run(args: StatusArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    if args.watch {
        if context.format == Format::Text && Screen::is_there(context.env("TERM").as_deref()) {
            return watch_plan(&plan, context);
        }
        context.printer.note("note: --watch shows text on a terminal: this is the status at the moment");
    }
    let state = context.state(&plan)?;
    if let Some(member) = plan.store.membership()?.filter(|_| state.is_shared()) {
        let seen = context.now().duration_since(member.fetched_at);
        context.printer.note(&format!("note: as it was on {} {} ago", member.place.remote, short_time(seen)));
    }
    let report = StatusReport::new(&state);
    let planned = (report.phase == Phase::Planning).then(|| PlanningStatus::of_plan(&plan, &state));
    let lines = status_lines(&state, &report, context.now(), columns(), args.all);
    let text = lines.join("\n") + "\n" + &planned.as_ref().map_or_else(String::new, PlanningStatus::text);
    context.styled_report(&Printed { report, planned }, &text)
}

#[derive(Serialize)]
struct Printed {
    #[serde(flatten)]
    report: StatusReport,
    #[serde(flatten)]
    planned: Option<PlanningStatus>,
}

/// The progress of a plan before its approval.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanningStatus {
    written: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    critique: Option<CritiqueLine>,
    /// Number of tasks that were done before the import.
    #[serde(skip_serializing_if = "Option::is_none")]
    done_before: Option<usize>,
}

impl PlanningStatus {
    fn of_plan(plan: &OpenPlan, state: &State) -> Self {
        let written = WRITTEN.into_iter().filter(|name| plan.folder.file(name).exists()).collect();
        // A tree that can't be read is not the one that was criticised.
        let tree = plan.tree().map(|tree| tree.text).unwrap_or_default();
        let done_before = Some(state.imported.len()).filter(|count| *count > 0);
        Self { written, critique: CritiqueLine::new(state, &tree), done_before }
    }

    fn text(&self) -> String {
        let written = if self.written.is_empty() { "nothing".to_owned() } else { self.written.join(", ") };
        let critique = self.critique.iter().map(|critique| format!("{critique}\n"));
        let before = self.done_before.map_or_else(String::new, |count| {
            format!("Done before the import, and to be taken over with the approval: {count}\n")
        });
        format!("Written so far: {written}\n{}{before}", critique.collect::<String>())
    }
}

/// The report as plain text, with every task in the order of the tree: what `fp next` prints at the end.
pub(crate) fn status_text(report: &StatusReport) -> String {
    let mut text = format!("Plan {} ({})\n", report.plan_id, report.phase.into_str());
    if report.counts.total > 0 {
        text.push_str(&format!("{}\n\n", report.counts_in_words()));
    }
    let columns = TaskColumns { id: id_width(report), all: WIDTH, signs: false };
    for line in report.tasks.iter().flat_map(|task| task_lines(report, task, columns)) {
        text.push_str(&format!("{}\n", theme::without_colours(&line.painted(WIDTH))));
    }
    if !report.end_checks.is_empty() {
        text.push_str("\nChecks at the end:\n");
        report.end_checks.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    if let Some(cost) = &report.cost {
        text.push_str(&format!("\n{}\n", cost.lines().join("\n")));
    }
    for question in &report.questions {
        text.push_str(&format!("\nOpen question: {question}\n"));
    }
    text
}

/// How a task is laid out.
#[derive(Clone, Copy)]
struct TaskColumns {
    /// Columns of the ids.
    id: usize,
    /// Columns of the line.
    all: usize,
    /// True if the sign of its state precedes it.
    signs: bool,
}

/// Most lines of tasks of which none is left out.
const ROWS: usize = 16;
/// Most questions, and lines of one.
const QUESTIONS: usize = 2;

/// The status on `columns` columns, so that it fits a screen unless `all` tasks are wanted.
fn status_lines(
    state: &State,
    report: &StatusReport,
    now: Timestamp,
    columns: usize,
    all: bool,
) -> Vec<String> {
    let mut lines = head_lines(state, report, now, columns);
    let groups = groups_of(report);
    let in_columns = TaskColumns { id: id_width(report), all: columns, signs: true };
    let told = |line: &TaskLine| task_lines(report, line, in_columns);
    let needs = question_lines(state, columns, all);
    let tasks: Vec<StyledLine> = if all {
        report.tasks.iter().flat_map(told).collect()
    } else {
        let whole: Vec<_> =
            groups.iter().flat_map(|(_, tasks)| tasks.iter().copied().flat_map(told)).collect();
        let fits = whole.len() + needs.len() <= ROWS;
        if fits {
            whole
        } else {
            groups
                .iter()
                .flat_map(|(look, tasks)| shortened(state, report, (*look, tasks), columns))
                .collect()
        }
    };
    let ends =
        report.end_checks.iter().map(|line| StyledLine::default().and(Look::Plain, format!("  {line}")));
    let ends: Vec<_> = ends.collect();
    let cost: Vec<_> =
        report.cost.iter().flat_map(CostReport::lines).take(if all { usize::MAX } else { 3 }).collect();
    let cost = cost.into_iter().map(|line| StyledLine::default().and(Look::Plain, line)).collect();
    let sections = [(None, needs), (None, tasks), (Some("Checks at the end:"), ends), (None, cost)];
    for (heading, section) in sections.into_iter().filter(|(_, section)| !section.is_empty()) {
        lines.push(StyledLine::default());
        lines.extend(heading.map(|heading| StyledLine::default().and(Look::Plain, heading)));
        lines.extend(section);
    }
    lines.iter().map(|line| line.painted(columns)).collect()
}

/// The plan's phase and progress.
fn head_lines(state: &State, report: &StatusReport, now: Timestamp, columns: usize) -> Vec<StyledLine> {
    let is_running = report.phase == Phase::Running;
    let end = if is_running { Some(now) } else { state.last_at };
    let started = state.run.as_ref().map(|run| run.started_at);
    let took = started.zip(end).filter(|(from, to)| to.duration_since(*from).as_secs() >= 60);
    let took = took.map(|(from, to)| lasted(from, to));
    let left = time_left(state).filter(|_| is_running).map(|left| format!("about {left} left"));
    let cost = report.cost.iter().map(|cost| spent_in_words(cost.tokens, cost.micro_usd));
    let facts: Vec<String> = took.into_iter().chain(left).chain(cost).collect();
    let head = StyledLine::default()
        .and(Look::Plain, "Plan ")
        .and(Look::Strong, report.plan_id.as_str())
        .and(Look::Plain, format!(" ({})", report.phase.into_str()))
        .and(Look::Faint, if facts.is_empty() { String::new() } else { format!("  {}", facts.join(", ")) });
    let counts = &report.counts;
    if counts.total == 0 {
        return vec![head];
    }
    let bar = theme::bar(counts.completed, counts.total, BAR.min(columns / 8));
    vec![head, bar.and(Look::Plain, format!(" {}", report.counts_in_words()))]
}

/// The questions that wait for the user, with the command that answers the first.
fn question_lines(state: &State, columns: usize, all: bool) -> Vec<StyledLine> {
    let open: Vec<_> = state.open_questions().collect();
    let most = if all { open.len() } else { QUESTIONS };
    let mut lines = Vec::new();
    for question in open.iter().take(most) {
        let parts = wrapped_within(
            &question.text,
            columns.saturating_sub(2).max(20),
            if all { 20 } else { QUESTIONS },
        );
        for (number, part) in parts.into_iter().enumerate() {
            let sign = if number == 0 { "? " } else { "  " };
            lines.push(StyledLine::default().and(Look::Strong, sign).and(Look::Plain, part));
        }
    }
    if let Some(step) = next_steps(state).first().filter(|_| !open.is_empty()) {
        let more = open.len().saturating_sub(most);
        let more =
            if more > 0 { format!("  (and {})", counted(more, "more question")) } else { String::new() };
        lines.push(
            StyledLine::default()
                .and(Look::Plain, "  ")
                .and(Look::Hint, &step.command)
                .and(Look::Faint, more),
        );
    }
    lines
}

/// The tasks by what is worth knowing first, each group with its look.
fn groups_of(report: &StatusReport) -> Vec<(Look, Vec<&TaskLine>)> {
    let of = |looks: &[Look]| -> Vec<&TaskLine> {
        report.tasks.iter().filter(|task| looks.contains(&look_of(report, task))).collect()
    };
    vec![
        (Look::Failed, of(&[Look::Failed])),
        (Look::Building, of(&[Look::Building, Look::Verifying])),
        (Look::Ready, of(&[Look::Ready])),
        (Look::Waiting, of(&[Look::Waiting])),
        (Look::Done, of(&[Look::Done])),
        (Look::Skipped, of(&[Look::Skipped])),
    ]
}

fn look_of(report: &StatusReport, task: &TaskLine) -> Look {
    Look::of(task.status, task.ready && report.is_open())
}

/// The first tasks of a group, of those that are done the last ones, with the number of the others.
fn shortened(
    state: &State,
    report: &StatusReport,
    (look, tasks): (Look, &[&TaskLine]),
    columns: usize,
) -> Vec<StyledLine> {
    let mut tasks = tasks.to_vec();
    if look == Look::Done {
        tasks.sort_by_key(|task| std::cmp::Reverse(state.task(&task.id).and_then(|task| task.ended_at)));
    }
    let most = match look {
        Look::Failed => 2,
        Look::Building => 4,
        Look::Ready => 5,
        Look::Done => 3,
        _ => 0,
    };
    let Some(first) = tasks.first() else { return Vec::new() };
    if most == 0 {
        let word = report.word_of(first);
        return vec![StyledLine::default().and(look, format!("  {} {} {word}", look.sign(), tasks.len()))];
    }
    let lines = if look == Look::Failed { 4 } else { 1 };
    let mut shown: Vec<StyledLine> = Vec::new();
    let more = tasks.len().saturating_sub(most);
    for (number, task) in tasks.iter().take(most).enumerate() {
        let more = Some(more).filter(|more| *more > 0 && number + 1 == most);
        let more = more.map_or_else(String::new, |more| format!("  +{more}"));
        let columns =
            TaskColumns { id: id_width(report), all: columns.saturating_sub(more.width()), signs: true };
        let mut of_task = task_lines(report, task, columns).into_iter().take(lines);
        shown.extend(of_task.next().map(|line| line.and(Look::Strong, more)));
        shown.extend(of_task);
    }
    shown
}

fn id_width(report: &StatusReport) -> usize {
    report.tasks.iter().map(|task| task.id.as_str().len()).max().unwrap_or(0)
}

/// A task on a line of `columns` columns, with its dependencies and additions below.
fn task_lines(report: &StatusReport, task: &TaskLine, columns: TaskColumns) -> Vec<StyledLine> {
    let TaskColumns { id: id_width, all: columns, signs } = columns;
    let mut facts = Vec::new();
    if task.iteration > 0 {
        facts.push(format!("{}/{}", task.iteration, task.max_iterations));
    }
    // What the attempt doesn't tell: a retry counts from 1 again.
    if task.failed_verdicts > task.iteration {
        facts.push(format!("{} failed", task.failed_verdicts));
    }
    if task.asked > 0 && task.status.is_final() {
        facts.push(counted(task.asked, "question"));
    }
    facts.extend(task.owner.as_ref().map(ToString::to_string));
    facts.extend(task.commit.as_deref().map(|commit| short(commit).to_owned()));
    let facts = if facts.is_empty() { String::new() } else { format!("  ({})", facts.join(", ")) };
    let look = look_of(report, task);
    let head = StyledLine::default()
        .and(look, if signs { format!("  {} ", look.sign()) } else { "  ".to_owned() })
        .and(Look::Strong, format!("{:id_width$}  ", task.id.as_str()))
        .and(look, format!("{:<9}  ", report.word_of(task)));
    let below = task.granted.iter().map(|granted| {
        let by = if granted.by == Decider::User { "you" } else { "the policy" };
        format!("+ {} (by {by}): {}", granted.path, granted.reason)
    });
    let below = below.chain(task.dropped.iter().map(|line| format!("- not checked, by your choice: {line}")));
    let indent = " ".repeat(head.width());
    let room = columns.saturating_sub(indent.len()).max(20);
    let detail: Vec<&str> =
        task.detail.iter().flat_map(|detail| detail.lines()).filter(|line| !line.trim().is_empty()).collect();
    // A failure begins with its first reason, and ends with the last lines of what a command printed.
    let cut = detail.len().saturating_sub(2).max(1);
    let detail = detail.iter().take(1).chain(detail.iter().skip(cut)).map(|line| (*line).to_owned());
    let below = detail.chain(task.drift.iter().cloned()).chain(below);
    let below =
        below.map(|line| StyledLine::default().and(Look::Plain, indent.clone() + &fitted(&line, room)));
    let title = columns.saturating_sub(head.width() + facts.width()).max(10);
    let head = head.and(Look::Plain, fitted(&task.title, title)).and(Look::Faint, facts);
    [head].into_iter().chain(below).collect()
}

/// Interval between updates of the log and the times.
const LOOK: Duration = Duration::from_millis(250);
/// Most columns of the bar.
const BAR: usize = 30;
/// Help on the keys.
const KEYS: &str = "q ends, arrows scroll";

/// Shows the run of `plan` until the user ends the view. Fails if the log can't be read, and restores the
/// terminal first.
pub(super) fn watch_plan(plan: &OpenPlan, context: &Context) -> CommandResult {
    plan.store.follow_remote();
    let mut watch = RunWatch::new(plan);
    // Faults present from the start are reported without taking the screen.
    watch.take()?;
    let mut screen = Screen::open().map_err(|error| {
        CommandError::failed(format!("the terminal can't be drawn on: {error}"))
            .hint("without --watch, the status is printed once")
    })?;
    while watch.report.is_open() {
        // `None`: the terminal is gone.
        if let None | Some(ScreenInput::End) =
            watch.show(&mut screen, &Beside::default(), LOOK, context.now())
        {
            return Ok(Exit::Done);
        }
        watch.take()?;
    }
    drop(screen);
    let lines = status_lines(&watch.state, &watch.report, context.now(), columns(), false);
    context.printer.styled(&(lines.join("\n") + "\n"));
    Ok(Exit::Done)
}

/// The knowledge of a lead beside the log.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// The present activity of each agent.
    pub(super) doing: BTreeMap<AgentName, String>,
    /// Lines above the tasks.
    pub(super) lines: Vec<String>,
}

/// A run as its log grows, and the part of it that is shown.
pub(super) struct RunWatch {
    reader: LogReader,
    state: State,
    report: StatusReport,
    /// The first visible line of the tasks.
    first: usize,
}

impl RunWatch {
    pub(super) fn new(plan: &OpenPlan) -> Self {
        let state = plan.store.empty_state();
        Self { reader: plan.store.reader(), report: StatusReport::new(&state), state, first: 0 }
    }

    /// Takes in what the log has since the last call, and returns it.
    pub(super) fn take(&mut self) -> Result<Vec<Entry>, StoreError> {
        let Portion { lines, anew, .. } = self.reader.more()?;
        if anew {
            self.state = self.state.emptied();
        }
        let entries: Vec<Entry> = lines.into_iter().map(|line| line.entry).collect();
        entries.iter().for_each(|entry| self.state.apply(entry));
        if anew || !entries.is_empty() {
            self.report = StatusReport::new(&self.state);
        }
        Ok(entries)
    }

    /// Shows it on `screen`, and waits up to `time` for the user; `None` if the terminal is gone.
    pub(super) fn show(
        &mut self,
        screen: &mut Screen,
        beside: &Beside,
        time: Duration,
        now: Timestamp,
    ) -> Option<ScreenInput> {
        let size = screen.size();
        let frame = frame(&self.state, &self.report, beside, now, size, self.first);
        screen.show(&theme::for_terminal(frame.lines), size).ok()?;
        let page = isize::try_from(frame.room.max(1)).unwrap_or(isize::MAX);
        let input = screen.wait(time);
        self.first = match input {
            ScreenInput::Scroll(by) => frame.first.saturating_add_signed(by),
            ScreenInput::Page(by) => frame.first.saturating_add_signed(by.saturating_mul(page)),
            _ => frame.first,
        };
        Some(input)
    }
}

/// One frame of the view.
#[derive(Debug, PartialEq, Eq)]
struct WatchFrame {
    /// The lines from the top; they fit the terminal in width and number.
    lines: Vec<String>,
    /// The first visible line of the tasks, from 0: the requested one, or the last that still fills the view.
    first: usize,
    /// Number of lines that fit.
    room: usize,
}

/// The view of `report` on `state` at `now`, on `columns` and `rows`, with the tasks from line `first` on.
fn frame(
    state: &State,
    report: &StatusReport,
    beside: &Beside,
    now: Timestamp,
    (columns, rows): (usize, usize),
    first: usize,
) -> WatchFrame {
    let plain = |line: String| StyledLine::default().and(Look::Plain, line);
    let mut lines = head_lines(state, report, now, columns);
    lines.extend(agent_lines(state, beside, now, (rows / 4).max(1)).into_iter().map(plain));
    lines.extend(report.questions.iter().take(2).map(|question| plain(format!("? {question}"))));
    lines.extend(beside.lines.iter().cloned().map(plain));
    // Leaves at least half of the screen to the tasks.
    lines.truncate(rows / 2);
    if rows > 10 {
        lines.push(StyledLine::default());
    }
    let foot = usize::from(rows > 3);
    let room = rows.saturating_sub(lines.len() + foot);
    let in_columns = TaskColumns { id: id_width(report), all: columns, signs: true };
    let groups = groups_of(report);
    let tasks = groups.iter().flat_map(|(_, tasks)| tasks.iter());
    let tasks: Vec<StyledLine> = tasks.flat_map(|task| task_lines(report, task, in_columns)).collect();
    let total = tasks.len();
    let first = first.min(total.saturating_sub(room));
    lines.extend(tasks.into_iter().skip(first).take(room));
    if foot > 0 {
        lines.resize(rows - 1, StyledLine::default());
        let shown = format!("{}-{} of {total}", (first + 1).min(total), (first + room).min(total));
        lines.push(StyledLine::default().and(Look::Faint, at_sides(KEYS, &shown, columns)));
    }
    lines.truncate(rows);
    let lines = lines.iter().map(|line| line.painted(columns)).collect();
    WatchFrame { lines, first, room }
}

fn agent_lines(state: &State, beside: &Beside, now: Timestamp, most: usize) -> Vec<String> {
    let told = |(name, agent): (&AgentName, &RunAgent)| {
        let at = beside.doing.get(name).map_or_else(String::new, |at| format!(": {at}"));
        Some(format!("{name}  {}, {}{at}", doing(state, name, agent)?, lasted(agent.since, now)))
    };
    let mut lines: Vec<String> = state.agents.iter().filter_map(told).collect();
    if lines.len() > most {
        let more = lines.len() + 1 - most;
        lines.truncate(most - 1);
        lines.push(format!("and {more} more agents"));
    }
    lines
}

fn doing(state: &State, name: &AgentName, agent: &RunAgent) -> Option<String> {
    Some(match (agent.role, agent.activity) {
        (Role::Verifier, Activity::Idle) => return None,
        (Role::Verifier, _) => match &agent.task {
            Some(task) => format!("verifies {task}"),
            None => "verifies".into(),
        },
        (Role::Builder, activity) => builds(state, name, activity),
    })
}

fn builds(state: &State, name: &AgentName, activity: Activity) -> String {
    let Some(held) = state.held_by(name) else {
        return if activity == Activity::Dispatched { "waits for a task" } else { "is idle" }.into();
    };
    let id = &held.leaf.id;
    match (held.status, activity) {
        (Status::AwaitingVerification, _) if held.awaits_commit() => format!("waits for the commit of {id}"),
        (Status::AwaitingVerification, _) => format!("waits for the verdict on {id}"),
        (_, Activity::Idle) => format!("has stopped in the middle of {id}"),
        _ => format!("builds {id}"),
    }
}

/// `left` and `right` at the ends of a line; `left` alone if they don't both fit.
fn at_sides(left: &str, right: &str, columns: usize) -> String {
    let gap = columns.saturating_sub(left.width() + right.width());
    if gap < 2 {
        return left.to_owned();
    }
    format!("{left}{}{right}", " ".repeat(gap)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use fp_plan::plan::id::PlanId;
    use fp_run::run::State;
    use fp_run::run::event::Entry;
    use insta::assert_snapshot;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const START: &str = "2026-11-21T09:00:00Z";

    /// A run of `tasks` tasks: the first is done, the second is being built, the third waits for it, the
    /// fourth failed.
    fn run_of(tasks: usize) -> State {
        let leaf = |number: usize| {
            let after = if number == 3 { vec!["2"] } else { vec![] };
            json!({ "id": number.to_string(), "title": format!("Write part {number}, 한글 and all that belongs to it"),
                "hash": "", "dependencies": after, "files": [format!("{number}.txt")], "complexity": 2 })
        };
        let leaves: Vec<_> = (1..=tasks).map(leaf).collect();
        let claimed = |task: &str, owner: &str| {
            json!({ "claimed": { "task": task, "owner": owner, "token": "t",
            "iteration": 1, "base": { "tree": "a", "head": "b" } } })
        };
        let events = json!([
            { "approved": { "treeHash": "h", "leaves": leaves, "by": "user" } },
            { "runStarted": { "builders": 2, "maxIterations": 3, "noCommit": false } },
            { "dispatched": { "dispatch": "spawn", "name": "builder-3" } },
            claimed("1", "builder-1"),
            { "completed": { "task": "1", "commit": "0123456789abcdef0123456789abcdef01234567" } },
            { "agentEnded": { "name": "builder-1" } },
            claimed("2", "builder-2"),
            { "failed": { "task": "4", "reason": "Criterion 1 (a\u{1b}[31m): no" } },
            { "asked": { "question": { "id": "q1", "topic": { "about": "taskFailed", "task": "4" },
                "text": "Task 4 failed for good. How should it continue?", "header": "Task failed", "options": [] } } },
        ]);
        let entry = json!({ "schemaVersion": 1, "seq": 1, "at": START, "events": events });
        let entry: Entry = serde_json::from_value(entry).unwrap();
        State::replay(PlanId::new("sample-20261121").unwrap(), [&entry])
    }

    fn later() -> Timestamp {
        START.parse::<Timestamp>().unwrap() + jiff::SignedDuration::from_secs(125)
    }

    fn view(state: &State, size: (usize, usize), first: usize) -> WatchFrame {
        let mut frame = frame(state, &StatusReport::new(state), &Beside::default(), later(), size, first);
        frame.lines.iter_mut().for_each(|line| *line = theme::without_colours(line));
        frame
    }

    /// A run of `tasks` tasks of which a third is done, some are built, and most of the others wait for one of those.
    fn busy(tasks: usize) -> State {
        let leaf = |number: usize| {
            let after = if number > tasks / 2 { vec![(tasks / 3 + 1).to_string()] } else { Vec::new() };
            json!({ "id": number.to_string(), "title": format!("Write part {number} of the parser, with all that belongs to it"),
                "hash": "", "dependencies": after, "files": [format!("{number}.txt")], "complexity": 2 })
        };
        let leaves: Vec<_> = (1..=tasks).map(leaf).collect();
        let claimed = |task: usize, owner: usize| {
            json!({ "claimed": { "task": task.to_string(), "owner": format!("builder-{owner}"), "token": "t",
            "iteration": 1, "base": { "tree": "a", "head": "b" } } })
        };
        let mut log = vec![json!([
            { "approved": { "treeHash": "h", "leaves": leaves, "by": "user" } },
            { "runStarted": { "builders": 3, "maxIterations": 3, "noCommit": false } },
        ])];
        let done = tasks / 3;
        for task in 1..=done {
            log.push(json!([claimed(task, 1)]));
            log.push(json!([{ "completed": { "task": task.to_string(), "commit": format!("{task:07}") } }]));
        }
        log.push(json!([claimed(done + 1, 2)]));
        for task in done + 2..(done + 5).min(tasks) {
            log.push(json!([{ "failed": { "task": task.to_string(), "reason": "Criterion 1: the parser takes an empty line for the end" } },
                { "asked": { "question": { "id": format!("q{task}"), "topic": { "about": "taskFailed", "task": task.to_string() },
                    "text": format!("Task {task} failed for good. How should it continue?"), "header": "Task failed",
                    "options": [{ "label": "Retry", "description": "" }] } } }]));
        }
        let entry = |(seq, events): (usize, serde_json::Value)| -> Entry {
            let at = START.parse::<Timestamp>().unwrap() + jiff::SignedDuration::from_secs(seq as i64 * 60);
            serde_json::from_value(
                json!({ "schemaVersion": 1, "seq": seq + 1, "at": at.to_string(), "events": events }),
            )
            .unwrap()
        };
        let entries: Vec<Entry> = log.into_iter().enumerate().map(entry).collect();
        State::replay(PlanId::new("sample-20261121").unwrap(), &entries)
    }

    fn status(state: &State, columns: usize, all: bool) -> Vec<String> {
        let now = state.last_at.unwrap() + jiff::SignedDuration::from_secs(125);
        status_lines(state, &StatusReport::new(state), now, columns, all)
    }

    fn plain(state: &State, columns: usize) -> String {
        theme::without_colours(&status(state, columns, false).join("\n"))
    }

    #[test]
    fn the_status_fits_a_screen_of_any_size() {
        for tasks in [1, 5, 20, 200, 1000] {
            for columns in [40, 60, 80, 120, 200] {
                let lines = status(&busy(tasks), columns, false);
                assert!(lines.len() <= 23, "{tasks} tasks, {columns} columns: {lines:#?}");
                let wide =
                    lines.iter().map(|line| theme::without_colours(line)).find(|line| line.width() > columns);
                assert_eq!(wide, None, "{tasks} tasks, {columns} columns");
            }
        }
        assert_eq!(
            status(&busy(200), 80, true).iter().filter(|line| line.contains("Write part")).count(),
            200
        );
    }

    #[test]
    fn the_status_of_few_tasks_has_them_all() {
        assert_snapshot!(plain(&busy(5), 80), @r"
        Plan sample-20261121 (running)  7 min
        ▰▰▱▱▱▱▱▱▱▱ 1 of 5 tasks done, 1 being built, 1 waiting, 2 failed

        ? Task 3 failed for good. How should it continue?
        ? Task 4 failed for good. How should it continue?
          fp answer sample-20261121 q3 --option Retry

          ✕ 3  failed     Write part 3 of the parser, with all that belon…  (1 question)
                          Criterion 1: the parser takes an empty line for the end
          ✕ 4  failed     Write part 4 of the parser, with all that belon…  (1 question)
                          Criterion 1: the parser takes an empty line for the end
          ▶ 2  building   Write part 2 of the parser, with all that b…  (1/3, builder-2)
          ○ 5  waiting    Write part 5 of the parser, with all that belongs to it
                          it waits for 2
          ✓ 1  done       Write part 1 of the parser, with all that bel…  (1/3, 0000001)
        ");
        assert_snapshot!(plain(&busy(5), 200), @r"
        Plan sample-20261121 (running)  7 min
        ▰▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱ 1 of 5 tasks done, 1 being built, 1 waiting, 2 failed

        ? Task 3 failed for good. How should it continue?
        ? Task 4 failed for good. How should it continue?
          fp answer sample-20261121 q3 --option Retry

          ✕ 3  failed     Write part 3 of the parser, with all that belongs to it  (1 question)
                          Criterion 1: the parser takes an empty line for the end
          ✕ 4  failed     Write part 4 of the parser, with all that belongs to it  (1 question)
                          Criterion 1: the parser takes an empty line for the end
          ▶ 2  building   Write part 2 of the parser, with all that belongs to it  (1/3, builder-2)
          ○ 5  waiting    Write part 5 of the parser, with all that belongs to it
                          it waits for 2
          ✓ 1  done       Write part 1 of the parser, with all that belongs to it  (1/3, 0000001)
        ");
        assert_snapshot!(status(&busy(5), 80, false).join("\n").replace('\u{1b}', "^"), @r"
        Plan ^[1msample-20261121^[0m (running)^[2m  7 min^[0m
        ^[32m▰▰^[0m^[2m▱▱▱▱▱▱▱▱^[0m 1 of 5 tasks done, 1 being built, 1 waiting, 2 failed

        ^[1m? ^[0mTask 3 failed for good. How should it continue?
        ^[1m? ^[0mTask 4 failed for good. How should it continue?
          ^[36mfp answer sample-20261121 q3 --option Retry^[0m

        ^[31m  ✕ ^[0m^[1m3  ^[0m^[31mfailed     ^[0mWrite part 3 of the parser, with all that belon…^[2m  (1 question)^[0m
                          Criterion 1: the parser takes an empty line for the end
        ^[31m  ✕ ^[0m^[1m4  ^[0m^[31mfailed     ^[0mWrite part 4 of the parser, with all that belon…^[2m  (1 question)^[0m
                          Criterion 1: the parser takes an empty line for the end
        ^[33m  ▶ ^[0m^[1m2  ^[0m^[33mbuilding   ^[0mWrite part 2 of the parser, with all that b…^[2m  (1/3, builder-2)^[0m
        ^[2m  ○ ^[0m^[1m5  ^[0m^[2mwaiting    ^[0mWrite part 5 of the parser, with all that belongs to it
                          it waits for 2
        ^[32m  ✓ ^[0m^[1m1  ^[0m^[32mdone       ^[0mWrite part 1 of the parser, with all that bel…^[2m  (1/3, 0000001)^[0m
        ");
    }

    #[test]
    fn the_status_of_many_tasks_has_what_matters() {
        assert_snapshot!(plain(&busy(20), 60), @r"
        Plan sample-20261121 (running)  18 min, about 4 min left
        ▰▰▱▱▱▱▱ 6 of 20 tasks done, 1 being built, 10 waiting, 3 fa…

        ? Task 8 failed for good. How should it continue?
        ? Task 9 failed for good. How should it continue?
          fp answer sample-20261121 q8 --option Retry  (and 1 more …

          ✕ 8   failed     Write part 8 of the parser…  (1 question)
                           Criterion 1: the parser takes an empty l…
          ✕ 9   failed     Write part 9 of the pa…  (1 question)  +1
                           Criterion 1: the parser takes an emp…
          ▶ 7   building   Write part 7 of the pa…  (1/3, builder-2)
          ○ 10 waiting
          ✓ 6   done       Write part 6 of the pars…  (1/3, 0000006)
          ✓ 5   done       Write part 5 of the pars…  (1/3, 0000005)
          ✓ 4   done       Write part 4 of the …  (1/3, 0000004)  +3
        ");
        assert_snapshot!(plain(&busy(200), 80), @r"
        Plan sample-20261121 (running)  2 h 18 min, about 44 min left
        ▰▰▰▱▱▱▱▱▱▱ 66 of 200 tasks done, 1 being built, 30 ready, 100 waiting, 3 failed

        ? Task 68 failed for good. How should it continue?
        ? Task 69 failed for good. How should it continue?
          fp answer sample-20261121 q68 --option Retry  (and 1 more question)

          ✕ 68   failed     Write part 68 of the parser, with all that be…  (1 question)
                            Criterion 1: the parser takes an empty line for the end
          ✕ 69   failed     Write part 69 of the parser, with all tha…  (1 question)  +1
                            Criterion 1: the parser takes an empty line for the end
          ▶ 67   building   Write part 67 of the parser, with all tha…  (1/3, builder-2)
          ● 71   ready      Write part 71 of the parser, with all that belongs to it
          ● 72   ready      Write part 72 of the parser, with all that belongs to it
          ● 73   ready      Write part 73 of the parser, with all that belongs to it
          ● 74   ready      Write part 74 of the parser, with all that belongs to it
          ● 75   ready      Write part 75 of the parser, with all that belongs to …  +25
          ○ 100 waiting
          ✓ 66   done       Write part 66 of the parser, with all that …  (1/3, 0000066)
          ✓ 65   done       Write part 65 of the parser, with all that …  (1/3, 0000065)
          ✓ 64   done       Write part 64 of the parser, with all …  (1/3, 0000064)  +63
        ");
        assert_snapshot!(plain(&busy(200), 120), @r"
        Plan sample-20261121 (running)  2 h 18 min, about 44 min left
        ▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱ 66 of 200 tasks done, 1 being built, 30 ready, 100 waiting, 3 failed

        ? Task 68 failed for good. How should it continue?
        ? Task 69 failed for good. How should it continue?
          fp answer sample-20261121 q68 --option Retry  (and 1 more question)

          ✕ 68   failed     Write part 68 of the parser, with all that belongs to it  (1 question)
                            Criterion 1: the parser takes an empty line for the end
          ✕ 69   failed     Write part 69 of the parser, with all that belongs to it  (1 question)  +1
                            Criterion 1: the parser takes an empty line for the end
          ▶ 67   building   Write part 67 of the parser, with all that belongs to it  (1/3, builder-2)
          ● 71   ready      Write part 71 of the parser, with all that belongs to it
          ● 72   ready      Write part 72 of the parser, with all that belongs to it
          ● 73   ready      Write part 73 of the parser, with all that belongs to it
          ● 74   ready      Write part 74 of the parser, with all that belongs to it
          ● 75   ready      Write part 75 of the parser, with all that belongs to it  +25
          ○ 100 waiting
          ✓ 66   done       Write part 66 of the parser, with all that belongs to it  (1/3, 0000066)
          ✓ 65   done       Write part 65 of the parser, with all that belongs to it  (1/3, 0000065)
          ✓ 64   done       Write part 64 of the parser, with all that belongs to it  (1/3, 0000064)  +63
        ");
    }

    fn shown(tasks: usize, size: (usize, usize), first: usize) -> String {
        view(&run_of(tasks), size, first).lines.join("\n")
    }

    #[test]
    fn eighty_columns() {
        assert_snapshot!(shown(6, (80, 16), 0), @r"
        Plan sample-20261121 (running)  2 min
        ▰▱▱▱▱▱▱▱▱▱ 1 of 6 tasks done, 1 being built, 2 ready, 1 waiting, 1 failed
        builder-1  is idle, 2 min
        builder-2  builds 2, 2 min
        builder-3  waits for a task, 2 min
        ? Task 4 failed for good. How should it continue?

          ✕ 4  failed     Write part 4, 한글 and all that belongs to it  (1 question)
                          Criterion 1 (a␛[31m): no
          ▶ 2  building   Write part 2, 한글 and all that belongs to …  (1/3, builder-2)
          ● 5  ready      Write part 5, 한글 and all that belongs to it
          ● 6  ready      Write part 6, 한글 and all that belongs to it
          ○ 3  waiting    Write part 3, 한글 and all that belongs to it
                          it waits for 2
          ✓ 1  done       Write part 1, 한글 and all that belongs to it  (1/3, 0123456)
        q ends, arrows scroll                                                   1-8 of 8
        ");
    }

    #[test]
    fn forty_columns() {
        assert_snapshot!(shown(6, (40, 12), 0), @r"
        Plan sample-20261121 (running)  2 min
        ▱▱▱▱▱ 1 of 6 tasks done, 1 being built,…
        builder-1  is idle, 2 min
        builder-2  builds 2, 2 min
        builder-3  waits for a task, 2 min
        ? Task 4 failed for good. How should it…

          ✕ 4  failed     Write par…  (1 questi…
                          Criterion 1 (a␛[31m):…
          ▶ 2  building   Write par…  (1/3, bui…
          ● 5  ready      Write part 5, 한글 an…
        q ends, arrows scroll           1-4 of 8
        ");
    }

    #[test]
    fn two_hundred_columns() {
        assert_snapshot!(shown(4, (200, 14), 0), @r"
        Plan sample-20261121 (running)  2 min
        ▰▰▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱ 1 of 4 tasks done, 1 being built, 1 waiting, 1 failed
        builder-1  is idle, 2 min
        builder-2  builds 2, 2 min
        builder-3  waits for a task, 2 min
        ? Task 4 failed for good. How should it continue?

          ✕ 4  failed     Write part 4, 한글 and all that belongs to it  (1 question)
                          Criterion 1 (a␛[31m): no
          ▶ 2  building   Write part 2, 한글 and all that belongs to it  (1/3, builder-2)
          ○ 3  waiting    Write part 3, 한글 and all that belongs to it
                          it waits for 2
          ✓ 1  done       Write part 1, 한글 and all that belongs to it  (1/3, 0123456)
        q ends, arrows scroll                                                                                                                                                                           1-6 of 6
        ");
    }

    #[test]
    fn more_tasks_than_lines() {
        assert_snapshot!(shown(42, (60, 14), 20), @r"
        Plan sample-20261121 (running)  2 min
        ▱▱▱▱▱▱▱ 1 of 42 tasks done, 1 being built, 38 ready, 1 wait…
        builder-1  is idle, 2 min
        builder-2  builds 2, 2 min
        builder-3  waits for a task, 2 min
        ? Task 4 failed for good. How should it continue?

          ● 22  ready      Write part 22, 한글 and all that belongs…
          ● 23  ready      Write part 23, 한글 and all that belongs…
          ● 24  ready      Write part 24, 한글 and all that belongs…
          ● 25  ready      Write part 25, 한글 and all that belongs…
          ● 26  ready      Write part 26, 한글 and all that belongs…
          ● 27  ready      Write part 27, 한글 and all that belongs…
        q ends, arrows scroll                            21-26 of 44
        ");
        let end = view(&run_of(42), (60, 14), 1000);
        // Two of the tasks have an extra line, for a dependency and a failure.
        assert_eq!((end.first, end.room), (44 - end.room, 6));
        assert!(end.lines.last().unwrap().ends_with("39-44 of 44"), "{end:?}");
    }

    #[test]
    fn nothing_is_there_yet() {
        let empty = State::new(PlanId::new("sample-20261121").unwrap());
        assert_snapshot!(view(&empty, (50, 6), 3).lines.join("\n"), @r"
        Plan sample-20261121 (planning)




        q ends, arrows scroll                     0-0 of 0
        ");
    }

    proptest! {
        #[test]
        fn a_frame_never_leaves_its_terminal(
            tasks in 1_usize..60, columns in 0_usize..120, rows in 0_usize..50, first in 0_usize..100,
        ) {
            let found = view(&run_of(tasks.max(4)), (columns, rows), first);
            prop_assert!(found.lines.len() <= rows);
            for line in &found.lines {
                prop_assert!(line.width() <= columns, "{:?} on {}", line, columns);
                prop_assert!(!line.chars().any(char::is_control));
            }
        }
    }
}

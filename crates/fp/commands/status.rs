//! `fp status`: shows the progress of a plan, once or as a view that follows the log and fits a terminal of
//! any size.

use std::collections::BTreeMap;
use std::time::Duration;

use fp_host::plan::OpenPlan;
use fp_host::screen::{Screen, ScreenInput};
use fp_host::store::{LogReader, Portion, StoreError};
use fp_plan::plan::id::AgentName;
use fp_plan::text::{counted, fitted};
use fp_run::critique::CritiqueLine;
use fp_run::report::cost::spent_in_words;
use fp_run::report::lasted;
use fp_run::report::status::{Phase, StatusReport, TaskCounts, TaskLine};
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
use crate::printer::Format;
use crate::printer::WIDTH;

/// The files of planning, in order.
const WRITTEN: [&str; 7] =
    ["pre-analysis.md", "interview.md", "research.md", "context.md", "tasks.md", "critique.md", "plan.md"];

/// Show how far a plan is
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The plan; the only active one where left out.
    plan: Option<String>,
    /// Show it on the whole terminal and keep it up to date: q ends, arrow keys scroll.
    #[arg(long, short)]
    watch: bool,
}

pub(crate) fn run(args: StatusArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    if args.watch {
        if context.format == Format::Text && Screen::is_there(context.env("TERM").as_deref()) {
            return watch_plan(&plan, context);
        }
        context.printer.note("note: --watch shows text on a terminal: this is the status at the moment");
    }
    let loaded = plan.load()?;
    context.notices(&loaded.notices);
    if let Some(member) = plan.store.membership()?.filter(|_| loaded.state.is_shared()) {
        let seen = context.now().duration_since(member.fetched_at);
        context.printer.note(&format!("note: as it was on {} {} ago", member.remote, short_time(seen)));
    }
    let report = StatusReport::new(&loaded.state);
    let planned = (report.phase == Phase::Planning).then(|| PlanningStatus::of_plan(&plan, &loaded.state));
    match context.format {
        Format::Text => {
            let planned = planned.as_ref().map_or_else(String::new, PlanningStatus::text);
            context.printer.data(&(status_text(&report) + &planned));
        }
        Format::Json => context.printer.json(&Printed { report, planned })?,
    }
    Ok(Exit::Done)
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

/// The report as text, which `fp next` prints as well.
pub(crate) fn status_text(report: &StatusReport) -> String {
    let mut text = format!("Plan {} ({})\n", report.plan_id, report.phase.into_str());
    if report.counts.total > 0 {
        text.push_str(&format!("{}\n", report.counts.in_words()));
    }
    if !report.tasks.is_empty() {
        text.push('\n');
    }
    let id_width = report.tasks.iter().map(|task| task.id.as_str().len()).max().unwrap_or(0);
    for line in report.tasks.iter().flat_map(|task| task_lines(task, id_width, WIDTH)) {
        text.push_str(&format!("{line}\n"));
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

/// A task on a line of `columns` columns, with its dependencies and additions below.
fn task_lines(task: &TaskLine, id_width: usize, columns: usize) -> Vec<String> {
    let mut facts = Vec::new();
    if task.iteration > 0 {
        facts.push(format!("{}/{}", task.iteration, task.max_iterations));
    }
    // What the iteration doesn't tell: a retry counts from 1 again.
    if task.failed_verdicts > task.iteration {
        facts.push(format!("{} failed", task.failed_verdicts));
    }
    if task.asked > 0 && task.status.is_final() {
        facts.push(counted(task.asked, "question"));
    }
    facts.extend(task.owner.as_ref().map(ToString::to_string));
    facts.extend(task.commit.as_deref().map(|commit| short(commit).to_owned()));
    let facts = if facts.is_empty() { String::new() } else { format!("  ({})", facts.join(", ")) };
    let head = format!("  {:id_width$}  {:<9}  ", task.id.as_str(), task.state_word());
    let room = columns.saturating_sub(head.width() + facts.width());
    let mut lines = vec![format!("{head}{}{facts}", fitted(&task.title, room.max(10)))];
    let below = task.granted.iter().map(|granted| {
        let by = if granted.by == Decider::User { "you" } else { "the policy" };
        format!("+ {} (by {by}): {}", granted.path, granted.reason)
    });
    let below = below.chain(task.dropped.iter().map(|line| format!("- not checked, by your choice: {line}")));
    let (indent, room) = (" ".repeat(id_width + 15), columns.saturating_sub(id_width + 15).max(20));
    lines.extend(
        task.detail
            .iter()
            .chain(&task.drift)
            .cloned()
            .chain(below)
            .map(|line| indent.clone() + &fitted(&line, room)),
    );
    lines
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
    loop {
        // `None`: the terminal is gone.
        if let None | Some(ScreenInput::End) =
            watch.show(&mut screen, &Beside::default(), LOOK, context.now())
        {
            return Ok(Exit::Done);
        }
        watch.take()?;
    }
}

/// What a lead knows beside the log.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// What agents are at.
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

    pub(super) fn counts(&self) -> &TaskCounts {
        &self.report.counts
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
        screen.show(&frame.lines, size).ok()?;
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
    let mut lines = watch_head(state, report, now, columns);
    lines.extend(agent_lines(state, beside, now, (rows / 4).max(1)));
    lines.extend(report.questions.iter().take(2).map(|question| format!("? {question}")));
    lines.extend(beside.lines.iter().cloned());
    // Leaves at least half of the screen to the tasks.
    lines.truncate(rows / 2);
    if rows > 10 {
        lines.push(String::new());
    }
    let foot = usize::from(rows > 3);
    let room = rows.saturating_sub(lines.len() + foot);
    let id_width = report.tasks.iter().map(|task| task.id.as_str().len()).max().unwrap_or(0);
    let tasks: Vec<String> =
        report.tasks.iter().flat_map(|task| task_lines(task, id_width, columns)).collect();
    let total = tasks.len();
    let first = first.min(total.saturating_sub(room));
    lines.extend(tasks.into_iter().skip(first).take(room));
    if foot > 0 {
        lines.resize(rows - 1, String::new());
        let shown = format!("{}-{} of {total}", (first + 1).min(total), (first + room).min(total));
        lines.push(at_sides(KEYS, &shown, columns));
    }
    lines.truncate(rows);
    lines.iter_mut().for_each(|line| *line = fitted(line, columns));
    WatchFrame { lines, first, room }
}

fn watch_head(state: &State, report: &StatusReport, now: Timestamp, columns: usize) -> Vec<String> {
    let end = if report.phase == Phase::Running { Some(now) } else { state.last_at };
    let started = state.run.as_ref().map(|run| run.started_at);
    let time = started.zip(end).map_or_else(String::new, |(from, to)| lasted(from, to));
    let counts = &report.counts;
    let width = BAR.min(columns / 8);
    let full = (width * counts.completed).checked_div(counts.total).unwrap_or(0);
    let bar = format!("[{}{}] ", "#".repeat(full), ".".repeat(width - full));
    let cost = report.cost.iter().map(|cost| spent_in_words(cost.tokens, cost.micro_usd));
    let beside: Vec<String> = cost.chain([time]).collect();
    vec![
        at_sides(
            &format!("Plan {} ({})", report.plan_id, report.phase.into_str()),
            &beside.join(", "),
            columns,
        ),
        format!("{bar}{}", counts.in_words()),
    ]
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
        return if activity == Activity::Dispatched { "is to take a task" } else { "is idle" }.into();
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
                "text": "Task 4 failed for good. How to go on?", "header": "Task failed", "options": [] } } },
        ]);
        let entry = json!({ "schemaVersion": 1, "seq": 1, "at": START, "events": events });
        let entry: Entry = serde_json::from_value(entry).unwrap();
        State::replay(PlanId::new("sample-20261121").unwrap(), [&entry])
    }

    fn later() -> Timestamp {
        START.parse::<Timestamp>().unwrap() + jiff::SignedDuration::from_secs(125)
    }

    fn view(state: &State, size: (usize, usize), first: usize) -> WatchFrame {
        frame(state, &StatusReport::new(state), &Beside::default(), later(), size, first)
    }

    fn shown(tasks: usize, size: (usize, usize), first: usize) -> String {
        view(&run_of(tasks), size, first).lines.join("\n")
    }

    #[test]
    fn eighty_columns() {
        assert_snapshot!(shown(6, (80, 16), 0), @r"
        Plan sample-20261121 (running)                                             2 min
        [#.........] 1 of 6 tasks done, 1 being built, 2 ready, 1 waiting, 1 failed
        builder-1  is idle, 2 min
        builder-2  builds 2, 2 min
        builder-3  is to take a task, 2 min
        ? Task 4 failed for good. How to go on?

          1  done       Write part 1, 한글 and all that belongs to it  (1/3, 0123456)
          2  building   Write part 2, 한글 and all that belongs to it  (1/3, builder-2)
          3  waiting    Write part 3, 한글 and all that belongs to it
                        it waits for 2
          4  FAILED     Write part 4, 한글 and all that belongs to it  (1 question)
                        Criterion 1 (a␛[31m): no
          5  ready      Write part 5, 한글 and all that belongs to it
          6  ready      Write part 6, 한글 and all that belongs to it
        q ends, arrows scroll                                                   1-8 of 8
        ");
    }

    #[test]
    fn forty_columns() {
        assert_snapshot!(shown(6, (40, 12), 0), @r"
        Plan sample-20261121 (running)     2 min
        [.....] 1 of 6 tasks done, 1 being buil…
        builder-1  is idle, 2 min
        builder-2  builds 2, 2 min
        builder-3  is to take a task, 2 min
        ? Task 4 failed for good. How to go on?

          1  done       Write par…  (1/3, 01234…
          2  building   Write par…  (1/3, build…
          3  waiting    Write part 3, 한글 and …
                        it waits for 2
        q ends, arrows scroll           1-4 of 8
        ");
    }

    #[test]
    fn two_hundred_columns() {
        assert_snapshot!(shown(4, (200, 14), 0), @r"
        Plan sample-20261121 (running)                                                                                                                                                                     2 min
        [######...................] 1 of 4 tasks done, 1 being built, 1 waiting, 1 failed
        builder-1  is idle, 2 min
        builder-2  builds 2, 2 min
        builder-3  is to take a task, 2 min
        ? Task 4 failed for good. How to go on?

          1  done       Write part 1, 한글 and all that belongs to it  (1/3, 0123456)
          2  building   Write part 2, 한글 and all that belongs to it  (1/3, builder-2)
          3  waiting    Write part 3, 한글 and all that belongs to it
                        it waits for 2
          4  FAILED     Write part 4, 한글 and all that belongs to it  (1 question)
                        Criterion 1 (a␛[31m): no
        q ends, arrows scroll                                                                                                                                                                           1-6 of 6
        ");
    }

    #[test]
    fn more_tasks_than_lines() {
        assert_snapshot!(shown(42, (60, 14), 20), @r"
        Plan sample-20261121 (running)                         2 min
        [.......] 1 of 42 tasks done, 1 being built, 38 ready, 1 wa…
        builder-1  is idle, 2 min
        builder-2  builds 2, 2 min
        builder-3  is to take a task, 2 min
        ? Task 4 failed for good. How to go on?

          19  ready      Write part 19, 한글 and all that belongs t…
          20  ready      Write part 20, 한글 and all that belongs t…
          21  ready      Write part 21, 한글 and all that belongs t…
          22  ready      Write part 22, 한글 and all that belongs t…
          23  ready      Write part 23, 한글 and all that belongs t…
          24  ready      Write part 24, 한글 and all that belongs t…
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
        [......] 0 of 0 tasks done



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
                prop_assert!(line.width() <= columns.max(1), "{:?} on {}", line, columns);
                prop_assert!(!line.chars().any(char::is_control));
            }
        }
    }
}

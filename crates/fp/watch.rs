//! The view of a run that refreshes itself: reads the log as it grows, draws lines for a terminal of any size, and
//! listens.

use std::time::Duration;

use fp_core::plan::id::AgentName;
use fp_core::report::duration::lasted;
use fp_core::report::status::{Phase, StatusReport, TaskLine};
use fp_core::run::State;
use fp_core::run::payload::short;
use fp_core::run::state::{Activity, Role, RunAgent, Status};
use fp_core::text::fitted;
use fp_host::plan::OpenPlan;
use fp_host::screen::{Screen, ScreenInput};
use fp_host::store::{Portion, StoreError};
use jiff::Timestamp;
use unicode_width::UnicodeWidthStr as _;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

/// How often the log is looked at, and the times are brought up to date.
const LOOK: Duration = Duration::from_millis(250);

/// Shows the run of `plan` until the person before the terminal ends it. Fails on a log that can't be read, with the
/// terminal as it was.
pub(crate) fn watch_plan(plan: &OpenPlan, context: &Context) -> CommandResult {
    let mut reader = plan.store.reader();
    let mut state = State::new(plan.id().clone());
    let mut take = |state: &mut State| -> Result<bool, StoreError> {
        let Portion { lines, anew, .. } = reader.more()?;
        if anew {
            *state = State::new(plan.id().clone());
        }
        lines.iter().for_each(|line| state.apply(&line.entry));
        Ok(anew || !lines.is_empty())
    };
    // What is wrong from the beginning is said without a screen.
    take(&mut state)?;
    let mut report = WatchReport::new(&state);
    let mut screen = Screen::open().map_err(|error| {
        CommandError::failed(format!("the terminal can't be drawn on: {error}"))
            .hint("without --watch, the status is printed once")
    })?;
    let mut first = 0;
    loop {
        let size = screen.size();
        let frame = frame(&report, context.now(), size, first);
        if screen.show(&frame.lines, size).is_err() {
            // The terminal is gone.
            return Ok(Exit::Done);
        }
        let page = isize::try_from(frame.room.max(1)).unwrap_or(isize::MAX);
        first = match screen.wait(LOOK) {
            ScreenInput::End => return Ok(Exit::Done),
            ScreenInput::Scroll(by) => frame.first.saturating_add_signed(by),
            ScreenInput::Page(by) => frame.first.saturating_add_signed(by.saturating_mul(page)),
            ScreenInput::Resized | ScreenInput::Nothing => frame.first,
        };
        if take(&mut state)? {
            report = WatchReport::new(&state);
        }
    }
}

/// The report.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WatchReport {
    status: StatusReport,
    started_at: Option<Timestamp>,
    last_at: Option<Timestamp>,
    agents: Vec<AgentLine>,
}

/// An agent, and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AgentLine {
    /// Its name.
    name: AgentName,
    /// What it does.
    doing: String,
    /// Since when.
    since: Timestamp,
}

impl WatchReport {
    /// The report on `state`.
    fn new(state: &State) -> Self {
        let agents = state.agents.iter().filter_map(|(name, agent)| agent_line(state, name, agent));
        Self {
            status: StatusReport::new(state),
            started_at: state.run.as_ref().map(|run| run.started_at),
            last_at: state.last_at,
            agents: agents.collect(),
        }
    }
}

fn agent_line(state: &State, name: &AgentName, agent: &RunAgent) -> Option<AgentLine> {
    let doing = match (agent.role, agent.activity) {
        (Role::Verifier, Activity::Idle) => return None,
        (Role::Verifier, _) => match &agent.task {
            Some(task) => format!("verifies {task}"),
            None => "verifies".into(),
        },
        (Role::Builder, activity) => builds(state, name, activity),
    };
    Some(AgentLine { name: name.clone(), doing, since: agent.since })
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

/// Columns of the bar, at most.
const BAR: usize = 30;
/// Columns of a task's id, at most.
const ID: usize = 12;
/// Columns of the widest state.
const STATE: usize = 9;
/// What the keys do.
const KEYS: &str = "q ends, arrows scroll";

/// What is shown.
#[derive(Debug, PartialEq, Eq)]
struct WatchFrame {
    /// The lines from the top, none wider than the terminal, and no more than it has.
    lines: Vec<String>,
    /// The first task that is shown, from 0: the one asked for, or the last that still fills the view.
    first: usize,
    /// How many tasks there is room for.
    room: usize,
}

/// The view of `report` at `now`, on `columns` and `rows`, from the task number `first` on.
fn frame(report: &WatchReport, now: Timestamp, (columns, rows): (usize, usize), first: usize) -> WatchFrame {
    let mut lines = head(report, now, columns);
    lines.extend(agents(report, now, columns, (rows / 4).max(1)));
    lines.extend(
        report.status.questions.iter().take(2).map(|question| fitted(&format!("? {question}"), columns)),
    );
    // The tasks have at least half of it.
    lines.truncate(rows / 2);
    if rows > 10 {
        lines.push(String::new());
    }
    let foot = usize::from(rows > 3);
    let room = rows.saturating_sub(lines.len() + foot);
    let total = report.status.tasks.len();
    let first = first.min(total.saturating_sub(room));
    let tasks = Columns::of(&report.status.tasks, columns);
    lines.extend(report.status.tasks[first..].iter().take(room).map(|task| tasks.line(task)));
    if foot > 0 {
        lines.resize(rows - 1, String::new());
        let shown = format!("{}-{} of {total}", (first + 1).min(total), (first + room).min(total));
        lines.push(sides(KEYS, &shown, columns));
    }
    lines.truncate(rows);
    WatchFrame { lines, first, room }
}

fn head(report: &WatchReport, now: Timestamp, columns: usize) -> Vec<String> {
    let end = if report.status.phase == Phase::Running { Some(now) } else { report.last_at };
    let time = report.started_at.zip(end).map_or_else(String::new, |(from, to)| lasted(from, to));
    let counts = &report.status.counts;
    let width = BAR.min(columns / 8);
    let full = (width * counts.completed).checked_div(counts.total).unwrap_or(0);
    let bar = format!("[{}{}] ", "#".repeat(full), ".".repeat(width - full));
    vec![
        sides(&format!("Plan {} ({})", report.status.plan_id, report.status.phase.word()), &time, columns),
        fitted(&format!("{bar}{}", counts.in_words()), columns),
    ]
}

fn agents(report: &WatchReport, now: Timestamp, columns: usize, most: usize) -> Vec<String> {
    let agents = &report.agents;
    let shown = if agents.len() > most { most - 1 } else { agents.len() };
    let width = agents.iter().map(|agent| agent.name.as_str().width()).max().unwrap_or(0);
    let mut lines: Vec<String> = agents[..shown]
        .iter()
        .map(|agent| {
            let name = agent.name.as_str();
            fitted(&format!("{name:width$}  {}, {}", agent.doing, lasted(agent.since, now)), columns)
        })
        .collect();
    if shown < agents.len() {
        lines.push(fitted(&format!("and {} more agents", agents.len() - shown), columns));
    }
    lines
}

/// `left` and `right` at the sides of a line; where there is no room for both, the left one alone.
fn sides(left: &str, right: &str, columns: usize) -> String {
    let gap = columns.saturating_sub(left.width() + right.width());
    if gap < 2 {
        return fitted(left, columns);
    }
    format!("{left}{}{right}", " ".repeat(gap)).trim_end().to_owned()
}

/// The columns of the tasks.
struct Columns {
    all: usize,
    id: usize,
    title: usize,
}

impl Columns {
    fn of(tasks: &[TaskLine], all: usize) -> Self {
        let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
        let id = widest(&mut tasks.iter().map(|task| task.id.as_str().width().min(ID)));
        let room = all.saturating_sub(id + STATE + 4);
        // The facts have what the titles leave, and not less than this.
        let facts = (room * 2 / 5).clamp(10, 60);
        let title = widest(&mut tasks.iter().map(|task| task.title.width()));
        Self { all, id, title: title.min(room.saturating_sub(facts + 2)) }
    }

    fn line(&self, task: &TaskLine) -> String {
        let head = format!("{:1$}  {2:<STATE$}  ", fitted(task.id.as_str(), ID), self.id, task.state_word());
        let facts = facts(task);
        if facts.is_empty() {
            return fitted(format!("{head}{}", task.title).trim_end(), self.all);
        }
        let title = fitted(&task.title, self.title);
        let pad = " ".repeat(self.title.saturating_sub(title.width()));
        fitted(&format!("{head}{title}{pad}  {facts}"), self.all)
    }
}

/// What matters of a task in its state.
fn facts(task: &TaskLine) -> String {
    let tries = format!("{}/{}", task.iteration, task.max_iterations);
    match (task.status, &task.detail) {
        // Nobody has tried it here.
        (Status::Completed, detail) if task.iteration == 0 => {
            task.commit.as_deref().map(short).or(detail.as_deref()).unwrap_or_default().to_owned()
        }
        (Status::Pending | Status::Failed | Status::Skipped, Some(detail)) => detail.clone(),
        (Status::Pending | Status::Failed | Status::Skipped, None) => String::new(),
        (Status::Completed, detail) => match (&task.commit, detail) {
            (Some(commit), _) => format!("{tries}  {}", short(commit)),
            (None, Some(note)) => format!("{tries}  {note}"),
            (None, None) => tries,
        },
        (_, detail) => {
            let owner = task.owner.as_ref().map_or_else(String::new, |owner| format!("  {owner}"));
            let detail = detail.as_ref().map_or_else(String::new, |detail| format!("  {detail}"));
            format!("{tries}{owner}{detail}")
        }
    }
}

#[cfg(test)]
mod tests {
    use fp_core::plan::id::PlanId;
    use fp_core::run::State;
    use fp_core::run::event::Entry;
    use insta::assert_snapshot;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const START: &str = "2026-11-21T09:00:00Z";

    /// A run of `tasks` tasks: the first is done, the second is being built, the third waits for it, the fourth failed.
    fn report(tasks: usize) -> WatchReport {
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
        WatchReport::new(&State::replay(PlanId::new("sample-20261121").unwrap(), [&entry]))
    }

    fn later() -> Timestamp {
        START.parse::<Timestamp>().unwrap() + jiff::SignedDuration::from_secs(125)
    }

    fn shown(tasks: usize, size: (usize, usize), first: usize) -> String {
        frame(&report(tasks), later(), size, first).lines.join("\n")
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

        1  done       Write part 1, 한글 and all that belon…  1/3  0123456
        2  building   Write part 2, 한글 and all that belon…  1/3  builder-2
        3  waiting    Write part 3, 한글 and all that belon…  it waits for 2
        4  FAILED     Write part 4, 한글 and all that belon…  Criterion 1 (a␛[31m): no
        5  ready      Write part 5, 한글 and all that belongs to it
        6  ready      Write part 6, 한글 and all that belongs to it


        q ends, arrows scroll                                                   1-6 of 6
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

        1  done       Write part 1,…  1/3  0123…
        2  building   Write part 2,…  1/3  buil…
        3  waiting    Write part 3,…  it waits …
        4  FAILED     Write part 4,…  Criterion…
        q ends, arrows scroll           1-4 of 6
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

        1  done       Write part 1, 한글 and all that belongs to it  1/3  0123456
        2  building   Write part 2, 한글 and all that belongs to it  1/3  builder-2
        3  waiting    Write part 3, 한글 and all that belongs to it  it waits for 2
        4  FAILED     Write part 4, 한글 and all that belongs to it  Criterion 1 (a␛[31m): no


        q ends, arrows scroll                                                                                                                                                                           1-4 of 4
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

        21  ready      Write part 21, 한글 and all that belongs to …
        22  ready      Write part 22, 한글 and all that belongs to …
        23  ready      Write part 23, 한글 and all that belongs to …
        24  ready      Write part 24, 한글 and all that belongs to …
        25  ready      Write part 25, 한글 and all that belongs to …
        26  ready      Write part 26, 한글 and all that belongs to …
        q ends, arrows scroll                            21-26 of 42
        ");
        let end = frame(&report(42), later(), (60, 14), 1000);
        assert_eq!((end.first, end.room), (42 - end.room, 6));
        assert!(end.lines.last().unwrap().ends_with("37-42 of 42"), "{end:?}");
    }

    #[test]
    fn nothing_is_there_yet() {
        let empty = WatchReport::new(&State::new(PlanId::new("sample-20261121").unwrap()));
        assert_snapshot!(frame(&empty, later(), (50, 6), 3).lines.join("\n"), @r"
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
            let report = report(tasks.max(4));
            let found = frame(&report, later(), (columns, rows), first);
            prop_assert!(found.lines.len() <= rows);
            for line in &found.lines {
                prop_assert!(line.width() <= columns.max(1), "{:?} on {}", line, columns);
                prop_assert!(!line.chars().any(char::is_control));
            }
            prop_assert!(found.first + found.room.min(report.status.tasks.len()) <= report.status.tasks.len());
        }
    }
}

//! `fp status --watch`: a view that follows the log and fits a terminal of any size.

use std::collections::BTreeMap;
use std::time::Duration;

use fp_host::plan::OpenPlan;
use fp_host::screen::{Screen, ScreenInput};
use fp_host::store::{LogReader, Portion, StoreError};
use fp_plan::plan::id::AgentName;
use fp_run::report::lasted;
use fp_run::report::status::StatusReport;
use fp_run::run::State;
use fp_run::run::event::Entry;
use fp_run::run::state::{Activity, Role, RunAgent, Status};
use jiff::Timestamp;
use unicode_width::UnicodeWidthStr as _;

use super::{TaskColumns, groups_of, head_lines, id_width, status_lines, task_lines};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::columns;
use crate::theme::{self, Look, StyledLine};

/// Interval between updates of the log and the times.
const LOOK: Duration = Duration::from_millis(250);
/// Help on the keys.
const KEYS: &str = "q ends, arrows scroll";

/// Shows the run of `plan` until the user ends the view. Fails if the log can't be read, and restores the
/// terminal first.
pub(crate) fn watch_plan(plan: &OpenPlan, context: &Context) -> CommandResult {
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
pub(crate) struct Beside {
    /// The present activity of each agent.
    pub(crate) doing: BTreeMap<AgentName, String>,
    /// Lines above the tasks.
    pub(crate) lines: Vec<String>,
}

/// A run as its log grows, and the part of it that is shown.
pub(crate) struct RunWatch {
    reader: LogReader,
    state: State,
    report: StatusReport,
    /// The first visible line of the tasks.
    first: usize,
}

impl RunWatch {
    pub(crate) fn new(plan: &OpenPlan) -> Self {
        let state = plan.store.empty_state();
        Self {
            reader: plan.store.reader(),
            report: StatusReport::new(&state),
            state,
            first: 0,
        }
    }

    /// Takes in what the log has since the last call, and returns it.
    pub(crate) fn take(&mut self) -> Result<Vec<Entry>, StoreError> {
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
    pub(crate) fn show(
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
    lines.extend(
        agent_lines(state, beside, now, (rows / 4).max(1))
            .into_iter()
            .map(plain),
    );
    lines.extend(
        report
            .questions
            .iter()
            .take(2)
            .map(|question| plain(format!("? {question}"))),
    );
    lines.extend(beside.lines.iter().cloned().map(plain));
    // Leaves at least half of the screen to the tasks.
    lines.truncate(rows / 2);
    if rows > 10 {
        lines.push(StyledLine::default());
    }
    let foot = usize::from(rows > 3);
    let room = rows.saturating_sub(lines.len() + foot);
    let in_columns = TaskColumns {
        id: id_width(report),
        all: columns,
        signs: true,
    };
    let groups = groups_of(report);
    let tasks = groups.iter().flat_map(|(_, tasks)| tasks.iter());
    let tasks: Vec<StyledLine> = tasks
        .flat_map(|task| task_lines(report, task, in_columns))
        .collect();
    let total = tasks.len();
    let first = first.min(total.saturating_sub(room));
    lines.extend(tasks.into_iter().skip(first).take(room));
    if foot > 0 {
        lines.resize(rows - 1, StyledLine::default());
        let shown = format!(
            "{}-{} of {total}",
            (first + 1).min(total),
            (first + room).min(total)
        );
        lines.push(StyledLine::default().and(Look::Faint, at_sides(KEYS, &shown, columns)));
    }
    lines.truncate(rows);
    let lines = lines.iter().map(|line| line.painted(columns)).collect();
    WatchFrame { lines, first, room }
}

fn agent_lines(state: &State, beside: &Beside, now: Timestamp, most: usize) -> Vec<String> {
    let told = |(name, agent): (&AgentName, &RunAgent)| {
        let at = beside
            .doing
            .get(name)
            .map_or_else(String::new, |at| format!(": {at}"));
        Some(format!(
            "{name}  {}, {}{at}",
            doing(state, name, agent)?,
            lasted(agent.since, now)
        ))
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
        return if activity == Activity::Dispatched {
            "waits for a task"
        } else {
            "is idle"
        }
        .into();
    };
    let id = &held.leaf.id;
    match (held.status, activity) {
        (Status::AwaitingVerification, _) if held.awaits_commit() => {
            format!("waits for the commit of {id}")
        }
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
    format!("{left}{}{right}", " ".repeat(gap))
        .trim_end()
        .to_owned()
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
        let mut frame = frame(
            state,
            &StatusReport::new(state),
            &Beside::default(),
            later(),
            size,
            first,
        );
        frame
            .lines
            .iter_mut()
            .for_each(|line| *line = theme::without_colours(line));
        frame
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
        assert!(
            end.lines.last().unwrap().ends_with("39-44 of 44"),
            "{end:?}"
        );
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

//! `fp status --watch`: a view that follows the log and fits a terminal of any size.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use fp_host::error::HostResult;
use fp_host::lead::LeadLook;
use fp_host::plan::OpenPlan;
use fp_host::screen::{Screen, ScreenInput};
use fp_host::store::{LogReader, Portion};
use fp_plan::plan::id::AgentName;
use fp_run::report::lasted;
use fp_run::report::standing::{LeadPresence, RunStanding};
use fp_run::report::status::StatusReport;
use fp_run::run::State;
use fp_run::run::event::Entry;
use fp_run::run::question::Question;
use fp_run::run::state::{Activity, Role, RunAgent};
use jiff::Timestamp;
use unicode_width::UnicodeWidthStr as _;

use super::{DETAIL, StatusView, append_sections, lines_within};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::cut_columns;
use crate::theme::{self, Look, StyledLine};

/// Interval between updates of the log and the times.
const LOOK: Duration = Duration::from_millis(250);
/// Help on the keys of the view.
const KEYS: &str = "q closes, arrows scroll";
/// Minimum silence of an agent before its silence is shown.
const SILENT: Duration = Duration::from_secs(30);

/// Shows the run of `plan` until the user ends the view. Fails if the log can't be read, and restores the
/// terminal first.
pub(crate) fn watch_plan(plan: &OpenPlan, context: &Context) -> CommandResult {
    plan.store.follow_remote();
    let mut watch = RunWatch::new(plan);
    // Initial errors are reported without taking over the screen.
    watch.read_new_entries()?;
    let mut screen = Screen::open().map_err(|error| {
        CommandError::failed(format!("the terminal can't be drawn on: {error}"))
            .with_hint("without --watch, the status is printed once")
    })?;
    while !watch.report.phase.is_over() {
        let beside = Beside {
            keys: KEYS.to_owned(),
            ..Beside::default()
        };
        // `None`: the terminal is gone.
        if let None | Some(ScreenInput::End | ScreenInput::Quit) =
            watch.draw_and_wait(&mut screen, &beside, LOOK, context.now())
        {
            return Ok(Exit::Done);
        }
        watch.read_new_entries()?;
    }
    drop(screen);
    let view = StatusView::new(&watch.state, &watch.report, context.now(), cut_columns());
    context.printer.styled(&view.whole_text(false));
    Ok(Exit::Done)
}

/// The lead's knowledge that isn't in the log.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// The current activity of each agent, and the time since its last sign of life.
    pub(crate) doing: BTreeMap<AgentName, (String, Duration)>,
    /// The question that a digit key answers.
    pub(crate) by_digits: Option<String>,
    /// Lines that are never scrolled away.
    pub(crate) lines: Vec<String>,
    /// Help on the keys.
    pub(crate) keys: String,
}

/// A run that is kept up to date from its log, and the visible part of its view.
pub(crate) struct RunWatch {
    folder: PathBuf,
    lead: LeadPresence,
    reader: LogReader,
    state: State,
    report: StatusReport,
    /// The first visible line of the scrolling part.
    first: usize,
}

impl RunWatch {
    pub(crate) fn new(plan: &OpenPlan) -> Self {
        let state = plan.store.empty_state();
        Self {
            folder: plan.folder.path().to_owned(),
            lead: LeadPresence::Unknown,
            reader: plan.store.reader(),
            report: StatusReport::new(&state, LeadPresence::Unknown),
            state,
            first: 0,
        }
    }

    /// Reads and returns the log entries added since the last call.
    pub(crate) fn read_new_entries(&mut self) -> HostResult<Vec<Entry>> {
        let lead = LeadLook::in_folder(&self.folder);
        let Portion { lines, anew, .. } = self.reader.more()?;
        if anew {
            self.state = self.state.emptied();
        }
        let entries: Vec<Entry> = lines.into_iter().map(|line| line.entry).collect();
        entries.iter().for_each(|entry| self.state.apply(entry));
        let lead = lead.presence(&self.state);
        if anew || !entries.is_empty() || lead != self.lead {
            self.report = StatusReport::new(&self.state, lead);
            self.lead = lead;
        }
        Ok(entries)
    }

    /// Shows the run on `screen`, and waits up to `time` for the user; `None` if the terminal is gone.
    pub(crate) fn draw_and_wait(
        &mut self,
        screen: &mut Screen,
        beside: &Beside,
        time: Duration,
        now: Timestamp,
    ) -> Option<ScreenInput> {
        let size = screen.size();
        let view = StatusView::new(&self.state, &self.report, now, size.0);
        let frame = view.frame(beside, size.1, self.first);
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
    /// The lines from the top; they fit the terminal's width and height.
    lines: Vec<String>,
    /// The first visible line of the scrolling part, from 0: the requested one, or the last one that still leaves the
    /// view full.
    first: usize,
    /// Number of lines that fit into the scrolling part.
    room: usize,
}

impl StatusView<'_> {
    /// Draws the view in `rows` rows. The scrolling part, with questions, agents and tasks, is shown from its line
    /// `first` on.
    fn frame(&self, beside: &Beside, rows: usize, first: usize) -> WatchFrame {
        let is_silent = beside.doing.values().any(|(_, silent)| *silent >= SILENT);
        let mut lines = self.head_lines(is_silent);
        let told = beside.lines.iter();
        lines.extend(told.flat_map(|line| self.wrapped_behind("", Look::Strong, line)));
        // Leaves at least half of the screen to the scrolling part.
        lines.truncate(rows / 2);
        if rows > 10 {
            lines.push(StyledLine::default());
        }
        let foot = usize::from(rows > 3);
        let room = rows.saturating_sub(lines.len() + foot);
        let mut body = Vec::new();
        append_sections(
            &mut body,
            [
                self.need_lines(usize::MAX, beside.by_digits.as_deref()),
                self.agent_lines(beside),
                self.lines_in_groups(),
            ],
        );
        let total = body.len();
        let first = first.min(total.saturating_sub(room));
        lines.extend(body.into_iter().skip(first).take(room));
        if foot > 0 {
            lines.resize(rows - 1, StyledLine::default());
            let (from, to) = ((first + 1).min(total), (first + room).min(total));
            let shown = format!("{from}-{to} of {total}");
            let keys = at_sides(&beside.keys, &shown, self.columns);
            lines.push(StyledLine::new(Look::Faint, keys));
        }
        lines.truncate(rows);
        let lines = lines.iter().map(|line| line.painted(self.columns));
        WatchFrame {
            lines: lines.collect(),
            first,
            room,
        }
    }

    /// One line per agent with its activity; in an interrupted run, its last known activity.
    fn agent_lines(&self, beside: &Beside) -> Vec<StyledLine> {
        let state = self.state;
        let (then, now) = match self.report.standing {
            RunStanding::Running => ("", self.now),
            RunStanding::Interrupted => ("last heard of: ", state.last_at.unwrap_or_default()),
            RunStanding::WaitsForYou
            | RunStanding::Planning
            | RunStanding::Approved
            | RunStanding::Finished
            | RunStanding::Cancelled => return Vec::new(),
        };
        let told = |(name, agent): (&AgentName, &RunAgent)| {
            let doing = doing_of(state, name, agent)?;
            let mut told = format!("{name}  {then}{doing}, {}", lasted(agent.since, now));
            if let Some((at, silent)) = beside.doing.get(name) {
                told += &format!(": {at}");
                if *silent >= SILENT {
                    told += &format!(" (silent for {})", lasted(now - *silent, now));
                }
            }
            Some(told)
        };
        let is_told = |agent: &RunAgent| then.is_empty() || agent.activity != Activity::Idle;
        let agents = state.agents.iter().filter(|(_, agent)| is_told(agent));
        let lines = agents.filter_map(told);
        let lines = lines.flat_map(|line| lines_within(&line, self.columns.max(1), DETAIL));
        lines
            .map(|line| StyledLine::new(Look::Plain, line))
            .collect()
    }
}

/// The activity of `agent`, unless it is a verifier without work.
fn doing_of(state: &State, name: &AgentName, agent: &RunAgent) -> Option<String> {
    Some(match (agent.role, agent.activity, &agent.task) {
        (Role::Verifier, Activity::Idle, _) => return None,
        (Role::Verifier, _, Some(task)) => format!("verifies {task}"),
        (Role::Verifier, _, None) => "verifies".into(),
        (Role::Builder, activity, _) => building_of(state, name, activity),
    })
}

fn building_of(state: &State, name: &AgentName, activity: Activity) -> String {
    let is_idle = activity == Activity::Idle;
    let Some(held) = state.held_by(name) else {
        let ending = state.agents.get(name).filter(|agent| agent.is_ending);
        if let Some(task) = ending.and_then(|agent| agent.claimed.as_ref()) {
            return format!("has handed in {task}");
        }
        let is_called = activity == Activity::Dispatched;
        return if is_called {
            "waits for a task"
        } else {
            "is idle"
        }
        .into();
    };
    let id = &held.leaf.id;
    let is_about = |question: &Question| question.topic.task() == Some(id);
    match is_idle {
        true if state.open_questions().any(is_about) => format!("waits for your answer on {id}"),
        true => format!("has stopped in the middle of {id}"),
        false => format!("builds {id}"),
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

    /// A run of `tasks` tasks: the first is done, the second is being built, the third waits for the second, the fourth
    /// failed.
    fn run_of(tasks: usize) -> State {
        run_with(tasks, &json!([]))
    }

    fn run_with(tasks: usize, more: &serde_json::Value) -> State {
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
        let entries = [(1, &events), (2, more)].map(|(seq, events)| {
            let entry = json!({ "schemaVersion": 1, "seq": seq, "at": START, "events": events });
            serde_json::from_value::<Entry>(entry).unwrap()
        });
        State::replay(PlanId::new("sample-20261121").unwrap(), &entries)
    }

    /// The same run without working agents and with a second open question.
    fn waiting_run() -> State {
        let text = "Task 2 did not pass by its commands. \"grep -q mine src/p17.txt\" ended with exit status 1. \
            How should it continue?";
        let option =
            |label: &str, description: &str| json!({ "label": label, "description": description });
        let options = [
            option(
                "Change the task",
                "correct it with `fp task revise`, then `fp approve`; it goes on with its work",
            ),
            option(
                "Run without this check",
                "verify it again without; the evidence and the report say so",
            ),
            option("Stop", "end the run; what is done stays"),
        ];
        run_with(
            4,
            &json!([
                { "agentEnded": { "name": "builder-3" } },
                { "submitted": { "task": "2", "owner": "builder-2", "tree": "t", "files": [] } },
                { "agentEnded": { "name": "builder-2" } },
                { "answered": { "question": "q1", "options": ["Continue"], "by": "user" } },
                { "asked": { "question": { "id": "q2", "topic": { "about": "checkFailed", "task": { "task": "2", "commands": [] } },
                    "text": text, "header": "Check", "options": options } } },
                { "asked": { "question": { "id": "q3", "topic": { "about": "endChecks" }, "text": "And the end?",
                    "header": "End", "options": [] } } },
            ]),
        )
    }

    fn later() -> Timestamp {
        START.parse::<Timestamp>().unwrap() + jiff::SignedDuration::from_secs(125)
    }

    fn view(state: &State, size: (usize, usize), first: usize) -> WatchFrame {
        let beside = Beside {
            keys: KEYS.to_owned(),
            ..Beside::default()
        };
        view_of(state, LeadPresence::Unknown, &beside, size, first)
    }

    fn view_of(
        state: &State,
        lead: LeadPresence,
        beside: &Beside,
        size: (usize, usize),
        first: usize,
    ) -> WatchFrame {
        let report = StatusReport::new(state, lead);
        let view = StatusView::new(state, &report, later(), size.0);
        let mut frame = view.frame(beside, size.1, first);
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
        ▰▱▱▱▱▱▱▱▱▱ 1 of 6 tasks done, 1 failed, 1 being built, 2 ready, 1 waiting

        Needs you:
          ? Task 4 failed for good. How should it continue?
            fp answer sample-20261121 q1 --option ''

        builder-1  is idle, 2 min
        builder-2  builds 2, 2 min
        builder-3  waits for a task, 2 min

          ✕ 4  failed     Write part 4, 한글 and all that belongs to it  (1 question)
                          Criterion 1 (a␛[31m): no
          ▶ 2  building   Write part 2, 한글 and all that belongs to …  (1/3, builder-2)
          ● 5  ready      Write part 5, 한글 and all that belongs to it
        q closes, arrows scroll                                               1-12 of 16
        ");
    }

    #[test]
    fn forty_columns() {
        assert_snapshot!(shown(6, (40, 12), 0), @r"
        Plan sample-20261121 (running)  2 min
        ▱▱▱▱▱ 1 of 6 tasks done, 1 failed, 1
              being built, 2 ready, 1 waiting

        Needs you:
          ? Task 4 failed for good. How should
            it continue?
            fp answer sample-20261121 q1
            --option ''

        builder-1  is idle, 2 min
        q closes, arrows scroll        1-7 of 19
        ");
    }

    #[test]
    fn two_hundred_columns() {
        assert_snapshot!(shown(4, (200, 14), 0), @"
        Plan sample-20261121 (running)  2 min
        ▰▰▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱ 1 of 4 tasks done, 1 failed, 1 being built, 1 waiting

        Needs you:
          ? Task 4 failed for good. How should it continue?
            fp answer sample-20261121 q1 --option ''

        builder-1  is idle, 2 min
        builder-2  builds 2, 2 min
        builder-3  waits for a task, 2 min

          ✕ 4  failed     Write part 4, 한글 and all that belongs to it  (1 question)
                          Criterion 1 (a␛[31m): no
        q closes, arrows scroll                                                                                                                                                                       1-10 of 14
        ");
    }

    #[test]
    fn two_questions_at_every_width() {
        let beside = Beside {
            by_digits: Some("q2".into()),
            keys: "1-3 answer, q stops, arrows scroll".into(),
            ..Beside::default()
        };
        let shown = |columns: usize, rows: usize| {
            let state = waiting_run();
            let view = view_of(&state, LeadPresence::Present, &beside, (columns, rows), 0);
            view.lines.join("\n")
        };
        assert_snapshot!(shown(40, 36), @r#"
        Plan sample-20261121 (waits for you)
        ▰▱▱▱▱ 1 of 4 tasks done, 1 failed, 1
              asking you, 1 waiting

        Needs you:
          Nothing goes on before you have
          answered
          ? 1 of 2: Task 2 did not pass by its
            commands. "grep -q mine src/p17.txt"
            ended with exit status 1. How should
            it continue?
              1 Change the task: correct it with
              `fp task revise`, then `fp
              approve`; it goes on with its work
              2 Run without this check: verify
              it again without; the evidence and
              the report say so
              3 Stop: end the run; what is done
              stays
          ? 2 of 2: And the end?

          ✕ 4  failed     Write par…  (1 questi…
                          Criterion 1 (a␛[31m):
                          no
          ? 2  asking     Write par…  (1/3, bui…
                          it waits for your
                          answer
          ○ 3  waiting    Write part 3, 한글 an…
                          it waits for 2
          ✓ 1  done       Write par…  (1/3, 012…





        1-3 answer, q stops, arrows scroll
        "#);
        assert_snapshot!(shown(80, 24), @r#"
        Plan sample-20261121 (waits for you)
        ▰▰▱▱▱▱▱▱▱▱ 1 of 4 tasks done, 1 failed, 1 asking you, 1 waiting

        Needs you:
          Nothing goes on before you have answered
          ? 1 of 2: Task 2 did not pass by its commands. "grep -q mine src/p17.txt"
            ended with exit status 1. How should it continue?
              1 Change the task: correct it with `fp task revise`, then `fp approve`; it
              goes on with its work
              2 Run without this check: verify it again without; the evidence and the
              report say so
              3 Stop: end the run; what is done stays
          ? 2 of 2: And the end?

          ✕ 4  failed     Write part 4, 한글 and all that belongs to it  (1 question)
                          Criterion 1 (a␛[31m): no
          ? 2  asking     Write part 2, 한글 and all that belongs to …  (1/3, builder-2)
                          it waits for your answer
          ○ 3  waiting    Write part 3, 한글 and all that belongs to it
                          it waits for 2
          ✓ 1  done       Write part 1, 한글 and all that belongs to it  (1/3, 0123456)


        1-3 answer, q stops, arrows scroll                                    1-18 of 18
        "#);
        assert_snapshot!(shown(100, 24), @r#"
        Plan sample-20261121 (waits for you)
        ▰▰▰▱▱▱▱▱▱▱▱▱ 1 of 4 tasks done, 1 failed, 1 asking you, 1 waiting

        Needs you:
          Nothing goes on before you have answered
          ? 1 of 2: Task 2 did not pass by its commands. "grep -q mine src/p17.txt" ended with exit status
            1. How should it continue?
              1 Change the task: correct it with `fp task revise`, then `fp approve`; it goes on with its
              work
              2 Run without this check: verify it again without; the evidence and the report say so
              3 Stop: end the run; what is done stays
          ? 2 of 2: And the end?

          ✕ 4  failed     Write part 4, 한글 and all that belongs to it  (1 question)
                          Criterion 1 (a␛[31m): no
          ? 2  asking     Write part 2, 한글 and all that belongs to it  (1/3, builder-2)
                          it waits for your answer
          ○ 3  waiting    Write part 3, 한글 and all that belongs to it
                          it waits for 2
          ✓ 1  done       Write part 1, 한글 and all that belongs to it  (1/3, 0123456)



        1-3 answer, q stops, arrows scroll                                                        1-17 of 17
        "#);
        assert_snapshot!(shown(200, 20), @r#"
        Plan sample-20261121 (waits for you)
        ▰▰▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱ 1 of 4 tasks done, 1 failed, 1 asking you, 1 waiting

        Needs you:
          Nothing goes on before you have answered
          ? 1 of 2: Task 2 did not pass by its commands. "grep -q mine src/p17.txt" ended with exit status 1. How should it continue?
              1 Change the task: correct it with `fp task revise`, then `fp approve`; it goes on with its work
              2 Run without this check: verify it again without; the evidence and the report say so
              3 Stop: end the run; what is done stays
          ? 2 of 2: And the end?

          ✕ 4  failed     Write part 4, 한글 and all that belongs to it  (1 question)
                          Criterion 1 (a␛[31m): no
          ? 2  asking     Write part 2, 한글 and all that belongs to it  (1/3, builder-2)
                          it waits for your answer
          ○ 3  waiting    Write part 3, 한글 and all that belongs to it
                          it waits for 2
          ✓ 1  done       Write part 1, 한글 and all that belongs to it  (1/3, 0123456)

        1-3 answer, q stops, arrows scroll                                                                                                                                                            1-15 of 15
        "#);
        // Scrolling reveals the rest.
        let state = waiting_run();
        let first = |row: usize| view_of(&state, LeadPresence::Present, &beside, (40, 10), row);
        let all: Vec<String> = (0..60).flat_map(|row| first(row).lines).collect();
        assert!(
            all.iter().any(|line| line.trim() == "it continue?"),
            "{all:?}"
        );
    }

    #[test]
    fn a_run_whose_lead_is_gone_stands_still() {
        let beside = Beside::default();
        let view = view_of(&run_of(4), LeadPresence::Gone, &beside, (80, 20), 0);
        assert_snapshot!(view.lines.join("\n"), @r"
        Plan sample-20261121 (interrupted)
        ▰▰▱▱▱▱▱▱▱▱ 1 of 4 tasks done, 1 failed, 1 stopped, 1 waiting

        Needs you:
          Nothing runs: nobody leads the run
          /fp:implement sample-20261121
          ? Task 4 failed for good. How should it continue?
            fp answer sample-20261121 q1 --option ''

        builder-2  last heard of: builds 2, 0 s
        builder-3  last heard of: waits for a task, 0 s

          ✕ 4  failed     Write part 4, 한글 and all that belongs to it  (1 question)
                          Criterion 1 (a␛[31m): no
          ■ 2  stopped    Write part 2, 한글 and all that belongs to …  (1/3, builder-2)
          ○ 3  waiting    Write part 3, 한글 and all that belongs to it
                          it waits for 2
          ✓ 1  done       Write part 1, 한글 and all that belongs to it  (1/3, 0123456)

                                                                              1-15 of 15
        ");
    }

    #[test]
    fn a_silent_agent_shows_that() {
        let mut beside = Beside::default();
        let name = |name: &str| AgentName::new(name).unwrap();
        let silent = |seconds| ("$ cargo test".to_owned(), Duration::from_secs(seconds));
        beside.doing.insert(name("builder-1"), silent(5));
        beside.doing.insert(name("builder-2"), silent(185));
        let view = view_of(&run_of(4), LeadPresence::Present, &beside, (80, 12), 0);
        assert_snapshot!(view.lines.join("\n"), @r"
        Plan sample-20261121 (running)  2 min
        ▰▰▱▱▱▱▱▱▱▱ 1 of 4 tasks done, 1 failed, 1 being built, 1 waiting

        Needs you:
          ? Task 4 failed for good. How should it continue?
            fp answer sample-20261121 q1 --option ''

        builder-1  is idle, 2 min: $ cargo test
        builder-2  builds 2, 2 min: $ cargo test (silent for 3 min)
        builder-3  waits for a task, 2 min

                                                                               1-8 of 14
        ");
    }

    #[test]
    fn more_tasks_than_lines() {
        assert_snapshot!(shown(42, (60, 14), 20), @r"
        Plan sample-20261121 (running)  2 min
        ▱▱▱▱▱▱▱ 1 of 42 tasks done, 1 failed, 1 being built, 38
                ready, 1 waiting

          ● 14  ready      Write part 14, 한글 and all that belongs…
          ● 15  ready      Write part 15, 한글 and all that belongs…
          ● 16  ready      Write part 16, 한글 and all that belongs…
          ● 17  ready      Write part 17, 한글 and all that belongs…
          ● 18  ready      Write part 18, 한글 and all that belongs…
          ● 19  ready      Write part 19, 한글 and all that belongs…
          ● 20  ready      Write part 20, 한글 and all that belongs…
          ● 21  ready      Write part 21, 한글 and all that belongs…
          ● 22  ready      Write part 22, 한글 and all that belongs…
        q closes, arrows scroll                          21-29 of 52
        ");
        let end = view(&run_of(42), (60, 14), 1000);
        // The question, the agents, and 44 lines of tasks: two tasks have an extra line, one for a dependency and one
        // for a failure.
        assert_eq!((end.first, end.room), (52 - end.room, 9));
        assert!(
            end.lines.last().unwrap().ends_with("44-52 of 52"),
            "{end:?}"
        );
    }

    #[test]
    fn nothing_is_there_yet() {
        let empty = State::new(PlanId::new("sample-20261121").unwrap());
        assert_snapshot!(view(&empty, (50, 6), 3).lines.join("\n"), @r"
        Plan sample-20261121 (planning)




        q closes, arrows scroll                   0-0 of 0
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

//! The live view of a run, for `fp status --watch` and `fp run`: the status, drawn anew in place. It has no keys and no
//! screen of its own, so that the terminal's scrolling stays, and nothing has to be restored however it ends.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::time::Duration;

use fp_host::lead::LeadLook;
use fp_host::plan::OpenPlan;
use fp_host::platform::TERMINAL_IN_ENVIRONMENT;
use fp_host::store::{LogReader, Portion, StoreError};
use fp_plan::plan::id::AgentName;
use fp_run::report::lasted;
use fp_run::report::standing::{LeadPresence, RunStanding};
use fp_run::report::status::StatusReport;
use fp_run::run::State;
use fp_run::run::event::Entry;
use fp_run::run::state::{Activity, Role, RunAgent, Status};
use jiff::Timestamp;

use super::{DETAIL, TextRoom, lines_within, status_lines};
use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::{columns, cut_columns, draw_text, terminal_size};
use crate::theme::{self, Look, StyledLine};

/// Interval between updates of the log and the times.
const LOOK: Duration = Duration::from_millis(250);
/// Silence of an agent that is worth showing.
pub(super) const SILENT: Duration = Duration::from_secs(30);

/// True if there is a terminal on which lines can be drawn anew.
pub(crate) fn is_drawable(context: &Context) -> bool {
    let term = context.env("TERM");
    let moves = !TERMINAL_IN_ENVIRONMENT || term.is_some_and(|term| term != "dumb");
    moves && !context.is_json() && io::stdin().is_terminal() && terminal_size().is_some()
}

/// Shows the run of `plan` until it ends.
pub(crate) fn watch_plan(plan: &OpenPlan, context: &Context) -> CommandResult {
    plan.store.follow_remote();
    let mut watch = RunWatch::new(plan);
    let mut drawn = DrawnLines::default();
    let beside = Beside {
        help: "Ctrl-C ends this view".to_owned(),
        ..Beside::default()
    };
    loop {
        let taken = watch.take();
        if taken.is_err() || !watch.report.is_open() {
            drawn.erase();
        }
        taken?;
        if !watch.report.is_open() {
            break;
        }
        if !watch.show(&mut drawn, &beside, context.now()) {
            return Ok(Exit::Done);
        }
        std::thread::sleep(LOOK);
    }
    let room = TextRoom {
        wrap: columns(),
        cut: cut_columns(),
    };
    let lines = status_lines(
        &watch.state,
        &watch.report,
        context.now(),
        room,
        false,
        None,
    );
    context.printer.styled(&(lines.join("\n") + "\n"));
    Ok(Exit::Done)
}

/// Lines that are drawn over those before.
#[derive(Debug, Default)]
pub(crate) struct DrawnLines {
    lines: Vec<String>,
    /// The terminal's columns and rows when they were drawn.
    size: (usize, usize),
    /// Lines that the user has typed below.
    typed: usize,
}

impl DrawnLines {
    /// Draws `lines`, which fit a terminal of this `size`; false if it is gone.
    fn draw(&mut self, lines: Vec<String>, size: (usize, usize)) -> bool {
        if self.lines == lines && self.size == size && self.typed == 0 {
            return true;
        }
        let is_resized = self.size != size && !self.lines.is_empty();
        let is_in_place = !is_resized && self.typed == 0 && self.lines.len() == lines.len();
        let up = self.lines.len() + self.typed;
        let mut text = match (is_resized, up) {
            // Each terminal rearranges its lines in its own way.
            (true, _) => "\x1b[H\x1b[2J".to_owned(),
            (false, 0) => String::new(),
            // What the user is typing stays where it is.
            (false, up) if is_in_place => format!("\x1b7\x1b[{up}F"),
            (false, up) => format!("\x1b[{up}F\x1b[J"),
        };
        for line in &lines {
            text.push_str(&format!("\x1b[2K{line}\n"));
        }
        if is_in_place && up > 0 {
            text.push_str("\x1b8");
        }
        (self.lines, self.size, self.typed) = (lines, size, 0);
        draw_text(&text)
    }

    /// Counts a line that the user has typed below.
    pub(crate) fn note_typed(&mut self) {
        self.typed += 1;
    }

    /// Takes the lines away again.
    pub(crate) fn erase(&mut self) {
        let drawn = std::mem::take(self);
        let up = drawn.lines.len() + drawn.typed;
        if up > 0 {
            draw_text(&format!("\x1b[{up}F\x1b[J"));
        }
    }
}

/// The knowledge of a lead beside the log.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// The present activity of each agent, and for how long nothing was heard of it.
    pub(crate) doing: BTreeMap<AgentName, (String, Duration)>,
    /// The question whose options are numbered.
    pub(crate) numbered: Option<String>,
    /// The last news.
    pub(crate) told: Vec<String>,
    /// The last line: what the user can type.
    pub(crate) help: String,
}

/// A run as its log grows.
pub(crate) struct RunWatch {
    folder: PathBuf,
    lead: LeadPresence,
    reader: LogReader,
    state: State,
    report: StatusReport,
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
        }
    }

    /// Takes in what the log has since the last call, and returns it.
    pub(crate) fn take(&mut self) -> Result<Vec<Entry>, StoreError> {
        let lead = LeadLook::at(&self.folder);
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

    /// Draws the run over the lines that are `drawn`; false if the terminal is gone.
    pub(crate) fn show(&self, drawn: &mut DrawnLines, beside: &Beside, now: Timestamp) -> bool {
        let Some(size) = terminal_size() else {
            return false;
        };
        let lines = frame(&self.state, &self.report, beside, now, size);
        drawn.draw(theme::for_terminal(lines), size)
    }
}

/// The lines of the view: the status with what each agent does, cut to a terminal of this size.
fn frame(
    state: &State,
    report: &StatusReport,
    beside: &Beside,
    now: Timestamp,
    (columns, rows): (usize, usize),
) -> Vec<String> {
    let room = TextRoom {
        wrap: columns,
        cut: columns,
    };
    let mut lines = status_lines(state, report, now, room, false, Some(beside));
    // The cursor stands below the last line.
    lines.truncate(rows.saturating_sub(2));
    let help = StyledLine::default().and(Look::Faint, beside.help.as_str());
    lines.push(help.painted(columns));
    lines
}

/// What each agent does that works.
pub(super) fn agent_lines(
    state: &State,
    report: &StatusReport,
    beside: &Beside,
    now: Timestamp,
    columns: usize,
) -> Vec<StyledLine> {
    if report.standing != RunStanding::Running {
        return Vec::new();
    }
    let told = |(name, agent): (&AgentName, &RunAgent)| {
        let doing = doing(state, name, agent)?;
        let mut told = format!("{name}  {doing}, {}", lasted(agent.since, now));
        if let Some((at, silent)) = beside.doing.get(name) {
            told.push_str(&format!(": {at}"));
            if *silent >= SILENT {
                let since = now - *silent;
                told.push_str(&format!(" (silent for {})", lasted(since, now)));
            }
        }
        Some(told)
    };
    let agents = state.agents.iter();
    agents
        .filter_map(told)
        .flat_map(|line| lines_within(&line, columns.max(1), DETAIL))
        .map(|line| StyledLine::default().and(Look::Plain, line))
        .collect()
}

fn doing(state: &State, name: &AgentName, agent: &RunAgent) -> Option<String> {
    let held = state.held_by(name);
    let is_handed_in = held.is_some_and(|task| task.status == Status::AwaitingVerification);
    Some(match (agent.role, agent.activity, held) {
        (Role::Verifier, Activity::Idle, _) => return None,
        (Role::Verifier, _, _) => match &agent.task {
            Some(task) => format!("verifies {task}"),
            None => "verifies".into(),
        },
        (Role::Builder, _, Some(held)) if is_handed_in => {
            let what = if held.awaits_commit() {
                "commit of"
            } else {
                "verdict on"
            };
            format!("waits for the {what} {}", held.leaf.id)
        }
        (Role::Builder, Activity::Idle, _) => return None,
        (Role::Builder, _, Some(held)) => format!("builds {}", held.leaf.id),
        (Role::Builder, _, None) => "waits for a task".into(),
    })
}

#[cfg(test)]
mod tests {
    use fp_plan::plan::id::PlanId;
    use fp_run::run::State;
    use fp_run::run::event::Entry;
    use insta::assert_snapshot;
    use proptest::prelude::*;
    use serde_json::json;
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    const START: &str = "2026-11-21T09:00:00Z";

    /// A run of `tasks` tasks: the first is done, the second is being built, the third waits for it, the
    /// fourth failed.
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

    /// The same run, in which nobody works any more, and a second question is open.
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

    fn view(state: &State, lead: LeadPresence, beside: &Beside, size: (usize, usize)) -> String {
        let report = StatusReport::new(state, lead);
        let lines = frame(state, &report, beside, later(), size);
        theme::without_colours(&lines.join("\n"))
    }

    fn shown(tasks: usize, size: (usize, usize)) -> String {
        let beside = Beside {
            help: "Ctrl-C ends this view".to_owned(),
            ..Beside::default()
        };
        view(&run_of(tasks), LeadPresence::Unknown, &beside, size)
    }

    #[test]
    fn it_fits_terminals_of_any_size() {
        assert_snapshot!(shown(6, (80, 24)), @"
        Plan sample-20261121 (running)  2 min
        ▰▱▱▱▱▱▱▱▱▱ 1 of 6 tasks done, 1 failed, 1 being built, 2 ready, 1 waiting

        Needs you:
          ? Task 4 failed for good. How should it continue?
            fp answer sample-20261121 q1 --option ''

        builder-2  builds 2, 2 min
        builder-3  waits for a task, 2 min

          ✕ 4  failed     Write part 4, 한글 and all that belongs to it  (1 question)
                          Criterion 1 (a␛[31m): no
          ▶ 2  building   Write part 2, 한글 and all that belongs to …  (1/3, builder-2)
          ● 5  ready      Write part 5, 한글 and all that belongs to it
          ● 6  ready      Write part 6, 한글 and all that belongs to it
          ○ 3  waiting    Write part 3, 한글 and all that belongs to it
                          it waits for 2
          ✓ 1  done       Write part 1, 한글 and all that belongs to it  (1/3, 0123456)
        Ctrl-C ends this view
        ");
        assert_snapshot!(shown(6, (40, 12)), @"
        Plan sample-20261121 (running)  2 min
        ▱▱▱▱▱ 1 of 6 tasks done, 1 failed, 1
              being built, 2 ready, 1 waiting

        Needs you:
          ? Task 4 failed for good. How should
            it continue?
            fp answer sample-20261121 q1
            --option ''

        Ctrl-C ends this view
        ");
        assert_snapshot!(shown(42, (200, 20)), @"
        Plan sample-20261121 (running)  2 min
        ▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱ 1 of 42 tasks done, 1 failed, 1 being built, 38 ready, 1 waiting

        Needs you:
          ? Task 4 failed for good. How should it continue?
            fp answer sample-20261121 q1 --option ''

        builder-2  builds 2, 2 min
        builder-3  waits for a task, 2 min

          ✕ 4   failed     Write part 4, 한글 and all that belongs to it  (1 question)  Criterion 1 (a␛[31m): no
          ▶ 2   building   Write part 2, 한글 and all that belongs to it  (1/3, builder-2)
          ● 5   ready      Write part 5, 한글 and all that belongs to it
          ● 6   ready      Write part 6, 한글 and all that belongs to it
          ● 7   ready      Write part 7, 한글 and all that belongs to it  +35
          ○ 1 waiting
          ✓ 1   done       Write part 1, 한글 and all that belongs to it  (1/3, 0123456)
        Ctrl-C ends this view
        ");
    }

    #[test]
    fn the_options_of_one_question_are_numbered() {
        let beside = Beside {
            numbered: Some("q2".into()),
            help: "Type 1-3 and Enter to answer; Ctrl-C stops the run".into(),
            ..Beside::default()
        };
        let shown = |size| view(&waiting_run(), LeadPresence::Present, &beside, size);
        assert_snapshot!(shown((40, 36)), @r#"
        Plan sample-20261121 (waits for you)
        ▰▱▱▱▱ 1 of 4 tasks done, 1 failed, 1
              asking you, 1 waiting

        Needs you:
          Nothing goes on before you have
          answered
          ? Task 2 did not pass by its commands.
            "grep -q mine src/p17.txt" ended
            with exit status 1. How should it
            continue?
              1 Change the task: correct it with
              `fp task revise`, then `fp
              approve`; it goes on with its work
              2 Run without this check: verify
              it again without; the evidence and
              the report say so
              3 Stop: end the run; what is done
              stays
          ? And the end?
            fp answer sample-20261121 q3
            --option ''

          ✕ 4  failed     Write par…  (1 questi…
                          Criterion 1 (a␛[31m):
                          no
          ? 2  asking     Write par…  (1/3, bui…
          ○ 1 waiting
          ✓ 1  done       Write par…  (1/3, 012…
        Type 1-3 and Enter to answer; Ctrl-C st…
        "#);
        assert_snapshot!(shown((100, 24)), @r#"
        Plan sample-20261121 (waits for you)
        ▰▰▰▱▱▱▱▱▱▱▱▱ 1 of 4 tasks done, 1 failed, 1 asking you, 1 waiting

        Needs you:
          Nothing goes on before you have answered
          ? Task 2 did not pass by its commands. "grep -q mine src/p17.txt" ended with exit status 1. How
            should it continue?
              1 Change the task: correct it with `fp task revise`, then `fp approve`; it goes on with its
              work
              2 Run without this check: verify it again without; the evidence and the report say so
              3 Stop: end the run; what is done stays
          ? And the end?
            fp answer sample-20261121 q3 --option ''

          ✕ 4  failed     Write part 4, 한글 and all that belongs to it  (1 question)
                          Criterion 1 (a␛[31m): no
          ? 2  asking     Write part 2, 한글 and all that belongs to it  (1/3, builder-2)
          ○ 1 waiting
          ✓ 1  done       Write part 1, 한글 and all that belongs to it  (1/3, 0123456)
        Type 1-3 and Enter to answer; Ctrl-C stops the run
        "#);
    }

    #[test]
    fn a_run_whose_lead_is_gone_stands_still() {
        let shown = view(&run_of(4), LeadPresence::Gone, &Beside::default(), (80, 20));
        assert_snapshot!(shown, @"
        Plan sample-20261121 (interrupted)
        ▰▰▱▱▱▱▱▱▱▱ 1 of 4 tasks done, 1 failed, 1 stopped, 1 waiting

        Needs you:
          Nothing runs: nobody leads the run
          /fp:implement sample-20261121
          ? Task 4 failed for good. How should it continue?
            fp answer sample-20261121 q1 --option ''

          ✕ 4  failed     Write part 4, 한글 and all that belongs to it  (1 question)
                          Criterion 1 (a␛[31m): no
          ■ 2  stopped    Write part 2, 한글 and all that belongs to …  (1/3, builder-2)
          ○ 3  waiting    Write part 3, 한글 and all that belongs to it
                          it waits for 2
          ✓ 1  done       Write part 1, 한글 and all that belongs to it  (1/3, 0123456)
        ");
    }

    #[test]
    fn a_silent_agent_shows_that() {
        let mut beside = Beside::default();
        let silent = |seconds| ("$ cargo test".to_owned(), Duration::from_secs(seconds));
        beside
            .doing
            .insert(AgentName::new("builder-2").unwrap(), silent(185));
        let shown = view(&run_of(4), LeadPresence::Present, &beside, (80, 12));
        assert!(
            shown.contains("builder-2  builds 2, 2 min: $ cargo test (silent for 3 min)"),
            "{shown}"
        );
    }

    proptest! {
        #[test]
        fn a_frame_never_leaves_its_terminal(
            tasks in 4_usize..60, columns in 0_usize..120, rows in 2_usize..50,
        ) {
            let report = StatusReport::new(&run_of(tasks), LeadPresence::Unknown);
            let found = frame(&run_of(tasks), &report, &Beside::default(), later(), (columns, rows));
            prop_assert!(found.len() < rows);
            for line in found.iter().map(|line| theme::without_colours(line)) {
                prop_assert!(line.width() <= columns, "{:?} on {}", line, columns);
                prop_assert!(!line.chars().any(char::is_control));
            }
        }
    }
}

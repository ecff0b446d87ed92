//! `fp log`: shows the history of a run, and follows it.

use std::time::Duration;

use fp_host::plan::OpenPlan;
use fp_host::store::{LogLine, Portion};
use fp_plan::plan::id::TaskId;
use fp_plan::text::{fitted, wrapped_within};
use fp_run::report::log::{TaskConcern, ToldEvent, is_minor, tell};
use fp_run::report::status::Phase;
use fp_run::run::State;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::context::{Context, planning_step};
use crate::error::{CommandResult, Exit};
use crate::input::interrupt;
use crate::printer::columns;
use crate::theme::{Look, StyledLine};

/// Interval between reads of a log that is followed.
const LOOK: Duration = Duration::from_millis(200);
/// Columns of a sequence number; longer ones take more.
const SEQ: usize = 5;
/// Most columns of a task's id.
const TASK: usize = 12;
/// Most lines of one text.
const LINES: usize = 6;

/// Show what happened: claims, verdicts, commits and questions, oldest first
///
/// Times are local. With `--json` each line is an entry of the log as it stands there, in UTC.
#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// Go on as more happens, until the run is over or Ctrl-C is pressed; the exit status is 0 either way.
    #[arg(long, short)]
    follow: bool,
    /// Only what concerns this task.
    #[arg(long)]
    task: Option<TaskId>,
    /// Show also how agents were started, woken and reached.
    #[arg(long, short)]
    verbose: bool,
}

pub(crate) fn run(args: LogArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    let mut view = LogView::new(&plan, &args, context.is_json());
    let mut reader = plan.store.reader();
    let portion = reader.more()?;
    let torn = portion.torn;
    let text = view.read(portion);
    if let Some(task) = &args.task {
        view.state.expect_task(task)?;
    }
    let mut read = context.printer.stream(&text, context.is_json());
    if !args.follow {
        if torn > 0 {
            context.printer.note(&format!(
                "note: the last line is not whole ({torn} bytes): it is being written, or was torn off"
            ));
        }
        if view.state.seq == 0 {
            let step = planning_step(&plan).into_str();
            context.printer.note(&format!(
                "note: nothing has happened yet; planning is at: {step}"
            ));
        }
        return Ok(Exit::Done);
    }
    plan.store.follow_remote();
    let interrupt = interrupt("without --follow, the log is printed as it is now")?;
    while read && !view.is_over() && !interrupt.within(LOOK) {
        let portion = reader.more()?;
        if portion.anew {
            context
                .printer
                .note("note: the log was cut back or replaced: from its beginning");
        }
        let text = view.read(portion);
        read = text.is_empty() || context.printer.stream(&text, context.is_json());
    }
    Ok(Exit::Done)
}

/// The log as it is shown, and its state so far.
struct LogView {
    state: State,
    is_json: bool,
    concern: Option<TaskConcern>,
    verbose: bool,
    text: LogText,
}

impl LogView {
    fn new(plan: &OpenPlan, args: &LogArgs, is_json: bool) -> Self {
        let state = plan.store.empty_state();
        let concern = args.task.clone().map(TaskConcern::with);
        Self {
            state,
            is_json,
            concern,
            verbose: args.verbose,
            text: LogText::default(),
        }
    }

    fn is_over(&self) -> bool {
        matches!(Phase::of(&self.state), Phase::Finished | Phase::Cancelled)
    }

    /// Applies `portion` to the state and returns its text.
    fn read(&mut self, portion: Portion) -> String {
        if portion.anew {
            self.state = self.state.emptied();
        }
        portion
            .lines
            .iter()
            .for_each(|line| self.state.apply(&line.entry));
        self.text.fit_tasks(&self.state);
        portion.lines.iter().map(|line| self.shown(line)).collect()
    }

    fn shown(&mut self, line: &LogLine) -> String {
        let concerned = self.concern.as_mut().map(|concern| concern.of(&line.entry));
        let is_shown = |at: usize| concerned.as_ref().is_none_or(|all| all[at]);
        match self.is_json {
            true if concerned.as_ref().is_some_and(|all| !all.contains(&true)) => String::new(),
            true => format!("{}\n", line.text),
            false => {
                let events = line.entry.events.iter().enumerate();
                let shown =
                    events.map(|(at, event)| is_shown(at) && (self.verbose || !is_minor(event)));
                let told = tell(&line.entry).into_iter().zip(shown);
                let told: Vec<_> = told
                    .filter(|(_, shown)| *shown)
                    .map(|(told, _)| told)
                    .collect();
                self.text.lines(line.entry.at, line.entry.seq, &told)
            }
        }
    }
}

/// Formats events, one a line with its reasons below; the day precedes its first event.
#[derive(Debug, Default)]
pub(super) struct LogText {
    day: Option<Date>,
    /// Columns of the task ids.
    task: usize,
}

impl LogText {
    fn fit_tasks(&mut self, state: &State) {
        let widths = state
            .tasks
            .iter()
            .map(|task| task.leaf.id.as_str().len().min(TASK));
        self.task = widths.max().unwrap_or(0).max(self.task);
    }

    pub(super) fn lines(&mut self, at: Timestamp, seq: u64, told: &[ToldEvent]) -> String {
        let at = at.to_zoned(TimeZone::system());
        let mut text = String::new();
        if !told.is_empty() && self.day.replace(at.date()) != Some(at.date()) {
            text.push_str(&format!("{}\n", at.strftime("%F (%Z)")));
        }
        for told in told {
            let look = told
                .became
                .map_or(Look::Plain, |status| Look::of(status, false, None));
            let id = fitted(told.task.as_ref().map_or("", |id| id.as_str()), TASK);
            let head = StyledLine::default()
                .and(
                    Look::Faint,
                    format!("{}  {seq:>SEQ$}  ", at.strftime("%H:%M:%S")),
                )
                .and(Look::Strong, format!("{id:0$}  ", self.task));
            let room = columns().saturating_sub(head.width()).max(20);
            let indent = " ".repeat(head.width());
            for (number, line) in wrapped_within(&told.text, room, LINES).iter().enumerate() {
                let head = if number == 0 {
                    head.painted(usize::MAX)
                } else {
                    indent.clone()
                };
                text.push_str(&format!("{head}{}\n", look.paint(line)));
            }
            for detail in told
                .details
                .iter()
                .flat_map(|detail| wrapped_within(detail, room - 2, LINES))
            {
                text.push_str(&format!("{indent}  {detail}\n"));
            }
        }
        text
    }
}

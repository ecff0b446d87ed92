//! `fp log`: shows the history of a run, and follows it.

use std::time::Duration;

use fp_host::interrupt::Interrupt;
use fp_host::plan::OpenPlan;
use fp_host::store::{LogLine, Portion};
use fp_plan::plan::id::TaskId;
use fp_plan::text::{fitted, wrapped_within};
use fp_run::report::log::{TaskConcern, ToldEvent, tell};
use fp_run::report::status::Phase;
use fp_run::run::State;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr as _;

use crate::context::{Context, planning_step};
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::printer::WIDTH;

/// Interval between reads of a log that is followed.
const LOOK: Duration = Duration::from_millis(200);
/// Columns of a sequence number; longer ones take more.
const SEQ: usize = 5;
/// Most columns of a task's id.
const TASK: usize = 12;
/// Most lines of one text.
const LINES: usize = 6;

/// Show what happened, oldest first
///
/// With `--format json` each line is an entry of the log as it stands there.
#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// The plan; the only active one where left out.
    plan: Option<String>,
    /// Go on as more happens, until the run is over or Ctrl-C is pressed; the exit status is 0 either way.
    #[arg(long, short)]
    follow: bool,
    /// Only what concerns this task.
    #[arg(long)]
    task: Option<TaskId>,
}

pub(crate) fn run(args: LogArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    let mut view = LogView::new(&plan, context.format, args.task.clone());
    let mut reader = plan.store.reader();
    let portion = reader.more()?;
    let torn = portion.torn;
    let text = view.read(portion);
    if let Some(task) = &args.task {
        view.state.expect_task(task)?;
    }
    let mut read = context.printer.stream(&text);
    if !args.follow {
        if torn > 0 {
            context.printer.note(&format!(
                "note: the last line is not whole ({torn} bytes): it is being written, or was torn off"
            ));
        }
        if view.state.seq == 0 {
            let step = planning_step(&plan).into_str();
            context.printer.note(&format!("note: nothing has happened yet; planning is at: {step}"));
        }
        return Ok(Exit::Done);
    }
    plan.store.follow_remote();
    let interrupt = Interrupt::listen().map_err(|error| {
        CommandError::failed(format!("signals can't be watched: {error}"))
            .hint("without --follow, the log is printed as it is now")
    })?;
    while read && !view.is_over() && !interrupt.within(LOOK) {
        let portion = reader.more()?;
        if portion.anew {
            context.printer.note("note: the log was cut back or replaced: from its beginning");
        }
        let text = view.read(portion);
        read = text.is_empty() || context.printer.stream(&text);
    }
    Ok(Exit::Done)
}

/// The log as it is shown, and its state so far.
struct LogView {
    state: State,
    format: Format,
    concern: Option<TaskConcern>,
    text: LogText,
}

impl LogView {
    fn new(plan: &OpenPlan, format: Format, task: Option<TaskId>) -> Self {
        let state = plan.store.empty_state();
        Self { state, format, concern: task.map(TaskConcern::with), text: LogText::default() }
    }

    fn is_over(&self) -> bool {
        matches!(Phase::of(&self.state), Phase::Finished | Phase::Cancelled)
    }

    /// Applies `portion` to the state and returns its text.
    fn read(&mut self, portion: Portion) -> String {
        if portion.anew {
            self.state = self.state.emptied();
        }
        portion.lines.iter().for_each(|line| self.state.apply(&line.entry));
        self.text.fit_tasks(&self.state);
        portion.lines.iter().map(|line| self.shown(line)).collect()
    }

    fn shown(&mut self, line: &LogLine) -> String {
        let concerned = self.concern.as_mut().map(|concern| concern.of(&line.entry));
        let is_shown = |at: usize| concerned.as_ref().is_none_or(|all| all[at]);
        match self.format {
            Format::Json if concerned.as_ref().is_some_and(|all| !all.contains(&true)) => String::new(),
            Format::Json => format!("{}\n", line.text),
            Format::Text => {
                let told = tell(&line.entry).into_iter().enumerate();
                let told: Vec<ToldEvent> =
                    told.filter(|(at, _)| is_shown(*at)).map(|(_, told)| told).collect();
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
        let widths = state.tasks.iter().map(|task| task.leaf.id.as_str().len().min(TASK));
        self.task = widths.max().unwrap_or(0).max(self.task);
    }

    pub(super) fn lines(&mut self, at: Timestamp, seq: u64, told: &[ToldEvent]) -> String {
        let at = at.to_zoned(TimeZone::UTC);
        let mut text = String::new();
        if !told.is_empty() && self.day.replace(at.date()) != Some(at.date()) {
            text.push_str(&format!("{} (UTC)\n", at.date()));
        }
        for told in told {
            let id = fitted(told.task.as_ref().map_or("", |id| id.as_str()), TASK);
            let head = format!("{}  {:>SEQ$}  {id:2$}  ", at.strftime("%H:%M:%S"), seq, self.task);
            let room = WIDTH.saturating_sub(head.width());
            let indent = " ".repeat(head.width());
            for (number, line) in wrapped_within(&told.text, room, LINES).iter().enumerate() {
                text.push_str(&format!("{}{line}\n", if number == 0 { &head } else { &indent }));
            }
            for detail in told.details.iter().flat_map(|detail| wrapped_within(detail, room - 2, LINES)) {
                text.push_str(&format!("{indent}  {detail}\n"));
            }
        }
        text
    }
}

//! `fp log`: shows the history of a run, and follows it.

use std::time::Duration;

use fp_host::store::{LogLine, Portion};
use fp_plan::plan::id::TaskId;
use fp_plan::text::{fitted, wrapped_within};
use fp_run::report::log::{TaskConcern, ToldEvent, is_minor, word_entry};
use fp_run::report::status::Phase;
use fp_run::run::State;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::context::{Context, planning_step};
use crate::error::{CommandResult, Exit};
use crate::input::listen_for_interrupt;
use crate::printer::columns;
use crate::theme::{Look, StyledLine};

/// Polling interval when following a log.
const LOOK: Duration = Duration::from_millis(200);
/// Width of a sequence number, in columns; longer ones take more.
const SEQ: usize = 5;
/// Maximum width of a task's id, in columns.
const TASK: usize = 12;
/// Maximum number of lines per text.
const LINES: usize = 6;

/// Show what happened: claims, verdicts, commits and questions, oldest first
///
/// Times are local. With `--json` each line is an unchanged entry of the log, in UTC.
#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// Follow the log until the run is over or Ctrl-C is pressed; the exit status is 0 either way.
    #[arg(long, short)]
    follow: bool,
    /// Show only events about this task.
    #[arg(long)]
    task: Option<TaskId>,
    /// Also show how agents were started, woken and reached.
    #[arg(long, short)]
    verbose: bool,
}

pub(crate) fn show_log(args: LogArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    let mut view = LogView {
        state: plan.store.empty_state(),
        is_json: context.is_json(),
        concern: args.task.clone().map(TaskConcern::new),
        verbose: args.verbose,
        text: LogText::default(),
    };
    let mut reader = plan.store.reader();
    let portion = reader.more()?;
    let torn = portion.torn;
    let text = view.text_of(portion);
    if let Some(task) = &args.task {
        view.state.expect_task(task)?;
    }
    let mut is_read = context.printer.stream(&text, view.is_json);
    if !args.follow {
        if torn > 0 {
            context.note(format_args!(
                "the last line is not whole ({torn} bytes): it is being written, or was torn off"
            ));
        }
        if view.state.seq == 0 {
            let step = planning_step(&plan).into_str();
            context.note(format_args!(
                "nothing has happened yet; planning is at: {step}"
            ));
        }
        return Ok(Exit::Done);
    }
    plan.store.follow_remote();
    let interrupt = listen_for_interrupt("without --follow, the log is printed as it is now")?;
    while is_read && !Phase::of(&view.state).is_over() && !interrupt.wait_for(LOOK) {
        let portion = reader.more()?;
        if portion.anew {
            context.note("the log was cut back or replaced: from its beginning");
        }
        let text = view.text_of(portion);
        is_read = text.is_empty() || context.printer.stream(&text, view.is_json);
    }
    Ok(Exit::Done)
}

/// The log's text, and its state so far.
struct LogView {
    state: State,
    is_json: bool,
    concern: Option<TaskConcern>,
    verbose: bool,
    text: LogText,
}

impl LogView {
    /// Applies `portion` to the state and returns its text.
    fn text_of(&mut self, portion: Portion) -> String {
        if portion.anew {
            self.state = self.state.emptied();
        }
        let lines = &portion.lines;
        lines.iter().for_each(|line| self.state.apply(&line.entry));
        let ids = self.state.tasks.iter().map(|task| task.leaf.id.as_str());
        let width = ids.map(|id| id.len().min(TASK)).max().unwrap_or(0);
        self.text.id_width = width.max(self.text.id_width);
        lines.iter().map(|line| self.line_text(line)).collect()
    }

    fn line_text(&mut self, line: &LogLine) -> String {
        let entry = &line.entry;
        let concerned = match &mut self.concern {
            Some(concern) => concern.concerned_by(entry),
            None => vec![true; entry.events.len()],
        };
        if self.is_json {
            let is_shown = self.concern.is_none() || concerned.contains(&true);
            return if is_shown {
                line.text.clone() + "\n"
            } else {
                String::new()
            };
        }
        let mut told = word_entry(entry);
        let mut shown = entry.events.iter().zip(concerned);
        told.retain(|_| {
            let event = shown.next();
            event.is_some_and(|(event, concerned)| concerned && (self.verbose || !is_minor(event)))
        });
        self.text.entry_lines(entry.at, entry.seq, &told)
    }
}

/// Formats events, one per line with its reasons below; a line with the date precedes the first event of each day.
#[derive(Debug, Default)]
pub(super) struct LogText {
    day: Option<Date>,
    /// Width of the task ids, in columns.
    id_width: usize,
}

impl LogText {
    pub(super) fn entry_lines(&mut self, at: Timestamp, seq: u64, told: &[ToldEvent]) -> String {
        let at = at.to_zoned(TimeZone::system());
        let mut text = String::new();
        if !told.is_empty() && self.day.replace(at.date()) != Some(at.date()) {
            text += &format!("{}\n", at.strftime("%F (%Z)"));
        }
        for told in told {
            let look = |status| Look::for_task(status, false, None);
            let look = told.became.map_or(Look::Plain, look);
            let id = fitted(told.task.as_ref().map_or("", |id| id.as_str()), TASK);
            let head = format!("{}  {seq:>SEQ$}  ", at.strftime("%H:%M:%S"));
            let head = StyledLine::new(Look::Faint, head)
                .with_text(Look::Strong, format!("{id:0$}  ", self.id_width));
            let room = columns().saturating_sub(head.width()).max(20);
            let below = StyledLine::new(Look::Plain, " ".repeat(head.width() + 2));
            let mut lines = head.hanging(look, wrapped_within(&told.text, room, LINES));
            for detail in &told.details {
                let detail = wrapped_within(detail, room - 2, LINES);
                lines.extend(below.clone().hanging(Look::Plain, detail));
            }
            text.extend(lines.iter().map(|line| line.painted(usize::MAX) + "\n"));
        }
        text
    }
}

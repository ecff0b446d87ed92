//! `fp log`: shows the history of a run.

use fp_host::store::{LogLine, Portion};
use fp_plan::plan::id::TaskId;
use fp_plan::text::{fitted, wrapped_within};
use fp_run::report::log::{TaskConcern, ToldEvent, word_entry};
use fp_run::run::event::Event;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::context::{Context, planning_step};
use crate::error::{CommandResult, Exit};
use crate::printer::columns;
use crate::theme::{Look, StyledLine};

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
    /// Show only events about this task.
    #[arg(long)]
    task: Option<TaskId>,
}

pub(crate) fn show_log(args: LogArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    let Portion { lines, torn, .. } = plan.store.reader().more()?;
    let mut state = plan.store.empty_state();
    lines.iter().for_each(|line| state.apply(&line.entry));
    if let Some(task) = &args.task {
        state.expect_task(task)?;
    }
    let ids = state.tasks.iter().map(|task| task.leaf.id.as_str());
    let mut log = LogText {
        id_width: ids.map(|id| id.len().min(TASK)).max().unwrap_or(0),
        ..LogText::default()
    };
    let mut concern = args.task.map(TaskConcern::new);
    let mut is_told = |event: &Event| concern.as_mut().is_none_or(|task| task.includes(event));
    let mut text = String::new();
    for LogLine { text: line, entry } in &lines {
        text += &match context.is_json() {
            true if entry.events.iter().filter(|event| is_told(event)).count() == 0 => continue,
            true => format!("{line}\n"),
            false => log.entry_lines(entry.at, entry.seq, &word_entry(entry, &mut is_told)),
        };
    }
    context.printer.stream(&text, context.is_json());
    if torn > 0 {
        context.note(format_args!(
            "the last line is not whole ({torn} bytes): it is being written, or was torn off"
        ));
    }
    if state.seq == 0 {
        let step = planning_step(&plan).into_str();
        context.note(format_args!(
            "nothing has happened yet; planning is at: {step}"
        ));
    }
    Ok(Exit::Done)
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

//! The log as text that fits 80 columns: a line an event, its reasons below it.

use fp_core::report::log::Told;
use fp_core::run::State;
use fp_core::text::{fitted, wrapped_within};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr as _;

use super::WIDTH;

/// Columns of a sequence number, of which there may be more.
const SEQ: usize = 5;
/// Most columns of a task's id.
const TASK: usize = 12;
/// Most lines of one text.
const DETAIL: usize = 6;

/// Writes entries one after the other; a day is named where it begins.
#[derive(Debug, Default)]
pub(crate) struct LogText {
    day: Option<Date>,
    task: usize,
}

impl LogText {
    /// Makes room for the ids of the tasks of `state`.
    pub(crate) fn fit_tasks(&mut self, state: &State) {
        let widths = state.tasks.iter().map(|task| task.leaf.id.as_str().len().min(TASK));
        self.task = widths.max().unwrap_or(0).max(self.task);
    }

    /// The lines of what the entry `seq`, written at `at`, has told.
    pub(crate) fn lines(&mut self, at: Timestamp, seq: u64, told: &[Told]) -> String {
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
            for (number, line) in wrapped_within(&told.text, room, DETAIL).iter().enumerate() {
                text.push_str(&format!("{}{line}\n", if number == 0 { &head } else { &indent }));
            }
            for detail in told.details.iter().flat_map(|detail| wrapped_within(detail, room - 2, DETAIL)) {
                text.push_str(&format!("{indent}  {detail}\n"));
            }
        }
        text
    }
}

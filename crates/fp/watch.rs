//! The view of a run that refreshes itself: reads the log as it grows, draws, and listens.

use std::time::Duration;

use fp_core::report::watch::WatchReport;
use fp_core::run::State;
use fp_host::plan::OpenPlan;
use fp_host::screen::{Input, Screen};
use fp_host::store::{Portion, StoreError};

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::render::watch::frame;

/// How often the log is looked at, and the times are brought up to date.
const LOOK: Duration = Duration::from_millis(250);

/// Shows the run of `plan` until the person before the terminal ends it. Fails on a log that can't be read, with the
/// terminal as it was.
pub(crate) fn watch(plan: &OpenPlan, context: &Context) -> CommandResult {
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
            Input::End => return Ok(Exit::Done),
            Input::Scroll(by) => frame.first.saturating_add_signed(by),
            Input::Page(by) => frame.first.saturating_add_signed(by.saturating_mul(page)),
            Input::Resized | Input::Nothing => frame.first,
        };
        if take(&mut state)? {
            report = WatchReport::new(&state);
        }
    }
}

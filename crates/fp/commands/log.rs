//! `fp log`.

use std::time::Duration;

use fp_core::plan::id::TaskId;
use fp_core::report::log::{Concern, Told, tell};
use fp_core::report::status::Phase;
use fp_core::run::State;
use fp_host::interrupt::Interrupt;
use fp_host::plan::OpenPlan;
use fp_host::store::{LogLine, Portion};

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::render::log::LogText;

/// How often a log that is followed is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Show what happened, oldest first
///
/// With `--format json` each line is an entry of the log as it stands there.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan; the only active one where left out.
    plan: Option<String>,
    /// Go on as more happens, until the run is over or Ctrl-C is pressed; the exit status is 0 either way.
    #[arg(long, short)]
    follow: bool,
    /// Only what concerns this task.
    #[arg(long)]
    task: Option<TaskId>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open(args.plan.as_deref())?;
    let mut view = View::new(&plan, context.format, args.task.clone());
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
            context
                .printer
                .note(&format!("note: nothing has happened yet: next is `fp approve {}`", plan.id()));
        }
        return Ok(Exit::Done);
    }
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

/// The log as it is shown, with the state that it adds up to.
struct View {
    state: State,
    format: Format,
    concern: Option<Concern>,
    text: LogText,
}

impl View {
    fn new(plan: &OpenPlan, format: Format, task: Option<TaskId>) -> Self {
        let state = State::new(plan.id().clone());
        Self { state, format, concern: task.map(Concern::with), text: LogText::default() }
    }

    fn is_over(&self) -> bool {
        matches!(Phase::of(&self.state), Phase::Finished | Phase::Cancelled)
    }

    /// Takes in what has come, and gives what is shown of it.
    fn read(&mut self, portion: Portion) -> String {
        if portion.anew {
            self.state = State::new(self.state.plan_id.clone());
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
                let told: Vec<Told> = told.filter(|(at, _)| is_shown(*at)).map(|(_, told)| told).collect();
                self.text.lines(line.entry.at, line.entry.seq, &told)
            }
        }
    }
}

//! Shows the user a run that `fp run` leads: at a terminal as a live view that takes answers, elsewhere as a line for
//! each event.

use std::io::BufRead as _;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use fp_host::interrupt::Interrupt;
use fp_host::plan::OpenPlan;
use fp_run::report::log::{ToldEvent, is_minor, tell};
use fp_run::run::next::LeadAction;

use super::super::log::LogText;
use super::super::status::{Beside, DrawnLines, RunWatch};
use super::crew::Crew;
use crate::context::Context;
use crate::error::CommandError;
use crate::input::interrupt;
use crate::printer::Printer;

pub(super) enum LeadInput {
    Nothing,
    Stop,
    /// The terminal is gone.
    Gone,
}

/// A view of the run.
pub(super) struct LeadView {
    kind: ViewKind,
    // Without it, Ctrl-C ends the process at once, and the agents with it.
    interrupt: Option<Interrupt>,
    /// Open questions, with their options.
    asked: Vec<(String, Vec<String>)>,
    answer: Option<(String, String)>,
}

enum ViewKind {
    Silent,
    Lines {
        watch: RunWatch,
        text: LogText,
    },
    Live {
        watch: RunWatch,
        drawn: DrawnLines,
        /// The last things worth saying.
        told: Vec<String>,
        /// The lines that the user types, read from the first question on.
        typed: Option<Receiver<String>>,
    },
}

/// Lines of news in the live view.
const NEWS: usize = 3;

impl LeadView {
    fn of(kind: ViewKind, interrupt: Option<Interrupt>) -> Self {
        Self {
            kind,
            interrupt,
            asked: Vec::new(),
            answer: None,
        }
    }

    /// A view that shows nothing.
    pub(super) fn silent() -> Self {
        Self::of(ViewKind::Silent, Interrupt::listen().ok())
    }

    /// The live view if it `is_live`, else lines.
    pub(super) fn open(
        plan: &OpenPlan,
        is_live: bool,
        context: &Context,
    ) -> Result<Self, CommandError> {
        if context.is_json() {
            return Ok(Self::silent());
        }
        let mut watch = RunWatch::new(plan);
        watch.take()?;
        let kind = match is_live {
            true => ViewKind::Live {
                watch,
                drawn: DrawnLines::default(),
                told: Vec::new(),
                typed: None,
            },
            false => ViewKind::Lines {
                watch,
                text: LogText::default(),
            },
        };
        let interrupt = interrupt("with --ask, `fp run` does without them")?;
        Ok(Self::of(kind, Some(interrupt)))
    }

    /// True if it can ask the user.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.kind, ViewKind::Live { .. })
    }

    /// Asks these questions from now on.
    pub(super) fn ask(&mut self, asks: &[LeadAction]) {
        self.asked.clear();
        for action in asks {
            if let LeadAction::Ask {
                question, options, ..
            } = action
            {
                let labels = options.iter().map(|option| option.label.clone()).collect();
                self.asked.push((question.clone(), labels));
            }
        }
    }

    /// The user's answer to a question: its id and the label.
    pub(super) fn answered(&mut self) -> Option<(String, String)> {
        self.answer.take()
    }

    pub(super) fn tell(&mut self, line: &str) {
        match &mut self.kind {
            ViewKind::Silent => {}
            ViewKind::Lines { .. } => Printer::default().note(&format!("note: {line}")),
            ViewKind::Live { told, .. } => {
                told.push(line.to_owned());
                let over = told.len().saturating_sub(NEWS);
                told.drain(..over);
            }
        }
    }

    /// Shows what is new, and takes what the user has typed.
    pub(super) fn show(
        &mut self,
        crew: &Crew<'_>,
        context: &Context,
    ) -> Result<LeadInput, CommandError> {
        let is_there = match &mut self.kind {
            ViewKind::Silent => true,
            ViewKind::Lines { watch, text } => {
                let mut is_read = true;
                for entry in watch.take()? {
                    let told = tell(&entry)
                        .into_iter()
                        .zip(&entry.events)
                        .filter(|(_, event)| !is_minor(event));
                    let told: Vec<_> = told
                        .map(|(told, _)| ToldEvent {
                            details: Vec::new(),
                            ..told
                        })
                        .collect();
                    is_read &= context
                        .printer
                        .stream(&text.lines(entry.at, entry.seq, &told), false);
                }
                is_read
            }
            ViewKind::Live {
                watch,
                drawn,
                told,
                typed,
            } => {
                watch.take()?;
                let asked = self.asked.first();
                if let Some((question, labels)) = asked {
                    for line in typed.get_or_insert_with(typed_lines).try_iter() {
                        drawn.note_typed();
                        let number = line
                            .trim()
                            .parse()
                            .ok()
                            .and_then(|n: usize| n.checked_sub(1));
                        let label = number.and_then(|number| labels.get(number));
                        if let Some(label) = label {
                            self.answer = Some((question.clone(), label.clone()));
                        }
                    }
                }
                let stop = "Ctrl-C stops the run";
                let beside = Beside {
                    doing: crew.doing(),
                    numbered: asked.map(|(question, _)| question.clone()),
                    told: told.clone(),
                    help: match asked {
                        Some((_, labels)) if !labels.is_empty() => {
                            format!("Type 1-{} and Enter to answer; {stop}", labels.len())
                        }
                        _ => stop.to_owned(),
                    },
                };
                watch.show(drawn, &beside, context.now())
            }
        };
        let is_stopped = self.interrupt.as_mut().is_some_and(Interrupt::take);
        Ok(match (is_there, is_stopped) {
            (false, _) => LeadInput::Gone,
            (true, true) => LeadInput::Stop,
            (true, false) => LeadInput::Nothing,
        })
    }

    /// Takes a live view away, and rings the terminal's bell.
    pub(super) fn close(&mut self) {
        if let ViewKind::Live { drawn, .. } = &mut self.kind {
            drawn.erase();
            self.kind = ViewKind::Silent;
            Printer::default().bell();
        }
    }
}

/// Reads what the user types from now on; the process may end meanwhile.
fn typed_lines() -> Receiver<String> {
    let (send, typed) = channel();
    thread::spawn(move || {
        let lines = std::io::stdin().lock().lines().map_while(Result::ok);
        for line in lines {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    typed
}

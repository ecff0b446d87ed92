//! Shows the user a run of `fp run`: as a live view at a terminal, elsewhere as one line per event.

use std::time::Duration;

use fp_host::interrupt::Interrupt;
use fp_host::plan::OpenPlan;
use fp_host::screen::{Screen, ScreenInput};
use fp_run::report::log::word_entry;
use fp_run::run::next::LeadAction;

use super::super::log::LogText;
use super::super::status::{Beside, RunWatch};
use super::crew::Crew;
use crate::context::Context;
use crate::error::CommandError;
use crate::input::listen_for_interrupt;
use crate::printer::Printer;

/// A request that the user made with a key.
pub(super) enum LeadInput {
    Nothing,
    Stop,
    /// The terminal is gone.
    Gone,
}

/// A view of the run.
pub(super) struct LeadView {
    kind: ViewKind,
    /// Open questions, with their options.
    asked: Vec<(String, Vec<String>)>,
    answer: Option<(String, String)>,
    /// The latest notices.
    told: Vec<String>,
    /// True while asking the user whether to stop.
    asks_to_stop: bool,
    /// True once the user stopped the run.
    is_stopping: bool,
}

enum ViewKind {
    Silent(Option<Interrupt>),
    Lines {
        watch: RunWatch,
        text: LogText,
        interrupt: Interrupt,
    },
    Screen {
        watch: RunWatch,
        screen: Screen,
    },
}

/// The live view's help on its keys.
const KEYS: &str = "q stops the run, arrows scroll";
/// Maximum number of news lines in the live view.
const NEWS: usize = 3;

impl LeadView {
    fn of(kind: ViewKind) -> Self {
        Self {
            kind,
            asked: Vec::new(),
            answer: None,
            told: Vec::new(),
            asks_to_stop: false,
            is_stopping: false,
        }
    }

    /// A view that shows nothing.
    pub(super) fn silent() -> Self {
        // Without the handler, Ctrl-C would end the process and the agents at once.
        Self::of(ViewKind::Silent(Interrupt::listen().ok()))
    }

    /// True if there is a terminal for the live view.
    pub(super) fn has_screen(context: &Context) -> bool {
        !context.is_json() && Screen::is_there(context.env("TERM").as_deref())
    }

    /// Opens the live view if `has_screen` is true; otherwise shows one line per event.
    pub(super) fn open(
        plan: &OpenPlan,
        has_screen: bool,
        context: &Context,
    ) -> Result<Self, CommandError> {
        if context.is_json() {
            return Ok(Self::silent());
        }
        let mut watch = RunWatch::new(plan);
        watch.read_new_entries()?;
        if let Some(screen) = has_screen.then(Screen::open).and_then(Result::ok) {
            return Ok(Self::of(ViewKind::Screen { watch, screen }));
        }
        let interrupt = listen_for_interrupt("with --ask, `fp run` does without them")?;
        Ok(Self::of(ViewKind::Lines {
            watch,
            text: LogText::default(),
            interrupt,
        }))
    }

    /// True if the view can ask the user.
    pub(super) fn is_screen(&self) -> bool {
        matches!(self.kind, ViewKind::Screen { .. })
    }

    /// Sets the open questions.
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

    /// The user's answer: the question's id and the chosen option's label.
    pub(super) fn answered(&mut self) -> Option<(String, String)> {
        self.answer.take()
    }

    pub(super) fn tell(&mut self, line: &str) {
        match &self.kind {
            ViewKind::Silent(_) => {}
            ViewKind::Lines { .. } => Printer::default().print_note(&format!("note: {line}")),
            ViewKind::Screen { .. } => {
                self.told.push(line.to_owned());
                let over = self.told.len().saturating_sub(NEWS);
                self.told.drain(..over);
            }
        }
    }

    /// Shows the news; with a screen, also waits up to `time` for the user.
    pub(super) fn show(
        &mut self,
        crew: &Crew<'_>,
        time: Duration,
        context: &Context,
    ) -> Result<LeadInput, CommandError> {
        match &mut self.kind {
            ViewKind::Silent(interrupt) => {
                let stopped = interrupt.as_mut().is_some_and(Interrupt::take_request);
                Ok(if stopped {
                    LeadInput::Stop
                } else {
                    LeadInput::Nothing
                })
            }
            ViewKind::Lines {
                watch,
                text,
                interrupt,
            } => {
                let mut is_read = true;
                for entry in watch.read_new_entries()? {
                    let mut told = word_entry(&entry, |_| true);
                    told.iter_mut().for_each(|told| told.details.clear());
                    is_read &= context
                        .printer
                        .stream(&text.entry_lines(entry.at, entry.seq, &told), false);
                }
                Ok(match (is_read, interrupt.take_request()) {
                    (false, _) => LeadInput::Gone,
                    (true, true) => LeadInput::Stop,
                    (true, false) => LeadInput::Nothing,
                })
            }
            ViewKind::Screen { watch, screen } => {
                watch.read_new_entries()?;
                let asked = self.asked.first();
                let stop = match (self.asks_to_stop, self.is_stopping) {
                    (false, _) => None,
                    (true, false) => Some("Stop the run? What runs may finish. y/n"),
                    (true, true) => Some("End what still runs, too? y/n"),
                };
                let keys = match (stop, asked) {
                    (Some(_), _) => "y stops, n goes on".to_owned(),
                    (None, Some((_, labels))) if !labels.is_empty() => {
                        format!("1-{} answer, q stops, arrows scroll", labels.len().min(9))
                    }
                    (None, _) => KEYS.to_owned(),
                };
                let beside = Beside {
                    doing: crew.doing(),
                    by_digits: asked.map(|(question, _)| question.clone()),
                    lines: stop
                        .map(str::to_owned)
                        .into_iter()
                        .chain(self.told.clone())
                        .collect(),
                    keys,
                };
                let Some(input) = watch.draw_and_wait(screen, &beside, time, context.now()) else {
                    return Ok(LeadInput::Gone);
                };
                let stops =
                    input == ScreenInput::End || input == ScreenInput::Yes && self.asks_to_stop;
                self.asks_to_stop = match input {
                    ScreenInput::Quit => true,
                    ScreenInput::End | ScreenInput::Yes | ScreenInput::No => false,
                    ScreenInput::Digit(_)
                    | ScreenInput::Scroll(_)
                    | ScreenInput::Page(_)
                    | ScreenInput::Resized
                    | ScreenInput::Nothing => self.asks_to_stop,
                };
                if let (ScreenInput::Digit(digit), false) = (input, self.asks_to_stop) {
                    let chosen = asked.and_then(|(question, labels)| {
                        Some((question.clone(), labels.get(digit.checked_sub(1)?)?.clone()))
                    });
                    self.answer = chosen.or(self.answer.take());
                }
                self.is_stopping |= stops;
                Ok(if stops {
                    LeadInput::Stop
                } else {
                    LeadInput::Nothing
                })
            }
        }
    }

    /// Restores the terminal and rings its bell.
    pub(super) fn close(&mut self) {
        if self.is_screen() {
            self.kind = ViewKind::Silent(None);
            Printer::default().bell();
        }
    }
}

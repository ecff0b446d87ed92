//! Takes the terminal over for a view that refreshes itself, and restores it however the view ends.

use std::io::{self, IsTerminal as _, Write as _};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::style::Print;
use crossterm::terminal::{
    self, BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen,
};
use crossterm::{execute, queue};

use crate::interrupt::Interrupt;
use crate::platform::{self, TERMINAL_IN_ENVIRONMENT};

/// True while the terminal is taken over.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// Input for the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenInput {
    /// Scroll by this many lines, down if positive.
    Scroll(isize),
    /// Scroll by this many screens; `isize::MIN` and `isize::MAX` mean the beginning and the end.
    Page(isize),
    /// A digit from 1 to 9.
    Digit(usize),
    Resized,
    /// End the view: by Ctrl-C, by signal, or because the terminal is gone.
    End,
    /// End the view, by `q` or Escape.
    Quit,
    /// `y`, as an answer.
    Yes,
    /// `n`, as an answer.
    No,
    /// No input arrived in time.
    Nothing,
}

/// Columns of the terminal on standard output, if there is one.
pub fn terminal_columns() -> Option<usize> {
    let size = io::stdout().is_terminal().then(terminal::size)?;
    size.ok()
        .map(|(columns, _)| columns.into())
        .filter(|columns| *columns > 0)
}

/// The alternate screen of this process's terminal. Dropping it restores the terminal.
#[derive(Debug)]
pub struct Screen {
    interrupt: Interrupt,
    shown: Vec<String>,
    /// The size for which the shown lines were made; `None` forces a full redraw.
    drawn_for: Option<(usize, usize)>,
}

impl Screen {
    /// True if this process has a terminal to draw on; `term` is the value of `TERM`.
    pub fn is_there(term: Option<&str>) -> bool {
        let draws = !TERMINAL_IN_ENVIRONMENT || term.is_some_and(|term| term != "dumb");
        draws && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Takes the terminal over. On failure the terminal is unchanged.
    pub fn open() -> io::Result<Self> {
        let interrupt = Interrupt::listen()?;
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                // The terminal is restored first, since the panic's message would vanish with the alternate screen.
                give_back();
                before(panic);
            }));
        });
        terminal::enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let screen = Self {
            interrupt,
            shown: Vec::new(),
            drawn_for: None,
        };
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Columns and rows; 80 × 24 if the terminal doesn't say.
    pub fn size(&self) -> (usize, usize) {
        let (columns, rows) = terminal::size().unwrap_or((80, 24));
        (columns.into(), rows.into())
    }

    /// Shows `lines`, made for a terminal of `size` (columns and rows), starting at the top. Draws only the lines that
    /// changed, or all of them after a change of size. The lines must be free of control characters.
    pub fn show(&mut self, lines: &[String], size: (usize, usize)) -> io::Result<()> {
        let mut out = io::stdout().lock();
        queue!(out, BeginSynchronizedUpdate)?;
        if self.drawn_for.replace(size) != Some(size) {
            // Terminals differ in how they rearrange their lines when resized.
            self.shown.clear();
            queue!(out, Clear(ClearType::All))?;
        }
        for (number, row) in (0..lines.len().max(self.shown.len())).zip(0_u16..) {
            let line = lines.get(number).map_or("", String::as_str);
            if self.shown.get(number).map(String::as_str) != Some(line) {
                // The line is cleared before its text is printed: after a line as wide as the terminal, clearing to the
                // end would erase the last character.
                queue!(
                    out,
                    MoveTo(0, row),
                    Clear(ClearType::CurrentLine),
                    Print(line)
                )?;
            }
        }
        queue!(out, EndSynchronizedUpdate)?;
        out.flush()?;
        self.shown = lines.to_vec();
        Ok(())
    }

    /// Waits up to `time` for the user's input.
    pub fn wait(&mut self, time: Duration) -> ScreenInput {
        if self.interrupt.take_request() {
            return ScreenInput::End;
        }
        let input = match platform::input_within(time) {
            Ok(false) => ScreenInput::Nothing,
            Ok(true) => event::read().map_or(ScreenInput::End, |event| meant(&event)),
            Err(_) => ScreenInput::End,
        };
        if input == ScreenInput::Resized {
            // Forces a full redraw, since the terminal may already be back at the old size.
            self.drawn_for = None;
        }
        if self.interrupt.take_request() {
            ScreenInput::End
        } else {
            input
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Restores the terminal, but only once, however often this is called. If the terminal is gone, restoring fails and
/// nobody would see it, so errors are dropped.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        drop(execute!(
            io::stdout(),
            EndSynchronizedUpdate,
            Show,
            LeaveAlternateScreen
        ));
        drop(terminal::disable_raw_mode());
    }
}

fn meant(event: &Event) -> ScreenInput {
    match event {
        Event::Resize(..) => ScreenInput::Resized,
        Event::Key(key) if key.kind != KeyEventKind::Release => pressed(key),
        _ => ScreenInput::Nothing,
    }
}

fn pressed(key: &KeyEvent) -> ScreenInput {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if control => ScreenInput::End,
        KeyCode::Char('q') | KeyCode::Esc => ScreenInput::Quit,
        KeyCode::Char('y') => ScreenInput::Yes,
        KeyCode::Char('n') => ScreenInput::No,
        KeyCode::Up | KeyCode::Char('k') => ScreenInput::Scroll(-1),
        KeyCode::Down | KeyCode::Char('j') => ScreenInput::Scroll(1),
        KeyCode::PageUp => ScreenInput::Page(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => ScreenInput::Page(1),
        KeyCode::Char(digit @ '1'..='9') => ScreenInput::Digit(digit as usize - '0' as usize),
        KeyCode::Home => ScreenInput::Page(isize::MIN),
        KeyCode::End => ScreenInput::Page(isize::MAX),
        _ => ScreenInput::Nothing,
    }
}

//! A terminal taken over for a view that refreshes itself, and given back as it was, however the view ends.

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

/// Whether the terminal is taken over at this moment.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// What the person before the terminal wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenInput {
    /// To see what is above or below, by so many lines.
    Scroll(isize),
    /// The same by so many screens; `isize::MIN` and `isize::MAX` for the beginning and the end.
    Page(isize),
    /// The terminal has another size.
    Resized,
    /// The end: by key, by a signal, or because the terminal is gone.
    End,
    /// Nothing, in the time that was waited.
    Nothing,
}

/// The terminal of this process, on its second screen. Dropped, it is given back as it was.
#[derive(Debug)]
pub struct Screen {
    interrupt: Interrupt,
    shown: Vec<String>,
    /// What the lines shown were made for; `None` where they have to be drawn anew.
    drawn_for: Option<(usize, usize)>,
}

impl Screen {
    /// Whether this process has a terminal that can be drawn on; `term` is what `TERM` says.
    pub fn is_there(term: Option<&str>) -> bool {
        let draws = cfg!(windows) || term.is_some_and(|term| term != "dumb");
        draws && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Takes the terminal over. Fails, with the terminal as it was, where it can't be.
    pub fn open() -> io::Result<Self> {
        let interrupt = Interrupt::listen()?;
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                // What is said of it would be lost with the second screen.
                give_back();
                before(panic);
            }));
        });
        terminal::enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let screen = Self { interrupt, shown: Vec::new(), drawn_for: None };
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Columns and rows; those of a terminal of old where it does not say.
    pub fn size(&self) -> (usize, usize) {
        let (columns, rows) = terminal::size().unwrap_or((80, 24));
        (columns.into(), rows.into())
    }

    /// Shows `lines`, which were made for a terminal of `size` columns and rows, from the top, and draws those that have
    /// changed; all of them in another size than before. They must be free of control characters.
    pub fn show(&mut self, lines: &[String], size: (usize, usize)) -> io::Result<()> {
        let mut out = io::stdout().lock();
        queue!(out, BeginSynchronizedUpdate)?;
        if self.drawn_for.replace(size) != Some(size) {
            // What a terminal makes of its lines when it is resized is its own affair.
            self.shown.clear();
            queue!(out, Clear(ClearType::All))?;
        }
        for (number, row) in (0..lines.len().max(self.shown.len())).zip(0_u16..) {
            let line = lines.get(number).map_or("", String::as_str);
            if self.shown.get(number).map(String::as_str) != Some(line) {
                // Cleared first: behind a line as wide as the terminal there is nothing left to clear but its end.
                queue!(out, MoveTo(0, row), Clear(ClearType::CurrentLine), Print(line))?;
            }
        }
        queue!(out, EndSynchronizedUpdate)?;
        out.flush()?;
        self.shown = lines.to_vec();
        Ok(())
    }

    /// Waits up to `time` for what the person wants.
    pub fn wait(&mut self, time: Duration) -> ScreenInput {
        if self.interrupt.came() {
            return ScreenInput::End;
        }
        let input = match event::poll(time) {
            Ok(false) => ScreenInput::Nothing,
            Ok(true) => event::read().map_or(ScreenInput::End, |event| meant(&event)),
            Err(_) => ScreenInput::End,
        };
        if input == ScreenInput::Resized {
            // It may be the size from before by now.
            self.drawn_for = None;
        }
        if self.interrupt.came() { ScreenInput::End } else { input }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Once, however often it is called. A terminal that is gone can't be given back, and nobody would see it.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        drop(execute!(io::stdout(), EndSynchronizedUpdate, Show, LeaveAlternateScreen));
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
        KeyCode::Char('q') | KeyCode::Esc => ScreenInput::End,
        KeyCode::Up | KeyCode::Char('k') => ScreenInput::Scroll(-1),
        KeyCode::Down | KeyCode::Char('j') => ScreenInput::Scroll(1),
        KeyCode::PageUp => ScreenInput::Page(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => ScreenInput::Page(1),
        KeyCode::Home => ScreenInput::Page(isize::MIN),
        KeyCode::End => ScreenInput::Page(isize::MAX),
        _ => ScreenInput::Nothing,
    }
}

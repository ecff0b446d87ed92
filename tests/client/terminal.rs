//! An interactive session in a pseudo-terminal.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::client_binary;
use crate::process::Mark;
use crate::stand_in::StandIn;
use crate::wait;

const ROWS: u16 = 60;
const COLUMNS: u16 = 160;

/// The sign in front of the line that is being typed.
const READY: &str = "❯";

type Screen = Arc<Mutex<vt100::Parser>>;

/// A running interactive session. Dropping it kills it and everything it started.
pub(crate) struct Terminal<'a> {
    stand_in: &'a StandIn,
    screen: Screen,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    mark: Mark,
    // Dropping the master closes the terminal.
    _master: Box<dyn MasterPty + Send>,
}

impl<'a> Terminal<'a> {
    /// Starts the client and waits until it accepts a prompt.
    pub(crate) fn open(
        stand_in: &'a StandIn,
        directory: &Path,
        arguments: Vec<OsString>,
        environment: Vec<(String, String)>,
        mark: Mark,
    ) -> Self {
        let mut command = CommandBuilder::new(client_binary::path());
        command.args(arguments);
        command.env_clear();
        environment
            .into_iter()
            .for_each(|(name, value)| command.env(name, value));
        command.cwd(directory);

        let size = PtySize {
            rows: ROWS,
            cols: COLUMNS,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system()
            .openpty(size)
            .expect("a pseudo-terminal can be opened");
        let child = pair
            .slave
            .spawn_command(command)
            .expect("the client can be started");
        let reader = pair
            .master
            .try_clone_reader()
            .expect("a pseudo-terminal can be read");
        let keyboard = pair.master.take_writer().expect("the writer is taken once");
        let screen = Screen::new(Mutex::new(empty_screen()));
        let drawn = Arc::clone(&screen);
        std::thread::spawn(move || draw(reader, &drawn));

        let terminal = Self {
            stand_in,
            screen,
            keyboard,
            child,
            mark,
            _master: pair.master,
        };
        terminal.wait_for(READY);
        terminal
    }

    /// Types a line and sends it.
    pub(crate) fn enter(&mut self, line: &str) {
        self.press(line);
        // If sent together with the text, the return would count as part of a paste.
        self.wait_for(line);
        self.press("\r");
    }

    /// Presses `keys` until the screen shows `text`, since a form that has just appeared drops what is typed.
    pub(crate) fn press_until(&mut self, keys: &str, text: &str) {
        for _ in 0..wait::TRIES {
            self.press(keys);
            if wait::poll(wait::TRY, || self.screen().contains(text).then_some(())).is_some() {
                return;
            }
        }
        panic!("{keys:?} does not show {text:?}\n{}", self.story());
    }

    /// Answers the question on the screen with option `number`, counted from 1.
    pub(crate) fn answer(&mut self, question: &str, number: u8) {
        const FORM: &str = "Enter to select";
        self.wait_until(&format!("the question {question:?}"), || {
            let screen = self.screen();
            screen.contains(question) && screen.contains(FORM)
        });
        let record = format!("{question} →");
        let recorded = |terminal: &Self| terminal.screen().matches(&record).count();
        let before = recorded(self);
        // A form that has just appeared drops what is typed.
        for _ in 0..wait::TRIES {
            self.press(&number.to_string());
            let taken = || (!self.screen().contains(FORM) || recorded(self) > before).then_some(());
            if wait::poll(wait::TRY, taken).is_some() {
                return;
            }
        }
        panic!(
            "the answer {number} to {question:?} was not taken\n{}",
            self.story()
        );
    }

    /// Types `keys`, and sends nothing else.
    pub(crate) fn press(&mut self, keys: &str) {
        let typed = self
            .keyboard
            .write_all(keys.as_bytes())
            .and_then(|()| self.keyboard.flush());
        assert!(typed.is_ok(), "the terminal is gone\n{}", self.story());
    }

    /// The text on the screen.
    pub(crate) fn screen(&self) -> String {
        lock(&self.screen).screen().contents()
    }

    /// Waits until the screen shows `text`.
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(&format!("{text:?} on the screen"), || {
            self.screen().contains(text)
        });
    }

    /// Waits until `condition` holds.
    ///
    /// # Panics
    ///
    /// If it doesn't hold within [`wait::LIMIT`], or the script has panicked; the message shows what was going on.
    pub(crate) fn wait_until(&self, what: &str, condition: impl Fn() -> bool) {
        let met = wait::poll(wait::LIMIT, || {
            let broken = self.stand_in.broken().is_some();
            (broken || condition()).then_some(!broken)
        });
        assert!(
            met == Some(true),
            "waited in vain for {what}\n{}",
            self.story()
        );
    }

    /// Kills the client and everything it started, as a power cut would.
    pub(crate) fn kill(self) {
        drop(self);
    }

    fn story(&self) -> String {
        let screen = self.screen();
        let lines: Vec<_> = screen
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        format!("{}\nscreen:\n{}", self.stand_in.summary(), lines.join("\n"))
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.mark.kill();
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn empty_screen() -> vt100::Parser {
    let size = |cells| NonZeroU16::new(cells).expect("the screen has a size");
    vt100::Parser::new(size(ROWS), size(COLUMNS), 0)
}

fn draw(mut reader: Box<dyn Read + Send>, screen: &Mutex<vt100::Parser>) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = reader.read(&mut buffer) {
        lock(screen).process(&buffer[..length]);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

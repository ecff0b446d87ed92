//! `fp status --watch` in a real terminal: follows the run and the terminal's size, and restores the terminal however
//! the view ends.

use std::fs;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{DEAF, Environment};
use insta::assert_snapshot;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

/// The script run in the terminal's shell: saves the settings, runs the view and records its process id, prints its
/// exit status, and saves the settings again.
const SCRIPT: &str = "echo in front; stty -a > before; sh -c 'echo $$ > pid; exec \"$0\" \"$@\"' \"$@\"; \
                      echo \"ended with $?\"; stty -a > after; cat > /dev/null";

fn started(tasks: usize) -> Environment {
    let environment = Environment::new().repo();
    let ids: Vec<String> = (1..=tasks).map(|number| number.to_string()).collect();
    let files: Vec<String> = ids.iter().map(|id| format!("{id}.txt")).collect();
    let leaves: Vec<_> = ids
        .iter()
        .zip(&files)
        .map(|(id, file)| leaf(id, "none", file))
        .collect();
    environment.plan(&tree(&leaves));
    environment.start(&[]);
    environment
}

/// A terminal running a shell.
pub(crate) struct Terminal {
    screen: Arc<Mutex<vt100::Parser>>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    master: Option<Box<dyn MasterPty + Send>>,
    folder: std::path::PathBuf,
}

fn size(rows: u16, cols: u16) -> PtySize {
    PtySize {
        rows,
        cols,
        ..PtySize::default()
    }
}

fn cells(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}

impl Terminal {
    /// A shell that runs `program` and reports the terminal's settings.
    pub(crate) fn shell(environment: &Environment, program: &[&str]) -> Self {
        Self::open(
            environment,
            &[&["sh", "-c", SCRIPT, "sh"], program].concat(),
        )
    }

    /// A shell that runs `fp status --watch` for the plan.
    fn watching(environment: &Environment) -> Self {
        let terminal = Self::shell(
            environment,
            &[env!("CARGO_BIN_EXE_fp"), "status", "--watch", PLAN],
        );
        terminal.wait_for("q closes, arrows scroll");
        terminal
    }

    fn open(environment: &Environment, words: &[&str]) -> Self {
        let plain = environment.command("sh");
        let mut command = CommandBuilder::new(words[0]);
        command.args(&words[1..]);
        command.cwd(environment.path(""));
        command.env_clear();
        for (name, value) in plain
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)))
        {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        let pty = native_pty_system().openpty(size(24, 80)).unwrap();
        let child = pty.slave.spawn_command(command).unwrap();
        let screen = Arc::new(Mutex::new(vt100::Parser::new(cells(24), cells(80), 0)));
        let (mut reader, drawn) = (pty.master.try_clone_reader().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                drawn.lock().unwrap().process(&buffer[..length]);
            }
        });
        let keyboard = pty.master.take_writer().unwrap();
        Self {
            screen,
            keyboard,
            child,
            master: Some(pty.master),
            folder: environment.path(""),
        }
    }

    pub(crate) fn shown(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    fn resize(&self, rows: u16, columns: u16) {
        self.screen
            .lock()
            .unwrap()
            .screen_mut()
            .set_size(cells(rows), cells(columns));
        self.master
            .as_ref()
            .unwrap()
            .resize(size(rows, columns))
            .unwrap();
    }

    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(&format!("{text:?} to be shown"), |shown| {
            shown.contains(text)
        });
    }

    fn wait_until(&self, what: &str, condition: impl Fn(&str) -> bool) {
        let end = Instant::now() + Duration::from_secs(120);
        while !condition(&self.shown()) {
            assert!(
                Instant::now() < end,
                "waited in vain for {what}:\n{}",
                self.shown()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = fs::read_to_string(self.folder.join("pid")).unwrap();
        kill_process(Pid::from_raw(id.trim().parse().unwrap()).unwrap(), signal).unwrap();
    }

    /// Waits for the view to end, and fails unless the terminal is restored.
    pub(crate) fn given_back(&self, status: &str) {
        self.wait_for(&format!("ended with {status}"));
        let after = self.folder.join("after");
        self.wait_until("the settings after", |_| {
            fs::read_to_string(&after).is_ok_and(|text| text.ends_with('\n'))
        });
        // The view doesn't restore the terminal's size.
        let sizes = regex::Regex::new("(rows|columns) [0-9]+; ").unwrap();
        let read = |name: &str| fs::read_to_string(self.folder.join(name)).unwrap();
        let settings = |name: &str| sizes.replace_all(&read(name), "").into_owned();
        assert_eq!(settings("after"), settings("before"));
        assert!(
            settings("before").contains("icanon"),
            "{}",
            settings("before")
        );
        assert!(
            self.shown().starts_with("in front"),
            "the first screen is back:\n{}",
            self.shown()
        );
        let screen = self.screen.lock().unwrap();
        assert!(!screen.screen().alternate_screen() && !screen.screen().hide_cursor());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn it_shows_what_happens_while_it_happens() {
    let environment = started(3);
    let mut terminal = Terminal::watching(&environment);
    assert!(terminal.screen.lock().unwrap().screen().alternate_screen());
    assert_snapshot!(terminal.shown(), @r"
    Plan sample-20261121 (running)
    ▱▱▱▱▱▱▱▱▱▱ 0 of 3 tasks done, 3 ready

      ● 1  ready      Write part 1
      ● 2  ready      Write part 2
      ● 3  ready      Write part 3

















    q closes, arrows scroll                                                 1-3 of 3
    ");
    environment.build("builder-1", "1.txt", "about 1\n");
    terminal.wait_for("builder-1  has handed in 1");
    environment.pass("1");
    terminal.wait_for("1 of 3 tasks done");
    environment.claim("builder-2").unwrap();
    terminal.wait_for("builder-2  builds 2");
    terminal.press("q");
    terminal.given_back("0");
}

/// A terminal announces a new size with a signal, which a view misses if it doesn't listen yet.
#[cfg(target_os = "linux")]
#[test]
fn a_size_is_followed_that_no_signal_tells_of() {
    let environment = started(40);
    let fp = env!("CARGO_BIN_EXE_fp");
    let view = ["env", "--block-signal=WINCH", fp, "status", "--watch", PLAN];
    let mut terminal = Terminal::shell(&environment, &view);
    terminal.wait_for("1-20 of 40");
    terminal.resize(12, 40);
    terminal.wait_for("1-8 of 40");
    let shown = terminal.shown();
    assert!(!shown.contains("Write part 20"), "{shown}");
    terminal.press("q");
    terminal.given_back("0");
}

#[test]
fn it_follows_the_size_and_scrolls() {
    let environment = started(40);
    let mut terminal = Terminal::watching(&environment);
    terminal.wait_for("1-20 of 40");
    terminal.resize(12, 40);
    terminal.wait_for("1-8 of 40");
    assert!(
        terminal
            .shown()
            .lines()
            .all(|line| line.chars().count() <= 40),
        "{}",
        terminal.shown()
    );
    terminal.press("\x1b[B");
    terminal.wait_for("2-9 of 40");
    terminal.press("\x1b[6~");
    terminal.wait_for("10-17 of 40");
    terminal.press("\x1b[F");
    terminal.wait_for("33-40 of 40");
    terminal.press("\x1b[A\x1b[5~");
    terminal.wait_for("24-31 of 40");
    terminal.press("\x1b[H");
    terminal.wait_for("1-8 of 40");
    terminal.resize(30, 200);
    terminal.wait_for("1-26 of 40");
    terminal.press("\x1b");
    // An escape character only counts as the Escape key if nothing follows it.
    terminal.given_back("0");
}

#[test]
fn ctrl_c_and_signals_give_the_terminal_back() {
    let environment = started(2);
    let mut terminal = Terminal::watching(&environment);
    terminal.press("\x03");
    terminal.given_back("0");
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let terminal = Terminal::watching(&environment);
        terminal.signal(signal);
        terminal.given_back("0");
    }
}

#[test]
fn a_terminal_that_is_closed_ends_it() {
    let environment = started(2);
    let mut terminal = Terminal::open(
        &environment,
        &[env!("CARGO_BIN_EXE_fp"), "status", "--watch", PLAN],
    );
    terminal.wait_for("q closes");
    terminal.keyboard = Box::new(std::io::sink());
    drop(terminal.master.take());
    let end = Instant::now() + Duration::from_secs(60);
    while terminal.child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "it goes on without a terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_terminal_that_goes_without_a_signal_ends_it() {
    let environment = started(2);
    let fp = env!("CARGO_BIN_EXE_fp");
    let script = "setsid sh -c 'echo $$ > pid; exec \"$0\" \"$@\"' \"$@\"";
    let mut terminal = Terminal::open(
        &environment,
        &["sh", "-c", script, "sh", fp, "status", "--watch", PLAN],
    );
    terminal.wait_for("q closes");
    let id = environment.read("pid");
    terminal.keyboard = Box::new(std::io::sink());
    drop(terminal.master.take());
    let end = Instant::now() + Duration::from_secs(60);
    while Path::new(&format!("/proc/{}/exe", id.trim()))
        .read_link()
        .is_ok()
    {
        assert!(Instant::now() < end, "it goes on without a terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_log_that_breaks_is_said_after_the_terminal_is_back() {
    let environment = started(2);
    let terminal = Terminal::watching(&environment);
    let log = format!(".fractal-planner/plans/{PLAN}/events.jsonl");
    let whole = environment.read(&log);
    environment.write(&log, format!("{whole}{{\"schem"));
    std::thread::sleep(Duration::from_millis(600));
    assert!(
        terminal.shown().contains("q closes"),
        "half a line may become a whole one"
    );
    environment.write(&log, format!("{whole}{{\"schem\n"));
    terminal.given_back("2");
    assert!(
        terminal.shown().contains("not an entry of this log"),
        "{}",
        terminal.shown()
    );
}

/// Helper for the test below, which runs it in a terminal.
#[test]
#[ignore = "it panics, to be seen from outside"]
fn panics_on_the_screen() {
    let _screen = fp_host::screen::Screen::open().unwrap();
    panic!("a panic that is seen");
}

#[test]
fn a_panic_gives_the_terminal_back_and_is_seen() {
    let environment = started(1);
    let itself = std::env::current_exe().unwrap();
    let itself = Path::new(&itself).to_str().unwrap();
    let words = [
        itself,
        "--exact",
        "watch::panics_on_the_screen",
        "--ignored",
        "--nocapture",
    ];
    let terminal = Terminal::shell(&environment, &words);
    terminal.given_back("101");
    assert!(
        terminal.shown().contains("a panic that is seen"),
        "{}",
        terminal.shown()
    );
}

#[test]
fn a_screen_that_can_not_be_taken_over() {
    let environment = started(1);
    if !environment.can_trace() {
        return;
    }
    let words = [
        &DEAF[..],
        &[env!("CARGO_BIN_EXE_fp"), "status", "--watch", PLAN],
    ]
    .concat();
    let terminal = Terminal::shell(&environment, &words);
    terminal.given_back("2");
    assert_snapshot!(terminal.shown(), @"
    in front
    error: the terminal can't be drawn on: Operation not permitted (os error 1)
    hint: without --watch, the status is printed once
    ended with 2
    ");
}

#[test]
fn without_a_terminal_it_is_the_status_once() {
    let environment = started(1);
    let once = environment.fp(&["status", "--watch", PLAN]);
    assert_eq!(once.stdout, environment.fp(&["status", PLAN]).stdout);
    assert_snapshot!(once.stderr, @r"note: --watch shows text on a terminal: this is the status at the moment");
    let script = format!(
        "TERM=dumb '{}' status --watch {PLAN}",
        env!("CARGO_BIN_EXE_fp")
    );
    let terminal = Terminal::shell(&environment, &["sh", "-c", &script]);
    terminal.wait_for("ended with 0");
    assert!(
        terminal
            .shown()
            .contains("note: --watch shows text on a terminal"),
        "{}",
        terminal.shown()
    );
}

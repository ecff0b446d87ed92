//! `fp status --watch` in a real terminal: follows the run and the terminal's size, and leaves the terminal as it is.

use std::fs;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

/// The shell's script in the terminal: the settings before, the view with its process id, its status, the
/// settings after.
const SCRIPT: &str = "trap : INT; echo in front; stty -a > before; sh -c 'echo $$ > pid; exec \"$0\" \"$@\"' \"$@\"; \
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

/// A terminal with a shell in it.
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

    /// A shell that watches the plan.
    fn watching(environment: &Environment) -> Self {
        let terminal = Self::shell(
            environment,
            &[env!("CARGO_BIN_EXE_fp"), "status", "--watch", PLAN],
        );
        terminal.wait_for("Ctrl-C ends this view");
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

    /// Waits for the end of the view, and fails unless the terminal is restored.
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
    assert_snapshot!(terminal.shown(), @"
    in front
    Plan sample-20261121 (running)
    ▱▱▱▱▱▱▱▱▱▱ 0 of 3 tasks done, 3 ready

      ● 1  ready      Write part 1
      ● 2  ready      Write part 2
      ● 3  ready      Write part 3
    Ctrl-C ends this view
    ");
    environment.build("builder-1", "1.txt", "about 1\n");
    terminal.wait_for("builder-1  waits for the verdict on 1");
    environment.pass("1");
    terminal.wait_for("1 of 3 tasks done");
    environment.claim("builder-2").unwrap();
    terminal.wait_for("builder-2  builds 2");
    assert_eq!(terminal.shown().matches("Plan sample").count(), 1);
    terminal.press("\x03");
    terminal.given_back("130");
}

#[test]
fn it_follows_the_size() {
    let environment = started(40);
    let mut terminal = Terminal::watching(&environment);
    for (rows, columns) in [(12, 40), (30, 200)] {
        terminal.resize(rows, columns);
        terminal.wait_until("a frame of this size", |shown| {
            shown.starts_with("Plan sample") && shown.trim_end().ends_with("Ctrl-C ends this view")
        });
        let shown = terminal.shown();
        assert!(shown.lines().count() < usize::from(rows), "{shown}");
    }
    terminal.press("\x03");
    terminal.given_back("130");
}

#[test]
fn a_log_that_breaks_ends_it() {
    let environment = started(2);
    let terminal = Terminal::watching(&environment);
    let log = format!(".fractal-planner/plans/{PLAN}/events.jsonl");
    let whole = environment.read(&log);
    environment.write(&log, format!("{whole}{{\"schem"));
    std::thread::sleep(Duration::from_millis(600));
    assert!(
        terminal.shown().contains("Ctrl-C ends"),
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

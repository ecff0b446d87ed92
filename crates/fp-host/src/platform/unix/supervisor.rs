//! Linux: each command has a supervisor, a process of this program that adopts whatever loses its parent among the
//! command's descendants. So nothing escapes it, whatever session, group or environment it makes for itself.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, PipeReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process,
    set_child_subreaper, set_dumpable_behavior, set_parent_process_death_signal, setsid, wait,
    waitpid,
};
use signal_hook::consts::signal::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::emulate_default_handler;

use super::landlock::confine_thread;
use crate::platform::find_program;
use crate::process::{Confinement, GRACE};

/// The first word of a supervisor's command line.
const SUPERVISE: &str = "supervise";
/// Arguments before the paths that a confined command may write to: with network, and without.
const CONFINED: &str = "--confined";
const CUT_OFF: &str = "--cut-off";
/// The argument before the paths below which it may make folders.
const LOCKS: &str = "--locks";
/// The argument after these paths.
const END_OF_WRITES: &str = "--";
/// The path of this very program, also once another is in its place.
pub(crate) const OWN_PROGRAM: &str = "/proc/self/exe";
/// The exit status of a shell that can't start a program.
const CANT_START: u8 = 126;
/// Time after which killed processes that haven't ended are given up: the system itself holds them.
const LAST: Duration = Duration::from_secs(10);
/// Pause between two looks at processes that are ending.
const LOOK: Duration = Duration::from_millis(2);

/// The program that supervises.
static PROGRAM: OnceLock<OsString> = OnceLock::new();
/// The supervisors that this process has started and not yet reaped.
static SUPERVISORS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Names the program that calls [`supervise_process`] first of all. Without one, commands have no supervisor.
pub fn supervise_with(program: impl Into<OsString>) {
    // All callers in a process name the same program.
    drop(PROGRAM.set(program.into()));
}

/// Supervises a command if that is what this process was started for, and returns its exit status. Otherwise lets this
/// program supervise the commands of this process.
pub fn supervise_process() -> Option<u8> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != SUPERVISE) {
        if Path::new(OWN_PROGRAM).exists() {
            supervise_with(OWN_PROGRAM);
        }
        return None;
    }
    let ended = supervised(arguments);
    Some(ended.unwrap_or_else(|fault| {
        // Nobody else could tell.
        drop(writeln!(io::stderr(), "fp: {fault}"));
        CANT_START
    }))
}

fn supervisors() -> MutexGuard<'static, Vec<Pid>> {
    SUPERVISORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A supervisor's process, as seen from the process that started it.
#[derive(Debug)]
pub(super) struct Supervisor(Pid);

impl Supervisor {
    /// A command that runs `command` under a supervisor; `None` if there can be none. If this process dies, what the
    /// command started has `grace` to end.
    ///
    /// # Errors
    /// There is no such program.
    pub(super) fn wrapped(
        command: &Command,
        grace: Duration,
        confinement: Option<&Confinement>,
    ) -> io::Result<Option<Command>> {
        let Some(program) = PROGRAM.get() else {
            return Ok(None);
        };
        if !is_there(command) {
            return Err(Errno::NOENT.into());
        }
        let mut wrapped = Command::new(program);
        wrapped
            .arg0("fp")
            .arg(SUPERVISE)
            .arg(getpid().to_string())
            .arg(grace.as_millis().to_string());
        if let Some(Confinement {
            writes,
            locks,
            network,
            ..
        }) = confinement
        {
            let word = if *network { CONFINED } else { CUT_OFF };
            wrapped.arg(word).args(writes).arg(LOCKS).args(locks);
        }
        wrapped
            .arg(END_OF_WRITES)
            .arg(command.get_program())
            .args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => wrapped.env(name, value),
                None => wrapped.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            wrapped.current_dir(folder);
        }
        Ok(Some(wrapped))
    }

    /// Starts `command`, which [`Self::wrapped`] has made.
    pub(super) fn spawn(command: &mut Command) -> io::Result<(Self, Child)> {
        // Processes that a killed supervisor leaves behind come to this process.
        set_child_subreaper(Some(getpid()))?;
        // Held, so that nobody takes the new process for one that was left behind.
        let mut supervisors = supervisors();
        let child = command.spawn()?;
        let id = Pid::from_child(&child);
        supervisors.push(id);
        Ok((Self(id), child))
    }

    /// A mark by which [`end_marked`] finds it again.
    pub(super) fn mark(&self) -> String {
        mark_of(self.0)
    }

    pub(super) fn signal(&self, signal: Signal) {
        // Fails only if it has just ended.
        let _ = kill_process(self.0, signal);
    }

    /// Forgets the supervisor, which has ended with `status`, and ends what it left behind if somebody killed it.
    pub(super) fn forget(&self, status: ExitStatus) {
        let mut supervisors = supervisors();
        supervisors.retain(|other| *other != self.0);
        let was_killed = status.code().is_none();
        let started = Instant::now();
        loop {
            let strays = reap_strays(&supervisors);
            if strays.is_empty() || !was_killed || started.elapsed() > LAST {
                return;
            }
            for stray in strays {
                descendants(stray).chain([stray]).for_each(kill);
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// The running processes that this one has adopted: children in another session, and none of its `supervisors`. What it
/// runs for itself is in its own session; what that leaves in the background, such as an agent for keys, may be among
/// them. Those that have ended are reaped.
fn reap_strays(supervisors: &[Pid]) -> Vec<Pid> {
    let own = Process::of("self".as_ref()).map(|it| it.session);
    let children = Process::all().filter(|process| process.parent == Some(getpid()));
    let is_stray = |child: &Process| Some(child.session) != own && !supervisors.contains(&child.id);
    let strays = children.filter(is_stray).map(|child| child.id);
    let is_running = |stray: &Pid| matches!(waitpid(Some(*stray), WaitOptions::NOHANG), Ok(None));
    strays.filter(is_running).collect()
}

/// Makes a named pipe for this user at `path`, and returns true.
pub(crate) fn make_pipe(path: &Path) -> io::Result<bool> {
    let (kind, mode) = (FileType::Fifo, Mode::RUSR | Mode::WUSR);
    rustix::fs::mknodat(CWD, path, kind, mode, 0)?;
    Ok(true)
}

/// False if `command` names a program that doesn't exist.
fn is_there(command: &Command) -> bool {
    let program = Path::new(command.get_program());
    if program.components().count() > 1 {
        let folder = command.get_current_dir().unwrap_or(Path::new("."));
        return folder.join(program).exists();
    }
    let own = command.get_envs().find(|(name, _)| *name == "PATH");
    let search = own.map_or_else(
        || std::env::var_os("PATH"),
        |(_, path)| path.map(Into::into),
    );
    let found = |search: OsString| find_program(&program.to_string_lossy(), &search);
    search.is_none_or(|search| found(search).is_some())
}

fn kill(process: Pid) {
    let _ = kill_process(process, Signal::KILL);
}

/// A process of this machine.
struct Process {
    id: Pid,
    parent: Option<Pid>,
    /// 0 for a session of another process namespace.
    session: u32,
    /// Ticks between the start of the system and that of the process, which tell it from a later one of the same id.
    started: u64,
}

impl Process {
    /// `id` is a number, or `self`.
    fn of(id: &OsStr) -> Option<Self> {
        let stat = fs::read(Path::new("/proc").join(id).join("stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let id = stat.split(' ').next()?.parse().ok()?;
        // The name may have blanks and brackets.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        Some(Self {
            id: Pid::from_raw(id)?,
            parent: fields.get(1)?.parse().ok().and_then(Pid::from_raw),
            session: fields.get(3)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }

    fn all() -> impl Iterator<Item = Self> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name());
        let is_number = |name: &OsString| name.to_str().is_some_and(|it| it.parse::<u32>().is_ok());
        names.filter(is_number).filter_map(|name| Self::of(&name))
    }
}

/// The processes that `ancestor` or its descendants have started.
fn descendants(ancestor: Pid) -> impl Iterator<Item = Pid> {
    let mut left: Vec<Process> = Process::all().collect();
    let mut found = vec![ancestor];
    loop {
        let is_child =
            |process: &mut Process| process.parent.is_some_and(|parent| found.contains(&parent));
        let more: Vec<Pid> = left.extract_if(.., is_child).map(|it| it.id).collect();
        if more.is_empty() {
            return found.into_iter().skip(1);
        }
        found.extend(more);
    }
}

fn mark_of(id: Pid) -> String {
    let process = Process::of(id.as_raw_nonzero().to_string().as_ref());
    process.map_or_else(String::new, |it| {
        format!("{}:{}", id.as_raw_nonzero(), it.started)
    })
}

/// Ends the supervisors with `marks`, which a killed process of this program has left behind, and waits until they have
/// ended everything. Each is about to do so by itself.
pub fn end_marked(marks: &[&str]) {
    let deadline = Instant::now() + LAST;
    for mark in marks {
        let Some((id, _)) = mark.split_once(':') else {
            continue;
        };
        let running = || {
            let words = fs::read(format!("/proc/{id}/cmdline")).ok()?;
            let supervises = words.split(|byte| *byte == 0).nth(1) == Some(SUPERVISE.as_bytes());
            let id = id.parse().ok().and_then(Pid::from_raw);
            id.filter(|id| supervises && mark_of(*id) == **mark)
        };
        let until = (Instant::now() + GRACE).min(deadline);
        while let Some(id) = running().filter(|_| Instant::now() < deadline) {
            if Instant::now() >= until {
                let _ = kill_process(id, Signal::INT);
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// The work of a supervisor, whose `arguments` are `PARENT GRACE [--confined PATH… --locks PATH…] -- PROGRAM ARGUMENT…`. It ends as
/// the program ends, once all of the program's descendants have ended. It passes TERM on to them. INT ends them at once;
/// so does the end of the process `PARENT`, after `GRACE` milliseconds.
fn supervised(mut arguments: impl Iterator<Item = OsString>) -> io::Result<u8> {
    let usage = || io::Error::other("this is started by fp itself");
    let mut number = || arguments.next()?.to_str()?.parse::<i32>().ok();
    let parent = number().ok_or_else(usage)?;
    let grace = number().and_then(|grace| u64::try_from(grace).ok());
    let grace = Duration::from_millis(grace.ok_or_else(usage)?);
    let mut before: Vec<OsString> = Vec::new();
    before.extend(arguments.by_ref().take_while(|word| word != END_OF_WRITES));
    let program = arguments.next().ok_or_else(usage)?;
    let mut signals = SignalQueue::new()?;
    // Fails only if somebody has made it the leader of a session already.
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    set_parent_process_death_signal(Some(Signal::HUP))?;
    // No process that it supervises may take it over.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let is_orphan = || getppid().map(|it| it.as_raw_nonzero().get()) != Some(parent);
    if is_orphan() {
        return Ok(CANT_START);
    }
    if let Some((first, writes)) = before.split_first() {
        let mut parts = writes.split(|word| word == LOCKS);
        let [writes, locks] = [parts.next(), parts.next()].map(Option::unwrap_or_default);
        confine_thread(writes, locks, first != CUT_OFF)?;
    }
    let mut command = Command::new(&program);
    let child = command.args(arguments).process_group(0).spawn();
    let child =
        child.map_err(|error| io::Error::other(format!("{}: {error}", program.display())))?;
    let mut family = Family {
        first: Pid::from_child(&child),
        end: None,
    };
    loop {
        signals.wait()?;
        if signals.take(SIGTERM) {
            family.signal(Signal::TERM);
        }
        if signals.take(SIGINT) {
            family.end_all(Duration::ZERO);
            break;
        }
        // It also comes when only the parent's thread ends.
        if signals.take(SIGHUP) && is_orphan() {
            family.end_all(grace);
            break;
        }
        if signals.take(SIGCHLD) && (!family.reap() || family.end.is_some()) {
            family.end_all(GRACE / 4);
            break;
        }
    }
    let end = family
        .end
        .ok_or_else(|| io::Error::other("the system doesn't end it"))?;
    if let Some(signal) = end.terminating_signal() {
        emulate_default_handler(signal)?;
    }
    Ok(end
        .exit_status()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(CANT_START))
}

/// The signals that came. They wake by a pipe: where an agent's sandbox closes the network, a socket would not.
struct SignalQueue {
    pipe: PipeReader,
    came: [(i32, Arc<AtomicBool>); 4],
}

impl SignalQueue {
    fn new() -> io::Result<Self> {
        let (pipe, wake) = io::pipe()?;
        let came = [SIGCHLD, SIGTERM, SIGHUP, SIGINT].map(|signal| (signal, Arc::default()));
        for (signal, flag) in &came {
            signal_hook::flag::register(*signal, Arc::clone(flag))?;
            signal_hook::low_level::pipe::register(*signal, wake.try_clone()?)?;
        }
        Ok(Self { pipe, came })
    }

    /// Waits until a signal comes.
    fn wait(&mut self) -> io::Result<()> {
        loop {
            match self.pipe.read(&mut [0; 64]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map(drop),
            }
        }
    }

    /// True if `signal` came since this was last asked.
    fn take(&self, signal: i32) -> bool {
        let mut came = self.came.iter().filter(|(it, _)| *it == signal);
        came.any(|(_, flag)| flag.swap(false, Ordering::SeqCst))
    }
}

/// What a supervisor supervises.
struct Family {
    first: Pid,
    /// How the first one ended.
    end: Option<WaitStatus>,
}

impl Family {
    /// Takes note of those that have ended; returns false if nobody is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((id, status))) if id == self.first => self.end = Some(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    fn signal(&self, signal: Signal) {
        for process in descendants(getpid()) {
            let _ = kill_process(process, signal);
        }
    }

    /// Asks all of them to end, and kills those that remain after `patience`.
    fn end_all(&mut self, patience: Duration) {
        let started = Instant::now();
        if self.reap() && !patience.is_zero() {
            self.signal(Signal::TERM);
        }
        while self.reap() && started.elapsed() < patience + LAST {
            if started.elapsed() >= patience {
                self.signal(Signal::KILL);
            }
            std::thread::sleep(LOOK);
        }
    }
}

//! An agent in a sandbox can't write to the plan or to git's folder. What `fp` writes for it, the lead of the run writes:
//! the agent's `fp` leaves its call in a folder, and the lead makes it outside of the sandbox, in the agent's role.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fp_plan::plan::id::{AgentName, TaskId};
use fp_run::hook::own_command::{called, refuse_process};
use fp_run::run::state::Role;
use serde::{Deserialize, Serialize};

use super::AgentOrder;
use super::claude::OF_SESSION;
use crate::bench::repository_around;
use crate::error::{HostError, HostResult};
use crate::file;
use crate::platform::{self, OWN_PROGRAM};
use crate::process::{
    AGENT_NAME, AGENT_ROLE, AGENT_TASK, CommandEnd, GRACE, LED_CHECKOUT, Limits, run_graceful,
};

/// The environment variable that names the folder, in an agent's process and all of its children.
pub(super) const BROKER: &str = "FP_BROKER";
/// The commands that write for an agent. Others only read, and run where they are called.
const WRITING: [&str; 8] = [
    "claim", "clarify", "note", "scope", "submit", "validate", "verdict", "verify",
];
/// The events of Claude Code for which a hook may write. Those in which a user speaks aren't among them.
const EVENTS: [&str; 5] = [
    "pre-compact",
    "pre-tool-use",
    "session-start",
    "stop",
    "subagent-stop",
];
/// The pipe through which the lead hears of a call.
const BELL: &str = "bell";
/// Size limit of a call's name, in bytes.
const NAME: u64 = 64;
/// Maximum number of calls of an agent that run at once.
const AT_ONCE: usize = 8;
/// Size limit of a call, in bytes.
const CAP: u64 = 16 * 1024 * 1024;
/// Shortest and longest pause between two looks for the answer.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));
/// A call ends by itself: each command in it has a time limit.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(24 * 3600),
    head: 8 * 1024 * 1024,
    tail: 0,
};

#[derive(Debug, Serialize, Deserialize)]
struct Call {
    arguments: Vec<String>,
    cwd: PathBuf,
    input: String,
}

/// The input of a hook.
#[derive(Debug, Deserialize)]
struct Event {
    cwd: Option<PathBuf>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    status: u8,
    stdout: String,
    stderr: String,
}

/// The lead's end of an agent's folder; closed when it is dropped.
#[derive(Debug)]
pub(super) struct Broker {
    folder: PathBuf,
    bell: File,
}

/// The lead's knowledge of the agent for which it makes calls.
struct Caller {
    folder: PathBuf,
    name: AgentName,
    role: Role,
    task: Option<TaskId>,
    checkout: PathBuf,
    /// The root of the repository, which no call leaves.
    root: PathBuf,
    search_path: OsString,
}

impl Broker {
    /// Opens `folder`, whose parent the agent can't write, for the agent of `order`. `None` where there is no sandbox.
    pub(super) fn open(folder: PathBuf, order: &AgentOrder<'_>) -> io::Result<Option<Self>> {
        drop(fs::remove_dir_all(&folder));
        platform::make_private_folder(&folder)?;
        let bell = folder.join(BELL);
        if !platform::make_pipe(&bell)? {
            return Ok(None);
        }
        // Open for writing too, so that it never ends.
        let bell = File::options().read(true).write(true).open(&bell)?;
        let heard = BufReader::new(bell.try_clone()?);
        let caller = Arc::new(Caller {
            folder: folder.clone(),
            name: order.name.clone(),
            role: order.role,
            task: order.task.cloned(),
            checkout: order.checkout.to_owned(),
            root: repository_around(order.checkout).root,
            search_path: order.search_path.to_owned(),
        });
        thread::spawn(move || caller.listen(heard));
        Ok(Some(Self { folder, bell }))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // An empty line ends the thread. The agent may have filled the pipe.
        if let Ok(mut bell) = self.bell.try_clone() {
            thread::spawn(move || drop(bell.write_all(b"\n")));
        }
        drop(fs::remove_dir_all(&self.folder));
    }
}

impl Caller {
    /// Makes the calls whose names come through `bell`, a few at a time, until an empty line comes.
    fn listen(self: Arc<Self>, mut bell: impl io::BufRead) {
        let mut line = Vec::new();
        // A line that is too long comes in parts, which name nothing.
        while let Ok(1..) = bell.by_ref().take(NAME + 1).read_until(b'\n', &mut line) {
            let name = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
            line.clear();
            if name.is_empty() {
                return;
            }
            let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if !is_plain || name.len() as u64 > NAME {
                continue;
            }
            while Arc::strong_count(&self) > AT_ONCE {
                thread::sleep(PAUSES.1);
            }
            let caller = Arc::clone(&self);
            thread::spawn(move || caller.answer(&name));
        }
    }

    fn answer(&self, name: &str) {
        let call = self.folder.join(name);
        let answer = read_call(&call)
            .map_err(|error| error.to_string())
            .and_then(|call| self.make(&call));
        let answer = answer.unwrap_or_else(|error| Answer {
            status: 2,
            stdout: String::new(),
            stderr: format!("error: {error}\n"),
        });
        let text = serde_json::to_vec(&answer).unwrap_or_default();
        if file::replace(&call.with_extension("answer"), &text).is_err() {
            // Without its request, the agent's `fp` stops waiting.
            drop(fs::remove_file(&call));
        }
    }

    fn make(&self, call: &Call) -> Result<Answer, String> {
        if !is_for_lead(&call.arguments) {
            return Err("this call is not for the lead of the run".to_owned());
        }
        if let Some(reason) = refuse_process(self.role, call.arguments.clone()) {
            return Err(reason);
        }
        if let Some(other) =
            owner_named(&call.arguments).filter(|owner| *owner != self.name.as_str())
        {
            return Err(format!("you are {}, not {other}", self.name));
        }
        let mut folders = vec![call.cwd.clone()];
        if called(&call.arguments).map(String::as_str) == Some("hook") {
            let event = serde_json::from_str::<Event>(&call.input);
            folders.extend(event.map_err(|error| error.to_string())?.cwd);
        }
        for folder in folders {
            if !folder.is_absolute() || repository_around(&folder).root != self.root {
                return Err("this folder is not of the run's repository".to_owned());
            }
        }
        let mut command = Command::new(OWN_PROGRAM);
        command
            .args(&call.arguments)
            .current_dir(&call.cwd)
            .env("PATH", &self.search_path)
            .env(AGENT_ROLE, self.role.into_str())
            .env(AGENT_NAME, self.name.as_str())
            // The agent may swap the folders in its reach at any moment.
            .env(LED_CHECKOUT, &self.checkout)
            .env_remove(BROKER);
        match &self.task {
            Some(task) => command.env(AGENT_TASK, task.as_str()),
            None => command.env_remove(AGENT_TASK),
        };
        for name in OF_SESSION {
            command.env_remove(name);
        }
        // A git that is killed in the middle of a commit would leave its lock.
        let ended = run_graceful(command, call.input.as_bytes(), LIMITS, GRACE);
        let ended = ended.map_err(|error| error.to_string())?;
        Ok(Answer {
            status: match ended.end {
                CommandEnd::Exited(status) => u8::try_from(status).unwrap_or(2),
                CommandEnd::Signalled(_) | CommandEnd::TimedOut(_) => 2,
            },
            stdout: ended.stdout.to_text(),
            stderr: ended.stderr.to_text(),
        })
    }
}

/// Reads the call at `path`, in whose place the agent may put anything at any moment.
fn read_call(path: &Path) -> io::Result<Call> {
    let call = platform::open_no_link().read(true).open(path)?;
    if !call.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut text = String::new();
    call.take(CAP).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}

/// The name under which a call is made.
fn owner_named(arguments: &[String]) -> Option<&str> {
    let mut words = arguments.iter();
    words
        .find_map(|word| word.strip_prefix("--as="))
        .or_else(|| {
            arguments
                .iter()
                .skip_while(|word| *word != "--as")
                .nth(1)
                .map(String::as_str)
        })
}

/// True if the lead makes a call with these `arguments`.
fn is_for_lead(arguments: &[String]) -> bool {
    match called(arguments).map(String::as_str) {
        Some("hook") => arguments
            .get(1)
            .is_some_and(|event| EVENTS.contains(&&**event)),
        Some(command) => WRITING.contains(&command),
        None => false,
    }
}

/// Has the lead make the call of this process, if that is an agent's in a sandbox and may write; returns its exit
/// status.
///
/// # Errors
/// The lead can't be asked.
pub fn call_lead() -> Option<HostResult<u8>> {
    let folder = PathBuf::from(std::env::var_os(BROKER)?);
    let arguments: Option<Vec<String>> = std::env::args_os()
        .skip(1)
        .map(|word| word.into_string().ok())
        .collect();
    let arguments = arguments.filter(|arguments| is_for_lead(arguments))?;
    let asked = ask(&folder, arguments);
    Some(asked.map_err(|error| {
        HostError::failed(format_args!("the lead of the run can't be asked: {error}"))
            .with_hint("end your turn: the run has ended, or starts you again")
    }))
}

fn ask(folder: &Path, arguments: Vec<String>) -> io::Result<u8> {
    let reads_input = arguments[0] == "hook"
        || arguments
            .iter()
            .any(|word| word == "-" || word == "--from=-");
    let mut input = String::new();
    if reads_input {
        io::stdin().take(CAP / 2).read_to_string(&mut input)?;
    }
    let cwd = std::env::current_dir()?;
    let call = Call {
        arguments,
        cwd,
        input,
    };
    let name = crate::run::fresh_token();
    let path = folder.join(&name);
    fs::write(&path, serde_json::to_vec(&call)?)?;
    let mut bell = File::options().append(true).open(folder.join(BELL))?;
    bell.write_all(format!("{name}\n").as_bytes())?;
    let place = path.with_extension("answer");
    let mut pause = PAUSES.0;
    let answer = loop {
        match fs::read(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.exists() => {
                thread::sleep(pause);
                pause = (pause * 2).min(PAUSES.1);
            }
            read => break read?,
        }
    };
    drop(fs::remove_file(&place));
    drop(fs::remove_file(&path));
    let answer: Answer = serde_json::from_slice(&answer)?;
    // Fails if nobody reads it.
    drop(io::stdout().write_all(answer.stdout.as_bytes()));
    drop(io::stderr().write_all(answer.stderr.as_bytes()));
    Ok(answer.status)
}

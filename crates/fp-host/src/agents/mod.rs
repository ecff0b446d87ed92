//! The programs that can play an agent of a run. Each has a module with its command line and its output format.

mod broker;
mod claude;
mod codex;
mod opencode;
mod own;
mod sandbox;
mod signs;

pub use broker::call_lead;
pub use signs::LifeSigns;

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, PipeReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::settings::{AgentPlayer, Agents, OwnProgram};
use fp_plan::text::{fitted, last_part, one_line};
use fp_run::run::crew::TokenUse;
use fp_run::run::state::Role;
use serde_json::Value;

use self::sandbox::{AgentSandbox, OwnPlaces};
use crate::error::{HostError, HostResult};
use crate::platform::{ProcessGroup, find_program};
use crate::process::{
    AGENT_NAME, AGENT_ROLE, AGENT_TASK, CommandEnd, Confinement, DRAIN, GRACE, Limits,
    OutputReader, run_to_end, spawn_with,
};

/// Maximum length of an output line to read, in bytes.
const MAX_LINE: u64 = 16 * 1024 * 1024;
/// Maximum width of a program's output in the view or the log, in columns.
const MAX_TOLD: usize = 200;
/// Minimum interval between two reports that show nothing but activity.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// Number of bytes of standard error to keep from each end.
const MAX_COMPLAINT: usize = 2048;
/// Number of bytes of standard output to keep from its end.
const MAX_SAID: usize = 1024;

/// Oldest version of Claude Code that the plugin works with, since its hooks are in exec form.
pub const OLDEST_CLAUDE: &str = "2.1.200";

/// A program that plays agents.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentProgram {
    Claude(PathBuf),
    Codex(PathBuf),
    OpenCode(PathBuf),
    /// A program that the user's settings describe.
    Own(OwnProgram),
}

/// An agent program with built-in support.
struct KnownProgram {
    name: &'static str,
    of: fn(PathBuf) -> AgentProgram,
    get: &'static str,
    /// The oldest version that works.
    since: &'static str,
}

const KNOWN: [KnownProgram; 3] = [
    KnownProgram {
        name: "claude",
        of: AgentProgram::Claude,
        get: "npm install -g @anthropic-ai/claude-code",
        since: OLDEST_CLAUDE,
    },
    KnownProgram {
        name: "codex",
        of: AgentProgram::Codex,
        get: "npm install -g @openai/codex",
        since: "0.100.0",
    },
    KnownProgram {
        name: "opencode",
        of: AgentProgram::OpenCode,
        get: "npm install -g opencode-ai",
        since: "1.0.0",
    },
];

/// Everything that an agent needs to start.
#[derive(Debug)]
pub struct AgentOrder<'a> {
    pub name: &'a AgentName,
    pub role: Role,
    /// The task that a verifier judges.
    pub task: Option<&'a TaskId>,
    /// The run's checkout.
    pub checkout: &'a Path,
    pub player: &'a AgentPlayer,
    /// The agent's working directory.
    pub cwd: &'a Path,
    /// The page for the agent's role: Markdown without front matter.
    pub page: &'a str,
    /// The prompt from `fp next`.
    pub prompt: &'a str,
    /// The conversation to resume.
    pub session: Option<&'a str>,
    /// The plugin's folder.
    pub plugin: &'a Path,
    /// The search path for programs.
    pub search_path: &'a OsStr,
    /// Other folders that the agent's `fp` commands write to, unless the lead does that for them.
    pub writes: &'a [PathBuf],
    /// Files and folders that the agent may write, beside its folder and those of its program.
    pub confinement: Option<&'a Confinement>,
    /// Permission rules beyond those of the agent's task.
    pub allow: &'a [String],
    /// True if the agent's `fp` commands have to reach a remote, because the plan is shared.
    pub needs_network: bool,
    /// A folder for this process's own files.
    pub scratch: &'a Path,
}

impl AgentOrder<'_> {
    /// Tells `command` for whom it runs.
    fn name_in(&self, command: &mut Command) {
        command.env(AGENT_ROLE, self.role.into_str());
        command.env(AGENT_NAME, self.name.as_str());
        match self.task {
            Some(task) => command.env(AGENT_TASK, task.as_str()),
            None => command.env_remove(AGENT_TASK),
        };
    }

    /// The arguments that choose its model and effort, if the settings specify them.
    fn model_args(&self, model: &'static str, effort: &'static str) -> impl Iterator<Item = &str> {
        let chosen = [(model, &self.player.model), (effort, &self.player.effort)];
        let chosen = chosen
            .into_iter()
            .filter_map(|(flag, value)| Some([flag, value.as_deref()?]));
        chosen.flatten()
    }

    /// The prompt for a program that takes only a single text: preceded by the role's page unless a conversation is
    /// resumed.
    fn whole_prompt(&self, goes_on: bool) -> String {
        match goes_on {
            true => self.prompt.to_owned(),
            false => format!("{}\n\n# Now\n\n{}\n", self.page.trim(), self.prompt),
        }
    }
}

/// A command with its input, and the id of the conversation that it begins, if known in advance.
struct AgentCommand {
    command: Command,
    input: String,
    session: Option<String>,
}

/// Something that an agent's process did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentNews {
    /// The conversation's id, assigned by the program.
    Session(String),
    /// The current activity, in a few words.
    Doing(String),
    /// Token use since the last such report.
    Spent {
        /// Requests to the model, or turns, as the program counts them.
        turns: u64,
        tokens: TokenUse,
        /// In millionths of a US dollar.
        micro_usd: Option<u64>,
    },
    /// The token use of the request with this id. It counts only if the program ends before it reports a total.
    Request { id: String, tokens: TokenUse },
    /// The token use of the whole conversation so far, if the program reports it.
    SessionTotal {
        tokens: Option<TokenUse>,
        /// In millionths of a US dollar.
        micro_usd: Option<u64>,
    },
    /// The service is unavailable; the program retries on its own.
    Waiting(String),
    /// A call was refused. The value is the rule that would allow it.
    Denied(String),
    /// The agent can't continue.
    Fault(ServiceFault),
    /// Text that the agent printed. The last part is kept until the process ends.
    Said(String),
    /// Any other output.
    Heard,
    /// The output has ended.
    Closed,
}

/// Why an agent couldn't continue, for a reason unrelated to its task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceFault {
    /// The service is overloaded, rate-limited or unreachable: a retry may help.
    Away(String),
    /// The user has to act first: credentials, credit, an unknown model or option.
    Refused(String),
    /// The conversation can't be continued; a new one may work.
    SessionLost(String),
    /// The program gave an unknown reason: a retry may help.
    Unknown(String),
}

impl ServiceFault {
    /// The fault that an HTTP status stands for.
    fn of_status(status: Option<u64>, told: String) -> Self {
        match status {
            Some(400..=404) => Self::Refused(told),
            Some(408 | 409 | 429 | 500..) => Self::Away(told),
            Some(_) | None => Self::Unknown(told),
        }
    }
}

impl AgentProgram {
    /// Finds the program called `name` on `search_path`, or in the user's settings.
    ///
    /// # Errors
    /// The program isn't found, or is too old.
    pub fn find(name: &str, agents: &Agents, search_path: &OsStr) -> HostResult<Self> {
        let own = agents.programs.get(name);
        if let Some(own) = own.filter(|own| !own.start.is_empty()) {
            return Ok(Self::Own(own.clone()));
        }
        let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
            let own = agents.programs.keys().map(String::as_str);
            let names: Vec<&str> = KNOWN.iter().map(|known| known.name).chain(own).collect();
            let said = format!("there is no program {name:?} for agents in the settings");
            return Err(HostError::failed(said).with_hint(format_args!(
                "`agents.builder.program` and `agents.verifier.program` take: {}; programs of your own are in \
                 `agents.programs`",
                names.join(", ")
            )));
        };
        let path =
            find_program(name, search_path).ok_or_else(|| known.not_installed(search_path))?;
        known.check_version(&path)?;
        Ok((known.of)(path))
    }

    fn build_command(
        &self,
        order: &AgentOrder<'_>,
        calls: Option<&Path>,
    ) -> io::Result<AgentCommand> {
        let mut made = match self {
            Self::Claude(path) => claude::build_command(path, order),
            Self::Codex(path) => codex::build_command(path, order, calls),
            Self::OpenCode(path) => opencode::build_command(path, order),
            Self::Own(own) => own::build_command(own, order)?,
        };
        made.command
            .current_dir(order.cwd)
            .env("PATH", order.search_path);
        Ok(made)
    }

    /// The news in one line of output. A line that isn't JSON is text for people.
    fn parse_news(&self, line: &str) -> Vec<AgentNews> {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            let said = AgentNews::Said(last_part(line, MAX_SAID));
            return Vec::from_iter((!line.trim().is_empty()).then_some(said));
        };
        match self {
            Self::Claude(_) => claude::parse_news(&line),
            Self::Codex(_) => codex::parse_news(&line),
            Self::OpenCode(_) => opencode::parse_news(&line),
            Self::Own(_) => own::parse_news(&line),
        }
    }
}

/// Finds Claude Code at `given`, or on `search_path`, and its version.
///
/// # Errors
/// Claude Code isn't found, or is too old.
pub fn find_claude(given: Option<&Path>, search_path: &OsStr) -> HostResult<(PathBuf, String)> {
    let [claude, ..] = &KNOWN;
    let path = match given {
        Some(path) => std::path::absolute(path).ok(),
        None => find_program(claude.name, search_path),
    };
    let path = path.ok_or_else(|| {
        HostError::failed("Claude Code is not installed here: there is no `claude` on PATH")
            .with_hint(format_args!("get it: {}", claude.get))
    })?;
    let version = claude.check_version(&path)?;
    Ok((path, version))
}

impl KnownProgram {
    fn not_installed(&self, search_path: &OsStr) -> HostError {
        let others = KNOWN.iter().map(|other| other.name);
        let others: Vec<&str> = others
            .filter(|name| find_program(name, search_path).is_some())
            .collect();
        let or = match others.is_empty() {
            true => String::new(),
            false => format!(
                "; or take what is there with --agent: {}",
                others.join(", ")
            ),
        };
        HostError::failed(format_args!("{} is not installed", self.name))
            .with_hint(format_args!("get it: {}{or}", self.get))
    }

    /// Returns the version of the program at `path`. Fails if it is too old, or a different program.
    fn check_version(&self, path: &Path) -> HostResult<String> {
        let mut command = Command::new(path);
        // Run outside of the repository, which may not be trusted yet.
        command.arg("--version").current_dir(std::env::temp_dir());
        let limits = Limits {
            time: Duration::from_secs(20),
            ..Limits::default()
        };
        let answer =
            run_to_end(command, b"", limits).map_err(|source| not_started(self.name, &source))?;
        let said = answer.stdout.to_text();
        let version = said.split(char::is_whitespace).find_map(version_of);
        match version
            .filter(|version| version_of(self.since).is_some_and(|since| *version >= since))
        {
            Some(version) => Ok(version.map(|number| number.to_string()).join(".")),
            None => {
                let (name, wanted, path) = (self.name, self.since, path.display());
                let found = short_line(&said);
                Err(HostError::failed(format_args!(
                    "{path} says that it is {found:?}, and {name} {wanted} or newer is needed"
                ))
                .with_hint(format_args!(
                    "update {name}, and see which one is first on PATH"
                )))
            }
        }
    }
}

fn not_started(program: &str, source: &io::Error) -> HostError {
    HostError::failed(format_args!("{program} can't be started: {source}"))
        .with_hint("see whether it runs by itself in a terminal")
}

/// The three numbers of a version such as `v2.1.329-beta`, or `2.37.1.windows.1`.
pub fn version_of(word: &str) -> Option<[u64; 3]> {
    let mut parts = word.trim_start_matches('v').split(['.', '-', '+']);
    let mut number = || parts.next()?.parse().ok();
    Some([number()?, number()?, number()?])
}

/// The process of an agent.
pub struct RunningAgent {
    group: ProcessGroup,
    stderr: OutputReader,
    /// The last part of its output.
    said: Arc<Mutex<String>>,
    /// The id of the conversation that the agent began, if known in advance.
    pub session: Option<String>,
    _sandbox: AgentSandbox,
}

impl RunningAgent {
    /// Starts the process. Its news is sent to `news`, each item with `key`; `Closed` comes last.
    ///
    /// # Errors
    /// The process can't be started.
    pub fn start<K: Copy + Send + 'static>(
        program: &AgentProgram,
        order: &AgentOrder<'_>,
        key: K,
        news: SyncSender<(K, AgentNews)>,
    ) -> HostResult<Self> {
        let failed = |source: io::Error| not_started(&order.player.program, &source);
        let sandbox = AgentSandbox::prepare(program, order).map_err(failed)?;
        let AgentCommand {
            mut command,
            input,
            session,
        } = program
            .build_command(order, sandbox.calls())
            .map_err(failed)?;
        order.name_in(&mut command);
        sandbox.name_folders(&mut command);
        let confinement = sandbox.confinement.as_ref();
        let started = spawn_with(command, input.into_bytes(), GRACE, confinement);
        let (group, [stdout, stderr]) = started.map_err(failed)?;
        let program = program.clone();
        let said = Arc::new(Mutex::new(String::new()));
        let saying = Arc::clone(&said);
        thread::spawn(move || {
            let mut heard = Instant::now();
            let tell = |line: &str| {
                let keep = |piece: &AgentNews| match piece {
                    AgentNews::Said(words) => {
                        let mut said = saying.lock().unwrap_or_else(PoisonError::into_inner);
                        *said = last_part(&format!("{said}\n{words}"), MAX_SAID);
                        false
                    }
                    _ => true,
                };
                let mut pieces = program.parse_news(line);
                pieces.retain(keep);
                if pieces.is_empty() && heard.elapsed() > SIGN_OF_LIFE {
                    heard = Instant::now();
                    pieces.push(AgentNews::Heard);
                }
                pieces
                    .into_iter()
                    .all(|piece| news.send((key, piece)).is_ok())
            };
            each_line(stdout, tell);
            drop(news.send((key, AgentNews::Closed)));
        });
        Ok(Self {
            group,
            stderr: OutputReader::start(stderr, MAX_COMPLAINT, MAX_COMPLAINT),
            said,
            session,
            _sandbox: sandbox,
        })
    }

    /// The mark by which a later process finds this one if nobody has ended it; empty where that isn't needed.
    pub fn process_mark(&self) -> String {
        self.group.process_mark()
    }

    /// How the process ended, if it has.
    pub fn try_wait(&mut self) -> Option<CommandEnd> {
        self.group
            .try_wait()
            .unwrap_or(Some(CommandEnd::Signalled(0)))
    }

    /// Asks the process to end.
    pub fn ask_to_end(&self) {
        self.group.ask_to_end();
    }

    /// Ends its remaining processes, and returns the last part of its output and a summary of its standard error.
    pub fn end_and_collect(mut self, grace: Duration) -> AgentWords {
        let complaint = match self.group.end_group(grace) {
            Ok(()) => self.stderr.collect_output(DRAIN).to_text(),
            Err(_) => String::new(),
        };
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        AgentWords {
            last: last_part(&format!("{said}\n{complaint}"), MAX_SAID),
            complaint: short_line(&complaint),
        }
    }
}

/// The last output of an agent that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentWords {
    /// The last part of its output, including standard error.
    pub last: String,
    /// Its standard error, on one short line.
    pub complaint: String,
}

impl AgentWords {
    /// Describes the failure of `program`, which ended soon after it began.
    pub fn failure(&self, program: &str) -> String {
        match short_line(&self.last) {
            last if last.is_empty() => format!("{program} ended at once, without a word"),
            last => format!("{program} ended at once, with: {last}"),
        }
    }
}

/// Passes each line of the pipe to `tell`, until the pipe ends.
fn each_line(pipe: PipeReader, mut tell: impl FnMut(&str) -> bool) {
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        match read {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        // The pipe is read to its end even without a listener, so that the process can finish.
        let _ = tell(&String::from_utf8_lossy(&line));
    }
}

/// Output on one short line, without control characters.
fn short_line(text: &str) -> String {
    fitted(one_line(text).trim(), MAX_TOLD)
}

/// A tool call in a few words: the tool and its target.
fn use_of(tool: &Value, input: &Value) -> String {
    let mut on = ["command", "file_path", "filePath", "path", "pattern"].iter();
    let on = on.find_map(|key| input[*key].as_str()).unwrap_or_default();
    short_line(&format!("{} {on}", tool.as_str().unwrap_or("?")))
}

/// The news that the conversation has this id.
fn session_of(id: &Value) -> Option<AgentNews> {
    Some(AgentNews::Session(id.as_str()?.to_owned()))
}

/// Text that the agent printed, as news.
fn said_news(text: &Value) -> Option<AgentNews> {
    Some(AgentNews::Said(text.as_str()?.to_owned()))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// `dollars` in millionths.
fn micro_usd(dollars: &Value) -> Option<u64> {
    let micro = dollars.as_f64().filter(|usd| (0.0..1e9).contains(usd))? * 1e6;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the range above"
    )]
    Some(micro.round() as u64)
}

#[cfg(test)]
mod tests;

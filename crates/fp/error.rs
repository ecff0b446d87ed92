//! What ends a command: an exit status that scripts rely on, or an error with its hints.

use std::fmt;
use std::process::ExitCode;

use fp_core::debt::NotNoted;
use fp_core::run::Refusal;
use fp_core::run::inquiry::NotAsked;
use fp_core::run::peer_message::NotSent;
use fp_core::run::state::Status;
use fp_host::claude::install::InstallError;
use fp_host::plan_folder::ArchiveError;
use fp_host::run::RunError;
use fp_host::specs::SpecError;
use fp_host::store::StoreError;

/// How a command ended. The numbers are public interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: done.
    Done,
    /// 1: findings, or the request was refused; the output says which.
    Findings,
    /// 2: could not run: bad usage, bad input, a failing disk.
    Failed,
    /// 3: nothing is ready to be claimed.
    NothingReady,
}

impl Exit {
    /// The process exit status.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Findings => 1,
            Self::Failed => 2,
            Self::NothingReady => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An error at the edge: what happened, why, and what to do next.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// The exit status it ends with.
    pub(crate) exit: Exit,
    /// What happened, with the place, one sentence without a full stop.
    pub(crate) message: String,
    /// What to do next, one line each.
    pub(crate) hints: Vec<String>,
}

impl CommandError {
    /// The command could not run.
    pub(crate) fn failed(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Failed, message: message.to_string(), hints: Vec::new() }
    }

    /// The command ran and the answer is no.
    pub(crate) fn refused(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Findings, ..Self::failed(message) }
    }

    /// Adds a line that says what to do next.
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }
}

/// What every command returns.
pub(crate) type CommandResult = Result<Exit, CommandError>;

macro_rules! fails_with_its_hint {
    ($($error:ty),*) => {$(
        impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                let failed = Self::failed(&error);
                match error.hint() {
                    Some(hint) => failed.hint(hint),
                    None => failed,
                }
            }
        }
    )*};
}

fails_with_its_hint!(
    fp_host::config::ChangeError,
    fp_host::config::ConfigError,
    fp_host::debts::DebtError,
    fp_host::file::FileError,
    fp_host::git::GitError,
    fp_host::linear::LinearError,
    fp_host::plan::SignalsError,
    fp_host::plan_folder::PlanError,
    fp_host::roadmaps::RoadmapError
);

impl From<ArchiveError> for CommandError {
    fn from(error: ArchiveError) -> Self {
        let failed = if error.is_refusal() { Self::refused(&error) } else { Self::failed(&error) };
        error.hint().into_iter().fold(failed, Self::hint)
    }
}

impl From<Refusal> for CommandError {
    fn from(refusal: Refusal) -> Self {
        let hint = match &refusal {
            Refusal::NotApproved => Some("validate the plan and run `fp approve PLAN`"),
            Refusal::RoundsOver => {
                Some("`fp critique show PLAN` prints the last one: show the user what it still finds")
            }
            Refusal::NotStarted => Some("run `fp run start PLAN`"),
            Refusal::Over => Some("`fp status PLAN` shows how it ended; `fp run start PLAN` starts it again"),
            Refusal::UnknownTask(_) => Some("`fp status PLAN` lists the leaves"),
            Refusal::NothingReady(_) => Some("end your turn: you are told when there is something"),
            Refusal::NotReady(..) => Some("`fp ready PLAN` says what each task waits for"),
            Refusal::Holds { status: Status::Implementing, .. } => {
                Some("run `fp claim` without a task for the payload of the one you hold")
            }
            Refusal::Holds { .. } => Some("end your turn: you are told when it has been judged"),
            Refusal::OldToken(_) => Some(
                "run `fp claim PLAN --as NAME`: if the task is still yours, it prints the token in force",
            ),
            Refusal::OtherIteration { .. } => Some("run `fp verify PLAN TASK` and judge what it shows"),
            Refusal::UnknownQuestion(_) => Some("`fp next PLAN` lists the open questions"),
            Refusal::Edited(_) => Some("look at the change and run `fp approve PLAN` again"),
            Refusal::Frozen(..) => Some(
                "undo the edit of that task in tasks.md and add a new task instead; one that is being built can be \
                 released first",
            ),
            Refusal::Status { .. } => Some("`fp why PLAN TASK` says how it came to that, and what is next"),
            Refusal::UnknownOption { .. } | Refusal::BuiltOn { .. } | Refusal::Shared { .. } => None,
        };
        let error = match refusal {
            Refusal::NothingReady(_) => Self { exit: Exit::NothingReady, ..Self::failed(&refusal) },
            _ => Self::refused(&refusal),
        };
        hint.into_iter().fold(error, Self::hint)
    }
}

impl From<NotAsked> for CommandError {
    fn from(error: NotAsked) -> Self {
        let hint = match error {
            NotAsked::Refused(refusal) => return refusal.into(),
            NotAsked::NotHeld { .. } => "`fp claim PLAN --as NAME` says which task is yours",
            NotAsked::Late { .. } | NotAsked::Again(_) => {
                "decide by the task and the code, and say what you decided with `fp submit --note`"
            }
            NotAsked::Options(_) => "--option 'LABEL|what it means', two to four times",
            NotAsked::Path { .. } => "name one file, relative to the repository",
            NotAsked::Held { .. } | NotAsked::Denied(_) => {
                "do the task within its files, or submit it and say in a note what is missing"
            }
        };
        Self::refused(error).hint(hint)
    }
}

impl From<InstallError> for CommandError {
    fn from(error: InstallError) -> Self {
        Self::failed(&error).hint(error.hint())
    }
}

impl From<SpecError> for CommandError {
    fn from(error: SpecError) -> Self {
        Self::failed(&error).hint(error.hint())
    }
}

impl From<NotNoted> for CommandError {
    fn from(error: NotNoted) -> Self {
        let hint = match error {
            NotNoted::Empty => "say what is to be done: `fp debt add 'Refresh expired tokens'`",
            NotNoted::Path { .. } => "name a file by its path from the root of the repository",
        };
        Self::failed(&error).hint(hint)
    }
}

impl From<NotSent> for CommandError {
    fn from(error: NotSent) -> Self {
        let later =
            "what others should know later goes with the submission: `fp submit … --note 'PATTERN: TEXT'`";
        let hint = match error {
            NotSent::Refused(refusal) => return refusal.into(),
            NotSent::Alone | NotSent::Spent(_) => later,
            NotSent::NoTask(_) => {
                "messages are sent while a task is built; `fp claim PLAN --as NAME` takes one"
            }
            NotSent::Form => "such as 'INTERFACE_CREATED: parse_date(text) is in src/date.rs:10'",
            NotSent::Itself(_) | NotSent::NoBuilder { .. } => "--to NAME, or --to all for all others",
        };
        Self::refused(error).hint(hint)
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        Self::failed(&error).hint(error.hint())
    }
}

impl From<RunError> for CommandError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Refused(refusal) => refusal.into(),
            RunError::Store(error) => error.into(),
            RunError::Git(error) => error.into(),
            RunError::File(error) => error.into(),
            RunError::Oid(error) => Self::failed(error).hint(
                "the plan's events.jsonl was changed by hand: put back the commit that it named, `git log` shows it",
            ),
            RunError::NoWorktree { ref owner, .. } => Self::refused(&error).hint(format!(
                "`fp claim PLAN --as {owner}` makes it again, at the commit that the task began on"
            )),
            RunError::InTheWay(reason) => Self::refused(reason).hint("see to it, then answer again"),
        }
    }
}

//! What a command is given: where it runs, when, and how to print. Built once, passed down.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::error::CommandError;
use crate::printer::{Format, Printer};

/// The surroundings of one command.
#[derive(Debug)]
pub(crate) struct Context {
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// How results are printed.
    pub(crate) format: Format,
    /// Prints.
    pub(crate) printer: Printer,
}

impl Context {
    /// The context of this process; fails when the working directory is gone.
    pub(crate) fn new(format: Format) -> Result<Self, CommandError> {
        let cwd = std::env::current_dir().map_err(|e| {
            CommandError::failed(format!("the working directory can't be read: {e}"))
                .hint("change to a directory that exists")
        })?;
        Ok(Self { cwd, format, printer: Printer })
    }

    /// The value of an environment variable, if it is set to something.
    pub(crate) fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// The time of this command: `FP_NOW` (RFC 3339) where a test fixes it, else the clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.env("FP_NOW").and_then(|text| text.parse().ok()).unwrap_or_else(Timestamp::now)
    }

    /// The client's session this runs in, if any.
    pub(crate) fn session(&self) -> Option<String> {
        self.env("CLAUDE_CODE_SESSION_ID")
    }

    /// Whether somebody can be asked: not in a session that runs unattended.
    pub(crate) fn attended(&self) -> bool {
        self.env("CLAUDE_CODE_SESSION_ATTENDED").as_deref() != Some("0")
    }
}

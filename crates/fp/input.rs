//! Reads a command's input from a file, or from standard input for `-`. Also asks yes-or-no questions.

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::path::Path;

use fp_host::file;
use fp_host::interrupt::Interrupt;

use crate::context::Context;
use crate::error::CommandError;

/// A command's input: its text, and its name in messages.
pub(crate) struct Input {
    /// The path, or `standard input`.
    pub(crate) name: String,
    /// At most as long as the caller's limit.
    pub(crate) text: String,
}

impl Input {
    /// Reads `path`, relative to the working directory, or standard input. Fails if it can't be read, is not
    /// text, or has more than `cap` bytes.
    pub(crate) fn read(path: &Path, cap: u64, context: &Context) -> Result<Self, CommandError> {
        if path != Path::new("-") {
            let text = file::read_text(&context.cwd.join(path), cap)?;
            return Ok(Self {
                name: path.display().to_string(),
                text,
            });
        }
        Ok(Self {
            name: "standard input".to_owned(),
            text: read_standard_input(cap)?,
        })
    }
}

/// The text on standard input. Fails if it is not text, or has more than `cap` bytes.
pub(crate) fn read_standard_input(cap: u64) -> Result<String, CommandError> {
    let mut text = String::new();
    let mut input = std::io::stdin().take(cap.saturating_add(1));
    input.read_to_string(&mut text).map_err(|error| {
        CommandError::failed(format!("standard input can't be read: {error}"))
            .with_hint("pipe the text into it, as UTF-8")
    })?;
    if text.len() as u64 > cap {
        let message = format!("standard input is too large: at most {cap} bytes are read");
        return Err(CommandError::failed(message)
            .with_hint("check that it is the text you mean, or split it"));
    }
    Ok(text)
}

/// Listens for Ctrl-C; `without` is the hint if that fails.
pub(crate) fn listen_for_interrupt(without: &str) -> Result<Interrupt, CommandError> {
    Interrupt::listen().map_err(|error| {
        CommandError::failed(format!("signals can't be watched: {error}")).with_hint(without)
    })
}

/// True if a person can be asked: at a terminal, and not in an unattended session.
pub(crate) fn can_ask(context: &Context) -> bool {
    !context.is_json()
        && context.attended()
        && std::io::stdin().is_terminal()
        && std::io::stderr().is_terminal()
}

/// Asks a yes-or-no question; any answer but yes means no.
pub(crate) fn agrees(question: &str, context: &Context) -> bool {
    context.printer.question(&format!("{question} [y/N]"));
    let mut answer = String::new();
    // A failed read means no.
    let read = std::io::stdin().lock().take(1024).read_line(&mut answer);
    read.is_ok() && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

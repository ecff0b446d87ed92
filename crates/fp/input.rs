//! Text that a command is given by name: a file, or standard input as `-`.

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::path::Path;

use fp_host::file;

use crate::context::Context;
use crate::error::CommandError;
use crate::printer::Format;

/// What was given, and what it is called in messages.
pub(crate) struct Input {
    /// The path, or `standard input`.
    pub(crate) name: String,
    /// At most so many bytes as the caller is ready to read.
    pub(crate) text: String,
}

impl Input {
    /// Reads `path`, relative to the folder of the command, or standard input. Fails where it can't be read, is no
    /// text, or has more than `cap` bytes.
    pub(crate) fn read(path: &Path, cap: u64, context: &Context) -> Result<Self, CommandError> {
        if path != Path::new("-") {
            let text = file::read_text(&context.cwd.join(path), cap)?;
            return Ok(Self { name: path.display().to_string(), text });
        }
        let mut text = String::new();
        std::io::stdin().take(cap.saturating_add(1)).read_to_string(&mut text).map_err(|error| {
            CommandError::failed(format!("standard input can't be read: {error}"))
                .hint("pipe the text into it, as UTF-8")
        })?;
        if text.len() as u64 > cap {
            return Err(CommandError::failed(format!(
                "standard input is too large: at most {cap} bytes are read"
            ))
            .hint("check that it is the text you mean, or split it"));
        }
        Ok(Self { name: "standard input".to_owned(), text })
    }
}

/// Whether a person is there to be asked: at a terminal, in no session that runs unattended.
pub(crate) fn can_ask(context: &Context) -> bool {
    context.format == Format::Text
        && context.attended()
        && std::io::stdin().is_terminal()
        && std::io::stderr().is_terminal()
}

/// Asks a question that is answered with yes or no; whatever is not yes is no.
pub(crate) fn agrees(question: &str, context: &Context) -> bool {
    context.printer.question(&format!("{question} [y/N]"));
    let mut answer = String::new();
    // Where nothing can be read, nobody has said yes.
    let read = std::io::stdin().lock().take(1024).read_line(&mut answer);
    read.is_ok() && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

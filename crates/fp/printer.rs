//! The only file that prints. Data goes to standard output, status and hints to standard error, a reader that
//! goes away is no error, and no control character of a text reaches the terminal.

use std::io::{self, BufWriter, IsTerminal as _, Write};

use serde::Serialize;

use crate::error::CommandError;
use crate::render::visible::visible;

/// How results are printed; every command has these two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON value with `schemaVersion`.
    Json,
}

/// A form that only some commands have, for other tools to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Export {
    /// A Mermaid flowchart.
    Mermaid,
    /// A page of its own.
    Html,
}

/// What `--format` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Output {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON value with `schemaVersion`.
    Json,
    /// A Mermaid flowchart (`fp show`).
    Mermaid,
    /// A page that needs nothing else (`fp show`, `fp report`).
    Html,
}

impl Output {
    /// The export it asks for, if it is one.
    pub(crate) fn export(self) -> Option<Export> {
        match self {
            Self::Text | Self::Json => None,
            Self::Mermaid => Some(Export::Mermaid),
            Self::Html => Some(Export::Html),
        }
    }

    /// The common form it asks for; text where it asks for an export.
    pub(crate) fn format(self) -> Format {
        if self == Self::Json { Format::Json } else { Format::Text }
    }
}

/// Version of the JSON that commands print.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// Columns of a terminal that text is made for.
pub(crate) const WIDTH: usize = 80;

/// Prints results, notes and errors.
#[derive(Debug, Default)]
pub(crate) struct Printer;

impl Printer {
    /// Prints `text` to standard output, its control characters made visible.
    pub(crate) fn data(&self, text: &str) {
        ignore_closed(anstream::stdout().write_all(visible(text).as_bytes()));
    }

    /// The same for a text that comes in parts, and may be larger than should be in memory at once.
    pub(crate) fn parts(&self, parts: impl Iterator<Item = String>) {
        let mut out = BufWriter::new(anstream::stdout());
        let mut written = Ok(());
        for part in parts {
            written = written.and_then(|()| out.write_all(visible(&part).as_bytes()));
            if written.is_err() {
                break;
            }
        }
        ignore_closed(written.and_then(|()| out.flush()));
    }

    /// Prints `text` byte for byte where a program reads it, so that a patch stays one; a terminal gets it as
    /// [`Printer::data`] shows it.
    pub(crate) fn exact(&self, text: &str) {
        if io::stdout().is_terminal() {
            self.data(&text.replace("\r\n", "\n"));
        } else {
            ignore_closed(io::stdout().write_all(text.as_bytes()));
        }
    }

    /// Prints a part of what goes on and on, at once, as [`Printer::exact`] does; whether anybody still reads it.
    pub(crate) fn stream(&self, text: &str) -> bool {
        let mut out = io::stdout();
        let text = if out.is_terminal() { visible(text) } else { text.into() };
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
    }

    /// Prints `value` as indented JSON while it is read, in the order of its fields: for what may be larger than
    /// should be in memory at once.
    pub(crate) fn document(&self, value: &impl Serialize) -> Result<(), CommandError> {
        let mut out = BufWriter::new(io::stdout());
        match serde_json::to_writer_pretty(&mut out, value) {
            Err(error) if !error.is_io() => Err(CommandError::failed(error)),
            written => {
                ignore_closed(written.map_err(io::Error::from).and_then(|()| out.write_all(b"\n")));
                ignore_closed(out.flush());
                Ok(())
            }
        }
    }

    /// Prints `value` as [`json`].
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), CommandError> {
        self.data(&json(value)?);
        Ok(())
    }

    /// Says `text` on standard error, as a line of its own, its control characters made visible.
    pub(crate) fn note(&self, text: &str) {
        ignore_closed(writeln!(anstream::stderr(), "{}", visible(text)));
    }

    /// Asks `text` on standard error; the answer is typed behind it.
    pub(crate) fn question(&self, text: &str) {
        let mut err = anstream::stderr();
        ignore_closed(write!(err, "{} ", visible(text)).and_then(|()| err.flush()));
    }

    /// Prints an error and its hints.
    pub(crate) fn error(&self, error: &CommandError) {
        self.note(&format!("error: {}", error.message));
        for hint in &error.hints {
            self.note(&format!("hint: {hint}"));
        }
    }
}

/// `value` as indented JSON; an object gets a leading `schemaVersion`.
pub(crate) fn json(value: &impl Serialize) -> Result<String, CommandError> {
    let value = serde_json::to_value(value).map_err(CommandError::failed)?;
    let mut whole = serde_json::Map::new();
    whole.insert("schemaVersion".into(), SCHEMA_VERSION.into());
    let value = match value {
        serde_json::Value::Object(fields) => {
            whole.extend(fields);
            serde_json::Value::Object(whole)
        }
        other => other,
    };
    let text = serde_json::to_string_pretty(&value).map_err(CommandError::failed)?;
    Ok(text + "\n")
}

fn ignore_closed(result: io::Result<()>) {
    // A pipe that its reader has closed, as in `fp show | head`, is the reader's choice.
    drop(result);
}

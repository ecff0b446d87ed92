//! The only file that prints. Data goes to standard output, status and hints to standard error, and a
//! reader that goes away is no error.

use std::io::{self, Write};

use serde::Serialize;

use crate::error::CommandError;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON value with `schemaVersion`.
    Json,
}

/// Version of the JSON that commands print.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// Prints results, notes and errors.
#[derive(Debug, Default)]
pub(crate) struct Printer;

impl Printer {
    /// Prints `text` to standard output as it is.
    pub(crate) fn data(&self, text: &str) {
        ignore_closed(anstream::stdout().write_all(text.as_bytes()));
    }

    /// Prints `value` as indented JSON; an object gets a leading `schemaVersion`.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), CommandError> {
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
        self.data(&(text + "\n"));
        Ok(())
    }

    /// Says `text` on standard error, as a line of its own.
    pub(crate) fn note(&self, text: &str) {
        ignore_closed(writeln!(anstream::stderr(), "{text}"));
    }

    /// Prints an error and its hints.
    pub(crate) fn error(&self, error: &CommandError) {
        self.note(&format!("error: {}", error.message));
        for hint in &error.hints {
            self.note(&format!("hint: {hint}"));
        }
    }
}

fn ignore_closed(result: io::Result<()>) {
    // A pipe that its reader has closed, as in `fp show | head`, is the reader's choice.
    drop(result);
}

//! The only file that prints, so that these rules hold everywhere: data goes to standard output, status and hints to
//! standard error, a closed pipe isn't an error, and no control character in a text reaches the terminal.

use std::io::{self, IsTerminal as _, Write};

use clap::ValueEnum as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fp_host::screen::terminal_columns;
use fp_plan::text::{visible, visible_json};
use serde::Serialize;

use crate::error::CommandError;
use crate::theme::{self, Look};

/// The values of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Output {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON value with `schemaVersion`.
    Json,
    /// A page that needs nothing else (`fp show`, `fp report`).
    Html,
}

/// Parses one of `names` as an [`Output`].
pub(crate) fn output_of(names: &'static [&'static str]) -> impl TypedValueParser<Value = Output> {
    PossibleValuesParser::new(names).try_map(|name| Output::from_str(&name, false))
}

/// The `--format` option for a command that has the formats `names` besides text.
pub(crate) fn format_option(names: &'static [&'static str]) -> clap::Arg {
    let option = clap::Arg::new("format").long("format").value_name("FORMAT");
    let option = option.value_parser(output_of(names));
    option.help("Print the result in this format, in place of text")
}

/// Version of the JSON that commands print.
const SCHEMA_VERSION: u32 = 1;

/// Line width to use when there is no terminal, in columns.
pub(crate) const WIDTH: usize = 80;

/// Line width for this process's output, in columns.
pub(crate) fn columns() -> usize {
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal_columns().or_else(asked).unwrap_or(WIDTH).max(20)
}

/// Width at which this process cuts lines, in columns; unlimited for a pipe.
pub(crate) fn cut_columns() -> usize {
    let is_laid_out = terminal_columns().is_some() || std::env::var_os("COLUMNS").is_some();
    if is_laid_out { columns() } else { usize::MAX }
}

/// The JSON word for a value of a plain enum.
pub(crate) fn word_of(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => format!("{other:?}"),
    }
}

#[derive(Debug, Default)]
pub(crate) struct Printer {
    /// True if notes are suppressed, since a view occupies the terminal.
    pub(crate) is_silent: bool,
}

impl Printer {
    /// Prints `text` to standard output and makes control characters visible.
    pub(crate) fn data(&self, text: &str) {
        self.styled(&visible(text));
    }

    /// Like `data`, but for text that contains the theme's colours.
    pub(crate) fn styled(&self, text: &str) {
        ignore_closed(anstream::stdout().write_all(theme::shown_text(text).as_bytes()));
    }

    /// Prints `text` byte for byte if standard output isn't a terminal, so that a patch still applies; otherwise,
    /// prints it like [`Printer::data`].
    pub(crate) fn exact(&self, text: &str) {
        if io::stdout().is_terminal() {
            self.data(&text.replace("\r\n", "\n"));
        } else {
            ignore_closed(io::stdout().write_all(text.as_bytes()));
        }
    }

    /// Prints and flushes a piece of continuous output, with control characters made visible except in JSON that a
    /// program reads; returns false if the reader is gone.
    pub(crate) fn stream(&self, text: &str, is_json: bool) -> bool {
        let mut out = io::stdout();
        let written = match is_json && !out.is_terminal() {
            true => out.write_all(text.as_bytes()),
            false => anstream::stdout().write_all(theme::shown_text(text).as_bytes()),
        };
        written.and_then(|()| out.flush()).is_ok()
    }

    /// Prints `value` as formatted by [`json`].
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), CommandError> {
        self.data(&json(value)?);
        Ok(())
    }

    /// Prints `text` as a line on standard error, with control characters made visible.
    pub(crate) fn print_note(&self, text: &str) {
        if self.is_silent {
            return;
        }
        match text.split_once(' ') {
            Some(("note:", rest)) => self.print_labelled(Look::Faint, "note:", rest),
            Some(("warning:", rest)) => self.print_labelled(Look::Building, "warning:", rest),
            _ => self.print_line(&visible(text)),
        }
    }

    fn print_labelled(&self, look: Look, label: &str, text: &str) {
        self.print_line(&format!("{} {}", look.paint(label), visible(text)));
    }

    fn print_line(&self, text: &str) {
        ignore_closed(writeln!(anstream::stderr(), "{}", theme::shown_text(text)));
    }

    /// Rings the terminal's bell.
    pub(crate) fn bell(&self) {
        ignore_closed(write!(io::stderr(), "\u{7}"));
    }

    /// Prints the question `text` on standard error; the answer is typed after it.
    pub(crate) fn question(&self, text: &str) {
        let mut err = anstream::stderr();
        ignore_closed(write!(err, "{} ", visible(text)).and_then(|()| err.flush()));
    }

    /// Prints an error and its hints.
    pub(crate) fn error(&self, error: &CommandError) {
        self.print_labelled(Look::Failed, "error:", &error.message);
        for hint in &error.hints {
            self.print_labelled(Look::Hint, "hint:", hint);
        }
    }
}

/// `value` as indented JSON; an object gets a `schemaVersion`.
pub(crate) fn json(value: &impl Serialize) -> Result<String, CommandError> {
    let mut value = serde_json::to_value(value).map_err(CommandError::failed)?;
    if let serde_json::Value::Object(fields) = &mut value {
        fields.insert("schemaVersion".into(), SCHEMA_VERSION.into());
    }
    let text = serde_json::to_string_pretty(&value).map_err(CommandError::failed)?;
    Ok(visible_json(&text).into_owned() + "\n")
}

fn ignore_closed(result: io::Result<()>) {
    // A reader may close its pipe, as in `fp show | head`.
    drop(result);
}

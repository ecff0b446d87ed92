//! How text looks on a terminal: the colour and the sign of each state, in one place, and lines that are cut before
//! they are painted. Colours depend on the output stream: there are none for a pipe, or with `NO_COLOR` or `TERM=dumb`.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};

use fp_host::platform::TERMINAL_IN_ENVIRONMENT;
use fp_plan::text::{fitted, visible};
use fp_run::report::standing::TaskHalt;
use fp_run::report::status::TaskLine;
use fp_run::run::state::Status;
use strum::VariantArray as _;
use unicode_width::UnicodeWidthStr as _;

/// The look of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray)]
pub(crate) enum Look {
    Plain,
    Done,
    Failed,
    Building,
    Verifying,
    Ready,
    Waiting,
    Asking,
    Stopped,
    Skipped,
    /// An id, or a name at the top.
    Strong,
    /// A hash, or another detail that few people read.
    Faint,
    /// The next step.
    Hint,
}

impl Look {
    /// The look of a task's state.
    pub(crate) fn for_task(status: Status, ready: bool, halt: Option<TaskHalt>) -> Self {
        match halt {
            Some(TaskHalt::Asking) => return Self::Asking,
            Some(TaskHalt::Stopped) => return Self::Stopped,
            None => {}
        }
        match status {
            Status::Pending if ready => Self::Ready,
            Status::Pending => Self::Waiting,
            Status::Implementing => Self::Building,
            Status::AwaitingVerification => Self::Verifying,
            Status::Completed => Self::Done,
            Status::Failed => Self::Failed,
            Status::Skipped => Self::Skipped,
        }
    }

    pub(crate) fn of_task(task: &TaskLine) -> Self {
        Self::for_task(task.status, task.ready, task.halt)
    }

    /// The sign of a state, so that colour alone never carries the meaning.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Done => "✓",
            Self::Failed => "✕",
            Self::Building => "▶",
            Self::Verifying => "◐",
            Self::Ready => "●",
            Self::Waiting => "○",
            Self::Asking => "?",
            Self::Stopped => "■",
            Self::Skipped => "–",
            Self::Plain | Self::Strong | Self::Faint | Self::Hint => "",
        }
    }

    fn sequence(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Done => "\x1b[32m",
            Self::Failed => "\x1b[31m",
            Self::Building => "\x1b[33m",
            Self::Verifying | Self::Asking => "\x1b[35m",
            Self::Ready => "\x1b[34m",
            Self::Waiting | Self::Stopped | Self::Skipped | Self::Faint => "\x1b[2m",
            Self::Strong => "\x1b[1m",
            Self::Hint => "\x1b[36m",
        }
    }

    /// Paints `text` in this look. Its control characters must already have been made visible.
    pub(crate) fn paint(self, text: &str) -> String {
        match self.sequence() {
            "" => text.to_owned(),
            sequence => format!("{sequence}{text}{END}"),
        }
    }
}

const END: &str = "\x1b[0m";

/// A line made of styled pieces, cut as a whole to the width of the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StyledLine(Vec<(Look, String)>);

impl StyledLine {
    /// A line that begins with `text`.
    pub(crate) fn new(look: Look, text: impl Into<String>) -> Self {
        Self(vec![(look, text.into())])
    }

    /// Adds `text`, which may contain anything.
    pub(crate) fn with_text(mut self, look: Look, text: impl Into<String>) -> Self {
        self.0.push((look, text.into()));
        self
    }

    /// Appends `lines`: the first one to this line, the others below it, indented to where this line ended.
    pub(crate) fn hanging(self, look: Look, lines: Vec<String>) -> Vec<Self> {
        let below = Self::new(Look::Plain, " ".repeat(self.width()));
        let heads = [self].into_iter().chain(std::iter::repeat(below));
        let lines = heads
            .zip(lines)
            .map(|(head, line)| head.with_text(look, line));
        lines.collect()
    }

    /// The line without colours.
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }

    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// The line, cut to `columns` columns, with its colours.
    pub(crate) fn painted(&self, columns: usize) -> String {
        let mut left = columns;
        let mut line = String::new();
        for (look, text) in self.0.iter().filter(|(_, text)| !text.is_empty()) {
            if left == 0 {
                break;
            }
            let is_cut = text.width() > left;
            let shown = fitted(text, left);
            left = left.saturating_sub(shown.width());
            line.push_str(&look.paint(&shown));
            if is_cut {
                break;
            }
        }
        line
    }
}

/// A bar of `width` columns that shows `done` of `total`.
pub(crate) fn progress_bar(done: usize, total: usize, width: usize) -> StyledLine {
    let full = (width * done).checked_div(total).unwrap_or(0).min(width);
    StyledLine::new(Look::Done, "▰".repeat(full)).with_text(Look::Faint, "▱".repeat(width - full))
}

/// `text` with control characters made visible, except this file's colours, and with plain signs if the terminal can
/// show only ASCII.
pub(crate) fn shown_text(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('\x1b');
    let mut shown = visible(parts.next().unwrap_or_default());
    for part in parts {
        let sequences = Look::VARIANTS.iter().map(|look| look.sequence());
        let is_own = |own: &&str| part.starts_with(own);
        let mut own = sequences
            .chain([END])
            .filter_map(|own| own.strip_prefix('\x1b'));
        let own = own.find(is_own).unwrap_or_default();
        let escape = if own.is_empty() { "␛" } else { "\x1b" };
        *shown.to_mut() += &format!("{escape}{own}{}", visible(&part[own.len()..]));
    }
    match is_ascii() {
        true => Cow::Owned(shown.chars().map(ascii_sign).collect()),
        false => shown,
    }
}

/// `text` without colours.
pub(crate) fn without_colours(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// `lines` as the terminal of this process shows them.
pub(crate) fn for_terminal(lines: Vec<String>) -> Vec<String> {
    let has_colours = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    let line = |line: String| match has_colours {
        true => shown_text(&line).into_owned(),
        false => without_colours(&shown_text(&line)),
    };
    lines.into_iter().map(line).collect()
}

/// True on a terminal whose locale is not UTF-8.
fn is_ascii() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    let is_terminal = io::stdout().is_terminal() || std::env::var_os("CLICOLOR_FORCE").is_some();
    TERMINAL_IN_ENVIRONMENT && is_terminal && !locale.contains("utf-8") && !locale.contains("utf8")
}

/// The ASCII replacement of a sign.
fn ascii_sign(c: char) -> char {
    match c {
        '✓' => 'v',
        '✕' => 'x',
        '▶' => '>',
        '◐' => '=',
        '●' => 'o',
        '○' => '.',
        '■' => '#',
        '–' => '-',
        '▰' => '#',
        '▱' => '.',
        '…' => '~',
        '→' => '>',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_and_then_painted() {
        let line = StyledLine::default()
            .with_text(Look::Done, "✓")
            .with_text(Look::Plain, " ")
            .with_text(Look::Strong, "1.2")
            .with_text(Look::Plain, "  a title\x1b[31m of many words");
        let check =
            |columns: usize, expect: &str| assert_eq!(line.painted(columns), expect, "{columns}");
        check(12, "\x1b[32m✓\x1b[0m \x1b[1m1.2\x1b[0m  a ti…");
        check(4, "\x1b[32m✓\x1b[0m \x1b[1m1…\x1b[0m");
        check(0, "");
        assert!(line.painted(80).ends_with("  a title␛[31m of many words"));
        assert_eq!(
            without_colours(&progress_bar(3, 10, 10).painted(80)),
            "▰▰▰▱▱▱▱▱▱▱"
        );
        assert_eq!(progress_bar(0, 0, 3).width(), 3);
    }

    #[test]
    fn only_own_colours_reach_the_terminal() {
        let check = |text: &str, expect: &str| assert_eq!(shown_text(text), expect);
        check("plain\n", "plain\n");
        check("\x1b[32m✓\x1b[0m a\tb\x07", "\x1b[32m✓\x1b[0m a\tb␇");
        check("\x1b[8mhidden\x1b]0;title\x07", "␛[8mhidden␛]0;title␇");
        check("\x1b", "␛");
    }

    #[test]
    fn every_state_has_a_sign_of_its_own() {
        let signs: Vec<&str> = Look::VARIANTS
            .iter()
            .map(|look| look.sign())
            .filter(|sign| !sign.is_empty())
            .collect();
        let plain_signs: std::collections::BTreeSet<char> = signs
            .iter()
            .flat_map(|sign| sign.chars())
            .map(ascii_sign)
            .collect();
        assert_eq!((signs.len(), plain_signs.len()), (9, 9));
        assert!(plain_signs.iter().all(char::is_ascii));
    }
}

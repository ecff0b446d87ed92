//! Blocks of Markdown one below the other: where they are indented to, and what has to stand between two of
//! them so that each stays what it is.

use crate::plan::marker_length;

/// A document as far as it has been written, with `\n` for line ends.
#[derive(Debug, Default)]
pub(super) struct Layout {
    out: String,
    last: Last,
}

/// What was written last.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing, or a frame heading: a list follows at once.
    #[default]
    Heading,
    /// An item of a list; the next one follows at once.
    Item,
    /// An item that a blank line follows, as another one might be read as its text.
    LooseItem,
    /// Indented code; a blank line follows, and other code only behind something else.
    Code,
    /// Anything else; a blank line follows.
    Block,
}

impl Layout {
    /// A heading at the margin.
    pub(super) fn heading(&mut self, text: &str) {
        self.blank_line();
        self.out.push_str(text);
        self.out.push('\n');
        self.last = Last::Heading;
    }

    /// An item of a list, with its bullet.
    pub(super) fn item(&mut self, indent: usize, text: &str) {
        if !matches!(self.last, Last::Heading | Last::Item) {
            self.blank_line();
        }
        self.lines(indent, text);
        self.last = Last::Item;
    }

    /// Any block.
    pub(super) fn block(&mut self, indent: usize, text: &str) {
        if is_item(text) && self.last == Last::Item {
            return self.item(indent, text);
        }
        self.blank_line();
        let is_code = text.starts_with("    ");
        if is_code && matches!(self.last, Last::Item | Last::LooseItem | Last::Code) {
            // Right behind these it would be read as part of them. A rule is nothing but layout.
            self.lines(indent, "---");
            self.blank_line();
        }
        self.lines(indent, text);
        self.last = match marker(text) {
            _ if is_code => Last::Code,
            0 => Last::Block,
            _ if is_item(text) => Last::Item,
            _ => Last::LooseItem,
        };
    }

    /// Has a blank line before whatever comes next.
    pub(super) fn end_list(&mut self) {
        self.last = Last::Block;
    }

    fn blank_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn lines(&mut self, indent: usize, text: &str) {
        for line in text.split('\n') {
            if !line.is_empty() {
                self.out.extend(std::iter::repeat_n(' ', indent));
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
    }

    /// The whole document.
    pub(super) fn into_text(self, newline: &str) -> String {
        if newline == "\n" { self.out } else { self.out.replace('\n', newline) }
    }
}

/// The length of the bullet or number that a text begins with; 0 where it doesn't.
pub(super) fn marker(text: &str) -> usize {
    let length = marker_length(text);
    let rest = &text[length..];
    if rest.is_empty() || rest.starts_with([' ', '\n']) { length } else { 0 }
}

/// Whether a block is an item that needs no blank line between it and others.
fn is_item(text: &str) -> bool {
    text.strip_prefix("- ").is_some_and(|own| !own.trim_start_matches(' ').starts_with('\n'))
}

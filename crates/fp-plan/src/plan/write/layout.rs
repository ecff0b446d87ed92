//! Places Markdown blocks below each other: their indentation, and the separators that keep each block what it is.

use crate::plan::marker_length;

/// The document so far, with `\n` as line ending.
#[derive(Debug, Default)]
pub(super) struct Layout {
    out: String,
    last: Last,
}

/// The kind of the last block.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing, or a frame heading: a list follows at once.
    #[default]
    Heading,
    /// A list item; the next one follows at once.
    Item,
    /// An item that needs a blank line after it, because the next one might be read as its text.
    LooseItem,
    /// Indented code: needs a blank line after it, and further code only after something else.
    Code,
    /// Anything else; needs a blank line after it.
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

    /// A list item with its bullet.
    pub(super) fn item(&mut self, indent: usize, text: &str) {
        if !matches!(self.last, Last::Heading | Last::Item) {
            self.blank_line();
        }
        self.lines(indent, text);
        self.last = Last::Item;
    }

    pub(super) fn block(&mut self, indent: usize, text: &str) {
        if is_item(text) && self.last == Last::Item {
            return self.item(indent, text);
        }
        self.blank_line();
        let is_code = text.starts_with("    ");
        if is_code && matches!(self.last, Last::Item | Last::LooseItem | Last::Code) {
            // Directly after these, the code would become part of them. A rule is pure layout.
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

    /// Forces a blank line before the next block.
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

    pub(super) fn into_text(self, newline: &str) -> String {
        if newline == "\n" {
            self.out
        } else {
            self.out.replace('\n', newline)
        }
    }
}

/// The length of the bullet or number at the start of a text; 0 if there is none.
pub(super) fn marker(text: &str) -> usize {
    let length = marker_length(text);
    let rest = &text[length..];
    if rest.is_empty() || rest.starts_with([' ', '\n']) {
        length
    } else {
        0
    }
}

/// True if a block is an item that needs no blank line next to others.
fn is_item(text: &str) -> bool {
    text.strip_prefix("- ")
        .is_some_and(|own| !own.trim_start_matches(' ').starts_with('\n'))
}

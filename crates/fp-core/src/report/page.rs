//! Reports as Markdown pages of a bounded length: texts of strangers stay text, each on one line.

use std::fmt::Write as _;

use crate::markdown::{code, inline};
use crate::text::{clipped, one_line};

/// Most characters of a text in a list.
pub(super) const TEXT: usize = 300;

/// A page that is written from its top down.
#[derive(Debug, Default)]
pub(super) struct Page(String);

impl Page {
    /// A page with this heading.
    pub(super) fn new(title: &str) -> Self {
        Self(format!("# {title}\n"))
    }

    /// A paragraph of `text`, which is Markdown.
    pub(super) fn paragraph(&mut self, text: &str) {
        let _ = write!(self.0, "\n{text}\n");
    }

    /// A section with a list, or nothing where there is nothing to list. Of more than `most` items the first ones are
    /// shown, and `rest` says where the others are.
    pub(super) fn list(&mut self, title: &str, items: &[Item], most: usize, rest: &str) {
        if items.is_empty() {
            return;
        }
        let _ = write!(self.0, "\n## {title}\n\n");
        for item in items.iter().take(most) {
            let _ = writeln!(self.0, "- {}", item.text);
            for below in &item.below {
                let _ = writeln!(self.0, "  - {below}");
            }
        }
        if let Some(more @ 1..) = items.len().checked_sub(most) {
            let _ = writeln!(self.0, "- and {more} more: {rest}");
        }
    }

    /// A section with the last `most` of `items`, since what came last counts most.
    pub(super) fn latest(&mut self, title: &str, mut items: Vec<Item>, most: usize, rest: &str) {
        if let Some(earlier @ 1..) = items.len().checked_sub(most) {
            items.splice(..earlier, [format!("{earlier} earlier: {rest}").into()]);
        }
        self.list(title, &items, most + 1, rest);
    }

    /// The whole page.
    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// An item of a list, with items below it; all of it Markdown.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) text: String,
    pub(super) below: Vec<String>,
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Self { text, below: Vec::new() }
    }
}

/// A text that is not ours as one line of at most `most` characters that can't be markup.
pub(super) fn plain(text: &str, most: usize) -> String {
    let mut out = String::new();
    let _ = inline(&mut out, &clipped(&one_line(text), most));
    out
}

/// A text that is not ours as code.
pub(super) fn span(text: &str) -> String {
    let mut out = String::new();
    let _ = code(&mut out, text);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_without_markup() {
        assert_eq!(plain("a\n# b\t*c*", 20), "a # b \\*c\\*");
        assert_eq!(plain("<b> 한글 and more", 6), "\\<b> 한…");
        assert_eq!(plain("- x", 20), "\\- x");
    }

    #[test]
    fn a_long_list_says_where_the_rest_is() {
        let items: Vec<Item> = ["a", "b", "c"].map(|text| text.to_owned().into()).into();
        let shown = |most: usize| {
            let mut page = Page::default();
            page.list("T", &items, most, "there");
            page.finish()
        };
        assert_eq!(shown(3), "\n## T\n\n- a\n- b\n- c\n");
        assert_eq!(shown(2), "\n## T\n\n- a\n- b\n- and 1 more: there\n");
        let mut page = Page::default();
        page.latest("T", items, 1, "there");
        assert_eq!(page.finish(), "\n## T\n\n- 2 earlier: there\n- c\n");
        let mut page = Page::default();
        page.list("T", &[], 2, "there");
        assert_eq!(page.finish(), "");
    }
}

//! The blocks of a text, read piece by piece: what `pulldown-cmark` keeps in memory is then a piece and not the
//! text, and on a large text it works beside the reader, which is the slower of the two.
//!
//! A text is cut in front of a line that begins with `- [`, behind a bullet's line or a blank one. Such a line
//! begins a block of its own unless it stands in code or HTML that began before it; what could be that is read
//! on to the end in one piece.

use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::thread;

use pulldown_cmark::{CodeBlockKind, Event, OffsetIter, Options, Parser, Tag, TagEnd};

/// Bytes of a piece, or more where it can't be cut sooner.
const PIECE: usize = 1 << 16;
/// Pieces that are read ahead.
const AHEAD: usize = 4;

/// What begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    QuoteStart,
    QuoteEnd,
    ItemStart,
    ItemEnd,
    /// A list, or a rule between blocks.
    Break,
    Paragraph,
    Heading(u8),
    IndentedCode,
    FencedCode,
    Html,
    /// Text of an item that Markdown makes no paragraph of, since nothing stands apart in its list.
    TightText,
    /// The definition of a link, which Markdown has no event for.
    Definition,
}

/// One event and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

/// Hands all blocks of `text` from `base` on to `take`, in their order.
pub(super) fn for_each(text: &str, base: usize, mut take: impl FnMut(Block)) {
    if text.len() <= 2 * PIECE {
        return read(text, base..text.len()).0.into_iter().for_each(take);
    }
    thread::scope(|scope| {
        let (send, receive) = sync_channel(AHEAD);
        let reader = thread::Builder::new().spawn_scoped(scope, move || {
            pieces(text, base, PIECE, |blocks| send.send(blocks).is_ok());
        });
        if reader.is_err() {
            // No thread is to be had; it goes without.
            pieces(text, base, PIECE, |blocks| {
                blocks.into_iter().for_each(&mut take);
                true
            });
        }
        receive.into_iter().flatten().for_each(&mut take);
    });
}

/// Reads pieces of about `size` bytes until `give` wants no more.
pub(super) fn pieces(text: &str, base: usize, size: usize, mut give: impl FnMut(Vec<Block>) -> bool) {
    let mut start = base;
    loop {
        let mut end = cut(text, start, size);
        let (mut blocks, goes_on) = read(text, start..end);
        if goes_on && end < text.len() {
            end = text.len();
            blocks = read(text, start..end).0;
        }
        if !give(blocks) || end == text.len() {
            return;
        }
        start = end;
    }
}

/// Where a piece from `start` on may end.
fn cut(text: &str, start: usize, size: usize) -> usize {
    let bytes = text.as_bytes();
    let mut from = (start + size).min(bytes.len());
    while let Some(at) = memchr::memmem::find(&bytes[from..], b"\n- [") {
        let line_end = from + at;
        let line = memchr::memrchr(b'\n', &bytes[start..line_end]).map_or(start, |at| start + at + 1);
        let before = bytes[line..line_end].trim_ascii();
        if before.is_empty() || before.starts_with(b"- ") {
            return line_end + 1;
        }
        from = line_end + 1;
    }
    bytes.len()
}

/// The blocks of a piece, and whether the last one could go on behind it.
fn read(text: &str, piece: Range<usize>) -> (Vec<Block>, bool) {
    let events = Parser::new_ext(&text[piece.clone()], Options::empty()).into_offset_iter();
    let mut found = Found { base: piece.start, definitions: definitions(&events), ..Found::default() };
    for (event, range) in events {
        found.event(&event, range);
    }
    for definition in std::mem::take(&mut found.definitions).into_iter().rev() {
        found.push(Kind::Definition, definition);
    }
    (found.blocks, found.goes_on)
}

/// Where links are defined, the last one first.
fn definitions(events: &OffsetIter<'_>) -> Vec<Range<usize>> {
    let definitions = events.reference_definitions().iter();
    let mut ranges: Vec<Range<usize>> = definitions.map(|(_, definition)| definition.span.clone()).collect();
    ranges.sort_unstable_by_key(|range| std::cmp::Reverse(range.start));
    ranges
}

/// What was found of a piece.
#[derive(Default)]
struct Found {
    blocks: Vec<Block>,
    /// Where the piece begins.
    base: usize,
    definitions: Vec<Range<usize>>,
    /// How many lists and quotes are open.
    depth: usize,
    /// Whether a block is open that holds text.
    in_text: bool,
    goes_on: bool,
}

impl Found {
    fn push(&mut self, kind: Kind, range: Range<usize>) {
        self.blocks.push(Block { kind, range: range.start + self.base..range.end + self.base });
    }

    fn event(&mut self, event: &Event<'_>, range: Range<usize>) {
        let reached = if matches!(event, Event::End(_)) { range.end } else { range.start };
        while let Some(definition) = self.definitions.pop_if(|definition| definition.start < reached) {
            self.push(Kind::Definition, definition);
        }
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(TagEnd::List(_)) => self.depth -= 1,
            Event::End(TagEnd::BlockQuote(_)) => {
                self.depth -= 1;
                self.push(Kind::QuoteEnd, range);
            }
            Event::End(TagEnd::Item) => self.push(Kind::ItemEnd, range),
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::HtmlBlock) => {
                self.in_text = false;
            }
            Event::Rule => self.push(Kind::Break, range),
            _ => self.inline(range),
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        let Some(kind) = started(tag) else { return self.inline(range) };
        if self.depth == 0 {
            self.goes_on = matches!(kind, Kind::IndentedCode | Kind::FencedCode | Kind::Html);
        }
        match kind {
            Kind::Break | Kind::QuoteStart => self.depth += 1,
            Kind::ItemStart => {}
            _ => self.in_text = true,
        }
        self.push(kind, range);
    }

    /// Text that is in no block of its own is that of a tight item.
    fn inline(&mut self, range: Range<usize>) {
        if self.in_text {
            return;
        }
        match self.blocks.last_mut() {
            Some(last) if last.kind == Kind::TightText => last.range.end = range.end + self.base,
            _ => self.push(Kind::TightText, range),
        }
    }
}

fn started(tag: &Tag<'_>) -> Option<Kind> {
    Some(match tag {
        Tag::BlockQuote(_) => Kind::QuoteStart,
        Tag::Item => Kind::ItemStart,
        Tag::List(_) => Kind::Break,
        Tag::Paragraph => Kind::Paragraph,
        Tag::Heading { level, .. } => Kind::Heading(*level as u8),
        Tag::CodeBlock(CodeBlockKind::Indented) => Kind::IndentedCode,
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => Kind::FencedCode,
        Tag::HtmlBlock => Kind::Html,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::diagnostic::Diagnostic;
    use crate::plan::parse::{Reader, parse};
    use crate::plan::task::Plan;

    fn in_pieces(text: &str, size: usize) -> ((Plan<'_>, Vec<Diagnostic>), usize) {
        let mut reader = Reader::new(text);
        let mut count = 0;
        pieces(text, 0, size, |blocks| {
            count += 1;
            blocks.into_iter().for_each(|block| reader.take(block.kind, block.range));
            true
        });
        reader.end_definitions();
        (reader.builder.finish(text), count)
    }

    fn line() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "- [ID: 1] A",
            "- [ID: 2] B (Complexity: 3)",
            "  - [ID: 1.1] C",
            "  - Files: a, b",
            "    - Hints:",
            "      - x",
            "- plain",
            "text",
            "  text",
            "[a]: /b",
            "[ID: 3] D",
            "> - [ID: 4] E",
            "> ```",
            "```",
            "  ```",
            "    - [ID: 5] F",
            "<!-- x",
            "-->",
            "<div>",
            "<pre>",
            "</pre>",
            "## [6] G",
            "- Complexity: 2",
            "---",
            "===",
            "1. y",
            "",
            "",
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn pieces_make_the_whole(lines in prop::collection::vec(line(), 0..24), crlf: bool, size in 1_usize..60) {
            // The second definition of a link is none, and in another piece it is the first.
            let number = |(at, line): (usize, &&str)| line.replace("[a]", &format!("[a{at}]"));
            let lines: Vec<String> = lines.iter().enumerate().map(number).collect();
            let text = lines.join(if crlf { "\r\n" } else { "\n" });
            prop_assert_eq!(in_pieces(&text, size).0, parse(&text), "{}", text);
        }
    }

    #[test]
    fn a_large_text_is_read_in_pieces_and_as_a_whole_where_it_has_to_be() {
        let leaf = "- [ID: 1] A\n  - Files: a\n";
        let list = leaf.repeat(40_000);
        let fence = format!("{list}\n```\n{list}");
        let check = |text: &str, least: usize, most: usize| {
            let (whole, _) = in_pieces(text, text.len());
            let (found, count) = in_pieces(text, PIECE);
            assert!((least..=most).contains(&count), "{count} pieces");
            assert!(found == whole && parse(text) == whole, "read in pieces, it is another tree");
        };
        check(&list, 10, 17);
        check(&fence, 10, 18);
        check(&"- [ID: 1] A ".repeat(100_000), 1, 1);
    }
}

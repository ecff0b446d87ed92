//! The blocks of a text, read piece by piece: what `pulldown-cmark` keeps in memory is then a piece and not the
//! text, and on a large text it works beside the reader, which is the slower of the two.
//!
//! A text is cut in front of a line that begins with `- [`, behind a bullet's line or a blank one. Such a line
//! begins a block of its own unless it stands in code or HTML that began before it; what could be that is read
//! on to the end in one piece.

use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::thread;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Bytes of a piece, or more where it can't be cut sooner.
const PIECE: usize = 1 << 18;
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
    let mut blocks = Vec::new();
    let (mut depth, mut goes_on) = (0_usize, false);
    for (event, range) in Parser::new_ext(&text[piece.clone()], Options::empty()).into_offset_iter() {
        let kind = match event {
            Event::Start(tag) => {
                let Some(kind) = started(&tag) else { continue };
                if depth == 0 {
                    goes_on = matches!(kind, Kind::IndentedCode | Kind::FencedCode | Kind::Html);
                }
                depth += usize::from(matches!(tag, Tag::List(_) | Tag::BlockQuote(_)));
                kind
            }
            Event::End(TagEnd::List(_)) => {
                depth -= 1;
                continue;
            }
            Event::End(TagEnd::BlockQuote(_)) => {
                depth -= 1;
                Kind::QuoteEnd
            }
            Event::End(TagEnd::Item) => Kind::ItemEnd,
            Event::Rule => Kind::Break,
            _ => continue,
        };
        blocks.push(Block { kind, range: range.start + piece.start..range.end + piece.start });
    }
    (blocks, goes_on)
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

//! One lexer for all languages that a table can describe: comment marks, literals, code inside of literals, and a
//! language-specific function for everything else. Nothing recurses, so deep nesting can't overflow the stack.

use super::cursor::{CommentCursor, is_blank, is_word};
use crate::CommentKind;

/// The comments and literals of a language. If several could begin at a byte, the first one wins, in the order of
/// [`TableLexer::step_in_code`].
pub(crate) struct Syntax {
    /// Marks that begin a comment to the end of the line, wherever `lines_begin` is true.
    pub(crate) lines: &'static [&'static str],
    pub(crate) lines_begin: Condition,
    /// True if a backslash at the end of a line comment continues it on the next line.
    pub(crate) lines_continue: bool,
    /// A mark that ends a line comment before the end of the line.
    pub(crate) lines_stop: Option<&'static str>,
    /// Block comments; they take precedence over line comments.
    pub(crate) blocks: &'static [BlockMarks],
    /// Literals and code between two marks, longest marks first.
    pub(crate) regions: &'static [Region],
    pub(crate) fences: &'static [Fence],
    /// For a language with character literals in single quotes: true for the bytes after which a quote doesn't begin
    /// such a literal.
    pub(crate) quote_follows: Option<fn(u8) -> bool>,
    pub(crate) skips: Skips,
    /// True if the comment at the start of the given bytes is documentation.
    pub(crate) is_doc: fn(&[u8]) -> bool,
    /// The bytes at which the language-specific rule is called.
    pub(crate) asks: &'static [u8],
    /// The language-specific rule, called before the rest of the table is tried.
    pub(crate) rule: fn(&mut TableLexer<'_, '_>) -> RuleTurn,
}

/// Decides if a construct may begin at the cursor.
pub(crate) type Condition = fn(&CommentCursor<'_>) -> bool;

/// Marks that mean nothing, such as escaped quotes, each with the number of bytes to skip.
pub(crate) type Skips = &'static [(&'static str, usize)];

/// A backslash and the byte after it. A line break may have two bytes.
pub(crate) const BACKSLASH: Skips = &[("\\\r\n", 3), ("\\", 2)];

impl Syntax {
    /// No comments and no literals; the base of all tables.
    pub(crate) const PLAIN: Self = Self {
        lines: &[],
        lines_begin: |_| true,
        lines_continue: false,
        lines_stop: None,
        blocks: &[],
        regions: &[],
        fences: &[],
        quote_follows: None,
        skips: &[],
        is_doc: |_| false,
        asks: &[],
        rule: |_| RuleTurn::Pass,
    };

    /// The bytes that can begin anything but plain code.
    fn first_bytes(&self) -> [bool; 256] {
        let mut first = [false; 256];
        let blocks = self.blocks.iter().map(|block| block.open);
        let regions = self.regions.iter().map(|region| region.open);
        let skips = self.skips.iter().map(|(mark, _)| *mark);
        let fences = self.fences.iter().map(|fence| fence.open);
        let lines = self.lines.iter().copied();
        let marks = lines
            .chain(blocks)
            .chain(regions)
            .chain(skips)
            .chain(fences);
        let bytes = marks.filter_map(|mark| mark.bytes().next());
        for byte in bytes.chain(self.asks.iter().copied()).chain([b'\n']) {
            first[usize::from(byte)] = true;
        }
        first[usize::from(b'\'')] |= self.quote_follows.is_some();
        for fence in self.fences.iter().filter(|fence| fence.open.is_empty()) {
            (0..=u8::MAX).for_each(|byte| first[usize::from(byte)] |= (fence.is_tag)(byte));
        }
        first
    }
}

/// A comment between two marks.
pub(crate) struct BlockMarks {
    pub(crate) open: &'static str,
    pub(crate) close: &'static str,
    /// True if each mark in it that opens another comment needs a closing one.
    pub(crate) nests: bool,
}

impl BlockMarks {
    pub(crate) const fn flat(open: &'static str, close: &'static str) -> Self {
        Self {
            open,
            close,
            nests: false,
        }
    }

    pub(crate) const fn nested(open: &'static str, close: &'static str) -> Self {
        Self {
            open,
            close,
            nests: true,
        }
    }
}

/// A part of a text between two marks: a literal, which can't contain comments, or code inside a literal.
#[derive(Clone, Copy)]
pub(crate) struct Region {
    pub(crate) open: &'static str,
    pub(crate) close: &'static str,
    pub(crate) begins: Condition,
    pub(crate) skips: Skips,
    /// True if a literal may span lines; otherwise it ends with its line.
    pub(crate) spans_lines: bool,
    /// Maximum number of repetitions of the closing mark's byte that still belong to the mark.
    pub(crate) repeats: usize,
    /// Opening brackets that must be closed before the region can end.
    pub(crate) nests: &'static [u8],
    /// Regions that can begin inside a literal. They take precedence over `skips`.
    pub(crate) holes: &'static [Region],
    pub(crate) content: RegionContent,
}

#[derive(Clone, Copy)]
pub(crate) enum RegionContent {
    Text,
    Code,
    /// Code that can also end at a colon, which begins a format. A doubled opening mark is literal text.
    Formatted,
    /// Read by a language-specific function, which is passed the number of open brackets.
    Own(fn(&mut TableLexer<'_, '_>, usize)),
}

impl Region {
    /// A literal from `open` to `close`, on one line, without escapes.
    pub(crate) const fn delimited(open: &'static str, close: &'static str) -> Self {
        Self {
            open,
            close,
            begins: |_| true,
            skips: &[],
            spans_lines: false,
            repeats: 0,
            nests: &[],
            holes: &[],
            content: RegionContent::Text,
        }
    }

    /// A literal from `mark` to the same mark, on one line, without escapes.
    pub(crate) const fn raw(mark: &'static str) -> Self {
        Self::delimited(mark, mark)
    }

    /// A literal from `mark` to the same mark, on one line, with backslash as escape.
    pub(crate) const fn escaped(mark: &'static str) -> Self {
        Self::raw(mark).skipping(BACKSLASH)
    }

    /// Code from `open` to `close`, in which the brackets in `nests` must be closed.
    pub(crate) const fn code_region(
        open: &'static str,
        nests: &'static [u8],
        close: &'static str,
    ) -> Self {
        let mut region = Self::delimited(open, close);
        region.nests = nests;
        region.content = RegionContent::Code;
        region
    }

    pub(crate) const fn skipping(mut self, skips: Skips) -> Self {
        self.skips = skips;
        self
    }

    pub(crate) const fn spanning_lines(mut self) -> Self {
        self.spans_lines = true;
        self
    }

    pub(crate) const fn beginning(mut self, begins: Condition) -> Self {
        self.begins = begins;
        self
    }

    pub(crate) const fn repeating(mut self, repeats: usize) -> Self {
        self.repeats = repeats;
        self
    }

    pub(crate) const fn with_holes(mut self, holes: &'static [Region]) -> Self {
        self.holes = holes;
        self
    }

    fn is_code(&self) -> bool {
        matches!(self.content, RegionContent::Code | RegionContent::Formatted)
    }

    /// True if `byte` may mean something in the literal, and so can't simply be skipped.
    fn stops_at(&self, byte: u8) -> bool {
        let begins = |mark: &str| mark.as_bytes()[0] == byte;
        begins(self.close)
            || (byte == b'\n' && !self.spans_lines)
            || self.skips.iter().any(|(mark, _)| begins(mark))
            || self.nests.contains(&byte)
            || self.holes.iter().any(|hole| begins(hole.open))
    }
}

/// `{…}`.
pub(crate) static BRACES: Region = Region::code_region("{", b"{", "}");
/// `${…}`.
pub(crate) const DOLLAR: &[Region] = &[Region::code_region("${", b"{", "}")];
/// `#{…}`.
pub(crate) const HASH: &[Region] = &[Region::code_region("#{", b"{", "}")];
/// `$(…)`.
pub(crate) const DOLLAR_PARENTHESIS: &[Region] = &[Region::code_region("$(", b"(", ")")];
/// `\(…)`.
pub(crate) const SLASH_PARENTHESIS: &[Region] = &[Region::code_region("\\(", b"(", ")")];
/// `{…}`, with an optional format after a colon.
pub(crate) const FORMAT: &[Region] = &[Region {
    content: RegionContent::Formatted,
    ..Region::code_region("{", b"{[(", "}")
}];

pub(crate) const TRIPLE: Region = Region::escaped("\"\"\"").spanning_lines();
pub(crate) const QUOTED: Region = Region::escaped("\"").spanning_lines();
pub(crate) const APOSTROPHES: Region = Region::escaped("'").spanning_lines();
pub(crate) const BACKTICKS: Region = Region::escaped("`").spanning_lines();

/// A literal whose closing mark repeats a tag from its opening mark: `r#"…"#`, `[==[ … ]==]`, `$body$ … $body$`.
pub(crate) struct Fence {
    /// The mark before the tag.
    pub(crate) open: &'static str,
    pub(crate) begins: Condition,
    pub(crate) is_tag: fn(u8) -> bool,
    /// Minimum length of a tag, in bytes.
    pub(crate) least: usize,
    /// The mark after the tag.
    pub(crate) then: &'static str,
    /// Builds the closing mark for a tag.
    pub(crate) close: fn(&str) -> String,
    /// True if the literal may span lines; otherwise it ends with its line.
    pub(crate) spans_lines: bool,
    pub(crate) is_comment: bool,
}

/// Longest tag of a fence, in bytes.
const MAX_TAG: usize = 128;

impl Fence {
    pub(crate) const fn new(
        open: &'static str,
        is_tag: fn(u8) -> bool,
        then: &'static str,
        close: fn(&str) -> String,
    ) -> Self {
        Self {
            open,
            begins: |_| true,
            is_tag,
            least: 0,
            then,
            close,
            spans_lines: true,
            is_comment: false,
        }
    }

    /// From `[==[` to `]==]`, as in Lua; a comment if `open` is more than the bracket.
    pub(crate) const fn long_bracket(open: &'static str) -> Self {
        Self {
            is_comment: open.len() > 1,
            ..Self::new(open, |byte| byte == b'=', "[", |tag| format!("]{tag}]"))
        }
    }

    /// The end of the fence at the cursor, if there is one.
    fn end_at(&self, cursor: &CommentCursor<'_>) -> Option<usize> {
        if !cursor.sees(self.open) || !(self.begins)(cursor) {
            return None;
        }
        let start = cursor.at + self.open.len();
        let rest = cursor.rest_from(start).iter().take(MAX_TAG);
        let length = rest.take_while(|byte| (self.is_tag)(**byte)).count();
        let (tag, behind) = cursor.rest_from(start).split_at(length);
        let is_open = length >= self.least && behind.starts_with(self.then.as_bytes());
        let close = (self.close)(std::str::from_utf8(tag).ok().filter(|_| is_open)?);
        let body = start + length + self.then.len();
        if self.spans_lines {
            return Some(cursor.end_of_mark(body, &close));
        }
        let found = cursor.find_in_line(body, &close);
        Some(found.map_or_else(|| cursor.line_end(body), |found| found + close.len()))
    }
}

/// Maximum length of an escape sequence, in bytes, not counting the backslash and the byte after it.
const MAX_ESCAPE: usize = 9;

/// The result of a language-specific rule.
pub(crate) enum RuleTurn {
    /// Nothing special: the table decides.
    Pass,
    /// The rule moved the cursor.
    Moved,
    /// The rule moved the cursor into this region.
    Entered(&'static Region),
    /// No more code in this language follows.
    Left,
}

/// An open region.
#[derive(Clone, Copy)]
struct Frame {
    region: &'static Region,
    /// Number of the region's own brackets that are still open.
    depth: usize,
    /// True if the region may span lines. Code in a literal may if the literal may.
    spans_lines: bool,
    /// True if the region can't contain comments.
    is_bare: bool,
    /// Number of open `case` statements in a shell script; their patterns end with unpaired parentheses.
    cases: usize,
}

/// The syntax of a language's heredocs.
pub(crate) struct HeredocForm {
    /// Characters after `<<` that allow the closing line to be indented.
    pub(crate) indenters: &'static [u8],
    pub(crate) is_always_indented: bool,
    pub(crate) may_follow_blanks: bool,
    /// Quote characters that may surround the name.
    pub(crate) quotes: &'static [u8],
    pub(crate) is_name: fn(u8) -> bool,
    /// True if a name with neither an indenter nor quotes may begin with this byte.
    pub(crate) begins_bare: fn(u8) -> bool,
}

impl HeredocForm {
    /// `<<NAME`.
    pub(crate) const PLAIN: Self = Self {
        indenters: b"-",
        is_always_indented: false,
        may_follow_blanks: false,
        quotes: &[],
        is_name: is_word,
        begins_bare: |_| true,
    };
}

/// A heredoc, whose body begins after the line that announces it.
#[derive(Debug, Clone, Copy)]
struct Heredoc<'t> {
    /// The line that ends the heredoc.
    close: &'t [u8],
    /// True if the closing line may be indented.
    is_indented: bool,
}

/// The state of the engine.
pub(crate) struct TableLexer<'c, 't> {
    pub(crate) cursor: &'c mut CommentCursor<'t>,
    /// For each open parenthesis of a script, true if `if`, `while`, `for` or `with` precedes it.
    pub(crate) heads: Vec<bool>,
    /// The same as in `heads`, for the parenthesis that was closed last.
    pub(crate) behind_head: bool,
    heredocs: Vec<Heredoc<'t>>,
    syntax: &'static Syntax,
    frames: Vec<Frame>,
    marks: [bool; 256],
    has_left: bool,
}

/// Records comments in the language `syntax`, up to the cursor's end or until the language ends.
pub(crate) fn lex_code(cursor: &mut CommentCursor<'_>, syntax: &'static Syntax) {
    TableLexer::with_syntax(cursor, syntax).run_until(|_| false);
}

/// Records the comments in the braced code at the cursor, and moves past that code.
pub(crate) fn lex_braces(cursor: &mut CommentCursor<'_>, syntax: &'static Syntax) {
    let start = std::mem::replace(&mut cursor.start, cursor.at);
    let mut lexer = TableLexer::with_syntax(cursor, syntax);
    lexer.enter_region(&BRACES);
    lexer.run_until(|lexer| lexer.frames.is_empty());
    cursor.start = start;
}

impl<'c, 't> TableLexer<'c, 't> {
    fn with_syntax(cursor: &'c mut CommentCursor<'t>, syntax: &'static Syntax) -> Self {
        Self {
            cursor,
            heads: Vec::new(),
            behind_head: false,
            heredocs: Vec::new(),
            syntax,
            frames: Vec::new(),
            marks: syntax.first_bytes(),
            has_left: false,
        }
    }

    fn run_until(&mut self, ends: impl Fn(&Self) -> bool) {
        while !self.cursor.at_end() && !self.has_left && !ends(self) {
            match self.frames.last().map(|frame| (frame.region, frame.depth)) {
                None => self.step_in_code(),
                Some((region, depth)) => match region.content {
                    RegionContent::Code | RegionContent::Formatted => self.step_in_code(),
                    RegionContent::Text => self.step_in_text(region, depth),
                    RegionContent::Own(step) => step(self, depth),
                },
            }
        }
    }

    /// Moves to the next byte of code that may have a meaning, and handles it.
    fn step_in_code(&mut self) {
        let (marks, frame) = (&self.marks, self.frames.last());
        match frame {
            None => self.cursor.skip_until(|byte| marks[usize::from(byte)]),
            Some(_) => self
                .cursor
                .skip_until(|byte| marks[usize::from(byte)] || b"{}()[]:`".contains(&byte)),
        }
        let byte = self.cursor.peek(0);
        if self.cursor.at_end() {
            return;
        }
        if byte == b'\n' {
            return self.break_line();
        }
        if self.leave_code(byte) {
            return;
        }
        if self.syntax.asks.contains(&byte) {
            match (self.syntax.rule)(self) {
                RuleTurn::Pass => {}
                RuleTurn::Moved => return,
                RuleTurn::Left => return self.has_left = true,
                RuleTurn::Entered(region) => return self.push_frame(region),
            }
        }
        let is_bare = self.frames.last().is_some_and(|frame| frame.is_bare);
        let is_read = self.skip_mark()
            || self.skip_char()
            || self.read_fence()
            || (!is_bare && self.read_comment())
            || self.open_region();
        if !is_read {
            self.count_bracket(byte);
            self.cursor.at += 1;
        }
    }

    fn skip_mark(&mut self) -> bool {
        let mut skips = self.syntax.skips.iter();
        let found = skips.find(|(mark, _)| self.cursor.sees(mark));
        self.cursor.at += found.map_or(0, |(_, width)| *width);
        found.is_some()
    }

    /// Skips the character literal at the cursor, or just its quote if it isn't one.
    fn skip_char(&mut self) -> bool {
        let Some(follows) = self.syntax.quote_follows else {
            return false;
        };
        let cursor = &mut *self.cursor;
        if cursor.peek(0) != b'\'' {
            return false;
        }
        let first = cursor.peek(1);
        let width = match first {
            b'\\' => 3,
            0xf0.. => 5,
            0xe0.. => 4,
            0xc0.. => 3,
            _ => 2,
        };
        let more = cursor.length_while(cursor.at + width, |byte| !matches!(byte, b'\'' | b'\n'));
        let end = cursor.at + width + more;
        let most = if first == b'\\' { MAX_ESCAPE } else { 0 };
        let is_char =
            more <= most && cursor.byte_at(end) == b'\'' && !follows(cursor.byte_before());
        cursor.at = if is_char { end + 1 } else { cursor.at + 1 };
        true
    }

    /// Skips the fence at the cursor, or records it if it is a comment.
    fn read_fence(&mut self) -> bool {
        let cursor = &mut *self.cursor;
        let end_of = |fence: &Fence| Some((fence.end_at(cursor)?, fence.is_comment));
        match self.syntax.fences.iter().find_map(end_of) {
            Some((end, true)) => cursor.take_until(end, CommentKind::Block),
            Some((end, false)) => cursor.at = end,
            None => return false,
        }
        true
    }

    /// Records the comment that begins here, if there is one.
    pub(crate) fn read_comment(&mut self) -> bool {
        let (cursor, syntax) = (&*self.cursor, self.syntax);
        let begins_line = || {
            let mut lines = syntax.lines.iter();
            lines.any(|mark| cursor.sees(mark)) && (syntax.lines_begin)(cursor)
        };
        let block = syntax.blocks.iter().find(|block| cursor.sees(block.open));
        let (end, kind) = match block {
            Some(block) => (block_end(cursor, block), CommentKind::Block),
            None if begins_line() => (self.line_comment_end(), CommentKind::Line),
            None => return false,
        };
        let is_doc = (syntax.is_doc)(cursor.rest());
        let kind = if is_doc { CommentKind::Doc } else { kind };
        self.cursor.take_until(end, kind);
        true
    }

    /// The end of the line comment at the cursor.
    fn line_comment_end(&self) -> usize {
        let cursor = &*self.cursor;
        let frame = self.frames.last();
        let stop = match frame.is_some_and(|frame| frame.region.close == "`") {
            true => Some("`"),
            false => self.syntax.lines_stop,
        };
        if let Some(end) = stop.and_then(|mark| cursor.find_in_line(cursor.at, mark)) {
            return end;
        }
        let (mut end, last) = (cursor.line_end(cursor.at), cursor.bytes.len());
        while self.syntax.lines_continue && end < last && cursor.byte_at(end - 1) == b'\\' {
            end = cursor.line_end(cursor.end_of_mark(end, "\n"));
        }
        end
    }

    /// Enters the region that begins here, if there is one.
    fn open_region(&mut self) -> bool {
        let begins =
            |region: &&Region| self.cursor.sees(region.open) && (region.begins)(self.cursor);
        let found = self.syntax.regions.iter().find(begins);
        if let Some(region) = found {
            self.enter_region(region);
        }
        found.is_some()
    }

    /// Enters a region whose opening mark is next.
    pub(crate) fn enter_region(&mut self, region: &'static Region) {
        self.cursor.at += region.open.len();
        self.push_frame(region);
    }

    fn push_frame(&mut self, region: &'static Region) {
        let around = self.frames.last().is_none_or(|frame| frame.spans_lines);
        let spans_lines = if region.is_code() {
            around
        } else {
            region.spans_lines
        };
        self.frames.push(Frame {
            region,
            depth: 0,
            spans_lines,
            is_bare: !around || matches!(region.content, RegionContent::Formatted),
            cases: 0,
        });
    }

    /// Moves past the mark of `width` bytes that ends the innermost region.
    pub(crate) fn leave_region(&mut self, width: usize) {
        self.cursor.at += width;
        self.frames.pop();
    }

    /// Counts the beginning or end of a shell `case` in the innermost command.
    pub(crate) fn count_case(&mut self, begins: bool) {
        if let Some(frame) = self
            .frames
            .last_mut()
            .filter(|frame| frame.region.close == ")")
        {
            frame.cases = match begins {
                true => frame.cases + 1,
                false => frame.cases.saturating_sub(1),
            };
        }
    }

    /// Leaves the innermost code region if `byte` ends it.
    fn leave_code(&mut self, byte: u8) -> bool {
        let ends = |frame: &Frame| {
            let close = frame.region.close.as_bytes()[0];
            let is_format =
                matches!(frame.region.content, RegionContent::Formatted) && byte == b':';
            frame.depth == 0 && frame.cases == 0 && (byte == close || is_format)
        };
        let leaves = self.frames.last().is_some_and(ends);
        if leaves {
            self.leave_region(1);
        }
        leaves
    }

    /// Updates the count of open brackets, all of which must be closed before the innermost region ends.
    pub(crate) fn count_bracket(&mut self, byte: u8) {
        let Some(Frame { region, depth, .. }) = self.frames.last_mut() else {
            return;
        };
        let closes = byte == region.close.as_bytes()[0]
            || (region.nests.len() > 1 && matches!(byte, b')' | b']'));
        if region.nests.contains(&byte) {
            *depth += 1;
        } else if closes {
            *depth = depth.saturating_sub(1);
        }
    }

    /// Moves to the next line: leaves literals that can't span lines, and skips heredocs that begin there.
    fn break_line(&mut self) {
        self.cursor.at += 1;
        while self.frames.last().is_some_and(|frame| !frame.spans_lines) {
            self.frames.pop();
            self.frames.pop();
        }
        for heredoc in std::mem::take(&mut self.heredocs) {
            skip_heredoc(self.cursor, heredoc);
        }
    }

    /// Moves to the next byte of a literal that may have a meaning, and handles it.
    fn step_in_text(&mut self, region: &'static Region, depth: usize) {
        self.cursor.skip_until(|byte| region.stops_at(byte));
        let byte = self.cursor.peek(0);
        let cursor = &mut *self.cursor;
        if cursor.at_end() {
            return;
        }
        let hole = region.holes.iter().find(|hole| cursor.sees(hole.open));
        let skip = region.skips.iter().find(|(mark, _)| cursor.sees(mark));
        if let Some(hole) = hole {
            let is_formatted = matches!(hole.content, RegionContent::Formatted);
            match is_formatted && cursor.peek(1) == byte {
                true => cursor.at += 2,
                false => self.enter_region(hole),
            }
        } else if let Some((_, width)) = skip {
            cursor.at += width;
        } else if byte == b'\n' && !region.spans_lines {
            self.frames.pop();
        } else if depth == 0 && cursor.sees(region.close) {
            let behind = cursor.rest()[region.close.len()..].iter();
            let repeats = behind
                .take(region.repeats)
                .take_while(|other| **other == byte);
            let width = region.close.len() + repeats.count();
            self.leave_region(width);
        } else {
            cursor.at += 1;
            self.count_bracket(byte);
        }
    }

    /// Reads the `<<` at the cursor, and any heredoc that it announces in this form.
    pub(crate) fn read_heredoc(&mut self, form: &HeredocForm) -> RuleTurn {
        let cursor = &mut *self.cursor;
        cursor.at += 2;
        let has_sign = form.indenters.contains(&cursor.peek(0));
        let is_indented = has_sign || form.is_always_indented;
        let mut name = cursor.at + usize::from(has_sign);
        if form.may_follow_blanks {
            name += cursor.length_while(name, is_blank);
        }
        let quote = cursor.byte_at(name);
        let is_quoted = form.quotes.contains(&quote);
        name += usize::from(is_quoted);
        let is_closed = is_quoted && quote != b'\\';
        let length = match is_closed {
            true => cursor.length_while(name, |byte| byte != quote && byte != b'\n'),
            false => cursor.length_while(name, form.is_name),
        };
        let (first, end) = (cursor.byte_at(name), name + length);
        let fits = match is_closed {
            true => cursor.byte_at(end) == quote,
            false => has_sign || is_quoted || (form.begins_bare)(first),
        };
        if length > 0 && fits && !first.is_ascii_digit() {
            cursor.at = end + usize::from(is_closed);
            let close = &cursor.bytes[name..end];
            self.heredocs.push(Heredoc { close, is_indented });
        }
        RuleTurn::Moved
    }
}

/// Moves past the line that ends `heredoc`.
fn skip_heredoc(cursor: &mut CommentCursor<'_>, heredoc: Heredoc<'_>) {
    while !cursor.at_end() {
        let mut line = &cursor.bytes[cursor.at..cursor.line_end(cursor.at)];
        cursor.skip_line();
        if heredoc.is_indented {
            line = line.trim_ascii_start();
        }
        if line == heredoc.close {
            return;
        }
    }
}

/// The end of the block comment at the cursor, including its closing mark.
fn block_end(cursor: &CommentCursor<'_>, block: &BlockMarks) -> usize {
    let body = cursor.at + block.open.len();
    if !block.nests {
        return cursor.end_of_mark(body, block.close);
    }
    let (mut end, mut depth) = (body, 1_usize);
    while depth > 0 && end < cursor.bytes.len() {
        end += match cursor.rest_from(end) {
            rest if rest.starts_with(block.close.as_bytes()) => {
                depth -= 1;
                block.close.len()
            }
            rest if rest.starts_with(block.open.as_bytes()) => {
                depth += 1;
                block.open.len()
            }
            _ => 1,
        };
    }
    end.min(cursor.bytes.len())
}

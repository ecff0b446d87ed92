//! Ruby lets authors choose the delimiters of strings, and a slash can be division or begin a regular expression, so its
//! rule needs context.

use super::cursor::{CommentCursor, is_word};
use super::engine::{
    APOSTROPHES, BACKTICKS, HASH, HeredocForm, QUOTED, Region, RuleTurn, Syntax, TableLexer,
};
use crate::CommentKind;

pub(crate) static RUBY: Syntax = Syntax {
    lines: &["#"],
    regions: &[
        QUOTED.with_holes(HASH),
        APOSTROPHES,
        BACKTICKS.with_holes(HASH),
    ],
    asks: b"=_?$%/<:",
    rule: read_ruby,
    ..Syntax::PLAIN
};

/// Ruby keywords that can precede a value.
const RUBY_WORDS: &str =
    "return case in do else yield if unless while until when and or not then elsif begin";

/// A bare name must be a constant: before a lowercase letter, `<<` shifts or appends.
const RUBY_HEREDOC: HeredocForm = HeredocForm {
    indenters: b"~-",
    quotes: b"\"'`",
    begins_bare: |first| first.is_ascii_uppercase() || first == b'_',
    ..HeredocForm::PLAIN
};

/// All closing delimiters of strings: first closing brackets, then characters that also open the string.
const DELIMITERS: &str = ")]}>!\"#$%&'*+,-./:;=?@\\^`|~)]}>";
const BRACKETS: [&[u8]; 4] = [b"(", b"[", b"{", b"<"];

/// A string for each of [`DELIMITERS`].
pub(super) type DelimitedTexts = [Region; DELIMITERS.len()];

/// Builds a string for each delimiter, with these holes. If `nests` is true, nested brackets must be balanced.
pub(super) const fn delimited_texts(nests: bool, holes: &'static [Region]) -> DelimitedTexts {
    let mut texts = [Region::raw("!"); DELIMITERS.len()];
    let mut index = 0;
    while index < texts.len() {
        let close = DELIMITERS.split_at(index).1.split_at(1).0;
        texts[index] = Region::escaped(close).spanning_lines().with_holes(holes);
        if nests && index < BRACKETS.len() {
            texts[index].nests = BRACKETS[index];
        }
        index += 1;
    }
    texts
}

/// The entry of `texts` for strings that begin with `open`.
pub(super) fn delimited_text(texts: &'static DelimitedTexts, open: u8) -> Option<&'static Region> {
    let bracket = BRACKETS.iter().position(|bracket| bracket[0] == open);
    let index = bracket.or_else(|| DELIMITERS.bytes().rposition(|byte| byte == open))?;
    Some(&texts[index])
}

static PLAIN_TEXTS: DelimitedTexts = delimited_texts(true, &[]);
static FILLED_TEXTS: DelimitedTexts = delimited_texts(true, HASH);

/// Ruby regular expressions: one where a value must come, and one where an argument may come.
static RUBY_REGEX: Region = Region::escaped("/").spanning_lines().with_holes(HASH);
static RUBY_ARGUMENT_REGEX: Region = Region::escaped("/").with_holes(HASH);

fn read_ruby(lexer: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *lexer.cursor;
    match cursor.peek(0) {
        b'=' if cursor.at_line_start() && cursor.sees("=begin") => {
            let end = cursor.find_mark(cursor.at, "\n=end");
            let end = end.map_or(cursor.bytes.len(), |end| cursor.line_end(end + 1));
            cursor.take_until(end, CommentKind::Block);
        }
        b'_' if ends_program(cursor) => return RuleTurn::Left,
        b'?' if !cursor.is_behind_word()
            && !is_word(cursor.peek(2))
            && !cursor.peek(1).is_ascii_whitespace() =>
        {
            cursor.at += if cursor.peek(1) == b'\\' { 3 } else { 2 };
        }
        b'$' if cursor.peek(1).is_ascii_punctuation() => cursor.at += 2,
        b':' if b"/%`<".contains(&cursor.peek(1)) && cursor.byte_before() != b':' => cursor.at += 2,
        b'%' => return read_percent(cursor),
        b'/' if cursor.expects_value(RUBY_WORDS) => {
            cursor.at += 1;
            return RuleTurn::Entered(&RUBY_REGEX);
        }
        b'/' if is_argument(cursor) => {
            cursor.at += 1;
            return RuleTurn::Entered(&RUBY_ARGUMENT_REGEX);
        }
        b'<' if cursor.sees("<<") && is_shift(cursor) => cursor.at += 2,
        b'<' if cursor.sees("<<") => return lexer.read_heredoc(&RUBY_HEREDOC),
        _ => return RuleTurn::Pass,
    }
    RuleTurn::Moved
}

/// True if this line ends the program's code.
fn ends_program(cursor: &CommentCursor<'_>) -> bool {
    let line = || &cursor.bytes[cursor.at..cursor.line_end(cursor.at)];
    cursor.at_line_start() && matches!(line(), b"__END__" | b"__DATA__")
}

/// True if an argument without parentheses may begin at the cursor: `puts /x/`, `puts %w[a]`, not `a / b`.
fn is_argument(cursor: &CommentCursor<'_>) -> bool {
    let end = cursor.code_end();
    let word = cursor.word_ending_at(end);
    let is_name = word.last().is_some_and(|byte| !byte.is_ascii_digit());
    let sign = match end - word.len() {
        start if start > cursor.start => cursor.byte_at(start - 1),
        _ => 0,
    };
    let next = cursor.peek(1);
    let is_operator = next.is_ascii_whitespace() || next == b'=';
    is_name && !matches!(sign, b'@' | b'$') && end < cursor.at && !is_operator
}

/// True if the `<<` at the cursor follows a value and precedes a name, and so doesn't announce a heredoc.
fn is_shift(cursor: &CommentCursor<'_>) -> bool {
    let is_behind_value = cursor.is_behind_word() || b")]".contains(&cursor.byte_before());
    is_behind_value && is_word(cursor.peek(2))
}

fn read_percent(cursor: &mut CommentCursor<'_>) -> RuleTurn {
    let letter = cursor.peek(1);
    let width = if letter.is_ascii_alphabetic() { 2 } else { 1 };
    let open = cursor.peek(width);
    let fits = match width {
        2 => b"qQwWiIrsx".contains(&letter) && open != b'=',
        _ => b"([{<|!/".contains(&open),
    };
    let is_value = cursor.expects_value(RUBY_WORDS) || is_argument(cursor);
    let is_filled = !b"qwis".contains(&letter);
    let texts = if is_filled {
        &FILLED_TEXTS
    } else {
        &PLAIN_TEXTS
    };
    let Some(text) = delimited_text(texts, open).filter(|_| fits && is_value) else {
        return RuleTurn::Pass;
    };
    cursor.at += width + 1;
    RuleTurn::Entered(text)
}

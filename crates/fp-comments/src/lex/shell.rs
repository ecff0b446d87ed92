//! Shells: quotes and commands nest in each other, and heredocs interrupt both.

use super::cursor::{CommentCursor, is_word};
use super::engine::{
    APOSTROPHES, DOLLAR_PARENTHESIS, HeredocForm, QUOTED, Region, RuleTurn, Skips, Syntax,
    TableLexer,
};

/// The descendants of the Bourne shell.
pub(crate) static SHELL: Syntax = Syntax {
    lines: &["#"],
    lines_begin: begins_comment,
    regions: &WORDS,
    skips: SKIPS,
    asks: b"(<ce",
    rule: read_shell,
    ..Syntax::PLAIN
};

pub(crate) static FISH: Syntax = Syntax {
    lines: &["#"],
    lines_begin: begins_comment,
    regions: &[
        QUOTED.with_holes(DOLLAR_PARENTHESIS),
        APOSTROPHES,
        DOLLAR_PARENTHESIS[0],
    ],
    skips: &[("\\", 2)],
    ..Syntax::PLAIN
};

/// A backslash, and variables that look like the start of something else.
const SKIPS: Skips = &[("\\", 2), ("$#", 2), ("$$", 2)];
const COMMAND: Region = DOLLAR_PARENTHESIS[0];
const BACKTICKS: Region = Region::code_region("`", b"", "`");
const QUOTES: Region = QUOTED.skipping(SKIPS);
const BRACES: Region = Region::delimited("${", "}")
    .spanning_lines()
    .skipping(SKIPS);
const ARITHMETIC: Region = Region {
    nests: b"(",
    repeats: 1,
    ..Region::delimited("$((", ")")
        .spanning_lines()
        .skipping(SKIPS)
};

static WORDS: [Region; 7] = [
    ARITHMETIC.with_holes(&WORDS),
    COMMAND,
    BRACES.with_holes(&WORDS),
    Region {
        open: "$'",
        ..APOSTROPHES
    },
    Region::raw("'").spanning_lines(),
    QUOTES.with_holes(&IN_QUOTES),
    BACKTICKS,
];
/// In double quotes, an apostrophe is literal.
static IN_QUOTES: [Region; 4] = [
    ARITHMETIC.with_holes(&WORDS),
    COMMAND,
    BRACES.with_holes(&IN_QUOTED_BRACES),
    BACKTICKS,
];
static IN_QUOTED_BRACES: [Region; 5] = [
    QUOTES.with_holes(&IN_QUOTES),
    ARITHMETIC.with_holes(&WORDS),
    COMMAND,
    BRACES.with_holes(&IN_QUOTED_BRACES),
    BACKTICKS,
];

const HEREDOC: HeredocForm = HeredocForm {
    may_follow_blanks: true,
    quotes: b"'\"\\",
    is_name: |byte| is_word(byte) || b"-.!+%,/@:".contains(&byte),
    ..HeredocForm::PLAIN
};

/// True if the `#` at the cursor is where a word can begin, and isn't a flag in a zsh pattern such as `(#i)`.
fn begins_comment(cursor: &CommentCursor<'_>) -> bool {
    let before = cursor.byte_before();
    let length = cursor.name_length(cursor.at + 1);
    let is_flag = before == b'(' && length < 12 && cursor.peek(1 + length) == b')';
    b"\0 \t\n\r;&|()`".contains(&before) && !is_flag
}

fn read_shell(lexer: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *lexer.cursor;
    match cursor.peek(0) {
        b'(' if cursor.sees("((") => {
            cursor.at += 2;
            return RuleTurn::Entered(&WORDS[0]);
        }
        b'<' if cursor.sees("<<<") => cursor.at += 3,
        b'<' if cursor.sees("<<") => return lexer.read_heredoc(&HEREDOC),
        b'c' | b'e' if !cursor.is_behind_word() => {
            let length = cursor.name_length(cursor.at);
            let word = &cursor.rest()[..length];
            let is_case = word == b"case" && begins_command(cursor);
            cursor.at += length;
            if is_case || word == b"esac" {
                lexer.count_case(is_case);
            }
        }
        _ => return RuleTurn::Pass,
    }
    RuleTurn::Moved
}

/// True if a command may begin at the cursor.
fn begins_command(cursor: &CommentCursor<'_>) -> bool {
    let end = cursor.code_end();
    let is_keyword = matches!(cursor.word_ending_at(end), b"do" | b"then" | b"else");
    let follows = end == cursor.start || b"();&|{`".contains(&cursor.bytes[end - 1]);
    cursor.begins_line() || follows || is_keyword
}

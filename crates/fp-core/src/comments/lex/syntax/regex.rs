//! Where a slash begins a regular expression, and where it divides.

use crate::comments::lex::cursor::{Cursor, is_word};

/// Words of JavaScript and Groovy behind which a value comes.
pub(in crate::comments::lex) const SCRIPT_WORDS: &[&[u8]] = &[
    b"return",
    b"typeof",
    b"case",
    b"in",
    b"of",
    b"delete",
    b"void",
    b"throw",
    b"new",
    b"do",
    b"else",
    b"instanceof",
    b"yield",
    b"await",
    b"default",
    b"extends",
];
/// Words of Ruby behind which a value comes.
pub(in crate::comments::lex) const RUBY_WORDS: &[&[u8]] = &[
    b"return", b"case", b"in", b"do", b"else", b"yield", b"if", b"unless", b"while", b"until", b"when",
    b"and", b"or", b"not", b"then", b"elsif", b"begin",
];
/// Words of Perl behind which a value comes.
pub(in crate::comments::lex) const PERL_WORDS: &[&[u8]] = &[
    b"return", b"else", b"if", b"unless", b"while", b"until", b"and", b"or", b"not", b"elsif", b"split",
    b"grep", b"map", b"join", b"x", b"cmp", b"eq", b"ne", b"when", b"push", b"print", b"die",
];

/// Whether a value has to come at the cursor, rather than an operator; it comes behind `words`.
pub(in crate::comments::lex) fn expected(cursor: &Cursor<'_>, words: &[&[u8]]) -> bool {
    let end = cursor.code_end(cursor.at);
    let Some(index) = end.checked_sub(1).filter(|index| *index >= cursor.start) else { return true };
    match cursor.byte(index) {
        b')' | b']' | b'"' | b'\'' | b'`' => false,
        b'}' => cursor.bytes[end..cursor.at].contains(&b'\n'),
        b'+' | b'-' => index == cursor.start || cursor.byte(index - 1) != cursor.byte(index),
        b'!' => {
            index == cursor.start
                || !(is_word(cursor.byte(index - 1)) || matches!(cursor.byte(index - 1), b')' | b']'))
        }
        byte if is_word(byte) || byte == b'$' || byte == b'@' => {
            let word = cursor.word_before(end);
            let before = cursor.byte((end - word.len()).wrapping_sub(1));
            words.contains(&word) && !matches!(before, b'.' | b'$' | b'@' | b'%' | b':' | b'#')
        }
        _ => true,
    }
}

/// Moves behind the expression that begins at the cursor, or, if it isn't closed in its line, behind its slash.
pub(in crate::comments::lex) fn skip(cursor: &mut Cursor<'_>) {
    let (mut index, mut class) = (cursor.at + 1, false);
    cursor.at += 1;
    if index <= cursor.unclosed {
        return;
    }
    while !matches!(cursor.byte(index), 0 | b'\n') {
        match cursor.byte(index) {
            b'\\' => index += 1,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => {
                cursor.at = index + 1;
                return;
            }
            _ => {}
        }
        index += 1;
    }
    cursor.unclosed = index;
}

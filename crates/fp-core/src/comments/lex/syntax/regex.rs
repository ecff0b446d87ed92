//! Where a slash begins a regular expression, and where it divides.

use crate::comments::lex::cursor::{Cursor, is_word};

/// Words behind which a value comes, in any of the languages with such expressions.
const BEFORE_VALUE: &[&[u8]] = &[
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
    b"if",
    b"unless",
    b"while",
    b"until",
    b"when",
    b"and",
    b"or",
    b"not",
    b"then",
    b"elsif",
    b"split",
    b"grep",
    b"map",
    b"join",
    b"x",
    b"cmp",
    b"assert",
];

/// Whether a value has to come at the cursor, rather than an operator.
pub(in crate::comments::lex) fn expected(cursor: &Cursor<'_>) -> bool {
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
            BEFORE_VALUE.contains(&word) && !matches!(before, b'.' | b'$' | b'@' | b'%' | b':' | b'#')
        }
        b'?' => true,
        _ => true,
    }
}

/// Moves behind the expression that begins at the cursor, or, if it isn't closed in its line, behind its slash.
pub(in crate::comments::lex) fn skip(cursor: &mut Cursor<'_>) {
    let end = cursor.line_end(cursor.at);
    let (mut index, mut class) = (cursor.at + 1, false);
    while index < end {
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
    cursor.at += 1;
}

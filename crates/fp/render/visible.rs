//! Text that a model or a stranger wrote, made fit to be shown. A terminal obeys control characters, and some
//! others turn text around, so that it reads as what it isn't: all of them are shown as a sign, one column each.

use std::borrow::Cow;

/// `text` with a sign for each control character but line feeds and tabs.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |c| if matches!(c, '\n' | '\t') { c } else { sign(c) })
}

/// `text` on one line: line ends and tabs are blanks, other control characters signs.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    replaced(text, one_column)
}

/// What is shown for `c` where every character keeps to its line.
pub(crate) fn one_column(c: char) -> char {
    if matches!(c, '\n' | '\r' | '\t') { ' ' } else { sign(c) }
}

fn replaced(text: &str, shown: impl Fn(char) -> char) -> Cow<'_, str> {
    // Nearly all text is plain, and all of it is looked at.
    let plain =
        |byte: u8| matches!(byte, b' '..=b'~') || byte.is_ascii() && shown(byte.into()) == char::from(byte);
    if text.bytes().all(plain) {
        return Cow::Borrowed(text);
    }
    if text.chars().all(|c| shown(c) == c) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(shown).collect())
}

fn sign(c: char) -> char {
    match c {
        // Unicode has a picture for each of these.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => char::REPLACEMENT_CHARACTER,
        // Marks, embeddings, overrides and isolates of writing direction.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER
        }
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_seen() {
        let check = |text: &str, expect: &str, expect_line: &str| {
            assert_eq!((visible(text).as_ref(), one_line(text).as_ref()), (expect, expect_line));
        };
        check("plain, 한글, 😀", "plain, 한글, 😀", "plain, 한글, 😀");
        check("a\tb\nc", "a\tb\nc", "a b c");
        check("a\r\nb\rc", "a␍\nb␍c", "a  b c");
        check("\u{1b}[31mred\u{7}\0\u{7f}", "␛[31mred␇␀␡", "␛[31mred␇␀␡");
        check("\u{9b}31m\u{85}", "\u{fffd}31m\u{fffd}", "\u{fffd}31m\u{fffd}");
        check("a\u{202e}b\u{2066}c\u{2028}", "a\u{fffd}b\u{fffd}c\u{fffd}", "a\u{fffd}b\u{fffd}c\u{fffd}");
        assert!(
            visible(&('\0'..='\u{9f}').collect::<String>())
                .chars()
                .all(|c| c == '\n' || c == '\t' || !c.is_control())
        );
    }
}

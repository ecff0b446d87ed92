//! Text as parts of a page.

use std::borrow::Cow;

/// `text` within an element or a quoted attribute. Characters that a page can't have become a sign for that.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    let special = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\'') || is_forbidden(c);
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if is_forbidden(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Control characters other than white space.
fn is_forbidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// JSON within a script element: what could end the element, begin a comment, or end a line of JavaScript stands
/// as its number. All of these occur in strings only.
pub(super) fn embedded(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 32);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// RFC 4648.
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks(3).flat_map(|chunk| {
        let bits = chunk.iter().fold(0_usize, |bits, &byte| bits << 8 | usize::from(byte))
            << (8 * (3 - chunk.len()));
        let length = chunk.len();
        (0..4).map(move |at| if at > length { '=' } else { char::from(DIGITS[bits >> (18 - 6 * at) & 63]) })
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_ends_nothing() {
        assert_eq!(text("a <b> & \"c\" 'd'"), "a &lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
        assert_eq!(text("한국어 עברית"), "한국어 עברית");
        assert_eq!(text("a\u{1b}[31m\0"), "a\u{fffd}[31m\u{fffd}");
        assert_eq!(
            embedded("{\"a\":\"</script><!--&\u{2028}\"}"),
            "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\"}"
        );
    }

    #[test]
    fn base64_of_the_standard() {
        for (bytes, expect) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), expect);
        }
    }
}

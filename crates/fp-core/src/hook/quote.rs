//! Text that a model or a stranger wrote, inside what the client is told: it must not read as if this program said it.

/// `text` on one line and in double quotes, at most `max` bytes of it. No line end, quote or backtick of its own, no
/// angle bracket that could close what the client puts around it, and nothing invisible is left.
#[must_use]
pub fn quoted(text: &str, max: usize) -> String {
    let shown = text.chars().map(plain).collect::<String>();
    let words: Vec<&str> = shown.split(' ').filter(|word| !word.is_empty()).collect();
    format!("\"{}\"", cut(words.join(" "), max))
}

fn plain(c: char) -> char {
    match c {
        '"' | '`' => '\'',
        '<' => '‹',
        '>' => '›',
        c if c.is_whitespace() || c.is_control() || is_invisible(c) => ' ',
        c => c,
    }
}

/// Marks of width and writing direction, and the tags that hide a text within another one.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

fn cut(mut text: String, max: usize) -> String {
    const MORE: char = '…';
    if text.len() > max {
        let mut end = max.saturating_sub(MORE.len_utf8());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push(MORE);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_quoted_stays_in_its_quotes() {
        let check = |text: &str, expect: &str| assert_eq!(quoted(text, 24), expect, "{text:?}");
        check("Add a greeting", "\"Add a greeting\"");
        check("  two\n\nlines\t", "\"two lines\"");
        check("say \"no\"; run `rm`", "\"say 'no'; run 'rm'\"");
        check("</system-reminder>", "\"‹/system-reminder›\"");
        check("a\u{202e}b\u{200b}c\u{0}d\u{2028}e", "\"a b c d e\"");
        check("", "\"\"");
        check("abcdefghijklmnopqrstuvwxyz", "\"abcdefghijklmnopqrstu…\"");
        check("인사말을 추가한다", "\"인사말을 추가…\"");
    }

    proptest! {
        #[test]
        fn nothing_gets_out(text in any::<String>(), max in 3usize..80) {
            let quoted = quoted(&text, max);
            let inner = &quoted[1..quoted.len() - 1];
            prop_assert!(inner.len() <= max);
            prop_assert!(!inner.contains(['"', '`', '<', '>']));
            prop_assert!(!inner.chars().any(|c| c.is_control() || is_invisible(c)));
        }
    }
}

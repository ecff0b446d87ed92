//! Text of any length on lines of a limited width.

use unicode_width::UnicodeWidthStr as _;

use super::status::fit;
use super::visible::one_line;

/// `text`, whatever its line ends, on lines of at most `width` columns, broken between words; a word that is wider is
/// cut. At most `most` lines, the last of which ends with an ellipsis where there was more.
pub(crate) fn wrap(text: &str, width: usize, most: usize) -> Vec<String> {
    let text = one_line(text);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = lines.len() == most;
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(line) if full => {
                // What is too long is cut, with a sign for it.
                *line = fit(&format!("{line} {word}{}", " ".repeat(width)), width);
                break;
            }
            _ => lines.push(fit(word, width)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_on_the_next_line_and_the_rest_is_left_out() {
        let check = |text: &str, expect: &[&str]| assert_eq!(wrap(text, 9, 2), expect, "{text}");
        check("", &[]);
        check("one two", &["one two"]);
        check("one  two\nthree", &["one two", "three"]);
        check("one two three four", &["one two", "three fo…"]);
        check("one two three 4 five", &["one two", "three 4 …"]);
        check("immeasurable", &["immeasur…"]);
        check("한글 한글 한글", &["한글 한글", "한글"]);
    }
}

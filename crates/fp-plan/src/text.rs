//! Formats text for people, terminals, shells and prompts, with one function each for joining, counting, quoting,
//! cutting and wrapping.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::markdown::code_span;

const ELLIPSIS: char = '…';

/// Puts `text` on one line: runs of white space and control characters become single blanks.
pub fn one_line(text: &str) -> String {
    let words = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// `1 task`, `2 tasks`.
pub fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// The first `most` of `names`, and the number of the others: `a, b and 3 more`.
pub fn first_few(names: &[impl AsRef<str>], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Line, column and reason of a JSON parse error.
pub fn json_fault(fault: &serde_json::Error) -> (usize, usize, String) {
    let (line, column) = (fault.line(), fault.column());
    let whole = fault.to_string();
    let reason = whole
        .strip_suffix(&format!(" at line {line} column {column}"))
        .unwrap_or(&whole);
    (line, column.max(1), reason.to_owned())
}

/// Quotes `text` as a single shell word.
pub fn shell_quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Quotes text from a model or a stranger inside a prompt: one line in double quotes, with at most `max` bytes between
/// them.
///
/// Line ends, quotes, backticks, angle brackets (they could close the client's wrapper around it) and everything
/// invisible are replaced, so the text can't read as if this program said it.
pub fn prompt_quoted(text: &str, max: usize) -> String {
    let harmless = |c: char| match c {
        '"' | '`' => '\'',
        '<' => '‹',
        '>' => '›',
        c if is_invisible(c) => ' ',
        c => c,
    };
    let mut line = one_line(&text.chars().map(harmless).collect::<String>());
    cut_bytes(&mut line, max);
    format!("\"{line}\"")
}

/// Cuts `text` to at most `max` bytes, with an ellipsis at the end if anything is missing.
fn cut_bytes(text: &mut String, max: usize) {
    if text.len() > max {
        let mut end = max.saturating_sub(ELLIPSIS.len_utf8());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push(ELLIPSIS);
    }
}

/// Quotes a path in a prompt, unless it is short and has only harmless characters.
pub fn prompt_path(path: &str) -> String {
    const MAX: usize = 200;
    let is_plain =
        |c: char| c.is_alphanumeric() && !is_invisible(c) || matches!(c, '.' | '_' | '-' | '/');
    match path.len() <= MAX && path.chars().all(is_plain) {
        true => path.to_owned(),
        false => prompt_quoted(path, MAX),
    }
}

/// Shows a command exactly as it will run, for whoever has to approve it: quotes and blanks stay, hidden characters
/// become escapes such as `<U+200B>`, and continuation lines are indented, so that none looks like a separate entry.
pub fn shown_command(command: &str) -> String {
    let lines: Vec<String> = command
        .split('\n')
        .map(|line| with_escapes(line, is_hidden))
        .collect();
    indented(&lines.join("\n"), 4)
}

/// `text` with every line but the first indented by `columns`.
pub(crate) fn indented(text: &str, columns: usize) -> String {
    let indent = " ".repeat(columns);
    let lines = text.split('\n').enumerate();
    let lines = lines.map(|(number, line)| match number > 0 && !line.is_empty() {
        true => format!("{indent}{line}"),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Like [`shown_command`], but as a code span in a sentence. Line ends and tabs become escapes too, since a sentence
/// can't hold them.
pub fn command_span(command: &str) -> String {
    code_span(&with_escapes(command, |c| is_hidden(c) || c.is_control()))
}

/// True for a character that nobody sees in a command: a control character, a width or direction mark, or a blank that
/// a shell treats as part of a word.
pub fn is_hidden(c: char) -> bool {
    let is_blank = matches!(c, ' ' | '\t' | '\n');
    !is_blank && (c.is_control() || c.is_whitespace() || is_invisible(c))
}

fn with_escapes(text: &str, hides: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match hides(c) {
            true => shown.push_str(&format!("<U+{:04X}>", u32::from(c))),
            false => shown.push(c),
        }
    }
    shown
}

/// Tags in which the client wraps its own messages. A name ending with a colon stands for all names with that prefix.
const WRAPPERS: &str = "antml: bash-input bash-stderr bash-stdout command-args command-contents command-message \
    command-name cross-session-message function_calls function_results ide_diagnostics ide_opened_file ide_selection \
    invoke local-command-caveat local-command-stderr local-command-stdout mcp-polling-update mcp-resource-update \
    new-diagnostics parameter persisted-output post-tool-use-hook pre-tool-use-hook session-start-hook system-reminder \
    task-notification teammate-message tool_use_error user-memory-input user-prompt-submit-hook";

/// Passes multi-line text on to a model unchanged, except for anything that could impersonate the client: its tags open
/// with `&lt;`, and control, direction and tag characters become escapes such as `<U+202E>`. Each line ends with a line
/// feed.
pub fn prompt_text(text: &str) -> String {
    let obeyed = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || is_direction(c)
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
    };
    let text = text.replace("\r\n", "\n");
    let mut safe = String::with_capacity(text.len());
    for (at, piece) in text.split('<').enumerate() {
        if at > 0 {
            safe.push_str(if is_wrapper(piece) { "&lt;" } else { "<" });
        }
        safe.push_str(&with_escapes(piece, obeyed));
    }
    safe
}

/// Cuts the [`prompt_text`] of `text` to at most `max` bytes.
pub fn prompt_lines(text: &str, max: usize) -> String {
    let mut safe = prompt_text(text);
    cut_bytes(&mut safe, max);
    safe
}

/// True if `inside`, which follows an angle bracket, begins with the name of a wrapper.
fn is_wrapper(inside: &str) -> bool {
    const LONGEST: usize = 40;
    let seen = inside
        .chars()
        .filter(|c| !c.is_control() && !is_invisible(*c));
    let name = seen.skip_while(|c| *c == '/' || c.is_whitespace());
    let name: String = name
        .take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'))
        .take(LONGEST)
        .collect();
    let name = name.to_lowercase();
    WRAPPERS
        .split(' ')
        .any(|wrapper| name == wrapper || wrapper.ends_with(':') && name.starts_with(wrapper))
}

/// True for width and direction marks, for invisible fillers and variation selectors, and for the tag characters that
/// can hide text inside other text.
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Cuts `text` to at most `most` characters, with an ellipsis as the last one if any are missing.
pub fn clipped(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    text.chars()
        .take(most.saturating_sub(1))
        .chain([ELLIPSIS])
        .collect()
}

/// The end of the trimmed `text`, at most `most` bytes; an ellipsis replaces anything cut off.
pub fn last_part(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.len() <= most {
        return text.to_owned();
    }
    let over = text.len() - most + ELLIPSIS.len_utf8();
    let mut kept = text.char_indices().filter(|(at, _)| *at >= over);
    let from = kept.next().map_or(text.len(), |(at, _)| at);
    format!("{ELLIPSIS}{}", &text[from..])
}

/// Length of the longest prefix of `text` that fits in `columns` columns.
fn fitting_length(text: &str, columns: usize) -> usize {
    let mut used = 0;
    let mut chars = text.char_indices();
    let end = chars.find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > columns
    });
    end.map_or(text.len(), |(end, _)| end)
}

/// Cuts the [`visible_line`] of `text` to at most `columns` columns, with an ellipsis at the end if anything is
/// missing.
pub fn fitted(text: &str, columns: usize) -> String {
    let mut shown = visible_line(text);
    if shown.width() > columns {
        shown.truncate(fitting_length(&shown, columns.saturating_sub(1)));
        shown.push(ELLIPSIS);
    }
    shown
}

/// Wraps the words of `text` into lines of at most `columns` columns. A wider word gets its own line.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut width = 0;
    for word in one_line(text).split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if width + 1 + word.width() <= columns => {
                line.push(' ');
                line.push_str(word);
                width += 1 + word.width();
            }
            _ => {
                lines.push(word.to_owned());
                width = word.width();
            }
        }
    }
    lines
}

/// Like [`wrapped`], but with at most `most` lines, each of them [`fitted`]. The last one ends with an ellipsis if
/// there was more.
pub fn wrapped_within(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines = wrapped(text, columns);
    if let Some(next) = lines.get(most).cloned() {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            last.push(' ');
            last.push_str(&next);
        }
    }
    lines.iter().map(|line| fitted(line, columns)).collect()
}

/// Wraps `text` to lines of at most `columns` columns without losing anything: its lines and blanks stay, a line breaks
/// at a blank, and a word wider than a line continues on the next one.
pub fn wrapped_whole(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = visible_line(line);
        let mut rest = line.as_str();
        while rest.width() > columns {
            let first = rest.chars().next().map_or(1, char::len_utf8);
            let fits = fitting_length(rest, columns).max(first);
            let end = fits + usize::from(rest[fits..].starts_with(' '));
            let blank = rest[..end].rfind(' ');
            let blank = blank.filter(|at| !rest[..*at].trim().is_empty());
            lines.push(rest[..blank.unwrap_or(fits)].to_owned());
            rest = &rest[blank.map_or(fits, |at| at + 1)..];
        }
        lines.push(rest.to_owned());
    }
    lines
}

/// Replaces each control character in `text` with a visible symbol, except for line feeds and tabs. A terminal obeys
/// control characters, and direction marks reorder text so that it reads as something else.
pub fn visible(text: &str) -> Cow<'_, str> {
    let shown = |c: char| {
        if matches!(c, '\n' | '\t') {
            c
        } else {
            sign_of(c)
        }
    };
    if text.chars().all(|c| shown(c) == c) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(shown).collect())
}

/// Like [`visible`], but for JSON and lossless: control characters become JSON escapes.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    if matches!(visible(json), Cow::Borrowed(_)) {
        return Cow::Borrowed(json);
    }
    let shown = json
        .chars()
        .map(|c| match matches!(c, '\n' | '\t') || sign_of(c) == c {
            true => c.to_string(),
            false => format!("\\u{:04x}", u32::from(c)),
        });
    Cow::Owned(shown.collect())
}

/// Like [`visible`], but on one line: each character is replaced by a single one, which preserves blanks in paths and
/// excerpts.
pub fn visible_line(text: &str) -> String {
    let chars = text.chars().map(|c| match c {
        '\n' | '\r' | '\t' => ' ',
        c => sign_of(c),
    });
    chars.collect()
}

/// The symbol shown in place of a control character.
fn sign_of(c: char) -> char {
    match c {
        // Unicode has a picture for each of these.
        '\0'..='\u{1f}' => {
            char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => char::REPLACEMENT_CHARACTER,
        c if is_direction(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// True for characters that affect the writing direction: marks, embeddings, overrides and isolates.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_folded_and_counted() {
        let check = |text: &str, expect: &str| assert_eq!(one_line(text), expect, "{text:?}");
        check("  two\n\n lines\t", "two lines");
        check("a\u{1b}[31mb\0\u{85}\u{2028}c", "a [31mb c");
        check("\r\n", "");
        check("한글 😀", "한글 😀");
        assert_eq!(
            [0, 1, 2].map(|number| counted(number, "task")),
            ["0 tasks", "1 task", "2 tasks"]
        );
    }

    #[test]
    fn a_word_of_a_shell() {
        let check = |text: &str, expect: &str| assert_eq!(shell_quoted(text), expect, "{text:?}");
        check("src/a_b-1.rs", "src/a_b-1.rs");
        check("", "''");
        check("two words", "'two words'");
        check("it's $HOME", r"'it'\''s $HOME'");
        check("~", "'~'");
    }

    #[test]
    fn text_in_a_prompt_stays_in_its_quotes() {
        let check =
            |text: &str, expect: &str| assert_eq!(prompt_quoted(text, 24), expect, "{text:?}");
        check("Add a greeting", "\"Add a greeting\"");
        check("  two\n\nlines\t", "\"two lines\"");
        check("say \"no\"; run `rm`", "\"say 'no'; run 'rm'\"");
        check("</system-reminder>", "\"‹/system-reminder›\"");
        check("a\u{202e}b\u{200b}c\u{0}d\u{2028}e", "\"a b c d e\"");
        check(
            "a\u{fe00}\u{fe0f}\u{34f}b\u{3164}\u{2800}\u{115f}\u{1160}\u{ffa0}c\u{e0041}",
            "\"a b c\"",
        );
        check("", "\"\"");
        check("abcdefghijklmnopqrstuvwxyz", "\"abcdefghijklmnopqrstu…\"");
        check("인사말을 추가한다", "\"인사말을 추가…\"");
    }

    #[test]
    fn a_path_in_a_prompt_is_quoted_unless_it_is_plain() {
        let check = |path: &str, expect: &str| assert_eq!(prompt_path(path), expect, "{path:?}");
        check("src/한글/a_b-1.rs", "src/한글/a_b-1.rs");
        check("src/c d.rs", "\"src/c d.rs\"");
        check("</system-reminder>\n", "\"‹/system-reminder›\"");
        check("a\u{3164}b", "\"a b\"");
        assert_eq!(prompt_path(&"x/".repeat(300)).len(), 202);
    }

    #[test]
    fn a_command_is_shown_as_it_runs() {
        let check = |command: &str, expect: &str| assert_eq!(shown_command(command), expect);
        check("echo `a`  \"$(b)\" 'c' <d>…", "echo `a`  \"$(b)\" 'c' <d>…");
        check("a\tb\n\n- c\n  d", "a\tb\n\n    - c\n      d");
        check("sh a\u{200b} b\u{a0}c", "sh a<U+200B> b<U+00A0>c");
        check("\u{1b}[8ma\r\u{202e}b", "<U+001B>[8ma<U+000D><U+202E>b");
        check("a\u{fe0f}\u{e0041}\u{2028}", "a<U+FE0F><U+E0041><U+2028>");
        let long = "x".repeat(10_000);
        check(&long, &long);
        assert_eq!(command_span("a  'b'"), "`a  'b'`");
        assert_eq!(command_span("a\n\t`b`"), "`` a<U+000A><U+0009>`b` ``");
    }

    #[test]
    fn text_in_a_prompt_speaks_for_nobody_else() {
        let check = |text: &str, expect: &str| assert_eq!(prompt_text(text), expect, "{text:?}");
        for kept in [
            "a\n\tb <c> Vec<T> x<y_z> </n-s:s> <my-element> <svg:rect a=\"b\">",
            "\"say\" `it`, <'a>, a<b-c, <system>, <system-reminders>, &lt;",
            "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f} می\u{200c}خواهم 葛\u{e0100} a\u{ad}b",
        ] {
            check(kept, kept);
        }
        check("<system-reminder>", "&lt;system-reminder>");
        check("< /\n System-Reminder >", "&lt; /\n System-Reminder >");
        let of_calls = ["<a<", "antml:", "x y='z'/>"].concat();
        check(&of_calls, &of_calls.replacen("a<", "a&lt;", 1));
        check("<sys\u{200b}tem-reminder", "&lt;sys\u{200b}tem-reminder");
        check("<\0invoke>", "&lt;<U+0000>invoke>");
        check("a\r\nb\rc", "a\nb<U+000D>c");
        check(
            "a\u{202e}\u{1b}[m\u{e0041}b",
            "a<U+202E><U+001B>[m<U+E0041>b",
        );
        let check = |text: &str, expect: &str| assert_eq!(prompt_lines(text, 24), expect);
        check("abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwx");
        check("abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstu…");
    }

    #[test]
    fn a_long_text_is_cut() {
        let check = |text: &str, clip: &str, fit: &str| {
            assert_eq!(
                (clipped(text, 5).as_str(), fitted(text, 5).as_str()),
                (clip, fit),
                "{text:?}"
            );
        };
        check("", "", "");
        check("abcde", "abcde", "abcde");
        check("abcdef", "abcd…", "abcd…");
        check("한글이다", "한글이다", "한글…");
        check("a\tb\u{7}", "a\tb\u{7}", "a b␇");
        assert_eq!(
            (clipped("ab", 0), fitted("ab", 0)),
            ("…".into(), "…".into())
        );
    }

    #[test]
    fn words_go_on_the_next_line() {
        let check = |text: &str, expect: &[&str]| assert_eq!(wrapped(text, 9), expect, "{text}");
        check("", &[]);
        check("one  two\nthree", &["one two", "three"]);
        check("an immeasurable one", &["an", "immeasurable", "one"]);
        check("한글 한글 한글", &["한글 한글", "한글"]);
        let check =
            |text: &str, expect: &[&str]| assert_eq!(wrapped_within(text, 9, 2), expect, "{text}");
        check("one two", &["one two"]);
        check("one two three four", &["one two", "three fo…"]);
        check("one two three 4 five", &["one two", "three 4 …"]);
        check("immeasurable", &["immeasur…"]);
    }

    #[test]
    fn nothing_is_lost_in_the_next_line() {
        let check = |text: &str, expect: &[&str]| assert_eq!(wrapped_whole(text, 9), expect);
        check("", &[]);
        check("one  two\nthree", &["one  two", "three"]);
        check("an immeasurable one", &["an", "immeasura", "ble one"]);
        check("  twelve letters", &["  twelve", "letters"]);
        check("123456789 0", &["123456789", "0"]);
        check("한글이다한글", &["한글이다", "한글"]);
        check("          x", &["         ", " x"]);
    }

    #[test]
    fn control_characters_are_seen() {
        let check = |text: &str, expect: &str, expect_line: &str| {
            assert_eq!(
                (visible(text).as_ref(), visible_line(text).as_str()),
                (expect, expect_line)
            );
        };
        check("plain, 한글, 😀", "plain, 한글, 😀", "plain, 한글, 😀");
        check("a\tb\nc", "a\tb\nc", "a b c");
        check("a\r\nb\rc", "a␍\nb␍c", "a  b c");
        check("\u{1b}[31mred\u{7}\0\u{7f}", "␛[31mred␇␀␡", "␛[31mred␇␀␡");
        check(
            "\u{9b}31m\u{85}",
            "\u{fffd}31m\u{fffd}",
            "\u{fffd}31m\u{fffd}",
        );
        check(
            "a\u{202e}b\u{2066}c\u{2028}",
            "a\u{fffd}b\u{fffd}c\u{fffd}",
            "a\u{fffd}b\u{fffd}c\u{fffd}",
        );
    }

    #[test]
    fn json_keeps_what_a_terminal_obeys() {
        let value = serde_json::json!({ "a": "\u{9b}m\u{202e}\u{2028}\u{7f}\u{1b}한글" });
        let shown = visible_json(&value.to_string()).into_owned();
        assert_eq!(shown, visible(&shown));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
            value
        );
    }

    proptest! {
        #[test]
        fn what_nobody_obeys_passes_unchanged(text in r#"([ -;=-~\n\t가-힣←-⇿]|<[a-z]{0,5}[-:_> ][a-z"'`]{0,5}>?)*"#) {
            prop_assert_eq!(prompt_text(&text), text);
        }

        #[test]
        fn no_text_leaves_its_place(text in any::<String>(), most in 0_usize..40) {
            let quoted = prompt_quoted(&text, most);
            let inner = &quoted[1..quoted.len() - 1];
            prop_assert!(inner.len() <= most.max(ELLIPSIS.len_utf8()));
            prop_assert!(!inner.contains(['"', '`', '<', '>']));
            prop_assert!(!inner.chars().any(|c| c.is_control() || is_invisible(c)));
            let lines = prompt_lines(&text, most);
            prop_assert!(lines.len() <= most.max(ELLIPSIS.len_utf8()));
            prop_assert!(!lines.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t') || is_direction(c)));
            prop_assert_eq!(prompt_text(&prompt_text(&text)), prompt_text(&text));
            prop_assert!(!shown_command(&text).chars().any(is_hidden));
            let cut = fitted(&text, most);
            prop_assert!(cut.width() <= most.max(1) || !cut.ends_with(ELLIPSIS));
            let whole = wrapped_whole(&text, most);
            prop_assert!(whole.iter().all(|line| line.width() <= most.max(2)), "{:?}", whole);
            let letters = |text: &str| visible_line(text).replace(' ', "");
            prop_assert_eq!(letters(&whole.concat()), letters(&text.lines().collect::<String>()));
            prop_assert!(clipped(&text, most).chars().count() <= most.max(1));
            prop_assert!(!one_line(&text).chars().any(char::is_control));
            prop_assert!(!visible(&text).chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
        }
    }
}

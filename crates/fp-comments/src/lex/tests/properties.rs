//! What holds for any text in any language.

use proptest::prelude::*;

use crate::SourceLanguage::{self, *};
use crate::language::LANGUAGES;
use crate::{SourceComment, comments};

/// What lexers decide by, and a little between.
const PIECES: &[&str] = &[
    "\"",
    "'",
    "`",
    "\"\"\"",
    "'''",
    "\\",
    "/",
    "//",
    "/*",
    "*/",
    "#",
    "##",
    "#[",
    "]#",
    "--",
    "--[[",
    "]]",
    "[==[",
    "{-",
    "-}",
    "(*",
    "*)",
    "<!--",
    "-->",
    "<",
    ">",
    "</",
    "<a>",
    "<script>",
    "</script>",
    "<style>",
    "<?php",
    "?>",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "${",
    "$(",
    "$((",
    "#{",
    "\\(",
    "{{",
    "$",
    "@",
    "%",
    "%q",
    "q",
    "s",
    "r",
    "R\"x(",
    ")x\"",
    "r#",
    "<<EOF",
    "<<~A",
    "<<<X",
    "\nEOF\n",
    "\n",
    "\r\n",
    "\t",
    " ",
    "a",
    "é",
    "🎉",
    "1",
    "=",
    ":",
    ": |",
    "- ",
    "=begin",
    "\n=end",
    "\n=cut",
    "__END__",
    "url(",
    "'a",
    "?",
    "~r/",
    "\0",
    "\u{feff}",
    ",",
    ";",
    "REM ",
    "%",
    "|",
    "return",
    "case",
    "\\begin{verbatim}",
    "---\n",
    "\\verb",
    "u8",
    "f",
    "$$",
    "#include <",
];

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..60).prop_map(|pieces| pieces.concat())
}

fn languages() -> impl Strategy<Value = SourceLanguage> {
    (0..LANGUAGES.len()).prop_map(|at| LANGUAGES[at].0)
}

fn found(language: SourceLanguage, text: &str) -> Vec<SourceComment<'_>> {
    comments(language, text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn comments_stand_in_order_where_they_say(language in languages(), text in texts()) {
        let mut end = 0;
        for comment in found(language, &text) {
            prop_assert!(comment.span.start >= end && comment.span.end > comment.span.start);
            prop_assert_eq!(&text[comment.span.clone()], comment.text);
            prop_assert_eq!(comment.line, 1 + text[..comment.span.start].matches('\n').count());
            end = comment.span.end;
        }
    }

    #[test]
    fn any_text_is_read(language in languages(), text in any::<String>()) {
        found(language, &text);
    }

    #[test]
    fn without_a_mark_there_is_no_comment(language in languages(), text in "[a-z0-9 +,.(){}\\[\\]<>|&\\\\\n\t\u{e9}]{0,80}") {
        let text = text.replace("rem", "x");
        prop_assert_eq!(found(language, &text), vec![]);
    }

    #[test]
    fn what_comes_later_changes_only_the_last_comment(language in languages(), text in texts(), more in texts()) {
        prop_assume!(!matches!(language, Php | Vue | Svelte));
        let whole = format!("{text}{more}");
        let cut = found(language, &text);
        let whole = found(language, &whole);
        for comment in cut.iter().rev().skip(1) {
            prop_assert!(whole.contains(comment), "{:?} is not in the whole file", comment);
        }
    }
}

/// What opens again and again and never closes overflows nothing.
#[test]
fn endless_openings_are_read() {
    for piece in PIECES.iter().chain(&[
        "`${", "$(\"", "<a b={", "=<T>(", "[{", "\"${", "'\\", "a/", "<<A\n", "#{\"", "%{", "$(case )",
    ]) {
        let text = piece.repeat(20_000 / piece.len());
        for (language, ..) in &LANGUAGES {
            found(*language, &text);
        }
    }
}

//! Checks which comments the lexers find.

mod c_like;
mod others;

use proptest::prelude::*;

use super::LANGUAGES;
use crate::{CommentKind, SourceComment, SourceLanguage, comments_in};

/// A text, and the comments in it.
type Row = (&'static str, &'static [&'static str]);

/// Checks that exactly these comments are found in each text, read as a file called `name`.
#[track_caller]
fn check(name: &str, rows: &[Row]) {
    let language = SourceLanguage::for_file(name, "").expect(name);
    let mut wrong = String::new();
    for (text, expected) in rows {
        let found: Vec<&str> = comments_in(language, text)
            .iter()
            .map(|comment| comment.text)
            .collect();
        if found != *expected {
            wrong += &format!("\n{name}: {text}\n  expected {expected:?}\n     found {found:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The kinds of the comments in `text`.
fn kinds(name: &str, text: &str) -> Vec<CommentKind> {
    comments_in(SourceLanguage::for_file(name, "").unwrap(), text)
        .iter()
        .map(|comment| comment.kind)
        .collect()
}

#[test]
fn documentation() {
    use CommentKind::{Block, Doc, Line};
    let c_like = "/// a\n//! b\n/** c */\n/*! d */\n//// e\n/*** f */\n/**/\n// g\n/* h */";
    for name in [
        "a.rs", "a.c", "a.java", "a.ts", "a.kt", "a.cs", "a.swift", "a.scala", "a.dart",
    ] {
        let expected = [Doc, Doc, Doc, Doc, Line, Block, Block, Line, Block];
        assert_eq!(kinds(name, c_like), expected, "{name}");
    }
    assert_eq!(
        kinds("a.lua", "--- a\n-- b\n---- c\n--[[ d ]]"),
        [Doc, Line, Line, Block]
    );
    assert_eq!(
        kinds("a.nim", "## a\n# b\n#[ c ]#\n##[ d ]##"),
        [Doc, Line, Block, Doc]
    );
    assert_eq!(kinds("a.r", "#' a\n# b"), [Doc, Line]);
    assert_eq!(
        kinds("a.php", "<?php\n/** a */\n# b\n/* c */"),
        [Doc, Line, Block]
    );
    assert_eq!(kinds("a.graphql", "\"\"\"a\"\"\"\ntype B # c"), [Doc, Line]);
    assert_eq!(kinds("a.py", "# a\n## b\n\"\"\"c\"\"\""), [Line, Line]);
    assert_eq!(kinds("a.html", "<!-- a -->"), [Block]);
}

#[test]
fn places() {
    let text =
        "\u{feff}// é\nlet x = 1; // b\n\n  /* c\n*/ d /* e */ // f\n// g /* h */\n/* i */ // j";
    let places: Vec<_> = found("Rust", text)
        .into_iter()
        .map(|c| (c.text, c.line, c.trails))
        .collect();
    let expected = [
        ("// é", 1, false),
        ("// b", 2, true),
        ("/* c\n*/", 4, false),
        ("/* e */", 5, true),
        ("// f", 5, true),
        ("// g /* h */", 6, false),
        ("/* i */", 7, false),
        ("// j", 7, false),
    ];
    assert_eq!(places, expected);
    for comment in found("Rust", text) {
        assert_eq!(&text[comment.span], comment.text);
    }
}

#[test]
fn by_name() {
    for (path, language) in [
        ("src/a.RS", Some("Rust")),
        ("a.hxx", Some("C")),
        ("a/b.mm", Some("C")),
        ("a.mts", Some("TypeScript")),
        ("a.tsx", Some("Tsx")),
        ("a.d.ts", Some("TypeScript")),
        ("Dockerfile", Some("Dockerfile")),
        ("x/Dockerfile.dev", Some("Dockerfile")),
        ("api.Dockerfile", Some("Dockerfile")),
        ("Containerfile", Some("Dockerfile")),
        ("GNUmakefile", Some("Makefile")),
        ("rules.mk", Some("Makefile")),
        ("CMakeLists.txt", Some("CMake")),
        ("Gemfile", Some("Ruby")),
        ("Jenkinsfile", Some("Groovy")),
        (".bashrc", Some("Shell")),
        (".env.local", Some("Env")),
        ("tsconfig.build.json", Some("Jsonc")),
        ("BUILD", Some("Python")),
        ("a.gradle.kts", Some("Kotlin")),
        (r"C:\x\a.go", Some("Go")),
        ("a.json", None),
        ("package.json", None),
        ("README.md", None),
        ("a.csv", None),
        ("notes.txt", None),
        ("a.lock", None),
        ("Cargo.lock", None),
        (".gitignore", None),
        ("requirements.txt", None),
        ("x.service", Some("Properties")),
        ("justfile", Some("Conf")),
        ("LICENSE", None),
        ("", None),
        ("a.", None),
        ("..", None),
    ] {
        assert_eq!(
            SourceLanguage::for_file(path, "").map(|found| found.name),
            language,
            "{path}"
        );
    }
}

#[test]
fn by_first_line() {
    for (path, line, language) in [
        ("bin/run", "#!/bin/sh", Some("Shell")),
        ("bin/run", "#!/usr/bin/env python3.12", Some("Python")),
        ("bin/run", "#!/usr/bin/env -S node --x", Some("JavaScript")),
        ("bin/run", "#! /usr/bin/ruby -w", Some("Ruby")),
        ("bin/run", "\u{feff}#!/usr/bin/env A=b ruby", Some("Ruby")),
        (".hook", "#!/bin/bash -e\r", Some("Shell")),
        ("bin/run", "# no", None),
        ("bin/run", "#!/opt/unknown", None),
        ("a.txt", "#!/bin/sh", None),
        ("a.py", "#!/bin/sh", Some("Python")),
    ] {
        assert_eq!(
            SourceLanguage::for_file(path, line).map(|found| found.name),
            language,
            "{path} {line}"
        );
    }
}

/// Snippets that affect the lexers' decisions, and a few fillers to put between them.
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

fn languages() -> impl Strategy<Value = &'static str> {
    (0..LANGUAGES.len()).prop_map(|at| LANGUAGES[at].name)
}

fn found<'t>(language: &str, text: &'t str) -> Vec<SourceComment<'t>> {
    comments_in(
        LANGUAGES.iter().find(|row| row.name == language).unwrap(),
        text,
    )
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
        prop_assume!(!matches!(language, "Php" | "Vue" | "Svelte"));
        let whole = format!("{text}{more}");
        let cut = found(language, &text);
        let whole = found(language, &whole);
        for comment in cut.iter().rev().skip(1) {
            prop_assert!(whole.contains(comment), "{:?} is not in the whole file", comment);
        }
    }
}

/// Opening marks repeated thousands of times don't overflow the stack.
#[test]
fn endless_openings_are_read() {
    for piece in PIECES.iter().chain(&[
        "`${", "$(\"", "<a b={", "=<T>(", "[{", "\"${", "'\\", "a/", "<<A\n", "#{\"", "%{",
        "$(case )",
    ]) {
        let text = piece.repeat(20_000 / piece.len());
        for language in LANGUAGES {
            drop(comments_in(language, &text));
        }
    }
}

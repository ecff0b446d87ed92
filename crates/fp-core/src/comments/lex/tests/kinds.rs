//! What is said of a comment beside its text.

use crate::comments::{Kind, Language, comments};

/// The kinds of the comments in `text`.
fn kinds(name: &str, text: &str) -> Vec<Kind> {
    comments(Language::of(name, "").unwrap(), text).iter().map(|comment| comment.kind).collect()
}

#[test]
fn documentation() {
    use Kind::{Block, Doc, Line};
    let c_like = "/// a\n//! b\n/** c */\n/*! d */\n//// e\n/*** f */\n/**/\n// g\n/* h */";
    for name in ["a.rs", "a.c", "a.java", "a.ts", "a.kt", "a.cs", "a.swift", "a.scala", "a.dart"] {
        let expected = [Doc, Doc, Doc, Doc, Line, Block, Block, Line, Block];
        assert_eq!(kinds(name, c_like), expected, "{name}");
    }
    assert_eq!(
        kinds("a.hs", "-- | a\n-- ^ b\n{-| c -}\n-- d\n{- e -}\n{-# INLINE f #-}"),
        [Doc, Doc, Doc, Line, Block, Block]
    );
    assert_eq!(kinds("a.ml", "(** a *)\n(* b *)\n(*** c ***)\n(**)"), [Doc, Block, Block, Block]);
    assert_eq!(kinds("a.lua", "--- a\n-- b\n---- c\n--[[ d ]]"), [Doc, Line, Line, Block]);
    assert_eq!(kinds("a.nim", "## a\n# b\n#[ c ]#\n##[ d ]##"), [Doc, Line, Block, Doc]);
    assert_eq!(kinds("a.r", "#' a\n# b"), [Doc, Line]);
    assert_eq!(kinds("a.php", "<?php\n/** a */\n# b\n/* c */"), [Doc, Line, Block]);
    assert_eq!(kinds("a.graphql", "\"\"\"a\"\"\"\ntype B # c"), [Doc, Line]);
    assert_eq!(kinds("a.pl", "=pod\n\n=cut\n# a"), [Doc, Line]);
    assert_eq!(kinds("a.py", "# a\n## b\n\"\"\"c\"\"\""), [Line, Line]);
    assert_eq!(kinds("a.html", "<!-- a -->"), [Block]);
}

#[test]
fn places() {
    let text = "\u{feff}// é\nlet x = 1; // b\n\n  /* c\n*/ d /* e */ // f\n// g /* h */\n/* i */ // j";
    let found: Vec<_> =
        comments(Language::Rust, text).into_iter().map(|c| (c.text, c.line, c.trails)).collect();
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
    assert_eq!(found, expected);
    for comment in comments(Language::Rust, text) {
        assert_eq!(&text[comment.span], comment.text);
    }
}

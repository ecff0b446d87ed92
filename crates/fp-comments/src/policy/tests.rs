//! Tables of comments that are asked about and comments that aren't.

use super::*;

/// The remarks in a file that has only line comments, all of them added, and no comment marks inside of strings.
fn asked(path: &str, text: &str) -> Vec<String> {
    let mut at = 0;
    let mut comments = Vec::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let mark = [(".py", "#"), (".yml", "#"), (".sql", "--")]
            .iter()
            .find(|(end, _)| path.ends_with(end));
        let code = line.find(mark.map_or("//", |(_, mark)| mark));
        if let Some(column) = code {
            let text = line[column..].trim_end();
            let trails = !line[..column].trim().is_empty();
            let span = at + column..at + column + text.len();
            comments.push(SourceComment {
                kind: CommentKind::Line,
                span,
                line: number + 1,
                text,
                column,
                trails,
            });
        }
        at += line.len();
    }
    let added = vec![true; comments.len()];
    let file = SourceFile {
        path,
        is_test: path.contains(".test."),
    };
    remarks_among(file, text, &comments, &added)
        .into_iter()
        .map(|r| format!("{} {}", r.line, r.text))
        .collect()
}

#[test]
fn adjacent_lines_are_one_remark() {
    let check = |text: &str, expect: &[&str]| assert_eq!(asked("a.rs", text), expect, "{text}");
    check(
        "// sort\n// them\nsort();\n// print\n",
        &["1 // sort them", "4 // print"],
    );
    check("// sort\n  // them\n", &["1 // sort", "2 // them"]);
    check("a(); // sort\n// them\n", &["1 // sort", "2 // them"]);
    check("// sort\n//\n// them\n", &["1 // sort", "3 // them"]);
    check("//\n// ----\n// ====\n", &[]);
}

#[test]
fn what_belongs_to_a_directive_is_not_asked_about() {
    let check =
        |path: &str, text: &str, expect: &[&str]| assert_eq!(asked(path, text), expect, "{text}");
    check(
        "a.rs",
        "// SAFETY: it is\n// valid.\nx();\n// go\n",
        &["4 // go"],
    );
    check(
        "a.rs",
        "// go\n// SAFETY: it is\n// valid.\n//\n// on\n",
        &["1 // go", "5 // on"],
    );
    check(
        "a.js",
        "// eslint-disable-next-line no-x\n// go\n",
        &["2 // go"],
    );
    check(
        "a.py",
        "# /// script\n# dependencies = [\"x\"]\n# ///\n",
        &[],
    );
    check(
        "a.py",
        "#!/usr/bin/env -S uv run\n# /// script\n# dependencies = [\n# ]\n# [tool.uv]\n# ///\n# go\n",
        &["7 # go"],
    );
    check(
        "a.py",
        "#!/bin/sh\n### BEGIN INIT INFO\n# Provides: x\n### END INIT INFO\n\n# go\n",
        &["6 # go"],
    );
    check(
        "a.go",
        "// Add adds.\nfunc Add() {}\n// add it\nfunc Sub() {}\n",
        &["3 // add it"],
    );
    check(
        "a.go",
        "// Add adds.\nfunc (t *T) Add() {}\n// A T is one.\ntype T struct{}\n// Package a is.\npackage a\n",
        &[],
    );
    check("a.go", "// #include <x.h>\n// int x;\nimport \"C\"\n", &[]);
    check(
        "a.rs",
        "// Copyright 2020\n// Somebody and\n// others\nx\n",
        &[],
    );
    check(
        "a.rs",
        "// Copyright (c)\n// Somebody, licensed\n// under the terms\nx\n",
        &[],
    );
    check(
        "a.cpp",
        "} // namespace foo\n} // the end\n#endif // FOO_H\n",
        &["2 // the end"],
    );
    check(
        "a.py",
        "# region of interest\nx\n",
        &["1 # region of interest"],
    );
    check("a.py", "# region Names\nx\n# endregion\n", &[]);
    check("a.yml", "- uses: actions/checkout@abc # v4.1.0\n", &[]);
    check("a.yml", "- uses: actions/checkout@abc # tag=v4\n", &[]);
    check("a.yml", "  rev: abc  # 1.2.0\n", &[]);
    check(
        "a.yml",
        "  rev: abc  # the last one\n",
        &["1 # the last one"],
    );
}

#[test]
fn tasks_for_later() {
    let silent = [
        "// TODO(#12): do it",
        "// TODO(jane): do it",
        "// TODO PROJ-12 do it",
        "// FIXME: see https://x.y/1",
        "// TODO: do it (#12)",
        "// todo(#1): x",
        "// @todo #12 x",
        "// TODO: do it\n// see https://x.y",
        "// XXX b/123",
        "// HACK(GH-1)",
        "// TODO: @jane look",
        "// TODO: fix owner/repo#12",
    ];
    let loud = [
        "// TODO: do it",
        "// TODO do UTF-8",
        "// FIXME",
        "// todo: it",
        "// TODOs are listed",
        "// TODO(): x",
        "// HACK around it",
        "// TODO: one\n// TODO(#1): two",
        "// BUG: x-1",
    ];
    silent
        .iter()
        .for_each(|text| assert_eq!(asked("a.rs", text), [""; 0], "{text}"));
    loud.iter()
        .for_each(|text| assert_eq!(asked("a.rs", text).len(), 1, "{text}"));
}

#[test]
fn steps_of_tests() {
    let check = |path: &str, text: &str, expect: bool| {
        assert_eq!(asked(path, text).is_empty(), expect, "{path} {text}")
    };
    for text in [
        "// given",
        "// Given:",
        "// WHEN",
        "// then.",
        "// when & then",
        "// Given / When",
        "// Act and Assert",
        "// --- arrange ---",
        "// 1. Arrange",
        "// given a user",
        "// Then: it works",
    ] {
        check("a.ts", text, true);
    }
    for text in [
        "// given the list, sort it",
        "// then b",
        "// when it is full, evict",
        "// act on it",
        "// and then some",
        "// assert that it works",
        "// setup",
    ] {
        check("a.ts", text, false);
    }
    check("a.test.ts", "// then it is sorted", true);
    check("a.test.ts", "// setup", true);
    check("a.test.ts", "// sort it", false);
}

#[test]
fn prose_that_begins_like_a_directive_is_prose() {
    for text in [
        "Allow users to log in",
        "type of the user",
        "eslint is configured elsewhere",
        "copyright is checked above",
        "ignore the error",
        "noqa is not used here",
        "region of interest",
        "this file is read first",
        "version",
        "import the users",
        "suppress the output",
        "deploy it to production",
        "translators are users here",
        "sourcery of the worst kind",
        "depends on the order",
        "format the date",
        "global counter of users",
        "generated by the caller",
        "license check of the user",
        "ignore: this is wrong",
        "name of the user",
        "encoding of the file",
        "language of the user",
        "export the thing",
        "global state",
        "pragma once does it",
        "check: it is there",
        "type: it says which",
        "mark the item as read",
        "MARK it",
        "fmt the string",
        "nolint is bad here",
        "safety first",
        "safety of this is checked",
        "region: north of it",
        "test the thing",
        "build the project",
        "go over all of them",
        "lint the file",
        "cover the whole",
        "vim is an editor",
        "end of the loop",
        "End",
        "use critical section",
        "no criticism",
        "ex: a small one",
        "syntax = highlighted",
        "coverage of the test",
        "param of the call",
        "return the value",
        "returns nothing",
        "SPDX is a format",
        "expected value comes first",
        "fold it",
        "docs are elsewhere",
        "see the license",
        "type checker runs before",
        "prettier output follows",
        "swift is fast",
        "fallthrough to the next case is wanted",
        "ko is Korean",
        "typed: later",
        "the copyright holder",
        "nullable here",
        "steep slope",
        "typical: one",
        "region handling",
        "region",
        "stack overflow is avoided",
        "want more",
        "run: it",
        "output: a list",
        "requires a key",
    ] {
        for (path, mark) in [("a.rs", "//"), ("a.py", "#"), ("a.sql", "--")] {
            assert_eq!(
                asked(path, &format!("{mark} {text}\n")).len(),
                1,
                "{path}: {text}"
            );
        }
    }
}

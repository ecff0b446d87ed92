//! Which language a file is written in.

use crate::comments::Language::{self, *};

#[test]
fn by_name() {
    for (path, language) in [
        ("src/a.RS", Some(Rust)),
        ("a.hxx", Some(C)),
        ("a/b.mm", Some(C)),
        ("a.mts", Some(TypeScript)),
        ("a.tsx", Some(Tsx)),
        ("a.d.ts", Some(TypeScript)),
        ("Dockerfile", Some(Dockerfile)),
        ("x/Dockerfile.dev", Some(Dockerfile)),
        ("api.Dockerfile", Some(Dockerfile)),
        ("Containerfile", Some(Dockerfile)),
        ("GNUmakefile", Some(Makefile)),
        ("rules.mk", Some(Makefile)),
        ("CMakeLists.txt", Some(CMake)),
        ("Gemfile", Some(Ruby)),
        ("Jenkinsfile", Some(Groovy)),
        (".bashrc", Some(Shell)),
        (".env.local", Some(Env)),
        ("tsconfig.build.json", Some(Jsonc)),
        ("BUILD", Some(Python)),
        ("a.gradle.kts", Some(Kotlin)),
        (r"C:\x\a.go", Some(Go)),
        ("a.json", None),
        ("package.json", None),
        ("README.md", None),
        ("a.csv", None),
        ("notes.txt", None),
        ("a.lock", None),
        ("Cargo.lock", None),
        (".gitignore", None),
        ("requirements.txt", None),
        ("x.service", Some(Properties)),
        ("justfile", Some(Conf)),
        ("LICENSE", None),
        ("", None),
        ("a.", None),
        ("..", None),
    ] {
        assert_eq!(Language::of(path, ""), language, "{path}");
    }
}

#[test]
fn by_first_line() {
    for (path, line, language) in [
        ("bin/run", "#!/bin/sh", Some(Shell)),
        ("bin/run", "#!/usr/bin/env python3.12", Some(Python)),
        ("bin/run", "#!/usr/bin/env -S node --x", Some(JavaScript)),
        ("bin/run", "#! /usr/bin/perl -w", Some(Perl)),
        ("bin/run", "\u{feff}#!/usr/bin/env A=b ruby", Some(Ruby)),
        (".hook", "#!/bin/bash -e\r", Some(Shell)),
        ("bin/run", "# no", None),
        ("bin/run", "#!/opt/unknown", None),
        ("a.txt", "#!/bin/sh", None),
        ("a.py", "#!/bin/sh", Some(Python)),
    ] {
        assert_eq!(Language::of(path, line), language, "{path} {line}");
    }
}

//! What a source file imports, read from its text: one file a language, all on the same reader of words, texts
//! and signs, so that comments and texts don't count. Whatever the text is, there is an answer.

mod c;
mod c_sharp;
mod go;
mod java_script;
mod jvm;
mod lexer;
mod php;
mod python;
mod ruby;
mod rust;
mod swift;

use crate::language::Language;

/// Most imports that are taken from one file.
const MOST: usize = 10_000;
/// Most parts that are taken of one name, and most bytes of one text; no real one has as many.
const PARTS: usize = 16;
const BYTES: usize = 1024;

/// One import, as the file says it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Import {
    /// A module of Rust that has a file of its own: `mod name;`.
    Module {
        /// The modules in the file that it stands in, from the outermost.
        inside: Vec<String>,
        /// Its name.
        name: String,
        /// The file that an attribute `path` names.
        file: Option<String>,
    },
    /// A path of Rust: `use a::b;`.
    Use {
        /// The modules in the file that it stands in, from the outermost.
        inside: Vec<String>,
        /// Its parts.
        path: Vec<String>,
    },
    /// `from .a import b` of Python.
    From {
        /// How many dots there are in front.
        dots: usize,
        /// The module, with dots between its parts; may be empty.
        module: String,
        /// What is taken from it; `None` for everything.
        name: Option<String>,
    },
    /// A file, relative to the one that imports it, or a module specifier.
    File(String),
    /// A file that is looked for in the folders of a search path.
    Search(String),
    /// A name with dots between its parts; everything below it where it ends with `.*`.
    Name(String),
}

/// What was found in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Its imports, in order; the same one can be there several times.
    pub imports: Vec<Import>,
    /// The packages or namespaces that it says it belongs to, with dots between their parts.
    pub declares: Vec<String>,
    /// Whether it has tests inside, as Rust files do.
    pub has_tests: bool,
}

impl Found {
    fn add(&mut self, import: Import) {
        if self.imports.len() < MOST {
            self.imports.push(import);
        }
    }
}

/// What the file `path` with the content `text` imports. Nothing where its language is not known.
#[must_use]
pub fn find(path: &str, text: &[u8]) -> Found {
    let mut found = Found::default();
    match Language::of(path) {
        Some(Language::Rust) => rust::find(text, &mut found),
        Some(Language::JavaScript) => java_script::find(path, text, &mut found),
        Some(Language::Python) => python::find(text, &mut found),
        Some(Language::Go) => go::find(text, &mut found),
        Some(Language::Jvm) => jvm::find(text, &mut found),
        Some(Language::C) => c::find(text, &mut found),
        Some(Language::Ruby) => ruby::find(text, &mut found),
        Some(Language::Php) => php::find(text, &mut found),
        Some(Language::CSharp) => c_sharp::find(text, &mut found),
        Some(Language::Swift) => swift::find(text, &mut found),
        Some(Language::Shell | Language::TestScript) | None => {}
    }
    found
}

/// Bytes of a source file as text; what isn't UTF-8 is replaced.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(BYTES)]).into_owned()
}

/// The parts of a name as texts, no more than any real name has.
fn parts(name: &[&[u8]]) -> Vec<String> {
    name.iter().take(PARTS).map(|part| text(part)).collect()
}

/// The parts of a name with dots between them.
fn dotted(name: &[&[u8]]) -> String {
    parts(name).join(".")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An import in one line.
    fn shown(import: &Import) -> String {
        let inside = |modules: &[String]| modules.iter().map(|m| format!("{m}/")).collect::<String>();
        match import {
            Import::Module { inside: modules, name, file } => {
                let file = file.as_ref().map(|file| format!(" at {file}")).unwrap_or_default();
                format!("mod {}{name}{file}", inside(modules))
            }
            Import::Use { inside: modules, path } => format!("use {}{}", inside(modules), path.join("::")),
            Import::From { dots, module, name } => {
                format!("from {}{module} {}", ".".repeat(*dots), name.as_deref().unwrap_or("*"))
            }
            Import::File(file) => format!("file {file}"),
            Import::Search(file) => format!("search {file}"),
            Import::Name(name) => format!("name {name}"),
        }
    }

    /// The imports of a file in one line each, then what it declares.
    pub(super) fn check(path: &str, text: &str, expect: &[&str]) {
        let found = find(path, text.as_bytes());
        let mut lines: Vec<String> = found.imports.iter().map(shown).collect();
        lines.extend(found.declares.iter().map(|name| format!("in {name}")));
        assert_eq!(lines, expect, "{path}:\n{text}");
    }

    /// Every word and sign that means something to one of the languages.
    const PIECES: [&str; 50] = [
        "import",
        "from",
        "use",
        "mod",
        "require",
        "(",
        ")",
        "{",
        "}",
        "::",
        "\\",
        "'",
        "\"",
        "`",
        "/*",
        "*/",
        "//",
        "\n",
        ";",
        ",",
        "a",
        "b",
        "as",
        "*",
        ".",
        "..",
        "namespace",
        "using",
        "package",
        "static",
        "include",
        "#",
        "<",
        ">",
        "require_relative",
        "autoload",
        ":",
        "export",
        "=",
        "extern crate",
        "[path = \"x\"]",
        "[cfg(test)]",
        "<?php",
        "<<~A",
        "r#\"",
        "class",
        "${",
        "func",
        "self",
        "\u{feff}",
    ];

    const PATHS: [&str; 12] = [
        "a.rs", "a.ts", "a.vue", "a.py", "a.go", "a.java", "a.scala", "a.cc", "a.rb", "a.php", "a.cs",
        "a.swift",
    ];

    proptest! {
        #[test]
        fn any_text_has_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            PATHS.iter().for_each(|path| drop(find(path, &bytes)));
        }

        #[test]
        fn any_sequence_of_words_has_an_answer(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)) {
            for glue in ["", " "] {
                let text = pieces.join(glue);
                for path in PATHS {
                    let found = find(path, text.as_bytes());
                    prop_assert!(found.imports.len() <= text.len());
                }
            }
        }
    }

    /// Where one of these were read again for each of its parts, this would take hours.
    #[test]
    fn a_file_made_to_be_slow_has_an_answer() {
        let long = format!("from {} import ", "a".repeat(300_000));
        for (head, piece) in [
            ("use ", "a::{"),
            ("use ", "a::"),
            ("import ", "{"),
            ("", "<<A "),
            ("", "@"),
            ("a = ", "/ "),
            ("", "r#"),
            ("", "=begin"),
            ("", "import {"),
            ("", "`${"),
            ("import ", "("),
            (long.as_str(), "b, "),
            ("", "#"),
            ("", "mod a {"),
        ] {
            let text = head.to_owned() + &piece.repeat(300_000 / piece.len());
            PATHS.iter().for_each(|path| assert!(find(path, text.as_bytes()).imports.len() <= MOST));
        }
    }
}

//! `mod name;`, `use a::{b, c};` and `extern crate name;`, each with the modules in the file around it; and whether
//! there are tests inside.

use super::lexer::{Lexer, Token};
use super::{Found, Import, PARTS, parts, text};
use crate::language::Language;

struct Reader<'t, 'f> {
    tokens: std::iter::Filter<Lexer<'t>, fn(&Token<'t>) -> bool>,
    found: &'f mut Found,
    depth: usize,
    /// The modules with a body that are open, each with the depth of its brace.
    inside: Vec<(&'t [u8], usize)>,
    /// The file of an attribute `path` that nothing has used yet.
    file: Option<&'t [u8]>,
}

pub(super) fn find(source: &[u8], found: &mut Found) {
    let code: fn(&Token<'_>) -> bool = |token| *token != Token::Line;
    let tokens = Lexer::new(source, Language::Rust).filter(code);
    let mut reader = Reader { tokens, found, depth: 0, inside: Vec::new(), file: None };
    while let Some(token) = reader.tokens.next() {
        reader.token(token);
    }
}

impl<'t> Reader<'t, '_> {
    fn token(&mut self, token: Token<'t>) {
        match token {
            Token::Word(b"mod") => self.module(),
            Token::Word(b"use") => self.tree(),
            Token::Word(b"extern") => self.external(),
            Token::Sign(b'#') => self.attribute(),
            Token::Sign(b'{') => self.depth += 1,
            Token::Sign(b'}') => self.close(),
            Token::Sign(b';') => self.file = None,
            _ => {}
        }
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.inside.last().is_some_and(|(_, depth)| *depth == self.depth) {
            self.inside.pop();
        }
    }

    fn inside(&self) -> Vec<String> {
        self.inside.iter().take(PARTS).map(|(name, _)| text(name)).collect()
    }

    fn module(&mut self) {
        let file = self.file.take();
        let Some(Token::Word(name)) = self.tokens.next() else { return };
        match self.tokens.next() {
            Some(Token::Sign(b';')) => {
                let (inside, file) = (self.inside(), file.map(text));
                self.found.add(Import::Module { inside, name: text(name), file });
            }
            Some(Token::Sign(b'{')) => {
                self.inside.push((name, self.depth));
                self.depth += 1;
            }
            _ => {}
        }
    }

    fn external(&mut self) {
        let Some(Token::Word(b"crate")) = self.tokens.next() else { return };
        if let Some(Token::Word(name)) = self.tokens.next() {
            let inside = self.inside();
            self.found.add(Import::Use { inside, path: vec![text(name)] });
        }
    }

    /// The tree behind `use`, which has one path for each of its leaves.
    fn tree(&mut self) {
        let mut path: Vec<&[u8]> = Vec::new();
        let mut marks: Vec<usize> = Vec::new();
        let mut pending = false;
        while let Some(token) = self.tokens.next() {
            match token {
                Token::Word(b"as") => drop(self.tokens.next()),
                Token::Word(name) => {
                    path.push(name);
                    pending = true;
                }
                Token::Sign(b'*') => pending = true,
                Token::Sign(b':') => {}
                Token::Sign(b'{') => marks.push(path.len()),
                Token::Sign(b',' | b'}' | b';') => {
                    self.leaf(&path, &mut pending);
                    if token == Token::Sign(b'}') {
                        marks.pop();
                    }
                    path.truncate(marks.last().copied().unwrap_or(0));
                    if token == Token::Sign(b';') {
                        return;
                    }
                }
                // `use<'a>` of a type, or nothing that can be read.
                _ => return,
            }
        }
    }

    fn leaf(&mut self, path: &[&[u8]], pending: &mut bool) {
        if !std::mem::take(pending) || path.is_empty() {
            return;
        }
        let mut path = parts(path);
        // `a::{self}` is `a`.
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let inside = self.inside();
        self.found.add(Import::Use { inside, path });
    }

    /// `#[path = "…"]`, and those by which tests are known: `#[test]`, `#[tokio::test]`, `#[cfg(test)]`.
    fn attribute(&mut self) {
        let mut words: Vec<&[u8]> = Vec::new();
        let mut brackets = 0usize;
        let mut parentheses = 0usize;
        let mut name: &[u8] = b"";
        for token in self.tokens.by_ref() {
            match token {
                Token::Sign(b'[') => brackets += 1,
                Token::Sign(b']') => brackets = brackets.saturating_sub(1),
                Token::Sign(b'(') => parentheses += 1,
                Token::Sign(b'!') if brackets == 0 => {}
                Token::Word(word) => {
                    if parentheses == 0 {
                        name = word;
                    }
                    if words.len() < PARTS {
                        words.push(word);
                    }
                }
                Token::Text(file) if words == [&b"path"[..]] => self.file = Some(file),
                _ => {}
            }
            if brackets == 0 && token != Token::Sign(b'!') {
                break;
            }
        }
        let has = |wanted: &[u8]| words.contains(&wanted);
        let only_for_tests = words.first() == Some(&&b"cfg"[..]) && has(b"test") && !has(b"not");
        self.found.has_tests |= name == b"test" || only_for_tests;
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::super::tests::check;

    #[test]
    fn imports_of_rust() {
        check(
            "a.rs",
            "mod a;\npub(crate) mod b;\nmod c { mod d; use super::x; }",
            &["mod a", "mod b", "mod c/d", "use c/super::x"],
        );
        check("a.rs", "#[path = \"x/y.rs\"]\nmod a;\nmod b;", &["mod a at x/y.rs", "mod b"]);
        check("a.rs", "#[cfg(unix)] #[path = \"u.rs\"] mod a;", &["mod a at u.rs"]);
        check(
            "a.rs",
            "use a::b as c;\npub use crate::{d, e::{self, F as G, h::*}, i};",
            &[
                "use a::b",
                "use crate::d",
                "use crate::e",
                "use crate::e::F",
                "use crate::e::h",
                "use crate::i",
            ],
        );
        check("a.rs", "use ::std::fmt;\nextern crate foo as bar;", &["use std::fmt", "use foo"]);
        check("a.rs", "// use a;\n/* mod b; /* use c; */ */ let s = \"use d;\"; let r = r#\"mod e;\"#;", &[]);
        check("a.rs", "fn f<'a>(x: &'a str) -> impl Fn() + use<'a> { use a::b; 'x'; }", &["use a::b"]);
        check("a.rs", "mod a {\n  mod b { }\n}\nuse c;", &["use c"]);
        check("a.rs", "use a::{b, c", &["use a::b"]);
    }

    #[test]
    fn tests_inside() {
        let check =
            |text: &str, expect: bool| assert_eq!(find("a.rs", text.as_bytes()).has_tests, expect, "{text}");
        check("#[cfg(test)]\nmod tests {}", true);
        check("#[test]\nfn a() {}", true);
        check("#[tokio::test(flavor = \"x\")]\nasync fn a() {}", true);
        check("#[cfg(all(test, unix))] mod tests;", true);
        check("#[cfg(not(test))] fn a() {}", false);
        check("// #[test]\n\"#[test]\"", false);
        check("#[derive(test)] struct A;", false);
        check("#![cfg(test)]", true);
        check("#[path = \"test\"] mod a;", false);
    }
}

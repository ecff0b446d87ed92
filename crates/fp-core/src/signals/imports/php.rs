//! `namespace A\B`, `use A\B\{C, D}`, and `require` or `include` of a file whose name is written out.

use super::lexer::{Lexer, Token};
use super::{Found, Import, dotted, text};
use crate::language::Language;

pub(super) fn find(source: &[u8], found: &mut Found) {
    let mut tokens = Lexer::new(source, Language::Php);
    // Whether a class has begun, in which `use` takes a trait.
    let mut in_class = false;
    let mut last = Token::Line;
    while let Some(token) = tokens.next() {
        let member = matches!(last, Token::Sign(b':' | b'>' | b'$'));
        match token {
            Token::Line => continue,
            Token::Word(word) if !member => match word.to_ascii_lowercase().as_slice() {
                b"namespace" if last != Token::Sign(b'\\') => {
                    in_class = false;
                    namespace(&mut tokens, found);
                }
                b"use" if !in_class => names(&mut tokens, found),
                b"class" | b"interface" | b"trait" | b"enum" => in_class = true,
                b"require" | b"require_once" | b"include" | b"include_once" => file(&mut tokens, found),
                _ => {}
            },
            _ => {}
        }
        last = token;
    }
}

fn namespace(tokens: &mut Lexer<'_>, found: &mut Found) {
    let mut name: Vec<&[u8]> = Vec::new();
    for token in tokens {
        match token {
            Token::Word(part) => name.push(part),
            Token::Sign(b'\\') | Token::Line => {}
            _ => break,
        }
    }
    if !name.is_empty() {
        found.declares.push(dotted(&name));
    }
}

/// What follows `use`, to the semicolon; nothing where it belongs to a closure.
fn names(tokens: &mut Lexer<'_>, found: &mut Found) {
    let mut name: Vec<&[u8]> = Vec::new();
    let mut group = 0;
    let mut closed = false;
    while let Some(token) = tokens.next() {
        match token {
            Token::Line | Token::Sign(b'\\') => {}
            Token::Word(b"function" | b"const") if name.len() == group => {}
            Token::Word(b"as") => drop(tokens.next()),
            Token::Word(part) => name.push(part),
            Token::Sign(b'{') if group == 0 => group = name.len(),
            Token::Sign(b',' | b'}' | b';') => {
                if name.len() > group && !closed {
                    found.add(Import::Name(dotted(&name)));
                }
                closed |= token == Token::Sign(b'}');
                name.truncate(group);
                if token == Token::Sign(b';') {
                    return;
                }
            }
            _ => return,
        }
    }
}

/// What follows `require`, to the semicolon: one text, perhaps behind `__DIR__`.
fn file(tokens: &mut Lexer<'_>, found: &mut Found) {
    let mut path = None;
    let mut up = 0;
    for token in tokens {
        match token {
            Token::Sign(b';') => break,
            Token::Word(b"dirname") => up += 1,
            // The folder of this file takes one step less than `dirname` of the file itself.
            Token::Word(b"__FILE__") if up > 0 => up -= 1,
            Token::Word(b"__DIR__") | Token::Sign(b'(' | b')' | b'.') | Token::Line => {}
            Token::Text(text) if path.is_none() && !text.contains(&b'$') => path = Some(text),
            _ => return,
        }
    }
    if let Some(path) = path {
        let path = text(path);
        let path = "../".repeat(up.min(32)) + path.trim_start_matches('/');
        found.add(Import::File(path));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn imports_of_php() {
        check(
            "a.php",
            "<?php\nnamespace A\\B;\nuse C\\D;\nuse E\\F as G, H;\nuse function I\\j;\nuse K\\{L, M\\N};",
            &["name C.D", "name E.F", "name H", "name I.j", "name K.L", "name K.M.N", "in A.B"],
        );
        check("a.php", "<?php class A { use T; function f() { return function () use ($x) {}; } }", &[]);
        check(
            "a.php",
            "<?php require 'a.php'; include_once __DIR__ . '/../b.php'; require dirname(__FILE__) . '/c.php';",
            &["file a.php", "file ../b.php", "file c.php"],
        );
        check(
            "a.php",
            "<?php require dirname(__DIR__) . '/d.php'; require $x . '/e.php'; require \"$f.php\";",
            &["file ../d.php"],
        );
        check(
            "a.php",
            "<p>use A;</p> <?php // use B;\n# use C;\n/* use D; */ $s = 'use E;'; $t = <<<X\nuse F;\nX;\n",
            &[],
        );
        check("a.php", "<?php $x = Foo::class; use A\\B;", &["name A.B"]);
    }
}

//! `import a.b as c, d` and `from ..a import (b, c)`.

use super::lexer::{Lexer, Token};
use super::{Found, Import, dotted, text};
use crate::language::Language;

pub(super) fn find(source: &[u8], found: &mut Found) {
    let mut tokens = Lexer::new(source, Language::Python);
    let mut begins = true;
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(b"import") if begins => modules(&mut tokens, found),
            Token::Word(b"from") if begins => names(&mut tokens, found),
            _ => {}
        }
        let ends = matches!(token, Token::Line | Token::Sign(b';' | b':'));
        begins = ends || begins && matches!(token, Token::Word(b"import" | b"from"));
    }
}

/// What follows `import`, to the end of the line.
fn modules(tokens: &mut Lexer<'_>, found: &mut Found) {
    let mut name: Vec<&[u8]> = Vec::new();
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(b"as") => drop(tokens.next()),
            Token::Word(part) => name.push(part),
            Token::Sign(b'.') => {}
            _ => {
                if !name.is_empty() {
                    found.add(Import::Name(dotted(&name)));
                    name.clear();
                }
                if token != Token::Sign(b',') {
                    return;
                }
            }
        }
    }
    if !name.is_empty() {
        found.add(Import::Name(dotted(&name)));
    }
}

/// What follows `from`, to the end of the line or of the parenthesis.
fn names(tokens: &mut Lexer<'_>, found: &mut Found) {
    let mut dots = 0;
    let mut module: Vec<&[u8]> = Vec::new();
    loop {
        match tokens.next() {
            Some(Token::Sign(b'.')) if module.is_empty() => dots += 1,
            Some(Token::Sign(b'.')) => {}
            Some(Token::Word(b"import")) => break,
            Some(Token::Word(part)) => module.push(part),
            _ => return,
        }
    }
    let module = dotted(&module);
    let mut open = false;
    while let Some(token) = tokens.next() {
        match token {
            Token::Sign(b'(') => open = true,
            Token::Sign(b'*') => found.add(Import::From { dots, module: module.clone(), name: None }),
            Token::Word(b"as") => drop(tokens.next()),
            Token::Word(name) => {
                found.add(Import::From { dots, module: module.clone(), name: Some(text(name)) });
            }
            Token::Sign(b',') => {}
            Token::Line if open => {}
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn imports_of_python() {
        check(
            "a.py",
            "import a.b.c as d, e\nimport f; import g",
            &["name a.b.c", "name e", "name f", "name g"],
        );
        check(
            "a.py",
            "from . import a\nfrom .b import c as d, e\nfrom ...f.g import *",
            &["from . a", "from .b c", "from .b e", "from ...f.g *"],
        );
        check(
            "a.py",
            "from a.b import (  # why\n    c,\n    d as e,\n)\nimport f",
            &["from a.b c", "from a.b d", "name f"],
        );
        check(
            "a.py",
            "if x: import a\ntry:\n    import b\nexcept ImportError:\n    pass",
            &["name a", "name b"],
        );
        check("a.py", "import a, \\\n    b", &["name a", "name b"]);
        check("a.py", "'''\nimport a\n'''\n# import b\ns = \"import c\"\nraise X from import_error", &[]);
        check("a.py", "def f():\n    yield from a\n    x.import_module('b')", &[]);
        check("a.py", "from __future__ import annotations", &["from __future__ annotations"]);
    }
}

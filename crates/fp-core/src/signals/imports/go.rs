//! `import "x"` and `import ( … )`, which stand before everything else.

use super::lexer::{Lexer, Token};
use super::{Found, Import, text};
use crate::language::Language;

pub(super) fn find(source: &[u8], found: &mut Found) {
    let mut open = false;
    let mut single = false;
    for token in Lexer::new(source, Language::Go) {
        match token {
            Token::Word(b"func" | b"type" | b"var" | b"const") if !open => return,
            Token::Word(b"import") => single = true,
            Token::Sign(b'(') if single => open = true,
            Token::Sign(b')') => (open, single) = (false, false),
            Token::Text(path) if single => {
                found.add(Import::Name(text(path)));
                single = open;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn imports_of_go() {
        check(
            "a.go",
            "package a\nimport \"fmt\"\nimport b \"x/y\"\nvar s = \"z\"",
            &["name fmt", "name x/y"],
        );
        check(
            "a.go",
            "package a\nimport (\n\t\"fmt\"\n\t. \"x/y\"\n\t_ `z`\n\t// \"w\"\n)\nfunc f() { g(\"v\") }",
            &["name fmt", "name x/y", "name z"],
        );
        check("a.go", "/* import \"a\" */ package a\nfunc f() {}\nimport \"b\"", &[]);
    }
}

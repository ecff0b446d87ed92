//! `import A` and `import struct A.B`. What is in the same module needs no import and is not seen.

use super::lexer::{Lexer, Token};
use super::{Found, Import, text};
use crate::language::Language;

pub(super) fn find(source: &[u8], found: &mut Found) {
    let mut tokens = Lexer::new(source, Language::Swift);
    while let Some(token) = tokens.next() {
        if token != Token::Word(b"import") {
            continue;
        }
        let module = tokens.by_ref().find(|token| !is_kind(token));
        if let Some(Token::Word(module)) = module {
            found.add(Import::Name(text(module)));
        }
    }
}

/// Whether a token only says what sort of thing is imported.
fn is_kind(token: &Token<'_>) -> bool {
    matches!(
        token,
        Token::Word(b"struct" | b"class" | b"enum" | b"protocol" | b"typealias" | b"func" | b"let" | b"var")
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn imports_of_swift() {
        check(
            "a.swift",
            "import A\n@testable import B\nimport struct C.D\n// import E\n/* /* */ import F */\nlet s = \"import G\"",
            &["name A", "name B", "name C"],
        );
        check("a.swift", "let s = \"\"\"\nimport A\n\"\"\"\nimport B", &["name B"]);
        check("a.swift", "import", &[]);
    }
}

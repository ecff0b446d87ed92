//! `using A.B;` and `namespace A.B`. Names of the same namespace need no `using` and are not seen.

use super::lexer::{Lexer, Token};
use super::{Found, Import, dotted};
use crate::language::Language;

pub(super) fn find(source: &[u8], found: &mut Found) {
    let mut tokens = Lexer::new(source, Language::CSharp);
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(b"using") => using(&mut tokens, found),
            Token::Word(b"namespace") => {
                let name = name(&mut tokens).0;
                if !name.is_empty() {
                    found.declares.push(name);
                }
            }
            Token::Word(b"class" | b"struct" | b"interface" | b"record" | b"enum" | b"delegate") => return,
            _ => {}
        }
    }
}

fn using(tokens: &mut Lexer<'_>, found: &mut Found) {
    let (mut name, mut end) = self::name(tokens);
    if end == Some(Token::Sign(b'=')) {
        (name, end) = self::name(tokens);
    }
    if end == Some(Token::Sign(b';')) && !name.is_empty() {
        found.add(Import::Name(name));
    }
}

/// A name with dots between its parts, and what ends it.
fn name<'t>(tokens: &mut Lexer<'t>) -> (String, Option<Token<'t>>) {
    let mut name: Vec<&[u8]> = Vec::new();
    loop {
        match tokens.next() {
            Some(Token::Word(b"static" | b"unsafe" | b"global")) if name.is_empty() => {}
            Some(Token::Word(part)) => name.push(part),
            Some(Token::Sign(b'.' | b':') | Token::Line) => {}
            end => return (dotted(&name), end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn imports_of_c_sharp() {
        check(
            "a.cs",
            "global using A;\nusing B.C;\nusing static D.E;\nusing F = G.H;\nnamespace I.J;\nclass K {}",
            &["name A", "name B.C", "name D.E", "name G.H", "in I.J"],
        );
        check(
            "a.cs",
            "namespace A\n{\n  using B;\n  class C { void D() { using (var x = y) { } using E; } }\n}",
            &["name B", "in A"],
        );
        check("a.cs", "// using A;\n#region using B;\nvar s = @\"using C;\"; using var f = g();", &[]);
    }
}

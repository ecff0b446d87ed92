//! `package a.b` and `import a.b.C` of Java, Kotlin, Groovy and Scala. What is in the same package needs no import
//! and is not seen.

use super::lexer::{Lexer, Token};
use super::{Found, Import, PARTS, dotted};
use crate::language::Language;

pub(super) fn find(source: &[u8], found: &mut Found) {
    let mut tokens = Lexer::new(source, Language::Jvm);
    let mut begins = true;
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(b"package") if begins => package(&mut tokens, found),
            Token::Word(b"import") if begins => import(&mut tokens, found),
            Token::Word(b"class" | b"interface" | b"enum" | b"record" | b"trait" | b"fun") if begins => {
                return;
            }
            _ => {}
        }
        begins = matches!(token, Token::Line | Token::Sign(b';'))
            || matches!(token, Token::Word(b"package" | b"import"))
            || begins
                && matches!(
                    token,
                    Token::Word(b"public" | b"final" | b"abstract" | b"open" | b"data" | b"sealed")
                );
    }
}

fn package(tokens: &mut Lexer<'_>, found: &mut Found) {
    let mut name: Vec<&[u8]> = Vec::new();
    for token in tokens {
        match token {
            Token::Word(b"object") if name.is_empty() => {}
            Token::Word(part) => name.push(part),
            Token::Sign(b'.' | b'`') => {}
            _ => break,
        }
    }
    if !name.is_empty() {
        found.declares.push(dotted(&name));
    }
}

fn import(tokens: &mut Lexer<'_>, found: &mut Found) {
    let mut name: Vec<&[u8]> = Vec::new();
    // How long the name is in front of an open brace.
    let mut group = None;
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(b"static") if name.is_empty() => {}
            Token::Word(b"as") => drop(tokens.next()),
            Token::Word(b"_") | Token::Sign(b'*') => name.push(b"*"),
            Token::Word(part) => name.push(part),
            Token::Sign(b'.' | b'`') => {}
            Token::Sign(b'{') if group.is_none() => group = Some(name.len().min(PARTS)),
            Token::Sign(b'=') if tokens.next() == Some(Token::Sign(b'>')) => drop(tokens.next()),
            Token::Line if group.is_some() => {}
            _ => {
                add(&name, group, found);
                name.truncate(group.unwrap_or(0));
                if token != Token::Sign(b',') {
                    return;
                }
            }
        }
    }
    add(&name, group, found);
}

fn add(name: &[&[u8]], group: Option<usize>, found: &mut Found) {
    if name.len() > group.unwrap_or(0) {
        found.add(Import::Name(dotted(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn imports_of_java_and_its_kin() {
        check(
            "A.java",
            "package a.b;\nimport c.D;\nimport static e.F.g;\nimport h.*;\nclass A { }",
            &["name c.D", "name e.F.g", "name h.*", "in a.b"],
        );
        check(
            "A.kt",
            "@file:JvmName(\"x\")\npackage a\nimport b.C as D\nimport e.`in`.F\nfun f() { }\nimport g.H",
            &["name b.C", "name e.in.F", "in a"],
        );
        check(
            "A.scala",
            "package a\nimport b.{C, D => E}\nimport f._\nimport g.H, i.J",
            &["name b.C", "name b.D", "name f.*", "name g.H", "name i.J", "in a"],
        );
        check("A.java", "// import a.B;\n/* import c.D; */\nString s = \"import e.F;\";", &[]);
        check("A.java", "import a.B;\npublic class A { String s; }\nimport c.D;", &["name a.B"]);
    }
}

//! `#include "x"` and `#include <x>` of C and C++, and `#import` of Objective-C.

use super::lexer::{Lexer, Token};
use super::{Found, Import, text};
use crate::language::Language;

pub(super) fn find(source: &[u8], found: &mut Found) {
    let mut tokens = Lexer::new(source, Language::C);
    let mut begins = true;
    while let Some(token) = tokens.next() {
        if begins && token == Token::Sign(b'#') {
            if let Some(Token::Word(b"include" | b"import" | b"include_next")) = tokens.next() {
                header(tokens.rest_of_line(), found);
            }
            begins = false;
            continue;
        }
        begins = token == Token::Line;
    }
}

fn header(line: &[u8], found: &mut Found) {
    let line = line.trim_ascii_start();
    let (close, quoted) = match line.first() {
        Some(b'"') => (b'"', true),
        Some(b'<') => (b'>', false),
        _ => return,
    };
    let Some(end) = line[1..].iter().position(|&b| b == close) else { return };
    let path = text(&line[1..=end]);
    found.add(if quoted { Import::File(path) } else { Import::Search(path) });
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn includes() {
        check(
            "a.c",
            "#include \"a.h\"\n  #  include <b/c.h> // d\n#include MACRO\n#import \"e.h\"",
            &["file a.h", "search b/c.h", "file e.h"],
        );
        check(
            "a.cc",
            "// #include \"a.h\"\n/*\n#include \"b.h\"\n*/\nauto s = R\"(\n#include \"c.h\"\n)\";",
            &[],
        );
        check("a.h", "#define X #include \"a.h\"\n#ifdef Y\n#include \"b.h\"\r\n#endif", &["file b.h"]);
        check("a.h", "#include \"a", &[]);
    }
}

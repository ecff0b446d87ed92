//! Words, texts and signs of a source file, comments left out. It knows as much of each language as it takes not
//! to mistake the inside of a comment or a text for code, and never fails: what it can't read is a sign.

mod quoted;

use crate::language::Language;

/// A part of a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A name, a keyword or a number.
    Word(&'t [u8]),
    /// What stands between quotes, as written.
    Text(&'t [u8]),
    /// Any other character.
    Sign(u8),
    /// The end of a line.
    Line,
}

/// Reads one file from its beginning to its end.
pub(super) struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    language: Language,
    /// Whether what was read last ends an operand, so that `/` divides it and begins no pattern.
    operand: bool,
    /// Whether nothing of the line was read yet.
    fresh: bool,
    /// How often a here document turned out to have no end; each time costs a look at the whole rest.
    endless: u8,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t [u8], language: Language) -> Self {
        let mut lexer = Self { text, at: 0, language, operand: false, fresh: true, endless: 0 };
        lexer.at = if text.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
        if lexer.starts(b"#!") && !lexer.starts(b"#![") {
            lexer.skip_line();
        }
        if language == Language::Php {
            lexer.skip_to_php();
        }
        lexer
    }

    /// What follows on the line, which is consumed.
    pub(super) fn rest_of_line(&mut self) -> &'t [u8] {
        let start = self.at;
        self.skip_line();
        &self.text[start..self.at]
    }

    fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    fn starts(&self, with: &[u8]) -> bool {
        self.rest().starts_with(with)
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_line(&mut self) {
        let end = self.rest().iter().position(|&b| b == b'\n');
        self.at = end.map_or(self.text.len(), |end| self.at + end);
    }

    /// Moves behind the next `end`, or to the end of the text.
    fn skip_past(&mut self, end: &[u8]) {
        let Some(&first) = end.first() else { return };
        loop {
            match self.rest().iter().position(|&b| b == first) {
                None => return self.at = self.text.len(),
                Some(found) => self.at += found,
            }
            if self.starts(end) {
                return self.at += end.len();
            }
            self.at += 1;
        }
    }

    fn skip_to_php(&mut self) {
        self.skip_past(b"<?");
        if self.rest().get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"php")) {
            self.at += 3;
        }
    }

    /// Skips a comment, if one begins here.
    fn comment(&mut self) -> bool {
        use Language as L;
        let (first, second) = (self.peek(0), self.peek(1));
        match (first, self.language) {
            (b'/', L::Python | L::Ruby) => false,
            (b'/', _) if second == b'/' => {
                self.skip_line();
                true
            }
            (b'/', L::Rust | L::Swift) if second == b'*' => {
                self.nested_comment();
                true
            }
            (b'/', _) if second == b'*' => {
                self.at += 2;
                self.skip_past(b"*/");
                true
            }
            (b'#', L::Python | L::Ruby) => {
                self.skip_line();
                true
            }
            (b'#', L::Php) if second != b'[' => {
                self.skip_line();
                true
            }
            (b'#', L::CSharp) if self.fresh => {
                self.skip_line();
                true
            }
            (b'=', L::Ruby) if self.starts(b"=begin") && self.fresh => {
                self.skip_past(b"\n=end");
                self.skip_line();
                true
            }
            (b'?', L::Php) if second == b'>' => {
                self.skip_to_php();
                true
            }
            (b'\\', _) if second == b'\n' => {
                self.at += 2;
                true
            }
            (b'\\', _) if second == b'\r' && self.peek(2) == b'\n' => {
                self.at += 3;
                true
            }
            _ => false,
        }
    }

    fn nested_comment(&mut self) {
        let mut depth = 0usize;
        while self.at < self.text.len() {
            if self.starts(b"/*") {
                depth += 1;
                self.at += 2;
            } else if self.starts(b"*/") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else {
                self.at += 1;
            }
        }
    }

    fn word(&mut self) -> &'t [u8] {
        let length = self.rest().iter().take_while(|b| is_word(**b)).count();
        let word = &self.rest()[..length];
        self.at += length;
        word
    }
}

/// Whether a byte can be a part of a name; of what isn't ASCII, every byte can.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Words after which a `/` begins a pattern all the same.
fn expects_operand(word: &[u8]) -> bool {
    matches!(
        word,
        b"return"
            | b"typeof"
            | b"case"
            | b"in"
            | b"of"
            | b"delete"
            | b"void"
            | b"throw"
            | b"new"
            | b"else"
            | b"do"
            | b"await"
            | b"yield"
    )
}

impl<'t> Lexer<'t> {
    /// Reads what begins with `byte`, which is no space and no comment.
    fn token(&mut self, byte: u8) -> Token<'t> {
        if is_word(byte) {
            let word = self.word();
            if let Some(text) = self.raw(word) {
                self.operand = true;
                return Token::Text(text);
            }
            self.operand = !expects_operand(word);
            return Token::Word(word);
        }
        if let Some(text) = self.quoted() {
            self.operand = true;
            return Token::Text(text);
        }
        self.at += 1;
        self.operand = matches!(byte, b')' | b']' | b'}');
        Token::Sign(byte)
    }
}

impl<'t> Iterator for Lexer<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let byte = *self.text.get(self.at)?;
            if byte == b'\n' {
                self.at += 1;
                self.fresh = true;
                return Some(Token::Line);
            }
            if byte.is_ascii_whitespace() {
                self.at += 1;
                continue;
            }
            if !is_word(byte) && self.comment() {
                continue;
            }
            self.fresh = false;
            return Some(self.token(byte));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The words and texts of `source`, texts in quotes.
    fn read(language: Language, source: &str) -> String {
        let parts = Lexer::new(source.as_bytes(), language).filter_map(|token| match token {
            Token::Word(word) => Some(String::from_utf8_lossy(word).into_owned()),
            Token::Text(text) => Some(format!("<{}>", String::from_utf8_lossy(text))),
            Token::Sign(_) | Token::Line => None,
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_texts_of_every_language() {
        use Language as L;
        let check = |language, source: &str, expect: &str| {
            assert_eq!(read(language, source), expect, "{language:?} {source:?}");
        };
        check(L::Rust, "a // b\nc /* d /* e */ f */ g", "a c g");
        check(
            L::Rust,
            r##"'a' 'x 'b "c\"d" r#"e"f"# br"g" r#type '\'' h"##,
            r#"<a> x b <c\"d> <e"f> <g> r type <\'> h"#,
        );
        check(L::Rust, "\"a\nb\" c", "<a\nb> c");
        check(L::Rust, "#!/usr/bin/env x\na", "a");
        check(L::Rust, "#![allow(x)]\na", "allow x a");
        check(L::JavaScript, "a = /b'c/g; d / e / f; 'g'", "a <b'c> g d e f <g>");
        check(L::JavaScript, "`a ${b + `c ${d}` + {e: 1}} f` g", "<a ${b + `c ${d}` + {e: 1}} f> g");
        check(L::JavaScript, "return /[/']/.test(a) 'b'", "return <[/']> test a <b>");
        check(L::JavaScript, "<p>Don't</p>\nimport 'a'", "p Don <t</p>> import <a>");
        check(L::Python, "a # b\n'''c\n\"d'''e \"f\\\"\" '''", "a <c\n\"d> e <f\\\"> <>");
        check(L::Python, "a \\\n b", "a b");
        check(L::Go, "a `b\\` c 'd' \"e\"", "a <b\\> c <d> <e>");
        check(L::Jvm, "a \"\"\"b \" c\"\"\" 'd' // e\nf", "a <b \" c> <d> f");
        check(L::C, "a R\"x(b)\" )x\" c 1'000 'd'", "a <b)\" > c 1 000 <d>");
        check(L::Ruby, "a # b\n=begin\nc\n=end\nd", "a d");
        check(L::Ruby, "x = <<~SQL\n  require 'a'\nSQL\nb", "x <  require 'a'\n> b");
        check(L::Ruby, "a << b\nc <<D", "a b c D");
        check(L::Php, "html's <?php a # b\n c ?> it's <?= d", "a c = d".replace("= ", "").as_str());
        check(L::Php, "<?php a <<<'X'\nuse B;\nX; c", "a <use B;\n> c");
        check(
            L::CSharp,
            "@\"a\"\"b\" $\"c\" \"\"\"d\"e\"\"\" f\n#region don't\ng",
            "<a\"\"b> <c> <d\"e> f g",
        );
        check(L::Swift, "a /* /* b */ */ #\"c\"d\"# \"\"\"e\"\"\"", "a <c\"d> <e>");
    }

    proptest! {
        #[test]
        fn it_reads_anything_to_its_end(
            source in prop::collection::vec(prop_oneof![
                Just(b'"'), Just(b'\''), Just(b'`'), Just(b'\\'), Just(b'/'), Just(b'*'), Just(b'<'), Just(b'#'), Just(b'R'),
                Just(b'r'), Just(b'('), Just(b'\n'), Just(b'$'), Just(b'{'), Just(b'}'), Just(b'@'), Just(b'='), any::<u8>(),
            ], 0..60),
        ) {
            use Language as L;
            for language in [L::Rust, L::JavaScript, L::Python, L::Go, L::Jvm, L::C, L::Ruby, L::Php, L::CSharp, L::Swift] {
                prop_assert!(Lexer::new(&source, language).count() <= source.len());
            }
        }
    }
}

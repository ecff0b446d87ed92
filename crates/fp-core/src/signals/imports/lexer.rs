//! Words, texts and signs of a source file, comments left out. It knows as much of each language as it takes not
//! to mistake the inside of a comment or a text for code, and never fails: what it can't read is a sign.

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

/// Longest regular expression that is looked for, in bytes: each try costs as much.
const PATTERN: usize = 1000;
/// How many here documents may have no end before none is looked for any more.
const ENDLESS: u8 = 8;

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

    /// Reads a text, if one begins here.
    fn quoted(&mut self) -> Option<&'t [u8]> {
        use Language as L;
        let language = self.language;
        let triple = matches!(language, L::Python | L::Jvm | L::Swift | L::CSharp);
        match (self.peek(0), language) {
            (b'"', _) if triple && self.starts(b"\"\"\"") => Some(self.until(b"\"\"\"", 3)),
            (b'\'', L::Python) if self.starts(b"'''") => Some(self.until(b"'''", 3)),
            (b'"', L::Rust | L::Php) => Some(self.escaped(b'"', true)),
            (b'"', _) => Some(self.escaped(b'"', false)),
            (b'\'', L::Php) => Some(self.escaped(b'\'', true)),
            (b'\'', L::Rust | L::C | L::CSharp | L::Jvm | L::Go) => self.character(),
            (b'\'', L::Swift) => None,
            (b'\'', _) => Some(self.escaped(b'\'', false)),
            (b'`', L::Go) => Some(self.until(b"`", 1)),
            (b'`', L::JavaScript) => Some(self.template()),
            (b'@' | b'$', L::CSharp) => self.verbatim(),
            (b'#', L::Swift) if self.peek(1) == b'"' => Some(self.until(b"\"#", 2)),
            (b'<', L::Ruby | L::Php) => self.here_document(),
            (b'/', L::JavaScript) if !self.operand => self.pattern(),
            _ => None,
        }
    }

    /// From behind `opening` bytes to `end`.
    fn until(&mut self, end: &[u8], opening: usize) -> &'t [u8] {
        let start = self.at + opening;
        self.at = start.min(self.text.len());
        self.skip_past(end);
        let stop = if self.text[..self.at].ends_with(end) && self.at >= start + end.len() {
            self.at - end.len()
        } else {
            self.at
        };
        &self.text[start.min(stop)..stop]
    }

    /// To the next `quote` without a backslash before it; where a text can't have `lines`, at most to the end of
    /// the line, so that a stray quote spoils no more than that.
    fn escaped(&mut self, quote: u8, lines: bool) -> &'t [u8] {
        self.at += 1;
        let start = self.at;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'\n' if !lines => return &self.text[start..self.at],
                byte if byte == quote => {
                    self.at += 1;
                    return &self.text[start..self.at - 1];
                }
                _ => self.at += 1,
            }
        }
        self.at = self.text.len();
        &self.text[start..]
    }

    /// A character in single quotes; a lifetime or a digit separator is none.
    fn character(&mut self) -> Option<&'t [u8]> {
        if self.peek(1) == b'\\' {
            return Some(self.escaped(b'\'', false));
        }
        let width = match self.peek(1) {
            0..=0x7f => 1,
            0x80..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        };
        if self.peek(1 + width) != b'\'' {
            return None;
        }
        let text = &self.text[self.at + 1..=self.at + width];
        self.at += width + 2;
        Some(text)
    }

    /// A template with what it interpolates, whose own templates may be in it.
    fn template(&mut self) -> &'t [u8] {
        self.at += 1;
        let start = self.at;
        // Of each open `${` the braces that are open in it.
        let mut open: Vec<usize> = Vec::new();
        let mut in_text = vec![true];
        while let Some(&byte) = self.text.get(self.at) {
            let text = in_text.last().copied().unwrap_or(true);
            match byte {
                b'\\' => self.at += 1,
                b'`' if text => {
                    in_text.pop();
                    if in_text.is_empty() {
                        self.at += 1;
                        return &self.text[start..self.at - 1];
                    }
                }
                b'`' => in_text.push(true),
                b'$' if text && self.peek(1) == b'{' => {
                    self.at += 1;
                    open.push(0);
                    in_text.push(false);
                }
                b'{' if !text => {
                    if let Some(braces) = open.last_mut() {
                        *braces += 1;
                    }
                }
                b'}' if !text => match open.last_mut() {
                    Some(braces) if *braces > 0 => *braces -= 1,
                    _ => {
                        open.pop();
                        in_text.pop();
                    }
                },
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.text.len();
        &self.text[start.min(self.at)..]
    }

    /// `@"…"`, `$@"…"`, `@$"…"`, in which a doubled quote stands for one, or `$"…"`.
    fn verbatim(&mut self) -> Option<&'t [u8]> {
        let prefix = self.rest().iter().take(4).take_while(|b| matches!(b, b'@' | b'$')).count();
        if self.peek(prefix) != b'"' || prefix > 3 {
            return None;
        }
        let is_verbatim = self.rest()[..prefix].contains(&b'@');
        self.at += prefix;
        if !is_verbatim {
            return self.quoted();
        }
        self.at += 1;
        let start = self.at;
        loop {
            self.skip_past(b"\"");
            if self.peek(0) != b'"' || self.at >= self.text.len() {
                return Some(&self.text[start..self.at.saturating_sub(1).max(start)]);
            }
            self.at += 1;
        }
    }

    /// `<<~NAME` to a line that is `NAME`, or `<<<NAME`; a text that never ends is none.
    fn here_document(&mut self) -> Option<&'t [u8]> {
        let opening: &[u8] = if self.language == Language::Php { b"<<<" } else { b"<<" };
        let behind = self.rest().strip_prefix(opening).filter(|_| self.endless < ENDLESS)?;
        let mut name = behind;
        let squiggly = matches!(name.first(), Some(b'~' | b'-'));
        if squiggly {
            name = &name[1..];
        }
        while let [b' ' | b'\t', rest @ ..] = name {
            if self.language != Language::Php {
                return None;
            }
            name = rest;
        }
        let quoted = matches!(name.first(), Some(b'\'' | b'"' | b'`'));
        let name = if quoted { &name[1..] } else { name };
        let length = name.iter().take_while(|b| is_word(**b)).count();
        let name = &name[..length];
        let first = name.first()?;
        let named = first.is_ascii_uppercase() || squiggly || quoted || self.language == Language::Php;
        if !named || first.is_ascii_digit() {
            return None;
        }
        let line_end = self.rest().iter().position(|&b| b == b'\n').unwrap_or(self.rest().len() - 1);
        let body = self.at + line_end + 1;
        let mut at = body;
        for line in self.text[body..].split_inclusive(|&b| b == b'\n') {
            let word = line.trim_ascii_start();
            if word.starts_with(name) && !word.get(name.len()).copied().is_some_and(is_word) {
                // What follows on the first line is lost; it is the rest of a call.
                self.at = at + (line.len() - word.len()) + name.len();
                return Some(&self.text[body..at]);
            }
            at += line.len();
        }
        self.endless += 1;
        None
    }

    /// A regular expression, which ends on its line.
    fn pattern(&mut self) -> Option<&'t [u8]> {
        let mut in_class = false;
        let mut length = 1;
        loop {
            match self.peek(length) {
                0 | b'\n' => return None,
                _ if length > PATTERN => return None,
                b'\\' => length += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                _ => {}
            }
            length += 1;
        }
        let text = &self.text[self.at + 1..self.at + length];
        self.at += length + 1;
        Some(text)
    }

    /// A raw text of Rust or C++ behind its prefix, which is a word; `None` where the word is just one.
    fn raw(&mut self, word: &[u8]) -> Option<&'t [u8]> {
        match self.language {
            Language::Rust if matches!(word, b"r" | b"br" | b"cr") => {
                let hashes = self.rest().iter().take(256).take_while(|b| **b == b'#').count();
                if self.peek(hashes) != b'"' {
                    return None;
                }
                let end = [&b"\""[..], &self.rest()[..hashes]].concat();
                Some(self.until(&end, hashes + 1))
            }
            Language::C if word.ends_with(b"R") && word.len() <= 3 && self.peek(0) == b'"' => {
                let length = self.rest().iter().take(18).position(|b| *b == b'(')?;
                let end = [&b")"[..], &self.rest()[1..length], b"\""].concat();
                Some(self.until(&end, length + 1))
            }
            _ => None,
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

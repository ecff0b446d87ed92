//! Texts in all the ways in which languages quote them: where each ends, and what looks like one and is none.

use super::{Lexer, is_word};
use crate::language::Language;

/// Longest regular expression that is looked for, in bytes: each try costs as much.
const PATTERN: usize = 1000;
/// How many here documents may have no end before none is looked for any more.
const ENDLESS: u8 = 8;

impl<'t> Lexer<'t> {
    /// Reads a text, if one begins here.
    pub(super) fn quoted(&mut self) -> Option<&'t [u8]> {
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
    pub(super) fn raw(&mut self, word: &[u8]) -> Option<&'t [u8]> {
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
}

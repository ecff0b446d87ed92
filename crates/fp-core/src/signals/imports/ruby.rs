//! `require_relative 'x'`, `require 'x'`, `load 'x'` and `autoload :X, 'x'`.

use super::lexer::{Lexer, Token};
use super::{Found, Import, text};
use crate::language::Language;

pub(super) fn find(source: &[u8], found: &mut Found) {
    // The last tokens, the newest first.
    let mut last = [Token::Line; 5];
    for token in Lexer::new(source, Language::Ruby) {
        if let Token::Text(path) = token
            && !path.windows(2).any(|w| w == b"#{")
            && let Some(relative) = requires(&last)
        {
            let here = relative || path.starts_with(b"./") || path.starts_with(b"../");
            let path = text(path);
            found.add(if here { Import::File(path) } else { Import::Search(path) });
        }
        // A parenthesis around the arguments makes no difference.
        if token != Token::Sign(b'(') {
            last = [token, last[0], last[1], last[2], last[3]];
        }
    }
}

/// Whether a text behind the tokens `last` is required, and if so, whether it is relative to the file.
fn requires(last: &[Token<'_>; 5]) -> Option<bool> {
    match last {
        [Token::Word(b"require_relative"), ..] => Some(true),
        [Token::Word(b"require" | b"load"), before, ..] if *before != Token::Sign(b'.') => Some(false),
        [Token::Sign(b','), Token::Word(_), Token::Sign(b':'), Token::Word(b"autoload"), ..] => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn imports_of_ruby() {
        check(
            "a.rb",
            "require 'a/b'\nrequire_relative \"../c\"\nrequire('./d')\nautoload :E, 'e/f'\nload \"g.rb\"",
            &["search a/b", "file ../c", "file ./d", "search e/f", "search g.rb"],
        );
        check(
            "a.rb",
            "# require 'a'\n=begin\nrequire 'b'\n=end\nx = \"require 'c'\"\nYAML.load 'd'\nrequire \"#{e}\"",
            &[],
        );
        check("a.rb", "sql = <<~SQL\n  require 'a'\nSQL\nrequire 'b'", &["search b"]);
    }
}

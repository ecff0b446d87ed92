//! Comments that restate the code beside them: most of their words are words of that code, and none gives a reason. A
//! measure, not a judgement, that finds only the plain cases.

use crate::SourceComment;
use crate::words::{are_forms, words};

/// Words without a meaning of their own, or that the form of the code says already.
const EMPTY: &str = "a an the this that these those it its is are be to of in on for with from by and or as at all each \
                     every new now we then first next here into up our my your do does have has function method \
                     variable value values define declare create make using use loop through over iterate some there \
                     them";

/// Words of a comment that tells why, when or what for: with one of them it says more than the code.
const REASONS: &str = "because since so otherwise else why unless until workaround hack bug avoid avoids prevent prevents \
                       ensure must never always not no only but although though instead however even still already may \
                       might can cannot should would before after see note when if";

/// The words for signs of code.
const SIGNS: [(char, &str); 9] = [
    ('(', "call invoke run"),
    ('+', "add plus sum increment increase append"),
    ('-', "subtract minus decrement decrease"),
    ('*', "multiply times"),
    ('/', "divide"),
    ('=', "set assign store initialize initialise init"),
    ('1', "one"),
    ('0', "zero"),
    ('<', "less compare check"),
];

/// Share of a comment's words, in hundredths, that the code has to have.
const SHARE: usize = 75;

/// Fewest words with a meaning: one alone is a heading.
const MIN_CONTENT: usize = 2;

/// Most words of a comment that can be mere repetition.
const MAX_WORDS: usize = 12;

/// Whether `comments`, adjacent ones of `text`, say what the code on their line or below them says.
pub(super) fn restates(text: &str, comments: &[SourceComment<'_>]) -> bool {
    let words: Vec<String> = comments.iter().flat_map(|comment| words(&comment.said())).collect();
    let is_in = |list: &str, word: &str| list.split(' ').any(|other| other == word);
    let content: Vec<&String> = words.iter().filter(|word| !is_in(EMPTY, word)).collect();
    let gives_reason = words.iter().any(|word| is_in(REASONS, word));
    if content.len() < MIN_CONTENT || words.len() > MAX_WORDS || gives_reason {
        return false;
    }
    let Some(code) = code_beside(text, comments) else { return false };
    let mut said = self::words(code);
    for (sign, names) in SIGNS {
        if code.contains(sign) {
            said.extend(names.split(' ').map(str::to_owned));
        }
    }
    let common = content.iter().filter(|word| said.iter().any(|other| are_forms(word, other))).count();
    common * 100 >= content.len() * SHARE
}

/// The code before the comment on its line, or the first line of code below the last one.
fn code_beside<'t>(text: &'t str, comments: &[SourceComment<'_>]) -> Option<&'t str> {
    let (first, last) = (comments.first()?, comments.last()?);
    if first.trails {
        let start = text[..first.span.start].rfind('\n').map_or(0, |newline| newline + 1);
        return Some(&text[start..first.span.start]);
    }
    text[last.span.end..].lines().nth(1).filter(|line| !line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SourceLanguage, comments};

    #[test]
    fn what_restates_the_code() {
        let check = |code: &str, expect: bool| {
            let all = comments(SourceLanguage::Rust, code);
            assert_eq!(restates(code, &all), expect, "{code}");
        };
        check("// sort the items\nitems.sort();", true);
        check("// Increment the counter\ncounter += 1;", true);
        check("let total = a + b; // total of a and b", true);
        check("// parse the config file\nlet config = parse_config(file);", true);
        check("// return the user name\nreturn user.name;", true);
        check("// call y\ny()", true);
        check("// the order decides which one wins\nitems.sort();", false);
        check("// sort the items, since the log needs it\nitems.sort();", false);
        check("// sort the items\n\nitems.sort();", false);
        check("// a first look costs less\nread(head);", false);
        check("// the tree\ntree();", false);
        check("// set x to one\nx = 1;", true);
        check("// the\nx();", false);
        check("// sort the items", false);
    }
}

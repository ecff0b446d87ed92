//! The words of prose and code, and which of them are forms of one word.

/// The words of prose or code in lower case; names are split at capitals and underscores.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in text.chars() {
        if c.is_alphanumeric() {
            let is_hump = c.is_uppercase() && before.is_lowercase();
            match words.last_mut().filter(|_| before.is_alphanumeric() && !is_hump) {
                Some(word) => word.extend(c.to_lowercase()),
                None => words.push(c.to_lowercase().collect()),
            }
        }
        before = c;
    }
    words
}

/// Whether the two are forms of one word, such as `parse` and `parsing`. Both are in lower case.
#[must_use]
pub fn are_forms(a: &str, b: &str) -> bool {
    let (a, b) = (stem(a), stem(b));
    // A name is often the beginning of its word: `msg` is not, `config` is.
    a == b || (a.len().min(b.len()) >= 4 && (a.starts_with(b) || b.starts_with(a)))
}

fn stem(word: &str) -> &str {
    let endings = ["ing", "ed", "es", "s", "e"];
    let cut = |ending: &&str| word.strip_suffix(*ending).filter(|stem| stem.len() >= 3);
    endings.iter().find_map(cut).unwrap_or(word)
}

/// A text in lower case, its words separated and enclosed by single blanks.
#[derive(Debug)]
pub(crate) struct SpacedWords(String);

/// Most characters of a text that are looked at: what it is about stands at its beginning.
const LOOKED_AT: usize = 20_000;

impl SpacedWords {
    pub(crate) fn new(text: &str) -> Self {
        let mut spaced = String::from(" ");
        for c in text.chars().take(LOOKED_AT) {
            if c.is_alphanumeric() {
                spaced.extend(c.to_lowercase());
            } else if !spaced.ends_with(' ') {
                spaced.push(' ');
            }
        }
        if !spaced.ends_with(' ') {
            spaced.push(' ');
        }
        Self(spaced)
    }

    /// Whether `phrase` occurs: as whole words; with a `*` behind it, as the beginning of one; in a language that glues
    /// its particles to its words, anywhere.
    pub(crate) fn have(&self, phrase: &str) -> bool {
        if !phrase.is_ascii() {
            return self.0.contains(phrase);
        }
        match phrase.strip_suffix('*') {
            Some(start) => self.0.contains(&format!(" {start}")),
            None => self.0.contains(&format!(" {phrase} ")),
        }
    }

    /// Whether a stranger's keyword occurs, in any case and punctuation: as whole words, or anywhere in a script that
    /// glues particles to its words or has no blanks between them.
    pub(crate) fn mention(&self, keyword: &str) -> bool {
        let Self(keyword) = Self::new(keyword);
        match keyword.trim() {
            "" => false,
            glued if glued.contains(is_glued) => self.0.contains(glued),
            _ => self.0.contains(&keyword),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.0.split_whitespace().count()
    }
}

/// Whether `c` is of Hangul, Kana or Han.
pub(crate) fn is_glued(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{30ff}' | '\u{3130}'..='\u{318f}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_as_words() {
        let check = |goal: &str, phrase: &str, expect: bool| {
            assert_eq!(SpacedWords::new(goal).have(phrase), expect, "{phrase:?} in {goal:?}");
        };
        check("Fix the TYPO!", "typo", true);
        check("typography", "typo", false);
        check("Refactoring", "refactor*", true);
        check("from   scratch", "from scratch", true);
        check("로그인 화면을 추가해", "화면", true);
        check("a b", "c", false);
        check("", "a", false);
    }

    #[test]
    fn a_keyword_is_found_whole_or_glued() {
        let check = |about: &str, keyword: &str, expect: bool| {
            assert_eq!(SpacedWords::new(about).mention(keyword), expect, "{keyword:?} in {about:?}");
        };
        check("Add JWT auth", "jwt", true);
        check("src/auth/token_store.rs", "Token Store", true);
        check("src/auth/token_store.rs", "token", true);
        check("tokens", "token", false);
        check("authentication", "auth", false);
        check("Use node.js here", "Node.js", true);
        check("로그인 화면에 인증을 추가", "인증", true);
        check("사용자인증", "인증", true);
        check("로그인", "인증", false);
        check("das Menü öffnen", "menü", true);
        check("Menüs", "menü", false);
        check("認証を追加する", "認証", true);
        check("anything", "++", false);
        check("", "a", false);
    }
}

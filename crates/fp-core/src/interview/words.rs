//! A goal as words to look for.

/// A goal in lower case, its words separated and enclosed by single blanks.
#[derive(Debug)]
pub(crate) struct Words(String);

/// What follows a noun that is complete.
const LINKING: &[&str] = &[
    "and", "as", "based", "by", "called", "for", "from", "i", "in", "it", "like", "named", "of", "on", "so",
    "that", "this", "to", "using", "we", "where", "which", "with", "written",
];

/// Most characters of a goal that are looked at: what it is about stands at its beginning.
const LOOKED_AT: usize = 20_000;

impl Words {
    pub(crate) fn new(goal: &str) -> Self {
        let mut text = String::from(" ");
        for c in goal.chars().take(LOOKED_AT) {
            if c.is_alphanumeric() {
                text.extend(c.to_lowercase());
            } else if !text.ends_with(' ') {
                text.push(' ');
            }
        }
        if !text.ends_with(' ') {
            text.push(' ');
        }
        Self(text)
    }

    /// Whether `phrase` occurs: as whole words; with a `*` behind it, as the beginning of one; in a language
    /// that glues its particles to its words, anywhere.
    pub(super) fn have(&self, phrase: &str) -> bool {
        if !phrase.is_ascii() {
            return self.0.contains(phrase);
        }
        match phrase.strip_suffix('*') {
            Some(start) => self.0.contains(&format!(" {start}")),
            None => self.0.contains(&format!(" {phrase} ")),
        }
    }

    /// The first of `phrases` that occurs, without its `*`.
    pub(super) fn first<'p>(&self, phrases: &[&'p str]) -> Option<&'p str> {
        phrases.iter().find(|phrase| self.have(phrase)).map(|phrase| phrase.trim_end_matches('*'))
    }

    /// The one of `verbs` that is the first word.
    pub(super) fn begins_with<'p>(&self, verbs: &[&'p str]) -> Option<&'p str> {
        let first = self.0.split_whitespace().next()?;
        verbs.iter().find(|verb| **verb == first).copied()
    }

    /// The one of `things` that one of `verbs` has for its object: behind "a" or "an" with at most three words
    /// between, and itself not describing another noun, as in "a blog post".
    pub(super) fn made<'p>(&self, verbs: &[&str], things: &[&'p str]) -> Option<&'p str> {
        let words: Vec<&str> = self.0.split_whitespace().collect();
        let object = |at: usize| {
            let phrase = words.get(at + 2..)?;
            let (place, thing) = phrase
                .iter()
                .take(4)
                .enumerate()
                .find_map(|(place, word)| Some((place, things.iter().find(|thing| *thing == word)?)))?;
            let ends = phrase.get(place + 1).is_none_or(|next| LINKING.contains(next));
            ends.then_some(*thing)
        };
        let starts = words
            .windows(2)
            .enumerate()
            .filter(|(_, pair)| verbs.contains(&pair[0]) && matches!(pair[1], "a" | "an"));
        starts.map(|(at, _)| at).find_map(object)
    }

    /// How many words there are.
    pub(super) fn count(&self) -> usize {
        self.0.split_whitespace().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_as_words() {
        let check = |goal: &str, phrase: &str, expect: bool| {
            assert_eq!(Words::new(goal).have(phrase), expect, "{phrase:?} in {goal:?}");
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
            assert_eq!(Words::new(about).mention(keyword), expect, "{keyword:?} in {about:?}");
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

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

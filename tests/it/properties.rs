//! Property tests of the task language, on generated texts: arbitrary fragments, and whole trees.

mod laws;
mod texts;

use std::collections::BTreeSet;

use fp_plan::plan::format;
use proptest::prelude::*;

/// The unique marker words in a text.
fn marks(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter(|word| word.len() == 2 && word.starts_with('w'))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in prop_oneof![texts::garbage(), texts::tree(), ".{0,200}", any::<String>()]) {
        laws::reading(&text);
    }

    #[test]
    fn any_text_is_fixed_once(text in prop_oneof![texts::garbage(), texts::tree()]) {
        laws::fixing(&text);
    }

    #[test]
    fn any_text_means_the_same_when_formatted(text in prop_oneof![texts::garbage(), texts::tree()]) {
        laws::formatting(&text);
    }

    #[test]
    fn no_word_is_lost(text in texts::garbage()) {
        if let Ok(formatted) = format(&text) {
            prop_assert!(marks(&text).is_subset(&marks(&formatted)), "{:?}\n{}", text, formatted);
        }
    }
}

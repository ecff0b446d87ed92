//! What the lexers find.

mod c_like;

use crate::comments::{Language, comments};

/// Checks that exactly these comments are found in `text`, the text of the file `name`.
fn check(name: &str, text: &str, expected: &[&str]) {
    let language = Language::of(name, "").expect(name);
    let found: Vec<&str> = comments(language, text).iter().map(|comment| comment.text).collect();
    assert_eq!(found, expected, "{name}:\n{text}");
}

//! What the lexers find.

mod c_like;
mod functional;
mod hashes;
mod kinds;
mod lines;
mod markup;
mod names;
mod properties;
mod scripts;
mod shell;

use crate::comments::{Language, comments};

/// A text, and the comments in it.
type Row = (&'static str, &'static [&'static str]);

/// Checks that exactly these comments are found in each text, the text of a file called `name`.
#[track_caller]
fn check(name: &str, rows: &[Row]) {
    let language = Language::of(name, "").expect(name);
    let mut wrong = String::new();
    for (text, expected) in rows {
        let found: Vec<&str> = comments(language, text).iter().map(|comment| comment.text).collect();
        if found != *expected {
            wrong += &format!("\n{name}: {text}\n  expected {expected:?}\n     found {found:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

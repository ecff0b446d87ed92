//! The name of a spec: its file below the folder of specs, without the extension. It becomes a part of a path, so
//! only what is one or two plain names is a name.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// Longest name in characters.
const MAX_CHARS: usize = 120;

/// Name of a spec, as `errors` or `api/errors`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SpecName(String);

/// Why a text is no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a spec's name is a file's name without .md, at most one folder down: no control characters, no \\ and :, \
     no dot at its beginning, at most {MAX_CHARS} characters"
)]
pub struct InvalidName;

impl SpecName {
    /// The name as text, with `/` between its parts.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the file without its folder.
    #[must_use]
    pub fn file(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

impl FromStr for SpecName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let plain = |part: &str| {
            let foreign = |c: char| c.is_control() || matches!(c, '\\' | ':' | '\u{2028}' | '\u{2029}');
            !part.is_empty() && !part.starts_with('.') && part.trim() == part && !part.contains(foreign)
        };
        let fits = text.chars().count() <= MAX_CHARS && text.split('/').count() <= 2;
        (fits && text.split('/').all(plain)).then(|| Self(text.to_owned())).ok_or(InvalidName)
    }
}

impl fmt::Display for SpecName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

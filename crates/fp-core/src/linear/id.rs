//! Ids that Linear gave: opaque, but plain enough to be printed, and to be an argument of a command.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Most characters of an id; a UUID has 36.
const MAX: usize = 100;

/// Id of an issue, a status, a team or a project in Linear, or an identifier such as `ENG-12`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LinearId(String);

/// A text that Linear can't have given as an id, cut to 60 characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no id of Linear's: those are up to {MAX} letters, digits, `-` and `_`")]
pub struct InvalidLinearId(String);

impl LinearId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for LinearId {
    type Err = InvalidLinearId;
    fn from_str(text: &str) -> Result<Self, InvalidLinearId> {
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        let begins = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        if plain && begins && text.len() <= MAX {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidLinearId(text.chars().take(60).collect()))
        }
    }
}

impl TryFrom<String> for LinearId {
    type Error = InvalidLinearId;
    fn try_from(text: String) -> Result<Self, InvalidLinearId> {
        text.parse()
    }
}

impl From<LinearId> for String {
    fn from(id: LinearId) -> Self {
        id.0
    }
}

impl fmt::Display for LinearId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

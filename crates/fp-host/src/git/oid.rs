//! Object ids, checked once, so that none of them can be taken for an option or a revision expression.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Id of a git object: 40 hexadecimal digits, or 64 in a SHA-256 repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Oid(String);

/// A text that is not an object id, cut to 80 characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a git object id: expected 40 or 64 hexadecimal digits")]
pub struct InvalidOid(String);

impl Oid {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first ten digits, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..10]
    }
}

impl std::str::FromStr for Oid {
    type Err = InvalidOid;
    fn from_str(text: &str) -> Result<Self, InvalidOid> {
        let digits = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if digits && matches!(text.len(), 40 | 64) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidOid(text.chars().take(80).collect()))
        }
    }
}

impl TryFrom<String> for Oid {
    type Error = InvalidOid;
    fn try_from(text: String) -> Result<Self, InvalidOid> {
        text.parse()
    }
}

impl From<Oid> for String {
    fn from(oid: Oid) -> Self {
        oid.0
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_lower_case_ids() {
        let check = |text: &str, valid: bool| assert_eq!(text.parse::<Oid>().is_ok(), valid, "{text:?}");
        check(&"a1".repeat(20), true);
        check(&"0".repeat(64), true);
        check(&"0".repeat(41), false);
        check(&"A1".repeat(20), false);
        check("HEAD", false);
        check("--output=x", false);
        check("", false);
    }
}

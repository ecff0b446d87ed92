//! Parses ids once, into a form that is safe as a file name, so that no path is ever built from unchecked text.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Maximum length of an id in bytes. Leaves room for a suffix within the 255 bytes of a file name.
pub const MAX_ID_BYTES: usize = 100;

/// The reason why a string isn't an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidId(String);

fn check_id(text: &str, dots: bool) -> Result<(), InvalidId> {
    let is_segment = |segment: &str| {
        let mut bytes = segment.bytes();
        segment.starts_with(|c: char| c.is_ascii_alphanumeric())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let fault = match text.len() {
        0 => "an id can't be empty".to_owned(),
        length if length > MAX_ID_BYTES => {
            format!("an id has at most {MAX_ID_BYTES} bytes, this one has {length}")
        }
        _ if dots && text.split('.').all(is_segment) || is_segment(text) => return Ok(()),
        _ => {
            let shown: String = text.chars().take(60).collect();
            let allowed = match dots {
                true => ", in segments joined by `.`",
                false => ", and begin with a letter or digit",
            };
            format!("{shown:?} is not an id: ids are letters, digits, `-`, `_`{allowed}")
        }
    };
    Err(InvalidId(fault))
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, dots: $dots:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// Parses `text`; the error tells what is wrong with it.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidId> {
                let text = text.into();
                check_id(&text, $dots)?;
                Ok(Self(text))
            }

            /// The id as text; safe as one component of a path.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

id_type!(
    /// Id of a plan, such as `add-jwt-auth-20261121`: the name of its folder, never a path.
    PlanId,
    dots: false
);
id_type!(
    /// Id of a roadmap, such as `add-accounts-20261121`: the name of its file, never a path.
    RoadmapId,
    dots: false
);
id_type!(
    /// Id of a task, such as `1.2`: dotted segments.
    TaskId,
    dots: true
);
id_type!(
    /// Id of an issue, a status, a team or a project in Linear, or an identifier such as `ENG-12`.
    LinearId,
    dots: false
);
id_type!(
    /// Name of an agent in a run, such as `builder-1`.
    AgentName,
    dots: false
);

id_type!(
    /// Name of a machine in a shared plan, such as `ada`.
    MachineId,
    dots: false
);

/// The id of a plan whose goal has no word to build an id from.
impl Default for PlanId {
    fn default() -> Self {
        Self("plan".to_owned())
    }
}

/// The id of the root of a tree.
impl Default for TaskId {
    fn default() -> Self {
        Self("root".to_owned())
    }
}

impl AgentName {
    /// The name of builder `number`, from 1: `builder-1` and so on, or `ada-builder-1` on the machine `ada` of a shared
    /// plan.
    pub fn builder(number: u32, machine: Option<&MachineId>) -> Option<Self> {
        let machine = machine.map_or_else(String::new, |machine| format!("{machine}-"));
        Self::new(format!("{machine}builder-{number}")).ok()
    }

    /// True if `name` is one that [`AgentName::builder`] could return.
    pub fn is_of_builder(name: &str) -> bool {
        let kind = name
            .rsplit_once('-')
            .filter(|(_, number)| number.parse::<u32>().is_ok());
        kind.is_some_and(|(kind, _)| kind == "builder" || kind.ends_with("-builder"))
    }
}

/// Compares two ids as people read them, `1.2` before `1.10`: segment by segment, numbers by value. Only equal ids
/// compare as equal.
pub fn compare_ids(a: &str, b: &str) -> Ordering {
    let segments = a.split('.').zip(b.split('.'));
    let first = segments
        .map(|(a, b)| compare_segments(a, b))
        .find(|order| order.is_ne());
    let lengths = a.split('.').count().cmp(&b.split('.').count());
    first.unwrap_or(lengths).then_with(|| a.cmp(b))
}

/// Compares two segments by prefix, then by number: `T2` comes before `T10`.
fn compare_segments(a: &str, b: &str) -> Ordering {
    let digits = |text: &str| text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (head_a, number_a) = a.split_at(digits(a));
    let (head_b, number_b) = b.split_at(digits(b));
    let value = |number: &str| number.trim_start_matches('0').to_owned();
    let (value_a, value_b) = (value(number_a), value(number_b));
    head_a
        .cmp(head_b)
        .then(value_a.len().cmp(&value_b.len()))
        .then(value_a.cmp(&value_b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_never_paths() {
        let check = |text: &str, plan: bool, task: bool| {
            assert_eq!(PlanId::new(text).is_ok(), plan, "plan id {text:?}");
            assert_eq!(TaskId::new(text).is_ok(), task, "task id {text:?}");
        };
        check("add-jwt-auth-20261121", true, true);
        check("1.2.3", false, true);
        check("T1_b", true, true);
        check("", false, false);
        check("..", false, false);
        check("../../etc", false, false);
        check("a/b", false, false);
        check("a\\b", false, false);
        check("a\nb", false, false);
        check("-rf", false, false);
        check("1..2", false, false);
        check(".1", false, false);
        check("한글", false, false);
        check(&"x".repeat(100), true, true);
        check(&"x".repeat(101), false, false);
    }

    #[test]
    fn ids_in_the_order_of_people() {
        let check = |a: &str, b: &str, expect: Ordering| {
            assert_eq!(compare_ids(a, b), expect, "{a} {b}");
            assert_eq!(compare_ids(b, a), expect.reverse(), "{b} {a}");
        };
        check("1.2", "1.10", Ordering::Less);
        check("1", "1.1", Ordering::Less);
        check("T2", "T10", Ordering::Less);
        check("2", "10.1", Ordering::Less);
        check("1.01", "1.1", Ordering::Less);
        check("a", "b", Ordering::Less);
        check("1.1", "1.1", Ordering::Equal);
    }
}

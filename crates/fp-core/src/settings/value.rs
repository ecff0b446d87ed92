//! Values as a configuration file gives them: checked while they are read, so that an error has the line
//! and column of the value and says what would have been right.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{self, Deserializer, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize};

/// Something given for a setting of type `T`.
pub trait Layer<T> {
    /// Puts what is given in force, in `to`.
    fn apply(self, to: &mut T);
}

macro_rules! layers_itself {
    ($($type:ty),*) => {$(
        impl Layer<$type> for $type {
            fn apply(self, to: &mut $type) {
                *to = self;
            }
        }
    )*};
}

layers_itself!(bool, Vec<String>);

impl Layer<Option<String>> for String {
    fn apply(self, to: &mut Option<String>) {
        *to = Some(self);
    }
}

/// A group of settings, read from the entries of an object.
pub(super) trait FromMap: Sized {
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
}

/// Reads a group from an object and from nothing else: serde itself would take a list for one, by position.
pub(super) fn object<'de, D: Deserializer<'de>, T: FromMap>(deserializer: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: FromMap> Visitor<'de> for Object<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of settings")
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::from_map(map)
        }
    }

    deserializer.deserialize_map(Object(PhantomData))
}

/// A whole number from `MIN` to `MAX`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Ranged<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Ranged<MIN, MAX> {
    /// Takes `number` if it is within the range.
    #[must_use]
    pub fn new(number: u32) -> Option<Self> {
        (MIN..=MAX).contains(&number).then_some(Self(number))
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl<const MIN: u32, const MAX: u32> Layer<u32> for Ranged<MIN, MAX> {
    fn apply(self, to: &mut u32) {
        *to = self.0;
    }
}

/// A number that was not within its range; says which one it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has to be a whole number from {min} to {max}")]
pub struct OutOfRange {
    min: u32,
    max: u32,
}

impl<const MIN: u32, const MAX: u32> FromStr for Ranged<MIN, MAX> {
    type Err = OutOfRange;
    fn from_str(text: &str) -> Result<Self, OutOfRange> {
        text.parse().ok().and_then(Self::new).ok_or(OutOfRange { min: MIN, max: MAX })
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Ranged<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole<const MIN: u32, const MAX: u32>;

        impl<const MIN: u32, const MAX: u32> Visitor<'_> for Whole<MIN, MAX> {
            type Value = Ranged<MIN, MAX>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from {MIN} to {MAX}")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                let ranged = u32::try_from(number).ok().and_then(Ranged::new);
                ranged.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
                let ranged = u32::try_from(number).ok().and_then(Ranged::new);
                ranged.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
            }
            /// To JSON, and to its schemas, 3.0 is 3.
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
                if number.fract() != 0.0 {
                    return Err(E::invalid_type(Unexpected::Float(number), &self));
                }
                let whole = (MIN..=MAX).find(|whole| f64::from(*whole) == number);
                whole.and_then(Ranged::new).ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
            }
        }

        deserializer.deserialize_u64(Whole)
    }
}

/// A number from `MIN` to `MAX`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(transparent)]
pub struct RangedFloat<const MIN: u32, const MAX: u32>(f64);

impl<const MIN: u32, const MAX: u32> RangedFloat<MIN, MAX> {
    /// Takes `number` if it is within the range.
    #[must_use]
    pub fn new(number: f64) -> Option<Self> {
        (f64::from(MIN)..=f64::from(MAX)).contains(&number).then_some(Self(number))
    }
}

impl<const MIN: u32, const MAX: u32> Layer<f64> for RangedFloat<MIN, MAX> {
    fn apply(self, to: &mut f64) {
        *to = self.0;
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for RangedFloat<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        let expected = format!("a number from {MIN} to {MAX}");
        Self::new(number)
            .ok_or_else(|| de::Error::invalid_value(Unexpected::Float(number), &expected.as_str()))
    }
}

/// A folder inside the repository: relative, with no `..`, and not git's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct PlansDir(String);

impl PlansDir {
    /// Takes `path` if it is such a folder; `./` before it and `/` behind it are dropped.
    #[must_use]
    pub fn new(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        let parts: Vec<&str> = match parts.as_slice() {
            [".", rest @ ..] => rest.to_vec(),
            _ => parts,
        };
        let parts = parts.strip_suffix(&[""]).unwrap_or(&parts);
        let plain = |part: &&str| {
            !part.is_empty()
                && ![".", "..", "~"].contains(part)
                && !part.eq_ignore_ascii_case(".git")
                && !part.chars().any(|c| c.is_control() || matches!(c, '\\' | ':'))
        };
        (!parts.is_empty() && parts.iter().all(plain)).then(|| Self(parts.join("/")))
    }
}

impl Layer<String> for PlansDir {
    fn apply(self, to: &mut String) {
        *to = self.0;
    }
}

impl<'de> Deserialize<'de> for PlansDir {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = String::deserialize(deserializer)?;
        let expected = "the path of a folder inside the repository, such as \".fractal-planner/plans\"";
        Self::new(&path).ok_or_else(|| de::Error::invalid_value(Unexpected::Str(&path), &expected))
    }
}

/// A name that people gave: one line of at most 100 characters, with something in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Name(String);

impl Name {
    /// Takes `text`, trimmed, if it is one.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let one_line = !text.chars().any(char::is_control);
        (!text.is_empty() && one_line && text.chars().count() <= 100).then(|| Self(text.to_owned()))
    }
}

impl Layer<Option<String>> for Name {
    fn apply(self, to: &mut Option<String>) {
        *to = Some(self.0);
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let expected = "a name of one line and at most 100 characters";
        Self::new(&text).ok_or_else(|| de::Error::invalid_value(Unexpected::Str(&text), &expected))
    }
}

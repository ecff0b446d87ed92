//! The order of tasks that stand under their ids, which an object of JSON doesn't keep.

use std::fmt;

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};

/// The ids of tasks that stand under them, in the order of the text.
pub(super) fn order_of_keys(text: &str) -> Vec<String> {
    #[derive(Deserialize)]
    struct Wrapped {
        tasks: Keys,
    }
    let wrapped = serde_json::from_str::<Wrapped>(text).map(|wrapped| wrapped.tasks);
    wrapped.or_else(|_| serde_json::from_str::<Keys>(text)).map(|keys| keys.0).unwrap_or_default()
}

/// The keys of an object, in the order of its text.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = map.next_entry()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

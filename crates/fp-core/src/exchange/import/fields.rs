//! An object of JSON whose fields are taken out one by one. What is not taken, or is not what was expected, is kept.

use serde_json::{Map, Value};

use super::words::{one_line, pieces};

/// Names under which an entry that is an object says what it is, and how it is to be read aloud.
const SAID_BY: [&str; 13] = [
    "title",
    "name",
    "step",
    "action",
    "description",
    "text",
    "criterion",
    "content",
    "change",
    "task",
    "detail",
    "item",
    "value",
];

/// What is left of an object.
#[derive(Debug, Default)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub(super) fn of(map: &Map<String, Value>) -> Self {
        Self(map.clone())
    }

    /// What was not taken.
    pub(super) fn rest(self) -> Map<String, Value> {
        self.0.into_iter().filter(|(_, value)| !value.is_null()).collect()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    pub(super) fn put(&mut self, key: &str, value: Value) {
        self.0.insert(key.to_owned(), value);
    }

    /// Takes a text, or a number as one; leaves anything else.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        let text = match self.0.get(key)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        self.0.remove(key);
        Some(text)
    }

    /// The same under the first of several names.
    pub(super) fn first_text(&mut self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.text(key))
    }

    /// Takes a text that is not blank.
    pub(super) fn said(&mut self, key: &str) -> Option<String> {
        self.text(key).filter(|text| !text.trim().is_empty())
    }

    pub(super) fn whole(&mut self, key: &str) -> Option<u64> {
        let number = self.0.get(key)?.as_u64()?;
        self.0.remove(key);
        Some(number)
    }

    /// Takes a list of ids: an array of texts or numbers, or one text that lists them.
    pub(super) fn ids(&mut self, key: &str) -> Option<Vec<String>> {
        let ids = ids(self.0.get(key)?)?;
        self.0.remove(key);
        Some(ids)
    }

    /// The same under the first of several names.
    pub(super) fn first_ids(&mut self, keys: &[&str]) -> Option<Vec<String>> {
        keys.iter().find_map(|key| self.ids(key))
    }

    /// Takes a list of sentences. What was not a mere text is kept as well, since something of it may be lost.
    pub(super) fn sentences(&mut self, key: &str) -> Option<Vec<String>> {
        let value = self.0.get(key)?;
        let (entries, exact) = match value {
            Value::Array(entries) => {
                (entries.iter().filter_map(sentence).collect(), entries.iter().all(Value::is_string))
            }
            Value::String(text) => (super::words::entries(text), true),
            _ => return None,
        };
        if exact {
            self.0.remove(key);
        }
        Some(entries)
    }

    /// The object under `key`, as fields of their own; what is left of it is to be put back.
    pub(super) fn object(&mut self, key: &str) -> Option<Self> {
        match self.0.get_mut(key)? {
            Value::Object(map) => {
                let map = std::mem::take(map);
                self.0.remove(key);
                Some(Self(map))
            }
            _ => None,
        }
    }

    /// Puts back what is left of an object.
    pub(super) fn put_back(&mut self, key: &str, rest: Self) {
        let rest = rest.rest();
        if !rest.is_empty() {
            self.put(key, Value::Object(rest));
        }
    }
}

/// The ids that a value lists; `None` for what lists none.
pub(super) fn ids(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(entries) => entries
            .iter()
            .map(|entry| match entry {
                Value::String(id) => Some(one_line(id)),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            })
            .collect(),
        Value::String(list) => Some(pieces(list)),
        Value::Number(number) => Some(vec![number.to_string()]),
        _ => None,
    }
}

/// What an entry of a list says, in one line; `None` for nothing.
pub(super) fn sentence(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => one_line(text),
        Value::Null => return None,
        Value::Object(map) => {
            let said = SAID_BY.iter().filter_map(|key| map.get(*key)).filter_map(Value::as_str).map(one_line);
            // The number of a step says nothing.
            let said: Vec<String> =
                said.filter(|text| text.contains(|c: char| !c.is_ascii_digit())).collect();
            if said.is_empty() { value.to_string() } else { said.join(": ") }
        }
        other => other.to_string(),
    };
    (!text.is_empty()).then_some(text)
}

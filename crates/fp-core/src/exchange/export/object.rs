//! JSON objects whose keys stay in the order that a reader of the format is used to.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::exchange::rest::KEY;

/// What holds a document together, and is never another's to say.
const RESERVED: [&str; 5] = ["id", "subtasks", "tasks", "task_ids", KEY];

/// An object that is put together key by key.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Object(Vec<(String, Node)>);

/// A value in an [`Object`].
#[derive(Debug, Clone, PartialEq)]
enum Node {
    Value(Value),
    Object(Object),
    Objects(Vec<Object>),
}

impl Object {
    /// Adds `key`, which is not there yet.
    pub(super) fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.push((key.to_owned(), Node::Value(value.into())));
    }

    /// Adds `key`, if there is a value.
    pub(super) fn put_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// Adds an object that has something in it.
    pub(super) fn put_object(&mut self, key: &str, value: Self) {
        if !value.0.is_empty() {
            self.0.push((key.to_owned(), Node::Object(value)));
        }
    }

    /// Adds a list of objects.
    pub(super) fn put_objects(&mut self, key: &str, values: Vec<Self>) {
        self.0.push((key.to_owned(), Node::Objects(values)));
    }

    /// Adds all of `ext` that is not said yet, within objects too. What is said otherwise is replaced where `ext` is
    /// the first to be believed.
    pub(super) fn fill(&mut self, ext: &Map<String, Value>, first: bool) {
        for (key, value) in ext.iter().filter(|(key, _)| !RESERVED.contains(&key.as_str())) {
            let said = self.0.iter_mut().find(|(said, _)| said == key).map(|(_, said)| said);
            match (said, value) {
                (None, value) => self.put(key, value.clone()),
                (Some(Node::Object(said)), Value::Object(inner)) => said.fill(inner, first),
                (Some(said), value) if first => *said = Node::Value(value.clone()),
                (Some(_), _) => {}
            }
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Object(object) => object.serialize(serializer),
            Self::Objects(objects) => objects.serialize(serializer),
        }
    }
}

/// `value` as an indented document.
pub(super) fn document(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    text.expect("the keys are texts, and nothing else can't be written") + "\n"
}

//! The settings as a JSON Schema, for editors and for whoever wants to know what a setting takes. It is made from the
//! table of settings, and takes what the parser takes, no more and no less.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::value::{Name, PlansDir, Ranged, RangedFloat};
use super::{PartialSettings, Settings};

/// Where the schema of the newest version is published, which is the plugin's own place.
pub const SCHEMA_URL: &str =
    "https://raw.githubusercontent.com/fractal-planner/fractal-planner/dist/settings.schema.json";
/// Characters that Unicode calls white space.
const BLANK: &str = r"\u0009-\u000d \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
/// Control characters.
const CONTROL: &str = r"\u0000-\u001f\u007f-\u009f";

/// What says by itself which JSON it takes.
pub(super) trait Described {
    fn schema() -> Value;
}

/// The schema of a settings file, as JSON Schema of the draft 2020-12.
#[must_use]
pub fn schema() -> Value {
    let mut schema = PartialSettings::schema();
    let defaults =
        serde_json::to_value(Settings::default()).expect("settings have text keys and plain values");
    add_defaults(&mut schema, &defaults);
    let schema_key = json!({ "description": "The schema of this file.", "type": ["string", "null"] });
    schema["properties"]["$schema"] = schema_key;
    // A file is an object, and nothing else.
    schema["type"] = "object".into();
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["$id"] = SCHEMA_URL.into();
    schema["title"] = "Settings of Fractal Planner".into();
    schema
}

/// The part of [`schema`] about the setting, or the group of settings, with the dotted key `key`, without defaults.
#[must_use]
pub fn schema_of(key: &str) -> Option<Value> {
    let mut schema = PartialSettings::schema();
    for part in key.split('.') {
        schema = schema.get_mut("properties")?.get_mut(part)?.take();
    }
    Some(schema)
}

/// The schema of a group of settings: field, documentation and schema of each.
pub(super) fn group<const N: usize>(fields: [(&str, &str, Value); N]) -> Value {
    let properties: Map<String, Value> = fields
        .into_iter()
        .map(|(field, doc, mut schema)| {
            schema["description"] = doc.trim().into();
            allow_null(&mut schema);
            (camel(field), schema)
        })
        .collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

/// The schema of a choice between `all`.
pub(super) fn choice<T: Serialize>(all: &[T]) -> Value {
    json!({ "type": "string", "enum": all })
}

/// In a file `null` leaves a setting as it is.
fn allow_null(schema: &mut Value) {
    schema["type"] = json!([schema["type"].take(), "null"]);
    if let Some(choices) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        choices.push(Value::Null);
    }
}

fn add_defaults(schema: &mut Value, default: &Value) {
    match default {
        Value::Object(fields) => {
            for (key, default) in fields {
                add_defaults(&mut schema["properties"][key], default);
            }
        }
        Value::Null => {}
        default => schema["default"] = default.clone(),
    }
}

/// The name of a field as files have it.
fn camel(field: &str) -> String {
    let mut parts = field.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let (initial, rest) = part.split_at(part.len().min(1));
        name + &initial.to_ascii_uppercase() + rest
    })
}

impl Described for bool {
    fn schema() -> Value {
        json!({ "type": "boolean" })
    }
}

impl Described for String {
    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

impl Described for Vec<String> {
    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "string" } })
    }
}

impl<const MIN: u32, const MAX: u32> Described for Ranged<MIN, MAX> {
    fn schema() -> Value {
        json!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

impl<const MIN: u32, const MAX: u32> Described for RangedFloat<MIN, MAX> {
    fn schema() -> Value {
        json!({ "type": "number", "minimum": MIN, "maximum": MAX })
    }
}

impl Described for PlansDir {
    fn schema() -> Value {
        let part = format!(r"(?!(\.|\.\.|~|\.[gG][iI][tT])(/|$))[^/\\:{CONTROL}]+");
        json!({ "type": "string", "pattern": format!("^(\\./)?{part}(/{part})*/?$") })
    }
}

impl Described for Name {
    fn schema() -> Value {
        // One to a hundred characters between blanks, the first and the last of them no blanks.
        let edge = format!("[^{BLANK}{CONTROL}]");
        let pattern = format!("^[{BLANK}]*{edge}([^{CONTROL}]{{0,98}}{edge})?[{BLANK}]*$");
        json!({ "type": "string", "pattern": pattern })
    }
}

//! The JSON Schema of the settings, for editors.

use std::sync::LazyLock;

use fp_plan::settings::{Settings, SettingsLayer};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::common::Environment;

static SCHEMA: LazyLock<Value> = LazyLock::new(fp_plan::settings::schema);
static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&SCHEMA).unwrap());

#[test]
fn it_is_a_schema_that_the_command_prints() {
    assert!(jsonschema::meta::is_valid(&SCHEMA));
    let output = Environment::new().fp(&["config", "schema"]);
    assert_eq!((output.code, output.json()), (0, SCHEMA.clone()));
    let about = |pointer: &str| SCHEMA.pointer(pointer).unwrap();
    assert_eq!(
        *about("/properties/maxComplexity"),
        json!({
            "description": "Highest complexity (1–10) that a leaf may have.",
            "type": "integer", "minimum": 1, "maximum": 10,
        })
    );
    assert_eq!(
        *about("/properties/guard/properties/mode"),
        json!({
            "description": "The answer to an edit outside the task's files.",
            "type": "string", "enum": ["deny", "warn", "off"],
        })
    );
}

/// What the program takes, an editor doesn't mark, and it marks what is plainly wrong.
#[test]
fn it_agrees_with_the_program() {
    let check = |document: Value, expect: bool| {
        assert_eq!(
            (
                SettingsLayer::parse(&document).is_ok(),
                VALIDATOR.is_valid(&document)
            ),
            (expect, expect),
            "{document}"
        );
    };
    check(json!({ "$schema": "x", "maxComplexity": 3.0 }), true);
    check(json!({ "exclusive": ["a"], "isolation": "auto" }), true);
    check(
        json!({ "linear": { "statusMap": { "pending": "Todo" } } }),
        true,
    );
    check(
        json!({ "agents": { "programs": { "mine": { "start": ["mine"] } } } }),
        true,
    );
    check(json!({ "maxComplexity": 11 }), false);
    check(json!({ "noCommit": "true" }), false);
    check(json!({ "isolation": "Auto" }), false);
    check(json!({ "exclusive": "a" }), false);
    check(json!({ "nudge": { "maxretries": 1 } }), false);
    check(json!({ "colour": 1 }), false);
    check(json!([]), false);
    let mut defaults = serde_json::to_value(Settings::default()).unwrap();
    without_null(&mut defaults);
    check(defaults, true);
}

/// Settings without a default are left out.
fn without_null(fields: &mut Value) {
    if let Some(fields) = fields.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
        fields.values_mut().for_each(without_null);
    }
}

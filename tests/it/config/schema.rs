//! The JSON Schema of the settings accepts exactly what the program accepts.

use std::sync::LazyLock;

use fp_plan::settings::{Settings, SettingsLayer};
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::common::Environment;

static SCHEMA: LazyLock<Value> = LazyLock::new(fp_plan::settings::schema);
static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&SCHEMA).unwrap());

/// True if `document` is accepted; fails if schema and program disagree.
fn taken(document: &Value) -> bool {
    let read = serde_json::from_str::<SettingsLayer>(&document.to_string());
    let faults: Vec<String> = VALIDATOR
        .iter_errors(document)
        .map(|fault| fault.to_string())
        .collect();
    assert_eq!(
        read.is_ok(),
        faults.is_empty(),
        "{document}: {read:?}, {faults:?}"
    );
    read.is_ok()
}

#[test]
fn it_is_a_schema_and_the_defaults_satisfy_it() {
    assert!(jsonschema::meta::is_valid(&SCHEMA));
    assert!(taken(&serde_json::to_value(Settings::default()).unwrap()));
    let output = Environment::new().fp(&["config", "schema"]);
    assert_eq!((output.code, output.json()), (0, SCHEMA.clone()));
}

#[test]
fn it_says_of_each_setting_what_an_editor_shows() {
    let about = |pointer: &str| {
        SCHEMA
            .pointer(pointer)
            .unwrap_or_else(|| panic!("{pointer}: {:#}", *SCHEMA))
    };
    assert_eq!(
        *about("/properties/maxComplexity"),
        json!({
            "description": "Highest complexity (1–10) that a leaf may have.",
            "type": ["integer", "null"], "minimum": 1, "maximum": 10, "default": 4,
        })
    );
    assert_eq!(
        *about("/properties/guard/properties/mode"),
        json!({
            "description": "The answer to an edit outside the task's files.",
            "type": ["string", "null"], "enum": ["deny", "warn", "off", null], "default": "deny",
        })
    );
    assert_eq!(
        about("/properties/iterationScaling/properties/base/maximum"),
        20
    );
    assert_eq!(about("/properties/linear/additionalProperties"), false);
}

#[test]
fn each_kind_of_value_is_taken_or_refused_by_both() {
    let check = |key: &str, right: &[Value], wrong: &[Value]| {
        let document = |value: &Value| {
            key.rsplit('.').fold(value.clone(), |value, key| {
                Value::Object(Map::from_iter([(key.to_owned(), value)]))
            })
        };
        for value in right {
            assert!(taken(&document(value)), "{key}: {value}");
        }
        for value in wrong {
            assert!(!taken(&document(value)), "{key}: {value}");
        }
    };
    let long = "가".repeat(100);
    check("$schema", &[json!("x"), json!(null)], &[json!(1)]);
    check(
        "maxComplexity",
        &[json!(1), json!(10), json!(3.0), json!(null)],
        &[
            json!(0),
            json!(11),
            json!(2.5),
            json!("3"),
            json!(1e300),
            json!(-1),
        ],
    );
    check(
        "lockTimeoutSeconds",
        &[json!(0), json!(-0.0)],
        &[json!(601), json!(true), json!([])],
    );
    check(
        "iterationScaling.factor",
        &[json!(0), json!(0.5), json!(10)],
        &[json!(-0.1), json!(10.1), json!("1")],
    );
    check("noCommit", &[json!(true)], &[json!(0), json!("true")]);
    check(
        "isolation",
        &[json!("auto")],
        &[json!("Auto"), json!(""), json!(1)],
    );
    check(
        "exclusive",
        &[json!([]), json!(["a"])],
        &[json!("a"), json!([1]), json!([null]), json!({})],
    );
    check(
        "language",
        &[json!("ko"), json!(" ko\n"), json!(long), json!("a b")],
        &[
            json!(""),
            json!(" "),
            json!("a\nb"),
            json!(format!("{long}x")),
            json!("\u{7}"),
        ],
    );
    check(
        "plansDir",
        &[
            json!("a"),
            json!("./a/b/"),
            json!("계획"),
            json!(".gitx/a"),
            json!("..."),
        ],
        &[
            json!(""),
            json!("."),
            json!("./"),
            json!("./."),
            json!("../a"),
            json!("a/../b"),
            json!("a//b"),
            json!("/a"),
            json!("a//"),
            json!("~"),
            json!("a/.GIT"),
            json!("a\\b"),
            json!("c:"),
            json!("a\nb"),
            json!("a\n"),
        ],
    );
    check(
        "nudge",
        &[json!({}), json!(null)],
        &[json!([]), json!(true), json!({"maxretries": 1})],
    );
    check("colour", &[], &[json!(1), json!(null)]);
}

/// Every dotted key, and a few invalid ones.
fn keys() -> Vec<String> {
    fn walk(prefix: &str, schema: &Value, keys: &mut Vec<String>) {
        for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
            let key = if prefix.is_empty() {
                key.clone()
            } else {
                format!("{prefix}.{key}")
            };
            walk(&key, schema, keys);
            keys.push(key);
        }
    }
    let mut keys = vec![
        "nudge.maxretries".to_owned(),
        "x".into(),
        "linear.statusMap.x".into(),
    ];
    walk("", &SCHEMA, &mut keys);
    keys
}

/// Texts that some setting accepts as a choice, or that are barely valid or invalid as a name or a folder.
fn any_text() -> impl Strategy<Value = String> {
    let choices = [
        "auto",
        "deny",
        "warn",
        "off",
        "default",
        "acceptEdits",
        "risk-first",
        "tdd",
        "Tdd",
        "ask",
    ];
    prop_oneof![
        prop::sample::select(choices.to_vec()).prop_map(str::to_owned),
        r"(\.{0,3}|/|\\|~|[a-z .:가]{0,3}|\.git|\.GIT)*",
        r"[ \t\n\u{85}\u{a0}\u{3000}\u{feff}a가😀]{0,6}",
        r"[ ]{0,2}[a가]{98,102}[ ]{0,2}",
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..25).prop_map(Value::from),
        prop::sample::select(vec![600_i64, 601, 1440, 1441, 86_400, 86_401, i64::MAX])
            .prop_map(Value::from),
        prop::sample::select(vec![0.5, 3.0, -0.0, 10.0, 10.5, 20.0, 1e300]).prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    prop_oneof![
        6 => scalar.clone(),
        1 => prop::collection::vec(scalar, 0..3).prop_map(Value::from),
        1 => Just(json!({})),
    ]
}

/// Puts `value` at the dotted `key`, over anything in its way.
fn put(document: &mut Value, key: &str, value: Value) {
    let mut at = document;
    for part in key.split('.') {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[part];
    }
    *at = value;
}

proptest! {
    #[test]
    fn documents_are_taken_or_refused_by_both(
        entries in prop::collection::vec((prop::sample::select(keys()), any_value()), 0..4),
    ) {
        let mut document = json!({});
        for (key, value) in entries {
            put(&mut document, &key, value);
        }
        taken(&document);
    }

    #[test]
    fn what_is_no_object_is_no_file(document in any_value().prop_filter("an object", |value| !value.is_object())) {
        prop_assert!(!taken(&document));
    }
}

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn a_value_is_set_and_nothing_else_changes() {
    let check = |text: &str, path: &[&str], value: Value, expect: &str| {
        assert_eq!(set(text, path, &value).unwrap(), expect, "{text:?}");
    };
    check("{}", &["a"], json!(1), "{\n  \"a\": 1\n}");
    check("{}\n", &["a", "b"], json!(true), "{\n  \"a\": {\n    \"b\": true\n  }\n}\n");
    check("{\"a\":1}", &["a"], json!(2), "{\"a\":2}");
    check("{ \"a\" : 1 }", &["a"], json!("x"), "{ \"a\" : \"x\" }");
    check("{ \"a\": 1 }", &["b", "c"], json!(2), "{ \"a\": 1, \"b\": {\"c\": 2} }");
    check(
        "{\n\t\"z\": {},\n\t\"a\": [1,\n 2]\n}\n",
        &["z", "b"],
        json!(1),
        "{\n\t\"z\": {\n\t\t\"b\": 1\n\t},\n\t\"a\": [1,\n 2]\n}\n",
    );
    check(
        "{\r\n    \"a\": 1\r\n}\r\n",
        &["b"],
        json!(["x", "y"]),
        "{\r\n    \"a\": 1,\r\n    \"b\": [\"x\", \"y\"]\r\n}\r\n",
    );
    check("{\n  \"a\": { \"b\": 1 }\n}", &["a", "c"], json!(2), "{\n  \"a\": { \"b\": 1, \"c\": 2 }\n}");
    check("{\"a\": null}", &["a", "b"], json!(2), "{\"a\": {\"b\": 2}}");
    check("{\"a\": \"}\\\"\", \"b\": 1}", &["b"], json!(2), "{\"a\": \"}\\\"\", \"b\": 2}");
    check("{\"\\u0061\": 1}", &["a"], json!(2), "{\"\\u0061\": 2}");
}

#[test]
fn a_key_is_taken_out_with_the_groups_that_it_leaves_empty() {
    let check = |text: &str, path: &[&str], expect: &str| {
        assert_eq!(unset(text, path).unwrap(), expect, "{text:?}");
    };
    check("{\n  \"a\": 1\n}\n", &["a"], "{}\n");
    check("{\n  \"a\": 1,\n  \"b\": 2\n}\n", &["a"], "{\n  \"b\": 2\n}\n");
    check("{\n  \"a\": 1,\n  \"b\": 2\n}\n", &["b"], "{\n  \"a\": 1\n}\n");
    check("{ \"a\": 1, \"b\": { \"c\": 2 } }", &["b", "c"], "{ \"a\": 1 }");
    check("{ \"a\": { \"b\": { \"c\": 2 } } }", &["a", "b", "c"], "{}");
    check("{ \"a\": 1 }", &["b"], "{ \"a\": 1 }");
    check("{ \"a\": 1 }", &["b", "c"], "{ \"a\": 1 }");
    check("{ \"a\": null }", &["a", "c"], "{ \"a\": null }");
}

#[test]
fn what_is_no_object_is_not_changed() {
    let check = |text: &str, expect: &str| {
        assert_eq!(set(text, &["a", "b"], &json!(1)).unwrap_err().to_string(), expect);
        assert_eq!(unset(text, &["a", "b"]).unwrap_err().to_string(), expect);
    };
    check("[]", "the text is not an object");
    check("{\"a\": 1}", "a is not an object");
    check("{", "not JSON: EOF while parsing an object at line 1 column 1");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        r#"[a{}\[\],:"\\ 가]{0,6}"#.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c{\"]", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-c{\"]", any_json(), 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

proptest! {
    #[test]
    fn the_text_means_what_it_meant_but_for_the_key(
        object in any_object(),
        pretty in any::<bool>(),
        path in prop::collection::vec("[a-d]", 1..4),
        value in any_json(),
    ) {
        let text = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) }.unwrap();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let pointer = format!("/{}", path.join("/"));
        if let Ok(with) = set(&text, &path, &value) {
            let read: Value = serde_json::from_str(&with).unwrap();
            prop_assert_eq!(read.pointer(&pointer), Some(&value));
            prop_assert_eq!(set(&with, &path, &value).unwrap(), with.clone());
            let without: Value = serde_json::from_str(&unset(&with, &path).unwrap()).unwrap();
            prop_assert_eq!(without.pointer(&pointer), None);
        }
        if object.pointer(&pointer).is_none() && object.get(path[0]).is_none() {
            let with = set(&text, &path, &value).unwrap();
            let back: Value = serde_json::from_str(&unset(&with, &path).unwrap()).unwrap();
            prop_assert_eq!(back, object);
        }
    }
}

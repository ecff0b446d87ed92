use proptest::prelude::*;

use super::*;
use crate::json_text::rewrite;

const BOTH: Choice = Choice { permissions: true, teams: true };

fn added(text: &str) -> String {
    let mut fields = parse(text).unwrap();
    let trace = due(&fields, BOTH);
    add(&mut fields, &trace);
    rewrite(text, &fields).unwrap()
}

#[test]
fn what_is_no_settings_file_is_named_with_its_place() {
    let check = |text: &str, expect: &str| {
        let error = parse(text).unwrap_err();
        assert_eq!(format!("settings.json{}: {error}", error.place()), expect);
    };
    check("{\n  \"a\": 1,\n}", "settings.json:3:1: not valid JSON: trailing comma");
    check("{\n  // why\n}", "settings.json:2:3: not valid JSON: key must be a string");
    check("{\"a\": 1", "settings.json:1:7: not valid JSON: EOF while parsing an object");
    check("[]", "settings.json: the file is not an object");
    check("{\"env\": 1}", "settings.json: `env` is not an object");
    check("{\"permissions\": []}", "settings.json: `permissions` is not an object");
    check("{\"permissions\": {\"allow\": {}}}", "settings.json: `permissions.allow` is not a list");
    assert_eq!(parse("\u{feff}{}"), Ok(Fields::new()));
    assert_eq!(parse(" \n"), Ok(Fields::new()));
}

#[test]
fn what_is_there_is_not_added_again() {
    let check = |text: &str, permissions: &[&str], teams: bool| {
        let trace = due(&parse(text).unwrap(), BOTH);
        assert_eq!(
            (trace.permissions, trace.teams),
            (permissions.iter().map(|r| (*r).into()).collect(), teams),
            "{text}"
        );
    };
    check("{}", &PERMISSIONS, true);
    check(r#"{"permissions": {"allow": ["Bash(fp *)"]}}"#, &["Edit(.fractal-planner/**)"], true);
    check(r#"{"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"}}"#, &PERMISSIONS, false);
    check(r#"{"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "0"}}"#, &PERMISSIONS, false);
    assert_eq!(
        teams(&parse(r#"{"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "0"}}"#).unwrap()),
        Standing::Otherwise
    );
    assert!(due(&parse("{}").unwrap(), Choice::default()).is_empty());
    assert_eq!(added(&added("{}")), added("{}"));
}

#[test]
fn an_addition_keeps_everything_else_as_it_is() {
    let check = |text: &str, expect: &str| assert_eq!(added(text), expect);
    check(
        "{\n  \"z\": 1,\n  \"a\": [1,2],\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(make *)\"\n    ]\n  }\n}\n",
        concat!(
            "{\n  \"z\": 1,\n  \"a\": [1,2],\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(make *)\",\n",
            "      \"Bash(fp *)\",\n      \"Edit(.fractal-planner/**)\"\n    ]\n  },\n",
            "  \"env\": {\n    \"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS\": \"1\"\n  }\n}\n"
        ),
    );
    check(
        "\u{feff}{\r\n\t\"env\": {\"A\": \"\\u0041\"},\r\n\t\"permissions\": {\"allow\": [\"X\"]}\r\n}",
        concat!(
            "\u{feff}{\r\n\t\"env\": {\r\n\t\t\"A\": \"\\u0041\",\r\n",
            "\t\t\"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS\": \"1\"\r\n\t},\r\n",
            "\t\"permissions\": {\"allow\": [\"X\", \"Bash(fp *)\", \"Edit(.fractal-planner/**)\"]}\r\n}"
        ),
    );
    check(
        "",
        concat!(
            "{\n  \"env\": {\n    \"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS\": \"1\"\n  },\n",
            "  \"permissions\": {\n    \"allow\": [\"Bash(fp *)\", \"Edit(.fractal-planner/**)\"]\n  }\n}\n"
        ),
    );
}

#[test]
fn a_key_that_is_there_twice_is_not_edited() {
    let text = r#"{"env": {"A": "1"}, "env": {"B": "2"}}"#;
    let mut fields = parse(text).unwrap();
    let trace = due(&fields, BOTH);
    add(&mut fields, &trace);
    assert_eq!(rewrite(text, &fields), None);
}

#[test]
fn what_was_added_is_taken_out_and_nothing_else() {
    let check = |before: &str, since: &str, expect: &str| {
        let trace = due(&parse(before).unwrap(), BOTH);
        let mut fields = parse(since).unwrap();
        take_out(&mut fields, &trace);
        assert_eq!(fields, parse(expect).unwrap(), "{before}, then {since}");
    };
    let both = added("{}");
    check("{}", &both, "{}");
    check(r#"{"env": {}}"#, &both, r#"{"env": {}}"#);
    check(r#"{"permissions": {}}"#, &both, r#"{"permissions": {}}"#);
    // The user had a rule before.
    let had = r#"{"permissions": {"allow": ["Bash(fp *)"]}}"#;
    check(had, &added(had), had);
    // The user has said something else since.
    let since = r#"{"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "0"}, "permissions": {"allow": ["X"]}}"#;
    check("{}", since, since);
    // What the client leaves behind.
    check("{}", r#"{"enabledPlugins": {}, "extraKnownMarketplaces": {}}"#, "{}");
    check("{}", r#"{"enabledPlugins": {"a@b": true}}"#, r#"{"enabledPlugins": {"a@b": true}}"#);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-e]{1,2}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_settings() -> impl Strategy<Value = Fields> {
    let rules = prop::sample::subsequence(vec!["Bash(fp *)", "Edit(.fractal-planner/**)", "Read(x)"], 0..=3);
    let fields = prop::collection::btree_map("[a-e]{1,2}", any_value(), 0..4);
    let env = prop::option::of(prop::sample::select(vec!["0", "1"]));
    (fields, prop::option::of(rules), env).prop_map(|(fields, rules, env)| {
        let mut fields: Fields = fields.into_iter().collect();
        if let Some(rules) = rules {
            fields.insert("permissions".into(), serde_json::json!({ "allow": rules, "deny": [] }));
        }
        if let Some(value) = env {
            fields.insert("env".into(), serde_json::json!({ TEAMS: value }));
        }
        fields
    })
}

proptest! {
    #[test]
    fn an_addition_can_be_taken_out_of_any_settings(before in any_settings(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&before) } else { serde_json::to_string(&before) }.unwrap();
        let trace = due(&before, BOTH);
        let mut fields = before.clone();
        add(&mut fields, &trace);
        let changed = rewrite(&text, &fields).expect("no key is there twice");
        let mut fields = parse(&changed).unwrap();
        prop_assert_eq!(permissions(&fields), Standing::There);
        take_out(&mut fields, &trace);
        prop_assert_eq!(&fields, &before);
        prop_assert_eq!(parse(&rewrite(&changed, &fields).expect("nor is it now")).unwrap(), before);
    }
}

use std::fs;

use fp_plan::hint::Hint as _;

use super::*;
use crate::config_file::{change_setting, parse_layer};

#[test]
fn a_fault_is_named_with_its_place_and_its_cure() {
    let check = |text: &str, message: &str, hint: &str| {
        let error = parse_layer(Path::new("config.json"), text).expect_err(text);
        assert_eq!(
            (error.to_string().as_str(), error.hint().as_deref()),
            (message, Some(hint)),
            "{text}"
        );
    };
    let wrong = "`fp help config` says what each setting takes";
    let comma = "look for a missing or extra comma, quote or bracket just before it";
    let list = "`fp config` lists every setting";

    check(
        "",
        "config.json:1:1: not JSON: eof while parsing a value",
        comma,
    );
    check(
        " \n\n",
        "config.json:3:1: not JSON: eof while parsing a value",
        comma,
    );
    check("hello", "config.json:1:1: not JSON: expected value", comma);
    check(
        "{\n  \"noCommit\": true,\n}",
        "config.json:3:1: not JSON: trailing comma",
        comma,
    );
    check(
        "{} {}",
        "config.json:1:4: not JSON: trailing characters",
        comma,
    );
    check(
        "{\"nudge\": {",
        "config.json:1:11: not JSON: eof while parsing an object",
        comma,
    );
    check(
        "[]",
        "config.json: the file: expected an object of settings, found []",
        wrong,
    );
    check(
        "null",
        "config.json: the file: expected an object of settings, found null",
        wrong,
    );
    check(
        "{\n  \"maxComplexity\": 12\n}",
        "config.json: maxComplexity: expected a whole number from 1 to 10, found 12",
        wrong,
    );
    check(
        "{\n  \"maxIterations\":\n    \"three\"\n}",
        "config.json: maxIterations: expected a whole number from 1 to 20, found \"three\"",
        wrong,
    );
    check(
        "{\n  \"linear\": {\n    \"enabled\": \"yes\"\n  }\n}",
        "config.json: linear.enabled: expected a boolean, found \"yes\"",
        wrong,
    );
    check(
        "{\"nudge\": true}",
        "config.json: nudge: expected an object of settings, found true",
        wrong,
    );
    check(
        "{\"commentChecker\": {\"ignore\": [\"a\", 3]}}",
        "config.json: commentChecker.ignore[1]: expected a string, found 3",
        wrong,
    );
    check(
        "{\"commentChecker\": {\"ignore\": \"a\"}}",
        "config.json: commentChecker.ignore: expected a list, found \"a\"",
        wrong,
    );
    check(
        "{\"plansDir\": \"../plans\"}",
        "config.json: plansDir: expected the path of a folder inside the repository, such as \
         \".fractal-planner/plans\", found \"../plans\"",
        wrong,
    );
    check(
        "{\n \"한\": 1,\n\"maxComplexity\": 3}",
        "config.json: there is no setting `한`",
        list,
    );
    check(
        "{\n  \"maxComplexty\": 3\n}",
        "config.json: there is no setting `maxComplexty`",
        "did you mean `maxComplexity`?",
    );
    check(
        "{\"nudge\": {\"maxretries\": 3}}",
        "config.json: there is no setting `nudge.maxretries`",
        "did you mean `nudge.maxRetries`?",
    );
    check(
        "{\"executionOrder\": \"risk\"}",
        "config.json: executionOrder: `risk` is none of `document-order`, `risk-first`, `easy-first`",
        "did you mean `risk-first`?",
    );
}

#[test]
fn the_users_file_is_where_the_platform_has_it() {
    let found = |system: &str, variables: &[(&str, &str)], there: &[&str]| {
        let env = |name: &str| {
            variables
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, value)| (*value).to_owned())
        };
        user_file_on(system, &env, |path| {
            there.iter().any(|other| path == Path::new(other))
        })
    };
    let check = |system: &str, variables: &[(&str, &str)], expect: Option<&str>| {
        assert_eq!(
            found(system, variables, &[]),
            expect.map(PathBuf::from),
            "{system} {variables:?}"
        );
    };
    for system in ["linux", "macos"] {
        check(
            system,
            &[("HOME", "/h")],
            Some("/h/.config/fractal-planner/config.json"),
        );
        check(
            system,
            &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")],
            Some("/x/fractal-planner/config.json"),
        );
        check(
            system,
            &[("HOME", "/h"), ("XDG_CONFIG_HOME", "x")],
            Some("/h/.config/fractal-planner/config.json"),
        );
        check(system, &[("HOME", "h")], None);
        check(system, &[("APPDATA", "/a")], None);
        check(system, &[], None);
    }
    check(
        "windows",
        &[("APPDATA", "/a"), ("HOME", "/h")],
        Some("/a/fractal-planner/config.json"),
    );
    check(
        "windows",
        &[("APPDATA", "/a"), ("XDG_CONFIG_HOME", "/x")],
        Some("/x/fractal-planner/config.json"),
    );
    check("windows", &[("HOME", "/h")], None);

    let of_mac = "/h/Library/Application Support/fractal-planner/config.json";
    let usual = "/h/.config/fractal-planner/config.json";
    let with = |system: &str, there: &[&str]| found(system, &[("HOME", "/h")], there).unwrap();
    assert_eq!(with("macos", &[of_mac]), Path::new(of_mac));
    assert_eq!(with("macos", &[of_mac, usual]), Path::new(usual));
    assert_eq!(with("linux", &[of_mac]), Path::new(usual));
}

#[test]
fn the_environment_has_the_last_word() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    write(
        "x/fractal-planner/config.json",
        r#"{"maxComplexity": 3, "nudge": {"maxRetries": 5}}"#,
    );
    write(
        "p/.fractal-planner/config.json",
        "\u{feff}{\"maxComplexity\": 5, \"nudge\": {\"maxRetries\": 7}}",
    );
    write(
        "c/settings.json",
        r#"{"pluginConfigs": {"fp@fractal-planner": {"options": {"language": "한국어", "linear": true, "maxParallelTasks": ""}}},
            "permissions": {"allow": []}}"#,
    );
    let env = |name: &str| match name {
        "NUDGE_DISABLED" => Some("1".to_owned()),
        "XDG_CONFIG_HOME" => Some(folder.path().join("x").display().to_string()),
        "CLAUDE_CONFIG_DIR" => Some(folder.path().join("c").display().to_string()),
        _ => None,
    };
    let config = Config::load(&Repo::find(&folder.path().join("p")), &env).unwrap();
    let explained = config.explained();
    let check = |key: &str, value: Value, origin: SettingOrigin| {
        assert_eq!(explained.get(key), Some(&(value, origin)), "{key}");
    };
    check("maxComplexity", 5.into(), SettingOrigin::Project);
    check("nudge.maxRetries", 0.into(), SettingOrigin::Runtime);
    assert_eq!(
        config.ignored.by_key(),
        [("nudge.maxRetries".to_owned(), 7.into())]
    );
    check("maxIterations", 3.into(), SettingOrigin::Default);
    check("language", "한국어".into(), SettingOrigin::Plugin);
    check("linear.enabled", true.into(), SettingOrigin::Plugin);
    check("maxParallelTasks", 1.into(), SettingOrigin::Default);
    assert_eq!(config.settings().max_complexity, 5);

    let mut config = config;
    config.add_layer(
        SettingOrigin::Plan,
        serde_json::from_str(r#"{"maxComplexity": 2, "nudge": {"maxRetries": 9}}"#).unwrap(),
    );
    assert_eq!(
        config.explained()["maxComplexity"],
        (2.into(), SettingOrigin::Plan)
    );
    assert_eq!(
        config.explained()["nudge.maxRetries"],
        (0.into(), SettingOrigin::Runtime)
    );
}

#[test]
fn a_missing_file_is_no_layer_and_any_other_fault_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    let check = |expect: Result<bool, &str>| {
        let result = read_layer(&path)
            .map(|layer| layer.is_some())
            .map_err(|e| e.to_string());
        let expect = expect.map_err(|message| format!("{}{message}", path.display()));
        assert_eq!(result, expect);
    };
    check(Ok(false));
    fs::write(&path, vec![b' '; 1024 * 1024 + 1]).unwrap();
    check(Err(" is too large: at most 1048576 bytes are read"));
    fs::write(&path, b"{\n\"language\": \"\xff\"}").unwrap();
    check(Err(":2:14: not UTF-8 text"));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    check(Err(" is not a file"));
}

#[test]
fn options_of_the_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    let check = |text: &str, expect: Result<serde_json::Value, &str>| {
        fs::write(&path, text).unwrap();
        let read = read_plugin_options(&path).map(|layer| serde_json::to_value(layer).unwrap());
        let expect = expect.map_err(|message| format!("{}{message}", path.display()));
        assert_eq!(read.map_err(|error| error.to_string()), expect, "{text}");
    };
    let none = || Ok(serde_json::json!({}));
    let of = |id: &str, options: &str| {
        format!("{{\"pluginConfigs\": {{\"{id}\": {{\"options\": {options}}}}}}}")
    };
    assert_eq!(
        read_plugin_options(&path).unwrap(),
        SettingsLayer::default(),
        "there is no such file"
    );
    check("", none());
    check("{\"pluginConfigs\"", none());
    check("[\"pluginConfigs\"]", none());
    check(r#"{"pluginConfigs": []}"#, none());
    check(&of("fp@fractal-planner", "[]"), none());
    check(&of("fp", r#"{"linear": true}"#), none());
    check(&of("other@fractal-planner", r#"{"linear": true}"#), none());
    check(
        &of("fp@fractal-planner", r#"{"language": "", "unheard": 3}"#),
        none(),
    );
    check(
        &of("fp@elsewhere", r#"{"maxParallelTasks": 3}"#),
        Ok(serde_json::json!({ "maxParallelTasks": 3 })),
    );
    check(
        r#"{"pluginConfigs": {"fp@a": {"options": {"linear": true}}, "fp@fractal-planner": {"options": {"commentChecker": false}},
            "fp@z": {"options": {"linear": true}}}}"#,
        Ok(serde_json::json!({ "commentChecker": { "enabled": false } })),
    );
    check(
        &of("fp@fractal-planner", "\n{\"maxParallelTasks\": 17}"),
        Err(
            ": fp@fractal-planner: maxParallelTasks: expected a whole number from 1 to 16, found 17",
        ),
    );
    check(
        &of("fp@fractal-planner", "{\n\"linear\": \"yes\"}"),
        Err(": fp@fractal-planner: linear.enabled: expected a boolean, found \"yes\""),
    );
}

#[test]
fn a_change_keeps_the_rest_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    let check = |text: &str, key: &str, value: Option<Value>, expect: &str| {
        fs::write(&path, text).unwrap();
        assert_eq!(
            change_setting(&path, key, value.as_ref()).unwrap(),
            text != expect,
            "{text}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), expect, "{text}");
    };
    let two = || Some(Value::from(2));
    check(
        "{}\n",
        "nudge.maxRetries",
        two(),
        "{\n  \"nudge\": {\n    \"maxRetries\": 2\n  }\n}\n",
    );
    check(
        "{ \"maxComplexity\" : 1 }",
        "maxComplexity",
        two(),
        "{ \"maxComplexity\" : 2 }",
    );
    check(
        "{\"\\u006eudge\": null}",
        "nudge.maxRetries",
        None,
        "{\"\\u006eudge\": null}",
    );
    check(
        "{\n\t\"noCommit\": true,\n\t\"guard\": { \"mode\": \"off\" }\n}",
        "guard.mode",
        None,
        "{\n\t\"noCommit\": true,\n\t\"guard\": {}\n}",
    );
    check(
        "{\"exclusive\": [\"a\", \"b\"]}",
        "exclusive",
        Some(["b", "a"].into_iter().collect()),
        "{\"exclusive\": [\"b\", \"a\"]}",
    );
    check(
        "{\"noCommit\": true}",
        "noCommit",
        Some(true.into()),
        "{\"noCommit\": true}",
    );
}

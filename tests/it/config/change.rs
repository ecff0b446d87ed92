//! `fp config set` and `unset`: change one setting in a file and leave the rest alone.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;

use crate::common::Environment;

const PROJECT: &str = ".fractal-planner/config.json";

fn user_file(environment: &Environment) -> PathBuf {
    environment.beside("home/.config/fractal-planner/config.json")
}

#[test]
fn a_setting_that_is_none_is_refused() {
    let environment = Environment::new().repo();
    for command in [&["unset"][..], &["set"]] {
        let value: &[&str] = if command == ["set"] { &["1"] } else { &[] };
        let said = |key: &str| environment.fp(&[&["config"], command, &[key], value].concat());
        assert_eq!(
            said("nudge.maxretries").to_string(),
            "exit status: 2\n--- stderr\nerror: there is no setting `nudge.maxretries`\nhint: did you mean `nudge.maxRetries`?\n"
        );
        assert_eq!(
            said("colour").to_string(),
            "exit status: 2\n--- stderr\nerror: there is no setting `colour`\nhint: `fp config` lists every setting\n"
        );
        assert_eq!(
            said("nudge").to_string(),
            "exit status: 2\n--- stderr\nerror: `nudge` is a group of settings\nhint: name one of them: nudge.maxRetries\n"
        );
        assert_eq!(said("$schema").code, 2);
    }
    assert!(!environment.path(PROJECT).exists());
}

#[test]
fn a_file_is_made_changed_and_left_as_it_was() {
    let environment = Environment::new().repo();
    assert_snapshot!(environment.fp(&["config", "set", "nudge.maxRetries", "5"]), @"
    exit status: 0
    --- stdout
    nudge.maxRetries is 5 in .fractal-planner/config.json
    --- stderr
    note: what .fractal-planner/config.json sets is ignored here until you accept it: `fp config trust`, or set it with `--user`
    ");
    assert_snapshot!(environment.read(PROJECT), @r#"
    {
      "nudge": {
        "maxRetries": 5
      }
    }
    "#);
    assert_snapshot!(environment.fp(&["config", "set", "nudge.maxRetries", "5"]), @"
    exit status: 0
    --- stdout
    nudge.maxRetries is 5 in .fractal-planner/config.json
    --- stderr
    note: what .fractal-planner/config.json sets is ignored here until you accept it: `fp config trust`, or set it with `--user`
    ");
    assert_snapshot!(environment.fp(&["config", "unset", "nudge.maxRetries"]), @"
    exit status: 0
    --- stdout
    nudge.maxRetries is no longer in .fractal-planner/config.json
    ");
    assert_snapshot!(environment.read(PROJECT), @r#"
    {
      "nudge": {}
    }
    "#);
    assert_snapshot!(environment.fp(&["config", "unset", "nudge.maxRetries"]), @"
    exit status: 0
    --- stdout
    nudge.maxRetries was not in .fractal-planner/config.json
    ");
    assert_snapshot!(environment.fp(&["config", "set", "maxComplexity", "3", "--user", "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "changed": true,
      "file": "[ROOT]/home/.config/fractal-planner/config.json",
      "key": "maxComplexity",
      "schemaVersion": 1,
      "value": 3
    }
    "#);
    let found = environment.done(&["config", "--format", "json"]).json();
    assert_eq!(
        (
            &found["settings"]["maxComplexity"],
            &found["origins"]["maxComplexity"]
        ),
        (&3.into(), &"user".into())
    );
}

#[test]
fn everything_else_in_the_file_stays() {
    let environment = Environment::new().repo();
    let text = "\u{feff}{\r\n    \"maxIterations\": 5,\r\n    \"guard\": { \"mode\": \"warn\" },\r\n\r\n    \"language\" : \"ko\"\r\n}\r\n";
    environment.write(PROJECT, text);
    environment.done(&["config", "set", "guard.extend", "deny"]);
    environment.done(&["config", "set", "maxIterations", "6"]);
    environment.done(&["config", "set", "exclusive", "a.lock, b/*.rs"]);
    let expect = "\u{feff}{\r\n    \"maxIterations\": 6,\r\n    \"guard\": {\r\n        \"mode\": \"warn\",\r\n        \"extend\": \"deny\"\r\n    },\r\n\r\n    \
                  \"language\" : \"ko\",\r\n    \"exclusive\": [\"a.lock\", \"b/*.rs\"]\r\n}\r\n";
    assert_eq!(environment.read(PROJECT), expect);
    environment.done(&["config", "unset", "exclusive"]);
    environment.done(&["config", "set", "guard.extend", "null"]);
    environment.done(&["config", "set", "maxIterations", "5"]);
    // Once an added setting has spread a group over several lines, the group stays that way.
    let text = text.replace(
        "{ \"mode\": \"warn\" }",
        "{\r\n        \"mode\": \"warn\"\r\n    }",
    );
    assert_eq!(environment.read(PROJECT), text);
}

#[test]
fn values_are_read_by_the_type_of_their_setting() {
    let environment = Environment::new().repo();
    let check = |key: &str, word: &str, expect: &str| {
        environment.done(&["config", "set", key, word, "--user"]);
        let all = environment.done(&["config", "--format", "json"]).json();
        let pointer = format!("/settings/{}", key.replace('.', "/"));
        let value = all.pointer(&pointer).unwrap();
        let shown = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        assert_eq!(shown, expect, "{key} {word}");
    };
    check("noCommit", "true", "true");
    check("verify.timeoutSeconds", "60", "60");
    check("isolation", "shared", "shared");
    check("language", "true", "true");
    check("language", "-v \"quoted\"", "-v \"quoted\"");
    check("exclusive", "[\"a,b\", \"c\"]", "[\"a,b\",\"c\"]");
    check("exclusive", "one", "[\"one\"]");
    check("exclusive", "", "[]");
    check("language", "null", "null");
}

#[test]
fn a_wrong_value_is_refused_as_in_a_file_and_nothing_is_written() {
    let environment = Environment::new().repo();
    let said = |key: &str, value: &str| {
        let output = environment.fp(&["config", "set", key, value]);
        assert!(!environment.path(PROJECT).exists(), "{output}");
        assert_eq!((output.code, output.stdout.as_str()), (2, ""));
        output.stderr
    };
    assert_snapshot!(said("maxComplexity", "12"), @"
    error: maxComplexity: expected a whole number from 1 to 10, found 12
    hint: `fp help config` says what each setting takes
    ");
    assert_snapshot!(said("maxIterations", "-1"), @"
    error: maxIterations: expected a whole number from 1 to 20, found -1
    hint: `fp help config` says what each setting takes
    ");
    assert_snapshot!(said("noCommit", "yes"), @r#"
    error: noCommit: expected a boolean, found "yes"
    hint: `fp help config` says what each setting takes
    "#);
    assert_snapshot!(said("guard.mode", "denied"), @"
    error: guard.mode: `denied` is none of `deny`, `warn`, `off`
    hint: did you mean `deny`?
    ");
    assert_snapshot!(said("plansDir", "../plans"), @r#"
    error: plansDir: expected the path of a folder inside the repository, such as ".fractal-planner/plans", found "../plans"
    hint: `fp help config` says what each setting takes
    "#);
    assert_snapshot!(said("exclusive", "[1]"), @"
    error: exclusive[0]: expected a string, found 1
    hint: `fp help config` says what each setting takes
    ");
}

#[test]
fn a_broken_file_is_reported_and_not_repaired() {
    let environment = Environment::new().repo();
    for text in [
        "{\n  \"maxComplexity\": 3\n  \"noCommit\": true\n}\n",
        "",
        "[]",
        "{\"colour\": 1}",
    ] {
        environment.write(PROJECT, text);
        for command in [
            &["set", "maxIterations", "2"][..],
            &["unset", "maxComplexity"],
        ] {
            let output = environment.fp(&[&["config"], command].concat());
            assert_eq!(output.stderr, environment.fp(&["config"]).stderr);
            assert_eq!(
                (
                    output.code,
                    output.stdout.as_str(),
                    environment.read(PROJECT).as_str()
                ),
                (2, "", text)
            );
        }
    }
    // An error in the other file doesn't matter.
    environment.done(&["config", "set", "maxIterations", "2", "--user"]);
}

#[test]
fn what_goes_over_the_file_is_said() {
    let environment = Environment::new().repo().env("NUDGE_DISABLED", "1");
    environment.write(PROJECT, r#"{"maxComplexity": 5}"#);
    assert_snapshot!(environment.fp(&["config", "set", "maxComplexity", "3", "--user"]), @"
    exit status: 0
    --- stdout
    maxComplexity is 3 in [ROOT]/home/.config/fractal-planner/config.json
    --- stderr
    note: in force is 5, from project
    ");
    assert_snapshot!(environment.fp(&["config", "set", "nudge.maxRetries", "9"]), @"
    exit status: 0
    --- stdout
    nudge.maxRetries is 9 in .fractal-planner/config.json
    --- stderr
    note: what .fractal-planner/config.json sets is ignored here until you accept it: `fp config trust`, or set it with `--user`
    note: in force is 0, from runtime
    ");
    assert_snapshot!(environment.fp(&["config", "unset", "maxComplexity"]), @"
    exit status: 0
    --- stdout
    maxComplexity is no longer in .fractal-planner/config.json
    --- stderr
    note: in force is 3, from user
    ");
}

#[test]
fn where_there_is_no_home_there_is_no_file_of_ones_own() {
    let environment = Environment::new().repo().env("HOME", "");
    assert_snapshot!(environment.fp(&["config", "set", "maxComplexity", "3", "--user"]), @"
    exit status: 2
    --- stderr
    error: there is no home to keep your settings in
    hint: set HOME or XDG_CONFIG_HOME to a folder
    ");
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_a_folder_that_cannot_be_written_is_named() {
    let environment = Environment::new().repo();
    fs::create_dir_all(user_file(&environment).parent().unwrap()).unwrap();
    let real = environment.beside("dotfiles.json");
    fs::write(&real, "{ \"maxComplexity\": 2 }").unwrap();
    std::os::unix::fs::symlink(&real, user_file(&environment)).unwrap();
    environment.done(&["config", "set", "maxComplexity", "3", "--user"]);
    assert_eq!(
        fs::read_to_string(&real).unwrap(),
        "{ \"maxComplexity\": 3 }"
    );
    assert!(user_file(&environment).is_symlink());
    environment.write(".fractal-planner", "a file");
    assert_snapshot!(environment.fp(&["config", "set", "maxComplexity", "3"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/config.json can't be read: not a directory
    hint: a file stands where a folder of that path should be: move it out of the way
    ");
}

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::bundle::*;
use super::settings::*;
use super::*;
use crate::assets::PluginFile;

const PLUGIN_JSON: &str = r#"{"name":"fp","version":"1.2.3","description":"Plans","author":{"name":"us"},"license":"MIT"}"#;

fn bundle<'a>(folder: &TempDir, files: &[(&str, &'a str)]) -> Bundle<'a> {
    let executable = folder.path().join("program");
    fs::write(&executable, "program").unwrap();
    let files = [(MANIFEST, PLUGIN_JSON)]
        .iter()
        .chain(files)
        .map(|(path, text)| PluginFile {
            path: (*path).into(),
            contents: text.as_bytes(),
        })
        .collect();
    Bundle {
        files,
        program: executable,
    }
}

/// Every file below `folder` with its text, sorted.
fn tree(folder: &Path) -> Vec<(String, String)> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let name = path
                    .strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace('\\', "/");
                found.push((
                    name,
                    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned(),
                ));
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.sort();
    found
}

fn names(folder: &Path) -> Vec<String> {
    tree(folder).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_bundle_is_the_plugin_and_a_marketplace_that_offers_it() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("a/out");
    bundle(&folder, &[("skills/plan/SKILL.md", "plan")])
        .write(&out)
        .unwrap();
    let program = format!("fp/bin/fp{}", std::env::consts::EXE_SUFFIX);
    let found = tree(&out);
    assert_eq!(
        names(&out),
        [
            ".claude-plugin/marketplace.json",
            "fp/.claude-plugin/plugin.json",
            &program,
            "fp/skills/plan/SKILL.md"
        ]
    );
    assert_eq!(
        (found[2].1.as_str(), found[3].1.as_str()),
        ("program", "plan")
    );
    let catalog = serde_json::from_str::<serde_json::Value>(&found[0].1).unwrap();
    assert_eq!(
        (&catalog["name"], &catalog["plugins"][0]["name"]),
        (&json!("fractal-planner"), &json!("fp"))
    );
    assert_eq!(catalog["plugins"][0]["source"], "./fp");
}

#[cfg(unix)]
#[test]
fn the_program_can_be_run_by_everybody() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let bundle = bundle(&folder, &[]);
    fs::set_permissions(
        folder.path().join("program"),
        fs::Permissions::from_mode(0o600),
    )
    .unwrap();
    let out = folder.path().join("out");
    bundle.write(&out).unwrap();
    assert_eq!(
        fs::metadata(out.join("fp/bin/fp"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o755
    );
    assert_eq!(
        fs::metadata(out.join("fp")).unwrap().permissions().mode() & 0o500,
        0o500
    );
}

#[test]
fn writing_again_leaves_nothing_of_the_old_one() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    bundle(&folder, &[("skills/old/SKILL.md", "old")])
        .write(&out)
        .unwrap();
    fs::create_dir(out.join(".fp-bundle-killed")).unwrap();
    fs::write(out.join(".fp-bundle-killed/half"), "half").unwrap();
    bundle(&folder, &[("skills/new/SKILL.md", "new")])
        .write(&out)
        .unwrap();
    let found = names(&out).join(" ");
    assert!(
        found.contains("skills/new/") && !found.contains("old") && !found.contains(STAGING),
        "{found}"
    );
}

#[test]
fn a_swap_that_was_cut_short_is_completed() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let bundle = bundle(&folder, &[]);
    for missing in [PLUGIN, CATALOG_FOLDER] {
        bundle.write(&out).unwrap();
        fs::remove_dir_all(out.join(missing)).unwrap();
        bundle.write(&out).unwrap();
        assert_eq!(names(&out).len(), 3, "without {missing}");
    }
}

#[test]
fn nothing_is_written_over_what_is_not_a_bundle() {
    let folder = TempDir::new().unwrap();
    let check = |file: &str, text: &str, found: &str| {
        let out = folder.path().join("out");
        let path = out.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let before = tree(&out);
        let error = bundle(&folder, &[]).write(&out).unwrap_err();
        assert_eq!(
            error.message,
            format!("{} is not a bundle of fp: it has `{found}`", out.display())
        );
        let error = remove_bundle(&out).unwrap_err();
        assert_eq!(
            error.hints[0],
            "choose an empty folder, or one that `fp bundle` has written"
        );
        assert_eq!(tree(&out), before);
        fs::remove_dir_all(&out).unwrap();
    };
    check("notes.txt", "mine", "notes.txt");
    check("fp/main.py", "mine", "fp");
    check("fp/.claude-plugin/plugin.json", r#"{"name":"other"}"#, "fp");
    check(
        ".claude-plugin/marketplace.json",
        r#"{"name":"other"}"#,
        ".claude-plugin",
    );
    check(
        ".claude-plugin/plugin.json",
        r#"{"name":"fp"}"#,
        ".claude-plugin",
    );
    check("fp\n", "mine", "fp\\n");
}

#[test]
fn a_repository_with_the_same_marketplace_name_is_not_a_bundle() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    bundle(&folder, &[]).write(&out).unwrap();
    fs::write(out.join("Cargo.toml"), "").unwrap();
    let error = bundle(&folder, &[]).write(&out).unwrap_err();
    assert!(
        error
            .message
            .ends_with("is not a bundle of fp: it has `Cargo.toml`"),
        "{error:?}"
    );
}

#[test]
fn a_failure_leaves_the_old_one_and_nothing_beside_it() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let mut broken = bundle(&folder, &[("skills/a", "old")]);
    broken.write(&out).unwrap();
    let before = tree(&out);
    let gone = folder.path().join("gone");
    broken.program = gone.clone();
    let error = broken.write(&out).unwrap_err();
    assert_eq!(
        error.message,
        format!(
            "{} can't be copied into the bundle: no such file or directory",
            gone.display()
        )
    );
    assert_eq!(tree(&out), before);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 2);
}

#[test]
fn a_file_in_its_place_is_said_so() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    fs::write(&out, "mine").unwrap();
    let error = bundle(&folder, &[]).write(&out).unwrap_err();
    assert_eq!(
        error.message,
        format!("{} can't be written: not a directory", out.display())
    );
    assert_eq!(fs::read(&out).unwrap(), b"mine");
}

#[test]
fn removing_takes_all_of_it_once() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("data/out");
    bundle(&folder, &[]).write(&out).unwrap();
    assert!(remove_bundle(&out).unwrap());
    assert_eq!(fs::read_dir(folder.path().join("data")).unwrap().count(), 0);
    assert!(!remove_bundle(&out).unwrap());
}

const BOTH: [(SettingsOffer, bool); 2] = [
    (SettingsOffer::Permissions, true),
    (SettingsOffer::Teams, true),
];

/// All that is offered, and wanted.
fn everything() -> [(SettingsOffer, bool); 3] {
    settings::offers(Path::new("/data/it's")).map(|offer| (offer, true))
}

fn added(text: &str) -> String {
    let mut settings = parse_settings(text).unwrap();
    add_wanted(&BOTH, &mut settings);
    fp_host::json_text::rewrite(text, &settings).unwrap()
}

#[test]
fn what_is_no_settings_file_is_named_with_its_place() {
    let check = |text: &str, expect: &str| {
        assert_eq!(
            format!("settings.json{}", parse_settings(text).unwrap_err()),
            expect
        );
    };
    check(
        "{\n  \"a\": 1,\n}",
        "settings.json:3:1: not valid JSON: trailing comma",
    );
    check(
        "{\n  // why\n}",
        "settings.json:2:3: not valid JSON: key must be a string",
    );
    check(
        "{\"a\": 1",
        "settings.json:1:7: not valid JSON: EOF while parsing an object",
    );
    check("[]", "settings.json: the file is not an object");
    check("{\"env\": 1}", "settings.json: `env` is not an object");
    check(
        "{\"permissions\": []}",
        "settings.json: `permissions` is not an object",
    );
    check(
        "{\"permissions\": {\"allow\": {}}}",
        "settings.json: `permissions.allow` is not a list",
    );
    assert_eq!(parse_settings("\u{feff}{}"), Ok(json!({})));
    assert_eq!(parse_settings(" \n"), Ok(json!({})));
}

#[test]
fn what_is_there_is_not_added_again() {
    let check = |text: &str, permissions: &[&str], teams: bool| {
        let trace = add_wanted(&BOTH, &mut parse_settings(text).unwrap());
        assert_eq!(
            (trace.permissions, trace.teams),
            (permissions.iter().map(|r| (*r).into()).collect(), teams),
            "{text}"
        );
    };
    check("{}", &fp_host::claude::PERMISSIONS, true);
    check(
        r#"{"permissions": {"allow": ["Edit(.fractal-planner/plans/*/*.md)"]}}"#,
        &["Edit(.fractal-planner/roadmaps/*.md)"],
        true,
    );
    check(
        r#"{"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"}}"#,
        &fp_host::claude::PERMISSIONS,
        false,
    );
    check(
        r#"{"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "0"}}"#,
        &fp_host::claude::PERMISSIONS,
        false,
    );
    let off = parse_settings(r#"{"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "0"}}"#).unwrap();
    assert_eq!(
        SettingsOffer::Teams.change(&off, true),
        InstallChange::Otherwise
    );
    let declined = everything().map(|(offer, _)| (offer, false));
    assert!(add_wanted(&declined, &mut json!({})).is_empty());
    assert_eq!(added(&added("{}")), added("{}"));
}

#[test]
fn an_addition_keeps_everything_else_as_it_is() {
    let check = |text: &str, expect: &str| assert_eq!(added(text), expect);
    check(
        "{\n  \"z\": 1,\n  \"a\": [1,2],\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(make *)\"\n    ]\n  }\n}\n",
        concat!(
            "{\n  \"z\": 1,\n  \"a\": [1,2],\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(make *)\",\n",
            "      \"Edit(.fractal-planner/plans/*/*.md)\",\n      \"Edit(.fractal-planner/roadmaps/*.md)\"\n    ]\n  },\n",
            "  \"env\": {\n    \"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS\": \"1\"\n  }\n}\n"
        ),
    );
    check(
        "\u{feff}{\r\n\t\"env\": {\"A\": \"\\u0041\"},\r\n\t\"permissions\": {\"allow\": [\"X\"]}\r\n}",
        concat!(
            "\u{feff}{\r\n\t\"env\": {\r\n\t\t\"A\": \"\\u0041\",\r\n",
            "\t\t\"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS\": \"1\"\r\n\t},\r\n",
            "\t\"permissions\": {\"allow\": [\"X\", \"Edit(.fractal-planner/plans/*/*.md)\", \"Edit(.fractal-planner/roadmaps/*.md)\"]}\r\n}"
        ),
    );
    check(
        "",
        concat!(
            "{\n  \"env\": {\n    \"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS\": \"1\"\n  },\n",
            "  \"permissions\": {\n    \"allow\": [\"Edit(.fractal-planner/plans/*/*.md)\", \"Edit(.fractal-planner/roadmaps/*.md)\"]\n  }\n}\n"
        ),
    );
}

#[test]
fn a_key_that_is_there_twice_is_not_edited() {
    let text = r#"{"env": {"A": "1"}, "env": {"B": "2"}}"#;
    let mut settings = parse_settings(text).unwrap();
    add_wanted(&BOTH, &mut settings);
    assert_eq!(fp_host::json_text::rewrite(text, &settings), None);
}

#[test]
fn what_was_added_is_taken_out_and_nothing_else() {
    let check = |before: &str, since: &str, expect: &str| {
        let before_value = parse_settings(before).unwrap();
        let added = add_wanted(&everything(), &mut before_value.clone());
        let mut settings = parse_settings(since).unwrap();
        added.take_out_of(&mut settings, &before_value);
        assert_eq!(
            settings,
            parse_settings(expect).unwrap(),
            "{before}, then {since}"
        );
    };
    let both = added("{}");
    check("{}", &both, "{}");
    check(r#"{"env": {}}"#, &both, r#"{"env": {}}"#);
    check(r#"{"permissions": {}}"#, &both, r#"{"permissions": {}}"#);
    // The user had a rule before.
    let had = r#"{"permissions": {"allow": ["Edit(.fractal-planner/plans/*/*.md)"]}}"#;
    check(had, &added(had), had);
    // The user has said something else since.
    let since = r#"{"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "0"}, "permissions": {"allow": ["X"]}}"#;
    check("{}", since, since);
    // Left behind by the client.
    check(
        "{}",
        r#"{"enabledPlugins": {}, "extraKnownMarketplaces": {}}"#,
        "{}",
    );
    check(
        "{}",
        r#"{"enabledPlugins": {"a@b": true}}"#,
        r#"{"enabledPlugins": {"a@b": true}}"#,
    );
}

#[cfg(unix)]
#[test]
fn a_status_line_is_added_to_the_one_that_is_there_and_taken_out_again() {
    let [_, _, (offer, _)] = everything();
    let check = |before: Value, change: InstallChange, after: Value| {
        assert_eq!(offer.change(&before, true), change, "{before}");
        let mut settings = before.clone();
        let added = add_wanted(&everything()[2..], &mut settings);
        assert_eq!(settings, after);
        assert_eq!(added.is_empty(), change != InstallChange::Added);
        added.take_out_of(&mut settings, &before);
        assert_eq!(settings, before);
    };
    let own = r"'/data/it'\''s/fp/bin/fp' statusline";
    let both = format!(
        "input=$(cat); printf %s \"$input\" | {own}; printf %s \"$input\" | (\nmine # line\n)"
    );
    let line = |command: &str| json!({ "statusLine": { "type": "command", "command": command, "padding": 2 } });
    let alone = json!({ "statusLine": { "type": "command", "command": own } });
    check(json!({}), InstallChange::Added, alone.clone());
    check(line("mine # line"), InstallChange::Added, line(&both));
    check(line(&both), InstallChange::Kept, line(&both));
    check(
        json!({ "statusLine": null }),
        InstallChange::Otherwise,
        json!({ "statusLine": null }),
    );
    // A command that the user has changed since stays.
    let added = add_wanted(&everything(), &mut json!({}));
    let mut since = line("another");
    added.take_out_of(&mut since, &json!({}));
    assert_eq!(since, line("another"));
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

fn any_settings() -> impl Strategy<Value = Value> {
    let rules = prop::sample::subsequence(
        vec![
            "Edit(.fractal-planner/plans/*/*.md)",
            "Edit(.fractal-planner/roadmaps/*.md)",
            "Read(x)",
        ],
        0..=3,
    );
    let fields = prop::collection::btree_map("[a-e]{1,2}", any_value(), 0..4);
    let env = prop::option::of(prop::sample::select(vec!["0", "1"]));
    let line = json!({ "type": "command", "command": "cat # all", "padding": 2 });
    let line = prop::option::of(prop::sample::select(vec![
        line,
        json!({ "type": "none" }),
        Value::Null,
    ]));
    (fields, prop::option::of(rules), env, line).prop_map(|(fields, rules, env, line)| {
        let mut fields: serde_json::Map<String, Value> = fields.into_iter().collect();
        if let Some(rules) = rules {
            fields.insert("permissions".into(), json!({ "allow": rules, "deny": [] }));
        }
        if let Some(value) = env {
            fields.insert("env".into(), json!({ (fp_host::claude::TEAMS): value }));
        }
        fields.extend(line.map(|line| ("statusLine".into(), line)));
        fields.into()
    })
}

proptest! {
    #[test]
    fn an_addition_can_be_taken_out_of_any_settings(before in any_settings(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&before) } else { serde_json::to_string(&before) }.unwrap();
        let mut settings = before.clone();
        let added = add_wanted(&everything(), &mut settings);
        let changed = fp_host::json_text::rewrite(&text, &settings).expect("no key is there twice");
        let mut settings = parse_settings(&changed).unwrap();
        prop_assert_eq!(SettingsOffer::Permissions.change(&settings, true), InstallChange::Kept);
        added.take_out_of(&mut settings, &before);
        prop_assert_eq!(&settings, &before);
        prop_assert_eq!(parse_settings(&fp_host::json_text::rewrite(&changed, &settings).expect("nor is it now")).unwrap(), before);
    }
}

fn settings_file(folder: &TempDir, text: Option<&str>) -> ClientSettingsFile {
    let path = folder.path().join("settings.json");
    text.iter().for_each(|text| fs::write(&path, text).unwrap());
    ClientSettingsFile::read(path).unwrap()
}

#[test]
fn a_copy_never_replaces_a_copy_of_something_else() {
    let folder = TempDir::new().unwrap();
    let copy_of = |text: &str| {
        settings_file(&folder, Some(text))
            .back_up()
            .unwrap()
            .unwrap()
    };
    assert_eq!(copy_of("{}"), "settings.json.fp-backup");
    assert_eq!(copy_of("{}"), "settings.json.fp-backup");
    assert_eq!(copy_of("{ }"), "settings.json.fp-backup.2");
    assert_eq!(
        fs::read_to_string(folder.path().join("settings.json.fp-backup")).unwrap(),
        "{}"
    );
    fs::remove_file(folder.path().join("settings.json")).unwrap();
    assert_eq!(settings_file(&folder, None).back_up().unwrap(), None);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (link, target) = (
        folder.path().join("settings.json"),
        elsewhere.path().join("mine.json"),
    );
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    symlink(&target, &link).unwrap();
    assert!(
        ClientSettingsFile::read(link.clone()).is_err(),
        "a link that leads nowhere is not overwritten"
    );
    fs::write(&target, "{}").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    let settings = settings_file(&folder, None);
    settings.write("{\"a\": 1}").unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(
        (fs::read_to_string(&target).unwrap().as_str(), mode(&target)),
        ("{\"a\": 1}", 0o600)
    );
    let copy = settings.back_up().unwrap().unwrap();
    assert_eq!(
        mode(&folder.path().join(copy)),
        0o600,
        "a copy is as private as the file"
    );
    fs::set_permissions(&target, fs::Permissions::from_mode(0o400)).unwrap();
    let refusal = settings.check_writable().unwrap_err();
    assert_eq!(
        refusal.message,
        format!("{} can't be written: permission denied", link.display())
    );
}

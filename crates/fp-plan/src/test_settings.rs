//! Reads what manifests and the test runners' own files say about tests: the scripts that run them, the targets that
//! are built from them, and which tests a runner selects.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::package_files::{toml_value, values_in};

/// How a setting can keep tests from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestSettingKind {
    /// Selects tests: any change can keep some from running.
    Selects,
    /// Runs tests: replacing or removing it can keep them from running.
    Runs,
    /// Names what is tested: only removing it can keep tests from running.
    Names,
    /// Isn't known to keep tests from running.
    Tells,
}

/// Settings by name, such as `scripts.test`.
pub type TestSettings = BTreeMap<String, (TestSettingKind, String)>;

/// Options of pytest that select tests.
const PYTEST_SELECTS: &str = "addopts collect_ignore collect_ignore_glob confcutdir norecursedirs python_classes \
    python_files python_functions testpaths";
/// Substrings in the names of scripts that run tests and other checks.
const OF_CHECKS: &str = "test spec check verify e2e unit lint ci jest mocha cover";
/// Keys of `package.json` whose objects configure a test runner.
const RUNNERS: &str = "jest mocha ava vitest tap nyc";
/// Prefixes of the names of files that only configure a test runner.
const OF_RUNNERS: &str = "jest.config. vitest.config. vitest.workspace. .mocharc ava.config. karma.conf. \
    playwright.config. cypress.config. phpunit.xml nextest.toml noxfile.py .rspec web-test-runner.config.";
const INI: [&str; 4] = ["setup.cfg", "tox.ini", "pytest.ini", ".pytest.ini"];

/// True if a file at `path` only configures a test runner.
pub fn is_of_runner(path: &str) -> bool {
    let name = file_name(path);
    INI[1..].contains(&&*name) || OF_RUNNERS.split(' ').any(|start| name.starts_with(start))
}

/// True if a file at `path` can contain test settings.
pub fn has_test_settings(path: &str) -> bool {
    let name = file_name(path);
    let is_manifest = ["package.json", "cargo.toml", "pyproject.toml", INI[0]].contains(&&*name);
    is_manifest || is_of_runner(path)
}

/// Reads the test settings in the file at `path`; `None` if `text` can't be parsed as such a file.
pub fn test_settings(path: &str, text: &str) -> Option<TestSettings> {
    let name = file_name(path);
    match &*name {
        "package.json" => npm_settings(text),
        "cargo.toml" => cargo_settings(text),
        "pyproject.toml" => python_settings(text),
        name if INI.contains(&name) => Some(ini_settings(name, text)),
        _ if is_of_runner(path) => Some(whole_file(text)),
        _ => Some(TestSettings::new()),
    }
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_lowercase()
}

/// Reads a whole file as a single setting.
fn whole_file(text: &str) -> TestSettings {
    let value = (TestSettingKind::Selects, text.to_owned());
    TestSettings::from([("the configuration".to_owned(), value)])
}

fn npm_settings(text: &str) -> Option<TestSettings> {
    let value: Value = serde_json::from_str(text).ok()?;
    let scripts = value.get("scripts").and_then(Value::as_object);
    let scripts = scripts.into_iter().flatten().map(|(name, script)| {
        let lower = name.to_lowercase();
        let kind = match OF_CHECKS.split(' ').any(|part| lower.contains(part)) {
            true => TestSettingKind::Runs,
            false => TestSettingKind::Tells,
        };
        (format!("scripts.{name}"), (kind, script.to_string()))
    });
    let runners = RUNNERS.split(' ').filter_map(|name| {
        let runner = value.get(name)?.to_string();
        Some((name.to_owned(), (TestSettingKind::Selects, runner)))
    });
    Some(scripts.chain(runners).collect())
}

fn cargo_settings(text: &str) -> Option<TestSettings> {
    const SWITCHES: [&str; 4] = ["test", "doctest", "harness", "required-features"];
    let value = toml_value(text)?;
    let mut found = TestSettings::new();
    let mut put = |name: String, kind, value: Option<&Value>| {
        found.extend(value.map(|value| (name, (kind, values_in(value).join(" ")))));
    };
    let selects = TestSettingKind::Selects;
    put(
        "package.autotests".into(),
        selects,
        value["package"].get("autotests"),
    );
    for switch in SWITCHES {
        put(format!("lib.{switch}"), selects, value["lib"].get(switch));
    }
    for kind in ["test", "bin", "example", "bench"] {
        for target in value[kind].as_array().into_iter().flatten() {
            let key = format!("{kind}.{}", target["name"].as_str().unwrap_or_default());
            for switch in SWITCHES {
                put(format!("{key}.{switch}"), selects, target.get(switch));
            }
            let path = target.get("path").or(target.get("name"));
            put(key, TestSettingKind::Runs, path.filter(|_| kind == "test"));
        }
    }
    let lists = [
        ("members", TestSettingKind::Names),
        ("exclude", selects),
        ("default-members", selects),
    ];
    for (key, kind) in lists {
        let names = value["workspace"][key].as_array().into_iter().flatten();
        for name in names.filter_map(Value::as_str) {
            found.insert(format!("workspace.{key} {name}"), (kind, String::new()));
        }
    }
    Some(found)
}

fn python_settings(text: &str) -> Option<TestSettings> {
    let value = toml_value(text)?;
    let mut found = TestSettings::new();
    for (tool, settings) in value["tool"].as_object().into_iter().flatten() {
        let kind = match tool.as_str() {
            "pytest" => TestSettingKind::Selects,
            "tox" | "nox" | "poe" | "taskipy" | "hatch" => TestSettingKind::Runs,
            _ => continue,
        };
        add_below(&format!("tool.{tool}"), settings, kind, &mut found);
    }
    Some(found)
}

/// Adds the values nested below `value`, each under its path.
fn add_below(at: &str, value: &Value, kind: TestSettingKind, found: &mut TestSettings) {
    if let Some(table) = value.as_object() {
        for (key, value) in table {
            add_below(&format!("{at}.{key}"), value, kind, found);
        }
        return;
    }
    let key = at.rsplit('.').next().unwrap_or(at);
    let text = values_in(value).join(" ");
    found.insert(at.to_owned(), (option_kind(kind, key), text));
}

/// The kind of the option `key` under a runner of this `kind`: pytest options that don't select tests are `Tells`.
fn option_kind(kind: TestSettingKind, key: &str) -> TestSettingKind {
    match kind {
        TestSettingKind::Selects if !PYTEST_SELECTS.split(' ').any(|option| option == key) => {
            TestSettingKind::Tells
        }
        kind => kind,
    }
}

fn ini_settings(name: &str, text: &str) -> TestSettings {
    let mut found = TestSettings::new();
    let (mut section, mut last) = (String::new(), None::<String>);
    if name.ends_with("pytest.ini") {
        // The mere existence of this file makes pytest ignore all other settings.
        found.insert(name.to_owned(), (TestSettingKind::Selects, String::new()));
    }
    for line in text.lines() {
        let code = line.trim();
        if code.is_empty() || code.starts_with(['#', ';']) {
            continue;
        }
        if let Some(named) = code
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            (section, last) = (named.to_owned(), None);
            continue;
        }
        let is_pytest = matches!(&*section, "pytest" | "tool:pytest");
        if !is_pytest && !section.starts_with("testenv") && section != "tox" {
            continue;
        }
        let goes_on = line.starts_with([' ', '\t']);
        match (goes_on, last.as_ref().and_then(|key| found.get_mut(key))) {
            (true, Some((_, value))) => *value = format!("{value} {code}").trim().to_owned(),
            _ => {
                let (key, value) = code.split_once(['=', ':']).unwrap_or((code, ""));
                let kind = match is_pytest {
                    true => option_kind(TestSettingKind::Selects, key.trim()),
                    false => TestSettingKind::Runs,
                };
                let path = format!("{section}.{}", key.trim());
                found.insert(path.clone(), (kind, value.trim().to_owned()));
                last = Some(path);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_every_file() {
        use TestSettingKind::{Names, Runs, Selects, Tells};
        let check = |path: &str, text: &str, expect: &[(&str, TestSettingKind, &str)]| {
            let found = test_settings(path, text).unwrap_or_else(|| panic!("{path}"));
            let found: Vec<(&str, TestSettingKind, &str)> = found
                .iter()
                .map(|(name, (kind, value))| (&**name, *kind, &**value))
                .collect();
            assert_eq!(found, expect, "{path}");
        };
        check(
            "web/package.json",
            r#"{"name": "x", "scripts": {"test:unit": "a", "dev": "b"}, "jest": {"bail": 1}}"#,
            &[
                ("jest", Selects, "{\"bail\":1}"),
                ("scripts.dev", Tells, "\"b\""),
                ("scripts.test:unit", Runs, "\"a\""),
            ],
        );
        check(
            "Cargo.toml",
            "[package]\nautotests = false\n[lib]\nharness = false\n[[test]]\nname = \"t\"\ntest = false\n[[bin]]\nname = \"b\"\n[workspace]\nmembers = [\"a\"]\nexclude = [\"b\"]\n",
            &[
                ("lib.harness", Selects, "false"),
                ("package.autotests", Selects, "false"),
                ("test.t", Runs, "t"),
                ("test.t.test", Selects, "false"),
                ("workspace.exclude b", Selects, ""),
                ("workspace.members a", Names, ""),
            ],
        );
        check(
            "pyproject.toml",
            "[project]\nname = 'x'\n[tool.pytest.ini_options]\naddopts = '-q'\nmarkers = ['slow']\n[tool.poe.tasks]\ntest = 'pytest'\n",
            &[
                ("tool.poe.tasks.test", Runs, "pytest"),
                ("tool.pytest.ini_options.addopts", Selects, "-q"),
                ("tool.pytest.ini_options.markers", Tells, "slow"),
            ],
        );
        check(
            "setup.cfg",
            "[metadata]\nname = x\n[tool:pytest]\naddopts =\n    -q\n    --co\n# no\nmarkers = slow\n",
            &[
                ("tool:pytest.addopts", Selects, "-q --co"),
                ("tool:pytest.markers", Tells, "slow"),
            ],
        );
        check("pytest.ini", "", &[("pytest.ini", Selects, "")]);
        check(
            "tox.ini",
            "[testenv:py]\ncommands = pytest\n",
            &[("testenv:py.commands", Runs, "pytest")],
        );
        check(
            "vitest.config.ts",
            "x",
            &[("the configuration", Selects, "x")],
        );
        check("src/a.ts", "x", &[]);
        assert_eq!(test_settings("Cargo.toml", "["), None);
    }
}

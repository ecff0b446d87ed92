//! Reads what manifests and the runners' own files say of the tests: the scripts that run them, the targets that are
//! built of them, and which of them a runner selects.

use std::collections::BTreeMap;

use serde_json::Value;
use toml_edit::{DocumentMut, Item};

use crate::package_files::values_in;

/// How a setting can keep tests from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestSettingKind {
    /// It selects tests: any difference can.
    Selects,
    /// It runs tests: another one in its place can, or none.
    Runs,
    /// It names what is tested: none in its place can.
    Names,
    /// It can't, as far as anybody knows.
    Tells,
}

/// Settings by name, such as `scripts.test`.
pub type TestSettings = BTreeMap<String, (TestSettingKind, String)>;

/// Options of pytest that select tests.
const PYTEST_SELECTS: [&str; 9] = [
    "addopts",
    "collect_ignore",
    "collect_ignore_glob",
    "confcutdir",
    "norecursedirs",
    "python_classes",
    "python_files",
    "python_functions",
    "testpaths",
];
/// Parts of the names of scripts that run tests and other checks.
const OF_CHECKS: [&str; 11] = [
    "test", "spec", "check", "verify", "e2e", "unit", "lint", "ci", "jest", "mocha", "cover",
];
/// Objects of `package.json` that configure a runner.
const RUNNERS: [&str; 6] = ["jest", "mocha", "ava", "vitest", "tap", "nyc"];
/// Beginnings of the names of files that configure nothing but a runner of tests.
const OF_RUNNERS: [&str; 13] = [
    "jest.config.",
    "vitest.config.",
    "vitest.workspace.",
    ".mocharc",
    "ava.config.",
    "karma.conf.",
    "playwright.config.",
    "cypress.config.",
    "phpunit.xml",
    "nextest.toml",
    "noxfile.py",
    ".rspec",
    "web-test-runner.config.",
];
const INI: [&str; 4] = ["setup.cfg", "tox.ini", "pytest.ini", ".pytest.ini"];

/// True if a file at `path` configures nothing but the runner of tests.
pub fn is_of_runner(path: &str) -> bool {
    let name = file_name(path);
    INI[1..].contains(&&*name) || OF_RUNNERS.iter().any(|start| name.starts_with(start))
}

/// True if a file at `path` can have settings of tests.
pub fn has_test_settings(path: &str) -> bool {
    let name = file_name(path);
    let is_manifest = ["package.json", "cargo.toml", "pyproject.toml", INI[0]].contains(&&*name);
    is_manifest || is_of_runner(path)
}

/// The settings of tests in the file at `path`; `None` if the text isn't such a file.
pub fn test_settings(path: &str, text: &str) -> Option<TestSettings> {
    let name = file_name(path);
    match &*name {
        "package.json" => npm(text),
        "cargo.toml" => cargo(text),
        "pyproject.toml" => python(text),
        name if INI.contains(&name) => Some(ini(name, text)),
        _ if is_of_runner(path) => Some(whole(text)),
        _ => Some(TestSettings::new()),
    }
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_lowercase()
}

/// A file that is read as one setting.
fn whole(text: &str) -> TestSettings {
    let value = (TestSettingKind::Selects, text.to_owned());
    TestSettings::from([("the configuration".to_owned(), value)])
}

fn npm(text: &str) -> Option<TestSettings> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut found = TestSettings::new();
    let scripts = value.get("scripts").and_then(Value::as_object);
    for (name, script) in scripts.into_iter().flatten() {
        let lower = name.to_lowercase();
        let kind = match OF_CHECKS.iter().any(|part| lower.contains(part)) {
            true => TestSettingKind::Runs,
            false => TestSettingKind::Tells,
        };
        found.insert(format!("scripts.{name}"), (kind, script.to_string()));
    }
    for name in RUNNERS {
        if let Some(runner) = value.get(name) {
            found.insert(
                name.to_owned(),
                (TestSettingKind::Selects, runner.to_string()),
            );
        }
    }
    Some(found)
}

fn cargo(text: &str) -> Option<TestSettings> {
    let document: DocumentMut = text.parse().ok()?;
    let mut found = TestSettings::new();
    let mut put = |name: String, kind, value: &Item| {
        found.insert(name, (kind, values_in(value).join(" ")));
    };
    let at = |table: &str, key: &str| document.get(table)?.get(key);
    if let Some(value) = at("package", "autotests") {
        put("package.autotests".into(), TestSettingKind::Selects, value);
    }
    let switches = ["test", "doctest", "harness", "required-features"];
    for key in switches {
        if let Some(value) = at("lib", key) {
            put(format!("lib.{key}"), TestSettingKind::Selects, value);
        }
    }
    for kind in ["test", "bin", "example", "bench"] {
        let targets = document.get(kind).and_then(Item::as_array_of_tables);
        for target in targets.into_iter().flatten() {
            let name = target
                .get("name")
                .and_then(Item::as_str)
                .unwrap_or_default();
            let key = format!("{kind}.{name}");
            if kind == "test"
                && let Some(path) = target.get("path").or(target.get("name"))
            {
                put(key.clone(), TestSettingKind::Runs, path);
            }
            for switch in switches {
                if let Some(value) = target.get(switch) {
                    put(format!("{key}.{switch}"), TestSettingKind::Selects, value);
                }
            }
        }
    }
    let lists = [
        ("members", TestSettingKind::Names),
        ("exclude", TestSettingKind::Selects),
        ("default-members", TestSettingKind::Selects),
    ];
    for (key, kind) in lists {
        let list = at("workspace", key).and_then(Item::as_array);
        for name in list
            .into_iter()
            .flatten()
            .filter_map(toml_edit::Value::as_str)
        {
            found.insert(format!("workspace.{key} {name}"), (kind, String::new()));
        }
    }
    Some(found)
}

fn python(text: &str) -> Option<TestSettings> {
    let document: DocumentMut = text.parse().ok()?;
    let mut found = TestSettings::new();
    let tools = [
        ("pytest", TestSettingKind::Selects),
        ("tox", TestSettingKind::Runs),
        ("nox", TestSettingKind::Runs),
        ("poe", TestSettingKind::Runs),
        ("taskipy", TestSettingKind::Runs),
        ("hatch", TestSettingKind::Runs),
    ];
    for (tool, kind) in tools {
        if let Some(item) = document.get("tool").and_then(|tools| tools.get(tool)) {
            flatten(&format!("tool.{tool}"), item, kind, &mut found);
        }
    }
    Some(found)
}

/// Adds the values below `item`, each by its path.
fn flatten(at: &str, item: &Item, kind: TestSettingKind, found: &mut TestSettings) {
    match item.as_table_like() {
        Some(table) => {
            for (key, item) in table.iter() {
                flatten(&format!("{at}.{key}"), item, kind, found);
            }
        }
        None => {
            let key = at.rsplit('.').next().unwrap_or(at);
            let value = values_in(item).join(" ");
            found.insert(at.to_owned(), (kind_of(kind, key), value));
        }
    }
}

/// The kind of an option of pytest, where `kind` is that of a runner that selects.
fn kind_of(kind: TestSettingKind, key: &str) -> TestSettingKind {
    match kind {
        TestSettingKind::Selects if !PYTEST_SELECTS.contains(&key) => TestSettingKind::Tells,
        kind => kind,
    }
}

fn ini(name: &str, text: &str) -> TestSettings {
    let mut found = TestSettings::new();
    let (mut section, mut last) = (String::new(), None::<String>);
    if name.ends_with("pytest.ini") {
        // The file alone makes pytest overlook all other settings.
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
                    true => kind_of(TestSettingKind::Selects, key.trim()),
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

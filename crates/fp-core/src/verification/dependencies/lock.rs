//! The names that lock files hold: enough to see that there are new ones.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::{Ecosystem, Names, Read};

use Ecosystem::{Cargo, DotNet, Go, Jvm, Npm, Php, Python, Ruby, Swift};

/// Every kind of lock file, by the name that its package manager gives it.
const LOCKS: [(&str, Ecosystem, Read); 17] = [
    ("Cargo.lock", Cargo, toml_packages),
    ("poetry.lock", Python, toml_packages),
    ("uv.lock", Python, toml_packages),
    ("pdm.lock", Python, toml_packages),
    ("Pipfile.lock", Python, |text| json_keys(text, &["default", "develop"])),
    ("package-lock.json", Npm, |text| json_keys(text, &["packages", "dependencies"])),
    ("npm-shrinkwrap.json", Npm, |text| json_keys(text, &["packages", "dependencies"])),
    ("yarn.lock", Npm, |text| Some(found(text, &YARN))),
    ("pnpm-lock.yaml", Npm, |text| Some(found(text, &PNPM))),
    ("bun.lock", Npm, |text| Some(found(text, &BUN))),
    ("go.sum", Go, |text| Some(found(text, &GO_SUM))),
    ("Gemfile.lock", Ruby, |text| Some(found(text, &GEMFILE))),
    ("composer.lock", Php, |text| Some(found(text, &NAME))),
    ("packages.lock.json", DotNet, |text| Some(found(text, &NUGET))),
    ("gradle.lockfile", Jvm, |text| Some(found(text, &GRADLE))),
    ("buildscript-gradle.lockfile", Jvm, |text| Some(found(text, &GRADLE))),
    ("Package.resolved", Swift, |text| Some(found(text, &IDENTITY))),
];

/// The names of lock files.
pub fn lock_names() -> impl Iterator<Item = &'static str> {
    LOCKS.iter().map(|(name, ..)| *name)
}

/// The kind of lock file that a path is, in whatever case.
pub(super) fn of(path: &str) -> Option<(Ecosystem, Read)> {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    LOCKS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)).map(|(_, kind, read)| (*kind, *read))
}

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($pattern).expect("the pattern is a constant"));
    };
}

pattern!(TOML_PACKAGE, r#"(?m)^\[\[package\]\]\s*\r?\nname\s*=\s*"([^"]+)""#);
pattern!(YARN, r##"(?m)^"?(@?[^@\s"#][^@\s"]*)@[^\n]*:\s*$"##);
pattern!(PNPM, r"(?m)^  '?/?(@?[^@\s':/(]+(?:/[^@\s':/(]+)?)[@/]\d[^\n]*:\s*$");
pattern!(BUN, r#"(?m)^\s+"([^"]+)":\s*\["#);
pattern!(GO_SUM, r"(?m)^(\S+) v");
pattern!(GEMFILE, r"(?m)^    ([\w.-]+) \(");
pattern!(NAME, r#"(?m)^\s*"name":\s*"([^"/]+/[^"]+)""#);
pattern!(NUGET, r#"(?m)^\s+"([\w.-]+)":\s*\{\s*\r?\n\s*"type""#);
pattern!(GRADLE, r"(?m)^([\w.-]+:[\w.-]+):");
pattern!(IDENTITY, r#""identity"\s*:\s*"([^"]+)""#);

fn found(text: &str, pattern: &Regex) -> Names {
    pattern.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

fn toml_packages(text: &str) -> Option<Names> {
    Some(found(text, &TOML_PACKAGE))
}

/// The keys of these objects; of a path such as `node_modules/a/node_modules/b`, the last name.
fn json_keys(text: &str, objects: &[&str]) -> Option<Names> {
    let value: Value = serde_json::from_str(text).ok()?;
    let keys = objects.iter().filter_map(|key| value.get(key)?.as_object()).flat_map(|object| object.keys());
    let name =
        |key: &String| key.rsplit_once("node_modules/").map_or(key.as_str(), |(_, name)| name).to_owned();
    Some(keys.map(name).filter(|name| !name.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lock_file() {
        let check = |path: &str, text: &str, expect: &[&str]| {
            let (_, read) = of(path).unwrap_or_else(|| panic!("{path} is a lock file"));
            let names: Vec<String> =
                read(text).unwrap_or_else(|| panic!("{path}: {text}")).into_iter().collect();
            assert_eq!(names, expect, "{path}: {text}");
        };
        let toml = "version = 3\n\n[[package]]\nname = \"a\"\nversion = \"1\"\ndependencies = [\"b\"]\n\n[[package]]\nname = \"b\"\n";
        check("cargo.lock", toml, &["a", "b"]);
        check("uv.lock", toml, &["a", "b"]);
        check("pipfile.lock", r#"{"default": {"a": {}}, "develop": {"b": {}}}"#, &["a", "b"]);
        check(
            "package-lock.json",
            r#"{"name": "x", "packages": {"": {}, "node_modules/a": {}, "node_modules/a/node_modules/@s/b": {}}}"#,
            &["@s/b", "a"],
        );
        check(
            "yarn.lock",
            "# yarn\n\na@^1, a@^2:\n  version \"1\"\n\"@s/b@npm:^1\":\n  version: 1\n",
            &["@s/b", "a"],
        );
        check(
            "pnpm-lock.yaml",
            "packages:\n\n  /a@1.0.0:\n    x: 1\n  '@s/b@2.0.0(c@1)':\n    y: 1\n",
            &["@s/b", "a"],
        );
        check("bun.lock", "{\n  \"packages\": {\n    \"a\": [\"a@1\"],\n  }\n}", &["a"]);
        check("go.sum", "a.b/c v1.0.0 h1:x\na.b/c v1.0.0/go.mod h1:y\n", &["a.b/c"]);
        check("gemfile.lock", "GEM\n  specs:\n    a (1.0)\n      b (>= 1)\n    b (2)\n", &["a", "b"]);
        check("composer.lock", "{\n \"packages\": [\n {\n \"name\": \"v/a\",\n", &["v/a"]);
        check("packages.lock.json", "{\n  \"A.B\": {\n    \"type\": \"Direct\",\n", &["A.B"]);
        check("gradle.lockfile", "g:a:1.0=compileClasspath\n", &["g:a"]);
        check("package.resolved", "{\"identity\" : \"a\"}", &["a"]);
    }
}

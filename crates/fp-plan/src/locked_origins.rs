//! Reads from lock files where each package comes from and what its content must be, to notice a package that keeps its
//! version but comes from somewhere else.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::package_files::{toml_value, values_in};

/// Addresses and checksums by package, such as `serde 1.0.0`.
pub type LockedOrigins = BTreeMap<String, BTreeSet<String>>;

/// The TOML and JSON fields that hold addresses and checksums.
const FIELDS: &str = "archive checksum contentHash dist files git hashes index integrity location ref resolved sdist \
    source state url wheels";

/// The origins in the text of the lock file `name`, which is in lower case; `None` if the text can't be parsed as such
/// a file. Empty for a kind of file that doesn't record origins.
pub fn locked_origins(name: &str, text: &str) -> Option<LockedOrigins> {
    let mut found = LockedOrigins::new();
    match name {
        "cargo.lock" | "poetry.lock" | "uv.lock" | "pdm.lock" => {
            add_versions("", &toml_value(text)?, &mut found);
        }
        "package-lock.json"
        | "npm-shrinkwrap.json"
        | "composer.lock"
        | "pipfile.lock"
        | "packages.lock.json"
        | "package.resolved" => {
            add_versions("", &serde_json::from_str(text).ok()?, &mut found);
        }
        "yarn.lock" => add_blocks(text, 0, &mut found),
        "pnpm-lock.yaml" => add_blocks(text, 2, &mut found),
        "bun.lock" => add_bun(text, &mut found),
        "go.sum" => add_sums(text, &mut found),
        "gemfile.lock" => add_gems(text, &mut found),
        "gradle.lockfile" | "buildscript-gradle.lockfile" => add_artifacts(text, &mut found),
        _ => {}
    }
    Some(found)
}

/// The package name in a key of [`LockedOrigins`].
pub fn package_name(package: &str) -> &str {
    package.rsplit_once(' ').map_or(package, |(name, _)| name)
}

/// The host of an address.
pub fn host_of(origin: &str) -> Option<&str> {
    let (_, rest) = origin.split_once("://")?;
    let host = rest.split(['/', '"', '\'', '?', '#', ' ']).next()?;
    Some(host.rsplit_once('@').map_or(host, |(_, host)| host))
}

/// Adds the packages in `value`, which was found at `key`. Everything that has a version counts as a package.
fn add_versions(key: &str, value: &Value, found: &mut LockedOrigins) {
    if let Value::Array(items) = value {
        items.iter().for_each(|item| add_versions(key, item, found));
    }
    let Some(object) = value.as_object() else {
        return;
    };
    let word = |key: &str| object.get(key).and_then(Value::as_str);
    let state = |key: &str| object.get("state")?.get(key)?.as_str();
    let version = word("version").or(state("version")).or(state("revision"));
    let version = version.or(word("resolved")).or(word("ref"));
    // Entries of the `package` list in TOML count even without a version.
    if let Some(version) = version.or((key == "package").then_some("")) {
        let key = key.rsplit("node_modules/").next().unwrap_or(key);
        let name = word("name").or(word("identity")).unwrap_or(key);
        let origins = FIELDS.split(' ').filter_map(|field| object.get(field));
        let known = found.entry(format!("{name} {version}")).or_default();
        known.extend(origins.flat_map(values_in));
    }
    let others = object
        .iter()
        .filter(|(key, _)| !FIELDS.split(' ').any(|field| field == *key));
    others.for_each(|(key, value)| add_versions(key, value, found));
}

/// Adds the packages of a file whose blocks begin with a line at this `indent`: `name@version:`, or `name@range,
/// name@range:` with the version inside the block.
fn add_blocks(text: &str, indent: usize, found: &mut LockedOrigins) {
    let (mut head, mut version, mut origins) = (String::new(), None, BTreeSet::new());
    for line in text.lines().chain([" end:"]) {
        let code = line.trim();
        let depth = line.len() - line.trim_start().len();
        if depth <= indent.max(1) && code.ends_with(':') && !code.starts_with('#') {
            let name = head.trim_matches(['"', '\'', '/']);
            let at = name.get(1..).and_then(|rest| rest.find('@'));
            if let Some((name, range)) = at.map(|at| (&name[..=at], &name[at + 2..])) {
                let version = version.take().unwrap_or_else(|| range.to_owned());
                let known = found.entry(format!("{name} {version}")).or_default();
                known.append(&mut origins);
            }
            head = code.trim_end_matches(':').to_owned();
            (version, origins) = (None, BTreeSet::new());
        } else if let Some((key, value)) = code.split_once([' ', ':']) {
            let value = value.trim_start_matches([':', ' ']).trim_matches('"');
            match key {
                "version" => version = Some(value.to_owned()),
                "resolved" | "resolution" | "integrity" | "checksum" => {
                    origins.insert(value.to_owned());
                }
                _ => {}
            }
        }
    }
}

/// Adds the packages on lines such as `"a": ["a@1.0.0", "registry or address", {…}, "sha512-…"],`.
fn add_bun(text: &str, found: &mut LockedOrigins) {
    for line in text.lines() {
        let Some((_, package)) = line.split_once(": [\"") else {
            continue;
        };
        let mut words = package.split('"').step_by(2);
        let Some((name, version)) = words
            .next()
            .and_then(|word| Some(word.split_at(word.rfind('@').filter(|at| *at > 0)?)))
        else {
            continue;
        };
        let origins = words.filter(|word| word.contains("://") || word.starts_with("sha"));
        let known = found
            .entry(format!("{name} {}", &version[1..]))
            .or_default();
        known.extend(origins.map(str::to_owned));
    }
}

/// Adds the packages on lines such as `module v1.0.0 h1:…=`.
fn add_sums(text: &str, found: &mut LockedOrigins) {
    for line in text.lines() {
        if let Some((package, sum)) = line.rsplit_once(' ') {
            let known = found.entry(package.to_owned()).or_default();
            known.insert(sum.to_owned());
        }
    }
}

/// Sections with `remote:`, `revision:` and `    name (version)`, and one of checksums.
fn add_gems(text: &str, found: &mut LockedOrigins) {
    let mut remotes = BTreeSet::new();
    for line in text.lines() {
        let code = line.trim();
        if !line.starts_with(' ') {
            remotes.clear();
        } else if let Some((_, remote)) = code
            .split_once("remote: ")
            .or_else(|| code.split_once("revision: "))
        {
            remotes.insert(remote.to_owned());
        } else if let Some((name, rest)) = code.split_once(" (")
            && let Some((version, sum)) = rest.split_once(')')
            && line.len() - line.trim_start().len() <= 4
        {
            let known = found.entry(format!("{name} {version}")).or_default();
            known.extend(remotes.iter().cloned());
            known.extend((!sum.is_empty()).then(|| sum.trim().to_owned()));
        }
    }
}

/// Adds the packages on lines such as `group:name:1.0.0=…`, which state no origin.
fn add_artifacts(text: &str, found: &mut LockedOrigins) {
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let [group, name, version] = line.splitn(3, ':').collect::<Vec<_>>()[..] {
            let version = version.split('=').next().unwrap_or(version);
            found
                .entry(format!("{group}:{name} {version}"))
                .or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lock_file_that_has_origins() {
        let check = |name: &str, text: &str, package: &str, expect: &[&str]| {
            let found = locked_origins(name, text).unwrap_or_else(|| panic!("{name}"));
            let origins: Option<Vec<&str>> = found
                .get(package)
                .map(|origins| origins.iter().map(String::as_str).collect());
            assert_eq!(origins.as_deref(), Some(expect), "{name}: {found:?}");
        };
        check(
            "cargo.lock",
            "version = 4\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+https://r\"\nchecksum = \"c\"\ndependencies = [\"b\"]\n",
            "a 1.0.0",
            &["c", "registry+https://r"],
        );
        check(
            "uv.lock",
            "[[package]]\nname = \"a\"\nversion = \"1\"\nsource = { registry = \"https://r\" }\nwheels = [\n    { url = \"https://f/a.whl\", hash = \"sha256:1\" },\n    { url = \"https://f/b.whl\" },\n]\n",
            "a 1",
            &[
                "https://f/a.whl",
                "https://f/b.whl",
                "https://r",
                "sha256:1",
            ],
        );
        check(
            "poetry.lock",
            "[[package]]\nname = \"a\"\nversion = \"1\"\nfiles = [\n    {file = \"a.whl\", hash = \"sha256:1\"},\n]\n\n[package.source]\nurl = \"https://r\"\n",
            "a 1",
            &["a.whl", "https://r", "sha256:1"],
        );
        check(
            "package-lock.json",
            r#"{"packages": {"": {"name": "x", "version": "1"}, "node_modules/@s/a": {"version": "1.0.0", "resolved": "https://r/a.tgz", "integrity": "sha512-a", "license": "MIT"}}}"#,
            "@s/a 1.0.0",
            &["https://r/a.tgz", "sha512-a"],
        );
        check(
            "npm-shrinkwrap.json",
            r#"{"dependencies": {"a": {"version": "1.0.0", "dependencies": {"b": {"version": "2.0.0", "resolved": "https://r/b.tgz"}}}}}"#,
            "b 2.0.0",
            &["https://r/b.tgz"],
        );
        check(
            "composer.lock",
            r#"{"packages": [{"name": "a/b", "version": "1", "dist": {"url": "https://r", "shasum": "s"}, "homepage": "https://h"}]}"#,
            "a/b 1",
            &["https://r", "s"],
        );
        check(
            "pipfile.lock",
            r#"{"default": {"a": {"hashes": ["sha256:1"], "index": "pypi", "version": "==1"}}}"#,
            "a ==1",
            &["pypi", "sha256:1"],
        );
        check(
            "packages.lock.json",
            r#"{"dependencies": {"net8.0": {"A": {"type": "Direct", "resolved": "1.0.0", "contentHash": "h"}}}}"#,
            "A 1.0.0",
            &["1.0.0", "h"],
        );
        check(
            "package.resolved",
            r#"{"pins": [{"identity": "a", "location": "https://l", "state": {"revision": "r", "version": "1"}}]}"#,
            "a 1",
            &["1", "https://l", "r"],
        );
        check(
            "yarn.lock",
            "# yarn lockfile v1\n\n\n\"@s/a@1.0.0\", \"@s/a@^1\":\n  version \"1.0.0\"\n  resolved \"https://r/a.tgz#1\"\n  integrity sha512-a\n  dependencies:\n    b \"^1\"\n\nb@^1:\n  version \"1.2.0\"\n",
            "@s/a 1.0.0",
            &["https://r/a.tgz#1", "sha512-a"],
        );
        check(
            "yarn.lock",
            "__metadata:\n  version: 8\n\n\"a@npm:^1\":\n  version: 1.0.0\n  resolution: \"a@npm:1.0.0\"\n  checksum: 10c0/x\n",
            "a 1.0.0",
            &["10c0/x", "a@npm:1.0.0"],
        );
        check(
            "pnpm-lock.yaml",
            "lockfileVersion: '9.0'\npackages:\n\n  '@s/a@1.0.0':\n    resolution: {integrity: sha512-a, tarball: https://r/a}\n    engines: {node: '>=6'}\n\nsnapshots:\n\n  '@s/a@1.0.0': {}\n",
            "@s/a 1.0.0",
            &["{integrity: sha512-a, tarball: https://r/a}"],
        );
        check(
            "bun.lock",
            "{\n  \"packages\": {\n    \"a\": [\"@s/a@1.0.0\", \"https://r\", { \"dependencies\": {} }, \"sha512-a\"],\n  }\n}",
            "@s/a 1.0.0",
            &["https://r", "sha512-a"],
        );
        check(
            "go.sum",
            "a.b/c v1.0.0 h1:x=\na.b/c v1.0.0/go.mod h1:y=\n",
            "a.b/c v1.0.0",
            &["h1:x="],
        );
        check(
            "gemfile.lock",
            "GEM\n  remote: https://r/\n  specs:\n    a (1.0)\n      b (~> 1)\n\nCHECKSUMS\n  a (1.0) sha256=x\n",
            "a 1.0",
            &["https://r/", "sha256=x"],
        );
        check("gradle.lockfile", "a:b:1=x", "a:b 1", &[]);
        assert_eq!(locked_origins("package-lock.json", "{"), None);
    }

    #[test]
    fn hosts() {
        let check = |origin: &str, expect: Option<&str>| assert_eq!(host_of(origin), expect);
        check(
            "registry+https://github.com/rust-lang/x",
            Some("github.com"),
        );
        check("{ url = \"https://u:p@h:80/a.whl\" }", Some("h:80"));
        check("sha512-a", None);
    }
}

//! Recognises manifests and lock files of package managers, and reads the package names in them, to notice new
//! dependencies. Packages inside the repository itself (path, file, workspace) don't count.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::Value;
use toml_edit::{DocumentMut, Item};

use crate::language::Language;
use crate::locked_origins::{locked_origins, package_name};
use crate::repo_path::RepoPath;

use Language::{CSharp, Go, JavaScript, Jvm, Php, Python, Ruby, Rust, Swift};
use PackageReader::{Locked, Parsed, Patterns};

pub type PackageNames = BTreeSet<String>;

/// A way to find the names of packages in a file.
#[derive(Debug, Clone, Copy)]
pub enum PackageReader {
    /// The text that the patterns' capture groups match; if a pattern has two groups, both, joined as `group:name`.
    Patterns(&'static [&'static str]),
    Parsed(fn(&str) -> Option<PackageNames>),
    /// The packages of the lock file with this name.
    Locked(&'static str),
}

impl PackageReader {
    /// The package names in `text`; `None` if `text` isn't a file of the expected kind.
    pub fn names_in(self, text: &str) -> Option<PackageNames> {
        match self {
            Patterns(patterns) => Some(found_by(text, patterns)),
            Parsed(read) => read(text),
            Locked(name) => {
                let packages = locked_origins(&name.to_lowercase(), text)?.into_keys();
                Some(
                    packages
                        .map(|package| package_name(&package).to_owned())
                        .collect(),
                )
            }
        }
    }
}

/// Every kind of lock file, by file name.
const LOCKS: [(&str, Language); 17] = [
    ("Cargo.lock", Rust),
    ("poetry.lock", Python),
    ("uv.lock", Python),
    ("pdm.lock", Python),
    ("Pipfile.lock", Python),
    ("package-lock.json", JavaScript),
    ("npm-shrinkwrap.json", JavaScript),
    ("yarn.lock", JavaScript),
    ("pnpm-lock.yaml", JavaScript),
    ("bun.lock", JavaScript),
    ("go.sum", Go),
    ("Gemfile.lock", Ruby),
    ("composer.lock", Php),
    ("packages.lock.json", CSharp),
    ("gradle.lockfile", Jvm),
    ("buildscript-gradle.lockfile", Jvm),
    ("Package.resolved", Swift),
];

pub fn lock_names() -> impl Iterator<Item = &'static str> {
    LOCKS.iter().map(|(name, _)| *name)
}

/// True if a file is a manifest or a lock file.
pub fn is_package_file(path: &RepoPath) -> bool {
    let path = path.to_lossy().to_lowercase();
    manifest_kind(&path).is_some() || lock_kind(&path).is_some()
}

pub fn is_lock(path: &RepoPath) -> bool {
    lock_kind(&path.to_lossy()).is_some()
}

/// True if `path` is a manifest, the file in which people declare dependencies.
pub fn is_manifest(path: &str) -> bool {
    manifest_kind(&path.to_lowercase()).is_some()
}

/// True if `path` is a lock file for the manifest `listed`, in the manifest's folder or above it.
pub fn is_lock_of(path: &str, listed: &str) -> bool {
    let (path, listed) = (&path.to_lowercase(), &listed.to_lowercase());
    let (Some((lock, _)), Some((manifest, _))) = (lock_kind(path), manifest_kind(listed)) else {
        return false;
    };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let below = listed
        .strip_prefix(folder)
        .is_some_and(|rest| folder.is_empty() || rest.starts_with('/'));
    lock == manifest && below
}

/// The kind of lock file at `path`, ignoring case.
pub fn lock_kind(path: &str) -> Option<(Language, PackageReader)> {
    let name = path.rsplit('/').next()?;
    let mut known = LOCKS.iter();
    let (name, kind) = known.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    Some((*kind, Locked(name)))
}

/// The kind of manifest at `path`, which must be in lower case.
pub fn manifest_kind(path: &str) -> Option<(Language, PackageReader)> {
    const RUBY: PackageReader = Patterns(&[
        r#"(?m)^\s*gem[\s(]+["']([^"']+)["']"#,
        r#"\.add_(?:runtime_|development_)?dependency[\s(]+["']([^"']+)["']"#,
    ]);
    const SWIFT: PackageReader = Patterns(&[r#"\.package\s*\([^)]*?(?:url|id)\s*:\s*"([^"]+)""#]);
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_folder = |wanted: &str| folder == wanted || folder.ends_with(&format!("/{wanted}"));
    Some(match name {
        "cargo.toml" => (Rust, Parsed(cargo_names)),
        "package.json" => (JavaScript, Parsed(npm_names)),
        "pyproject.toml" | "pipfile" => (Python, Parsed(python_names)),
        "go.mod" => (Go, Parsed(go_names)),
        "gemfile" => (Ruby, RUBY),
        "pom.xml" => (Jvm, Parsed(maven_names)),
        "libs.versions.toml" => (Jvm, Parsed(catalog_names)),
        "composer.json" => (Php, Parsed(composer_names)),
        "packages.config" | "directory.packages.props" => (CSharp, Parsed(nuget_names)),
        "package.swift" => (Swift, SWIFT),
        _ if name.starts_with("requirements") && name.ends_with(".txt")
            || name.ends_with(".txt") && in_folder("requirements") =>
        {
            (Python, Parsed(requirement_names))
        }
        _ if name.ends_with(".gemspec") => (Ruby, RUBY),
        _ if name.ends_with(".gradle") || name.ends_with(".gradle.kts") => {
            (Jvm, Parsed(gradle_names))
        }
        _ if name.ends_with(".csproj") || name.ends_with(".fsproj") => {
            (CSharp, Parsed(nuget_names))
        }
        _ => return None,
    })
}

fn constant_regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant")
}

fn found_by(text: &str, patterns: &[&str]) -> PackageNames {
    let mut names = PackageNames::new();
    for pattern in patterns {
        for found in constant_regex(pattern).captures_iter(text) {
            let groups = found.iter().skip(1).flatten();
            let groups: Vec<&str> = groups.map(|group| group.as_str()).collect();
            names.insert(groups.join(":"));
        }
    }
    names
}

/// Parses TOML into JSON; times become strings.
pub(crate) fn toml_value(text: &str) -> Option<Value> {
    fn json_of(item: &Item) -> Value {
        if let Some(table) = item.as_table_like() {
            let entries = table.iter();
            return entries.map(|(key, item)| (key, json_of(item))).collect();
        }
        if let Some(tables) = item.as_array_of_tables() {
            let tables = tables.iter().cloned();
            return tables.map(|table| json_of(&Item::Table(table))).collect();
        }
        match item.as_value() {
            Some(toml_edit::Value::Array(items)) => {
                let items = items.iter().cloned();
                items.map(|item| json_of(&Item::Value(item))).collect()
            }
            Some(toml_edit::Value::String(text)) => text.value().as_str().into(),
            Some(toml_edit::Value::Integer(number)) => (*number.value()).into(),
            Some(toml_edit::Value::Float(number)) => (*number.value()).into(),
            Some(toml_edit::Value::Boolean(truth)) => (*truth.value()).into(),
            Some(toml_edit::Value::Datetime(time)) => time.value().to_string().into(),
            Some(toml_edit::Value::InlineTable(_)) | None => Value::Null,
        }
    }
    let document: DocumentMut = text.parse().ok()?;
    Some(json_of(document.as_item()))
}

/// The values at `path`, such as `target.*.dependencies`, where `*` stands for every key.
fn values_at<'v>(value: &'v Value, path: &str) -> Vec<&'v Value> {
    path.split('.').fold(vec![value], |values, part| {
        let objects = values.into_iter().filter_map(Value::as_object);
        let entries = objects
            .flatten()
            .filter(|(key, _)| part == "*" || *key == part);
        entries.map(|(_, value)| value).collect()
    })
}

/// The entries of the objects at `paths`.
fn entries_at<'v>(value: &'v Value, paths: &[&str]) -> Vec<(&'v str, &'v Value)> {
    let values = paths.iter().flat_map(|path| values_at(value, path));
    let entries = values.filter_map(Value::as_object).flatten();
    entries.map(|(key, value)| (key.as_str(), value)).collect()
}

/// Every string, number and boolean in `value`, without keys.
pub(crate) fn values_in(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text.clone()],
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
        Value::Array(items) => items.iter().flat_map(values_in).collect(),
        Value::Object(fields) => fields.values().flat_map(values_in).collect(),
    }
}

fn cargo_names(text: &str) -> Option<PackageNames> {
    const KINDS: [&str; 5] = [
        "dependencies",
        "dev-dependencies",
        "build-dependencies",
        "dev_dependencies",
        "build_dependencies",
    ];
    let value = toml_value(text)?;
    let paths = KINDS.map(|kind| {
        [
            kind.to_owned(),
            format!("workspace.{kind}"),
            format!("target.*.{kind}"),
        ]
    });
    let entries = paths
        .iter()
        .flatten()
        .flat_map(|path| entries_at(&value, &[path]));
    let foreign =
        entries.filter(|(_, item)| item.get("path").is_none() || item.get("git").is_some());
    // A renamed package counts under its real name.
    let names =
        foreign.map(|(name, item)| item.get("package").and_then(Value::as_str).unwrap_or(name));
    Some(names.map(|name| name.replace('_', "-")).collect())
}

fn catalog_names(text: &str) -> Option<PackageNames> {
    let value = toml_value(text)?;
    let entries = entries_at(&value, &["libraries", "plugins"]).into_iter();
    Some(entries.map(|(name, _)| name.to_owned()).collect())
}

/// The name at the start of a requirement, normalised the way package indexes compare names.
fn requirement_name(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name = text.trim_start().split(|c| !is_part(c)).next()?;
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    begins.then(|| name.to_lowercase().replace(['_', '.'], "-"))
}

fn requirement_names(text: &str) -> Option<PackageNames> {
    Some(text.lines().filter_map(requirement_line).collect())
}

/// The package on a line of a requirements file: its name, or the address it comes from.
fn requirement_line(line: &str) -> Option<String> {
    let line = line.split(" #").next().unwrap_or_default().trim();
    let line = line
        .strip_prefix("-e ")
        .or(line.strip_prefix("--editable "))
        .unwrap_or(line)
        .trim();
    match line.split_once("://") {
        Some((scheme, _)) if !scheme.starts_with(['-', '#']) && !scheme.contains('@') => {
            Some(line.to_owned())
        }
        _ => requirement_name(line),
    }
}

/// The packages of `pyproject.toml` and `Pipfile`.
fn python_names(text: &str) -> Option<PackageNames> {
    const LISTS: [&str; 6] = [
        "project.dependencies",
        "project.optional-dependencies.*",
        "build-system.requires",
        "dependency-groups.*",
        "tool.uv.dev-dependencies",
        "tool.pdm.dev-dependencies.*",
    ];
    const TABLES: [&str; 5] = [
        "packages",
        "dev-packages",
        "tool.poetry.dependencies",
        "tool.poetry.dev-dependencies",
        "tool.poetry.group.*.dependencies",
    ];
    let value = toml_value(text)?;
    let lists = LISTS.iter().flat_map(|path| values_at(&value, path));
    let listed = lists
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(Value::as_str);
    let entries = entries_at(&value, &TABLES).into_iter();
    let foreign = entries.filter(|(name, item)| *name != "python" && item.get("path").is_none());
    let named = foreign.map(|(name, _)| name);
    Some(listed.chain(named).filter_map(requirement_name).collect())
}

fn npm_names(text: &str) -> Option<PackageNames> {
    const TABLES: [&str; 4] = [
        "dependencies",
        "devDependencies",
        "peerDependencies",
        "optionalDependencies",
    ];
    const LOCAL: [&str; 4] = ["file:", "link:", "workspace:", "portal:"];
    let value: Value = serde_json::from_str(text).ok()?;
    let mut names = PackageNames::new();
    for (name, version) in entries_at(&value, &TABLES) {
        let version = version.as_str().unwrap_or_default();
        if LOCAL.iter().any(|local| version.starts_with(local)) {
            continue;
        }
        // An aliased package counts under its real name.
        let name = version.strip_prefix("npm:").map_or(name, |real| {
            let version = real.rfind('@').filter(|at| *at > 0);
            &real[..version.unwrap_or(real.len())]
        });
        names.insert(name.to_owned());
    }
    Some(names)
}

fn composer_names(text: &str) -> Option<PackageNames> {
    let value = serde_json::from_str(text).ok()?;
    let entries = entries_at(&value, &["require", "require-dev"]).into_iter();
    let names = entries.map(|(name, _)| name.to_lowercase());
    Some(names.filter(|name| name != "php").collect())
}

fn go_names(text: &str) -> Option<PackageNames> {
    let mut directives = String::new();
    let mut block = "";
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        match line.strip_suffix('(') {
            Some(name) => block = name.trim(),
            None if line == ")" => block = "",
            None => directives += &format!("{block} {line}\n"),
        }
    }
    let names = found_by(
        &directives,
        &[
            r"(?m)^ ?require[ \t]+([\w.~-]+(?:/[\w.~+-]+)*)[ \t]+v\d",
            r"(?m)^ ?replace[ \t].*=>[ \t]*([\w~][\w.~-]*(?:/[\w.~+-]+)*)[ \t]+v\d",
            r"(?m)^ ?tool[ \t]+([\w.~-]+(?:/[\w.~+-]+)*)$",
        ],
    );
    Some(names)
}

fn maven_names(text: &str) -> Option<PackageNames> {
    let block = constant_regex(
        r"(?s)<(?:dependency|plugin|extension|path)>(.*?)</(?:dependency|plugin|extension|path)>",
    );
    let [group, artifact] = ["groupId", "artifactId"]
        .map(|tag| constant_regex(&format!(r"<{tag}>\s*([^<]*?)\s*</{tag}>")));
    let part =
        |pattern: &Regex, block: &str| Some(pattern.captures(block)?.get(1)?.as_str().to_owned());
    let name = |block: &str| {
        let group = part(&group, block).unwrap_or_else(|| "org.apache.maven.plugins".to_owned());
        Some(format!("{group}:{}", part(&artifact, block)?))
    };
    let text = without_comments(text);
    let blocks = block
        .captures_iter(&text)
        .filter_map(|block| name(block.get(1)?.as_str()));
    text.contains("<project").then(|| blocks.collect())
}

fn without_comments(xml: &str) -> String {
    let comment = constant_regex(r"(?s)<!--.*?-->");
    comment.replace_all(xml, "").into_owned()
}

fn gradle_names(text: &str) -> Option<PackageNames> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let names = found_by(
        &text,
        &[
            r#"(?m)^\s*\w+(?:\.\w+)*\s*[( ]\s*(?:(?:enforcedPlatform|platform|kotlin)\s*\(\s*)?["']([\w.-]+:[\w.-]+)(?::[^"'\s]*)?["']"#,
            r"(?m)^\s*\w+\s*[( ]\s*(?:(?:enforcedPlatform|platform)\s*\(\s*)?(libs\.[\w.]+)",
            r#"group\s*[:=]\s*["']([^"']+)["']\s*,\s*name\s*[:=]\s*["']([^"']+)["']"#,
            r#"(?m)^\s*id\s*[( ]\s*["']([^"']+)["']"#,
        ],
    );
    Some(names)
}

fn nuget_names(text: &str) -> Option<PackageNames> {
    let names = found_by(
        &without_comments(text),
        &[
            r#"(?i)<Package(?:Reference|Version)\b[^>]*?\b(?:Include|Update)\s*=\s*"([^"]+)""#,
            r#"(?i)<package\b[^>]*?\bid\s*=\s*"([^"]+)""#,
        ],
    );
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manifest() {
        let check = |path: &str, text: &str, expect: &[&str]| {
            let (_, read) = manifest_kind(path).unwrap_or_else(|| panic!("{path} is a manifest"));
            let names: Vec<String> = read
                .names_in(text)
                .unwrap_or_else(|| panic!("{path}: {text}"))
                .into_iter()
                .collect();
            assert_eq!(names, expect, "{path}: {text}");
        };
        check(
            "cargo.toml",
            "[dependencies]\na = '1'\nb.version = '2'\nlocal = { path = 'x' }\nc_d = { package = 'e_f', version = '1' }\n\
             [target.'cfg(unix)'.dependencies]\ng = '1'\n[workspace.dependencies.h]\nversion = '1'\n[dev-dependencies]\ni.workspace = true\n\
             [features]\nj = []\n# k = '1'",
            &["a", "b", "e-f", "g", "h", "i"],
        );
        check(
            "web/package.json",
            r#"{"dependencies": {"a": "1", "w": "workspace:*", "x": "npm:@s/y@2"}, "devDependencies": {"@s/b": "2"}, "scripts": {"c": ""}}"#,
            &["@s/b", "@s/y", "a"],
        );
        check(
            "pyproject.toml",
            "[project]\ndependencies = ['A_b>=1', 'c[x]; python_version > \"3\"']\n[project.optional-dependencies]\ndev = ['d']\n\
             [dependency-groups]\ntest = ['e', {include-group = 'x'}]\n[build-system]\nrequires = ['hatchling']\n\
             [tool.poetry.dependencies]\npython = '^3'\nf = '1'\nme = {path = '.'}\n[tool.poetry.group.dev.dependencies]\ng = '1'\n[tool.uv]\ndev-dependencies = ['h']",
            &["a-b", "c", "d", "e", "f", "g", "h", "hatchling"],
        );
        check(
            "requirements-dev.txt",
            "# x\na==1 # why\n-r other.txt\nB.c\n\n-e git+https://x/y@main\nd @ https://x/d.whl\n--index-url https://x\n",
            &["a", "b-c", "d", "git+https://x/y@main"],
        );
        check("requirements/base.txt", "a", &["a"]);
        check(
            "go.mod",
            "module m\ngo 1.22\nrequire a.b/c v1.0.0\nrequire (\n\td.e/f v1 // indirect\n\t// g.h/i v1\n)\nreplace a.b/c => j.k/l v2\nreplace x => ../x\ntool t.u/v\n",
            &["a.b/c", "d.e/f", "j.k/l", "t.u/v"],
        );
        check(
            "gemfile",
            "source 'x'\ngem 'a', '~> 1'\n  gem(\"b\")\n# gem 'c'\n",
            &["a", "b"],
        );
        check(
            "x.gemspec",
            "s.add_dependency 'a'\ns.add_development_dependency(\"b\", '1')",
            &["a", "b"],
        );
        check(
            "pom.xml",
            "<project><!-- <dependency><artifactId>no</artifactId></dependency> --><dependencies><dependency>\n<groupId>g</groupId>\n<artifactId>a</artifactId></dependency></dependencies><artifactId>self</artifactId></project>",
            &["g:a"],
        );
        check(
            "app/build.gradle.kts",
            "plugins { \n id(\"p\") version \"1\"\n}\nimplementation(\"g:a:1\")\ntestImplementation 'h:b:2'\napi(libs.x.y)\nimplementation(platform(\"i:bom:1\"))\nimplementation(project(\":core\"))\n// api 'no:no:1'\ncompile group: 'k', name: 'l', version: '1'",
            &["g:a", "h:b", "i:bom", "k:l", "libs.x.y", "p"],
        );
        check(
            "gradle/libs.versions.toml",
            "[libraries]\na = 'g:a:1'\n[versions]\nb = '1'",
            &["a"],
        );
        check(
            "composer.json",
            r#"{"require": {"php": ">=8", "V/a": "1"}, "require-dev": {"v/b": "1"}}"#,
            &["v/a", "v/b"],
        );
        check(
            "x/y.csproj",
            r#"<PackageReference Version="1" Include="A" /><!-- <PackageReference Include="B"/> --><ProjectReference Include="C"/>"#,
            &["A"],
        );
        check(
            "package.swift",
            r#".package(name: "x", url: "https://a/b", from: "1"), .package(path: "../c")"#,
            &["https://a/b"],
        );
    }

    #[test]
    fn what_is_broken_is_not_empty() {
        let check = |path: &str, text: &str| {
            assert_eq!(
                manifest_kind(path).and_then(|(_, read)| read.names_in(text)),
                None,
                "{path}"
            )
        };
        check("cargo.toml", "[dependencies\n");
        check("package.json", "{");
        check("pyproject.toml", "=");
        check("pom.xml", "nonsense");
    }

    #[test]
    fn what_is_no_manifest() {
        let check = |path: &str| assert!(manifest_kind(path).is_none(), "{path}");
        check("src/cargo.rs");
        check("my-package.json");
        check("requirements.md");
        check("pom.xml.bak");
    }

    #[test]
    fn every_lock_file() {
        let check = |path: &str, text: &str, expect: &[&str]| {
            let (_, read) = lock_kind(path).unwrap_or_else(|| panic!("{path} is a lock file"));
            let names: Vec<String> = read
                .names_in(text)
                .unwrap_or_else(|| panic!("{path}: {text}"))
                .into_iter()
                .collect();
            assert_eq!(names, expect, "{path}: {text}");
        };
        let toml = "version = 3\n\n[[package]]\nname = \"a\"\nversion = \"1\"\ndependencies = [\"b\"]\n\n[[package]]\nname = \"b\"\n";
        check("cargo.lock", toml, &["a", "b"]);
        check("uv.lock", toml, &["a", "b"]);
        check(
            "pipfile.lock",
            r#"{"default": {"a": {"version": "==1"}}, "develop": {"b": {"git": "https://r", "ref": "c"}}}"#,
            &["a", "b"],
        );
        check(
            "package-lock.json",
            r#"{"name": "x", "packages": {"": {}, "node_modules/a": {"version": "1"}, "node_modules/a/node_modules/@s/b": {"resolved": "b", "link": true}}}"#,
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
        check(
            "bun.lock",
            "{\n  \"packages\": {\n    \"a\": [\"a@1\"],\n  }\n}",
            &["a"],
        );
        check(
            "go.sum",
            "a.b/c v1.0.0 h1:x\na.b/c v1.0.0/go.mod h1:y\n",
            &["a.b/c"],
        );
        check(
            "gemfile.lock",
            "GEM\n  specs:\n    a (1.0)\n      b (>= 1)\n    b (2)\n",
            &["a", "b"],
        );
        check(
            "composer.lock",
            r#"{"packages": [{"name": "v/a", "version": "1"}]}"#,
            &["v/a"],
        );
        check(
            "packages.lock.json",
            r#"{"dependencies": {"net8.0": {"A.B": {"type": "Direct", "resolved": "1"}}}}"#,
            &["A.B"],
        );
        check("gradle.lockfile", "g:a:1.0=compileClasspath\n", &["g:a"]);
        check(
            "package.resolved",
            r#"{"pins": [{"identity": "a", "state": {"version": "1"}}, {"identity": "b", "state": {"revision": "r", "version": null}}]}"#,
            &["a", "b"],
        );
    }
}

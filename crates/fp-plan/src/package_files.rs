//! Recognises manifests and lock files of package managers, and reads the package names in them, to notice new
//! dependencies. Packages inside the repository itself (path, file, workspace) don't count.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::Value;
use toml_edit::{DocumentMut, Item, TableLike};

use crate::language::Language;
use crate::repo_path::RepoPath;

use Language::{CSharp, Go, JavaScript, Jvm, Php, Python, Ruby, Rust, Swift};

pub type PackageNames = BTreeSet<String>;

/// Reads the names in a text; `None` if the text isn't such a file.
pub type ReadPackages = fn(&str) -> Option<PackageNames>;

/// Every kind of lock file, by file name.
const LOCKS: [(&str, Language, ReadPackages); 17] = [
    ("Cargo.lock", Rust, toml_packages),
    ("poetry.lock", Python, toml_packages),
    ("uv.lock", Python, toml_packages),
    ("pdm.lock", Python, toml_packages),
    ("Pipfile.lock", Python, |text| {
        json_keys(text, &["default", "develop"])
    }),
    ("package-lock.json", JavaScript, |text| {
        json_keys(text, &["packages", "dependencies"])
    }),
    ("npm-shrinkwrap.json", JavaScript, |text| {
        json_keys(text, &["packages", "dependencies"])
    }),
    ("yarn.lock", JavaScript, |text| {
        found(text, &[r##"(?m)^"?(@?[^@\s"#][^@\s"]*)@[^\n]*:\s*$"##])
    }),
    ("pnpm-lock.yaml", JavaScript, |text| {
        found(
            text,
            &[r"(?m)^  '?/?(@?[^@\s':/(]+(?:/[^@\s':/(]+)?)[@/]\d[^\n]*:\s*$"],
        )
    }),
    ("bun.lock", JavaScript, |text| {
        found(text, &[r#"(?m)^\s+"([^"]+)":\s*\["#])
    }),
    ("go.sum", Go, |text| found(text, &[r"(?m)^(\S+) v"])),
    ("Gemfile.lock", Ruby, |text| {
        found(text, &[r"(?m)^    ([\w.-]+) \("])
    }),
    ("composer.lock", Php, |text| {
        found(text, &[r#"(?m)^\s*"name":\s*"([^"/]+/[^"]+)""#])
    }),
    ("packages.lock.json", CSharp, |text| {
        found(text, &[r#"(?m)^\s+"([\w.-]+)":\s*\{\s*\r?\n\s*"type""#])
    }),
    ("gradle.lockfile", Jvm, |text| {
        found(text, &[r"(?m)^([\w.-]+:[\w.-]+):"])
    }),
    ("buildscript-gradle.lockfile", Jvm, |text| {
        found(text, &[r"(?m)^([\w.-]+:[\w.-]+):"])
    }),
    ("Package.resolved", Swift, |text| {
        found(text, &[r#""identity"\s*:\s*"([^"]+)""#])
    }),
];

pub fn lock_names() -> impl Iterator<Item = &'static str> {
    LOCKS.iter().map(|(name, ..)| *name)
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

/// True if `path` is a lock file that belongs to the manifest `listed`, in its folder or above.
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

/// The kind of lock file at `path`, in any case.
pub fn lock_kind(path: &str) -> Option<(Language, ReadPackages)> {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    LOCKS
        .iter()
        .find(|(known, ..)| known.eq_ignore_ascii_case(name))
        .map(|(_, kind, read)| (*kind, *read))
}

/// The kind of manifest at `path`, which must be in lower case.
pub fn manifest_kind(path: &str) -> Option<(Language, ReadPackages)> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_folder = |wanted: &str| folder == wanted || folder.ends_with(&format!("/{wanted}"));
    Some(match name {
        "cargo.toml" => (Rust, cargo),
        "package.json" => (JavaScript, npm),
        "pyproject.toml" | "pipfile" => (Python, python),
        "go.mod" => (Go, go),
        "gemfile" => (Ruby, ruby),
        "pom.xml" => (Jvm, maven),
        "libs.versions.toml" => (Jvm, catalog),
        "composer.json" => (Php, composer),
        "packages.config" | "directory.packages.props" => (CSharp, dot_net),
        "package.swift" => (Swift, swift),
        _ if name.starts_with("requirements") && name.ends_with(".txt") => (Python, requirements),
        _ if name.ends_with(".txt") && in_folder("requirements") => (Python, requirements),
        _ if name.ends_with(".gemspec") => (Ruby, ruby),
        _ if name.ends_with(".gradle") || name.ends_with(".gradle.kts") => (Jvm, gradle),
        _ if name.ends_with(".csproj") || name.ends_with(".fsproj") => (CSharp, dot_net),
        _ => return None,
    })
}

/// The names that `patterns` find; of a pattern with two groups both, as `group:name`.
fn found(text: &str, patterns: &[&str]) -> Option<PackageNames> {
    let mut names = PackageNames::new();
    for pattern in patterns {
        let pattern = Regex::new(pattern).expect("the pattern is a constant");
        for found in pattern.captures_iter(text) {
            let groups: Vec<&str> = found
                .iter()
                .skip(1)
                .flatten()
                .map(|group| group.as_str())
                .collect();
            names.insert(groups.join(":"));
        }
    }
    Some(names)
}

/// The items at `path` of a document, where `*` stands for every key.
fn items_at<'t>(document: &'t DocumentMut, path: &str) -> Vec<&'t Item> {
    path.split('.')
        .fold(vec![document.as_item()], |items, part| {
            let tables = items.into_iter().filter_map(Item::as_table_like);
            let entries = tables
                .flat_map(TableLike::iter)
                .filter(|(key, _)| part == "*" || *key == part);
            entries.map(|(_, item)| item).collect()
        })
}

/// The entries of the tables at `paths`.
fn entries_at<'t>(document: &'t DocumentMut, paths: &[&str]) -> Vec<(&'t str, &'t Item)> {
    let items = paths.iter().flat_map(|path| items_at(document, path));
    items
        .filter_map(Item::as_table_like)
        .flat_map(TableLike::iter)
        .collect()
}

/// Every value in `item`, without keys.
pub(crate) fn values_in(item: &Item) -> Vec<String> {
    let of_value = |value: &toml_edit::Value| values_in(&Item::Value(value.clone()));
    match item {
        Item::None => Vec::new(),
        Item::Value(toml_edit::Value::Array(items)) => items.iter().flat_map(of_value).collect(),
        Item::Value(toml_edit::Value::String(text)) => vec![text.value().clone()],
        Item::Value(toml_edit::Value::Integer(number)) => vec![number.value().to_string()],
        Item::Value(toml_edit::Value::Float(number)) => vec![number.value().to_string()],
        Item::Value(toml_edit::Value::Boolean(truth)) => vec![truth.value().to_string()],
        Item::Value(toml_edit::Value::Datetime(time)) => vec![time.value().to_string()],
        Item::ArrayOfTables(tables) => {
            let items = tables.iter().flat_map(|table| table.iter());
            items.flat_map(|(_, item)| values_in(item)).collect()
        }
        Item::Value(toml_edit::Value::InlineTable(_)) | Item::Table(_) => {
            let items = item.as_table_like().into_iter().flat_map(TableLike::iter);
            items.flat_map(|(_, item)| values_in(item)).collect()
        }
    }
}

fn cargo(text: &str) -> Option<PackageNames> {
    let document: DocumentMut = text.parse().ok()?;
    let mut names = PackageNames::new();
    for key in [
        "dependencies",
        "dev-dependencies",
        "build-dependencies",
        "dev_dependencies",
        "build_dependencies",
    ] {
        let (workspace, target) = (format!("workspace.{key}"), format!("target.*.{key}"));
        for (name, item) in entries_at(&document, &[key, &workspace, &target]) {
            let field = |key: &str| item.as_table_like().and_then(|t| t.get(key));
            let local = field("path").is_some() && field("git").is_none();
            if !local {
                // A renamed package counts under its real name.
                names.insert(
                    field("package")
                        .and_then(Item::as_str)
                        .unwrap_or(name)
                        .replace('_', "-"),
                );
            }
        }
    }
    Some(names)
}

fn catalog(text: &str) -> Option<PackageNames> {
    let document = text.parse().ok()?;
    let entries = entries_at(&document, &["libraries", "plugins"]);
    Some(
        entries
            .into_iter()
            .map(|(name, _)| name.to_owned())
            .collect(),
    )
}

/// The name at the start of a requirement, in the form in which package indexes compare it.
fn requirement(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name = text.trim_start().split(|c| !is_part(c)).next()?;
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    begins.then(|| name.to_lowercase().replace(['_', '.'], "-"))
}

fn requirements(text: &str) -> Option<PackageNames> {
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
        _ => requirement(line),
    }
}

/// The packages of `pyproject.toml` and `Pipfile`.
fn python(text: &str) -> Option<PackageNames> {
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
    let document = text.parse().ok()?;
    let lists = LISTS
        .iter()
        .flat_map(|path| items_at(&document, path))
        .filter_map(Item::as_array)
        .flatten();
    let listed = lists.filter_map(toml_edit::Value::as_str);
    let local = |item: &Item| item.as_table_like().is_some_and(|t| t.contains_key("path"));
    let entries = entries_at(&document, &TABLES).into_iter();
    let named = entries
        .filter(|(name, item)| *name != "python" && !local(item))
        .map(|(name, _)| name);
    Some(listed.chain(named).filter_map(requirement).collect())
}

fn npm(text: &str) -> Option<PackageNames> {
    let value: Value = serde_json::from_str(text).ok()?;
    let local = |version: &Value| {
        let text = version.as_str().unwrap_or_default();
        ["file:", "link:", "workspace:", "portal:"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
    };
    let keys = [
        "dependencies",
        "devDependencies",
        "peerDependencies",
        "optionalDependencies",
    ];
    let tables = keys.iter().filter_map(|key| value.get(key)?.as_object());
    let entries = tables.flatten().filter(|(_, version)| !local(version));
    // An aliased package counts under its real name.
    let name = |(name, version): (&String, &Value)| {
        let aliased = version.as_str().and_then(|text| text.strip_prefix("npm:"));
        let aliased = aliased.map(|text| {
            text.get(1..)
                .and_then(|t| t.find('@'))
                .map_or(text, |at| &text[..=at])
        });
        aliased.unwrap_or(name).to_owned()
    };
    Some(entries.map(name).collect())
}

fn composer(text: &str) -> Option<PackageNames> {
    let value: Value = serde_json::from_str(text).ok()?;
    let tables = ["require", "require-dev"]
        .into_iter()
        .filter_map(|key| value.get(key)?.as_object());
    Some(
        tables
            .flatten()
            .map(|(name, _)| name.to_lowercase())
            .filter(|name| name != "php")
            .collect(),
    )
}

fn go(text: &str) -> Option<PackageNames> {
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
    found(
        &directives,
        &[
            r"(?m)^ ?require[ \t]+([\w.~-]+(?:/[\w.~+-]+)*)[ \t]+v\d",
            r"(?m)^ ?replace[ \t].*=>[ \t]*([\w~][\w.~-]*(?:/[\w.~+-]+)*)[ \t]+v\d",
            r"(?m)^ ?tool[ \t]+([\w.~-]+(?:/[\w.~+-]+)*)$",
        ],
    )
}

fn ruby(text: &str) -> Option<PackageNames> {
    found(
        text,
        &[
            r#"(?m)^\s*gem[\s(]+["']([^"']+)["']"#,
            r#"\.add_(?:runtime_|development_)?dependency[\s(]+["']([^"']+)["']"#,
        ],
    )
}

fn maven(text: &str) -> Option<PackageNames> {
    let regex = |pattern: &str| Regex::new(pattern).expect("the pattern is a constant");
    let block = regex(
        r"(?s)<(?:dependency|plugin|extension|path)>(.*?)</(?:dependency|plugin|extension|path)>",
    );
    let [group, artifact] =
        ["groupId", "artifactId"].map(|tag| regex(&format!(r"<{tag}>\s*([^<]*?)\s*</{tag}>")));
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
    let comment = Regex::new(r"(?s)<!--.*?-->").expect("the pattern is a constant");
    comment.replace_all(xml, "").into_owned()
}

fn gradle(text: &str) -> Option<PackageNames> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let text = lines.collect::<Vec<_>>().join("\n");
    found(
        &text,
        &[
            r#"(?m)^\s*\w+(?:\.\w+)*\s*[( ]\s*(?:(?:enforcedPlatform|platform|kotlin)\s*\(\s*)?["']([\w.-]+:[\w.-]+)(?::[^"'\s]*)?["']"#,
            r"(?m)^\s*\w+\s*[( ]\s*(?:(?:enforcedPlatform|platform)\s*\(\s*)?(libs\.[\w.]+)",
            r#"group\s*[:=]\s*["']([^"']+)["']\s*,\s*name\s*[:=]\s*["']([^"']+)["']"#,
            r#"(?m)^\s*id\s*[( ]\s*["']([^"']+)["']"#,
        ],
    )
}

fn dot_net(text: &str) -> Option<PackageNames> {
    found(
        &without_comments(text),
        &[
            r#"(?i)<Package(?:Reference|Version)\b[^>]*?\b(?:Include|Update)\s*=\s*"([^"]+)""#,
            r#"(?i)<package\b[^>]*?\bid\s*=\s*"([^"]+)""#,
        ],
    )
}

fn swift(text: &str) -> Option<PackageNames> {
    found(text, &[r#"\.package\s*\([^)]*?(?:url|id)\s*:\s*"([^"]+)""#])
}

fn toml_packages(text: &str) -> Option<PackageNames> {
    found(
        text,
        &[r#"(?m)^\[\[package\]\]\s*\r?\nname\s*=\s*"([^"]+)""#],
    )
}

/// The keys of these objects. A path such as `node_modules/a/node_modules/b` yields its last name.
fn json_keys(text: &str, objects: &[&str]) -> Option<PackageNames> {
    let value: Value = serde_json::from_str(text).ok()?;
    let keys = objects
        .iter()
        .filter_map(|key| value.get(key)?.as_object())
        .flat_map(|object| object.keys());
    let name = |key: &String| {
        key.rsplit_once("node_modules/")
            .map_or(key.as_str(), |(_, name)| name)
            .to_owned()
    };
    Some(keys.map(name).filter(|name| !name.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manifest() {
        let check = |path: &str, text: &str, expect: &[&str]| {
            let (_, read) = manifest_kind(path).unwrap_or_else(|| panic!("{path} is a manifest"));
            let names: Vec<String> = read(text)
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
                manifest_kind(path).and_then(|(_, read)| read(text)),
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
            let names: Vec<String> = read(text)
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
            r#"{"default": {"a": {}}, "develop": {"b": {}}}"#,
            &["a", "b"],
        );
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
            "{\n \"packages\": [\n {\n \"name\": \"v/a\",\n",
            &["v/a"],
        );
        check(
            "packages.lock.json",
            "{\n  \"A.B\": {\n    \"type\": \"Direct\",\n",
            &["A.B"],
        );
        check("gradle.lockfile", "g:a:1.0=compileClasspath\n", &["g:a"]);
        check("package.resolved", "{\"identity\" : \"a\"}", &["a"]);
    }
}

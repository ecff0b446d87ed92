//! Recognises manifests and lock files of package managers, and reads the package names in them, to notice new
//! dependencies. Packages inside the repository itself (path, file, workspace) don't count.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use toml_edit::{DocumentMut, Item, TableLike};

use crate::repo_path::RepoPath;

use PackageManager::{Cargo, DotNet, Go, Jvm, Npm, Php, Python, Ruby, Swift};

pub type PackageNames = BTreeSet<String>;

/// Reads the names in a text; `None` if the text isn't such a file.
pub type ReadPackages = fn(&str) -> Option<PackageNames>;

/// Package managers, each with its own manifests and lock files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageManager {
    Cargo,
    Npm,
    Python,
    Go,
    Ruby,
    Jvm,
    Php,
    DotNet,
    Swift,
}

/// Every kind of lock file, by file name.
const LOCKS: [(&str, PackageManager, ReadPackages); 17] = [
    ("Cargo.lock", Cargo, toml_packages),
    ("poetry.lock", Python, toml_packages),
    ("uv.lock", Python, toml_packages),
    ("pdm.lock", Python, toml_packages),
    ("Pipfile.lock", Python, |text| json_keys(text, &["default", "develop"])),
    ("package-lock.json", Npm, |text| json_keys(text, &["packages", "dependencies"])),
    ("npm-shrinkwrap.json", Npm, |text| json_keys(text, &["packages", "dependencies"])),
    ("yarn.lock", Npm, |text| Some(found(text, &[&YARN]))),
    ("pnpm-lock.yaml", Npm, |text| Some(found(text, &[&PNPM]))),
    ("bun.lock", Npm, |text| Some(found(text, &[&BUN]))),
    ("go.sum", Go, |text| Some(found(text, &[&GO_SUM]))),
    ("Gemfile.lock", Ruby, |text| Some(found(text, &[&GEMFILE]))),
    ("composer.lock", Php, |text| Some(found(text, &[&NAME]))),
    ("packages.lock.json", DotNet, |text| Some(found(text, &[&NUGET]))),
    ("gradle.lockfile", Jvm, |text| Some(found(text, &[&GRADLE_LOCK]))),
    ("buildscript-gradle.lockfile", Jvm, |text| Some(found(text, &[&GRADLE_LOCK]))),
    ("Package.resolved", Swift, |text| Some(found(text, &[&IDENTITY]))),
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
    let below = listed.strip_prefix(folder).is_some_and(|rest| folder.is_empty() || rest.starts_with('/'));
    lock == manifest && below
}

/// The kind of lock file at `path`, in any case.
pub fn lock_kind(path: &str) -> Option<(PackageManager, ReadPackages)> {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    LOCKS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)).map(|(_, kind, read)| (*kind, *read))
}

/// The kind of manifest at `path`, which must be in lower case.
pub fn manifest_kind(path: &str) -> Option<(PackageManager, ReadPackages)> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_folder = |wanted: &str| folder == wanted || folder.ends_with(&format!("/{wanted}"));
    Some(match name {
        "cargo.toml" => (Cargo, cargo),
        "package.json" => (Npm, npm),
        "pyproject.toml" => (Python, pyproject),
        "pipfile" => (Python, pipfile),
        "go.mod" => (Go, go),
        "gemfile" => (Ruby, ruby),
        "pom.xml" => (Jvm, maven),
        "libs.versions.toml" => (Jvm, catalog),
        "composer.json" => (Php, composer),
        "packages.config" | "directory.packages.props" => (DotNet, dot_net),
        "package.swift" => (Swift, swift),
        _ if name.starts_with("requirements") && name.ends_with(".txt") => (Python, requirements),
        _ if name.ends_with(".txt") && in_folder("requirements") => (Python, requirements),
        _ if name.ends_with(".gemspec") => (Ruby, ruby),
        _ if name.ends_with(".gradle") || name.ends_with(".gradle.kts") => (Jvm, gradle),
        _ if name.ends_with(".csproj") || name.ends_with(".fsproj") => (DotNet, dot_net),
        _ => return None,
    })
}

/// The names found by `patterns`, each in the first matching group.
fn found(text: &str, patterns: &[&LazyLock<Regex>]) -> PackageNames {
    let captures = patterns.iter().flat_map(|pattern| pattern.captures_iter(text));
    captures.filter_map(|found| Some(found.iter().skip(1).flatten().next()?.as_str().to_owned())).collect()
}

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($pattern).expect("the pattern is a constant"));
    };
}

fn toml(text: &str) -> Option<DocumentMut> {
    text.parse().ok()
}

fn table<'t>(parent: &'t dyn TableLike, path: &[&str]) -> Option<&'t dyn TableLike> {
    let (first, rest) = path.split_first()?;
    let inner = parent.get(first)?.as_table_like()?;
    if rest.is_empty() { Some(inner) } else { table(inner, rest) }
}

fn cargo(text: &str) -> Option<PackageNames> {
    let document = toml(text)?;
    let mut names = PackageNames::new();
    cargo_tables(document.as_table(), &mut names);
    if let Some(workspace) = table(document.as_table(), &["workspace"]) {
        cargo_tables(workspace, &mut names);
    }
    for (_, target) in table(document.as_table(), &["target"]).into_iter().flat_map(|t| t.iter()) {
        if let Some(target) = target.as_table_like() {
            cargo_tables(target, &mut names);
        }
    }
    Some(names)
}

fn cargo_tables(parent: &dyn TableLike, names: &mut PackageNames) {
    for key in
        ["dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies"]
    {
        for (name, item) in table(parent, &[key]).into_iter().flat_map(|t| t.iter()) {
            let field = |key: &str| item.as_table_like().and_then(|t| t.get(key));
            let local = field("path").is_some() && field("git").is_none();
            if !local {
                // A renamed package counts under its real name.
                names.insert(field("package").and_then(Item::as_str).unwrap_or(name).replace('_', "-"));
            }
        }
    }
}

fn catalog(text: &str) -> Option<PackageNames> {
    let document = toml(text)?;
    let mut names = PackageNames::new();
    for key in ["libraries", "plugins"] {
        for (name, _) in table(document.as_table(), &[key]).into_iter().flat_map(|t| t.iter()) {
            names.insert(name.to_owned());
        }
    }
    Some(names)
}

pattern!(REQUIREMENT, r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)");

/// The name at the start of a requirement, in the form in which package indexes compare it.
fn requirement(text: &str) -> Option<String> {
    let name = REQUIREMENT.captures(text)?.get(1)?.as_str();
    Some(name.to_lowercase().replace(['_', '.'], "-"))
}

fn requirements(text: &str) -> Option<PackageNames> {
    Some(text.lines().filter_map(requirement_line).collect())
}

/// The package on a line of a requirements file: its name, or the address it comes from.
fn requirement_line(line: &str) -> Option<String> {
    let line = line.split(" #").next().unwrap_or_default().trim();
    let line = line.strip_prefix("-e ").or(line.strip_prefix("--editable ")).unwrap_or(line).trim();
    match line.split_once("://") {
        Some((scheme, _)) if !scheme.starts_with(['-', '#']) && !scheme.contains('@') => {
            Some(line.to_owned())
        }
        _ => requirement(line),
    }
}

fn strings(item: &Item) -> impl Iterator<Item = &str> {
    item.as_array().into_iter().flatten().filter_map(toml_edit::Value::as_str)
}

fn pyproject(text: &str) -> Option<PackageNames> {
    let document = toml(text)?;
    let root: &dyn TableLike = document.as_table();
    let list = |path: &[&str], key: &str| -> Vec<String> {
        let item = if path.is_empty() { root.get(key) } else { table(root, path).and_then(|t| t.get(key)) };
        item.into_iter().flat_map(strings).filter_map(requirement).collect()
    };
    let mut names = PackageNames::from_iter(list(&["project"], "dependencies"));
    names.extend(list(&["build-system"], "requires"));
    names.extend(list(&["tool", "uv"], "dev-dependencies"));
    for groups in [
        &["project", "optional-dependencies"][..],
        &["dependency-groups"],
        &["tool", "pdm", "dev-dependencies"],
    ] {
        let groups = table(root, groups).into_iter().flat_map(|t| t.iter());
        names.extend(groups.flat_map(|(_, group)| strings(group)).filter_map(requirement));
    }
    if let Some(poetry) = table(root, &["tool", "poetry"]) {
        for key in ["dependencies", "dev-dependencies"] {
            names.extend(python_table(poetry, key));
        }
        for (_, group) in table(poetry, &["group"]).into_iter().flat_map(|t| t.iter()) {
            names.extend(
                group.as_table_like().into_iter().flat_map(|group| python_table(group, "dependencies")),
            );
        }
    }
    Some(names)
}

fn python_table(parent: &dyn TableLike, key: &str) -> Vec<String> {
    let entries = table(parent, &[key]).into_iter().flat_map(|t| t.iter());
    let local = |item: &Item| item.as_table_like().is_some_and(|t| t.contains_key("path"));
    entries
        .filter(|(name, item)| *name != "python" && !local(item))
        .filter_map(|(name, _)| requirement(name))
        .collect()
}

fn pipfile(text: &str) -> Option<PackageNames> {
    let document = toml(text)?;
    let keys = ["packages", "dev-packages"];
    Some(keys.iter().flat_map(|key| python_table(document.as_table(), key)).collect())
}

fn npm(text: &str) -> Option<PackageNames> {
    let value: Value = serde_json::from_str(text).ok()?;
    let local = |version: &Value| {
        let text = version.as_str().unwrap_or_default();
        ["file:", "link:", "workspace:", "portal:"].iter().any(|prefix| text.starts_with(prefix))
    };
    let keys = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
    let tables = keys.iter().filter_map(|key| value.get(key)?.as_object());
    let entries = tables.flatten().filter(|(_, version)| !local(version));
    // An aliased package counts under its real name.
    let name = |(name, version): (&String, &Value)| {
        let aliased = version.as_str().and_then(|text| text.strip_prefix("npm:"));
        let aliased =
            aliased.map(|text| text.get(1..).and_then(|t| t.find('@')).map_or(text, |at| &text[..=at]));
        aliased.unwrap_or(name).to_owned()
    };
    Some(entries.map(name).collect())
}

fn composer(text: &str) -> Option<PackageNames> {
    let value: Value = serde_json::from_str(text).ok()?;
    let tables = ["require", "require-dev"].into_iter().filter_map(|key| value.get(key)?.as_object());
    Some(tables.flatten().map(|(name, _)| name.to_lowercase()).filter(|name| name != "php").collect())
}

pattern!(GO_ENTRY, r"^([\w.~-]+(?:/[\w.~+-]+)*)\s+v\d");
pattern!(GO_REPLACEMENT, r"=>\s*([\w~][\w.~-]*(?:/[\w.~+-]+)*)\s+v\d");
pattern!(GO_TOOL, r"^tool\s+([\w.~-]+(?:/[\w.~+-]+)*)$");

fn go(text: &str) -> Option<PackageNames> {
    let mut names = PackageNames::new();
    let mut block = "";
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if let Some(name) = line.strip_suffix('(') {
            block = name.trim();
            continue;
        }
        if line == ")" {
            block = "";
            continue;
        }
        let (directive, rest) =
            if block.is_empty() { line.split_once(' ').unwrap_or((line, "")) } else { (block, line) };
        let rest = rest.trim();
        match directive {
            "require" => names.extend(found(rest, &[&GO_ENTRY])),
            "replace" => names.extend(found(rest, &[&GO_REPLACEMENT])),
            "tool" => names.extend(found(&format!("tool {rest}"), &[&GO_TOOL])),
            _ => {}
        }
    }
    Some(names)
}

pattern!(GEM, r#"(?m)^\s*gem[\s(]+["']([^"']+)["']"#);
pattern!(GEMSPEC, r#"\.add_(?:runtime_|development_)?dependency[\s(]+["']([^"']+)["']"#);

fn ruby(text: &str) -> Option<PackageNames> {
    Some(found(text, &[&GEM, &GEMSPEC]))
}

pattern!(XML_COMMENT, r"(?s)<!--.*?-->");
pattern!(
    MAVEN_BLOCK,
    r"(?s)<(?:dependency|plugin|extension|path)>(.*?)</(?:dependency|plugin|extension|path)>"
);
pattern!(MAVEN_GROUP, r"<groupId>\s*([^<]*?)\s*</groupId>");
pattern!(MAVEN_ARTIFACT, r"<artifactId>\s*([^<]*?)\s*</artifactId>");

fn maven(text: &str) -> Option<PackageNames> {
    let text = XML_COMMENT.replace_all(text, "");
    let part = |pattern: &Regex, block: &str| Some(pattern.captures(block)?.get(1)?.as_str().to_owned());
    let name = |block: &str| {
        let group = part(&MAVEN_GROUP, block).unwrap_or_else(|| "org.apache.maven.plugins".to_owned());
        Some(format!("{group}:{}", part(&MAVEN_ARTIFACT, block)?))
    };
    let blocks = MAVEN_BLOCK.captures_iter(&text).filter_map(|block| name(block.get(1)?.as_str()));
    text.contains("<project").then(|| blocks.collect())
}

pattern!(
    GRADLE,
    r#"(?m)^\s*\w+(?:\.\w+)*\s*[( ]\s*(?:(?:enforcedPlatform|platform|kotlin)\s*\(\s*)?["']([\w.-]+:[\w.-]+)(?::[^"'\s]*)?["']"#
);
pattern!(GRADLE_CATALOG, r"(?m)^\s*\w+\s*[( ]\s*(?:(?:enforcedPlatform|platform)\s*\(\s*)?(libs\.[\w.]+)");
pattern!(GRADLE_MAP, r#"group\s*[:=]\s*["']([^"']+)["']\s*,\s*name\s*[:=]\s*["']([^"']+)["']"#);
pattern!(GRADLE_PLUGIN, r#"(?m)^\s*id\s*[( ]\s*["']([^"']+)["']"#);

fn gradle(text: &str) -> Option<PackageNames> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut names = found(&text, &[&GRADLE, &GRADLE_CATALOG, &GRADLE_PLUGIN]);
    names.extend(GRADLE_MAP.captures_iter(&text).map(|found| format!("{}:{}", &found[1], &found[2])));
    Some(names)
}

pattern!(
    PACKAGE_REFERENCE,
    r#"(?i)<Package(?:Reference|Version)\b[^>]*?\b(?:Include|Update)\s*=\s*"([^"]+)""#
);
pattern!(PACKAGE_ID, r#"(?i)<package\b[^>]*?\bid\s*=\s*"([^"]+)""#);

fn dot_net(text: &str) -> Option<PackageNames> {
    let text = XML_COMMENT.replace_all(text, "");
    Some(found(&text, &[&PACKAGE_REFERENCE, &PACKAGE_ID]))
}

pattern!(SWIFT_PACKAGE, r#"\.package\s*\([^)]*?(?:url|id)\s*:\s*"([^"]+)""#);

fn swift(text: &str) -> Option<PackageNames> {
    Some(found(text, &[&SWIFT_PACKAGE]))
}

pattern!(TOML_PACKAGE, r#"(?m)^\[\[package\]\]\s*\r?\nname\s*=\s*"([^"]+)""#);
pattern!(YARN, r##"(?m)^"?(@?[^@\s"#][^@\s"]*)@[^\n]*:\s*$"##);
pattern!(PNPM, r"(?m)^  '?/?(@?[^@\s':/(]+(?:/[^@\s':/(]+)?)[@/]\d[^\n]*:\s*$");
pattern!(BUN, r#"(?m)^\s+"([^"]+)":\s*\["#);
pattern!(GO_SUM, r"(?m)^(\S+) v");
pattern!(GEMFILE, r"(?m)^    ([\w.-]+) \(");
pattern!(NAME, r#"(?m)^\s*"name":\s*"([^"/]+/[^"]+)""#);
pattern!(NUGET, r#"(?m)^\s+"([\w.-]+)":\s*\{\s*\r?\n\s*"type""#);
pattern!(GRADLE_LOCK, r"(?m)^([\w.-]+:[\w.-]+):");
pattern!(IDENTITY, r#""identity"\s*:\s*"([^"]+)""#);

fn toml_packages(text: &str) -> Option<PackageNames> {
    Some(found(text, &[&TOML_PACKAGE]))
}

/// The keys of these objects. A path such as `node_modules/a/node_modules/b` yields its last name.
fn json_keys(text: &str, objects: &[&str]) -> Option<PackageNames> {
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
    fn every_manifest() {
        let check = |path: &str, text: &str, expect: &[&str]| {
            let (_, read) = manifest_kind(path).unwrap_or_else(|| panic!("{path} is a manifest"));
            let names: Vec<String> =
                read(text).unwrap_or_else(|| panic!("{path}: {text}")).into_iter().collect();
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
        check("gemfile", "source 'x'\ngem 'a', '~> 1'\n  gem(\"b\")\n# gem 'c'\n", &["a", "b"]);
        check("x.gemspec", "s.add_dependency 'a'\ns.add_development_dependency(\"b\", '1')", &["a", "b"]);
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
        check("gradle/libs.versions.toml", "[libraries]\na = 'g:a:1'\n[versions]\nb = '1'", &["a"]);
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
            assert_eq!(manifest_kind(path).and_then(|(_, read)| read(text)), None, "{path}")
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

//! From what a file says it imports to files of the repository, given nothing but the list of their paths, what
//! each of them declares, and a few manifests. What leads nowhere in the repository is somebody else's.

mod c;
mod go;
mod java_script;
mod jvm;
mod manifest;
mod php;
mod python;
mod ruby;
mod rust;
mod swift;

use std::collections::HashMap;

use super::imports::{Found, Import};
use crate::language::Language;

/// What an import leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A file, by its position among the paths.
    File(usize),
    /// A package, namespace or module of several files, by its position among the groups.
    Group(usize),
}

/// Files that are imported together: a folder of Go, a package, a namespace, a module of Swift.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What it is called.
    pub name: String,
    /// Its files, by their positions among the paths.
    pub members: Vec<usize>,
}

/// Everything that imports are looked up in.
#[derive(Debug)]
pub struct Index<'r> {
    paths: &'r [String],
    by_path: HashMap<&'r str, usize>,
    by_name: HashMap<&'r str, Vec<usize>>,
    /// Types by their full name, of the languages in which a file is named like its type.
    types: HashMap<(Language, String), usize>,
    group_of: HashMap<(Language, String), usize>,
    groups: Vec<Group>,
    /// Packages of Rust by their folder, and the folder of each by the name that others import it by.
    crates: HashMap<String, rust::Crate>,
    crate_names: HashMap<String, String>,
    modules: Vec<go::Module>,
    aliases: HashMap<String, java_script::Aliases>,
    packages: HashMap<String, String>,
}

impl<'r> Index<'r> {
    /// The index of the files `paths`; `sources` are those of them that were read, by position, and `manifests` the
    /// texts of those that [`is_manifest`] asks for.
    #[must_use]
    pub fn new(paths: &'r [String], sources: &[(usize, Found)], manifests: &[(usize, String)]) -> Self {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, path) in paths.iter().enumerate() {
            by_name.entry(split(path).1).or_default().push(at);
        }
        let mut index = Self {
            paths,
            by_path: paths.iter().enumerate().map(|(at, path)| (path.as_str(), at)).collect(),
            by_name,
            types: HashMap::new(),
            group_of: HashMap::new(),
            groups: Vec::new(),
            crates: HashMap::new(),
            crate_names: HashMap::new(),
            modules: Vec::new(),
            aliases: HashMap::new(),
            packages: HashMap::new(),
        };
        for (at, text) in manifests {
            index.take_manifest(*at, text);
        }
        for (at, found) in sources {
            index.take_source(*at, found);
        }
        index
    }

    fn take_manifest(&mut self, at: usize, text: &str) {
        let path = &self.paths[at];
        let (folder, name) = split(path);
        match name {
            "Cargo.toml" => {
                if let Some(package) = rust::Crate::read(folder, text) {
                    self.crate_names.entry(package.name().to_owned()).or_insert(folder.to_owned());
                    self.crates.insert(folder.to_owned(), package);
                }
            }
            "go.mod" => self.modules.extend(go::Module::read(folder, text)),
            "package.json" => {
                if let Some(name) = manifest::package_name(text) {
                    self.packages.insert(name, folder.to_owned());
                }
            }
            _ => {
                if let Some(aliases) = java_script::Aliases::read(folder, text) {
                    self.aliases.insert(folder.to_owned(), aliases);
                }
            }
        }
    }

    fn take_source(&mut self, at: usize, found: &Found) {
        let path = &self.paths[at];
        let Some(language) = Language::of(path) else { return };
        match language {
            Language::Go if !path.ends_with("_test.go") => {
                let folder = split(path).0;
                let name = if folder.is_empty() { "./".to_owned() } else { format!("{folder}/") };
                self.join_group(language, folder, name, at);
            }
            Language::Swift => {
                if let Some(module) = swift::module_of(path) {
                    self.join_group(language, module, format!("module {module}"), at);
                }
            }
            _ => {}
        }
        let stem = stem(path);
        for name in &found.declares {
            let kind = if language == Language::Jvm { "package" } else { "namespace" };
            self.join_group(language, name, format!("{kind} {name}"), at);
            self.types.entry((language, format!("{name}.{stem}"))).or_insert(at);
        }
    }

    fn join_group(&mut self, language: Language, key: &str, name: String, at: usize) {
        let next = self.groups.len();
        let group = *self.group_of.entry((language, key.to_owned())).or_insert(next);
        if group == next {
            self.groups.push(Group { name, members: Vec::new() });
        }
        if self.groups[group].members.last() != Some(&at) {
            self.groups[group].members.push(at);
        }
    }

    /// The packages, namespaces and modules.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// What `import` in the file at `from` leads to; `None` where that is not in the repository.
    #[must_use]
    pub fn resolve(&self, from: usize, import: &Import) -> Option<Target> {
        let path = self.paths[from].as_str();
        match (Language::of(path)?, import) {
            (Language::Rust, import) => rust::resolve(self, path, import),
            (Language::JavaScript, Import::File(specifier)) => java_script::resolve(self, path, specifier),
            (Language::Python, import) => python::resolve(self, path, import),
            (Language::Go, Import::Name(name)) => go::resolve(self, name),
            (Language::Jvm, Import::Name(name)) => jvm::resolve(self, Language::Jvm, name),
            (Language::CSharp, Import::Name(name)) => jvm::resolve(self, Language::CSharp, name),
            (Language::C, Import::File(file)) => c::quoted(self, path, file),
            (Language::C, Import::Search(file)) => c::angled(self, path, file),
            (Language::Ruby, Import::File(file)) => ruby::relative(self, path, file),
            (Language::Ruby, Import::Search(file)) => ruby::required(self, path, file),
            (Language::Php, import) => php::resolve(self, path, import),
            (Language::Swift, Import::Name(name)) => self.group(Language::Swift, name),
            _ => None,
        }
    }

    fn file(&self, path: &str) -> Option<Target> {
        self.by_path.get(path).map(|at| Target::File(*at))
    }

    fn first_file(&self, paths: impl IntoIterator<Item = String>) -> Option<Target> {
        paths.into_iter().find_map(|path| self.file(&path))
    }

    fn group(&self, language: Language, key: &str) -> Option<Target> {
        self.group_of.get(&(language, key.to_owned())).map(|at| Target::Group(*at))
    }

    /// Of the files that end with `tail`, a path of whole names, and stand where `fits` says of what is in front of
    /// it, the one that is nearest to `from`.
    fn nearest(&self, from: &str, tail: &str, fits: impl Fn(&str) -> bool) -> Option<Target> {
        let named = self.by_name.get(split(tail).1)?;
        let front = |at: &usize| {
            let front = self.paths[*at].strip_suffix(tail)?;
            (front.is_empty() || front.ends_with('/')).then(|| front.trim_end_matches('/'))
        };
        let fitting = named.iter().filter(|at| front(at).is_some_and(&fits));
        let near = |at: &&usize| {
            let common = self.paths[**at].split('/').zip(from.split('/')).take_while(|(a, b)| a == b).count();
            (common, std::cmp::Reverse(**at))
        };
        fitting.max_by_key(near).map(|at| Target::File(*at))
    }
}

/// Whether the text of the file `path` is needed to look imports up.
#[must_use]
pub fn is_manifest(path: &str) -> bool {
    matches!(split(path).1, "Cargo.toml" | "go.mod" | "package.json" | "tsconfig.json" | "jsconfig.json")
}

/// Folder and name of a path; the folder of a file at the top is empty.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The name of a file without its extension.
fn stem(path: &str) -> &str {
    let name = split(path).1;
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// `relative` as seen from `folder`; `None` where it leads out of the repository.
fn join(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// `folder` and all that are above it, the nearest first; the top is empty.
fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| (!folder.is_empty()).then(|| split(folder).0))
}

/// `folder/name`, or `name` at the top.
fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::imports::find;
    use super::*;

    /// What the imports of the first of `files` lead to, in order, each once; `-` where none leads anywhere. Each file is its path
    /// and its text.
    pub(super) fn check(files: &[(&str, &str)], expect: &[&str]) {
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let texts = || files.iter().enumerate().map(|(at, (path, text))| (at, *path, *text));
        let sources: Vec<(usize, Found)> =
            texts().map(|(at, path, text)| (at, find(path, text.as_bytes()))).collect();
        let manifests: Vec<(usize, String)> = texts()
            .filter(|(_, path, _)| is_manifest(path))
            .map(|(at, _, text)| (at, text.to_owned()))
            .collect();
        let index = Index::new(&paths, &sources, &manifests);
        let shown = |import: &Import| match index.resolve(0, import) {
            Some(Target::File(at)) => paths[at].clone(),
            Some(Target::Group(at)) => index.groups()[at].name.clone(),
            None => "-".to_owned(),
        };
        let found: Vec<String> = sources[0].1.imports.iter().map(shown).collect();
        assert_eq!(found, expect, "{files:?}");
    }

    #[test]
    fn joining_never_leaves_the_repository() {
        let check = |folder: &str, relative: &str, expect: Option<&str>| {
            assert_eq!(join(folder, relative).as_deref(), expect, "{folder} {relative}");
        };
        check("a/b", "./c", Some("a/b/c"));
        check("a/b", "../../c", Some("c"));
        check("a/b", "..", Some("a"));
        check("a", "../../c", None);
        check("", "..", None);
        assert_eq!(ancestors("a/b").collect::<Vec<_>>(), ["a/b", "a", ""]);
    }

    fn name() -> impl Strategy<Value = String> {
        let pieces =
            ["a", "..", ".", "/", "*", "@", "a.b", "\\", "crate", "super", "self", "", "한", "a/b.h", "?"];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..5).prop_map(|pieces| pieces.concat())
    }

    fn import() -> impl Strategy<Value = Import> {
        let names = || prop::collection::vec(name(), 0..4);
        prop_oneof![
            (names(), name(), prop::option::of(name())).prop_map(|(inside, name, file)| Import::Module {
                inside,
                name,
                file
            }),
            (names(), names()).prop_map(|(inside, path)| Import::Use { inside, path }),
            (0usize..9, name(), prop::option::of(name())).prop_map(|(dots, module, name)| Import::From {
                dots,
                module,
                name
            }),
            name().prop_map(Import::File),
            name().prop_map(Import::Search),
            name().prop_map(Import::Name),
        ]
    }

    proptest! {
        #[test]
        fn any_import_of_any_file_has_an_answer(import in import()) {
            let names = ["a.rs", "b/a.ts", "a/b/c.py", "a/x.go", "A.java", "a/b.h", "a.rb", "A.php", "A.cs", "S/A.swift", "lib.rs"];
            let manifests = [("Cargo.toml", "[package]\nname=\"a\"\n"), ("go.mod", "module a"), ("tsconfig.json", "{\"compilerOptions\":{\"baseUrl\":\"..\",\"paths\":{\"*\":[\"../*\",\"*\"]}}}")];
            let paths: Vec<String> = names.iter().copied().chain(manifests.map(|(path, _)| path)).map(str::to_owned).collect();
            let texts: Vec<(usize, String)> = (names.len()..).zip(manifests).map(|(at, (_, text))| (at, text.to_owned())).collect();
            let index = Index::new(&paths, &[], &texts);
            for from in 0..names.len() {
                if let Some(Target::File(at)) = index.resolve(from, &import) {
                    prop_assert!(at < paths.len());
                }
            }
        }
    }
}

//! Paths of Rust: where the root of a crate is, which module a file is, and which file the longest known part of a
//! path stands for. Names of other crates of the repository lead to their roots.

use toml_edit::{DocumentMut, Item};

use super::super::imports::Import;
use super::{Index, Target, ancestors, below, join, split, stem};

/// A package as its `Cargo.toml` describes it.
#[derive(Debug)]
pub(super) struct Crate {
    folder: String,
    /// The name by which others import it.
    name: String,
    /// The root of its library, where it may be.
    library: String,
    /// The roots that it names itself.
    roots: Vec<String>,
}

impl Crate {
    /// The name by which others import it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What `text`, the `Cargo.toml` in `folder`, says of a package; `None` where it has none.
    pub(super) fn read(folder: &str, text: &str) -> Option<Self> {
        let document: DocumentMut = text.parse().ok()?;
        let text = |item: Option<&Item>| item.and_then(Item::as_str).map(str::to_owned);
        let package = document.get("package")?;
        let library = document.get("lib");
        let name = text(library.and_then(|lib| lib.get("name"))).or_else(|| text(package.get("name")))?;
        let path = |table: &Item| text(table.get("path")).and_then(|path| join(folder, &path));
        let own = library.and_then(path);
        let kinds = ["bin", "test", "bench", "example"].into_iter().filter_map(|kind| document.get(kind));
        let listed = kinds.filter_map(Item::as_array_of_tables).flat_map(|tables| tables.iter());
        let listed =
            listed.filter_map(|table| table.get("path")?.as_str()).filter_map(|path| join(folder, path));
        Some(Self {
            folder: folder.to_owned(),
            name: name.replace('-', "_"),
            roots: own.iter().cloned().chain(listed).collect(),
            library: own.unwrap_or_else(|| below(folder, "src/lib.rs")),
        })
    }
}

/// A file as a module: the folder of its crate's root, the root itself where it is known, and the parts of the
/// module's path.
struct Place<'i> {
    folder: String,
    root: Option<&'i str>,
    module: Vec<String>,
}

pub(super) fn resolve(index: &Index<'_>, from: &str, import: &Import) -> Option<Target> {
    match import {
        Import::Module { inside, file: Some(file), .. } if inside.is_empty() => {
            index.file(&join(split(from).0, file)?)
        }
        Import::Module { inside, name, .. } => {
            let place = place(index, from);
            let path = [&place.module[..], inside, std::slice::from_ref(name)].concat();
            exactly(index, &place.folder, &path)
        }
        Import::Use { inside, path } => used(index, from, inside, path),
        _ => None,
    }
}

fn used(index: &Index<'_>, from: &str, inside: &[String], path: &[String]) -> Option<Target> {
    let place = place(index, from);
    let mut module = [&place.module[..], inside].concat();
    let mut rest = path;
    let first = rest.first()?.as_str();
    match first {
        "crate" => {
            module.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|part| part == "super") {
                module.pop()?;
                rest = &rest[1..];
            }
        }
        name => {
            let child = [&module[..], std::slice::from_ref(&rest[0])].concat();
            if exactly(index, &place.folder, &child).is_none() {
                let library = &index.crates[index.crate_names.get(name)?];
                let folder = split(&library.library).0;
                return longest(index, folder, Some(&library.library), &rest[1..]);
            }
        }
    }
    module.extend_from_slice(rest);
    longest(index, &place.folder, place.root, &module)
}

/// The file of exactly this module.
fn exactly(index: &Index<'_>, folder: &str, module: &[String]) -> Option<Target> {
    let path = below(folder, &module.join("/"));
    index.file(&format!("{path}.rs")).or_else(|| index.file(&format!("{path}/mod.rs")))
}

/// The file of the longest part of `path` that is a module; what follows is an item in it.
fn longest(index: &Index<'_>, folder: &str, root: Option<&str>, path: &[String]) -> Option<Target> {
    let module = (1..=path.len()).rev().find_map(|length| exactly(index, folder, &path[..length]));
    module.or_else(|| index.file(root?))
}

fn place<'i>(index: &'i Index<'_>, from: &'i str) -> Place<'i> {
    let (folder, root) = root_of(index, from);
    let inner = split(from).0.strip_prefix(folder.as_str()).unwrap_or_default();
    let mut module: Vec<String> =
        inner.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let stem = stem(from);
    if root != Some(from) && stem != "mod" {
        module.push(stem.to_owned());
    }
    Place { folder, root, module }
}

/// The folder of the root of the crate that `from` belongs to, and the root.
fn root_of<'i>(index: &'i Index<'_>, from: &'i str) -> (String, Option<&'i str>) {
    let folder = split(from).0;
    let package = ancestors(folder).find_map(|above| index.crates.get(above));
    let known = package.map_or(&[][..], |package| &package.roots);
    if known.iter().any(|root| root == from) || is_root_by_place(from, package.map(|p| p.folder.as_str())) {
        return (folder.to_owned(), Some(from));
    }
    for above in ancestors(folder) {
        let named = known.iter().find(|root| split(root).0 == above).map(String::as_str);
        let usual = || {
            ["lib.rs", "main.rs"]
                .iter()
                .find_map(|name| index.by_path.get_key_value(below(above, name).as_str()))
        };
        if let Some(root) = named.or_else(|| usual().map(|(path, _)| *path)) {
            return (above.to_owned(), Some(root));
        }
        let is_top = package.is_some_and(|package| package.folder == above);
        if is_top || matches!(split(above).1, "src" | "tests" | "benches" | "examples") {
            return (above.to_owned(), None);
        }
    }
    (folder.to_owned(), None)
}

/// Whether Cargo takes `path` for the root of a crate by where it is.
fn is_root_by_place(path: &str, package: Option<&str>) -> bool {
    let (folder, name) = split(path);
    let inner =
        package.and_then(|package| folder.strip_prefix(package)).unwrap_or(folder).trim_start_matches('/');
    matches!(inner, "tests" | "benches" | "examples" | "src/bin")
        || name == "build.rs" && inner.is_empty()
        || matches!(name, "lib.rs" | "main.rs")
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    const CARGO: (&str, &str) = ("Cargo.toml", "[package]\nname = \"my-app\"\n");

    #[test]
    fn modules_and_paths_of_rust() {
        check(
            &[("src/lib.rs", "mod a; mod b; mod gone;"), ("src/a.rs", ""), ("src/b/mod.rs", ""), CARGO],
            &["src/a.rs", "src/b/mod.rs", "-"],
        );
        check(
            &[
                (
                    "src/a/x.rs",
                    "use crate::b::Thing; use super::y; use super::super::c; use self::z::Z; use crate::Root; use std::fmt; mod z;",
                ),
                ("src/b.rs", ""),
                ("src/a/y.rs", ""),
                ("src/a.rs", ""),
                ("src/c.rs", ""),
                ("src/a/x/z.rs", ""),
                ("src/lib.rs", ""),
                CARGO,
            ],
            &["src/b.rs", "src/a/y.rs", "src/c.rs", "src/a/x/z.rs", "src/lib.rs", "-", "src/a/x/z.rs"],
        );
        check(
            &[
                ("src/a.rs", "mod tests { use super::*; use super::b; }"),
                ("src/a/b.rs", ""),
                ("src/lib.rs", ""),
            ],
            &["src/a.rs", "src/a/b.rs"],
        );
        check(
            &[
                ("src/main.rs", "mod a; use a::A; use my_app::b::B;"),
                ("src/a.rs", ""),
                ("src/b.rs", ""),
                ("src/lib.rs", ""),
                CARGO,
            ],
            &["src/a.rs", "src/a.rs", "src/b.rs"],
        );
    }

    #[test]
    fn crates_of_a_workspace() {
        let core = ("crates/core/Cargo.toml", "[package]\nname = \"fp-core\"\n");
        check(
            &[
                (
                    "crates/host/src/lib.rs",
                    "use fp_core::plan::Task; use fp_core::{Root, run::*}; extern crate fp_core;",
                ),
                ("crates/host/Cargo.toml", "[package]\nname = \"host\"\n"),
                core,
                ("crates/core/src/lib.rs", ""),
                ("crates/core/src/plan/mod.rs", ""),
                ("crates/core/src/run.rs", ""),
            ],
            &[
                "crates/core/src/plan/mod.rs",
                "crates/core/src/lib.rs",
                "crates/core/src/run.rs",
                "crates/core/src/lib.rs",
            ],
        );
        let odd = (
            "Cargo.toml",
            "[package]\nname = \"odd\"\n[lib]\nname = \"strange\"\npath = \"code/top.rs\"\n[[bin]]\npath = \"crates/fp/main.rs\"\nname = \"fp\"\n",
        );
        check(
            &[
                ("crates/fp/commands/a.rs", "use crate::error::E; use strange::x;"),
                odd,
                ("crates/fp/main.rs", ""),
                ("crates/fp/error.rs", ""),
                ("code/top.rs", ""),
                ("code/x.rs", ""),
            ],
            &["crates/fp/error.rs", "code/x.rs"],
        );
    }

    #[test]
    fn tests_and_attributes() {
        check(
            &[
                ("tests/cli.rs", "mod common; use common::Env; use my_app::A;"),
                ("tests/common/mod.rs", ""),
                ("src/lib.rs", ""),
                CARGO,
            ],
            &["tests/common/mod.rs", "tests/common/mod.rs", "src/lib.rs"],
        );
        check(
            &[
                ("tests/run/main.rs", "#[path = \"../common/mod.rs\"] mod common; mod a;"),
                ("tests/common/mod.rs", ""),
                ("tests/run/a.rs", ""),
            ],
            &["tests/common/mod.rs", "tests/run/a.rs"],
        );
        check(
            &[
                ("src/a.rs", "#[path = \"../../../etc/x.rs\"] mod a; use super::super::super::x;"),
                ("src/lib.rs", ""),
            ],
            &["-", "-"],
        );
        check(
            &[("a.rs", "use crate::b; mod b;"), ("b.rs", ""), ("broken/Cargo.toml", "[[[")],
            &["b.rs", "-"],
        );
    }
}

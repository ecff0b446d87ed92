//! Import paths of Go: the name of a module of the repository, then a folder in it. A package is a folder.

use super::{Index, Target, join};
use crate::language::Language;

/// A `go.mod`.
#[derive(Debug)]
pub(super) struct Module {
    folder: String,
    path: String,
}

impl Module {
    /// What `text`, the `go.mod` in `folder`, calls the module.
    pub(super) fn read(folder: &str, text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.trim().strip_prefix("module")?.split("//").next())?;
        let path = line.trim().trim_matches(['"', '`']);
        (!path.is_empty()).then(|| Self { folder: folder.to_owned(), path: path.to_owned() })
    }
}

pub(super) fn resolve(index: &Index<'_>, name: &str) -> Option<Target> {
    let inner = |module: &Module| {
        let rest = name.strip_prefix(module.path.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.to_owned())
    };
    let module =
        index.modules.iter().filter(|module| inner(module).is_some()).max_by_key(|m| m.path.len())?;
    index.group(Language::Go, &join(&module.folder, &inner(module)?)?)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn packages_of_go() {
        check(
            &[
                (
                    "cmd/main.go",
                    "package main\nimport (\n\"fmt\"\n\"example.com/app\"\n\"example.com/app/store\"\n\"example.com/app/none\"\n\"example.com/apple\"\n\"example.com/app/tools/x\")",
                ),
                ("go.mod", "// x\nmodule example.com/app // y\n\ngo 1.22\n"),
                ("store/a.go", "package store"),
                ("store/b.go", "package store"),
                ("store/a_test.go", "package store"),
                ("top.go", "package app"),
                ("tools/go.mod", "module \"example.com/app/tools\""),
                ("tools/x/x.go", "package x"),
            ],
            &["-", "./", "store/", "-", "-", "tools/x/"],
        );
    }
}

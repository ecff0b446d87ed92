//! Modules and packages of Python: relative ones from the file's package, absolute ones from every folder above
//! the file that is no package itself, and from a `src` in it.

use super::super::imports::Import;
use super::{Index, Target, ancestors, below, split};

pub(super) fn resolve(index: &Index<'_>, from: &str, import: &Import) -> Option<Target> {
    let folder = split(from).0;
    match import {
        Import::Name(name) => {
            let parts: Vec<&str> = name.split('.').collect();
            (1..=parts.len()).rev().find_map(|length| absolute(index, folder, &parts[..length].join("/")))
        }
        Import::From { dots: 0, module, name } => {
            let path = module.replace('.', "/");
            let inner = name.as_ref().and_then(|name| absolute(index, folder, &format!("{path}/{name}")));
            inner.or_else(|| absolute(index, folder, &path))
        }
        Import::From { dots, module, name } => {
            let package = ancestors(folder).nth(dots - 1)?;
            let path = module
                .split('.')
                .filter(|part| !part.is_empty())
                .fold(package.to_owned(), |p, m| below(&p, m));
            let inner = name.as_ref().and_then(|name| self::module(index, &below(&path, name)));
            inner.or_else(|| self::module(index, &path))
        }
        _ => None,
    }
}

fn absolute(index: &Index<'_>, folder: &str, path: &str) -> Option<Target> {
    let is_package = |folder: &str| index.file(&below(folder, "__init__.py")).is_some();
    let roots = ancestors(folder).filter(|above| !is_package(above));
    roots
        .flat_map(|root| [below(root, path), below(root, &below("src", path))])
        .find_map(|p| module(index, &p))
}

/// The file of the module `path`, or the one that makes a package of it.
fn module(index: &Index<'_>, path: &str) -> Option<Target> {
    index.first_file(
        [".py", "/__init__.py", ".pyi"]
            .iter()
            .map(|end| format!("{path}{end}").trim_start_matches('/').to_owned()),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn modules_of_python() {
        let init = |path: &'static str| (path, "");
        check(
            &[
                (
                    "pkg/sub/a.py",
                    "from . import b, gone\nfrom .b import X\nfrom .. import c\nfrom ..other.d import e\nimport pkg.c\nimport pkg.sub.b as z\nfrom pkg import c\nimport os\nfrom .... import far",
                ),
                ("pkg/sub/b.py", ""),
                ("pkg/c.py", ""),
                ("pkg/other/d.py", ""),
                init("pkg/__init__.py"),
                init("pkg/sub/__init__.py"),
                init("pkg/other/__init__.py"),
            ],
            &[
                "pkg/sub/b.py",
                "pkg/sub/__init__.py",
                "pkg/sub/b.py",
                "pkg/c.py",
                "pkg/other/d.py",
                "pkg/c.py",
                "pkg/sub/b.py",
                "pkg/c.py",
                "-",
                "-",
            ],
        );
        check(
            &[
                ("tests/test_a.py", "from app.models import User\nimport app"),
                ("src/app/models.py", ""),
                ("src/app/__init__.py", ""),
            ],
            &["src/app/models.py", "src/app/__init__.py"],
        );
        check(
            &[
                ("scripts/run.py", "import helpers\nimport app.x"),
                ("scripts/helpers.py", ""),
                ("app/x.py", ""),
            ],
            &["scripts/helpers.py", "app/x.py"],
        );
        check(&[("pkg/a.py", "import b"), ("pkg/__init__.py", ""), ("pkg/b.py", "")], &["-"]);
        check(
            &[
                ("pkg/a.py", "from pkg import *\nfrom typing_ext import T"),
                ("pkg/__init__.py", ""),
                ("typing_ext.pyi", ""),
            ],
            &["pkg/__init__.py", "typing_ext.pyi"],
        );
    }
}

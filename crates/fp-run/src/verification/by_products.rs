//! Recognises files that tools leave in a repository that doesn't ignore them: caches and installed packages. They
//! belong to no task's change and are never committed. Otherwise, a task would be blamed for the output of its own
//! tests.

use std::collections::HashSet;

use fp_plan::repo_path::RepoPath;

/// Folders that only tools write to, at any depth.
const FOLDERS: [&[u8]; 8] = [
    b".venv",
    b"__pycache__",
    b"node_modules",
    b".pytest_cache",
    b".mypy_cache",
    b".ruff_cache",
    b".nyc_output",
    b".gradle",
];
/// Files that only tools write.
const FILES: [&[u8]; 3] = [b".DS_Store", b"Thumbs.db", b".coverage"];
/// Marks Cargo's target folder as a cache if it's beside a manifest. The folder's name alone proves nothing.
const TARGET_TAG: &[u8] = b"target/CACHEDIR.TAG";

/// Recognises by-products among untracked files.
#[derive(Debug, Clone, Default)]
pub struct ByProducts {
    targets: HashSet<Vec<u8>>,
}

impl ByProducts {
    /// `untracked` holds all files that git neither tracks nor ignores; `is_there` tells which files exist.
    pub fn among<'p>(
        untracked: impl IntoIterator<Item = &'p RepoPath>,
        is_there: impl Fn(&RepoPath) -> bool,
    ) -> Self {
        let folder = |path: &'p RepoPath| {
            let rest = path.as_bytes().strip_suffix(TARGET_TAG)?;
            let of_cargo = || is_there(&RepoPath::from_bytes([rest, b"Cargo.toml"].concat()));
            ((rest.is_empty() || rest.ends_with(b"/")) && of_cargo())
                .then(|| [rest, b"target/"].concat())
        };
        Self {
            targets: untracked.into_iter().filter_map(folder).collect(),
        }
    }

    /// True if `path`, an untracked file, is a by-product.
    pub fn covers(&self, path: &RepoPath) -> bool {
        let path = path.as_bytes();
        let mut parts = path.rsplit(|&b| b == b'/');
        let name = parts.next().unwrap_or_default();
        FILES.contains(&name)
            || parts.any(|folder| FOLDERS.contains(&folder))
            || self.targets.iter().any(|target| path.starts_with(target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_leave_behind() {
        let untracked: Vec<RepoPath> = [
            "x/target/CACHEDIR.TAG",
            "src/target/CACHEDIR.TAG",
            "mytarget/CACHEDIR.TAG",
        ]
        .map(RepoPath::from)
        .into();
        let found = ByProducts::among(&untracked, |path| path.as_bytes() == b"x/Cargo.toml");
        let check =
            |path: &str, expect: bool| assert_eq!(found.covers(&path.into()), expect, "{path}");
        check("pkg/__pycache__/a.cpython-312.pyc", true);
        check("web/node_modules/a/index.js", true);
        check(".venv/bin/pytest", true);
        check(".DS_Store", true);
        check("x/target/debug/x", true);
        check("x/target.rs", false);
        check("target/notes.md", false);
        check("src/target/evil.rs", false);
        check("pytest.pyc", false);
        check("mytarget/a", false);
        check("src/node_modules.rs", false);
        check("src/a.py", false);
        check("__pycache__", false);
    }
}

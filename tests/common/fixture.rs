//! Trees as a decomposer writes them, in which no rule finds anything. Each folder of `tests/fixtures/trees` has a
//! `tree.md`; its `repo.txt` and `interview.json` describe the things that the tree refers to.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
}

impl Fixture {
    pub(crate) fn all() -> Vec<Self> {
        let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/trees");
        let entries = fs::read_dir(base).unwrap().map(|entry| entry.unwrap());
        let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
        let mut all: Vec<Self> = folders
            .map(|entry| Self {
                name: entry.file_name().into_string().unwrap(),
                folder: entry.path(),
            })
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// The text of the fixture's file `name`, byte for byte; `None` if the file doesn't exist.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let path = self.folder.join(name);
        path.exists()
            .then(|| String::from_utf8(fs::read(path).unwrap()).unwrap())
    }

    /// Creates the repository for the fixture's tree in `root`, together with the interview. In `repo.txt`, `PATH
    /// LINES` is a file with that many lines and `PATH -> TARGET` a symlink.
    pub(crate) fn lay_out(&self, root: &Path) {
        for line in self.text("repo.txt").unwrap_or_default().lines() {
            let (path, content) = line.split_once(' ').unwrap();
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match content.strip_prefix("-> ") {
                Some(target) => link(target, &path),
                None => fs::write(path, "a line\n".repeat(content.parse().unwrap())).unwrap(),
            }
        }
        if let Some(interview) = self.text("interview.json") {
            fs::write(root.join("interview.json"), interview).unwrap();
        }
    }
}

#[cfg(unix)]
fn link(target: &str, path: &Path) {
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[cfg(not(unix))]
fn link(_target: &str, _path: &Path) {
    panic!("links are made on Unix alone");
}

//! The rules are pure, so this gathers the facts that they need: which paths of a tree exist, which of them lead
//! outside through a link, and which programs are installed. A model wrote the paths, so nothing beyond the root is
//! opened.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use fp_plan::plan::Plan;
use fp_plan::rules::{
    ConfirmedRequirement, PathFact, RuleFacts, mentioned_paths, mentioned_programs,
};
use fp_run::interview::Interview;
use fp_run::interview::record::RecordedStatement;

use crate::file;
use crate::platform::{self, find_program};

/// Maximum size of a file in which line references are checked, in bytes; in a larger file, every line number is
/// accepted.
const REFERENCE_CAP: u64 = 2 * 1024 * 1024;

/// Gathers the facts about `plan` in the repository at `root`, which is absolute and without links. `interview` holds
/// what the user confirmed, if known; `search_path` lists the folders of programs.
pub fn gather(
    root: &Path,
    plan: &Plan,
    max_complexity: u32,
    interview: Option<&Interview>,
    search_path: &OsStr,
) -> RuleFacts {
    let mut folders = Folders {
        root: root.to_owned(),
        known: HashMap::new(),
    };
    let mut texts = HashMap::new();
    let paths = mentioned_paths(plan).into_iter().map(|(path, counted)| {
        let fact = match folders.fact_about(&path) {
            PathFact::File { .. } if counted => {
                let text = file::read_bytes(&root.join(&*path), REFERENCE_CAP).ok();
                let lines = text.as_ref().map(|text| line_count(text));
                texts.extend(
                    text.and_then(|text| Some((path.to_string(), String::from_utf8(text).ok()?))),
                );
                PathFact::File { lines }
            }
            fact => fact,
        };
        (path.into_owned(), fact)
    });
    let paths = paths.collect();
    let programs = mentioned_programs(plan)
        .into_iter()
        .map(|word| (word.to_owned(), find_program(word, search_path).is_some()));
    let said = |list: fn(&Interview) -> &[RecordedStatement]| interview.map_or(&[][..], list);
    RuleFacts {
        max_complexity,
        paths,
        programs: programs.collect(),
        texts,
        requirements: said(|interview| &interview.requirements)
            .iter()
            .map(|said| ConfirmedRequirement {
                id: said.id.clone(),
                text: said.text.clone(),
            })
            .collect(),
        done: HashMap::new(),
    }
}

/// Caches folders, so that each is looked up only once.
struct Folders {
    root: PathBuf,
    known: HashMap<String, PathFact>,
}

impl Folders {
    /// The fact about `path`, which is in normal form.
    fn fact_about(&mut self, path: &str) -> PathFact {
        if path == "." || path.is_empty() {
            return PathFact::Folder;
        }
        if platform::is_impossible(path) {
            return PathFact::Impossible;
        }
        let parent = path.rsplit_once('/').map_or(".", |(parent, _)| parent);
        match self.folder(parent) {
            PathFact::Folder => self.entry(path),
            PathFact::Outside => PathFact::Outside,
            PathFact::Missing | PathFact::File { .. } | PathFact::Impossible => PathFact::Missing,
        }
    }

    /// The fact about a folder, cached.
    fn folder(&mut self, path: &str) -> PathFact {
        if let Some(fact) = self.known.get(path) {
            return *fact;
        }
        let fact = self.fact_about(path);
        self.known.insert(path.to_owned(), fact);
        fact
    }

    fn entry(&self, path: &str) -> PathFact {
        let path = self.root.join(path);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => self.link(&path),
            Ok(metadata) if metadata.is_dir() => PathFact::Folder,
            Ok(_) => PathFact::File { lines: None },
            Err(_) => PathFact::Missing,
        }
    }

    fn link(&self, path: &Path) -> PathFact {
        match platform::real_path(path) {
            Ok(target) if !target.starts_with(&self.root) => PathFact::Outside,
            Ok(target) if target.is_dir() => PathFact::Folder,
            Ok(_) => PathFact::File { lines: None },
            // A broken link can't be resolved, so its text decides.
            Err(_) => match fs::read_link(path) {
                Ok(target) if target.is_absolute() && !target.starts_with(&self.root) => {
                    PathFact::Outside
                }
                _ => PathFact::Missing,
            },
        }
    }
}

fn line_count(text: &[u8]) -> u64 {
    let unfinished = text.last().is_some_and(|last| *last != b'\n');
    text.iter().filter(|byte| **byte == b'\n').count() as u64 + u64::from(unfinished)
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use super::*;

    #[test]
    #[cfg(unix)]
    fn paths_are_looked_at_without_leaving_the_root() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("src/a.rs"), "1\n2").unwrap();
        symlink("/etc", root.join("out")).unwrap();
        symlink("src", root.join("in")).unwrap();
        symlink("/nowhere/at/all", root.join("broken")).unwrap();
        let mut folders = Folders {
            root: root.clone(),
            known: HashMap::new(),
        };
        let mut check =
            |path: &str, expect: PathFact| assert_eq!(folders.fact_about(path), expect, "{path}");
        check(".", PathFact::Folder);
        check("src", PathFact::Folder);
        check("src/a.rs", PathFact::File { lines: None });
        check("src/b.rs", PathFact::Missing);
        check("src/a.rs/b", PathFact::Missing);
        check("out", PathFact::Outside);
        check("out/passwd", PathFact::Outside);
        check("in/a.rs", PathFact::File { lines: None });
        check("broken", PathFact::Outside);
        assert_eq!(line_count(b"1\n2"), 2);
    }
}

//! What signals rest on: one walk over the repository and one `git log`, however many tasks and files there are. The
//! paths that tasks list come from a model: they are compared with those that the walk met, and looked at by themselves
//! only where they stay inside the repository and no link is on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fp_core::language::Language;
use fp_core::plan::Plan;
use fp_core::verification::by_products::is_folder_of_tools;
use fp_host::file::read_stranger;
use ignore::{DirEntry, WalkBuilder};

use super::coupling::imported_words;
use super::measure::{FilePresence, ListedEntry, RepositorySurvey, has_tests_inside};

/// Largest part of a listed file that is read, in bytes; what is behind it counts as no lines.
const LISTED_CAP: u64 = 8 * 1024 * 1024;
/// Largest file that is read only for its imports, in bytes; nobody wrote a larger one by hand.
const SOURCE_CAP: u64 = 1024 * 1024;
/// Bytes in which a file that is no text gives itself away.
const SAMPLE: usize = 8000;

/// Everything but history that the signals of `plan` need of the repository at `root`, absolute and without links. The
/// folder `plans_dir` of plans is nobody's source.
pub(super) fn survey(root: &Path, plans_dir: &str, plan: &Plan) -> RepositorySurvey {
    let mut survey = RepositorySurvey::default();
    let mut files = walk(root, plans_dir);
    survey.paths = files.keys().cloned().collect();
    let entries: BTreeSet<ListedEntry> = plan.leaves().flat_map(ListedEntry::all_of).collect();
    // A listed file that is ignored is measured like any other.
    for entry in &entries {
        if let ListedEntry::Path(path) = entry
            && path != "."
            && entry.covered(&survey.paths).is_empty()
        {
            match presence(root, path) {
                FilePresence::File => drop(files.insert(path.clone(), root.join(path))),
                other => drop(survey.others.insert(path.clone(), other)),
            }
        }
    }
    survey.paths = files.keys().cloned().collect();
    let listed: BTreeSet<usize> = entries.iter().flat_map(|entry| entry.covered(&survey.paths)).collect();
    for (at, path) in files.values().enumerate() {
        read_file(path, at, listed.contains(&at), &mut survey);
    }
    survey
}

/// The files that are not ignored, by their names in the repository. What can't be read is left out.
fn walk(root: &Path, plans_dir: &str) -> BTreeMap<String, PathBuf> {
    let plans = root.join(plans_dir);
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .parents(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(move |entry| !is_left_out(entry, &plans))
        .build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let named = |file: DirEntry| {
        let name = file.path().strip_prefix(root).ok()?.to_string_lossy();
        let name = if cfg!(windows) { name.replace('\\', "/") } else { name.into_owned() };
        Some((name, file.into_path()))
    };
    files.filter_map(named).collect()
}

/// git's own folder, that of the plans, what only tools write, and other repositories, such as a submodule or a
/// linked worktree with a copy of every file.
fn is_left_out(entry: &DirEntry, plans: &Path) -> bool {
    let (name, path) = (entry.file_name(), entry.path());
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    let is_repository = is_folder && fs::symlink_metadata(path.join(".git")).is_ok();
    let is_internal = name == ".git" || is_folder_of_tools(name.as_encoded_bytes()) || path == plans;
    entry.depth() > 0 && (is_repository || is_internal)
}

/// What stands at `path`, in normal form, below `root`. Each folder on the way is looked at by itself, so that no
/// link is followed.
fn presence(root: &Path, path: &str) -> FilePresence {
    let mut at = root.to_owned();
    let mut presence = FilePresence::Missing;
    for part in path.split('/') {
        at.push(part);
        presence = match fs::symlink_metadata(&at) {
            Err(_) => return FilePresence::Missing,
            Ok(metadata) if metadata.is_symlink() => return FilePresence::Link,
            Ok(metadata) if metadata.is_dir() => FilePresence::Folder,
            Ok(metadata) if metadata.is_file() => FilePresence::File,
            Ok(_) => FilePresence::Special,
        };
    }
    presence
}

/// Reads the file `at`, where somebody needs what is in it, and at most once.
fn read_file(path: &Path, at: usize, is_listed: bool, survey: &mut RepositorySurvey) {
    let language = Language::of(&survey.paths[at]).filter(|language| language.has_imports());
    if !is_listed && language.is_none() {
        return;
    }
    let cap = if is_listed { LISTED_CAP } else { SOURCE_CAP + 1 };
    let Ok(bytes) = read_stranger(path, cap) else {
        if is_listed {
            survey.unreadable.insert(at);
        }
        return;
    };
    let is_binary = bytes[..bytes.len().min(SAMPLE)].contains(&0);
    if is_binary || !is_listed && bytes.len() as u64 > SOURCE_CAP {
        return;
    }
    if is_listed {
        survey.lines.insert(at, bytes.split_inclusive(|byte| *byte == b'\n').count());
    }
    let Some(language) = language else { return };
    let text = String::from_utf8_lossy(&bytes);
    survey.words.insert(at, imported_words(&text));
    if language == Language::Rust && has_tests_inside(&text) {
        survey.with_tests.insert(at);
    }
}

//! The one walk: every file that is not ignored, on all cores; a file is read at most once, and only where somebody
//! needs what is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};

use fp_core::language::Language;
use fp_core::signals::imports::{self, Found};
use fp_core::signals::resolve::is_manifest;
use fp_core::signals::{Listed, Presence, Survey, importers};
use fp_core::verification::by_products::is_folder_of_tools;
use ignore::{DirEntry, WalkBuilder, WalkState};

use super::Place;
use super::listed::presence;
use super::read::{is_binary, lines, read};

/// Largest part of a listed file that is read, in bytes; what is behind it counts as no lines.
const LISTED_CAP: u64 = 8 * 1024 * 1024;
/// Largest file that is read only for what it imports, in bytes; a larger one was not written by hand.
const SOURCE_CAP: u64 = 1024 * 1024;
/// Threads of a walk, at most: more wait for the disk and for each other.
const THREADS: usize = 8;

/// What was found at one path.
struct Met {
    path: String,
    found: Option<Found>,
    lines: Option<u64>,
    manifest: Option<String>,
    readable: bool,
}

/// Says what of a file is needed.
struct Needs<'l> {
    listed: &'l Listed,
    languages: BTreeSet<Language>,
}

pub(super) fn walk(place: Place<'_>, listed: &Listed, progress: &(dyn Fn() + Sync)) -> Survey {
    let needs = Needs { listed, languages: languages(place.root, listed) };
    let (sender, receiver) = channel();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let plans = place.root.join(place.plans_dir);
    WalkBuilder::new(place.root)
        .hidden(false)
        .parents(false)
        .require_git(false)
        .follow_links(false)
        .threads(threads)
        .filter_entry(move |entry| !is_left_out(entry, &plans))
        .build_parallel()
        .run(|| {
            let sender = sender.clone();
            let needs = &needs;
            let mut buffer = Vec::new();
            Box::new(move |entry| {
                // What can't be read is left out; a listed file that is, is looked at again below.
                if let Ok(entry) = entry
                    && entry.file_type().is_some_and(|kind| kind.is_file())
                {
                    progress();
                    meet(place.root, entry.path(), needs, &mut buffer, &sender);
                }
                WalkState::Continue
            })
        });
    drop(sender);
    let mut met: Vec<Met> = receiver.into_iter().collect();
    met.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    met.dedup_by(|a, b| a.path == b.path);
    let others = look_at_the_rest(place.root, &needs, &mut met);
    collect(met, others)
}

/// The languages whose files may import one that is listed; all where a folder or a pattern is.
fn languages(root: &Path, listed: &Listed) -> BTreeSet<Language> {
    let all = [
        Language::Rust,
        Language::JavaScript,
        Language::Python,
        Language::Go,
        Language::Jvm,
        Language::C,
        Language::Ruby,
        Language::Php,
        Language::CSharp,
        Language::Swift,
    ];
    let is_folder = |path: &str| path == "." || presence(root, path) == Presence::Folder;
    if listed.has_patterns() || listed.paths().any(is_folder) {
        return all.into();
    }
    listed.paths().flat_map(importers).copied().collect()
}

/// git's own folder, that of the plans, what only tools write, and other repositories, such as a submodule or a
/// linked worktree with a copy of every file.
fn is_left_out(entry: &DirEntry, plans: &Path) -> bool {
    let name = entry.file_name();
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    if entry.depth() > 0 && is_folder && std::fs::symlink_metadata(entry.path().join(".git")).is_ok() {
        return true;
    }
    entry.depth() > 0
        && (name == ".git" || is_folder_of_tools(name.as_encoded_bytes()) || entry.path() == plans)
}

fn meet(root: &Path, path: &Path, needs: &Needs<'_>, buffer: &mut Vec<u8>, sender: &Sender<Met>) {
    let Some(name) = path.strip_prefix(root).ok().map(|path| path.to_string_lossy()) else { return };
    let name = if cfg!(windows) { name.replace('\\', "/") } else { name.into_owned() };
    // The receiver outlives the walk.
    drop(sender.send(look(name, path, needs, buffer)));
}

/// What is needed of the file `path`, whose name in the repository is `name`.
fn look(name: String, path: &Path, needs: &Needs<'_>, buffer: &mut Vec<u8>) -> Met {
    let is_listed = needs.listed.covers(&name);
    let is_source = Language::of(&name).is_some_and(|language| needs.languages.contains(&language));
    let mut met = Met { path: name, found: None, lines: None, manifest: None, readable: true };
    let is_manifest = is_manifest(&met.path);
    if !is_listed && !is_source && !is_manifest {
        return met;
    }
    let cap = if is_listed { LISTED_CAP } else { SOURCE_CAP + 1 };
    if read(path, cap, buffer).is_err() {
        met.readable = false;
        return met;
    }
    if !is_listed && buffer.len() as u64 > SOURCE_CAP {
        return met;
    }
    let is_text = !is_binary(buffer);
    if is_listed {
        met.lines = Some(if is_text { lines(buffer) } else { 0 });
    }
    if is_text && (is_source || is_listed) {
        met.found = Some(imports::find(&met.path, buffer));
    }
    if is_text && is_manifest {
        met.manifest = Some(String::from_utf8_lossy(buffer).into_owned());
    }
    met
}

/// Looks at the listed paths that the walk has not met, one by one: one that is ignored is measured like any
/// other.
fn look_at_the_rest(root: &Path, needs: &Needs<'_>, met: &mut Vec<Met>) -> BTreeMap<String, Presence> {
    let mut others: BTreeMap<String, Presence> = BTreeMap::new();
    let mut buffer = Vec::new();
    for path in needs.listed.paths() {
        let folder = format!("{path}/");
        let at = met.partition_point(|known| known.path.as_str() < path);
        let is_met = met.get(at).is_some_and(|known| known.path == path);
        let below = met.partition_point(|known| known.path.as_str() < folder.as_str());
        let has_files = met.get(below).is_some_and(|known| known.path.starts_with(&folder));
        if is_met && !met[at].readable {
            met.remove(at);
            others.insert(path.to_owned(), Presence::Unreadable);
        }
        if path == "." || is_met || has_files {
            continue;
        }
        let presence = presence(root, path);
        if presence != Presence::File {
            others.insert(path.to_owned(), presence);
            continue;
        }
        let ignored = look(path.to_owned(), &root.join(path), needs, &mut buffer);
        if ignored.readable {
            met.insert(at, ignored);
        } else {
            others.insert(path.to_owned(), Presence::Unreadable);
        }
    }
    others
}

fn collect(met: Vec<Met>, others: BTreeMap<String, Presence>) -> Survey {
    let mut survey = Survey { others, ..Survey::default() };
    for (at, met) in met.into_iter().enumerate() {
        survey.paths.push(met.path);
        survey.sources.extend(met.found.map(|found| (at, found)));
        survey.manifests.extend(met.manifest.map(|text| (at, text)));
        survey.lines.extend(met.lines.map(|lines| (at, lines)));
    }
    survey
}

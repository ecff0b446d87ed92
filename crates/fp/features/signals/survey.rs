//! Gathers the input of the signals with one walk over the repository and one `git log`, no matter how many
//! tasks and files there are. A model wrote the paths in tasks, so they are compared with the paths of the
//! walk. One is opened by itself only if it stays inside the repository and no link is on the way.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use fp_host::file::read_stranger;
use fp_host::git::{Git, GitError};
use fp_host::platform;
use fp_plan::language::Language;
use fp_plan::plan::Plan;
use fp_run::commit_style::is_fix;
use fp_run::verification::by_products::is_folder_of_tools;
use ignore::{DirEntry, WalkBuilder};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::coupling::imported_words;
use super::measure::{FileHistory, ListedEntry, RepositorySurvey, has_tests_inside};

/// Largest part of a file that is read, in bytes; anything beyond doesn't count.
const CAP: u64 = 8 * 1024 * 1024;
/// Bytes examined for signs of a binary file.
const SAMPLE: usize = 8000;

/// Everything except history that the signals of `plan` need from the repository at `root`, which is absolute
/// and without links. Skips `plans_dir`, the folder of plans: it is no source.
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
            && fs::symlink_metadata(root.join(path)).is_ok_and(|metadata| metadata.is_file())
            && is_without_links(root, path)
        {
            files.insert(path.clone(), root.join(path));
        }
    }
    survey.paths = files.keys().cloned().collect();
    let listed: BTreeSet<usize> = entries
        .iter()
        .flat_map(|entry| entry.covered(&survey.paths))
        .collect();
    for (at, path) in files.values().enumerate() {
        read_file(path, at, listed.contains(&at), &mut survey);
    }
    survey
}

/// The files that are not ignored, by their paths in the repository. Skips anything that can't be read.
fn walk(root: &Path, plans_dir: &str) -> BTreeMap<String, PathBuf> {
    let plans = root.join(plans_dir);
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .parents(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(move |entry| !is_left_out(entry, &plans))
        .build();
    let files = walk
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let named = |file: DirEntry| {
        let name = platform::slashed(file.path().strip_prefix(root).ok()?);
        Some((
            String::from_utf8_lossy(&name).into_owned(),
            file.into_path(),
        ))
    };
    files.filter_map(named).collect()
}

/// True for git's own folder, the folder of plans, folders that only tools write, and other repositories,
/// such as a submodule or a linked worktree with a copy of every file.
fn is_left_out(entry: &DirEntry, plans: &Path) -> bool {
    let (name, path) = (entry.file_name(), entry.path());
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    let is_repository = is_folder && fs::symlink_metadata(path.join(".git")).is_ok();
    let is_internal =
        name == ".git" || is_folder_of_tools(name.as_encoded_bytes()) || path == plans;
    entry.depth() > 0 && (is_repository || is_internal)
}

/// True if no link is on the way from `root` to `path`, which is in normal form.
fn is_without_links(root: &Path, path: &str) -> bool {
    let real = |path: &Path| platform::real_path(path).ok();
    real(&root.join(path))
        .is_some_and(|found| real(root).is_some_and(|root| found == root.join(path)))
}

/// Reads the file `at` if its content matters, and at most once.
fn read_file(path: &Path, at: usize, is_listed: bool, survey: &mut RepositorySurvey) {
    let language = Language::of(&survey.paths[at]).filter(|language| language.has_imports());
    if !is_listed && language.is_none() {
        return;
    }
    let Ok(bytes) = read_stranger(path, CAP) else {
        return;
    };
    if bytes[..bytes.len().min(SAMPLE)].contains(&0) {
        return;
    }
    if is_listed {
        survey
            .lines
            .insert(at, bytes.split_inclusive(|byte| *byte == b'\n').count());
    }
    let Some(language) = language else { return };
    let text = String::from_utf8_lossy(&bytes);
    survey.words.insert(at, imported_words(&text));
    if language == Language::Rust && has_tests_inside(&text) {
        survey.with_tests.insert(at);
    }
}

/// The history of the files in the six months before `now`, by their current paths. Gaps in it are added to
/// `notes`.
pub(super) fn file_history(
    git: Result<&Git, &GitError>,
    now: Timestamp,
    notes: &mut Vec<String>,
) -> BTreeMap<String, FileHistory> {
    let since = now
        .to_zoned(TimeZone::UTC)
        .saturating_sub(6.months())
        .timestamp();
    match git
        .map_err(ToString::to_string)
        .and_then(|git| git.file_log(since).map_err(|e| e.to_string()))
    {
        Ok(log) => counted_log(&log),
        Err(why) => {
            notes.push(format!(
                "gitRisk is 1 everywhere, since there is no history: {why}"
            ));
            BTreeMap::new()
        }
    }
}

/// Counts the output of [`Git::file_log`]. Relies on the position of records alone, so that no name and no message is
/// mistaken for anything else.
fn counted_log(log: &[u8]) -> BTreeMap<String, FileHistory> {
    let mut records = log.split(|byte| *byte == 0);
    let mut files: BTreeMap<String, FileHistory> = BTreeMap::new();
    let mut authors: HashSet<(String, Vec<u8>)> = HashSet::new();
    // The current names of files that had others; a log goes back in time.
    let mut names: HashMap<String, String> = HashMap::new();
    let (mut author, mut fixes) = (Vec::new(), false);
    while let Some(record) = records.next() {
        // Ids are in lower case; a capital letter tells the kind of a change.
        let Some(first) = record.trim_ascii_start().first() else {
            continue;
        };
        let mut next = || records.next().unwrap_or_default();
        if !first.is_ascii_uppercase() {
            author = next().to_ascii_lowercase();
            fixes = is_fix(&String::from_utf8_lossy(next()));
            continue;
        }
        let old = matches!(first, b'R' | b'C').then(&mut next);
        let path = String::from_utf8_lossy(next()).into_owned();
        let path = names.get(&path).cloned().unwrap_or(path);
        if let Some(old) = old.filter(|_| *first == b'R') {
            names.insert(String::from_utf8_lossy(old).into_owned(), path.clone());
        }
        let count = files.entry(path.clone()).or_default();
        count.commits += 1;
        count.authors += usize::from(authors.insert((path, author.clone())));
        count.fix_commits += usize::from(fixes);
    }
    files
}

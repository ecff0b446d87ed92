//! New dependencies: a task gets one only if it lists the manifest and its own words ask for it.

mod lock;
mod manifest;

use std::collections::BTreeSet;

pub use lock::lock_names;

use super::{ChangedText, Check, CheckVerdict, Facts, Scope, boundary::Boundary, intent, list};
use crate::repo_path::RepoPath;

/// Names of packages.
type Names = BTreeSet<String>;

/// Reads the names in a text; `None` if it isn't such a file.
type Read = fn(&str) -> Option<Names>;

/// Package managers, each with its own kind of manifest and of lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ecosystem {
    Cargo,
    Npm,
    Python,
    Go,
    Ruby,
    Jvm,
    Php,
    DotNet,
    Swift,
}

/// Whether a file says what a program depends on.
pub(super) fn is_of_interest(path: &RepoPath) -> bool {
    let path = path.to_lossy().to_lowercase();
    manifest::of(&path).is_some() || lock::of(&path).is_some()
}

/// Whether a file is a lock file.
pub(super) fn is_lock(path: &RepoPath) -> bool {
    lock::of(&path.to_lossy().to_lowercase()).is_some()
}

/// Whether `path` is a manifest: what a program depends on, as a person writes it.
#[must_use]
pub fn is_manifest(path: &str) -> bool {
    manifest::of(&path.to_lowercase()).is_some()
}

/// Whether `path` is a lock file that the manifest `listed` leads to: in its folder or above.
#[must_use]
pub fn is_lock_of(path: &str, listed: &str) -> bool {
    let (path, listed) = (&path.to_lowercase(), &listed.to_lowercase());
    let (Some((lock, _)), Some((manifest, _))) = (lock::of(path), manifest::of(listed)) else { return false };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let below = listed.strip_prefix(folder).is_some_and(|rest| folder.is_empty() || rest.starts_with('/'));
    lock == manifest && below
}

/// A changed manifest or lock file.
struct Listed<'f> {
    file: &'f ChangedText,
    ecosystem: Ecosystem,
    before: Option<Names>,
    after: Option<Names>,
}

impl Listed<'_> {
    fn added(&self) -> impl Iterator<Item = &String> {
        let known = |name: &&String| !self.before.as_ref().is_some_and(|before| before.contains(*name));
        self.after.iter().flatten().filter(known)
    }
}

fn listed(facts: &Facts, of: fn(&str) -> Option<(Ecosystem, Read)>) -> Vec<Listed<'_>> {
    facts.texts.iter().filter_map(|file| listing(file, of)).collect()
}

fn listing(file: &ChangedText, of: fn(&str) -> Option<(Ecosystem, Read)>) -> Option<Listed<'_>> {
    let (ecosystem, read) = of(&file.path.to_lossy().to_lowercase())?;
    let names = |text: &Option<String>| text.as_deref().map_or(Some(Names::new()), read);
    Some(Listed { file, ecosystem, before: names(&file.before), after: names(&file.after) })
}

pub(super) fn check(scope: &Scope, facts: &Facts) -> Check {
    let (manifests, locks) = (listed(facts, manifest::of), listed(facts, lock::of));
    let unread: Vec<&RepoPath> = facts.unread.iter().filter(|path| is_of_interest(path)).collect();
    if manifests.is_empty() && locks.is_empty() && unread.is_empty() {
        return Check::new(
            "dependencies",
            CheckVerdict::NotApplicable,
            "no manifest and no lock file changed",
        );
    }
    let (mut problems, mut notes) = (Vec::new(), Vec::new());
    let boundary = Boundary::new(&scope.files);
    for manifest in &manifests {
        let path = &manifest.file.path;
        if manifest.after.is_none() {
            problems.push(format!("{path} can't be read as what its name says"));
        }
        for name in manifest.added().filter(|name| !was_in_another(name, manifest, &manifests)) {
            let wanted = boundary.covers(path) && intent::wants_dependency(&scope.text, name);
            if wanted { &mut notes } else { &mut problems }.push(format!("{path} gains `{name}`"));
        }
    }
    for lock in &locks {
        let added: Vec<String> = lock.added().map(|name| format!("`{name}`")).collect();
        let mut own = manifests.iter().filter(|manifest| manifest.ecosystem == lock.ecosystem).peekable();
        let path = &lock.file.path;
        match (own.peek().is_some(), added.is_empty()) {
            (false, false) => {
                problems.push(format!("{path} gains {}, though no manifest changed", list(&added)))
            }
            (false, true) => notes.push(format!("{path} changed, though no manifest did")),
            (true, false) if own.all(|manifest| manifest.added().next().is_none()) => {
                notes.push(format!("{path} gains {}", list(&added)));
            }
            _ => {}
        }
    }
    notes.extend(unread.iter().map(|path| format!("{path} is too large to be looked at")));
    match (problems.is_empty(), notes.is_empty()) {
        (false, _) => {
            let why = "; a task gets a dependency if it lists the manifest and asks for it";
            Check::new("dependencies", CheckVerdict::Fail, list(&problems) + why)
        }
        (true, false) => Check::new("dependencies", CheckVerdict::Note, list(&notes)),
        (true, true) => Check::new("dependencies", CheckVerdict::Pass, "none was added"),
    }
}

/// Whether the change only moved a dependency from one manifest to another.
fn was_in_another(name: &str, manifest: &Listed, manifests: &[Listed]) -> bool {
    let gone = |other: &&Listed| {
        let has = |names: &Option<Names>| names.as_ref().is_some_and(|names| names.contains(name));
        other.ecosystem == manifest.ecosystem && has(&other.before) && !has(&other.after)
    };
    manifests.iter().any(|other| gone(&other))
}

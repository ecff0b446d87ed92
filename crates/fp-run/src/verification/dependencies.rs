//! Guards against unwanted dependencies: a task may add one only if it lists the manifest and its text asks for the
//! dependency, and existing dependencies must stay as they were.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::{ChangeFacts, ChangedText, Check, CheckVerdict, Findings, TaskScope, intent, list};
use crate::regex;
use fp_plan::language::Language;
use fp_plan::locked_origins::{host_of, locked_origins, package_name};
use fp_plan::package_files::{
    PackageNames, PackageReader, is_package_file, lock_kind, manifest_kind,
};
use fp_plan::repo_path::RepoPath;
use fp_plan::text::clipped;

/// Name of the check.
const NAME: &str = "dependencies";
/// Maximum length of a quoted address or checksum, in characters.
const SHOWN: usize = 100;

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| regex(r#"\b[a-z][a-z+]*://[^\s"'<>(),;\]}]+"#));

/// A changed manifest or lock file.
struct PackageText<'f> {
    file: &'f ChangedText,
    language: Language,
    before: Option<PackageNames>,
    after: Option<PackageNames>,
}

impl PackageText<'_> {
    fn added_names(&self) -> impl Iterator<Item = &String> {
        let before = self.before.as_ref();
        let is_known = move |name: &String| before.is_some_and(|before| before.contains(name));
        let after = self.after.iter().flatten();
        after.filter(move |name| !is_known(name))
    }
}

/// The changed files that `kind_of` recognises.
fn package_texts(
    facts: &ChangeFacts,
    kind_of: fn(&str) -> Option<(Language, PackageReader)>,
) -> Vec<PackageText<'_>> {
    let texts = facts.texts.iter().filter_map(|file| {
        let (language, reader) = kind_of(&file.path.to_lossy().to_lowercase())?;
        let names = |text: &Option<String>| match text {
            Some(text) => reader.names_in(text),
            None => Some(PackageNames::new()),
        };
        Some(PackageText {
            file,
            language,
            before: names(&file.before),
            after: names(&file.after),
        })
    });
    texts.collect()
}

pub(super) fn check(scope: &TaskScope, facts: &ChangeFacts) -> Check {
    let manifests = package_texts(facts, manifest_kind);
    let locks = package_texts(facts, lock_kind);
    let is_unread = |path: &&RepoPath| is_package_file(path);
    let unread: Vec<&RepoPath> = facts.unread.iter().filter(is_unread).collect();
    if manifests.is_empty() && locks.is_empty() && unread.is_empty() {
        let detail = "no manifest and no lock file changed";
        return Check::new(NAME, CheckVerdict::NotApplicable, detail);
    }
    let mut moved = Findings::default();
    let may_move = intent::mentions(&scope.text, &intent::ORIGIN);
    for lock in &locks {
        moved.add_all(moved_packages(lock, may_move));
    }
    for PackageText { file, .. } in &manifests {
        for address in &addresses_in(&file.after) - &addresses_in(&file.before) {
            let told = format!("{} names {address}, and did not before", file.path);
            moved.notes.push(told);
        }
    }
    for path in unread {
        let told = format!("{path} is too large to be looked at");
        moved.notes.push(told);
    }
    let mut gained = gained_packages(scope, &manifests, &locks);
    let (asked_for, stays) = (
        "a task gets a dependency if it lists the manifest and asks for it",
        "a package stays where it came from unless the task speaks of a registry, a mirror or a checksum",
    );
    let reasons = [(&gained.faults, asked_for), (&moved.faults, stays)];
    let faults = reasons.iter().filter(|(faults, _)| !faults.is_empty());
    let faults: Vec<String> = faults
        .map(|(faults, why)| format!("{}; {why}", list(faults)))
        .collect();
    if !faults.is_empty() {
        return Check::new(NAME, CheckVerdict::Fail, faults.join(". "));
    }
    gained.notes.append(&mut moved.notes);
    gained.into_check(NAME, "none was added")
}

/// Finds the packages that were added to manifests and lock files. Any that the task doesn't ask for is a fault.
fn gained_packages(
    scope: &TaskScope,
    manifests: &[PackageText],
    locks: &[PackageText],
) -> Findings {
    let mut found = Findings::default();
    let boundary = scope.boundary();
    for manifest in manifests {
        let path = &manifest.file.path;
        if manifest.after.is_none() {
            found.faults.push(unreadable(path));
        }
        let is_new = |name: &&String| !was_in_another(name, manifest, manifests);
        for name in manifest.added_names().filter(is_new) {
            let wanted = boundary.covers(path) && intent::wants_dependency(&scope.text, name);
            let told = format!("{path} gains `{name}`");
            found.list(!wanted).push(told);
        }
    }
    for lock in locks {
        let path = &lock.file.path;
        let added: Vec<String> = lock.added_names().map(|name| format!("`{name}`")).collect();
        let (gains, is_same) = (format!("{path} gains {}", list(&added)), added.is_empty());
        let own = manifests
            .iter()
            .filter(|manifest| manifest.language == lock.language);
        let own: Vec<&PackageText> = own.collect();
        if own.is_empty() && is_same {
            let told = format!("{path} changed, though no manifest did");
            found.notes.push(told);
        } else if own.is_empty() {
            let told = format!("{gains}, though no manifest changed");
            found.faults.push(told);
        } else if !is_same
            && own
                .iter()
                .all(|manifest| manifest.added_names().next().is_none())
        {
            found.notes.push(gains);
        }
    }
    found
}

fn unreadable(path: &RepoPath) -> String {
    format!("{path} can't be read as what its name says")
}

/// Finds the packages of a lock file that keep their version but have a different address or checksum, which is a fault
/// unless packages `may_move`, and the packages from a host that nothing came from before.
fn moved_packages(lock: &PackageText, may_move: bool) -> Findings {
    let mut found = Findings::default();
    let path = &lock.file.path;
    let name = path.to_lossy().to_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let read = |text: &Option<String>| locked_origins(name, text.as_deref()?);
    let Some(before) = read(&lock.file.before) else {
        return found;
    };
    let Some(after) = read(&lock.file.after) else {
        if lock.file.after.is_some() {
            found.faults.push(unreadable(path));
        }
        return found;
    };
    let hosts = before
        .values()
        .flatten()
        .filter_map(|origin| host_of(origin));
    let hosts: BTreeSet<&str> = hosts.collect();
    let known: BTreeSet<&str> = before.keys().map(|key| package_name(key)).collect();
    let is_foreign = |origin: &&&String| host_of(origin).is_some_and(|host| !hosts.contains(host));
    let shown = |origin: &&String| clipped(origin, SHOWN);
    let nothing = BTreeSet::new();
    for (package, now) in &after {
        let was = before.get(package).unwrap_or(&nothing);
        let new: Vec<&String> = now.difference(was).collect();
        let foreign = new.iter().find(is_foreign).filter(|_| !hosts.is_empty());
        if let Some(origin) = foreign.map(shown) {
            let is_moved = known.contains(package_name(package));
            let told = format!("{path}: {package} comes from {origin}, as nothing did before");
            found.list(is_moved && !may_move).push(told);
        } else if !was.is_subset(now) {
            let now = new.first().map(shown);
            let now = now.unwrap_or_else(|| "none in its place".to_owned());
            let told = format!("{path}: {package} has another address or checksum: {now}");
            found.list(!may_move).push(told);
        } else if !was.is_empty() && !new.is_empty() {
            let told = format!("{path}: {package} has more addresses or checksums");
            found.notes.push(told);
        }
    }
    found
}

/// The addresses that a manifest names.
fn addresses_in(text: &Option<String>) -> BTreeSet<String> {
    let found = ADDRESS.find_iter(text.as_deref().unwrap_or_default());
    let shown = found.map(|address| clipped(address.as_str(), SHOWN));
    shown.collect()
}

/// True if `name` was only moved to `manifest` from another manifest in the same language.
fn was_in_another(name: &str, manifest: &PackageText, manifests: &[PackageText]) -> bool {
    let has = |names: &Option<PackageNames>| names.iter().any(|names| names.contains(name));
    let is_gone = |other: &PackageText| has(&other.before) && !has(&other.after);
    let mut manifests = manifests.iter();
    manifests.any(|other| other.language == manifest.language && is_gone(other))
}

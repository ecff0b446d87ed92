//! Guards against unwanted dependencies: a task gets one only if it lists the manifest and its own words ask for it, and
//! those that there are stay what they were.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::{ChangeFacts, ChangedText, Check, CheckVerdict, TaskScope, intent, list};
use crate::regex;
use fp_plan::language::Language;
use fp_plan::locked_origins::{host_of, locked_origins};
use fp_plan::package_files::{
    PackageNames, ReadPackages, is_package_file, lock_kind, manifest_kind,
};
use fp_plan::repo_path::RepoPath;
use fp_plan::text::clipped;

/// Longest quotation of an address or a checksum, in characters.
const SHOWN: usize = 100;

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| regex(r#"\b[a-z][a-z+]*://[^\s"'<>(),;\]}]+"#));

/// A changed manifest or lock file.
struct Listed<'f> {
    file: &'f ChangedText,
    language: Language,
    before: Option<PackageNames>,
    after: Option<PackageNames>,
}

impl Listed<'_> {
    fn added(&self) -> impl Iterator<Item = &String> {
        let known = |name: &&String| {
            !self
                .before
                .as_ref()
                .is_some_and(|before| before.contains(*name))
        };
        self.after.iter().flatten().filter(known)
    }
}

fn listed(
    facts: &ChangeFacts,
    of: fn(&str) -> Option<(Language, ReadPackages)>,
) -> Vec<Listed<'_>> {
    facts
        .texts
        .iter()
        .filter_map(|file| listing(file, of))
        .collect()
}

fn listing(
    file: &ChangedText,
    of: fn(&str) -> Option<(Language, ReadPackages)>,
) -> Option<Listed<'_>> {
    let (language, read) = of(&file.path.to_lossy().to_lowercase())?;
    let names = |text: &Option<String>| text.as_deref().map_or(Some(PackageNames::new()), read);
    Some(Listed {
        file,
        language,
        before: names(&file.before),
        after: names(&file.after),
    })
}

pub(super) fn check(scope: &TaskScope, facts: &ChangeFacts) -> Check {
    let (manifests, locks) = (listed(facts, manifest_kind), listed(facts, lock_kind));
    let unread: Vec<&RepoPath> = facts
        .unread
        .iter()
        .filter(|path| is_package_file(path))
        .collect();
    if manifests.is_empty() && locks.is_empty() && unread.is_empty() {
        return Check::new(
            "dependencies",
            CheckVerdict::NotApplicable,
            "no manifest and no lock file changed",
        );
    }
    let (mut problems, mut notes) = (Vec::new(), Vec::new());
    let boundary = scope.boundary();
    for manifest in &manifests {
        let path = &manifest.file.path;
        if manifest.after.is_none() {
            problems.push(format!("{path} can't be read as what its name says"));
        }
        for name in manifest
            .added()
            .filter(|name| !was_in_another(name, manifest, &manifests))
        {
            let wanted = boundary.covers(path) && intent::wants_dependency(&scope.text, name);
            if wanted { &mut notes } else { &mut problems }.push(format!("{path} gains `{name}`"));
        }
    }
    for lock in &locks {
        let added: Vec<String> = lock.added().map(|name| format!("`{name}`")).collect();
        let mut own = manifests
            .iter()
            .filter(|manifest| manifest.language == lock.language)
            .peekable();
        let path = &lock.file.path;
        match (own.peek().is_some(), added.is_empty()) {
            (false, false) => problems.push(format!(
                "{path} gains {}, though no manifest changed",
                list(&added)
            )),
            (false, true) => notes.push(format!("{path} changed, though no manifest did")),
            (true, false) if own.all(|manifest| manifest.added().next().is_none()) => {
                notes.push(format!("{path} gains {}", list(&added)));
            }
            _ => {}
        }
    }
    let mut moved = Vec::new();
    for lock in &locks {
        let (found, told) = moved_packages(lock, scope);
        moved.extend(found);
        notes.extend(told);
    }
    for manifest in &manifests {
        let new = &addresses(&manifest.file.after) - &addresses(&manifest.file.before);
        let path = &manifest.file.path;
        notes.extend(
            new.iter()
                .map(|address| format!("{path} names {address}, and did not before")),
        );
    }
    notes.extend(
        unread
            .iter()
            .map(|path| format!("{path} is too large to be looked at")),
    );
    let reasons = [
        (
            problems,
            "a task gets a dependency if it lists the manifest and asks for it",
        ),
        (
            moved,
            "a package stays where it came from unless the task speaks of a registry, a mirror or a checksum",
        ),
    ];
    let faults: Vec<String> = reasons
        .into_iter()
        .filter(|(problems, _)| !problems.is_empty())
        .map(|(problems, why)| format!("{}; {why}", list(&problems)))
        .collect();
    match (faults.is_empty(), notes.is_empty()) {
        (false, _) => Check::new("dependencies", CheckVerdict::Fail, faults.join(". ")),
        (true, false) => Check::new("dependencies", CheckVerdict::Note, list(&notes)),
        (true, true) => Check::new("dependencies", CheckVerdict::Pass, "none was added"),
    }
}

/// The packages of a lock file that stay at their version and come from elsewhere or have another checksum, and those that
/// come from where nothing came from before: the faults, and what is only worth knowing.
fn moved_packages(lock: &Listed, scope: &TaskScope) -> (Vec<String>, Vec<String>) {
    let path = &lock.file.path;
    let name = path.to_lossy().to_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let read = |text: &Option<String>| locked_origins(name, text.as_deref()?);
    let (Some(before), after) = (read(&lock.file.before), read(&lock.file.after)) else {
        return Default::default();
    };
    let Some(after) = after else {
        let gone = lock.file.after.is_none();
        let unreadable = format!("{path} can't be read as what its name says");
        return (if gone { Vec::new() } else { vec![unreadable] }, Vec::new());
    };
    let hosts: BTreeSet<&str> = before
        .values()
        .flatten()
        .filter_map(|o| host_of(o))
        .collect();
    let package_of = |key: &str| {
        key.rsplit_once(' ')
            .map_or(key.to_owned(), |(name, _)| name.to_owned())
    };
    let known: BTreeSet<String> = before.keys().map(|key| package_of(key)).collect();
    let (mut found, mut told) = (Vec::new(), Vec::new());
    for (package, now) in &after {
        let nothing = BTreeSet::new();
        let was = before.get(package).unwrap_or(&nothing);
        let new: Vec<&String> = now.difference(was).collect();
        let foreign = new
            .iter()
            .find(|origin| host_of(origin).is_some_and(|host| !hosts.contains(host)));
        let is_known = known.contains(&package_of(package));
        let is_replaced = !was.is_subset(now);
        let shown = |origin: &str| clipped(origin, SHOWN);
        if let Some(origin) = foreign.filter(|_| !hosts.is_empty()) {
            let fault = format!(
                "{path}: {package} comes from {}, as nothing did before",
                shown(origin)
            );
            if is_known { &mut found } else { &mut told }.push(fault);
        } else if is_replaced {
            let now = new
                .first()
                .map_or("none in its place".to_owned(), |origin| shown(origin));
            found.push(format!(
                "{path}: {package} has another address or checksum: {now}"
            ));
        } else if !was.is_empty() && !new.is_empty() {
            told.push(format!("{path}: {package} has more addresses or checksums"));
        }
    }
    if intent::mentions(&scope.text, &intent::ORIGIN) {
        told.append(&mut found);
    }
    (found, told)
}

/// The addresses that a manifest names.
fn addresses(text: &Option<String>) -> BTreeSet<String> {
    let found = ADDRESS.find_iter(text.as_deref().unwrap_or_default());
    found
        .map(|address| clipped(address.as_str(), SHOWN))
        .collect()
}

/// True if the change only moved a dependency from another manifest to this one.
fn was_in_another(name: &str, manifest: &Listed, manifests: &[Listed]) -> bool {
    let gone = |other: &&Listed| {
        let has =
            |names: &Option<PackageNames>| names.as_ref().is_some_and(|names| names.contains(name));
        other.language == manifest.language && has(&other.before) && !has(&other.after)
    };
    manifests.iter().any(|other| gone(&other))
}

//! Guards against unwanted dependencies: a task gets one only if it lists the manifest and its own words ask for it.

use super::{ChangeFacts, ChangedText, Check, CheckVerdict, TaskScope, intent, list};
use fp_plan::language::Language;
use fp_plan::package_files::{
    PackageNames, ReadPackages, is_package_file, lock_kind, manifest_kind,
};
use fp_plan::repo_path::RepoPath;

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
    notes.extend(
        unread
            .iter()
            .map(|path| format!("{path} is too large to be looked at")),
    );
    match (problems.is_empty(), notes.is_empty()) {
        (false, _) => {
            let why = "; a task gets a dependency if it lists the manifest and asks for it";
            Check::new("dependencies", CheckVerdict::Fail, list(&problems) + why)
        }
        (true, false) => Check::new("dependencies", CheckVerdict::Note, list(&notes)),
        (true, true) => Check::new("dependencies", CheckVerdict::Pass, "none was added"),
    }
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

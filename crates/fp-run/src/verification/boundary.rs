//! Defines the files a task may touch: those it lists, everything below its folders, new test files beside them, and
//! the lock file of a listed manifest.

use super::change::{Change, ChangeStatus, FileKind};
use super::{ChangeFacts, Check, CheckVerdict, TaskScope, intent, list};
use crate::test_files;
use fp_plan::package_files::{is_lock_of, lock_names};
use fp_plan::repo_path::RepoPath;

/// The paths that a task's list of files allows.
#[derive(Debug, Clone)]
pub struct Boundary {
    /// Paths as git writes them.
    files: Vec<String>,
    ignores_case: bool,
}

impl Boundary {
    /// Builds the boundary of `files` as a task lists them. `./`, doubled or trailing `/`, and surrounding blanks make
    /// no difference; a folder covers everything below it. Names are compared byte by byte.
    pub fn new<T: AsRef<str>>(files: impl IntoIterator<Item = T>) -> Self {
        let files = files.into_iter().map(|file| as_git_writes(file.as_ref()));
        Self {
            files: files.collect(),
            ignores_case: false,
        }
    }

    /// With `ignores_case`, letter case is ignored too, as in the file system.
    pub fn ignoring_case(self, ignores_case: bool) -> Self {
        Self {
            ignores_case,
            ..self
        }
    }

    /// True if `path` is listed, or below a listed folder.
    pub fn covers(&self, path: &RepoPath) -> bool {
        let is_listed = |path: &[u8], lower: fn(&str) -> String| {
            self.files
                .iter()
                .any(|file| is_within(path, lower(file).as_bytes()))
        };
        match self.ignores_case {
            true => is_listed(path.to_lossy().to_lowercase().as_bytes(), str::to_lowercase),
            false => is_listed(path.as_bytes(), str::to_owned),
        }
    }

    /// True if `path` may be created without being listed: a test file beside a listed file, or a snapshot of such a
    /// test.
    pub fn allows_new(&self, path: &RepoPath) -> bool {
        self.suits(path, test_files::is_test_beside)
    }

    /// True if the file at `path` may change: it is listed, it is the lock file of a listed manifest, or it is a test
    /// beside a listed file and `is_new` returns true. `is_new` is only called in that last case.
    pub fn allows(&self, path: &RepoPath, is_new: impl FnOnce() -> bool) -> bool {
        self.covers(path) || self.allows_lock(path) || self.allows_new(path) && is_new()
    }

    /// True if `path` is the lock file of a listed manifest: package managers rewrite it freely.
    pub fn allows_lock(&self, path: &RepoPath) -> bool {
        let name = path.to_lossy();
        let name = name.rsplit('/').next().unwrap_or_default();
        (self.ignores_case || lock_names().any(|known| known == name))
            && self.suits(path, is_lock_of)
    }

    /// True if `convention` holds for the lower-case forms of `path` and a listed file, and their common folders also
    /// agree in case, unless case is ignored.
    fn suits(&self, path: &RepoPath, convention: impl Fn(&str, &str) -> bool) -> bool {
        let Ok(path) = str::from_utf8(path.as_bytes()) else {
            return false;
        };
        let same_folders = |file: &str| {
            let pairs = path.split('/').zip(file.split('/'));
            let mut alike =
                pairs.take_while(|(one, other)| one.to_lowercase() == other.to_lowercase());
            self.ignores_case || alike.all(|(one, other)| one == other)
        };
        let lower = path.to_lowercase();
        self.files
            .iter()
            .any(|file| convention(&lower, &file.to_lowercase()) && same_folders(file))
    }
}

/// The path as git writes it: `/` between folders, no `./`, no trailing `/`. The empty string stands for the whole
/// repository.
fn as_git_writes(path: &str) -> String {
    let mut path = path.trim().to_owned();
    if !path.contains('/') {
        path = path.replace('\\', "/");
    }
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    parts.collect::<Vec<_>>().join("/")
}

fn is_within(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

pub(super) fn check(scope: &TaskScope, facts: &ChangeFacts) -> Check {
    let boundary = scope.boundary();
    let faults = facts
        .changes
        .iter()
        .filter_map(|change| fault_of(change, &boundary, scope));
    let ignored = facts.ignored.iter();
    let ignored = ignored.map(|file| format!("{file} is ignored by git and can't be committed"));
    let faults: Vec<String> = faults.chain(ignored).collect();
    let seen = facts.elsewhere.iter();
    let seen = seen.map(|(change, task)| format!("{} is task {task}'s", change.path));
    let made = facts.made_locks.iter();
    let made = made.map(|path| format!("{path} was made by a package manager"));
    let not_counted: Vec<String> = seen.chain(made).collect();
    let (verdict, detail) = if !faults.is_empty() {
        (CheckVerdict::Fail, list(&faults))
    } else if !not_counted.is_empty() {
        let others = list(&not_counted);
        let detail = format!("every change is within it; neither counted nor committed: {others}");
        (CheckVerdict::Note, detail)
    } else if facts.changes.is_empty() {
        (CheckVerdict::NotApplicable, "nothing changed".into())
    } else {
        (
            CheckVerdict::Pass,
            "every change is within the task's files".into(),
        )
    };
    Check::new("boundary", verdict, detail)
}

/// Describes why `change` isn't allowed; `None` if it is.
fn fault_of(change: &Change, boundary: &Boundary, scope: &TaskScope) -> Option<String> {
    if let Some(outside) = outside(change, boundary) {
        let verb = match (&change.status, outside == &change.path) {
            (ChangeStatus::Renamed { .. }, true) => "was put there by a rename",
            (ChangeStatus::Renamed { .. } | ChangeStatus::Deleted, _) => "was taken away",
            (ChangeStatus::Added, _) => "is new",
            _ => "was changed",
        };
        let mut others = scope.others.iter();
        let whose = others.find(|task| scope.boundary_of(task).covers(outside));
        let whose = whose.map(|task| format!(" and belongs to task {}, which is running", task.id));
        return Some(format!(
            "{outside} {verb}, is not in the task's files{}",
            whose.unwrap_or_default()
        ));
    }
    let (name, words) = match change.kind {
        _ if change.status == ChangeStatus::Deleted => return None,
        FileKind::File => return None,
        FileKind::Symlink => ("a symbolic link", &intent::LINK),
        FileKind::Submodule => ("a repository of its own", &intent::SUBMODULE),
    };
    (!intent::mentions(&scope.text, words))
        .then(|| format!("{} is {name}, which the task doesn't ask for", change.path))
}

/// The path touched by `change` that is outside the boundary, if any.
pub(super) fn outside<'c>(change: &'c Change, boundary: &Boundary) -> Option<&'c RepoPath> {
    change.ends().find(|path| !allowed(path, change, boundary))
}

fn allowed(path: &RepoPath, change: &Change, boundary: &Boundary) -> bool {
    if path != &change.path {
        return boundary.covers(path);
    }
    let new = matches!(
        change.status,
        ChangeStatus::Added | ChangeStatus::Renamed { .. }
    );
    boundary.allows(path, || new && change.kind == FileKind::File)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_files_and_folders() {
        let check = |listed: &str, path: &str, expect: bool| {
            assert_eq!(
                Boundary::new([listed]).covers(&path.into()),
                expect,
                "{listed:?} covers {path:?}"
            );
        };
        check("src/a.rs", "src/a.rs", true);
        check("./src//a.rs", "src/a.rs", true);
        check("src\\a.rs", "src/a.rs", true);
        check("SRC/A.rs", "src/a.rs", false);
        check("src/a.rs ", "src/a.rs", true);
        check("src/a.rs", "src/a.rs ", false);
        check("src/a.rs", "src\\a.rs", false);
        check("Makefile", "makefile", false);
        check("src/é.rs", "src/e\u{301}.rs", false);
        check("src", "src/a.rs", true);
        check("src/", "src/b/c.rs", true);
        check("src", "srcs/a.rs", false);
        check("src/a.rs", "src/a.rs.bak", false);
        check("a.rs", "src/a.rs", false);
        check(".", "anything", true);
        check("한글/", "한글/a", true);
        let folded = Boundary::new(["SRC/A.rs"]).ignoring_case(true);
        assert!(folded.covers(&"src/a.RS".into()) && folded.allows_new(&"src/A_test.rs".into()));
        assert!(!Boundary::new(["src/\u{FFFD}"]).covers(&RepoPath::from_bytes(b"src/\xff")));
    }

    #[test]
    fn new_test_files_and_lock_files() {
        let check = |listed: &str, path: &str, new: bool, lock: bool| {
            let boundary = Boundary::new([listed]);
            let found = (
                boundary.allows_new(&path.into()),
                boundary.allows_lock(&path.into()),
            );
            assert_eq!(found, (new, lock), "{listed:?} allows {path:?}");
        };
        check("src/a.rs", "tests/a.rs", true, false);
        check("crates/x/src/a.rs", "crates/y/tests/a.rs", false, false);
        check("src/a.rs", "SRC/tests/a.rs", false, false);
        check("Cargo.toml", "cargo.lock", false, false);
        check("Cargo.toml", "Cargo.lock", false, true);
        check("crates/x/Cargo.toml", "Cargo.lock", false, true);
        check("crates/x/Cargo.toml", "crates/y/Cargo.lock", false, false);
        check("src/a.rs", "Cargo.lock", false, false);
        check("package.json", "Cargo.lock", false, false);
    }
}

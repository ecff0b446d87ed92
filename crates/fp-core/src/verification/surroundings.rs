//! What lies around a working tree and is in no commit: the branch, and the files in git's own folder that decide
//! what git shows and what it runs. A builder that edits those could hide a change, or have one made later.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Check, CheckVerdict, list};

/// The surroundings of a working tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GitSurroundings {
    /// The branch; `None` where HEAD is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Path of each such file in git's folder, and a hash of what counts of it.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

impl GitSurroundings {
    /// That another branch is checked out `now`, in words. A HEAD that is detached belongs to none, as in a worktree
    /// or while the user rebases.
    pub(super) fn branch_left(&self, now: &Self) -> Option<String> {
        let (began, now) = self.branch.as_ref().zip(now.branch.as_ref())?;
        (began != now).then(|| format!("branch {now} is checked out, the task began on {began}: switch back"))
    }

    /// The check of git's own files, where one has changed: told, since the user may change them at any time, as
    /// after a hook that failed.
    pub(super) fn check(&self, now: &Self) -> Option<Check> {
        let gone = self.files.keys().filter(|path| !now.files.contains_key(*path));
        let gone = gone.map(|path| format!("{path} was taken away"));
        let others = now.files.iter().filter_map(|(path, hash)| match self.files.get(path) {
            None => Some(format!("{path} is new")),
            Some(before) => (before != hash).then(|| format!("{path} was changed")),
        });
        let problems: Vec<String> = gone.chain(others).collect();
        let detail = || format!("since the claim, in git's own folder: {}", list(&problems));
        (!problems.is_empty()).then(|| Check::new("git", CheckVerdict::Note, detail()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(branch: Option<&str>, files: &[(&str, &str)]) -> GitSurroundings {
        let files = files.iter().map(|(path, hash)| ((*path).to_owned(), (*hash).to_owned())).collect();
        GitSurroundings { branch: branch.map(str::to_owned), files }
    }

    #[test]
    fn the_branch() {
        let check = |began: Option<&str>, now: Option<&str>, expect: Option<&str>| {
            let left = around(began, &[]).branch_left(&around(now, &[]));
            assert_eq!(left.as_deref(), expect, "{began:?} {now:?}");
        };
        check(Some("main"), Some("main"), None);
        check(None, Some("side"), None);
        check(
            Some("main"),
            Some("side"),
            Some("branch side is checked out, the task began on main: switch back"),
        );
        check(Some("main"), None, None);
    }

    #[test]
    fn files_of_git() {
        let before = around(None, &[("config", "1"), ("hooks/a", "1"), ("hooks/b", "1")]);
        assert_eq!(before.check(&before), None);
        let now = around(None, &[("config", "2"), ("hooks/b", "1"), ("hooks/c", "1")]);
        let found = before.check(&now).map(|check| check.detail);
        let expect = "since the claim, in git's own folder: hooks/a was taken away; config was changed; hooks/c is new";
        assert_eq!(found.as_deref(), Some(expect));
    }
}

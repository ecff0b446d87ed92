//! Resolves a path that an agent edits: a link inside the repository may lead out of it, and a file in a builder's
//! worktree has the same path as in the checkout.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use fp_plan::repo_path::RepoPath;
use fp_run::hook::guard::EditPlace;
use fp_run::run::State;
use fp_run::run::state::TaskState;

use super::worktree;
use crate::file::{plain, real};
use crate::plan::OpenPlan;
use crate::platform::{TEMPORARY, os_string};

/// Longest path that any system opens, in bytes.
const LONGEST: usize = 32 * 1024;

/// A task's working tree and the checkouts around it.
#[derive(Debug)]
pub struct Site<'p> {
    plan: &'p OpenPlan,
    task: &'p TaskState,
    /// The task's working tree.
    work: PathBuf,
    /// The run's other checkouts.
    others: Vec<PathBuf>,
}

impl<'p> Site<'p> {
    pub fn new(plan: &'p OpenPlan, state: &State, task: &'p TaskState) -> Self {
        let checkout = match plan.checkout(state) {
            Ok(git) => git.worktree().to_owned(),
            Err(_) => plan.repo.worktree.clone(),
        };
        let work = match task.worktree() {
            Some(owner) => worktree::path(plan, owner),
            None => checkout.clone(),
        };
        let others = [checkout, plan.repo.worktree.clone(), plan.repo.root.clone()];
        Self {
            plan,
            task,
            work: real(&work),
            others: others.iter().map(|path| real(path)).collect(),
        }
    }

    /// Resolves `path` as an agent in `cwd` means it; `None` if `path` can't name a file.
    pub fn place(&self, cwd: &Path, path: &str) -> Option<EditPlace> {
        if path.is_empty() || path.contains('\0') || path.len() > LONGEST {
            return None;
        }
        let path = real(&plain(&cwd.join(from_home(path))));
        let plans = real(&self.plan.repo.plans_dir(&self.plan.settings));
        // A builder's worktree is in the folder of plans, which in turn is in the checkout.
        let in_worktree = self.work.starts_with(&plans) && path.starts_with(&self.work);
        if path.starts_with(&plans) && !in_worktree {
            return Some(EditPlace::Plans(shown(&path)));
        }
        if let Some(inner) = below(&self.work, &path) {
            return Self::in_checkout(&path, inner, EditPlace::Work);
        }
        if self
            .plan
            .repo
            .git_dir
            .as_ref()
            .is_some_and(|git| path.starts_with(git))
        {
            return Some(EditPlace::Git(shown(&path)));
        }
        if let Some(inner) = self.others.iter().find_map(|other| below(other, &path)) {
            let instead = |inner: RepoPath| {
                let instead = shown(&self.work.join(os_string(inner.as_bytes())));
                EditPlace::OtherCheckout(inner, instead)
            };
            return Self::in_checkout(&path, inner, instead);
        }
        let temporary = temporary_folders().any(|folder| path.starts_with(real(&folder)));
        Some(if temporary {
            EditPlace::Temporary
        } else {
            EditPlace::Outside(shown(&path))
        })
    }

    /// The place of `inner` in a checkout; `None` for the checkout itself.
    fn in_checkout(
        path: &Path,
        inner: RepoPath,
        place: impl FnOnce(RepoPath) -> EditPlace,
    ) -> Option<EditPlace> {
        let mut parts = inner.as_bytes().split(|&byte| byte == b'/');
        if parts.any(|part| part.eq_ignore_ascii_case(b".git")) {
            return Some(EditPlace::Git(shown(path)));
        }
        (!inner.as_bytes().is_empty()).then(|| place(inner))
    }

    /// True if `path` didn't exist when the task was claimed. Runs git if it exists now; if git fails, verification
    /// decides.
    pub fn is_new(&self, path: &RepoPath) -> bool {
        if self
            .work
            .join(os_string(path.as_bytes()))
            .symlink_metadata()
            .is_err()
        {
            return true;
        }
        let base = self
            .task
            .base
            .as_ref()
            .and_then(|base| base.tree.parse().ok());
        let git = self.plan.git().ok();
        let known = base
            .zip(git)
            .and_then(|(tree, git)| git.is_in_tree(&tree, path).ok());
        !known.unwrap_or(false)
    }
}

/// Expands `~/x` as the client does.
fn from_home(path: &str) -> PathBuf {
    let rest = path
        .strip_prefix('~')
        .filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']));
    match rest.zip(std::env::home_dir()) {
        Some((rest, home)) => home.join(rest.trim_start_matches(['/', '\\'])),
        None => path.into(),
    }
}

/// `path` relative to `folder`, with `/` as the separator; empty for the folder itself.
fn below(folder: &Path, path: &Path) -> Option<RepoPath> {
    let parts: Vec<&[u8]> = path
        .strip_prefix(folder)
        .ok()?
        .iter()
        .map(OsStr::as_encoded_bytes)
        .collect();
    Some(RepoPath::from_bytes(parts.join(&b'/')))
}

/// The path as one line of text.
fn shown(path: &Path) -> String {
    RepoPath::from_bytes(path.as_os_str().as_encoded_bytes()).to_string()
}

/// Folders for a builder's temporary files.
fn temporary_folders() -> impl Iterator<Item = PathBuf> {
    std::iter::once(std::env::temp_dir()).chain(TEMPORARY.map(Into::into))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use std::fs;

    use super::*;

    #[test]
    fn links_lead_where_they_say() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        for name in ["a/b", "out"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        fs::write(top.join("a/file"), "").unwrap();
        symlink("../out", top.join("a/link")).unwrap();
        symlink("file", top.join("a/to_file")).unwrap();
        symlink("../out/none", top.join("a/to_none")).unwrap();
        symlink("turn", top.join("a/turn")).unwrap();
        let check = |path: &str, expect: &str| {
            assert_eq!(real(&plain(&top.join(path))), top.join(expect), "{path}");
        };
        check("a/file", "a/file");
        check("a/none", "a/none");
        check("a/./b/../file", "a/file");
        check("a/link/x/y", "out/x/y");
        check("a/link/../file", "a/file");
        check("a/to_file", "a/file");
        check("a/to_none", "out/none");
        check("a/to_none/x", "out/none/x");
        check("a/turn", "a/turn");
        check("a/file/x", "a/file/x");
        check("../../../../../../../../..", "/");
    }

    #[test]
    fn the_home_folder() {
        let home = std::env::home_dir().unwrap();
        assert_eq!(from_home("~/x"), home.join("x"));
        assert_eq!(from_home("~"), home);
        assert_eq!(from_home("~x"), Path::new("~x"));
        assert_eq!(from_home("a~/x"), Path::new("a~/x"));
    }
}

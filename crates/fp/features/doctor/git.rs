//! Git, and the name that it commits by.

use std::path::Path;

use fp_host::git::Git;
use fp_host::git::command::ask;

use super::plan::way_of_commit;
use super::{DoctorFinding, DoctorLevel};
use crate::features::install::program::version_numbers;

/// Oldest git with which several builders have a worktree each: it merges without a working tree.
const MERGES: [u32; 2] = [2, 38];
/// Oldest git with which a task can be rolled back.
const REVERTS: [u32; 2] = [2, 32];

/// Everything about git in the folder `cwd`, or only that git is missing.
pub(super) fn examine(cwd: &Path) -> Vec<DoctorFinding> {
    let mut found = match ask(cwd, &["--version"]) {
        Err(error) => return vec![DoctorFinding::of_error("git", error)],
        Ok(said) => vec![version(&said)],
    };
    let way = Git::open(cwd).map(|git| way_of_commit(&git));
    found.extend(way.ok().filter(|found| found.level != DoctorLevel::Ok));
    let ident = |name: &str| ask(cwd, &["var", name]).ok();
    found.push(identity(
        ident("GIT_AUTHOR_IDENT").as_deref(),
        ident("GIT_COMMITTER_IDENT").as_deref(),
    ));
    found
}

/// The version of git, which `git --version` has `said`.
pub(super) fn version(said: &str) -> DoctorFinding {
    let check = "git";
    let shown = said
        .strip_prefix("git version ")
        .and_then(|rest| rest.split_whitespace().next());
    let Some((shown, found)) = shown.and_then(|shown| Some((shown, version_numbers(shown)?)))
    else {
        return DoctorFinding::warning(
            check,
            format!("`git --version` says {said:?}, which is not a version"),
        );
    };
    let older = |[major, minor]: [u32; 2], what: &str| {
        DoctorFinding::warning(
            check,
            format!("{shown}: {what} needs {major}.{minor} or newer"),
        )
    };
    match found {
        found if found < REVERTS => older(REVERTS, "`fp rollback`"),
        found if found < MERGES => older(MERGES, "a worktree for each of several builders"),
        _ => DoctorFinding::ok(check, shown),
    }
}

/// The author and the committer of a commit, as `git var` names them.
pub(super) fn identity(author: Option<&str>, committer: Option<&str>) -> DoctorFinding {
    // Name and address, without the time behind them.
    let name = |ident: &str| ident.rfind('>').map(|end| ident[..=end].to_owned());
    let (Some(author), Some(committer)) = (author.and_then(name), committer.and_then(name)) else {
        return DoctorFinding::error(
            "identity",
            "git does not know your name and address, and refuses to commit",
        )
        .fixed_by("git config --global user.name NAME; git config --global user.email ADDRESS");
    };
    let detail = if author == committer {
        author
    } else {
        format!("{author}, committed by {committer}")
    };
    DoctorFinding::ok("identity", detail)
}

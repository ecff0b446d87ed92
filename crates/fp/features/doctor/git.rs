//! Git: its version, the committer's name, and obstacles to a commit.

use std::path::Path;

use fp_host::git::command::git_output;
use fp_host::git::{Git, can_merge};
use fp_plan::text::shell_quoted;

use super::DoctorFinding;

/// Checks git in the folder `cwd`. If git is missing, that is the only finding.
pub(super) fn check_git(cwd: &Path) -> Vec<DoctorFinding> {
    let mut found = match git_output(cwd, &["--version"]) {
        Err(error) => return vec![DoctorFinding::of_error("git", error)],
        Ok(said) => vec![check_version(&said)],
    };
    found.extend(
        Git::open(cwd)
            .ok()
            .and_then(|git| check_way_of_commit(&git)),
    );
    let ident = |name: &str| git_output(cwd, &["var", name]).ok();
    found.push(check_identity(
        ident("GIT_AUTHOR_IDENT").as_deref(),
        ident("GIT_COMMITTER_IDENT").as_deref(),
    ));
    found
}

/// Checks the git version in `said`, the output of `git --version`.
pub(super) fn check_version(said: &str) -> DoctorFinding {
    let shown = said.trim_start_matches("git version ");
    match can_merge(said) {
        true => DoctorFinding::ok("git", shown),
        false => DoctorFinding::warning(
            "git",
            format!("{shown}: a worktree for each of several builders needs 2.38 or newer"),
        ),
    }
}

/// Checks for anything that prevents the next commit, such as a lock or an unfinished operation.
fn check_way_of_commit(git: &Git) -> Option<DoctorFinding> {
    let check = "git";
    if let Some(lock) = git.locks().first() {
        let detail = format!(
            "{} keeps git from committing; if no git is running, a killed one has left it: remove it",
            lock.display()
        );
        let remove = format!("rm {}", shell_quoted(&lock.to_string_lossy()));
        return Some(DoctorFinding::error(check, detail).fixed_by(remove));
    }
    let operation = git.operation()?;
    let detail = format!("a {operation} is in progress; {}", operation.way_out());
    Some(DoctorFinding::warning(check, detail))
}

/// Checks the author and the committer of a commit, as `git var` prints them.
pub(super) fn check_identity(author: Option<&str>, committer: Option<&str>) -> DoctorFinding {
    // Name and address, without the time that follows them.
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

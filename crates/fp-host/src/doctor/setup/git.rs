//! What git says of itself, of who commits, and of what it does with a commit.

use std::fs;
use std::path::{Path, PathBuf};

use fp_core::doctor::Finding;
use fp_core::doctor::setup::{self, CommitHooks, Fault, Signing};
use fp_core::hint::Hint as _;

use super::fault;
use crate::claude::client::is_program;
use crate::git::GitError;
use crate::git::command::{ask, setting};

/// The hooks that `git commit` runs, in their order.
const OF_COMMIT: [&str; 4] = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

/// Everything about git, as it is in the folder `cwd`. Without git that it is missing is all that there is to say.
pub(super) fn examine(cwd: &Path) -> Vec<Finding> {
    let version = ask(cwd, &["--version"]).map_err(|error| of_git(&error));
    let mut found = vec![setup::git(&version)];
    if version.is_err() {
        return found;
    }
    let ident = |name: &str| ask(cwd, &["var", name]).ok();
    found
        .push(setup::identity(ident("GIT_AUTHOR_IDENT").as_deref(), ident("GIT_COMMITTER_IDENT").as_deref()));
    match settings(cwd) {
        Ok((hooks, signing)) => {
            found.extend(hooks.as_ref().map(setup::commit_hooks));
            found.push(setup::signing(&signing));
        }
        Err(error) => {
            let fault = of_git(&error);
            let detail = format!("git's settings can't be read: {}", fault.message);
            found.push(Finding::error("signing", detail).mended_by("git config --list --show-origin"));
        }
    }
    found
}

pub(super) fn of_git(error: &GitError) -> Fault {
    fault(error, error.hint())
}

/// The hooks of a commit, where there is a repository, and how commits are signed.
fn settings(cwd: &Path) -> Result<(Option<CommitHooks>, Signing), GitError> {
    Ok((commit_hooks(cwd)?, signing(cwd)?))
}

fn commit_hooks(cwd: &Path) -> Result<Option<CommitHooks>, GitError> {
    let configured = setting(cwd, "core.hooksPath")?.is_some();
    let Ok(folder) = ask(cwd, &["rev-parse", "--path-format=absolute", "--git-path", "hooks"]) else {
        return Ok(None);
    };
    let path = PathBuf::from(&folder);
    let is_file = |name: &&str| path.join(name).is_file();
    let (run, not_executable): (Vec<&str>, Vec<&str>) =
        OF_COMMIT.into_iter().filter(is_file).partition(|name| is_program(&path.join(name)));
    let named = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    Ok(Some(CommitHooks {
        there: fs::metadata(&path).is_ok_and(|found| found.is_dir()),
        folder,
        configured,
        run: named(run),
        not_executable: named(not_executable),
    }))
}

fn signing(cwd: &Path) -> Result<Signing, GitError> {
    let on = match ask(cwd, &["config", "--type=bool", "--get", "commit.gpgSign"]) {
        Ok(value) => value == "true",
        Err(GitError::Failed(failure)) if failure.status == Some(1) => false,
        Err(error) => return Err(error),
    };
    if !on {
        return Ok(Signing::default());
    }
    let format = setting(cwd, "gpg.format")?.unwrap_or_else(|| "openpgp".into());
    let usual = match format.as_str() {
        "ssh" => "ssh-keygen",
        "x509" => "gpgsm",
        _ => "gpg",
    };
    let program = setting(cwd, &format!("gpg.{format}.program"))?;
    let program = match (program, format.as_str()) {
        (Some(program), _) => program,
        (None, "openpgp") => setting(cwd, "gpg.program")?.unwrap_or_else(|| usual.into()),
        (None, _) => usual.into(),
    };
    let key = setting(cwd, "user.signingKey")?;
    let is_literal =
        |key: &str| key.starts_with("ssh-") || key.starts_with("key::") || key.starts_with("ecdsa-");
    let missing = |key: &str| format == "ssh" && !is_literal(key) && !path_of(cwd, key).exists();
    Ok(Signing {
        on,
        key_is_missing: key.as_deref().is_some_and(missing),
        key_command: setting(cwd, "gpg.ssh.defaultKeyCommand")?.is_some(),
        program_is_there: is_there(cwd, &program),
        program,
        key,
        format,
    })
}

/// The file that a setting names, as git reads it: `~/` is the home.
fn path_of(cwd: &Path, written: &str) -> PathBuf {
    match (written.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => cwd.join(written),
    }
}

/// Whether the program `name` is where it says, or on PATH.
fn is_there(cwd: &Path, name: &str) -> bool {
    if name.contains(['/', '\\']) {
        return path_of(cwd, name).exists();
    }
    let search = std::env::var_os("PATH").unwrap_or_default();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&search).any(|folder| is_program(&folder.join(&file)))
}

//! Git, and what a commit of a task needs of it.

use std::path::{Path, PathBuf};

use fp_host::git::GitError;
use fp_host::git::command::{ask, setting};

use super::{DoctorFinding, is_plain_path};
use crate::error::CommandError;
use crate::features::install::client::is_program;

/// Oldest git with which several builders have a worktree each: it merges without a working tree.
const MERGES: [u32; 2] = [2, 38];
/// Oldest git with which a task can be rolled back.
const REVERTS: [u32; 2] = [2, 32];
/// The hooks that `git commit` runs, in their order.
const OF_COMMIT: [&str; 4] = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

/// Everything about git in the folder `cwd`. Without git, that it is missing is all that there is to say.
pub(super) fn examine(cwd: &Path) -> Vec<DoctorFinding> {
    let mut found = match ask(cwd, &["--version"]) {
        Err(error) => return vec![DoctorFinding::of_error("git", error)],
        Ok(said) => vec![version(&said)],
    };
    let ident = |name: &str| ask(cwd, &["var", name]).ok();
    found.push(identity(ident("GIT_AUTHOR_IDENT").as_deref(), ident("GIT_COMMITTER_IDENT").as_deref()));
    let of_settings = commit_hooks_in(cwd).and_then(|hooks| Ok((hooks, signing_in(cwd)?)));
    match of_settings {
        Ok((hooks, signing)) => found.extend(hooks.into_iter().chain([signing])),
        Err(error) => {
            let detail = format!("git's settings can't be read: {}", CommandError::from(error).message);
            found.push(DoctorFinding::error("signing", detail).fixed_by("git config --list --show-origin"));
        }
    }
    found
}

/// Whether git is new enough; `said` is what `git --version` prints.
pub(super) fn version(said: &str) -> DoctorFinding {
    let check = "git";
    let Some((found, shown)) = parse_version(said) else {
        return DoctorFinding::warning(check, format!("`git --version` says {said:?}, which is no version"));
    };
    let older = |[major, minor]: [u32; 2], what: &str| {
        DoctorFinding::warning(check, format!("{shown}: {what} needs {major}.{minor} or newer"))
    };
    match found {
        found if found < REVERTS => older(REVERTS, "`fp rollback`"),
        found if found < MERGES => older(MERGES, "a worktree for each of several builders"),
        _ => DoctorFinding::ok(check, shown),
    }
}

/// Major and minor version in the answer of `git --version`, and the whole version as it is written.
fn parse_version(said: &str) -> Option<([u32; 2], String)> {
    let shown = said.strip_prefix("git version ")?.split_whitespace().next()?;
    let mut numbers = shown.split('.').map(str::parse);
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(([major, minor], shown.to_owned()))
}

/// Whether git knows who makes a commit: what `git var` says of author and committer.
pub(super) fn identity(author: Option<&str>, committer: Option<&str>) -> DoctorFinding {
    // Name and address, without the time behind them.
    let name = |ident: &str| ident.rfind('>').map(|end| ident[..=end].to_owned());
    let (Some(author), Some(committer)) = (author.and_then(name), committer.and_then(name)) else {
        return DoctorFinding::error(
            "identity",
            "git does not know who makes a commit, and refuses to make one",
        )
        .fixed_by("git config --global user.name NAME; git config --global user.email ADDRESS");
    };
    let detail = if author == committer { author } else { format!("{author}, committed by {committer}") };
    DoctorFinding::ok("identity", detail)
}

/// The hooks that git runs for a commit.
#[derive(Debug, Clone, Default)]
pub(super) struct CommitHooks {
    pub(super) folder: String,
    /// Whether `core.hooksPath` names the folder.
    pub(super) configured: bool,
    /// Whether the folder is there.
    pub(super) there: bool,
    pub(super) run: Vec<&'static str>,
    /// Those that git passes over.
    pub(super) not_executable: Vec<&'static str>,
}

/// The check of the hooks of a commit, where there is a repository.
fn commit_hooks_in(cwd: &Path) -> Result<Option<DoctorFinding>, GitError> {
    let configured = setting(cwd, "core.hooksPath")?.is_some();
    let Ok(folder) = ask(cwd, &["rev-parse", "--path-format=absolute", "--git-path", "hooks"]) else {
        return Ok(None);
    };
    let path = PathBuf::from(&folder);
    let (run, not_executable) = OF_COMMIT
        .into_iter()
        .filter(|name| path.join(name).is_file())
        .partition(|name| is_program(&path.join(name)));
    Ok(Some(commit_hooks(&CommitHooks { there: path.is_dir(), folder, configured, run, not_executable })))
}

/// Which hooks a commit runs, and whether git passes over some.
pub(super) fn commit_hooks(hooks: &CommitHooks) -> DoctorFinding {
    let check = "git hooks";
    let CommitHooks { folder, .. } = hooks;
    if hooks.configured && !hooks.there {
        let detail = format!("core.hooksPath is {folder}, which is not there: none is run");
        return DoctorFinding::warning(check, detail).fixed_by("git config --show-origin core.hooksPath");
    }
    if let [first, ..] = &hooks.not_executable[..] {
        let names = hooks.not_executable.join(", ");
        let detail = format!("not executable, so that git passes over it: {names}, in {folder}");
        let path = format!("{folder}/{first}");
        let found = DoctorFinding::warning(check, detail);
        return if is_plain_path(&path) { found.fixed_by(format!("chmod +x {path}")) } else { found };
    }
    match &hooks.run[..] {
        [] => DoctorFinding::ok(check, "none"),
        run => DoctorFinding::ok(check, format!("a commit runs {}, in {folder}", run.join(", "))),
    }
}

/// How commits are signed.
#[derive(Debug, Clone, Default)]
pub(super) struct CommitSigning {
    /// `openpgp`, `x509` or `ssh`.
    pub(super) format: String,
    pub(super) key: Option<String>,
    /// Whether the key is a file that is not there.
    pub(super) key_is_missing: bool,
    /// Whether `gpg.ssh.defaultKeyCommand` finds a key.
    pub(super) key_command: bool,
    /// The program that signs.
    pub(super) program: String,
    pub(super) program_is_there: bool,
}

fn signing_in(cwd: &Path) -> Result<DoctorFinding, GitError> {
    let on = match ask(cwd, &["config", "--type=bool", "--get", "commit.gpgSign"]) {
        Ok(value) => value == "true",
        Err(GitError::Failed(failure)) if failure.status == Some(1) => false,
        Err(error) => return Err(error),
    };
    if !on {
        return Ok(signing(None));
    }
    let format = setting(cwd, "gpg.format")?.unwrap_or_else(|| "openpgp".into());
    let usual = match format.as_str() {
        "ssh" => "ssh-keygen",
        "x509" => "gpgsm",
        _ => "gpg",
    };
    let mut program = setting(cwd, &format!("gpg.{format}.program"))?;
    if program.is_none() && format == "openpgp" {
        program = setting(cwd, "gpg.program")?;
    }
    let program = program.unwrap_or_else(|| usual.into());
    let key = setting(cwd, "user.signingKey")?;
    let is_literal = |key: &str| ["ssh-", "key::", "ecdsa-"].iter().any(|start| key.starts_with(start));
    let missing = |key: &str| format == "ssh" && !is_literal(key) && !path_of(cwd, key).exists();
    Ok(signing(Some(&CommitSigning {
        key_is_missing: key.as_deref().is_some_and(missing),
        key_command: setting(cwd, "gpg.ssh.defaultKeyCommand")?.is_some(),
        program_is_there: is_there(cwd, &program),
        program,
        key,
        format,
    })))
}

/// Whether commits can be signed; `None` where they are not.
pub(super) fn signing(signing: Option<&CommitSigning>) -> DoctorFinding {
    let check = "signing";
    let Some(signing) = signing else { return DoctorFinding::ok(check, "commits are not signed") };
    let CommitSigning { format, program, .. } = signing;
    if !signing.program_is_there {
        let detail = format!("commits have to be signed, and {program} is not on PATH");
        return DoctorFinding::error(check, detail).fixed_by("git config --show-origin commit.gpgSign");
    }
    match &signing.key {
        Some(key) if signing.key_is_missing => {
            DoctorFinding::error(check, format!("commits have to be signed with {key}, which is not there"))
                .fixed_by("git config --show-origin user.signingKey")
        }
        Some(key) => {
            let key: String = key.chars().take(40).collect();
            DoctorFinding::ok(check, format!("commits are signed ({format}, key {key})"))
        }
        None if format == "ssh" && !signing.key_command => {
            DoctorFinding::error(check, "commits have to be signed with ssh, and no key is configured")
                .fixed_by("git config --global user.signingKey ~/.ssh/id_ed25519.pub")
        }
        None if signing.key_command => DoctorFinding::ok(check, format!("commits are signed ({format})")),
        None => DoctorFinding::warning(
            check,
            format!(
                "commits are signed ({format}), and no key is configured: {program} looks for one of your address"
            ),
        )
        .fixed_by("git config --global user.signingKey KEY"),
    }
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

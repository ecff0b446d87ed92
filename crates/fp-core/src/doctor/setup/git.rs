//! Git, and what a commit of a task needs of it.

use super::Fault;
use crate::doctor::Finding;

/// Oldest git with which several builders have a worktree each: it merges without a working tree.
const MERGES: [u32; 2] = [2, 38];
/// Oldest git with which a task can be rolled back.
const REVERTS: [u32; 2] = [2, 32];

/// Whether git is there and new enough; `said` is what `git --version` prints.
#[must_use]
pub fn git(said: &Result<String, Fault>) -> Finding {
    let said = match said {
        Ok(said) => said,
        Err(fault) => return fault.finding("git"),
    };
    let Some((found, shown)) = version(said) else {
        return Finding::warning("git", format!("`git --version` says {said:?}, which is no version"));
    };
    let older = |needed: [u32; 2], what: &str| {
        Finding::warning("git", format!("{shown}: {what} needs {}.{} or newer", needed[0], needed[1]))
    };
    match found {
        found if found < REVERTS => older(REVERTS, "`fp rollback`"),
        found if found < MERGES => older(MERGES, "a worktree for each of several builders"),
        _ => Finding::ok("git", shown),
    }
}

/// Major and minor version in the answer of `git --version`, and the whole version as it is written.
fn version(said: &str) -> Option<([u32; 2], String)> {
    let shown = said.strip_prefix("git version ")?.split_whitespace().next()?;
    let mut numbers = shown.split('.').map(str::parse);
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(([major, minor], shown.to_owned()))
}

/// Whether git knows who makes a commit: what `git var` says of author and committer.
#[must_use]
pub fn identity(author: Option<&str>, committer: Option<&str>) -> Finding {
    let (Some(author), Some(committer)) = (author.and_then(name), committer.and_then(name)) else {
        return Finding::error("identity", "git does not know who makes a commit, and refuses to make one")
            .mended_by("git config --global user.name NAME; git config --global user.email ADDRESS");
    };
    let detail =
        if author == committer { author.to_owned() } else { format!("{author}, committed by {committer}") };
    Finding::ok("identity", detail)
}

/// Name and address, without the time behind them.
fn name(ident: &str) -> Option<&str> {
    ident.rfind('>').map(|end| &ident[..=end])
}

/// The hooks that git runs for a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitHooks {
    /// The folder that they are looked for in.
    pub folder: String,
    /// Whether `core.hooksPath` names it.
    pub configured: bool,
    /// Whether it is there.
    pub there: bool,
    /// Names of those that are run.
    pub run: Vec<String>,
    /// Names of those that git passes over, since they are not executable.
    pub not_executable: Vec<String>,
}

/// Which hooks a commit runs, and whether those that are meant to be are.
#[must_use]
pub fn commit_hooks(hooks: &CommitHooks) -> Finding {
    let check = "git hooks";
    let CommitHooks { folder, .. } = hooks;
    if hooks.configured && !hooks.there {
        return Finding::warning(
            check,
            format!("core.hooksPath is {folder}, which is not there: none is run"),
        )
        .mended_by("git config --show-origin core.hooksPath");
    }
    if let [first, ..] = &hooks.not_executable[..] {
        let names = hooks.not_executable.join(", ");
        let detail = format!("not executable, so that git passes over it: {names}, in {folder}");
        let path = format!("{folder}/{first}");
        let found = Finding::warning(check, detail);
        return if is_plain(&path) { found.mended_by(format!("chmod +x {path}")) } else { found };
    }
    match &hooks.run[..] {
        [] => Finding::ok(check, "none"),
        run => Finding::ok(check, format!("a commit runs {}, in {folder}", run.join(", "))),
    }
}

/// Whether a shell takes every character of `path` for itself.
fn is_plain(path: &str) -> bool {
    path.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-'))
}

/// How commits are signed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Signing {
    /// Whether they are, by `commit.gpgSign`.
    pub on: bool,
    /// `openpgp`, `x509` or `ssh`.
    pub format: String,
    /// `user.signingKey`.
    pub key: Option<String>,
    /// Whether that is a file that is not there.
    pub key_is_missing: bool,
    /// Whether `gpg.ssh.defaultKeyCommand` finds a key.
    pub key_command: bool,
    /// The program that signs.
    pub program: String,
    /// Whether it is there.
    pub program_is_there: bool,
}

/// Whether commits are signed, and whether they can be.
#[must_use]
pub fn signing(signing: &Signing) -> Finding {
    let check = "signing";
    let Signing { format, program, .. } = signing;
    if !signing.on {
        return Finding::ok(check, "commits are not signed");
    }
    if !signing.program_is_there {
        return Finding::error(check, format!("commits are to be signed, and {program} is not on PATH"))
            .mended_by("git config --show-origin commit.gpgSign");
    }
    match &signing.key {
        Some(key) if signing.key_is_missing => {
            Finding::error(check, format!("commits are to be signed with {key}, which is not there"))
                .mended_by("git config --show-origin user.signingKey")
        }
        Some(key) => {
            let key: String = key.chars().take(40).collect();
            Finding::ok(check, format!("commits are signed ({format}, key {key})"))
        }
        None if format == "ssh" && !signing.key_command => {
            Finding::error(check, "commits are to be signed with ssh, and no key is configured")
                .mended_by("git config --global user.signingKey ~/.ssh/id_ed25519.pub")
        }
        None if signing.key_command => Finding::ok(check, format!("commits are signed ({format})")),
        None => Finding::warning(
            check,
            format!(
                "commits are signed ({format}), and no key is configured: {program} looks for one of your address"
            ),
        )
        .mended_by("git config --global user.signingKey KEY"),
    }
}

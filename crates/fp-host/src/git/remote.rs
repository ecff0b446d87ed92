//! Treats a remote's refs as registers with compare-and-swap, for plans that several machines share. Everything here
//! may wait for the network, up to a time limit.

use std::collections::BTreeMap;
use std::time::Duration;

use super::command::GitCall;
use super::merge::NOBODY;
use super::tree::INDEX;
use super::{Git, Oid, temporary_folder};
use crate::error::{HostError, HostResult};

/// Time limit for one exchange with a remote.
const LIMIT: Duration = Duration::from_secs(120);

/// A change of a ref on a remote.
#[derive(Debug, Clone)]
pub struct RefUpdate<'r> {
    pub name: &'r str,
    pub to: &'r Oid,
    /// The ref's expected value; `None` if it must not exist yet.
    pub from: Option<&'r Oid>,
}

/// The result of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    Done,
    /// Somebody else pushed first.
    Overtaken,
    /// The host refused the push; holds the ref and the host's message.
    Refused(String),
}

/// A commit whose message holds entries of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerCommit {
    pub id: Oid,
    pub parent: Option<Oid>,
    pub tree: Oid,
    /// Git's code for the commit's signature; `G` means good.
    pub signature: String,
    pub message: String,
}

impl Git {
    /// The names of the remotes. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn remotes(&self) -> HostResult<Vec<String>> {
        let names = self.call("remote").output()?;
        Ok(String::from_utf8_lossy(&names)
            .lines()
            .map(str::to_owned)
            .collect())
    }

    /// Returns `name` if there is a remote of that name: git would take anything else for an option, an address or a
    /// folder.
    fn known_remote<'r>(&self, name: &'r str) -> HostResult<&'r str> {
        let is_known = !name.starts_with('-') && self.remotes()?.iter().any(|known| known == name);
        match is_known {
            true => Ok(name),
            false => Err(
                HostError::failed(format_args!("there is no remote {name:?}"))
                    .with_hint("`git remote` lists those that there are"),
            ),
        }
    }

    /// The addresses of `remote`: the one that git pushes to, and the one that the configuration has for it.
    ///
    /// # Errors
    /// There is no such remote, or git fails.
    pub fn addresses_of(&self, remote: &str) -> HostResult<[String; 2]> {
        let name = self.known_remote(remote)?;
        let pushed = self.call("remote get-url --push").arg(name).output()?;
        let key = format!("remote.{name}.url");
        let written = self.call("config --get").arg(key).run()?.stdout;
        let text = |url: Vec<u8>| String::from_utf8_lossy(&url).trim().to_owned();
        Ok([text(pushed), text(written)])
    }

    /// Pushes the branch `name` as the user would, with their hooks.
    ///
    /// # Errors
    /// Git fails, for example because it can't reach the remote.
    pub fn push_branch(&self, remote: &str, name: &str) -> HostResult<Pushed> {
        let branch = format!("refs/heads/{name}:refs/heads/{name}");
        self.push("push --porcelain --no-recurse-submodules", remote, &branch)
    }

    /// Pushes the notes of `fp`, together with those that others have pushed.
    ///
    /// # Errors
    /// Git fails, or others keep pushing.
    pub fn push_notes(&self, remote: &str) -> HostResult<Pushed> {
        const COMMAND: &str = "push --porcelain --no-verify --no-recurse-submodules";
        let (own, theirs) = ("refs/notes/fp", "refs/notes/fp-remote");
        for _ in 0..3 {
            match self.push(COMMAND, remote, &format!("{own}:{own}"))? {
                Pushed::Overtaken => {}
                pushed => return Ok(pushed),
            }
            self.fetch_refs(remote, &[(own, theirs)])?;
            let merge = self.call("notes --ref=fp merge --quiet --strategy=union");
            merge.arg(theirs).output()?;
        }
        Ok(Pushed::Overtaken)
    }

    fn push(&self, command: &'static str, remote: &str, refs: &str) -> HostResult<Pushed> {
        let call = self.call(command).arg("--end-of-options");
        let call = call.arg(self.known_remote(remote)?).arg(refs);
        pushed_by(call)
    }

    /// Fetches refs of `remote`, overwriting the local ref given for each.
    ///
    /// # Errors
    /// Git fails, for example because it can't reach the remote, or because a ref doesn't exist.
    pub fn fetch_refs(&self, remote: &str, refs: &[(&str, &str)]) -> HostResult<()> {
        let mut call = self
            .call("-c gc.auto=0 -c maintenance.auto=false fetch --no-tags")
            .arg("--no-write-fetch-head")
            .arg("--no-recurse-submodules")
            .arg("--end-of-options")
            .arg(self.known_remote(remote)?);
        for (from, to) in refs {
            call = call.arg(format!("+{from}:{to}"));
        }
        call.run_within(LIMIT)?.into_output().map(drop)
    }

    /// Updates all of these refs of `remote`, or none. Runs no hook of this repository.
    ///
    /// # Errors
    /// Git fails, perhaps after the remote has accepted the change.
    pub fn push_refs(&self, remote: &str, updates: &[RefUpdate<'_>]) -> HostResult<Pushed> {
        let mut call = self.call("push --porcelain --no-verify --atomic --no-recurse-submodules");
        // An existing branch gets no lease: that would also allow a non-fast-forward, which must never happen to a
        // branch and which a plain push refuses.
        for RefUpdate { name, from, .. } in updates
            .iter()
            .filter(|u| u.from.is_none() || !u.name.starts_with("refs/heads/"))
        {
            let from = from.map_or("", Oid::as_str);
            call = call.arg(format!("--force-with-lease={name}:{from}"));
        }
        call = call.arg("--end-of-options").arg(self.known_remote(remote)?);
        for RefUpdate { name, to, .. } in updates {
            call = call.arg(format!("{to}:{name}"));
        }
        pushed_by(call)
    }

    /// The commit that the local ref `name` names, if there is one. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn commit_of_ref(&self, name: &str) -> HostResult<Option<Oid>> {
        let call = self.call("rev-parse --verify --quiet --end-of-options");
        let finished = call.arg(name).run()?;
        match finished.ended_with(1) {
            true => Ok(None),
            false => finished.into_oid().map(Some),
        }
    }

    /// The commit of the branch `name`, `None` if there is no such branch. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn branch_tip(&self, name: &str) -> HostResult<Option<Oid>> {
        self.commit_of_ref(&format!("refs/heads/{name}"))
    }

    /// The newest of `commits`, which are in one line of history. One process.
    ///
    /// # Errors
    /// One of them is gone, or git fails.
    pub fn newest_of<'c>(&self, commits: impl Iterator<Item = &'c String>) -> HostResult<Oid> {
        let call = self.call("rev-list --topo-order --max-count=1 --end-of-options");
        commits
            .fold(call, |call, commit| call.arg(commit))
            .run()?
            .into_oid()
    }

    /// True if a branch can have `name`. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn is_branch_name(&self, name: &str) -> HostResult<bool> {
        let call = self
            .call("check-ref-format")
            .arg(format!("refs/heads/{name}"));
        let is_odd = name == "HEAD" || name.starts_with('-') || name.starts_with("refs/");
        Ok(!is_odd && !call.run()?.ended_with(1))
    }

    /// Points each of these local refs at its commit. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn set_refs(&self, refs: &[(&str, &Oid)]) -> HostResult<()> {
        let lines: String = refs
            .iter()
            .map(|(name, commit)| format!("update {name} {commit}\n"))
            .collect();
        self.call("update-ref --stdin")
            .input(lines.into_bytes())
            .output()
            .map(drop)
    }

    /// The total size in bytes of the commits in `to` that `seen` doesn't have, excluding their files. Two processes.
    ///
    /// # Errors
    /// Git fails.
    pub fn commits_size(&self, seen: Option<&Oid>, to: &Oid) -> HostResult<u64> {
        let ids = self.call("rev-list").arg(unseen(seen, to)).arg("--");
        let ids = ids.output()?;
        let sizes = self
            .call("cat-file --batch-check=%(objectsize)")
            .input(ids)
            .run()?;
        sizes.parsed(|sizes| {
            String::from_utf8_lossy(sizes)
                .lines()
                .map(|size| size.parse::<u64>().ok())
                .sum()
        })
    }

    /// True if git finds a good signature on `commit`. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn is_signed(&self, commit: &Oid) -> HostResult<bool> {
        let call = self.call("-c log.showSignature=false log -1 --format=%G?");
        Ok(call.arg(commit.as_str()).arg("--").output()? == b"G\n")
    }

    /// The commits of `to` that `seen` doesn't have, oldest first. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn ledger_commits(&self, seen: Option<&Oid>, to: &Oid) -> HostResult<Vec<LedgerCommit>> {
        let call = self
            .call("-c i18n.logOutputEncoding=UTF-8 -c log.showSignature=false log --reverse")
            .arg("--format=tformat:%H%x00%P%x00%T%x00%G?%x00%B%x00%x00")
            .arg(unseen(seen, to));
        call.arg("--").run()?.parsed(|output| {
            let text = String::from_utf8_lossy(output);
            let commits = text
                .split("\0\0\n")
                .map(str::trim_start)
                .filter(|part| !part.is_empty());
            commits.map(ledger_commit).collect()
        })
    }

    /// Stores `bytes` unmodified. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn write_blob(&self, bytes: Vec<u8>) -> HostResult<Oid> {
        self.call("hash-object -w --no-filters --stdin")
            .input(bytes)
            .oid()
    }

    /// Stores a tree of plain files. Two processes.
    ///
    /// # Errors
    /// Git fails.
    pub fn write_tree<'f>(
        &self,
        files: impl Iterator<Item = (&'f str, &'f Oid)>,
    ) -> HostResult<Oid> {
        let folder = temporary_folder()?;
        let index = folder.path().join(INDEX);
        let lines = files.flat_map(|(path, blob)| format!("100644 {blob}\t{path}\0").into_bytes());
        self.call_on(&index, "update-index -z --index-info")
            .input(lines.collect())
            .output()?;
        self.tree_of(&index)
    }

    /// The plain files of `tree`. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn files_of_tree(&self, tree: &Oid) -> HostResult<BTreeMap<String, Oid>> {
        self.call("ls-tree -r -z")
            .arg(tree.as_str())
            .run()?
            .parsed(|output| {
                let text = String::from_utf8_lossy(output);
                let files = text
                    .split('\0')
                    .filter_map(|line| line.strip_prefix("100644 blob ")?.split_once('\t'));
                files
                    .map(|(blob, path)| Some((path.to_owned(), blob.parse().ok()?)))
                    .collect()
            })
    }

    /// Stores a commit without any ref; if `signed`, signs it the way git is configured to. One process.
    ///
    /// # Errors
    /// Git fails, for example because it can't sign.
    pub fn write_commit(
        &self,
        tree: &Oid,
        parent: Option<&Oid>,
        message: String,
        signed: bool,
    ) -> HostResult<Oid> {
        let call = self.call("-c i18n.commitEncoding=UTF-8 commit-tree -F -");
        let mut call = call.arg(tree.as_str());
        if let Some(parent) = parent {
            call = call.arg("-p").arg(parent.as_str());
        }
        call = match signed {
            true => call.arg("-S"),
            false => NOBODY
                .iter()
                .fold(call.arg("--no-gpg-sign"), |call, (name, value)| {
                    call.env(name, value)
                }),
        };
        call.input(message.into_bytes()).oid()
    }
}

/// Parts of the messages by which git and hosts report that another push came first.
const RACED: &str = "stale info|fetch first|non-fast-forward|cannot lock ref|failed to update ref|reference already exists|atomic transaction failed";

/// Interprets the output of a failed push; `None` if it holds no answer from the remote.
fn refusal(printed: &str) -> Option<Pushed> {
    let lines = printed.lines().filter_map(|line| line.strip_prefix("!\t"));
    // Git adds this line for each ref that would otherwise have been accepted.
    let lines: Vec<&str> = lines
        .filter(|line| !line.contains("atomic push fail"))
        .collect();
    let raced = |line: &&&str| RACED.split('|').any(|word| line.contains(word));
    match lines.iter().find(|line| !raced(line)) {
        Some(refused) => {
            let (refs, said) = refused.split_once('\t').unwrap_or(("", refused));
            let name = refs.rsplit_once(':').map_or(refs, |(_, name)| name);
            Some(Pushed::Refused(format!("{name}: {}", said.trim())))
        }
        None => (!lines.is_empty()).then_some(Pushed::Overtaken),
    }
}

/// Pushes with `call`.
fn pushed_by(call: GitCall) -> HostResult<Pushed> {
    let finished = call.run_within(LIMIT)?;
    match refusal(&String::from_utf8_lossy(&finished.stdout)) {
        Some(pushed) if finished.failure.is_some() => Ok(pushed),
        _ => finished.into_output().map(|_| Pushed::Done),
    }
}

/// The revision range of the commits in `to` that `seen` doesn't have.
fn unseen(seen: Option<&Oid>, to: &Oid) -> String {
    seen.map_or_else(|| to.to_string(), |seen| format!("{seen}..{to}"))
}

fn ledger_commit(text: &str) -> Option<LedgerCommit> {
    let [id, parents, tree, signature, message]: [&str; 5] =
        text.splitn(5, '\0').collect::<Vec<_>>().try_into().ok()?;
    Some(LedgerCommit {
        id: id.parse().ok()?,
        parent: parents
            .split(' ')
            .next()
            .and_then(|parent| parent.parse().ok()),
        tree: tree.parse().ok()?,
        signature: signature.to_owned(),
        message: message.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_remote_says_to_a_push() {
        let check = |printed: &str, expect: Option<Pushed>| {
            assert_eq!(refusal(printed), expect, "{printed}")
        };
        let refused = |said: &str| Some(Pushed::Refused(said.to_owned()));
        check(
            "To x\n!\tabc:refs/fp/p\t[rejected] (stale info)\nDone\n",
            Some(Pushed::Overtaken),
        );
        check(
            "!\ta:refs/fp/p\t[remote rejected] (cannot lock ref 'refs/fp/p': is at 1 but expected 2)\n\
             !\tb:refs/heads/fp/p\t[remote rejected] (atomic push failure)\n",
            Some(Pushed::Overtaken),
        );
        check(
            "!\ta:refs/fp/p\t[remote rejected] (pre-receive hook declined)\n",
            refused("refs/fp/p: [remote rejected] (pre-receive hook declined)"),
        );
        check(
            "!\ta:refs/fp/p\t[rejected] (atomic push failed)\n!\tb:refs/heads/fp/p\t[remote rejected] (protected branch)\n",
            refused("refs/heads/fp/p: [remote rejected] (protected branch)"),
        );
        check("", None);
    }
}

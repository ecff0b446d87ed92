//! Reads existing commits: to find who changed a file, whether HEAD contains a commit, and how the project writes
//! messages.

use fp_plan::repo_path::RepoPath;
use jiff::Timestamp;

use super::command::GitCall;
use super::{Git, Oid};
use crate::error::HostResult;

/// Options of `git log` that produce the input of [`commits_in`].
const COMMITS: [&str; 5] = [
    "--raw",
    "--numstat",
    "--no-renames",
    "--diff-merges=first-parent",
    "--format=%H%x00%s",
];

/// Limits rename detection to 200 files per commit, since it compares every pair.
const RENAMES: &str = "-l200";

/// Minimum number of digits by which people refer to a commit.
const FEWEST_DIGITS: usize = 7;

/// A commit, with just enough to recognise it and see its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCommit {
    pub hash: Oid,
    /// The first paragraph of the message as one line; invalid UTF-8 is replaced.
    pub subject: String,
    /// The paths that differ from the first parent, with both ends of a rename.
    pub files: Vec<RepoPath>,
    /// The numbers of lines added and removed per file, such as `+12 -3`.
    pub counts: Vec<String>,
}

impl Git {
    /// The commits in HEAD that `since` doesn't contain, newest first. One process.
    ///
    /// # Errors
    /// Git no longer has `since`.
    pub fn commits_since(&self, since: &Oid) -> HostResult<Vec<GitCommit>> {
        self.commits_between(since, "HEAD")
    }

    /// The commits in the commit `to` that `since` doesn't contain, newest first. One process.
    ///
    /// # Errors
    /// As for [`Git::commits_since`].
    pub fn commits_between(&self, since: &Oid, to: &str) -> HostResult<Vec<GitCommit>> {
        let range = format!("{since}..{to}");
        let finished = self.log(&COMMITS, &range).run()?;
        match finished.failed_with(&["Invalid revision range"]) {
            Some(failure) => Err(failure.clone().into_missing(since)),
            None => finished.parsed(commits_in),
        }
    }

    /// The commit at HEAD. One process.
    ///
    /// # Errors
    /// Git fails, or the repository has no commit.
    pub fn last_commit(&self) -> HostResult<Option<GitCommit>> {
        let finished = self
            .log(
                &[&COMMITS[..], &["--root", "--max-count=1"]].concat(),
                "HEAD",
            )
            .run()?;
        Ok(finished.parsed(commits_in)?.into_iter().next())
    }

    /// The newest commit after `commit` whose message says that it reverts `commit`, in the wording of `git revert`.
    /// One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn revert_of(&self, commit: &Oid) -> HostResult<Option<Oid>> {
        let grep = format!("--grep={}", reverts(commit));
        let options = ["--fixed-strings", &grep, "--max-count=1", "--format=%H"];
        let output = self.log(&options, &format!("{commit}..HEAD")).output()?;
        let hash = output.split(|&b| b == 0).next().unwrap_or_default();
        Ok(std::str::from_utf8(hash)
            .ok()
            .and_then(|hash| hash.parse().ok()))
    }

    /// The message that `git revert` would write for `commit`. One process.
    ///
    /// # Errors
    /// Git fails.
    pub(crate) fn revert_message(&self, commit: &Oid) -> HostResult<String> {
        let options = ["--max-count=1", "--format=%s"];
        let output = self.log(&options, commit.as_str()).output()?;
        let subject = String::from_utf8_lossy(&output);
        let subject = subject.trim_end_matches(['\0', '\n']);
        Ok(format!("Revert \"{subject}\"\n\n{}\n", reverts(commit)))
    }

    /// True if the repository has the commit `id`. One process.
    ///
    /// # Errors
    /// Git can't be run.
    pub fn has_commit(&self, id: &str) -> HostResult<bool> {
        let finished = self
            .call("cat-file -e")
            .arg(format!("{id}^{{commit}}"))
            .run()?;
        Ok(finished.failure.is_none())
    }

    /// The root commit of HEAD's history, the oldest if there are several; `None` without a commit. One process.
    ///
    /// # Errors
    /// Git can't be run.
    pub fn first_commit(&self) -> HostResult<Option<String>> {
        let roots = self.call("rev-list --max-parents=0 HEAD").run()?.stdout;
        Ok(String::from_utf8_lossy(&roots)
            .lines()
            .next_back()
            .map(str::to_owned))
    }

    /// True if HEAD is `commit` or a descendant of it. One process.
    ///
    /// # Errors
    /// Git fails. If git doesn't have the commit, that isn't an error: the result is false.
    pub fn contains(&self, commit: &Oid) -> HostResult<bool> {
        self.goes_on("HEAD", commit)
    }

    /// True if `tip` is `from` or a descendant of it. One process.
    pub(crate) fn goes_on(&self, tip: &str, from: &Oid) -> HostResult<bool> {
        let finished = self
            .call("merge-base --is-ancestor")
            .arg(from.as_str())
            .arg(tip)
            .run()?;
        let is_unknown = finished.failed_with(&["Not a valid commit name"]).is_some();
        match finished.ended_with(1) || is_unknown {
            true => Ok(false),
            false => finished.into_output().map(|_| true),
        }
    }

    /// The commit in HEAD's history whose id begins with `digits`, at least seven.
    pub fn behind_head(&self, digits: &str) -> HostResult<Option<Oid>> {
        if digits.len() < FEWEST_DIGITS || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Ok(None);
        }
        match self.commit_of_ref(&format!("{digits}^{{commit}}"))? {
            // A branch may have such a name.
            Some(commit) if commit.as_str().starts_with(digits) && self.contains(&commit)? => {
                Ok(Some(commit))
            }
            _ => Ok(None),
        }
    }

    /// The files that each commit since `since` changed, newest first, without merges. NUL ends each record:
    /// id, author and subject of a commit, then a letter and one or two names for each of its files. Empty in
    /// a repository without a commit. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn file_log(&self, since: Timestamp) -> HostResult<Vec<u8>> {
        let since = format!("--since={since}");
        let options = [
            "--no-merges",
            "--name-status",
            "-M",
            RENAMES,
            "--format=%H%x00%aE%x00%s",
            &since,
        ];
        // A partial clone would fetch every renamed file over the network.
        logged(self.log(&options, "HEAD").env("GIT_NO_LAZY_FETCH", "1"))
    }

    /// The subjects of the last `count` commits, without merges, newest first; empty in a repository without
    /// a commit. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn recent_subjects(&self, count: usize) -> HostResult<Vec<String>> {
        let limit = format!("--max-count={count}");
        let output = logged(self.log(&["--no-merges", "--format=%s", &limit], "HEAD"))?;
        let subjects = output
            .split(|&b| b == 0)
            .map(|subject| String::from_utf8_lossy(subject).into_owned());
        Ok(subjects.filter(|subject| !subject.is_empty()).collect())
    }

    pub(super) fn log(&self, options: &[&str], range: &str) -> GitCall {
        let call = "-c log.showSignature=false log -z --no-color --encoding=UTF-8";
        let call = options.iter().fold(self.call(call), GitCall::arg);
        call.arg("--end-of-options").arg(range).arg("--")
    }
}

/// The output of a `git log` of HEAD; empty in a repository without a commit.
fn logged(call: GitCall) -> HostResult<Vec<u8>> {
    let finished = call.run()?;
    match finished.failed_with(&["bad revision 'HEAD'"]) {
        Some(_) => Ok(Vec::new()),
        None => finished.into_output(),
    }
}

/// The sentence that marks a revert of `commit`.
fn reverts(commit: &Oid) -> String {
    format!("This reverts commit {commit}.")
}

/// Parses commits: a hash, a subject, any number of pairs of a `:…` record and a path, and then for each path its
/// counts of added and removed lines. NUL ends each field.
fn commits_in(output: &[u8]) -> Option<Vec<GitCommit>> {
    let mut records = output.split(|&b| b == 0).peekable();
    let mut commits = Vec::new();
    while let Some(hash) = records.next() {
        if hash.is_empty() {
            continue;
        }
        let hash = std::str::from_utf8(hash).ok()?.parse().ok()?;
        let subject = String::from_utf8_lossy(records.next()?).into_owned();
        let mut files = Vec::new();
        while records
            .next_if(|record| record.trim_ascii_start().starts_with(b":"))
            .is_some()
        {
            files.push(RepoPath::from_bytes(records.next()?));
        }
        let counted = records.by_ref().take(files.len());
        let counts = counted.map(|record| {
            let record = String::from_utf8_lossy(record.trim_ascii_start());
            let mut numbers = record.split('\t');
            format!(
                "+{} -{}",
                numbers.next().unwrap_or_default(),
                numbers.next().unwrap_or_default()
            )
        });
        let counts = counts.collect();
        commits.push(GitCommit {
            hash,
            subject,
            files,
            counts,
        });
    }
    Some(commits)
}

//! Commits that are there already.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use fp_plan::repo_path::RepoPath;
use jiff::Timestamp;

use super::{Git, GitError, Oid};

/// Options of `git log` for what [`commits`] reads.
const COMMITS: [&str; 4] = ["--raw", "--no-renames", "--diff-merges=first-parent", "--format=%H%x00%s"];

/// Most pairs of files, in a commit, that are compared to find those that were renamed and changed.
const RENAMES: &str = "-l200";

/// Fewest digits that people name a commit by.
const FEWEST_DIGITS: usize = 7;

/// A commit, as far as it has to be recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCommit {
    /// Its id.
    pub hash: Oid,
    /// The first paragraph of its message as one line; not UTF-8 is replaced.
    pub subject: String,
    /// The paths in which it differs from its first parent; a rename is both of its ends.
    pub files: Vec<RepoPath>,
}

impl Git {
    /// The commits that HEAD has and `since` has not, newest first. One process.
    ///
    /// # Errors
    /// [`GitError::MissingObject`] if git has `since` no more.
    pub fn commits_since(&self, since: &Oid) -> Result<Vec<GitCommit>, GitError> {
        let range = format!("{since}..HEAD");
        let finished = self.log(&COMMITS, &range).run()?;
        if let Some(failure) =
            finished.failure.as_ref().filter(|f| f.stderr.contains("Invalid revision range"))
        {
            let failure = Box::new(failure.clone());
            return Err(GitError::MissingObject { object: since.to_string(), failure });
        }
        finished.parsed(commits)
    }

    /// The commit that HEAD is at. One process.
    ///
    /// # Errors
    /// A failing git, or a repository without a commit.
    pub fn last_commit(&self) -> Result<Option<GitCommit>, GitError> {
        let finished = self.log(&[&COMMITS[..], &["--root", "--max-count=1"]].concat(), "HEAD").run()?;
        Ok(finished.parsed(commits)?.into_iter().next())
    }

    /// The newest commit since `commit` that says, as `git revert` does, that it reverts it. One process.
    ///
    /// # Errors
    /// A failing git.
    pub fn revert_of(&self, commit: &Oid) -> Result<Option<Oid>, GitError> {
        let grep = format!("--grep={}", reverts(commit));
        let options = ["--fixed-strings", &grep, "--max-count=1", "--format=%H"];
        let output = self.log(&options, &format!("{commit}..HEAD")).output()?;
        let hash = output.split(|&b| b == 0).next().unwrap_or_default();
        Ok(std::str::from_utf8(hash).ok().and_then(|hash| hash.parse().ok()))
    }

    /// Whether HEAD is `commit`, or has it behind it. One process.
    ///
    /// # Errors
    /// A failing git; a commit that git doesn't have is none that HEAD contains.
    pub fn contains(&self, commit: &Oid) -> Result<bool, GitError> {
        let finished = self.call(&["merge-base", "--is-ancestor", commit.as_str(), "HEAD"]).run()?;
        match &finished.failure {
            Some(failure)
                if failure.status == Some(1) || failure.stderr.contains("Not a valid commit name") =>
            {
                Ok(false)
            }
            _ => finished.into_output().map(|_| true),
        }
    }

    /// The commits that HEAD is or has behind it of those that `named` begin, with seven digits or more: each with its
    /// id, if exactly one begins so. One process, however many are asked for.
    ///
    /// # Errors
    /// A failing git, or a repository without a commit.
    pub fn behind_head(&self, named: &BTreeSet<String>) -> Result<BTreeMap<String, Oid>, GitError> {
        if named.is_empty() {
            return Ok(BTreeMap::new());
        }
        let output = self.log(&["--format=%H"], "HEAD").output()?;
        let mut hashes: Vec<&str> =
            output.split(|&b| b == 0).filter_map(|hash| std::str::from_utf8(hash).ok()).collect();
        hashes.sort_unstable();
        let find = |name: &String| {
            let from = hashes.partition_point(|hash| *hash < name.as_str());
            let mut begun = hashes[from..].iter().take_while(|hash| hash.starts_with(name.as_str()));
            let found = begun.next().filter(|_| begun.next().is_none())?;
            Some((name.clone(), found.parse().ok()?))
        };
        Ok(named.iter().filter(|name| name.len() >= FEWEST_DIGITS).filter_map(find).collect())
    }

    /// What the commits since `since`, newest first and without merges, did to which file, in records that end with NUL:
    /// id, author and subject of a commit, then a letter and one or two names for each of its files. Empty in a
    /// repository without a commit. One process.
    ///
    /// # Errors
    /// A failing git.
    pub fn file_log(&self, since: Timestamp) -> Result<Vec<u8>, GitError> {
        let since = format!("--since={since}");
        let options = ["--no-merges", "--name-status", "-M", RENAMES, "--format=%H%x00%aE%x00%s", &since];
        // A partial clone would ask the network for every file that was renamed.
        let finished = self.log(&options, "HEAD").env("GIT_NO_LAZY_FETCH", "1").run()?;
        if finished.failure.as_ref().is_some_and(|f| f.stderr.contains("bad revision 'HEAD'")) {
            return Ok(Vec::new());
        }
        finished.into_output()
    }

    /// The commits whose parents a shallow clone doesn't have. To git they have no parent, and so bring every file.
    pub fn shallow_commits(&self) -> HashSet<Vec<u8>> {
        let shallow = crate::file::read_bytes(&self.common_dir().join("shallow"), 16 * 1024 * 1024);
        let lines = shallow.unwrap_or_default();
        lines.split(|&b| b == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
    }

    /// The subjects of the last `count` commits that are no merges, newest first; none in a repository
    /// without a commit. One process.
    ///
    /// # Errors
    /// A failing git.
    pub fn recent_subjects(&self, count: usize) -> Result<Vec<String>, GitError> {
        let limit = format!("--max-count={count}");
        let finished = self.log(&["--no-merges", "--format=%s", &limit], "HEAD").run()?;
        if finished.failure.as_ref().is_some_and(|f| f.stderr.contains("bad revision 'HEAD'")) {
            return Ok(Vec::new());
        }
        let output = finished.into_output()?;
        let subjects = output.split(|&b| b == 0).map(|subject| String::from_utf8_lossy(subject).into_owned());
        Ok(subjects.filter(|subject| !subject.is_empty()).collect())
    }

    pub(super) fn log(&self, options: &[&str], range: &str) -> super::command::GitCall {
        let mut args = vec!["-c", "log.showSignature=false", "log", "-z", "--no-color", "--encoding=UTF-8"];
        args.extend(options);
        args.extend(["--end-of-options", range, "--"]);
        self.call(&args)
    }
}

/// The sentence by which a revert of `commit` is known.
pub(super) fn reverts(commit: &Oid) -> String {
    format!("This reverts commit {commit}.")
}

/// Reads hash, subject and any number of pairs of `:…` and a path, each ended by NUL.
fn commits(output: &[u8]) -> Option<Vec<GitCommit>> {
    let mut records = output.split(|&b| b == 0).peekable();
    let mut commits = Vec::new();
    while let Some(hash) = records.next() {
        if hash.is_empty() {
            continue;
        }
        let hash = std::str::from_utf8(hash).ok()?.parse().ok()?;
        let subject = String::from_utf8_lossy(records.next()?).into_owned();
        let mut files = Vec::new();
        while records.next_if(|record| record.trim_ascii_start().starts_with(b":")).is_some() {
            files.push(RepoPath::from_bytes(records.next()?));
        }
        commits.push(GitCommit { hash, subject, files });
    }
    Some(commits)
}

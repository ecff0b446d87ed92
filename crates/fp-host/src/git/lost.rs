//! Commits that were made, and that HEAD doesn't have.

use std::collections::BTreeSet;

use super::{Git, GitError, Oid};

impl Git {
    /// Those of `commits` that are not in the history of HEAD, be it that git has them no more. Two processes, or none
    /// where nothing is asked for.
    ///
    /// # Errors
    /// A failing git.
    pub fn not_in_history(&self, commits: &BTreeSet<Oid>) -> Result<BTreeSet<Oid>, GitError> {
        if commits.is_empty() {
            return Ok(BTreeSet::new());
        }
        let lines: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
        let output = self.call(&["cat-file", "--batch-check=%(objectname) %(objecttype)"]);
        let output = output.input(lines.into_bytes()).output()?;
        let there = String::from_utf8_lossy(&output);
        let there: BTreeSet<&str> = there.lines().filter_map(|line| line.strip_suffix(" commit")).collect();
        let asked: String = there.iter().map(|commit| format!("{commit}\n")).collect();
        let listed = self.call(&["rev-list", "--stdin"]).input((asked + "^HEAD\n").into_bytes()).output()?;
        let listed = String::from_utf8_lossy(&listed);
        let beyond: BTreeSet<&str> = listed.lines().collect();
        let lost = |commit: &&Oid| !there.contains(commit.as_str()) || beyond.contains(commit.as_str());
        Ok(commits.iter().filter(lost).cloned().collect())
    }
}

//! Mechanical checks of a change, from measured facts: what can be decided without judgement is decided here,
//! before anybody judges, and never from an agent's word.

mod boundary;
pub mod by_products;
pub mod change;
mod dependencies;
mod intent;
mod leftovers;
pub mod ownership;
mod test_cases;
mod weakened;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use boundary::Boundary;
use change::{Change, ChangeStatus, ChangedLines};

use fp_plan::package_files::is_package_file;
use fp_plan::plan::field::FieldKind;
use fp_plan::plan::task::Task;
use fp_plan::repo_path::RepoPath;

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckVerdict {
    /// It holds.
    Pass,
    /// It does not; the task can't pass.
    Fail,
    /// Worth knowing, not decisive.
    Note,
    /// There is nothing to check.
    NotApplicable,
}

/// One mechanical check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// What was checked, such as `boundary`.
    pub name: String,
    /// What was found.
    pub verdict: CheckVerdict,
    /// What shows it.
    pub detail: String,
}

impl Check {
    /// Whether it found something unfinished in added lines, and told it without failing the task.
    pub fn lets_go(&self) -> bool {
        self.name == leftovers::NAME && self.verdict == CheckVerdict::Note
    }

    fn new(name: &str, verdict: CheckVerdict, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), verdict, detail: detail.into() }
    }
}

/// What the name of a check begins with that is a command.
pub const COMMAND_CHECK: &str = "command: ";

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// With this exit status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// At its time limit of so many seconds.
    TimedOut(u64),
}

/// A command of a task that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRun {
    /// The command line.
    pub line: String,
    /// How it ended; `None` where it could not be started.
    pub end: Option<CommandEnd>,
    /// How long it took.
    pub duration: Duration,
    /// Its output as text, cut to head and tail; why it could not be started.
    pub output: String,
    /// SHA-256 of its whole output; empty where it could not be started.
    pub sha256: String,
}

/// Name of the check that ran `line`.
pub fn command_check_name(line: &str) -> String {
    format!("{COMMAND_CHECK}{line}")
}

/// The check that `run` is. A command passes by its exit status alone.
pub fn command_check(run: &CommandRun) -> Check {
    let verdict =
        if run.end == Some(CommandEnd::Exited(0)) { CheckVerdict::Pass } else { CheckVerdict::Fail };
    let ended = match run.end {
        Some(CommandEnd::Exited(status)) => format!("exit status {status}"),
        Some(CommandEnd::Signalled(signal)) => format!("ended by signal {signal}"),
        Some(CommandEnd::TimedOut(seconds)) => format!("ended at its time limit of {seconds} s"),
        None => "could not be started".to_owned(),
    };
    let mut detail =
        format!("{ended} after {}.{:03} s", run.duration.as_secs(), run.duration.subsec_millis());
    if let Some(hash) = run.sha256.get(..16) {
        detail.push_str(&format!(", output sha256 {hash}…"));
    }
    if !run.output.trim().is_empty() {
        detail.push('\n');
        detail.push_str(run.output.trim_end());
    }
    Check::new(&command_check_name(&run.line), verdict, detail)
}

/// What a task may do, and what it says it will.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskScope {
    /// The files it may change, as listed, with the extensions that were granted.
    pub files: Vec<String>,
    /// Everything it says that it wants: title, description, acceptance, hints.
    pub text: String,
    /// The other tasks that are running.
    pub others: Vec<OtherTask>,
}

impl TaskScope {
    /// The scope of `task`, with files `granted` to it beyond its own, while `others` are running.
    pub fn new(task: &Task, granted: &[String], others: Vec<OtherTask>) -> Self {
        let description = task.fields.text(FieldKind::Description);
        let text = std::iter::once(&*task.description)
            .chain(description)
            .chain(task.acceptance())
            .chain(task.hints())
            .collect::<Vec<_>>()
            .join("\n");
        let files = task.files().map(str::to_owned).chain(granted.iter().cloned()).collect();
        Self { files, text, others }
    }
}

/// A task that runs at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherTask {
    /// Its id.
    pub id: String,
    /// The files it may change, as listed.
    pub files: Vec<String>,
}

/// What was measured of a task's change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeFacts {
    /// What the task changed.
    pub changes: Vec<Change>,
    /// Changes that are another running task's, in a working tree that they share.
    pub elsewhere: Vec<(Change, String)>,
    /// Lock files that a tool has made, although the task has nothing to do with their manifest.
    pub made_locks: Vec<RepoPath>,
    /// The lines of the changed files.
    pub lines: Vec<ChangedLines>,
    /// The texts of those changed files that [`wants_text`].
    pub texts: Vec<ChangedText>,
    /// Files that [`wants_text`] and that are too large to be read.
    pub unread: Vec<RepoPath>,
    /// Listed files that are there, but that git ignores.
    pub ignored: Vec<String>,
    /// Whether HEAD still contains the commit that the task began on.
    pub base_kept: bool,
    /// Commits that somebody made since then and not `fp`: short id and subject.
    pub commits: Vec<String>,
    /// What lay around the working tree when the task was claimed, and what does now; `None` where the log doesn't
    /// tell.
    pub around: Option<(GitSurroundings, GitSurroundings)>,
}

/// The text of a changed file on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedText {
    /// Where it is now; for a deletion, where it was.
    pub path: RepoPath,
    /// What it was; `None` for a new file. Not UTF-8 is replaced.
    pub before: Option<String>,
    /// What it is; `None` for a deleted file.
    pub after: Option<String>,
}

/// Whether the checks need the whole text of a changed file: manifests, lock files and tests.
pub fn wants_text(change: &Change) -> bool {
    change.kind == change::FileKind::File
        && change.status != ChangeStatus::ModeChanged
        && change.ends().any(|path| is_package_file(path) || weakened::is_of_interest(path))
}

/// All checks of a change, in the order in which they are reported; `runs` are its commands in order.
pub fn check(scope: &TaskScope, facts: &ChangeFacts, runs: &[CommandRun]) -> Vec<Check> {
    let mut checks = vec![changed(scope, facts), boundary::check(scope, facts)];
    checks.extend(history(facts));
    checks.extend(facts.around.as_ref().and_then(|(began, now)| began.check(now)));
    checks.push(dependencies::check(scope, facts));
    checks.push(leftovers::check(scope, facts));
    checks.push(weakened::check(scope, facts));
    checks.extend(runs.iter().map(command_check));
    checks
}

/// A task that lists files and changes nothing has not been done.
fn changed(scope: &TaskScope, facts: &ChangeFacts) -> Check {
    let check = |verdict, detail: String| Check::new("changes", verdict, detail);
    match facts.changes.len() {
        0 if scope.files.is_empty() => check(CheckVerdict::NotApplicable, "the task lists no files".into()),
        0 => check(
            CheckVerdict::Fail,
            "nothing differs from what was there when the task was claimed, but the task lists files".into(),
        ),
        1 => check(CheckVerdict::Pass, "1 file changed".into()),
        n => check(CheckVerdict::Pass, format!("{n} files changed")),
    }
}

/// Commits are made by `fp` after the verdict; what else happened to the history is told.
fn history(facts: &ChangeFacts) -> Option<Check> {
    if !facts.base_kept {
        let detail = "HEAD no longer contains the commit that the task began on: \
                      a branch was switched, or history rewritten";
        return Some(Check::new("history", CheckVerdict::Fail, detail));
    }
    if let Some(left) = facts.around.as_ref().and_then(|(began, now)| began.branch_left(now)) {
        return Some(Check::new("history", CheckVerdict::Fail, left));
    }
    let detail = format!("committed since the task began, not by fp: {}", facts.commits.join("; "));
    (!facts.commits.is_empty()).then(|| Check::new("history", CheckVerdict::Note, detail))
}

/// What lies around a working tree at one moment and is in no commit: the branch, and the files in git's own folder
/// that decide what git shows and what it runs. A builder that edits those could hide a change, or have one made later.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GitSurroundings {
    /// The branch; `None` where HEAD is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Path of each such file in git's folder, and a hash of what counts of it.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

impl GitSurroundings {
    /// That another branch is checked out `now`, in words. A HEAD that is detached belongs to none, as in a worktree
    /// or while the user rebases.
    fn branch_left(&self, now: &Self) -> Option<String> {
        let (began, now) = self.branch.as_ref().zip(now.branch.as_ref())?;
        (began != now).then(|| format!("branch {now} is checked out, the task began on {began}: switch back"))
    }

    /// The check of git's own files, where one has changed: told, since the user may change them at any time, as
    /// after a hook that failed.
    fn check(&self, now: &Self) -> Option<Check> {
        let gone = self.files.keys().filter(|path| !now.files.contains_key(*path));
        let gone = gone.map(|path| format!("{path} was taken away"));
        let others = now.files.iter().filter_map(|(path, hash)| match self.files.get(path) {
            None => Some(format!("{path} is new")),
            Some(before) => (before != hash).then(|| format!("{path} was changed")),
        });
        let problems: Vec<String> = gone.chain(others).collect();
        let detail = || format!("since the claim, in git's own folder: {}", list(&problems));
        (!problems.is_empty()).then(|| Check::new("git", CheckVerdict::Note, detail()))
    }
}

/// `items` as one line, cut after the tenth.
fn list(items: &[String]) -> String {
    const SHOWN: usize = 10;
    let mut text = items.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("; ");
    if items.len() > SHOWN {
        text.push_str(&format!("; and {} more", items.len() - SHOWN));
    }
    text
}

#[cfg(test)]
mod tests;
